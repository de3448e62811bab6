"""Influences and standard errors: against differences, and against samples drawn again and again."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tippingpoint.transport import drift_by_stratum, drift_by_switching, drift_on_line, drift_on_table
from transports import squares


@pytest.mark.parametrize("divergence", ["kl", "chi2"])
@pytest.mark.parametrize("theta2", [0.5, math.inf])
def test_influences_are_derivatives(theta2: float, divergence: str) -> None:
    """More mass on one row, of either sample, changes the drift as its influence says; less the mean of all."""
    rng = np.random.default_rng(0)
    x, y, p, q = rng.normal(size=9), 0.5 + rng.normal(size=8), rng.dirichlet(np.ones(9)), rng.dirichlet(np.ones(8))
    step = 1e-4 if math.isfinite(theta2) else 1e-7

    def value(base: np.ndarray, masses: np.ndarray) -> float:
        found = drift_on_line(x, base, y, masses, price=2.0, theta2=theta2, divergence=divergence, tolerance=1e-11)
        return found.upper

    found = drift_on_line(x, p, y, q, price=2.0, theta2=theta2, divergence=divergence, tolerance=1e-11)
    for row in range(8):
        more, less = [np.where(np.arange(8) == row, q + sign * step * q[row], q) for sign in (1, -1)]
        slope = (value(p, more) - value(p, less)) / (2 * step * q[row])
        assert slope == pytest.approx(found.witness[row] - q @ found.witness, abs=2e-3)
    for row in range(9):
        more, less = [np.where(np.arange(9) == row, p + sign * step * p[row], p) for sign in (1, -1)]
        slope = (value(more, q) - value(less, q)) / (2 * step * p[row])
        assert slope == pytest.approx(found.influences[row] - p @ found.influences, abs=2e-3)


def test_influences_of_weights() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=300), 0.5 + rng.normal(size=300)
    for divergence, power in (("kl", 1), ("chi2", 2)):
        found = drift_on_line(x, None, y, None, price=1.0, theta2=0.7, divergence=divergence, tolerance=1e-9)
        assert found.influences == pytest.approx(-0.7 * (found.weights**power - 1.0), abs=1e-3)
        want = np.var(found.witness) / 300 + 0.49 * np.var(found.weights**power) / 300
        assert found.standard_error() == pytest.approx(math.sqrt(want), rel=1e-3)
        assert found.standard_error(300, 300) == pytest.approx(found.standard_error(), rel=1e-9)


def test_rows_count_as_often_as_they_stand_for_in_levels_only() -> None:
    """A row twice is two rows, of which the mean is as sure as of twice as many; a weight of two is not."""
    x, y = np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0, 3.5])
    once = drift_on_line(x, None, y, None, price=1.0, theta2=1.0, tolerance=1e-9)
    twice = drift_on_line(np.tile(x, 2), None, np.tile(y, 2), None, price=1.0, theta2=1.0, tolerance=1e-9)
    assert twice.standard_error() == pytest.approx(once.standard_error() / math.sqrt(2.0), rel=1e-6)
    heavier = drift_on_line(x, [2, 2, 2, 2], y, [3, 3, 3, 3], price=1.0, theta2=1.0, tolerance=1e-9)
    assert heavier.standard_error() == pytest.approx(once.standard_error(), rel=1e-6)
    levels = drift_on_table([1, 1, 1, 1], [1, 1, 1, 1], squares(x, y), theta2=1.0, tolerance=1e-10)
    assert levels.standard_error(8, 8) == pytest.approx(twice.standard_error(), rel=1e-4)


@pytest.mark.parametrize("divergence", ["kl", "chi2"])
def test_the_standard_error_is_that_of_drawn_samples(divergence: str) -> None:
    rng = np.random.default_rng(2)
    values, errors = [], []
    for _ in range(200):
        x, y = rng.normal(size=400), 0.6 + 0.9 * rng.normal(size=300)
        found = drift_on_line(x, None, y, None, price=0.5, theta2=0.5, divergence=divergence, tolerance=1e-2)
        values.append(found.upper)
        errors.append(found.standard_error())
    assert float(np.mean(errors)) == pytest.approx(float(np.std(values)), rel=0.15)


def test_the_standard_error_of_levels_and_of_labels_is_that_of_drawn_samples() -> None:
    rng = np.random.default_rng(3)
    before, after = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.4, 0.4])
    switched, stratified = [], []
    for _ in range(200):
        counts, others = rng.multinomial(400, before), rng.multinomial(300, after)
        found = drift_by_switching(counts, others, switch=1.0, theta2=0.5)
        switched.append((found.upper, found.standard_error(400, 300)))
        labels, current = rng.random(400) < 0.3, rng.random(300) < 0.5
        x, y = rng.normal(size=400) + labels, rng.normal(size=300) + 1.5 * current
        whole = drift_by_stratum(
            x, None, labels, y, None, current, price=0.5, theta2=0.5, divergence="chi2", tolerance=0.02
        ).whole
        stratified.append((whole.upper, whole.standard_error()))
    for pairs in (np.array(switched), np.array(stratified)):
        assert float(pairs[:, 1].mean()) == pytest.approx(float(pairs[:, 0].std()), rel=0.15)
