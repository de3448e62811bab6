"""Readers: the fitted models of XGBoost, LightGBM, CatBoost and scikit-learn, each as one forest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tippingpoint.families.trees.readers import catboost, histograms, lightgbm, sklearn_trees, xgboost
from tippingpoint.families.trees.reading import TreeReading, Unread
from tippingpoint.foreign import is_of
from tippingpoint.preprocessing.categories import booster_in

LIBRARIES = ("xgboost", "lightgbm", "catboost", "sklearn")
"""Where the classes come from that are read."""

SKLEARN: Sequence[tuple[str, tuple[str, ...], str, Callable[[Any], TreeReading | Unread]]] = (
    ("sklearn.tree", ("BaseDecisionTree",), "tree_", sklearn_trees.read),
    (
        "sklearn.ensemble",
        ("RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor"),
        "estimators_",
        sklearn_trees.read,
    ),
    (
        "sklearn.ensemble",
        ("GradientBoostingClassifier", "GradientBoostingRegressor"),
        "estimators_",
        sklearn_trees.read_boosting,
    ),
    (
        "sklearn.ensemble",
        ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor"),
        "_predictors",
        histograms.read,
    ),
)
"""Where classes of scikit-learn are, what they are called, what they have once they are fitted, and who reads them."""

COMBINATIONS = ("AdaBoostClassifier", "AdaBoostRegressor", "BaggingClassifier", "BaggingRegressor")
"""Classes of scikit-learn that make an ensemble of any models, trees among them."""


def read_model(model: Any) -> TreeReading | Unread | None:
    """A fitted estimator or Booster as a forest, or why it is not read; None where it is no ensemble of trees.

    Parameters
    ----------
    model
        Of any library, or what `tippingpoint.load_model` made of a file; no pipeline. No library is imported to find out.
    """
    inner = getattr(model, "source", model)  # as booster estimators wrap them
    labels = getattr(model, "classes_", None) if inner is not model else None
    if booster_in(inner) is not None:
        of_xgboost = is_of(inner, "xgboost", "Booster", "XGBModel")
        return _of_the_library(inner) or (xgboost if of_xgboost else lightgbm).read(inner, labels)
    if is_of(inner, "catboost", "CatBoost"):
        return (_of_the_library(inner) or catboost.read(inner)) if inner.is_fitted() else None
    for place, names, fitted, read in SKLEARN:
        if is_of(inner, place, *names) and hasattr(inner, fitted):
            return _of_the_library(inner) or read(inner)
    if is_of(inner, "sklearn.ensemble", *COMBINATIONS) and hasattr(inner, "estimators_"):
        of_trees = all(is_of(each, "sklearn.tree", "BaseDecisionTree") for each in inner.estimators_)
        return Unread(f"{type(inner).__name__} combines trees in a way that is not read") if of_trees else None
    return None


def _of_the_library(model: Any) -> Unread | None:
    """Whether someone derived the class from a library's: then its predictions may be others."""
    kind = type(model)
    library = next(each for each in kind.__mro__ if each.__module__.partition(".")[0] in LIBRARIES)
    return None if library is kind else Unread(f"{kind.__name__} is derived from {library.__name__}, and may predict otherwise")
