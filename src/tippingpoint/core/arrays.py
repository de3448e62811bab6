"""Names for the arrays that flow through the package, and sums that are the same bytes everywhere.

BLAS splits long sums between threads, so its last digit depends on their number; these do not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
Signs = FloatArray | npt.NDArray[np.int8]
"""A sign, -1 or 1, of every sample."""
Rows = slice | IntArray
"""Which samples: a run of them, or their positions."""

STRETCH = 4096
"""Terms that BLAS sums at once: no BLAS gives so few to several threads."""


def total(weights: FloatArray, values: FloatArray | BoolArray) -> float:
    """`Σ_i w_i v_i`, summed pairwise."""
    return float(np.add.reduce(weights * values))


def dot(weights: FloatArray, values: FloatArray) -> float:
    """`Σ_i w_i v_i` of contiguous numbers, by BLAS in stretches: nothing is written down on the way."""
    whole = len(weights) - len(weights) % STRETCH
    if not whole:
        return float(np.einsum("i,i->", weights, values))
    rows, columns = weights[:whole].reshape(-1, 1, STRETCH), values[:whole].reshape(-1, STRETCH, 1)
    found = float(np.add.reduce(np.matmul(rows, columns), axis=None))
    return found if whole == len(weights) else found + float(np.einsum("i,i->", weights[whole:], values[whole:]))


def combine(rows: FloatArray | BoolArray, coefficients: FloatArray) -> FloatArray:
    """`Σ_j x_ij b_j` of every row, for one `b` or one `b` a row."""
    return np.asarray(np.einsum("ij,j->i" if coefficients.ndim == 1 else "ij,ij->i", rows, coefficients), dtype=float)


def blocks(n: int, step: int, start: int = 0) -> Iterator[slice]:
    """`[start, n)` in slices of at most `step`, and of one at least."""
    for first in range(start, n, max(step, 1)):
        yield slice(first, min(first + max(step, 1), n))
