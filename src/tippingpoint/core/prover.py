"""Proofs within limits: what every sample can gain, enclosed from both sides, and tightened where the stability needs it.

Places that samples are known to reach give an upper bound on the stability, bounds on what any place is worth a lower one. By
the envelope theorem a sample keeps the two apart by its weight in the dual times its own gap. So work goes first where that is
largest, and nothing is proved that the dual does not need. Whenever it ends, both bounds hold.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.dual import Solution, Status, solve
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import Response
from tippingpoint.core.worst import worst
from tippingpoint.errors import UnsupportedError

ROUND_OFF = 1e-9
"""Relative gap that is rounding."""

SPARED = 0.5
"""Part of the gap allowed that samples may keep which are not worked on: of many, each with next to nothing."""

SCOUTING = 0.25
"""Part of the time that may go into a look at a few samples."""

Ending = Literal["gap", "time", "work", "rounding", "keyboard"]
"""Why a proof ended.

- "gap": the gap is as small as was asked for.
- "time": time is over.
- "work": the samples that keep the bounds apart have had all the work that a sample is given.
- "rounding": what keeps the bounds apart is how the model's library rounds. No work narrows it.
- "keyboard": somebody stopped it.
"""

Watch = Callable[[float, float], None]
"""Told the two bounds, as they close."""


@dataclass(frozen=True)
class Limits:
    """How far to go.

    Attributes
    ----------
    gap
        Between the bounds, relative to the upper one, at which to stop.
    seconds
        After which to stop.
    """

    gap: float
    seconds: float


@dataclass(frozen=True)
class Proof:
    """What is known of a stability, and why no more.

    Attributes
    ----------
    lower, upper
        Bounds on it.
    ending
        Why the proof ended.
    risk
        The threshold: that of the question, or the largest that a cost is known to reach.
    """

    lower: float
    upper: float
    ending: Ending
    risk: float = math.nan

    @property
    def gap(self) -> float:
        """Relative to the upper bound."""
        return relative_gap(self.lower, self.upper)

    @property
    def exact(self) -> bool:
        """Whether the bounds are equal but for rounding."""
        return self.gap <= ROUND_OFF


def relative_gap(lower: float, upper: float) -> float:
    """Between two bounds, relative to the upper one; of an infinite one, all or nothing."""
    if math.isinf(upper):
        return 0.0 if math.isinf(lower) else 1.0
    return (upper - lower) / upper if upper > lower else 0.0


class Enclosure(ABC):
    """What every sample can gain, from both sides; by what is attained it fulfils `core.responses.BestResponses`."""

    ceiling: float = math.inf

    @property
    @abstractmethod
    def losses(self) -> FloatArray:
        """The losses as they are now."""

    @abstractmethod
    def respond(self, price: float) -> Response:
        """The best of the places that are known, at a price."""

    @abstractmethod
    def peak(self) -> Response:
        """The largest lift that is known, and the least cost of it."""

    @property
    @abstractmethod
    def highest(self) -> FloatArray:
        """Upper bounds on the loss that each sample can reach at any cost."""

    @abstractmethod
    def scout(self, problem: Problem, seconds: float, cost: float | None = None) -> None:
        """Find out by a few samples what a question is about, before all are worked on; `cost` as in `prove`."""

    @abstractmethod
    def floor(self, problem: Problem, solution: Solution) -> float:
        """A lower bound on the stability; `solution` is by what is attained."""

    @abstractmethod
    def gaps(self, problem: Problem, solution: Solution, allowed: float) -> FloatArray:
        """By how much each sample keeps the bounds apart, to first order; zero where no work can help.

        `allowed` is the sum of them that does not matter: with less than that an enclosure may look elsewhere.
        """

    @abstractmethod
    def effort(self) -> FloatArray:
        """What work on each sample would take now, in any unit."""

    def confirm(self) -> bool:
        """Have the model confirm the places that the upper bound rests on; whether it took any of them back."""
        return False

    @abstractmethod
    def rounded(self) -> bool:
        """Whether rounding is all that keeps the bounds of some samples apart, and no sample is given up for another reason."""

    @abstractmethod
    def tighten(self, rows: IntArray, seconds: float) -> None:
        """Work on some of these samples, the first of them first, where the gaps were found last."""

    def escape(self, lift: float) -> Response:
        """Places are finitely many, and nothing escapes from them."""
        raise UnsupportedError("places that are counted off have no ceiling, so nothing can escape from it.")


def prove(problem: Problem, enclosure: Enclosure, limits: Limits, watch: Watch, cost: float | None = None) -> Proof:
    """Tighten an enclosure until its bounds on the stability are close, or there is no more time.

    If a positive `cost` is given, the threshold is the largest risk that it is known to reach. It rises as more is known, and
    bounds on the stability of smaller thresholds hold for larger ones.
    """
    end, proof = time.monotonic() + limits.seconds, Proof(0.0, math.inf, "work", problem.risk)
    if cost is None and problem.risk > problem.largest_risk(enclosure.highest):
        return Proof(math.inf, math.inf, "gap", problem.risk)
    try:
        enclosure.scout(replace(problem, responses=enclosure), SCOUTING * limits.seconds, cost)
        while True:
            question = at_cost(replace(problem, responses=enclosure), cost)  # anew: a problem remembers what its responses were
            solution = solve(question)
            upper = _cost(solution)
            lower = max(proof.lower, min(enclosure.floor(question, solution), upper))
            proof = Proof(lower, upper, "gap", question.risk)
            watch(lower, upper)
            further = cost is not None and _may_reach_more(question, solution, enclosure)
            if not further and (proof.gap <= limits.gap or proof.exact):
                if enclosure.confirm():
                    proof = _doubted(proof, cost)
                    continue
                return proof
            allowed = SPARED * limits.gap * (upper if math.isfinite(upper) and not further else 0.0)
            gaps, effort = enclosure.gaps(question, solution, allowed), enclosure.effort()
            rows = _most_rewarding(gaps, effort, allowed)
            if not len(rows):  # what was to be spared is all that is left to do
                rows = _most_rewarding(gaps, effort, 0.0)
            left = end - time.monotonic()
            if not len(rows) or left <= 0.0:
                if enclosure.confirm():
                    proof = _doubted(proof, cost)
                    continue
                return replace(proof, ending="time" if len(rows) else "rounding" if enclosure.rounded() else "work")
            enclosure.tighten(rows, left)
    except KeyboardInterrupt:
        # What was found until then counts; the lower bound is that of the last round.
        question = at_cost(replace(problem, responses=enclosure), cost)
        return Proof(proof.lower, _cost(solve(question)), "keyboard", question.risk)


def _doubted(proof: Proof, cost: float | None) -> Proof:
    """The proof after places were taken back: a cost may reach less than before, and the lower bound was of the larger risk."""
    return proof if cost is None else replace(proof, lower=0.0)


def at_cost(problem: Problem, cost: float | None) -> Problem:
    """The question about the largest risk that a cost reaches by these responses; the same question if no cost is given."""
    if cost is None:
        return problem
    found = worst(problem, cost)
    most = problem.reachable if found.status is Status.LARGEST else math.inf
    return replace(problem, risk=min(problem.current + found.rise, most))


def _may_reach_more(question: Problem, solution: Solution, enclosure: Enclosure) -> bool:
    """Whether a cost may reach more than the largest risk that is known, as it is more than that one takes."""
    if solution.status is Status.ATTAINED:
        return False
    return question.largest_risk(enclosure.highest) > question.risk * (1.0 + ROUND_OFF)


def _cost(solution: Solution) -> float:
    """Of the perturbation that attains the threshold; infinite where none is known."""
    if solution.status is Status.UNREACHABLE:
        return math.inf
    return (1.0 - solution.share) * solution.left.cost + solution.share * solution.right.cost


def _most_rewarding(gaps: FloatArray, effort: FloatArray, allowed: float) -> IntArray:
    """Samples by their gaps for the effort, the largest first, but for those that keep no more than `allowed` together."""
    order = np.argsort(-gaps / effort, kind="stable")
    rest = np.cumsum(gaps[order[::-1]])[::-1]  # of each sample, and of all after it
    return order[(gaps[order] > 0.0) & (rest > allowed)]
