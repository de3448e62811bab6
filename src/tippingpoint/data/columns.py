"""Columns of a table as numbers: categories are counted off, and every number can be turned back into what it stands for."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError

Holds = Literal["number", "integer", "boolean", "category", "shift"]

LARGE = 2.0**63
"""What no whole number of 64 bits reaches."""


NUMERAL = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
"""A number as text. Zeros in front, as in the code '01234', are not part of a number."""

CODE = re.compile(r"[-+]?0[0-9]+")
"""Text that only a code has; a column that holds one holds codes."""

MAX_ODD, LEAST_NUMBERS = 3, 20
"""So few distinct texts among at least so many distinct numbers are a slip in a column of numbers."""

DATES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)
"""Values of times, which are neither numbers nor categories."""


@dataclass(frozen=True)
class Column:
    """What a column holds, and how it is written as numbers.

    Attributes
    ----------
    name
        Of the column.
    holds
        "number", "integer" and "boolean" are themselves; a "category" is its position among the `categories`. A "shift" is
        how far something has moved that has many values: 0 where a sample is.
    categories
        Its values, in the order of their positions; none for numbers.
    ordered
        Whether its own type says that the categories have an order.
    gap
        What stands where a category is missing: None, NaN; that of pandas where none is.
    like
        An empty column of the user's frame, whose type what is decoded takes on; None for an array.
    """

    name: str
    holds: Holds = "number"
    categories: tuple[Any, ...] = ()
    ordered: bool = False
    gap: Any = None
    like: Any = field(default=None, repr=False, compare=False)

    @property
    def is_order(self) -> bool:
        """Whether the user's own type declares an order of exactly these categories, as pandas' `ordered=True` does.

        An Enum of polars lists its values in some order, whether that means anything or not.
        """
        if not self.ordered or self.like is None or not self.like.implementation.is_pandas():
            return False
        return tuple(plain(declared_categories(self.like)[0] or ())) == self.categories

    def decoded(self, numbers: FloatArray) -> Any:
        """The values that the numbers stand for, of the type of the user's own column where it can hold them."""
        plain = self._plain(numbers)
        return plain if self.like is None else _typed(plain, self.like)

    def label(self, number: float) -> str:
        """One value, for reading."""
        if self.holds == "category":
            return "missing" if math.isnan(number) else str(self.categories[int(number)])
        return "missing" if math.isnan(number) else f"{number:g}"

    def _plain(self, numbers: FloatArray) -> np.ndarray[Any, Any]:
        if self.holds == "category":
            missing = np.isnan(numbers)
            codes = np.where(missing, len(self.categories), numbers).astype(np.intp)
            return self._values[codes] if missing.any() else self._whole[codes]
        if self.holds == "integer" and bool(((numbers == np.round(numbers)) & (np.abs(numbers) < LARGE)).all()):
            return numbers.astype(np.int64)
        if self.holds == "boolean" and np.isin(numbers, (0.0, 1.0)).all():
            return numbers.astype(bool)
        return numbers

    @cached_property
    def _values(self) -> np.ndarray[Any, Any]:
        values = np.empty(len(self.categories) + 1, dtype=object)
        values[:-1] = list(self.categories)
        values[-1] = self.gap
        return values

    @cached_property
    def _whole(self) -> np.ndarray[Any, Any]:
        """The categories as an array of their own type, where they share one."""
        kinds = {type(value) for value in self.categories}
        return np.array(self.categories) if kinds in ({bool}, {int}, {float}) else self._values[:-1]


class UnknownCategoryError(Exception):
    """A column holds a value that is none of its categories."""

    def __init__(self, row: int, value: Any) -> None:
        super().__init__(value)
        self.row = row
        self.value = value


class OddTextError(Exception):
    """A column of numbers holds a text that is none."""

    def __init__(self, row: int, value: Any) -> None:
        super().__init__(value)
        self.row = row
        self.value = value


def encode(values: Sequence[Any], name: str, categories: Sequence[Any] | None = None) -> tuple[FloatArray, Column]:
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

    held = np.empty(len(values), dtype=object)
    held[:] = values
    try:
        codes, distinct = pd.factorize(held)
    except TypeError:
        raise InputError(f"X[{name!r}] holds values that are no categories (they cannot be hashed); drop the column.") from None
    found = plain(distinct)
    listed = in_order(found) if categories is None else plain(categories)
    odd = next((value for value in listed if not isinstance(value, Hashable)), None)
    if odd is not None:
        raise InputError(f"categories[{name!r}] lists {odd!r}, which is no value of a column; list numbers or text.")
    place = {value: k for k, value in enumerate(listed)}
    unknown = [value for value in found if value not in place]
    if unknown:
        raise UnknownCategoryError(int(np.flatnonzero(codes == found.index(unknown[0]))[0]), unknown[0])
    positions = np.array([*(place[value] for value in found), math.nan])
    gaps = np.flatnonzero(codes < 0)
    return positions[codes], Column(name, "category", tuple(listed), gap=held[gaps[0]] if len(gaps) else None)


@dataclass(frozen=True)
class StoredNumbers:
    """Numbers in a column whose type does not say so.

    Attributes
    ----------
    values
        One per row; NaN where a value is missing. Whole numbers and truth values keep their type if none is missing.
    text
        Whether some are stored as text.
    """

    values: np.ndarray[Any, Any]
    text: bool


def stored_numbers(values: Sequence[Any], name: str) -> StoredNumbers | None:
    """The numbers of a column of objects or text; None if it holds categories.

    Blank text counts as missing beside numbers. A column of dates is refused; one of numbers with a few other texts is an
    `OddTextError`.
    """
    import pandas as pd

    held = np.empty(len(values), dtype=object)
    held[:] = values
    try:
        codes, distinct = pd.factorize(held)
    except TypeError:  # values that cannot be hashed
        return None
    written = distinct.tolist()
    read, odd = _read(written)
    if odd:
        if all(isinstance(value, DATES) for value in odd):
            raise InputError(
                f"X[{name!r}] holds {type(odd[0]).__name__} values, neither numbers nor categories; turn it into one (a date"
                " into days) or drop it."
            )
        if _is_slip(odd, len(read) - len(odd)):
            raise OddTextError(int(np.flatnonzero(codes == written.index(odd[0]))[0]), odd[0])
        return None
    text = any(isinstance(value, str) for value in written)
    blank = any(isinstance(value, float) and math.isnan(value) for value in read)
    if text and all(isinstance(value, str) and not value.strip() for value in written):
        return None
    found = np.array([*map(float, read), math.nan])[codes]
    kinds, missing = {type(value) for value in read}, blank or bool((codes < 0).any())
    if not missing and kinds == {bool}:
        return StoredNumbers(found.astype(bool), text)
    if not missing and kinds <= {int, bool} and bool((np.abs(found) < LARGE).all()):
        return StoredNumbers(np.array(read, dtype=np.int64)[codes], text)
    return StoredNumbers(found, text)


def categories_are_numbers(series: Any) -> bool:
    """Whether a column's type lists categories without an order, each of them a number or text that reads as one."""
    import narwhals as nw

    if not isinstance(series.dtype, nw.Categorical):
        return False
    declared, ordered = declared_categories(series)
    return not ordered and all_numbers(plain(series.unique().to_list() if declared is None else declared))


def all_numbers(values: Sequence[Any]) -> bool:
    """Whether there are values, each of them a number or text that reads as one."""
    numbers = [_number(value) for value in values]
    return bool(numbers) and all(number is not None and not math.isnan(number) for number in numbers)


def _read(values: Sequence[Any]) -> tuple[list[bool | int | float], list[Any]]:
    """Values as numbers, NaN for those that are none; and these, up to one more than a slip can be."""
    read, odd = list[bool | int | float](), list[Any]()
    for value in values:
        number = _number(value)
        read.append(math.nan if number is None else number)
        if number is None:
            odd.append(value)
            if len(odd) > MAX_ODD:
                break
    return read, odd


def _is_slip(odd: Sequence[Any], numbers: int) -> bool:
    """Whether so many distinct numbers and these other values are a column of numbers in which something went wrong."""
    texts = all(isinstance(value, str) and not CODE.fullmatch(value.strip()) for value in odd)
    return texts and len(odd) <= MAX_ODD and numbers >= LEAST_NUMBERS


def _number(value: Any) -> bool | int | float | None:
    """A value as a number; blank text as a missing one; None for anything else."""
    if isinstance(value, str):
        written = value.strip()
        if NUMERAL.fullmatch(written):
            return _whole(written) if written.lstrip("+-").isdigit() else float(written)
        return None if written else math.nan
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    exponent = value.as_tuple().exponent if isinstance(value, Decimal) else None
    if isinstance(value, Integral) or (isinstance(exponent, int) and exponent >= 0):
        return _whole(value)
    return float(value) if isinstance(value, (Real, Decimal)) else None


def _whole(value: Any) -> int | float:
    """A whole number; one that no float reaches is infinite, which is refused as such."""
    try:
        return int(value) if math.isfinite(float(value)) else math.inf
    except OverflowError:
        return math.inf


def plain(values: Iterable[Any]) -> list[Any]:
    """Values as Python writes them, not NumPy; without what is missing."""
    listed = (value.item() if isinstance(value, np.generic) else value for value in values)
    return [value for value in listed if not is_missing(value)]


def is_missing(value: Any) -> bool:
    """Whether a single value stands for nothing: None, NaN, NA, NaT."""
    import pandas as pd

    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


def in_order(values: Iterable[Any]) -> list[Any]:
    """Sorted, where the values can be compared; otherwise as they come."""
    listed = list(values)
    try:
        return sorted(listed)
    except TypeError:
        return listed


def _typed(values: np.ndarray[Any, Any], like: Any) -> Any:
    """The values as a column of the type of `like`; as they are, where that type would lose something."""
    if values.dtype.kind in "biuf" and not _fits(values, like.dtype):
        return values
    return _typed_pandas(values, like.to_native().dtype) if like.implementation.is_pandas() else _typed_other(values, like)


def _fits(values: np.ndarray[Any, Any], kind: Any) -> bool:
    """Whether a type of narwhals holds these numbers without loss."""
    import narwhals as nw

    held = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    if kind == nw.Boolean:
        return bool(np.isin(held, (0, 1)).all())
    if isinstance(kind, nw.Decimal):  # of a fixed number of digits
        return False
    if kind.is_integer():
        bounds = np.iinfo(str(kind).lower())
        whole = bool((held == np.round(held)).all())
        return whole and (not len(held) or (held.min() >= bounds.min and held.max() <= bounds.max))
    return kind != nw.Float32 or bool((held.astype(np.float32) == held).all())


def _typed_pandas(values: np.ndarray[Any, Any], dtype: Any) -> Any:
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype):
        new = [value for value in pd.unique(values) if not is_missing(value) and value not in dtype.categories]
        if new:
            dtype = pd.CategoricalDtype([*dtype.categories, *new], dtype.ordered)
    if values.dtype.kind == "f" and isinstance(dtype, np.dtype) and dtype.kind in "biu" and np.isnan(values).any():
        return values  # a type without a word for what is missing: pandas would make True of it
    try:
        made = pd.Series(values, dtype=dtype)
    except (TypeError, ValueError):  # such as nothing, where the type has no word for it
        return values
    return made.to_numpy() if made.dtype.kind in "biuf" and isinstance(dtype, np.dtype) else made


def _typed_other(values: np.ndarray[Any, Any], like: Any) -> Any:
    import narwhals as nw

    listed = [None if is_missing(value) else value for value in values.tolist()]
    made = nw.new_series(like.name, listed, backend=like.implementation)
    declared = getattr(like.dtype, "categories", None)
    if isinstance(like.dtype, nw.Enum) and not set(listed) <= {*(declared or ()), None}:
        return made.to_native()
    return made.cast(like.dtype).to_native()


def declared_categories(series: Any) -> tuple[list[Any] | None, bool]:
    """The categories that a column's own type lists, and whether it says that they have an order."""
    import narwhals as nw

    native = series.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "categories"):
        return list(native.cat.categories), bool(native.cat.ordered)
    return (list(series.dtype.categories), True) if isinstance(series.dtype, nw.Enum) else (None, False)
