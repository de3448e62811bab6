"""The nearest error of one row as a plain mixed-integer program for HiGHS, as people write it who have nothing else.

After Kantchelian, Tygar and Joseph (2016): a binary variable for every threshold, `x ≤ T`, in order along each column; a share
for every leaf, one in all of a tree; the leaves on either side of a node only as far as its threshold allows; and a score that
is an error. Costs are squares, so a column's cost is a sum over its cells. Cells and leaves that cost more than `within` are
left out beforehand.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array

from tippingpoint.families.trees.proving import TreeTask

SLACK = 1.0 + 1e-9
"""What is as dear as `within` but for rounding is kept."""

LEAF = -1


@dataclass(frozen=True)
class Answer:
    """What HiGHS found: the distance, squared, the seconds that it alone took, and whether it finished."""

    distance: float
    seconds: float
    finished: bool


@dataclass
class Program:
    """Rows of a program, gathered one by one: names of columns are their numbers."""

    cost: list[float] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def column(self, *, cost: float = 0.0, whole: bool = False) -> int:
        self.cost.append(cost)
        self.whole.append(int(whole))
        return len(self.cost) - 1

    def row(self, terms: list[tuple[int, float]], low: float, high: float) -> None:
        self.entries += [(len(self.low), column, factor) for column, factor in terms]
        self.low.append(low)
        self.high.append(high)

    def solve(self, seconds: float) -> Answer:
        row, column, factor = (np.array(part) for part in zip(*self.entries, strict=True))
        matrix = csc_array((factor.astype(float), (row, column)), shape=(len(self.low), len(self.cost)))
        limits = LinearConstraint(matrix, np.array(self.low), np.array(self.high))
        start = time.process_time()
        done: Any = milp(
            np.array(self.cost),
            integrality=np.array(self.whole),
            bounds=Bounds(0.0, 1.0),
            constraints=limits,
            options={"mip_rel_gap": 1e-7, "time_limit": seconds},
        )
        found = math.inf if done.x is None else float(done.fun)
        return Answer(found, time.process_time() - start, done.status == 0)


class RowProgram:
    """The program of one row of a classifier of two classes."""

    def __init__(self, task: TreeTask, row: int, within: float, tie: float) -> None:
        self.forest, self.program = task.partition.forest, Program()
        self.within = within * SLACK
        variables, rows = self.forest.variables, task.partition.rows
        self.costs, self.cells, self.cuts = list[Any](), list[Any](), list[list[int]]()
        for v in range(len(variables)):
            cost = rows.costs(variables, v, np.array([row]))[0]
            reached = np.flatnonzero(cost <= self.within)
            self.cells.append(reached)
            self.costs.append(cost[reached])
            self.cuts.append(self._cuts(cost[reached]))
        self.highest = float(sum(cost[-1] for cost in self.costs))  # with no threshold above any column
        side = task.sides.of(np.array([row]))
        (weights,), (offset,) = side.weights, side.offset
        self.values = self.forest.values @ weights
        terms = list[tuple[int, float]]()
        for root in self.forest.roots:
            leaves = self._leaves(int(root), [(0, len(cells) - 1) for cells in self.cells], 0.0)
            self.program.row([(leaf, 1.0) for leaf, _ in leaves], 1.0, 1.0)
            terms += leaves
        least = -float(offset + weights @ task.partition.base) - math.copysign(tie, offset)
        self.program.row(terms, least, math.inf)

    def _cuts(self, cost: Any) -> list[int]:
        """One binary variable between any two cells of a column; what each saves where it is one."""
        made = [self.program.column(cost=float(cost[k] - cost[k + 1]), whole=True) for k in range(len(cost) - 1)]
        for one, next_one in pairwise(made):
            self.program.row([(one, 1.0), (next_one, -1.0)], -math.inf, 0.0)
        return made

    def _leaves(self, node: int, box: list[tuple[int, int]], cost: float) -> list[tuple[int, float]]:
        """Leaves below a node that the row can afford, and what they add to the score."""
        v, forest = int(self.forest.variable[node]), self.forest
        if v == LEAF:
            return [(self.program.column(), float(self.values[forest.cut[node]]))]
        first, last = box[v]
        middle = int(np.searchsorted(self.cells[v], forest.cut[node], side="right"))  # where the right side begins
        parts, found = ((first, min(last, middle - 1)), (max(first, middle), last)), list[list[tuple[int, float]]]()
        for (begin, end), child in zip(parts, (forest.left[node], forest.right[node]), strict=True):
            dearer = self._least(v, begin, end) - self._least(v, first, last) if begin <= end else math.inf
            affordable = cost + dearer <= self.within
            inside = [*box[:v], (begin, end), *box[v + 1 :]]
            found.append(self._leaves(int(child), inside, cost + dearer) if affordable else [])
        if first < middle <= last:
            cut = self.cuts[v][middle - 1]
            self.program.row([(leaf, 1.0) for leaf, _ in found[0]] + [(cut, -1.0)], -math.inf, 0.0)
            self.program.row([(leaf, 1.0) for leaf, _ in found[1]] + [(cut, 1.0)], -math.inf, 1.0)
        return found[0] + found[1]

    def _least(self, v: int, begin: int, end: int) -> float:
        return float(self.costs[v][begin : end + 1].min())


def nearest_error(task: TreeTask, row: int, within: float, seconds: float, tie: float = 0.0) -> Answer:
    """The squared distance from a row to its nearest error, of those no further than `within`.

    HiGHS takes 1e-6 for nothing. Where scores may tie, `tie` is a larger number that no other score is as close to zero as.
    """
    made = RowProgram(task, row, within, tie)
    answer = made.program.solve(seconds)
    return Answer(answer.distance + made.highest, answer.seconds, answer.finished)
