"""What a judge says of an answer: a loss from 0 (right) to 1 (wrong), or that there is none."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from tippingpoint.errors import InputError
from tippingpoint.foreign import guarded
from tippingpoint.runs.planning import Planned

NO_ANSWER = "no answer"
"""Why an outcome is missing where the model returned None, as for a refusal."""

NO_VERDICT = "the judge could not tell"
"""Why an outcome is missing that the judge returned None or NaN for."""


class Judge:
    """A judge, `judge(answer)` or `judge(answer, sample)`; the sample is the dictionary as it was asked about."""

    def __init__(self, function: Any) -> None:
        if not callable(function):
            raise InputError(f"judge={function!r} must be a function from an answer (and its sample) to a loss.")
        self._function: Callable[..., Any] = function
        self._sees_sample = _takes_two(function)

    def loss(self, answer: Any, line: Planned) -> float:
        """The loss; NaN where the judge cannot tell."""
        of = f"the answer {_short(answer)} to {line.variant!r} of sample {line.sample!r}"
        with guarded(lambda reason: InputError(f"judge fails ({reason}) on {of}; mend it, and run this again.")):
            given = self._function(answer, line.item) if self._sees_sample else self._function(answer)
        if inspect.isawaitable(given):
            getattr(given, "close", lambda: None)()
            raise InputError("judge is asynchronous; give a plain function: it is run beside others, as ask is.")
        if given is None:
            return math.nan
        if isinstance(given, (bool, np.bool_)):
            raise InputError(
                f"judge returns {given} for {of}, which could mean right or wrong; return the loss, as float(answer != target)."
            )
        if not isinstance(given, (Real, np.number)):
            raise InputError(
                f"judge returns {_short(given)} for {of}; return a loss from 0 (right) to 1 (wrong), or None where it cannot"
                " tell."
            )
        loss = float(given)
        if math.isnan(loss):
            return math.nan
        if not 0.0 <= loss <= 1.0:
            raise InputError(f"judge returns {loss:g} for {of}, outside [0, 1]; divide it by the largest loss there is.")
        return loss


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
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
