"""What certifies a number from below: asked of the oracle, and told in words."""

from __future__ import annotations

import math
from dataclasses import replace

from tippingpoint.core.dual import Solution, Status
from tippingpoint.core.oracle import Certificate, Oracle
from tippingpoint.core.problem import Problem

UNCERTIFIED = "not certified: "
"""How a certificate begins that is none."""


DEAREST = "any change inside the space costs"
"""What a lower bound exceeds if it proves that a threshold is out of reach."""


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
