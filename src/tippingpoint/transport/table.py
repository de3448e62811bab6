r"""Drift between levels: :math:`D = \min_P \sum_{ij} P_{ij} C_{ij} + \theta_2 D_\phi(P 1 \Vert p)`, `P` with columns `q`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from tippingpoint.core.arrays import BoolArray, FloatArray, total
from tippingpoint.core.divergences import Divergence
from tippingpoint.errors import InputError, NumericalError
from tippingpoint.transport.checks import checked_masses, checked_price, checked_tolerance, priced
from tippingpoint.transport.drifts import Drift
from tippingpoint.transport.interior import plans

NEVER = 800.0
"""How far, in units of `θ2`, a level that can go nowhere lies below the others: no weight is left so far down."""


def drift_on_table(
    base: object,
    masses: object,
    costs: object,
    *,
    theta2: float,
    divergence: str | Divergence = "kl",
    price: float = 1.0,
    tolerance: float = 1e-6,
) -> Drift:
    """The drift of a category, with a table of what it costs to change from one level to another.

    Parameters
    ----------
    base, masses
        Weights of the levels in the reference and in the current sample, of any sum; levels may have none.
    costs
        `costs[i][j]`, from level `i` of the reference to level `j` of the current sample; infinite where that is forbidden.
    theta2, divergence
        The price of reweighting, and what is priced: `"kl"` or `"chi2"`. Infinite: nothing is reweighted.
    price
        Of a cost of one.
    tolerance
        Relative gap between the bounds at which the search for better ones ends.

    Returns
    -------
    Drift
        Of levels; `destinations[i][j]` is the part of level `i` that goes to level `j`. Infinite where nothing that is allowed
        ends at the current sample.
    """
    table = np.array(costs, dtype=float)
    if table.ndim != 2 or not table.size:
        raise InputError(f"costs has the shape {table.shape}; pass a row a level of the reference, a column a current one.")
    if np.isnan(table).any() or (table < 0.0).any():
        raise InputError("costs must be at least 0; pass inf for a change that is forbidden.")
    p, q = checked_masses(base, table.shape[0], "base"), checked_masses(masses, table.shape[1], "masses")
    price, theta2 = checked_price(price, "price"), checked_price(theta2, "theta2")
    table = np.where(table > 0.0, table, 0.0) * price if math.isfinite(price) else np.where(table > 0.0, math.inf, 0.0)
    tolerance, named = checked_tolerance(tolerance), priced(divergence)
    held, wanted = p > 0.0, q > 0.0
    inner = table[np.ix_(held, wanted)]
    if math.isinf(theta2):
        found = _unweighted(p[held], q[wanted], inner)
    else:
        found = _weighted(p[held], q[wanted], inner / theta2, named, tolerance)
        found = found and found.times(theta2)
    return drift_of_levels(p, q, found)


@dataclass(frozen=True)
class Found:
    """What is known of levels with mass."""

    lower: float
    moving: float
    reweighting: float
    plan: FloatArray
    witness: FloatArray
    influences: FloatArray

    @property
    def upper(self) -> float:
        """The cost of the plan."""
        return self.moving + self.reweighting

    def times(self, unit: float) -> Found:
        """The same, costs in other units."""
        return Found(
            unit * self.lower,
            unit * self.moving,
            unit * self.reweighting,
            self.plan,
            unit * self.witness,
            unit * self.influences,
        )


def _weighted(
    base: FloatArray, masses: FloatArray, costs: FloatArray, divergence: Divergence, tolerance: float
) -> Found | None:
    """The best bounds, in units of `θ2`; None where a level cannot be reached."""
    allowed = np.isfinite(costs)
    if not allowed.any(axis=0).all():
        return None
    free = np.where(allowed, costs, 0.0)
    nearest = np.zeros_like(costs)
    nearest[costs.argmin(axis=0), np.arange(len(masses))] = masses
    best = _bounded(base, masses, free, allowed, divergence, nearest, costs.min(axis=0))
    live = np.flatnonzero(allowed.any(axis=1))  # the others can go nowhere, and lose all their weight
    with np.errstate(all="ignore"):  # steps that are no numbers end the search
        for part, witness in plans(base[live], masses, costs[live], divergence):
            plan = np.zeros_like(costs)
            plan[live] = part
            best = _better(best, _bounded(base, masses, free, allowed, divergence, plan, witness))
            if best.upper - best.lower <= tolerance * best.upper:
                break
    return best


def _better(best: Found, found: Found) -> Found:
    """The larger of the lower bounds, and the smaller of the upper ones."""
    lower = found if found.lower > best.lower else best
    upper = found if found.upper < best.upper else best
    return Found(lower.lower, upper.moving, upper.reweighting, upper.plan, lower.witness, lower.influences)


def _bounded(
    base: FloatArray,
    masses: FloatArray,
    costs: FloatArray,
    allowed: BoolArray,
    divergence: Divergence,
    plan: FloatArray,
    witness: FloatArray,
) -> Found:
    """What a plan and a witness prove."""
    gains = np.where(allowed, witness - costs, -np.inf).max(axis=1)
    gains = np.maximum(gains, gains.max() - NEVER - 2.0 * float(np.ptp(gains[np.isfinite(gains)])))
    tilt = divergence.tilt(gains, base, 1.0)
    lower = total(masses, witness) - total(base, gains) - total(base, divergence.centred_conjugate(tilt.scores))
    reweighting = max(total(base, divergence.phi(plan.sum(axis=1) / base)), 0.0)
    moving = float(np.add.reduce(plan * costs, axis=None))
    return Found(lower if math.isfinite(lower) else 0.0, moving, reweighting, plan, witness, -tilt.conjugate)


def _unweighted(base: FloatArray, masses: FloatArray, costs: FloatArray) -> Found | None:
    """Plain transport, by SciPy's linear programming; None where there is none."""
    rows, columns = np.nonzero(np.isfinite(costs))
    if not len(rows):
        return None
    prices = costs[rows, columns]
    unit = float(prices.max(initial=0.0)) or 1.0
    pairs = np.arange(len(rows))
    sides = np.concatenate((rows, len(base) + columns))
    matrix = csr_array((np.ones(2 * len(rows)), (sides, np.tile(pairs, 2))), shape=(len(base) + len(masses), len(rows)))
    solved: Any = linprog(  # type: ignore[call-overload]  # its stubs know no sparse matrices
        prices / unit, A_eq=matrix, b_eq=np.concatenate((base, masses)), bounds=(0, None), method="highs"
    )
    if solved.status == 2:
        return None
    if solved.status != 0:
        raise NumericalError(
            f"the transport between levels was not solved ({solved.message}); are costs of very different sizes?"
        )
    plan = np.zeros_like(costs)
    plan[rows, columns] = solved.x
    moving = float(np.add.reduce(prices * solved.x))
    witness = unit * np.asarray(solved.eqlin.marginals)[len(base) :]
    gaps = np.where(np.isfinite(costs), costs - witness, np.inf)
    potentials = gaps.min(axis=1)
    lower = total(base, potentials) + total(masses, witness)
    return Found(lower, moving, 0.0, plan, witness, potentials)


def drift_of_levels(base: FloatArray, masses: FloatArray, found: Found | None) -> Drift:
    """What was found of levels with mass, of all levels; those without keep weight one and go nowhere."""
    held, wanted = base > 0.0, masses > 0.0
    weights, influences = np.ones(len(base)), np.zeros(len(base))
    shares, witness = np.zeros((len(base), len(masses))), np.zeros(len(masses))
    if found is None:
        return Drift(math.inf, math.inf, math.inf, 0.0, weights, witness, shares, influences, base, masses)
    rows = found.plan.sum(axis=1)
    weights[held] = rows / base[held]
    influences[held] = found.influences
    some = np.where(rows > 0.0, rows, 1.0)
    shares[np.ix_(held, wanted)] = found.plan / some[:, None]
    witness[wanted] = found.witness
    lower = min(max(found.lower, 0.0), found.upper)
    return Drift(lower, found.upper, found.moving, found.reweighting, weights, witness, shares, influences, base, masses)
