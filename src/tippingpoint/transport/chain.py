r"""The drift on a line as a convex chain.

With :math:`A_i = a_1 + \dots + a_i` and the quantile function `Q` of the target,

.. math:: J(A) = \sum_i p_i\, \phi\bigl((A_i - A_{i-1})/p_i\bigr) + \sum_{i<n} W_i(A_i), \qquad
          W_i'(A) = -c\,(x_{i+1} - x_i)\bigl(x_i + x_{i+1} - 2 Q(A)\bigr)

(costs in units of `θ2`): neighbours meet in differences only, so a step of Newton's method is one tridiagonal system. `Q` jumps
between atoms; here it rises from one to the next over a part of their masses, the *blur*, which is then made smaller.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dptsv

from tippingpoint.core.arrays import FloatArray, dot, total
from tippingpoint.core.divergences import KL, Divergence
from tippingpoint.transport.samples import Atoms

MAX_STEPS = 30
"""Of Newton's method at one blur; 2 to 10 are usual."""

SETTLED = 1e-3
"""Largest relative change of a weight in a full step after which the next would be far below any tolerance."""

TO_THE_EDGE = 0.95
"""Part of the way to a weight of zero that a step may go."""

MIN_STEP = 1e-6
"""Part of a step below which nothing is gained."""

BARRIER = 1e-6
"""Of chi-square: `-blur·BARRIER·log w` keeps weights positive on the way."""

LEAST_WEIGHT, LIVE_WEIGHT = 1e-10, 1e-8
"""No weight gets below the first, as none so small matters; those below the second are not waited for."""

STAGE = 8.0
"""How many times as high a price may be as one that was solved, to start from there."""

MAX_ROUNDS = 20
"""Of Newton's method for the constants of stretches; 1 to 4 are usual."""


@dataclass(frozen=True)
class Ramps:
    """The quantile function of atoms, rising from one to the next over part of their masses: ends, and lines before each."""

    levels: FloatArray
    values: FloatArray
    slopes: FloatArray

    def at(self, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`Q` and `Q'`."""
        after = np.searchsorted(self.levels, mass)
        before, slopes = np.maximum(after - 1, 0), self.slopes[after]
        return self.values[before] + slopes * (mass - self.levels[before]), slopes


def ramps(target: Atoms, blur: float) -> Ramps:
    """`Q` with ramps over the part `blur` of the lighter neighbour, half of it on either side."""
    ends = np.cumsum(target.masses)[:-1]
    half = 0.5 * blur * np.minimum(target.masses[1:], target.masses[:-1])
    levels, values = np.empty(2 * len(ends)), np.empty(2 * len(ends))
    levels[::2], levels[1::2] = ends - half, ends + half
    values[::2], values[1::2] = target.values[:-1], target.values[1:]
    widths, slopes = np.diff(levels), np.zeros(len(levels) + 1)
    np.divide(np.diff(values), widths, out=slopes[1:-1], where=widths > 0.0)
    return Ramps(levels, values, slopes)


def slope(divergence: Divergence, weights: FloatArray) -> FloatArray:
    """`φ'(w)` of positive weights."""
    return np.log(weights) if isinstance(divergence, KL) else 2.0 * (weights - 1.0)


def stages(source: Atoms, price: float) -> list[float]:
    """Prices to be solved one after the other up to `price`, from one at which moving and reweighting cost about the same."""
    mean = total(source.masses, source.values)
    spread = total(source.masses, np.square(source.values - mean))
    last, first = price, 1.0 / spread if spread > 0.0 else price
    found = [last]
    while last > STAGE * first:
        last /= STAGE
        found.append(last)
    return found[::-1]


def reweighted(
    source: Atoms, target: Atoms, price: float, divergence: Divergence, blur: float, start: FloatArray
) -> FloatArray:
    """`a`, the masses of the source for which `J` is least; `start` is where to begin."""
    if len(source) == 1 or len(target) == 1:
        return start
    quantiles = ramps(target, blur)
    base = source.masses
    gaps = price * np.diff(source.values)
    sums = source.values[1:] + source.values[:-1]
    entropic = isinstance(divergence, KL)
    barrier = blur * BARRIER

    def slopes(masses: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        weights = masses / base
        if entropic:
            prices, bends = np.log(weights), 1.0 / masses
        else:
            prices, bends = 2.0 * (weights - 1.0) - barrier / weights, (2.0 + barrier / np.square(weights)) / base
        places, rises = quantiles.at(np.cumsum(masses)[:-1])
        return prices[:-1] - prices[1:] - gaps * (sums - 2.0 * places), bends, 2.0 * gaps * rises

    floor, live = LEAST_WEIGHT * base, LIVE_WEIGHT * base
    masses = np.maximum(start, floor)
    masses /= float(np.add.reduce(masses))
    downhill, bends, curves = slopes(masses)
    for _ in range(MAX_STEPS):
        beside = -bends[1:-1] if len(base) > 2 else np.zeros(1)  # LAPACK wants one where there is none
        _, _, step, failed = dptsv(bends[1:] + bends[:-1] + curves, beside, -downhill)
        change = np.diff(step, prepend=0.0, append=0.0)
        if failed or not np.isfinite(change).all():
            break
        relative = (change / masses)[masses > live]
        steepest = -float(relative.min())
        length = min(1.0, TO_THE_EDGE / steepest) if steepest > 0.0 else 1.0
        descent = -dot(downhill, step)
        least = np.maximum((1.0 - TO_THE_EDGE) * masses, floor)
        while True:
            tried = np.maximum(masses + length * change, least)
            tried /= float(np.add.reduce(tried))
            found = slopes(tried)
            along = dot(found[0], step)
            if along <= 0.5 * descent or length < MIN_STEP:
                break
            length *= min(
                max(descent / (descent + along), 0.1), 0.7
            )  # to where the slope along the step would be none, by a line
        masses, (downhill, bends, curves) = tried, found
        if length == 1.0 and float(np.abs(relative).max()) < SETTLED:
            break
    return masses


def unblurred(
    source: Atoms, target: Atoms, price: float, divergence: Divergence, blur: float, masses: FloatArray
) -> FloatArray:
    """Potentials as if `Q` jumped where masses lie on ramps, and stood still elsewhere: exact where that is the truth.

    An `A_i` on the ramp between two target atoms is the mass of those up to the first of them; between two such places the
    differences of potentials are known, and the mass of the stretch gives the constant.
    """
    ends = np.cumsum(target.masses)[:-1]
    half = 0.5 * blur * np.minimum(target.masses[1:], target.masses[:-1])
    up_to = np.cumsum(masses)[:-1]
    at = np.searchsorted(ends, up_to)
    near = np.stack((np.maximum(at - 1, 0), np.minimum(at, len(ends) - 1)))
    on = np.abs(up_to - ends[near]) <= half[near]
    jumps = on.any(axis=0)
    rises = price * np.diff(source.values) * (source.values[1:] + source.values[:-1] - 2.0 * target.values[at])
    shape = np.concatenate(([0.0], np.cumsum(np.where(jumps, 0.0, rises))))
    starts = np.concatenate(([0], np.flatnonzero(jumps) + 1))
    marks = np.where(on[0], ends[near[0]], ends[near[1]])[jumps]
    wanted = np.maximum(np.diff(marks, prepend=0.0, append=1.0), np.finfo(float).tiny)
    stretch = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(shape)))
    held = np.add.reduceat(masses, starts)
    constants = -np.add.reduceat(masses * (shape + slope(divergence, masses / source.masses)), starts) / held
    for _ in range(MAX_ROUNDS):
        scores = -(shape + constants[stretch])
        excess = np.add.reduceat(source.masses * divergence.weights(scores), starts) - wanted
        steep = np.add.reduceat(source.masses * divergence.stiffness(scores), starts)
        rounds = np.divide(excess, steep, out=np.full(len(starts), -1.0), where=steep > 0.0)
        constants = constants + rounds
        if float(np.abs(rounds).max()) <= np.finfo(float).eps * float(np.abs(constants).max()):
            break
    return np.asarray(shape + constants[stretch])
