"""A gate: the stability below which a model is not accepted, and whether results pass it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

from tippingpoint.errors import InputError
from tippingpoint.report.badges import ESTIMATE, EXACT, FAILED, INTERRUPTED, PASSED, standing
from tippingpoint.text import NOTHING_REACHES, number


@dataclass(frozen=True)
class Judged:
    """The outcome of a gate.

    Attributes
    ----------
    threshold, on, found
        The least stability that passes, what was compared with it, and what that is.
    name
        Of the result that decides: the worst, or one whose search did not end.
    outcome
        "passed", "failed", or "interrupted", which is not passed either.
    sentence
        The outcome in words, and why.
    what
        What the results are, for example "model"; empty if there is only one.
    """

    threshold: float
    on: str
    found: float
    name: str
    outcome: str
    sentence: str
    what: str = ""


@dataclass(frozen=True)
class Gate:
    """The stability below which a model is not accepted, as `--fail-below` on the command line.

    Attributes
    ----------
    threshold
        The least stability that passes.
    on
        What is judged: "lower", the certified lower bound, or "value", what was found; where nothing was, the lower bound.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> result = tp.stability(([1.0], -1.5), X, y, risk=0.5, theta1=1.0, theta2=0.25)
    >>> judged = tp.Gate(0.05).judge({"model": result.summary})
    >>> judged.outcome, judged.found
    ('passed', 0.125)
    """

    threshold: float
    on: Literal["lower", "value"] = "lower"

    def __post_init__(self) -> None:
        if not isinstance(self.threshold, Real) or isinstance(self.threshold, bool) or not self.threshold > 0.0:
            raise InputError(f"gate={self.threshold!r}: no stability is below that; give a positive number, as 0.05.")
        if self.on not in ("lower", "value"):
            raise InputError(f"on={self.on!r} must be 'lower' (the certified lower bound) or 'value' (what was found).")

    def judge(self, results: Mapping[str, Mapping[str, Any]], what: str = "", *, complete: bool = True) -> Judged:
        """Whether the worst of several results passes.

        Parameters
        ----------
        results, what
            Summaries of the results by name, and what they are of where there are several.
        complete
            Whether all that is to be judged is among them; if not, the gate is not passed.
        """
        unended = [item for item in results.items() if standing(item[1]) == INTERRUPTED]
        name, worst = min(unended or results.items(), key=lambda item: self._found(item[1]))
        found, whose = self._found(worst), f" of the {what} {name!r}" if what and name else ""
        outcome = PASSED if found >= self.threshold else FAILED
        if not complete or unended:
            outcome, why = INTERRUPTED, "a search was interrupted, so nothing is decided"
        elif outcome == PASSED and math.isinf(found):
            why = f"no allowed change can raise the risk{whose} that far"
        elif outcome == FAILED and self.on == "lower" and found == 0.0 < worst["value"]:
            why = f"nothing certifies the stability{whose} from below (found: {number(worst['value'], 6)})"
        else:
            why = f"the {self.quantity(worst)}{whose} is {number(found, 6)}"
        sentence = f"{OPENING[outcome]}: {why}; at least {number(self.threshold, 6)} was asked for."
        return Judged(float(self.threshold), self.on, found, name, outcome, sentence, what)

    def quantity(self, result: Mapping[str, Any]) -> str:
        """What the number is that is judged, in words: a value is more than an upper bound only where it is exact."""
        if self.on == "lower" or result["status"] in NOTHING_REACHES:
            return "certified lower bound"
        kinds = {EXACT: "stability", ESTIMATE: "stability estimated (no bound)"}
        return kinds.get(standing(result), "stability found (an upper bound)")

    def _found(self, result: Mapping[str, Any]) -> float:
        """What is judged; what is not a number passes nothing, and a search that found nothing proves nothing."""
        level = result["lower"] if result["status"] in NOTHING_REACHES else result[self.on]
        return 0.0 if math.isnan(level) else float(level)


OPENING = {PASSED: "Passed", FAILED: "Failed", INTERRUPTED: "Not passed"}
"""How a sentence on each outcome begins."""


def judged(gate: float | Gate | Judged | None, results: Mapping[str, Mapping[str, Any]]) -> Judged | None:
    """Apply the gate of a report to all results that it shows; an outcome that was found before is returned as it is."""
    if isinstance(gate, (Judged, type(None))):
        return gate
    return (gate if isinstance(gate, Gate) else Gate(gate)).judge(results, "model" if len(results) > 1 else "")
