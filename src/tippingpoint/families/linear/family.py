"""Linear models: those of scikit-learn, pipelines that end in one, `(coef, intercept)`, and losses that hold the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, Signs
from tippingpoint.core.oracle import Oracle
from tippingpoint.data.frames import Features
from tippingpoint.data.labels import SmallArray, class_indices
from tippingpoint.data.vectors import read_labels, read_numbers
from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.families.base import Family, Judgement, Margins, Refusal, Subject, told_apart
from tippingpoint.families.capabilities import EVERY_KIND, Capability
from tippingpoint.families.linear.crossing import CrossingOracle
from tippingpoint.families.linear.geometry import Score, compliance
from tippingpoint.families.linear.oracle import linear_oracle
from tippingpoint.families.linear.pieces import PiecesOracle
from tippingpoint.families.linear.recognise import LinearModel, NotLinearError, read_classes, recognise
from tippingpoint.families.options import Options
from tippingpoint.foreign import is_module
from tippingpoint.losses import LOSSES, Loss, PiecewiseLinear, identity, loss_named
from tippingpoint.preprocessing.boosters import booster_estimator, linear_booster
from tippingpoint.preprocessing.categories import is_booster
from tippingpoint.preprocessing.modules import steps_and_last
from tippingpoint.space.domain import Domain
from tippingpoint.text import LINEAR, LIPSCHITZ, RELAXED

ALL_BUT_FINE = tuple(kind for kind in EVERY_KIND if kind != "fine steps")
"""Steps too many to be counted are rounded."""


@dataclass(frozen=True)
class LinearOptions(Options):
    """What a linear model does not say of itself.

    Attributes
    ----------
    classes
        Labels of plain coefficients in the order of the scores, needed if `y` holds one class only; of one score the
        second is the class of positive scores.
    """

    classes: Sequence[Any] | None = None


class LinearFamily(Family):
    """Scores `coef·x + intercept` of the user's columns, whoever fitted them."""

    name = "linear models"
    one = "a linear model"
    options: type[Options] = LinearOptions
    capabilities: tuple[Capability, ...] = (
        Capability("linear: a regressor, or two classes", tuple(LOSSES), ALL_BUT_FINE, "exact", "closed forms"),
        Capability("linear: several classes", ("zero_one",), ALL_BUT_FINE, "exact", "the nearest boundary"),
        Capability(
            "none: a `PiecewiseLinear` loss of the features",
            ("PiecewiseLinear",),
            ALL_BUT_FINE,
            "exact",
            "closed form of every piece",
        ),
        Capability(
            "linear: a regressor, two classes, or pieces of the features",
            (*LOSSES, "PiecewiseLinear"),
            ("fine steps",),
            "bounded",
            "rounding, and bounded as if steps were none",
        ),
        Capability(
            "linear: several classes", ("zero_one",), ("fine steps",), "bounded", "rounding, and bounded as if steps were none"
        ),
    )

    def recognise(self, subject: Subject, given: Mapping[str, Any], reason: str) -> Judgement | Refusal | None:
        model, features, loss = subject.model, subject.features, subject.loss
        if len(features.shape) != 1 or is_module(steps_and_last(model)[1]):
            return None
        classes = LinearOptions.read(given).classes
        if isinstance(loss, PiecewiseLinear) and loss.of_features:
            return PiecesJudgement(model, features, subject.y, loss, subject.labels, classes)
        if is_booster(model) and linear_booster(model) is not None:
            model = booster_estimator(model, features, subject.y, classes)
        try:
            linear = recognise(model, features)
        except NotLinearError as why:
            return Refusal(str(why))
        if callable(loss) and not isinstance(loss, Loss):
            return Refusal("a loss of your own is not known in closed form")
        linear = linear if classes is None else linear.with_classes(classes)
        chosen = loss_named(_usual(linear) if loss is None else loss)
        if len(linear.coef) > 1 and linear.classes and chosen.name != "zero_one":
            return Refusal(f"the {chosen.label} loss of {len(linear.coef)} classes has no closed form")
        return LinearJudgement(linear, features, subject.y, chosen, subject.labels)


def _usual(linear: LinearModel) -> str:
    return "squared" if linear.regressor else "zero_one"


class LinearJudgement(Judgement):
    """A linear model; everything about it is exact."""

    def __init__(
        self, linear: LinearModel, features: Features, y: Any, loss: Loss, labels: tuple[Any, ...] | None = None
    ) -> None:
        self.label: str = loss.label
        self.range: tuple[float, float] = loss.range
        self._features = features
        self._linear = linear
        self._loss = loss
        self._target = self._targets(y) if loss.task == "regression" else None
        self._index = self._labels(y, labels) if loss.task == "classification" else None

    def check_missing(self, domain: Domain) -> None:
        if domain.missing:
            name = domain.names[next(iter(domain.missing))]
            raise UnsupportedError(
                f"missing[{name!r}]: of a linear model, a number that moves freely and may go missing has no closed form; make"
                " it 'integer' within bounds, or pass the model as a function (lambda X: model.predict(X)), which is searched."
            )

    def oracle(self, domain: Domain) -> Oracle:
        x, (first, *others) = self._features.x, self._linear.scores
        if others and self._index is not None:
            return CrossingOracle.multiclass(x, self._index.astype(np.intp), self._linear.scores, domain, self._values)
        y = self._signs if self._target is None else self._target
        return linear_oracle(x, y, first, self._loss, domain, self._values[:, 0])

    def margins(self, domain: Domain) -> Margins:
        """Of several classes the margin is the distance to the nearest boundary, which moves no faster than the sample."""
        if self._target is not None:
            return Margins(self._target - self._values[:, 0], self._loss, *_shifting(self._linear.scores[0], domain))
        if len(self._linear.scores) > 1:
            return self._nearest_boundary(domain)
        v = -self._signs * self._values[:, 0]
        if self._loss.needs_crossing:
            v = told_apart(v, (self._values[:, 0] > 0.0) != (self._signs > 0))
        return Margins(v, self._loss, *_shifting(self._linear.scores[0], domain))

    def _nearest_boundary(self, domain: Domain) -> Margins:
        """`max_k (s_k - s_y)/√B_k`, where `B_k` is what shifting that difference takes."""
        own, scores = np.asarray(self._index, dtype=np.intp), self._linear.scores
        v = np.full(len(own), -np.inf)
        for a, mine in enumerate(scores):
            rows = np.flatnonzero(own == a)
            for k, rival in enumerate(scores):
                free, _ = compliance(rival.minus(mine), domain) if k != a else (0.0, False)
                if free > 0.0:
                    v[rows] = np.maximum(v[rows], (self._values[rows, k] - self._values[rows, a]) / np.sqrt(free))
        if np.isinf(v).any():
            raise UnsupportedError("no feature that the model uses may move, so its margins cost nothing that can be measured.")
        return Margins(told_apart(v, np.argmax(self._values, axis=1) != own), self._loss, 1.0, LIPSCHITZ)

    @cached_property
    def _values(self) -> FloatArray:
        return self._linear.values(self._features.x)

    @cached_property
    def _signs(self) -> Signs:
        return _signs(np.asarray(self._index))

    def _targets(self, y: Any) -> FloatArray:
        linear = self._linear
        if linear.classes is not None:
            raise UnsupportedError(
                f"loss={self.label!r} judges regressors but the model is a classifier; use {_names_of('classification')}."
            )
        if len(linear.coef) > 1:
            raise UnsupportedError(f"the model has {len(linear.coef)} scores; pass one output at a time, as (coef, intercept).")
        return read_numbers(y, "y", len(self._features.x))

    def _labels(self, y: Any, known: tuple[Any, ...] | None) -> SmallArray:
        linear = self._linear
        if linear.regressor:
            raise UnsupportedError(
                f"loss={self.label!r} judges classifiers but the model is a regressor; use {_names_of('regression')}."
            )
        labels = read_labels(y, "y", len(self._features.x))
        index, classes = class_indices(labels, linear.classes, len(linear.coef), known)
        if len(linear.coef) > 1 and self._loss.name != "zero_one":
            raise UnsupportedError(
                f"loss={self.label!r} of {len(classes)} classes is not served for plain coefficients; use 'zero_one', which is"
                " exact, or pass the model itself, which is searched."
            )
        return index


class PiecesJudgement(Judgement):
    """A piecewise-linear loss of the features themselves, which holds the model."""

    def __init__(
        self,
        model: Any,
        features: Features,
        y: Any,
        loss: PiecewiseLinear,
        labels: tuple[Any, ...] | None = None,
        classes: Sequence[Any] | None = None,
    ) -> None:
        if model is not None:
            raise InputError("a PiecewiseLinear loss of the features holds the model already; pass model=None.")
        if loss.slopes.shape[1] != features.x.shape[1]:
            raise InputError(
                f"the loss has {loss.slopes.shape[1]} coefficients a piece but X has {features.x.shape[1]} columns."
            )
        features.check_numbers()
        self.label: str = loss.label
        self.range: tuple[float, float] = loss.range
        self._x = features.x
        known = None if classes is None else read_classes(classes, 1)
        index, _ = class_indices(read_labels(y, "y", len(features.x)), known, 1, labels)
        self._signs = _signs(index)
        self._loss = loss

    def oracle(self, domain: Domain) -> Oracle:
        return PiecesOracle(self._x, self._signs.astype(float), self._loss, domain)

    def margins(self, domain: Domain) -> Margins:
        """The loss itself, which is no steeper than the steepest of its pieces."""
        losses = PiecesOracle(self._x, self._signs.astype(float), self._loss, domain.only(())).losses
        steepest = max(compliance(Score(slopes, 0.0), domain)[0] for slopes in self._loss.slopes)
        return Margins(losses, identity(self.label), steepest, LIPSCHITZ)


def _shifting(score: Score, domain: Domain) -> tuple[float, str]:
    """What it takes to shift a score, and what that means."""
    found, attained = compliance(score, domain)
    return found, LINEAR if attained else RELAXED


def _signs(index: SmallArray) -> Signs:
    """-1 for the first of two classes, +1 for the second."""
    signs = (index > 0).astype(np.int8)
    signs *= 2
    signs -= 1
    return signs


def _names_of(task: str) -> str:
    return ", ".join(repr(name) for name, make in LOSSES.items() if make().task == task)


FAMILY = LinearFamily()
