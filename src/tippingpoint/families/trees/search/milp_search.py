"""Searching cells without compiled code: NumPy for a quick look, HiGHS for what that leaves open."""

from __future__ import annotations

import math
import time

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, IntArray, blocks, combine
from tippingpoint.families.trees.cells import CellForest, CellRows
from tippingpoint.families.trees.forest import Int32Array
from tippingpoint.families.trees.search.leaf_boxes import LeafBoxes
from tippingpoint.families.trees.search.pushing import Sides
from tippingpoint.families.trees.search.row_search import RowSearch, Side
from tippingpoint.families.trees.search.searcher import NONE_REFUSED, Found, Refused
from tippingpoint.families.trees.search.staircase import SideLeaves
from tippingpoint.families.trees.search.worth import Worth

BLOCK = 2**22
"""Numbers that are held at a time."""


class MilpSearcher:
    """Searches rows one after the other, each as `RowSearch` does.

    HiGHS decides to about 1e-8 of what there is to gain (`place_program`): bounds that close to what is attained are taken for
    equal to it, others are widened by that much.
    """

    name = "NumPy and HiGHS"

    def __init__(self, forest: CellForest, rows: CellRows, sides: Sides, base: FloatArray, now: FloatArray) -> None:
        self.forest = forest
        self.rows = rows
        self.sides = sides
        self.base = base
        self.now = now
        self._leaves: dict[bytes, SideLeaves] = {}

    def search(
        self, rows: IntArray, price: FloatArray, known: FloatArray, budget: int, seconds: float, refused: Refused = NONE_REFUSED
    ) -> Found:
        end = time.monotonic() + seconds
        profit, bound = np.array(known, dtype=float), np.full(len(rows), math.inf)
        found, cut = np.zeros(len(rows), dtype=bool), np.ones(len(rows), dtype=bool)
        cells = self.rows.home[rows]
        interrupted = False
        try:
            for block in blocks(len(rows), BLOCK // self._boxes.width):
                if time.monotonic() >= end:
                    break
                reach = self._boxes.reach(self.rows, rows[block])
                for k, i in enumerate(range(len(rows))[block]):
                    if time.monotonic() >= end:
                        break
                    sample = int(rows[i])
                    costs = [each[k] for each in reach.cells]
                    row = RowSearch(self.rows.home[sample], costs, reach.leaves[k], float(known[i]), end)
                    row.refuse(refused.get(sample, cells[:0]))
                    bound[i] = row.run(self._sides_of(sample, float(price[i])), budget)
                    profit[i], found[i], cells[i], cut[i] = row.best, row.found, row.cells, row.cut
        except KeyboardInterrupt:
            interrupted = True
        return Found(profit, bound, found, cells, cut, interrupted)

    def scores(self, cells: Int32Array) -> FloatArray:
        return self.forest.scores(cells) + self.base

    def along(self, rows: IntArray, variable: int) -> FloatArray:
        count = self.forest.variables[variable].cells
        cells = np.repeat(self.rows.home[rows], count, axis=0)
        cells[:, variable] = np.tile(np.arange(count), len(rows))
        return self.scores(cells).reshape(len(rows), count, -1)

    @cached_property
    def _boxes(self) -> LeafBoxes:
        return LeafBoxes(self.forest)

    def _sides_of(self, sample: int, price: float) -> list[Side]:
        sides, now = self.sides, float(self.now[sample])
        return [
            self._side(sides.weights[s], float(sides.offset[s]), Worth(sides.losses[sides.loss[s]], price, now))
            for s in range(sides.begins[sample], sides.begins[sample + 1])
        ]

    def _side(self, weights: FloatArray, offset: float, worth: Worth) -> Side:
        key = weights.tobytes()
        if key not in self._leaves:
            self._leaves[key] = SideLeaves(self._boxes, weights)
        leaves = self._leaves[key]

        def score(cells: Int32Array) -> float:
            """Added up as in `Sides.present`, to the last digit: a row that stays gains nothing."""
            return float((offset + combine(self._boxes.outputs(cells)[None, :] + self.base, weights[None, :]))[0])

        start = offset + float((weights * self.base).sum())
        low, high = leaves.range
        return Side(score, leaves, start, worth, 0.0 if worth.crossing else start + low, start + high)
