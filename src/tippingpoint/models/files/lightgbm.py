"""LightGBM's text files: data only."""

from __future__ import annotations

from typing import Any

from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.models.files.base import Content, Format, Loading, Stored, library, reading
from tippingpoint.models.files.boosters import BoosterClassifier, BoosterRegressor, checked_classes

BEGINS = (b"tree\nversion=", b"tree\r\nversion=")
"""How a booster's text begins."""

ENDS = ("end of trees", "end of parameters")
"""Lines after the last tree and the last parameter; on a file without them, one that was cut off, LightGBM may crash."""

CLASSIFIERS = ("binary", "multiclass", "multiclassova", "cross_entropy")
"""Objectives whose answers are probabilities of classes."""

REGRESSORS = ("regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie")
"""Objectives whose answers are predictions."""


def holds(content: Content) -> bool:
    """Whether it begins as a booster's text does."""
    return content.head.startswith(BEGINS)


def load(content: Content, loading: Loading) -> Stored:
    """A classifier or a regressor, by the objective that is in the file."""
    path = content.path
    lightgbm = library("lightgbm", "lightgbm", path)
    with reading(path, FORMAT.name):
        text = path.read_text(encoding="utf-8")
        missing = next((line for line in ENDS if f"\n{line}\n" not in text), None)
        if missing is not None:
            raise InputError(f"{path} is a LightGBM model that is cut off, without its line {missing!r}; save it again.")
        booster = lightgbm.Booster(model_str=text)
    settings = dict(line.split("=", 1) for line in text.partition("\nTree=")[0].splitlines() if "=" in line)
    objective = settings.get("objective", "custom").partition(" ")[0]
    if objective not in (*CLASSIFIERS, *REGRESSORS):
        raise UnsupportedError(
            f"{path} has the objective {objective!r}, whose answers are neither probabilities of classes nor predictions;"
            " wrap it in a function, and give that as module:factory."
        )
    features = tuple(booster.feature_name())
    if features == tuple(f"Column_{j}" for j in range(len(features))):
        features = ()  # the data had no names when it was trained

    def asked(rows: Any) -> Any:
        """What the booster says; it takes columns by their place, so they are put in its order."""
        return booster.predict(rows[list(features)] if features and hasattr(rows, "columns") else rows)

    if objective in REGRESSORS:
        if loading.classes is not None:
            raise UnsupportedError(f"{path} is a regressor ({objective}), which has no classes; leave classes out.")
        return Stored(BoosterRegressor(booster, asked), features or None)
    classes = checked_classes(path, loading.classes, max(2, int(settings.get("num_class", "1"))))
    return Stored(BoosterClassifier(booster, asked, classes), features or None)


FORMAT = Format("a LightGBM model as text", (), ("classes",), holds, load)
