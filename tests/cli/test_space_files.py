"""Spaces written as TOML mean what `Space` means."""

from __future__ import annotations

import json
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
    read = cli(*WORDS, "--space", "infer", "--json", "-")
    assert "kind['floor']='integer'" in read[2], "which it is, and which this model refuses"
    (place / "space.toml").write_text("infer = true", encoding="utf-8")
    assert read == cli(*WORDS, "--space", "space.toml", "--json", "-")
