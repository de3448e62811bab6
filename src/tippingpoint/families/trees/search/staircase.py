"""What a budget can buy, tree by tree: the score rises in steps as it does, and no place is worth more than its step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray
from tippingpoint.families.trees.search.leaf_boxes import LeafBoxes
from tippingpoint.families.trees.search.worth import Worth

ROUND_OFF = 1e-12
"""Relative to all values of leaves together: scores are added up in different orders."""


class SideLeaves:
    """The leaves of a forest as one side sees them.

    Attributes
    ----------
    values
        `(L,)` what they add to the score.
    round_off
        How far from exact sums of them may be.
    """

    def __init__(self, boxes: LeafBoxes, weights: FloatArray) -> None:
        self.boxes = boxes
        self.values: FloatArray = np.asarray((boxes.values * weights).sum(axis=1))
        self.round_off: float = ROUND_OFF * float(np.maximum.reduceat(np.abs(self.values), boxes.begins).sum())
        self._levels, self._rank = np.unique(self.values, return_inverse=True)

    @cached_property
    def range(self) -> tuple[float, float]:
        """Between which sums no row falls outside."""
        begins = self.boxes.begins
        low, high = np.minimum.reduceat(self.values, begins), np.maximum.reduceat(self.values, begins)
        return float(low.sum()) - self.round_off, float(high.sum()) + self.round_off

    def staircase(self, costs: FloatArray, within: float, offset: float) -> Staircase:
        """For one row, from what its leaves cost."""
        tree, free = self.boxes.tree, costs <= 0.0
        start = np.maximum.reduceat(np.where(free, self.values, -math.inf), self.boxes.begins)
        better = np.flatnonzero(~free & (costs <= within) & np.isfinite(costs) & (self.values > start[tree]))
        better = better[np.lexsort((costs[better], tree[better]))]
        first = np.diff(tree[better], prepend=-1) > 0
        # The best so far in every tree, whose values come after all those of the trees before it.
        so_far = np.maximum.accumulate(tree[better] * len(self._levels) + self._rank[better]) - tree[better] * len(self._levels)
        reached = self._levels[so_far]
        rise = reached - np.where(first, start[tree[better]], np.concatenate([[0.0], reached[:-1]])[: len(reached)])
        order = np.argsort(costs[better], kind="stable")
        order = order[rise[order] > 0.0]
        least = offset + float(start.sum()) + self.round_off
        return Staircase(np.concatenate([[0.0], costs[better][order]]), least + np.concatenate([[0.0], np.cumsum(rise[order])]))


@dataclass(frozen=True)
class Staircase:
    """Scores that budgets can buy at most.

    Attributes
    ----------
    budget
        `(m,)` where steps begin, rising from zero.
    score
        `(m,)` the most that can be bought from there to the next step.
    """

    budget: FloatArray
    score: FloatArray

    def bound(self, worth: Worth, low: float, high: float) -> float:
        """On the profit of places whose score is between two."""
        open_steps = self.score >= low
        if not open_steps.any():
            return -math.inf
        return float(self._profit(worth, high)[open_steps].max())

    def window(self, worth: Worth, low: float, high: float, best: float) -> float:
        """What places may cost that are worth more than `best`, of a score between two."""
        profit = self._profit(worth, high)
        more = (self.score >= low) & (profit > best)
        until = np.append(self.budget[1:], math.inf)[more]
        return float(np.minimum(until, profit[more] + self.budget[more] - best).max(initial=0.0))

    def _profit(self, worth: Worth, high: float) -> FloatArray:
        return np.asarray(worth(np.minimum(self.score, high)) - self.budget)
