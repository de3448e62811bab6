"""Alternatives given as a table: no model, no features, only what each costs and what the loss would be.

The best response of a sample is on the upper envelope of the lines `λ·loss - cost` of its alternatives. The envelopes are
kept as one flat list of edges, so a response is a comparison and a count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.core.responses import Response
from tippingpoint.oracles.base import Oracle


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
        original = np.flatnonzero(cost == 0.0)
        self._losses = np.zeros(int(sample.max()) + 1)
        self._losses[sample[original]] = loss[original]
        kept = _envelope(sample, loss, cost)
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

    def respond(self, price: float) -> Response:
        chosen = self._chosen(price)
        return Response(self._lift[chosen], self._cost[chosen], np.zeros_like(self._losses))

    def peak(self) -> Response:
        return self.respond(math.inf)

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        atoms = self._atom[self._chosen(price)[rows]]
        return {name: np.asarray(column)[atoms] for name, column in self._columns.items()}

    def _chosen(self, price: float) -> IntArray:
        beaten = (self._from < price).astype(np.intp)
        beaten[self._first] = 0
        return np.asarray(self._first + np.add.reduceat(beaten, self._first))


def _envelope(sample: IntArray, loss: FloatArray, cost: FloatArray) -> IntArray:
    """The alternatives on the envelopes, sorted by sample and then by loss.

    An alternative is never best if another costs no more at no less loss, or if it lies above the chord of its
    neighbours. Dropping all of those at once and looking again ends with the convex envelope.
    """
    order = np.lexsort((-loss, cost, sample))
    same = sample[order][1:] == sample[order][:-1]
    best_before = _running_maximum(sample[order], loss[order])
    kept = order[np.concatenate(([True], ~same | (loss[order][1:] > best_before[:-1])))]
    while True:
        bent = _above_chord(sample[kept], loss[kept], cost[kept])
        if not bent.any():
            return np.asarray(kept)
        kept = kept[~bent]


def _running_maximum(group: IntArray, values: FloatArray) -> FloatArray:
    """Largest value so far within each run of equal `group`."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    raised = np.maximum.accumulate(ranks + group * len(values))
    return np.asarray(np.sort(values)[raised - group * len(values)])


def _above_chord(sample: IntArray, loss: FloatArray, cost: FloatArray) -> BoolArray:
    bent = np.zeros(len(sample), dtype=bool)
    if len(sample) > 2:
        inner = (sample[2:] == sample[1:-1]) & (sample[1:-1] == sample[:-2])
        rise, fall = loss[1:-1] - loss[:-2], loss[2:] - loss[1:-1]
        bent[1:-1] = inner & ((cost[1:-1] - cost[:-2]) * fall >= (cost[2:] - cost[1:-1]) * rise)
    return bent
