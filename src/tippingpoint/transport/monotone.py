"""Transport on a line: the two samples in their order are matched from the left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, total
from tippingpoint.transport.samples import Atoms


@dataclass(frozen=True)
class Matching:
    """The cheapest transport: parts of mass, and the source and the target atom of each, in their order."""

    source: Atoms
    target: Atoms
    parts: FloatArray
    starts: IntArray
    ends: IntArray

    @property
    def moves(self) -> FloatArray:
        """How far every part goes to the left."""
        return self.source.values[self.starts] - self.target.values[self.ends]

    @property
    def cost(self) -> float:
        """`W = Σ mass·(x - y)²`."""
        return total(self.parts, np.square(self.moves))

    @property
    def places(self) -> FloatArray:
        """The mean place to which every source atom goes; one without mass goes where one beside it would."""
        moves, atoms = self.moves, len(self.source)
        firsts = np.searchsorted(self.starts, np.arange(atoms))
        held = np.bincount(self.starts, self.parts, atoms)
        shifts = np.bincount(self.starts, self.parts * moves, atoms)
        return self.source.values - np.where(held > 0.0, shifts / np.where(held > 0.0, held, 1.0), moves[firsts])


def matched(source: Atoms, target: Atoms) -> Matching:
    """The transport that keeps the order."""
    ends, marks = levels(source.masses), levels(target.masses)[:-1]
    marked = np.zeros(len(ends) + len(marks), dtype=bool)
    marked[np.searchsorted(ends, marks) + np.arange(len(marks))] = True
    merged = np.empty(len(marked))
    merged[marked], merged[~marked] = marks, ends
    to = np.cumsum(marked) - marked
    return Matching(source, target, np.diff(merged, prepend=0.0), np.arange(len(marked)) - to, to)


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
