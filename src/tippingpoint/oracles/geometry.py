"""One linear score over a data set: how far it can be pushed, and where samples go when it is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, blocks, combine
from tippingpoint.push import BoxPush, FreePush, Push, Reach
from tippingpoint.space import Domain

CHUNK = 2**19
"""Numbers held at once where a computation needs a row of them for every sample."""

COLUMNS = 32
"""Numbers that a response without bounds needs for a sample while it is being found."""

CROSSING = 1e-9
"""Relative overshoot of the points shown for the 0/1 loss, so that the model really errs there."""

Rows = slice | IntArray


class ScoreGeometry:
    """The score `βᵀx + b` of every row of `x`, in a domain.

    Nothing of the size of the data is kept; with bounds every question builds the curves of the rows it asks about.
    """

    def __init__(self, x: FloatArray, coef: FloatArray, intercept: float, domain: Domain) -> None:
        self._x = x
        self._coef = coef
        self._intercept = intercept
        self.moves = np.flatnonzero(np.isfinite(domain.price) & (coef != 0.0))
        """Columns that may move and matter."""
        self._beta = coef[self.moves]
        self._price = domain.price[self.moves]
        self._lower = domain.lower[self.moves]
        self._upper = domain.upper[self.moves]
        self.bounded = bool(np.isfinite(self._lower).any() or np.isfinite(self._upper).any())
        self._compliance = float(np.sum(np.square(self._beta) / self._price))

    def scores(self) -> FloatArray:
        """The score of every row."""
        return combine(self._x, self._coef) + self._intercept

    def push(self, rows: Rows, direction: FloatArray) -> Push:
        """The curves of these rows, for a push in the direction (-1 or +1 a row) of the score."""
        if not self.bounded:
            return FreePush(self._compliance, len(direction))
        return BoxPush(np.abs(self._beta), self._price, self._room(rows, direction))

    def steps(self, rows: Rows, direction: FloatArray, multiplier: FloatArray) -> FloatArray:
        """How far every column of `moves` goes, for the push of these multipliers."""
        steps = multiplier[:, None] * (np.abs(self._beta) / self._price)
        if self.bounded:
            steps = np.minimum(steps, self._room(rows, direction))
        return np.asarray(steps * np.sign(self._beta) * direction[:, None])

    def crossing(self, rows: Rows, direction: FloatArray, distance: FloatArray) -> Reach:
        """The push over a boundary this far away in score: beyond it by more than rounding, where there is room."""
        terms = combine(np.abs(self._x[rows]), np.abs(self._coef)) + abs(self._intercept)
        push = self.push(rows, direction)
        beyond = distance * (1.0 + CROSSING) + 8.0 * np.finfo(float).eps * terms
        return push.to(np.minimum(beyond, push.limit))

    def chunks(self, n: int) -> Iterator[slice]:
        """Slices of so few rows that what is needed for each stays in reach of the processor."""
        return blocks(n, CHUNK // max(COLUMNS, len(self.moves) if self.bounded else 0))

    def _room(self, rows: Rows, direction: FloatArray) -> FloatArray:
        x = self._x[rows][:, self.moves]
        up = direction[:, None] * self._beta > 0.0
        return np.where(up, self._upper - x, x - self._lower)


def shifted(
    x: FloatArray, rows: IntArray, columns: IntArray, steps: FloatArray, names: tuple[str, ...]
) -> dict[str, FloatArray]:
    """All columns of these rows by name, the given ones after their steps."""
    moved = {name: x[rows, j] for j, name in enumerate(names)}
    for k, j in enumerate(columns):
        moved[names[j]] += steps[:, k]
    return moved
