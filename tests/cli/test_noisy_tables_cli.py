"""Repeated runs, groups and missing outcomes on the command line: what Python says, and gates on what is certain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from commands import Command

ASKED = ("--risk", "0.6", "--theta1", "1", "--theta2", "0.25")
QUESTION: dict[str, Any] = {"risk": 0.6, "theta1": 1.0, "theta2": 0.25}


def runs() -> pd.DataFrame:
    """Two models, forty questions of ten documents, three wordings, three runs; some answers could not be read."""
    rng = np.random.default_rng(0)
    lines = []
    for i in range(40):
        hard = rng.beta(0.5, 1.0)
        for model, skill in (("small", 0.0), ("large", 0.15)):
            for wording, cost in (("original", 0.0), ("typo", 0.2), ("formal", 0.5)):
                wrong = (rng.random(3) < hard + 0.4 * cost - skill).astype(float)
                told = np.where(rng.random(3) < 0.06, np.nan, wrong)
                lines += [(f"q{i}", f"d{i // 4}", model, wording, k, cost, loss) for k, loss in enumerate(told)]
    return pd.DataFrame(lines, columns=["sample", "document", "model", "wording", "run", "cost", "loss"])


COLUMNS = ("--variant", "wording", "--repeat", "run", "--group", "document")
ROLES: dict[str, Any] = {"variant": "wording", "repeat": "run", "group": "document"}


@pytest.fixture
def table(place: Path) -> pd.DataFrame:
    made = runs()
    made.to_csv(place / "runs.csv", index=False)
    made[made["model"] == "small"].to_csv(place / "small.csv", index=False)
    return made


@pytest.mark.parametrize(
    ("rule", "missing"), [(None, "bounds"), ("wrong", "wrong"), ("drop", "drop"), ("0.5", 0.5), ("0,2", (0, 2))]
)
def test_evaluate_says_what_python_says(table: pd.DataFrame, cli: Command, rule: str | None, missing: Any) -> None:
    given = () if rule is None else ("--missing", rule)
    code, out, _ = cli("evaluate", "--table", "small.csv", *COLUMNS, *given, *ASKED, "--json", "-")
    assert code == 0
    small = table[table["model"] == "small"].drop(columns="model")
    wanted = tp.profile_table(small, missing=missing, **ROLES).stability(**QUESTION)
    assert tp.StabilityResult.from_json(out) == wanted
    assert wanted.groups == 10
    assert (wanted.held_out is None) == (missing == "drop"), "an original of which one run is left cannot be held out"


def test_compare_and_report_say_what_python_says(table: pd.DataFrame, place: Path, cli: Command) -> None:
    profiles = tp.profile_table(table, by="model", **ROLES)
    compared = tp.compare(profiles, **QUESTION)
    code, out, _ = cli("compare", "--table", "runs.csv", "--by", "model", *COLUMNS, *ASKED, "--json", "-")
    assert code == 0
    assert tp.Comparison.from_json(out).pairs() == compared.pairs()
    words = ("report", "--table", "runs.csv", "--by", "model", *COLUMNS, *ASKED, "--report", "page.json", "--quiet")
    assert cli(*words)[0] == 0
    page = json.loads((place / "page.json").read_text("utf-8"))
    assert page["features"] is None, "wordings are called otherwise here"
    renamed = table.rename(columns={"wording": "variant"})
    renamed.to_csv(place / "runs.csv", index=False)
    others = [word for word in words if word not in ("--variant", "wording")]
    assert cli(*others)[0] == 0
    page = json.loads((place / "page.json").read_text("utf-8"))
    ranked = tp.variation_stability(tp.profile_table(renamed, by="model", repeat="run", group="document")["small"], **QUESTION)
    assert [row["feature"] for row in page["features"]["rows"]] == list(ranked)
    assert page["result"]["groups"] == 10
    assert page["words"]["runs"]


def test_a_gate_passes_only_on_the_pessimistic_side(table: pd.DataFrame, cli: Command) -> None:
    small = table[table["model"] == "small"].drop(columns="model")
    result = tp.profile_table(small, **ROLES).stability(**QUESTION)
    assert result.standing.kind == "bounded"
    between = f"{0.5 * (result.lower + result.value)}"
    words = ("evaluate", "--table", "small.csv", *COLUMNS, *ASKED, "--quiet", "--fail-below")
    code, _, err = cli(*words, between)
    assert code == 1
    assert f"the certified lower bound is {result.lower:.6g}" in err
    assert cli(*words, between, "--on", "value")[0] == 0
    assert cli(*words, f"{0.999 * result.lower}")[0] == 0


def test_models_asked_more_and_less_often_are_compared_without_noise(table: pd.DataFrame, place: Path, cli: Command) -> None:
    answered = table[table["model"] == "small"].assign(loss=lambda held: held["loss"].fillna(0.0))
    fewer = answered[answered["run"] < 2].assign(model="asked twice")
    pd.concat([answered, fewer]).to_csv(place / "repeats.csv", index=False)
    given = ("--table", "repeats.csv", "--by", "model", *COLUMNS, "--risk", "0.5", *ASKED[2:])
    words = ("compare", *given)
    code, out, _ = cli(*words, "--report", "page.md")
    assert code == 0
    assert "Differences are of corrected stabilities, from 2 repeats of both models" in out
    assert "Undecided between 'asked twice' and 'small'" in out
    page = (place / "page.md").read_text("utf-8")
    assert "95 % interval (samples and repeats)" in page
    assert "Without their noise it is" in page
    stored = json.loads(cli(*words, "--json", "-")[1])
    assert [result["repeats"] for result in stored["results"].values()] == [3, 2]
    (difference,) = stored["differences"]
    assert difference["repeats"] == 2
    assert difference["low"] < 0.0 < difference["high"]
    assert cli("report", *given, "--report", "page.json", "--quiet")[0] == 0
    part = json.loads((place / "page.json").read_text("utf-8"))
    k = part["curve"]["at"].index(0.5)
    result = tp.StabilityResult.from_dict(stored["results"]["small"])
    assert (part["curve"]["low"][k], part["curve"]["high"][k]) == pytest.approx(result.band(0.95), rel=1e-9)
    assert (part["gauge"]["low"], part["gauge"]["high"]) == pytest.approx(result.band(0.95), rel=1e-9)
