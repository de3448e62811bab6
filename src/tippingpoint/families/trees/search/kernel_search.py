"""Searching cells by the compiled kernels: what they are given, packed, and what they give back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, IntArray, combine
from tippingpoint.families.trees.cells import CellForest, CellRows, Line
from tippingpoint.families.trees.forest import Int32Array
from tippingpoint.families.trees.kernels import kernels
from tippingpoint.families.trees.search.pushing import Sides
from tippingpoint.families.trees.search.searcher import NONE_REFUSED, Found, Refused

if TYPE_CHECKING:
    from tippingpoint.families.trees._kernels import Ensemble

WORD = 64
"""Cells of a set in a word of the kernels, a bit each."""


class KernelSearcher:
    """Searches rows in threads of C++; what it finds is the same whatever their number."""

    name = "compiled kernels"

    def __init__(
        self, forest: CellForest, rows: CellRows, sides: Sides, base: FloatArray, now: FloatArray, threads: int = 1
    ) -> None:
        self.forest = forest
        self.rows = rows
        self.sides = sides
        self.base = base
        self.now = now
        self.threads = threads

    def search(
        self, rows: IntArray, price: FloatArray, known: FloatArray, budget: int, seconds: float, refused: Refused = NONE_REFUSED
    ) -> Found:
        count, asked = len(rows), self.sides.of(rows)
        profit, bound, passes = np.empty(count), np.empty(count), np.empty(count, dtype=np.int32)
        found, cut = np.empty(count, dtype=np.uint8), np.empty(count, dtype=np.uint8)
        cells = np.ascontiguousarray(self.rows.home[rows])
        places = [refused.get(int(row), cells[:0]) for row in rows] if refused else []
        begins = np.concatenate([[0], np.cumsum([len(each) for each in places])]) if refused else np.zeros(count + 1)
        interrupted = self._ensemble.search(
            rows.astype(np.int32),
            asked.begins,
            np.ascontiguousarray(asked.weights),
            asked.offset + combine(asked.weights, self.base),
            np.ascontiguousarray(asked.loss),
            np.ascontiguousarray(price, dtype=float),
            self.now[rows],
            [(int(loss.kind), list(loss.numbers)) for loss in asked.losses],
            np.ascontiguousarray(known, dtype=float),
            begins.astype(np.int32),
            np.ascontiguousarray(np.concatenate([cells[:0], *places])),
            budget,
            seconds,
            self.threads,
            profit,
            bound,
            found,
            cut,
            cells,
            passes,
        )
        return Found(profit, bound, found.astype(bool), cells, cut.astype(bool), interrupted)

    def scores(self, cells: Int32Array) -> FloatArray:
        outputs = np.empty((len(cells), self.forest.values.shape[1]))
        self._ensemble.scores(np.ascontiguousarray(cells), outputs)
        return outputs + self.base

    def along(self, rows: IntArray, variable: int) -> FloatArray:
        outputs = np.empty((len(rows), self.forest.variables[variable].cells, self.forest.values.shape[1]))
        if self._ensemble.along(rows.astype(np.int32), variable, self.threads, outputs):
            raise KeyboardInterrupt
        return outputs + self.base

    @cached_property
    def _ensemble(self) -> Ensemble:
        compiled = kernels()
        if compiled is None:
            raise RuntimeError("the kernels of tree ensembles are not compiled here")
        forest, rows, variables = self.forest, self.rows, self.forest.variables
        cuts, cut_begins = _end_to_end([v.cuts if isinstance(v, Line) else np.zeros(0) for v in variables])
        costs, cost_begins = _end_to_end([np.zeros(0) if isinstance(v, Line) else v.cost.ravel() for v in variables])
        cut, masks = _words(forest)
        made: Ensemble = compiled.Ensemble(
            np.array([v.ordered for v in variables], dtype=np.uint8),
            np.array([v.cells for v in variables], dtype=np.int32),
            cuts,
            cut_begins,
            *(
                np.array([getattr(v, name) if isinstance(v, Line) else np.inf for v in variables], dtype=float)
                for name in ("price", "step", "vanishing")
            ),
            costs,
            cost_begins,
            np.ascontiguousarray(forest.variable),
            cut,
            np.ascontiguousarray(forest.left),
            np.ascontiguousarray(forest.right),
            forest.missing_left.astype(np.uint8),
            np.ascontiguousarray(forest.roots),
            masks,
            np.ascontiguousarray(forest.values),
            *(np.ascontiguousarray(part) for part in (rows.x, rows.low, rows.high, rows.home, rows.option)),
        )
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Without what C++ holds: that is made again where it is needed."""
        return {name: value for name, value in self.__dict__.items() if name != "_ensemble"}


def _end_to_end(parts: list[FloatArray]) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Arrays one after the other, and where each begins; one number more, so that there always is an array to point at."""
    begins = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return np.concatenate([*parts, np.zeros(1)]), begins


def _words(forest: CellForest) -> tuple[Int32Array, npt.NDArray[np.uint64]]:
    """The cuts of nodes, those of sets as where their bits begin; and the bits, in words."""
    cut, packed, at = forest.cut.copy(), [np.zeros(1, dtype=np.uint64)], 1
    for v, sets in enumerate(forest.masks):
        if forest.variables[v].ordered or not len(sets):
            continue
        words = -(-sets.shape[1] // WORD)
        bits = np.zeros((len(sets), words * WORD), dtype=bool)
        bits[:, : sets.shape[1]] = sets
        own = forest.variable == v
        cut[own] = at + cut[own] * words
        packed.append(np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64).ravel())
        at += len(sets) * words
    return cut, np.concatenate(packed)
