"""The best place of one row: bounds and moves in NumPy, and programs for HiGHS for what these leave open."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.families.trees.forest import Int32Array
from tippingpoint.families.trees.search.neighbourhood import Neighbourhood, neighbourhood
from tippingpoint.families.trees.search.place_program import Solved, best_place
from tippingpoint.families.trees.search.staircase import SideLeaves, Staircase
from tippingpoint.families.trees.search.worth import Worth

NODES_A_PASS = 50
"""Boxes that HiGHS may look into for a pass of the kernels; a program is taken for as many at least."""

ROUND_OFF = 1e-9
"""Relative: bounds this close to what is attained are equal to it."""

LITTLE = 1e-3
"""Of what may be gained, or of all scores: profits this small need not be exact to their last digit, nor bands be narrower."""

RATES = (0.0, 1.0)
"""How moves towards the boundary are rated: by score a unit of cost, or at a price at which it pays to cross twice over."""

LOOSE = 0.2
"""Of all that there is to gain: bands in whose middle ceilings are more than this too high are split before they are solved."""

COARSE = 1e-7
"""Relative to profits and costs: where HiGHS tells gains apart by no less than this, its margin stays in the bound."""

STRIP = 1e-9
"""Relative to the scores in question: how far beyond a score that was found those begin that are worth more."""


NO_STAIRS = Staircase(np.zeros(0), np.zeros(0))


@dataclass
class Side:
    """One direction in which a row is pushed.

    Attributes
    ----------
    score
        At a row of cells.
    leaves, offset
        What it is made of; the base is in the offset.
    worth
        Of the score.
    low, high
        Scores that no place of interest is outside of.
    stairs, bound
        Of the quick look: what budgets buy, and what no place exceeds.
    """

    score: Callable[[Int32Array], float]
    leaves: SideLeaves
    offset: float
    worth: Worth
    low: float
    high: float
    stairs: Staircase = NO_STAIRS
    bound: float = -math.inf


@dataclass(order=True)
class Band:
    """Places whose score is between two, by the bound on their profit, the largest first; some of them are seen to."""

    minus_bound: float
    low: float
    high: float
    seen: tuple[Int32Array, ...] = field(default=(), compare=False)


class RowSearch:
    """Improves what is known of a row.

    Attributes
    ----------
    best, found, cells
        The profit of the best place, whether it was found here, and where it is.
    cut
        Whether time ended it.
    """

    def __init__(self, home: Int32Array, costs: list[FloatArray], leaf_costs: FloatArray, known: float, end: float) -> None:
        self.home = home
        self.costs = costs
        self.leaf_costs = leaf_costs
        self.best: float = known
        self.found: bool = False
        self.cells: Int32Array = home
        self.cut: bool = False
        self.end = end
        self.work: int = 0
        self._refused: Int32Array = np.zeros((0, len(home)), dtype=np.int32)

    def refuse(self, places: Int32Array) -> None:
        """Let these places not count, nor any that is in the same leaves."""
        self._refused = places

    def run(self, sides: list[Side], budget: int) -> float:
        """The bound on the profit of any place: what is attained, where that is the best."""
        for side in sides:
            self._look(side)
        self.work = NODES_A_PASS * budget
        for side in sorted(sides, key=lambda side: -side.bound):
            if self.work > 0 and math.isfinite(side.bound) and not self._closed(side, side.bound):
                side.bound = self._prove(side)
        return max((side.bound for side in sides if not self._closed(side, side.bound)), default=self.best)

    def _closed(self, side: Side, bound: float, margin: float = 0.0) -> bool:
        if bound <= self.best:
            return True
        little = 0.0 if side.worth.crossing else LITTLE * (bound - self.best)
        return bound - self.best <= ROUND_OFF * (abs(self.best) + little) + margin

    def _look(self, side: Side) -> None:
        """What single leaves cost gives a bound; moves of single variables give places."""
        within = side.worth.at(side.high) - self.best
        if not within > 0.0:
            return
        side.stairs = side.leaves.staircase(self.leaf_costs, within, side.offset)
        side.high = min(side.high, float(side.stairs.score[-1]))
        side.bound = side.stairs.bound(side.worth, side.low, side.high)
        if self._closed(side, side.bound):
            return
        near = self._near(side, side.low, side.high)
        for rate in RATES if side.worth.crossing else RATES[:1]:
            price = 2.0 * rate * -self.best / max(abs(float(side.stairs.score[0])), ROUND_OFF) if rate else 0.0
            if math.isfinite(price):
                self._offer(near.cells(near.climb(side.worth, price)), side)

    def _near(self, side: Side, low: float, high: float) -> Neighbourhood:
        within = side.stairs.window(side.worth, low, high, self.best)
        return neighbourhood(side.leaves, side.offset, self.home, self.costs, self.leaf_costs, within)

    def _offer(self, cells: Int32Array, side: Side) -> float:
        """Take a place if it is better than what is known, judged by the trees themselves; its score."""
        score = side.score(cells)
        cost = sum(float(costs[cell]) for costs, cell in zip(self.costs, cells, strict=True))
        profit = side.worth.at(score) - cost
        if profit > self.best and not self._is_refused(side, cells):
            self.best, self.found, self.cells = profit, True, cells
        return score

    def _is_refused(self, side: Side, cells: Int32Array) -> bool:
        leaves = side.leaves.boxes.leaves
        return any(np.array_equal(leaves(cells), leaves(place)) for place in self._refused)

    def _prove(self, side: Side) -> float:
        """The bound after programs for bands of scores, best first.

        In a band ceilings stand for what scores are worth. Where they are too high at the place found, the band is split at its
        score: those of the parts are lower.
        """
        low, gain = side.worth.passes(self.best, side.low, side.high), side.bound - self.best
        edges = [low, side.worth.bends, side.high] if low < side.worth.bends < side.high else [low, side.high]
        bands = [self._band(side, *pair, side.bound) for pair in pairwise(edges)]
        heapq.heapify(bands)
        left = -math.inf  # the largest bound among bands that were given up
        while bands and self.work > 0 and not self._closed(side, -bands[0].minus_bound):
            if time.monotonic() >= self.end:
                self.cut = True
                break
            band = heapq.heappop(bands)
            if _too_high(side.worth, band) > LOOSE * gain and band.high - band.low > LITTLE * (side.high - side.low):
                parts, given_up = _split(band, 0.5 * (band.low + band.high)), -math.inf
            else:
                parts, given_up = self._solve(side, band)
            left = max(left, given_up)
            for part in parts:
                heapq.heappush(bands, self._band(side, part.low, part.high, -part.minus_bound, part.seen))
        return max(left, -bands[0].minus_bound if bands else -math.inf)

    def _band(self, side: Side, low: float, high: float, bound: float, seen: tuple[Int32Array, ...] | None = None) -> Band:
        seen = tuple(self._refused) if seen is None else seen
        return Band(-min(bound, side.stairs.bound(side.worth, low, high)), low, high, seen)

    def _solve(self, side: Side, band: Band) -> tuple[list[Band], float]:
        """What is left of a band after its best place is found, or the bound with which it is given up."""
        near = self._near(side, band.low, band.high)
        if not len(near.variables):
            self._offer(near.cells(near.start()), side)  # the only place
            return [], -math.inf
        solved = self._program(side, band, near)
        bound = min(-band.minus_bound, solved.bound + solved.margin)
        cells, score = self.home, math.nan
        if solved.place is not None:
            cells = near.cells(solved.place)
            score = self._offer(cells, side)
        nothing_better = solved.place is None and solved.finished
        if nothing_better or self._closed(side, solved.bound, solved.margin):
            fine = side.worth.crossing or solved.margin <= COARSE * (abs(self.best) + near.dearest)
            return [], -math.inf if fine else self.best + solved.margin
        if not solved.finished:
            return [], bound
        rest = Band(-bound, band.low, band.high, band.seen)
        if not side.worth.crossing:
            # A chord is exact at its ends; of other ceilings only the level one is, at the right end.
            at = score if band.high <= side.worth.bends else score + STRIP * (side.high - side.low)
            if band.low < at < band.high:
                return _split(rest, at), -math.inf
        return [replace(rest, seen=(*band.seen, cells))], -math.inf

    def _program(self, side: Side, band: Band, near: Neighbourhood) -> Solved:
        seen = [place for place in map(near.groups, band.seen) if place is not None]
        ceilings, between = side.worth.ceilings(band.low, band.high), (band.low, band.high)
        gain, seconds = -band.minus_bound - self.best, self.end - time.monotonic()
        solved = best_place(near, ceilings, between, self.best, gain, seen, self.work, seconds)
        self.work -= max(solved.nodes, NODES_A_PASS)
        self.cut |= not solved.finished and time.monotonic() >= self.end
        return solved


def _too_high(worth: Worth, band: Band) -> float:
    """By how much ceilings are above what scores are worth in the middle of a band."""
    middle = 0.5 * (band.low + band.high)
    return min(each(middle) for each in worth.ceilings(band.low, band.high)) - worth.at(middle)


def _split(band: Band, at: float) -> list[Band]:
    return [replace(band, high=at), replace(band, low=at)]
