r"""Drift on a line whose values may go missing, at one cost for every value.

.. math:: D = \min \; \text{price} \cdot W_2^2 + \kappa\, m + \theta_2 D_\phi(a \Vert p)

with `m` the mass that goes missing; a missing value stays missing. The problem is solved as a table of bins. Its solution
gives a witness and a plan for all rows, and their values are the bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, total
from tippingpoint.core.divergences import Divergence
from tippingpoint.transport.checks import checked_masses, checked_price, priced
from tippingpoint.transport.drifts import Drift
from tippingpoint.transport.monotone import matched
from tippingpoint.transport.parabolas import lowest
from tippingpoint.transport.permuting import Permuted, permuted_levels
from tippingpoint.transport.samples import Atoms, merged
from tippingpoint.transport.table import NEVER, drift_on_table

BINS = 200
"""Bins of either sample in the table; the method for tables is quick up to there."""

PERMUTED_BINS = 48
"""Bins of all rows in the table that is solved for every permutation."""

ROUGH = 1e-3
"""Relative gap at which those tables are solved."""


@dataclass(frozen=True)
class VanishingDrift:
    """A drift in which values may go missing, and the part of each reference row that is missing in the plan."""

    whole: Drift
    gone: FloatArray


def drift_with_missing(
    reference: FloatArray,
    base: object,
    current: FloatArray,
    masses: object,
    *,
    price: float,
    missing: float,
    theta2: float,
    divergence: str | Divergence = "kl",
) -> VanishingDrift:
    """The drift of one number per row, at the cost `price·(x - y)²` of a move and `missing` of going missing.

    Parameters
    ----------
    reference, current
        One number per row; NaN is missing.
    base, masses
        Weights of reference and current rows, of any sum; None for equal weights.
    price, missing
        Cost of a squared distance of one, and of going missing from any value.
    theta2, divergence
        Cost of reweighting, and the divergence: `"kl"` or `"chi2"`. Infinite: nothing is reweighted.
    """
    p, q = checked_masses(base, len(reference), "base"), checked_masses(masses, len(current), "masses")
    price, missing = checked_price(price, "price"), checked_price(missing, "missing")
    theta2, named = checked_price(theta2, "theta2"), priced(divergence)
    source, target = _Side.of(reference, p), _Side.of(current, q)
    start = float(target.atoms.values[len(target.atoms) // 2]) if len(target.atoms) else 0.0
    source, target = source.shifted(start), target.shifted(start)
    costs = _costs(source.bins, target.bins, price, missing)
    table = drift_on_table(source.shares, target.shares, costs, theta2=theta2, divergence=named)
    weights, parts = table.weights[source.codes], np.asarray(table.destinations)[source.codes, -1]
    if math.isinf(table.upper):
        nothing = np.zeros(len(q)), reference, np.zeros(len(p))
        return VanishingDrift(Drift(math.inf, math.inf, math.inf, 0.0, weights, *nothing, p, q), parts)
    kept = p * weights * np.where(np.isnan(reference), 0.0, 1.0 - parts)
    moving, places = missing * total(p * weights, np.where(np.isnan(reference), 0.0, parts)), reference.copy()
    left = np.bincount(source.places[source.order], kept[source.order], len(source.atoms))
    if (held := left > 0.0).any():
        whole = float(np.add.reduce(left))
        moved = matched(Atoms(source.atoms.values[held], left[held] / whole), target.atoms)
        moving += price * whole * moved.cost
        of_atoms = source.atoms.values + start
        of_atoms[held] = moved.places + start
        places[source.order] = of_atoms[source.places[source.order]]
    lower, witness, influences = _lower(source, target, table, price, missing, theta2, named)
    reweighting = 0.0 if math.isinf(theta2) else theta2 * max(total(p, named.phi(weights)), 0.0)
    upper = moving + reweighting
    lower = min(max(lower, 0.0), upper)
    return VanishingDrift(Drift(lower, upper, moving, reweighting, weights, witness, places, influences, p, q), parts)


def permuted_with_missing(
    reference: FloatArray,
    base: object,
    current: FloatArray,
    masses: object,
    *,
    price: float,
    missing: float,
    theta2: float,
    divergence: str | Divergence = "kl",
    permutations: int = 199,
    seed: int = 0,
) -> Permuted:
    """That drift between bins of all rows, beside those of permuted rows; parameters as of `permuted`."""
    p, q = checked_masses(base, len(reference), "base"), checked_masses(masses, len(current), "masses")
    pooled = _Side.of(np.concatenate((reference, current)), 0.5 * np.concatenate((p, q)), PERMUTED_BINS)
    costs = _costs(pooled.bins, pooled.bins, price, missing)

    def value(before: FloatArray, after: FloatArray) -> float:
        table = costs[np.ix_(levels, levels)]
        return drift_on_table(before, after, table, theta2=theta2, divergence=divergence, tolerance=ROUGH).upper

    levels = np.unique(pooled.codes)
    mine, theirs = pooled.codes[: len(p)], pooled.codes[len(p) :]
    return permuted_levels(mine, p, theirs, q, value, permutations=permutations, seed=seed)


def _costs(source: Atoms, target: Atoms, price: float, missing: float) -> FloatArray:
    """Of changes between bins, and last the missing value."""
    costs = np.full((len(source) + 1, len(target) + 1), math.inf)
    costs[:-1, :-1] = price * np.square(source.values[:, None] - target.values)
    costs[:-1, -1], costs[-1, -1] = missing, 0.0
    return costs


@dataclass(frozen=True)
class _Side:
    """One sample.

    Attributes
    ----------
    order, places
        The rows that are not missing, by value; and the atom of every row, -1 if it is missing.
    atoms, bins
        Their distinct values, and these in bins.
    codes, weights, shares
        The bin of every row, the last if it is missing; its weight; and the weights of the bins.
    """

    order: IntArray
    places: IntArray
    atoms: Atoms
    bins: Atoms
    codes: IntArray
    weights: FloatArray
    shares: FloatArray

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray, most: int = BINS) -> _Side:
        """Rows by value."""
        here = np.flatnonzero(~np.isnan(values) & (weights > 0.0))
        order = here[np.argsort(values[here], kind="stable")]
        places = np.full(len(values), -1, dtype=np.intp)
        atoms = bins = Atoms(np.zeros(0), np.zeros(0))
        codes = np.zeros(len(values), dtype=np.intp)
        if len(order):
            shares = weights[order] / float(np.add.reduce(weights[order]))
            atoms, places[order] = merged(values[order], shares)
            bins = atoms.binned(most)
            middles = np.cumsum(atoms.masses) - 0.5 * atoms.masses
            of_atoms = np.minimum(np.searchsorted(np.cumsum(bins.masses), middles), len(bins) - 1)
            codes[order] = of_atoms[places[order]]
        codes[np.isnan(values)] = len(bins)
        return cls(order, places, atoms, bins, codes, weights, np.bincount(codes, weights, len(bins) + 1).astype(float))

    def shifted(self, start: float) -> _Side:
        """The same on a line that begins elsewhere."""
        atoms, bins = (Atoms(each.values - start, each.masses) for each in (self.atoms, self.bins))
        return _Side(self.order, self.places, atoms, bins, self.codes, self.weights, self.shares)

    def rows(self, of_atoms: FloatArray, missing: float) -> FloatArray:
        """Values of atoms and of the missing value, for every row."""
        return np.append(of_atoms, missing)[self.places]


def _lower(
    source: _Side, target: _Side, table: Drift, price: float, missing: float, theta2: float, divergence: Divergence
) -> tuple[float, FloatArray, FloatArray]:
    """The bound that the witness of the table gives for all rows: its value, the witness, and the influences."""
    heights, gone = table.witness[:-1], float(table.witness[-1])
    if target.shares[-1] == 0.0:  # no value goes missing, and those that are missing lose all their weight
        far = missing + price * float(np.ptp(np.concatenate((source.bins.values, target.bins.values)))) ** 2
        gone = float(heights.min()) - 2.0 * far - (NEVER * theta2 if math.isfinite(theta2) else 0.0)
    vanishing = missing - gone
    at_rows, found = np.zeros(0), np.full(len(source.atoms), vanishing)
    if len(source.bins) and len(target.bins):
        of_bins = np.minimum(lowest(target.bins.values, heights, price, source.bins.values)[0], vanishing)
        at_rows = lowest(source.bins.values, of_bins, price, target.atoms.values)[0]
        found = np.minimum(lowest(target.atoms.values, at_rows, price, source.atoms.values)[0], vanishing)
    witness, potentials = target.rows(at_rows, gone), source.rows(found, -gone)
    lower = total(target.weights, witness) + total(source.weights, potentials)
    if math.isinf(theta2):
        return lower, witness, potentials
    tilt = divergence.tilt(-potentials / theta2, source.weights, 1.0)
    lower -= theta2 * total(source.weights, divergence.centred_conjugate(tilt.scores))
    return (lower if math.isfinite(lower) else 0.0), witness, -theta2 * tilt.conjugate
