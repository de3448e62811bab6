"""Samples on a line: values in their order, each once, with its mass."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.errors import InputError

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
    atoms
        Of the rows with mass.
    order
        The rows with mass, by value.
    places
        The atom of each of them.
    """

    atoms: Atoms
    order: IntArray
    places: IntArray


def ordered(values: FloatArray, masses: FloatArray) -> Ordered:
    """Rows by value, equal ones merged, those without mass left out."""
    held = np.flatnonzero(masses > 0.0)
    order = np.argsort(values, kind="stable") if len(held) == len(values) else held[np.argsort(values[held], kind="stable")]
    along = values[order]
    first = np.concatenate(([True], along[1:] > along[:-1]))
    places = np.cumsum(first) - 1
    if len(held) and places[-1] == len(along) - 1:
        return Ordered(Atoms(along, masses[order]), order, places)
    return Ordered(Atoms(along[first], np.add.reduceat(masses[order], np.flatnonzero(first))), order, places)


def checked_values(values: object, name: str) -> FloatArray:
    """One finite number a row."""
    array = np.asarray(values, dtype=float)
    if array.ndim != 1 or not len(array):
        raise InputError(f"{name} has the shape {array.shape}; pass one number a row, and one row at least.")
    if not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array)))
        raise InputError(
            f"{name}[{row}]={array[row]}: a drift is of finite numbers; leave such rows out, or count them as a level."
        )
    return array


def checked_masses(masses: object, rows: int, name: str) -> FloatArray:
    """Shares of the rows: alike unless given, and summing to one."""
    if masses is None:
        return np.full(rows, 1.0 / rows)
    array = np.asarray(masses, dtype=float)
    if array.shape != (rows,):
        raise InputError(f"{name} has the shape {array.shape} for {rows} rows; pass one weight a row.")
    if not (np.isfinite(array).all() and (array >= 0.0).all()):
        row = int(np.argmin(np.isfinite(array) & (array >= 0.0)))
        raise InputError(f"{name}[{row}]={array[row]}: weights must be finite and at least 0.")
    largest = float(array.max())
    if largest == 0.0:
        raise InputError(f"{name}: all weights are 0; at least one row needs a positive one.")
    shares = array / largest  # a sum of huge or tiny weights may be no number
    shares /= float(np.add.reduce(shares))
    return np.asarray(shares)


def checked_price(price: float, name: str) -> float:
    """A positive price, possibly infinite."""
    if not (isinstance(price, (int, float, np.floating, np.integer)) and price > 0.0 and not math.isnan(price)):
        raise InputError(f"{name}={price!r} must be a positive number; pass inf for what may not change.")
    return float(price)
