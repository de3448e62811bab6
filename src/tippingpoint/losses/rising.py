"""The part of a loss that rises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.losses.base import Loss, Task
from tippingpoint.push import Push, Reach


@dataclass(frozen=True)
class Rising(Loss):
    """`f(max(v, 0))`, of a convex loss that also falls.

    Where its least is at 0 this part never falls, so a bound on `v` is a bound on it; wherever its least is, the whole is no
    more than the larger of this part and that of its mirror image, each at a bound on its own `v`.
    """

    whole: Loss

    name = "rising"
    task: Task = "classification"

    @property
    def steepest(self) -> float:  # type: ignore[override]  # here it depends on the whole
        return self.whole.steepest

    def value(self, v: FloatArray) -> FloatArray:
        return self.whole.value(np.maximum(v, 0.0))

    def lift(self, v: FloatArray, push: FloatArray) -> FloatArray:
        from_zero = self.whole.lift(np.zeros_like(v), np.maximum(v + push, 0.0))
        return np.where(v >= 0.0, self.whole.lift(np.maximum(v, 0.0), push), from_zero)

    def slope(self, v: FloatArray) -> FloatArray:
        return np.where(v >= 0.0, self.whole.slope(v), 0.0)

    def curvature(self, v: FloatArray) -> FloatArray:
        return np.where(v >= 0.0, self.whole.curvature(v), 0.0)

    def candidates(self, price: float, v: FloatArray, push: Push) -> Sequence[Reach]:
        return self.whole.candidates(price, v, push)

    def ceiling(self, free: float) -> float:
        return self.whole.ceiling(free)

    def root(self, v: FloatArray) -> FloatArray:
        return self.whole.root(v)
