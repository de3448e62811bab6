"""What a stability can be held against: other changes of the same data, at the same prices."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tippingpoint.core.inference import standard_error
from tippingpoint.core.problem import Problem
from tippingpoint.report.asking import ask
from tippingpoint.report.badges import EXACT

HALVES = 2.0
"""Standard errors of a mean by which the means of two random halves of the rows differ: with a sample variance `s²` the mean of
one half varies by `s²/n` around that of all `n` rows, the other half's by as much the other way."""


def yardsticks(result: Mapping[str, Any], problem: Problem, searched: str) -> list[dict[str, Any]]:
    """What it costs to get there by one kind of change alone, and to raise the risk by no more than chance does.

    The noise of sampling is the typical (root mean square) difference in risk between two random halves of the rows: two
    standard errors of the mean loss. Its cost is the stability at the present risk plus that, at the question's own prices.

    Parameters
    ----------
    result
        The summary of the result.
    problem
        The question, of the responses that other settings are asked of.
    searched
        What is known of numbers that depend on these responses.
    """
    if result["status"] not in ("attained", "largest") or not result["value"] > 0.0:
        return []
    found = []
    if math.isfinite(problem.theta2) and math.isfinite(problem.theta1):
        weighing = {"kind": "reweighting", "risk": problem.risk, "value": ask(problem, theta1=math.inf).value}
        moving = {"kind": "moving", "risk": problem.risk, "value": ask(problem, theta2=math.inf).value}
        # Reweighting alone needs the present losses only, which nobody had to search for.
        found += [{**weighing, "standing": EXACT}, {**moving, "standing": searched}]
    noise = sampling_noise(problem)
    if noise > 0.0:
        risk = problem.current + noise
        found.append({"kind": "noise", "risk": risk, "value": ask(problem, risk=risk).value, "standing": searched})
    return found


def sampling_noise(problem: Problem) -> float:
    """The root mean square difference in risk between two random halves of the rows; not a number for a single row."""
    return HALVES * standard_error(problem.responses.losses - problem.current, problem.base)
