"""From a forest on the model's columns and a domain on the user's to a forest on cells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.families.trees.cells import CellForest, CellRows, Line, Options, Variable
from tippingpoint.families.trees.columns.doubles import LARGEST
from tippingpoint.families.trees.columns.model_columns import ModelColumns
from tippingpoint.families.trees.forest import LEAF, Forest, Int32Array
from tippingpoint.space.domain import Domain, Menu


class NotDividedError(Exception):
    """A feature moves in a way that cannot be taken back to cells; the reason is a clause."""


@dataclass(frozen=True)
class Partition:
    """A forest on cells, and the samples in them.

    Attributes
    ----------
    forest, rows
        On the cells of a domain.
    base
        `(K,)` what the outputs are before any tree.
    unused
        Features that may move and that no tree looks at.
    """

    forest: CellForest
    rows: CellRows
    base: FloatArray
    unused: tuple[str, ...]


AROUND_ZERO = np.array([np.nextafter(0.0, -1.0), 0.0])
"""Thresholds between which there is only zero."""


@dataclass(frozen=True)
class Splits:
    """How the nodes of one of the model's columns split the numbers of its raw column.

    Attributes
    ----------
    at
        `(nodes,)` the last number below the cut.
    falls
        `(nodes,)` whether the numbers above the cut go left, instead of those below.
    gap
        Above the first number and up to the second, the raw number is missing to the model.
    torn
        Whether some node sends the numbers of the gap one way, and numbers on both sides of it the other way.
    """

    at: FloatArray
    falls: BoolArray
    gap: tuple[float, float] | None = None
    torn: bool = False

    def with_gap(self, low: float, high: float, missing_left: BoolArray) -> Splits:
        """The same, but numbers above `low` and up to `high` go where what is missing goes."""
        if low == high:
            return self
        below = missing_left ^ self.falls  # the gap goes where numbers below the cut go
        nothing_left = ~below & (low == -math.inf) & (self.at == math.inf)  # below the cut there is only what is above the gap
        nothing_right = below & (high == math.inf) & (self.at == -math.inf)
        at = np.where(below & (self.at == low), high, np.where(~below & (self.at == high), low, self.at))
        at = np.where(nothing_left, high, np.where(nothing_right, low, at))
        turned = nothing_left | nothing_right
        torn = np.where(below, self.at < low, self.at > high) & ~turned
        return Splits(at, self.falls ^ turned, (low, high), bool(torn.any()))


@dataclass(frozen=True)
class RawForest:
    """A forest, and what its columns are made of.

    Attributes
    ----------
    forest
        On the model's columns.
    columns
        Of what they are made.
    """

    forest: Forest
    columns: ModelColumns

    @cached_property
    def nodes(self) -> dict[int, IntArray]:
        """The nodes that split each of the model's columns."""
        return {int(m): np.flatnonzero(self.forest.feature == m) for m in self.forest.columns}

    @cached_property
    def splits(self) -> dict[int, Splits]:
        """How these nodes split the numbers of its raw column, for columns that rise or fall with it."""
        numbers = {m: nodes for m, nodes in self.nodes.items() if self.is_number(m)}
        cuts = self.columns.all_cuts({m: self.forest.threshold[nodes] for m, nodes in numbers.items()})
        found = {m: Splits(at, np.full(len(at), self.columns.rises[m] < 0)) for m, at in cuts.items()}
        if self.columns.zero_is_missing:
            ends = self.columns.all_cuts(dict.fromkeys(numbers, AROUND_ZERO))
            for m, nodes in numbers.items():
                low, high = ends[m].min(), ends[m].max()
                found[m] = found[m].with_gap(float(low), float(high), self.forest.missing_left[nodes])
        return found

    def is_number(self, m: int) -> bool:
        """Whether a column of the model can be taken back to numbers of its raw column."""
        return self.columns.rises[m] != 0 and bool((self.forest.members[self.nodes[m]] == LEAF).all())


def partition(raw: RawForest, domain: Domain, x: FloatArray) -> Partition:
    """The forest on the cells of a domain, for samples `x`."""
    return _Dividing(raw, domain, x).partition()


def check_divided(raw: RawForest, domain: Domain, x: FloatArray) -> None:
    """Raise `NotDividedError` where a feature moves in a way that cannot be taken back to cells."""
    dividing = _Dividing(raw, domain, x)
    for j, of_line in dividing.lines.items():
        dividing.check_line(j, of_line)


@dataclass
class _Divided:
    """A variable, its nodes, and where samples are along it."""

    variable: Variable
    nodes: IntArray
    left: BoolArray | None  # (nodes, cells) of sets
    cut: Int32Array
    missing_left: BoolArray
    swapped: BoolArray
    x: FloatArray
    low: FloatArray
    high: FloatArray
    home: Int32Array
    option: Int32Array


class _Dividing:
    def __init__(self, raw: RawForest, domain: Domain, x: FloatArray) -> None:
        self.raw = raw
        self.forest = raw.forest
        self.columns = raw.columns
        self.domain = domain
        self.x = x
        self.lines = {int(j): self._made_of(np.array([j], dtype=np.intp)) for j in domain.free}
        """The columns that the trees look at, by the number that moves freely and that they are made of."""

    def partition(self) -> Partition:
        forest = self.forest
        divided = list(self._variables())
        count = len(forest.feature)
        variable, cut = np.full(count, LEAF, dtype=np.int32), forest.leaf.astype(np.int32)
        missing_left, swapped = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        for v, each in enumerate(divided):
            variable[each.nodes], cut[each.nodes] = v, each.cut
            missing_left[each.nodes], swapped[each.nodes] = each.missing_left, each.swapped
        cells = CellForest(
            tuple(each.variable for each in divided),
            variable,
            cut,
            missing_left,
            np.where(swapped, forest.right, forest.left).astype(np.int32),
            np.where(swapped, forest.left, forest.right).astype(np.int32),
            forest.roots.astype(np.int32),
            forest.values,
            tuple(np.zeros((0, 0), dtype=bool) if each.left is None else each.left for each in divided),
        )
        rows = CellRows(*(_beside(divided, name, len(self.x)) for name in ("x", "low", "high", "home", "option")))
        used = {each.variable.name for each in divided}
        return Partition(cells, rows, forest.base, tuple(name for name in self.domain.features if name not in used))

    def _variables(self) -> Iterator[_Divided]:
        """Menus and lines that may move, then the columns of the model that stay."""
        for j, of_line in self.lines.items():
            self.check_line(j, of_line)
        menus = [(menu, self._made_of(menu.columns)) for menu in self.domain.menus]
        yield from (self._menu(menu, of_menu) for menu, of_menu in menus if of_menu)
        yield from (self._line(j, of_line) for j, of_line in self.lines.items() if of_line)
        moving = {m for made in (*self.lines.values(), *(of_menu for _, of_menu in menus)) for m in made}
        still = [m for m in self.raw.nodes if m not in moving]
        seen = self.columns.values(self.x) if still else self.x
        yield from (self._still(m, seen[:, m]) for m in still)

    def _made_of(self, raw: IntArray) -> list[int]:
        """The columns that the trees look at which are made of these columns of the user's."""
        return [m for m in self.raw.nodes if self.columns.source[m] in raw]

    def check_line(self, j: int, of_line: list[int]) -> None:
        """Refuse a number whose thresholds cannot be taken back to it."""
        name = self.domain.names[j]
        for m in of_line:
            if not self.raw.is_number(m):
                raise NotDividedError(f"what the model makes of {name!r} does not rise with it, so it cannot move as a number")
        ends, allowed = (self.columns.lower[j], self.columns.upper[j]), self._allowed(j)
        beyond = (allowed[0].min() < ends[0], allowed[1].max() > ends[1])
        for side, out, end in zip(self.columns.missing_beyond[j], beyond, ends, strict=True):
            if of_line and side and out:
                raise NotDividedError(f"beyond {end:g} the model takes {name!r} for missing; bound it in a Space")
        for m in of_line:
            self._check_gap(j, m, *allowed)

    def _check_gap(self, j: int, m: int, low: FloatArray, high: FloatArray) -> None:
        """Refuse a number that may become a zero which is missing to the model, unless a cut tells where it goes then."""
        splits = self.raw.splits[m]
        if splits.gap is None:
            return
        above, up_to = splits.gap
        enters = np.flatnonzero((low <= up_to) & (high > above))
        if not len(enters):
            return
        first, last = np.maximum(low[enters], np.nextafter(above, np.inf)), np.minimum(high[enters], up_to)
        rows = self.x[[enters[0], enters[0]]]
        rows[:, j] = np.clip((first.min(), last.max()), -LARGEST, LARGEST)
        if splits.torn or not np.isnan(self.columns.values(rows)[:, m]).all():
            raise NotDividedError(
                f"its preprocessing makes a sparse matrix that leaves out {self.domain.names[j]!r} at {last.max():g}, which the"
                " model reads as missing; bound it in a Space, or fit with sparse_output=False and sparse_threshold=0"
            )

    def _allowed(self, j: int) -> tuple[FloatArray, FloatArray]:
        """The bounds of every sample along a column; one that is missing has none."""
        low, high = (bound[:, 0] for bound in self.domain.bounds(self.x, np.array([j], dtype=np.intp)))
        gone = np.isnan(self.x[:, j])
        return np.where(gone, math.inf, low), np.where(gone, -math.inf, high)

    def _line(self, j: int, of_line: list[int]) -> _Divided:
        """A number that moves freely, cut wherever a column made of it passes a threshold."""
        domain, nodes = self.domain, np.concatenate([self.raw.nodes[m] for m in of_line])
        at = np.concatenate([self.raw.splits[m].at for m in of_line])
        falls = np.concatenate([self.raw.splits[m].falls for m in of_line])
        line = Line(
            domain.names[j],
            j,
            np.unique(at[np.isfinite(at)]),
            float(domain.price[j]),
            float(domain.step[j]),
            float(domain.missing.get(j, math.inf)),
        )
        # All numbers lie above a cut at minus infinity, and none above one at infinity.
        cut = np.where(np.isfinite(at), np.searchsorted(line.cuts, at), np.where(at < 0.0, -1, len(line.cuts)))
        low, high = self._allowed(j)
        return _Divided(
            line,
            nodes,
            None,
            cut.astype(np.int32),
            self._gone_left(nodes, j) ^ falls,
            falls,
            self.x[:, j],
            np.maximum(low, self.columns.lower[j]),  # beyond, the pipeline fails
            np.minimum(high, self.columns.upper[j]),
            line.home(self.x[:, j]),
            np.zeros(len(self.x), dtype=np.int32),
        )

    def _gone_left(self, nodes: IntArray, j: int) -> BoolArray:
        """Whether nodes send a row left whose value of this column is missing."""
        if not (np.isnan(self.x[:, j]).any() or j in self.domain.missing):
            return np.zeros(len(nodes), dtype=bool)
        gone = self.x[:1].copy()
        gone[:, j] = np.nan
        seen = self.columns.values(gone)[0]
        return np.concatenate([self.forest.goes_left(int(i), seen[self.forest.feature[[i]]]) for i in nodes])

    def _menu(self, menu: Menu, of_menu: list[int]) -> _Divided:
        """A menu, its options tried out one by one."""
        menu = self._offered(menu)
        served = np.asarray(np.isfinite(menu.cost).any(axis=0))
        trial = np.repeat(self.x[:1], len(menu.values), axis=0)
        trial[:, menu.columns] = np.where(served[:, None], menu.values, menu.values[served][:1])
        seen = self.columns.values(trial)
        nodes = np.concatenate([self.raw.nodes[m] for m in of_menu])
        left = np.concatenate([_sent_left(self.forest, self.raw.nodes[m], seen[:, m]) for m in of_menu])
        option = menu.options(self.x)
        options, sides = _grouped(menu, left)
        cut, missing_left = np.arange(len(nodes), dtype=np.int32), np.zeros(len(nodes), dtype=bool)
        if options.ordered:
            cut, missing_left = sides[:, :-1].sum(axis=1).astype(np.int32) - 1, sides[:, -1]
        nothing = np.zeros(len(self.x))
        return _Divided(
            options,
            nodes,
            None if options.ordered else sides,
            cut,
            missing_left,
            np.zeros(len(nodes), dtype=bool),
            nothing,
            nothing,
            nothing,
            options.cell[option],
            option.astype(np.int32),
        )

    def _offered(self, menu: Menu) -> Menu:
        """A menu in which nothing costs anything but an infinity that the model fails on."""
        refused = self.columns.refused.get(int(menu.columns[0]))
        if refused is None:
            return menu
        codes = np.where(menu.gap, len(refused) - 1, np.nan_to_num(menu.values[:, 0])).astype(np.intp)
        cost = menu.cost.copy()
        cost[:, np.flatnonzero(refused[codes])] = math.inf
        return replace(menu, cost=cost)

    def _still(self, m: int, seen: FloatArray) -> _Divided:
        """A column of the model that stays: samples never leave their cells."""
        nodes = self.raw.nodes[m]
        name, nothing = f"column {m}", np.zeros(len(self.x))
        as_they_are = np.zeros(len(nodes), dtype=bool)
        if (self.forest.members[nodes] == LEAF).all():
            line = Line(name, -1, np.unique(self.forest.threshold[nodes]))
            cut = np.searchsorted(line.cuts, self.forest.threshold[nodes]).astype(np.int32)
            missing_left, still = self.forest.missing_left[nodes], np.zeros(len(self.x), dtype=np.int32)
            return _Divided(line, nodes, None, cut, missing_left, as_they_are, seen, seen, seen, line.home(seen), still)
        held, option = np.unique(seen, return_inverse=True)
        apart = np.where(np.eye(len(held), dtype=bool), 0.0, math.inf)
        menu = Menu(name, "fixed", np.zeros(0, np.intp), held[:, None], apart, None)
        options, sides = _grouped(menu, _sent_left(self.forest, nodes, held))
        cut, home = np.arange(len(nodes), dtype=np.int32), options.cell[option]
        return _Divided(
            options, nodes, sides, cut, as_they_are, as_they_are, nothing, nothing, nothing, home, option.astype(np.int32)
        )


def _beside(divided: list[_Divided], name: str, rows: int) -> np.ndarray:
    """One column a variable."""
    if not divided:
        return np.zeros((rows, 0), dtype=np.int32 if name in ("home", "option") else float)
    return np.ascontiguousarray(np.column_stack([getattr(each, name) for each in divided]))


def _sent_left(forest: Forest, nodes: IntArray, values: FloatArray) -> BoolArray:
    """`(nodes, values)` whether nodes of one column send values left."""
    left = values[None, :] <= forest.threshold[nodes, None]
    for i in np.flatnonzero(forest.members[nodes] != LEAF):
        left[i] = np.isin(values, forest.sets[forest.members[nodes[i]]])
    return np.where(np.isnan(values)[None, :], forest.missing_left[nodes, None], left)


def _cells_of(left: BoolArray, order: IntArray) -> tuple[Int32Array, BoolArray]:
    """The cell of every option, those that all nodes treat alike together; `(nodes, cells)` where they are sent."""
    _, first, cell = np.unique(np.packbits(left, axis=0).T, axis=0, return_index=True, return_inverse=True)
    # Cells in the order of the options that are first in them.
    rank = np.argsort(np.array([order[cell == c].min() for c in range(len(first))]), kind="stable")
    place = np.empty(len(rank), dtype=np.int32)
    place[rank] = np.arange(len(rank))
    return place[cell], left[:, first[rank]]


def _grouped(menu: Menu, left: BoolArray) -> tuple[Options, BoolArray]:
    """A menu in cells, in order where there is one that all nodes and costs follow."""
    missing = menu.gap
    axis = None if menu.axis is None else np.where(missing, np.inf, menu.axis)
    if axis is not None:
        place = np.argsort(np.argsort(axis, kind="stable"), kind="stable")
        cell, sides = _cells_of(left[:, ~missing], place[~missing])
        if not (sides[:, 1:] & ~sides[:, :-1]).any():  # every node sends the cells up to a cut left
            every = np.full(len(missing), sides.shape[1], dtype=np.int32)
            every[~missing] = cell
            gone = left[:, missing] if missing.any() else np.zeros((len(left), 1), dtype=bool)
            options = _options(menu, every, sides.shape[1] + 1, ordered=True)
            if _one_valley(options):
                return options, np.column_stack([sides, gone])
    cell, sides = _cells_of(left, np.arange(left.shape[1]))
    return _options(menu, cell, sides.shape[1], ordered=False), sides


def _options(menu: Menu, cell: Int32Array, cells: int, *, ordered: bool) -> Options:
    cost = np.full((len(cell), cells), math.inf)
    cheapest = np.zeros((len(cell), cells), dtype=np.int32)
    for k in range(len(cell)):  # options from the last on, so that of equal ones the first stays
        o = len(cell) - 1 - k
        better = menu.cost[:, o] <= cost[:, cell[o]]
        cost[better, cell[o]] = menu.cost[better, o]
        cheapest[better, cell[o]] = o
    return Options(menu.name, menu.columns, menu.values, ordered, cells, cell, cost, cheapest)


def _one_valley(options: Options) -> bool:
    """Whether costs grow on both sides of every option's own cell, but for cells that it may not enter."""
    for o, own in enumerate(options.cell):
        cost = options.cost[o, : options.cells - 1]
        up, down = cost[own:], cost[: own + 1][::-1]
        if own < options.cells - 1 and any((np.diff(side[np.isfinite(side)]) < 0.0).any() for side in (up, down)):
            return False
    return True
