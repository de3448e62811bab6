"""Who searches the cells of rows for their best places, and bounds what any place is worth: compiled kernels, or without them.

The *profit* of a place is its loss at a price, above that of the row as it is, less what it costs; under the 0/1 loss, minus
what an error costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Protocol

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.families.trees.forest import Int32Array


@dataclass(frozen=True)
class Found:
    """What a search found, one number a row that it was asked about.

    Attributes
    ----------
    profit
        Of the best place found; what was known before, where none is better.
    bound
        That no place exceeds, but for rounding; the profit itself where that is proved to be the best.
    found
        Whether a better place was found than was known.
    cells
        `(R, V)` where it is; where the row is, if none was found.
    cut
        Whether time, or somebody at the keyboard, ended the search of the row: another time the numbers may be others, and all
        the same true. Of a row that was not begun the profit is what was known, and the bound may be infinite.
    interrupted
        Whether somebody at the keyboard ended it all. It is for who asked to stop then, with what is found here.
    """

    profit: FloatArray
    bound: FloatArray
    found: BoolArray
    cells: Int32Array
    cut: BoolArray
    interrupted: bool = False

    def take(self, which: IntArray) -> Found:
        """Some of it."""
        return replace(self, **{name: getattr(self, name)[which] for name in ARRAYS})

    def put(self, which: IntArray, other: Found) -> Found:
        """The same, with what another one found in some places."""
        arrays = {name: getattr(self, name).copy() for name in ARRAYS}
        for name, array in arrays.items():
            array[which] = getattr(other, name)
        return replace(self, **arrays, interrupted=self.interrupted or other.interrupted)

    def joined(self, other: Found) -> Found:
        """What both found, one after the other."""
        arrays = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in ARRAYS}
        return replace(self, **arrays, interrupted=self.interrupted or other.interrupted)


ARRAYS = ("profit", "bound", "found", "cells", "cut")
"""What a search tells of every row."""


Refused = Mapping[int, Int32Array]
"""By sample: the cells, a row each, of places that do not count, nor any place in the same leaves of all trees."""

NONE_REFUSED: Refused = MappingProxyType({})


class Searcher(Protocol):
    """Who searches."""

    name: str
    """In words: by what."""

    def search(
        self, rows: IntArray, price: FloatArray, known: FloatArray, budget: int, seconds: float, refused: Refused = NONE_REFUSED
    ) -> Found:
        """The best places of rows.

        Parameters
        ----------
        rows
            Which samples.
        price
            Of a unit of loss, for each; of no meaning for the 0/1 loss.
        known
            Finite profits that places must exceed to be of interest: of the 0/1 loss minus the cost of a known error, or
            minus a radius beyond which errors are of no interest.
        budget
            How much work a row may take, in passes of the kernels; 0 for a quick look.
        seconds
            After which to end, with what is known by then. An interrupt from the keyboard ends it likewise, and is told
            rather than raised: what was found so far is not lost.
        refused
            Places that do not count, though their scores are high enough.
        """
        ...

    def scores(self, cells: Int32Array) -> FloatArray:
        """`(m, K)` outputs at rows of cells, the base among them."""
        ...

    def along(self, rows: IntArray, variable: int) -> FloatArray:
        """`(R, C, K)` outputs of rows in every cell of one variable, all others as they are."""
        ...
