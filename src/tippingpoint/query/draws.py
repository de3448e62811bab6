"""Random numbers that belong to a row: the same whichever rows are drawn for beside it, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from tippingpoint.core.arrays import FloatArray, IntArray

Words = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]

STEP = np.uint64(0x9E3779B97F4A7C15)
"""From one state of the generator to the next: the odd number nearest to 2^64 over the golden ratio, as SplitMix64 has it."""

FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
"""Multipliers of SplitMix64."""


def row_uniforms(key: Sequence[int], rows: IntArray, width: int) -> FloatArray:
    """`(n, width)` numbers between 0 and 1, both excluded: a function of the key, the number of the row and the column."""
    start = np.random.SeedSequence(list(key)).generate_state(1, np.uint64)[0]
    each = _mixed(start + (rows.astype(np.uint64) + np.uint64(1)) * STEP)
    words = _mixed(each[:, None] + np.arange(1, width + 1, dtype=np.uint64) * STEP)
    return np.asarray(((words >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53)


def row_normals(key: Sequence[int], rows: IntArray, width: int) -> FloatArray:
    """The same as standard normal numbers."""
    return np.asarray(ndtri(row_uniforms(key, rows, width)))


def row_choices(key: Sequence[int], rows: IntArray, count: int) -> IntArray:
    """The same as one whole number a row, from 0 to below `count`."""
    return np.minimum(row_uniforms(key, rows, 1)[:, 0] * count, count - 1).astype(np.intp)


def _mixed(state: Words) -> Words:
    """The output of SplitMix64 at these states; numbers wrap around."""
    word = (state ^ (state >> np.uint64(30))) * FIRST
    word = (word ^ (word >> np.uint64(27))) * SECOND
    return np.asarray(word ^ (word >> np.uint64(31)))
