"""A model of the risk between two prices, where samples jump from one response to another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tippingpoint.core.blocks import Block
from tippingpoint.core.perturbations import Evaluation, Terms
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import Restricted
from tippingpoint.core.spreads import Narrowed, Pairs, SampleSpread

MANY_JUMPS = 256
"""Jumps from which on a model of them is not taken at its word: it is not certain which of them comes next."""

JUMP_DISTANCE = 2.0**-40
"""Relative distance from a jump at which its sides are evaluated: far above rounding, far below `TOLERANCE/JUMP_DISTANCE`."""


class Proposed(NamedTuple):
    """Where a model of jumps meets the threshold, whether these make most of the rise, and whether they are many."""

    price: float
    jumps: bool
    many: bool


def jump_between(problem: Problem, left: Evaluation, right: Evaluation) -> Proposed:
    """Where a model of the risk between two prices meets the threshold.

    A sample whose two responses differ by more than twice what its lesser slope explains jumps where the tangents cross,
    `θ1 (d_right - d_left)/(ℓ_right - ℓ_left)`: exact for two responses, quadratically close otherwise. All other
    growth is spread evenly. At a jump its nearer unexplored side is proposed.
    """
    span = right.price - left.price
    if not problem.moves:
        return Proposed(left.price - left.excess * span / (right.excess - left.excess), jumps=False, many=False)
    spread = SampleSpread(problem.samples, Jumps(problem.terms, left, right))
    height, count = spread.sums(lambda _, heights: (float(np.add.reduce(heights)), float(len(heights))))
    rise = right.excess - left.excess
    growth = max(rise - height, 0.0) / span
    near = spread.narrowed(lambda price: -left.excess - growth * (price - left.price), left.price, right.price)
    price = _meeting(left, right, growth, near)
    return Proposed(price, jumps=height > 0.5 * rise, many=count > MANY_JUMPS)


def _meeting(left: Evaluation, right: Evaluation, growth: float, near: Narrowed) -> float:
    """Where jumps and even growth together lift the risk to the threshold."""
    ties, heights = near.values, near.masses
    after = left.excess + growth * (ties - left.price) + near.before + np.cumsum(heights)
    first = int(np.searchsorted(after, 0.0))
    if first < len(ties) and after[first] - heights[first] <= 0.0:
        tie = float(ties[first])
        beyond = tie * (1.0 + JUMP_DISTANCE)
        return beyond if beyond < right.price else tie * (1.0 - JUMP_DISTANCE)
    start = float(ties[first - 1]) if first > 0 else near.low
    behind = float(after[first - 1]) if first > 0 else left.excess + growth * (start - left.price) + near.before
    return start - behind / growth if growth > 0.0 else math.nan


@dataclass(frozen=True)
class Jumps:
    """Where samples of a block jump between two prices, and by how much the risk rises when they do."""

    terms: Terms
    left: Evaluation
    right: Evaluation

    def __call__(self, block: Block) -> Pairs:
        return block.remembered((Jumps, self.terms, self.left.price, self.right.price), lambda: self._found(block))

    def _found(self, block: Block) -> Pairs:
        terms, left, right = self.terms, self.left, self.right
        here, there = (each.move.response(terms, block) for each in (left, right))
        rise = there.lift - here.lift
        smooth = np.minimum(here.slope, there.slope)
        smooth *= (right.price - left.price) / terms.theta1
        rows = np.flatnonzero((rise > 0.0) & (rise > 2.0 * smooth))
        ties = terms.theta1 * (there.cost[rows] - here.cost[rows]) / rise[rows]
        some, weights = block.seen(Restricted(block.responses, rows), block.base[rows]), np.zeros(len(rows))
        for each, response in ((left, here), (right, there)):
            weights += 1.0 + each.weighting.changes(terms, some, response.take(rows))
        return np.clip(ties, left.price, right.price), some.base * 0.5 * weights * (rise[rows] - smooth[rows])
