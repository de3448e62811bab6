"""Fine steps: rounded in what is shown, and bounded from below as if they could be of any length."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.dual import Solution, Status, highest_floor
from tippingpoint.core.oracle import Certificate, Oracle
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import Response


def how_certified(*, exact: bool) -> str:
    """In words: what certifies responses whose steps are rounded, or need not be."""
    return "closed form" if exact else "fine steps rounded, and bounded by letting them move freely"


def relaxed_lower(problem: Problem, solution: Solution, gains: Callable[[float], FloatArray]) -> float:
    """A lower bound on the stability from what responses gain at a price if steps may be of any length."""
    # Rounding takes nothing from the largest push, so what is out of reach is out of reach either way.
    if solution.status in (Status.ALREADY, Status.UNREACHABLE):
        return solution.lower
    if solution.status is Status.LARGEST:
        return highest_floor(problem, gains, problem.theta1)
    prices = [h for h in (solution.left.price, solution.right.price) if h > 0.0]
    return max(problem.floor(h, gains(h / problem.theta1)) for h in prices)


class RelaxedOracle(Oracle):
    """Best responses that round fine steps, and are bounded from below by those that do not."""

    @abstractmethod
    def _whole(self, price: float, *, rounded: bool) -> Response:
        """The responses of all samples; where steps are fine, rounded to them or as if they were not."""

    def bound(self, problem: Problem, solution: Solution) -> Certificate:
        def gains(price: float) -> FloatArray:
            relaxed = self._whole(price, rounded=False)
            return np.asarray(price * relaxed.lift - relaxed.cost)

        return Certificate(relaxed_lower(problem, solution, gains), self.certificate)
