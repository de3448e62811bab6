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
from tippingpoint.errors import UnsupportedError

ROUND_OFF = 1e-9
"""Relative gap that is rounding."""

SPARED = 0.5
"""Part of the gap allowed that samples may keep which are not worked on: of many, each with next to nothing."""

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
    """

    lower: float
    upper: float
    ending: Ending

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

    @abstractmethod
    def scout(self, problem: Problem, seconds: float) -> None:
        """Find out by a few samples what a question is about, before all are worked on."""

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


def prove(problem: Problem, enclosure: Enclosure, limits: Limits, watch: Watch) -> Proof:
    """Tighten an enclosure until its bounds on the stability are close, or there is no more time."""
    end, proof = time.monotonic() + limits.seconds, Proof(0.0, math.inf, "work")
    try:
        enclosure.scout(replace(problem, responses=enclosure), limits.seconds)
        while True:
            question = replace(problem, responses=enclosure)  # anew: a problem remembers what its responses were
            solution = solve(question)
            upper = _cost(solution)
            lower = max(proof.lower, min(enclosure.floor(question, solution), upper))
            proof = Proof(lower, upper, "gap")
            watch(lower, upper)
            if proof.gap <= limits.gap or proof.exact:
                if enclosure.confirm():
                    continue
                return proof
            allowed = SPARED * limits.gap * (upper if math.isfinite(upper) else 0.0)
            gaps, effort = enclosure.gaps(question, solution, allowed), enclosure.effort()
            rows = _most_rewarding(gaps, effort, allowed)
            if not len(rows):  # what was to be spared is all that is left to do
                rows = _most_rewarding(gaps, effort, 0.0)
            left = end - time.monotonic()
            if not len(rows) or left <= 0.0:
                if enclosure.confirm():
                    continue
                return replace(proof, ending="time" if len(rows) else "rounding" if enclosure.rounded() else "work")
            enclosure.tighten(rows, left)
    except KeyboardInterrupt:
        # What was found until then counts; the lower bound is that of the last round.
        return Proof(proof.lower, _cost(solve(replace(problem, responses=enclosure))), "keyboard")


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
