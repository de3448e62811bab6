"""Best responses among the alternatives of a table: exact over what it offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.atoms import AtomsOracle


class TableOracle(AtomsOracle):
    """Best responses among given alternatives: no model, no features, only what each costs and what the loss would be.

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

    def __init__(self, sample: IntArray, loss: FloatArray, cost: FloatArray, columns: Mapping[str, Any]) -> None:
        super().__init__(sample, loss, cost, columns)
        self._given = sample, loss, cost, columns

    @property
    def offers(self) -> tuple[IntArray, FloatArray]:
        """What is offered to whom: every pair of a sample and a cost that occurs, in order, as two columns."""
        sample, _, cost, _ = self._given
        pairs = np.unique(np.column_stack([sample, cost]), axis=0)
        return pairs[:, 0].astype(np.intp), pairs[:, 1]

    def taking(self, samples: IntArray) -> TableOracle:
        """The alternatives of these samples only, in this order."""
        place = np.full(len(self.losses), -1, dtype=np.intp)
        place[samples] = np.arange(len(samples))
        sample, loss, cost, columns = self._given
        kept = np.flatnonzero(place[sample] >= 0)
        taken = {name: np.asarray(column)[kept] for name, column in columns.items()}
        return TableOracle(place[sample[kept]], loss[kept], cost[kept], taken)
