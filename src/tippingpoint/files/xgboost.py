"""XGBoost's own files, JSON and UBJSON: data only, loaded as its scikit-learn estimators."""

from __future__ import annotations

import re
from typing import Any

from tippingpoint.errors import UnsupportedError
from tippingpoint.files import ubjson
from tippingpoint.files.base import Content, Format, Loading, Stored, library, reading
from tippingpoint.files.damage import examining
from tippingpoint.files.documents import json_of
from tippingpoint.files.xgboost_learner import Learner, read_learner, written_learner
from tippingpoint.preprocessing.booster_estimators import BoosterClassifier, BoosterRegressor, checked_classes, xgboost_task

JSON_HEAD = re.compile(rb'\s*\{\s*"(learner|version)"\s*:')
"""How XGBoost's JSON begins."""

UBJ_HEAD = re.compile(rb"\{[iUILl][\x00]*[\x01-\xff](learner|version)")
"""How its UBJSON does: the length of the first key, and the key."""


def holds(content: Content) -> bool:
    """Whether it begins as one of the two does."""
    return bool(JSON_HEAD.match(content.head) or UBJ_HEAD.match(content.head))


def load(content: Content, loading: Loading) -> Stored:
    """A classifier or a regressor, by the objective that is in the file.

    XGBoost does not read the file: on one that contradicts itself it crashes. It gets a document of what was checked here.
    """
    path = content.path
    xgboost = library("xgboost", "xgboost", path)
    learner = read(content)
    objective = learner.objective
    task = xgboost_task(objective)
    if task is None:
        raise UnsupportedError(
            f"{path} has the objective {objective!r}, whose answers are neither probabilities of classes nor predictions;"
            " wrap it in a function, and give that as module:factory."
        )
    kind = xgboost.XGBClassifier if task == "classification" else xgboost.XGBRegressor
    model = kind(enable_categorical=True)
    with reading(path, FORMAT.name):
        model.load_model(bytearray(ubjson.written(written_learner(learner))))
    features = tuple(learner.names) or None

    def ordered(rows: Any) -> Any:
        """Rows of a frame with their columns in the order of the model's; XGBoost takes no other."""
        return rows[list(features)] if features and hasattr(rows, "columns") else rows

    if task == "regression":
        if loading.classes is not None:
            raise UnsupportedError(f"{path} is a regressor ({objective}), which has no classes; leave classes out.")
        return Stored(BoosterRegressor(model, lambda rows: model.predict(ordered(rows))), features)
    classes = checked_classes(path, loading.classes, int(model.n_classes_))
    return Stored(BoosterClassifier(model, lambda rows: model.predict_proba(ordered(rows)), classes), features)


def read(content: Content) -> Learner:
    """The model in a file, checked."""
    with examining(content.path, FORMAT.name):
        return read_learner(ubjson.read(content.data) if UBJ_HEAD.match(content.head) else json_of(content.data))


FORMAT = Format("an XGBoost model", (".json", ".ubj"), ("classes",), holds, load)
