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

from tippingpoint.core.arrays import FloatArray, dot
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

LEAST_START = 1e-12
"""Weights to start from, at least."""


@dataclass(frozen=True)
class Ramps:
    """The quantile function of atoms, rising from one to the next over part of their masses."""

    levels: FloatArray
    values: FloatArray

    def at(self, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`Q` and `Q'`."""
        after = np.clip(np.searchsorted(self.levels, mass), 1, len(self.levels) - 1)
        low, high = self.levels[after - 1], self.levels[after]
        floor, rise = self.values[after - 1], self.values[after] - self.values[after - 1]
        within = (mass >= low) & (mass <= high) & (high > low)
        slope = np.divide(rise, high - low, out=np.zeros_like(rise), where=within)
        beyond = floor + np.where(mass > high, rise, 0.0)
        return np.where(within, floor + slope * (mass - low), beyond), slope


def ramps(target: Atoms, blur: float) -> Ramps:
    """`Q` with ramps over the part `blur` of the lighter neighbour, half of it on either side."""
    ends = np.cumsum(target.masses)[:-1]
    half = 0.5 * blur * np.minimum(target.masses[1:], target.masses[:-1])
    levels, values = np.empty(2 * len(ends)), np.empty(2 * len(ends))
    levels[::2], levels[1::2] = ends - half, ends + half
    values[::2], values[1::2] = target.values[:-1], target.values[1:]
    return Ramps(levels, values)


def reweighted(
    source: Atoms, target: Atoms, price: float, divergence: Divergence, blur: float, start: FloatArray
) -> FloatArray:
    """`a`, the masses of the source that are least in all to pay for; `start` is where to begin."""
    if len(source) == 1 or len(target) == 1:
        return start
    quantiles = ramps(target, blur)
    base = source.masses
    gaps = price * np.diff(source.values)
    sums = source.values[1:] + source.values[:-1]
    entropic = isinstance(divergence, KL)
    barrier = blur * BARRIER

    def slopes(masses: FloatArray, up_to: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        weights = masses / base
        if entropic:
            prices, bends = np.log(weights), 1.0 / masses
        else:
            prices, bends = 2.0 * (weights - 1.0) - barrier / weights, (2.0 + barrier / np.square(weights)) / base
        places, rises = quantiles.at(up_to)
        return prices[:-1] - prices[1:] - gaps * (sums - 2.0 * places), bends, 2.0 * gaps * rises

    masses = np.maximum(start, LEAST_START * base)
    up_to = np.cumsum(masses)[:-1]
    slope, bends, curves = slopes(masses, up_to)
    for _ in range(MAX_STEPS):
        _, _, step, failed = dptsv(bends[1:] + bends[:-1] + curves, -bends[1:-1], -slope)
        change = np.diff(step, prepend=0.0, append=0.0)
        if failed or not np.isfinite(change).all():
            break
        steepest = -float((change / masses).min())
        length = min(1.0, TO_THE_EDGE / steepest) if steepest > 0.0 else 1.0
        descent = -dot(slope, step)
        while True:
            tried, tried_up_to = masses + length * change, up_to + length * step
            found = slopes(tried, tried_up_to)
            along = dot(found[0], step)
            if along <= 0.5 * descent or length < MIN_STEP:
                break
            length *= min(max(descent / (descent + along), 0.1), 0.7)  # where the slope along the step would be none, by a line
        masses, up_to, (slope, bends, curves) = tried, tried_up_to, found
        if length == 1.0 and float(np.abs(change / masses).max()) < SETTLED:
            break
    return masses
