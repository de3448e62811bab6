"""Columns of a table as numbers: categories are counted off, and every number can be turned back into what it stands for."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError

Holds = Literal["number", "integer", "boolean", "category"]


@dataclass(frozen=True)
class Column:
    """What a column holds, and how it is written as numbers.

    Attributes
    ----------
    name
        Of the column.
    holds
        "number", "integer" and "boolean" are themselves; a "category" is its position among the `categories`.
    categories
        Its values, in the order of their positions; none for numbers.
    """

    name: str
    holds: Holds = "number"
    categories: tuple[Any, ...] = ()

    def decoded(self, numbers: FloatArray) -> Any:
        """The values that the numbers stand for; None where a category is missing."""
        if self.holds == "category":
            missing = np.isnan(numbers)
            codes = np.where(missing, len(self.categories), numbers).astype(np.intp)
            return self._values[codes] if missing.any() else self._whole[codes]
        if self.holds == "integer" and np.isfinite(numbers).all() and bool((numbers == np.round(numbers)).all()):
            return numbers.astype(np.int64)
        if self.holds == "boolean" and np.isin(numbers, (0.0, 1.0)).all():
            return numbers.astype(bool)
        return numbers

    def label(self, number: float) -> str:
        """One value, for reading."""
        if self.holds == "category":
            return "missing" if math.isnan(number) else str(self.categories[int(number)])
        return f"{number:g}"

    @cached_property
    def _values(self) -> np.ndarray[Any, Any]:
        values = np.empty(len(self.categories) + 1, dtype=object)
        values[:-1] = list(self.categories)
        values[-1] = None
        return values

    @cached_property
    def _whole(self) -> np.ndarray[Any, Any]:
        """The categories as an array of their own type, where they share one."""
        kinds = {type(value) for value in self.categories}
        return np.array(self.categories) if kinds in ({bool}, {int}, {float}) else self._values[:-1]


def encode(values: Any, name: str, categories: Sequence[Any] | None = None) -> tuple[FloatArray, Column]:
    """A column of categories as their positions.

    Parameters
    ----------
    values
        One a row; None or NaN where it is missing.
    name
        Of the column.
    categories
        The values there are, in order; where none are given, the distinct ones, sorted where they can be.
    """
    import pandas as pd

    try:
        codes, distinct = pd.factorize(np.asarray(values, dtype=object))
    except TypeError:
        raise InputError(f"X[{name!r}] holds values that are no categories (they cannot be hashed); drop the column.") from None
    found = [value.item() if isinstance(value, np.generic) else value for value in distinct]
    if categories is None:
        listed = _sorted(found)
    else:
        listed = [value.item() if isinstance(value, np.generic) else value for value in categories]
    place = {value: k for k, value in enumerate(listed)}
    unknown = [value for value in found if value not in place]
    if unknown:
        row = int(np.flatnonzero(codes == found.index(unknown[0]))[0])
        raise UnknownCategoryError(row, unknown[0])
    positions = np.array([*(place[value] for value in found), math.nan])
    return positions[codes], Column(name, "category", tuple(listed))


class UnknownCategoryError(Exception):
    """A column holds a value that is none of its categories."""

    def __init__(self, row: int, value: Any) -> None:
        super().__init__(value)
        self.row = row
        self.value = value


def _sorted(values: list[Hashable]) -> list[Hashable]:
    try:
        return sorted(values)  # type: ignore[type-var]  # values of mixed types are left in the order of their first row
    except TypeError:
        return values
