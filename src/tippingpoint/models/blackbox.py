"""Models that can only be asked: anything with `predict`, `predict_proba` or `decision_function`, or a function of the data."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, blocks
from tippingpoint.domain import Domain
from tippingpoint.errors import InputError
from tippingpoint.frames import Features
from tippingpoint.losses import Loss
from tippingpoint.models.answers import OUTPUTS, read_answers
from tippingpoint.models.judging import Judgement
from tippingpoint.models.trees import breakpoints
from tippingpoint.oracles.base import Oracle
from tippingpoint.oracles.blackbox.run import Quest

BATCH = 2**16
"""Rows that a model is asked about at once, unless the user says how many."""

SERVED = (
    "linear models and pipelines of scikit-learn, (coef, intercept), PyTorch modules, anything with predict, predict_proba or"
    " decision_function, and functions of a data frame; or evaluate alternatives of each sample yourself and pass them to"
    " tippingpoint.profile_table"
)


@dataclass(frozen=True)
class Options:
    """How a model that can only be asked is searched.

    Attributes
    ----------
    calls
        Rows that the model may be asked about, in all; 500 a sample, or more where there are many features.
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
    """

    calls: int | None = None
    seed: int = 0
    batch: int | None = None
    progress: bool | None = None
    output: str | None = None
    classes: Sequence[Any] | None = None

    @classmethod
    def read(cls, given: Mapping[str, Any], samples: int) -> Options:
        known = [f.name for f in fields(cls)]
        for name in given:
            if name not in known:
                raise InputError(f"{name}={given[name]!r} is not an option of black boxes; they are {', '.join(known)}.")
        options = cls(**given)
        for name, least in {"calls": samples, "seed": 0, "batch": 1}.items():
            value = getattr(options, name)
            if not (isinstance(value, Integral) and int(value) >= least) and not (name != "seed" and value is None):
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
        self._options = Options.read(given, len(features.x))
        self._features = features
        self._model = model
        self._asked = 0
        reading = read_answers(model, features, y, loss, self._options, self._called)
        self.label, self.range = reading.label, reading.range
        self._quest = Quest(
            reading.scores,
            features.x,
            reading.loss,
            reading.graded,
            reading.labels,
            reason,
            self._left(),
            self._options.seed,
            self._options.progress,
        )

    def oracle(self, domain: Domain) -> Oracle:
        breaks = breakpoints(self._model, self._features, domain.free) if len(domain.free) else {}
        return self._quest.oracle(domain, breaks)

    def shared(self, parts: int) -> Judgement:
        left, rows = self._quest.calls, len(self._features.x)
        if left is None:
            return self
        if left // parts < rows:
            raise InputError(
                f"calls={self._options.calls} is too small for {parts} features: each takes a call for every one of the"
                f" {rows} rows at least; give {self._asked + parts * rows} or more, or ask about fewer features."
            )
        other = copy.copy(self)
        other._quest = replace(self._quest, calls=left // parts)  # noqa: SLF001  # a copy of itself
        return other

    def _left(self) -> int | None:
        """What is left of the calls once it is known what the model returns."""
        calls, rows = self._options.calls, len(self._features.x)
        if calls is not None and calls < self._asked + rows:
            raise InputError(
                f"calls={calls} is too small: it took {self._asked} calls to see what the model returns, and each of the"
                f" {rows} rows takes one; give {self._asked + rows} or more."
            )
        return None if calls is None else calls - self._asked

    def _called(self, method: Callable[[Any], Any], rows: IntArray, x: FloatArray) -> Any:
        """What the model says of these rows at these places, batch by batch."""
        self._asked += len(rows)
        parts = blocks(len(rows), self._options.batch or BATCH)
        return np.concatenate([self._call(method, rows[part], x[part]) for part in parts])

    def _call(self, method: Callable[[Any], Any], rows: IntArray, x: FloatArray) -> np.ndarray[Any, Any]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # such as names given or missing, or categories that an encoder ignores
                said = np.asarray(method(self._features.native_at(rows, x)))
        except Exception as error:
            raise self._failed(method, rows, x, error) from error
        if said.ndim not in (1, 2) or len(said) != len(rows):
            raise InputError(
                f"the model returns shape {said.shape} for {len(rows)} rows; it must return one value, or one row of scores,"
                " for each."
            )
        if said.dtype.kind == "f" and not np.isfinite(said).all():
            bad = int(np.argwhere(~np.isfinite(said))[0, 0])
            raise InputError(f"the model returns {said[bad]} for {self._told(int(rows[bad]), x[bad])}; it must return numbers.")
        return said

    def _failed(self, method: Callable[[Any], Any], rows: IntArray, x: FloatArray, error: Exception) -> InputError:
        """An error that names the first row on which the model fails, found by halving."""
        low, high = 0, len(rows)
        while high - low > 1:
            middle = (low + high) // 2
            try:
                method(self._features.native_at(rows[low:middle], x[low:middle]))
            except Exception:  # noqa: BLE001  # whatever it is, it is in this half
                high = middle
            else:
                low = middle
        why = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        told = self._told(int(rows[low]), x[low])
        return InputError(
            f"model={type(self._model).__name__} fails on {told} ({why}); restrict what may move with a Space, or pass the"
            " columns it was fitted on."
        )

    def _told(self, row: int, x: FloatArray) -> str:
        """A row, and what of it was changed."""
        features = self._features
        changed = [j for j in range(len(x)) if not (x[j] == features.x[row, j] or np.isnan(x[j]))]
        moved = ", ".join(f"{features.names[j]}={features.columns[j].label(float(x[j]))}" for j in changed[:3])
        return f"row {features.index[row]!r}" + (f" with {moved}" if moved else "")
