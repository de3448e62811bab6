r"""Standard errors without resampling, and the bootstrap when those are in doubt.

By the envelope theorem the first-order effect of sample i on the stability is its influence

.. math:: \psi_i = -\theta_2 \bigl(\phi^*(s_i) - \textstyle\sum_j p_j \phi^*(s_j)\bigr)

(KL: :math:`-\theta_2(w_i - 1)`; chi-square: :math:`-\theta_2(w_i^2 - \sum p w^2)`; nothing reweighted:
:math:`-(E_i - \sum p E)`), so that :math:`se(R)^2 = \sum p_i^2 \psi_i^2 / (1 - \sum p_i^2)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, total
from tippingpoint.core.blocks import Block, Samples
from tippingpoint.core.drawn import Drawn, DrawnGroups
from tippingpoint.core.dual import Solution, Status
from tippingpoint.core.perturbations import Terms
from tippingpoint.core.problem import Problem
from tippingpoint.errors import InputError

LEVEL = 0.95
"""Of intervals, where nobody asks for another: ±1.96 standard errors."""

NORMAL_FROM = 50.0
"""Effective samples below which the normal interval is not to be trusted."""


def influence(problem: Problem, solution: Solution) -> FloatArray:
    """`ψ_i` of every sample; not a number where the stability is 0, infinite or at the edge of what can be reached."""
    found = Effects(problem.terms, solution)
    effect = problem.samples.joined(found)
    mean = math.fsum(problem.samples.gather(found.mean))
    return np.asarray(-(effect - mean))


@dataclass(frozen=True)
class Effects:
    """Minus the influence of the samples of a block, but for what is common to all."""

    terms: Terms
    solution: Solution

    def __call__(self, block: Block) -> FloatArray:
        solution, share = self.solution, self.solution.share
        if solution.status is not Status.ATTAINED:
            return np.full(len(block), math.nan)
        effect = solution.left.of(self.terms, block).influence
        if share == 0.0:
            return effect
        return np.asarray((1.0 - share) * effect + share * solution.right.of(self.terms, block).influence)

    def mean(self, block: Block) -> float:
        return total(block.base, self(block))


def standard_error(psi: FloatArray, base: FloatArray, groups: IntArray | None = None) -> float:
    """`√(Σ p² ψ² / (1 - Σ p²))`: for equal weights, the standard deviation of the influence over `√n`.

    Samples of one group need not be independent. Then `p ψ` and `p` are summed over every group before they are squared.
    """
    effects, masses = (base * psi, base) if groups is None else (_summed(each, groups) for each in (base * psi, base))
    return error_of(length(effects), float(np.square(masses).sum()))


def effective_groups(mass: FloatArray, groups: IntArray) -> float:
    """`1/Σ_g Q_g²`: how many equally heavy groups the masses of samples amount to."""
    return 1.0 / float(np.square(_summed(mass, groups)).sum())


def _summed(values: FloatArray, groups: IntArray) -> FloatArray:
    return np.asarray(np.bincount(groups, weights=values), dtype=float)


def error_of(root: float, squares: float) -> float:
    """The standard error from `√(Σ p² ψ²)` and `Σ p²`."""
    return root / math.sqrt(1.0 - squares) if squares < 1.0 else math.nan


def length(values: FloatArray) -> float:
    """`√(Σ v²)`, also where the squares are no numbers."""
    largest = float(np.abs(values).max(initial=0.0))
    return largest * math.sqrt(float(np.square(values / largest).sum())) if largest else 0.0


def rows_for(relative: float, value: float, error: float, count: int) -> float:
    r"""`n·(se/R)²/relative²`: rows at which the standard error would be this part of the value.

    The squared standard error is a variance over the number of rows: rows drawn independently, with influences and weights
    that spread as these do. Not a number where value or error is none.
    """
    if not (0.0 < value < math.inf and error >= 0.0):
        return math.nan
    times = error / value / relative
    return count * (times * times)


def normal_margin(error: float, level: float) -> float:
    """Half the width of a two-sided normal interval."""
    return NormalDist().inv_cdf(0.5 + level / 2.0) * error


def corrected_interval(
    value: float, floor: float, error: float, spread: float, level: float, held_out: float = 0.0
) -> tuple[float, float]:
    """A two-sided interval of a stability without the noise of repeats: normal for its square root, and up to `held_out`.

    Extrapolations from few repeats can be too low by more than their distance. The stability held out is too high on average.

    Parameters
    ----------
    value, floor
        The corrected stability, and the same with missing outcomes counted as the largest loss, which the lower end is from.
    error
        Its standard error.
    spread
        How far two extrapolations are from it: the remaining bias counts as evenly distributed between them.
    level
        Of confidence.
    held_out
        The stability chosen on some repeats and priced on the others.
    """
    margin = normal_margin(math.hypot(error, spread / math.sqrt(3.0)), level)
    least, root = math.sqrt(max(floor, 0.0)), math.sqrt(value)
    low = max(least - margin / (2.0 * least), 0.0) if least else 0.0
    return low**2, max((root + margin / (2.0 * root)) ** 2, held_out)


def check_level(level: float) -> None:
    """Refuse a confidence level that is none."""
    if not (isinstance(level, (int, float)) and 0.0 < level < 1.0):
        raise InputError(f"level={level!r} must lie strictly between 0 and 1, as 0.95.")


def resampled(
    stability: Callable[[Drawn | DrawnGroups], float],
    samples: Samples,
    *,
    replicates: int,
    seed: int,
    groups: IntArray | None = None,
) -> FloatArray:
    """Stabilities of rows, or of whole groups of them, drawn with replacement: new weights for the same responses each time."""

    def drawn(replicate: int) -> Drawn | DrawnGroups:
        return Drawn(samples, seed, replicate) if groups is None else DrawnGroups(samples, groups, seed, replicate)

    return np.array([stability(drawn(replicate)) for replicate in range(replicates)])
