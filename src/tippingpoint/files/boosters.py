"""Boosters as estimators: files hold neither the labels of classes nor the methods that scikit-learn has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tippingpoint.errors import InputError


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
        self.classes_ = list(classes)
        self._probabilities = probabilities

    def predict_proba(self, rows: Any) -> np.ndarray[Any, Any]:
        """One row of probabilities a sample, in the order of `classes_`."""
        said = np.asarray(self._probabilities(rows), dtype=float)
        return np.column_stack((1.0 - said, said)) if said.ndim == 1 else said

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
