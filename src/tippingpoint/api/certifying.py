"""What certifies a number from below: asked of the oracle, and told in words."""

from __future__ import annotations

from tippingpoint.core.dual import Solution
from tippingpoint.core.oracle import Certificate, Oracle
from tippingpoint.core.problem import Problem

UNCERTIFIED = "not certified: "
"""How a certificate begins that is none."""


def certifier(certificate: Certificate, *, contradicted: bool, empty: bool) -> str:
    """In words what certifies a lower bound; where that is 0 and so says nothing (`empty`), that nothing does."""
    if contradicted:
        return f"{UNCERTIFIED}the bounds contradict each other"
    return f"{UNCERTIFIED}{certificate.by}" if empty and not certificate.by.startswith(UNCERTIFIED) else certificate.by


def certified(oracle: Oracle, problem: Problem, solution: Solution) -> tuple[Certificate, bool]:
    """What is known from below, and whether somebody at the keyboard did not wait for it: what was found is not lost then."""
    try:
        return oracle.certify(problem, solution), False
    except KeyboardInterrupt:
        if oracle.exact:
            raise
        return Certificate(0.0, f"{UNCERTIFIED}interrupted"), True
