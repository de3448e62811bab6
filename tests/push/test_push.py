"""The curve of pushing a score within bounds, against a quadratic program."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from tippingpoint.push import BoxPush, FreePush


@pytest.mark.parametrize("unbounded", [0, 2, 5])
def test_cost_is_the_least_over_all_moves_within_bounds(unbounded: int) -> None:
    rng = np.random.default_rng(unbounded)
    beta, prices, room = rng.exponential(size=5), rng.exponential(size=5) + 0.1, rng.exponential(size=(1, 5))
    room[:, :unbounded] = np.inf
    push = BoxPush(beta, prices, room)
    limit = float(push.limit[0]) if unbounded == 0 else 8.0
    for t in np.linspace(0.05, 1.0, 7) * limit:
        step = cp.Variable(5, nonneg=True)
        bounded = [step[j] <= room[0, j] for j in range(unbounded, 5)]
        problem = cp.Problem(cp.Minimize(prices @ cp.square(step)), [beta @ step == t, *bounded])
        problem.solve(solver=cp.CLARABEL)
        reach = push.to(np.array([t]))
        assert reach.cost[0] == pytest.approx(float(problem.value), rel=1e-6)
        assert reach.multiplier[0] == pytest.approx(
            (push.to(np.array([t * (1 - 1e-7)])).cost[0] - reach.cost[0]) / (-2e-7 * t), rel=1e-4
        )
        again = push.at(float(reach.multiplier[0]))
        assert (again.push[0], again.cost[0]) == pytest.approx((t, reach.cost[0]), rel=1e-9)


def test_a_push_out_of_reach_costs_infinitely_much() -> None:
    push = BoxPush(np.array([1.0, 2.0]), np.ones(2), np.array([[1.0, 1.0], [0.0, 0.0]]))
    assert push.limit.tolist() == [3.0, 0.0]
    assert np.isinf(push.to(np.array([3.1, 0.1])).cost).all()
    assert push.to(np.array([3.0, 0.0])).cost.tolist() == [2.0, 0.0]


def test_without_bounds_both_curves_are_the_same() -> None:
    rng = np.random.default_rng(1)
    beta, prices = rng.exponential(size=4), rng.exponential(size=4) + 0.1
    box, free = BoxPush(beta, prices, np.full((6, 4), np.inf)), FreePush(float(np.sum(beta**2 / prices)), 6)
    t, offset = rng.exponential(size=6), rng.normal(size=6)
    price = 0.5 / box.free
    assert box.free == pytest.approx(free.free)
    for ours, theirs in (
        (box.to(t), free.to(t)),
        (box.at(0.7), free.at(0.7)),
        (box.meet(price, offset), free.meet(price, offset)),
    ):
        assert ours.push == pytest.approx(theirs.push, rel=1e-12, nan_ok=True)
        assert ours.cost == pytest.approx(theirs.cost, rel=1e-12, nan_ok=True)
