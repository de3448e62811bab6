"""A gate for continuous integration: exit code 1 where a stability is below what was agreed."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from tippingpoint.cli.interrupts import INTERRUPTED
from tippingpoint.cli.streams import print_stderr
from tippingpoint.errors import InputError
from tippingpoint.report import Gate, badges
from tippingpoint.results.stability import StabilityResult
from tippingpoint.results.worst import WorstRisk
from tippingpoint.text import level, number, risk_name

PASSED, FAILED = 0, 1
"""Exit codes."""


def check_gate(options: argparse.Namespace) -> None:
    """Whether the options of the gate make sense, before the work begins."""
    threshold = options.fail_below
    if threshold is None:
        for name in ("on", "gate_model"):
            if getattr(options, name, None) is not None:
                raise InputError(f"--{name.replace('_', '-')} belongs to a gate; give --fail-below too, or leave it out.")
    elif math.isnan(threshold) or threshold <= 0.0:
        raise InputError(f"--fail-below {threshold:g}: no stability is below that; give a positive number.")


def check_gated(options: argparse.Namespace, names: Iterable[str]) -> None:
    """Refuse a gate about a model that is not there, before the work begins."""
    chosen = options.gate_model
    if chosen is not None and chosen not in names:
        raise InputError(f"--gate-model {chosen} is none of the models; they are {', '.join(names)}.")


def check_ceiling(options: argparse.Namespace) -> None:
    """Whether the gate of a worst risk makes sense, before the work begins."""
    most = options.fail_above
    if most is not None and not math.isfinite(most):
        raise InputError(f"--fail-above {most:g}: give the largest risk that is accepted, a number such as 0.3.")


def gate_ceiling(options: argparse.Namespace, results: Sequence[WorstRisk], *, complete: bool) -> int:
    """The exit code of a gate on worst risks, and a sentence on standard error that says why.

    It passes only where a ceiling is proved that is not above the risk that is accepted, by searches that all ended.
    """
    halted = not complete or stopped(options, results)
    if options.fail_above is None:
        return INTERRUPTED if halted else PASSED
    if halted:
        print_stderr("gate: not passed: interrupted, so not all that it judges is known.")
        return INTERRUPTED
    for result in results:
        failure = _above(result, options.fail_above)
        if failure:
            print_stderr(f"gate: failed: {failure}.")
            return FAILED
    if not options.quiet:
        most = max(results, key=lambda each: each.certified or 0.0)
        print_stderr(
            f"gate: passed: no change of cost {number(most.cost)} lifts the {risk_name(most.loss)} above"
            f" {_risk(most, most.certified)}, and {_risk(most, options.fail_above)} is accepted."
        )
    return PASSED


def _above(result: WorstRisk, accepted: float) -> str:
    """Why a worst risk does not pass; empty where it does."""
    what, most = f"at cost {number(result.cost)}", _risk(result, accepted)
    if result.interrupted:
        return f"the search {what} did not end, so what it found decides nothing"
    if result.value > accepted:
        return f"a change {what} lifts the {risk_name(result.loss)} to {_risk(result, result.value)}, above {most}"
    if result.certified is None:
        found = f"found: {_risk(result, result.value)}, a lower bound"
        return f"nothing certifies the {risk_name(result.loss)} {what} from above ({found}), so it may be above {most}"
    if result.certified > accepted:
        return f"the {risk_name(result.loss)} {what} is certified up to {_risk(result, result.certified)} only, above {most}"
    return ""


def _risk(result: WorstRisk, value: float | None) -> str:
    """A risk to six digits, so that what is above a gate is seen to be."""
    shown = math.nan if value is None else value
    return f"{100.0 * shown:.6g}%" if result.loss == "zero_one" else f"{shown:.6g}"


def stopped(options: argparse.Namespace, results: Iterable[StabilityResult | WorstRisk]) -> bool:
    """Whether somebody at the keyboard ended the command, or one of its searches."""
    return options.interrupts.arrived or any(result.stopped for result in results)


def gate(options: argparse.Namespace, results: Mapping[str, StabilityResult], what: str, *, complete: bool = True) -> int:
    """The exit code, and a sentence on standard error that says why; `what` the results are of, each by its name.

    A gate passes only where all that it judges is there, `complete`, and every search of it ended.
    """
    halted = not complete or stopped(options, results.values())
    if options.fail_below is None:
        return INTERRUPTED if halted else PASSED
    if halted:
        print_stderr("gate: not passed: interrupted, so not all that it judges is known.")
        return INTERRUPTED
    chosen = getattr(options, "gate_model", None)
    judged = {name: result.summary for name, result in results.items() if chosen in (None, name)}
    on: Literal["lower", "value"] = options.on or "lower"
    agreed = Gate(options.fail_below, on)
    outcome = agreed.judge(judged, what)
    worst, found = results[outcome.name], outcome.found
    whose = f" of the {what} {outcome.name!r}" if what else ""
    if worst.standing.interrupted:
        print_stderr(f"gate: failed: the search{whose} did not end, so what it found decides nothing.")
        return FAILED
    if outcome.outcome == badges.PASSED:
        if not options.quiet:
            print_stderr(f"gate: passed: {_passing(agreed, worst, found, whose)}.")
        return PASSED
    print_stderr(f"gate: failed: {_failing(agreed, worst, found, whose)}.")
    return FAILED


def _passing(agreed: Gate, result: StabilityResult, found: float, whose: str) -> str:
    """Why a gate passes; a threshold that is proved to be out of reach has no number."""
    if math.isinf(found):
        known = result.largest_risk
        most = "" if known is None else f", the largest that any reaches is {level(known, result.loss)}"
        then = level(result.risk, result.loss)
        return f"out of reach: no allowed change of the data lifts the {risk_name(result.loss)}{whose} to {then}{most}"
    return f"the {agreed.quantity(result.summary)}{whose} is {found:.6g}, not below {agreed.threshold:g}"


def _failing(agreed: Gate, result: StabilityResult, found: float, whose: str) -> str:
    """Why a gate fails."""
    if result.status == "not_found":
        then = level(result.risk, result.loss)
        return (
            f"the search{whose} found no change of the data that lifts the {risk_name(result.loss)} to {then}, but only"
            f" {found:.6g} is certified, below {agreed.threshold:g}; a search that finds nothing proves nothing"
        )
    if agreed.on == "lower" and found == 0.0 < result.value:
        found_value = f"(found: {result.value:.6g}; --on value judges that)"
        return f"nothing certifies the stability{whose} from below {found_value}, below {agreed.threshold:g}"
    return f"the {agreed.quantity(result.summary)}{whose} is {found:.6g}, below {agreed.threshold:g}"
