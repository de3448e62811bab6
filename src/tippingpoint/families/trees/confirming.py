"""Places that were found, confirmed by the library's own word before anybody is shown them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.families.trees.proving import TreeErrors, TreeGains, TreeTask, passes

Ask = Callable[[IntArray, FloatArray], FloatArray]
"""The losses of samples at places, by the library's own word."""

STRICT_LEVEL = 2
"""Of work, for an error that is one however the library rounds."""


class Confirmed(NamedTuple):
    """Places of samples, and the losses there by the library's own word.

    Attributes
    ----------
    rows, places, losses
        Of each: the sample, where it goes and what its loss is there.
    as_found
        Whether all places are the ones that were found; where not, some are further away, and some are none.
    """

    rows: IntArray
    places: FloatArray
    losses: FloatArray
    as_found: bool = True


def confirmed(enclosure: TreeErrors | TreeGains, ask: Ask, seconds: float) -> Confirmed:
    """The places that an enclosure knows, but for those where samples stay; `seconds` limit the search for doubtful ones."""
    if isinstance(enclosure, TreeGains):
        sample, _, cost, places = enclosure.atoms.kept()
        moved = np.flatnonzero(cost > 0.0)
        return Confirmed(sample[moved], places[moved], ask(sample[moved], places[moved]))
    task = enclosure.task
    rows = np.flatnonzero((task.losses == 0.0) & np.isfinite(enclosure.nearest))
    places = task.places(rows, enclosure.cells[rows])
    losses = ask(rows, places)
    doubtful = np.flatnonzero(losses == 0.0)  # errors that are none as the library rounds
    if not len(doubtful):
        return Confirmed(rows, places, losses)
    places[doubtful], losses[doubtful] = _beyond_doubt(task, rows[doubtful], enclosure.nearest[rows[doubtful]], ask, seconds)
    kept = np.flatnonzero(losses > 0.0)
    return Confirmed(rows[kept], places[kept], losses[kept], as_found=False)


def _beyond_doubt(
    task: TreeTask, rows: IntArray, nearest: FloatArray, ask: Ask, seconds: float
) -> tuple[FloatArray, FloatArray]:
    """Errors of these samples, however sums are rounded, near those that are none; their own places where none is found."""
    radius = np.minimum(4.0 * nearest, 2.0 * task.usual.farthest)
    found = task.strict.search(rows, np.zeros(len(rows)), -radius, passes(STRICT_LEVEL, crossing=True), seconds)
    cells = np.where(found.found[:, None], found.cells, task.partition.rows.home[rows])
    places = task.places(rows, cells)
    return places, ask(rows, places)
