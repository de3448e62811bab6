r"""The stability without the noise of repeated answers.

The best alternative by the means of `m` noisy answers is the best by luck in part, so `R_m` is too low on average. Half of
the runs show how much: let `R_{m/2}` be the stability of the samples with each half of their runs in turn. Where the bias falls
like `1/m`, twice the first minus the second has none left. This can be done to the value of the dual, or to the dual itself:

.. math:: R_{low} = 2 \max_h g_m(h) - \max_h g_{m/2}(h), \qquad R_{high} = \max_h\,[2 g_m(h) - g_{m/2}(h)].

The second is never below the first. In simulations (`benchmarks/repeats.py`) the first is too low on average and the second too
high; with eight runs or more they hardly differ. The corrected stability is their mean. Half their distance is what is not
known of the remaining bias.

Every sample adds to both by one number, by the envelope theorem. Answers of different samples are independent, so the spread of
these numbers is the error that contains both: sampling of the samples, and of their answers.

Outcomes may have different numbers of runs. With `m_j` runs of outcome `j`, and halves of `s_j`, the factor 2 becomes
:math:`1 + \overline{1/m_j} / (\overline{1/s_j} - \overline{1/m_j})`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.blocks import Block
from tippingpoint.core.dual import Solution, Status, solve
from tippingpoint.core.inference import influence
from tippingpoint.core.oracle import Corrected
from tippingpoint.core.perturbations import Evaluation, Terms
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import Restricted
from tippingpoint.families.table.held_out import FoldOracle
from tippingpoint.families.table.runs import Runs

MAX_STRETCH = 2.0
"""Largest factor by which the difference of both levels is extrapolated.

It is 1 if all outcomes have an even number of runs, and 2 if they have two but for a third of them that has one.
"""

MAX_ALTERNATIVES = 500_000
"""Alternatives of all cuts together, up to which more cuts of the runs are averaged: each makes the error a little smaller."""

OUTWARD = 1.25
"""From one price to the next, while the slope of the extrapolated dual is positive."""

MAX_OUTWARD = 120
"""Such steps: prices rise by a factor of 4e11."""

TINY = 1e-14
"""Relative width of the price at which the search for the extrapolated dual's maximum ends."""


@dataclass(frozen=True)
class Cuts:
    """How many runs are taken of every outcome, as all and as its two halves.

    Attributes
    ----------
    runs
        `(m,)` of every outcome.
    first, second
        Runs in its halves; all in both if it was run once.
    share
        Weight of the first half.
    usual
        The most frequent number of `runs`.
    """

    runs: IntArray
    first: IntArray
    second: IntArray
    share: float
    usual: int

    @classmethod
    def of(cls, counts: IntArray, repeats: int | None = None) -> Cuts:
        """All runs, or at most `repeats` of every outcome."""
        runs = counts if repeats is None else np.minimum(counts, repeats)
        usual = int(np.bincount(runs).argmax())
        share = (usual // 2) / usual if usual > 1 else 0.5
        part = np.clip(np.round(runs * share).astype(np.intp), 1, np.maximum(runs - 1, 1))
        alone = runs == 1
        return cls(runs, np.where(alone, 1, part), np.where(alone, 1, runs - part), share, usual)

    @property
    def stretch(self) -> float:
        """The factor by which the difference of both levels is extrapolated; infinite if no outcome was repeated."""
        whole = float((1.0 / self.runs).mean())
        half = float((self.share / self.first + (1.0 - self.share) / self.second).mean())
        return whole / (half - whole) if half > whole else math.inf


@dataclass(frozen=True)
class Level:
    """Samples with a part of their runs in turn: each sample stands here several times.

    Attributes
    ----------
    oracle
        Best responses of all of them.
    owner
        Which sample each of them is.
    share
        The part of its weight that each has.
    """

    oracle: FoldOracle
    owner: IntArray
    share: FloatArray

    @classmethod
    def of(cls, sample: IntArray, cost: FloatArray, parts: list[tuple[FloatArray, float]]) -> Level:
        """From mean losses of the alternatives by different runs, and the share of each such part."""
        count = int(sample.max()) + 1
        copies = np.concatenate([sample + k * count for k in range(len(parts))])
        oracle = FoldOracle(copies, np.concatenate([means for means, _ in parts]), np.tile(cost, len(parts)), {})
        return cls(oracle, np.tile(np.arange(count), len(parts)), np.repeat([share for _, share in parts], count))

    def asked(self, problem: Problem, base: FloatArray) -> Problem:
        """The question of these samples, those without weight left out."""
        weights = base[self.owner] * self.share
        if base.all():
            return replace(problem, responses=self.oracle, base=weights)
        drawn = np.flatnonzero(weights)
        return replace(problem, responses=Restricted(self.oracle, drawn), base=weights[drawn])

    def by_sample(self, values: FloatArray) -> FloatArray:
        """The mean over the copies of every sample."""
        return np.asarray(np.bincount(self.owner, weights=self.share * values), dtype=float)


@dataclass(frozen=True)
class TableCorrector:
    """The corrected stability of a table, by the weights of its samples."""

    problem: Problem
    whole: Level
    half: Level
    stretch: float
    repeats: int

    def __call__(self, base: FloatArray) -> Corrected | None:
        whole, half = (level.asked(self.problem, base) for level in (self.whole, self.half))
        one, other = solve(whole), solve(half)
        if Status.UNREACHABLE in (one.status, other.status):
            return None
        low = self._extrapolated(_cost(one), _cost(other))
        if one.status != Status.ATTAINED or other.status != Status.ATTAINED:
            return Corrected(low, low, np.full(len(base), math.nan), self.repeats, low)
        with np.errstate(all="ignore"):  # what is not a number counts as out of reach
            price = self._best_price(whole, half, one)
            high = math.inf
            if math.isfinite(price):
                found = self._extrapolated(whole.evaluate(price).value, half.evaluate(price).value)
                high = max(found, low) if math.isfinite(found) else math.inf
            effects = self._effects(whole, half, (one, other), price) if base.all() else np.full(len(base), math.nan)
        return Corrected(low, high, effects, self.repeats, 0.5 * (low + high))

    def _extrapolated(self, whole: float, half: float) -> float:
        return whole + self.stretch * (whole - half)

    def _best_price(self, whole: Problem, half: Problem, solution: Solution) -> float:
        """Where the extrapolated dual is largest; infinite if it rises without end."""
        from scipy.optimize import brentq

        if self._extrapolated(whole.reachable, half.reachable) <= whole.risk:
            return math.inf

        def excess(price: float) -> float:
            return self._extrapolated(whole.evaluate(price).excess, half.evaluate(price).excess)

        low = high = solution.right.price
        if excess(low) >= 0.0:  # answers do not differ
            return low
        for _ in range(MAX_OUTWARD):
            low, high = high, high * OUTWARD
            if excess(high) >= 0.0:
                return float(brentq(excess, low, high, xtol=TINY * high, rtol=TINY))
        return math.inf

    def _effects(self, whole: Problem, half: Problem, solutions: tuple[Solution, Solution], price: float) -> FloatArray:
        """Of every sample on the mean of both extrapolations."""
        of_low = self._extrapolated_each(influence(whole, solutions[0]), influence(half, solutions[1]))
        if math.isinf(price):
            return of_low
        effects = []
        for problem in (whole, half):
            effect = problem.samples.joined(partial(_effect, problem.evaluate(price), problem.terms))
            effects.append(float(problem.base @ effect) - effect)
        return 0.5 * (of_low + self._extrapolated_each(*effects))

    def _extrapolated_each(self, whole: FloatArray, half: FloatArray) -> FloatArray:
        one, other = self.whole.by_sample(whole), self.half.by_sample(half)
        return np.asarray(one + self.stretch * (one - other))


def corrector(
    problem: Problem, runs: Runs, sample: IntArray, cost: FloatArray, repeats: int | None = None
) -> TableCorrector | None:
    """How a question of a table is corrected; None if too few of its outcomes were repeated."""
    cuts = Cuts.of(runs.counts, repeats)
    stretch = cuts.stretch
    if stretch > MAX_STRETCH:
        return None
    windows = 1
    if repeats is not None:
        most = max(MAX_ALTERNATIVES // runs.alternatives, 1)
        windows = min(-(-usual(runs.counts) // cuts.usual), most)
    kept = _single_originals(sample, cost)
    whole, half = list[tuple[FloatArray, float]](), list[tuple[FloatArray, float]]()
    for k in range(windows):
        start = k * cuts.runs
        both = (
            runs.window(start, cuts.runs),
            runs.window(start, cuts.first),
            runs.window(start + cuts.runs - cuts.second, cuts.second),
        )
        whole.append((both[0][kept], 1.0 / windows))
        half += [(both[1][kept], cuts.share / windows), (both[2][kept], (1.0 - cuts.share) / windows)]
    sample, cost = sample[kept], cost[kept]
    return TableCorrector(problem, Level.of(sample, cost, whole), Level.of(sample, cost, half), stretch, cuts.usual)


def noise_known(runs: Runs) -> bool:
    """Whether enough outcomes were repeated to correct for the noise of the answers."""
    return Cuts.of(runs.counts).stretch <= MAX_STRETCH


def usual(counts: IntArray) -> int:
    """How often most outcomes were run; of a table in which some were run once, how often most of the others were."""
    several = counts[counts > 1]
    return int(np.bincount(several if len(several) else counts).argmax())


def _single_originals(sample: IntArray, cost: FloatArray) -> IntArray:
    """The alternatives with one original per sample: several may be given, and their runs need not agree."""
    original = np.flatnonzero(cost == 0.0)
    _, first = np.unique(sample[original], return_index=True)
    kept = cost > 0.0
    kept[original[first]] = True
    return np.flatnonzero(kept)


def _effect(found: Evaluation, terms: Terms, block: Block) -> FloatArray:
    """Minus the influence of the samples of a block on the dual, but for what is common to all."""
    return found.of(terms, block).influence


def _cost(solution: Solution) -> float:
    """What the perturbation that reaches the threshold costs."""
    return (1.0 - solution.share) * solution.left.cost + solution.share * solution.right.cost
