"""A forest on cells: all that its trees can tell apart of a row, and what it costs a row to enter each cell.

A *variable* is what changes by itself: a number that moves freely (a *line*, divided into cells by the thresholds of the
trees), or a menu of options (in cells of those that no tree tells apart). Columns that stay are variables too, which never
leave their cell. Where cells are *ordered* a node sends all up to a cut to the left, and the last cell stands for what is
missing; of others it sends any set.

Everything that a space allows is in the costs: bounds, directions, steps, prices and tables. The search knows cells only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.families.trees.forest import LEAF, Int32Array


@dataclass(frozen=True)
class Line:
    """A column of numbers.

    Attributes
    ----------
    name
        Of the feature; of a column that stays, of the column.
    column
        Its position among the user's columns; -1 of a column of the model that stays, whose places are never shown.
    cuts
        `(m,)` rising: cell `k` holds the numbers above `cuts[k - 1]` up to `cuts[k]`.
    price, step, vanishing
        Of a squared distance of one (infinite where it stays); zero or the step of a lattice; what it costs to go missing.
    """

    name: str
    column: int
    cuts: FloatArray
    price: float = math.inf
    step: float = 0.0
    vanishing: float = math.inf

    ordered = True

    @property
    def cells(self) -> int:
        """Those of numbers, and one for what is missing."""
        return len(self.cuts) + 2

    def home(self, x: FloatArray) -> Int32Array:
        """The cells of these numbers."""
        at = np.searchsorted(self.cuts, x, side="left")
        return np.where(np.isnan(x), self.cells - 1, at).astype(np.int32)

    def nearest(self, x: FloatArray, low: FloatArray, high: FloatArray, cells: IntArray | Int32Array) -> FloatArray:
        """The nearest allowed number in a cell, for numbers within bounds.

        It is infinite where nothing in the cell is allowed, and none (NaN) in the cell of what is missing.
        """
        home, missing, last = self.home(x), self.cells - 1, len(self.cuts) - 1
        if last < 0:
            return np.where(cells == home, x, np.where(cells == missing, np.nan, np.inf))
        floor, roof = self.cuts[np.clip(cells - 1, 0, last)], self.cuts[np.clip(cells, 0, last)]
        up, down = np.nextafter(floor, np.inf), roof
        if self.step > 0.0:
            up, down = _lattice_above(x, self.step, floor), _lattice_below(x, self.step, roof)
        above, below = cells > home, cells < home
        dead = above & ((up > high) | ((cells <= last) & (up > roof)))
        dead |= below & ((down < low) | ((cells > 0) & (down <= floor)))
        dead |= (cells != home) & ((home == missing) | math.isinf(self.price))
        value = np.where(above, up, np.where(below, down, x))
        value = np.where(dead, np.inf, value)
        gone = (cells == missing) & (home != missing)
        return np.where(gone, np.nan if math.isfinite(self.vanishing) else np.inf, value)

    def cost(self, x: FloatArray, low: FloatArray, high: FloatArray, cells: IntArray | Int32Array) -> FloatArray:
        """What it costs these numbers to enter a cell; infinite where they may not."""
        value = self.nearest(x, low, high, cells)
        stays = cells == self.home(x)
        with np.errstate(invalid="ignore", over="ignore"):
            moved = self.price * np.square(value - x) if math.isfinite(self.price) else np.full(np.shape(value), np.inf)
        moved = np.where(np.isnan(value), self.vanishing, np.where(np.isinf(value), np.inf, moved))
        return np.asarray(np.where(stays, 0.0, moved))


@dataclass(frozen=True)
class Options:
    """A menu, in cells of the options that no tree tells apart.

    Attributes
    ----------
    name, columns
        Of the feature, and the user's columns that hold it.
    values
        `(K, m)` what these columns hold at every option.
    ordered
        Whether cells are in an order in which every node cuts; the last is then that of what is missing.
    cells
        How many there are.
    cell
        `(K,)` the cell of every option.
    cost
        `(K, C)` of going from an option to the cheapest option of a cell.
    cheapest
        `(K, C)` which option that is.
    """

    name: str
    columns: IntArray
    values: FloatArray
    ordered: bool
    cells: int
    cell: Int32Array
    cost: FloatArray
    cheapest: Int32Array


Variable = Line | Options


@dataclass(frozen=True)
class CellForest:
    """The trees of a forest on the cells of variables.

    Attributes
    ----------
    variables
        All that the trees look at.
    variable
        `(N,)` that a node splits; `LEAF` at a leaf.
    cut
        `(N,)` the last cell that goes left; of sets, the row of `masks`; of a leaf, its row of `values`.
    missing_left
        `(N,)` whether the last cell, of what is missing, goes left, where cells are ordered.
    left, right, roots, values
        As of a `Forest`.
    masks
        By variable of sets: `(nodes, cells)` which cells go left.
    """

    variables: tuple[Variable, ...]
    variable: Int32Array
    cut: Int32Array
    missing_left: BoolArray
    left: Int32Array
    right: Int32Array
    roots: Int32Array
    values: FloatArray
    masks: tuple[BoolArray, ...]

    def goes_left(self, node: int, cells: Int32Array) -> BoolArray:
        """Whether these cells of the node's variable go left."""
        v = int(self.variable[node])
        if not self.variables[v].ordered:
            return np.asarray(self.masks[v][self.cut[node], cells])
        missing = cells == self.variables[v].cells - 1
        return np.asarray(np.where(missing, self.missing_left[node], cells <= self.cut[node]))

    def left_cells(self, node: int) -> BoolArray:
        """Which cells of its variable a node sends left."""
        return self.goes_left(node, np.arange(self.variables[self.variable[node]].cells, dtype=np.int32))

    def scores(self, cells: Int32Array) -> FloatArray:
        """`(n, K)` sums of the leaves that rows of cells fall into, without the base."""
        total = np.zeros((len(cells), self.values.shape[1]))
        everyone = np.arange(len(cells))
        for root in self.roots:
            at = [(int(root), everyone)]
            while at:
                node, rows = at.pop()
                if self.variable[node] == LEAF:
                    total[rows] += self.values[self.cut[node]]
                elif len(rows):
                    left = self.goes_left(node, cells[rows, self.variable[node]])
                    at += [(int(self.left[node]), rows[left]), (int(self.right[node]), rows[~left])]
        return total


@dataclass(frozen=True)
class CellRows:
    """Samples, by the variables of a forest.

    Attributes
    ----------
    x
        `(n, V)` the numbers of lines; zero elsewhere.
    low, high
        `(n, V)` the bounds of lines.
    home
        `(n, V)` the cells that samples are in.
    option
        `(n, V)` the options that they hold; zero of lines.
    """

    x: FloatArray
    low: FloatArray
    high: FloatArray
    home: Int32Array
    option: Int32Array

    def __len__(self) -> int:
        return len(self.home)

    def costs(self, variables: Sequence[Variable], v: int, rows: IntArray) -> FloatArray:
        """`(R, C)` what every cell of a variable costs these samples."""
        variable = variables[v]
        if isinstance(variable, Options):
            return np.asarray(variable.cost[self.option[rows, v]])
        cells = np.arange(variable.cells)
        return variable.cost(self.x[rows, v, None], self.low[rows, v, None], self.high[rows, v, None], cells[None, :])

    def cost(self, variables: Sequence[Variable], rows: IntArray, cells: Int32Array) -> FloatArray:
        """What these samples pay for these rows of cells, added up over variables."""
        total = np.zeros(len(rows))
        for v, variable in enumerate(variables):
            moved = np.flatnonzero(cells[:, v] != self.home[rows, v])
            if len(moved):
                who, there = rows[moved], cells[moved, v]
                if isinstance(variable, Options):
                    total[moved] += variable.cost[self.option[who, v], there]
                else:
                    total[moved] += variable.cost(self.x[who, v], self.low[who, v], self.high[who, v], there)
        return total

    def places(self, variables: Sequence[Variable], rows: IntArray, cells: Int32Array, x: FloatArray) -> FloatArray:
        """These samples, rows of `x`, at these cells: the nearest place in them, in the user's columns."""
        there = x[rows]
        for v, variable in enumerate(variables):
            moved = np.flatnonzero(cells[:, v] != self.home[rows, v])
            if not len(moved):
                continue
            who, at = rows[moved], cells[moved, v]
            if isinstance(variable, Options):
                there[np.ix_(moved, variable.columns)] = variable.values[variable.cheapest[self.option[who, v], at]]
            else:
                there[moved, variable.column] = variable.nearest(self.x[who, v], self.low[who, v], self.high[who, v], at)
        return there


def _lattice_above(x: FloatArray, step: float, edge: FloatArray) -> FloatArray:
    """The least number `x + k·step` above an edge."""
    count = np.floor((edge - x) / step)
    count = np.where(x + count * step > edge, count - 1.0, count)
    count = np.where(x + count * step <= edge, count + 1.0, count)
    return np.asarray(x + np.where(x + count * step <= edge, count + 1.0, count) * step)


def _lattice_below(x: FloatArray, step: float, edge: FloatArray) -> FloatArray:
    """The largest number `x + k·step` up to an edge."""
    count = np.ceil((edge - x) / step)
    count = np.where(x + count * step <= edge, count + 1.0, count)
    count = np.where(x + count * step > edge, count - 1.0, count)
    return np.asarray(x + np.where(x + count * step > edge, count - 1.0, count) * step)
