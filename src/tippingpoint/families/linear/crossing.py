"""The nearest errors of linear classifiers, beyond the nearest of their boundaries: one for two classes, more for several."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, Rows, Signs
from tippingpoint.core.crossing import NearestErrorOracle
from tippingpoint.families.linear.geometry import Score, ScoreGeometry, shifted
from tippingpoint.space.domain import Domain

LEAST_MARGIN = float(np.finfo(float).smallest_subnormal)
"""A margin of zero is still to be passed: on the boundary it costs nothing, without coefficients it cannot be done."""


@dataclass(frozen=True)
class Approach:
    """What samples have to do to cross a boundary.

    Attributes
    ----------
    here
        Which of the rows asked about err beyond it, and do not yet.
    direction
        The sign in which their score is to be pushed.
    margin
        How far it is from zero.
    strict
        Whether they are still right on the boundary itself.
    """

    here: IntArray
    direction: FloatArray
    margin: FloatArray
    strict: BoolArray


class Boundary(ABC):
    """Where a linear classifier changes its mind."""

    geometry: ScoreGeometry
    """The score that is zero on it."""

    @abstractmethod
    def approach(self, rows: Rows) -> Approach:
        """What some rows have to do to cross it."""


class BinaryBoundary(Boundary):
    """Between two classes, y = -1 and +1, told apart by the sign of one score; a score of exactly 0 is read as -1."""

    def __init__(self, geometry: ScoreGeometry, scores: FloatArray, y: npt.NDArray[np.int8]) -> None:
        self.geometry = geometry
        self._scores = scores
        self._y = y

    def approach(self, rows: Rows) -> Approach:
        scores, y = self._scores[rows], self._y[rows]
        here = np.flatnonzero((scores > 0.0) == (y > 0))
        signs = y[here].astype(float)
        return Approach(here, -signs, np.maximum(np.abs(scores[here]), LEAST_MARGIN), signs < 0.0)


class RivalBoundary(Boundary):
    """Where a rival scores higher than the class of a sample; of classes that tie the first is said."""

    def __init__(self, geometry: ScoreGeometry, values: FloatArray, y: IntArray, own: int, rival: int) -> None:
        self.geometry = geometry
        self._values = values
        self._y = y
        self._own = own
        self._rival = rival

    def approach(self, rows: Rows) -> Approach:
        values = self._values[rows]
        here = np.flatnonzero((self._y[rows] == self._own) & (np.argmax(values, axis=1) == self._own))
        margin = np.maximum(values[here, self._own] - values[here, self._rival], LEAST_MARGIN)
        # To score as high is enough for a rival that comes before.
        return Approach(here, np.full(len(here), -1.0), margin, np.full(len(here), self._rival > self._own))


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
    def binary(cls, x: FloatArray, y: Signs, score: Score, domain: Domain, scores: FloatArray) -> CrossingOracle:
        """Two classes, y = -1 and +1."""
        geometry = ScoreGeometry(x, score, domain)
        wrong = (scores > 0.0) != (y > 0)
        boundary = BinaryBoundary(geometry, scores, y.astype(np.int8, copy=False))
        return cls(x, wrong.astype(float), [boundary], domain, _certificate("zero_one loss of a linear score", [geometry]))

    @classmethod
    def multiclass(
        cls, x: FloatArray, y: IntArray, scores: Sequence[Score], domain: Domain, values: FloatArray
    ) -> CrossingOracle:
        """Several classes, `argmax_k score_k`: wrong as soon as a rival scores higher than the own class `y`."""
        right = np.argmax(values, axis=1) == y
        held = set(np.unique(y[right]).tolist())
        boundaries = [
            RivalBoundary(ScoreGeometry(x, own.minus(rival), domain), values, y, a, k)
            for a, own in enumerate(scores)
            for k, rival in enumerate(scores)
            if k != a and a in held
        ]
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

    def lightened(self) -> CrossingOracle:
        """Distances are all that is needed."""
        light = copy.copy(self)
        # Copies, as an empty view would keep the whole array.
        light._found = self._found[0], self._found[1], self._found[2][:0].copy()  # noqa: SLF001  # its own
        light._boundaries, light._x = (), self._x[:0].copy()  # noqa: SLF001
        return light

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        columns = np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *(b.geometry.columns for b in self._boundaries)]))
        steps = np.zeros((len(rows), len(columns)))
        nearest = self._found[2]
        for number, boundary in enumerate(self._boundaries):
            approach = boundary.approach(rows)
            mine = np.flatnonzero((lift > 0.0)[approach.here] & (nearest[rows[approach.here]] == number))
            here = approach.here[mine]
            if len(here):
                where = np.searchsorted(columns, boundary.geometry.columns)
                steps[here[:, None], where] = boundary.geometry.crossing(
                    rows[here], approach.direction[mine], approach.margin[mine], approach.strict[mine]
                )
        return shifted(self._x, rows, columns, steps, self._domain)

    @cached_property
    def _found(self) -> tuple[FloatArray, FloatArray, npt.NDArray[np.int16]]:
        """Cost of the nearest error, a lower bound on it, and the boundary it lies beyond."""
        near = np.where(self._losses > 0.0, 0.0, np.inf)
        rounds = any(boundary.geometry.mixed or boundary.geometry.rounds for boundary in self._boundaries)
        least = near.copy() if rounds else near
        numbers = np.zeros(len(near), dtype=np.int16)
        for number, boundary in enumerate(self._boundaries):
            for part in boundary.geometry.chunks(0, len(near)):
                approach = boundary.approach(part)
                rows = approach.here + part.start
                with np.errstate(over="ignore"):  # an error that is infinitely dear is none
                    cost, bound = boundary.geometry.nearest(rows, approach.direction, approach.margin, approach.strict)
                nearer = cost < near[rows]
                near[rows[nearer]], numbers[rows[nearer]] = cost[nearer], number
                if rounds:
                    least[rows] = np.minimum(least[rows], bound)
        return near, least, numbers


def _certificate(how: str, geometries: Sequence[ScoreGeometry]) -> str:
    if any(geometry.rounds for geometry in geometries):
        return f"{how}, fine steps rounded"
    mixed = any(geometry.mixed for geometry in geometries)
    return f"every choice of categories and steps weighed: {how}" if mixed else f"closed form: {how}"
