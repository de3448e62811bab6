r"""The drift between levels, by an interior-point method.

.. math:: \max_{f, g} \; \sum_j q_j g_j - \sum_i p_i \phi^*(-f_i) \quad \text{s.t.} \quad s_{ij} = C_{ij} - f_i - g_j \ge 0

(costs in units of `θ2`). On the central path the plan is :math:`P_{ij} = \mu / s_{ij}`; its columns sum to `q`, its rows to
:math:`a_i = p_i w(-f_i)`. A step of Newton's method is one system with as many unknowns as there are source levels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.divergences import KL, Divergence

MAX_STEPS = 200
"""Of Newton's method; 15 to 40 are usual."""

CENTRING = 0.1
"""What a step aims at: this part of the present mean of `P·s`."""

TO_THE_EDGE = 0.95
"""Part of the way to the edge that a step may go."""

LONGEST_RISE = 2.0
"""Most that the score of a weight may rise in a step of KL, whose weights grow with the exponential of it."""

RIDGE = 1e-14
"""Relative addition to the diagonal, against rounding."""


def plans(
    base: FloatArray, masses: FloatArray, costs: FloatArray, divergence: Divergence
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Plans and witnesses `g`, better and better; every level has mass, and every level a move that is allowed."""
    allowed = np.isfinite(costs)
    finite = np.where(allowed, costs, 0.0)
    span = max(float(finite.max()), 1.0)
    f, g = np.zeros(len(base)), np.where(allowed, costs, np.inf).min(axis=0) - span / len(base)
    slack = np.where(allowed, finite - g, 1.0)
    plan = np.where(allowed, 1.0 / slack, 0.0)
    plan *= masses / plan.sum(axis=0)
    longest = LONGEST_RISE if isinstance(divergence, KL) else math.inf
    count = float(allowed.sum())
    for _ in range(MAX_STEPS):
        scores = -f
        weights, stiffness = base * divergence.weights(scores), base * divergence.stiffness(scores)
        aim = CENTRING * float((plan * slack).sum()) / count
        ratios, centres = plan / slack, np.where(allowed, aim / slack, 0.0)
        columns = ratios.sum(axis=0)
        rows = ratios.sum(axis=1) + stiffness
        right, below = weights - centres.sum(axis=1), masses - centres.sum(axis=0)
        matrix = -(ratios / columns) @ ratios.T
        matrix[np.diag_indices(len(base))] += rows * (1.0 + RIDGE)
        try:
            rise = cho_solve(cho_factor(matrix), right - ratios @ (below / columns))
        except LinAlgError:
            return
        other = (below - ratios.T @ rise) / columns
        narrowing = np.where(allowed, rise[:, None] + other, 0.0)
        change = np.where(allowed, centres - plan + ratios * narrowing, 0.0)
        if not (np.isfinite(narrowing).all() and np.isfinite(change).all()):
            return
        steepest = -float(rise.min())
        length = min(1.0, longest / steepest) if steepest > 0.0 else 1.0
        length = min(length, _edge(narrowing, slack), _edge(-change, np.where(allowed, plan, 1.0)))
        f, g = f + length * rise, g + length * other
        slack = np.where(allowed, finite - f[:, None] - g, 1.0)
        plan = plan + length * change
        if not (slack > 0.0).all():
            return
        yield plan * (masses / plan.sum(axis=0)), g


def _edge(shrinking: FloatArray, held: FloatArray) -> float:
    """Length of a step that leaves something of everything."""
    fastest = float((shrinking / held).max())
    return TO_THE_EDGE / fastest if fastest > TO_THE_EDGE else 1.0
