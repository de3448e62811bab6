"""Boosters as estimators: XGBoost's and LightGBM's own have neither labels of classes nor the methods that scikit-learn has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.errors import InputError

if TYPE_CHECKING:
    from tippingpoint.losses.base import Task

XGBOOST_CLASSIFIERS = ("binary:logistic", "multi:softprob", "multi:softmax")
"""Objectives of XGBoost whose answers are probabilities of classes."""

XGBOOST_REGRESSORS = ("reg:", "count:")
"""How its objectives begin whose answers are predictions."""

LIGHTGBM_CLASSIFIERS = ("binary", "multiclass", "multiclassova", "cross_entropy")
"""Objectives of LightGBM whose answers are probabilities of classes."""

LIGHTGBM_REGRESSORS = ("regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie")
"""Its objectives whose answers are predictions."""


def xgboost_task(objective: str) -> Task | None:
    """What an objective of XGBoost makes of a booster; None where its answers are neither."""
    if objective in XGBOOST_CLASSIFIERS:
        return "classification"
    return "regression" if objective.startswith(XGBOOST_REGRESSORS) else None


def lightgbm_task(objective: str) -> Task | None:
    """The same for LightGBM."""
    if objective in LIGHTGBM_CLASSIFIERS:
        return "classification"
    return "regression" if objective in LIGHTGBM_REGRESSORS else None


class BoosterClassifier:
    """A booster that tells probabilities, under the labels of the user.

    Attributes
    ----------
    source
        The model of the other library.
    classes_
        Labels in the order of its outputs.
    """

    def __init__(self, source: Any, probabilities: Callable[[Any], Any], classes: Sequence[Any]) -> None:
        self.source = source
        self.classes_: list[Any] = list(classes)
        self._probabilities = probabilities

    def predict_proba(self, rows: Any) -> np.ndarray[Any, Any]:
        """One row of probabilities a sample, in the order of `classes_`."""
        found = np.asarray(self._probabilities(rows), dtype=float)
        return np.column_stack((1.0 - found, found)) if found.ndim == 1 else found

    def predict(self, rows: Any) -> np.ndarray[Any, Any]:
        """The label of the largest probability."""
        return np.array([self.classes_[k] for k in self.predict_proba(rows).argmax(axis=1)])


class BoosterRegressor:
    """A booster that predicts numbers."""

    _estimator_type = "regressor"

    def __init__(self, source: Any, predictions: Callable[[Any], Any]) -> None:
        self.source = source
        self._predictions = predictions

    def predict(self, rows: Any) -> np.ndarray[Any, Any]:
        """One number a row."""
        return np.asarray(self._predictions(rows), dtype=float)

    def __sklearn_tags__(self) -> Any:
        """That it is a regressor, as scikit-learn asks."""
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

        return Tags("regressor", TargetTags(required=True), regressor_tags=RegressorTags(), input_tags=InputTags())


def checked_classes(path: object, classes: Sequence[Any] | None, count: int) -> list[Any]:
    """The user's labels, as many as there are classes; their numbers where there are none."""
    if classes is None:
        return list(range(count))
    if len(classes) != count or len(set(classes)) != count:
        raise InputError(f"classes={list(classes)!r} must name the {count} classes of {path}, each once, in their order.")
    return list(classes)
