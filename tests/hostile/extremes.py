"""Questions whose numbers are far from one: the same question in other units, whose answer is known from the ordinary one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import tippingpoint as tp

FARTHEST = 950
"""Powers of two, up or down, by which losses, costs and prices are put apart."""

DIVERGENCES = ("kl", "chi2", "cvar:0.4")


@dataclass(frozen=True)
class Extreme:
    """A table of alternatives, and the powers of two by which its losses, its costs and its prices are multiplied."""

    table: pd.DataFrame
    risk: float
    theta1: float
    theta2: float
    divergence: str
    loss: int
    cost: int
    price: int

    def ordinary(self) -> tp.StabilityResult:
        """The question as it was."""
        asked: dict[str, Any] = {"theta1": self.theta1, "theta2": self.theta2, "divergence": self.divergence}
        return tp.profile_table(self.table).stability(self.risk, **asked)

    def extreme(self) -> tp.StabilityResult:
        """The same question in other units: θ1 is a price a cost, θ2 is none."""
        table = self.table.assign(loss=np.ldexp(self.table["loss"], self.loss), cost=np.ldexp(self.table["cost"], self.cost))
        theta1, theta2 = np.ldexp(self.theta1, self.price - self.cost), np.ldexp(self.theta2, self.price)
        asked: dict[str, Any] = {"theta1": float(theta1), "theta2": float(theta2), "divergence": self.divergence}
        return tp.profile_table(table).stability(float(np.ldexp(self.risk, self.loss)), **asked)

    def outcome(self) -> str:
        """ "answered" with the known number, "refused" with a sentence; anything else is said."""
        try:
            found = self.extreme()
        except tp.TippingPointError as error:
            return "refused" if "\n" not in str(error) else "a sentence of several lines"
        known = self.ordinary()
        if known.status != found.status:
            return f"{found.status} instead of {known.status}"
        expected = float(np.ldexp(known.value, self.price))
        if not (found.lower <= found.value and found.value >= 0.0):
            return f"bounds {found.lower:g} and {found.value:g}"
        if math.isinf(expected) or expected == 0.0:
            return "answered" if found.value == expected else f"{found.value:g} instead of {expected:g}"
        return "answered" if abs(found.value / expected - 1.0) <= 1e-9 else f"{found.value:.12g} instead of {expected:.12g}"


def cases(count: int, seed: int) -> Iterator[Extreme]:
    """Random tables in random units; a third of them only moves, a third only reweights."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, k = int(rng.integers(2, 12)), int(rng.integers(1, 5))
        sample = np.repeat(np.arange(n), k)
        original = np.tile(np.arange(k) == 0, n)
        table = pd.DataFrame(
            {
                "sample": sample,
                "loss": np.repeat(rng.uniform(0.0, 0.5, n), k) + np.where(original, 0.0, rng.exponential(size=n * k)),
                "cost": np.where(original, 0.0, rng.exponential(size=n * k)),
            }
        )
        low, high = float(table["loss"][original].mean()), float(table.groupby("sample")["loss"].max().mean())
        kind = rng.integers(3)
        theta1 = math.inf if kind == 0 else float(np.exp(rng.normal()))
        theta2 = math.inf if kind == 1 else float(np.exp(rng.normal()))
        price, cost, loss = (int(rng.integers(-FARTHEST, FARTHEST + 1)) for _ in range(3))
        cost = int(np.clip(cost, price - FARTHEST, price + FARTHEST))  # so that θ1, a price a cost, is a number too
        risk = low + float(rng.uniform(0.05, 1.2)) * max(high - low, 0.1)
        yield Extreme(table, risk, theta1, theta2, str(rng.choice(DIVERGENCES)), loss, cost, price)
