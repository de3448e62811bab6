r"""The stability held out: alternatives and weights are chosen on some of the runs, and their risk is taken on the others.

Let the runs be in `K` folds. Without fold `f` the mean losses are :math:`A_f`, and within it :math:`B_f`. Let :math:`Q_f(\rho)`
be the most sensitive distribution of the losses :math:`A_f` at the threshold :math:`\rho`: which alternative each sample goes
to, which part of it, and with what weight. What that costs, :math:`R_{A_f}(\rho)`, has no noise in it, and its risk on runs
that had no part in choosing it, :math:`E_{Q_f(\rho)}[W B_f]`, has the right mean. The number is

.. math:: R_{held} = \frac1K \sum_f R_{A_f}(\rho^*), \qquad
   \rho^*:\ \frac1K \sum_f E_{Q_f(\rho^*)}[W B_f] = r .

So it is what a perturbation costs whose risk is `r`, but for sampling error, by losses that are not lucky. The stability of the
mean losses is too low on average, as they are maximised over (`e_i` is convex in them); this one is too high on average, by
what it costs to choose from fewer runs. The corrected stability (`tippingpoint.families.table.repeats`) lies between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, total
from tippingpoint.core.atoms import AtomsOracle
from tippingpoint.core.dual import ROUNDING, solve
from tippingpoint.core.problem import Problem
from tippingpoint.core.sensitive import sensitive_distribution
from tippingpoint.families.table.runs import MAX_FOLDS, Runs

UPWARD = 10
"""Steps to the largest threshold, each twice as long as the one before, in which one is looked for that is high enough."""

MAX_STEPS = 60
"""Of the search between two thresholds; ten are usual."""

CLOSE = 1e-11
"""Part of the rise in risk by which the risk held out may miss the threshold."""


@dataclass(frozen=True)
class Fold:
    """The question of some of the runs, and the losses of the others.

    Attributes
    ----------
    problem
        Of the losses that alternatives are chosen by.
    oracle
        Whose alternatives these are.
    held
        Losses of the alternatives that they are priced by.
    """

    problem: Problem
    oracle: FoldOracle
    held: FloatArray

    def at(self, threshold: float) -> tuple[float, float]:
        """What the perturbation chosen for a threshold costs, and its risk on the runs held out."""
        asked = replace(self.problem, risk=min(threshold, self.problem.reachable))
        q = sensitive_distribution(asked, solve(asked))
        prices = q.prices
        chosen = np.where(q.right, self.oracle.chosen(prices[1])[q.sample], self.oracle.chosen(prices[0])[q.sample])
        return q.total_cost, total(q.mass, self.held[chosen])


class FoldOracle(AtomsOracle):
    """The alternatives as some of the runs show them."""

    exact = True
    certificate = "exact over the mean losses of some of the runs"
    unit = "cost"


def fold_count(runs: Runs, cost: FloatArray) -> int:
    """In how many folds runs can be held out: as many as the originals were run, and at most `MAX_FOLDS`."""
    return min(int(runs.counts[cost == 0.0].min()), MAX_FOLDS)


def held_out(problem: Problem, runs: Runs, sample: IntArray, cost: FloatArray) -> float | None:
    """The stability chosen on some of the runs and priced on the others; None where an original was run once only."""
    count = fold_count(runs, cost)
    if count < 2:
        return None
    if problem.wanted <= ROUNDING * max(problem.samples.facts.size, abs(problem.risk)):
        return 0.0
    folds = [_fold(problem, sample, cost, chosen, held) for chosen, held in runs.folds(count)]

    def at(threshold: float) -> tuple[float, float]:
        found = np.array([fold.at(threshold) for fold in folds])
        return float(found[:, 0].mean()), float(found[:, 1].mean())

    return _crossing(at, folds, problem.risk, problem.wanted)


def _fold(problem: Problem, sample: IntArray, cost: FloatArray, chosen: FloatArray, held: FloatArray) -> Fold:
    """The question of one fold: of alternatives that have runs inside and outside, and one original a sample."""
    offered = np.isfinite(chosen) & np.isfinite(held)
    original = np.flatnonzero(offered & (cost == 0.0))
    _, first = np.unique(sample[original], return_index=True)
    offered[original] = False
    offered[original[first]] = True
    oracle = FoldOracle(sample[offered], chosen[offered], cost[offered], {})
    return Fold(replace(problem, responses=oracle), oracle, held[offered])


def _crossing(at: Callable[[float], tuple[float, float]], folds: list[Fold], risk: float, wanted: float) -> float:
    """The mean cost at the threshold from which on the risk held out is at least `risk`; infinite where none is enough."""
    low, high = min(fold.problem.current for fold in folds), risk
    cost, reached = at(high)
    if reached < risk:
        top = max(fold.problem.reachable for fold in folds)
        for step in range(UPWARD + 1):
            low, high = high, risk + (top - risk) * 2.0 ** (step - UPWARD) if math.isfinite(top) else risk + wanted * 2.0**step
            cost, reached = at(high)
            if reached >= risk:
                break
        else:
            return math.inf
    return _between(at, low, (high, cost, reached), risk, CLOSE * wanted)


def _between(
    at: Callable[[float], tuple[float, float]], low: float, above: tuple[float, float, float], risk: float, close: float
) -> float:
    """The cost where the risk held out passes the threshold: regula falsi, as Illinois has it."""
    high, cost, reached = above
    beneath, over = at(low)[1] - risk, reached - risk
    if beneath >= 0.0:  # from the start, by chance
        return at(low)[0]
    last = 1
    for _ in range(MAX_STEPS):
        if abs(reached - risk) <= close:
            break
        middle = (low * over - high * beneath) / (over - beneath)
        if not low < middle < high:
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
        cost, reached = at(middle)
        side = 1 if reached >= risk else -1
        if side > 0:
            high, over, beneath = middle, reached - risk, 0.5 * beneath if side == last else beneath
        else:
            low, beneath, over = middle, reached - risk, 0.5 * over if side == last else over
        last = side
    return cost
