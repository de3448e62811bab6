"""The places of a row within a cost, in small: cells that no leaf in reach tells apart are one, and few variables are left.

Trees in which a single variable is left are part of what its cells add to the score by themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.families.trees.forest import Int32Array
from tippingpoint.families.trees.search.leaf_boxes import Runs
from tippingpoint.families.trees.search.staircase import SideLeaves
from tippingpoint.families.trees.search.worth import Worth

WINDOW_SLACK = 1e-12
"""Relative: costs are added up in different orders."""

MAX_MOVES = 100
"""Of one climb. Each gains profit, or score until the boundary is crossed, so none goes in a circle."""


@dataclass(frozen=True)
class Neighbourhood:
    """Places as combinations of groups of cells, one group a variable.

    Attributes
    ----------
    variables
        `(m,)` of the forest, that have more than one group.
    runs
        `(m,)` whether leaves take runs of its groups.
    begins
        `(m + 1,)` where the groups of each begin, and the end.
    cell, cost, unary
        `(G,)` the cheapest cell of every group, what it costs, and what it adds to the score by itself.
    trees
        `(T,)` where the leaves of every tree begin, of those that look at several variables.
    value, member
        `(L,)` and `(L, G)`: what leaves add, and which groups they allow.
    offset
        What the score is without all these.
    home
        `(V,)` where the row is.
    """

    variables: IntArray
    runs: BoolArray
    begins: IntArray
    cell: Int32Array
    cost: FloatArray
    unary: FloatArray
    trees: IntArray
    value: FloatArray
    member: BoolArray
    offset: float
    home: Int32Array

    @cached_property
    def sizes(self) -> IntArray:
        """`(m,)` how many groups every variable has."""
        return self.begins[1:] - self.begins[:-1]

    @cached_property
    def owner(self) -> IntArray:
        """`(G,)` the variable of every group, by its position among `variables`."""
        return np.repeat(np.arange(len(self.variables)), self.sizes)

    @cached_property
    def tree(self) -> IntArray:
        """`(L,)` the tree of every leaf."""
        return np.repeat(np.arange(len(self.trees)), np.diff(np.append(self.trees, len(self.value))))

    @property
    def dearest(self) -> float:
        """What no place costs more than."""
        return float(np.maximum.reduceat(self.cost, self.begins[:-1]).sum())

    def cells(self, place: IntArray) -> Int32Array:
        """`(V,)` the cells of a place."""
        there = self.home.copy()
        there[self.variables] = self.cell[place]
        return there

    def start(self) -> IntArray:
        """The place that costs nothing: a group of every variable."""
        return self.largest(-self.cost)

    def largest(self, values: FloatArray) -> IntArray:
        """The place of the groups of the largest values, one a variable."""
        return np.array([a + int(values[a:b].argmax()) for a, b in self._spans()], dtype=np.intp)

    def groups(self, cells: Int32Array) -> IntArray | None:
        """The place of these cells; none where it is not one of those in reach, each the cheapest of its kind."""
        place = []
        for v, (a, b) in zip(self.variables, self._spans(), strict=True):
            at = np.flatnonzero(self.cell[a:b] == cells[v])
            if not len(at):
                return None
            place.append(a + int(at[0]))
        return np.array(place, dtype=np.intp)

    def moves(self, place: IntArray) -> tuple[FloatArray, FloatArray]:
        """`(G,)` scores and costs after changing one variable to a group; the score is none where leaves are out of reach."""
        owner = self.owner
        inside = self.member[:, place]
        missed = (~inside).sum(axis=1)
        beside = (missed == 0)[:, None] | ((missed == 1)[:, None] & ~inside)
        there = beside[:, owner] & self.member
        unary, paid = self.unary[place], self.cost[place]
        score = self.offset + self.value @ there + unary.sum() + self.unary - unary[owner]
        cost = paid.sum() + self.cost - paid[owner]
        return np.where(there.sum(axis=0) == len(self.trees), score, np.nan), cost

    def climb(self, worth: Worth, rate: float) -> IntArray:
        """From the start to the best place that single moves lead to.

        While no place is worth anything yet, moves are rated by `rate` a unit of score, or by score a unit of cost where that
        is 0.
        """
        place = self.start()
        for _ in range(MAX_MOVES if len(place) else 0):
            score, cost = self.moves(place)
            own = int(place[0])  # to change nothing
            step = _across(score, cost, own, rate) if worth.crossing else _upwards(worth, score, cost, own)
            if step is None:
                break
            place[self.owner[step]] = step
        return place

    def _spans(self) -> list[tuple[int, int]]:
        return list(zip(self.begins[:-1].tolist(), self.begins[1:].tolist(), strict=True))


def _across(score: FloatArray, cost: FloatArray, own: int, rate: float) -> int | None:
    """The cheapest move that crosses, else the one that promises most; once across, what saves most."""
    gain, extra, over = score - score[own], cost - cost[own], score >= 0.0
    good = over & (extra < 0.0) if over[own] else over
    if good.any():
        return int(np.where(good, extra, math.inf).argmin())
    if over[own] or not (gain > 0.0).any():
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        promise = rate * gain - extra if rate > 0.0 else gain / extra
    promise = np.where(gain > 0.0, np.where(extra <= 0.0, math.inf, promise), -math.inf)
    best = int(promise.argmax())
    return best if promise[best] > 0.0 else None


def _upwards(worth: Worth, score: FloatArray, cost: FloatArray, own: int) -> int | None:
    profit = np.where(np.isnan(score), -math.inf, worth(np.nan_to_num(score)) - cost)
    best = int(profit.argmax())
    return best if profit[best] > profit[own] + WINDOW_SLACK * abs(profit[own]) else None


def neighbourhood(
    side: SideLeaves, offset: float, home: Int32Array, cells: list[FloatArray], leaves: FloatArray, within: float
) -> Neighbourhood:
    """All that costs a row no more than `within`, from what it pays for cells and leaves."""
    most = within * (1.0 + WINDOW_SLACK)
    boxes = side.boxes
    kept = np.flatnonzero((leaves <= most) & np.isfinite(leaves))
    place = np.full(len(boxes), -1)
    place[kept] = np.arange(len(kept))
    parts = []
    alive = np.ones(len(kept), dtype=bool)
    for v, (asked, cost) in enumerate(zip(boxes.asked, cells, strict=True)):
        reached = np.flatnonzero((cost <= most) & np.isfinite(cost))
        asking = place[asked.leaves] >= 0
        if len(reached) < 2 or not asking.any():
            continue
        held = np.ones((len(kept), len(reached)), dtype=bool)
        held[place[asked.leaves[asking]]] = asked.hold(asked.which[asking], reached)
        alive &= held.any(axis=1)
        ordered = isinstance(asked, Runs) and reached[-1] != asked.missing
        parts.append((v, reached, cost[reached], held, ordered))
    kept = kept[alive]
    grouped = [
        (v, ordered, *_grouped(reached, cost, held[alive], ordered=ordered)) for v, reached, cost, held, ordered in parts
    ]
    grouped = [each for each in grouped if len(each[2]) > 1]
    begins = np.concatenate([[0], np.cumsum([len(each[2]) for each in grouped])]).astype(np.intp)
    made = Neighbourhood(
        np.array([each[0] for each in grouped], dtype=np.intp),
        np.array([each[1] for each in grouped], dtype=bool),
        begins,
        np.concatenate([np.zeros(0, np.int32), *(each[2] for each in grouped)]).astype(np.int32),
        np.concatenate([np.zeros(0), *(each[3] for each in grouped)]),
        np.zeros(begins[-1]),
        np.flatnonzero(np.diff(boxes.tree[kept], prepend=-1)),
        side.values[kept],
        np.concatenate([np.zeros((len(kept), 0), dtype=bool), *(each[4] for each in grouped)], axis=1),
        offset,
        home,
    )
    return _folded(made)


def _grouped(cells: IntArray, cost: FloatArray, held: BoolArray, *, ordered: bool) -> tuple[IntArray, FloatArray, BoolArray]:
    """Cells that all leaves treat alike as one, the cheapest of them; of runs only neighbours."""
    if ordered:
        group = np.concatenate([[0], np.cumsum((held[:, 1:] != held[:, :-1]).any(axis=0))])
    else:
        _, group = np.unique(np.packbits(held, axis=0), axis=1, return_inverse=True)
        group = group.ravel()
    order = np.lexsort((cost, group))
    first = order[np.diff(group[order], prepend=-1) > 0]
    return cells[first], cost[first], held[:, first]


def _folded(whole: Neighbourhood) -> Neighbourhood:
    """The same with trees of one variable among what its groups add, and trees of none in the offset."""
    counts = np.diff(np.append(whole.trees, len(whole.value)))
    if not len(whole.variables):
        return _with(whole, np.zeros(0), whole.offset + float(whole.value.sum()), np.zeros(len(counts), dtype=bool), counts)
    asks = ~np.logical_and.reduceat(whole.member, whole.begins[:-1], axis=1)
    used = np.logical_or.reduceat(asks, whole.trees, axis=0)
    variables = used.sum(axis=1)
    several = variables > 1
    single = np.repeat(np.where(variables == 1, used.argmax(axis=1), -1), counts)
    own = whole.member & (single[:, None] == whole.owner)
    constant = np.repeat(variables == 0, counts)
    return _with(whole, whole.value @ own, whole.offset + float(whole.value[constant].sum()), several, counts)


def _with(whole: Neighbourhood, unary: FloatArray, offset: float, kept: BoolArray, counts: IntArray) -> Neighbourhood:
    """With these trees only."""
    leaves = np.repeat(kept, counts)
    trees = np.concatenate([[0], np.cumsum(counts[kept])]).astype(np.intp)[:-1]
    return Neighbourhood(
        whole.variables,
        whole.runs,
        whole.begins,
        whole.cell,
        whole.cost,
        unary,
        trees,
        whole.value[leaves],
        whole.member[leaves],
        offset,
        whole.home,
    )
