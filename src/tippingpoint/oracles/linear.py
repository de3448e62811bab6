r"""Linear models with one score, exactly.

Moving the features of a linear model matters to the loss only through the score :math:`s = \beta^\top x + b`, and the
cheapest move for a shift of the score is known (`tippingpoint.push`). So a best response is a problem in one number,
which every loss solves in closed form (`tippingpoint.losses`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.responses import Response
from tippingpoint.losses import Loss
from tippingpoint.oracles.base import Oracle
from tippingpoint.oracles.geometry import Rows, ScoreGeometry, shifted
from tippingpoint.push import Push, Reach
from tippingpoint.space import Domain

FAR = 1e10
"""How far out, in units of what is lost on the way, a response that only pays at infinity is put: 2e-10 from its limit."""


@dataclass(frozen=True)
class _Side:
    """One direction of pushing: the loss as a function of `v`, and the sign in which the score moves."""

    loss: Loss
    v: FloatArray
    direction: FloatArray

    def of(self, rows: Rows) -> _Side:
        return _Side(self.loss, self.v[rows], self.direction[rows])


@dataclass(frozen=True)
class _Answer:
    """Responses with the push that makes them."""

    lift: FloatArray
    slope: FloatArray
    reach: Reach
    direction: FloatArray

    def improved(self, price: float, side: _Side, reach: Reach) -> _Answer:
        """The better of this answer and a candidate."""
        with np.errstate(invalid="ignore"):
            lift = side.loss.lift(side.v, reach.push)
            better = np.isfinite(reach.cost) & (_gain(price, lift, reach.cost) > _gain(price, self.lift, self.reach.cost))
        return _Answer(
            np.where(better, lift, self.lift),
            np.where(better, _slope(price, side, reach), self.slope),
            reach.where(better, self.reach),
            np.where(better, side.direction, self.direction),
        )


class LinearOracle(Oracle):
    """Best responses of `loss(y, βᵀx + b)`.

    Parameters
    ----------
    x
        `(n, d)` features.
    y
        Labels -1 and +1 for a classification loss, targets for a regression loss.
    coef, intercept
        `β` and `b`.
    loss
        Any loss of one score.
    domain
        Which features may move, within which bounds, at what price.
    """

    exact = True

    def __init__(self, x: FloatArray, y: FloatArray, coef: FloatArray, intercept: float, loss: Loss, domain: Domain) -> None:
        self.certificate = f"closed form: {loss.label} loss of a linear score"
        self.unit = domain.unit
        self._x = x
        self._names = domain.names
        self._loss = loss
        self._geometry = ScoreGeometry(x, coef, intercept, domain)
        self._sides = _sides(y, self._geometry.scores(), loss, both=self._geometry.bounded)
        self._losses = loss.value(self._sides[0].v)

    @property
    def losses(self) -> FloatArray:
        return self._losses

    @cached_property
    def ceiling(self) -> float:
        return min(self._loss.ceiling(push.free) for _, _, push in self._pushes())

    def respond(self, price: float) -> Response:
        whole = Response.none(len(self._losses))
        for rows in self._geometry.chunks(len(self._losses)):
            answer = self._answer(price, rows)
            whole.lift[rows], whole.cost[rows], whole.slope[rows] = answer.lift, answer.reach.cost, answer.slope
        return whole

    def peak(self) -> Response:
        peak = self.respond(math.inf)
        for rows, side, push in self._pushes():
            unbounded = np.isinf(side.loss.peak(side.v, push).push)
            peak.lift[rows][unbounded] = np.inf
            peak.cost[rows][unbounded] = np.inf
        return peak

    def escape(self, lift: float) -> Response:
        escaped = Response.none(len(self._losses))
        escaped.cost[:] = np.inf
        for rows, side, push in self._pushes():
            root = side.loss.root(side.v)
            far = math.sqrt(lift) + FAR * (np.abs(root) + push.anchor)
            with np.errstate(invalid="ignore"):
                here, cost = side.loss.lift(side.v, far), push.to(far).cost
                better = cost * escaped.lift[rows] < escaped.cost[rows] * here
            escaped.lift[rows] = np.where(better, here, escaped.lift[rows])
            escaped.cost[rows] = np.where(better, cost, escaped.cost[rows])
        return escaped

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        if self._loss.needs_crossing:
            side = self._sides[0].of(rows)
            direction, reach = side.direction, self._geometry.crossing(rows, side.direction, np.maximum(-side.v, 0.0))
        elif self.ceiling <= price < math.inf:
            direction, reach = self._escaped(rows, lift)
        else:
            answer = self._answer(price, rows)
            direction, reach = answer.direction, answer.reach
        steps = self._geometry.steps(rows, direction, np.where(lift > 0.0, reach.multiplier, 0.0))
        return shifted(self._x, rows, self._geometry.moves, steps, self._names)

    def _answer(self, price: float, rows: Rows) -> _Answer:
        """The best of staying and of all candidates, on all sides."""
        best = self._stay(price, rows)
        for whole in self._sides:
            side = whole.of(rows)
            push = self._geometry.push(rows, side.direction)
            peak = math.isinf(price)
            for reach in [side.loss.peak(side.v, push)] if peak else side.loss.candidates(price, side.v, push):
                best = best.improved(price, side, reach)
        return best

    def _stay(self, price: float, rows: Rows) -> _Answer:
        side = self._sides[0].of(rows)
        stay = self._geometry.push(rows, side.direction).none()
        slope = _slope(price, side, stay)
        for whole in self._sides[1:] if price == 0.0 else []:
            other = whole.of(rows)
            slope = np.maximum(slope, _slope(price, other, self._geometry.push(rows, other.direction).none()))
        return _Answer(np.zeros_like(side.v), slope, stay, side.direction)

    def _escaped(self, rows: Rows, lift: FloatArray) -> tuple[FloatArray, Reach]:
        """Direction and push of samples that escaped with this lift."""
        loss = self._losses[rows] + lift
        found: list[tuple[FloatArray, Reach]] = []
        for whole in self._sides:
            side = whole.of(rows)
            far = np.sqrt(loss) - side.loss.root(side.v)
            found.append((side.direction, self._geometry.push(rows, side.direction).to(far)))
        (direction, reach), (other, beyond) = found[0], found[-1]
        nearer = beyond.cost < reach.cost
        return np.where(nearer, other, direction), beyond.where(nearer, reach)

    def _pushes(self) -> Iterator[tuple[slice, _Side, Push]]:
        for rows in self._geometry.chunks(len(self._losses)):
            for whole in self._sides:
                side = whole.of(rows)
                yield rows, side, self._geometry.push(rows, side.direction)


def _sides(y: FloatArray, score: FloatArray, loss: Loss, *, both: bool) -> list[_Side]:
    """The directions in which a push can raise the loss."""
    if loss.task == "classification":
        v = -y * score
        if loss.needs_crossing:
            # A score of exactly 0 is predicted as the first class: right for y = -1, though on the boundary.
            v[(score == 0.0) & (y < 0.0)] = -np.finfo(float).smallest_subnormal
        return [_Side(loss, v, -y)]
    residual = y - score
    if loss.mirrored() is loss and not both:
        return [_Side(loss, np.abs(residual), np.where(residual < 0.0, 1.0, -1.0))]
    down, up = np.full_like(residual, -1.0), np.full_like(residual, 1.0)
    return [_Side(loss, residual, down), _Side(loss.mirrored(), -residual, up)]


def _gain(price: float, lift: FloatArray, cost: FloatArray) -> FloatArray:
    """`λ·lift - cost`; at an infinite price the lift alone counts."""
    return lift if math.isinf(price) else price * lift - cost


def _slope(price: float, side: _Side, reach: Reach) -> FloatArray:
    """`dℓ/dλ = f'² / (C'' - λ f'')` at a stationary push."""
    if math.isinf(price):
        return np.zeros_like(side.v)
    with np.errstate(invalid="ignore", over="ignore"):
        v = side.v + reach.push
        stiff = 2.0 - price * reach.compliance * side.loss.curvature(v)
        rising = np.square(np.maximum(side.loss.slope(v), 0.0)) * reach.compliance
        return np.where(stiff > 0.0, rising / np.where(stiff > 0.0, stiff, 1.0), 0.0)
