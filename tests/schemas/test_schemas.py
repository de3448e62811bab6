"""The published JSON Schemas describe what is written: every kind of it, and nothing else."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import tippingpoint as tp
from commands import Command
from tippingpoint.report import embedding
from tippingpoint.results.base import Result
from tippingpoint.schemas import NAMES, schema_text

pytestmark = pytest.mark.filterwarnings("ignore:two samples of these sizes")  # windows of some tens of rows

INF = math.inf
PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
MOVING: dict[str, Any] = {"theta1": 1.0, "theta2": INF}
MODELS = {"one": ([1.0, 0.2, 0.0], 0.0), "two": ([1.0, -1.0, 0.5], 0.1)}

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(40, 3)), columns=["a", "b", "nan"])
Y = (X["a"] + 0.5 * RNG.normal(size=40) > 0.0).astype(int)
PEOPLE = pd.DataFrame(
    {"age": RNG.integers(20, 60, 40), "job": RNG.choice(["cook", "guard"], 40), "pay": RNG.normal(size=40).round(3)}
)
HELD = tp.Space.infer(X, frozen=["b"])


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema_text(name)), format_checker=Draft202012Validator.FORMAT_CHECKER)


VALIDATORS = {name: validator(name) for name in NAMES}


def complaints(name: str, stored: Any) -> list[str]:
    """What a schema says against a document."""
    return [f"{error.json_path}: {error.message[:200]}" for error in VALIDATORS[name].iter_errors(stored)]


def score(rows: Any) -> Any:
    return np.asarray(rows) @ [1.0, 0.2, 0.0]


def stopping() -> Callable[[Any], Any]:
    """A model at which somebody presses Ctrl-C, once."""
    left = [3000]

    def model(rows: Any) -> Any:
        before, left[0] = left[0], left[0] - len(rows)
        if before >= 0 > left[0]:
            raise KeyboardInterrupt
        return score(rows)

    return model


def noisy() -> Callable[[Any], Any]:
    rng = np.random.default_rng(1)
    return lambda rows: score(rows) + rng.normal(scale=0.3, size=len(rows))


@cache
def network() -> Any:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.ReLU(), torch.nn.Linear(6, 1))


@cache
def forest() -> Any:
    return RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, Y)


@cache
def steps() -> Any:
    """A tree whose thresholds are halves."""
    return DecisionTreeClassifier(max_depth=3, random_state=0).fit(X.round(0), Y)


def earner(rows: pd.DataFrame) -> Any:
    return rows["pay"] + (rows["job"] == "cook") + (rows["age"] > 40) - 1.0


def runs() -> pd.DataFrame:
    """Three alternatives a sample; the first is the sample itself."""
    rng = np.random.default_rng(3)
    cost = np.where(np.arange(90) % 3, rng.gamma(2.0, size=90).round(6), 0.0)
    return pd.DataFrame({"sample": np.repeat(range(30), 3), "loss": (rng.random(90) < 0.4) * 1.0, "cost": cost})


def repeated() -> pd.DataFrame:
    """The same, each run four times, two samples a document, with some outcomes missing."""
    rng = np.random.default_rng(4)
    again = pd.concat([runs().assign(repeat=k, variant=np.tile(["original", "typo", "formal"], 30)) for k in range(4)])
    loss = np.where(rng.random(360) < 0.05, np.nan, (rng.random(360) < 0.2 + 0.5 * again["loss"]) * 1.0)
    return again.assign(loss=loss, document=again["sample"] // 2).reset_index(drop=True)


class Sevenths(tp.KL):
    """A divergence that the report's page has no formulas for."""

    name = "sevenths"

    def browser(self) -> None:
        return None


def linear(risk: float = 0.5, **settings: Any) -> tp.StabilityResult:
    return tp.stability(MODELS["one"], X, Y, risk, **{**PRICES, **settings})


def one_error() -> Any:
    """Labels of ten rows, of which one is wrong: many resamples hold none, and nothing to reweight."""
    right = (score(X[:10]) > 0.0) * 1
    return np.concatenate([1 - right[:1], right[1:]])


def ranking(**settings: Any) -> tp.FeatureStability:
    return tp.feature_stability(MODELS["two"], X, Y, 0.5, **{**PRICES, **settings})


def mixed() -> tp.StabilityResult:
    return tp.stability(
        earner, PEOPLE, (earner(PEOPLE) > 0.1) * 1, 0.5, output="score", space=tp.Space.infer(PEOPLE), calls=800, **PRICES
    )


STABILITIES: dict[str, Callable[[], tp.StabilityResult]] = {
    "exact": linear,
    "already there": lambda: linear(0.001),
    "the largest in reach, without a standard error": lambda: linear(1.0, **MOVING),
    "out of reach": lambda: linear(1.0, theta1=INF, theta2=1.0),
    "proved to be out of reach": lambda: linear(50.0, loss="logistic", theta1=INF, theta2=1.0),
    "in a space": lambda: linear(space=HELD),
    "logistic in a space": lambda: linear(1.0, loss="logistic", space=HELD),
    "logistic": lambda: linear(1.0, loss="logistic", divergence="chi2"),
    "capped": lambda: linear(0.9, divergence=tp.CVaR(0.3)),
    "numbers": lambda: tp.stability(MODELS["one"], X, X["a"] + 0.1, 0.5, loss="squared", **PRICES),
    "forest": lambda: tp.stability(forest(), X, Y, 0.5, gap=0.1, **PRICES),
    "forest, log loss": lambda: tp.stability(forest(), X, Y, 1.0, loss="logistic", gap=0.3, **PRICES),
    "rows on thresholds": lambda: tp.stability(steps(), X.round(0) + 0.5, Y, 0.9, gap=0.3, **PRICES),
    "network": lambda: tp.stability(network(), X, Y, 0.7, **PRICES),
    "network, log loss": lambda: tp.stability(network(), X, Y, 1.0, loss="logistic", **PRICES),
    "black box": lambda: tp.stability(score, X, Y, 0.5, output="score", calls=3000, **PRICES),
    "categories": mixed,
    "not found": lambda: tp.stability(lambda rows: np.ones(len(rows)), X, Y, 0.9, output="score", calls=800, **MOVING),
    "estimate": lambda: tp.stability(noisy(), X, Y, 0.6, output="score", calls=3000, repeats=5, **PRICES),
    "interrupted": lambda: tp.stability(stopping(), X, Y, 0.5, output="score", **PRICES),
    "table": lambda: tp.profile_table(runs()).stability(0.6, **PRICES),
    "noisy table": lambda: tp.profile_table(repeated(), group="document").stability(0.6, **PRICES),
    "weighted": lambda: linear(sample_weight=np.arange(40) % 3),
}

OTHERS: dict[str, Callable[[], Result]] = {
    "sweep": lambda: tp.profile(MODELS["one"], X, Y).curve([0.4, 1.0], **PRICES),
    "sweep over prices": lambda: tp.profile(MODELS["one"], X, Y).curve(risk=0.5, theta1=[0.5, INF], theta2=0.25),
    "sweep over the dial": lambda: tp.profile(MODELS["one"], X, Y).curve(risk=0.5, mix=[0.0, 0.5, 1.0]),
    "interrupted sweep": lambda: tp.profile(stopping(), X, Y, output="score").curve([0.4, 0.45], **PRICES),
    "worst risk": lambda: tp.profile(MODELS["one"], X, Y).worst_risk(0.05, **PRICES),
    "worst risk of all": lambda: tp.profile(MODELS["one"], X, Y).worst_risk(50.0, **PRICES),
    "worst risk at no cost": lambda: tp.profile(MODELS["one"], X, Y).worst_risk(0.0, **PRICES),
    "worst risk bounded": lambda: tp.profile(forest(), X, Y, loss="logistic", gap=0.3).worst_risk(0.05, **PRICES),
    "worst risk searched": lambda: tp.profile(score, X, Y, output="score", calls=3000).worst_risk(0.05, **PRICES),
    "worst risk interrupted": lambda: tp.profile(stopping(), X, Y, output="score").worst_risk(0.05, **PRICES),
    "worst risk estimated": lambda: tp.profile(noisy(), X, Y, output="score", calls=3000, repeats=5).worst_risk(0.05, **PRICES),
    "worst risks": lambda: tp.profile(MODELS["one"], X, Y).worst_risk([0.0, 0.05, 50.0], **PRICES),
    "ranking": ranking,
    "ranking of groups": lambda: ranking(features={"both": ["a", "b"], "nan": ["nan"]}),
    "ranking without reweighting": lambda: ranking(**MOVING),
    "ranking in a space": lambda: ranking(space=HELD.edit(frozen=[])),
    "variations": lambda: tp.variation_stability(repeated(), 0.6, **PRICES),
    "interrupted ranking": lambda: tp.feature_stability(stopping(), X, Y, 0.5, output="score", **PRICES),
    "comparison": lambda: tp.compare(MODELS, X, Y, 0.5, **PRICES),
    "interrupted comparison": lambda: tp.Comparison({"one": replace(linear(), interrupted=True)}, interrupted=True),
    "unpaired comparison": lambda: tp.Comparison(
        {name: tp.StabilityResult.from_json(linear(loss=name).to_json()) for name in ("zero_one",)}, interrupted=True
    ),
    "verdict": lambda: tp.compare(MODELS, X, Y, 0.5, **PRICES).verdict("two"),
    "advice": lambda: linear().advice(),
    "advice of a ranking": lambda: ranking().advice(),
    "advice where nothing is known": lambda: linear(1.0, theta1=INF, theta2=1.0).advice(),
    "bootstrap": lambda: tp.stability(MODELS["one"], X[:10], one_error(), 0.5, theta1=INF, theta2=1.0).bootstrap(30),
}

LATER = X.iloc[:30] * 1.3 + 0.2, Y.iloc[:30]


def drifted(**settings: Any) -> tp.DriftResult:
    found: tp.DriftResult = tp.drift(MODELS["two"], (X, Y), LATER, risk=0.7, permutations=9, **{**PRICES, **settings})
    return found


DRIFTS: dict[str, Callable[[], Result]] = {
    "drift": drifted,
    "drift of targets": lambda: tp.drift(
        MODELS["two"], (X, X["a"]), (LATER[0], LATER[0]["b"]), risk=9.0, loss="squared", permutations=0, **PRICES
    ),
    "drift without labels": lambda: tp.drift(
        MODELS["two"], (X, Y), (LATER[0], None), risk=0.7, assume="calibration", permutations=0, **PRICES
    ),
    "drifts": lambda: tp.drift(MODELS["two"], (X, Y), {"may": LATER, "nan": (X, Y)}, risk=0.7, permutations=9, **PRICES),
}

RESULTS: dict[str, Callable[[], Result]] = {**STABILITIES, **OTHERS, **DRIFTS}


@cache
def found(name: str) -> Any:
    return RESULTS[name]()


@cache
def stored(name: str) -> Any:
    """What a result is written as; nobody may change it."""
    return json.loads(found(name).to_json())


@pytest.fixture
def reported(tmp_path: Path) -> Callable[..., Any]:
    def written(result: tp.StabilityResult, **parts: Any) -> Any:
        path = result.report(tmp_path / "report.json", **parts)
        return json.loads(path.read_text(encoding="utf-8"))

    return written


# The schemas themselves


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_schemas(name: str) -> None:
    schema = json.loads(schema_text(name))
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every part of a schema that is one itself."""
    if isinstance(schema, list):
        for each in schema:
            yield from nodes(each)
    elif isinstance(schema, dict):
        yield schema
        for key, value in schema.items():
            if key in ("properties", "$defs"):
                yield from (node for each in value.values() for node in nodes(each))
            elif key not in ("enum", "const", "required"):
                yield from nodes(value)


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_explained_and_closed(name: str) -> None:
    schema = json.loads(schema_text(name))
    bases = {each["$ref"] for node in nodes(schema) for each in node.get("allOf", ())}
    properties, opened = 0, []
    for node in nodes(schema):
        for key, value in node.get("properties", {}).items():
            properties += 1
            assert len(value.get("description", "").split()) >= 2, key
            assert value["description"].endswith("."), key
        for key, value in node.get("$defs", {}).items():
            assert value["title"], key
            assert value["description"], key
            if f"#/$defs/{key}" not in bases and value.get("type") == "object":
                assert False in (value.get("additionalProperties"), value.get("unevaluatedProperties")), key
        if node.get("additionalProperties") is True:
            opened.append(node["description"])
    assert properties > 20
    assert len(opened) == (name == "report"), "of formulas alone nothing is said"


@pytest.mark.parametrize("name", NAMES)
def test_no_definition_is_idle(name: str) -> None:
    text = schema_text(name)
    for key in json.loads(text)["$defs"]:
        assert f'"#/$defs/{key}"' in text


def test_results_and_reports_mean_the_same_by_the_same_names() -> None:
    one, other = (json.loads(schema_text(name))["$defs"] for name in ("result", "report"))
    for shared in ("number", "numbers"):
        assert one[shared] == other[shared]


def test_every_kind_of_result_has_a_schema() -> None:
    """Of all classes of results that there are."""
    for name in tp.__all__:
        getattr(tp, name)  # which imports its module
    named = {each["properties"]["schema"]["const"] for each in _kinds().values()}
    assert named == {each.SCHEMA for each in _classes(Result) if "SCHEMA" in vars(each)} | {"tippingpoint.sweeps/1"}


def _kinds() -> dict[str, Any]:
    schema = json.loads(schema_text("result"))
    names = [each["$ref"].rpartition("/")[2] for each in schema["oneOf"]]
    return {name: schema["$defs"][name] for name in names}


def _classes(base: Any) -> Iterator[Any]:
    for each in base.__subclasses__():
        yield each
        yield from _classes(each)


# What is written


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_as_the_schema_says(name: str) -> None:
    assert complaints("result", stored(name)) == []


def test_the_results_above_are_of_all_sorts() -> None:
    """What the names of the cases promise; without it they could all be alike."""
    every = [stored(name) for name in STABILITIES]
    assert {each["status"] for each in every} == {"attained", "already", "largest", "unreachable", "not_found"}
    assert {found(name).standing.kind for name in STABILITIES} == {"exact", "bounded", "searched", "estimate", "not found"}
    assert {each["interrupted"] for each in every} == {True, False}
    assert {each["value"] for each in every} >= {0.0, "inf"}
    assert "nan" in {each["standard_error"] for each in every}
    assert any(each["caution"] for each in every)
    assert {each["unit"] == "cost" for each in every} == {True, False}
    assert stored("interrupted sweep")["interrupted"]
    worst = [name for name in OTHERS if name.startswith("worst risk ") or name == "worst risk"]
    assert {found(name).standing.kind for name in worst} == {"exact", "bounded", "searched", "estimate"}
    assert {stored(name)["status"] for name in worst} == {"attained", "largest"}
    assert {stored(name)["certified"] is None for name in worst} == {True, False}
    assert stored("worst risk interrupted")["interrupted"]
    assert stored("interrupted ranking")["interrupted"]
    assert "inf" in stored("bootstrap")["values"]
    assert stored("ranking without reweighting")["limit"] == "inf"
    assert stored("unpaired comparison")["differences"] == []


@pytest.mark.parametrize("name", STABILITIES)
def test_reports_are_as_the_schema_says(name: str, reported: Callable[..., Any]) -> None:
    assert complaints("report", reported(found(name))) == []


def test_a_report_with_everything_is_as_the_schema_says(reported: Callable[..., Any]) -> None:
    compared = tp.compare(MODELS, X, Y, 0.5, **PRICES)
    for gate in (0.001, tp.Gate(9.0, on="value")):
        drifts = tp.drift(MODELS["one"], (X, Y), LATER, risk=0.5, permutations=9, features=False, **PRICES)
        parts = {"features": ranking(), "comparison": compared, "drifts": drifts}
        whole = reported(linear(), gate=gate, model="m", data="d", title="t", **parts)
        assert complaints("report", whole) == []
        assert whole["against"]["rows"][0]["drift"] == drifts.value
        assert None not in (whole["features"], whole["comparison"], whole["gate"], whole["live"])
    noisy_table = reported(found("noisy table"), features=found("variations"))
    assert complaints("report", noisy_table) == []
    assert noisy_table["features"]["one"] == "variation"
    assert noisy_table["rows"]["tried"]
    assert noisy_table["words"]["runs"]
    stopped = reported(found("interrupted"), features=found("interrupted ranking"), gate=0.1)
    assert complaints("report", stopped) == []
    assert stopped["gate"]["outcome"] == "interrupted"


def test_reports_hold_every_kind_of_profile(reported: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    beforehand = reported(linear(divergence=Sevenths()))
    assert "precomputed" in beforehand["live"]
    profiles = {
        name: reported(found(name))["live"]["profile"] for name in ("logistic", "logistic in a space", "forest", "network")
    }
    assert {each["kind"] for each in profiles.values()} == {"line", "atoms"}
    assert "f4" in {profiles["logistic in a space"][key]["as"] for key in ("lift", "cost")}
    assert any("floor" in each for each in profiles.values())
    monkeypatch.setattr(embedding, "MAX_NUMBERS", 10)
    none = reported(linear(0.45))
    assert none["live"] is None
    for each in (beforehand, none):
        assert complaints("report", each) == []


def test_a_report_of_gaps_and_words_is_as_the_schema_says(reported: Callable[..., Any]) -> None:
    holes = PEOPLE.assign(pay=PEOPLE["pay"].where(PEOPLE["age"] > 30))
    target = (earner(PEOPLE) > 0.1) * 1

    def model(rows: pd.DataFrame) -> Any:
        return earner(rows.fillna({"pay": 0.5}))

    told = reported(tp.stability(model, holes, target, 0.6, output="score", calls=800, **PRICES))
    assert complaints("report", told) == []
    cells = {type(cell) for row in told["rows"]["before"] for cell in row}
    assert {str, type(None)} < cells


def test_what_commands_write_is_as_the_schemas_say(cli: Command, place: Path) -> None:
    pd.concat([runs().assign(wording=name) for name in ("now", "next")]).to_csv(place / "runs.csv", index=False)
    inputs = ("--model", "model.json", "--data", "few.csv", "--target", "y")
    table = ("--table", "runs.csv", "--by", "wording")
    several = ("--model", "now=model.json", "--model", "next=next.json", *inputs[2:])
    for words, kind in {
        ("evaluate", *inputs, "--risk", "0.4"): "stability",
        ("features", *inputs, "--risk", "0.4"): "features",
        ("compare", *several, "--risk", "0.4"): "comparison",
        ("curve", *inputs, "--risks", "0.3,0.4"): "sweep",
        ("curve", *table, "--risks", "0.5,0.6"): "sweeps",
    }.items():
        code, out, err = cli(*words, "--json", "-")
        assert (code, err) == (0, "")
        told = json.loads(out)
        assert told["schema"] == f"tippingpoint.{kind}/1"
        assert complaints("result", told) == []
    code, _, _ = cli("report", *several, "--risk", "0.4", "--report", "r.json", "--fail-below", "9", "--quiet")
    assert code == 1
    assert complaints("report", json.loads((place / "r.json").read_text(encoding="utf-8"))) == []
    assert complaints("doctor", json.loads(cli("doctor", "--no-import", "--json").out)) == []


# What is not written


FREE = ("versions", "sweeps", "results", "loss", "variables", "environment")
"""Keys whose values are named by others, or are formulas."""

OPTIONAL = ("floor", "precomputed")
"""Keys that are there at times."""


def spoiled(document: Any) -> Iterator[tuple[str, Any]]:
    """Copies of a document, each with one fault, in each object of each kind; of a list, the first element stands for all."""
    for path, node in objects(document, ()):
        named = path and path[-1] in FREE and isinstance(node, dict)
        for key in node:
            if not named and key not in OPTIONAL:
                yield f"without {(*path, key)}", changed(document, path, partial(_dropped, key))
            yield f"an object as {(*path, key)}", changed(document, path, partial(_replaced, key))
        if not named:
            yield f"more in {path}", changed(document, path, partial(_replaced, "unheard_of"))


def _dropped(key: str, node: dict[str, Any]) -> None:
    del node[key]


def _replaced(key: str, node: dict[str, Any]) -> None:
    node[key] = {"a": 1}


def objects(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    if isinstance(value, dict):
        yield path, value
        for key, each in value.items():
            yield from objects(each, (*path, key))
    elif isinstance(value, list) and value:
        yield from objects(value[0], (*path, 0))


def changed(document: Any, path: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    fresh = copy.deepcopy(document)
    node = fresh
    for step in path:
        node = node[step]
    change(node)
    return fresh


@pytest.mark.parametrize("name", ["exact", "sweep", "ranking", "comparison", "verdict", "advice", "bootstrap"])
def test_a_result_with_any_fault_is_refused(name: str) -> None:
    faults = dict(spoiled(stored(name)))
    assert len(faults) > 5
    assert [fault for fault, document in faults.items() if VALIDATORS["result"].is_valid(document)] == []


def test_a_report_with_any_fault_is_refused(reported: Callable[..., Any]) -> None:
    few = tp.stability(MODELS["two"], X[:8], Y[:8], 0.5, space=HELD, **PRICES)
    whole = reported(few, gate=0.001, features=tp.feature_stability(MODELS["two"], X[:8], Y[:8], 0.5, **PRICES))
    faults = dict(spoiled(whole))
    assert len(faults) > 300
    assert [fault for fault, document in faults.items() if VALIDATORS["report"].is_valid(document)] == []


def test_findings_of_the_doctor_with_any_fault_are_refused(cli: Command) -> None:
    faults = dict(spoiled(json.loads(cli("doctor", "--no-import", "--json").out)))
    assert len(faults) > 50
    assert [fault for fault, document in faults.items() if VALIDATORS["doctor"].is_valid(document)] == []


@pytest.mark.parametrize(
    "change",
    [
        {"value": "much"},
        {"value": None},
        {"value": True},
        {"value": "Infinity"},
        {"status": "fine"},
        {"exact": "yes"},
        {"samples": 1.5},
        {"samples": -1},
        {"notes": "one"},
        {"notes": [1]},
        {"schema": "tippingpoint.stability/2"},
        {"trace": [0.1, "x"]},
    ],
)
def test_a_value_of_another_kind_is_refused(change: dict[str, Any]) -> None:
    assert complaints("result", {**stored("exact"), **change})


# How to get at them


@pytest.mark.parametrize("name", NAMES)
def test_the_command_prints_the_file(name: str, cli: Command) -> None:
    code, out, err = cli("schema", name)
    assert (code, err) == (0, "")
    assert json.loads(out) == json.loads(schema_text(name))


def test_the_command_prints_that_of_results_first(cli: Command) -> None:
    assert cli("schema").out == cli("schema", "result").out
    code, _, err = cli("schema", "page")
    assert code == 2
    assert "page" in err
