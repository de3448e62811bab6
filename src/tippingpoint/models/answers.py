"""What a model's answers mean: which number of them raises the loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.frames import Features, read_labels, read_numbers, read_vector
from tippingpoint.losses import Loss, PiecewiseLinear, loss_named
from tippingpoint.models.labels import class_indices

if TYPE_CHECKING:
    from tippingpoint.models.blackbox import Options

OUTPUTS = ("label", "probability", "score", "prediction")
"""What a model may return: a class, probabilities of classes, scores of classes (or of the second), or a number."""

CERTAIN = 1e-15
"""Probabilities are kept this far from 0 and 1: their logarithms are finite then."""

TRIAL = 256
"""Rows on which scores are compared with predictions."""

Method = Callable[[Any], Any]
Called = Callable[[Method, IntArray, FloatArray], Any]
"""Asks a method of the model about rows at places."""


@dataclass(frozen=True)
class Reading:
    """What a model's answers mean for a loss.

    Attributes
    ----------
    loss, label, range
        `f`, what it is called, and its least and largest value.
    scores
        `v` of rows at places.
    labels
        The true class of every sample; None where there are no classes.
    graded
        Whether `v` says how far an error is, or only whether there is one.
    """

    loss: Loss
    label: str
    range: tuple[float, float]
    scores: Callable[[IntArray, FloatArray], FloatArray]
    labels: IntArray | None = None
    graded: bool = True


def read_answers(
    model: Any, features: Features, y: Any, loss: str | Loss | Callable[..., Any] | None, options: Options, called: Called
) -> Reading:
    """The user's loss on the answers of a model."""
    n = len(features.x)
    if callable(loss) and not isinstance(loss, Loss):
        return _own_loss(model, read_vector(y, "y", n), loss, called)
    classes = _classes(model, options)
    chosen = loss_named(loss) if loss is not None else _default_loss(model, y, classes, n, options)
    if chosen.task == "regression":
        if classes is not None and getattr(model, "classes_", None) is not None:
            raise UnsupportedError(f"loss={chosen.label!r} judges regressors but the model is a classifier; use 'zero_one'.")
        return _regression(model, read_numbers(y, "y", n), chosen, called)
    if options.output == "prediction" or (classes is None and _is_regressor(model)):
        raise UnsupportedError(f"loss={chosen.label!r} judges classifiers but the model is a regressor; use 'squared'.")
    return _Classifier(model, features, y, chosen, classes, options, called).reading()


def _default_loss(model: Any, y: Any, classes: Sequence[Any] | None, n: int, options: Options) -> Loss:
    """Numbers are predicted by regressors; anything else is a class."""
    if options.output == "prediction" or _is_regressor(model):
        return loss_named("squared")
    labels = read_vector(y, "y", n)
    continuous = labels.dtype.kind == "f" and not np.array_equal(labels, np.round(labels))
    return loss_named("squared" if continuous and classes is None and options.output is None else "zero_one")


def _is_regressor(model: Any) -> bool:
    from sklearn.base import is_regressor

    try:
        return bool(is_regressor(model))
    except Exception:  # noqa: BLE001  # whatever it is, it does not say that it is one
        return False


def _classes(model: Any, options: Options) -> list[Any] | None:
    found = options.classes if options.classes is not None else getattr(model, "classes_", None)
    return None if found is None else [label.item() if isinstance(label, np.generic) else label for label in found]


def _predictor(model: Any) -> Method:
    return model.predict if hasattr(model, "predict") else model  # type: ignore[no-any-return]  # the user's own method


def _regression(model: Any, target: FloatArray, loss: Loss, called: Called) -> Reading:
    def scores(rows: IntArray, x: FloatArray) -> FloatArray:
        said = np.asarray(called(_predictor(model), rows, x), dtype=float)
        if said.ndim == 2 and said.shape[1] != 1:
            raise UnsupportedError(f"the model has {said.shape[1]} outputs; wrap the one you mean in a function.")
        return np.asarray(target[rows] - said.reshape(len(rows)))

    return Reading(loss, loss.label, loss.range, scores)


def _own_loss(model: Any, y: np.ndarray[Any, Any], own: Callable[..., Any], called: Called) -> Reading:
    method = next((getattr(model, name) for name in ("predict_proba", "predict") if hasattr(model, name)), model)

    def scores(rows: IntArray, x: FloatArray) -> FloatArray:
        found = np.asarray(own(called(method, rows, x), y[rows]), dtype=float)
        if found.shape != (len(rows),):
            raise InputError(f"the loss gave shape {found.shape} for {len(rows)} rows; it must return one number a row.")
        return found

    name = getattr(own, "__name__", type(own).__name__)
    identity = PiecewiseLinear([1.0], [0.0], "classification", name)
    return Reading(identity, name, (-math.inf, math.inf), scores)


class _Classifier:
    """A classifier: its labels, and which of its methods to ask."""

    def __init__(
        self,
        model: Any,
        features: Features,
        y: Any,
        loss: Loss,
        classes: Sequence[Any] | None,
        options: Options,
        called: Called,
    ) -> None:
        self._model = model
        self._features = features
        self._loss = loss
        self._called = called
        self._some = np.linspace(0, len(features.x) - 1, min(TRIAL, len(features.x))).astype(np.intp)
        self._tried: dict[Method, np.ndarray[Any, Any]] = {}
        labels = read_labels(y, "y", len(features.x))
        self._method, self._output = self._chosen(options, labels)
        width = 1 if self._output == "label" else self._width()
        known = classes if classes is not None else (sorted(set(labels.tolist())) if self._output == "label" else None)
        wanted = len(known) if known is not None else max(2, width)
        self._index, self._classes = class_indices(labels, known, wanted if wanted > 2 else 1)

    def reading(self) -> Reading:
        loss = self._loss
        if self._output == "label" and not loss.needs_crossing:
            raise UnsupportedError(
                f"loss={loss.label!r} needs scores or probabilities, but the model only tells classes; use 'zero_one', or pass"
                " a model with predict_proba or decision_function."
            )
        return Reading(loss, loss.label, loss.range, self._scores, self._index, self._output != "label")

    def _chosen(self, options: Options, labels: np.ndarray[Any, Any]) -> tuple[Method, str]:
        """The method to ask, and what it returns; scores only where they agree with what the model predicts."""
        model = self._model
        if not hasattr(model, "predict") and callable(model):
            return model, options.output or getattr(model, "returns", None) or self._guessed(model, labels)
        soft = self._loss.name == "logistic"
        ways = [("decision_function", "score"), ("predict_proba", "probability")]
        for name, output in reversed(ways) if soft else ways:
            method = getattr(model, name, None)
            if method is not None and options.output in (None, output) and (soft or self._agrees(method)):
                return method, output
        return _predictor(model), "label"

    def _guessed(self, function: Method, labels: np.ndarray[Any, Any]) -> str:
        said = self._trial(function)
        known = set(labels.tolist())
        if said.ndim == 1 and known.issuperset(said.tolist()):
            return "label"
        if said.dtype.kind not in ("f", "i", "u"):
            raise InputError(f"the model returns {said.flat[0]!r}, which is none of the labels in y, {sorted(known)!r}.")
        within = bool(((said >= 0.0) & (said <= 1.0)).all())
        sums = said.ndim == 1 or said.shape[1] == 1 or bool(np.allclose(said.sum(axis=1), 1.0, atol=1e-6))
        return "probability" if within and sums else "score"

    def _agrees(self, method: Method) -> bool:
        """Whether the highest score is what the model predicts."""
        model = self._model
        if not hasattr(model, "predict"):
            return True
        said = self._trial(model.predict)
        scored = np.asarray(self._trial(method), dtype=float)
        classes = list(getattr(model, "classes_", sorted(set(said.tolist()))))
        wide = scored if scored.ndim == 2 and scored.shape[1] > 1 else np.column_stack((-scored.ravel(), scored.ravel()))
        if wide.shape[1] != len(classes):
            return False
        lead = np.sort(wide, axis=1)
        clear = lead[:, -1] > lead[:, -2]
        best = [classes[k] for k in wide.argmax(axis=1)]
        return all(a == b for a, b, c in zip(said.tolist(), best, clear, strict=True) if c)

    def _trial(self, method: Method) -> np.ndarray[Any, Any]:
        """What a method says of some rows; asked once."""
        if method not in self._tried:
            self._tried[method] = self._called(method, self._some, self._features.x[self._some])
        return self._tried[method]

    def _width(self) -> int:
        said = self._trial(self._method)
        return 1 if said.ndim == 1 else int(said.shape[1])

    def _scores(self, rows: IntArray, x: FloatArray) -> FloatArray:
        return self._ahead(self._called(self._method, rows, x), self._index[rows])

    def _ahead(self, said: np.ndarray[Any, Any], own: IntArray) -> FloatArray:
        """By how much the other classes are ahead of the true one."""
        if self._output == "label":
            place = {label: k for k, label in enumerate(self._classes)}
            index = np.array([place.get(label, -1) for label in said.tolist()])
            return np.where(index == own, -1.0, 1.0)
        scores = np.asarray(said, dtype=float).reshape(len(own), -1)
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
        if shares.shape[1] == 1:
            shares = np.column_stack((1.0 - shares[:, 0], shares[:, 0]))
        mine, others = _split(shares, own)
        rivals = others.max(axis=1) if self._loss.name != "logistic" else 1.0 - mine
        v = np.log(np.clip(rivals, CERTAIN, 1.0)) - np.log(np.clip(mine, CERTAIN, 1.0))
        return np.where((v == 0.0) & (shares.argmax(axis=1) == own), -np.finfo(float).tiny, v)


def _split(scores: FloatArray, own: IntArray) -> tuple[FloatArray, FloatArray]:
    """The true class's score, and those of the others."""
    mine = np.take_along_axis(scores, own[:, None], axis=1)[:, 0]
    others = scores.copy()
    np.put_along_axis(others, own[:, None], -np.inf, axis=1)
    return mine, others
