"""Observed drift: what the theorems say of two samples as they are, for every kind of model; and what bad input gets."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import tippingpoint as tp
from opaque import Opaque
from tippingpoint.losses import LOSSES, loss_named

COEF, INTERCEPT = np.array([1.0, -0.5, 0.25]), 0.1
LINEAR = (COEF, INTERCEPT)
PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.5}
QUIET: dict[str, Any] = {"permutations": 0, "features": False}
CLASSES = [name for name in LOSSES if loss_named(name).task == "classification"]
TARGETS = [name for name in LOSSES if loss_named(name).task == "regression"]
Rows = tuple[pd.DataFrame, Any]


def people(rows: int, seed: int, shift: float = 0.0, flip: float = 0.0) -> Rows:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3)) + shift * np.array([0.5, 0.3, -0.4])
    y = np.where(x @ COEF + INTERCEPT + rng.normal(scale=0.8, size=rows) > 0.0, 1, 0)
    y = np.where(rng.random(rows) < flip, 1 - y, y)
    return pd.DataFrame(x, columns=["a", "b", "c"]), y


def numbers(rows: int, seed: int, shift: float = 0.0) -> Rows:
    x, _ = people(rows, seed, shift)
    return x, x.to_numpy() @ COEF + np.random.default_rng(seed).normal(scale=0.5 + 0.3 * abs(shift), size=rows)


def fitted(kind: str) -> Any:
    x, y = people(300, 0)
    if kind == "trees":
        return GradientBoostingClassifier(n_estimators=20, random_state=0).fit(x, y)
    if kind == "opaque":
        return Opaque(LogisticRegression().fit(x, y))
    if kind == "network":
        torch = pytest.importorskip("torch")
        return torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    return LINEAR


def flat(found: Any) -> str:
    """What is printed, without its lines."""
    return " ".join(str(found).split())


def check_the_bound(found: tp.DriftResult) -> None:
    """T1, both ways: the risk that was reached takes no more than the drift, and a drift of this size can have done it."""
    assert 0.0 <= found.lower <= found.upper == found.value
    assert found.moving + found.reweighting == pytest.approx(found.value, rel=1e-9, abs=1e-12)
    assert found.used <= found.value * (1.0 + 1e-9) + 1e-12
    assert found.risk_after <= found.worst_risk + 1e-9 * max(1.0, found.risk_after)


@pytest.mark.parametrize("divergence", ["kl", "chi2"])
@pytest.mark.parametrize("loss", [*CLASSES, *TARGETS])
def test_what_was_done_to_the_model_takes_no_more_than_the_drift(loss: str, divergence: str) -> None:
    make = people if loss in CLASSES else numbers
    for seed, shift in ((1, 0.0), (2, 0.4), (3, 1.5)):
        found = tp.drift(
            LINEAR, make(150, 10 + seed), make(120, seed, shift), risk=0.9, loss=loss, divergence=divergence, **PRICES, **QUIET
        )
        check_the_bound(found)
        assert found.statistic == ("margin" if loss in CLASSES else "residual")
        assert found.unit == "features (linear, exact)"


@pytest.mark.parametrize("kind", ["trees", "opaque", "network"])
@pytest.mark.parametrize("loss", ["zero_one", "logistic"])
def test_the_same_for_every_family_of_models(kind: str, loss: str) -> None:
    model = fitted(kind)
    found = tp.drift(model, people(150, 1), people(130, 2, 0.8, 0.1), risk=0.6, loss=loss, **PRICES, **QUIET)
    check_the_bound(found)
    assert found.unit == {"trees": "score", "opaque": "score", "network": "features (Lipschitz)"}[kind]
    if found.unit == "score":
        assert "moving scores here, not features" in flat(found)


def test_regressors_of_other_families_and_losses_of_ones_own() -> None:
    x, y = numbers(200, 0)
    trees = HistGradientBoostingRegressor(max_iter=10).fit(x, y)
    check_the_bound(tp.drift(trees, numbers(150, 1), numbers(120, 2, 0.7), risk=5.0, **PRICES, **QUIET))

    def overshoot(output: Any, target: Any) -> Any:
        return np.maximum(output - target, 0.0)

    found = tp.drift(trees, numbers(150, 1), numbers(120, 2, 0.7), risk=5.0, loss=overshoot, **PRICES, **QUIET)
    check_the_bound(found)
    assert found.statistic == "loss"


def test_several_classes_are_measured_by_the_nearest_boundary() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    y = np.array(["a", "b", "c"])[np.argmax(x @ rng.normal(size=(2, 3)), axis=1)]
    model = LogisticRegression().fit(x, y)
    found = tp.drift(model, (x[:150], y[:150]), (x[150:] + 0.6, y[150:]), risk=0.7, **PRICES, **QUIET)
    check_the_bound(found)
    assert found.unit == "features (Lipschitz)"
    loose = tp.stability(model, x[:150], y[:150], risk=0.7, **PRICES)
    assert found.tolerance == pytest.approx(loose.value, rel=1e-9), "without bounds the nearest boundary is all there is"


def test_the_tolerance_is_the_stability_where_nothing_is_bounded() -> None:
    before, after = people(200, 1), people(180, 2, 0.5)
    found = tp.drift(LINEAR, before, after, risk=0.5, scale="std", **PRICES, **QUIET)
    result = tp.stability(LINEAR, *before, risk=0.5, scale="std", **PRICES)
    assert found.tolerance == pytest.approx(result.value, rel=1e-12)
    assert found.tolerance_error == pytest.approx(result.standard_error, rel=1e-9)
    units = dict(zip("abc", before[0].std(ddof=0), strict=True))
    left = tp.stability(LINEAR, *after, risk=0.5, scale=units, **PRICES)
    assert found.remaining == pytest.approx(left.value, rel=1e-12), "in the units of the reference"
    assert found.risk_after == pytest.approx(left.current_risk, rel=1e-12)
    at_after = tp.stability(LINEAR, *before, risk=max(found.risk_after, found.risk_before), scale="std", **PRICES)
    assert found.used == pytest.approx(at_after.value, rel=1e-9, abs=1e-15)


def test_a_bounded_space_is_relaxed_and_says_so() -> None:
    before, after = people(200, 1), people(180, 2, 0.5)
    space = tp.Space(lower=-3.5, upper=3.5, outliers="keep")
    found = tp.drift(LINEAR, before, after, risk=0.5, space=space, **PRICES, **QUIET)
    assert found.unit == "features (linear, relaxed)"
    assert found.tolerance <= tp.stability(LINEAR, *before, risk=0.5, space=space, **PRICES).value * (1.0 + 1e-12)
    check_the_bound(found)


def test_the_same_rows_have_not_drifted() -> None:
    before = people(150, 1)
    found = tp.drift(LINEAR, before, before, risk=0.5, **PRICES, permutations=19)
    assert found.value == pytest.approx(0.0, abs=1e-15)
    assert found.p_value == 1.0
    assert found.used == 0.0
    assert found.worst_risk == pytest.approx(found.risk_before)


def test_prices_scale_rows_may_be_shuffled_and_weights_are_copies() -> None:
    before, after = people(120, 1), people(100, 2, 0.6)
    once = tp.drift(LINEAR, before, after, risk=0.5, **PRICES, **QUIET)
    scaled = tp.drift(LINEAR, before, after, risk=0.5, theta1=3.0, theta2=1.5, **QUIET)
    assert scaled.value == pytest.approx(3.0 * once.value, rel=1e-3)
    assert max(scaled.lower, 3.0 * once.lower) <= min(scaled.upper, 3.0 * once.upper) * (1.0 + 1e-12)
    order = np.random.default_rng(0).permutation(100)
    shuffled = tp.drift(LINEAR, before, (after[0].iloc[order], after[1][order]), risk=0.5, **PRICES, **QUIET)
    assert shuffled.value == pytest.approx(once.value, rel=1e-12)
    twice = np.repeat(np.arange(120), 1 + np.arange(120) % 2)
    copied = tp.drift(
        LINEAR, (before[0].iloc[twice].reset_index(drop=True), before[1][twice]), after, risk=0.5, **PRICES, **QUIET
    )
    weighted = tp.drift(LINEAR, (*before, 1.0 + np.arange(120) % 2), after, risk=0.5, **PRICES, **QUIET)
    assert weighted.value == pytest.approx(copied.value, rel=1e-9)
    assert weighted.tolerance == pytest.approx(copied.tolerance, rel=1e-9)


def test_score_and_label_together_drift_no_less_than_the_margin() -> None:
    for divergence in ("kl", "chi2"):
        found = tp.drift(LINEAR, people(200, 1), people(180, 2, 0.8), risk=0.5, divergence=divergence, **PRICES, **QUIET)
        assert found.balance is not None
        assert found.lower <= found.balance.total * (1.0 + 1e-9)
    shares = [np.mean(rows[1]) for rows in (people(200, 1), people(180, 2, 0.8))]
    kl = 0.5 * sum(q * math.log(q / p) for p, q in zip((shares[0], 1 - shares[0]), (shares[1], 1 - shares[1]), strict=True))
    found = tp.drift(LINEAR, people(200, 1), people(180, 2, 0.8), risk=0.5, **PRICES, **QUIET)
    assert found.balance is not None
    assert found.balance.labels == pytest.approx(kl, rel=1e-9)


def test_noise_has_a_floor_and_a_p_value() -> None:
    before = people(300, 1)
    same = tp.drift(LINEAR, before, people(300, 2), risk=0.5, **PRICES, features=False, permutations=99)
    other = tp.drift(LINEAR, before, people(300, 2, 1.0, 0.3), risk=0.5, **PRICES, features=False, permutations=99)
    assert same.p_value > 0.05 > other.p_value == pytest.approx(0.01)
    assert 0.2 < same.floor / other.floor < 5.0
    assert same.rows_needed() == pytest.approx(300 * same.floor / (0.1 * same.tolerance), rel=1e-9)
    again = tp.drift(LINEAR, before, people(300, 2), risk=0.5, **PRICES, features=False, permutations=99)
    assert (again.floor, again.p_value) == (same.floor, same.p_value)


def test_a_window_that_is_too_small_is_warned_of_with_the_rows_it_needs() -> None:
    with pytest.warns(tp.WindowWarning, match=r"takes some [\d,]+ rows in each window"):
        tp.drift(LINEAR, people(20, 1), people(20, 2), risk=0.3, theta1=50.0, theta2=50.0, features=False, permutations=19)


def test_without_labels_only_sizes_are_told() -> None:
    before, after = people(200, 1), people(180, 2, 0.5)
    found = tp.drift(LINEAR, before, (after[0], None), risk=0.5, **PRICES, **QUIET)
    assert found.statistic == "score"
    assert found.outcome is None
    assert "nothing follows" in flat(found)
    for name in ("risk_after", "used", "aligned", "worst_risk", "remaining", "balance"):
        with pytest.raises(tp.UnsupportedError, match=f"{name} needs the labels"):
            getattr(found, name)
    regression = tp.drift(LINEAR, numbers(100, 1), (numbers(90, 2, 0.5)[0], None), risk=3.0, loss="squared", **PRICES, **QUIET)
    assert regression.statistic == "prediction"


def test_scores_without_labels_are_those_of_the_positive_class_whatever_the_labels_are_called() -> None:
    before, after = people(100, 1), people(90, 2, 0.5)
    words = np.where(before[1] > 0, "yes", "no")
    found = tp.drift(LINEAR, (before[0], words), (after[0], None), risk=0.5, **PRICES, **QUIET)
    assert found.evidence is not None
    score = before[0].to_numpy() @ COEF + INTERCEPT
    assert found.evidence.before == pytest.approx(score)


def test_the_expected_risk_is_right_where_the_score_means_what_it_meant() -> None:
    rng = np.random.default_rng(0)

    def drawn(rows: int, shift: float) -> Rows:
        x = rng.normal(size=(rows, 3)) + shift
        chance = 1.0 / (1.0 + np.exp(-(x @ COEF + INTERCEPT)))
        return pd.DataFrame(x, columns=["a", "b", "c"]), (rng.random(rows) < chance).astype(int)

    before, after = drawn(20_000, 0.0), drawn(20_000, 1.6)
    for loss, within in (("zero_one", 0.01), ("logistic", 0.015)):
        found = tp.drift(LINEAR, before, after, risk=0.6, loss=loss, assume="calibration", **PRICES, **QUIET)
        assert found.expected_risk == pytest.approx(found.risk_after, abs=within)
        assert found.risk_after != pytest.approx(found.risk_before, abs=2.0 * within), "something has to be expected"
    unlabelled = tp.drift(LINEAR, before, (after[0], None), risk=0.6, assume="calibration", **PRICES, **QUIET)
    assert "an estimate and no bound: it assumes that outcomes" in flat(unlabelled)
    first, second = numbers(5000, 1), numbers(5000, 2, 0.3)
    found = tp.drift(LINEAR, first, second, risk=3.0, loss="absolute", assume="calibration", **PRICES, **QUIET)
    assert found.expected_risk == pytest.approx(found.risk_before, abs=0.05), "residuals do not depend on the score there"


def test_windows_come_as_a_table_with_p_values_for_all_of_them() -> None:
    before = people(200, 1)
    windows = {"may": people(150, 2, 0.1), "june": people(150, 3, 0.9, 0.4)}
    found = tp.drift(LINEAR, before, windows, risk=0.5, **PRICES, features=False, permutations=39)
    assert list(found) == ["may", "june"]
    assert found["june"].p_value == pytest.approx(1 / 40)
    assert found.adjusted["june"] == pytest.approx(2 / 40)
    frame = found.to_frame()
    assert list(frame["window"]) == ["may", "june"]
    assert frame["drift"].tolist() == [each.value for each in found.results.values()]
    alone = tp.drift(LINEAR, before, windows["june"], risk=0.5, **PRICES, **QUIET)
    assert found["june"].value == alone.value
    assert "Holm" in str(found)
    restored = tp.DriftSeries.from_json(found.to_json())
    assert restored.results == found.results


def test_a_column_splits_the_current_rows_into_windows() -> None:
    before, (x, y) = people(200, 1), people(160, 2, 0.5)
    year = np.where(np.arange(160) < 90, 2016, 2017)
    by_column = tp.drift(LINEAR, before, (x.assign(year=year), y), risk=0.5, by="year", **PRICES, **QUIET)
    by_values = tp.drift(LINEAR, before, (x, y), risk=0.5, by=year, **PRICES, **QUIET)
    assert list(by_column) == ["2016", "2017"]
    assert by_column.results == by_values.results
    first = tp.drift(LINEAR, before, (x[:90], y[:90]), risk=0.5, **PRICES, **QUIET)
    assert by_column["2016"].value == first.value


def test_polars_in_polars_out() -> None:
    before, after = people(120, 1), people(100, 2, 0.6)
    found = tp.drift(LINEAR, before, after, risk=0.5, **PRICES, permutations=0)
    same = tp.drift(LINEAR, *((pl.from_pandas(x), y) for x, y in (before, after)), risk=0.5, **PRICES, permutations=0)
    assert same.value == found.value
    assert isinstance(same.features, pl.DataFrame)
    assert same.features["drift"].to_list() == found.features["drift"].tolist()


def test_results_are_stored_and_pickled() -> None:
    found = tp.drift(LINEAR, people(120, 1), people(100, 2, 0.6), risk=0.5, **PRICES, permutations=9)
    assert tp.DriftResult.from_json(found.to_json()) == found
    assert pickle.loads(pickle.dumps(found)).to_json() == found.to_json()  # noqa: S301  # our own
    with pytest.raises(tp.DetachedError, match="run drift"):
        tp.DriftResult.from_json(found.to_json()).plot()
    unlabelled = tp.drift(LINEAR, people(120, 1), (people(100, 2)[0], None), risk=0.5, assume="calibration", **PRICES, **QUIET)
    assert tp.DriftResult.from_json(unlabelled.to_json()) == unlabelled


BAD: list[tuple[dict[str, Any], str]] = [
    ({"reference": people(20, 1)[0]}, "reference is a DataFrame; give"),
    ({"current": people(20, 1)[0]}, "current is a DataFrame; give"),
    ({"current": {}}, "current is empty"),
    ({"reference": (people(20, 1)[0], None)}, "reference: y is None; labels are needed"),
    ({"theta1": math.inf}, "theta1=inf: two samples"),
    ({"divergence": "cvar:0.5"}, "caps weights and does not price them"),
    ({"permutations": -1}, "permutations=-1 must be"),
    ({"seed": 0.5}, "seed=0.5 must be"),
    ({"assume": "luck"}, "assume='luck' is not known"),
    ({"risk": "much"}, "risk='much'"),
    ({"thetha1": 1.0}, "did you mean theta1"),
    ({"by": "year"}, "by='year' is no column"),
    ({"current": {"a": people(20, 1)}, "by": "a"}, "by= splits one window"),
    ({"current": (people(20, 1)[0].drop(columns="a"), people(20, 1)[1])}, "current: X lacks 'a'"),
    ({"current": (people(20, 1)[0].assign(z=1.0), people(20, 1)[1])}, "current: X has 'z'"),
    ({"current": (people(20, 1)[0].assign(a="x"), people(20, 1)[1])}, r"current: X\['a'\] holds categories, and numbers"),
    ({"current": (people(20, 1)[0], people(19, 1)[1])}, "current: y has 19 values"),
    ({"current": (people(20, 1)[0], [*people(19, 1)[1].tolist(), math.nan])}, r"current: y\[19\]=nan"),
    ({"current": (people(20, 1)[0].assign(a=[math.nan] * 20), people(20, 1)[1])}, r"current: X\[0, 'a'\]"),
    ({"current": (people(20, 1)[0], people(20, 1)[1] + 7)}, "current: "),
    ({"space": tp.Space(movable=[])}, "no feature that the model uses may move"),
]


@pytest.mark.parametrize(("changed", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_gets_a_sentence(changed: dict[str, Any], message: str) -> None:
    asked = {"reference": people(30, 1), "current": people(20, 2), "risk": 0.5, **PRICES, **QUIET, **changed}
    with pytest.raises(tp.TippingPointError, match=message):
        tp.drift(LINEAR, **asked)


def test_rows_in_both_windows_are_warned_of_as_far_as_labels_tell() -> None:
    x, y = people(60, 1)
    named = x.set_axis([f"p{k}" for k in range(60)])
    with pytest.warns(
        tp.WindowWarning, match="10 rows of the window 'current' carry labels of the reference too, such as 'p30'"
    ):
        tp.drift(LINEAR, (named[:40], y[:40]), (named[30:], y[30:]), risk=0.5, **PRICES, **QUIET)
    tp.drift(LINEAR, (named[:30], y[:30]), (named[30:], y[30:]), risk=0.5, **PRICES, **QUIET)
    tp.drift(LINEAR, (x[:40], y[:40]), (x[:30], y[:30]), risk=0.5, **PRICES, **QUIET)  # nobody has named them


def shop(rows: int, seed: int, *, late: bool = False) -> Rows:
    rng = np.random.default_rng(seed)
    where = rng.choice(["north", "south", "east"] + (["abroad"] if late else []), size=rows)
    items = rng.integers(1, 6 if not late else 8, size=rows)
    spent = rng.normal(size=rows) + (0.4 if late else 0.0)
    score = spent + 0.3 * items + np.where(where == "south", 1.0, 0.0) - 1.2
    y = (score + rng.normal(scale=0.7, size=rows) > 0.0).astype(int)
    return pd.DataFrame({"where": where, "items": items, "spent": spent}), y


def shop_model() -> Any:
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["where"]), remainder="passthrough")
    return make_pipeline(encode, LogisticRegression()).fit(*shop(400, 0))


def test_features_of_every_kind_are_looked_at_alone() -> None:
    before, after = shop(300, 1), shop(250, 2, late=True)
    space = tp.Space(kind={"items": "integer"}, price={"where": 0.5})
    found = tp.drift(shop_model(), before, after, risk=0.6, space=space, **PRICES, permutations=39)
    rows = {each.name: each for each in found.by_feature}
    assert {name: row.kind for name, row in rows.items()} == {"where": "categorical", "items": "integer", "spent": "numeric"}
    assert rows["where"].unseen == ("abroad",)
    assert rows["where"].unseen_share == pytest.approx(np.mean(after[0]["where"] == "abroad"))
    assert rows["items"].unseen == ("6", "7")
    assert math.isnan(rows["spent"].unseen_share)
    for row in rows.values():
        assert 0.0 <= row.lower <= row.drift
        assert 0.0 <= row.moving <= row.drift
        assert row.p_value == pytest.approx(1 / 40)
        assert row.floor < row.drift
        assert 0.0 <= row.risk_if_only <= 1.0
    assert list(found.features["feature"]) == [each.name for each in found.by_feature]


def test_one_feature_drifting_alone_does_what_its_plan_does() -> None:
    """T6: the risk after the plan of one feature takes no more, moving that feature alone, than its drift."""
    for seed in range(4):
        before, after = people(150, 10 + seed), people(120, seed, 0.9)
        found = tp.drift(LINEAR, before, after, risk=0.6, **PRICES, permutations=0)
        for each in found.by_feature:
            alone = tp.profile(LINEAR, *before, space=tp.Space(movable=[each.name]))
            took = alone.stability(max(each.risk_if_only, alone.risk), **PRICES)
            assert took.value <= each.drift * (1.0 + 1e-6) + 1e-12


def test_a_single_feature_that_is_all_there_is_ends_at_the_current_distribution() -> None:
    rng = np.random.default_rng(0)
    x0, x1 = rng.normal(size=80), rng.normal(size=60) + 0.5
    model = ([1.0], 0.0)
    y0 = np.where(x0 + rng.normal(size=80) > 0.0, 1, 0)
    (only,) = tp.drift(
        model, (x0[:, None], y0), (x1[:, None], np.arange(60) % 2), risk=0.9, **PRICES, permutations=0
    ).by_feature
    # Scores after the plan are those of the current rows, so with labels all alike the risk is theirs.
    same = np.ones(80, dtype=int)
    same[0] = 0
    weights = np.ones(80)
    weights[0] = 1e-12
    found = tp.drift(model, (x0[:, None], same, weights), (x1[:, None], np.arange(60) % 2), risk=0.9, **PRICES, permutations=0)
    assert found.by_feature[0].risk_if_only == pytest.approx(np.mean(x1 <= 0.0), abs=1e-6)
    assert only.drift > 0.0


def test_a_black_box_is_not_searched_for_the_stability_of_features() -> None:
    found = tp.drift(fitted("opaque"), people(60, 1), people(50, 2, 0.5), risk=0.6, **PRICES, permutations=0)
    assert all(math.isnan(each.stability) and "feature_stability" in each.note for each in found.by_feature)


def test_values_that_the_model_refuses_leave_no_risk_and_say_so() -> None:
    encode = make_column_transformer((OneHotEncoder(handle_unknown="error"), ["where"]), remainder="passthrough")
    model = make_pipeline(encode, LogisticRegression()).fit(*shop(400, 0))
    before, (x, _) = shop(200, 1), shop(200, 2, late=True)
    with pytest.raises(tp.InputError, match="current"):
        tp.drift(model, before, (x, None), risk=0.6, **PRICES, permutations=0)
    x = x[x["where"] != "abroad"].reset_index(drop=True)
    assert tp.drift(model, before, (x, None), risk=0.6, **PRICES, permutations=0).by_feature


def test_ridge_and_missing_values_of_trees() -> None:
    x, y = numbers(200, 0)
    check_the_bound(tp.drift(Ridge().fit(x, y), numbers(150, 1), numbers(120, 2, 0.7), risk=5.0, **PRICES, permutations=0))
    trees = HistGradientBoostingRegressor(max_iter=10).fit(x, y)
    gapped = numbers(120, 2, 0.3)
    gapped[0].loc[:10, "a"] = np.nan
    found = tp.drift(trees, numbers(150, 1), gapped, risk=5.0, **PRICES, permutations=0)
    check_the_bound(found)


def test_a_relaxed_drift_names_its_scale_beside_the_stability_of_the_space() -> None:
    before, after = shop(300, 1), shop(250, 2)
    space, model = tp.Space(kind={"items": "integer"}, price={"where": 0.5}), shop_model()
    found = tp.drift(model, before, after, risk=0.6, space=space, **PRICES, **QUIET)
    apart = tp.stability(model, *before, risk=0.6, space=space, **PRICES)
    assert not found.same_scale
    assert (found.stability, found.stability_lower) == (apart.value, apart.lower)
    assert found.stability_error == pytest.approx(apart.standard_error)
    assert found.tolerance < 0.5 * found.stability, "the two are not to be confused"
    assert "on the relaxed scale" in flat(found)
    assert f"{found.stability:.3g}"[:4] in flat(found)
    assert "do not compare it with drift and tolerance" in flat(found)
    series = tp.drift(model, before, {"now": after}, risk=0.6, space=space, **PRICES, **QUIET)
    assert "features (linear, relaxed)" in flat(series)
    assert "do not compare it with drift and tolerance" in flat(series)
    assert series.to_frame()["unit"].tolist() == ["features (linear, relaxed)"]
    pytest.importorskip("matplotlib")
    assert [axes.get_ylabel() for axes in series.plot().axes][1:] == ["tolerance\n(relaxed scale)", "drift\n(relaxed scale)"]
    assert found.plot().axes[-1].get_xlabel() == "margin, in features (linear, relaxed)"
    free = tp.drift(LINEAR, people(100, 1), people(90, 2), risk=0.5, **PRICES, **QUIET)
    assert free.same_scale
    assert free.stability == free.tolerance
    assert "do not compare" not in flat(free)
    searched = tp.drift(fitted("trees"), people(100, 1), people(90, 2), risk=0.5, **PRICES, **QUIET)
    assert math.isnan(searched.stability)
    assert not searched.same_scale
    assert "not computed" in flat(searched)


def test_a_report_says_that_a_stability_is_on_another_scale_than_its_drifts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = shop(300, 1), shop(250, 2)
    space, model = tp.Space(kind={"items": "integer"}, price={"where": 0.5}), shop_model()
    result = tp.stability(model, *before, risk=0.6, space=space, **PRICES)
    result.report("page.md", drifts=tp.drift(model, before, after, risk=0.6, space=space, **PRICES, **QUIET))
    page = Path("page.md").read_text(encoding="utf-8")
    assert "is on another scale, so do not compare it with these drifts" in " ".join(page.split())
    assert "drift (relaxed scale)" in page


@pytest.mark.filterwarnings("ignore:two samples of these sizes")
def test_there_are_as_many_permutations_as_the_correction_for_several_windows_needs() -> None:
    before = people(60, 1)
    windows = {f"w{k}": people(40, 2 + k, 0.0 if k else 6.0, 0.0 if k else 0.8) for k in range(8)}
    found = tp.drift(LINEAR, before, windows, risk=0.5, **PRICES, features=False)
    assert found["w0"].permutations == 319
    assert found.least_adjusted == pytest.approx(8 / 320)
    assert found.adjusted["w0"] == pytest.approx(8 / 320), "with 199 permutations it would be 0.04"
    assert "With 319 permutations p_adjusted is at least 0.025." in flat(found)
    few = tp.drift(LINEAR, before, windows, risk=0.5, **PRICES, features=False, permutations=39)
    assert few.least_adjusted == pytest.approx(8 / 40)
    assert "p_adjusted is at least 0.2. For 0.05 at least 160 permutations are needed" in flat(few)
    assert tp.drift(LINEAR, before, windows["w1"], risk=0.5, **PRICES, features=False).permutations == 199


def test_one_warning_is_for_all_windows_that_are_too_small() -> None:
    windows = {f"w{k}": people(20, 2 + k) for k in range(5)}
    with pytest.warns(tp.WindowWarning) as caught:
        tp.drift(LINEAR, people(20, 1), windows, risk=0.3, theta1=50.0, theta2=50.0, features=False, permutations=9)
    assert len(caught) == 1
    assert "in 5 of 5 windows ('w0', 'w1', 'w2', ...)" in str(caught[0].message)


def dated(rows: int, period: str) -> tuple[pd.DataFrame, Any]:
    x, y = people(rows, 2, 0.5)
    return x.assign(day=pd.date_range("2026-01-01", periods=rows, freq=period)), y


@pytest.mark.parametrize("held", ["dates", "text", "days", "numbers"])
def test_dates_are_grouped_by_a_period(held: str) -> None:
    x, y = dated(60, "D")
    as_held = {
        "dates": x["day"],
        "text": x["day"].dt.strftime("%Y-%m-%d"),
        "days": x["day"].dt.date,
        "numbers": x["day"].dt.strftime("%Y%m%d").astype(int),
    }
    found = tp.drift(LINEAR, people(50, 1), (x.assign(day=as_held[held]), y), risk=0.5, by="day:month", **PRICES, **QUIET)
    assert list(found) == ["2026-01", "2026-02", "2026-03"]
    assert [each.rows_after for each in found.results.values()] == pytest.approx([31, 28, 1])
    weeks = tp.drift(LINEAR, people(50, 1), (x.assign(day=as_held[held]), y), risk=0.5, by="day:week", **PRICES, **QUIET)
    assert list(weeks)[:2] == ["2026-W01", "2026-W02"]
    assert list(weeks)[-1] == "2026-W09"


def test_a_column_with_a_colon_in_its_name_is_that_column() -> None:
    x, y = people(60, 2, 0.5)
    split = x.assign(**{"a:month": np.arange(60) % 2})
    found = tp.drift(LINEAR, people(50, 1), (split, y), risk=0.5, by="a:month", **PRICES, **QUIET)
    assert list(found) == ["0", "1"]


def test_too_many_windows_are_refused_before_any_work_with_a_coarser_period() -> None:
    def never(frame: Any) -> Any:
        raise AssertionError("the model was asked")

    x, y = dated(1200, "h")
    asked: dict[str, Any] = {"reference": people(20, 1), "risk": 0.5, **PRICES, **QUIET}
    with pytest.raises(tp.InputError, match=r"makes 1,200 windows, and at most 1,000 .* by='day:day' makes 50\."):
        tp.drift(never, current=(x, y), by="day", **asked)
    with pytest.raises(tp.InputError, match=r"makes 1,200 windows.*Give fewer values"):
        tp.drift(never, current=(x.drop(columns="day"), y), by=np.arange(1200), **asked)
    with pytest.raises(tp.InputError, match=r"makes 1,200 windows.*for example days, of which there are 50"):
        tp.drift(never, current=(x.drop(columns="day"), y), by=x["day"].to_numpy(), **asked)
    with pytest.raises(tp.InputError, match="current has 1,001 windows"):
        tp.drift(never, current={str(k): (x, y) for k in range(1001)}, **asked)
    with pytest.raises(tp.InputError, match=r"'decade' is not a period. Use day, week"):
        tp.drift(never, current=(x, y), by="day:decade", **asked)
    with pytest.raises(tp.InputError, match="the column does not hold dates"):
        tp.drift(never, current=(x, y), by="a:month", **asked)


def test_the_time_limit_is_for_the_stabilities_of_all_features_together() -> None:
    model = fitted("trees")
    found = tp.drift(model, people(60, 1), people(50, 2, 0.5), risk=0.6, time_limit=1e-9, **PRICES, permutations=0)
    late = [each for each in found.by_feature if "the time limit was reached" in each.note]
    assert len(late) == 2, "of three features the first was asked for"
    assert all(math.isnan(each.stability) and not math.isnan(each.risk_if_only) for each in late)


def test_a_column_without_spread_has_no_price_though_it_may_go_missing() -> None:
    x, y = numbers(200, 0)
    trees = HistGradientBoostingRegressor(max_iter=10).fit(x, y)
    flat, moved = (numbers(150, seed) for seed in (1, 2))
    flat[0]["a"], moved[0]["a"] = 4.0, 7.0
    space = tp.Space(missing={"a": 0.3})
    found = tp.drift(trees, flat, moved, risk=5.0, **PRICES | {"scale": "std"}, space=space, permutations=0)
    row = next(each for each in found.by_feature if each.name == "a")
    assert math.isnan(row.drift)
    assert row.note == "it has no spread in the reference, so that a move has no price"
