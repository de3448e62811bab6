"""A linear model on data, judged by a loss: everything about it is exact."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.oracle import Oracle
from tippingpoint.data.frames import Features, read_labels, read_numbers
from tippingpoint.data.labels import class_indices
from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.families.base import Judgement
from tippingpoint.families.linear.crossing import CrossingOracle
from tippingpoint.families.linear.oracle import linear_oracle
from tippingpoint.families.linear.pieces import PiecesOracle
from tippingpoint.families.linear.recognise import LinearModel
from tippingpoint.losses import LOSSES, Loss, PiecewiseLinear
from tippingpoint.space.domain import Domain


class LinearJudgement(Judgement):
    """A linear model; everything about it is exact."""

    def __init__(self, linear: LinearModel, features: Features, y: Any, loss: Loss) -> None:
        self.label, self.range = loss.label, loss.range
        self._features = features
        self._linear = linear
        self._loss = loss
        self._target = self._targets(y) if loss.task == "regression" else None
        self._index = self._labels(y) if loss.task == "classification" else None

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
            return CrossingOracle.multiclass(x, self._index, self._linear.scores, domain, self._values)
        y = self._signs if self._target is None else self._target
        return linear_oracle(x, y, first, self._loss, domain, self._values[:, 0])

    @cached_property
    def _values(self) -> FloatArray:
        return self._linear.values(self._features.x)

    @cached_property
    def _signs(self) -> FloatArray:
        return np.where(np.asarray(self._index) > 0, 1.0, -1.0)

    def _targets(self, y: Any) -> FloatArray:
        linear = self._linear
        if linear.classes is not None:
            raise UnsupportedError(
                f"loss={self.label!r} judges regressors but the model is a classifier; use {_names_of('classification')}."
            )
        if len(linear.coef) > 1:
            raise UnsupportedError(f"the model has {len(linear.coef)} scores; pass one output at a time, as (coef, intercept).")
        return read_numbers(y, "y", len(self._features.x))

    def _labels(self, y: Any) -> IntArray:
        linear = self._linear
        if linear.regressor:
            raise UnsupportedError(
                f"loss={self.label!r} judges classifiers but the model is a regressor; use {_names_of('regression')}."
            )
        index, classes = class_indices(read_labels(y, "y", len(self._features.x)), linear.classes, len(linear.coef))
        if len(linear.coef) > 1 and self._loss.name != "zero_one":
            raise UnsupportedError(
                f"loss={self.label!r} of {len(classes)} classes is not served for plain coefficients; use 'zero_one', which is"
                " exact, or pass the model itself, which is searched."
            )
        return index


class PiecesJudgement(Judgement):
    """A piecewise-linear loss of the features themselves, which holds the model."""

    def __init__(self, model: Any, features: Features, y: Any, loss: PiecewiseLinear) -> None:
        if model is not None:
            raise InputError("a PiecewiseLinear loss of the features holds the model already; pass model=None.")
        if loss.slopes.shape[1] != features.x.shape[1]:
            raise InputError(
                f"the loss has {loss.slopes.shape[1]} coefficients a piece but X has {features.x.shape[1]} columns."
            )
        features.check_numbers()
        self.label, self.range = loss.label, loss.range
        self._x = features.x
        index, _ = class_indices(read_labels(y, "y", len(features.x)), None, 1)
        self._signs = np.where(index > 0, 1.0, -1.0)
        self._loss = loss

    def oracle(self, domain: Domain) -> Oracle:
        return PiecesOracle(self._x, self._signs, self._loss, domain)


def _names_of(task: str) -> str:
    return ", ".join(repr(name) for name, make in LOSSES.items() if make().task == task)
