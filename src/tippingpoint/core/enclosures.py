"""Enclosures of what samples can gain: by the costs of their nearest errors, or by bounds at single prices.

Work on a sample is done in *levels*, each some times dearer than the one before; a sample is given as many as the stability
needs. Who derives from these does the work; where it is worth most is decided here.
"""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from dataclasses import replace

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.core.crossing import NearestErrors, largest_gains
from tippingpoint.core.dual import Solution, Status, solve
from tippingpoint.core.problem import Problem
from tippingpoint.core.prover import ROUND_OFF, Enclosure, at_cost
from tippingpoint.core.responses import Response, Restricted

MAX_LEVEL = 8
"""After which a sample is given up: the last level alone is thousands of times the first."""

LEVEL_COST = 4.0
"""Of a level, in that of the one before."""

ROUND_COST = 4096.0
"""Of the work between two looks at the bounds, in that of a sample at the first level; of many samples, ..."""

ROUND_SHARE = 0.25
"""... what this share of them costs: a look takes longer then."""

EXPANSION = 2.0
"""From one horizon to the next."""

SCOUT_LEVEL = 1
"""Of the work on each of a few samples ..."""

SCOUTS = 64
"""... by which the first horizon is found, where there are several times as many."""

SCOUTED_PART = 0.5
"""Of the price that these need: samples that move most easily are seldom among a few, and high prices make work dear."""

RUNG = 2.0**0.03125
"""From one price at which gains are bounded to the next: half of that away from the best price costs about a ten-thousandth."""

FAR = 1.25
"""Ratio of prices from which on bounds at one say little of the other."""

MAX_SEARCHES = 6
"""Prices at which responses are searched for before any bound is tightened: each leads nearer to the one that matters."""


class LevelledEnclosure(Enclosure):
    """An enclosure that is worked on in levels, at a price that `gaps` chose last.

    Parameters
    ----------
    losses
        As they are now.
    horizon
        The price at which to begin: while no places are known the stability asks for far too high a one, and work is the dearer
        the higher the price. From there on it rises until the places that are known do.
    top
        A price at which costs hardly matter: what is not reached there is out of reach.
    """

    def __init__(self, losses: FloatArray, horizon: float, top: float) -> None:
        self._losses = losses
        self._horizon = min(horizon, top)
        self._top = top
        self._price = 0.0
        self._level = np.zeros(len(losses), dtype=np.intp)
        self._rounded = np.zeros(len(losses), dtype=bool)

    @property
    def losses(self) -> FloatArray:
        return self._losses

    @abstractmethod
    def work(self, rows: IntArray, price: float, level: int, seconds: float) -> None:
        """Tighten the bounds of these samples at a price by the work of a level."""

    def scout(self, problem: Problem, seconds: float, cost: float | None = None) -> None:
        """Let the price rise for a few samples until what is found among them reaches the threshold by itself."""
        end, n = time.monotonic() + seconds, len(self._losses)
        if n < EXPANSION * SCOUTS:
            return
        scouts = np.linspace(0, n - 1, SCOUTS).astype(np.intp)
        base = problem.base[scouts] / problem.base[scouts].sum()
        few = replace(problem, responses=Restricted(self, scouts), base=base)
        few = replace(few, risk=few.current + problem.wanted)
        while time.monotonic() < end:
            self._look(scouts, self._horizon, end - time.monotonic())
            asked = at_cost(replace(few), cost)  # anew: a problem remembers what its responses were
            wanted = self._wanted(asked, solve(asked))
            if wanted <= self._horizon or self._horizon >= self._top:
                self._horizon = min(SCOUTED_PART * wanted, self._horizon)
                return
            self._expand()

    def _look(self, rows: IntArray, price: float, seconds: float) -> None:
        """Find what places some samples go to at a price; what they miss would lead all others astray."""
        self.work(rows, price, SCOUT_LEVEL, seconds)

    def effort(self) -> FloatArray:
        """By the level that each sample has reached."""
        return np.asarray(LEVEL_COST**self._level, dtype=float)

    def tighten(self, rows: IntArray, seconds: float) -> None:
        """The first of them, as many as a round affords."""
        end, most = time.monotonic() + seconds, max(ROUND_COST, ROUND_SHARE * len(self._losses))
        costs = np.cumsum(self.effort()[rows])
        chosen = rows[: max(int(np.searchsorted(costs, most, side="right")), 1)]
        levels = self._level[chosen]
        for level in np.unique(levels):
            self.work(chosen[levels == level], self._price, int(level), end - time.monotonic())
        self._level[chosen] += 1

    def _expand(self) -> None:
        """The next horizon; the last is the top."""
        self._horizon = min(self._horizon * EXPANSION, self._top)

    def _wanted(self, problem: Problem, solution: Solution) -> float:
        """`λ` of a solution; where it needs places that are not known, or only the highest will do, the top."""
        return min(solution.right.price / problem.theta1, self._top) if solution.status is Status.ATTAINED else self._top

    def _looked_around(self, gaps: FloatArray, allowed: float) -> bool:
        """Whether samples that nobody has looked at, where we are, hardly matter."""
        return float(gaps[self._level == 0].sum()) <= max(0.5 * float(gaps.sum()), allowed)

    def rounded(self) -> bool:
        return bool(self._rounded.any()) and not bool((self._level > MAX_LEVEL).any())

    def _workable(self, gaps: FloatArray, settled: BoolArray) -> FloatArray:
        """The gaps that work can close; those of settled samples are left to rounding."""
        self._rounded = settled & (gaps > 0.0)
        return np.where((self._level <= MAX_LEVEL) & ~settled, gaps, 0.0)


class ErrorEnclosure(LevelledEnclosure):
    """Of the 0/1 loss: what the nearest error of every sample costs, at most and at least.

    Parameters
    ----------
    losses, horizon
        As of any.
    top
        A cost above that of any error.
    nearest
        What the nearest error that is known costs; infinite where none is.
    """

    def __init__(self, losses: FloatArray, nearest: FloatArray, horizon: float, top: float) -> None:
        super().__init__(losses, horizon, top)
        self.nearest: FloatArray = np.where(losses > 0.0, 0.0, nearest)
        self.least: FloatArray = np.zeros_like(losses)
        self.settled: BoolArray = np.zeros(len(losses), dtype=bool)

    def respond(self, price: float) -> Response:
        return NearestErrors(self._losses, self.nearest).respond(price)

    def peak(self) -> Response:
        return self.respond(math.inf)

    @property
    def highest(self) -> FloatArray:
        return np.where(np.isfinite(self.least), 1.0, self._losses)

    def learn(self, rows: IntArray, nearest: FloatArray, least: FloatArray) -> None:
        """What is known of these samples now; what was known before is kept where it is better."""
        self.nearest[rows] = np.minimum(self.nearest[rows], nearest)
        least = np.where(least >= self._top, math.inf, least)  # an error beyond all costs is none
        self.least[rows] = np.minimum(np.maximum(self.least[rows], least), self.nearest[rows])

    def take_back(self, rows: IntArray) -> None:
        """What is known as the nearest error of these samples is none; errors that cost more are looked for from the start."""
        self.nearest[rows] = math.inf
        self._level[rows] = 0

    def settle(self, rows: IntArray) -> None:
        """No more work tightens the bounds of these samples, since rounding keeps them apart."""
        self.settled[rows] = True

    def gains(self, price: float) -> FloatArray:
        """Bounds on what samples can gain at a price."""
        return largest_gains(price, self._losses == 0.0, self.least)

    def floor(self, problem: Problem, solution: Solution) -> float:
        """The stability if every sample's nearest error cost no more than it must."""
        return solve(replace(problem, responses=NearestErrors(self._losses, self.least))).lower

    def gaps(self, problem: Problem, solution: Solution, allowed: float) -> FloatArray:
        wanted = self._wanted(problem, solution)
        while True:
            self._price = min(wanted, self._horizon)
            gaps = self._gaps_here(problem)
            if wanted <= self._horizon or not self._looked_around(gaps, allowed):
                return gaps
            self._level[self.nearest >= self._horizon] = 0  # the same work goes further there
            self._expand()

    def _gaps_here(self, problem: Problem) -> FloatArray:
        reached = np.minimum(self.nearest, self._price)
        weights = problem.bounded_weights(self._price * problem.theta1, self.gains(self._price))
        apart = problem.theta1 * problem.base * weights * (reached - np.minimum(self.least, self._price))
        return self._workable(np.where(self.least < reached * (1.0 - ROUND_OFF), apart, 0.0), self.settled)


class GainEnclosure(LevelledEnclosure):
    """Of any loss: the places that are known, and bounds on gains at rungs of a ladder of prices.

    A bound at any price bounds the stability, the better the nearer to the best price. So places are searched for until that
    price hardly moves, gains are bounded at the rung next to it, which other questions share, and at the price itself only if
    those bounds alone do not do.

    Parameters
    ----------
    losses, horizon, top
        As of any.
    highest
        Bounds on the lift of any place.
    dearest
        What no place costs more than.
    """

    def __init__(self, losses: FloatArray, highest: FloatArray, horizon: float, top: float, dearest: float = math.inf) -> None:
        super().__init__(losses, horizon, top)
        self._highest = highest.copy()
        self._dearest = dearest
        self._bounds: dict[float, FloatArray] = {}
        self._levels: dict[float, IntArray] = {}
        self._settled: dict[float, BoolArray] = {}
        self._searches = 0

    def learn(self, rows: IntArray, price: float, bound: FloatArray) -> None:
        """What these samples gain at most at a price; where it was less before, that is kept.

        A lift that is worth no more than that, and what it costs at most, is no higher either.
        """
        self._bounds[price][rows] = np.minimum(self._bounds[price][rows], bound)
        self._highest[rows] = np.minimum(self._highest[rows], (bound + self._dearest) / price)

    @property
    def highest(self) -> FloatArray:
        return self._losses + self._highest

    def settle(self, rows: IntArray, price: float) -> None:
        """No more work at a rung tightens the bounds of these samples, such as where rounding is all that keeps them apart."""
        self._settled[price][rows] = True

    def gains(self, price: float) -> FloatArray:
        """Bounds on what samples can gain at a price: gains are convex in it, nothing at 0, and no steeper than lifts."""
        best = price * self._highest
        for rung, bound in self._bounds.items():
            known = bound * (price / rung) if price <= rung else bound + (price - rung) * self._highest
            best = np.minimum(best, known)
        return best

    def floor(self, problem: Problem, solution: Solution) -> float:
        if problem.risk > problem.largest_risk(self.highest):
            return math.inf
        prices = (self._price, self._wanted(problem, solution)) if self._price else ()
        return max((problem.floor(price * problem.theta1, self.gains(price)) for price in prices), default=0.0)

    def gaps(self, problem: Problem, solution: Solution, allowed: float) -> FloatArray:
        wanted = self._wanted(problem, solution)
        if not self._price or not self._level.any():
            self._go(_rung(min(wanted, self._horizon)))
        while True:
            gaps = self._gaps_here(problem)
            following = self._following(wanted, gaps, allowed)
            if following == self._price:
                return gaps
            self._go(following)

    def _following(self, wanted: float, gaps: FloatArray, allowed: float) -> float:
        """The price at which to work next: further out, at the rung next to what is wanted, just there, or here."""
        if not self._looked_around(gaps, allowed):
            return self._price
        if wanted > self._horizon:
            self._expand()
            further = _rung(min(wanted, self._horizon))
            if further != self._price:
                return further
        away = abs(math.log(wanted / self._price))
        beside = away <= 0.5 * math.log(RUNG) * (1.0 + ROUND_OFF)  # no rung is nearer to what is wanted
        if not beside and self._searches < MAX_SEARCHES and not (self._level > 1).any():
            self._searches += 1
            return _rung(wanted)
        if away <= math.log(FAR) and gaps.sum() > allowed:
            return self._price
        return wanted if beside else _rung(wanted)  # of few samples a rung may not be near enough

    def _wanted(self, problem: Problem, solution: Solution) -> float:
        """The price of the better bound: the two sides of a solution may be far apart."""
        best = solution.left if solution.left.value > max(solution.right.value, 0.0) else solution.right
        return super()._wanted(problem, replace(solution, right=best))

    def _look(self, rows: IntArray, price: float, seconds: float) -> None:
        self._go(_rung(price))
        super()._look(rows, self._price, seconds)

    def _go(self, price: float) -> None:
        """Work at another price from now on."""
        if price not in self._bounds:
            self._bounds[price] = self.gains(price)
            self._levels[price] = np.zeros(len(self._losses), dtype=np.intp)
            self._settled[price] = np.zeros(len(self._losses), dtype=bool)
        self._price, self._level = price, self._levels[price]

    def _gaps_here(self, problem: Problem) -> FloatArray:
        bound, response = self._bounds[self._price], self.respond(self._price)
        weights = problem.bounded_weights(self._price * problem.theta1, bound)
        gain = self._price * response.lift - response.cost
        apart = problem.theta1 * problem.base * weights * (bound - gain)
        unproved = bound > gain + ROUND_OFF * np.abs(gain)
        return self._workable(np.where(unproved, apart, 0.0), self._settled[self._price])


def _rung(price: float) -> float:
    """The rung of the ladder of prices that is nearest."""
    return float(RUNG ** round(math.log(price, RUNG)))
