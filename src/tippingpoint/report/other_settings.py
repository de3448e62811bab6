"""Other settings of the same question: the responses are in hand, so each is a problem in one number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np

from tippingpoint.core.arrays import IntArray
from tippingpoint.core.cuts import Perturbation, perturbation
from tippingpoint.core.divergences import DIVERGENCES, Divergence, divergence_named
from tippingpoint.core.dual import Status, solve
from tippingpoint.core.inference import LEVEL, corrected_interval, influence, normal_margin, standard_error
from tippingpoint.core.oracle import Oracle
from tippingpoint.core.problem import Problem
from tippingpoint.core.sensitive import SensitiveDistribution, SensitiveSummary, atoms_of, summary

POINTS = 21
"""Settings along a curve."""

REACH_SHARE = 0.98
"""How much of the way from the present risk to the largest in reach a curve of thresholds goes."""

UNBOUNDED_SPAN = 2.0
"""How far a curve goes where nothing bounds the risk, in distances of the threshold from the present risk."""


class SweepPart(TypedDict):
    """The stability along a curve."""

    over: str
    at: list[float]
    value: list[float]
    low: list[float]
    high: list[float]
    corruption_excess: list[float]
    reweighting_excess: list[float]


class Dial(SweepPart):
    """The stability along the dial, the budget that is spent there, and the place of the question."""

    budget: float
    own: float


@dataclass(frozen=True)
class Solved:
    """A setting, what it costs, and the perturbation that shows it."""

    problem: Problem
    value: float
    lower: float
    status: Status
    perturbation: Perturbation
    summary: SensitiveSummary

    @property
    def distribution(self) -> SensitiveDistribution:
        """The perturbation as atoms."""
        return atoms_of(self.problem, self.perturbation, self.summary)

    def standard_error(self, groups: IntArray | None) -> float:
        """Of the stability, by samples or by groups of them."""
        if groups is None:
            return self.summary.standard_error
        return standard_error(influence(self.problem, self.perturbation.solution), self.problem.base, groups)


def solve_with(problem: Problem, **settings: Any) -> Solved:
    """The same question with other settings."""
    again = replace(problem, **settings)
    solution = solve(again)
    q = perturbation(again, solution)
    found = summary(again, q)
    value = math.inf if solution.status is Status.UNREACHABLE else found.total_cost
    return Solved(again, value, min(solution.lower, value), solution.status, q, found)


def thresholds(problem: Problem) -> tuple[float, float]:
    """The thresholds that a curve goes over: from the present risk on."""
    now, wanted = problem.current, max(problem.wanted, 0.0)
    reach = problem.reachable
    if math.isfinite(reach) and reach > now:
        return now, now + REACH_SHARE * (reach - now)
    return now, now + (UNBOUNDED_SPAN * wanted if wanted > 0.0 else max(abs(now), 1.0))


def along_thresholds(problem: Problem) -> dict[float, Solved]:
    """The question at thresholds around its own, which is among them."""
    low, high = thresholds(problem)
    risks = {*np.linspace(low, high, POINTS).tolist(), *([problem.risk] if low < problem.risk < high else [])}
    return {risk: solve_with(problem, risk=risk) for risk in sorted(risks)}


def along_dial(problem: Problem) -> dict[float, Solved]:
    """The question at places of the dial between reweighting (0) and moving (1), its own among them."""
    budget, own = dial(problem.theta1, problem.theta2)
    mixes = sorted({*np.linspace(0.0, 1.0, POINTS).tolist(), own})
    solved = {}
    for mix in mixes:
        theta1, theta2 = prices(budget, mix)
        solved[mix] = solve_with(problem, theta1=theta1, theta2=theta2)
    return solved


def over_thresholds(problem: Problem, groups: IntArray | None = None, oracle: Oracle | None = None) -> SweepPart:
    """The stability over thresholds; errors are of groups of samples where there are any.

    Intervals are of corrected stabilities if the oracle knows the noise of repeated outcomes.
    """
    return _swept("risk", along_thresholds(problem), groups, oracle)


def over_mixes(problem: Problem, groups: IntArray | None = None, oracle: Oracle | None = None) -> Dial:
    """The stability along the dial."""
    budget, own = dial(problem.theta1, problem.theta2)
    return {**_swept("mix", along_dial(problem), groups, oracle), "budget": budget, "own": own}


def dial(theta1: float, theta2: float) -> tuple[float, float]:
    """The budget `1/θ1 + 1/θ2` and the place on the dial, `(1/θ1)/budget`, of two prices."""
    budget = 1.0 / theta1 + 1.0 / theta2
    return budget, (1.0 / theta1) / budget


def prices(budget: float, mix: float) -> tuple[float, float]:
    """The two prices at a place on the dial: the inverse of `dial`."""
    theta1, theta2 = (math.inf if part == 0.0 else 1.0 / (budget * part) for part in (mix, 1.0 - mix))
    return theta1, theta2


def is_served(divergence: Divergence) -> bool:
    """Whether a page computes with a divergence: one that is registered, and says how."""
    return DIVERGENCES.get(divergence.name) is type(divergence) and divergence.browser() is not None


def page_divergences(own: str, *, served: bool) -> list[Divergence]:
    """The divergences that a page computes with: all that are registered and say how, with that of the question.

    A page knows divergences by name. One of a user's own may bear the name of another, which is then left out.

    Parameters
    ----------
    own, served
        The name of the question's, and whether a page computes with it.
    """
    plain = [kind() for kind in DIVERGENCES.values() if not kind.parameter]
    every = [each for each in plain if served or each.label != own]
    every += [divergence_named(own)] if served and all(each.label != own for each in every) else []
    return [each for each in every if is_served(each)]


def distributions_nearby(problem: Problem) -> list[SensitiveDistribution]:
    """Sensitive distributions of the question's own setting and of some around it, as a reader may try them."""
    low, high = thresholds(problem)
    budget, own = dial(problem.theta1, problem.theta2)
    midway, beyond = 0.5 * (low + problem.risk), 0.5 * (problem.risk + high)
    own_name = problem.divergence.label
    settings: list[dict[str, Any]] = [{}]
    settings += [{"divergence": each} for each in page_divergences(own_name, served=is_served(problem.divergence))]
    settings += [{"risk": risk} for risk in (midway, beyond) if risk > low]
    settings += [
        {"theta1": 1.0 / (budget * mix), "theta2": 1.0 / (budget * (1.0 - mix))} for mix in (0.1, 0.5, 0.9) if mix != own
    ]
    return [solve_with(problem, **each).distribution for each in settings]


def _swept(over: str, solved: dict[float, Solved], groups: IntArray | None, oracle: Oracle | None) -> SweepPart:
    found: Sequence[Solved] = list(solved.values())
    value, bands = [each.value for each in found], [_band(each, groups, oracle) for each in found]
    return {
        "over": over,
        "at": list(solved),
        "value": value,
        "low": [low if math.isfinite(low) else v for v, (low, _) in zip(value, bands, strict=True)],
        "high": [high if math.isfinite(high) else v for v, (_, high) in zip(value, bands, strict=True)],
        "corruption_excess": [each.summary.corruption_excess for each in found],
        "reweighting_excess": [each.summary.reweighting_excess for each in found],
    }


def _band(solved: Solved, groups: IntArray | None, oracle: Oracle | None) -> tuple[float, float]:
    """The 95% interval of a setting: of the corrected stability, if outcomes were repeated."""
    problem = solved.problem
    correct = None
    if oracle is not None and solved.status is Status.ATTAINED:
        correct = oracle.corrector(replace(problem, responses=oracle))
    found = None if correct is None else correct(problem.base)
    if found is not None and found.value > 0.0:
        error = standard_error(found.effects, problem.base, groups)
        held_out = None if oracle is None else oracle.held_out(replace(problem, responses=oracle))
        return corrected_interval(found.value, found.floor, error, found.spread, LEVEL, held_out or 0.0)
    margin = normal_margin(solved.standard_error(groups), LEVEL)
    return max(solved.value - margin, 0.0) if math.isfinite(margin) else math.nan, solved.value + margin
