"""Spaces written as TOML mean what `Space` means."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from commands import Command

WORDS = ("evaluate", "--model", "scorer:built", "--data", "people.csv", "--target", "repaid", "--risk", "0.4", "--scale", "std")

FACTORY = """
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder


def built():
    people = pd.read_csv("people.csv")
    encoded = make_column_transformer((OneHotEncoder(), ["job", "floor"]), remainder="passthrough")
    return make_pipeline(encoded, LogisticRegression(max_iter=1000)).fit(people.drop(columns="repaid"), people["repaid"])
"""


@pytest.fixture
def people(place: Path) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {
            "age": 2 * rng.integers(9, 35, 150),
            "income": rng.normal(40, 12, 150).round(1),
            "job": rng.choice(["cook", "clerk", "judge"], 150),
            "floor": rng.integers(1, 4, 150),
        }
    )
    data["repaid"] = (data["income"] + 20 * (data["job"] == "judge") + 0.3 * data["age"] + rng.normal(0, 8, 150) > 54).astype(
        int
    )
    data.to_csv(place / "people.csv", index=False)
    (place / "scorer.py").write_text(FACTORY, encoding="utf-8")
    return data


SPACES: dict[str, tuple[str, dict[str, Any], bool]] = {
    "frozen, bounds and prices": (
        'frozen = ["job", "floor"]\n[lower]\nage = 18\n[upper]\nage = 90\n[price]\nincome = 4.0\n[direction]\nage = "up"',
        {
            "frozen": ["job", "floor"],
            "lower": {"age": 18},
            "upper": {"age": 90},
            "price": {"income": 4.0},
            "direction": {"age": "up"},
        },
        False,
    ),
    "kinds, steps and categories": (
        '[kind]\nage = "integer"\nfloor = "ordinal"\n[step]\nage = 2\n[categories]\nfloor = [1, 2, 3]',
        {"kind": {"age": "integer", "floor": "ordinal"}, "step": {"age": 2}, "categories": {"floor": [1, 2, 3]}},
        False,
    ),
    "only what is movable": ('movable = ["income"]\nprice = 0.5', {"movable": ["income"], "price": 0.5}, False),
    "switches of numbers": (
        (
            "[switch.floor.1]\n2 = 0.001\n3 = 0.002\n[switch.floor.2]\n1 = 0.003\n[switch.floor.3]\n1 = 0.004\n"
            '[switch]\njob = "frequency"'
        ),
        {"switch": {"floor": {1: {2: 0.001, 3: 0.002}, 2: {1: 0.003}, 3: {1: 0.004}}, "job": "frequency"}},
        False,
    ),
    "inferred": (
        'infer = true\nranges = "quantiles"\nfrozen = ["job"]\n[kind]\nfloor = "categorical"',
        {"ranges": "quantiles", "frozen": ["job"], "kind": {"floor": "categorical"}},
        True,
    ),
    "outliers kept": ('outliers = "keep"\n[upper]\nincome = 45', {"outliers": "keep", "upper": {"income": 45}}, False),
}


@pytest.mark.parametrize("name", SPACES)
def test_a_file_means_what_a_space_means(name: str, place: Path, people: pd.DataFrame, cli: Command) -> None:
    text, settings, infer = SPACES[name]
    (place / "space.toml").write_text(text, encoding="utf-8")
    code, out, err = cli(*WORDS, "--space", "space.toml", "--json", "-")
    assert (code, err) == (0, "")
    x = people.drop(columns="repaid")
    names: dict[str, Any] = {}
    exec(FACTORY, names)  # noqa: S102  # our own
    space = tp.Space.infer(x, **settings) if infer else tp.Space(**settings)
    expected = tp.stability(names["built"](), x, people["repaid"], 0.4, scale="std", space=space)
    told = tp.StabilityResult.from_json(out)
    assert told.to_dict() == expected.to_dict()
    free = tp.stability(names["built"](), x, people["repaid"], 0.4, scale="std")
    assert told.value != free.value, "the space has an effect, so the test above can fail"


def test_groups_of_a_space_are_ranked_and_frozen_options_add_to_it(place: Path, people: pd.DataFrame, cli: Command) -> None:
    (place / "space.toml").write_text('frozen = ["job"]\n[groups]\nmoney = ["income", "age"]', encoding="utf-8")
    code, out, _ = cli("features", *WORDS[1:], "--space", "space.toml", "--frozen", "floor", "--json", "-")
    assert code == 0
    assert {each["feature"] for each in json.loads(out)["features"]} == {"age", "income", "money"}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("prise = 1.0", ("space.toml has 'prise'", "perhaps 'price' is meant")),
        ("zzz = 1.0", ("space.toml has 'zzz'", "it has categories, direction, frozen")),
        ('ranges = "observed"', ("ranges = 'observed' needs infer = true", "space.toml")),
        ("one_hot = false", ("one_hot = False needs infer = true",)),
        ('infer = "yes"', ("infer = 'yes' must be true or false",)),
        ('infer = true\nranges = "wide"', ("ranges='wide' is not known",)),
        ('frozen = ["sex"]', ("frozen names 'sex'",)),
        ("frozen = [", ("space.toml is not TOML",)),
    ],
)
def test_a_space_that_makes_no_sense_is_a_sentence(
    text: str, parts: tuple[str, ...], place: Path, people: pd.DataFrame, cli: Command
) -> None:
    (place / "space.toml").write_text(text, encoding="utf-8")
    code, out, err = cli(*WORDS, "--space", "space.toml")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    for part in parts:
        assert part in err


def test_a_space_is_read_off_the_data_without_a_file(place: Path, people: pd.DataFrame, cli: Command) -> None:
    code, out, err = cli(*WORDS, "--space", "infer", "--json", "-")
    assert (code, err) == (0, "")
    x = people.drop(columns="repaid")
    names: dict[str, Any] = {}
    exec(FACTORY, names)  # noqa: S102  # our own
    space = tp.Space.infer(x, kind={"floor": "categorical"})
    expected = tp.stability(names["built"](), x, people["repaid"], 0.4, scale="std", space=space)
    assert tp.StabilityResult.from_json(out).to_dict() == expected.to_dict()
    (place / "space.toml").write_text("infer = true", encoding="utf-8")
    assert cli(*WORDS, "--space", "space.toml", "--json", "-") == (0, out, "")


def test_a_kind_that_contradicts_the_model_is_a_sentence(place: Path, people: pd.DataFrame, cli: Command) -> None:
    (place / "space.toml").write_text('infer = true\n[kind]\nfloor = "integer"', encoding="utf-8")
    code, _, err = cli(*WORDS, "--space", "space.toml")
    assert code == 2
    assert "Declare the kind 'categorical' for 'floor', or no kind" in err
    assert "fromkeys" not in err


CODED = """
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder


def built(written="{written}", kind="{kind}"):
    people = pd.read_csv("people.csv", dtype={{"repaid": int}})
    x = people[["age", "income", "floor"]]
    if kind != "int64":
        x = x.assign(floor=x["floor"].map(lambda code: written.replace("#", str(code))).astype(kind))
    encoded = make_column_transformer((OneHotEncoder(), ["floor"]), remainder="passthrough")
    return make_pipeline(encoded, LogisticRegression(max_iter=1000)).fit(x, people["repaid"])


def of_text():
    return built("#", "str")
"""


def coded(place: Path, people: pd.DataFrame, written: str, kind: str) -> pd.DataFrame:
    """A model of codes that are written like this, and the data in which they are."""
    (place / "vendor.py").write_text(CODED.format(written=written, kind=kind), encoding="utf-8")
    floor = people["floor"].map(lambda code: written.replace("#", str(code)))
    return people[["age", "income", "floor", "repaid"]].assign(floor=floor)


QUESTION = ("--target", "repaid", "--risk", "0.4", "--scale", "std")


def answered(cli: Command, *words: str) -> dict[str, Any]:
    code, out, err = cli(*words, "--json", "-")
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.mark.parametrize("infer", [(), ("--space", "infer")], ids=["by type", "inferred"])
@pytest.mark.parametrize(
    ("written", "kind"), [("#", "int64"), ("#", "str"), ("#", "category"), ("0#", "str"), ("0#.0", "object"), ("f#", "str")]
)
def test_codes_of_a_csv_are_read_as_the_encoder_was_trained_on_them(
    written: str, kind: str, infer: tuple[str, ...], place: Path, people: pd.DataFrame, cli: Command
) -> None:
    coded(place, people, "#", "int64").to_csv(place / "coded.csv", index=False)
    words = ("evaluate", "--model", "vendor:built", "--data", "coded.csv", *QUESTION, *infer)
    expected = answered(cli, *words)
    sys.modules.pop("vendor")
    coded(place, people, written, kind).to_csv(place / "coded.csv", index=False)
    assert answered(cli, *words)["value"] == pytest.approx(expected["value"], rel=1e-9)
    coded(place, people, written, kind).to_csv(place / "coded.csv.gz", index=False, sep=";")
    code, out, _ = cli(*words[:4], "coded.csv.gz", *words[5:], "--json", "-")
    assert code == 0
    assert json.loads(out)["value"] == pytest.approx(expected["value"], rel=1e-9)


@pytest.mark.parametrize("command", ["evaluate", "curve", "features", "compare", "report", "drift", "partitions"])
@pytest.mark.filterwarnings("ignore::tippingpoint.WindowWarning")
def test_every_command_reads_codes_as_text_where_the_model_does(
    command: str, place: Path, people: pd.DataFrame, cli: Command
) -> None:
    pytest.importorskip("pyarrow")
    coded(place, people, "#", "str")
    data = people[["age", "income", "floor", "repaid"]]
    data.to_csv(place / "coded.csv", index=False)
    data.to_parquet(place / "coded.parquet", row_group_size=50)
    model = ("--model", "a=vendor:built") if command in ("compare", "report") else ("--model", "vendor:built")
    other = ("--model", "b=vendor:of_text") if command in ("compare", "report") else ()
    for path in ("coded.csv", "coded.parquet"):
        words: tuple[str, ...] = (*model, *other, "--data", path, *QUESTION)
        if command == "drift":
            words = (*model, "--reference", path, "--current", path, *QUESTION)
        if command == "partitions":
            words = (*model, "--data", "coded.parquet", "--memory", "1 GB", *QUESTION)
        if command == "curve":
            words = words[:-4] + words[-2:]
        out = {"report": ("--report", "page.html"), "curve": ("--risks", "0.4")}.get(command, ())
        code, _, err = cli("evaluate" if command == "partitions" else command, *words, *out)
        assert code == 0, err


def test_a_category_that_is_written_like_something_missing_is_a_category(
    place: Path, people: pd.DataFrame, cli: Command
) -> None:
    (place / "vendor.py").write_text(CODED.format(written="#", kind="str"), encoding="utf-8")
    floors = pd.Series(["NA", "None", "x"]).iloc[people["floor"] - 1].to_numpy()
    people.assign(floor=people["floor"].map(str)).to_csv(place / "people.csv", index=False)
    text = (
        (place / "vendor.py")
        .read_text(encoding="utf-8")
        .replace('written.replace("#", str(code))', '["NA", "None", "x"][code - 1]')
    )
    (place / "vendor.py").write_text(text, encoding="utf-8")
    data = people[["age", "income", "repaid"]].assign(floor=floors)
    data.to_csv(place / "coded.csv", index=False)
    found = answered(cli, "evaluate", "--model", "vendor:built", "--data", "coded.csv", *QUESTION)
    names: dict[str, Any] = {}
    exec(text, names)  # noqa: S102  # our own
    x = data[["age", "income", "floor"]]
    expected = tp.stability(names["built"](), x, data["repaid"], 0.4, scale="std")
    assert found["value"] == pytest.approx(expected.value, rel=1e-12)


def test_models_that_were_trained_on_text_and_on_numbers_are_not_compared(
    place: Path, people: pd.DataFrame, cli: Command
) -> None:
    coded(place, people, "#", "int64").to_csv(place / "coded.csv", index=False)
    models = ("--model", "a=vendor:built", "--model", "b=vendor:of_text")
    code, _, err = cli("compare", *models, "--data", "coded.csv", *QUESTION)
    assert code == 2
    assert "the model 'b' knows other categories of 'floor' than 'a'" in err
