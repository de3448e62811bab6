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
Rows = slice | IntArray
"""Which samples: a run of them, or their positions."""


def total(weights: FloatArray, values: FloatArray | BoolArray) -> float:
    """`Σ_i w_i v_i`, summed pairwise."""
    return float(np.add.reduce(weights * values))


def combine(rows: FloatArray | BoolArray, coefficients: FloatArray) -> FloatArray:
    """`Σ_j x_ij b_j` of every row, for one `b` or one `b` a row."""
    return np.asarray(np.einsum("ij,j->i" if coefficients.ndim == 1 else "ij,ij->i", rows, coefficients), dtype=float)


def blocks(n: int, step: int) -> Iterator[slice]:
    """`[0, n)` in slices of at most `step`, and of one at least."""
    for start in range(0, n, max(step, 1)):
        yield slice(start, min(start + max(step, 1), n))
