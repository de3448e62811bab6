r"""Drift between samples that differ by chance alone: all rows are pooled, and dealt out again.

With :math:`v_0` the value of the samples as they are and :math:`v_1, \dots, v_m` those of dealt-out ones,

.. math:: \text{floor} = \frac{1}{m} \sum_k v_k, \qquad p = \frac{1 + \#\{k : v_k \ge v_0\}}{1 + m}.

Where rows are exchangeable, :math:`P(p \le \alpha) \le \alpha`. All values are one function of two samples: the upper bound at
which a search for their drift ends, its gap below `ROUGH`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.core.divergences import Divergence
from tippingpoint.errors import InputError
from tippingpoint.transport.checks import checked_masses, checked_price, checked_values, priced
from tippingpoint.transport.line import cost_on_line
from tippingpoint.transport.samples import Atoms, merged
from tippingpoint.transport.strata import Balance, Labels, coded, shares_of

LIKELY = 0.05
"""P-value from which on more permutations are not made: no correction makes it smaller."""

ROUGH = 0.05
"""Relative gap at which the search for better bounds ends here; most of it is the lower bound's, which is not used."""


@dataclass(frozen=True)
class Permuted:
    """A value beside those of rows dealt out at random.

    Attributes
    ----------
    value
        Of the samples as they are, found in the same way as the others: what the others are compared with.
    null
        Of the dealt-out ones.
    """

    value: float
    null: FloatArray

    @property
    def floor(self) -> float:
        """The mean of the dealt-out ones: what chance alone makes of samples of these sizes; infinite where one of them is."""
        return float(np.mean(self.null))

    @property
    def p_value(self) -> float:
        """`(1 + #{null ≥ value}) / (1 + permutations)`."""
        return (1.0 + float(np.count_nonzero(self.null >= self.value))) / (1.0 + len(self.null))


def permuted(
    reference: object,
    base: object,
    current: object,
    masses: object,
    *,
    price: float,
    theta2: float,
    divergence: str | Divergence = "kl",
    labels: Labels | None = None,
    current_labels: Labels | None = None,
    permutations: int = 199,
    most: int | None = None,
    seed: int = 0,
) -> Permuted:
    """The drift on a line beside that of rows dealt out at random to two samples of the same sizes.

    Parameters
    ----------
    reference, base, current, masses, price, theta2, divergence
        As of `drift_on_line`; weights go with their rows.
    labels, current_labels
        Of the rows, with which they go: the drift is that of number and label then (`drift_by_stratum`).
    permutations, seed
        How often rows are dealt out, and by which random numbers.
    most
        How often, if the p-value is below 0.05 after `permutations`; None for no more.
    """
    before, after = checked_values(reference, "reference"), checked_values(current, "current")
    weights = _pooled_weights(base, len(before), masses, len(after))
    values = np.concatenate((before, after))
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    prices = checked_price(price, "price"), checked_price(theta2, "theta2")
    named = priced(divergence)
    if (labels is None) != (current_labels is None):
        raise InputError("labels and current_labels belong together; pass both or neither.")
    if labels is None or current_labels is None:
        every, codes = 1, np.zeros(len(values), dtype=np.intp)
    else:
        names, mine, theirs = coded(labels, len(before), current_labels, len(after))
        every, codes = len(names), np.concatenate((mine, theirs))[order]
    rows = [np.flatnonzero((codes == k) & (weights > 0.0)) for k in range(every)]

    def value(first: BoolArray) -> float:
        mine, theirs = _shares(weights, first), _shares(weights, ~first)
        if mine is None or theirs is None:
            return math.inf
        dealt = np.where(first, mine, theirs)
        if every == 1:
            return _cost(values, dealt, first, rows[0], *prices, named)
        balance = Balance.of(shares_of(codes, mine, every), shares_of(codes, theirs, every), prices[1], named)
        if math.isinf(balance.cost):
            return math.inf
        return balance.cost + sum(
            float(balance.after[k]) * _cost(values, dealt, first, rows[k], prices[0], float(balance.prices[k]), named)
            for k in range(every)
            if balance.after[k] > 0.0
        )

    return _dealt(order, len(before), value, permutations, most, seed)


def permuted_levels(
    levels: Labels,
    base: object,
    current: Labels,
    masses: object,
    value: Callable[[FloatArray, FloatArray], float],
    *,
    permutations: int = 199,
    most: int | None = None,
    seed: int = 0,
) -> Permuted:
    """The drift of a category beside that of rows dealt out at random to two samples of the same sizes.

    Parameters
    ----------
    levels, current
        A level a row.
    base, masses
        Weights of the rows, which go with them; None for rows that count alike.
    value
        Of the shares of the levels in either sample: say, `drift_by_switching(p, q, ...).upper`. The levels are those of all
        rows, sorted if they are all numbers or all texts and in order of their appearance otherwise.
    permutations, seed
        How often rows are dealt out, and by which random numbers.
    most
        How often, if the p-value is below 0.05 after `permutations`; None for no more.
    """
    names, mine, theirs = coded(levels, len(levels), current, len(current))
    weights, codes = _pooled_weights(base, len(mine), masses, len(theirs)), np.concatenate((mine, theirs))

    def shared(first: BoolArray) -> float:
        dealt = _shares(weights, first), _shares(weights, ~first)
        if dealt[0] is None or dealt[1] is None:
            return math.inf
        return value(shares_of(codes, dealt[0], len(names)), shares_of(codes, dealt[1], len(names)))

    return _dealt(np.arange(len(codes)), len(mine), shared, permutations, most, seed)


def _pooled_weights(base: object, rows: int, masses: object, others: int) -> FloatArray:
    """Weights of all rows, of mean one in either sample."""
    return np.concatenate((rows * checked_masses(base, rows, "base"), others * checked_masses(masses, others, "masses")))


def _dealt(
    order: IntArray, rows: int, value: Callable[[BoolArray], float], permutations: int, most: int | None, seed: int
) -> Permuted:
    """Values of the rows as they are and dealt out; `order` says which row stands where.

    The p-value is valid although a large one ends the permutations early. Below `LIKELY` it is one of all of them, and from
    there on it is one of the first.
    """
    if not (isinstance(permutations, (int, np.integer)) and permutations > 0):
        raise InputError(f"permutations={permutations!r} must be a whole number of at least 1; 199 is usual.")
    own, null = value(order < rows), list[float]()
    for first in _deals(len(order), rows, max(int(permutations), most or 0), seed):
        null.append(value(first))
        if len(null) == permutations and Permuted(own, np.array(null)).p_value >= LIKELY:
            break
    return Permuted(own, np.array(null))


def _deals(rows: int, first: int, permutations: int, seed: int) -> Iterator[BoolArray]:
    """Which rows the first sample gets."""
    rng = np.random.default_rng(seed)
    for _ in range(permutations):
        chosen = np.zeros(rows, dtype=bool)
        chosen[rng.permutation(rows)[:first]] = True
        yield chosen


def _shares(weights: FloatArray, chosen: BoolArray) -> FloatArray | None:
    """The weights of the chosen rows, summing to one, and none of the others; None where nothing is left."""
    mine = np.where(chosen, weights, 0.0)
    sum_ = float(np.add.reduce(mine))
    return mine / sum_ if sum_ > 0.0 else None


def _cost(
    values: FloatArray,
    shares: FloatArray,
    first: BoolArray,
    rows: IntArray,
    price: float,
    theta2: float,
    divergence: Divergence,
) -> float:
    """The drift of some rows, those of one label."""
    source = _atoms(values, shares, rows[first[rows]])
    target = _atoms(values, shares, rows[~first[rows]])
    return cost_on_line(source, target, price=price, theta2=theta2, divergence=divergence, tolerance=ROUGH)


def _atoms(values: FloatArray, shares: FloatArray, rows: IntArray) -> Atoms:
    masses = shares[rows]
    return merged(values[rows], masses / float(np.add.reduce(masses)))[0]
