"""One hidden layer of ReLUs: proofs against every pattern of gates, written out and solved by a conic solver."""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from tippingpoint.core.arrays import FloatArray
from tippingpoint.families.network.proofs.gates import Bounds, GateSearch
from tippingpoint.families.network.proofs.ranges import HiddenLayer, UnitRanges
from tippingpoint.families.network.search.summits import lift
from tippingpoint.losses import Loss, Rising, loss_named

UNITS, FEATURES, SAMPLES = 5, 3, 6


def network(seed: int, units: int = UNITS) -> tuple[HiddenLayer, FloatArray]:
    draw = np.random.default_rng(seed)
    layer = HiddenLayer(draw.normal(size=(units, FEATURES)), draw.normal(size=units), draw.normal(size=units), 0.3)
    return layer, draw.normal(size=(SAMPLES, FEATURES))


def score(layer: HiddenLayer, x: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(x @ layer.weights.T + layer.bias, 0.0) @ layer.outer + layer.offset)


def searched(
    layer: HiddenLayer,
    x: FloatArray,
    loss: Loss,
    price: float,
    *,
    direction: FloatArray | None = None,
    constant: FloatArray | None = None,
    room: tuple[FloatArray, FloatArray] | None = None,
    most_nodes: float = math.inf,
    tolerance: float = 1e-9,
) -> Bounds:
    """Bounds that begin from nothing but staying (or, for errors, from nothing at all)."""
    up = np.ones(len(x)) if direction is None else direction
    zero = np.zeros(len(x)) if constant is None else constant
    now = zero + up * score(layer, x)
    increasing = Rising(loss) if loss.task == "regression" else loss
    search = GateSearch(layer, x @ layer.weights.T + layer.bias, up, zero, increasing, loss.value(now), room)
    crossing = loss.needs_crossing
    start = np.full(len(x), -1e6 if crossing else 0.0)
    known = Bounds(np.full(len(x), 0.0 if crossing else math.inf), start, np.zeros_like(x))
    return search.search(price, known, tolerance=tolerance, most_nodes=most_nodes)


def nearest_by_cvxpy(layer: HiddenLayer, x: FloatArray, box: tuple[float, float]) -> float:
    """The least squared step after which the score is ≥ 0: for each pattern of positive gates a convex program."""
    positive = np.flatnonzero(layer.outer > 0.0)
    best = math.inf
    for pattern in itertools.product((0.0, 1.0), repeat=len(positive)):
        step = cp.Variable(FEATURES)
        value = layer.offset
        for j, (w, b, o) in enumerate(zip(layer.weights, layer.bias, layer.outer, strict=True)):
            seen = w @ (x + step) + b
            value = value + (o * pattern[positive.tolist().index(j)] * seen if o > 0.0 else o * cp.pos(seen))
        problem = cp.Problem(cp.Minimize(cp.sum_squares(step)), [value >= 0.0, x + step >= box[0], x + step <= box[1]])
        problem.solve(solver=cp.CLARABEL)
        if problem.status in ("optimal", "optimal_inaccurate"):
            best = min(best, float(problem.value))
    return best


def best_by_chance(
    layer: HiddenLayer, x: FloatArray, loss: Loss, price: float, shift: float, sign: float, reach: float
) -> float:
    """`max λ·lift - ‖s‖²` over very many random steps, drawn closer and closer around the best of several regions."""
    draw = np.random.default_rng(0)

    def gains(steps: FloatArray) -> FloatArray:
        after = shift + sign * score(layer, x + steps)
        now = np.full(len(steps), shift + sign * score(layer, x[None])[0])
        return np.asarray(price * lift(loss, now, after) - np.square(steps).sum(axis=1))

    steps = np.clip(draw.normal(size=(100_000, FEATURES)) * draw.choice([0.3, 1.0, 3.0], size=(100_000, 1)), -reach, reach)
    centres = steps[np.argsort(-gains(steps))[:4000:500]]
    for width in 0.7 ** np.arange(40):
        tried = centres[:, None, :] + width * draw.normal(size=(len(centres), 300, FEATURES))
        tried = np.clip(np.concatenate((tried, centres[:, None, :]), axis=1), -reach, reach)
        worth = gains(tried.reshape(-1, FEATURES)).reshape(len(centres), -1)
        centres = tried[np.arange(len(centres)), worth.argmax(axis=1)]
    return max(0.0, float(gains(centres).max()))


@pytest.mark.parametrize("boxed", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_distances_are_those_of_the_best_of_all_patterns(seed: int, *, boxed: bool) -> None:
    layer, x = network(seed)
    box = (-1.5, 1.5) if boxed else (-50.0, 50.0)
    x = np.clip(x, *box)
    layer = replace(layer, offset=layer.offset - float(np.median(score(layer, x))) - 0.2)  # so that most are right
    x = x[score(layer, x) < 0.0]
    room = (box[0] - x, box[1] - x) if boxed else None
    found = searched(layer, x, loss_named("zero_one"), math.inf, room=room)
    exact = np.array([nearest_by_cvxpy(layer, row, box) for row in x])
    reachable = np.isfinite(exact)
    np.testing.assert_allclose(-found.most[reachable], exact[reachable], rtol=2e-5, atol=1e-6)
    assert (-found.most[~reachable] > 1e5).all()
    there = score(layer, (x + found.steps)[reachable])
    assert (there >= -1e-9).all()
    np.testing.assert_allclose(np.square(found.steps[reachable]).sum(axis=1), exact[reachable], rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("boxed", [False, True])
@pytest.mark.parametrize(
    ("name", "price"), [("logistic", 0.4), ("logistic", 3.0), ("hinge", 0.7), ("squared", 0.02), ("absolute", 0.5)]
)
def test_gains_are_those_of_a_search_without_mercy(name: str, price: float, *, boxed: bool) -> None:
    loss = loss_named(name)
    layer, x = network(7)
    target = np.linspace(-2.0, 2.0, len(x))
    sides = [(loss, 1.0, np.zeros(len(x)))]
    if loss.task == "regression":
        sides = [(loss, -1.0, target), (loss.mirrored(), 1.0, -target)]
    room = (np.full_like(x, -0.4), np.full_like(x, 0.4)) if boxed else None
    found = [
        searched(layer, x, side, price, direction=np.full(len(x), sign), constant=shift, room=room, tolerance=1e-6)
        for side, sign, shift in sides
    ]
    most, least = np.max([each.most for each in found], axis=0), np.max([each.least for each in found], axis=0)
    _, sign, shift = sides[0]
    for i, row in enumerate(x):
        best = best_by_chance(layer, row, loss, price, float(shift[i]), sign, 0.4 if boxed else math.inf)
        assert most[i] >= best - 1e-9
        assert least[i] == pytest.approx(best, rel=1e-4, abs=1e-5)
        assert most[i] == pytest.approx(best, rel=1e-3, abs=1e-4)
    if boxed:
        assert all((np.abs(each.steps) <= 0.4 + 1e-12).all() for each in found)


@pytest.mark.parametrize("nodes", [0, 10, 100, math.inf])
@pytest.mark.parametrize("name", ["zero_one", "logistic"])
def test_stopped_at_any_time_the_bounds_hold_and_only_tighten(name: str, nodes: float) -> None:
    layer, x = network(3, units=14)
    loss, price = loss_named(name), math.inf if name == "zero_one" else 2.0
    x = x[score(layer, x) < 0.0]
    stopped, proved = (searched(layer, x, loss, price, most_nodes=most) for most in (nodes, math.inf))
    assert (stopped.least <= stopped.most + 1e-12).all()
    assert (stopped.most >= proved.most - 1e-9).all()
    assert (stopped.least <= proved.least + 1e-9).all()
    if nodes == 0:
        assert (stopped.most > proved.most + 1e-6).any(), "the relaxation alone must leave something to prove here"


def test_a_deadline_that_has_passed_leaves_the_relaxation() -> None:
    layer, x = network(3, units=14)
    hinge = loss_named("hinge")
    search = GateSearch(
        layer, x @ layer.weights.T + layer.bias, np.ones(len(x)), np.zeros(len(x)), hinge, hinge.value(score(layer, x))
    )
    known = Bounds(np.full(len(x), math.inf), np.zeros(len(x)), np.zeros_like(x))
    found = search.search(1.0, known, tolerance=1e-9, deadline=time.monotonic() - 1.0)
    assert np.isfinite(found.most).all()
    assert found.nodes == len(x)


def test_units_that_coincide_or_do_nothing_are_no_trouble() -> None:
    layer, x = network(11)
    weights = np.concatenate((layer.weights, layer.weights, np.zeros((2, FEATURES))))
    bias, outer = np.concatenate((layer.bias, layer.bias, [1.0, -1.0])), np.concatenate((layer.outer, layer.outer, [0.5, -0.5]))
    twice = HiddenLayer(weights, bias, 0.5 * outer, layer.offset - 0.25)
    once = searched(layer, x, loss_named("hinge"), 0.8)
    again = searched(twice, x, loss_named("hinge"), 0.8)
    np.testing.assert_allclose(again.most, once.most, rtol=1e-6, atol=1e-8)


def test_beyond_the_pole_of_a_squared_loss_nothing_is_proved() -> None:
    layer, x = network(5)
    found = searched(layer, x, loss_named("squared"), 1e6, direction=np.full(len(x), -1.0), constant=np.full(len(x), 9.0))
    assert np.isinf(found.most).all()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("name", "price"), [("zero_one", math.inf), ("logistic", 2.0), ("hinge", 0.7), ("squared", 0.02)])
def test_what_is_known_narrows_the_search_but_never_shuts_out_the_best(seed: int, name: str, price: float) -> None:
    layer, x = network(seed, units=9)
    layer = replace(layer, offset=layer.offset - float(np.median(score(layer, x))) - 0.2)
    loss = loss_named(name)
    if name == "zero_one":
        x = x[score(layer, x) < 0.0]
    best = searched(layer, x, loss, price, tolerance=1e-6)
    reached = np.isfinite(best.most) & (best.least > -1e5) & (np.abs(best.least) > 1e-9)
    increasing = Rising(loss) if loss.task == "regression" else loss
    search = GateSearch(
        layer, x @ layer.weights.T + layer.bias, np.ones(len(x)), np.zeros(len(x)), increasing, loss.value(score(layer, x))
    )
    for part in (1.02, 1.5) if name == "zero_one" else (0.98, 0.6):  # a step that is known, and not quite the best
        known = Bounds(np.full(len(x), 0.0 if name == "zero_one" else math.inf), part * best.least, np.zeros_like(x))
        found = search.search(price, known, tolerance=1e-6)
        assert (found.most >= best.least - 1e-7 * np.abs(best.least))[reached].all()
        np.testing.assert_allclose(found.most[reached], best.most[reached], rtol=2e-3, atol=1e-6)


def line(loss: Loss, now: float, present: float) -> GateSearch:
    """One unit that is open all around one sample: the score is `now + s`."""
    layer = HiddenLayer(np.array([[1.0]]), np.zeros(1), np.ones(1), 0.0)
    return GateSearch(layer, np.array([[100.0]]), np.ones(1), np.array([now - 100.0]), loss, np.array([present]))


def test_the_radius_is_that_of_the_best_step_where_the_score_is_a_line() -> None:
    loss, now = loss_named("hinge"), np.ones(1)  # λ·s - s² is best at s = λ/2, where it is λ²/4
    ranges = UnitRanges(np.array([[1.0]]), np.array([[100.0]]), np.ones((1, 1)), None)
    assert ranges.radius(6.0, np.array([9.0]), loss, now)[0] == pytest.approx(3.0)
    assert ranges.radius(6.0, np.array([0.0]), loss, now)[0] == pytest.approx(6.0)
    assert ranges.radius(math.inf, np.array([-4.0]), loss, now)[0] == pytest.approx(2.0)


def test_what_is_lost_already_on_the_other_side_is_not_gained() -> None:
    search = line(Rising(loss_named("absolute")), -1.0, 1.0)  # max λ·((s - 1)₊ - 1) - s² = λ²/4 - 2λ
    known = Bounds(np.array([math.inf]), np.zeros(1), np.zeros((1, 1)))
    assert search.search(10.0, known, tolerance=1e-9).most[0] == pytest.approx(5.0)
    assert search.search(7.0, known, tolerance=1e-9).most[0] == 0.0


@pytest.mark.parametrize("name", ["squared", "absolute", "pinball:0.8", "huber", "epsilon_insensitive"])
def test_the_rising_part_is_lifted_as_its_values_say(name: str) -> None:
    rising = Rising(loss_named(name))
    v, push = (side.ravel() for side in np.meshgrid(np.linspace(-3.0, 3.0, 25), np.linspace(0.0, 5.0, 21)))
    np.testing.assert_allclose(rising.lift(v, push), rising.value(v + push) - rising.value(v), atol=1e-12)
