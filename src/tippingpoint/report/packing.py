"""Arrays as text that a browser can read: every bit of a number is kept, and what repeats takes no room."""

from __future__ import annotations

import base64
from typing import Any, Literal

import numpy as np

from tippingpoint.core.arrays import FloatArray

BYTE_VALUES = 256
"""Whole numbers below it are written as one byte."""

Digits = Literal["f8", "f4"]


def pack(values: FloatArray, digits: Digits = "f8") -> dict[str, Any]:
    """`{"as": …}`: one number where all are the same, bytes where all are small and whole, otherwise floats, in base 64."""
    if len(values) and (values == values[0]).all():
        return {"as": "same", "value": float(values[0]), "length": len(values)}
    if (values == np.floor(values)).all() and (values >= 0.0).all() and (values < BYTE_VALUES).all():
        return {"as": "u1", "data": _text(values.astype(np.uint8))}
    return {"as": digits, "data": _text(values.astype(f"<{digits}"))}


def unpack(packed: dict[str, Any]) -> FloatArray:
    """The inverse of `pack`."""
    if packed["as"] == "same":
        return np.full(packed["length"], packed["value"], dtype=float)
    dtype = "u1" if packed["as"] == "u1" else f"<{packed['as']}"
    return np.frombuffer(base64.b64decode(packed["data"]), dtype=dtype).astype(float)


def _text(values: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")
