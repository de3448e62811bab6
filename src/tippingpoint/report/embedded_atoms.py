"""Best responses among the atoms that a page holds, as the browser finds them, bit by bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.responses import Response
from tippingpoint.errors import UnsupportedError
from tippingpoint.report.packing import unpack


class EmbeddedAtoms:
    """Best responses among the places that a page holds; it fulfils `tippingpoint.core.responses.BestResponses`.

    Parameters
    ----------
    held
        Embedded atoms: every sample's loss, and how many places it has, with the lift and the cost of each, both rising.
    """

    ceiling = math.inf

    def __init__(self, held: dict[str, Any]) -> None:
        self.losses = unpack(held["losses"])
        n, count = len(self.losses), unpack(held["count"]).astype(np.intp)
        staying = np.concatenate(([0], np.cumsum(count + 1)))[:-1]
        moving = np.setdiff1d(np.arange(n + int(count.sum())), staying, assume_unique=True)
        self.first: IntArray = staying
        self.lift, self.cost, self.begins = (np.zeros(n + len(moving)) for _ in range(3))
        self.lift[moving], self.cost[moving] = unpack(held["lift"]), unpack(held["cost"])
        rise, dearer = self.lift[moving] - self.lift[moving - 1], self.cost[moving] - self.cost[moving - 1]
        with np.errstate(over="ignore"):  # a lift next to nothing never pays
            self.begins[moving] = dearer / rise

    def chosen(self, price: float) -> IntArray:
        """Which place every sample is at, among all; `first` where it stays."""
        beaten = (self.begins < price).astype(np.intp)
        beaten[self.first] = 0
        return np.asarray(self.first + np.add.reduceat(beaten, self.first))

    def respond(self, price: float) -> Response:
        chosen = self.chosen(price)
        return Response(self.lift[chosen], self.cost[chosen], np.zeros_like(self.losses))

    def peak(self) -> Response:
        return self.respond(math.inf)

    def escape(self, lift: float) -> Response:
        raise UnsupportedError("places that are counted off have no ceiling, so nothing can escape from it.")

    def prices(self, rows: IntArray) -> FloatArray:
        """A price, for every place of these samples, at which it is the best of them."""
        ends = np.append(self.first[1:], len(self.lift))
        held = np.concatenate([np.arange(self.first[i] + 1, ends[i]) for i in rows]) if len(rows) else np.zeros(0, np.intp)
        last = np.isin(held + 1, ends)
        after = self.begins[np.minimum(held + 1, len(self.begins) - 1)]
        return np.asarray(np.where(last, 2.0 * self.begins[held], 0.5 * (self.begins[held] + after)))
