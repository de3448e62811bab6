"""The front door: profiles, sweeps, comparisons, frames, labels, weights, spaces, and what results say."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import tippingpoint as tp
from tippingpoint.core.arrays import FloatArray

INF = math.inf
COEF, INTERCEPT = np.array([1.0, -0.5, 0.25]), 0.1
MODEL = (COEF, INTERCEPT)
DIVERGENCES = ("kl", "chi2", "cvar:0.4")
PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}


def data(n: int = 200, seed: int = 5) -> tuple[FloatArray, Any]:
    """Features and labels -1/+1 that the model predicts with some errors."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    y = np.where(x @ COEF + INTERCEPT + rng.normal(scale=0.8, size=n) > 0.0, 1, -1)
    return x, y


def base_of(sensitive: pd.DataFrame, weights: dict[Any, float]) -> FloatArray:
    """Base weight of the row of every atom."""
    total = sum(weights.values())
    return np.array([weights[row] / total for row in sensitive["row"]])


# One profile, many questions


@pytest.mark.parametrize("loss", ["zero_one", "hinge", "logistic"])
@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_one_profile_answers_every_question_as_a_fresh_one_does(loss: str, divergence: str) -> None:
    x, y = data()
    profile = tp.profile(MODEL, x, y, loss=loss)
    for risk in (profile.risk + 0.1, profile.risk + 0.3):
        for theta1, theta2 in ((1.0, 0.25), (0.1, 3.0), (INF, 0.2), (0.2, INF)):
            asked: dict[str, Any] = {"theta1": theta1, "theta2": theta2, "divergence": divergence}
            fresh = tp.stability(MODEL, x, y, risk, loss=loss, **asked)
            assert profile.stability(risk, **asked).to_dict() == fresh.to_dict()


def test_a_profile_is_not_changed_by_being_asked() -> None:
    x, y = data()
    profile = tp.profile(MODEL, x, y)
    first = profile.stability(0.5)
    for risk in (0.3, 0.9, 1.0, 0.0):
        profile.stability(risk, theta1=0.1, theta2=INF)
    assert profile.stability(0.5) == first


def test_the_data_given_are_left_as_they_were() -> None:
    x, y = data()
    weights = np.linspace(0.0, 1.0, len(y))
    copies = x.copy(), y.copy(), weights.copy()
    result = tp.stability(MODEL, x, y, 0.6, sample_weight=weights, space=tp.Space(lower=-9.0, upper=9.0), scale="std")
    assert len(result.sensitive)
    for now, then in zip((x, y, weights), copies, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("mix", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_the_dial_stands_for_the_two_prices(mix: float) -> None:
    x, y = data()
    profile = tp.profile(MODEL, x, y, loss="hinge")
    for budget in (5.0, 2.0):
        theta1 = 1.0 / (budget * mix) if mix else INF
        theta2 = 1.0 / (budget * (1.0 - mix)) if mix < 1.0 else INF
        dialled = profile.stability(1.5, mix=mix, budget=budget)
        assert (dialled.theta1, dialled.theta2) == pytest.approx((theta1, theta2))
        assert dialled.value == pytest.approx(profile.stability(1.5, theta1=theta1, theta2=theta2).value, rel=1e-11)


def test_the_default_is_the_middle_of_the_papers_dial() -> None:
    x, y = data()
    profile = tp.profile(MODEL, x, y)
    assert profile.stability(0.5) == profile.stability(0.5, theta1=0.4, theta2=0.4)


def test_infinite_theta1_reweights_only_and_has_the_closed_form() -> None:
    x, y = data()
    profile = tp.profile(MODEL, x, y)
    now, risk = profile.risk, 0.6
    result = profile.stability(risk, theta1=INF, theta2=0.3)
    entropy = risk * math.log(risk / now) + (1.0 - risk) * math.log((1.0 - risk) / (1.0 - now))
    assert result.value == pytest.approx(0.3 * entropy, rel=1e-10)
    assert result.nats == pytest.approx(entropy, rel=1e-10)
    assert result.moved_share == result.corruption_cost == result.corruption_excess == 0.0
    assert list(result.sensitive.columns) == ["row", "weight", "share", "mass", "loss_before", "loss", "cost", "x0", "x1", "x2"]
    assert (result.sensitive[["x0", "x1", "x2"]].to_numpy() == x[result.sensitive["row"]]).all()
    chi2 = profile.stability(risk, theta1=INF, theta2=0.3, divergence="chi2")
    assert chi2.value == pytest.approx(0.3 * (risk - now) ** 2 / (now * (1.0 - now)), rel=1e-10)


def test_infinite_theta2_moves_only_and_has_the_closed_form() -> None:
    x, _ = data()
    rng = np.random.default_rng(1)
    y = x @ COEF + INTERCEPT + rng.normal(size=len(x))
    profile = tp.profile(MODEL, x, y, loss="squared")
    risk = 3.0 * profile.risk
    result = profile.stability(risk, theta1=0.7, theta2=INF)
    assert result.value == pytest.approx(0.7 * (math.sqrt(risk) - math.sqrt(profile.risk)) ** 2 / (COEF @ COEF), rel=1e-10)
    assert result.sensitive["weight"].eq(1.0).all()
    assert result.reweighting_cost == result.reweighting_excess == result.nats == 0.0
    assert result.effective_share == pytest.approx(1.0, rel=1e-12)


def test_a_curve_is_the_stability_at_every_threshold() -> None:
    x, y = data()
    profile = tp.profile(MODEL, x, y)
    risks = [0.1, 0.4, 0.7, 1.0]
    curve = profile.curve(risks, **PRICES, divergence="chi2")
    assert curve.over == "risk"
    for result, risk in zip(curve, risks, strict=True):
        assert result.to_dict() == profile.stability(risk, **PRICES, divergence="chi2").to_dict()
    frame = curve.to_frame()
    assert frame["risk"].tolist() == risks
    assert frame["stability"].tolist() == [result.value for result in curve]
    assert frame["stability"].is_monotonic_increasing
    for result in curve:
        assert f"{result.value:.4g}" in str(curve)


def test_a_tradeoff_is_the_stability_along_the_dial() -> None:
    x, y = data()
    profile = tp.profile(MODEL, x, y)
    mixes = [0.0, 0.3, 1.0]
    tradeoff = profile.tradeoff(mixes, risk=0.5, budget=3.0)
    assert list(tradeoff) == [profile.stability(0.5, mix=mix, budget=3.0) for mix in mixes]
    frame = tradeoff.to_frame()
    assert frame["mix"].tolist() == mixes
    assert frame["risk"].tolist() == [0.5] * 3
    assert frame["theta1"].tolist() == [INF, pytest.approx(1 / 0.9), pytest.approx(1 / 3)]
    assert len(tradeoff) == 3


def test_a_risk_already_there_costs_nothing_and_one_out_of_reach_costs_everything() -> None:
    x, y = data()
    profile = tp.profile(MODEL, x, y)
    there = profile.stability(profile.risk / 2.0)
    assert (there.value, there.status) == (0.0, "already")
    assert "Stability 0" in str(there)
    assert there.sensitive["weight"].eq(1.0).all()
    never = tp.profile(MODEL, x, y, space=tp.Space(movable=[])).stability(0.9, theta1=1.0, theta2=INF)
    assert (never.value, never.lower, never.upper, never.status) == (INF, INF, INF, "unreachable")
    assert never.largest_risk == pytest.approx(profile.risk, abs=1e-12)
    assert "Stability ∞" in str(never)


def test_the_hinge_written_as_pieces_of_the_features_is_the_hinge() -> None:
    x, y = data()
    hinge = tp.profile((COEF, 0.0), x, y, loss="hinge")
    pieces = tp.profile(None, x, y, loss=tp.PiecewiseLinear(np.array([0.0 * COEF, -COEF]), [0.0, 1.0]))
    assert pieces.risk == pytest.approx(hinge.risk, rel=1e-12)
    for theta1, theta2 in ((1.0, 0.25), (0.2, INF), (INF, 0.3)):
        one, other = (profile.stability(1.5, theta1=theta1, theta2=theta2).value for profile in (pieces, hinge))
        assert one == pytest.approx(other, rel=1e-10)


# Comparisons


def test_models_that_are_the_same_differ_by_nothing_with_no_error() -> None:
    x, y = data()
    comparison = tp.compare({"one": MODEL, "same": (COEF.copy(), INTERCEPT)}, x, y, 0.5, **PRICES)
    (row,) = comparison.differences().to_dict("records")
    assert row == {"model": "same", "reference": "one", "difference": 0.0, "standard_error": 0.0, "low": 0.0, "high": 0.0}
    assert comparison.results["one"].standard_error > 0.0


@pytest.mark.parametrize(("divergence", "theta1", "theta2"), [("kl", 0.4, 0.4), ("chi2", INF, 0.3), ("kl", 0.3, INF)])
def test_the_paired_error_is_that_of_the_bootstrapped_difference(divergence: str, theta1: float, theta2: float) -> None:
    x, y = data(400)
    asked: dict[str, Any] = {"theta1": theta1, "theta2": theta2, "divergence": divergence, "loss": "hinge"}
    comparison = tp.compare({"one": MODEL, "other": (COEF * [1.0, -0.5, 1.0], 0.0)}, x, y, 1.2, **asked)
    drawn = {name: result.bootstrap(400, seed=3) for name, result in comparison.results.items()}
    spread = np.std(drawn["other"].values - drawn["one"].values, ddof=1)  # noqa: PD011  # the same rows in both
    (row,) = comparison.differences().to_dict("records")
    assert row["difference"] == comparison.results["other"].value - comparison.results["one"].value
    assert row["standard_error"] == pytest.approx(spread, rel=0.15)
    unpaired = math.hypot(*(result.standard_error for result in comparison.results.values()))
    assert row["standard_error"] < unpaired, "pairing is what makes the comparison sharp"


def test_a_comparison_can_have_another_reference_and_ranks_the_most_stable_first() -> None:
    x, y = data()
    models = {"weak": (COEF * 2.0, 0.1), "strong": (COEF * [1.0, 1.0, 0.0], 0.1), "third": (COEF * [1.0, 0.0, 0.0], 0.0)}
    comparison = tp.compare(models, x, y, 1.0, loss="hinge", **PRICES)
    ranked = comparison.to_frame()
    assert ranked["stability"].is_monotonic_decreasing
    assert set(ranked["model"]) == set(models)
    back, forth = comparison.differences("strong"), comparison.differences()
    assert back.set_index("model").loc["weak", "difference"] == -forth.set_index("model").loc["strong", "difference"]
    wide, narrow = comparison.differences(level=0.99), comparison.differences(level=0.5)
    assert (wide["high"] - wide["low"] > narrow["high"] - narrow["low"]).all()
    for name in models:
        assert name in str(comparison)


# What a result says and stores


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize(("risk", "theta1", "theta2"), [(0.5, 1.0, 0.25), (0.8, INF, 0.2), (0.5, 0.2, INF), (0.05, 1.0, 1.0)])
def test_json_gives_the_result_back(divergence: str, risk: float, theta1: float, theta2: float) -> None:
    x, y = data()
    result = tp.stability(MODEL, x, y, risk, theta1=theta1, theta2=theta2, divergence=divergence)
    back = tp.StabilityResult.from_json(result.to_json())
    assert back.to_dict() == result.to_dict()
    assert str(back) == str(result)
    if not math.isnan(result.standard_error):
        assert back == result
    assert result.to_dict()["schema"] == "tippingpoint.stability/1"


def test_json_holds_infinities_that_any_reader_understands() -> None:
    x, y = data()
    result = tp.stability(MODEL, x, y, 0.9, theta1=1.0, theta2=INF, space=tp.Space(movable=[]))
    assert "Infinity" not in result.to_json()
    assert tp.StabilityResult.from_json(result.to_json()).value == INF


def test_a_result_from_json_says_that_its_data_are_gone() -> None:
    x, y = data()
    back = tp.StabilityResult.from_json(tp.stability(MODEL, x, y, 0.5).to_json())
    for ask in (lambda: back.sensitive, lambda: back.influence, back.bootstrap):
        with pytest.raises(tp.DetachedError, match=r"run stability\(\) again"):
            ask()


def test_print_tells_every_fact_in_words_on_one_screen() -> None:
    x, y = data()
    result = tp.stability(MODEL, x, y, 0.5, scale="std", **PRICES)
    said = str(result)
    assert len(said.splitlines()) <= 24
    assert max(map(len, said.splitlines())) < 80
    words = " ".join(said.split())
    facts = (
        f"Stability {result.value:.4g}",
        f"from {100 * result.current_risk:.3g}",
        "to 50",
        "exact",
        f"≥ {result.lower:.10g}",
        f"≤ {result.upper:.10g}",
        f"{result.standard_error:.2g}",
        f"{result.root_mean_square_move:.4g} standard deviations",
        f"{100 * result.moved_share:.3g}",
        f"{100 * result.effective_share:.3g}",
        f"{result.nats:.4g} nats",
        f"{result.corruption_excess:.4g}",
        f"{result.reweighting_excess:.4g}",
        f"{result.corruption_cost:.4g}",
        f"{result.reweighting_cost:.4g}",
    )
    for fact in facts:
        assert fact in words


def test_a_small_effective_sample_is_noted_and_warned_about() -> None:
    x, y = data(60)
    result = tp.stability(MODEL, x, y, 0.95, theta1=INF, theta2=1.0)
    assert result.effective_sample < 50.0
    assert "bootstrap" in str(result)
    with pytest.warns(tp.SmallSampleWarning, match="effective samples"):
        result.interval()


def test_the_interval_is_around_the_value_and_widens_with_the_level() -> None:
    x, y = data(2000)
    result = tp.stability(MODEL, x, y, 0.4, **PRICES)
    low, high = result.interval(0.95)
    assert (low + high) / 2.0 == pytest.approx(result.value)
    assert high - result.value == pytest.approx(1.959964 * result.standard_error, rel=1e-6)
    assert result.interval(0.5)[1] < high


def test_html_escapes_what_the_user_named() -> None:
    x, y = data()
    loss = tp.PiecewiseLinear([0.0, 1.0], [0.0, 1.0], title="<script>alert('x')</script>")
    result = tp.stability(MODEL, x, y, 1.5, loss=loss)
    html = result._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert f"{result.value:.4g}" in html


# Frames and labels of every kind


def frames() -> dict[str, Any]:
    """The same numbers in every kind of frame, some columns of small whole numbers."""
    polars = pytest.importorskip("polars")
    x, _ = data()
    x = np.column_stack([x[:, 0], np.round(x[:, 1]), x[:, 2] > 0.0])
    plain = pd.DataFrame({"a": x[:, 0], "b": x[:, 1].astype(int), "c": x[:, 2].astype(bool)})
    index = pd.MultiIndex.from_tuples([("s", f"{i:03d}") for i in range(len(x))])
    return {
        "array": x,
        "list": x.tolist(),
        "array in Fortran order": np.asarray(x, order="F"),
        "pandas": plain,
        "pandas, shuffled index": plain.set_axis(np.random.default_rng(0).permutation(len(x))),
        "pandas, two-level index": plain.set_axis(index),
        "pandas, nullable": plain.astype({"a": "Float64", "b": "Int16", "c": "boolean"}),
        "pandas, numbered columns": plain.set_axis([0, 1, 2], axis=1),
        "polars": polars.DataFrame({"a": x[:, 0], "b": x[:, 1].astype(int), "c": x[:, 2].astype(bool)}),
    }


@pytest.mark.parametrize("kind", frames())
def test_every_kind_of_frame_gives_the_same_numbers(kind: str) -> None:
    _, y = data()
    every = frames()
    expected = tp.stability(MODEL, every["array"], y, 0.5, **PRICES)
    result = tp.stability(MODEL, every[kind], y, 0.5, **PRICES)
    assert result.value == pytest.approx(expected.value, rel=1e-12)
    assert result.nats == pytest.approx(expected.nats, rel=1e-12)
    ours, theirs = (told.sensitive.to_numpy()[:, 1:].astype(float) for told in (result, expected))
    np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-13)


def test_pandas_rows_are_named_by_their_index() -> None:
    _, y = data()
    for kind in ("pandas, shuffled index", "pandas, two-level index"):
        x = frames()[kind]
        q = tp.stability(MODEL, x, y, 0.5, theta1=0.4, theta2=INF).sensitive
        assert set(q["row"]) == set(x.index)
        stays = q[q["cost"] == 0.0]
        np.testing.assert_array_equal(stays["a"], x.loc[list(stays["row"]), "a"])


def test_polars_in_gives_polars_out_everywhere() -> None:
    polars = pytest.importorskip("polars")
    _, y = data()
    x = frames()["polars"]
    profile = tp.profile(MODEL, x, polars.Series(y), sample_weight=polars.Series(np.ones(len(y))))
    comparison = tp.compare({"one": MODEL, "other": (COEF, 0.0)}, x, y, 0.5)
    told = (
        profile.stability(0.5).sensitive,
        profile.curve([0.4, 0.5]).to_frame(),
        comparison.to_frame(),
        comparison.differences(),
    )
    for frame in told:
        assert isinstance(frame, polars.DataFrame)
    assert told[0].columns[:7] == ["row", "weight", "share", "mass", "loss_before", "loss", "cost"]
    assert told[0].columns[7:] == ["a", "b", "c"]


LABELS: dict[str, Any] = {
    "str": np.array(["no", "yes"]),
    "bool": np.array([False, True]),
    "int": np.array([0, 1]),
    "odd ints": np.array([-7, 3]),
    "float": np.array([0.0, 1.0]),
    "object": np.array(["no", "yes"], dtype=object),
}


@pytest.mark.parametrize("wrapped", [np.asarray, list, pd.Series, pd.Categorical])
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_type_give_the_same_stability(kind: str, wrapped: Any) -> None:
    x, y = data()
    labels = LABELS[kind][(y > 0).astype(int)]
    assert tp.stability(MODEL, x, wrapped(labels), 0.5) == tp.stability(MODEL, x, y, 0.5)
    fitted = LogisticRegression().fit(x, labels)
    plain = (fitted.coef_, fitted.intercept_)
    assert tp.stability(fitted, x, wrapped(labels), 0.5).value == tp.stability(plain, x, y, 0.5).value


def test_nullable_and_polars_labels_are_labels() -> None:
    polars = pytest.importorskip("polars")
    x, y = data()
    expected = tp.stability(MODEL, x, y, 0.5)
    assert tp.stability(MODEL, x, pd.Series(y > 0, dtype="boolean"), 0.5) == expected
    assert tp.stability(MODEL, x, pd.Series(np.where(y > 0, "yes", "no"), dtype="string"), 0.5) == expected
    assert tp.stability(MODEL, x, polars.Series(np.where(y > 0, "yes", "no")), 0.5) == expected


# Weights


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("loss", ["zero_one", "logistic"])
@pytest.mark.parametrize(("theta1", "theta2"), [(1.0, 0.25), (INF, 0.2), (0.2, INF)])
def test_weight_two_is_the_row_twice_and_weight_zero_the_row_dropped(
    loss: str, divergence: str, theta1: float, theta2: float
) -> None:
    x, y = data(60)
    weights = np.random.default_rng(2).integers(0, 4, len(y))
    weights[:2] = (0, 3)
    asked: dict[str, Any] = {"theta1": theta1, "theta2": theta2, "divergence": divergence}
    weighted = tp.profile(MODEL, x, y, loss=loss, sample_weight=weights)
    repeated = tp.profile(MODEL, np.repeat(x, weights, axis=0), np.repeat(y, weights), loss=loss)
    assert weighted.risk == pytest.approx(repeated.risk, rel=1e-12)
    risk = weighted.risk + 0.2
    one, other = (profile.stability(risk, **asked) for profile in (weighted, repeated))
    assert one.value == pytest.approx(other.value, rel=1e-9)
    assert one.corruption_excess == pytest.approx(other.corruption_excess, rel=1e-6, abs=1e-12)
    assert one.samples == np.count_nonzero(weights)
    assert set(one.sensitive["row"]) == set(np.flatnonzero(weights))


def test_only_the_ratio_of_weights_counts() -> None:
    x, y = data(60)
    weights = np.random.default_rng(2).random(len(y))
    for scale in (1e-300, 1e300):
        assert tp.stability(MODEL, x, y, 0.5, sample_weight=weights * scale).value == pytest.approx(
            tp.stability(MODEL, x, y, 0.5, sample_weight=weights).value, rel=1e-12
        )


def test_weights_keep_their_rows_in_a_frame_with_an_index_of_its_own() -> None:
    x, y = data(60)
    frame = pd.DataFrame(x, columns=["a", "b", "c"], index=[f"r{i}" for i in range(60)])
    weights = pd.Series(np.arange(60) % 3, index=frame.index)
    q = tp.stability(MODEL, frame, y, 0.6, sample_weight=weights).sensitive
    assert list(dict.fromkeys(q["row"])) == [name for name, weight in weights.items() if weight > 0]


# Scale and space


def test_scale_std_is_what_rescaling_by_hand_gives() -> None:
    x, y = data()
    wide = x * [1.0, 50.0, 0.02]
    coef = COEF / [1.0, 50.0, 0.02]
    weights = np.random.default_rng(0).random(len(y))
    mean = np.average(wide, axis=0, weights=weights)
    spread = np.sqrt(np.average((wide - mean) ** 2, axis=0, weights=weights))
    ours = tp.stability((coef, INTERCEPT), wide, y, 0.5, sample_weight=weights, scale="std", **PRICES)
    hand = tp.stability((coef * spread, INTERCEPT), wide / spread, y, 0.5, sample_weight=weights, scale="raw", **PRICES)
    assert ours.value == pytest.approx(hand.value, rel=1e-10)
    assert ours.unit == "standard deviations"
    for name, width in zip(("x0", "x1", "x2"), spread, strict=True):
        np.testing.assert_allclose(ours.sensitive[name] / width, hand.sensitive[name], rtol=1e-7, atol=1e-9)


def test_uneven_columns_warn_once_and_a_choice_of_scale_silences_it() -> None:
    x, y = data()
    uneven = pd.DataFrame(x * [1.0, 1e3, 1.0], columns=["age", "income", "dose"])
    model = (COEF / [1.0, 1e3, 1.0], INTERCEPT)
    with pytest.warns(tp.ScaleWarning, match="'income' is .* times as far as one of .*pass scale='std'") as caught:
        tp.profile(model, uneven, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__, "it points at the caller"
    with pytest.warns(tp.ScaleWarning) as caught:
        tp.stability(model, uneven, y, 0.5)
    assert caught[0].filename == __file__, "through the other door too"
    tp.profile(model, uneven, y, scale="raw")
    tp.profile(model, uneven, y, scale="std")
    tp.profile(model, uneven, y, space=tp.Space(price={"income": 1e-6}))
    tp.profile(model, uneven, y, space=tp.Space(frozen=["income"]))
    tp.profile(model, x * [1.0, 50.0, 1.0], y)


def test_a_constant_column_neither_warns_nor_moves_in_standard_deviations() -> None:
    x, y = data()
    flat = np.column_stack([x, np.full(len(y), 1e9)])
    result = tp.stability((np.append(COEF, 1e-12), INTERCEPT), flat, y, 0.5, scale="std", **PRICES)
    assert (result.sensitive["x3"] == 1e9).all()
    tp.profile((np.append(COEF, 0.0), INTERCEPT), flat, y)


def test_a_price_is_the_unit_of_its_column() -> None:
    x, y = data()
    priced = tp.stability(MODEL, x, y, 0.5, space=tp.Space(price=[4.0, 9.0, 0.25]), **PRICES)
    units = np.array([2.0, 3.0, 0.5])
    assert priced.value == pytest.approx(tp.stability((COEF / units, INTERCEPT), x * units, y, 0.5, **PRICES).value, rel=1e-10)
    by_name = tp.stability(MODEL, x, y, 0.5, space=tp.Space(price={"x0": 4.0, "x1": 9.0, "x2": 0.25}), **PRICES)
    assert by_name == priced
    q = priced.sensitive
    step = q[["x0", "x1", "x2"]].to_numpy() - x[q["row"]]
    np.testing.assert_allclose(np.square(step) @ [4.0, 9.0, 0.25], q["cost"], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("loss", ["zero_one", "hinge", "logistic"])
@pytest.mark.parametrize("space", [tp.Space(frozen=["x0"]), tp.Space(movable=["x1", "x2"])], ids=["frozen", "movable"])
def test_frozen_columns_stay_and_the_rest_pays_for_them(loss: str, space: tp.Space) -> None:
    x, y = data()
    profile = tp.profile(MODEL, x, y, loss=loss, space=space)
    result = profile.stability(profile.risk + 0.3, **PRICES)
    assert (result.sensitive["x0"] == x[result.sensitive["row"], 0]).all()
    without = x[:, 1:]
    offset = x[:, 0] * COEF[0]
    hand = np.column_stack([without, offset])  # the frozen part as a column of its own, too dear to move
    dear = tp.Space(price=[1.0, 1.0, 1e14])
    same = tp.profile((np.append(COEF[1:], 1.0), INTERCEPT), hand, y, loss=loss, space=dear, scale="raw")
    assert result.value == pytest.approx(same.stability(profile.risk + 0.3, **PRICES).value, rel=1e-9)
    assert result.value > tp.stability(MODEL, x, y, profile.risk + 0.3, loss=loss, **PRICES).value


@pytest.mark.parametrize("loss", ["zero_one", "hinge", "logistic"])
def test_moved_points_stay_within_their_bounds_and_have_the_loss_that_is_told(loss: str) -> None:
    x, y = data()
    x = np.clip(x, -1.5, 1.5)
    space = tp.Space(lower={"x0": -1.5, "x1": -1.6}, upper={"x0": 1.5, "x2": 1.75})
    profile = tp.profile(MODEL, x, y, loss=loss, space=space)
    result = profile.stability(profile.risk + 0.4, theta1=0.2, theta2=2.0)
    q = result.sensitive
    points = q[["x0", "x1", "x2"]].to_numpy()
    slack = 1e-12
    assert (points[:, 0] >= -1.5 - slack).all()
    assert (points[:, 0] <= 1.5 + slack).all()
    assert (points[:, 1] >= -1.6 - slack).all()
    assert (points[:, 2] <= 1.75 + slack).all()
    assert np.isclose(np.abs(points[:, 0]), 1.5).any(), "some bound is met, or this tests nothing"
    margin = (points @ COEF + INTERCEPT) * y[q["row"]]
    told = {"zero_one": margin <= 0.0, "hinge": np.maximum(1.0 - margin, 0.0), "logistic": np.logaddexp(0.0, -margin)}
    np.testing.assert_allclose(q["loss"], told[loss], rtol=1e-9)
    np.testing.assert_allclose(np.square(points - x[q["row"]]).sum(axis=1), q["cost"], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("loss", ["zero_one", "hinge", "squared_hinge", "logistic"])
def test_more_freedom_never_makes_a_model_more_stable(loss: str) -> None:
    x, y = data(80)
    x = np.clip(x, -2.0, 2.0)
    chain = [
        tp.Space(),
        tp.Space(lower=-4.0, upper=4.0),
        tp.Space(lower=-2.0, upper=2.0),
        tp.Space(lower=-2.0, upper=2.0, price=2.0),
        tp.Space(lower=-2.0, upper=2.0, price=2.0, frozen=["x0"]),
        tp.Space(lower=-2.0, upper=2.0, price=2.0, movable=["x2"]),
        tp.Space(movable=[]),
    ]
    values = [tp.stability(MODEL, x, y, 0.6, loss=loss, space=space, theta1=0.3, theta2=0.5).value for space in chain]
    for freer, tighter in itertools.pairwise(values):
        assert freer <= tighter * (1.0 + 1e-12)
    assert values[0] < values[-1]


# The sensitive distribution


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    loss=st.sampled_from(["zero_one", "hinge", "squared_hinge", "logistic", "squared", "absolute", "huber", "pinball:0.8"]),
    divergence=st.sampled_from(DIVERGENCES),
    prices=st.sampled_from([(1.0, 0.25), (0.05, 2.0), (INF, 0.2), (0.2, INF)]),
    weighted=st.booleans(),
)
def test_the_sensitive_distribution_has_mass_one_and_exactly_the_threshold_as_its_risk(
    seed: int, loss: str, divergence: str, prices: tuple[float, float], *, weighted: bool
) -> None:
    x, labels = data(40, seed)
    regression = loss in ("squared", "absolute", "huber", "pinball:0.8")
    y = labels + np.random.default_rng(seed).normal(size=40) if regression else labels
    weights = np.random.default_rng(seed).integers(0, 3, 40) + (np.arange(40) < 2) if weighted else np.ones(40)
    profile = tp.profile(MODEL, x, y, loss=loss, sample_weight=weights)
    risk = min(profile.risk * 1.4 + 0.01, 0.99 if loss == "zero_one" else INF)
    result = profile.stability(risk, theta1=prices[0], theta2=prices[1], divergence=divergence)
    if result.status == "unreachable":
        assert result.largest_risk < risk
        return
    q = result.sensitive
    base = base_of(q, {i: w for i, w in enumerate(weights) if w > 0})
    mass = base * q["share"] * q["weight"]
    assert mass.sum() == pytest.approx(1.0, abs=1e-9)
    assert (mass * q["loss"]).sum() == pytest.approx(risk, rel=1e-9)
    assert (q["weight"] >= 0.0).all()
    assert (q["share"] > 0.0).all()
    shares = q.groupby("row")["share"].sum()
    np.testing.assert_allclose(shares, 1.0, atol=1e-12)
    assert len(q) <= len(shares) + 1, "at most one row is split"
    if math.isfinite(prices[0]):
        assert result.corruption_cost == pytest.approx(prices[0] * (mass * q["cost"]).sum(), rel=1e-9, abs=1e-15)
    assert result.corruption_cost + result.reweighting_cost == pytest.approx(result.upper, rel=1e-12, abs=1e-300)
    assert result.corruption_excess + result.reweighting_excess == pytest.approx(risk - profile.risk, rel=1e-9)
    assert result.lower <= result.upper
    assert result.gap <= 1e-9


def test_features_with_the_names_of_our_columns_keep_both() -> None:
    x, y = data()
    names = ["weight", "loss", "row"]
    q = tp.stability(MODEL, pd.DataFrame(x, columns=names), y, 0.5, **PRICES).sensitive
    plain = tp.stability(MODEL, x, y, 0.5, **PRICES).sensitive
    np.testing.assert_array_equal(q["weight"], plain["weight"])
    np.testing.assert_array_equal(q["loss"], plain["loss"])
    for name, other in zip(names, ("x0", "x1", "x2"), strict=True):
        np.testing.assert_array_equal(q[f"feature:{name}"], plain[other])
    assert q.columns.is_unique


# Lightness

HEAVY = ("pandas", "sklearn", "torch", "matplotlib", "rich", "polars", "narwhals", "numpy", "scipy")


def modules_after(code: str) -> list[str]:
    """Heavy packages that a fresh interpreter holds after running this."""
    script = f"import sys\n{code}\nprint(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert modules_after("import tippingpoint") == []


def test_naming_all_there_is_imports_no_model_library_and_no_plotting() -> None:
    loaded = modules_after("import tippingpoint as tp\nfor name in tp.__all__: getattr(tp, name)")
    assert set(loaded) <= {"numpy", "scipy"}


def test_every_public_name_exists_and_is_listed() -> None:
    assert set(tp.__all__) <= set(dir(tp))
    for name in tp.__all__:
        assert getattr(tp, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'stabilty'"):
        _ = tp.stabilty  # type: ignore[attr-defined]


def test_columns_named_by_numbers_can_be_named_in_a_space() -> None:
    x, y = data()
    frame = pd.DataFrame(x)
    by_number = tp.stability(MODEL, frame, y, 0.5, space=tp.Space(movable=frame.columns[1:]), **PRICES)  # type: ignore[arg-type]
    assert by_number.value == tp.stability(MODEL, x, y, 0.5, space=tp.Space(frozen=["x0"]), **PRICES).value


def test_a_sweep_takes_any_iterable() -> None:
    x, y = data()
    profile = tp.profile(MODEL, x, y)
    sweep = profile.tradeoff((k / 2 for k in range(3)), risk=0.6)  # type: ignore[arg-type]
    assert sweep.at == (0.0, 0.5, 1.0)
    assert len(str(sweep).splitlines()) == 4


@pytest.mark.parametrize("risk", [0.0, 1.0])
def test_where_no_normal_interval_exists_none_is_given(risk: float) -> None:
    x, y = data()
    result = tp.stability(MODEL, x, y, risk)
    assert math.isnan(result.standard_error)
    with pytest.raises(tp.InputError, match=f"status is '{result.status}'; use bootstrap"):
        result.interval()


def test_submodules_that_users_name_are_there() -> None:
    assert tp.errors.InputError is tp.InputError
    assert len(tp.datasets.breast_cancer()[0]) == 569


def test_rounding_is_not_shown_as_a_number() -> None:
    x, y = data()
    told = str(tp.stability(MODEL, x, y, 1.0))
    assert "+ 0 reweighting (0%)" in told
    assert "e-" not in told.split("excess risk")[1].splitlines()[0]


def test_reweighting_within_a_cap_is_told_though_it_is_free() -> None:
    x, y = data()
    profile = tp.profile(MODEL, x, y)
    result = profile.stability(profile.risk + 0.01, divergence="cvar:0.5")
    assert (result.value, result.status) == (0.0, "already")
    assert "within the cap" in str(result)
    assert "effective" in str(result)


def test_bounds_that_disagree_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = data()
    told = "the two bounds agree to"
    assert told not in str(tp.stability(MODEL, x, y, 0.5))
    monkeypatch.setattr("tippingpoint.api.profiles.honest_lower", lambda _, primal: 0.9 * primal)
    assert f"{told} 0.1 only" in " ".join(str(tp.stability(MODEL, x, y, 0.5)).split())
