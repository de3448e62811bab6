"""Networks of which one column moves: best responses against dense grids."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn

from networks import COLUMN, FEATURES, NETS, ROOMS, all_lines, network, part
from problems import answer, assert_envelope
from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.divergences import KL, ChiSquare
from tippingpoint.core.dual import Status
from tippingpoint.families.network.column.coordinate import CoordinateOracle, coordinate_oracle
from tippingpoint.families.network.column.lines import Chain
from tippingpoint.families.network.outputs import read_outputs
from tippingpoint.losses import LOSSES, Loss, PiecewiseLinear, loss_named

SAMPLES, PRICE = 12, 0.7
NAMES = [f"x{j}" for j in range(FEATURES)]
LAMBDAS = (0.02, 0.3, 1.0, 4.0)


EXTRA = [
    PiecewiseLinear([-1.0, 0.2, 3.0], [0.0, 0.0, -2.0], "regression", "lopsided"),
    PiecewiseLinear([-0.5, 2.0], [0.3, -0.4], "classification", "falling"),
]
KINDS = ["one hidden", "three hidden", "leaky", "linear"]
ALL: list[Loss] = [*(loss_named(name) for name in LOSSES), *EXTRA]


@dataclass(frozen=True)
class Case:
    """A network, data, and the oracle of one of its columns."""

    module: nn.Sequential
    loss: Loss
    x: FloatArray
    y: FloatArray
    low: FloatArray
    high: FloatArray
    oracle: CoordinateOracle

    def at(self, steps: FloatArray) -> FloatArray:
        """The loss by its plain definition, in double precision, of every sample at its own `(n, k)` steps."""
        flat = np.repeat(self.x, steps.shape[1], axis=0)
        flat[:, COLUMN] += steps.ravel()
        return self.of(flat, np.repeat(self.y, steps.shape[1])).reshape(steps.shape)

    def of(self, x: FloatArray, y: FloatArray, dtype: torch.dtype = torch.float64) -> FloatArray:
        with torch.no_grad():
            output = self.module.to(dtype)(torch.from_numpy(x).to(dtype)).double().numpy()
        self.module.double()
        if output.shape[1] == 1:
            score = output[:, 0]
            if self.loss.label == "zero_one":
                return np.asarray((score > 0.0) != (y > 0.0), dtype=float)
            return self.loss.value(y - score if self.loss.task == "regression" else -np.where(y > 0.0, 1.0, -1.0) * score)
        if self.loss.label == "zero_one":
            return np.asarray(output.argmax(axis=1) != y, dtype=float)
        rows, own = np.arange(len(y)), y.astype(int)
        others = output.copy()
        others[rows, own] = -math.inf
        return self.loss.value(others.max(axis=1) - output[rows, own])

    def moved(self, price: float, lift: FloatArray) -> FloatArray:
        points = self.oracle.points(price, np.arange(len(self.x)), lift)
        return np.stack([points[name] for name in NAMES], axis=1)

    def grid(self, steps: int = 6001, reach: float = 6.0) -> FloatArray:
        return np.linspace(np.maximum(self.low, -reach), np.minimum(self.high, reach), steps, axis=1)


def case(
    loss: Loss,
    kind: str,
    room: str,
    *,
    seed: int = 0,
    n: int = SAMPLES,
    outputs: int = 1,
    price: float = PRICE,
    margin: float = 0.0,
) -> Case:
    rng, module = np.random.default_rng(seed), network(seed, kind, outputs)
    x = rng.normal(size=(n, FEATURES))
    with torch.no_grad():
        output = module(torch.from_numpy(x)).numpy()
        if loss.task == "classification":
            centre, bias = np.float32(np.median(output, axis=0)), part(module, -1).bias
            bias.copy_((bias - torch.from_numpy(centre)).float())  # the same number in both precisions
            output = output - centre
    if loss.task == "regression":
        y = output[:, 0] + rng.normal(size=n)
    elif outputs == 1:
        y = (output[:, 0] + 0.4 * rng.normal(size=n) > 0.0).astype(float)
    else:
        y = (output + 0.2 * rng.normal(size=output.shape)).argmax(axis=1).astype(float)
    low, high = (np.full(n, end) for end in ROOMS[room])
    low[0] = high[0] = 0.0  # one sample may not move at all
    chain = Chain.of(module, FEATURES)
    assert isinstance(chain, Chain)
    rises = read_outputs(y, n, loss, outputs, None, torch.device("cpu")).rises
    lines = chain.along(chain.enter(x), COLUMN, low, high)
    oracle = coordinate_oracle(x, COLUMN, price, lines, rises, NAMES, "units", margin=margin)
    return Case(module, loss, x, y, low, high, oracle)


def prices(oracle: CoordinateOracle) -> list[float]:
    below = [lam for lam in LAMBDAS if lam < 0.9 * oracle.ceiling]
    return below if math.isinf(oracle.ceiling) else [*below, 0.3 * oracle.ceiling, 0.97 * oracle.ceiling]


@pytest.mark.parametrize("room", list(ROOMS))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ALL, ids=lambda loss: loss.label)
def test_no_point_of_a_grid_beats_the_best_response_which_its_own_point_attains(loss: Loss, kind: str, room: str) -> None:
    here = case(loss, kind, room)
    steps = here.grid()
    found = here.at(steps)
    np.testing.assert_allclose(here.oracle.losses, here.at(np.zeros((SAMPLES, 1)))[:, 0], rtol=1e-12, atol=1e-12)
    for lam in prices(here.oracle):
        response = here.oracle.respond(lam)
        value = lam * (here.oracle.losses + response.lift) - response.cost
        worth = lam * found - PRICE * np.square(steps)
        assert (worth <= value[:, None] + 1e-9 * (1.0 + np.abs(value[:, None]))).all()
        inside = np.sqrt(response.cost / PRICE) < 5.9
        fine = 0.003 * lam if loss.label != "zero_one" else 0.02
        np.testing.assert_allclose(worth.max(axis=1)[inside], value[inside], rtol=0.01, atol=fine)
        assert response.lift[0] == response.cost[0] == 0.0
        if loss.label != "zero_one":
            moved = here.moved(lam, response.lift)
            np.testing.assert_allclose(here.of(moved, here.y), here.oracle.losses + response.lift, rtol=1e-9, atol=1e-9)
            step = moved[:, COLUMN] - here.x[:, COLUMN]
            np.testing.assert_allclose(PRICE * np.square(step), response.cost, rtol=1e-9, atol=1e-9)
            assert ((step >= here.low - 1e-12) & (step <= here.high + 1e-12)).all()
            assert (np.delete(moved, COLUMN, axis=1) == np.delete(here.x, COLUMN, axis=1)).all()


@pytest.mark.parametrize("room", list(ROOMS))
@pytest.mark.parametrize("outputs", [1, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_a_module_of_single_precision_errs_where_errors_are_shown_and_not_nearer(kind: str, outputs: int, room: str) -> None:
    here = case(loss_named("zero_one"), kind, room, seed=2, n=300, outputs=outputs, margin=1e-4)
    peak = here.oracle.peak()
    goes = peak.lift > 0.0
    assert goes.mean() > 0.05
    moved = here.moved(math.inf, peak.lift)
    assert here.of(moved, here.y, torch.float32)[goes].all()
    step = np.abs(moved - here.x)[:, COLUMN]
    least = np.sqrt(peak.cost / PRICE)
    assert (step >= least - 1e-12).all()
    assert np.quantile((step - least)[goes], 0.9) < 1e-2
    assert ((moved - here.x)[:, COLUMN] <= here.high).all()
    assert ((moved - here.x)[:, COLUMN] >= here.low).all()
    shares = np.linspace(-1.0, 1.0, 401) * (1.0 - 1e-9)
    nearer = np.where(goes, least, np.minimum(np.maximum(-here.low, here.high), 20.0))[:, None] * shares
    nearer = np.clip(nearer, here.low[:, None], here.high[:, None])
    assert not here.at(nearer)[here.oracle.losses == 0.0].any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "zero_one"])
def test_of_several_classes_the_one_ahead_counts(name: str, kind: str) -> None:
    here = case(loss_named(name), kind, "boxed", seed=3, n=40, outputs=4)
    steps = here.grid(20001)
    found = here.at(steps)
    np.testing.assert_allclose(here.oracle.losses, here.at(np.zeros((40, 1)))[:, 0], atol=1e-12)
    for lam in prices(here.oracle):
        response = here.oracle.respond(lam)
        value = lam * (here.oracle.losses + response.lift) - response.cost
        worth = (lam * found - PRICE * np.square(steps)).max(axis=1)
        assert (worth <= value + 1e-9 * (1.0 + np.abs(value))).all()
        np.testing.assert_allclose(worth, value, rtol=1e-3, atol=2e-3)
        if name != "zero_one":
            np.testing.assert_allclose(
                here.of(here.moved(lam, response.lift), here.y), here.oracle.losses + response.lift, rtol=1e-9, atol=1e-9
            )


@pytest.mark.parametrize("room", ["free", "boxed"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ALL, ids=lambda loss: loss.label)
def test_the_loss_of_the_response_is_the_slope_of_its_value(loss: Loss, kind: str, room: str) -> None:
    oracle = case(loss, kind, room, seed=5, n=100).oracle
    assert_envelope(oracle, LAMBDAS)


@pytest.mark.parametrize("name", ["logistic", "squared", "absolute", "hinge"])
def test_the_slope_at_no_price_is_the_limit_of_slopes(name: str) -> None:
    oracle = case(loss_named(name), "three hidden", "free", seed=5, n=100).oracle
    at_rest, just_above = oracle.respond(0.0), oracle.respond(1e-9)
    assert not at_rest.lift.any()
    assert not at_rest.cost.any()
    assert at_rest.slope.max() > 0.01
    np.testing.assert_allclose(at_rest.slope, just_above.lift / 1e-9, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("divergence", [KL(), ChiSquare()], ids=lambda d: d.label)
@pytest.mark.parametrize("kind", ["one hidden", "three hidden", "leaky"])
@pytest.mark.parametrize("loss", ALL, ids=lambda loss: loss.label)
def test_the_cost_of_the_worst_distribution_is_the_value_of_the_dual(loss: Loss, kind: str, divergence: KL | ChiSquare) -> None:
    oracle = case(loss, kind, "free", seed=6, n=80).oracle
    peak = float(np.mean(oracle.losses + np.minimum(oracle.peak().lift, 10.0)))
    now = float(oracle.losses.mean())
    for share, (theta1, theta2) in itertools.product((0.01, 0.5), ((1.0, 0.3), (0.2, math.inf))):
        found = answer(oracle, now + share * (peak - now), theta1, theta2, divergence)
        assert found.solution.status is Status.ATTAINED
        assert found.q.risk == pytest.approx(now + share * (peak - now), rel=1e-9)
        assert found.value == pytest.approx(found.solution.lower, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("room", ["boxed", "down"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ALL, ids=lambda loss: loss.label)
def test_the_peak_is_the_largest_loss_within_the_room(loss: Loss, kind: str, room: str) -> None:
    here = case(loss, kind, room, seed=7)
    peak, steps = here.oracle.peak(), here.grid(40001)
    found = here.at(steps)
    top = here.oracle.losses + peak.lift
    assert (found <= top[:, None] + 1e-9).all()
    np.testing.assert_allclose(found.max(axis=1), top, atol=0.01)
    enough = found >= top[:, None] - 1e-9
    reached = np.where(enough, np.square(steps), math.inf).min(axis=1)
    seen = np.isfinite(reached)
    assert (PRICE * reached >= peak.cost - 1e-9)[seen].all()
    if loss.label != "zero_one":
        np.testing.assert_allclose(here.of(here.moved(math.inf, peak.lift), here.y), top, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["logistic", "absolute", "squared"])
def test_a_loss_is_unbounded_where_the_module_says_so(name: str) -> None:
    for kind, room in itertools.product(NETS, ("free", "one-sided")):
        here = case(loss_named(name), kind, room, seed=8)
        ends = np.stack((np.clip(-1e7, here.low, here.high), np.clip(1e7, here.low, here.high)), axis=1)
        assert (np.isinf(here.oracle.peak().lift) == (here.at(ends).max(axis=1) > 1e3)).all()
        assert (np.isinf(here.oracle.peak().cost) == np.isinf(here.oracle.peak().lift)).all()


@pytest.mark.parametrize("room", ["free", "one-sided"])
@pytest.mark.parametrize("name", ["squared", "squared_hinge"])
def test_at_the_ceiling_loss_has_a_price_and_no_end(name: str, room: str) -> None:
    here = case(loss_named(name), "one hidden", room, seed=9)
    oracle, ends = here.oracle, (here.at(np.full((SAMPLES, 1), side * 1e6))[:, 0] for side in (-1.0, 1.0))
    down, up = ends
    steepest = max(up[1:].max(), down[1:].max() if room == "free" else 0.0) / (PRICE * 1e12)
    assert oracle.ceiling == pytest.approx(1.0 / steepest, rel=1e-4)
    escaped = oracle.escape(100.0)
    goes = np.isfinite(escaped.cost)
    assert goes.any()
    assert not goes[0]
    assert (escaped.lift[goes] >= 100.0).all()
    np.testing.assert_allclose(escaped.cost[goes] / escaped.lift[goes], oracle.ceiling, rtol=1e-8)
    close = oracle.respond(oracle.ceiling * (1.0 - 1e-7))
    assert close.lift.max() > 1e3
    lift = np.where(goes, 12.0, oracle.respond(0.5 * oracle.ceiling).lift)
    np.testing.assert_allclose(here.of(here.moved(oracle.ceiling, lift), here.y), oracle.losses + lift, rtol=1e-9, atol=1e-9)
    far = answer(oracle, float(oracle.losses.mean()) + 1e4, 1.0, math.inf, KL())
    assert far.value == pytest.approx(far.solution.lower, rel=1e-6)


def test_a_column_without_effect_moves_nobody() -> None:
    here = case(loss_named("logistic"), "one hidden", "free")
    with torch.no_grad():
        part(here.module, 0).weight[:, COLUMN] = 0.0
    lines = all_lines(here.module, here.x, COLUMN, here.low, here.high)
    assert len(lines.sample) == 2 * SAMPLES - 1
    assert not lines.slope.any()
    for loss in ("logistic", "zero_one"):
        rises = read_outputs(here.y, SAMPLES, loss, 1, None, torch.device("cpu")).rises
        oracle = coordinate_oracle(here.x, COLUMN, PRICE, [lines], rises, NAMES, "units")
        assert not oracle.respond(1e6).lift.any()
        assert not oracle.peak().lift.any()
        assert oracle.ceiling == math.inf


def test_the_module_has_the_last_word_on_who_is_wrong() -> None:
    here = case(loss_named("zero_one"), "one hidden", "free", n=30)
    lines = all_lines(here.module, here.x, COLUMN, here.low, here.high)
    rises = read_outputs(here.y, 30, "zero_one", 1, None, torch.device("cpu")).rises
    wrong = here.oracle.losses > 0.0
    wrong[1] = ~wrong[1]
    oracle = coordinate_oracle(here.x, COLUMN, PRICE, [lines], rises, NAMES, "units", wrong=wrong)
    assert (oracle.losses == wrong).all()
    assert oracle.respond(math.inf).lift[1] == (0.0 if wrong[1] else 1.0)
