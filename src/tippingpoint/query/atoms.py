"""Every place that a sample was seen to go, as far as it can matter: the upper envelope of each sample's atoms."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, total
from tippingpoint.core.atoms import TableOracle
from tippingpoint.core.dual import Solution, Status, solve
from tippingpoint.core.envelope import envelope
from tippingpoint.core.oracle import Certificate
from tippingpoint.core.problem import Problem
from tippingpoint.core.sensitive import SensitiveDistribution, sensitive_distribution
from tippingpoint.space.domain import Domain

CROWD = 32
"""Atoms a sample, on average, from which on those that cannot matter are forgotten."""


Outline = tuple[IntArray, FloatArray, FloatArray]
"""Sample, lift and cost of atoms."""

Earlier = tuple[float, Outline]
"""The share of the calls that came after something had been found, and what it was."""

Floor = Callable[[Problem, Solution], Certificate]
"""Bounds the stability from below."""


class Atoms:
    """Places with the lift and the cost they were seen to have; the first of every sample is where it is."""

    def __init__(self, x: FloatArray) -> None:
        n = len(x)
        self._parts: list[tuple[IntArray, FloatArray, FloatArray, FloatArray]] = [(np.arange(n), np.zeros(n), np.zeros(n), x)]
        self._samples = n

    def add(self, sample: IntArray, lift: FloatArray, cost: FloatArray, places: FloatArray) -> None:
        """Remember these."""
        pays = np.flatnonzero(lift > 0.0)
        self._parts.append((sample[pays], lift[pays], cost[pays], places[pays]))
        if sum(len(part[0]) for part in self._parts) > CROWD * self._samples:
            self.kept()

    def kept(self) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
        """Sample, lift, cost and place of the atoms on the envelopes, sorted by sample and lift."""
        sample, lift, cost, places = (np.concatenate(each) for each in zip(*self._parts, strict=True))
        best = envelope(sample, lift, cost)
        self._parts = [(sample[best], lift[best], cost[best], places[best])]
        return self._parts[0]

    def outline(self) -> Outline:
        """Sample, lift and cost of the atoms on the envelopes."""
        return self.kept()[:3]

    def cheapest(self) -> tuple[FloatArray, FloatArray]:
        """The place of largest lift of every sample, the cheapest of them, and its cost; its own where there is no lift."""
        sample, _, cost, places = self.kept()
        last = np.append(np.flatnonzero(np.diff(sample)), len(sample) - 1)
        return places[last], cost[last]

    def at(self, price: float) -> FloatArray:
        """The best place of every sample at a price."""
        sample, lift, cost, places = self.kept()
        worth = price * lift - cost
        order = np.lexsort((worth, sample))
        last = order[np.append(np.flatnonzero(np.diff(sample[order])), len(order) - 1)]
        return np.asarray(places[last])


class AtomsOracle(TableOracle):
    """The best responses among atoms; the best there are only where every place was tried.

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
    ) -> None:
        sample, lift, cost, places = atoms.kept()
        super().__init__(sample, losses[sample] + lift, cost, dict(zip(domain.names, places.T, strict=True)))
        self.exact = exact
        self.certificate = certificate
        self.unit = domain.unit
        self.interrupted = interrupted
        self._notes = notes
        self._floor = floor
        self._earlier = earlier

    @property
    def notes(self) -> tuple[str, ...]:
        return self._notes

    def certify(self, problem: Problem, solution: Solution) -> Certificate:
        if math.isinf(problem.theta1):
            return Certificate(solution.lower, "exact: nothing moves, and weights are a problem in one number")
        if self.exact:
            return super().certify(problem, solution)
        if self._floor is not None and solution.status is not Status.ALREADY:
            return self._floor(problem, solution)
        return Certificate(0.0, f"not certified: {self.certificate}{self._late(problem, solution)}")

    def _late(self, problem: Problem, solution: Solution) -> str:
        """In words: by how much the last calls lowered this answer."""
        if self._earlier is None or solution.status is not Status.ATTAINED:
            return ""
        share, (sample, lift, cost) = self._earlier
        before = replace(problem, responses=TableOracle(sample, self._losses[sample] + lift, cost, {}))
        told = f"; the last {100.0 * share:.0f} % of them"
        found = solve(before)
        if found.status is not Status.ATTAINED:
            return f"{told} first reached the threshold"
        value, was = (sensitive_distribution(*each).total_cost for each in ((problem, solution), (before, found)))
        return f"{told} lowered the stability by {100.0 * max(1.0 - value / was, 0.0):.2g} %"


class NoisyOracle(AtomsOracle):
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
        told = copy.copy(self)
        afresh = self._told(sensitive_distribution(problem, solution), problem.risk)
        told._notes = (*self._notes, afresh)  # noqa: SLF001  # a copy of itself
        return told

    def _told(self, q: SensitiveDistribution, risk: float) -> str:
        fresh = np.empty(len(q.sample))
        for right, price in enumerate(q.prices):
            here = q.right == bool(right)
            fresh[here] = self._fresh[self._atom[self._chosen(price)[q.sample[here]]]]
        if np.isnan(fresh).any():
            return "the calls did not suffice to ask the model afresh where the sensitive distribution is; give more"
        return (
            f"asked afresh where the sensitive distribution is, the model gives it a risk of {total(q.mass, fresh):.4g}, not"
            f" {risk:.4g}"
        )
