"""Models that can only be asked: anything with `predict`, `predict_proba` or `decision_function`, or a function of the data."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any

from tippingpoint.core.oracle import Oracle
from tippingpoint.data.frames import Features
from tippingpoint.errors import InputError, ModelError
from tippingpoint.families.blackbox.answers import read_answers
from tippingpoint.families.blackbox.calling import Caller
from tippingpoint.families.blackbox.returned import OUTPUTS
from tippingpoint.families.blackbox.thresholds import breakpoints
from tippingpoint.families.registry import Judgement
from tippingpoint.losses import Loss
from tippingpoint.query.run import Quest
from tippingpoint.space.domain import Domain

SERVED = (
    "linear models and pipelines of scikit-learn, (coef, intercept), PyTorch modules, anything with predict, predict_proba or"
    " decision_function, and functions of a data frame; or evaluate alternatives of each sample yourself and pass them to"
    " tippingpoint.profile_table"
)


SHARED = 2
"""Of calls that several features share, one part in so many is used: so all features together, which have the same calls, scan
each of them as far, and are never less sensitive than one of them."""


@dataclass(frozen=True)
class Options:
    """How a model that can only be asked is searched.

    Attributes
    ----------
    calls
        Rows that the model may be asked about, in all; more find nothing worse. None for as many as it takes to scan every
        feature and to search among combinations of them, some hundreds a sample.
    seed
        Of what is drawn.
    batch
        Rows asked about at once.
    progress
        Whether to show a bar; None: on a terminal.
    output
        What the model returns, where that is not clear: "label", "probability", "score" or "prediction".
    classes
        Labels in the order of the model's outputs.
    repeats
        Calls for every row, of which the mean is taken: for models whose answers are noisy. Each counts.
    """

    calls: int | None = None
    seed: int = 0
    batch: int | None = None
    progress: bool | None = None
    output: str | None = None
    classes: Sequence[Any] | None = None
    repeats: int = 1

    @classmethod
    def read(cls, given: Mapping[str, Any], samples: int) -> Options:
        known = [f.name for f in fields(cls)]
        for name in given:
            if name not in known:
                raise InputError(f"{name}={given[name]!r} is not an option of black boxes; they are {', '.join(known)}.")
        options = cls(**given)
        for name, least in {"calls": samples, "seed": 0, "batch": 1, "repeats": 1}.items():
            value = getattr(options, name)
            if not (isinstance(value, Integral) and int(value) >= least) and not (name in ("calls", "batch") and value is None):
                told = f", at least one call for each of the {samples} rows" if name == "calls" else f", {least} or more"
                raise InputError(f"{name}={value!r} must be a whole number{told}.")
        if options.output not in (None, *OUTPUTS):
            raise InputError(f"output={options.output!r} is not known; use one of {', '.join(OUTPUTS)}.")
        if options.progress not in (None, True, False):
            raise InputError(f"progress={options.progress!r} must be True, False, or None for a bar where there is a terminal.")
        return options


class BlackBoxJudgement(Judgement):
    """A model that can only be asked."""

    searched = True
    counts_calls = True

    def __init__(
        self,
        model: Any,
        features: Features,
        y: Any,
        loss: str | Loss | Callable[..., Any] | None,
        given: Mapping[str, Any],
        reason: str,
    ) -> None:
        if not (callable(model) or any(hasattr(model, name) for name in ("predict", "predict_proba", "decision_function"))):
            raise InputError(f"model={type(model).__name__} is not served; these are: {SERVED}.")
        self._options = options = Options.read(given, len(features.x))
        self._features = features
        self._model = model
        self._caller = Caller(model, features, options.batch, options.calls, options.repeats)
        reading = read_answers(model, features, y, loss, options, self._caller)
        self.label, self.range, self.notes = reading.label, reading.range, reading.notes
        self._calls = self._left()
        self._answered = False
        self._quest = Quest(
            reading.scores,
            features.x,
            reading.loss,
            reading.graded,
            reading.labels,
            reason,
            self._caller.noise,
            options.seed,
            options.progress,
        )

    def check_missing(self, domain: Domain) -> None:
        """Whatever it makes of what is missing, it can be asked."""

    def oracle(self, domain: Domain) -> Oracle:
        breaks = breakpoints(self._model, self._features, domain.free) if len(domain.free) else {}
        try:
            found = self._quest.oracle(domain, breaks, calls=self._calls)
        except ModelError as failure:
            if not self._answered:
                raise
            return self._quest.resting(domain, failure)
        self._answered = True
        return found

    def shared(self, parts: int) -> Judgement:
        left, each = self._calls, len(self._features.x) * self._options.repeats
        if left is None:
            return self
        if left // parts < each:
            raise InputError(
                f"calls={self._options.calls} is too small for {parts} features: each takes {self._takes} for every one of the"
                f" {len(self._features.x)} rows at least; give {self._caller.asked + parts * each} or more, or ask about fewer"
                " features."
            )
        other = copy.copy(self)
        other._calls = max(left // (SHARED * parts), each)  # noqa: SLF001  # a copy of itself
        return other

    @property
    def _takes(self) -> str:
        return "a call" if self._options.repeats == 1 else f"{self._options.repeats} calls"

    def _left(self) -> int | None:
        """What is left of the calls once it is known what the model returns."""
        calls, rows, asked = self._options.calls, len(self._features.x), self._caller.asked
        least = asked + rows * self._options.repeats
        if calls is not None and calls < least:
            raise InputError(
                f"calls={calls} is too small: it took {asked} calls to see what the model returns, and each of the {rows} rows"
                f" takes {self._takes}; give {least} or more."
            )
        return None if calls is None else calls - asked
