r"""An additive model of a score, fitted to probes of single features, and its best response.

Around a place `z` the score is taken to be :math:`v(z) + \sum_f \Delta_f`, where :math:`\Delta_f` is linear between the probes
of a line and a table for a choice. At a multiplier :math:`\mu` every feature then goes, on its own, where
:math:`2\mu \Delta_f - cost_f` is largest. For linear models this is the exact curve of best responses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.query.axes import Choice, Line

PROLONGATION = 8.0
"""How far beyond the outermost probe, in lengths of what was probed, a line is prolonged."""

OUTWARD_STEPS = 0.499
"""Part of a step by which a position that has to be reached is rounded outwards."""

HALVINGS = 26
"""Bisections, in logarithms, for the multiplier of a push."""


class Part(Protocol):
    """What is known of one feature."""

    def best(self, multiplier: FloatArray) -> tuple[Any, FloatArray]:
        """Where `2μΔ - cost` is largest, and `Δ` there."""

    def put(self, places: FloatArray, home: FloatArray, where: Any) -> None:
        """Move the feature of these rows there, or to the nearest place there is."""

    @property
    def compliance(self) -> FloatArray:
        """About how far the feature pushes the score at a multiplier of one."""


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
        left, right = self.at[:, :-1], self.at[:, 1:]
        low, high = left.copy(), right.copy()
        first, last = np.minimum(self.home, left[:, 0]), np.maximum(self.home, right[:, -1])
        low[:, 0], high[:, -1] = first - PROLONGATION * (last - first), last + PROLONGATION * (last - first)
        with np.errstate(invalid="ignore"):
            slope = self._slopes
            place = np.clip(self.home[:, None] + multiplier[:, None] * slope / self.line.price, low, high)
            change = self.change[:, :-1] + slope * (place - left)
            worth = 2.0 * multiplier[:, None] * change - self.line.price * np.square(place - self.home[:, None])
        chosen = np.argmax(np.where(np.isnan(worth), -np.inf, worth), axis=1)
        rows = np.arange(len(chosen))
        return place[rows, chosen], np.nan_to_num(change[rows, chosen])  # what is missing changes nothing

    def put(self, places: FloatArray, home: FloatArray, where: FloatArray) -> None:
        self.line.put(places, self.line.snapped(home, where))

    def pinned(self, where: FloatArray) -> Pin:
        """The feature kept at these positions."""
        stretch = (self.at[:, 1:-1] <= where[:, None]).sum(axis=1)
        rows = np.arange(len(where))
        change = self.change[rows, stretch] + self._slopes[rows, stretch] * (where - self.at[rows, stretch])
        return Pin(self, where, np.where(np.isnan(change), 0.0, change))

    def reaching(self, change: FloatArray) -> FloatArray:
        """The nearest positions at which the score is changed this much; home where there is none."""
        left, right, slope = self.at[:, :-1], self.at[:, 1:], self._slopes
        reach = PROLONGATION * (np.maximum(self.home, right[:, -1]) - np.minimum(self.home, left[:, 0]))
        low, high = left.copy(), right.copy()
        low[:, 0] -= reach
        high[:, -1] += reach
        with np.errstate(divide="ignore", invalid="ignore"):
            place = left + (change[:, None] - self.change[:, :-1]) / slope
            apart = np.where((place >= low) & (place <= high), np.abs(place - self.home[:, None]), np.inf)
        nearest = np.argmin(apart, axis=1)
        rows = np.arange(len(nearest))
        return np.where(np.isfinite(apart[rows, nearest]), place[rows, nearest], self.home)

    @property
    def compliance(self) -> FloatArray:
        return _efficiency(self.change, self.line.price * np.square(self.at - self.home[:, None]))

    @property
    def _slopes(self) -> FloatArray:
        left, right = self.at[:, :-1], self.at[:, 1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(right > left, (self.change[:, 1:] - self.change[:, :-1]) / (right - left), 0.0)


@dataclass(frozen=True)
class Stairs(Slope):
    """The probes of a line along which the score changes by jumps only: between two of them nothing is to be had."""

    def best(self, multiplier: FloatArray) -> tuple[FloatArray, FloatArray]:
        worth = 2.0 * multiplier[:, None] * self.change - self.line.price * np.square(self.at - self.home[:, None])
        chosen = np.argmax(np.where(np.isnan(worth), -np.inf, worth), axis=1)
        rows = np.arange(len(chosen))
        return self.at[rows, chosen], self.change[rows, chosen]


@dataclass(frozen=True)
class Table:
    """A choice's probes: `(n, K)` costs from home, infinite where not allowed, and changes of the score."""

    choice: Choice
    cost: FloatArray
    change: FloatArray

    def best(self, multiplier: FloatArray) -> tuple[IntArray, FloatArray]:
        worth = 2.0 * multiplier[:, None] * self.change - self.cost
        chosen = np.argmax(worth, axis=1)
        return chosen, self.change[np.arange(len(chosen)), chosen]

    def put(self, places: FloatArray, home: FloatArray, where: IntArray) -> None:
        self.choice.put(places, where)

    def pinned(self, where: IntArray) -> Pin:
        """The feature kept at these options."""
        return Pin(self, where, self.change[np.arange(len(where)), where])

    @property
    def compliance(self) -> FloatArray:
        return _efficiency(self.change, self.cost)

    def notable(self) -> list[IntArray]:
        """Options that may be worth it: staying, the most effective for its cost, and the most effective."""
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where((self.cost > 0.0) & np.isfinite(self.cost), self.change / self.cost, 0.0)
        allowed = np.where(np.isfinite(self.cost), self.change, -np.inf)
        return [np.argmin(self.cost, axis=1), np.argmax(rate, axis=1), np.argmax(allowed, axis=1)]


@dataclass(frozen=True)
class Pin:
    """A feature that is kept somewhere."""

    part: Slope | Table
    where: Any
    change: FloatArray

    def best(self, multiplier: FloatArray) -> tuple[Any, FloatArray]:
        return self.where, self.change

    def put(self, places: FloatArray, home: FloatArray, where: Any) -> None:
        self.part.put(places, home, where)

    @property
    def compliance(self) -> FloatArray:
        return np.zeros_like(self.change)


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
        Its parts: lines, and choices.
    """

    start: FloatArray
    home: FloatArray
    slopes: Sequence[Slope | Pin]
    tables: Sequence[Table | Pin]

    def respond(self, multiplier: FloatArray) -> FloatArray:
        """Where the rows go at these multipliers."""
        places = self.start.copy()
        for part in self._parts:
            part.put(places, self.home, part.best(multiplier)[0])
        return places

    def push(self, multiplier: FloatArray) -> FloatArray:
        """By how much that changes the score, if the model is right."""
        return np.asarray(np.sum([part.best(multiplier)[1] for part in self._parts], axis=0))

    @property
    def compliance(self) -> FloatArray:
        """About how far the score is pushed by a unit of the multiplier."""
        return np.asarray(np.sum([part.compliance for part in self._parts], axis=0))

    def reaching(self, push: FloatArray) -> FloatArray:
        """The multipliers at which the model says that the score is pushed this far; as far as it gets where it never is."""
        with np.errstate(divide="ignore", invalid="ignore"):
            start = np.log(np.maximum(push, 0.0) / self.compliance)
        start = np.where(np.isfinite(start), start, 0.0)  # nothing to push, or nothing that pushes
        low, high = start - 5.0, start + 7.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            enough = self.push(np.exp(middle)) >= push
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.exp(high)

    def with_options(self, options: Sequence[IntArray]) -> Surrogate:
        """The same with every choice made."""
        made = [table.pinned(where) for table, where in zip(self.tables, options, strict=True) if isinstance(table, Table)]
        return Surrogate(self.start, self.home, self.slopes, made)

    def with_steps(self, multiplier: FloatArray, outwards: float) -> Surrogate:
        """The same with every line that has steps kept where it goes at these multipliers, rounded outwards by so many."""
        slopes = list[Slope | Pin]()
        for part in self.slopes:
            if isinstance(part, Slope) and part.line.step > 0.0:
                slopes.append(part.pinned(part.line.towards(self.home, part.best(multiplier)[0], outwards)))
            else:
                slopes.append(part)
        return Surrogate(self.start, self.home, slopes, self.tables)

    def balanced(self, multiplier: FloatArray, push: FloatArray, most: int) -> Iterator[FloatArray]:
        """Places at which one of the pinned lines makes up for what the others miss of a push, or takes back what they overdo.

        The lines that are not pinned are where they go at these multipliers. For every row the cheapest first, as far as the
        model is right.
        """
        pins = [(pin, pin.part) for pin in self.slopes if isinstance(pin, Pin) and isinstance(pin.part, Slope)]
        if not pins:
            return
        total, moved, costs = self.push(multiplier), list[FloatArray](), list[FloatArray]()
        for pin, slope in pins:
            wish = slope.reaching(push - (total - pin.change))
            moved.append(slope.line.towards(self.home, wish, OUTWARD_STEPS))
            costs.append(slope.line.price * (np.square(moved[-1] - slope.home) - np.square(pin.where - slope.home)))
        order = np.argsort(np.array(costs), axis=0, kind="stable")
        before = self.respond(multiplier)
        for rank in range(min(most, len(pins))):
            places = before.copy()
            for k, (pin, _) in enumerate(pins):
                here = np.flatnonzero(order[rank] == k)
                part = places[here]
                pin.put(part, self.home[here], moved[k][here])
                places[here] = part
            yield places

    def mirrored(self) -> Surrogate:
        """The same for a score that is to be pushed down."""
        slopes = [replace(part, change=-part.change) for part in self.slopes if isinstance(part, Slope)]
        tables = [Table(part.choice, part.cost, -part.change) for part in self.tables if isinstance(part, Table)]
        return Surrogate(self.start, self.home, slopes, tables)

    @property
    def _parts(self) -> Sequence[Part]:
        return (*self.slopes, *self.tables)

    @property
    def stepping(self) -> bool:
        """Whether some lines have steps."""
        return any(isinstance(part, Slope) and part.line.step > 0.0 for part in self.slopes)

    @property
    def sliding(self) -> bool:
        """Whether some lines have none."""
        return any(isinstance(part, Slope) and part.line.step == 0.0 for part in self.slopes)


def _efficiency(change: FloatArray, cost: FloatArray) -> FloatArray:
    """The largest `Δ²/cost` of a feature: the compliance of a linear score."""
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.where(_pays(change, cost), np.square(change) / cost, 0.0)
    return np.asarray(worth.max(axis=1, initial=0.0))


def _pays(change: FloatArray, cost: FloatArray) -> BoolArray:
    return np.asarray((change > 0.0) & (cost > 0.0) & np.isfinite(cost))
