"""Comparisons that a library makes in float32, as comparisons of doubles."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tippingpoint.core.arrays import FloatArray

OVERFLOW32 = 2.0**128
"""Where float32 would go on after its largest number: halfway from there on, numbers are rounded to infinity."""


def le32(t: npt.ArrayLike) -> FloatArray:
    r"""The largest double whose nearest float32 is at most `t`: :math:`\max\{x : float32(x) ≤ t\}`.

    Between the last float32 that is at most `t` and the next one, doubles go to the nearer; of two as near, to the even one.
    """
    edges = np.asarray(t, dtype=float)
    with np.errstate(over="ignore", under="ignore"):
        near = edges.astype(np.float32)
        last = np.where(near.astype(float) > edges, before32(near), near)
        middle = 0.5 * (_unbounded(last) + _unbounded(np.nextafter(last, np.float32(np.inf))))
        falls = middle.astype(np.float32) <= last
    return np.where(np.isfinite(last) | (last < 0), np.where(falls, middle, np.nextafter(middle, -np.inf)), edges)


def before32(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The float32 before each of these."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.nextafter(values, np.float32(-np.inf)))


def _unbounded(values: npt.NDArray[np.float32]) -> FloatArray:
    """As doubles, infinity as the number that it stands for when numbers are rounded."""
    return np.asarray(np.clip(values.astype(float), -OVERFLOW32, OVERFLOW32))
