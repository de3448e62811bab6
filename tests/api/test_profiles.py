"""One profile, many questions, and the sensitive distribution of each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tippingpoint as tp
from front import COEF, DIVERGENCES, INF, INTERCEPT, MODEL, PRICES, base_of, data


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
        assert result.largest_risk is not None
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


def test_a_sweep_takes_any_iterable() -> None:
    x, y = data()
    profile = tp.profile(MODEL, x, y)
    sweep = profile.tradeoff((k / 2 for k in range(3)), risk=0.6)  # type: ignore[arg-type]
    assert sweep.at == (0.0, 0.5, 1.0)
    assert len(str(sweep).splitlines()) == 4


@pytest.mark.parametrize(("risk", "remedy"), [(0.0, "give a larger risk"), (1.0, "use bootstrap")])
def test_where_no_normal_interval_exists_none_is_given(risk: float, remedy: str) -> None:
    x, y = data()
    result = tp.stability(MODEL, x, y, risk)
    assert math.isnan(result.standard_error)
    with pytest.raises(tp.InputError, match=f"status is '{result.status}'; {remedy}"):
        result.interval()
