"""A gate for continuous integration: exit code 1 where a stability is below what was agreed."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping

from tippingpoint.cli.streams import complain
from tippingpoint.errors import InputError, listed
from tippingpoint.results import StabilityResult

PASSED, FAILED = 0, 1
"""Exit codes."""


def check_gate(options: argparse.Namespace) -> None:
    """Whether what is said of the gate makes sense, before the work begins."""
    threshold = options.fail_below
    if threshold is None:
        for name in ("on", "gate_model"):
            if getattr(options, name, None) is not None:
                raise InputError(f"--{name.replace('_', '-')} belongs to a gate; give --fail-below too, or leave it out.")
    elif math.isnan(threshold) or threshold <= 0.0:
        raise InputError(f"--fail-below {threshold:g}: no stability is below that; give a positive number.")


def gate(options: argparse.Namespace, results: Mapping[str, StabilityResult], what: str) -> int:
    """The exit code, and a sentence on standard error that says why; `what` the results are of, each by its name."""
    if options.fail_below is None:
        return PASSED
    chosen = getattr(options, "gate_model", None)
    if chosen is not None and chosen not in results:
        raise InputError(f"--gate-model {chosen} is none of the models; they are {listed(results)}.")
    judged = results if chosen is None else {chosen: results[chosen]}
    on = options.on or "lower"
    name, worst = min(judged.items(), key=lambda item: _level(item[1], on))
    found = _level(worst, on)
    whose = f" of the {what} {name!r}" if what else ""
    called = "certified lower bound" if on == "lower" else "stability"
    told = f"the {called}{whose} is {found:.6g}"
    if found >= options.fail_below:
        if not options.quiet:
            complain(f"gate: passed: {told}, not below {options.fail_below:g}.")
        return PASSED
    if on == "lower" and found == 0.0 < worst.value:
        told = f"nothing certifies the stability{whose} from below (found: {worst.value:.6g}; --on value judges that)"
    complain(f"gate: failed: {told}, below {options.fail_below:g}.")
    return FAILED


def _level(result: StabilityResult, on: str) -> float:
    """What is judged; what is not a number passes nothing."""
    level = result.lower if on == "lower" else result.value
    return 0.0 if math.isnan(level) else level
