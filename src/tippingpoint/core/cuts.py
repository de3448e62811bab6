"""Which samples go over from the left side of a solution to the right, so that the risk is exactly `r`.

The dual ends with two perturbations a hair apart, one of risk at most `r`, one of at least `r`. Where best responses tie
(0/1 loss, hinge, tables) they differ by whole jumps, and either alone misses `r`. So the weights are mixed, and the
samples go over from their left to their right response until the risk is `r`; the sample that would overshoot is split in
two. At most one ever is. The cheapest go first, those that cost the same a unit of loss in the order of their rows; where
the two sides are so close that no order could matter, all go in the order of their rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, dot
from tippingpoint.core.blocks import Block
from tippingpoint.core.dual import Solution
from tippingpoint.core.perturbations import Perturbed, Terms
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import Response
from tippingpoint.core.spreads import Pairs, SampleSpread

MAX_ORDER_EFFECT = 1e-13
"""Part of the cost that the order of going over may change before samples are sorted for it."""

NOWHERE = (-1, -1)
"""The place of no block."""


@dataclass(frozen=True)
class Cut:
    """Which samples go over to their right response: all that pay before one, and a part of that one.

    Attributes
    ----------
    tie
        Cost per lift up to which samples go over, the cheapest first; None where they go in the order of their rows.
    place, row
        Block and row, in the block, of the sample that is split; of those with this very `tie`, all before it go over.
    part
        Of that sample, that goes over.
    """

    tie: float | None
    place: tuple[int, int]
    row: int
    part: float


NOBODY = Cut(None, NOWHERE, 0, 0.0)
EVERYBODY = Cut(None, (2**62, 0), 0, 0.0)


@dataclass(frozen=True)
class BlockAtoms:
    """Q* on a block: where its samples go, and of the one that is split, where the part goes that goes over.

    Attributes
    ----------
    changes
        `w_i - 1`.
    lift, cost
        Of the response that each sample makes.
    right
        Whether that is the one at the right of the two prices.
    split, part
        Row of the sample that is split, and its part that goes over; -1 and 0 where none is.
    over
        Lift and cost of that part.
    """

    changes: FloatArray
    lift: FloatArray
    cost: FloatArray
    right: BoolArray
    split: int
    part: float
    over: tuple[float, float]


@dataclass(frozen=True)
class Perturbation:
    """Q* in a few numbers; what it does to a block is worked out where the block is.

    Attributes
    ----------
    terms, solution
        The question, and what solves it.
    cut
        Which samples go over from the left side of the solution to the right.
    """

    terms: Terms
    solution: Solution
    cut: Cut

    def sides(self, block: Block) -> tuple[Perturbed, Perturbed]:
        """The two perturbations of risk at most and at least `r`."""
        solution = self.solution
        left = solution.left.of(self.terms, block)
        return left, left if solution.right is solution.left else solution.right.of(self.terms, block)

    def changes(self, left: Perturbed, right: Perturbed) -> FloatArray:
        share = self.solution.share
        return left.changes if share == 0.0 else (1.0 - share) * left.changes + share * right.changes

    def of(self, block: Block) -> BlockAtoms:
        """Where the samples of a block go."""
        return self.between(block, *self.sides(block))

    def between(self, block: Block, left: Perturbed, right: Perturbed) -> BlockAtoms:
        """The same where both sides are known."""
        changes, here, there = self.changes(left, right), left.response, right.response
        if self.cut == NOBODY or here is there:
            goes = np.zeros(len(block), dtype=bool)
            return BlockAtoms(changes, here.lift, here.cost, goes, -1, 0.0, (0.0, 0.0))
        goes = self._goes(block, changes, here, there)
        lift, cost = np.where(goes, there.lift, here.lift), np.where(goes, there.cost, here.cost)
        if self.cut.place != block.place or self.cut.part == 0.0:
            return BlockAtoms(changes, lift, cost, goes, -1, 0.0, (0.0, 0.0))
        row = self.cut.row
        over = float(there.lift[row]), float(there.cost[row])
        return BlockAtoms(changes, lift, cost, goes, row, self.cut.part, over)

    def _goes(self, block: Block, changes: FloatArray, here: Response, there: Response) -> BoolArray:
        cut, rise = self.cut, there.lift - here.lift
        goes = block.base * (1.0 + changes) * rise > 0.0
        if block.place > cut.place:
            before = np.zeros(len(block), dtype=bool)
        elif block.place < cut.place:
            before = goes
        else:
            before = goes & (np.arange(len(block)) < cut.row)
        if cut.tie is None:
            return before
        ties = (there.cost - here.cost) / rise
        return np.asarray((goes & (ties < cut.tie)) | (before & (ties == cut.tie)))


def perturbation(problem: Problem, solution: Solution) -> Perturbation:
    """The perturbation of risk exactly `r` that the two sides of the solution enclose."""
    whole = Perturbation(problem.terms, solution, NOBODY)
    if solution.share == 0.0 or solution.right is solution.left:
        return whole
    found = problem.samples.gather(Over(whole))
    rises, reweighted, moved = (math.fsum(each) for each in zip(*(each[1:] for each in found), strict=True))
    wanted = problem.wanted - reweighted - moved
    if not (rises > 0.0 and wanted > 0.0):
        return whole
    left, right = solution.left, solution.right
    tie, before, heights = None, 0.0, [(place, rise) for place, rise, *_ in found]
    # Prices at which samples go over differ by no more than those of the sides, and either those that do or those that do not
    # could be others.
    at_stake = (right.price - left.price) * min(wanted, max(rises - wanted, 0.0))
    if at_stake > MAX_ORDER_EFFECT * max(left.cost, right.cost):
        ties = SampleSpread(problem.samples, Ties(whole))
        # Gains are convex in the price, so it pays to go over at a price between the two.
        ends = left.price / problem.theta1, right.price / problem.theta1
        tie, before, _ = ties.narrowed(lambda _: wanted, *ends).first(wanted)
        heights = problem.samples.gather(Heights(whole, tie))
    for place, height in heights:
        if before + height >= wanted:
            left_over = wanted - before
            rows = problem.samples.gather(RowReached(whole, tie, place, left_over))
            row, part = next(each for each in rows if each is not None)
            return Perturbation(problem.terms, solution, Cut(tie, place, row, part))
        before += height
    return Perturbation(problem.terms, solution, Cut(tie, EVERYBODY.place, 0, 0.0))


@dataclass(frozen=True)
class Over:
    """The place of a block, and sums that tell how far the two sides of a solution are apart there."""

    whole: Perturbation

    def __call__(self, block: Block) -> tuple[tuple[int, int], float, float, float]:
        terms, (left, right) = self.whole.terms, self.whole.sides(block)
        changes = self.whole.changes(left, right)
        mass = block.base * changes
        reweighted = dot(mass, terms.above(block.losses))
        mass += block.base
        heights = mass * (right.response.lift - left.response.lift)
        rises = float(np.add.reduce(np.maximum(heights, 0.0)))
        return block.place, rises, reweighted, dot(mass, left.response.lift)


@dataclass(frozen=True)
class Ties:
    """Cost per lift of going over, and by how much the risk rises when samples do."""

    whole: Perturbation

    def __call__(self, block: Block) -> Pairs:
        ties, heights = self.rows(block)
        here = heights > 0.0
        return ties[here], heights[here]

    def rows(self, block: Block) -> Pairs:
        """The same for all rows."""
        left, right = self.whole.sides(block)
        rise = right.response.lift - left.response.lift
        heights = block.base * (1.0 + self.whole.changes(left, right)) * rise
        return (right.response.cost - left.response.cost) / rise, heights


@dataclass(frozen=True)
class Heights:
    """By how much the risk rises when the samples of a block with a tie go over; with any, where none is given."""

    whole: Perturbation
    tie: float | None

    def __call__(self, block: Block) -> tuple[tuple[int, int], float]:
        return block.place, float(np.add.reduce(self.rows(block)))

    def rows(self, block: Block) -> FloatArray:
        ties, heights = Ties(self.whole).rows(block)
        return np.where((heights > 0.0) & (True if self.tie is None else ties == self.tie), heights, 0.0)


@dataclass(frozen=True)
class RowReached:
    """The row of one block at which the rise that is wanted is reached, and the part of it that is needed."""

    whole: Perturbation
    tie: float | None
    place: tuple[int, int]
    wanted: float

    def __call__(self, block: Block) -> tuple[int, float] | None:
        if block.place != self.place:
            return None
        heights = Heights(self.whole, self.tie).rows(block)
        rows = np.flatnonzero(heights)
        reached = np.cumsum(heights[rows])
        last = min(int(np.searchsorted(reached, self.wanted)), len(rows) - 1)
        part = (self.wanted - (float(reached[last - 1]) if last else 0.0)) / float(heights[rows[last]])
        # A whole sample that goes over leaves nothing to be split off.
        return (int(rows[last]) + 1, 0.0) if part >= 1.0 else (int(rows[last]), part)
