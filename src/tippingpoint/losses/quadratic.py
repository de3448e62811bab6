"""Losses with a quadratic part: squared, squared hinge, Huber."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.losses.base import Loss, Task, check_positive
from tippingpoint.push import Push, Reach


@dataclass(frozen=True)
class Squared(Loss):
    """`v²`, with a pole: at prices `λ ≥ 1/B` an error is worth any move."""

    name = "squared"
    task: Task = "regression"

    @property
    def formula(self) -> Mapping[str, Any]:
        return {"kind": self.name}

    def value(self, v: FloatArray) -> FloatArray:
        return np.square(v)

    def lift(self, v: FloatArray, push: FloatArray) -> FloatArray:
        return push * (2.0 * v + push)

    def slope(self, v: FloatArray) -> FloatArray:
        return 2.0 * v

    def curvature(self, v: FloatArray) -> FloatArray:
        return np.full_like(v, 2.0)

    def candidates(self, price: float, v: FloatArray, push: Push) -> Sequence[Reach]:
        return push.meets(price, v)

    def ceiling(self, free: float) -> float:
        return 1.0 / free if free > 0.0 else math.inf

    def root(self, v: FloatArray) -> FloatArray:
        return v


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """`(1 + v)₊²`, with the pole of the squared loss."""

    name = "squared_hinge"
    task: Task = "classification"

    @property
    def formula(self) -> Mapping[str, Any]:
        return {"kind": self.name}

    def value(self, v: FloatArray) -> FloatArray:
        return np.square(np.maximum(1.0 + v, 0.0))

    def lift(self, v: FloatArray, push: FloatArray) -> FloatArray:
        q = 1.0 + v
        return np.where(q >= 0.0, push * (2.0 * q + push), np.square(np.maximum(q + push, 0.0)))

    def slope(self, v: FloatArray) -> FloatArray:
        return 2.0 * np.maximum(1.0 + v, 0.0)

    def curvature(self, v: FloatArray) -> FloatArray:
        return np.where(1.0 + v >= 0.0, 2.0, 0.0)

    def candidates(self, price: float, v: FloatArray, push: Push) -> Sequence[Reach]:
        return push.meets(price, 1.0 + v)

    def ceiling(self, free: float) -> float:
        return 1.0 / free if free > 0.0 else math.inf

    def root(self, v: FloatArray) -> FloatArray:
        return 1.0 + v


@dataclass(frozen=True)
class Huber(Loss):
    """`v²/2` for `|v| ≤ δ`, `δ|v| - δ²/2` beyond."""

    delta: float = 1.35

    name = "huber"
    task: Task = "regression"

    def __post_init__(self) -> None:
        check_positive("delta", self.delta)

    @property
    def steepest(self) -> float:  # type: ignore[override]  # here it depends on the parameter
        return self.delta

    @property
    def label(self) -> str:
        return f"huber:{self.delta:g}"

    @property
    def formula(self) -> Mapping[str, Any]:
        return {"kind": self.name, "delta": self.delta}

    def value(self, v: FloatArray) -> FloatArray:
        clipped = np.minimum(np.abs(v), self.delta)
        return clipped * (np.abs(v) - 0.5 * clipped)

    def lift(self, v: FloatArray, push: FloatArray) -> FloatArray:
        inside = np.maximum(np.abs(v), np.abs(v + push)) <= self.delta
        straight = np.where(v >= self.delta, self.delta * push, self.value(v + push) - self.value(v))
        return np.where(inside, push * (v + 0.5 * push), straight)

    def slope(self, v: FloatArray) -> FloatArray:
        return np.clip(v, -self.delta, self.delta)

    def curvature(self, v: FloatArray) -> FloatArray:
        return (np.abs(v) < self.delta).astype(float)

    def candidates(self, price: float, v: FloatArray, push: Push) -> Sequence[Reach]:
        return (*push.meets(0.5 * price, v), push.at(0.5 * price * self.delta))
