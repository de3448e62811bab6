"""Wrong or right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.losses.base import Loss, Task
from tippingpoint.push import Push, Reach


class ZeroOne(Loss):
    """`1[v ≥ 0]`: wrong or right."""

    name = "zero_one"
    curved = False
    task: Task = "classification"
    range: tuple[float, float] = (0.0, 1.0)

    @property
    def needs_crossing(self) -> bool:
        return True

    def value(self, v: FloatArray) -> FloatArray:
        return (v >= 0.0).astype(float)

    def lift(self, v: FloatArray, push: FloatArray) -> FloatArray:
        return ((v < 0.0) & (push >= -v)).astype(float)

    def slope(self, v: FloatArray) -> FloatArray:
        return np.zeros_like(v)

    def curvature(self, v: FloatArray) -> FloatArray:
        return np.zeros_like(v)

    def candidates(self, price: float, v: FloatArray, push: Push) -> Sequence[Reach]:
        return (self.peak(v, push),)

    def peak(self, v: FloatArray, push: Push) -> Reach:
        return push.to(np.maximum(-v, 0.0))
