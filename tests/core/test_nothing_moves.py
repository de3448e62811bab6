"""An infinite price of moving: nothing moves, whoever would find the responses, and the value is exact."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.crossing import NearestErrorOracle
from tippingpoint.core.divergences import divergence_named
from tippingpoint.core.dual import Status, solve
from tippingpoint.core.oracle import NOTHING_MOVES
from tippingpoint.core.problem import Problem
from tippingpoint.core.sensitive import sensitive_distribution

WRONG = np.array([1.0, 0.0, 0.0, 0.0])
NEAREST = np.array([0.0, 1.0, 4.0, math.inf])


class Halfway(NearestErrorOracle):
    """Nearest errors that are proved to half of their cost only."""

    certificate = "by hand"
    unit = "units"

    @property
    def losses(self) -> FloatArray:
        return WRONG

    @property
    def nearest(self) -> FloatArray:
        return NEAREST

    @property
    def least(self) -> FloatArray:
        return 0.5 * NEAREST

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        raise NotImplementedError


class Proved(NearestErrorOracle):
    """Nearest errors that are found for certain: nothing else is said of the least."""

    certificate = "by hand"
    unit = "units"
    losses = WRONG
    nearest = NEAREST

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        raise NotImplementedError


def question(oracle: NearestErrorOracle, theta1: float, theta2: float, risk: float = 0.6) -> Problem:
    return Problem(oracle, np.full(4, 0.25), risk, theta1, theta2, divergence_named("kl"))


def test_nothing_moves_and_the_value_is_exact() -> None:
    oracle, problem = Halfway(), question(Halfway(), math.inf, 0.5)
    solution = solve(problem)
    certificate = oracle.certify(problem, solution)
    q = sensitive_distribution(problem, solution)
    assert not oracle.exact
    assert oracle.attains(problem)
    assert oracle.ending(problem) is None, "nothing is proved step by step"
    assert certificate.by == NOTHING_MOVES
    assert certificate.lower == pytest.approx(q.total_cost, rel=1e-9)
    assert (q.lift == 0.0).all()
    assert q.moving_cost == 0.0
    assert problem.ceiling == math.inf
    binary = 0.6 * math.log(0.6 / 0.25) + 0.4 * math.log(0.4 / 0.75)
    assert q.total_cost == pytest.approx(0.5 * binary, rel=1e-9)


def test_nothing_is_reweighted() -> None:
    problem = question(Proved(), 1.0, math.inf)
    solution = solve(problem)
    # A half comes of moving one sample, and the last tenth of moving four tenths of the next.
    assert sensitive_distribution(problem, solution).total_cost == pytest.approx(0.25 * 1.0 + 0.1 * 4.0, rel=1e-9)
    assert Proved().certify(problem, solution).by == "by hand"
    assert solve(replace(problem, risk=0.8)).status is Status.UNREACHABLE


def test_costs_that_are_bounded_bound_the_stability() -> None:
    oracle, problem = Halfway(), question(Halfway(), 1.0, math.inf)
    certificate = oracle.certify(problem, solve(problem))
    assert not oracle.attains(problem)
    assert certificate.by == "by hand, each bounded from below"
    assert 0.45 * 0.65 < certificate.lower <= 0.5 * 0.65 + 1e-12


def test_a_threshold_that_is_reached_already_needs_no_bounds() -> None:
    oracle, problem = Halfway(), question(Halfway(), 1.0, math.inf, risk=0.2)
    solution = solve(problem)
    assert solution.status is Status.ALREADY
    certificate = oracle.certify(problem, solution)
    assert (certificate.lower, certificate.by) == (0.0, "by hand")
