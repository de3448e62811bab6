"""Laws of drift that need no second solver: what is left, what labels hide, groups of columns, orders."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import tippingpoint as tp
from tippingpoint.api.cases import prepared

COEF = np.array([1.0, -0.5])
MODEL = (COEF, 0.1)
ALONE: dict[str, Any] = {"permutations": 0, "features": False}


def rows(count: int, seed: int, shift: float = 0.0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 2)) * (1.0 + 0.2 * shift) + shift
    return x, (x @ COEF + 0.1 + rng.normal(scale=0.7, size=count) > 0.0).astype(int)


@pytest.mark.parametrize("loss", ["zero_one", "hinge", "logistic"])
def test_moving_alone_leaves_at_least_the_difference_of_the_roots(loss: str) -> None:
    """`√R₁ ≥ √R₀ - √D` where nothing is reweighted; with reweighting there is no such law."""
    for seed, shift in ((1, 0.1), (2, 0.3), (3, 0.05)):
        found = tp.drift(
            MODEL, rows(90, seed), rows(80, seed + 9, shift), risk=0.9, loss=loss, theta1=1.0, theta2=math.inf, **ALONE
        )
        assert math.sqrt(found.remaining) >= math.sqrt(found.tolerance) - math.sqrt(found.value) - 1e-9


def test_other_outcomes_of_the_same_rows_are_no_drift_without_labels() -> None:
    """So nothing follows for the risk, and nothing is said of it."""
    x, y = rows(120, 1)
    unlabelled = tp.drift(MODEL, (x, y), (x, None), risk=0.5, theta1=1.0, theta2=0.5, **ALONE)
    assert unlabelled.value == pytest.approx(0.0, abs=1e-15)
    flipped = tp.drift(MODEL, (x, y), (x, 1 - y), risk=0.9, theta1=1.0, theta2=0.5, **ALONE)
    assert flipped.risk_after == pytest.approx(1.0 - flipped.risk_before)
    assert flipped.value >= flipped.used > 0.0


def test_a_drift_grows_with_its_prices_and_is_at_most_that_of_either_alone() -> None:
    before, after = rows(100, 1), rows(90, 2, 0.4)
    settings: dict[str, Any] = {"risk": 0.6, **ALONE}
    values = [
        tp.drift(MODEL, before, after, theta1=t1, theta2=t2, **settings).value
        for t1, t2 in ((0.5, 0.5), (1.0, 0.5), (1.0, 2.0))
    ]
    assert values == sorted(values)
    moving = tp.drift(MODEL, before, after, theta1=1.0, theta2=math.inf, **settings)
    assert values[2] <= moving.value * (1.0 + 1e-9)
    assert moving.reweighting == 0.0


def shops(count: int, seed: int, *, late: bool = False) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, size=count, p=(0.2, 0.3, 0.5) if late else (0.5, 0.3, 0.2))
    grade = rng.choice(["low", "mid", "high"], size=count, p=(0.2, 0.3, 0.5) if late else (0.5, 0.3, 0.2))
    frame = pd.DataFrame({f"kind_{name}": (kind == k).astype(int) for k, name in enumerate("abc")})
    frame["spent"] = rng.normal(size=count)
    score = frame["spent"] + np.array([0.0, 1.0, -1.0])[kind]
    return frame.assign(grade=grade), (score + rng.normal(scale=0.5, size=count) > 0.0).to_numpy().astype(int)


def test_one_hot_groups_and_levels_in_an_order_are_one_feature_each() -> None:
    def model(frame: pd.DataFrame) -> Any:
        worth = frame["grade"].map({"low": -0.5, "mid": 0.0, "high": 0.5}).astype(float)
        return frame["spent"] + frame["kind_b"] - frame["kind_c"] + worth

    space = tp.Space(
        one_hot={"kind": ["kind_a", "kind_b", "kind_c"]},
        kind={"grade": "ordinal"},
        categories={"grade": ["low", "mid", "high"]},
    )
    before, after = shops(200, 1), shops(180, 2, late=True)
    settings: dict[str, Any] = {"risk": 0.8, "space": space, "theta1": 1.0, "theta2": 0.5, "output": "score"}
    found = {each.name: each for each in tp.drift(model, before, after, permutations=19, **settings).by_feature}
    assert {name: each.kind for name, each in found.items()} == {"kind": "one-hot", "spent": "numeric", "grade": "ordinal"}
    for name in ("kind", "grade"):
        assert found[name].p_value == pytest.approx(0.05)
        assert 0.0 < found[name].drift < math.inf
        assert found[name].unseen_share == 0.0
    assert found["spent"].p_value > 0.05

    # Of one price for all switches the drift is known: shares of the levels alone.
    shares = [frame[["kind_a", "kind_b", "kind_c"]].mean().to_numpy() for frame, _ in (before, after)]
    assert found["kind"].drift <= 1.0 * 0.5 * np.abs(shares[0] - shares[1]).sum() + 1e-12, "all by switching"
    assert found["kind"].drift <= 0.5 * float(np.sum(shares[1] * np.log(shares[1] / shares[0]))) + 1e-12, "all by reweighting"


def test_values_that_are_missing_stay_among_themselves() -> None:
    """Their share is paid by reweighting; where there were none before, nothing gets there."""
    rng = np.random.default_rng(0)

    def clinic(count: int, gaps: float) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
        x = rng.normal(size=count)
        grade = rng.choice(["low", "mid", "high"], size=count).astype(object)
        hidden = rng.random(count) < gaps
        frame = pd.DataFrame({"x": np.where(hidden, np.nan, x), "grade": pd.Series(grade).mask(hidden)})
        return frame, (x > 0.0).astype(int)

    def model(frame: pd.DataFrame) -> Any:
        return frame["x"].fillna(0.0) + frame["grade"].map({"low": -0.1, "high": 0.1}).astype(float).fillna(0.0)

    space = tp.Space(kind={"grade": "ordinal"}, categories={"grade": ["low", "mid", "high"]})
    settings: dict[str, Any] = {"risk": 0.9, "space": space, "theta1": 1.0, "theta2": 0.5, "output": "score", "permutations": 9}
    before, after = clinic(200, 0.2), clinic(180, 0.5)
    found = {each.name: each for each in tp.drift(model, before, after, **settings).by_feature}
    shares = [frame["x"].isna().mean() for frame, _ in (before, after)]
    balance = 0.5 * sum(
        q * math.log(q / p) for p, q in zip((shares[0], 1 - shares[0]), (shares[1], 1 - shares[1]), strict=True)
    )
    for each in found.values():
        assert balance <= each.lower + 1e-9
        assert each.drift < balance + 0.05
        assert 0.0 <= each.risk_if_only <= 1.0
    fresh = {each.name: each for each in tp.drift(model, clinic(200, 0.0), after, **settings).by_feature}
    assert all(math.isinf(each.drift) and "began to be missing" in each.note for each in fresh.values())


def test_after_the_plan_as_many_values_are_missing_as_now() -> None:
    """A model that errs on what is missing alone errs, after the plan, on the share that is missing now."""
    rng = np.random.default_rng(0)

    def clinic(count: int, gaps: float) -> pd.DataFrame:
        return pd.DataFrame({"x": np.where(rng.random(count) < gaps, np.nan, rng.normal(size=count))})

    def model(frame: pd.DataFrame) -> Any:
        return np.where(frame["x"].isna(), -1.0, 1.0)

    before, after = clinic(200, 0.2), clinic(180, 0.5)
    y, weights = np.ones(200, dtype=int), np.ones(200)
    y[0], weights[0] = 0, 1e-12  # of two classes, one that hardly counts
    settings: dict[str, Any] = {"risk": 0.9, "theta1": 1.0, "theta2": 0.5, "output": "score", "permutations": 0}
    (found,) = tp.drift(model, (before, y, weights), (after, None), **settings).by_feature
    assert found.risk_if_only == pytest.approx(after["x"].isna().mean(), abs=1e-9)


def test_no_combination_of_jumps_shifts_a_score_farther_than_the_line_says() -> None:
    """`Δs² ≤ B·d` for any two rows of a space of numbers and categories, and some come close."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(list("pqr"), size=60) for name in ("one", "two")}).assign(spent=rng.normal(size=60))
    y = rng.integers(0, 2, size=60)
    encode = make_column_transformer((OneHotEncoder(), ["one", "two"]), remainder="passthrough")
    model = make_pipeline(encode, LogisticRegression()).fit(frame, y)
    space = tp.Space(price={"one": 0.3, "two": 2.0, "spent": 0.7})
    case = prepared(model, frame, y, {}, loss="logistic", sample_weight=None, space=space, scale="raw")
    margins = case.judgement.margins(case.domain)
    assert margins.compliance is not None
    scores, x = model.decision_function(frame), case.features.x
    pairs = rng.integers(0, 60, size=(4000, 2))
    apart = case.domain.distance(x[pairs[:, 0]], x[pairs[:, 1]])
    moved = apart > 0.0
    ratios = np.square(np.subtract(*scores[pairs.T]))[moved] / (margins.compliance * apart[moved])
    assert 0.5 < ratios.max() <= 1.0 + 1e-9
    assert margins.unit == "features (linear, relaxed)"
