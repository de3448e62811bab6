"""Problems that tests share, and slow independent ways to solve them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.atoms import AtomsOracle
from tippingpoint.core.divergences import KL, ChiSquare, CVaR, Divergence
from tippingpoint.core.dual import Solution, solve
from tippingpoint.core.oracle import Oracle
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import BestResponses
from tippingpoint.core.sensitive import SensitiveDistribution, sensitive_distribution
from tippingpoint.families.linear.geometry import Score
from tippingpoint.families.linear.oracle import linear_oracle
from tippingpoint.losses import LOSSES, Loss, loss_named
from tippingpoint.space import Space
from tippingpoint.space.domain import Domain

INF = math.inf
DIVERGENCES: tuple[Divergence, ...] = (KL(), ChiSquare(), CVaR(0.4))
PRICES = ((1.0, 0.25), (INF, 0.2), (0.2, INF), (1e-6, 1e6), (1e6, 1e-6))
CLASSIFICATION = [name for name in LOSSES if loss_named(name).task == "classification"]


@dataclass(frozen=True)
class Answer:
    """A solved problem with all that can be checked of it."""

    problem: Problem
    solution: Solution
    q: SensitiveDistribution

    @property
    def value(self) -> float:
        return self.q.total_cost


def answer(
    responses: BestResponses,
    risk: float,
    theta1: float,
    theta2: float,
    divergence: Divergence,
    base: FloatArray | None = None,
) -> Answer:
    weights = np.full(len(responses.losses), 1.0 / len(responses.losses)) if base is None else base
    problem = Problem(responses, weights, risk, theta1, theta2, divergence)
    solution = solve(problem)
    return Answer(problem, solution, sensitive_distribution(problem, solution))


def table(rng: np.random.Generator, n: int, alternatives: int) -> tuple[AtomsOracle, FloatArray, FloatArray]:
    """A random table: `(n, k)` losses and costs, the first of cost 0."""
    loss = rng.exponential(size=(n, alternatives))
    cost = rng.exponential(size=(n, alternatives))
    cost[:, 0] = 0.0
    sample = np.repeat(np.arange(n), alternatives)
    return AtomsOracle(sample, loss.ravel(), cost.ravel(), {}), loss, cost


def linear(
    rng: np.random.Generator, loss: Loss | str, n: int, d: int, space: Space | None = None
) -> tuple[Oracle, FloatArray, FloatArray, FloatArray, Domain]:
    """A random linear model with overlapping classes or noisy targets; also X, y, β and the domain."""
    judged = loss_named(loss)
    x = np.clip(rng.normal(size=(n, d)), -1.9, 1.9)
    beta = rng.normal(size=d)
    score = x @ beta + 0.3
    if judged.task == "classification":
        y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-score)), 1.0, -1.0)
    else:
        y = score + 2.0 * rng.normal(size=n)
    domain = (space or Space()).resolve([f"x{j}" for j in range(d)])
    return linear_oracle(x, y, Score(beta, 0.3), judged, domain), x, y, beta, domain


def primal_by_cvxpy(
    loss: FloatArray, cost: FloatArray, base: FloatArray, risk: float, theta1: float, theta2: float, divergence: Divergence
) -> float:
    """The definition itself over finitely many alternatives: masses `m_ij = w_i·share_ij`, no duality anywhere."""
    mass = cp.Variable(loss.shape, nonneg=True)
    weights = cp.sum(mass, axis=1)
    constraints = [base @ weights == 1, base @ cp.sum(cp.multiply(mass, loss), axis=1) >= risk]
    total: cp.Expression = cp.Constant(0.0)
    if math.isinf(theta1):
        constraints.append(mass[:, 1:] == 0)
    else:
        total = total + theta1 * (base @ cp.sum(cp.multiply(mass, cost), axis=1))
    if math.isinf(theta2):
        constraints.append(weights == 1)
    elif isinstance(divergence, KL):
        total = total + theta2 * (base @ cp.kl_div(weights, np.ones(len(base))))
    elif isinstance(divergence, ChiSquare):
        total = total + theta2 * (base @ cp.square(weights - 1))
    elif isinstance(divergence, CVaR):
        constraints.append(weights <= 1.0 / divergence.share)
    problem = cp.Problem(cp.Minimize(total), constraints)
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value)


def pieces_by_cvxpy(
    values: FloatArray, norms: FloatArray, offsets_risk: float, theta1: float, theta2: float, divergence: Divergence
) -> float:
    """The paper's conic programs, corrected: `values` are `(K, n)` pieces `y·a_kᵀx + b_k`, `norms` are `‖a_k‖²`.

    Misprint 2: the whole piece is multiplied by h, `b_k` too. Misprint 3: α belongs into the objective of chi-square.
    """
    n = values.shape[1]
    h, p = cp.Variable(nonneg=True), cp.Variable(n)
    constraints = [h * values[k] + cp.square(h) * norms[k] / (4.0 * theta1) <= p for k in range(len(values))]
    if isinstance(divergence, KL):
        objective = -h * offsets_risk + theta2 * (cp.log_sum_exp(p / theta2) - math.log(n))
    else:
        alpha, eta = cp.Variable(), cp.Variable(n, nonneg=True)
        constraints.append(p + alpha + 2.0 * theta2 <= 2.0 * theta2 * eta)
        objective = -h * offsets_risk - alpha - theta2 + theta2 / n * cp.sum_squares(eta)
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver=cp.CLARABEL)
    return -float(problem.value)


def dual_by_brute_force(
    envelope: Callable[[float], FloatArray], base: FloatArray, risk: float, theta1: float, theta2: float, divergence: Divergence
) -> float:
    """`max_h` by golden section over the definition of g, from best responses found on a grid."""

    def negative(log_price: float) -> float:
        h = math.exp(log_price)
        e = theta1 * envelope(h / theta1)
        if math.isinf(theta2):
            return -(h * risk - float(base @ e))
        if isinstance(divergence, KL):
            top = float(e.max())
            return -(h * risk - top - theta2 * math.log(float(base @ np.exp((e - top) / theta2))))

        def inner(alpha: float) -> float:
            return -(
                h * risk + alpha + theta2 - theta2 * float(base @ np.square(np.maximum((e + alpha) / (2 * theta2) + 1, 0)))
            )

        low, high = -float(e.max()) - 2 * theta2, 2 * theta2 - float(e.min())
        return float(minimize_scalar(inner, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).fun)

    grid = np.linspace(-9.0, 4.0, 40)
    start = grid[int(np.argmin([negative(t) for t in grid]))]
    bounds = (start - 0.5, start + 0.5)
    return -float(minimize_scalar(negative, bounds=bounds, method="bounded", options={"xatol": 1e-10}).fun)


def assert_envelope(oracle: Oracle, lambdas: Iterable[float]) -> None:
    """The loss of the response is the slope of its value, by differences; `slope` likewise where no sample jumps in between."""
    for lam in [lam for lam in lambdas if lam < 0.9 * oracle.ceiling]:
        step = 1e-6 * lam
        low, here, high = oracle.respond(lam - step), oracle.respond(lam), oracle.respond(lam + step)
        values = [price * r.lift - r.cost for price, r in ((lam - step, low), (lam + step, high))]
        smooth = np.abs(high.lift - low.lift) < 1e-3 * (1.0 + here.lift)
        assert smooth.mean() > 0.8
        assert here.lift[smooth] == pytest.approx(((values[1] - values[0]) / (2.0 * step))[smooth], rel=1e-4, abs=1e-5)
        rate = (high.lift - low.lift) / (2.0 * step)
        steady = smooth & (np.abs(low.slope - high.slope) < 1e-3 * (1.0 + here.slope))
        assert here.slope[steady] == pytest.approx(rate[steady], rel=1e-3, abs=1e-4)
