"""Anything with `predict`, `predict_proba` or `decision_function`, a booster, or a function of the data."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.oracle import Oracle
from tippingpoint.data.frames import Features
from tippingpoint.data.vectors import read_vector
from tippingpoint.errors import InputError, ModelError
from tippingpoint.families.base import Family, Judgement, Learnt, Margins, Refusal, Shared, Subject, told_apart
from tippingpoint.families.blackbox.calling import Caller
from tippingpoint.families.blackbox.options import BlackBoxOptions
from tippingpoint.families.blackbox.outputs import Decided, read_answers
from tippingpoint.families.blackbox.thresholds import breakpoints
from tippingpoint.families.capabilities import EVERY_KIND, Capability
from tippingpoint.families.options import Options, check_whole
from tippingpoint.foreign import is_module
from tippingpoint.losses import LOSSES, Loss
from tippingpoint.preprocessing.boosters import booster_estimator
from tippingpoint.preprocessing.categories import is_booster
from tippingpoint.preprocessing.modules import function_of_rows, steps_and_last
from tippingpoint.query.others import Others
from tippingpoint.query.queried import QueriedModel
from tippingpoint.space.domain import Domain

METHODS = ("predict", "predict_proba", "decision_function")
"""What a model is asked by, if it is no function."""

SHARED_CALLS_DIVISOR = 2
"""Of calls that several features share, one part in so many is used: so all features together, which have the same calls, scan
each of them as far, and are never less sensitive than one of them."""


LEARNING_DIVISOR, LEAST_LEARNT = 20, 16
"""Of a number of calls that is given, what the sample that partitions share may take: a part in so many is its rows, each of
which takes one call for its score and up to four to see what the model returns. With fewer rows little is to be learnt."""


class BlackBoxFamily(Family):
    """Models that can only be asked; of whatever nobody else serves, this family is asked last."""

    name = "black boxes"
    one = "a black box"
    options: type[Options] = BlackBoxOptions
    capabilities: tuple[Capability, ...] = (
        Capability(
            "black box: anything that predicts",
            tuple(LOSSES),
            ("whole numbers", "categories"),
            "exact",
            "all places, if up to 2,000 a row",
        ),
        Capability("black box: anything that predicts", tuple(LOSSES), EVERY_KIND, "searched", "calls of the model"),
    )

    def recognise(self, subject: Subject, given: Mapping[str, Any], reason: str) -> Judgement | Refusal | None:
        model, features = subject.model, subject.features
        if len(features.shape) != 1:
            shape = (len(features.x), *features.shape)
            raise InputError(f"X has shape {shape}; give a table of rows and columns (a PyTorch module may take more).")
        steps, last = steps_and_last(model)
        if is_module(last):
            model = function_of_rows(steps, last)
        elif is_booster(model):
            model = booster_estimator(model, features, subject.y, given.get("classes"))
        if not (callable(model) or any(hasattr(model, name) for name in METHODS)):
            return Refusal(f"{type(model).__name__} has none of {', '.join(METHODS)}, and is no function")
        if not any(hasattr(model, name) for name in METHODS):
            _check_arguments(model)
        options = BlackBoxOptions.read(given)
        return BlackBoxJudgement(model, features, subject.y, subject.loss, options, reason, subject.labels, subject.shared)


def _check_arguments(function: Callable[..., Any]) -> None:
    """Refuse a function that cannot be called with the rows alone."""
    try:
        takes = inspect.signature(function)
    except (TypeError, ValueError):  # of some compiled functions nothing is known
        return
    try:
        takes.bind(None)
    except TypeError as error:
        name = getattr(function, "__name__", type(function).__name__)
        raise InputError(
            f"model={name} cannot be called with one argument, the rows of X ({error}). Pass a function of the rows alone, for"
            " example lambda X: model.predict(X)."
        ) from None


@dataclass(frozen=True)
class LearntAnswers(Learnt):
    """What a model says of a sample of all rows.

    Attributes
    ----------
    decided
        How its answers are read.
    x, labels, now
        The rows, their classes where there are any, and their scores.
    """

    decided: Decided | None
    x: FloatArray
    labels: IntArray | None
    now: FloatArray


class BlackBoxJudgement(Judgement):
    """A model that can only be asked."""

    searched = True

    def __init__(
        self,
        model: Any,
        features: Features,
        y: Any,
        loss: str | Loss | Callable[..., Any] | None,
        options: BlackBoxOptions,
        reason: str,
        labels: tuple[Any, ...] | None = None,
        shared: Shared | None = None,
    ) -> None:
        rows = len(features.x)
        learnt = shared.learnt if shared is not None and isinstance(shared.learnt, LearntAnswers) else None
        check_whole("calls", options.calls, rows, optional=True, why=f"at least one call for each of the {rows} rows")
        self._options = options
        self._features = features
        self._model = model
        self._caller = Caller(model, features, options.batch, options.calls, options.repeats)
        self._judged_alike = partial(BlackBoxJudgement, model, loss=loss, reason=reason, labels=labels)
        self._reading = reading = read_answers(model, features, y, loss, options, self._caller, labels, learnt)
        self.label: str = reading.label
        self.range: tuple[float, float] = reading.range
        self.notes: tuple[str, ...] = reading.notes
        self._calls = self._left()
        self._answered = False
        others = None if learnt is None or shared is None else Others(learnt.x, learnt.labels, learnt.now, shared.numbers)
        self._queried = QueriedModel(reading, features.x, reason, self._caller.noise, options.seed, options.progress, others)

    def learnt(self, sample: Features, y: Any, calls: int | None) -> LearntAnswers:
        """How the answers to a sample are read, and its scores; of few calls, a part of them for a part of the sample."""
        options = replace(self._options, calls=None)
        if calls is not None:
            most = max(calls // (LEARNING_DIVISOR * options.repeats), LEAST_LEARNT)
            some = np.linspace(0, len(sample.x) - 1, min(most, len(sample.x))).astype(np.intp)
            sample, y = sample.take(some), read_vector(y, "y", len(sample.x))[some]
        other = self._judged_alike(features=sample, y=y, options=options)
        now = other._queried.now  # noqa: SLF001  # of its own kind
        reading = other._reading  # noqa: SLF001
        return LearntAnswers(other._caller.rows_asked, reading.decided, sample.x, reading.labels, now)  # noqa: SLF001

    def check_missing(self, domain: Domain) -> None:
        """Whatever it makes of what is missing, it can be asked."""

    def oracle(self, domain: Domain) -> Oracle:
        breaks = breakpoints(self._model, self._features, domain.free) if len(domain.free) else {}
        try:
            found = self._queried.oracle(domain, breaks, calls=self._calls)
        except ModelError as failure:
            if not self._answered:
                raise
            return self._queried.staying(domain, failure)
        self._answered = True
        return found

    def margins(self, domain: Domain) -> Margins:
        """What is known of a black box is what it answers, and nothing of what it costs to change its mind."""
        loss, v = self._reading.loss, self._queried.now
        return Margins(told_apart(v, v >= 0.0) if loss.needs_crossing else v, loss)

    def shared(self, parts: int) -> Judgement:
        left, each = self._calls, len(self._features.x) * self._options.repeats
        if left is None:
            return self
        if left // parts < each:
            raise InputError(
                f"calls={self._options.calls} is too small for {parts} features: each takes {self._takes} for every one of the"
                f" {len(self._features.x)} rows at least; give {self._caller.rows_asked + parts * each} or more, or ask about"
                " fewer features."
            )
        other = copy.copy(self)
        other._calls = max(left // (SHARED_CALLS_DIVISOR * parts), each)  # noqa: SLF001  # a copy of itself
        return other

    @property
    def _takes(self) -> str:
        return "a call" if self._options.repeats == 1 else f"{self._options.repeats} calls"

    def _left(self) -> int | None:
        """What is left of the calls once it is known what the model returns."""
        calls, rows, asked = self._options.calls, len(self._features.x), self._caller.rows_asked
        least = asked + rows * self._options.repeats
        if calls is not None and calls < least:
            raise InputError(
                f"calls={calls} is too small: it took {asked} calls to see what the model returns, and each of the {rows} rows"
                f" takes {self._takes}; give {least} or more."
            )
        return None if calls is None else calls - asked


FAMILY = BlackBoxFamily()
