"""Leaves as boxes of cells: what each asks of every variable, what it costs samples to enter it, and who is in it.

Costs add up over variables, so a leaf costs at least the sum over variables of the cheapest cell that it allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.families.trees.cells import CellForest, CellRows, Options, Variable
from tippingpoint.families.trees.forest import LEAF, Int32Array

Run = tuple[int, int, bool]
"""Of ordered cells those that a path allows: the first, the last, and whether the cell of what is missing as well."""


@dataclass(frozen=True)
class Runs:
    """What leaves ask of a variable whose cells are ordered: runs of them, each with or without what is missing.

    Attributes
    ----------
    leaves, which
        Leaves that ask anything of it, and which of the runs each asks.
    first, last, gone
        Of every run: its ends (none where the first is beyond the last), and whether what is missing is allowed.
    missing
        The cell of what is missing.
    """

    leaves: IntArray
    which: IntArray
    first: IntArray
    last: IntArray
    gone: BoolArray
    missing: int

    def hold(self, which: IntArray, cells: IntArray) -> BoolArray:
        """`(W, C)` whether these runs hold these cells."""
        inside = (self.first[which, None] <= cells) & (cells <= self.last[which, None])
        return np.asarray(np.where(cells == self.missing, self.gone[which, None], inside))

    def least(self, costs: FloatArray, option: Int32Array) -> FloatArray:
        """`(R, U)` what rows pay at least to enter runs, from what they pay for cells.

        Costs grow away from the cell where a row is, so the nearest end of a run decides; where some cells may not be entered,
        the cheapest beyond that end is a bound.
        """
        numbers = np.column_stack([costs[:, :-1], np.full(len(costs), np.inf)])
        upwards = np.minimum.accumulate(numbers[:, ::-1], axis=1)[:, ::-1]
        downwards = np.minimum.accumulate(numbers, axis=1)
        empty = self.first > self.last
        nearest = np.maximum(upwards[:, np.where(empty, -1, self.first)], downwards[:, self.last])
        return np.minimum(nearest, np.where(self.gone, costs[:, -1:], np.inf))


@dataclass(frozen=True)
class Sets:
    """What leaves ask of a variable whose cells have no order: sets of them.

    Attributes
    ----------
    leaves, which
        Leaves that ask anything of it, and which of the sets each asks.
    sets
        `(U, C)` the cells of every set.
    cheapest
        `(K, U)` what it costs at least to go from an option to a set.
    """

    leaves: IntArray
    which: IntArray
    sets: BoolArray
    cheapest: FloatArray

    def hold(self, which: IntArray, cells: IntArray) -> BoolArray:
        """`(W, C)` whether these sets hold these cells."""
        return np.asarray(self.sets[np.ix_(which, cells)])

    def least(self, costs: FloatArray, option: Int32Array) -> FloatArray:
        """`(R, U)` what rows pay at least to enter sets, from the options that they hold."""
        return np.asarray(self.cheapest[option])


@dataclass(frozen=True)
class Reach:
    """What a few samples pay.

    Attributes
    ----------
    cells
        By variable: `(R, C)` for every cell.
    leaves
        `(R, L)` for every leaf, at least.
    """

    cells: list[FloatArray]
    leaves: FloatArray


class LeafBoxes:
    """The leaves of a forest, tree by tree.

    Attributes
    ----------
    asked
        By variable: what leaves ask of it.
    tree, begins
        `(L,)` the tree of every leaf, and `(T,)` where the leaves of every tree begin.
    values
        `(L, K)` what they add to the outputs.
    """

    def __init__(self, forest: CellForest) -> None:
        self.forest = forest
        trees: list[int] = []
        rows: list[int] = []
        asked: list[list[tuple[int, Run | bytes]]] = [[] for _ in forest.variables]
        for t, row, box in _boxes(forest):
            for v, cells in box.items():
                asked[v].append((len(rows), cells))
            trees.append(t)
            rows.append(row)
        self.tree: IntArray = np.array(trees, dtype=np.intp)
        self.begins: IntArray = np.searchsorted(self.tree, np.arange(len(forest.roots)))
        self.values: FloatArray = forest.values[rows]
        self.asked: list[Runs | Sets] = [_gathered(forest, v, each) for v, each in enumerate(asked)]
        # All sets of cells that go left, one after the other: where those of a variable begin, and how wide they are.
        self._ordered = np.array([v.ordered for v in forest.variables], dtype=bool)
        self._widths = np.array([v.cells for v in forest.variables], dtype=np.intp)
        self._missing = self._widths - 1
        self._listed = np.concatenate([np.zeros(1, dtype=bool), *(mask.ravel() for mask in forest.masks)])
        self._lists = 1 + np.concatenate([[0], np.cumsum([mask.size for mask in forest.masks])]).astype(np.intp)

    def __len__(self) -> int:
        return len(self.tree)

    @property
    def width(self) -> int:
        """Numbers that a row takes in `reach`."""
        return len(self) + sum(v.cells for v in self.forest.variables)

    def reach(self, rows: CellRows, samples: IntArray) -> Reach:
        """What samples pay for cells and leaves."""
        leaves, cells = np.zeros((len(self), len(samples))), []  # leaf by leaf: to gather rows is fast
        for v, each in enumerate(self.asked):
            costs = rows.costs(self.forest.variables, v, samples)
            cells.append(costs)
            leaves[each.leaves] += np.ascontiguousarray(each.least(costs, rows.option[samples, v]).T)[each.which]
        return Reach(cells, np.ascontiguousarray(leaves.T))

    def outputs(self, cells: Int32Array) -> FloatArray:
        """`(K,)` sums of the leaves that one row of cells falls into, tree after tree as `CellForest.scores` has them."""
        forest = self.forest
        return np.asarray(np.add.accumulate(forest.values[forest.cut[self.leaves(cells)]], axis=0)[-1])

    def leaves(self, cells: Int32Array) -> Int32Array:
        """`(T,)` the nodes, of every tree the leaf, that one row of cells falls into."""
        forest, at = self.forest, self.forest.roots
        while True:
            inside = forest.variable[at] != LEAF
            if not inside.any():
                return at
            v = np.where(inside, forest.variable[at], 0)
            cell, cut = cells[v], forest.cut[at]
            run = np.where(cell == self._missing[v], forest.missing_left[at], cell <= cut)
            listed = self._listed[np.where(self._ordered[v] | ~inside, 0, self._lists[v] + cut * self._widths[v] + cell)]
            down = np.where(np.where(self._ordered[v], run, listed), forest.left[at], forest.right[at])
            at = np.where(inside, down, at)


def _boxes(forest: CellForest) -> Iterator[tuple[int, int, dict[int, Run | bytes]]]:
    """The leaves that any row can fall into, tree by tree: the tree, the row of values, and what is asked, by variable."""
    variable, cut, gone = forest.variable.tolist(), forest.cut.tolist(), forest.missing_left.tolist()
    left, right, all_cells = forest.left.tolist(), forest.right.tolist(), [_all_cells(v) for v in forest.variables]
    for t, root in enumerate(forest.roots.tolist()):
        at: list[tuple[int, dict[int, Run | bytes]]] = [(root, {})]
        while at:
            node, box = at.pop()
            v = variable[node]
            if v == LEAF:
                yield t, cut[node], box
                continue
            now = box.get(v, all_cells[v])
            if isinstance(now, bytes):
                parts: Sequence[Run | bytes | None] = _parts_of_set(forest.left_cells(node), now)
            else:
                parts = _parts_of_run(now, cut[node], gone_left=gone[node])
            for child, part in zip((left[node], right[node]), parts, strict=True):
                if part is not None:
                    at.append((child, {**box, v: part}))


def _all_cells(variable: Variable) -> Run | bytes:
    return (0, variable.cells - 2, True) if variable.ordered else b"\1" * variable.cells


def _parts_of_run(now: Run, cut: int, *, gone_left: bool) -> Sequence[Run | None]:
    """What of a run goes left, and what right; none where that is nothing."""
    first, last, gone = now
    left, right = (first, min(last, cut), gone and gone_left), (max(first, cut + 1), last, gone and not gone_left)
    return [part if part[0] <= part[1] or part[2] else None for part in (left, right)]


def _parts_of_set(left: BoolArray, now: bytes) -> Sequence[bytes | None]:
    held = np.frombuffer(now, dtype=bool)
    return [part.tobytes() if part.any() else None for part in (held & left, held & ~left)]


def _gathered(forest: CellForest, v: int, asked: Sequence[tuple[int, Run | bytes]]) -> Runs | Sets:
    """All that is asked of a variable, what is asked alike once."""
    variable = forest.variables[v]
    places: dict[Run | bytes, int] = {}
    which = np.array([places.setdefault(cells, len(places)) for _, cells in asked], dtype=np.intp)
    leaves = np.array([leaf for leaf, _ in asked], dtype=np.intp)
    if variable.ordered:
        first, last, gone = np.array(list(places), dtype=np.intp).reshape(-1, 3).T
        return Runs(leaves, which, first, last, gone.astype(bool), variable.cells - 1)
    sets = np.frombuffer(b"".join(each for each in places if isinstance(each, bytes)), dtype=bool).reshape(-1, variable.cells)
    table = variable.cost if isinstance(variable, Options) else np.zeros((0, variable.cells))
    cheapest = [np.where(each, table, np.inf).min(axis=1) for each in sets]
    return Sets(leaves, which, sets, np.array(cheapest).reshape(len(sets), len(table)).T)
