"""Q* of a partition as a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tippingpoint.core.arrays import IntArray
from tippingpoint.core.cuts import Perturbation
from tippingpoint.data.atom_frames import NUMBERS, frame_of
from tippingpoint.data.columns import Column
from tippingpoint.engine.placed import Atoms, Placed, atoms


def atoms_frame(
    placed: Placed, q: Perturbation, columns: Sequence[Column], backend: str, rows: Mapping[int, IntArray] | None = None
) -> Any:
    """The atoms of a partition as a frame: all of them, or those of some rows by partition."""
    found = atoms(placed, q, None if rows is None else rows[placed.number])
    if not found.places:
        found = Atoms(found.row, found.numbers, {column.name: np.zeros(0) for column in columns})
    return frame_of(found.row, found.numbers, found.places, columns, backend)


def empty_frame(columns: Sequence[Column]) -> Any:
    """A frame of no atoms, whose columns have the types of any other's."""
    numbers = {name: np.zeros(0) for name in NUMBERS}
    return frame_of(np.zeros(0, dtype=np.intp), numbers, {column.name: np.zeros(0) for column in columns}, columns, "pandas")
