"""Prices by name: of a variant, of a variation, or of each of its parts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.costs.base import Cost, Pair
from tippingpoint.errors import InputError, listed


class Prices(Cost):
    """Prices by the name of a variant or variation; variations made one after the other cost the sum of theirs.

    Wherever costs are taken, so is the plain dictionary.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> prices = tp.costs.Prices({"typos": 1.0, "case": 0.5})
    >>> prices([tp.costs.Pair(None, None, "typos + case", ("typos", "case"))]).tolist()
    [1.5]
    """

    label: str = "prices by name"
    needs_content: bool = False

    def __init__(self, prices: Mapping[str, Any]) -> None:
        self.prices: dict[str, float] = {}
        for name, price in prices.items():
            number = float(price) if isinstance(price, (int, float, np.number)) and not isinstance(price, bool) else math.nan
            if not 0.0 <= number < math.inf:
                raise InputError(f"cost[{name!r}]={price!r} must be a number, 0 or more.")
            self.prices[str(name)] = number

    def __call__(self, pairs: Sequence[Pair]) -> FloatArray:
        return np.array([self._one(pair) for pair in pairs], dtype=float)

    def _one(self, pair: Pair) -> float:
        if pair.variant in self.prices:
            return self.prices[pair.variant]
        whole = " + ".join(pair.parts)
        if whole in self.prices:
            return self.prices[whole]
        parts = pair.parts or (pair.variant,)
        lacking = [part for part in parts if part not in self.prices]
        if lacking:
            raise InputError(f"cost has no price of {lacking[0]!r}; its prices are of {listed(self.prices)}.")
        return math.fsum(self.prices[part] for part in parts)
