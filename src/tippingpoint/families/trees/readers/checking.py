"""A reading against the library that it is of: on rows of the data, and on rows moved onto thresholds and beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.families.trees.forest import LEAF
from tippingpoint.families.trees.readers.rounding import UNIT64, any_order
from tippingpoint.families.trees.reading import TreeReading

MOVED_ROWS = 2000
"""Rows that are moved onto thresholds."""

MOVED_COLUMNS = 3
"""Columns of each that are moved, at most."""

SEED = 0
"""Of the draw of rows, columns and thresholds: the same model and data are always checked on the same."""

LARGEST = float(np.finfo(np.float32).max)
"""The largest number that rows are moved to: libraries that take float32 refuse larger ones."""

RowsOf = Callable[[IntArray, FloatArray], Any]
"""Rows as the user would give them to the model: like these rows of the data, with these values in the model's columns."""


def check_rows(reading: TreeReading, x: FloatArray, rows: Any) -> str | None:
    """None where the forest says of `x` what the library says of the same rows, as the user gives them; otherwise how not."""
    asked, summed = reading.ask(rows), reading.forest.scores(x)
    if asked.shape != summed.shape:
        return f"{reading.library} returns {asked.shape[1]} numbers a row, and its trees add up to {summed.shape[1]}"
    # The forest's own sums are rounded too.
    apart = np.abs(asked - summed)
    worst = np.unravel_index(np.argmax(np.where(np.isnan(apart), np.inf, apart)), apart.shape)
    if apart[worst] <= reading.rounding + any_order(reading.forest, UNIT64):
        return None
    return f"{reading.library} returns {asked[worst]:.9g} for a row whose leaves add up to {summed[worst]:.9g}"


def check_reading(
    reading: TreeReading,
    x: FloatArray,
    rows_of: RowsOf,
    movable: IntArray | None = None,
    gaps: IntArray | None = None,
) -> str | None:
    """The same on rows of `x`, and on as many as `MOVED_ROWS` that are moved onto thresholds, and next to them.

    Parameters
    ----------
    reading
        Of the model.
    x
        `(n, d)` rows of the data in the columns that the forest takes.
    rows_of
        Makes rows for the model of them; `Features.native_at` where the user's columns are the model's.
    movable
        Columns that may hold any number, or any category of the model; all where none are said.
    gaps
        Columns that may be missing; those in which something is missing where none are said.
    """
    found = check_rows(reading, x, rows_of(np.arange(len(x)), x))
    if found is not None:
        return found
    like, moved = moved_rows(reading, x, movable, gaps)
    return check_rows(reading, moved, rows_of(like, moved)) if len(like) else None


def moved_rows(
    reading: TreeReading, x: FloatArray, movable: IntArray | None = None, gaps: IntArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Which rows of `x` are moved, and where to: a few columns of each onto a threshold, or next to it as float32 or double."""
    draw = np.random.default_rng(SEED)
    missing = np.flatnonzero(np.isnan(x).any(axis=0)) if gaps is None else gaps
    places = {
        int(j): _places(reading, int(j), x[:, j], gap=bool(np.isin(j, missing)))
        for j in (reading.forest.columns if movable is None else np.intersect1d(movable, reading.forest.columns))
    }
    columns = np.array([j for j, found in places.items() if len(found)], dtype=np.intp)
    if not len(columns):
        return np.zeros(0, dtype=np.intp), x[:0]
    like = draw.integers(len(x), size=MOVED_ROWS)
    moved = x[like].copy()
    for _ in range(MOVED_COLUMNS):
        chosen = draw.choice(columns, size=MOVED_ROWS)
        for j in columns:
            rows = np.flatnonzero(chosen == j)
            moved[rows, j] = np.resize(draw.permutation(places[int(j)]), len(rows))  # all of them, if there are enough rows
    return like, moved


def _places(reading: TreeReading, column: int, held: FloatArray, *, gap: bool) -> FloatArray:
    """Where a column is moved to."""
    forest = reading.forest
    nodes = forest.feature == column
    beyond = [np.nan] if gap else []
    if column in reading.categories or (forest.members[nodes] != LEAF).any():
        known = range(len(reading.categories.get(column, ())))
        return np.array([*np.unique(held[~np.isnan(held)]), *known, *beyond])
    edges = np.unique(forest.threshold[nodes])
    with np.errstate(over="ignore", under="ignore"):
        single = edges.astype(np.float32)
        sides = [np.nextafter(each, each.dtype.type(way)) for each in (edges, single) for way in (-np.inf, np.inf)]
        places = np.concatenate([edges, single.astype(float), *(each.astype(float) for each in sides)])
    return np.concatenate([places[np.abs(places) <= LARGEST], beyond])
