"""Samples on a line: values in their order, each once, with its mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray

INNER = (0.1, 0.9)
"""Quantiles between which the bulk of a sample lies: bins there are of one width, and grow with the distance beyond."""


@dataclass(frozen=True)
class Atoms:
    """Distinct values in their order, and the mass of each: positive, and one in all."""

    values: FloatArray
    masses: FloatArray

    def __len__(self) -> int:
        return len(self.values)

    def binned(self, most: int) -> Atoms:
        """At most so many atoms at the means of bins, narrow in mass and in width: tails are few, and far apart."""
        if len(self) <= most:
            return self
        middles = np.cumsum(self.masses) - 0.5 * self.masses
        low, centre, high = np.interp((INNER[0], 0.5, INNER[1]), middles, self.values)
        places = np.arcsinh((self.values - centre) / (high - low if high > low else 1.0))
        shares = (places - places[0]) / (places[-1] - places[0])
        half = 0.5 * (most - 2)
        keys = np.floor(half * np.clip(middles, 0.0, 1.0)) + np.floor(half * shares)  # a sum of two rising steps rises itself
        starts = np.flatnonzero(np.concatenate(([True], keys[1:] > keys[:-1])))
        masses = np.add.reduceat(self.masses, starts)
        return Atoms(np.add.reduceat(self.masses * self.values, starts) / masses, masses)


@dataclass(frozen=True)
class Ordered:
    """A sample in its order.

    Attributes
    ----------
    values
        Of all rows.
    atoms
        Of the rows with mass.
    order
        The rows with mass, by value.
    places
        The atom of each of them.
    """

    values: FloatArray
    atoms: Atoms
    order: IntArray
    places: IntArray

    def rows(self, of_atoms: FloatArray) -> FloatArray:
        """What atoms have, as what rows have; a row without mass has what lies between its neighbours."""
        if len(self.order) == len(self.values):
            found = np.empty(len(self.values))
        else:
            found = np.interp(self.values, self.atoms.values, of_atoms)
        found[self.order] = of_atoms[self.places]
        return found


def ordered(values: FloatArray, masses: FloatArray) -> Ordered:
    """Rows by value, equal ones merged, those without mass left out."""
    held = np.flatnonzero(masses > 0.0)
    order = np.argsort(values) if len(held) == len(values) else held[np.argsort(values[held])]
    atoms, places = merged(values[order], masses[order])
    return Ordered(values, atoms, order, places)


def merged(values: FloatArray, masses: FloatArray) -> tuple[Atoms, IntArray]:
    """Atoms of values in their order, and the atom of each."""
    first = np.concatenate(([True], values[1:] > values[:-1]))
    places = np.cumsum(first) - 1
    if places[-1] == len(values) - 1:
        return Atoms(values, masses), places
    starts = np.flatnonzero(first)
    return Atoms(values[starts], np.add.reduceat(masses, starts)), places
