"""Doubles in their order, as whole numbers, and the last of them for which something holds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tippingpoint.core.arrays import BoolArray, FloatArray

LARGEST = float(np.finfo(np.float64).max)
"""The largest finite double."""

Ranks = npt.NDArray[np.int64]
"""Places among all doubles: of zero 0, of the next one above 1, of the one below it -1."""


def ranks(numbers: FloatArray) -> Ranks:
    """The places of doubles; both zeros share theirs."""
    bits = np.ascontiguousarray(numbers, dtype=np.float64).view(np.int64)
    return np.where(bits >= 0, bits, np.iinfo(np.int64).min - bits)


def doubles(places: Ranks) -> FloatArray:
    """The doubles at these places."""
    bits = np.where(places >= 0, places, np.iinfo(np.int64).min - places)
    return np.ascontiguousarray(bits).view(np.float64)


def last_doubles(holds: Callable[[FloatArray], BoolArray], low: FloatArray, high: FloatArray, parts: int = 2) -> FloatArray:
    """Entry by entry, the largest double below `high` for which `holds`.

    Parameters
    ----------
    holds
        Told of `(parts - 1, *shape)` numbers at once. It has to hold at `low` and not at `high`, and to stop holding once.
    low, high
        Finite, of one shape; where they are equal there is nothing to look for, and `low` is the answer.
    parts
        Into how many the interval is cut each time: two take up to 64 questions, sixteen as few as 16.
    """
    first, last = ranks(low), ranks(high)
    while (last - 1 > first).any():
        inner = np.stack([_between(first, last, k, parts) for k in range(1, parts)])
        held = holds(doubles(inner)).sum(axis=0)
        every = np.concatenate((first[None], inner, last[None]))
        first, last = (np.take_along_axis(every, held[None] + step, axis=0)[0] for step in (0, 1))
    return doubles(first)


def _between(first: Ranks, last: Ranks, part: int, parts: int) -> Ranks:
    """`first + (last - first)·part/parts`, rounded down; without the difference, which might be too large."""
    whole = (last // parts - first // parts) * part + first
    return whole + (last % parts - first % parts) * part // parts
