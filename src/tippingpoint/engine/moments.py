r"""Means and standard deviations of columns over all partitions, merged pairwise.

Two parts of masses :math:`m_a, m_b` and shares :math:`f = m/(m_a+m_b)` have together (Chan, Golub and LeVeque)
:math:`\mu = f_a\mu_a + f_b\mu_b` and :math:`\sigma^2 = f_a\sigma_a^2 + f_b\sigma_b^2 + f_a f_b(\mu_a-\mu_b)^2`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.engine.rows import Look
from tippingpoint.space.scaling import deviation

HUGE = 2.0**1000
"""Numbers beyond which distances between two of them may be none."""


@dataclass(frozen=True)
class Moments:
    """Of every column, what is not missing of rows of positive weight.

    Attributes
    ----------
    mass
        Weight of these rows, in units of `peak`.
    centre, rest
        Their weighted mean is the sum of both: a value of the column, exactly, and the mean distance from it. Columns far from
        zero keep their digits that way.
    spread
        Their standard deviation; NaN of nothing.
    low, high
        Their least and largest value; NaN of nothing.
    peak
        The largest weight of a row: weights may be too large to be summed as they are.
    """

    mass: FloatArray
    centre: FloatArray
    rest: FloatArray
    spread: FloatArray
    low: FloatArray
    high: FloatArray
    peak: float

    @classmethod
    def extremes(cls, looked: Look, peak: float) -> Moments:
        """The least and the largest values alone, where nobody measures in spreads."""
        unknown = np.full(len(looked.low), np.nan)
        return cls(np.ones(len(looked.low)), np.zeros(len(looked.low)), unknown, unknown, looked.low, looked.high, peak)

    @classmethod
    def of(cls, x: FloatArray, weight: FloatArray, peak: float) -> Moments:
        """Of the rows of a partition, whose positive weights are in units of `peak`."""
        if not len(x):
            nothing = np.full(x.shape[1], np.nan)
            return cls(np.zeros(x.shape[1]), np.zeros(x.shape[1]), nothing, nothing, nothing, nothing, peak)
        held = ~np.isnan(x)
        mass = np.einsum("i,ij->j", weight, held)
        base = weight / weight.sum()
        share = np.einsum("i,ij->j", base, held)
        low, high = np.fmin.reduce(x, axis=0), np.fmax.reduce(x, axis=0)
        centre = np.where(np.fmax(np.abs(low), np.abs(high)) < HUGE, low, 0.0)
        away = x - centre
        with np.errstate(invalid="ignore"):
            rest = np.einsum("i,ij->j", base, np.where(held, away, 0.0)) / share
        return cls(mass, centre, rest, np.where(mass > 0.0, deviation(away, base), np.nan), low, high, peak)

    def joined(self, other: Moments) -> Moments:
        """Of the rows of both."""
        peak = max(self.peak, other.peak)
        mine, its = (each.mass * (each.peak / peak if peak > 0.0 else 1.0) for each in (self, other))
        mass = mine + its
        only, others = mine == 0.0, its == 0.0
        with np.errstate(invalid="ignore", divide="ignore"):
            f, g = mine / mass, its / mass
            apart = (other.centre - self.centre) + (other.rest - self.rest)
            rest = self.rest + g * apart
            # In units of the largest of the three: squares of very large and very small numbers are none.
            unit = np.maximum(np.maximum(self.spread, other.spread), np.abs(apart))
            unit = np.where(unit > 0.0, unit, 1.0)
            square = f * np.square(self.spread / unit) + g * np.square(other.spread / unit) + f * g * np.square(apart / unit)
            spread = unit * np.sqrt(square)
        centre, rest, spread = (
            np.where(others, a, np.where(only, b, both))
            for a, b, both in (
                (self.centre, other.centre, self.centre),
                (self.rest, other.rest, rest),
                (self.spread, other.spread, spread),
            )
        )
        return Moments(mass, centre, rest, spread, np.fmin(self.low, other.low), np.fmax(self.high, other.high), peak)

    @property
    def mean(self) -> FloatArray:
        """The weighted mean; NaN of nothing."""
        return np.asarray(self.centre + self.rest)

    @property
    def deviation(self) -> FloatArray:
        """The standard deviation, exactly zero for a constant column and for one of nothing."""
        return np.where(self.low < self.high, self.spread, 0.0)
