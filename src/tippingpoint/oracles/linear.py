r"""Linear models with one score, exactly.

Moving the features of a linear model matters to the loss only through the score :math:`s = \beta^\top x + b`, and the
cheapest move for a shift of the score is known (`tippingpoint.push`). So a best response is a problem in one number,
which every loss solves in closed form (`tippingpoint.losses`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.responses import Response
from tippingpoint.losses import Loss
from tippingpoint.oracles.answers import Answer, Side
from tippingpoint.oracles.base import Oracle
from tippingpoint.oracles.geometry import Rows, ScoreGeometry, shifted
from tippingpoint.push import Push, Reach
from tippingpoint.space import Domain

FAR = 1e10
"""How far out, in units of what is lost on the way, a response that only pays at infinity is put: 2e-10 from its limit."""


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
        if price == 0.0:
            for rows, side, push in self._pushes():
                rising = np.square(np.maximum(side.loss.slope(side.v), 0.0)) * push.none().compliance
                whole.slope[rows] = np.maximum(whole.slope[rows], 0.5 * rising)
            return whole
        for rows in self._geometry.chunks(len(self._losses)):
            answer = self._answer(price, rows)
            whole.lift[rows], whole.cost[rows] = answer.lift, answer.cost
            if not self._loss.needs_crossing:  # who has crossed stands still
                whole.slope[rows] = answer.slope(price)
        return whole

    def peak(self) -> Response:
        unbounded = np.zeros(len(self._losses), dtype=bool)
        for rows, side, push in self._pushes():
            unbounded[rows] |= np.isinf(side.loss.peak(side.v, push).push)
        peak = Response.none(len(unbounded)) if unbounded.all() else self.respond(math.inf)
        peak.lift[unbounded] = np.inf
        peak.cost[unbounded] = np.inf
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
            direction = side.direction
            multiplier = self._geometry.crossing(rows, direction, np.maximum(-side.v, 0.0)).multiplier
        elif self.ceiling <= price < math.inf:
            direction, multiplier = self._escaped(rows, lift)
        else:
            answer = self._answer(price, rows)
            direction, multiplier = answer.direction, answer.multiplier
        steps = self._geometry.steps(rows, direction, np.where(lift > 0.0, multiplier, 0.0))
        return shifted(self._x, rows, self._geometry.moves, steps, self._names)

    def _answer(self, price: float, rows: Rows) -> Answer:
        """The best of staying and of all candidates, on all sides."""
        sides = [whole.of(rows) for whole in self._sides]
        return Answer.best(price, [(side, self._geometry.push(rows, side.direction)) for side in sides])

    def _escaped(self, rows: Rows, lift: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Direction and multiplier of the push of samples that escaped with this lift."""
        loss = self._losses[rows] + lift
        found: list[tuple[FloatArray, Reach]] = []
        for whole in self._sides:
            side = whole.of(rows)
            far = np.sqrt(loss) - side.loss.root(side.v)
            found.append((side.direction, self._geometry.push(rows, side.direction).to(far)))
        (direction, reach), (other, beyond) = found[0], found[-1]
        nearer = beyond.cost < reach.cost
        return np.where(nearer, other, direction), np.where(nearer, beyond.multiplier, reach.multiplier)

    def _pushes(self) -> Iterator[tuple[slice, Side, Push]]:
        for rows in self._geometry.chunks(len(self._losses)):
            for whole in self._sides:
                side = whole.of(rows)
                yield rows, side, self._geometry.push(rows, side.direction)


def _sides(y: FloatArray, score: FloatArray, loss: Loss, *, both: bool) -> list[Side]:
    """The directions in which a push can raise the loss."""
    if loss.task == "classification":
        v = -y * score
        if loss.needs_crossing:
            # A score of exactly 0 is predicted as the first class: right for y = -1, though on the boundary.
            v[(score == 0.0) & (y < 0.0)] = -np.finfo(float).smallest_subnormal
        return [Side(loss, v, -y), Side(loss.mirrored(), -v, y)] if loss.falls else [Side(loss, v, -y)]
    residual = y - score
    if loss.mirrored() is loss and not both:
        return [Side(loss, np.abs(residual), np.where(residual < 0.0, 1.0, -1.0))]
    down, up = np.full_like(residual, -1.0), np.full_like(residual, 1.0)
    return [Side(loss, residual, down), Side(loss.mirrored(), -residual, up)]
