"""How samples are cut into blocks, and who works on them, changes no digit that counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from functools import cache

import numpy as np
import pytest

from problems import DIVERGENCES, INF, linear, table
from tippingpoint.core import blocks, spreads
from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.atoms import AtomsOracle
from tippingpoint.core.blocks import Block, InMemory, Samples
from tippingpoint.core.cuts import perturbation
from tippingpoint.core.divergences import KL, ChiSquare, CVaR, Divergence
from tippingpoint.core.drawn import Drawn
from tippingpoint.core.dual import Solution, Status, solve
from tippingpoint.core.inference import influence, resampled
from tippingpoint.core.oracle import Oracle
from tippingpoint.core.problem import Problem
from tippingpoint.core.sensitive import SensitiveDistribution, sensitive_distribution, summary
from tippingpoint.core.spreads import ArraySpread, Pairs, SampleSpread

ROWS = 200
"""Enough for several blocks of 64, and for the last of them to be shorter."""

WHOLE = 2**30
"""Rows of a block that holds all samples."""

LOSSES = ("zero_one", "hinge", "logistic", "squared", "table")
PRICES = ((1.0, 0.25), (0.7, INF), (INF, 0.3))
RISES = (1e-9, 1e-3, 0.4)
"""Of the risk, as a part of it."""

DIGITS = 1e-12
"""Relative difference up to which numbers of differently cut blocks are the same: sums in another order."""

LAST_BITS = 16 * 2.0**-52
"""Relative difference of two risks that were summed in another order."""

SPLIT_DIGITS = 1e-7
"""The same for how an excess is split into its parts, for influence and weights.

The dual ends where its value is known to twelve digits. Near its top it is flat: the price `h` is then known to the root of
that, and what has a slope in `h` is no better known. Value, risk and cost have none.
"""


@dataclass(frozen=True)
class Solved:
    problem: Problem
    solution: Solution
    q: SensitiveDistribution
    influence: FloatArray

    @property
    def numbers(self) -> tuple[float, ...]:
        """What a result tells, to the last bit."""
        q = self.q
        return (
            q.total_cost,
            self.solution.lower,
            q.risk,
            q.standard_error,
            q.corruption_excess,
            q.reweighting_excess,
            q.effective_share,
            q.effective_sample,
            q.nats,
            q.moved_share,
        )


@cache
def samples_of(loss: str, rows: int = ROWS) -> tuple[Oracle, FloatArray]:
    rng = np.random.default_rng(3)
    oracle: Oracle = table(rng, rows, 3)[0] if loss == "table" else linear(rng, loss, rows, 4)[0]
    return oracle, rng.dirichlet(np.full(rows, 2.0))


@cache
def exact_samples_of(loss: str) -> tuple[Oracle, FloatArray]:
    """Losses and weights of few bits: their sums are the same in any order, and so is the rise that is asked for."""
    rng, rows = np.random.default_rng(3), 256
    if loss == "zero_one":
        return linear(rng, loss, rows, 4)[0], np.full(rows, 1.0 / rows)
    cost = rng.exponential(size=(rows, 3)) * [0.0, 1.0, 1.0]
    values = rng.integers(0, 2**10, (rows, 3)) / 2.0**8
    return AtomsOracle(np.repeat(np.arange(rows), 3), values.ravel(), cost.ravel(), {}), np.full(rows, 1.0 / rows)


def threshold(loss: str, rise: float) -> float:
    oracle, base = samples_of(loss)
    risk = float(base @ oracle.losses)
    return risk * (1.0 + rise)


def solved(
    loss: str,
    risk: float,
    prices: tuple[float, float],
    divergence: Divergence,
    *,
    rows: int,
    threads: int = 1,
    samples: tuple[Oracle, FloatArray] | None = None,
) -> Solved:
    """Answered anew in blocks of so many rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_ROWS", rows)
        oracle, base = samples or samples_of(loss)
        problem = Problem(oracle, base, risk, *prices, divergence, threads)
        assert isinstance(problem.samples, InMemory)
        assert len(problem.samples.blocks) == -(-len(base) // rows)
        solution = solve(problem)
        return Solved(problem, solution, sensitive_distribution(problem, solution), influence(problem, solution))


def assert_alike(one: Solved, other: Solved) -> None:
    """Two ways to cut the same samples tell the same."""
    assert one.solution.status is other.solution.status
    if one.solution.status is Status.UNREACHABLE:
        return
    mine, theirs = one.q, other.q
    wanted, current = max(other.problem.wanted, 0.0), abs(other.problem.current)
    # The rise that is asked for is a difference of two risks: of a tiny one, it is these that are known to the last bit only.
    rounding = max(DIGITS, LAST_BITS * current / wanted) if wanted else DIGITS
    assert mine.total_cost == pytest.approx(theirs.total_cost, rel=rounding)
    assert one.solution.lower == pytest.approx(other.solution.lower, rel=rounding)
    assert mine.risk == pytest.approx(theirs.risk, rel=DIGITS)
    split = max(SPLIT_DIGITS, rounding)
    assert mine.standard_error == pytest.approx(theirs.standard_error, rel=split, nan_ok=True)
    assert mine.effective_share == pytest.approx(theirs.effective_share, rel=DIGITS)
    assert mine.nats == pytest.approx(theirs.nats, rel=split, abs=DIGITS)
    assert mine.corruption_excess == pytest.approx(theirs.corruption_excess, rel=split, abs=split * wanted)
    assert mine.reweighting_excess == pytest.approx(theirs.reweighting_excess, rel=split, abs=split * wanted)
    if other.solution.status is Status.ATTAINED:
        size = float(np.abs(other.influence).max())
        np.testing.assert_allclose(one.influence, other.influence, rtol=0.0, atol=split * size)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
@pytest.mark.parametrize("prices", PRICES)
@pytest.mark.parametrize("rise", RISES)
@pytest.mark.parametrize("loss", LOSSES)
def test_blocks_of_any_length_tell_the_same(
    loss: str, rise: float, prices: tuple[float, float], divergence: Divergence
) -> None:
    risk = threshold(loss, rise)
    whole = solved(loss, risk, prices, divergence, rows=WHOLE)
    for rows in (7, 64):
        assert_alike(solved(loss, risk, prices, divergence, rows=rows), whole)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
@pytest.mark.parametrize("prices", PRICES)
@pytest.mark.parametrize("loss", ["zero_one", "table"])
def test_a_tiny_rise_costs_the_same_to_twelve_digits(loss: str, prices: tuple[float, float], divergence: Divergence) -> None:
    samples = exact_samples_of(loss)
    risk = float(samples[1] @ samples[0].losses) + 2.0**-30
    whole = solved(loss, risk, prices, divergence, rows=WHOLE, samples=samples)
    for rows in (7, 64):
        here = solved(loss, risk, prices, divergence, rows=rows, samples=samples)
        assert here.problem.wanted == whole.problem.wanted == 2.0**-30
        assert here.q.total_cost == pytest.approx(whole.q.total_cost, rel=DIGITS)
        assert here.solution.lower == pytest.approx(whole.solution.lower, rel=DIGITS)
        assert here.q.standard_error == pytest.approx(whole.q.standard_error, rel=SPLIT_DIGITS, nan_ok=True)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
@pytest.mark.parametrize("prices", PRICES)
@pytest.mark.parametrize("loss", ["zero_one", "table"])
def test_the_largest_risk_and_beyond(loss: str, prices: tuple[float, float], divergence: Divergence) -> None:
    whole = solved(loss, threshold(loss, 1e-3), prices, divergence, rows=WHOLE)
    largest = whole.problem.reachable
    for rows in (7, 64):
        here = solved(loss, threshold(loss, 1e-3), prices, divergence, rows=rows)
        assert here.problem.reachable == pytest.approx(largest, rel=DIGITS)
        assert solved(loss, largest * 1.001, prices, divergence, rows=rows).solution.status is Status.UNREACHABLE
        if here.problem.reachable == largest:  # a last bit less is attained, a last bit more is out of reach
            assert_alike(
                solved(loss, largest, prices, divergence, rows=rows), solved(loss, largest, prices, divergence, rows=WHOLE)
            )


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
def test_what_is_reached_already_costs_nothing(divergence: Divergence) -> None:
    for rows in (7, 64, WHOLE):
        found = solved("hinge", threshold("hinge", -0.2), (1.0, 0.25), divergence, rows=rows)
        assert (found.solution.status, found.q.total_cost, found.solution.lower) == (Status.ALREADY, 0.0, 0.0)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
@pytest.mark.parametrize("prices", PRICES)
@pytest.mark.parametrize("loss", LOSSES)
def test_threads_change_no_bit(loss: str, prices: tuple[float, float], divergence: Divergence) -> None:
    risk = threshold(loss, 0.3)
    one = solved(loss, risk, prices, divergence, rows=7)
    for threads in (2, 3):
        several = solved(loss, risk, prices, divergence, rows=7, threads=threads)
        np.testing.assert_array_equal(several.numbers, one.numbers)
        np.testing.assert_array_equal(several.influence, one.influence)
        for name in ("sample", "share", "change", "lift", "cost"):
            np.testing.assert_array_equal(getattr(several.q, name), getattr(one.q, name), err_msg=name)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
@pytest.mark.parametrize("prices", PRICES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("rows", [7, 64, WHOLE])
def test_the_sensitive_distribution_is_one(loss: str, prices: tuple[float, float], divergence: Divergence, rows: int) -> None:
    found = solved(loss, threshold(loss, 0.3), prices, divergence, rows=rows)
    if found.solution.status is Status.UNREACHABLE:
        return
    q, (theta1, theta2) = found.q, prices
    assert q.mass.sum() == pytest.approx(1.0, rel=1e-10)
    assert q.mass @ q.loss == pytest.approx(found.problem.risk, rel=1e-10)
    assert len(q.sample) <= ROWS + 1
    assert np.count_nonzero(q.share < 1.0) in (0, 2)
    np.testing.assert_allclose(np.bincount(q.sample, q.share), 1.0, rtol=1e-15)
    moving = 0.0 if math.isinf(theta1) else theta1 * float(q.mass @ q.cost)
    reweighting = 0.0 if math.isinf(theta2) else theta2 * float(q.base @ divergence.phi(q.weights))
    assert moving + reweighting == pytest.approx(q.total_cost, rel=1e-9)
    assert found.solution.lower == pytest.approx(q.total_cost, rel=1e-9)


def by_many_digits(losses: FloatArray, base: FloatArray, risk: float, theta2: float) -> float:
    """`θ2·KL` of the exponential tilt of mean `r`, at fifty digits: Newton's method from a tilt of nothing."""
    with localcontext() as context:
        context.prec = 50
        p, values = [Decimal(float(each)) for each in base], [Decimal(float(each)) for each in losses]
        t, step = Decimal(0), Decimal(1)
        while abs(step) > Decimal("1e-45"):
            e = [weight * (t * value).exp() for weight, value in zip(p, values, strict=True)]
            mean = sum((a * b for a, b in zip(e, values, strict=True)), Decimal(0)) / sum(e)
            variance = sum((a * (b - mean) ** 2 for a, b in zip(e, values, strict=True)), Decimal(0)) / sum(e)
            step = (Decimal(risk) - mean) / variance
            t += step
        return float(Decimal(theta2) * (t * Decimal(risk) - (sum(e, Decimal(0)) / sum(p, Decimal(0))).ln()))


@pytest.mark.parametrize("rise", [1e-9, 1e-5, 0.2])
@pytest.mark.parametrize("rows", [7, 64, WHOLE])
def test_tiny_perturbations_keep_their_digits(rise: float, rows: int) -> None:
    """Against fifty digits. The rise itself is known to the last bit of two risks, so it is a power of two here."""
    losses = np.random.default_rng(5).integers(0, 2**10, 128).astype(float)
    oracle, base = AtomsOracle(np.arange(128), losses, np.zeros(128), {}), np.full(128, 1.0 / 128)
    wanted = 2.0 ** round(math.log2(rise * float(losses.mean())))
    risk = float(base @ losses) + wanted  # no bit is lost: means of whole numbers by 128
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_ROWS", rows)
        problem = Problem(oracle, base, risk, INF, 0.3, KL())
        solution = solve(problem)
        q = sensitive_distribution(problem, solution)
    exact = by_many_digits(losses, base, risk, 0.3)
    assert q.total_cost == pytest.approx(exact, rel=1e-11)
    assert solution.lower == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize("loss", ["zero_one", "logistic"])
def test_the_bootstrap_is_the_same_for_any_number_of_threads(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 64)

    def drawn(threads: int) -> FloatArray:
        problem = Problem(*samples_of(loss), threshold(loss, 0.3), 1.0, 0.25, KL(), threads)

        def stability(samples: Samples) -> float:
            again = replace(problem, responses=samples)
            return summary(again, perturbation(again, solve(again))).total_cost

        return resampled(stability, problem.samples, replicates=5, seed=1)

    one = drawn(1)
    assert len(set(one)) == 5
    np.testing.assert_array_equal(drawn(2), one)
    np.testing.assert_array_equal(drawn(3), one)


def test_rows_drawn_from_blocks_are_one_draw_from_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as there are samples, with a weight that sums to one, whatever the length of blocks."""
    oracle, base = samples_of("hinge")
    for rows in (7, 64, WHOLE):
        monkeypatch.setattr(blocks, "BLOCK_ROWS", rows)
        for replicate in range(3):
            samples = Drawn(InMemory(oracle, base), 0, replicate)
            assert math.fsum(samples.gather(lambda block: float(block.base.sum()))) == pytest.approx(1.0, rel=1e-12)
            assert samples.facts.count < ROWS
            draws = samples._draw.draws
            assert sum(draws.values()) == ROWS


VALUES: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "random": lambda rng, n: rng.normal(size=n),
    "all equal": lambda _, n: np.full(n, 0.3),
    "few distinct": lambda rng, n: rng.integers(0, 4, n) / 7.0,
    "wide": lambda rng, n: np.exp(rng.uniform(-600.0, 600.0, n)),
    "both signs, wide": lambda rng, n: rng.choice([-1.0, 1.0], n) * np.exp(rng.uniform(-300.0, 300.0, n)),
    "one far away": lambda rng, n: np.append(rng.normal(size=n - 1), 1e300),
    "neighbours": lambda rng, n: 1.0 + np.asarray(rng.integers(0, 9, n) * 2.0**-52, dtype=np.float64),
    "subnormal": lambda rng, n: np.asarray(rng.integers(0, 9, n) * 5e-324, dtype=np.float64),
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("length", [50, 1000])
def test_a_quantile_by_histograms_is_that_of_sorting(kind: str, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreads, "MAX_COLLECTED", 5)
    monkeypatch.setattr(blocks, "BLOCK_ROWS", length)
    rng = np.random.default_rng(8)
    n = 1000
    values = VALUES[kind](rng, n)
    base = rng.integers(1, 5, n) / 4096.0  # sums of them are exact
    samples = InMemory(AtomsOracle(np.arange(n), values, np.zeros(n), {}), base)

    def pairs(block: Block) -> Pairs:
        return block.losses, block.base

    for spread in (SampleSpread(samples, pairs), ArraySpread(values, base)):
        assert (spread.low, spread.high) == (values.min(), values.max())
        for part in (0.0, 0.1, 0.5, 0.999, 1.0):
            target = part * float(base.sum())
            value, below, mass = spread.narrowed(lambda _, at=target: at, spread.low, spread.high).first(target)  # type: ignore[misc]  # a default binds the target now
            order = np.argsort(values, kind="stable")
            reached = np.cumsum(base[order])
            first = float(values[order][int(np.searchsorted(reached, target))])
            assert value == first
            assert below == base[values < first].sum()
            assert mass == base[values == first].sum()


def test_values_that_are_infinite_are_left_out_by_their_mask() -> None:
    """As the ties of samples that do not go over, which have none."""
    values = np.array([0.0, 1.0, INF, 2.0, -INF, 3.0])
    base = np.full(6, 0.25)
    finite = ArraySpread(values, base).mapped(lambda v, b: (v[np.isfinite(v)], b[np.isfinite(v)]))
    assert (finite.low, finite.high) == (0.0, 3.0)
    assert finite.narrowed(lambda _: 0.5, finite.low, finite.high).first(0.5) == (1.0, 0.25, 0.25)


@pytest.mark.parametrize("rows", [7, 64, WHOLE])
@pytest.mark.parametrize("share", [0.1, 0.35, 0.4, 1.0])
def test_the_worst_share_where_losses_tie_across_blocks(rows: int, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worst share in closed form: losses sorted, the last of them taken in part."""
    monkeypatch.setattr(blocks, "BLOCK_ROWS", rows)
    monkeypatch.setattr(spreads, "MAX_COLLECTED", 3)
    losses = np.random.default_rng(9).integers(0, 5, 300).astype(float)
    base = np.full(300, 1.0 / 300)
    ordered = np.sort(losses)[::-1]
    taken = np.diff(np.minimum(np.arange(301) / 300, share))
    problem = Problem(AtomsOracle(np.arange(300), losses, np.zeros(300), {}), base, 4.5, INF, 1.0, CVaR(share))
    assert problem.reachable == pytest.approx(float(taken @ ordered) / share, rel=1e-12)


def test_samples_that_are_many_remember_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond so many rows a round works out again what the last one had; the bits are the same."""
    risk = threshold("logistic", 0.3)
    for divergence in DIVERGENCES:
        kept = solved("logistic", risk, (1.0, 0.25), divergence, rows=64)
        monkeypatch.setattr(blocks, "MAX_ROWS_KEPT", 10)
        anew = solved("logistic", risk, (1.0, 0.25), divergence, rows=64)
        monkeypatch.undo()
        np.testing.assert_array_equal(anew.numbers, kept.numbers)


def test_chi_square_finds_its_shift_from_any_blocks() -> None:
    """The weights of chi-square sum to one, block by block, where most of them are zero."""
    for rows in (7, 64, WHOLE):
        found = solved("squared", threshold("squared", 3.0), (INF, 1e-3), ChiSquare(), rows=rows)
        assert np.count_nonzero(found.q.weights == 0.0) > ROWS / 2
        assert found.q.base @ found.q.weights == pytest.approx(1.0, rel=1e-10)
