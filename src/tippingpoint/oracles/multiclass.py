"""Linear classifiers of several classes under the 0/1 loss, exactly.

A sample of class y is wrong as soon as one rival class k scores as high: `(β_y - β_k)ᵀx + (b_y - b_k) ≤ 0`. The nearest
error is the nearest of these half-spaces.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, combine
from tippingpoint.core.responses import Response
from tippingpoint.oracles.base import Oracle
from tippingpoint.oracles.geometry import ScoreGeometry, shifted
from tippingpoint.space import Domain


class MulticlassOracle(Oracle):
    """Best responses of the 0/1 loss of `argmax_k β_kᵀx + b_k`.

    Parameters
    ----------
    x
        `(n, d)` features.
    y
        `(n,)` index of the true class.
    coef, intercept
        `(K, d)` and `(K,)`.
    domain
        Which features may move, within which bounds, at what price.
    """

    exact = True
    certificate = "closed form: distance to the nearest of the linear classifier's boundaries"
    ceiling = math.inf

    def __init__(self, x: FloatArray, y: IntArray, coef: FloatArray, intercept: FloatArray, domain: Domain) -> None:
        self.unit = domain.unit
        self._x = x
        self._y = y
        self._names = domain.names
        classes = range(len(coef))
        self._rivals = {
            (a, k): ScoreGeometry(x, coef[a] - coef[k], float(intercept[a] - intercept[k]), domain)
            for a in classes
            for k in classes
            if k != a
        }
        scores = np.stack([combine(x, row) for row in coef], axis=1) + intercept
        self._losses: FloatArray = (np.argmax(scores, axis=1) != y).astype(float)
        self._distance = np.where(self._losses > 0.0, 0.0, np.inf)
        self._rival = np.zeros(len(y), dtype=np.intp)
        self._margin = np.zeros(len(y))
        for (a, k), geometry in self._rivals.items():
            rows = np.flatnonzero((y == a) & (self._losses == 0.0))
            for part in geometry.chunks(len(rows)):
                self._consider(geometry, k, rows[part], scores[rows[part], a] - scores[rows[part], k])

    @property
    def losses(self) -> FloatArray:
        return self._losses

    def respond(self, price: float) -> Response:
        goes = (self._losses == 0.0) & (self._distance < price)
        return Response(goes.astype(float), np.where(goes, self._distance, 0.0), np.zeros_like(self._losses))

    def peak(self) -> Response:
        return self.respond(math.inf)

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        columns = np.unique(np.concatenate([geometry.moves for geometry in self._rivals.values()]))
        steps = np.zeros((len(rows), len(columns)))
        for (a, k), geometry in self._rivals.items():
            here = np.flatnonzero((lift > 0.0) & (self._y[rows] == a) & (self._rival[rows] == k))
            if not len(here):
                continue
            chosen, down = rows[here], np.full(len(here), -1.0)
            multiplier = geometry.crossing(chosen, down, self._margin[chosen]).multiplier
            where = np.searchsorted(columns, geometry.moves)
            steps[here[:, None], where] = geometry.steps(chosen, down, multiplier)
        return shifted(self._x, rows, columns, steps, self._names)

    def _consider(self, geometry: ScoreGeometry, rival: int, rows: IntArray, margin: FloatArray) -> None:
        """Keep this rival's boundary where it is nearer than those seen so far."""
        cost = geometry.push(rows, np.full(len(rows), -1.0)).to(margin).cost
        nearer = cost < self._distance[rows]
        self._distance[rows[nearer]] = cost[nearer]
        self._rival[rows[nearer]] = rival
        self._margin[rows[nearer]] = margin[nearer]
