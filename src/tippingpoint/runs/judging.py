"""What a judge says of an answer: a loss from 0 (right) to 1 (wrong), or that there is none."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from tippingpoint.errors import InputError
from tippingpoint.foreign import why
from tippingpoint.runs.asking import failure
from tippingpoint.runs.outcomes import short
from tippingpoint.runs.planning import Planned
from tippingpoint.visible import visible

NO_ANSWER = "no answer"
"""Why an outcome is missing where the model returned None, as for a refusal."""

NO_VERDICT = "the judge could not tell"
"""Why an outcome is missing that the judge returned None or NaN for."""


@dataclass(frozen=True)
class Verdict:
    """What a judge makes of an answer.

    Attributes
    ----------
    loss
        NaN where it cannot tell.
    failure, sentence
        What it raised instead, as the reason for a missing outcome and as the beginning of an error.
    """

    loss: float
    failure: str | None = None
    sentence: str = ""


class Judge:
    """A judge, `judge(answer)` or `judge(answer, sample)`; the sample is the dictionary as it was asked about."""

    def __init__(self, function: Any) -> None:
        if not callable(function):
            raise InputError(f"judge={function!r} must be a function from an answer (and its sample) to a loss.")
        self._function: Callable[..., Any] = function
        self._sees_sample = _takes_two(function)

    def loss(self, answer: Any, line: Planned) -> Verdict:
        """The loss, NaN where the judge cannot tell; and why, where it fails."""
        of = f"the answer {_short(answer)} to {line.variant!r} of sample {line.sample!r}"
        try:
            given = self._function(answer, line.item) if self._sees_sample else self._function(answer)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  # whatever a user's code raises is a verdict that is missing
            return Verdict(math.nan, f"the judge fails: {failure(error)}", f"judge fails ({visible(why(error))}) on {of}")
        if inspect.isawaitable(given):
            getattr(given, "close", lambda: None)()
            raise InputError("judge is asynchronous; give a plain function: it is run beside others, as ask is.")
        if given is None:
            return Verdict(math.nan)
        if isinstance(given, (bool, np.bool_)):
            raise InputError(
                f"judge returns {given} for {of}, which could mean right or wrong; return the loss, as float(answer != target)."
            )
        if not isinstance(given, (Real, np.number)):
            raise InputError(
                f"judge returns {_short(given)} for {of}; return a loss from 0 (right) to 1 (wrong), or None where it cannot"
                " tell."
            )
        try:
            loss = float(given)
        except (OverflowError, TypeError, ValueError):  # 10**400
            loss = math.inf
        if math.isnan(loss):
            return Verdict(math.nan)
        if not 0.0 <= loss <= 1.0:
            raise InputError(f"judge returns {loss:g} for {of}, outside [0, 1]; divide it by the largest loss there is.")
        return Verdict(loss)


def _takes_two(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of compiled code
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [each for each in parameters if each.kind in kinds and each.default is inspect.Parameter.empty]
    if len(needed) > 2:
        raise InputError(f"judge takes {len(needed)} arguments; it is called as judge(answer) or judge(answer, sample).")
    return len(needed) == 2 or any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters)


def _short(value: Any) -> str:
    try:
        return short(value)
    except Exception:  # noqa: BLE001  # an object of the user's may not even have a text
        return type(value).__name__
