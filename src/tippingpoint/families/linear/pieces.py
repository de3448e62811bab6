r"""Convex piecewise-linear losses of the features themselves: :math:`\max_k y\, a_k^\top x + b_k`, exactly.

.. math:: e(\lambda) = \max_k \lambda (y\, a_k^\top \hat x + b_k) + \lambda^2 \lVert a_k \rVert^2 / 4

without bounds (the paper prints :math:`b_k` without its factor: misprint 2); with bounds each piece is pushed within them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, Rows, combine
from tippingpoint.core.responses import Response
from tippingpoint.families.linear.geometry import Score, ScoreGeometry, shifted
from tippingpoint.families.linear.relaxed import RelaxedOracle, how_certified
from tippingpoint.losses import PiecewiseLinear
from tippingpoint.push import Reach
from tippingpoint.space.domain import Domain


class PiecesOracle(RelaxedOracle):
    """Best responses of `max_k y·a_kᵀx + b_k`.

    Parameters
    ----------
    x
        `(n, d)` features.
    y
        Labels -1 and +1.
    loss
        Pieces with one row of feature coefficients each.
    domain
        Which features may move, within which bounds, at what price.
    """

    ceiling: float = math.inf

    def __init__(self, x: FloatArray, y: FloatArray, loss: PiecewiseLinear, domain: Domain) -> None:
        self.unit: str = domain.unit
        self._x = x
        self._y = y
        self._domain = domain
        self._pieces = [ScoreGeometry(x, Score(a, 0.0), domain) for a in loss.slopes]
        self._now = [y * combine(x, a) + b for a, b in zip(loss.slopes, loss.offsets, strict=True)]
        self._losses: FloatArray = np.maximum.reduce(self._now)
        self._loss = loss
        self.exact: bool = not any(piece.rounds for piece in self._pieces)
        self.certificate: str = f"{how_certified(exact=self.exact)}: convex piecewise-linear loss of the features"

    @property
    def losses(self) -> FloatArray:
        return self._losses

    def respond(self, price: float) -> Response:
        return self._whole(price, rounded=not self.exact)

    def _whole(self, price: float, *, rounded: bool) -> Response:
        whole = Response.staying(len(self._losses))
        for rows in max(self._pieces, key=lambda piece: piece.bounded).chunks(0, len(self._losses)):
            _, whole.lift[rows], reach = self._best(price, rows)
            whole.cost[rows] = reach.cost
            # Along a piece the loss rises by t = Bμ with μ = λ/2.
            whole.slope[rows] = 0.5 * reach.compliance if math.isfinite(price) else 0.0
        if rounded:
            whole.lift[:], whole.cost[:] = self._rounded(price)
        return whole

    def _rounded(self, price: float) -> tuple[FloatArray, FloatArray]:
        """Lift and cost of the best responses once fine steps are rounded; nothing where that does not pay."""
        rows = np.arange(len(self._losses))
        columns, steps = self._steps(price, rows)
        moved = self._x.copy()
        moved[:, columns] += steps
        there = [self._y * combine(moved, a) + b for a, b in zip(self._loss.slopes, self._loss.offsets, strict=True)]
        lift, cost = np.maximum.reduce(there) - self._losses, self._domain.distance(self._x, moved)
        pays = (lift > 0.0) if math.isinf(price) else (price * lift > cost)
        return np.where(pays, lift, 0.0), np.where(pays, cost, 0.0)

    def peak(self) -> Response:
        peak = self.respond(math.inf)
        for piece in self._pieces:
            unbounded = np.isinf(piece.push(slice(None), self._y).limit)
            peak.lift[unbounded] = np.inf
            peak.cost[unbounded] = np.inf
        return peak

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        columns, steps = self._steps(price, rows)
        return shifted(self._x, rows, columns, np.where((lift > 0.0)[:, None], steps, 0.0), self._domain)

    def _steps(self, price: float, rows: IntArray) -> tuple[IntArray, FloatArray]:
        """The columns that move, and the steps in them that the best pieces make."""
        chosen, _, reach = self._best(price, rows)
        columns = np.unique(np.concatenate([piece.columns for piece in self._pieces]))
        steps = np.zeros((len(rows), len(columns)))
        for k, piece in enumerate(self._pieces):
            here = np.flatnonzero(chosen == k)
            where = np.searchsorted(columns, piece.columns)
            steps[here[:, None], where] = piece.steps(rows[here], self._y[rows[here]], reach.take(here))
        return columns, steps

    def _best(self, price: float, rows: Rows) -> tuple[IntArray, FloatArray, Reach]:
        """The best piece of every row, its lift and its push."""
        now, direction = self._losses[rows], self._y[rows]
        chosen = np.full(len(now), -1, dtype=np.intp)
        lift, gain = np.zeros_like(now), np.full_like(now, -np.inf)
        zero = np.zeros_like(now)
        best = Reach(zero, zero, zero, zero)
        for k, (piece, value) in enumerate(zip(self._pieces, self._now, strict=True)):
            push = piece.push(rows, direction)
            reach = push.at(0.5 * price) if math.isfinite(price) else push.to_limit()
            with np.errstate(invalid="ignore"):
                here = reach.push + (value[rows] - now)
                worth = price * here - reach.cost if math.isfinite(price) else here
                # Equally good: what lifts more (at no price that is the piece the sample is on), then the steeper one, so that
                # the slope at rest is the one from the right.
                steeper = (here == lift) & (reach.compliance > best.compliance)
                better = (worth > gain) | ((worth == gain) & ((here > lift) | steeper))
            chosen[better] = k
            lift, gain = np.where(better, here, lift), np.where(better, worth, gain)
            best = reach.where(better, best)
        return chosen, lift, best
