"""From a model, data and a loss to a judgement: whoever can build the oracle of any feature space."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.oracle import Oracle
from tippingpoint.data.frames import Features, read_labels, read_numbers
from tippingpoint.data.labels import class_indices
from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.families.linear.crossing import CrossingOracle
from tippingpoint.families.linear.oracle import linear_oracle
from tippingpoint.families.linear.pieces import PiecesOracle
from tippingpoint.families.linear.recognise import LinearModel, NotLinearError, recognise
from tippingpoint.losses import LOSSES, Loss, PiecewiseLinear, loss_named
from tippingpoint.preprocessing.categories import is_booster
from tippingpoint.preprocessing.encoders import encoded_columns
from tippingpoint.space.domain import Domain


class Judgement(ABC):
    """A model on data, judged by a loss.

    Attributes
    ----------
    label, range
        Of the loss: what results call it, and the least and the largest value it can take.
    searched
        Whether best responses are searched for, and options of the search have a meaning.
    counts_calls
        Whether the search counts the calls of the model.
    notes
        How the model was understood, where nobody had said it.
    """

    label: str
    range: tuple[float, float]
    notes: tuple[str, ...] = ()
    searched = False
    counts_calls = False

    @abstractmethod
    def oracle(self, domain: Domain) -> Oracle:
        """Who finds best responses in a feature space."""

    def check_missing(self, domain: Domain) -> None:
        """Refuse features that may go missing, where the model cannot be asked about that."""
        if domain.vanishing:
            raise UnsupportedError(
                f"missing[{domain.vanishing[0]!r}]: a model of this kind takes no missing values; leave it out of the space, or"
                " wrap the model in a function that takes them."
            )

    def shared(self, parts: int) -> Judgement:
        """The same with a part of what may be spent on a search, for each of so many questions."""
        return self

    def along(self, domain: Domain) -> Oracle:
        """The same for a space in which one feature, or few, may move; exact more often."""
        return self.oracle(domain)


COUNTED = ("calls", "repeats")
"""Options of a search that counts the calls of the model; others do without."""


def judge(
    model: Any, features: Features, y: Any, loss: Any, search: Mapping[str, Any], counted: Mapping[str, Any] | None = None
) -> Judgement:
    """The judgement of this model by this loss; `counted` is for those who count calls, and only for them."""
    model = _unwrapped(model)
    steps, last = _steps(model)
    if offers_module(last, loss):
        last, loss, search = _offered(last, features if steps is None else None, loss, search)
    if is_module(last):
        from tippingpoint.families.network.folding import asked, folded
        from tippingpoint.families.network.judgement import NetworkJudgement

        module = last if steps is None else folded(steps, last, features)
        if module is not None:
            return NetworkJudgement(module, features, y, loss, search)
        model = asked(steps, last)
    return _of_table(model, features, y, loss, {**search, **(counted or {})})


def _of_table(model: Any, features: Features, y: Any, loss: Any, search: Mapping[str, Any]) -> Judgement:
    """The judgement of a model of rows and columns: exact where it is linear, asked where it is not."""
    of_features = isinstance(loss, PiecewiseLinear) and loss.of_features
    if model is None and not of_features:
        raise InputError("model=None: only a PiecewiseLinear loss of the features does without a model; pass one.")
    if len(features.shape) != 1:
        shape = (len(features.x), *features.shape)
        raise InputError(f"X has shape {shape}; give a table of rows and columns (a PyTorch module may take more).")
    if of_features:
        return _PiecesJudgement(model, features, y, loss)
    if is_booster(model):
        from tippingpoint.families.blackbox.boosters import booster_estimator

        model = booster_estimator(model, features, y, search.get("classes"))
    try:
        linear = recognise(model, features)
        chosen = loss_named(_default(linear) if loss is None else loss) if not _own(loss) else None
    except NotLinearError as why:
        chosen, reason = None, str(why)
    else:
        reason = "a loss of your own is not known in closed form"
        if chosen is not None and not (len(linear.coef) > 1 and linear.classes and chosen.name != "zero_one"):
            return LinearJudgement(linear, features, y, chosen)
        if chosen is not None:
            reason = f"the {chosen.label} loss of {len(linear.coef)} classes has no closed form"
    from tippingpoint.families.blackbox.judgement import BlackBoxJudgement

    return BlackBoxJudgement(model, features, y, loss, search, reason)


def _steps(model: Any) -> tuple[Any, Any]:
    """A pipeline without its last step, and that step; any other model has no steps."""
    steps = getattr(model, "steps", None)
    if not steps:
        return None, model
    return (model[:-1], steps[-1][1]) if len(steps) > 1 else (None, steps[0][1])


def is_module(model: Any) -> bool:
    """Whether a model is a PyTorch module; PyTorch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def offers_module(model: Any, loss: Any) -> bool:
    """Whether a model is an estimator around a module that says so (`as_module`), and is not exact as a linear one anyway."""
    if not callable(getattr(model, "as_module", None)):
        return False
    scores = len(np.atleast_2d(model.coef_)) if hasattr(model, "coef_") else 0
    name = loss_named(loss).name if isinstance(loss, str) else getattr(loss, "name", loss)
    exact = scores == 1 or (scores > 1 and name in (None, "zero_one"))
    return not exact or _own(loss)


def _offered(
    estimator: Any, features: Features | None, loss: Any, search: Mapping[str, Any]
) -> tuple[Any, Any, Mapping[str, Any]]:
    """The module of an estimator, the loss it is judged by, and how it is searched: with the estimator's own labels."""
    names = getattr(estimator, "feature_names_in_", None) if hasattr(getattr(features, "native", None), "columns") else None
    if features is not None and names is not None and list(map(str, names)) != list(features.names):
        raise InputError("the columns of X are not those that the model was fitted to, in their order; reorder X.")
    classes = getattr(estimator, "classes_", None)
    module = estimator.as_module()
    if classes is None:
        return module, "squared" if loss is None else loss, search
    return module, loss, {"classes": classes.tolist(), **search}


def encoded_by(model: Any, names: Any) -> dict[str, list[Any]]:
    """The columns that a model's own preprocessing reads as categories, and those it knows."""
    return {} if is_module(model) else encoded_columns(_unwrapped(model), [str(name) for name in names])


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
                f"loss={self.label!r} judges regressors but the model is a classifier; use {_names('classification')}."
            )
        if len(linear.coef) > 1:
            raise UnsupportedError(f"the model has {len(linear.coef)} scores; pass one output at a time, as (coef, intercept).")
        return read_numbers(y, "y", len(self._features.x))

    def _labels(self, y: Any) -> IntArray:
        linear = self._linear
        if linear.regressor:
            raise UnsupportedError(
                f"loss={self.label!r} judges classifiers but the model is a regressor; use {_names('regression')}."
            )
        index, classes = class_indices(read_labels(y, "y", len(self._features.x)), linear.classes, len(linear.coef))
        if len(linear.coef) > 1 and self._loss.name != "zero_one":
            raise UnsupportedError(
                f"loss={self.label!r} of {len(classes)} classes is not served for plain coefficients; use 'zero_one', which is"
                " exact, or pass the model itself, which is searched."
            )
        return index


class _PiecesJudgement(Judgement):
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


def _default(linear: LinearModel) -> str:
    return "squared" if linear.regressor else "zero_one"


def _own(loss: Any) -> bool:
    return callable(loss) and not isinstance(loss, Loss)


def _unwrapped(model: Any) -> Any:
    """What a search for parameters ended with."""
    return getattr(model, "best_estimator_", model)


def _names(task: str) -> str:
    return ", ".join(repr(name) for name, make in LOSSES.items() if make().task == task)
