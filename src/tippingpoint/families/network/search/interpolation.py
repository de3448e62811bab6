"""Responses between the prices of a ladder, as far as the responses at its rungs tell."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.atoms import Layers
from tippingpoint.core.responses import Response


class InterpolatedResponses:
    """Responses between the prices of a ladder, as if `e_i` were a cubic there: its values and slopes at both ends are known.

    No atom attains them; they tell, to a part in a hundred, at which price to search.
    """

    ceiling: float = math.inf

    def __init__(self, layers: Layers, rungs: Sequence[float], losses: FloatArray) -> None:
        self._prices = (0.0, *rungs)
        self._ends = [layers.respond(price) for price in self._prices]
        self._beyond = layers
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
        return self._beyond.escape(lift)
