r"""The best response of a linear score: every loss's candidates for a push, compared with staying.

For a score that is linear in what moves, :math:`e(\lambda) = \max_{t \ge 0} \lambda f(v + t) - C(t)` is a problem in one
number, and the loss knows where its solutions can lie (`tippingpoint.losses`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, Rows, Signs
from tippingpoint.losses import Loss
from tippingpoint.push import Push, Reach


@dataclass(frozen=True)
class Side:
    """One direction of pushing: the loss as a function of `v`, and the sign in which the score moves."""

    loss: Loss
    v: FloatArray
    direction: Signs

    def of(self, rows: Rows) -> Side:
        return Side(self.loss, self.v[rows], self.direction[rows])


@dataclass(frozen=True)
class PushResponse:
    """Responses with the push that makes them.

    Attributes
    ----------
    gain
        `λ·lift - cost` (the lift alone at an infinite price).
    push, cost, multiplier, compliance
        As in `Reach`.
    bend
        `f''` where the push ends.
    """

    gain: FloatArray
    lift: FloatArray
    push: FloatArray
    cost: FloatArray
    multiplier: FloatArray
    compliance: FloatArray
    bend: FloatArray
    direction: Signs

    @classmethod
    def staying(cls, direction: Signs) -> PushResponse:
        nothing = np.zeros(len(direction))
        return cls(nothing, nothing, nothing, nothing, nothing, nothing, nothing, direction)

    @property
    def reach(self) -> Reach:
        """The push alone."""
        return Reach(self.push, self.cost, self.multiplier, self.compliance)

    @classmethod
    def best(cls, price: float, sides: Sequence[tuple[Side, Push]]) -> PushResponse:
        """The best of staying and of all candidates, on all sides."""
        found = cls.staying(sides[0][0].direction)
        for side, push in sides:
            peak = math.isinf(price)
            for reach in [side.loss.peak(side.v, push)] if peak else side.loss.candidates(price, side.v, push):
                found = found.improved(price, side, reach)
        return found

    def improved(self, price: float, side: Side, reach: Reach) -> PushResponse:
        """The better of this answer and a candidate."""
        with np.errstate(invalid="ignore"):
            lift = side.loss.lift(side.v, reach.push)
            gain = lift if math.isinf(price) else price * lift - reach.cost
            better = (gain > self.gain) & np.isfinite(reach.cost)
            bend = side.loss.curvature(side.v + reach.push) if side.loss.curved else self.bend
        return PushResponse(
            np.where(better, gain, self.gain),
            np.where(better, lift, self.lift),
            np.where(better, reach.push, self.push),
            np.where(better, reach.cost, self.cost),
            np.where(better, reach.multiplier, self.multiplier),
            np.where(better, reach.compliance, self.compliance),
            np.where(better, bend, self.bend) if side.loss.curved else self.bend,
            np.where(better, side.direction, self.direction) if side.direction is not self.direction else self.direction,
        )

    def slope(self, price: float) -> FloatArray:
        """`dℓ/dλ = f'²/(C'' - λ f'')` with `λ f' = C' = 2μ`: how fast the response moves."""
        if math.isinf(price):
            return np.zeros_like(self.lift)
        steepness = 2.0 / price * self.multiplier
        rising = steepness * steepness * self.compliance
        if not self.bend.any():
            return 0.5 * rising
        stiff = 2.0 - price * self.compliance * self.bend
        return np.where(stiff > 0.0, rising / np.where(stiff > 0.0, stiff, 1.0), 0.0)
