"""Alternatives given as a table: no model, no features, only what each costs and what the loss would be.

The best response of a sample is on the upper envelope of the lines `λ·loss - cost` of its alternatives. The envelopes are
kept as one flat list of edges, so a response is a comparison and a count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.envelope import envelope
from tippingpoint.core.oracle import Oracle
from tippingpoint.core.responses import Response


class TableOracle(Oracle):
    """Best responses among given alternatives.

    Parameters
    ----------
    sample
        `(m,)` position of the sample that each alternative belongs to, `0..n-1`.
    loss, cost
        `(m,)` of each alternative; every sample has one of cost 0, its original.
    columns
        What else is known of each alternative, to be shown where it is chosen.
    """

    exact = True
    certificate = "exact over the alternatives given in the table"
    unit = "cost"
    ceiling = math.inf

    def __init__(self, sample: IntArray, loss: FloatArray, cost: FloatArray, columns: Mapping[str, Any]) -> None:
        self._columns = columns
        self._given = sample, loss, cost
        original = np.flatnonzero(cost == 0.0)
        self._losses = np.zeros(int(sample.max()) + 1)
        self._losses[sample[original]] = loss[original]
        kept = envelope(sample, loss, cost)
        self._atom = kept
        self._first = np.searchsorted(sample[kept], np.arange(len(self._losses)))
        self._lift = loss[kept] - self._losses[sample[kept]]
        self._cost = cost[kept]
        # The price from which on an atom beats the one before it; the original comes first, from price 0 on.
        self._from = np.zeros(len(kept))
        later = np.setdiff1d(np.arange(len(kept)), self._first, assume_unique=True)
        with np.errstate(over="ignore"):  # a lift next to nothing never pays
            self._from[later] = (self._cost[later] - self._cost[later - 1]) / (self._lift[later] - self._lift[later - 1])

    @property
    def losses(self) -> FloatArray:
        return self._losses

    @property
    def offers(self) -> tuple[IntArray, FloatArray]:
        """What is offered to whom: every pair of a sample and a cost that occurs, in order, as two columns."""
        sample, _, cost = self._given
        pairs = np.unique(np.column_stack([sample, cost]), axis=0)
        return pairs[:, 0].astype(np.intp), pairs[:, 1]

    def taking(self, samples: IntArray) -> TableOracle:
        """The alternatives of these samples only, in this order."""
        place = np.full(len(self._losses), -1, dtype=np.intp)
        place[samples] = np.arange(len(samples))
        sample, loss, cost = self._given
        kept = np.flatnonzero(place[sample] >= 0)
        columns = {name: np.asarray(column)[kept] for name, column in self._columns.items()}
        return TableOracle(place[sample[kept]], loss[kept], cost[kept], columns)

    def respond(self, price: float) -> Response:
        chosen = self._chosen(price)
        return Response(self._lift[chosen], self._cost[chosen], np.zeros_like(self._losses))

    def peak(self) -> Response:
        return self.respond(math.inf)

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        atoms = self._atom[self._chosen(price)[rows]]
        return {name: np.asarray(column)[atoms] for name, column in self._columns.items()}

    def _chosen(self, price: float) -> IntArray:
        if math.isinf(price):  # even where the price from which on it pays is no number
            return np.append(self._first[1:], len(self._from)) - 1
        beaten = (self._from < price).astype(np.intp)
        beaten[self._first] = 0
        return np.asarray(self._first + np.add.reduceat(beaten, self._first))
