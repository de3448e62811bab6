"""XGBoost's own files, JSON and UBJSON: data only, loaded as its scikit-learn estimators."""

from __future__ import annotations

import json
import re

from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.models.files.base import Content, Format, Loading, Stored, library, reading
from tippingpoint.models.files.boosters import BoosterClassifier, BoosterRegressor, checked_classes
from tippingpoint.models.files.ubjson import is_whole

JSON_HEAD = re.compile(rb'\s*\{\s*"(learner|version)"\s*:')
"""How XGBoost's JSON begins."""

UBJ_HEAD = re.compile(rb"\{[iUILl][\x00]*[\x01-\xff](learner|version)")
"""How its UBJSON does: the length of the first key, and the key."""

CLASSIFIERS = ("binary:logistic", "multi:softprob", "multi:softmax")
"""Objectives whose answers are probabilities of classes."""

REGRESSORS = ("reg:", "count:")
"""How objectives begin whose answers are predictions."""


def holds(content: Content) -> bool:
    """Whether it begins as one of the two does."""
    return bool(JSON_HEAD.match(content.head) or UBJ_HEAD.match(content.head))


def load(content: Content, loading: Loading) -> Stored:
    """A classifier or a regressor, by the objective that is in the file."""
    path = content.path
    xgboost = library("xgboost", "xgboost", path)
    data = bytearray(path.read_bytes())  # so that the content decides how it is read, and not the ending
    if UBJ_HEAD.match(content.head) and not is_whole(bytes(data)):
        raise InputError(f"{path} is an XGBoost model that is damaged or cut off; save it again.")
    with reading(path, FORMAT.name):
        booster = xgboost.Booster()
        booster.load_model(data)
        objective = json.loads(booster.save_config())["learner"]["objective"]["name"]
    if objective not in CLASSIFIERS and not objective.startswith(REGRESSORS):
        raise UnsupportedError(
            f"{path} has the objective {objective!r}, whose answers are neither probabilities of classes nor predictions;"
            " wrap it in a function, and give that as module:factory."
        )
    model = xgboost.XGBClassifier() if objective in CLASSIFIERS else xgboost.XGBRegressor()
    with reading(path, FORMAT.name):
        model.load_model(data)
    features = None if booster.feature_names is None else tuple(booster.feature_names)
    if objective not in CLASSIFIERS:
        if loading.classes is not None:
            raise UnsupportedError(f"{path} is a regressor ({objective}), which has no classes; leave classes out.")
        return Stored(BoosterRegressor(model, model.predict), features)
    if loading.classes is None:
        return Stored(model, features)
    classes = checked_classes(path, loading.classes, int(model.n_classes_))
    return Stored(BoosterClassifier(model, model.predict_proba, classes), features)


FORMAT = Format("an XGBoost model", (".json", ".ubj"), ("classes",), holds, load)
