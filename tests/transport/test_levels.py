"""Drift between levels: tables against a conic solver, one price for all switches against tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tippingpoint.core.divergences import divergence_named
from tippingpoint.errors import InputError
from tippingpoint.transport import drift_by_switching, drift_on_line, drift_on_table
from transports import conic_drift, squares

INF = math.inf
DIVERGENCES = ("kl", "chi2")


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("scale", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("forbidden", [0.0, 0.4])
def test_tables_against_a_conic_solver(forbidden: float, scale: float, divergence: str) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 9)), int(rng.integers(2, 9))
        costs = scale * rng.random((n, m))
        costs[rng.random((n, m)) < forbidden] = INF
        costs[int(rng.integers(n))] = scale  # every level can be reached
        p, q = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))
        found = drift_on_table(p, q, costs, theta2=0.4, divergence=divergence, tolerance=1e-9)
        assert found.gap <= 1e-9
        assert found.upper == pytest.approx(conic_drift(p, q, costs, 0.4, divergence), rel=1e-6)
        moved = (found.base * found.weights)[:, None] * found.destinations
        assert moved.sum(axis=0) == pytest.approx(q, abs=1e-12)
        assert not moved[~np.isfinite(costs)].any()
        assert (moved * np.where(np.isfinite(costs), costs, 0.0)).sum() == pytest.approx(found.moving, abs=1e-12)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_a_level_that_can_go_nowhere_loses_its_weight(divergence: str) -> None:
    costs = np.array([[0.0, 1.0], [INF, INF], [1.0, 0.0]])
    p, q = np.array([0.3, 0.5, 0.2]), np.array([0.5, 0.5])
    found = drift_on_table(p, q, costs, theta2=1.0, divergence=divergence, tolerance=1e-9)
    assert found.upper == pytest.approx(conic_drift(p, q, costs, 1.0, divergence), rel=1e-6)
    assert found.weights[1] == 0.0
    assert found.gap <= 1e-9


def test_a_level_that_cannot_be_reached_is_infinitely_far() -> None:
    costs = np.array([[0.0, INF], [INF, 0.0]])
    assert drift_on_table([1.0, 0.0], [0.5, 0.5], costs, theta2=1.0).lower == INF
    assert drift_on_table([0.6, 0.4], [0.5, 0.5], costs, theta2=INF).lower == INF  # nor are weights free to change
    assert drift_on_table([0.5, 0.5], [0.5, 0.5], costs, theta2=INF).upper == 0.0
    assert drift_on_table([0.6, 0.4], [0.5, 0.5], costs, theta2=1.0).upper < INF
    assert drift_on_table([1.0, 0.0], [1.0, 0.0], costs, theta2=1.0).upper == pytest.approx(0.0, abs=1e-12)


def test_without_reweighting_it_is_plain_transport() -> None:
    rng = np.random.default_rng(0)
    x, y, p, q = rng.normal(size=9), rng.normal(size=7), rng.dirichlet(np.ones(9)), rng.dirichlet(np.ones(7))
    found = drift_on_table(p, q, squares(x, y), price=3.0, theta2=INF)
    assert found.upper == pytest.approx(drift_on_line(x, p, y, q, price=3.0, theta2=INF).upper, rel=1e-9)
    assert found.lower == pytest.approx(found.upper, rel=1e-9)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_a_table_of_squares_is_the_line(divergence: str) -> None:
    rng = np.random.default_rng(1)
    x, y, p, q = rng.normal(size=50), rng.normal(size=40), rng.dirichlet(np.ones(50)), rng.dirichlet(np.ones(40))
    table = drift_on_table(p, q, squares(x, y), price=5.0, theta2=0.5, divergence=divergence, tolerance=1e-9)
    line = drift_on_line(x, p, y, q, price=5.0, theta2=0.5, divergence=divergence, tolerance=1e-9)
    assert table.upper == pytest.approx(line.upper, rel=1e-8)
    assert table.weights == pytest.approx(line.weights, abs=1e-4)


def test_a_price_without_end_forbids_what_costs_something() -> None:
    p, q, costs = np.array([0.6, 0.4]), np.array([0.5, 0.5]), np.array([[0.0, 1.0], [1.0, 0.0]])
    for name in DIVERGENCES:
        want = 0.3 * float(p @ divergence_named(name).phi(q / p))
        found = drift_on_table(p, q, costs, price=INF, theta2=0.3, divergence=name, tolerance=1e-9)
        assert found.upper == pytest.approx(want)
        assert drift_by_switching(p, q, switch=INF, theta2=0.3, divergence=name).upper == pytest.approx(want)


weights = st.lists(st.sampled_from([0.0, 0.02, 0.5, 1.0, 1.0, 4.0]), min_size=1, max_size=7)


@given(weights, st.data(), st.sampled_from([0.01, 0.5, 3.0, 40.0]), st.sampled_from([0.2, 1.0]), st.sampled_from(DIVERGENCES))
@settings(max_examples=60)
def test_one_price_for_all_switches_is_the_table_of_them(
    before: list[float], data: Any, switch: float, theta2: float, name: str
) -> None:
    after = data.draw(st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.0]), min_size=len(before), max_size=len(before)))
    before[0], after[-1] = before[0] or 1.0, after[-1] or 1.0
    costs = np.where(np.eye(len(before)) > 0.0, 0.0, switch)
    closed = drift_by_switching(before, after, switch=switch, theta2=theta2, divergence=name)
    table = drift_on_table(before, after, costs, theta2=theta2, divergence=name, tolerance=1e-9)
    assert closed.lower == pytest.approx(closed.upper, rel=1e-9, abs=1e-13)
    assert closed.upper == pytest.approx(table.upper, rel=1e-7, abs=1e-9)
    p, q = closed.base, closed.masses
    assert closed.upper <= switch * np.maximum(q - p, 0.0).sum() + 1e-12
    moved = (p * closed.weights)[:, None] * closed.destinations
    assert moved.sum(axis=0) == pytest.approx(q, abs=1e-12)
    assert switch * (moved.sum() - np.trace(moved)) == pytest.approx(closed.moving, abs=1e-12)


def test_switches_alone_cost_the_total_variation() -> None:
    p, q = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.1, 0.3, 0.5, 0.1])
    found = drift_by_switching(p, q, switch=2.0, theta2=INF)
    assert [found.lower, found.upper] == pytest.approx([0.8, 0.8])
    assert drift_by_switching(p, q, switch=INF, theta2=1.0).upper == INF
    assert drift_by_switching(p, q, switch=INF, theta2=INF).upper == INF
    assert drift_by_switching(p, p, switch=INF, theta2=INF).upper == 0.0


@pytest.mark.parametrize(
    "costs,message", [([1.0], "costs has the shape"), ([[-1.0]], "at least 0"), ([[math.nan]], "at least 0")]
)
def test_tables_that_cannot_be_used(costs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        drift_on_table([1.0], [1.0], costs, theta2=1.0)


def test_levels_of_both_samples_belong_together() -> None:
    with pytest.raises(InputError, match="masses has the shape"):
        drift_by_switching([1.0, 2.0], [1.0], switch=1.0, theta2=1.0)
