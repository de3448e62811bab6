"""Places that were found, confirmed by the library's own word before anybody is shown them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.families.trees.proving import TreeErrors, TreeGains, TreeTask, passes

Ask = Callable[[IntArray, FloatArray], FloatArray]
"""The losses of samples at places, by the library's own word."""

STRICT_LEVEL = 2
"""Of work, for an error that is one however the library rounds."""

Places = tuple[IntArray, FloatArray, FloatArray]
"""Samples, places and the losses there."""


def confirmed(enclosure: TreeErrors | TreeGains, ask: Ask) -> Places:
    """The places that an enclosure knows, but for those where samples stay, with the losses that the library gives them."""
    if isinstance(enclosure, TreeGains):
        sample, _, cost, places = enclosure.atoms.kept()
        moved = np.flatnonzero(cost > 0.0)
        return sample[moved], places[moved], ask(sample[moved], places[moved])
    task = enclosure.task
    rows = np.flatnonzero((task.losses == 0.0) & np.isfinite(enclosure.nearest))
    places = task.places(rows, enclosure.cells[rows])
    losses = ask(rows, places)
    doubtful = np.flatnonzero(losses == 0.0)
    if len(doubtful):  # errors that are none as the library rounds
        places[doubtful], losses[doubtful] = _beyond_doubt(task, rows[doubtful], enclosure.nearest[rows[doubtful]], ask)
        kept = np.flatnonzero(losses > 0.0)
        lost = np.setdiff1d(rows, rows[kept])
        enclosure.nearest[lost] = math.inf
        rows, places, losses = rows[kept], places[kept], losses[kept]
    return rows, places, losses


def _beyond_doubt(task: TreeTask, rows: IntArray, nearest: FloatArray, ask: Ask) -> tuple[FloatArray, FloatArray]:
    """Errors of these samples, however sums are rounded, near those that are none; their own places where none is found."""
    radius = np.minimum(4.0 * nearest, 2.0 * task.farthest)
    found = task.strict.search(rows, np.zeros(len(rows)), -radius, passes(STRICT_LEVEL, crossing=True), math.inf)
    cells = np.where(found.found[:, None], found.cells, task.partition.rows.home[rows])
    places = task.places(rows, cells)
    return places, ask(rows, places)
