"""Numbers as JSON: what it lacks (infinities, NaN, NumPy's types, tuples) has one spelling here, in both directions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tippingpoint.errors import InputError

NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
"""How numbers are written that JSON has no word for, and what they are."""


def encode(value: Any) -> Any:
    """The same of what JSON knows: `inf`, `-inf` and `nan` as text, tuples and arrays as lists, NumPy's scalars as Python's.

    >>> encode({"a": (1.0, float("inf")), "b": float("nan")})
    {'a': [1.0, 'inf'], 'b': 'nan'}
    """
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0.0 else "-inf"
    if isinstance(value, Mapping):
        return {str(key): encode(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(each) for each in value]
    return value


def decode(stored: Any) -> float:
    """A number as `encode` wrote it; only where one is meant to stand, as a name may be spelled "nan" too.

    >>> [decode(each) for each in (0.5, "-inf", "nan")]
    [0.5, -inf, nan]
    """
    if isinstance(stored, str) and stored in NOT_FINITE:
        return NOT_FINITE[stored]
    if isinstance(stored, bool) or not isinstance(stored, (int, float)):
        raise InputError(f"{stored!r} is stored where a number belongs; write it anew with to_json().")
    return float(stored)


def decode_all(stored: Any) -> tuple[float, ...]:
    """Several numbers."""
    if not isinstance(stored, Sequence) or isinstance(stored, str):
        raise InputError(f"{stored!r} is stored where a list of numbers belongs; write it anew with to_json().")
    return tuple(map(decode, stored))


def write_json(value: Any, indent: int | None = None, *, compact: bool = False) -> str:
    """`encode` as text, letters as they are; `compact` leaves out the spaces too."""
    separators = (",", ":") if compact else None
    return json.dumps(encode(value), indent=indent, separators=separators, allow_nan=False, ensure_ascii=False)


def read_json(text: str | bytes) -> Any:
    """What JSON holds; numbers are as `encode` left them."""
    try:
        return json.loads(text)
    except (ValueError, TypeError) as error:  # among these: no Unicode
        raise InputError(f"this is not JSON ({error}); pass the text that to_json() gave.") from None
