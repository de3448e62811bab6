"""What each column that trees split on is made of, and where along raw columns their thresholds are.

A model sees *its* columns; users move *raw* ones, perhaps behind a pipeline. While each of the model's columns is a function of
one raw column, a split on it is a split on that: of a number that makes it rise or fall, at one place, found to the last digit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.data.frames import Features
from tippingpoint.errors import ModelError
from tippingpoint.families.trees.columns.doubles import last_doubles
from tippingpoint.families.trees.columns.piped import PipedColumns, refusals
from tippingpoint.families.trees.columns.raw import RawColumns, held, matched, place
from tippingpoint.families.trees.columns.reach import Reach, reach
from tippingpoint.families.trees.columns.trial import Trial
from tippingpoint.families.trees.reading import TreeReading, Unread
from tippingpoint.foreign import guarded
from tippingpoint.preprocessing.tracing import Trace, raw_trace, trace

ROWS_AT_ONCE = 2**12
"""Rows that a pipeline is asked about at once where that saves calls: each takes as long as so many rows, about."""

MOST_PARTS = 16
"""Into how many parts an interval is cut at once: more save little."""


@dataclass(frozen=True)
class ModelColumns:
    """What each of the model's columns is made of.

    Attributes
    ----------
    source
        `(M,)` the raw column that a model's column is a function of.
    rises
        `(M,)` of raw numbers: +1 where the value never falls as they rise, -1 where it never rises, 0 where that is not known,
        and of categories. A raw column with a 0 cannot move freely as a number; as a menu of values it can.
    lower, upper
        `(d,)` the raw numbers between which that holds, all numbers of the data among them; infinite where it goes on as far
        as anybody goes (`reach.FAR`).
    missing_beyond
        `(d, 2)` whether numbers below `lower`, above `upper`, are missing to the model, as the logarithm of a negative number
        is: it answers there, and nothing is said of what. Otherwise the pipeline fails there, and nothing can go there.
    refused
        By raw column of which something is: `(C + 1,)`, which of its categories, and last what is missing, the pipeline or
        the library fails on. No sample holds any of it.
    zero_is_missing
        Whether a zero is missing to the model, as a sparse matrix does not store it and the library reads that as missing.
        `values` are NaN there; `rises` and `all_cuts` are of numbers, zero among them.
    """

    source: IntArray
    rises: IntArray
    lower: FloatArray
    upper: FloatArray
    missing_beyond: BoolArray
    refused: Mapping[int, BoolArray]
    _seen: Callable[[FloatArray, IntArray], FloatArray] = field(repr=False)
    _samples: int = field(repr=False)
    _piped: tuple[PipedColumns, Reach] | None = field(repr=False, default=None)
    zero_is_missing: bool = False

    def values(self, x: FloatArray, rows: IntArray | None = None) -> FloatArray:
        """`(n, M)` what the model sees of rows that are encoded as `Features.x` is.

        Parameters
        ----------
        x
            `(n, d)` categories as positions, NaN where something is missing.
        rows
            The samples that they are, but for their values; those from the first on where none are given.
        """
        return self._seen(x, np.arange(len(x)) % self._samples if rows is None else rows)

    def cuts(self, m: int, thresholds: FloatArray) -> FloatArray:
        """Where along its raw column a model's column passes thresholds; see `all_cuts`."""
        return self.all_cuts({m: thresholds})[m]

    def all_cuts(self, thresholds: Mapping[int, FloatArray]) -> dict[int, FloatArray]:
        """By column of the model: where along its raw column it passes thresholds, to the last digit of float64.

        The largest raw number whose value is at most the threshold, where the column rises; whose value is above it, where
        the column falls. Infinite where all raw numbers (from `lower` to `upper`) are on one side. All columns are asked about
        together, which takes as long as one.

        Sums, products and comparisons of doubles never fall where they should rise. Powers and quantiles may, by their last
        digit: then a few doubles next to a cut are on its other side.
        """
        turning = next((m for m in thresholds if not self.rises[m]), None)
        if turning is not None:
            raise ValueError(f"column {turning} of the model neither rises nor falls with a number")
        if self._piped is None or not sum(map(len, thresholds.values())):
            return {m: np.array(edges, dtype=float) for m, edges in thresholds.items()}
        return self._found(*self._piped, thresholds)

    def _found(self, seen: PipedColumns, within: Reach, thresholds: Mapping[int, FloatArray]) -> dict[int, FloatArray]:
        """One matrix of questions: a column for every raw column, a row for every threshold of it."""
        distinct = {m: np.unique(edges, return_inverse=True) for m, edges in thresholds.items()}
        counts = [len(edges) for edges, _ in distinct.values()]
        model_of, edge_of = np.repeat(list(distinct), counts), np.concatenate([edges for edges, _ in distinct.values()])
        raw, column = np.unique(self.source[model_of], return_inverse=True)
        row = _ranks_within(column)
        length = int(row.max()) + 1
        model, edge = np.zeros((length, len(raw)), dtype=np.intp), np.full((length, len(raw)), np.nan)
        model[row, column], edge[row, column] = model_of, edge_of

        def left(at: FloatArray) -> BoolArray:
            x = np.tile(seen.start, (at.size // len(raw), 1))
            x[:, raw] = at.reshape(-1, len(raw))
            values = seen.like_start(x).reshape(-1, length, len(self.source))[:, np.arange(length)[:, None], model]
            return np.where(self.rises[model] > 0, values <= edge, values > edge).reshape(at.shape)

        low, high = (np.tile(end[raw], (length, 1)) for end in (within.low, within.high))
        none, every = ~left(low), left(high)
        parts = int(np.clip(ROWS_AT_ONCE // length, 2, MOST_PARTS))
        between = last_doubles(left, low, np.where(none | every, low, high), parts)
        found = np.where(every, np.inf, np.where(none, -np.inf, between))[row, column]
        cuts = np.split(found, np.cumsum(counts)[:-1])
        return {m: cut[inverse] for (m, (_, inverse)), cut in zip(distinct.items(), cuts, strict=True)}


def model_columns(steps: Any, reading: TreeReading, features: Features) -> ModelColumns | Unread:
    """The columns of a model in terms of the user's; why not, where one is made of several or nobody knows of what.

    Parameters
    ----------
    steps
        The fitted pipeline in front of the model; None where there is none.
    reading
        The model.
    features
        The data.
    """
    if steps is None:
        return _of_raw(reading, features)
    try:
        return _of_pipeline(steps, reading, features)
    except ModelError as failure:
        return Unread(str(failure).rstrip("."))


def _of_raw(reading: TreeReading, features: Features) -> ModelColumns | Unread:
    source = matched(reading, features)
    if isinstance(source, Unread):
        return source
    raw = RawColumns(reading, features, source)
    strange = raw.strange(features.x)
    if strange is not None:
        return Unread(f"it fails on {strange}")
    end = np.full(len(features.columns), np.inf)
    beyond = np.zeros((len(end), 2), dtype=bool)
    return ModelColumns(source, raw.numbers.astype(np.intp), -end, end, beyond, raw.refused, raw, len(features.x))


def _of_pipeline(steps: Any, reading: TreeReading, features: Features) -> ModelColumns | Unread:
    """What the steps say of the columns, as far as the pipeline works, and tried out."""
    seen = PipedColumns(steps, reading, features)
    seen.like_start(seen.start[None])
    as_read = PipedColumns(steps, reading, features, reading.absent) if seen.sparse else seen
    traced = _traced(steps, features)
    if len(traced.source) != reading.forest.width:
        return Unread(f"its preprocessing should make {len(traced.source)} columns, and makes {reading.forest.width}")
    rises = traced.rises.copy()
    rises[list(reading.categories)] = 0
    columns = {int(j): np.flatnonzero((traced.source == j) & (rises != 0)) for j in np.unique(traced.source[rises != 0])}
    within = reach(seen, features, columns)
    rises[(within.low > within.high)[traced.source]] = 0
    refused = refusals(seen, features)
    failed = held(features.x, refused)
    if failed is not None:
        return Unread(f"its preprocessing fails on {place(features.columns[failed[0]], failed[1])}")
    why_not = Trial(seen, features, traced.source, rises, within, refused).refutation()
    if why_not is not None:
        return Unread(why_not)
    return ModelColumns(
        traced.source,
        rises,
        within.lower,
        within.upper,
        within.missing,
        refused,
        as_read,
        len(features.x),
        (seen, within),
        zero_is_missing=seen.sparse and bool(np.isnan(reading.absent)),
    )


def _traced(steps: Any, features: Features) -> Trace:
    ordered = np.array([column.holds != "category" for column in features.columns])
    names = features.names if hasattr(features.native, "columns") else None
    with guarded(ModelError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as of what scikit-learn will call a column's remainder one day
        return trace(steps, raw_trace(ordered, names))


def _ranks_within(groups: IntArray) -> IntArray:
    """How many of the same group stand before each."""
    order, counts = np.argsort(groups, kind="stable"), np.bincount(groups)
    found = np.empty(len(groups), dtype=np.intp)
    found[order] = np.arange(len(groups)) - np.repeat(np.cumsum(counts) - counts, counts)
    return found
