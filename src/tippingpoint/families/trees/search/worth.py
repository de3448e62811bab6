"""What the score of a side is worth at a price, and straight lines that it never exceeds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.families.trees.search.pushing import Kind, ScoreLoss

GRID = 257
"""Scores at which a loss that is not convex is looked at: between two of them it is no larger than at the higher."""

ZOOMS = 3
"""How often the stretch in which a loss passes a value is divided by the grid: to a part in ten million."""


@dataclass(frozen=True)
class Ceiling:
    """`offset + slope·score`, which no score is worth more than."""

    slope: float
    offset: float

    def __call__(self, score: float) -> float:
        return self.offset + self.slope * score


@dataclass(frozen=True)
class Worth:
    """`price·(loss(score) - now)`, which never falls; of the 0/1 loss nothing for an error, and no error is of no worth.

    Attributes
    ----------
    loss
        Of the score.
    price
        Of a unit of loss.
    now
        The loss as it is.
    """

    loss: ScoreLoss
    price: float
    now: float

    @property
    def crossing(self) -> bool:
        """Whether only the sign of the score matters."""
        return self.loss.kind is Kind.STEP

    def __call__(self, score: FloatArray) -> FloatArray:
        if self.crossing:
            return np.where(score >= 0.0, 0.0, -math.inf)
        with np.errstate(over="ignore"):
            return np.asarray(self.price * (self.loss.value(score) - self.now))

    def at(self, score: float) -> float:
        """Of one score."""
        return float(self(np.array(score)))

    @property
    def bends(self) -> float:
        """The score up to which the loss is convex: some are kept from growing without end."""
        if self.loss.kind is Kind.LINKED:
            return -math.inf
        if self.loss.kind is Kind.ODDS:
            return 1.0 - self.loss.numbers[0]
        return self.loss.numbers[len(self.loss.numbers) // 2 - 1] if self.loss.kind is Kind.TABLE else math.inf

    def passes(self, value: float, low: float, high: float) -> float:
        """A score between two, close to the last that is worth no more than `value`, and never beyond it."""
        if self.crossing:
            return min(max(0.0, low), high)
        for _ in range(ZOOMS):
            grid = np.linspace(low, high, GRID)
            over = int(np.searchsorted(self(grid) > value, True))  # noqa: FBT003 - worth never falls: first False, then True
            low, high = float(grid[max(over - 1, 0)]), float(grid[min(over, GRID - 1)])
        return low

    def ceilings(self, low: float, high: float) -> tuple[Ceiling, ...]:
        """Between two scores: of a convex loss the chord, exact at its ends; else a level, exact at the right, and a slope."""
        if self.crossing:
            return (Ceiling(0.0, 0.0),)
        bottom, top = self.at(low), self.at(high)
        slope = max(top - bottom, 0.0) / (high - low) if high > low else 0.0
        if high <= self.bends:
            return (Ceiling(slope, top - slope * high),)
        grid = np.linspace(low, high, GRID)
        highest = float((self(grid[1:]) - slope * grid[:-1]).max())
        return (Ceiling(0.0, top), Ceiling(slope, highest))
