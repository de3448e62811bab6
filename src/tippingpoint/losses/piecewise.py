"""Convex piecewise-linear losses: hinge, absolute, pinball, epsilon-insensitive, and any other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.responses import Response
from tippingpoint.errors import InputError
from tippingpoint.losses.base import Loss, Task, check_positive
from tippingpoint.push import Push, Reach


@dataclass(frozen=True)
class PiecewiseLinear(Loss):
    """`max_k a_k·v + b_k`: any convex piecewise-linear loss of minus the margin (or of the residual).

    Parameters
    ----------
    slopes, offsets
        `a_k` and `b_k`. A two-dimensional `slopes`, one row of feature coefficients a piece, makes the loss
        `max_k y·a_kᵀx + b_k` of the features themselves; there is then no model to give.
    task
        "classification" for a loss of `v = -y·s`, "regression" for one of `v = y - s`.

    Examples
    --------
    The hinge loss, written out:

    >>> import numpy as np
    >>> hinge = PiecewiseLinear([0, 1], [0, 1])
    >>> hinge.value(np.array([-2.0, 0.0, 3.0]))
    array([0., 1., 4.])
    """

    slopes: FloatArray
    offsets: FloatArray
    task: Task = "classification"
    title: str = "piecewise_linear"

    name = "piecewise_linear"
    curved = False

    def __init__(
        self,
        slopes: Sequence[float] | FloatArray,
        offsets: Sequence[float] | FloatArray,
        task: Task = "classification",
        title: str = "piecewise_linear",
    ) -> None:
        try:
            a, b = np.asarray(slopes, dtype=float), np.asarray(offsets, dtype=float)
        except (TypeError, ValueError):
            raise InputError("slopes and offsets of a piecewise-linear loss must be numbers, one slope a piece.") from None
        if a.ndim not in (1, 2) or b.ndim != 1 or len(a) != len(b) or not len(b):
            raise InputError(
                f"slopes of shape {a.shape} and offsets of shape {b.shape} do not match; give one slope (or one row of"
                " feature coefficients) and one offset for each piece."
            )
        if not (np.isfinite(a).all() and np.isfinite(b).all()):
            raise InputError("slopes and offsets of a piecewise-linear loss must be finite numbers.")
        if task not in ("classification", "regression"):
            raise InputError(f"task={task!r}: use 'classification' or 'regression'.")
        object.__setattr__(self, "slopes", a)
        object.__setattr__(self, "offsets", b)
        object.__setattr__(self, "task", task)
        object.__setattr__(self, "title", title)

    @property
    def label(self) -> str:
        return self.title

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]  # here it depends on the pieces
        constant = ~self.slopes.reshape(len(self.offsets), -1).any(axis=1)
        least = float(self.offsets[constant].max(initial=-math.inf))
        if not self.of_features:  # the least of a maximum is where a falling piece meets a rising one
            pieces = list(zip(self.slopes.tolist(), self.offsets.tolist(), strict=True))
            falling, rising = [p for p in pieces if p[0] < 0.0], [p for p in pieces if p[0] > 0.0]
            least = max([least, *((a * d - c * b) / (a - c) for a, b in rising for c, d in falling)])
        return least, math.inf

    @property
    def steepest(self) -> float:  # type: ignore[override]  # here it depends on the pieces
        return float(np.abs(self.slopes).max())

    @property
    def falls(self) -> bool:
        return bool((self.slopes < 0.0).any())

    @property
    def of_features(self) -> bool:
        """Whether the pieces are functions of the features themselves."""
        return self.slopes.ndim == 2

    @property
    def formula(self) -> Mapping[str, Any] | None:
        numbers = {"slopes": self.slopes.tolist(), "offsets": self.offsets.tolist()}
        return None if self.of_features else {"kind": "pieces", **numbers}

    def value(self, v: FloatArray) -> FloatArray:
        best = self.slopes[0] * v + self.offsets[0]
        for a, b in zip(self.slopes[1:], self.offsets[1:], strict=True):
            best = np.maximum(best, a * v + b)
        return np.asarray(best)

    def lift(self, v: FloatArray, push: FloatArray) -> FloatArray:
        now = self.value(v)
        best = np.full_like(v, -np.inf)
        for a, b in zip(self.slopes, self.offsets, strict=True):
            best = np.maximum(best, a * push + ((a * v + b) - now))
        return best

    def slope(self, v: FloatArray) -> FloatArray:
        first, *others = np.argsort(self.slopes)
        if len(others) == 1:
            low, high = first, others[0]
            apart = (self.slopes[high] - self.slopes[low]) * v
            apart += self.offsets[high] - self.offsets[low]
            rises = (apart >= 0.0) * (self.slopes[high] - self.slopes[low])
            rises += self.slopes[low]
            return np.asarray(rises, dtype=float)
        value, slope = self.slopes[first] * v + self.offsets[first], np.full_like(v, self.slopes[first])
        for k in others:
            piece = self.slopes[k] * v + self.offsets[k]
            slope = np.where(piece >= value, self.slopes[k], slope)
            value = np.maximum(value, piece)
        return slope

    def curvature(self, v: FloatArray) -> FloatArray:
        return np.zeros_like(v)

    def respond_freely(self, price: float, v: FloatArray, losses: FloatArray, compliance: float) -> Response | None:
        rising = sorted({a for a in self.slopes.tolist() if a > 0.0})
        if len(rising) != 1:
            return None
        a = rising[0]
        push = 0.5 * price * a * compliance
        cost = 0.5 * price * a * push
        lift: FloatArray | None = None
        for slope, offset in zip(self.slopes.tolist(), self.offsets.tolist(), strict=True):
            if slope == 0.0:  # what is flat does not rise
                piece = offset - losses
            else:
                piece = v * slope if slope != 1.0 else v + offset
                if slope != 1.0:
                    piece += offset
                piece -= losses
                piece += slope * push
            lift = piece if lift is None else np.maximum(lift, piece, out=lift)
        if lift is None:
            return None
        # As a number: of a number and a yes or no NumPy makes a product only while no other thread runs.
        pays = (price * lift > cost).astype(float)
        lift *= pays
        return Response(lift, cost * pays, (0.5 * a * a * compliance) * pays)

    def candidates(self, price: float, v: FloatArray, push: Push) -> Sequence[Reach]:
        return [push.at(0.5 * price * a) for a in sorted(set(self.slopes.tolist())) if a > 0.0]

    def peak(self, v: FloatArray, push: Push) -> Reach:
        return push.to_limit() if (self.slopes > 0.0).any() else push.none()

    def mirrored(self) -> Loss:
        pieces = set(zip(self.slopes, self.offsets, strict=True))
        if pieces == {(-a, b) for a, b in pieces}:
            return self
        return PiecewiseLinear(-self.slopes, self.offsets, self.task, self.title)


def hinge() -> Loss:
    """`max(0, 1 + v)`."""
    return PiecewiseLinear([0.0, 1.0], [0.0, 1.0], "classification", "hinge")


def absolute() -> Loss:
    """`|v|`."""
    return PiecewiseLinear([1.0, -1.0], [0.0, 0.0], "regression", "absolute")


def pinball(quantile: float = 0.5) -> Loss:
    """`max(τ·v, (τ-1)·v)`: too low costs `τ`, too high `1-τ`."""
    if not (isinstance(quantile, (int, float)) and 0.0 < quantile < 1.0):
        raise InputError(f"quantile={quantile!r} must lie strictly between 0 and 1.")
    return PiecewiseLinear([quantile, quantile - 1.0], [0.0, 0.0], "regression", f"pinball:{quantile:g}")


def epsilon_insensitive(epsilon: float = 0.1) -> Loss:
    """`max(0, |v| - ε)`."""
    if epsilon != 0.0:
        check_positive("epsilon", epsilon)
    slopes, offsets = [0.0, 1.0, -1.0], [0.0, -epsilon, -epsilon]
    return PiecewiseLinear(slopes, offsets, "regression", f"epsilon_insensitive:{epsilon:g}")
