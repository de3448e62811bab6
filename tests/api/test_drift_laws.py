"""Laws of drift that need no second solver: what is left, what labels hide, groups of columns, orders."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import tippingpoint as tp
from tippingpoint.api.cases import prepared
from transports import conic_drift

COEF = np.array([1.0, -0.5])
MODEL = (COEF, 0.1)
ALONE: dict[str, Any] = {"permutations": 0, "features": False}
PRICED: dict[str, Any] = {"permutations": 0, "theta1": 1.0, "theta2": 0.5}


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


def transport(p: np.ndarray[Any, Any], q: np.ndarray[Any, Any], costs: np.ndarray[Any, Any]) -> float:
    """The cheapest way from `p` to `q`, by SciPy's linear programming; infinite if there is none."""
    starts, ends = np.nonzero(np.isfinite(costs))
    sides = np.zeros((len(p) + len(q), len(starts)))
    sides[starts, np.arange(len(starts))] = sides[len(p) + ends, np.arange(len(starts))] = 1.0
    solved = linprog(costs[starts, ends], A_eq=sides, b_eq=np.concatenate([p, q]))
    return math.inf if solved.status or solved.fun is None else solved.fun


def encoded(frame: pd.DataFrame, y: Any) -> Any:
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["c"]), remainder="passthrough")
    return make_pipeline(encode, LogisticRegression()).fit(frame, y)


@pytest.mark.parametrize("seed", range(6))
def test_a_category_drifts_at_its_declared_prices_also_to_values_that_only_the_space_has(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels, y = list("abcde"), np.arange(40) % 2
    before = pd.DataFrame({"c": rng.choice(levels[:3], size=40), "x": rng.normal(size=40)})
    before.loc[:2, "c"] = levels[:3]
    after = pd.DataFrame({"c": rng.choice(levels, size=30), "x": rng.normal(size=30)})
    table = np.where(np.eye(5, dtype=bool), 0.0, 10.0 ** rng.uniform(-1.5, 0.5, size=(5, 5)))
    space = tp.Space(categories={"c": levels}, switch={"c": table}, price={"c": 0.3}, frozen=["x"])
    prices: dict[str, Any] = {"theta1": 2.0, "theta2": math.inf, "permutations": 0}
    (found,) = tp.drift(encoded(before, y), (before, y), (after, None), risk=0.9, space=space, **prices).by_feature
    p, q = (np.array([(frame["c"] == level).mean() for level in levels]) for frame in (before, after))
    held, wanted = p > 0.0, q > 0.0
    truth = transport(p[held], q[wanted], 0.6 * table[np.ix_(held, wanted)])
    assert (found.lower, found.drift) == (pytest.approx(truth, rel=1e-6), pytest.approx(truth, rel=1e-6))
    assert found.note == ""


@pytest.mark.parametrize("theta2", [0.5, math.inf])
def test_a_change_without_a_declared_price_is_named_and_the_lower_bound_takes_none(theta2: float) -> None:
    y = np.arange(40) % 2
    before = pd.DataFrame({"c": list("aabb") * 10, "x": np.linspace(-1.0, 1.0, 40)})
    after = before.assign(c=["b"] * 20 + ["new"] * 20)
    space = tp.Space(switch={"c": {"a": {"b": 1.0}, "b": {"a": 3.0}}}, frozen=["x"])
    prices: dict[str, Any] = {"theta1": 1.0, "theta2": theta2, "permutations": 0}
    drifted = tp.drift(encoded(before, y), (before, y), (after, None), risk=0.9, space=space, **prices)
    (found,) = drifted.by_feature
    assert found.assumed
    assert "no price is declared from 'a' to 'new' and 1 more changes" in found.note
    assert any("'c'" in note and "no declared price" in note for note in drifted.notes)
    if math.isinf(theta2):
        costs = np.array([[1.0, 3.0], [0.0, 3.0]])
        assert found.drift == pytest.approx(transport(np.full(2, 0.5), np.full(2, 0.5), costs))
        free = np.where(costs == 3.0, 0.0, costs)
        assert found.lower == pytest.approx(transport(np.full(2, 0.5), np.full(2, 0.5), free), abs=1e-12)
    assert found.lower < found.drift


def test_one_price_for_all_changes_holds_for_new_values_too() -> None:
    y = np.arange(40) % 2
    before = pd.DataFrame({"c": list("aabb") * 10, "x": np.linspace(-1.0, 1.0, 40)})
    after = before.assign(c=["b"] * 20 + ["new"] * 20)
    prices: dict[str, Any] = {"theta1": 1.0, "theta2": math.inf, "permutations": 0}
    space = tp.Space(price={"c": 0.7}, frozen=["x"])
    (found,) = tp.drift(encoded(before, y), (before, y), (after, None), risk=0.9, space=space, **prices).by_feature
    assert (found.drift, found.lower, found.note) == (pytest.approx(0.35), pytest.approx(0.35), "")


@pytest.mark.parametrize("kind", ["numeric", "ordinal", "integer"])
@pytest.mark.parametrize("theta2", [0.5, math.inf])
def test_values_go_missing_at_their_declared_price(kind: str, theta2: float) -> None:
    """Between the bounds lies the transport with one more place for what is missing."""
    rng = np.random.default_rng(0)
    x0, x1 = rng.integers(0, 5, size=60).astype(float), rng.integers(0, 5, size=50).astype(float)
    x0[:6], x1[:20] = np.nan, np.nan
    before, after = (pd.DataFrame({"x": x}) for x in (x0, x1))
    y = np.arange(60) % 2

    def model(frame: pd.DataFrame) -> Any:
        return np.where(frame["x"].isna(), -1.0, frame["x"] - 2.0)

    space = tp.Space(kind={"x": kind}, price={"x": 0.4}, missing={"x": 0.9})
    settings: dict[str, Any] = {"theta1": 2.0, "theta2": theta2, "space": space, "output": "score"}
    drifted = tp.drift(model, (before, y), (after, None), risk=0.9, permutations=9, **settings)
    (found,) = drifted.by_feature
    costs = 0.8 * np.square(x0[:, None] - x1)
    costs = np.where(np.isnan(x1), np.where(np.isnan(x0)[:, None], 0.0, 1.8), np.where(np.isnan(x0)[:, None], np.inf, costs))
    p, q = np.full(60, 1 / 60), np.full(50, 1 / 50)
    truth = transport(p, q, costs) if math.isinf(theta2) else conic_drift(p, q, costs, theta2, "kl")
    assert found.lower <= truth * (1.0 + 1e-6)
    assert found.drift == pytest.approx(truth, rel=1e-3)
    assert found.lower == pytest.approx(truth, rel=1e-3)
    assert 0.0 <= found.risk_if_only <= 1.0
    assert found.p_value <= 0.2 or math.isinf(theta2), "without reweighting no missing value comes back"


def test_a_drift_beyond_the_bounds_is_not_to_be_compared_with_a_stability_within_them() -> None:
    x, y = rows(80, 1)
    later = rows(70, 2, 0.5)[0]
    free, within = (tp.Space(), tp.Space(upper={"x0": 0.5}, outliers="keep"))
    notes = [
        {each.name: each.note for each in tp.drift(MODEL, (x, y), (later, None), risk=0.9, space=space, **PRICED).by_feature}
        for space in (free, within)
    ]
    assert notes[0] == {"x0": "", "x1": ""}
    assert notes[1]["x1"] == ""
    assert "leaves out the bounds" in notes[1]["x0"]
