"""Columns behind a user's pipeline: seen through it, and believed to be what its steps say only after a trial."""

from __future__ import annotations

from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, blocks
from tippingpoint.data.frames import Features
from tippingpoint.errors import ModelError
from tippingpoint.families.trees.columns.codes import Codes
from tippingpoint.families.trees.reading import TreeReading
from tippingpoint.foreign import guarded
from tippingpoint.preprocessing.encoders import category_places, transformed, whole_row

BATCH = 2**16
"""Rows that a pipeline is given at once."""

MOST_FAILURES = 256
"""Rows that are found out one by one where a pipeline fails on several together."""


class PipedColumns:
    """What a model sees through the pipeline in front of it.

    Attributes
    ----------
    start
        A row without gaps, of which single columns are changed.
    sparse
        Whether the pipeline returned a sparse matrix.
    """

    def __init__(self, steps: Any, reading: TreeReading, features: Features, absent: float = 0.0) -> None:
        """`absent` is the value of the entries that a sparse matrix does not store."""
        self.start: FloatArray = whole_row(features)
        self.sparse: bool = False
        self._absent = absent
        self._steps = steps
        self._features = features
        self._width = reading.forest.width
        self._codes = {m: Codes(known, reading.library) for m, known in reading.categories.items()}

    def __call__(self, x: FloatArray, rows: IntArray) -> FloatArray:
        """`(n, M)` what the model sees of these rows of the data with values `x`."""
        seen = [self._seen(x[part], rows[part]) for part in blocks(len(x), BATCH)]
        return np.concatenate(seen) if seen else np.empty((0, self._width))

    def like_start(self, x: FloatArray) -> FloatArray:
        """The same of rows that are like the first of the data but for some values."""
        return self(x, np.zeros(len(x), dtype=np.intp))

    def attempt(self, x: FloatArray) -> tuple[FloatArray, BoolArray]:
        """The same, not a number in rows on which the pipeline fails, and which rows those are; found by halving."""
        seen, fails = np.full((len(x), self._width), np.nan), np.zeros(len(x), dtype=bool)
        parts = [np.arange(len(x))]
        while parts:
            part = parts.pop()
            try:
                seen[part] = self.like_start(x[part])
            except ModelError:
                if len(part) > 1:
                    parts += np.array_split(part, 2)
                    continue
                fails[part] = True
                if fails.sum() > MOST_FAILURES:
                    raise
        return seen, fails

    def _seen(self, x: FloatArray, rows: IntArray) -> FloatArray:
        with guarded(_failure):
            seen = transformed(self._steps, self._features, rows, x)
            if hasattr(seen, "tocoo"):
                self.sparse = True
                seen = _filled(seen, self._absent)
            values = self._numbers(seen) if self._codes else np.asarray(seen, dtype=float)
        if values.shape != (len(x), self._width):
            raise ModelError(
                f"the model's preprocessing makes shape {values.shape} of {len(x)} rows; the model takes {self._width} columns."
            )
        return values

    def _numbers(self, seen: Any) -> FloatArray:
        """Columns as numbers, one by one: categories that the model itself encodes are of any type."""
        names = getattr(seen, "columns", None)
        columns = list(np.asarray(seen).T) if names is None else [np.asarray(seen[name]) for name in names]
        found = [
            self._codes[m].of(column.tolist()) if m in self._codes else np.asarray(column, dtype=float)
            for m, column in enumerate(columns)
        ]
        return np.column_stack(found)


def _filled(matrix: Any, absent: float) -> FloatArray:
    """A sparse matrix as an array, with this value in the entries that it does not store."""
    stored = matrix.tocoo()
    stored.sum_duplicates()
    filled = np.full(stored.shape, absent)
    filled[stored.row, stored.col] = stored.data
    return filled


def _failure(reason: str) -> ModelError:
    return ModelError(
        f"the model's preprocessing fails ({reason}); pass the columns it was fitted on, and values that it knows."
    )


def refusals(seen: PipedColumns, features: Features) -> dict[int, BoolArray]:
    """By raw column: which of its categories, and last what is missing, the pipeline fails on."""
    places = category_places(features)
    x = np.tile(seen.start, (len(places), 1))
    for row, (j, value) in zip(x, places, strict=True):
        row[j] = value
    found: dict[int, BoolArray] = {}
    for failed in np.flatnonzero(seen.attempt(x)[1]):
        j, value = places[failed]
        mask = found.setdefault(j, np.zeros(len(features.columns[j].categories) + 1, dtype=bool))
        mask[-1 if np.isnan(value) else int(value)] = True
    return found
