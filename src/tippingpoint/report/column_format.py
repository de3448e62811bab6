"""How values of a column of numbers are written, and which of them are doubtful: from what the column holds."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from tippingpoint.core.arrays import FloatArray

MAX_DECIMALS = 4
"""Digits behind the point up to which a column is one of decimals; one with more is written to so many digits in all."""

MIN_DIGITS, MAX_DIGITS = 4, 7
"""Digits in all that a column may be written with; one that has more, as a measurement in binary, gets the least."""

ROUND_OFF = 1e-12
"""Part of a number by which its decimals may be off in binary."""

SCALING_ERROR = 1e-11
"""Part of a number that is lost where it is brought to another power of ten."""

SINGLE_ROUND_OFF = 2.0**-22
"""The same for numbers of single precision."""

LAST_DECIMAL_SHARE = 0.25
"""Part of the last decimal by which a number may be off at most, whatever its size."""

RANGE_SLACK = 1e-9
"""Part of a feature's range by which rounding may leave it."""


class ColumnFormat(TypedDict):
    """Decimals (None where there are many) and digits of a column, whether all are whole, and where its values lie."""

    decimals: int | None
    digits: int
    whole: bool
    range: list[float]
    within: list[float]


def column_format(values: FloatArray) -> ColumnFormat | None:
    """Decimals, digits, whether all are whole, and the range beyond which values are doubtful; None where all are missing."""
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    low, high = float(known.min()), float(known.max())
    slack = RANGE_SLACK * (high - low)
    whole = bool((known == np.round(known)).all())
    return {
        "decimals": _decimals(known),
        "digits": _digits(known),
        "whole": whole,
        "range": [low, high],
        "within": [low - slack, high + slack],
    }


def _decimals(known: FloatArray) -> int | None:
    """Digits behind the point that every value is written with; None where some have more than a few."""
    if not np.isfinite(known).all():
        return None
    with np.errstate(over="ignore"):
        single = bool((known.astype(np.float32) == known).all())
    for decimals in range(MAX_DECIMALS + 1):
        off = np.minimum((SINGLE_ROUND_OFF if single else ROUND_OFF) * np.abs(known), LAST_DECIMAL_SHARE * 10.0**-decimals)
        if (np.abs(known - np.round(known, decimals)) <= off).all():
            return decimals
    return None


def _digits(known: FloatArray) -> int:
    """Digits in all that every value is written with, between the least and the most; the least where some have more."""
    size = np.abs(known[(known != 0.0) & np.isfinite(known)])
    with np.errstate(all="ignore"):
        first = 10.0 ** np.floor(np.log10(size))
        for digits in range(MIN_DIGITS, MAX_DIGITS + 1):
            scaled = size / first * 10.0 ** (digits - 1)
            if (np.abs(scaled - np.round(scaled)) <= SCALING_ERROR * scaled).all():
                return digits
    return MIN_DIGITS
