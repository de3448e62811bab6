"""Laws of the stability that hold whatever the data (section 11 of the mathematics)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import INF, answer
from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.atoms import AtomsOracle
from tippingpoint.core.divergences import KL, ChiSquare, CVaR, Divergence
from tippingpoint.core.dual import Status

prices = st.sampled_from([0.05, 0.3, 1.0, 7.0])
divergences = st.sampled_from([KL(), ChiSquare(), CVaR(0.5)])


@st.composite
def tables(draw: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Losses and costs `(n, k)`, base weights; ties and equal losses are common."""
    n, k = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    # Six digits: the risks below are fractions of the losses' spread, and must not round away.
    number = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 3.0).map(lambda x: round(x, 6)))
    loss = np.array(draw(st.lists(number, min_size=n * k, max_size=n * k))).reshape(n, k)
    cost = np.array(draw(st.lists(st.floats(0.01, 4.0), min_size=n * k, max_size=n * k))).reshape(n, k)
    cost[:, 0] = 0.0
    base = np.array(draw(st.lists(st.floats(0.05, 1.0), min_size=n, max_size=n)))
    return loss, cost, base / base.sum()


def oracle_of(loss: FloatArray, cost: FloatArray) -> AtomsOracle:
    return AtomsOracle(np.repeat(np.arange(len(loss)), loss.shape[1]), loss.ravel(), cost.ravel(), {})


def value(
    loss: FloatArray, cost: FloatArray, base: FloatArray, risk: float, theta1: float, theta2: float, divergence: Divergence
) -> float:
    got = answer(oracle_of(loss, cost), risk, theta1, theta2, divergence, base)
    if got.solution.status is Status.UNREACHABLE:
        return INF
    assert got.solution.lower == pytest.approx(got.value, rel=1e-9, abs=1e-13)
    if got.solution.status is Status.ATTAINED:
        assert got.q.risk == pytest.approx(risk, rel=1e-9, abs=1e-12)
    return got.value


def close(a: float, b: float) -> bool:
    return a == pytest.approx(b, rel=1e-8, abs=1e-12)


@settings(max_examples=150, deadline=None)
@given(data=tables(), part=st.floats(0.01, 0.95), theta1=prices, theta2=prices, divergence=divergences)
def test_copies_weights_order_and_units(
    data: tuple[FloatArray, FloatArray, FloatArray], part: float, theta1: float, theta2: float, divergence: Divergence
) -> None:
    loss, cost, base = data
    risk = float(base @ loss[:, 0]) * (1 - part) + float(loss.max()) * part
    expected = value(loss, cost, base, risk, theta1, theta2, divergence)
    double = (np.repeat(loss, 2, axis=0), np.repeat(cost, 2, axis=0), np.repeat(base / 2, 2))
    assert close(value(*double, risk, theta1, theta2, divergence), expected), "every row twice"
    copied = (np.vstack([loss, loss[:1]]), np.vstack([cost, cost[:1]]), np.append(base, base[0] / 2))
    copied[2][0] /= 2
    assert close(value(*copied, risk, theta1, theta2, divergence), expected), "weight 2 is a row twice"
    order = np.random.default_rng(len(base)).permutation(len(base))
    assert close(value(loss[order], cost[order], base[order], risk, theta1, theta2, divergence), expected), "order of rows"
    assert close(value(loss, cost, base, risk, 3 * theta1, 3 * theta2, divergence), 3 * expected), "prices in another unit"


@settings(max_examples=150, deadline=None)
@given(data=tables(), theta1=prices, theta2=prices, divergence=divergences)
def test_convex_and_increasing_in_risk_increasing_in_prices(
    data: tuple[FloatArray, FloatArray, FloatArray], theta1: float, theta2: float, divergence: Divergence
) -> None:
    loss, cost, base = data
    low, high = float(base @ loss[:, 0]), float(loss.max())
    risks = [low + part * (high - low) for part in (0.2, 0.4, 0.6)]
    values = [value(loss, cost, base, risk, theta1, theta2, divergence) for risk in risks]
    slack = 1e-9 * (1 + values[-1]) if values[-1] < INF else 1e-9
    assert values[0] <= values[1] + slack
    assert values[1] <= values[2] + slack
    assert values[1] <= (values[0] + values[2]) / 2 + slack
    assert values[1] <= value(loss, cost, base, risks[1], 2 * theta1, theta2, divergence) + slack
    assert values[1] <= value(loss, cost, base, risks[1], theta1, 2 * theta2, divergence) + slack
    assert values[1] <= value(loss, cost, base, risks[1], INF, theta2, divergence) + slack
    assert values[1] <= value(loss, cost, base, risks[1], theta1, INF, divergence) + slack


@settings(max_examples=100, deadline=None)
@given(data=tables(), part=st.floats(0.01, 0.9), theta1=prices, theta2=prices, divergence=divergences)
def test_an_alternative_more_can_only_lower_the_stability(
    data: tuple[FloatArray, FloatArray, FloatArray], part: float, theta1: float, theta2: float, divergence: Divergence
) -> None:
    loss, cost, base = data
    risk = float(base @ loss[:, 0]) * (1 - part) + float(loss.max()) * part
    fewer = value(loss[:, :1], cost[:, :1], base, risk, theta1, theta2, divergence)
    more = value(loss, cost, base, risk, theta1, theta2, divergence)
    assert more <= fewer * (1 + 1e-9) + 1e-12
