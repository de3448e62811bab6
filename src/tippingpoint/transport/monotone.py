"""Transport on a line: the two samples in their order are matched from the left."""

from __future__ import annotations

import numpy as np

from tippingpoint.core.arrays import FloatArray, total
from tippingpoint.transport.samples import Atoms


def matched(source: Atoms, target: Atoms) -> tuple[float, FloatArray]:
    """`W = Σ mass·(x - y)²` of the cheapest transport, and the mean place to which every source atom goes.

    An atom without mass goes where one beside it would.
    """
    ends, marks = levels(source.masses), levels(target.masses)
    after = np.searchsorted(ends, marks[:-1], side="left")
    merged = np.insert(ends, after, marks[:-1])
    parts = np.diff(merged, prepend=0.0)
    marked = np.zeros(len(merged), dtype=bool)
    marked[after + np.arange(len(after))] = True
    passed = np.cumsum(marked)
    to = passed - marked
    from_ = np.arange(len(merged)) - to
    moved = source.values[from_] - target.values[to]
    starts = np.concatenate(([0], np.flatnonzero(~marked)[:-1] + 1))
    held = np.add.reduceat(parts, starts)
    shift = np.add.reduceat(parts * moved, starts)
    nearest = moved[starts]  # of an atom without mass
    shift = np.where(held > 0.0, np.divide(shift, held, out=np.zeros_like(shift), where=held > 0.0), nearest)
    return total(parts, np.square(moved)), source.values - shift


def levels(masses: FloatArray) -> FloatArray:
    """Masses up to and with each atom, one at the end."""
    sums = np.minimum(np.cumsum(masses), 1.0)
    sums[-1] = 1.0
    return sums


def potentials(source: Atoms, target: Atoms) -> FloatArray:
    """`f_i` of the cheapest transport, zero at the first: `f_{i+1} - f_i = (x_{i+1} - x_i)(x_i + x_{i+1} - 2 Q(A_i))`."""
    at = np.searchsorted(levels(target.masses), levels(source.masses)[:-1], side="left")
    x = source.values
    rises = np.diff(x) * (x[1:] + x[:-1] - 2.0 * target.values[at])
    return np.concatenate(([0.0], np.cumsum(rises)))
