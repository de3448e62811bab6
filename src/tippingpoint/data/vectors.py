"""Vectors of labels, targets and weights, as arrays: one value a row, each of them known."""

from __future__ import annotations

import math
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, blocks
from tippingpoint.data.columns import is_missing
from tippingpoint.errors import InputError

CHUNK = 2**20
"""Numbers looked at at once."""

PLAIN = "biuf"
"""Kinds of NumPy's types that are numbers, and become floats by being written among them."""

NUMBERS = (Real, Decimal, np.bool_, type(None))
"""What a column of mixed types may hold; None is missing, and refused as such."""


def read_vector(data: Any, name: str, length: int | None = None) -> np.ndarray[Any, Any]:
    """A series, list or array of one dimension, as an array that nobody else holds."""
    return np.array(_vector(data, name, length))


def _vector(data: Any, name: str, length: int | None) -> np.ndarray[Any, Any]:
    """The same as it is held: whoever keeps it copies it."""
    import narwhals as nw

    series = nw.from_native(data, series_only=True, pass_through=True)
    values = _without_objects(np.asarray(series.to_numpy() if isinstance(series, nw.Series) else as_array(data, name)))
    if values.ndim != 1:
        raise InputError(f"{name} has shape {values.shape}; give one value a row, as a vector.")
    if length is not None and len(values) != length:
        raise InputError(f"{name} has {len(values)} values but X has {length} rows; give one value a row.")
    return values


def _without_objects(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers that are stored as objects, such as decimals of a database, as an array of numbers; anything else as it is."""
    kinds = set(map(type, values.tolist())) if values.dtype.kind == "O" and values.ndim == 1 else set()
    if not kinds or not all(issubclass(kind, (Real, Decimal, np.bool_)) for kind in kinds):
        return values
    if all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return values.astype(bool)
    whole = all(issubclass(kind, Integral) for kind in kinds)
    try:
        return values.astype(np.int64 if whole else np.float64)
    except OverflowError:  # a whole number beyond 64 bits
        return values


def read_numbers(data: Any, name: str, length: int | None = None, *, gaps: bool = False) -> FloatArray:
    """A vector of finite numbers, as an array that nobody else holds; with `gaps` some may be missing, which is NaN."""
    values = _vector(data, name, length)
    if gaps and values.dtype.kind == "O":
        values = np.array([math.nan if is_missing(value) else value for value in values.tolist()], dtype=object)
    numbers = as_numbers(values, name)
    bad = _first_not_finite(np.nan_to_num(numbers, nan=0.0, posinf=math.inf, neginf=-math.inf) if gaps else numbers)
    if bad is not None:
        raise InputError(f"{name}[{bad}]={numbers[bad]}: every value must be finite; drop the row or fill it.")
    return numbers.copy() if np.may_share_memory(numbers, values) else numbers


def read_labels(data: Any, name: str, length: int | None = None) -> np.ndarray[Any, Any]:
    """A vector of labels of any type, none of them missing; it may be the user's own, to be read and not kept."""
    import pandas as pd

    labels = _vector(data, name, length)
    if labels.dtype.kind in "biu":
        return labels
    missing = None if labels.dtype.kind == "f" else np.flatnonzero(np.asarray(pd.isna(labels)))
    row = _first_not_finite(labels) if missing is None else next(iter(missing.tolist()), None)
    if row is not None:
        raise InputError(f"{name}[{row}]={labels[row]}: every label must be known; drop the row or fill it.")
    return labels


def _first_not_finite(numbers: np.ndarray[Any, Any]) -> int | None:
    """The position of the first number that is none; None where there is no such."""
    for rows in blocks(len(numbers), CHUNK):
        finite = np.isfinite(numbers[rows])
        if not finite.all():
            return int(rows.start + np.argmin(finite))
    return None


def base_weights(data: Any, length: int, name: str = "sample_weight") -> FloatArray:
    """Sample weights that sum to one; equal where none are given."""
    if data is None:
        return np.broadcast_to(1.0 / length, length)  # one number: nobody writes into weights
    weights = read_weights(data, length, name)
    if not weights.any():
        raise no_weight(name)
    scaled = weights / weights.max()
    return np.asarray(scaled / scaled.sum())


def read_weights(data: Any, length: int, name: str = "sample_weight") -> FloatArray:
    """Sample weights as they are given, none of them negative; ones where none are given."""
    if data is None:
        return np.ones(length)
    weights = read_numbers(data, name, length)
    negative = np.flatnonzero(weights < 0.0)
    if len(negative):
        raise InputError(f"{name}[{negative[0]}]={weights[negative[0]]:g} is negative; weights must be ≥ 0.")
    return weights


def no_weight(name: str = "sample_weight") -> InputError:
    """The error for weights of which none counts."""
    return InputError(f"{name} is zero throughout; give at least one sample a positive weight.")


def as_array(data: Any, name: str) -> np.ndarray[Any, Any]:
    """An array of whatever can be one; text beside numbers stays text."""
    if np.ma.is_masked(data):
        raise InputError(f"{name} holds masked values; fill them or drop their rows.")
    try:
        values = np.asarray(data)
        # NumPy makes text of a list that mixes text with numbers or with what is missing.
        return np.asarray(data, dtype=object) if values.dtype.kind in "US" and isinstance(data, (list, tuple)) else values
    except ValueError:
        raise InputError(f"{name} has rows of different lengths; give every row the same number of values.") from None


def as_numbers(values: np.ndarray[Any, Any], name: str) -> FloatArray:
    """As float64; text, dates and complex numbers are refused, also where they could be read as numbers."""
    if values.dtype.kind not in PLAIN:
        others = [(k, value) for k, value in enumerate(values.flat) if not isinstance(value, NUMBERS)]
        if others:
            k, odd = next(((k, value) for k, value in others if not _reads_as_number(value)), others[0])
            where = f" in {name}[{k}]" if values.ndim == 1 else ""
            fix = "convert text with astype(float)" if _reads_as_number(odd) else "encode them or drop them"
            raise InputError(f"{name} holds values that are not numbers, such as {str(odd)!r}{where}; {fix}.")
    try:
        return np.asarray(values, dtype=float)
    except OverflowError:
        raise InputError(f"{name} holds a number above 1.8e308. Give numbers that float64 can hold.") from None


def _reads_as_number(value: Any) -> bool:
    """Whether text could be read as a number: beside text that cannot, it is not what is wrong."""
    try:
        return isinstance(value, str) and not np.isnan(float(value))
    except ValueError:
        return False
