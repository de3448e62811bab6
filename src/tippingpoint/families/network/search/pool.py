"""The pool: every place that a sample was seen to go, and the exact best response among them.

Whatever found them, the optimum over distributions on a pool is a feasible perturbation, so its cost is an upper bound on the
stability; a place more can only lower it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.responses import Response
from tippingpoint.families.network.search.scores import cost


@dataclass(frozen=True)
class Pool:
    """Layers of atoms, one of every sample in each; in the first, nobody moves.

    Attributes
    ----------
    lifts, costs
        One `(n,)` array a layer: loss above the sample's own, squared distance.
    steps
        One `(n, d)` array a layer, in the module's precision.
    """

    lifts: tuple[FloatArray, ...]
    costs: tuple[FloatArray, ...]
    steps: tuple[np.ndarray[Any, Any], ...]

    @classmethod
    def resting(cls, steps: np.ndarray[Any, Any]) -> Pool:
        nothing = np.zeros(len(steps))
        return cls((nothing,), (nothing,), (steps,))

    def joined(self, steps: FloatArray, lift: FloatArray) -> Pool:
        """One layer more."""
        kept = steps.astype(self.steps[0].dtype)
        return Pool((*self.lifts, lift), (*self.costs, cost(steps)), (*self.steps, kept))

    def respond(self, price: float) -> Response:
        return self._at(self._chosen(price))

    def peak(self) -> Response:
        return self.respond(math.inf)

    def places(self, price: float, rows: IntArray) -> FloatArray:
        """The steps of these rows at a price."""
        chosen = self._chosen(price)[rows]
        found = np.empty((len(rows), self.steps[0].shape[1]))
        for layer in np.unique(chosen):
            here = chosen == layer
            found[here] = self.steps[layer][rows[here]]
        return found

    def _at(self, chosen: IntArray) -> Response:
        lift, cost_ = np.zeros_like(self.lifts[0]), np.zeros_like(self.costs[0])
        for layer in range(1, len(self.lifts)):
            here = chosen == layer
            lift[here], cost_[here] = self.lifts[layer][here], self.costs[layer][here]
        return Response(lift, cost_, np.zeros_like(lift))

    def _chosen(self, price: float) -> IntArray:
        """The layer that is best for each sample; at an infinite price the cheapest of largest lift."""
        best = np.zeros(len(self.lifts[0]), dtype=np.intp)
        worth = np.zeros(len(best))
        paid = np.zeros(len(best))
        for layer in range(1, len(self.lifts)):
            lift, price_paid = self.lifts[layer], self.costs[layer]
            if math.isinf(price):
                better = (lift > worth) | ((lift == worth) & (price_paid < paid))
                worth = np.where(better, lift, worth)
            else:
                gain = price * lift - price_paid
                better = gain > worth
                worth = np.where(better, gain, worth)
            paid = np.where(better, price_paid, paid)
            best[better] = layer
        return best


class Between:
    """Responses between the prices of a ladder, as if `e_i` were a cubic there: its values and slopes at both ends are known.

    No atom attains them; they tell, to a part in a hundred, at which price to search.
    """

    ceiling = math.inf

    def __init__(self, pool: Pool, rungs: Sequence[float], losses: FloatArray) -> None:
        self._prices = (0.0, *rungs)
        self._ends = [pool.respond(price) for price in self._prices]
        self._beyond = pool
        self.losses = losses

    def respond(self, price: float) -> Response:
        if price >= self._prices[-1]:
            return self._beyond.respond(price)
        k = bisect_right(self._prices, price) - 1
        left, right, start = self._ends[k], self._ends[k + 1], self._prices[k]
        width = self._prices[k + 1] - start
        t, first, last = (price - start) / width, width * left.lift, width * right.lift
        gain = start * left.lift - left.cost
        rise = (start + width) * right.lift - right.cost - gain
        second, third = 3.0 * rise - 2.0 * first - last, first + last - 2.0 * rise
        lift = np.clip(first + t * (2.0 * second + 3.0 * t * third), first, last) / width
        slope = np.maximum(2.0 * second + 6.0 * t * third, 0.0) / width**2
        return Response(lift, price * lift - gain - t * (first + t * (second + t * third)), slope)

    def peak(self) -> Response:
        return self._beyond.peak()

    def escape(self, lift: float) -> Response:
        return self._beyond.peak()  # never asked: there is no ceiling
