"""A user's columns as a model takes them that has no preprocessing in front of it: by name or by place, categories by code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.data.columns import Column
from tippingpoint.data.frames import Features
from tippingpoint.errors import ModelError, listed
from tippingpoint.families.trees.columns.codes import Codes
from tippingpoint.families.trees.reading import TreeReading, Unread
from tippingpoint.preprocessing.categories import as_written

OF_ITS_OWN = "CatBoost"
"""The library that takes categories which the reading does not know: no tree that is read asks about them."""


class RawColumns:
    """What a model sees of raw columns.

    Attributes
    ----------
    source
        `(M,)` the raw column that each of the model's is.
    numbers
        `(M,)` whether it is one of numbers, seen as they are.
    refused
        By raw column: which of its categories, and last what is missing, the library fails on.
    """

    def __init__(self, reading: TreeReading, features: Features, source: IntArray) -> None:
        self.source = source
        self.refused: dict[int, BoolArray] = {}
        self._columns = features.columns
        self._codes = {m: Codes(known, reading.library) for m, known in reading.categories.items()}
        self._tables: dict[int, FloatArray] = {}
        unasked = set(range(len(source))) - set(reading.forest.columns.tolist()) if reading.library == OF_ITS_OWN else ()
        for m, j in enumerate(source.tolist()):
            if features.columns[j].holds == "category" and m not in unasked:
                self._tables[m] = self._table(j, self._codes.get(m))
        self.numbers: BoolArray = np.array([m not in self._tables and m not in self._codes for m in range(len(source))])

    def __call__(self, x: FloatArray, rows: IntArray) -> FloatArray:
        """`(n, M)` what the model sees of these rows."""
        strange = self.strange(x)
        if strange is not None:
            raise ModelError(f"the model fails on {strange}; restrict what may move with a Space.")
        seen = x[:, self.source]
        for m, codes in self._codes.items():
            if m not in self._tables:
                seen[:, m] = codes.of(seen[:, m].tolist())
        for m, table in self._tables.items():
            seen[:, m] = table[positions(seen[:, m], len(table) - 1)]
        return seen

    def _table(self, j: int, codes: Codes | None) -> FloatArray:
        """What every category of a column is to the model, and last what is missing."""
        labels = [*self._columns[j].categories, None]
        found = [_number(label) for label in labels] if codes is None else [codes.find(label) for label in labels]
        refused = np.array([code is None for code in found])
        if refused.any():
            self.refused[j] = self.refused.get(j, np.zeros(len(labels), dtype=bool)) | refused
        return np.array(found, dtype=float)

    def strange(self, x: FloatArray) -> str | None:
        """In words: what of these rows the library fails on; None where it fails on nothing."""
        found = held(x, self.refused)
        for m in self._codes.keys() - self._tables.keys():
            j, codes = int(self.source[m]), self._codes[m]
            found = found or next(((j, value) for value in np.unique(x[:, j]).tolist() if codes.find(value) is None), None)
        return None if found is None else place(self._columns[found[0]], found[1])


def positions(codes: FloatArray, missing: int) -> IntArray:
    """Positions of categories; `missing` where there is none."""
    return np.where(np.isnan(codes), missing, codes).astype(np.intp)


def held(x: FloatArray, refused: Mapping[int, BoolArray]) -> tuple[int, float] | None:
    """The first column, and its value, of which some row holds what is refused."""
    for j, mask in refused.items():
        caught = np.isnan(x[:, j]) & mask[-1] if len(mask) == 1 else mask[positions(x[:, j], len(mask) - 1)]
        if caught.any():
            return j, float(x[np.flatnonzero(caught)[0], j])
    return None


def place(column: Column, value: float) -> str:
    """A value of a column, for a sentence."""
    return f"{column.name!r} where it is missing" if np.isnan(value) else f"{column.name}={column.label(value)!r}"


def _number(label: Any) -> float | None:
    """A category as the number that it is; None where it is none."""
    if label is None:
        return np.nan
    return float(label) if isinstance(label, (bool, int, float)) else None


def matched(reading: TreeReading, features: Features) -> IntArray | Unread:
    """The raw column that each of a model's columns is: by name where both have names, by place otherwise."""
    width = reading.forest.width
    if reading.names is None or not hasattr(features.native, "columns"):
        if width != len(features.columns):
            return Unread(f"it takes {width} columns, and X has {len(features.columns)}")
        return np.arange(width, dtype=np.intp)
    of_lightgbm = reading.library == "LightGBM"
    names = as_written(reading.names, features.names) if of_lightgbm else reading.names
    absent = next((name for name in names if name not in features.names), None)
    if absent is not None:
        return Unread(f"it takes a column {absent!r}, which X does not have")
    if reading.library == "scikit-learn" and not reading.categories and names != features.names:
        # Its encoder of categories, where there is one, finds columns by name; without one, their order is insisted on.
        return Unread(f"it takes just the columns {listed(names)}, in this order")
    return _places(names, features.names)


def _places(names: Sequence[str], among: Sequence[str]) -> IntArray:
    place = {name: j for j, name in enumerate(among)}
    return np.array([place[name] for name in names], dtype=np.intp)
