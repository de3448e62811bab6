"""Along single lines: grids, and the boundary between what errs there and what does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.oracles.blackbox.asking import Asker
from tippingpoint.oracles.blackbox.axes import Line

HALVINGS = 8
"""Bisections between a sample and an error of its own."""

GRID, FEWEST = 400, 8
"""Places of a grid along one line, at most, and at least for it to be worth it."""


def scan(asker: Asker, lines: Sequence[Line], rows: IntArray) -> None:
    """Spend what is left of the budget on grids along single lines, and on halvings between errors there and what is right."""
    each = asker.left // max(len(rows) * len(lines), 1) - HALVINGS
    if each < FEWEST:
        return
    for line in lines:
        home = line.positions(asker.x[rows])
        held = line.positions(asker.x)
        levels = np.unique(np.quantile(held[~np.isnan(held)], np.linspace(0.0, 1.0, min(each, GRID) // 2)))
        reach = line.spread * np.geomspace(1e-3, 4.0, min(each, GRID) // 4)
        wishes = [np.full(len(rows), level) for level in levels] + [home + side * r for r in reach for side in (-1.0, 1.0)]
        at = [line.snapped(asker.x[rows], np.where(np.isnan(home), home, wish)) for wish in wishes]
        answers = np.array(list(asker.ask_each((rows, _placed(asker, line, rows, position)) for position in at)))
        if asker.loss.needs_crossing and at:
            _halve(asker, line, rows, np.array(at), answers)


def _halve(asker: Asker, line: Line, rows: IntArray, at: FloatArray, answers: FloatArray) -> None:
    """Between the nearest error along a line and the last place before it that is right."""
    home = line.positions(asker.x[rows])
    apart = np.abs(at - home)
    nearest = np.where(answers >= 0.0, apart, np.inf).argmin(axis=0)
    everyone = np.arange(len(rows))
    error, far = at[nearest, everyone], np.where(answers[nearest, everyone] >= 0.0, apart[nearest, everyone], np.inf)
    before = (answers < 0.0) & (np.sign(at - home) == np.sign(error - home)) & (apart < far)
    right = np.where(before, apart, 0.0).max(axis=0)
    found = np.flatnonzero(np.isfinite(far))
    low, high, side = right[found], far[found], np.sign(error - home)[found]
    for _ in range(HALVINGS):
        if asker.left <= 0 or not len(found):
            return
        middle = 0.5 * (low + high)
        position = line.snapped(asker.x[rows[found]], home[found] + side * middle)
        wrong = asker.ask(rows[found], _placed(asker, line, rows[found], position)) >= 0.0
        low, high = np.where(wrong, low, middle), np.where(wrong, middle, high)


def _placed(asker: Asker, line: Line, rows: IntArray, position: FloatArray) -> FloatArray:
    """The rows as they are but for one line."""
    places = asker.x[rows]
    line.put(places, position)
    return places
