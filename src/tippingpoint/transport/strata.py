r"""Drift of a number and a label that may not change: the class balance splits off.

KL:

.. math:: D = \theta_2 \mathrm{KL}(\pi_1 \Vert \pi_0) + \sum_y \pi_1(y)\, D^y_{\theta_2}

Chi-square:

.. math:: D = \theta_2 \chi^2(\pi_1 \Vert \pi_0) + \sum_y \pi_1(y)\, D^y_{\theta_2 \pi_1(y)/\pi_0(y)}

:math:`D^y` is the drift within label `y`, on the line. Where nothing is reweighted, shares of labels must be the same.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tippingpoint.core.arrays import FloatArray, IntArray, total
from tippingpoint.core.divergences import KL, Divergence
from tippingpoint.errors import InputError
from tippingpoint.transport.chain import slope
from tippingpoint.transport.checks import ALIKE, checked_masses, checked_price, checked_values, priced
from tippingpoint.transport.drifts import Drift
from tippingpoint.transport.line import drift_on_line

Labels = Sequence[Hashable] | npt.NDArray[np.generic]


@dataclass(frozen=True)
class StratifiedDrift:
    """The drift of a number and a label, split.

    Attributes
    ----------
    whole
        Of number and label together; its `reweighting` has `labels` in it.
    labels
        What the shares of the labels cost.
    parts
        The drift within every label that the current sample has.
    shares
        Of these labels in the current sample, by which the parts are weighted.
    unseen
        Labels of the current sample that the reference has not: the drift is infinite then.
    """

    whole: Drift
    labels: float
    parts: dict[Hashable, Drift]
    shares: dict[Hashable, float]
    unseen: tuple[Hashable, ...]

    @property
    def moving(self) -> float:
        """What moving costs, within labels."""
        return self.whole.moving

    @property
    def reweighting(self) -> float:
        """What reweighting costs within labels."""
        return sum(self.shares[label] * part.reweighting for label, part in self.parts.items())


@dataclass(frozen=True)
class Balance:
    """Shares of labels in either sample, and what they cost.

    Attributes
    ----------
    before, after
        `π0` and `π1`.
    cost
        `θ2·D_φ(π1‖π0)`.
    prices
        The price of reweighting within every label.
    """

    before: FloatArray
    after: FloatArray
    cost: float
    prices: FloatArray

    @classmethod
    def of(cls, before: FloatArray, after: FloatArray, theta2: float, divergence: Divergence) -> Balance:
        """Infinite where a label is new, or where shares changed that may not."""
        held = before > 0.0
        prices = np.full(len(before), theta2)
        if (after[~held] > 0.0).any():
            return cls(before, after, math.inf, prices)
        ratios = np.divide(after, before, out=np.ones(len(before)), where=held)
        if math.isinf(theta2):
            alike = np.allclose(before, after, rtol=0.0, atol=ALIKE)
            return cls(before, after, 0.0 if alike else math.inf, prices)
        if not isinstance(divergence, KL):
            prices = theta2 * ratios
        return cls(before, after, theta2 * max(total(before, divergence.phi(ratios)), 0.0), prices)


def drift_by_stratum(
    reference: object,
    base: object,
    labels: Labels,
    current: object,
    masses: object,
    current_labels: Labels,
    *,
    price: float,
    theta2: float,
    divergence: str | Divergence = "kl",
    tolerance: float = 1e-3,
) -> StratifiedDrift:
    """The drift of one number and one label a row, at the cost `price·(x - y)²` of a move; labels do not change.

    Parameters
    ----------
    labels, current_labels
        A label a row.
    reference, base, current, masses, price, theta2, divergence, tolerance
        As of `drift_on_line`.
    """
    before, after = checked_values(reference, "reference"), checked_values(current, "current")
    p, q = checked_masses(base, len(before), "base"), checked_masses(masses, len(after), "masses")
    price, theta2, named = checked_price(price, "price"), checked_price(theta2, "theta2"), priced(divergence)
    every, codes, current_codes = coded(labels, len(before), current_labels, len(after))
    balance = Balance.of(shares_of(codes, p, len(every)), shares_of(current_codes, q, len(every)), theta2, named)
    here = [k for k in range(len(every)) if balance.after[k] > 0.0]
    unseen = tuple(every[k] for k in here if not balance.before[k] > 0.0)
    if math.isinf(balance.cost):
        return StratifiedDrift(_infinite(p, q, before), math.inf, {}, {every[k]: float(balance.after[k]) for k in here}, unseen)
    weights, witness = np.zeros(len(p)), np.zeros(len(q))
    influences = np.full(len(p), theta2 if math.isfinite(theta2) else 0.0)  # of labels that are gone: weight 0
    places = before.copy()
    lower = upper = moving = 0.0
    parts: dict[Hashable, Drift] = {}
    for k in here:
        mine, theirs = codes == k, current_codes == k
        share, inner = float(balance.after[k]), float(balance.prices[k])
        part = drift_on_line(
            before[mine], p[mine], after[theirs], q[theirs], price=price, theta2=inner, divergence=named, tolerance=tolerance
        )
        parts[every[k]] = part
        lower, upper, moving = lower + share * part.lower, upper + share * part.upper, moving + share * part.moving
        ratio = share / float(balance.before[k])
        weights[mine], places[mine] = ratio * part.weights, part.destinations
        if math.isfinite(part.upper):
            witness[theirs], influences[mine] = _first_order(part, ratio, theta2, inner, named)
    whole = Drift(
        lower=balance.cost + lower,
        upper=balance.cost + upper,
        moving=moving,
        reweighting=balance.cost + sum(balance.after[k] * parts[every[k]].reweighting for k in here),
        weights=weights,
        witness=witness,
        destinations=places,
        influences=influences,
        base=p,
        masses=q,
    )
    return StratifiedDrift(whole, balance.cost, parts, {every[k]: float(balance.after[k]) for k in here}, unseen)


def _first_order(
    part: Drift, ratio: float, theta2: float, inner: float, divergence: Divergence
) -> tuple[FloatArray, FloatArray]:
    """What the whole drift rises by with the mass of a current and of a reference row of one label."""
    centred = part.witness - total(part.masses, part.witness)
    if math.isinf(theta2):
        return centred + part.upper, part.influences - total(part.base, part.influences)
    balance = theta2 * float(slope(divergence, np.array([ratio]))[0])
    tilts = 1.0 - part.influences / inner  # KL: w; chi-square: w²
    if isinstance(divergence, KL):
        return balance + part.upper + centred, -theta2 * (ratio * tilts - 1.0)
    # The price within a label rises with its share, and the cost of reweighting there with the price.
    return balance + part.upper + part.reweighting + centred, -theta2 * (ratio**2 * tilts - 1.0)


def _infinite(base: FloatArray, masses: FloatArray, places: FloatArray) -> Drift:
    rows, others = len(base), len(masses)
    nothing = np.zeros(others)
    return Drift(math.inf, math.inf, 0.0, math.inf, np.ones(rows), nothing, places, np.zeros(rows), base, masses)


def shares_of(codes: IntArray, masses: FloatArray, labels: int) -> FloatArray:
    """The mass of every label."""
    return np.bincount(codes, masses, labels).astype(float)


def coded(labels: Labels, rows: int, current_labels: Labels, current_rows: int) -> tuple[list[Hashable], IntArray, IntArray]:
    """The labels, in order of their appearance or sorted, and the position of every row's."""
    before, after = _as_given(labels), _as_given(current_labels)
    for name, array, expected in (("labels", before, rows), ("current_labels", after, current_rows)):
        if array.shape != (expected,):
            raise InputError(f"{name} has the shape {array.shape} for {expected} rows; pass one label a row.")
    if before.dtype.kind == after.dtype.kind and before.dtype.kind in "biufUS":
        every, codes = np.unique(np.concatenate((before, after)), return_inverse=True)
        return list(every.tolist()), codes[:rows].astype(np.intp), codes[rows:].astype(np.intp)
    known: dict[Hashable, int] = {}
    found = np.fromiter((known.setdefault(label, len(known)) for label in (*before.tolist(), *after.tolist())), dtype=np.intp)
    return list(known), found[:rows], found[rows:]


def _as_given(labels: Labels) -> npt.NDArray[Any]:
    """An array; of a list, one in which 1 and "1" stay what they are."""
    if hasattr(labels, "__array__"):
        return np.asarray(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = list(labels)
    return array
