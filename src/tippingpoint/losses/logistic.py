"""The logistic loss, which is the cross-entropy of one score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.responses import Response
from tippingpoint.losses.base import Loss, Task
from tippingpoint.push import Push, Reach

FIXED_POINT_STEPS = 80
"""Cap on Newton's steps for the logistic loss; 4 to 8 are usual, more happen where two responses are about to merge."""


ROOT_TOLERANCE = 1e-14
"""Relative error of a fixed point; the value, which is stationary there, is off by the square of it."""


ONE_ROOT_BELOW = 3.9
"""`κ` up to which there is one response: from 4 on there may be two, and close to that Newton's steps are slow."""

SINGLE_STEPS = 3
"""Newton's steps in single precision, which take less than half as long; enough for `κ` up to one."""

STEEPEST_BEND = 0.0482
"""Half of the largest `|σ''|`: after a step `s` the root is off by no more than this times `κ s²`, over the least slope."""

ROOT_ERROR = 1e-14
"""Error of a root; what it is worth is off by the square of it."""


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
        size = np.abs(v)
        np.negative(size, out=size)
        np.exp(size, out=size)
        np.log1p(size, out=size)
        size += np.maximum(v, 0.0)
        return size

    def lift(self, v: FloatArray, push: FloatArray) -> FloatArray:
        near = np.log1p(expit(v) * np.expm1(np.minimum(push, 1.0)))
        return np.where(push <= 1.0, near, self.value(v + push) - self.value(v))

    def slope(self, v: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return _sigmoid(v, np.zeros(1))

    def curvature(self, v: FloatArray) -> FloatArray:
        return np.asarray(expit(v) * expit(-v))

    def respond_freely(self, price: float, v: FloatArray, losses: FloatArray, compliance: float) -> Response | None:
        scale = 0.5 * price * compliance
        if not 0.0 < scale <= ONE_ROOT_BELOW:
            return None
        with np.errstate(over="ignore"):
            push, sigma, room = _only_fixed_point(scale, v)
        # 1 - e^-f is the slope of the loss where the sample is, so this is log((1 + e^(v+t))/(1 + e^v)) with all its digits.
        lift = np.expm1(-losses)
        lift *= np.expm1(push)
        np.log1p(np.negative(lift, out=lift), out=lift)
        push *= push
        push /= compliance
        sigma *= sigma
        sigma *= 0.5 * compliance
        sigma /= room
        return Response(lift, push, sigma)

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


def _only_fixed_point(scale: float, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""The root of :math:`t = \kappa \sigma(v + t)` for :math:`\kappa < 4`, where there is one, with the sigmoid
    and the slope of the difference :math:`1 - \kappa \sigma'` beside it.

    Newton's steps from the end of `[0, κ]` that lies on the root's side of the inflection, so that they are monotone: most of
    them in single precision, the last in double. What is returned beside the root is that of the step before.
    """
    half = v.astype(np.float32)
    kappa = np.float32(scale)
    t = (half > np.float32(-0.5 * scale)).astype(np.float32)
    t *= kappa
    for _ in range(SINGLE_STEPS if scale <= 1.0 else 2 * SINGLE_STEPS):
        sigma = _sigmoid(half, t)
        product = kappa * sigma
        sigma -= np.float32(1.0)
        sigma *= product
        sigma += np.float32(1.0)  # 1 - κσ(1 - σ)
        product -= t
        product /= sigma
        t += product
    root = t.astype(np.float64)
    for _ in range(FIXED_POINT_STEPS):
        sigma = _sigmoid(v, root)
        apart = scale * sigma
        room = sigma - 1.0
        room *= apart
        room += 1.0
        apart -= root
        apart /= room
        root += apart
        step = max(float(apart.max(initial=0.0)), -float(apart.min(initial=0.0)))
        if STEEPEST_BEND * scale * step * step <= ROOT_ERROR * float(room.min(initial=1.0)):
            break
    return root, sigma, room


def _sigmoid(v: np.ndarray[Any, Any], push: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """`σ(v + t)`."""
    found: np.ndarray[Any, Any] = v + push
    np.negative(found, out=found)
    np.exp(found, out=found)
    found += 1
    np.reciprocal(found, out=found)
    return found


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
