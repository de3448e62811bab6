"""Drift by a conic solver, on the plan with all its pairs."""

from __future__ import annotations

import math
from typing import Any

import cvxpy as cp
import numpy as np

from tippingpoint.core.arrays import FloatArray


def conic_drift(base: FloatArray, masses: FloatArray, costs: FloatArray, theta2: float, divergence: str) -> float:
    """`min <C, P> + θ2·D_φ(P1‖p)` over plans whose columns sum to `masses`; infinite where there is none."""
    p, q = np.asarray(base) / np.sum(base), np.asarray(masses) / np.sum(masses)
    plan = cp.Variable(costs.shape, nonneg=True)
    allowed = np.isfinite(costs)
    source = cp.sum(plan, axis=1)
    constraints = [cp.sum(plan, axis=0) == q, cp.multiply(plan, (~allowed).astype(float)) == 0]
    reweighting: Any
    if math.isinf(theta2):
        constraints.append(source == p)
        reweighting = 0.0
    elif divergence == "kl":
        reweighting = theta2 * cp.sum(cp.kl_div(source, p))
    else:
        reweighting = theta2 * cp.sum(cp.multiply(1.0 / p, cp.square(source - p)))
    moving = cp.sum(cp.multiply(np.where(allowed, costs, 0.0), plan))
    problem = cp.Problem(cp.Minimize(moving + reweighting), constraints)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return float(problem.value)


def squares(reference: FloatArray, current: FloatArray, price: float = 1.0) -> FloatArray:
    """`price·(x_i - y_j)²`."""
    return np.asarray(price * np.square(np.asarray(reference)[:, None] - np.asarray(current)))
