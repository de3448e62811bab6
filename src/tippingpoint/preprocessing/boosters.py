"""Boosters of XGBoost and LightGBM out of memory: their own data types, objectives and columns, behind `predict`.

What a booster predicts depends on its objective: probabilities of classes, numbers, or something else, which is then read as
any other model's answers are (`tippingpoint.families.blackbox.outputs`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.data.frames import Features
from tippingpoint.data.vectors import read_vector
from tippingpoint.errors import InputError, UnsupportedError, listed
from tippingpoint.foreign import is_of
from tippingpoint.preprocessing.booster_estimators import (
    BoosterClassifier,
    BoosterRegressor,
    checked_classes,
    lightgbm_task,
    xgboost_task,
)
from tippingpoint.preprocessing.booster_rows import BoosterRows, Rows
from tippingpoint.preprocessing.categories import booster_in, lightgbm_header


class BoosterFunction:
    """A booster whose objective is of no kind that is known: it is only asked."""

    def __init__(self, source: Any, predictions: Callable[[Rows], Any]) -> None:
        self.source = source
        self._predictions = predictions

    def predict(self, rows: Rows) -> np.ndarray[Any, Any]:
        """Whatever the booster says."""
        return np.asarray(self._predictions(rows))


def linear_booster(model: Any) -> tuple[FloatArray, FloatArray] | None:
    """Coefficients `(K, d)` and intercepts `(K,)` of the margins of XGBoost's `gblinear`; None of any other model.

    XGBoost's own `intercept_` lacks the base score, and its `coef_` of several classes is in another order.
    """
    booster = booster_in(model)
    if booster is None or not is_of(booster, "xgboost", "Booster"):
        return None
    _check_trained(booster)
    if json.loads(booster.save_config())["learner"]["gradient_booster"]["name"] != "gblinear":
        return None
    stored = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]["model"]["weights"]
    weights = np.array(stored, dtype=float).reshape(booster.num_features() + 1, -1)  # the last row is the bias
    nothing = BoosterRows(booster).matrix(np.zeros((1, booster.num_features())))
    return weights[:-1].T, np.array(booster.predict(nothing, output_margin=True), dtype=float).reshape(-1)


def booster_margins(model: Any, rows: Rows) -> FloatArray:
    """The margins of XGBoost's booster, or of an estimator around one."""
    booster = booster_in(model)
    matrix = BoosterRows(booster, [str(name) for name in getattr(rows, "columns", ())]).matrix(rows)
    return np.asarray(booster.predict(matrix, output_margin=True), dtype=float)


def booster_estimator(booster: Any, features: Features, y: Any, classes: Sequence[Any] | None) -> Any:
    """A booster as a classifier or a regressor, by its objective; as a function where that tells neither.

    Parameters
    ----------
    booster
        Of XGBoost or of LightGBM.
    features, y
        The data that it is to be asked about.
    classes
        Labels in the order of its outputs; their numbers where none are given.
    """
    of_xgboost = type(booster).__module__.startswith("xgboost")
    taken = _taken(booster, features)
    objective, groups = (_of_xgboost if of_xgboost else _of_lightgbm)(booster)
    ask = (_asking_xgboost if of_xgboost else _asking_lightgbm)(booster, taken, objective)
    task = (xgboost_task if of_xgboost else lightgbm_task)(objective)
    if task == "regression":
        if classes is not None:
            raise UnsupportedError(f"the booster is a regressor ({objective}), which has no classes; leave classes out.")
        return BoosterRegressor(booster, ask)
    if task is None:
        return BoosterFunction(booster, ask)
    labels = checked_classes("the booster", classes, groups)
    strange = next((label for label in read_vector(y, "y", len(features.x)).tolist() if label not in labels), None)
    if classes is None and strange is not None:
        raise InputError(
            f"y holds the label {strange!r}, but the booster numbers its classes, 0 to {groups - 1}; name them in that order,"
            " as classes=[...]."
        )
    return BoosterClassifier(booster, ask, labels)


def _check_trained(booster: Any) -> None:
    """Refuse a booster of XGBoost without columns, of which the library says where in its own code it failed."""
    try:
        booster.num_features()
    except ValueError:  # as its errors are
        raise InputError("model=Booster is not trained. Train it, or load a model into it.") from None


def _taken(booster: Any, features: Features) -> BoosterRows:
    """How the booster takes the data, if they have its columns."""
    framed = hasattr(features.native, "columns")
    taken = BoosterRows(booster, features.names if framed else ())
    width = booster.num_features() if hasattr(booster, "num_features") else booster.num_feature()
    if framed and taken.names is not None:
        absent = next((name for name in taken.names if name not in features.names), None)
        if absent is not None:
            raise InputError(
                f"the booster was trained on a column {absent!r}, which X does not have; its columns are"
                f" {listed(features.names)}."
            )
    elif width != features.x.shape[1]:
        raise InputError(
            f"the booster was trained on {width} columns, but X has {features.x.shape[1]}; pass those it was trained on."
        )
    return taken


def _asking_xgboost(booster: Any, taken: BoosterRows, objective: str) -> Callable[[Rows], Any]:
    margins = objective == "multi:softmax"  # it would tell classes only

    def predictions(rows: Rows) -> Any:
        outputs = booster.predict(taken.matrix(rows), output_margin=margins)
        return _softmax(outputs) if margins else outputs

    return predictions


def _asking_lightgbm(booster: Any, taken: BoosterRows, objective: str) -> Callable[[Rows], Any]:
    """LightGBM takes columns by their place."""

    def predictions(rows: Rows) -> Any:
        frame = taken.frame(rows)
        return booster.predict(rows if frame is None else frame)

    return predictions


def _of_xgboost(booster: Any) -> tuple[str, int]:
    """The objective, and how many classes there are."""
    learner = json.loads(booster.save_config())["learner"]
    return str(learner["objective"]["name"]), max(2, int(learner["learner_model_param"]["num_class"]))


def _of_lightgbm(booster: Any) -> tuple[str, int]:
    head = lightgbm_header(booster)
    return head.get("objective", "custom").partition(" ")[0], max(2, int(head.get("num_class", 1)))


def _softmax(margins: FloatArray) -> FloatArray:
    raised = np.exp(np.asarray(margins, dtype=float) - np.max(margins, axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
