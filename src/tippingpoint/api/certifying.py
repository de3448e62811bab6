"""What certifies a number from below: asked of the oracle, and told in words."""

from __future__ import annotations

import math
from dataclasses import replace

from tippingpoint.core.dual import Solution, Status
from tippingpoint.core.oracle import Certificate, Oracle
from tippingpoint.core.problem import Problem
from tippingpoint.core.prover import relative_gap
from tippingpoint.results.stability import StabilityResult
from tippingpoint.text import percent

UNCERTIFIED = "not certified: "
"""How a certificate begins that is none."""


DEAREST = "any change inside the space costs"
"""What a lower bound exceeds if it proves that a threshold is out of reach."""


NO_PROOF = (None, "gap", "keyboard")
"""Endings without a note on the gap: nothing was proved step by step, the gap is reached, or another note gives the reason."""

REASONS = {
    "time": "time_limit={seconds:g} s ended the proof",
    "work": "no work is left that is likely to narrow them",
    "rounding": "how the model's library rounds its sums decides the rest",
    "partitions": "in partitions each row gets a fixed amount of work",
}
"""Why bounds are further apart than asked for, by the ending of the proof."""


def gap_notes(oracle: Oracle, ending: str | None, lower: float, upper: float) -> list[str]:
    """A note on the bounds of a number if they are further apart than asked for, with the reason; otherwise none."""
    gap = relative_gap(lower, upper)
    if ending in NO_PROOF or oracle.gap is None or gap <= oracle.gap:
        return []
    reason = REASONS[ending].format(seconds=oracle.time_limit)
    if lower <= 0.0 or math.isinf(upper):  # one bound is missing, so there is no distance
        return [f"gap={oracle.gap:g} is not reached: {reason}"]
    return [f"gap={oracle.gap:g} is not reached: the bounds are {percent(gap)} apart, and {reason}"]


def noted(oracle: Oracle, result: StabilityResult) -> StabilityResult:
    """A stability with a note on the gap between its bounds."""
    return replace(result, notes=(*result.notes, *gap_notes(oracle, result.ending, result.lower, result.value)))


def certifier(certificate: Certificate, *, contradicted: bool, empty: bool) -> str:
    """In words what certifies a lower bound; where that is 0 and so says nothing (`empty`), that nothing does."""
    if contradicted:
        return f"{UNCERTIFIED}the bounds contradict each other"
    return f"{UNCERTIFIED}{certificate.by}" if empty and not certificate.by.startswith(UNCERTIFIED) else certificate.by


def certified(oracle: Oracle, problem: Problem, solution: Solution) -> tuple[Certificate, bool]:
    """What is known from below, and whether somebody at the keyboard did not wait for it: what was found is not lost then."""
    try:
        return _out_of_reach(oracle, problem, solution, oracle.certify(problem, solution)), False
    except KeyboardInterrupt:
        if oracle.exact:
            raise
        return Certificate(0.0, f"{UNCERTIFIED}interrupted"), True


def _out_of_reach(oracle: Oracle, problem: Problem, solution: Solution, certificate: Certificate) -> Certificate:
    """A lower bound above the cost of any perturbation proves that none reaches the threshold."""
    if solution.status is not Status.UNREACHABLE or certificate.lower <= problem.dearest(oracle.farthest):
        return certificate
    if math.isinf(certificate.lower):
        return certificate
    return replace(certificate, lower=math.inf, by=f"{certificate.by}: at least {certificate.lower:.4g}, more than {DEAREST}")
