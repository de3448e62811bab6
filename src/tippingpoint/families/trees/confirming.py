"""Places that were found, confirmed by the library's own word before anybody is shown them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.families.trees.proving import Ask, TreeErrors, TreeGains


class Confirmed(NamedTuple):
    """Places of samples, and the losses there by the library's own word.

    Attributes
    ----------
    rows, places, losses
        Of each: the sample, where it goes and what its loss is there.
    as_found
        Whether all places are the ones that were found, and none was taken back just now.
    """

    rows: IntArray
    places: FloatArray
    losses: FloatArray
    as_found: bool = True


def confirmed(enclosure: TreeErrors | TreeGains, ask: Ask) -> Confirmed:
    """The places that an enclosure knows, but for those where samples stay."""
    if isinstance(enclosure, TreeGains):
        sample, _, cost, places = enclosure.atoms.kept()
        moved = np.flatnonzero(cost > 0.0)
        return Confirmed(sample[moved], places[moved], ask(sample[moved], places[moved]))
    task, taken_back = enclosure.task, enclosure.confirm()
    rows = np.flatnonzero((task.losses == 0.0) & np.isfinite(enclosure.nearest))
    return Confirmed(rows, task.places(rows, enclosure.cells[rows]), np.ones(len(rows)), as_found=not taken_back)
