"""Results as JSON: every kind of result comes back as it was, files of earlier versions too, and what is wrong is named."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from tippingpoint.results.base import Result

ASKED: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
X = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=["a", "inf", "nan"])
Y = (X["a"] + 0.5 * np.random.default_rng(1).normal(size=50) > 0.0).astype(int)
MODELS = {"one": ([1.0, 0.2, 0.0], 0.0), "two": ([1.0, -1.0, 0.5], 0.1), "nan": ([0.5, 0.0, 0.1], 0.0)}


def result() -> tp.StabilityResult:
    return tp.stability(MODELS["one"], X, Y, 0.5, **ASKED)


def ranking() -> tp.FeatureStability:
    return tp.feature_stability(MODELS["two"], X, Y, 0.5, **ASKED)


def rewordings() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    cost = np.where(np.arange(150) % 3, rng.gamma(2.0, size=150).round(3), 0.0)
    kinds = np.tile(["as it is", "typo", "nan"], 50)
    loss = (rng.random(150) < 0.3) * 1.0
    return pd.DataFrame({"sample": np.repeat(range(50), 3), "variation": kinds, "cost": cost, "loss": loss})


def comparison() -> tp.Comparison:
    return tp.compare(MODELS, X, Y, 0.5, **ASKED)


RESULTS: dict[str, Callable[[], Result]] = {
    "stability": result,
    "out of reach": lambda: tp.stability(MODELS["one"], X, Y, 1.0, theta1=math.inf, theta2=1.0),
    "sweep": lambda: tp.profile(MODELS["one"], X, Y).curve(risk=0.5, theta1=[0.5, math.inf], theta2=0.25),
    "ranking": ranking,
    "variations": lambda: tp.variation_stability(rewordings(), 0.4, **ASKED),
    "ranking without reweighting": lambda: tp.feature_stability(MODELS["one"], X, Y, 0.5, theta1=1.0, theta2=math.inf),
    "comparison": comparison,
    "interrupted comparison": lambda: tp.Comparison({"one": replace(result(), interrupted=True)}, interrupted=True),
    "verdict": lambda: comparison().verdict("two"),
    "advice": lambda: result().advice(),
    "advice of a ranking": lambda: ranking().advice(),
    "bootstrap": lambda: tp.profile(MODELS["one"], X, Y).stability(0.99, **ASKED).bootstrap(30),
}


@cache
def found(kind: str) -> Result:
    return RESULTS[kind]()


@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_comes_back_as_it_was(kind: str) -> None:
    ours = found(kind)
    theirs = type(ours).from_json(ours.to_json())
    assert type(theirs) is type(ours)
    assert theirs.to_json() == ours.to_json()
    assert str(theirs) == str(ours)
    assert json.loads(ours.to_json(), parse_constant=pytest.fail) == ours.to_dict(), "no Infinity and no NaN"
    assert type(ours).from_dict(ours.to_dict()).to_dict() == ours.to_dict()


@pytest.mark.parametrize("kind", RESULTS)
def test_every_schema_is_named_and_no_other_is_taken_for_it(kind: str) -> None:
    ours, stored = type(found(kind)), found(kind).to_dict()
    assert stored["schema"] == ours.SCHEMA
    assert ours.SCHEMA.startswith("tippingpoint.")
    others = {type(found(other)) for other in RESULTS} - {ours}
    for other in others:
        with pytest.raises(tp.InputError, match="not a stored result of schema"):
            other.from_dict(stored)
    with pytest.raises(tp.InputError, match="found 'list'"):
        ours.from_json("[]")
    with pytest.raises(tp.InputError, match="not JSON"):
        ours.from_json("{")


def test_kinds_of_results_have_schemas_of_their_own() -> None:
    kinds = {type(found(kind)) for kind in RESULTS}
    assert len({kind.SCHEMA for kind in kinds}) == len(kinds) == 8


LATER = {
    "stability": {
        "interrupted",
        "caution",
        "time_limit_reached",
        "largest_risk_found",
        "held_out",
        "corrected",
        "groups",
        "missing",
        "ending",
    }
    | {"category_share", "missing_share", "repeats", "corrected_lower", "corrected_error", "corrected_spread"},
    "bootstrap": {"corrected"},
}
"""What files of earlier versions do not have."""


@pytest.mark.parametrize(
    "kind", ["stability", "sweep", "ranking", "variations", "comparison", "verdict", "advice", "bootstrap"]
)
def test_a_part_that_is_missing_is_named(kind: str) -> None:
    ours, stored = type(found(kind)), found(kind).to_dict()
    may_lack = {"schema", "verdicts", "notes", "trace", "reach_proved"} | LATER.get(kind, set())
    for name in set(stored) - may_lack:
        with pytest.raises(tp.InputError, match=f"lacks '{name}'"):
            ours.from_dict({key: value for key, value in stored.items() if key != name})


def test_names_that_are_spelled_like_numbers_stay_names() -> None:
    back = tp.FeatureStability.from_json(ranking().to_json())
    assert set(back) == {"a", "inf", "nan"}
    noted = tp.StabilityResult.from_json(replace(result(), loss="nan", notes=("inf",), unit="-inf").to_json())
    assert (noted.loss, noted.notes, noted.unit) == ("nan", ("inf",), "-inf")
    advised = tp.Advice("moving", ("nan", "inf"), "inf", ("nan",))
    assert tp.Advice.from_json(advised.to_json()) == advised


def test_a_number_that_is_not_one_is_stored_as_such() -> None:
    ours = replace(ranking(), reach=dict(zip(ranking(), (math.nan, math.inf, -math.inf), strict=True)))
    back = tp.FeatureStability.from_json(ours.to_json())
    assert repr(list(back.reach.values())) == "[nan, inf, -inf]"


def test_a_text_where_a_number_belongs_is_refused() -> None:
    with pytest.raises(tp.InputError, match="where a number belongs"):
        tp.StabilityResult.from_dict({**result().to_dict(), "value": "much"})


def test_a_stored_comparison_knows_its_pairs_and_verdicts() -> None:
    ours, theirs = comparison(), tp.Comparison.from_json(comparison().to_json())
    assert theirs.pairs() == ours.pairs()
    assert theirs.pairs(level=0.5) == ours.pairs(level=0.5)
    assert theirs.verdicts() == ours.verdicts()
    assert theirs.verdict("nan", level=0.5) == ours.verdict("nan", level=0.5)
    with pytest.raises(tp.DetachedError, match="errors are paired"):
        theirs.verdict("one", "two")


def test_results_that_were_read_need_the_data_for_more() -> None:
    ranked = tp.FeatureStability.from_json(ranking().to_json())
    with pytest.raises(tp.DetachedError, match=r"this ranking was read from JSON.*run feature_stability\(\) again"):
        ranked.result("a")
    with pytest.raises(tp.DetachedError, match=r"this result was read from JSON.*run stability\(\) again"):
        _ = ranked["a"].sensitive
    with pytest.raises(tp.DetachedError, match=r"holds its numbers only; run stability\(\) again"):
        result().without_evidence().bootstrap()


EARLIER = """{"schema": "tippingpoint.stability/1", "value": 0.125, "lower": 0.125, "upper": 0.125, "lower_by": "closed form",
"upper_by": "sensitive distribution", "exact": true, "status": "attained", "standard_error": "nan", "risk": 0.5,
"current_risk": 0, "largest_risk": "inf", "loss": "zero_one", "divergence": "kl", "theta1": 1.0, "theta2": "inf", "price": 0.25,
"corruption_excess": 0.5, "reweighting_excess": 0.0, "corruption_cost": 0.125, "reweighting_cost": 0.0,
"root_mean_square_move": 0.35, "unit": "feature units", "moved_share": 0.5, "effective_share": 1.0, "effective_sample": 4.0,
"nats": 0.0, "samples": 4, "evaluations": 9, "notes": ["one"]}"""


def test_files_of_earlier_versions_are_read() -> None:
    back = tp.StabilityResult.from_json(EARLIER)
    assert (back.value, back.theta2, back.notes, back.samples) == (0.125, math.inf, ("one",), 4)
    assert math.isnan(back.standard_error)
    assert (back.trace, back.interrupted) == ((), False)


def test_rankings_of_earlier_versions_are_read_whose_nan_was_written_as_inf() -> None:
    stored: dict[str, Any] = json.loads(EARLIER)
    row = {"feature": "a", "kind": "numeric", "reach": "inf", **stored}
    back = tp.FeatureStability.from_dict(
        {"schema": "tippingpoint.features/1", "interrupted": False, "limit": "inf", "features": [row]}
    )
    assert (list(back), back.limit, back.reach["a"], back["a"].value) == (["a"], math.inf, math.inf, 0.125)
