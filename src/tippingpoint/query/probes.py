"""Surrogates fitted to probes: single features moved around a place, and what the score, or the class, makes of it."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.query.axes import Choice, Line
from tippingpoint.query.counted import Task
from tippingpoint.query.surrogate import Slope, Stairs, Surrogate, Table
from tippingpoint.query.turns import Query, query_each

SHORTFALL = 0.1
"""How far before an error, relative to its distance, the boundary is felt for."""

FLIP_HALVINGS = 6
"""Halvings along each line, and octaves that they cover."""

Fit = Generator[Query, FloatArray, Surrogate]
"""A search that ends with a surrogate."""

LineFit = Generator[Query, FloatArray, Slope]
"""The same of one line."""


@dataclass(frozen=True)
class Probes:
    """Probes of these features, one at a time."""

    task: Task
    lines: Sequence[Line]
    choices: Sequence[Choice]

    def by_scores(self, rows: IntArray, start: FloatArray, most: int) -> Fit:
        """The additive model of these rows around these places, from so many probes of every line."""
        home = self.task.x[rows]
        here = yield rows, start
        positions = [line.probes(home, start, most) for line in self.lines]
        replies = iter((yield from query_each(self._trials(rows, start, home, positions))))
        slopes = [self._slope(line, start, home, at, replies, here) for line, at in zip(self.lines, positions, strict=True)]
        return Surrogate(start, home, slopes, [self._table(choice, start, home, replies, here) for choice in self.choices])

    def by_flips(self, rows: IntArray, errors: FloatArray, distance: FloatArray) -> Fit:
        """The additive model around a place just short of a known error, from how far each line alone still has to go.

        The score is counted so that what is missing there is one.
        """
        home = self.task.x[rows]
        start = errors.copy()
        for line in self.lines:
            here, there = line.positions(home), line.positions(errors)
            line.put(start, line.snapped(home, here + (1.0 - SHORTFALL) * (there - here)))
        inside = (yield rows, start) < 0.0
        start = np.where(inside[:, None], start, home)
        slopes = list[Slope]()
        for line in self.lines:
            slopes.append((yield from self._flips_along(line, rows, start, home, distance)))
        here = np.full(len(rows), -1.0)
        replies = iter((yield from query_each(self._trials(rows, start, home, [[] for _ in self.lines]))))
        return Surrogate(start, home, slopes, [self._table(choice, start, home, replies, here) for choice in self.choices])

    def _flips_along(self, line: Line, rows: IntArray, start: FloatArray, home: FloatArray, distance: FloatArray) -> LineFit:
        """How far a line alone has to go until the class changes: halved, in logarithms, between nothing and the whole way."""
        here = line.positions(start)
        longest = distance / math.sqrt(line.price)

        def beyond(step: FloatArray, some: IntArray) -> Query:
            places = start[some]
            line.put(places, line.snapped(home[some], (here + step)[some]))
            return rows[some], places

        everyone = np.arange(len(rows))
        up = (yield beyond(longest, everyone)) >= 0.0
        down = (yield beyond(-longest, everyone)) >= 0.0
        sign = np.where(up, 1.0, np.where(down, -1.0, 0.0))
        low, high = np.full(len(rows), -FLIP_HALVINGS * math.log(2.0)), np.zeros(len(rows))
        some = everyone if self.task.others is None else np.flatnonzero(sign)
        for _ in range(FLIP_HALVINGS):
            if not sign.any():
                break
            middle = 0.5 * (low + high)
            flipped = np.zeros(len(rows), dtype=bool)
            flipped[some] = (yield beyond(sign * np.exp(middle) * longest, some)) >= 0.0
            low, high = np.where(flipped, low, middle), np.where(flipped, middle, high)
        reach = np.exp(0.5 * (low + high)) * longest
        at = np.column_stack((here, here + sign * reach))
        return Slope.sorted(line, line.positions(home), at, np.column_stack((np.zeros(len(rows)), np.abs(sign))))

    def _trials(
        self, rows: IntArray, start: FloatArray, home: FloatArray, positions: Sequence[Sequence[FloatArray]]
    ) -> Iterator[Query]:
        """Every probe of every line, then every option of every choice."""
        for line, probes in zip(self.lines, positions, strict=True):
            for position in probes:
                places = start.copy()
                line.put(places, position)
                yield rows, places
        for choice in self.choices:
            for option, there in _switches(choice, start, home):
                places = start[there]
                choice.put(places, np.full(len(there), option))
                yield rows[there], places

    @staticmethod
    def _slope(
        line: Line,
        start: FloatArray,
        home: FloatArray,
        positions: Sequence[FloatArray],
        replies: Iterator[FloatArray],
        here: FloatArray,
    ) -> Slope:
        at, change = [line.positions(start)], [np.zeros(len(start))]
        for position in positions:
            reply = next(replies)
            at.append(np.where(np.isnan(reply), at[0], position))
            change.append(np.where(np.isnan(reply), 0.0, reply - here))
        kind = Slope if line.beside is None else Stairs
        return kind.sorted(line, line.positions(home), np.column_stack(at), np.column_stack(change))

    @staticmethod
    def _table(choice: Choice, start: FloatArray, home: FloatArray, replies: Iterator[FloatArray], here: FloatArray) -> Table:
        cost = choice.menu.cost[choice.menu.options(home)].copy()
        change = np.zeros_like(cost)
        for option, there in _switches(choice, start, home):
            change[there, option] = next(replies) - here[there]
        cost[np.isnan(change)] = np.inf
        return Table(choice, cost, np.where(np.isnan(change), 0.0, change))


def _switches(choice: Choice, start: FloatArray, home: FloatArray) -> Iterator[tuple[int, IntArray]]:
    """The options of a choice, and the rows that can go there and are not."""
    cost, now = choice.menu.cost[choice.menu.options(home)], choice.menu.options(start)
    for option in range(len(choice.menu.values)):
        yield option, np.flatnonzero((now != option) & np.isfinite(cost[:, option]))
