"""The logistic loss, which is the cross-entropy of one score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from tippingpoint.core.arrays import FloatArray
from tippingpoint.losses.base import Loss, Task
from tippingpoint.push import Push, Reach

FIXED_POINT_STEPS = 80
"""Cap on Newton's steps for the logistic loss; 4 to 8 are usual, more happen where two responses are about to merge."""


ROOT_TOLERANCE = 1e-14
"""Relative error of a fixed point; the value, which is stationary there, is off by the square of it."""


@dataclass(frozen=True)
class Logistic(Loss):
    r"""`log(1 + eᵛ)`; a response solves :math:`t = (B\lambda/2) \sigma(v + t)` and there may be two."""

    name = "logistic"
    task: Task = "classification"

    @property
    def steepest(self) -> float:  # type: ignore[override]  # a field, if it were an attribute with a type
        return 1.0

    @property
    def formula(self) -> Mapping[str, Any]:
        return {"kind": self.name}

    def label_of(self, classes: int) -> str:
        return self.label if classes <= 2 else "cross_entropy"

    def value(self, v: FloatArray) -> FloatArray:
        return np.logaddexp(0.0, v)

    def lift(self, v: FloatArray, push: FloatArray) -> FloatArray:
        near = np.log1p(expit(v) * np.expm1(np.minimum(push, 1.0)))
        return np.where(push <= 1.0, near, np.logaddexp(0.0, v + push) - np.logaddexp(0.0, v))

    def slope(self, v: FloatArray) -> FloatArray:
        return np.asarray(expit(v))

    def curvature(self, v: FloatArray) -> FloatArray:
        return np.asarray(expit(v) * expit(-v))

    def candidates(self, price: float, v: FloatArray, push: Push) -> Sequence[Reach]:
        reaches = list(push.corners(lambda shift: 0.5 * price * expit(v + shift)))
        for piece in push.pieces():
            if not piece.compliance.any():
                continue  # nothing gives way: its only place is a corner, or the limit
            shift = piece.anchor
            for root in _sigmoid_fixed_points(0.5 * price * piece.compliance, -(v + shift)):
                reaches.append(piece.reach(shift + root))  # noqa: PERF401  # two loops read better than one comprehension
        if np.isfinite(push.limit).any():
            reaches.append(push.to_limit())
        return reaches


def _sigmoid_fixed_points(scale: FloatArray, margin: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""The least and the greatest root of :math:`\kappa \sigma(t - m) = t`, not a number where they lie across `m`.

    Left of `m` the difference is convex, right of it concave: from 0 upwards, and from :math:`\kappa` downwards, Newton's
    steps are monotone and never pass the root on their side. A step that crosses `m` shows that there is none there.
    """

    def newton(start: FloatArray, side: float) -> FloatArray:
        root = np.where(side * (start - margin) >= 0.0, start, np.nan)
        moving = np.flatnonzero(np.isfinite(root))
        t, k, m = root[moving], scale[moving], margin[moving]
        for _ in range(FIXED_POINT_STEPS):
            if not len(moving):
                break
            sigma = expit(t - m)
            apart, tangent = k * sigma - t, k * sigma * (1.0 - sigma) - 1.0
            with np.errstate(divide="ignore", invalid="ignore"):
                after = np.where(tangent < 0.0, t - apart / tangent, np.nan)
            after = np.where(side * (after - m) >= 0.0, after, np.nan)
            root[moving] = after
            # Where two roots are about to merge the steps shrink slowly, but the equation holds long before.
            going = np.flatnonzero(
                (np.abs(after - t) > ROOT_TOLERANCE * np.abs(t)) & (np.abs(apart) > ROOT_TOLERANCE * np.abs(t))
            )
            moving, t, k, m = moving[going], after[going], k[going], m[going]
        return root

    # NaN margins (samples without this stretch) never start; the comparison in `newton` drops them.
    return newton(np.zeros_like(margin), -1.0), newton(scale + 0.0 * margin, 1.0)
