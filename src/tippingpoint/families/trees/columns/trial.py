"""What the steps of a pipeline say of its columns, tried out: which columns change with which, and in which direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.data.frames import Features
from tippingpoint.families.trees.columns.doubles import LARGEST
from tippingpoint.families.trees.columns.piped import PipedColumns
from tippingpoint.families.trees.columns.reach import Reach, spans

SAMPLE = 2**12
"""Rows, evenly spread, among which values of a column are looked for."""

TRIAL_ROWS = 8
"""Rows, evenly spread, of which every column is changed in turn, to as many of its values."""

RUNGS = 33
"""Numbers of a column, evenly spread over those of the data, along which the model's columns have to rise or fall."""

BEYOND = (-1e3, -1.0, 1.0, 1e3)
"""Where they are tried out besides, in ranges of the data below the least number and above the largest."""

ROUNDING = 1e-12
"""Part of a column's size by which its values may differ without being others: powers and logarithms are not the same to the
last digit wherever they stand in an array. Numbers of float32 differ by more, where other rows turn them into float64."""


@dataclass(frozen=True)
class Trial:
    """Of what is said of the columns that a model sees through a pipeline.

    Attributes
    ----------
    seen, features
        The pipeline, and the data.
    source, rises
        What is said: see `ModelColumns`.
    reach
        Between which raw numbers.
    refused
        By raw column: which of its categories, and last what is missing, the pipeline fails on.
    """

    seen: PipedColumns
    features: Features
    source: IntArray
    rises: IntArray
    reach: Reach
    refused: Mapping[int, BoolArray]

    def refutation(self) -> str | None:
        """A clause on what is not so; None where nothing speaks against it."""
        return self._company_or_mixture() or self._turn()

    def _company_or_mixture(self) -> str | None:
        """Rows that are others in company, and columns that change with another raw column than their own."""
        x, names, rows = self.features.x, self.features.names, self._rows
        changes = [(k, j, value) for j in range(len(names)) for k, value in self._changes(j, x[rows, j])]
        changed = np.array([k for k, _, _ in changes], dtype=np.intp)
        column = np.array([j for _, j, _ in changes], dtype=np.intp)
        moved = x[rows][changed]
        moved[np.arange(len(changes)), column] = [value for _, _, value in changes]
        among = self.seen(np.concatenate((x[rows], moved)), np.concatenate((rows, rows[changed])))
        before, after = np.split(among, [len(rows)])
        for alone in (self._own, self.seen(x[rows[:1]], rows[:1])):
            if self._differ(alone, before[: len(alone)]).any():
                return "its preprocessing makes other numbers of a row when other rows are beside it (of float32: pass float64)"
        strange = np.argwhere(self._differ(after, before[changed]) & (self.source != column[:, None]))
        if not len(strange):
            return None
        change, m = strange[0]
        own, other = names[self.source[m]], names[column[change]]
        return f"a column that its preprocessing should make of {own!r} alone changes with {other!r}"

    def _changes(self, j: int, held: FloatArray) -> list[tuple[int, float]]:
        """Other values of a column, each for one of the rows that hold these."""
        column, refused = self.features.columns[j], self.refused.get(j)
        if column.holds == "category":
            values = np.arange(len(column.categories), dtype=float)
            values = values if refused is None else values[~refused[:-1]]
        else:
            values = self._distinct(j)
        values = np.concatenate((values[_spread(len(values), TRIAL_ROWS)], self._beyond[j]))
        if self.features.missing[j] and (refused is None or not refused[-1]):
            values = np.append(values, np.nan)
        found = []
        for k, value in enumerate(values.tolist()):
            others = np.flatnonzero(~((held == value) | (np.isnan(held) & np.isnan(value))))
            found += [(int(others[k % len(others)]), value)] if len(others) else []
        return found

    def _turn(self) -> str | None:
        """A column that turns where it should rise or fall; all raw numbers climb at once, each its own ladder."""
        ladders = {j: self._ladder(j) for j in np.unique(self.source[self.rises != 0]).tolist()}
        height = max(map(len, ladders.values()), default=0)
        x = np.tile(self.seen.start, (height, 1))
        for j, ladder in ladders.items():
            x[:, j] = np.pad(ladder, (0, height - len(ladder)), mode="edge")
        values = self.seen.like_start(x)
        first, next_ = values[:-1] * self.rises, values[1:] * self.rises
        back = (next_ < first) & self._differ(first, next_)
        wrong = np.flatnonzero((self.rises != 0) & (back.any(axis=0) | np.isnan(values).any(axis=0)))
        if not len(wrong):
            return None
        name, way = self.features.names[self.source[wrong[0]]], "rise" if self.rises[wrong[0]] > 0 else "fall"
        return f"a column that its preprocessing makes of {name!r} should {way} with it, and does not everywhere"

    def _ladder(self, j: int) -> FloatArray:
        """Numbers of a column, between them and beyond, as they rise."""
        held = self._distinct(j)
        held = held[_spread(len(held), RUNGS)]
        return np.unique(np.concatenate((held, 0.5 * held[1:] + 0.5 * held[:-1], self._beyond[j])))

    def _distinct(self, j: int) -> FloatArray:
        """Numbers that a column holds, each once, sorted."""
        held = self.features.x[_spread(len(self.features.x), SAMPLE), j]
        return np.unique(held[~np.isnan(held)])

    @cached_property
    def _rows(self) -> IntArray:
        """Some rows, evenly spread."""
        return _spread(len(self.features.x), TRIAL_ROWS)

    @cached_property
    def _own(self) -> FloatArray:
        """What the model sees of them."""
        return self.seen(self.features.x[self._rows], self._rows)

    def _differ(self, a: FloatArray, b: FloatArray) -> BoolArray:
        """Where values are not the same, but for rounding."""
        usual = np.abs(np.where(np.isfinite(self._own), self._own, 0.0)).max(axis=0)
        with np.errstate(invalid="ignore"):  # infinite numbers are equal, or as far apart as can be
            apart, size = np.abs(a - b), np.maximum(usual, np.maximum(np.abs(a), np.abs(b)))
        near = np.isfinite(apart) & (apart <= ROUNDING * size)
        return np.asarray(~(near | (a == b) | (np.isnan(a) & np.isnan(b))))

    @cached_property
    def _beyond(self) -> dict[int, FloatArray]:
        """By raw column: numbers beyond those of the data, as far as they can go; none where nothing is said of numbers."""
        low, high = spans(self.features)
        span = np.maximum(np.minimum(high, LARGEST / 4.0) - np.maximum(low, -LARGEST / 4.0), 1.0)
        found = {j: np.zeros(0) for j in range(len(low))}
        for j in np.unique(self.source[self.rises != 0]).tolist():
            with np.errstate(over="ignore"):  # beyond all doubles: cut off
                far = np.array([(low if way < 0.0 else high)[j] + way * span[j] for way in BEYOND])
            found[j] = np.clip(far, self.reach.low[j], self.reach.high[j])
        return found


def _spread(count: int, most: int) -> IntArray:
    """Positions of at most so many, evenly spread."""
    return np.linspace(0, count - 1, min(most, count)).astype(np.intp)
