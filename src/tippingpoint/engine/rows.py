"""Some rows of the data, in the user's own kind of table: a sketch that has every column's extremes, and a random sample."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, blocks
from tippingpoint.data.frames import read_frame

MAX_DISTINCT = 4096
"""Values up to which every one of a column is kept: a menu has no more options."""

SAMPLE_ROWS = 2000
"""Rows of the sample that all partitions share."""

SKETCH_CELLS = 2**20
"""Numbers that the sketch of one partition may hold; columns that nothing is declared of come last."""


@dataclass(frozen=True)
class SomeRows:
    """Rows taken out of a partition, or of several.

    Attributes
    ----------
    x
        A table of the user's own kind.
    y
        Labels or targets.
    weight
        As the user gave them, in units of `peak`; ones where none are given.
    peak
        The unit of the weights.
    places
        Number of the partition of every row, and the row in it.
    """

    x: Any
    y: np.ndarray[Any, Any]
    weight: FloatArray
    peak: float
    places: IntArray

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: IntArray) -> SomeRows:
        return SomeRows(taken(self.x, rows), self.y[rows], self.weight[rows], self.peak, self.places[rows])


def taken(x: Any, rows: IntArray) -> Any:
    """These rows of a table."""
    import narwhals as nw

    frame = read_frame(x, "X")
    if not isinstance(frame, nw.DataFrame):
        return x[rows]
    native = frame[rows.tolist(), :].to_native()
    return native.reset_index(drop=True) if hasattr(native, "reset_index") else native


def stacked(tables: Sequence[Any]) -> Any:
    """Tables of the same columns and types, one below the other."""
    import narwhals as nw

    frames = [read_frame(table, "X") for table in tables]
    if not isinstance(frames[0], nw.DataFrame):
        return np.concatenate(tables)
    if frames[0].implementation.is_pandas():
        import pandas as pd

        return tables[0] if len(tables) == 1 else pd.concat(tables, ignore_index=True)
    if frames[0].implementation.is_polars():
        import polars as pl

        return pl.concat(tables, how="vertical_relaxed")
    return nw.concat(frames).to_native()


def gathered(every: Sequence[SomeRows], peak: float) -> SomeRows:
    """The rows of several partitions in order; their tables are of one schema already."""
    held = [each for each in every if len(each)] or list(every[:1])
    y = [each.y for each in held]
    mixed = len({each.dtype.kind for each in y}) > 1 and any(each.dtype.kind not in "biuf" for each in y)
    return SomeRows(
        stacked([each.x for each in held]),
        np.concatenate([each.astype(object) for each in y] if mixed else y),
        np.concatenate([each.weight * (each.peak / peak) for each in held]),
        peak,
        np.concatenate([each.places for each in held]),
    )


@dataclass(frozen=True)
class Look:
    """What a look at every number of a partition tells, column by column.

    Attributes
    ----------
    low, high
        The least and the largest value; NaN of nothing.
    lowest, highest
        A row of each; 0 of nothing.
    gaps
        Whether some are missing.
    whole
        Whether all others are whole numbers.
    """

    low: FloatArray
    high: FloatArray
    lowest: IntArray
    highest: IntArray
    gaps: BoolArray
    whole: BoolArray

    @classmethod
    def at(cls, x: FloatArray) -> Look:
        """Block by block, each looked at while it is in the cache."""
        n, width = x.shape
        runs = list(blocks(n, LOOK_NUMBERS // max(width, 1))) or [slice(0, 0)]
        low, high = np.full((len(runs), width), np.nan), np.full((len(runs), width), np.nan)
        gaps, whole = np.zeros(width, dtype=bool), np.ones(width, dtype=bool)
        for k, run in enumerate(runs):
            held = x[run]
            if len(held):
                low[k], high[k] = np.fmin.reduce(held, axis=0), np.fmax.reduce(held, axis=0)
                if not np.isfinite(np.add.reduce(held, axis=None)):
                    gaps |= np.isnan(held).any(axis=0)
                if whole.any():
                    whole &= ((held == np.rint(held)) | np.isnan(held)).all(axis=0)
        least, most = np.fmin.reduce(low, axis=0), np.fmax.reduce(high, axis=0)
        rows = [cls._row(x, runs, low[:, j], least[j], j) for j in range(width)]
        tops = [cls._row(x, runs, high[:, j], most[j], j) for j in range(width)]
        return cls(least, most, np.array(rows, dtype=np.intp), np.array(tops, dtype=np.intp), gaps, whole)

    @staticmethod
    def _row(x: FloatArray, runs: Sequence[slice], found: FloatArray, value: float, j: int) -> int:
        """The first row that holds an extreme value."""
        if np.isnan(value):
            return 0
        run = runs[int(np.argmax(found == value))]
        return int(run.start) + int(np.argmax(x[run, j] == value))


LOOK_NUMBERS = 2**16
"""Numbers that are looked at at once."""


def sketch_rows(
    x: FloatArray, weight: FloatArray, discrete: Collection[int], first: Iterable[int], look: Look | None = None
) -> IntArray:
    """Rows that show what every column holds.

    Of every column: the first that is not missing, the least, the largest, a missing one of positive weight and one of any;
    of `discrete` columns, a row for every value, if there are at most 4,096. Columns in `first` are looked at before others.
    """
    n, width = x.shape
    if not n:
        return np.empty(0, dtype=np.intp)
    seen_all = Look.at(x) if look is None else look
    chosen: dict[int, None] = {0: None}
    order = dict.fromkeys([*first, *range(width)])
    needed = set(first)
    for j in order:
        if j not in needed and len(chosen) * width > SKETCH_CELLS:
            break
        if not (seen_all.gaps[j] or j in discrete):
            chosen.update({int(seen_all.lowest[j]): None, int(seen_all.highest[j]): None})
            continue
        column = x[:, j]
        gaps = np.isnan(column)
        if gaps.any():
            chosen[int(np.argmax(gaps))] = None
            heavy = gaps & (weight > 0.0)
            if heavy.any():
                chosen[int(np.argmax(heavy))] = None
        if not gaps.all():
            chosen[int(np.argmin(gaps))] = None
            chosen[int(np.nanargmin(column))] = None
            chosen[int(np.nanargmax(column))] = None
        if j in discrete:
            values, rows = np.unique(column[~gaps], return_index=True)
            if len(values) <= MAX_DISTINCT:
                seen = np.isin(values, column[list(chosen)])
                chosen.update(dict.fromkeys(np.flatnonzero(~gaps)[rows[~seen]].tolist()))
    return np.array(sorted(chosen), dtype=np.intp)


def sampled_rows(rows: int, seed: int) -> IntArray:
    """Numbers of the rows of the sample among all rows, in order: they depend on the seed and on how many rows there are."""
    drawn = np.random.default_rng(seed).choice(rows, min(SAMPLE_ROWS, rows), replace=False)
    return np.sort(drawn).astype(np.intp)
