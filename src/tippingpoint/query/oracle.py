"""The oracle of a search that only asks: the best responses among the places that it tried."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tippingpoint.core.arrays import FloatArray, total
from tippingpoint.core.atoms import Atoms, AtomsOracle, Outline
from tippingpoint.core.crossing import ROUND_OFF
from tippingpoint.core.dual import Solution, Status, solve
from tippingpoint.core.oracle import Certificate
from tippingpoint.core.problem import Problem
from tippingpoint.core.sensitive import SensitiveDistribution, sensitive_distribution
from tippingpoint.space.domain import Domain

Earlier = tuple[float, Outline]
"""The share of the calls that came after something had been found, and what it was."""

Floor = Callable[[Problem, Solution], Certificate]
"""Bounds the stability from below."""


class QueryOracle(AtomsOracle):
    """The best responses among the places that were asked about; the best there are only where every place was tried.

    Parameters
    ----------
    atoms
        What was seen.
    losses
        The losses now.
    domain
        Where samples may go.
    exact
        Whether every place that can matter was tried.
    certificate
        In words: how.
    notes
        What a careful reader should know.
    floor
        Who bounds the stability from below, where anybody does.
    interrupted
        Whether the search ended before it was done.
    earlier
        What had been found before the last calls, to tell what they were good for.
    farthest
        No move of a sample costs more than this.
    """

    def __init__(
        self,
        atoms: Atoms,
        losses: FloatArray,
        domain: Domain,
        certificate: str,
        *,
        exact: bool,
        notes: tuple[str, ...] = (),
        floor: Floor | None = None,
        interrupted: bool = False,
        earlier: Earlier | None = None,
        farthest: float = math.inf,
    ) -> None:
        sample, lift, cost, places = atoms.kept()
        super().__init__(sample, losses[sample] + lift, cost, dict(zip(domain.names, places.T, strict=True)))
        self.exact = exact
        self.certificate = certificate
        self.unit: str = domain.unit
        self.farthest: float = farthest
        self.interrupted = interrupted
        self._notes = notes
        self._floor = floor
        self._earlier = earlier

    @property
    def notes(self) -> tuple[str, ...]:
        return self._notes

    def bound(self, problem: Problem, solution: Solution) -> Certificate:
        if self._floor is not None and solution.status is not Status.ALREADY:
            return self._floor(problem, solution)
        return Certificate(0.0, f"not certified: {self.certificate}{self._progress(problem, solution)}")

    def _progress(self, problem: Problem, solution: Solution) -> str:
        """In words: by how much the last calls lowered this answer."""
        if self._earlier is None or solution.status is not Status.ATTAINED:
            return ""
        share, (sample, lift, cost) = self._earlier
        before = replace(problem, responses=AtomsOracle(sample, self.losses[sample] + lift, cost, {}))
        last = f"; the last {100.0 * share:.0f} % of them"
        found = solve(before)
        if found.status is not Status.ATTAINED:
            return f"{last} first reached the threshold"
        value, was = (sensitive_distribution(*each).total_cost for each in ((problem, solution), (before, found)))
        lowered = 1.0 - value / was
        return f"{last} lowered the stability by {100.0 * lowered if lowered > ROUND_OFF else 0.0:.2g} %"


class NoisyOracle(QueryOracle):
    """The same among noisy answers: of every question it tells what answers give that no search has picked.

    Parameters
    ----------
    fresh
        The loss of every atom by such an answer; not a number where there is none.
    atoms, losses, domain, certificate, notes, floor, interrupted
        As of any other.
    """

    noisy = True

    def __init__(
        self,
        fresh: FloatArray,
        atoms: Atoms,
        losses: FloatArray,
        domain: Domain,
        certificate: str,
        *,
        notes: tuple[str, ...],
        floor: Floor | None,
        interrupted: bool,
    ) -> None:
        super().__init__(atoms, losses, domain, certificate, exact=False, notes=notes, floor=floor, interrupted=interrupted)
        self._fresh = fresh

    def tuned(self, problem: Problem) -> NoisyOracle:
        solution = solve(problem)
        if solution.status is not Status.ATTAINED:
            return self
        noted = copy.copy(self)
        noted._notes = (*self._notes, self._note(sensitive_distribution(problem, solution), problem.risk))  # noqa: SLF001
        return noted

    def _note(self, q: SensitiveDistribution, risk: float) -> str:
        """In words: the risk of a distribution by replies that no search has picked."""
        fresh = np.empty(len(q.sample))
        for right, price in enumerate(q.prices):
            here = q.right == bool(right)
            fresh[here] = self._fresh[self.chosen(price)[q.sample[here]]]
        if np.isnan(fresh).any():
            return "the calls did not suffice to ask the model afresh where the sensitive distribution is; give more"
        return (
            f"asked afresh where the sensitive distribution is, the model gives it a risk of {total(q.mass, fresh):.4g}, not"
            f" {risk:.4g}"
        )
