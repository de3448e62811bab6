r"""The best place of a neighbourhood as a mixed-integer program, for HiGHS.

.. math:: \max_{p, c, z} \; \min_i (a_i p + m_i s) - d - best·p
          \quad\text{s.t.}\quad s = b p + \sum_g u_g x_g + \sum_l v_l z_l,\quad low·p \le s \le high·p

`p` is whether a place is taken at all, so that all zeros is a solution, of value zero: HiGHS begins with what is known, and
its relaxation is no weaker for it. `x_g` is whether the place is in group `g` of a variable. Where groups are ordered it is the
difference of two neighbours of `c_k`, whether the place is in a group up to `k`: to branch on these is to cut a run. `z_l` is
whether the place is in a leaf, and follows from the others: in every tree all leaves up to a cut together are at most `c_k`,
and all beyond it at most `p - c_k`.

What HiGHS says is true but for its tolerances. Its bound is that of linear programs whose reduced costs may be wrong by 1e-7;
all columns are between 0 and 1, so it is wrong by no more than as many times that as there are columns, and by the 1e-6 within
which HiGHS calls a solution the best. What there is to gain is scaled up, so that this is little: `Solved.margin`, some 1e-8
of it. Rows hold at every place but for rounding, those of scores with 1e-6 to spare, so that no tolerance loses a place.
Some places seem to fulfil rows of scores that do not: who asks has to look at the score, and to forbid such a place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.families.trees.search.neighbourhood import Neighbourhood
from tippingpoint.families.trees.search.worth import Ceiling

GAIN_SCALE = 1e4
"""What the most that there is to gain is scaled to ..."""

COST_SCALE = 1e6
"""... unless the largest cost would be more than this: beyond it, tolerances are those of double precision."""

SCORE_SCALE = 10.0
"""What the largest part of a score is scaled to.

HiGHS takes columns for whole that are 1e-6 away from it. With larger numbers these would make up for what a score lacks, and
HiGHS 1.12 prints a line wherever it notices that.
"""

DUAL_TOLERANCE = 1e-7
"""What HiGHS lets a reduced cost be wrong by."""

GAP_TOLERANCE = 1e-6
"""What HiGHS lets a bound be away from what is attained, and what it lets a row lack."""

PRESOLVE = False
"""It has lost the best solution in several releases of HiGHS (its issues 1725, 2957), and neighbourhoods are small already."""


@dataclass(frozen=True)
class Solved:
    """What HiGHS says of a program.

    Attributes
    ----------
    place
        The groups of a place; none where no place is better than what is known.
    bound
        On the profit of all places, as HiGHS has it, and what is known where none is better.
    margin
        What its tolerances may have made the bound too low by.
    nodes
        How many boxes it looked into.
    finished
        Whether no limit ended it.
    """

    place: IntArray | None
    bound: float
    margin: float
    nodes: int
    finished: bool


def best_place(
    near: Neighbourhood,
    ceilings: Sequence[Ceiling],
    between: tuple[float, float],
    best: float,
    gain: float,
    forbidden: Sequence[IntArray],
    nodes: int,
    seconds: float,
) -> Solved:
    """The place of the largest profit, if scores are worth as much as ceilings say.

    Parameters
    ----------
    near
        The places.
    ceilings
        Above what scores are worth, of which the lowest counts; the first is the least steep.
    between
        Scores, that the place's must lie between.
    best, gain
        What is known, and by how much places may exceed it; both finite.
    forbidden
        Places that are not wanted.
    nodes, seconds
        Limits.
    """
    program = _Program(near, best)
    program.stay_below(ceilings, between[0])
    program.link()
    program.keep_between(*between)
    for place in forbidden:
        program.forbid(place)
    return program.solve(gain, nodes, seconds)


class _Program:
    """Columns: `p`, how much other ceilings take off the first, groups, leaves. Rows are collected as entries."""

    def __init__(self, near: Neighbourhood, best: float) -> None:
        self.near = near
        self.best = best
        sizes = near.sizes - near.runs  # the last group of a run is what the others leave of p
        self.first = 2 + np.concatenate([[0], np.cumsum(sizes)])
        self.leaves = int(self.first[-1])
        self.columns = self.leaves + len(near.value)
        self.group, self.column, self.sign = self._groups()
        self.entries: list[tuple[IntArray, IntArray, FloatArray]] = []
        self.low: list[FloatArray] = []
        self.high: list[FloatArray] = []
        self.height = 0
        self.score = self._of_groups(near.unary)
        self.score[0] += near.offset
        self.score[self.leaves :] += near.value
        self.gain = -self._of_groups(near.cost)
        self.gain[0] -= best

    def _groups(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Every `x_g` of the columns: groups, columns and signs."""
        near = self.near
        every, last = np.arange(len(near.cost)), near.begins[1:] - 1
        own = self.first[near.owner] + every - near.begins[near.owner]
        at = own.copy()
        at[last[near.runs]] = 0
        later = np.flatnonzero(near.runs[near.owner] & (every > near.begins[near.owner]))
        ones = np.ones(len(every))
        return (
            np.concatenate([every, later]),
            np.concatenate([at, own[later] - 1]),
            np.concatenate([ones, -ones[: len(later)]]),
        )

    def _of_groups(self, values: FloatArray) -> FloatArray:
        """`Σ_g value_g x_g` as a row."""
        return np.bincount(self.column, self.sign * values[self.group], minlength=self.columns).astype(float)

    def _add(self, row: IntArray, column: IntArray, value: FloatArray, count: int, low: float, high: float) -> None:
        self.entries.append((row + self.height, column, value))
        self.low.append(np.full(count, low))
        self.high.append(np.full(count, high))
        self.height += count

    def _add_row(self, row: FloatArray, low: float, high: float) -> None:
        at = np.flatnonzero(row)
        self._add(np.zeros_like(at), at, row[at], 1, low, high)

    def _add_scores(self, row: FloatArray, size: float, low: float, high: float) -> None:
        """A row of scores, scaled by the largest of its parts before any was taken off another."""
        largest = max(float(np.abs(row).max()), size)
        if largest > 0.0:
            self._add_row(SCORE_SCALE / largest * row, low, high)

    def stay_below(self, ceilings: Sequence[Ceiling], low: float) -> None:
        """Scores are worth what the first says, less what the others take off: most at the lowest score."""
        first, others = ceilings[0], ceilings[1:]
        self.gain += first.slope * self.score
        self.gain[0] += first.offset
        most = max((first(low) - other(low) for other in others), default=0.0)
        self.gain[1] = -max(most, 0.0)
        for other in others:
            over = (first.slope - other.slope) * self.score
            over[0] += first.offset - other.offset
            over[1] = self.gain[1]
            self._add_scores(over, max(abs(first.offset), abs(other.offset)), -math.inf, GAP_TOLERANCE)

    def keep_between(self, low: float, high: float) -> None:
        """The score of a place that is taken."""
        for sign, edge in ((1.0, low), (-1.0, high)):
            row = sign * self.score
            row[0] -= sign * edge
            self._add_scores(row, abs(edge), -GAP_TOLERANCE, math.inf)

    def forbid(self, place: IntArray) -> None:
        """Not all of these groups at once."""
        chosen = np.zeros(len(self.near.cost))
        chosen[place] = 1.0
        self._add_row(self._of_groups(chosen), -math.inf, len(place) - 1.0)

    def link(self) -> None:
        """One group a variable, one leaf a tree, and only leaves that hold the place."""
        near = self.near
        ordered = near.runs[near.owner]
        of_runs = ordered[self.group]
        row = (np.cumsum(ordered) - 1)[self.group[of_runs]]
        self._add(row, self.column[of_runs], self.sign[of_runs], int(ordered.sum()), 0.0, 1.0)
        sets = np.flatnonzero(~near.runs)
        of_sets = np.flatnonzero(~ordered)
        self._add_one_of(np.searchsorted(sets, near.owner[of_sets]), self.column[of_sets], len(sets))
        leaves = self.leaves + np.arange(len(near.value))
        self._add_one_of(near.tree, leaves, len(near.trees))
        for v in range(len(near.variables)):
            held = near.member[:, near.begins[v] : near.begins[v + 1]]
            asking = np.flatnonzero(~held.all(axis=1))
            if len(asking):
                (self._link_run if near.runs[v] else self._link_set)(v, held[asking], near.tree[asking], leaves[asking])

    def _add_one_of(self, row: IntArray, column: IntArray, count: int) -> None:
        """Each of the rows adds up to `p`."""
        every, ones = np.arange(count), np.ones(count)
        columns = np.concatenate([column, np.zeros_like(every)])
        self._add(np.concatenate([row, every]), columns, np.concatenate([np.ones(len(row)), -ones]), count, 0.0, 0.0)

    def _link_run(self, v: int, held: BoolArray, tree: IntArray, at: IntArray) -> None:
        """Leaves that end at a cut or before it, and those that begin beyond it, for all cuts that a tree makes."""
        width = held.shape[1]
        last = width - 1 - held[:, ::-1].argmax(axis=1)
        first = held.argmax(axis=1)
        below, above = last < width - 1, first > 0
        self._link_cuts(tree[below] * width + last[below], at[below], width, v, upwards=True)
        self._link_cuts(tree[above] * width + first[above] - 1, at[above], width, v, upwards=False)

    def _link_cuts(self, key: IntArray, at: IntArray, width: int, v: int, *, upwards: bool) -> None:
        """One row for every cut of a tree: all leaves on one side of it, that is those with cuts up to it, or from it on."""
        cuts, own = np.unique(key, return_inverse=True)
        tree = cuts // width
        start = own if upwards else np.searchsorted(tree, tree, side="left")[own]
        stop = np.searchsorted(tree, tree, side="right")[own] if upwards else own + 1
        spans = stop - start
        rows = np.repeat(start - np.cumsum(spans) + spans, spans) + np.arange(spans.sum())
        every, cut, sign = np.arange(len(cuts)), self.first[v] + cuts % width, np.full(len(cuts), -1.0 if upwards else 1.0)
        taken = every[: 0 if upwards else None]  # beyond a cut there is what c_k leaves of p
        self._add(
            np.concatenate([rows, every, taken]),
            np.concatenate([np.repeat(at, spans), cut, np.zeros_like(taken)]),
            np.concatenate([np.ones(len(rows)), sign, -np.ones(len(taken))]),
            len(cuts),
            -math.inf,
            0.0,
        )

    def _link_set(self, v: int, held: BoolArray, tree: IntArray, at: IntArray) -> None:
        """For every set that a tree asks for: all its leaves that ask for a part of it."""
        sets = np.unique(np.column_stack([tree, held]), axis=0)
        wanted = sets[:, 1:].astype(bool)
        lacking = held.astype(np.int32) @ (~wanted).astype(np.int32).T  # cells of a leaf that a set has not
        leaf, row = np.nonzero((lacking == 0) & (tree[:, None] == sets[:, 0]))
        of_set, cell = np.nonzero(wanted)
        self._add(
            np.concatenate([row, of_set]),
            np.concatenate([at[leaf], self.first[v] + cell]),
            np.concatenate([np.ones(len(row)), -np.ones(len(of_set))]),
            len(sets),
            -math.inf,
            0.0,
        )

    def solve(self, gain: float, nodes: int, seconds: float) -> Solved:
        scale = min(GAIN_SCALE / gain, COST_SCALE / max(float(np.abs(self.gain).max()), gain))
        margin = (DUAL_TOLERANCE * self.columns + GAP_TOLERANCE) / scale
        whole = np.zeros(self.columns, dtype=np.intp)
        whole[0] = 1
        whole[2 : self.leaves] = 1
        row, column, value = (np.concatenate(part) for part in zip(*self.entries, strict=True))
        matrix = csc_array((value, (row, column)), shape=(self.height, self.columns))
        done = milp(
            -scale * self.gain,
            integrality=whole,
            bounds=Bounds(0.0, 1.0),
            constraints=LinearConstraint(matrix, np.concatenate(self.low), np.concatenate(self.high)),
            options={"mip_rel_gap": 0.0, "node_limit": nodes, "time_limit": max(seconds, 0.0), "presolve": PRESOLVE},
        )
        if done.x is None or done.mip_dual_bound is None:
            return Solved(None, math.inf, margin, nodes, finished=False)
        place = None
        if done.x[0] > 0.5:
            share = np.bincount(self.group, self.sign * done.x[self.column]).astype(float)
            place = self.near.largest(share)
        bound = self.best + max(-done.mip_dual_bound, 0.0) / scale
        return Solved(place, bound, margin, int(done.mip_node_count), finished=done.status == 0)
