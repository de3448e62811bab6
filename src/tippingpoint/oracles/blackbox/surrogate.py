r"""An additive model of a score, fitted to probes of single features, and its best response.

Around a place `z` the score is taken to be :math:`v(z) + \sum_f \Delta_f`, where :math:`\Delta_f` is linear between the probes
of a line and a table for a choice. At a multiplier :math:`\mu` every feature then goes, on its own, where
:math:`2\mu \Delta_f - cost_f` is largest. For linear models this is the exact curve of best responses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.oracles.blackbox.axes import Choice, Line

BEYOND = 8.0
"""How far beyond the outermost probe, in lengths of what was probed, a line is prolonged."""

HALVINGS = 26
"""Bisections, in logarithms, for the multiplier of a push."""


@dataclass(frozen=True)
class Slope:
    """A line's probes: `(n, S)` positions in order, and the score's change at each, from where the rows are now."""

    line: Line
    home: FloatArray
    at: FloatArray
    change: FloatArray

    @classmethod
    def sorted(cls, line: Line, home: FloatArray, at: FloatArray, change: FloatArray) -> Slope:
        """From probes in any order."""
        order = np.argsort(at, axis=1, kind="stable")
        return cls(line, home, np.take_along_axis(at, order, axis=1), np.take_along_axis(change, order, axis=1))

    def best(self, multiplier: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Position and change of the score where `2μΔ - cost` is largest."""
        left, right = self.at[:, :-1], self.at[:, 1:]
        low, high = left.copy(), right.copy()
        first, last = np.minimum(self.home, left[:, 0]), np.maximum(self.home, right[:, -1])
        low[:, 0], high[:, -1] = first - BEYOND * (last - first), last + BEYOND * (last - first)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(right > left, (self.change[:, 1:] - self.change[:, :-1]) / (right - left), 0.0)
            place = np.clip(self.home[:, None] + multiplier[:, None] * slope / self.line.price, low, high)
            change = self.change[:, :-1] + slope * (place - left)
            worth = 2.0 * multiplier[:, None] * change - self.line.price * np.square(place - self.home[:, None])
        chosen = np.argmax(np.where(np.isnan(worth), -np.inf, worth), axis=1)
        rows = np.arange(len(chosen))
        return place[rows, chosen], change[rows, chosen]


@dataclass(frozen=True)
class Table:
    """A choice's probes: `(n, K)` costs from home, infinite where not allowed, and changes of the score."""

    choice: Choice
    cost: FloatArray
    change: FloatArray

    def best(self, multiplier: FloatArray) -> tuple[IntArray, FloatArray]:
        worth = 2.0 * multiplier[:, None] * self.change - self.cost
        chosen = np.argmax(np.where(np.isnan(worth), -np.inf, worth), axis=1)
        return chosen, self.change[np.arange(len(chosen)), chosen]


@dataclass(frozen=True)
class Surrogate:
    """The additive model of some rows.

    Attributes
    ----------
    start
        The rows at the place it was fitted at.
    home
        The rows as they are in the data: where costs are counted from.
    slopes, tables
        Its parts.
    """

    start: FloatArray
    home: FloatArray
    slopes: Sequence[Slope]
    tables: Sequence[Table]

    def respond(self, multiplier: FloatArray) -> FloatArray:
        """Where the rows go at these multipliers."""
        places = self.start.copy()
        for slope in self.slopes:
            slope.line.put(places, slope.line.snapped(self.home, slope.best(multiplier)[0]))
        for table in self.tables:
            table.choice.put(places, table.best(multiplier)[0])
        return places

    def push(self, multiplier: FloatArray) -> FloatArray:
        """By how much that changes the score, if the model is right."""
        changes = [*(slope.best(multiplier)[1] for slope in self.slopes), *(table.best(multiplier)[1] for table in self.tables)]
        return np.asarray(np.sum(changes, axis=0))

    def compliance(self) -> FloatArray:
        """About how far the score is pushed by a unit of the multiplier."""
        total = np.zeros(len(self.start))
        for slope in self.slopes:
            cost = slope.line.price * np.square(slope.at - slope.home[:, None])
            total += _efficiency(slope.change, cost)
        for table in self.tables:
            total += _efficiency(table.change, table.cost)
        return total

    def reaching(self, push: FloatArray) -> FloatArray:
        """The multipliers at which the model says that the score is pushed this far; as far as it gets where it never is."""
        with np.errstate(divide="ignore", invalid="ignore"):
            start = np.log(np.maximum(push, 0.0) / self.compliance())
        start = np.where(np.isfinite(start), start, 0.0)  # nothing to push, or nothing that pushes
        low, high = start - 5.0, start + 7.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            enough = self.push(np.exp(middle)) >= push
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.exp(high)


def _efficiency(change: FloatArray, cost: FloatArray) -> FloatArray:
    """The largest `Δ²/cost` of a feature: the compliance of a linear score."""
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.where((change > 0.0) & (cost > 0.0) & np.isfinite(cost), np.square(change) / cost, 0.0)
    return np.asarray(worth.max(axis=1, initial=0.0))
