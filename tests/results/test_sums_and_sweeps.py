"""What a result adds up to, how its bootstrap prints, and curves over prices."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from commands import Command
from tippingpoint.results.bootstrap import Bootstrap

RNG = np.random.default_rng(4)
X = pd.DataFrame(RNG.normal(size=(70, 2)), columns=["age", "dose"])
Y = np.where(X["age"] - 0.5 * X["dose"] + RNG.normal(scale=0.5, size=70) > 0.0, "ill", "well")
MODEL = tp.LinearModel.of([1.0, -0.5], 0.0, ["well", "ill"])
HEFT = RNG.integers(0, 4, 70)
INF = math.inf


@pytest.mark.parametrize("weights", [None, HEFT])
@pytest.mark.parametrize("loss", ["error", "hinge", "log_loss"])
@pytest.mark.parametrize(("theta1", "theta2"), [(1.0, 0.25), (0.3, INF), (INF, 0.5), (0.4, 0.4)])
def test_masses_sum_to_one_losses_to_the_threshold_and_costs_to_the_cost(
    weights: Any, loss: str, theta1: float, theta2: float
) -> None:
    profile = tp.profile(MODEL, X, Y, loss=loss, sample_weight=weights)
    result = profile.stability(profile.risk + 0.2, theta1=theta1, theta2=theta2)
    q = result.sensitive
    assert q["mass"].sum() == pytest.approx(1.0, rel=1e-12)
    assert (q["mass"] * q["loss"]).sum() == pytest.approx(result.risk, rel=1e-9)
    moved = (q["mass"] * q["cost"]).sum()
    assert moved == pytest.approx(0.0 if math.isinf(theta1) else result.corruption_cost / theta1, rel=1e-9, abs=1e-15)
    base = pd.Series(np.ones(70) if weights is None else weights, index=X.index).pipe(lambda w: w / w.sum())
    np.testing.assert_allclose(q["mass"], q["row"].map(base) * q["share"] * q["weight"], rtol=1e-12)


def test_features_with_our_names_keep_both_and_lose_none() -> None:
    data = X.assign(**{"feature:mass": X["dose"] * 0.0}).rename(columns={"age": "mass"})[["feature:mass", "mass", "dose"]]
    model = tp.LinearModel.of([0.0, 1.0, -0.5], 0.0, ["well", "ill"])
    q = tp.stability(model, data, Y, risk=0.4, theta1=1.0, theta2=0.5).sensitive
    assert list(q.columns[-3:]) == ["feature:mass", "feature:feature:mass", "dose"]
    assert q["mass"].sum() == pytest.approx(1.0)
    still = q["cost"] == 0.0
    np.testing.assert_array_equal(q.loc[still, "feature:feature:mass"], data["mass"].loc[q.loc[still, "row"]])


def test_the_written_sensitive_distribution_adds_up_too(place: Path, cli: Command) -> None:
    runs = pd.DataFrame({"sample": ["a", "a", "b"], "loss": [0, 1, 0], "cost": [0, 2, 0], "mass": [70, 70, 80]})
    runs.to_csv(place / "runs.csv", index=False)
    assert cli("evaluate", "--table", "runs.csv", "--sensitive", "q.csv", "--risk", "0.4", "--quiet") == (0, "", "")
    q = pd.read_csv(place / "q.csv")
    assert (q["mass"].sum(), (q["mass"] * q["loss"]).sum()) == pytest.approx((1.0, 0.4))
    assert set(q["feature:mass"]) == {70, 80}, "theirs is there, under its own name"


def test_a_bootstrap_is_one_screen() -> None:
    result = tp.stability(MODEL, X, Y, risk=0.5, theta1=1.0, theta2=0.5)
    found = result.bootstrap(replicates=200)
    shown = str(found)
    assert len(shown.splitlines()) <= 5
    assert max(map(len, shown.splitlines())) <= 79
    low, high = found.interval()
    for part in (f"{result.value:.4g}", "200", f"{found.standard_error:.2g}", f"{low:.4g} to {high:.4g}"):
        assert part in shown
    assert (repr(found).count("\n"), "replicates=200" in repr(found)) == (0, True)


def test_a_bootstrap_says_which_replicates_are_out_of_reach() -> None:
    runs = pd.DataFrame({"sample": ["a", "a", *"bcdef"], "loss": [0, 1, *[0] * 5], "cost": [0, 2, *[0] * 5]})
    found = tp.profile_table(runs).stability(0.1, theta1=1.0, theta2=INF).bootstrap(replicates=100)
    beyond = int(np.isinf(found.values).sum())
    assert beyond > 0
    assert f"{beyond} of them cannot reach the threshold" in str(found)
    assert math.isnan(Bootstrap(np.array([1.0, INF, INF]), 1.0).standard_error), "one alone varies from nothing"


@pytest.mark.parametrize("over", ["theta1", "theta2", "budget", "mix"])
def test_a_curve_over_a_price_is_the_stability_at_each(over: str) -> None:
    profile = tp.profile(MODEL, X, Y)
    at = {"theta1": [0.1, 1.0, 10.0, INF], "theta2": (0.5, 2.0), "budget": [1, 5], "mix": np.array([0.0, 0.5, 1.0])}[over]
    fixed = {"theta1": {"theta2": 0.5}, "theta2": {"theta1": 1.0}, "budget": {"mix": 0.3}, "mix": {"budget": 2.0}}[over]
    asked: dict[str, Any] = {**fixed, over: at, "divergence": "chi2"}
    curve = profile.curve(risk=0.4, **asked)
    assert (curve.over, curve.at) == (over, tuple(at))
    for each, result in zip(at, curve, strict=True):
        one: dict[str, Any] = {**fixed, over: each, "divergence": "chi2"}
        assert result == profile.stability(0.4, **one)
    frame = curve.to_frame()
    assert frame[over].tolist() == list(at)
    assert frame["stability"].tolist() == [result.value for result in curve]
    assert str(curve).splitlines()[0].split()[0] == over


@pytest.mark.parametrize("over", ["theta1", "theta2"])
def test_a_curve_over_a_price_draws_itself(over: str) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    other = {"theta1": "theta2", "theta2": "theta1"}[over]
    prices: dict[str, Any] = {over: [0.1, 1.0, 10.0, INF], other: 0.5}
    curve = tp.profile(MODEL, X, Y).curve(risk=0.4, **prices)
    ax = curve.plot()
    assert ax.get_xscale() == "log"
    assert ax.get_xlabel() == {"theta1": "price of moving θ1", "theta2": "price of reweighting θ2"}[over]
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [0.1, 1.0, 10.0])
    bars = curve.plot_excess()
    for each in (ax, bars):
        each.figure.canvas.draw()
    assert [label.get_text() for label in bars.get_xticklabels()] == ["0.1", "1", "10", "∞"]
    plt.close("all")


@pytest.mark.parametrize(
    "call",
    [
        lambda p: p.curve(),
        lambda p: p.curve(risk=0.4),
        lambda p: p.curve([0.3, 0.4], risk=0.4),
        lambda p: p.curve([0.3, 0.4], theta1=[1, 2], theta2=1),
        lambda p: p.curve(risk=0.4, theta1=[1, 2], theta2=[1, 2]),
        lambda p: p.curve(theta1=[1, 2], theta2=1),
    ],
)
def test_a_curve_over_nothing_or_two_things_is_a_sentence(call: Any) -> None:
    with pytest.raises(tp.InputError, match=r"over one thing.*theta1=\[0\.1, 1, 10\]"):
        call(tp.profile(MODEL, X, Y))
