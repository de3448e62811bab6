"""Standard errors against finite differences, resampling and simulation."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from problems import INF, answer, linear
from tippingpoint.core.blocks import Samples
from tippingpoint.core.cuts import perturbation
from tippingpoint.core.divergences import KL, ChiSquare, CVaR, Divergence
from tippingpoint.core.dual import solve
from tippingpoint.core.inference import influence, normal_margin, resampled, standard_error
from tippingpoint.core.oracle import Oracle
from tippingpoint.core.sensitive import summary
from tippingpoint.families.linear.geometry import Score
from tippingpoint.families.linear.oracle import linear_oracle
from tippingpoint.losses import loss_named
from tippingpoint.results.bootstrap import Bootstrap
from tippingpoint.space import Space

SETTINGS: list[tuple[float, float, Divergence]] = [
    (1.0, 0.25, KL()),
    (1.0, 0.25, ChiSquare()),
    (0.5, INF, KL()),
    (INF, 0.3, KL()),
    (INF, 0.3, ChiSquare()),
    (1.0, 0.25, CVaR(0.5)),
]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_influence_is_the_derivative_in_the_weight_of_a_sample(setting: tuple[float, float, Divergence], loss: str) -> None:
    theta1, theta2, divergence = setting
    oracle, *_ = linear(np.random.default_rng(0), loss, 40, 3)
    base = np.random.default_rng(1).dirichlet(np.ones(40))
    risk = 3.0 * float(base @ oracle.losses)
    got = answer(oracle, risk, theta1, theta2, divergence, base)
    psi = influence(got.problem, got.solution)
    assert base @ psi == pytest.approx(0.0, abs=1e-12 * np.abs(psi).max())
    step = 1e-6
    for i in (0, 7, 23):
        point = np.zeros(40)
        point[i] = 1.0
        up = answer(oracle, risk, theta1, theta2, divergence, (1 - step) * base + step * point).value
        down = answer(oracle, risk, theta1, theta2, divergence, (1 + step) * base - step * point).value
        assert psi[i] == pytest.approx((up - down) / (2 * step), rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("setting", SETTINGS[:4])
def test_standard_error_agrees_with_the_bootstrap(setting: tuple[float, float, Divergence]) -> None:
    theta1, theta2, divergence = setting
    oracle, *_ = linear(np.random.default_rng(2), "logistic", 800, 3)
    base = np.full(800, 1 / 800)
    risk = 1.5 * float(oracle.losses.mean())
    got = answer(oracle, risk, theta1, theta2, divergence)
    error = standard_error(influence(got.problem, got.solution), base)
    assert got.q.standard_error == pytest.approx(error, rel=1e-12)

    def again(samples: Samples) -> float:
        problem = replace(got.problem, responses=samples)
        return summary(problem, perturbation(problem, solve(problem))).total_cost

    drawn = Bootstrap(resampled(again, got.problem.samples, replicates=300, seed=0), got.value)
    assert drawn.standard_error == pytest.approx(error, rel=0.15)


def test_equal_weights_give_the_textbook_standard_error() -> None:
    psi = np.array([1.0, -2.0, 0.5, 0.5])
    assert standard_error(psi, np.full(4, 0.25)) == pytest.approx(float(np.std(psi, ddof=1)) / 2.0)
    assert math.isnan(standard_error(np.array([0.0]), np.array([1.0])))


@pytest.mark.parametrize("setting", [(1.0, 0.25, KL()), (1.0, 0.25, ChiSquare()), (0.5, INF, KL())])
@pytest.mark.parametrize(("loss", "risk"), [("zero_one", 0.5), ("logistic", 0.9)])
def test_the_95_percent_interval_covers_about_95_percent(
    setting: tuple[float, float, Divergence], loss: str, risk: float
) -> None:
    theta1, theta2, divergence = setting
    beta, judged = np.array([1.0, -0.5, 0.0]), loss_named(loss)
    domain = Space().resolve(["a", "b", "c"])
    rng = np.random.default_rng(5)

    def drawn(n: int) -> Oracle:
        x = rng.normal(size=(n, 3))
        y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-2.0 * x @ beta)), 1.0, -1.0)
        return linear_oracle(x, y, Score(beta, 0.1), judged, domain)

    truth = answer(drawn(400_000), risk, theta1, theta2, divergence).value
    n, runs = 500, 600
    base = np.full(n, 1 / n)
    covered = 0
    for _ in range(runs):
        got = answer(drawn(n), risk, theta1, theta2, divergence)
        covered += abs(got.value - truth) <= normal_margin(standard_error(influence(got.problem, got.solution), base), 0.95)
    assert 0.925 <= covered / runs <= 0.975  # three standard errors of a share of 600 are 2.7 %
