"""What a model's answers mean: which number of them raises the loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.data.frames import Features
from tippingpoint.data.labels import class_indices
from tippingpoint.data.vectors import read_labels, read_numbers, read_vector
from tippingpoint.errors import InputError, ModelError, UnsupportedError, listed
from tippingpoint.families.blackbox.calling import Caller, Method, key, numbers
from tippingpoint.families.blackbox.returned import METHODS, as_vector, called, flaw_of_probabilities, method_for, predictor
from tippingpoint.families.blackbox.steadiness import check_labels_again, check_numbers, check_numbers_again, trial_rows
from tippingpoint.foreign import guarded
from tippingpoint.losses import Loss, identity, loss_named, own_name
from tippingpoint.query.reading import ScoreReading

if TYPE_CHECKING:
    from tippingpoint.families.blackbox.options import BlackBoxOptions

MIN_PROBABILITY = 1e-15
"""Probabilities are kept this far from 0 and 1: their logarithms are finite then."""

NOISE_DEVIATIONS = 6.0
"""Standard deviations of a noisy score that hardly any answer is off by."""


@dataclass(frozen=True)
class Decided:
    """How answers are read, as some rows told.

    Attributes
    ----------
    method
        Name of the method to ask; none for a function.
    output
        What it returns.
    width
        Numbers a row.
    guesses
        Whether nobody had said what the numbers are.
    notes
        How they were understood.
    """

    method: str | None
    output: str
    width: int
    guesses: bool
    notes: tuple[str, ...]


class Answered(Protocol):
    """Whoever knows how answers are read."""

    @property
    def decided(self) -> Decided | None:
        """How a classifier's answers are read; None for anything else, of which nothing is to be decided."""


@dataclass(frozen=True)
class AnswerReading(ScoreReading):
    """The reading of a black box.

    Attributes
    ----------
    decided
        How a classifier's answers are read; None for anything else, of which nothing is to be decided.
    """

    decided: Decided | None = None


def read_answers(
    model: Any,
    features: Features,
    y: Any,
    loss: str | Loss | Callable[..., Any] | None,
    options: BlackBoxOptions,
    caller: Caller,
    labels: tuple[Any, ...] | None = None,
    before: Answered | None = None,
) -> AnswerReading:
    """The user's loss on the answers of a model that answers the same rows the same, or is averaged.

    Where the rows are a part of the data, `labels` are the distinct ones of them all, and `before` knows how answers to some
    of them were read: these are read alike, and the model is not tried out again.
    """
    n = len(features.x)
    if callable(loss) and not isinstance(loss, Loss):
        return _own_loss(model, features, read_vector(y, "y", n), loss, options, caller, before)
    classes = _classes(model, options)
    chosen = loss_named(loss) if loss is not None else _default_loss(model, y if labels is None else labels, classes, options)
    if chosen.task == "regression":
        if classes is not None and getattr(model, "classes_", None) is not None:
            raise UnsupportedError(f"loss={chosen.label!r} judges regressors but the model is a classifier; use 'zero_one'.")
        option = "output" if options.output not in (None, "prediction") else "classes" if options.classes is not None else None
        if option is not None:
            raise UnsupportedError(
                f"{option}={getattr(options, option)!r} is said of classifiers, but loss={chosen.label!r} judges predictions;"
                " leave it out, or use 'zero_one'."
            )
        return _regression(model, features, read_numbers(y, "y", n), chosen, caller, before)
    if options.output == "prediction" or (classes is None and _is_regressor(model)):
        raise UnsupportedError(f"loss={chosen.label!r} judges classifiers but the model is a regressor; use 'squared'.")
    decided = None if before is None else before.decided
    return _Classifier(model, features, y, chosen, classes, options, caller, labels, decided).reading()


def _default_loss(model: Any, y: Any, classes: Sequence[Any] | None, options: BlackBoxOptions) -> Loss:
    """Numbers are predicted by regressors; anything else is a class."""
    if options.output == "prediction" or _is_regressor(model):
        return loss_named("squared")
    labels = read_vector(y, "y")
    continuous = labels.dtype.kind == "f" and not np.array_equal(labels, np.round(labels))
    return loss_named("squared" if continuous and classes is None and options.output is None else "zero_one")


def _is_regressor(model: Any) -> bool:
    from sklearn.base import is_regressor

    try:
        return bool(is_regressor(model))
    except Exception:  # noqa: BLE001  # whatever it is, it does not say that it is one
        return False


def _classes(model: Any, options: BlackBoxOptions) -> list[Any] | None:
    found = options.classes if options.classes is not None else getattr(model, "classes_", None)
    return None if found is None else [label.item() if isinstance(label, np.generic) else label for label in found]


def _regression(
    model: Any, features: Features, target: FloatArray, loss: Loss, caller: Caller, before: Answered | None
) -> AnswerReading:
    def predicted(rows: IntArray, x: FloatArray) -> FloatArray:
        outputs = caller.averaged(predictor(model), rows, x)
        if outputs.ndim == 2 and outputs.shape[1] != 1:
            raise UnsupportedError(f"the model has {outputs.shape[1]} outputs; wrap the one you mean in a function.")
        return outputs.reshape(len(rows))

    def scores(rows: IntArray, x: FloatArray) -> FloatArray:
        return np.asarray(target[rows] - predicted(rows, x))

    if before is None:
        check_numbers(lambda rows: predicted(rows, features.x[rows]), len(target), caller, "predictions")
    return AnswerReading(loss, loss.label, loss.range, None, scores)


def _own_loss(
    model: Any,
    features: Features,
    y: np.ndarray[Any, Any],
    own: Callable[..., Any],
    options: BlackBoxOptions,
    caller: Caller,
    before: Answered | None,
) -> AnswerReading:
    """The loss itself is averaged where answers are: what of it is random, the model or the loss, is then all one."""
    if options.output is None:
        method = next((getattr(model, name) for name in ("predict_proba", "predict") if hasattr(model, name)), model)
    else:
        method = method_for(model, options.output)

    def once(rows: IntArray, x: FloatArray) -> FloatArray:
        outputs = caller.once(method, rows, x)
        with guarded(lambda why: ModelError(f"the loss fails on outputs of shape {outputs.shape} ({why}); mend the function.")):
            found = np.array(own(outputs, y[rows]), dtype=float)
        if found.shape != (len(rows),):
            raise ModelError(f"the loss gave shape {found.shape} for {len(rows)} rows; it must return one number a row.")
        if not np.isfinite(found).all():
            bad = int(np.flatnonzero(~np.isfinite(found))[0])
            raise ModelError(f"the loss gave {found[bad]} for {features.row_words(int(rows[bad]))}; it must return numbers.")
        return found

    def scores(rows: IntArray, x: FloatArray) -> FloatArray:
        return caller.noise.averaged(lambda: once(rows, x))

    if before is None:
        check_numbers(lambda rows: once(rows, features.x[rows]), len(y), caller, "losses")
    name = own_name(own)
    return AnswerReading(identity(name), name, (-math.inf, math.inf), None, scores)


class _Classifier:
    """A classifier: its labels, and which of its methods to ask."""

    def __init__(
        self,
        model: Any,
        features: Features,
        y: Any,
        loss: Loss,
        classes: Sequence[Any] | None,
        options: BlackBoxOptions,
        caller: Caller,
        every: tuple[Any, ...] | None,
        decided: Decided | None,
    ) -> None:
        self._model = model
        self._features = features
        self._loss = loss
        self._caller = caller
        self._some = trial_rows(len(features.x))
        self._tried: dict[Hashable, np.ndarray[Any, Any]] = {}
        self._notes: list[str] = []
        labels = read_labels(y, "y", len(features.x))
        self._held = frozenset(labels.tolist() if every is None else every)
        self._known = {*self._held, *(classes or ())}
        if decided is None:
            self._method, self._output = self._chosen(options)
            self._check_steady(self._method, self._output)
        else:
            self._method = model if decided.method is None else getattr(model, decided.method)
            self._output, self._guesses = decided.output, decided.guesses
        width = 1 if self._output == "label" else self._width() if decided is None else decided.width
        known = classes if classes is not None else self._unnamed(labels.dtype.kind, width)
        wanted = len(known) if known is not None else max(2, width)
        self._check_width(width, wanted)
        index, self._classes = class_indices(labels, known, wanted if wanted > 2 else 1, every)
        self._index = index.astype(np.intp)
        if decided is not None:
            self._notes.extend(decided.notes)
        elif self._guesses:
            self._notes.append(self._how_read(width))
        asked = next((name for name in METHODS.values() if getattr(model, name, None) == self._method), None)
        self._decided = Decided(asked, self._output, width, self._guesses, tuple(self._notes))

    def reading(self) -> AnswerReading:
        loss = self._loss
        if self._output == "label" and not loss.needs_crossing:
            raise UnsupportedError(
                f"loss={loss.label!r} needs scores or probabilities, but the model only tells classes; use 'zero_one', or pass"
                " a model with predict_proba or decision_function."
            )
        graded, label = self._output != "label", loss.label_of(len(self._classes))
        return AnswerReading(loss, label, loss.range, self._index, self._scores, graded, tuple(self._notes), self._decided)

    def _unnamed(self, kind: str, width: int) -> list[Any] | None:
        """The classes of a model that names none, where the data tell: those of y, or the numbers of its outputs."""
        if len(self._held) == 1:  # which says nothing of the others
            return None
        if self._output == "label":
            return sorted(self._held)
        numbered = kind in "iuf" and self._held <= set(range(width))
        return list(range(width)) if numbered and 2 < width != len(self._held) else None

    def _check_width(self, width: int, classes: int) -> None:
        """Refuse so many outputs as the classes that are named do not have."""
        if self._output != "label" and max(2, width) != classes:
            raise InputError(
                f"the model returns {width} {called(self._output)} a row, but there are {classes} classes; name one for each"
                " of its outputs, in their order, as classes=[...]."
            )

    def _how_read(self, width: int) -> str:
        """How numbers were understood that nobody explained."""
        method = "predict" if hasattr(self._model, "predict") else "the model"
        if width > 1:
            shown = listed(self._classes)
            return f"{method} returns {called(self._output)}, read in the order {shown}: the largest tells the class"
        limit = "0.5" if self._output == "probability" else "0"
        return (
            f"{method} returns {called(self._output)}, read as those of {self._classes[1]!r}: above {limit} that is the class"
        )

    def _chosen(self, options: BlackBoxOptions) -> tuple[Method, str]:
        """The method to ask, and what it returns; scores only where they agree with what the model predicts."""
        model = self._model
        self._guesses = False
        if options.output is not None:
            return self._obeyed(options.output), options.output
        if not hasattr(model, "predict") and callable(model):
            return model, getattr(model, "returns", None) or self._guessed(model)
        soft = self._loss.name == "logistic"
        methods = [("decision_function", "score"), ("predict_proba", "probability")]
        for name, output in reversed(methods) if soft else methods:
            method = getattr(model, name, None)
            if method is None:
                continue
            if soft or self._agrees(method, output):
                return method, output
            self._check_steady(method, output)  # noise alone makes scores and predictions disagree
        return predictor(model), self._guessed(predictor(model))

    def _obeyed(self, output: str) -> Method:
        """The method that returns what the user says, if its answers can be that."""
        method = method_for(self._model, output)
        outputs = self._trial(method)
        if output == "label":
            if outputs.dtype.kind == "f" and not self._known.issuperset(outputs.ravel().tolist()):
                raise InputError(f"output='label', but the model returns {self._odd(outputs)}; {self._remedy(outputs)}.")
            return method
        flaw = flaw_of_probabilities(numbers(outputs)) if output == "probability" else None
        if flaw is not None:
            raise InputError(f"output='probability', but what the model returns is none: {flaw}; say output='score'.")
        if getattr(self._model, METHODS[output], None) is not None and not self._agrees(method, output):
            self._check_steady(method, output)
            self._notes.append(f"predict disagrees with the largest {output} on some rows; output={output!r} is what counts")
        return method

    def _check_steady(self, method: Method, output: str) -> None:
        """Refuse answers that are others when asked again, and labels that would be averaged."""
        caller = self._caller

        def again(rows: IntArray) -> np.ndarray[Any, Any]:
            return as_vector(caller.once(method, rows, self._features.x[rows]))

        if output != "label":
            what, first = called(output), numbers(self._trial(method))
            check_numbers_again(lambda rows: numbers(again(rows)), self._some, first, caller, what)
        elif caller.noise.repeats == 1:
            check_labels_again(again, self._some, self._trial(method), caller)
        else:
            raise UnsupportedError(
                f"repeats={caller.noise.repeats} averages scores or probabilities, but the model tells labels, whose majority"
                " would be another model's answer; pass one with predict_proba or decision_function, or leave repeats out."
            )

    def _guessed(self, method: Method) -> str:
        """What numbers are that nobody explained: known labels, probabilities, or scores; text is labels."""
        outputs = self._trial(method)
        narrow = outputs.ndim == 1 or outputs.shape[1] == 1
        if narrow and self._known.issuperset(outputs.ravel().tolist()):
            return "label"
        if hasattr(self._model, "predict") and narrow and outputs.dtype.kind != "f":
            return "label"  # text, or whole numbers, of which one is not in y: `_labelled` says so
        if outputs.dtype.kind not in "fiu":
            known = sorted(self._known, key=str)
            raise InputError(f"the model returns {outputs.flat[0]!r}, which is none of the labels in y, {known!r}.")
        self._guesses = True
        if flaw_of_probabilities(numbers(outputs)) is None:
            return "probability"
        if hasattr(self._model, "predict") and narrow:
            raise InputError(f"the model's predict returns {self._odd(outputs)}; {self._remedy(outputs)}.")
        return "score"

    def _odd(self, outputs: np.ndarray[Any, Any]) -> str:
        odd = next(each for each in outputs.ravel().tolist() if each not in self._known)
        return f"{odd:.6g}, which is none of the labels {listed(sorted(self._known, key=str))}"

    def _remedy(self, outputs: np.ndarray[Any, Any]) -> str:
        """What to say of numbers that are no labels."""
        if flaw_of_probabilities(numbers(outputs)) is None:
            return "say output='probability'"
        return (
            "say output='score' if above 0 means the second class, output='prediction' if it is a regressor, or name all"
            " labels, as classes=[...]"
        )

    def _agrees(self, method: Method, output: str) -> bool:
        """Whether the highest score is what the model predicts."""
        model = self._model
        if not hasattr(model, "predict"):
            return True
        outputs = self._trial(model.predict)
        noise = self._caller.noise
        many = noise.repeats > 1
        scored = self._caller.averaged(method, self._some, self._features.x[self._some]) if many else self._trial(method)
        scored = numbers(scored)
        classes = list(getattr(model, "classes_", sorted(set(outputs.ravel().tolist()))))
        single = scored.ravel() - (0.5 if output == "probability" else 0.0)
        wide = scored if scored.ndim == 2 and scored.shape[1] > 1 else np.column_stack((-single, single))
        if wide.shape[1] != len(classes):
            return False
        lead = np.sort(wide, axis=1)
        clear = lead[:, -1] - lead[:, -2] > 2.0 * NOISE_DEVIATIONS * noise.single
        best = [classes[k] for k in wide.argmax(axis=1)]
        return all(a == b for a, b, c in zip(outputs.ravel().tolist(), best, clear, strict=True) if c)

    def _trial(self, method: Method) -> np.ndarray[Any, Any]:
        """What a method says of some rows; asked once."""
        if key(method) not in self._tried:
            outputs = self._caller.once(method, self._some, self._features.x[self._some])
            self._tried[key(method)] = as_vector(outputs)
        return self._tried[key(method)]

    def _width(self) -> int:
        outputs = self._trial(self._method)
        return 1 if outputs.ndim == 1 else int(outputs.shape[1])

    def _scores(self, rows: IntArray, x: FloatArray) -> FloatArray:
        if self._output == "label":
            return np.where(self._labelled(self._caller.once(self._method, rows, x)) == self._index[rows], -1.0, 1.0)
        return self._ahead(self._caller.averaged(self._method, rows, x), self._index[rows])

    def _labelled(self, outputs: np.ndarray[Any, Any]) -> IntArray:
        """The places of labels among the classes."""
        place = {label: k for k, label in enumerate(self._classes)}
        try:
            return np.array([place[label] for label in outputs.ravel().tolist()], dtype=np.intp)
        except (KeyError, TypeError):
            odd = next(label for label in outputs.ravel().tolist() if not (isinstance(label, Hashable) and label in place))
            raise ModelError(
                f"the model returns the label {odd!r}, which is none of {listed(self._classes)}; name all that it may return as"
                " classes=[...]."
            ) from None

    def _ahead(self, outputs: FloatArray, own: IntArray) -> FloatArray:
        """By how much the other classes are ahead of the true one."""
        scores = outputs.reshape(len(own), -1)
        if self._output == "probability":
            return self._odds(scores, own)
        if scores.shape[1] == 1:
            v = -np.where(own > 0, 1.0, -1.0) * scores[:, 0]
            # A score of exactly 0 is read as the first class: right for it, though on the boundary.
            return np.where((v == 0.0) & (own == 0), -np.finfo(float).tiny, v)
        mine, others = _split(scores, own)
        v = others.max(axis=1) - mine
        return np.where((v == 0.0) & (scores.argmax(axis=1) == own), -np.finfo(float).tiny, v)

    def _odds(self, shares: FloatArray, own: IntArray) -> FloatArray:
        flaw = flaw_of_probabilities(shares)
        if flaw is not None:
            # Where they were taken for probabilities, what was found by then was misread, and is no upper bound.
            kind = InputError if self._guesses else ModelError
            raise kind(f"the model's probabilities are none: {flaw}; if they are scores, say output='score'.")
        if shares.shape[1] == 1:
            shares = np.column_stack((1.0 - shares[:, 0], shares[:, 0]))
        mine, others = _split(shares, own)
        rivals = others.max(axis=1) if self._loss.name != "logistic" else 1.0 - mine
        v = np.log(np.clip(rivals, MIN_PROBABILITY, 1.0)) - np.log(np.clip(mine, MIN_PROBABILITY, 1.0))
        return np.where((v == 0.0) & (shares.argmax(axis=1) == own), -np.finfo(float).tiny, v)


def _split(scores: FloatArray, own: IntArray) -> tuple[FloatArray, FloatArray]:
    """The true class's score, and those of the others."""
    mine = np.take_along_axis(scores, own[:, None], axis=1)[:, 0]
    others = scores.copy()
    np.put_along_axis(others, own[:, None], -np.inf, axis=1)
    return mine, others
