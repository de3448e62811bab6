"""A gate: the stability below which a model is not accepted, and whether a result passes it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

from tippingpoint.errors import InputError
from tippingpoint.show.report.badges import FAILED, INTERRUPTED, PASSED, standing
from tippingpoint.show.text import number


@dataclass(frozen=True)
class Gate:
    """The stability below which a model is not accepted, as `--fail-below` on the command line.

    Attributes
    ----------
    threshold
        The least stability that passes.
    on
        What is judged: "lower", the certified lower bound, or "value", what was found.
    """

    threshold: float
    on: Literal["lower", "value"] = "lower"

    def __post_init__(self) -> None:
        if not isinstance(self.threshold, Real) or isinstance(self.threshold, bool) or not self.threshold > 0.0:
            raise InputError(f"gate={self.threshold!r}: no stability is below that; give a positive number, as 0.05.")
        if self.on not in ("lower", "value"):
            raise InputError(f"on={self.on!r} must be 'lower' (the certified lower bound) or 'value' (what was found).")

    def judge(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Threshold, what was judged, the outcome ("passed", "failed" or "interrupted") and a sentence that says why."""
        found = result[self.on]
        found = 0.0 if math.isnan(found) else float(found)
        told = {"threshold": float(self.threshold), "on": self.on, "found": found}
        least = number(self.threshold, 6)
        if standing(result) == INTERRUPTED:
            said = f"Not passed: the search was interrupted, so nothing can be said of the least stability asked for, {least}"
            return {**told, "outcome": INTERRUPTED, "sentence": f"{said}."}
        called = "certified lower bound" if self.on == "lower" else "stability found"
        if found >= self.threshold:
            reach = "no allowed change can" if self.on == "lower" else "no change was found to"
            why = f"the {called} is {number(found, 6)}" if math.isfinite(found) else f"{reach} raise the risk that far"
            return {**told, "outcome": PASSED, "sentence": f"Passed: {why}, and at least {least} was asked for."}
        why = f"the {called} is {number(found, 6)}"
        if self.on == "lower" and found == 0.0 < result["value"]:
            why = f"nothing certifies the stability from below (found: {number(result['value'], 6)})"
        return {**told, "outcome": FAILED, "sentence": f"Failed: {why}, and at least {least} was asked for."}


def as_gate(gate: Any) -> Gate | None:
    """A gate from what a user gives: a number is judged on the certified lower bound."""
    return gate if isinstance(gate, (Gate, type(None))) else Gate(gate)
