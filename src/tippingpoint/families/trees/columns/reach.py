"""How far raw numbers can go until a pipeline fails on them, or makes something missing of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.data.frames import Features
from tippingpoint.families.trees.columns.doubles import LARGEST, last_doubles
from tippingpoint.families.trees.columns.piped import PipedColumns

FAR = 1e30
"""How far, in sizes of the data, is as far as anybody goes. Beyond, numbers overflow, on which some scalers fail."""

LIKELY_ENDS = np.array([near for end in (-1.0, 0.0) for near in (np.nextafter(end, -9.0), end, np.nextafter(end, 9.0))])
"""Where logarithms, roots and powers end, and their neighbours. Looked at first, they mostly save the search."""


@dataclass(frozen=True)
class Reach:
    """Intervals of raw numbers.

    Attributes
    ----------
    low, high
        `(d,)` numbers, far apart, between which the pipeline makes numbers of numbers. They are in the wrong order where it
        does not of some number of the data, and mean nothing of columns that were not asked about.
    ends
        `(d, 2)` whether it stops doing so at `low`, at `high`.
    missing
        `(d, 2)` whether what comes beyond is missing to the model, which answers all the same; otherwise the pipeline fails.
    """

    low: FloatArray
    high: FloatArray
    ends: BoolArray
    missing: BoolArray

    @property
    def lower(self) -> FloatArray:
        """`low`, infinite where nothing ends there."""
        return np.where(self.ends[:, 0], self.low, -np.inf)

    @property
    def upper(self) -> FloatArray:
        """`high`, infinite where nothing ends there."""
        return np.where(self.ends[:, 1], self.high, np.inf)


def reach(seen: PipedColumns, features: Features, columns: Mapping[int, IntArray]) -> Reach:
    """How far the numbers of raw columns can go.

    Logarithms make no numbers of those below some one, and scalers fail on the infinite ones that other steps make of large
    ones. Both is so from some place on: as every step rises or falls, so does what comes before it.

    Parameters
    ----------
    seen
        The pipeline.
    features
        The data.
    columns
        By raw column that is asked about: the model's columns that rise or fall with it.
    """
    low, high = spans(features)
    ends, missing = np.zeros((len(low), 2), dtype=bool), np.zeros((len(low), 2), dtype=bool)
    raw = np.array(list(columns), dtype=np.intp)
    size = np.maximum(np.maximum(np.abs(low), np.abs(high)), 1.0)
    search = _Search(seen, columns)
    limits = []
    for side, (sign, inner) in enumerate(((-1.0, low), (1.0, high))):
        far = sign * FAR * np.minimum(size, LARGEST / FAR)
        begins, reaches = search.works(raw, inner[raw]), search.works(raw, far[raw])
        short = raw[begins & ~reaches]
        if len(short):
            far[short] = search.last(short, sign, inner[short], far[short])
            missing[short, side] = search.answers(short, np.nextafter(far[short], sign * np.inf))
        ends[raw[~(begins & reaches)], side] = True
        far[raw[~begins]] = -sign * LARGEST
        limits.append(far)
    return Reach(limits[0], limits[1], ends, missing)


def spans(features: Features) -> tuple[FloatArray, FloatArray]:
    """`(d,)` and `(d,)`: the least and the largest that each column holds; zeros where it holds nothing."""
    low, high = (np.asarray(of_all(features.x, axis=0)) for of_all in (np.fmin.reduce, np.fmax.reduce))
    return np.nan_to_num(low), np.nan_to_num(high)


class _Search:
    """Questions about single raw columns, all others as at the start."""

    def __init__(self, seen: PipedColumns, columns: Mapping[int, IntArray]) -> None:
        self._seen = seen
        self._columns = columns

    def works(self, raw: IntArray, at: FloatArray) -> BoolArray:
        """Whether the pipeline makes numbers of these numbers."""
        values, fails = self._seen.attempt(self._rows(raw, at))
        gaps = [bool(np.isnan(row[self._columns[j]]).any()) for j, row in zip(raw.tolist(), values, strict=True)]
        return np.asarray(~fails & ~np.array(gaps, dtype=bool))

    def answers(self, raw: IntArray, at: FloatArray) -> BoolArray:
        """Whether it makes anything of them."""
        return ~self._seen.attempt(self._rows(raw, at))[1]

    def last(self, raw: IntArray, sign: float, inner: FloatArray, far: FloatArray) -> FloatArray:
        """The last numbers from `inner` to `far`, which lies in the direction of `sign`, at which it works."""
        low, high = sign * inner, sign * far
        for at in np.sort(sign * LIKELY_ENDS):
            within = np.flatnonzero((low < at) & (at < high))
            works = self.works(raw[within], np.full(len(within), sign * at))
            low[within[works]], high[within[~works]] = at, at
        return sign * last_doubles(lambda at: self.works(raw, sign * at[0])[None], low, high)

    def _rows(self, raw: IntArray, at: FloatArray) -> FloatArray:
        x = np.tile(self._seen.start, (len(raw), 1))
        x[np.arange(len(raw)), raw] = at
        return x
