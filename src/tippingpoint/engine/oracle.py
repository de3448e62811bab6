"""The oracle of samples in partitions: what all of them together may say of their responses, and better ones for a question."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, NoReturn

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.crossing import ROUND_OFF
from tippingpoint.core.dual import Solution, Status, highest_of, solve
from tippingpoint.core.oracle import INTERRUPTED, Certificate, Oracle
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import Response
from tippingpoint.engine.placed import Asked, Standing, standing, tuned
from tippingpoint.engine.samples import BoundedSamples, PartitionedSamples
from tippingpoint.errors import UnsupportedError

MAX_ROUNDS = 4
"""Of searching at the price of a question, which every round finds more exactly."""

PRICE_TOLERANCE = 1e-4
"""Relative change of that price from which on another round is made."""

BY_PARTITION = "bounds on what samples can gain, of every partition"
"""What certifies a lower bound."""

APART = (
    "partitions are searched one by one: all bounds hold, but the value, the lower bound, `exact` and the certified worst risk"
    " may differ from those of the same rows in one table"
)
"""The note on what depends on how data are cut."""

ELSEWHERE = "the samples are in partitions; ask for a sum over them, or for result.heaviest(...)"


class PartitionedOracle(Oracle):
    """Best responses of samples in partitions.

    Parameters
    ----------
    samples
        Where they are.
    """

    def __init__(self, samples: PartitionedSamples) -> None:
        self.samples = samples
        self._closed = False

    @cached_property
    def _standings(self) -> list[Standing]:
        return [each for each in self.samples.each(standing) if each is not None]

    @property
    def exact(self) -> bool:  # type: ignore[override]  # here it depends on the partitions
        return all(each.exact for each in self._standings)

    @property
    def certificate(self) -> str:  # type: ignore[override]  # as above
        every = dict.fromkeys(each.certificate for each in self._standings)
        first = next(iter(every))
        return first if len(every) == 1 else f"searched partition by partition; of the first: {first}"

    @property
    def unit(self) -> str:  # type: ignore[override]  # as above
        return self._standings[0].unit

    @property
    def noisy(self) -> bool:  # type: ignore[override]  # as above
        return any(each.noisy for each in self._standings)

    @property
    def gap(self) -> float | None:  # type: ignore[override]  # as above
        """The least of the partitions."""
        return min((each.gap for each in self._standings if each.gap is not None), default=None)

    @property
    def interrupted(self) -> bool:  # type: ignore[override]  # as above
        return self.samples.stopped or any(each.interrupted for each in self._standings)

    @property
    def timed_out(self) -> bool:  # type: ignore[override]  # as above
        return any(each.timed_out for each in self._standings)

    @property
    def caution(self) -> str:
        """Of all partitions together."""
        every = [each.doubted for each in self._standings if each.doubted is not None]
        return (
            reduce(lambda one, other: one.joined(other), every).words(sum(each.samples for each in self._standings))
            if every
            else ""
        )

    @property
    def notes(self) -> tuple[str, ...]:
        stopped = (INTERRUPTED,) if self.samples.stopped else ()
        searched = (APART,) if self.samples.searched and not self.exact else ()
        return tuple(dict.fromkeys((*(note for each in self._standings for note in each.notes), *searched, *stopped)))

    @property
    def losses(self) -> NoReturn:
        raise UnsupportedError(f"there is no list of all losses: {ELSEWHERE}.")

    @cached_property
    def ceiling(self) -> float:
        return min(each.ceiling for each in self._standings)

    def respond(self, price: float) -> Response:
        raise UnsupportedError(f"there is no list of all responses: {ELSEWHERE}.")

    def peak(self) -> Response:
        raise UnsupportedError(f"there is no list of all responses: {ELSEWHERE}.")

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        raise UnsupportedError(f"there is no list of all places: {ELSEWHERE}.")

    def tuned(self, problem: Problem) -> PartitionedOracle:
        """Every partition searched at the price of the question about all; that price is found again with what they found."""
        if self.exact or not problem.moves or self.samples.stopped:
            return self
        asked = Asked(problem.theta1, problem.theta2, problem.divergence, problem.wanted, None)
        if asked.rise <= 0.0:
            return self
        samples, newer, before = self.samples, self.samples.mapped(tuned, asked), math.nan
        try:
            for _ in range(MAX_ROUNDS):
                solution = solve(replace(problem, responses=newer))
                samples = newer
                price = solution.right.price
                done = abs(price - before) <= PRICE_TOLERANCE * price
                if samples.stopped or solution.status is not Status.ATTAINED or done or not math.isfinite(price):
                    break
                newer, before = samples.mapped(tuned, replace(asked, price=price)), price
        except KeyboardInterrupt:
            if not self.samples.searched:
                raise
            return PartitionedOracle(samples.ended(newer))
        return PartitionedOracle(newer)

    def attains(self, problem: Problem) -> bool:
        return self.exact or not problem.moves or self._closed

    def bound(self, problem: Problem, solution: Solution) -> Certificate:
        if solution.status is Status.ALREADY:
            return Certificate(solution.lower, self.certificate)
        if not self._bounded:
            return Certificate(0.0, f"not certified: {self.certificate}")

        def floor(price: float) -> float:
            return self._floor(problem, price)

        price = solution.right.price if 0.0 < solution.right.price < math.inf else problem.theta1
        exactly = [h / problem.theta1 for h in (solution.left.price, solution.right.price) if 0.0 < h < math.inf]
        lower = max([highest_of(problem, floor, price), *map(floor, exactly)])
        upper = (1.0 - solution.share) * solution.left.cost + solution.share * solution.right.cost
        self._closed = solution.status is Status.ATTAINED and lower >= upper * (1.0 - ROUND_OFF)
        return Certificate(lower, BY_PARTITION)

    def floor(self, problem: Problem, price: float) -> float | None:
        return self._floor(problem, price) if self._bounded else None

    @cached_property
    def _bounded(self) -> bool:
        """Whether all partitions bound what their samples can gain."""
        return all(each.bounded for each in self._standings)

    def _floor(self, problem: Problem, price: float) -> float:
        bounded = replace(problem, responses=BoundedSamples(self.samples, price))
        value = bounded.evaluate(price * problem.theta1).value
        return -math.inf if math.isnan(value) else value
