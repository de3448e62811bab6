"""Other settings of the same question: the responses are in hand, so each is a problem in one number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.core.divergences import divergence_named
from tippingpoint.core.dual import Status, solve
from tippingpoint.core.inference import influence, normal_margin, standard_error
from tippingpoint.core.problem import Problem
from tippingpoint.core.sensitive import SensitiveDistribution, sensitive_distribution

POINTS = 21
"""Settings along a curve."""

LEVEL = 0.95
"""Of the bands around curves."""

FARTHEST = 0.98
"""How far along, from the present risk to the largest in reach, a curve of thresholds goes."""

WIDER = 2.0
"""How far beyond the threshold a curve goes where nothing bounds the risk, in distances of the threshold from the present."""


@dataclass(frozen=True)
class Answer:
    """What one setting costs, and the distribution that shows it."""

    value: float
    error: float
    distribution: SensitiveDistribution


def ask(problem: Problem, **settings: Any) -> Answer:
    """The answer to the same question with other settings."""
    again = replace(problem, **settings)
    solution = solve(again)
    q = sensitive_distribution(again, solution)
    value = math.inf if solution.status is Status.UNREACHABLE else q.total_cost
    return Answer(value, standard_error(influence(solution, again.base), again.base), q)


def risks_of(problem: Problem) -> tuple[float, float]:
    """The thresholds that a curve goes over: from the present risk on."""
    now, wanted = problem.current, max(problem.wanted, 0.0)
    reach = problem.reachable
    if math.isfinite(reach) and reach > now:
        return now, now + FARTHEST * (reach - now)
    return now, now + (WIDER * wanted if wanted > 0.0 else max(abs(now), 1.0))


def curve(problem: Problem) -> dict[str, Any]:
    """The stability over thresholds, the question's own among them."""
    low, high = risks_of(problem)
    risks = {*np.linspace(low, high, POINTS).tolist(), *([problem.risk] if low < problem.risk < high else [])}
    return _swept("risk", sorted(risks), [ask(problem, risk=risk) for risk in sorted(risks)])


def tradeoff(problem: Problem) -> dict[str, Any]:
    """The stability along the dial between reweighting (0) and moving (1), the question's own place among them."""
    budget, own = dial(problem.theta1, problem.theta2)
    mixes = sorted({*np.linspace(0.0, 1.0, POINTS).tolist(), own})
    answers = []
    for mix in mixes:
        theta1, theta2 = (math.inf if part == 0.0 else 1.0 / (budget * part) for part in (mix, 1.0 - mix))
        answers.append(ask(problem, theta1=theta1, theta2=theta2))
    return {**_swept("mix", mixes, answers), "budget": budget, "own": own}


def dial(theta1: float, theta2: float) -> tuple[float, float]:
    """The budget `1/θ1 + 1/θ2` and the place on the dial, `(1/θ1)/budget`, of two prices."""
    budget = 1.0 / theta1 + 1.0 / theta2
    return budget, (1.0 / theta1) / budget


def various(problem: Problem) -> list[SensitiveDistribution]:
    """Sensitive distributions of the question's own setting and of some around it, as a reader may try them."""
    low, high = risks_of(problem)
    budget, own = dial(problem.theta1, problem.theta2)
    midway, beyond = 0.5 * (low + problem.risk), 0.5 * (problem.risk + high)
    settings: list[dict[str, Any]] = [{}]
    settings += [{"divergence": divergence_named(name)} for name in ("kl", "chi2")]
    settings += [{"risk": risk} for risk in (midway, beyond) if risk > low]
    settings += [
        {"theta1": 1.0 / (budget * mix), "theta2": 1.0 / (budget * (1.0 - mix))} for mix in (0.1, 0.5, 0.9) if mix != own
    ]
    return [ask(problem, **each).distribution for each in settings]


def _swept(over: str, at: Sequence[float], answers: Sequence[Answer]) -> dict[str, Any]:
    value = [answer.value for answer in answers]
    margin = [normal_margin(answer.error, LEVEL) for answer in answers]
    return {
        "over": over,
        "at": list(at),
        "value": value,
        "low": [max(v - m, 0.0) if math.isfinite(m) else v for v, m in zip(value, margin, strict=True)],
        "high": [v + m if math.isfinite(m) else v for v, m in zip(value, margin, strict=True)],
        "corruption_excess": [answer.distribution.corruption_excess for answer in answers],
        "reweighting_excess": [answer.distribution.reweighting_excess for answer in answers],
    }
