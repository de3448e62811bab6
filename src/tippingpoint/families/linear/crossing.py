"""The nearest errors of linear classifiers, beyond the nearest of their boundaries: one for two classes, more for several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.core.crossing import NearestErrorOracle
from tippingpoint.families.linear.geometry import Score, ScoreGeometry, shifted
from tippingpoint.space.domain import Domain

LEAST_MARGIN = float(np.finfo(float).smallest_subnormal)
"""A margin of zero is still to be passed: on the boundary it costs nothing, without coefficients it cannot be done."""


@dataclass(frozen=True)
class Boundary:
    """Where a linear classifier changes its mind.

    Attributes
    ----------
    geometry
        The score that is zero on it.
    rows
        The samples that err beyond it, and do not yet.
    direction
        The sign in which their score is to be pushed.
    margin
        How far it is from zero.
    strict
        Whether they are still right on the boundary itself.
    """

    geometry: ScoreGeometry
    rows: IntArray
    direction: FloatArray
    margin: FloatArray
    strict: BoolArray


class CrossingOracle(NearestErrorOracle):
    """The nearest errors of a linear classifier.

    Parameters
    ----------
    x
        `(n, d)` features.
    losses
        Which of them err already.
    boundaries
        All that a sample may cross.
    domain
        Which features may move.
    certificate
        In words: why the distances are right.
    """

    def __init__(
        self, x: FloatArray, losses: FloatArray, boundaries: Sequence[Boundary], domain: Domain, certificate: str
    ) -> None:
        self.certificate = certificate
        self.unit: str = domain.unit
        self._x = x
        self._domain = domain
        self._losses = losses
        self._boundaries = boundaries

    @classmethod
    def binary(cls, x: FloatArray, y: FloatArray, score: Score, domain: Domain, scores: FloatArray) -> CrossingOracle:
        """Two classes, y = -1 and +1, told apart by the sign of one score; a score of exactly 0 is read as -1."""
        right = np.where(scores > 0.0, 1.0, -1.0) == y
        rows, geometry = np.flatnonzero(right), ScoreGeometry(x, score, domain)
        boundary = Boundary(geometry, rows, -y[rows], np.maximum(np.abs(scores[rows]), LEAST_MARGIN), y[rows] < 0.0)
        return cls(x, (~right).astype(float), [boundary], domain, _certificate("zero_one loss of a linear score", [geometry]))

    @classmethod
    def multiclass(
        cls, x: FloatArray, y: IntArray, scores: Sequence[Score], domain: Domain, values: FloatArray
    ) -> CrossingOracle:
        """Several classes, `argmax_k score_k`: wrong as soon as a rival scores higher than the own class `y`.

        Of classes that tie the first is said, so to score as high is enough for a rival that comes before.
        """
        right = np.argmax(values, axis=1) == y
        boundaries = []
        for a, own in enumerate(scores):
            rows = np.flatnonzero(right & (y == a))
            for k, rival in enumerate(scores):
                if k != a and len(rows):
                    margin = np.maximum(values[rows, a] - values[rows, k], LEAST_MARGIN)
                    geometry = ScoreGeometry(x, own.minus(rival), domain)
                    strict = np.full(len(rows), k > a)
                    boundaries.append(Boundary(geometry, rows, np.full(len(rows), -1.0), margin, strict))
        how = _certificate("distance to the nearest of the linear classifier's boundaries", [b.geometry for b in boundaries])
        return cls(x, (~right).astype(float), boundaries, domain, how)

    @property
    def losses(self) -> FloatArray:
        return self._losses

    @property
    def nearest(self) -> FloatArray:
        return self._found[0]

    @property
    def least(self) -> FloatArray:
        return self._found[1]

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        columns = np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *(b.geometry.columns for b in self._boundaries)]))
        steps = np.zeros((len(rows), len(columns)))
        nearest = self._found[2]
        for number, boundary in enumerate(self._boundaries):
            here = np.flatnonzero((lift > 0.0) & (nearest[rows] == number))
            if len(here):
                mine = np.searchsorted(boundary.rows, rows[here])
                where = np.searchsorted(columns, boundary.geometry.columns)
                steps[here[:, None], where] = boundary.geometry.crossing(
                    rows[here], boundary.direction[mine], boundary.margin[mine], boundary.strict[mine]
                )
        return shifted(self._x, rows, columns, steps, self._domain)

    @cached_property
    def _found(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """Cost of the nearest error, a lower bound on it, and the boundary it lies beyond."""
        near = np.where(self._losses > 0.0, 0.0, np.inf)
        least, nearest = near.copy(), np.zeros(len(near), dtype=np.intp)
        for number, boundary in enumerate(self._boundaries):
            for part in boundary.geometry.chunks(len(boundary.rows)):
                rows = boundary.rows[part]
                cost, bound = boundary.geometry.nearest(
                    rows, boundary.direction[part], boundary.margin[part], boundary.strict[part]
                )
                nearer = cost < near[rows]
                near[rows[nearer]], nearest[rows[nearer]] = cost[nearer], number
                least[rows] = np.minimum(least[rows], bound)
        return near, least, nearest


def _certificate(how: str, geometries: Sequence[ScoreGeometry]) -> str:
    if any(geometry.rounds for geometry in geometries):
        return f"{how}, fine steps rounded"
    mixed = any(geometry.mixed for geometry in geometries)
    return f"every choice of categories and steps weighed: {how}" if mixed else f"closed form: {how}"
