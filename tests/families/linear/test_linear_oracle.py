"""Best responses of linear models against brute force; every loss of the registry is in by itself."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest

from problems import INF, answer, assert_envelope, dual_by_brute_force, linear
from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.divergences import KL, ChiSquare, Divergence
from tippingpoint.families.linear.crossing import CrossingOracle
from tippingpoint.families.linear.geometry import Score
from tippingpoint.families.linear.oracle import linear_oracle
from tippingpoint.families.linear.pieces import PiecesOracle
from tippingpoint.losses import LOSSES, Loss, PiecewiseLinear, loss_named
from tippingpoint.losses.piecewise import pinball
from tippingpoint.space import Space
from tippingpoint.space.domain import Domain

EXTRA = [
    pinball(0.9),
    PiecewiseLinear([0.0, 0.5, 2.0], [0.1, 0.3, -1.0], title="three pieces"),
    PiecewiseLinear([-1.0, 0.2, 3.0], [0.0, 0.0, -2.0], "regression", "lopsided"),
]
ALL: list[Loss] = [*(loss_named(name) for name in LOSSES), *EXTRA]
SPACES = {
    "free": Space(),
    "priced": Space(price={"x1": 3.0}),
    "frozen": Space(frozen=["x0"]),
    "half open": Space(lower=-2.0, upper={"x0": 2.0}),
    "boxed": Space(lower=-2.0, upper=2.0, price={"x1": 3.0}),
    "tight": Space(lower={"x0": -1.9, "x1": -1.9}, upper={"x0": 1.9, "x1": 1.9}, frozen=["x2"]),
    "nothing moves": Space(movable=[]),
}
LAMBDAS = (0.02, 0.3, 1.0, 4.0)


def of_features(loss: Loss, x: FloatArray, y: FloatArray, beta: FloatArray) -> FloatArray:
    """The loss by its plain definition, for the oracle's model."""
    score = x @ beta + 0.3
    if loss.label == "zero_one":
        return np.asarray(np.where(score > 0, 1.0, -1.0) != y, dtype=float)
    return loss.value(-y * score if loss.task == "classification" else y - score)


def grid(domain: Domain, centre: FloatArray, reach: float, steps: int) -> FloatArray:
    """Points around a sample, in every feature that may move, bounds respected."""
    axes = []
    for j, price in enumerate(domain.price):
        low, high = max(domain.lower[j], centre[j] - reach), min(domain.upper[j], centre[j] + reach)
        axes.append(np.unique(np.append(np.linspace(low, high, steps), centre[j])) if np.isfinite(price) else centre[j : j + 1])
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(centre))


@pytest.mark.parametrize("space", list(SPACES))
@pytest.mark.parametrize("loss", ALL, ids=lambda loss: loss.label)
def test_no_point_of_a_grid_beats_the_best_response_and_some_come_close(loss: Loss, space: str) -> None:
    oracle, x, y, beta, domain = linear(np.random.default_rng(3), loss, 12, 3, SPACES[space])
    price = np.where(np.isfinite(domain.price), domain.price, 0.0)
    for lam in [lam for lam in LAMBDAS if lam < 0.9 * oracle.ceiling]:
        response = oracle.respond(lam)
        value = lam * (oracle.losses + response.lift) - response.cost
        for i in range(12):
            points = grid(domain, x[i], 6.0, 41)
            found = lam * of_features(loss, points, np.full(len(points), y[i]), beta) - np.square(points - x[i]) @ price
            assert found.max() <= value[i] + 1e-9 * (1 + abs(value[i]))
            if loss.label != "zero_one" and value[i] < 6.0:  # large moves leave the grid
                assert found.max() >= value[i] - 0.12 * (1 + abs(value[i]))


@pytest.mark.parametrize("space", list(SPACES))
@pytest.mark.parametrize("loss", ALL, ids=lambda loss: loss.label)
def test_the_points_shown_have_the_loss_and_the_cost_claimed(loss: Loss, space: str) -> None:
    oracle, x, y, beta, domain = linear(np.random.default_rng(4), loss, 200, 3, SPACES[space])
    price = np.where(np.isfinite(domain.price), domain.price, 0.0)
    prices = [
        *[lam for lam in LAMBDAS if lam < 0.9 * oracle.ceiling],
        *([INF] if np.isfinite(oracle.peak().lift).all() else []),
    ]
    for lam in prices:
        response = oracle.peak() if lam == INF else oracle.respond(lam)
        moved = x.copy()
        for name, column in oracle.points(lam, np.arange(200), response.lift).items():
            moved[:, domain.names.index(name)] = column
        assert np.square(moved - x) @ price == pytest.approx(response.cost, rel=1e-6, abs=1e-9)
        assert of_features(loss, moved, y, beta) == pytest.approx(oracle.losses + response.lift, rel=1e-7, abs=1e-9)
        assert (moved[:, ~np.isfinite(domain.price)] == x[:, ~np.isfinite(domain.price)]).all()
        assert ((moved >= domain.lower - 1e-9) & (moved <= domain.upper + 1e-9)).all()


@pytest.mark.parametrize("space", ["free", "half open", "boxed"])
@pytest.mark.parametrize("loss", ALL, ids=lambda loss: loss.label)
def test_the_loss_of_the_response_is_the_slope_of_its_value(loss: Loss, space: str) -> None:
    oracle, *_ = linear(np.random.default_rng(5), loss, 100, 3, SPACES[space])
    assert_envelope(oracle, LAMBDAS)


@pytest.mark.parametrize("loss", ALL, ids=lambda loss: loss.label)
@pytest.mark.parametrize("divergence", [KL(), ChiSquare()], ids=lambda d: d.label)
def test_the_stability_agrees_with_brute_force_over_a_grid(loss: Loss, divergence: Divergence) -> None:
    """One feature, thousands of places for every sample, and a search over h that shares no code with ours."""
    oracle, x, y, beta, _ = linear(np.random.default_rng(6), loss, 15, 1)
    n = 80_001 if loss.label == "zero_one" else 8001  # a step is only met to the width of the grid
    places = np.linspace(-12.0, 12.0, n)
    losses = np.stack([of_features(loss, (x[i] + places)[:, None], np.full(n, y[i]), beta) for i in range(15)])
    costs = np.square(places)
    base = np.full(15, 1 / 15)
    risk = float(oracle.losses.mean()) + (0.25 if loss.label == "zero_one" else 0.4 * float(oracle.losses.mean()) + 0.1)
    theirs = dual_by_brute_force(lambda lam: (lam * losses - costs).max(axis=1), base, risk, 1.0, 0.3, divergence)
    ours = answer(oracle, risk, 1.0, 0.3, divergence).value
    assert ours <= theirs * (1 + 1e-6)
    assert ours == pytest.approx(theirs, rel=1e-3 if loss.label == "zero_one" else 1e-4)


def test_logistic_finds_the_better_of_two_local_maxima() -> None:
    loss, domain = loss_named("logistic"), Space().resolve(["a"])
    scale, margins = 12.0, np.linspace(0.0, 14.0, 141)
    oracle = linear_oracle(margins[:, None], np.ones(141), Score(np.array([1.0]), 0.0), loss, domain)
    response = oracle.respond(scale)
    pushes = np.linspace(0.0, scale, 200_001)
    best = [float(np.max(scale * np.logaddexp(0.0, pushes - m) - pushes**2)) for m in margins]
    assert scale * (oracle.losses + response.lift) - response.cost == pytest.approx(best, abs=1e-6)
    jumps = np.flatnonzero(np.diff(np.sqrt(response.cost)) < -1.0)
    assert len(jumps) == 1, "far samples stay near, near ones go far: one switch between the two maxima"


@pytest.mark.parametrize("bounded", [False, True])
def test_multiclass_distance_is_the_least_over_a_quadratic_program(*, bounded: bool) -> None:
    rng = np.random.default_rng(7)
    x, coef, intercept = np.clip(rng.normal(size=(30, 4)), -1.9, 1.9), rng.normal(size=(3, 4)), rng.normal(size=3)
    y = rng.integers(0, 3, size=30)
    space = Space(lower=-2.0, upper=2.0, frozen=["d"]) if bounded else Space(price={"b": 2.0})
    domain = space.resolve(list("abcd"))
    scores = [Score(beta, float(b)) for beta, b in zip(coef, intercept, strict=True)]
    oracle = CrossingOracle.multiclass(x, y, scores, domain, x @ coef.T + intercept)
    peak = oracle.peak()
    assert oracle.losses == pytest.approx((np.argmax(x @ coef.T + intercept, axis=1) != y).astype(float))
    price = np.where(np.isfinite(domain.price), domain.price, 1.0)
    for i in np.flatnonzero(oracle.losses == 0.0):
        best = INF
        for k in set(range(3)) - {int(y[i])}:
            beta, gap = coef[y[i]] - coef[k], float(intercept[y[i]] - intercept[k])
            z = cp.Variable(4)
            still = [z[j] == x[i, j] for j in range(4) if math.isinf(domain.price[j])]
            within = [z >= np.maximum(domain.lower, -1e3), z <= np.minimum(domain.upper, 1e3)]
            cost = cp.Minimize(price @ cp.square(z - x[i]))
            problem = cp.Problem(cost, [beta @ z + gap <= 0, *still, *within])
            problem.solve(solver=cp.CLARABEL)
            best = min(best, float(problem.value))
        if peak.lift[i] == 0.0:
            assert best == INF
        else:
            assert peak.cost[i] == pytest.approx(best, rel=1e-4, abs=1e-7)
    moved = x.copy()
    for name, column in oracle.points(INF, np.arange(30), peak.lift).items():
        moved[:, domain.names.index(name)] = column
    wrong = np.argmax(moved @ coef.T + intercept, axis=1) != y
    assert wrong.astype(float) == pytest.approx(oracle.losses + peak.lift)


@pytest.mark.parametrize("bounded", [False, True])
def test_pieces_of_features_agree_with_a_grid_and_with_their_formula(*, bounded: bool) -> None:
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(3, 2)), rng.normal(size=3)
    x, y = np.clip(rng.normal(size=(20, 2)), -1.9, 1.9), rng.choice([-1.0, 1.0], size=20)
    domain = (Space(lower=-2.0, upper=2.0) if bounded else Space()).resolve(["a", "b"])
    oracle = PiecesOracle(x, y, PiecewiseLinear(a, b), domain)
    for lam in LAMBDAS:
        response = oracle.respond(lam)
        value = lam * (oracle.losses + response.lift) - response.cost
        if not bounded:
            formula = [lam * (y * (x @ a[k]) + b[k]) + lam**2 * (a[k] @ a[k]) / 4 for k in range(3)]
            assert value == pytest.approx(np.max(formula, axis=0), rel=1e-12)
        for i in range(20):
            points = grid(domain, x[i], 9.0, 181)
            losses = np.max([y[i] * (points @ a[k]) + b[k] for k in range(3)], axis=0)
            best = float(np.max(lam * losses - np.square(points - x[i]).sum(axis=1)))
            assert value[i] - 0.02 * (1 + abs(value[i])) <= best <= value[i] + 1e-9
        moved = np.column_stack(list(oracle.points(lam, np.arange(20), response.lift).values()))
        assert np.square(moved - x).sum(axis=1) == pytest.approx(response.cost, rel=1e-9, abs=1e-12)
        at = np.max([y * (moved @ a[k]) + b[k] for k in range(3)], axis=0)
        assert at == pytest.approx(oracle.losses + response.lift, rel=1e-9)


def test_a_score_of_exactly_zero_is_judged_as_scikit_learn_does() -> None:
    x, y = np.array([[0.0], [0.0]]), np.array([-1.0, 1.0])
    domain = Space().resolve(["a"])
    oracle = linear_oracle(x, y, Score(np.array([1.0]), 0.0), loss_named("zero_one"), domain)
    assert oracle.losses.tolist() == [0.0, 1.0]
    assert oracle.respond(1e-6).lift.tolist() == [1.0, 0.0], "on the boundary a flip costs nothing"
    dead = linear_oracle(x, y, Score(np.array([0.0]), 0.0), loss_named("zero_one"), domain)
    assert dead.peak().lift.tolist() == [0.0, 0.0], "a model without coefficients cannot be flipped"


@pytest.mark.parametrize("loss", [loss for loss in ALL if isinstance(loss, PiecewiseLinear)], ids=lambda loss: loss.label)
def test_the_least_value_of_a_piecewise_linear_loss_is_known(loss: PiecewiseLinear) -> None:
    assert loss.range[0] == pytest.approx(float(loss.value(np.linspace(-50.0, 50.0, 1_000_001)).min()), abs=1e-4)
