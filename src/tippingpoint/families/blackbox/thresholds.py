"""Tree ensembles of scikit-learn, also behind preprocessing: where along a raw column they can change their answer.

Between two thresholds the answer is constant, so the nearest place with another one is beside a threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.data.frames import Features
from tippingpoint.foreign import is_of
from tippingpoint.preprocessing.affine import NotAffineError, fold
from tippingpoint.query.axes import Beside

Splits = list[tuple[int, FloatArray]]
"""Column, and the last numbers that are not above thresholds of it, tree by tree."""

Sides = list[tuple[int, FloatArray, FloatArray]]
"""Column, and the values just below and just above thresholds of it."""

ROUNDING = 16.0 * float(np.finfo(float).eps)
"""How far beside a threshold, relative to the numbers it is computed from, a value is on its side for sure."""


def breakpoints(model: Any, features: Features, columns: IntArray) -> Mapping[int, Beside]:
    """By column: values on either side of every threshold; nothing for models that are not trees on known columns."""
    steps, last = ([step for _, step in model.steps[:-1]], model.steps[-1][1]) if hasattr(model, "steps") else ([], model)
    splits = _splits(last)
    if splits is None:
        return {}
    beside = _through(steps, last, splits, features) if steps else _directly(last, splits, features)
    found = {}
    for j in columns if beside is not None else ():
        of_column = [(below, above) for column, below, above in beside or () if column == j] or [(np.zeros(0), np.zeros(0))]
        found[int(j)] = Beside(*(np.unique(np.concatenate(side)) for side in zip(*of_column, strict=True)))
    return found


def _directly(model: Any, splits: Splits, features: Features) -> Sides | None:
    """The last number that is not above a threshold, and the first that is."""
    if getattr(model, "n_features_in_", -1) != features.x.shape[1]:
        return None
    return [(j, edges, np.nextafter(edges, np.inf)) for j, edges in splits]


def _through(steps: Sequence[Any], model: Any, splits: Splits, features: Features) -> Sides | None:
    """Thresholds of what preprocessing makes of single raw columns, taken back to them."""
    width = int(model.n_features_in_)
    try:
        weight, bias = fold(steps, np.eye(width), np.zeros(width), features.names)
    except NotAffineError:
        return None
    if weight.shape[1] != features.x.shape[1]:
        return None
    beside = []
    for t, edges in splits:
        raw = np.flatnonzero(weight[t])
        if len(raw) > 1:
            return None  # a mixture of columns: its thresholds are elsewhere for every row
        if len(raw) == 1:
            slope = float(weight[t, raw[0]])
            at, slack = (edges - bias[t]) / slope, ROUNDING * (np.abs(edges) + abs(bias[t])) / abs(slope)
            beside.append((int(raw[0]), at - slack, at + slack))
    return beside


def _splits(model: Any) -> Splits | None:
    """None where the model is not known to be trees, and nothing but trees."""
    if not _of_sklearn(model) or not _begins_alike(model):
        return None
    if hasattr(model, "_predictors") and hasattr(model, "_bin_mapper"):
        predictors = [tree for stage in model._predictors for tree in stage]  # noqa: SLF001  # scikit-learn shows no other way
        return list(_of_histograms(predictors, _order(model)))
    trees = np.ravel(model.estimators_).tolist() if hasattr(model, "estimators_") else [model]
    if not all(hasattr(tree, "tree_") for tree in trees):
        return None
    columns = getattr(model, "estimators_features_", None)  # of bagging: those that each tree is shown
    shown = [np.arange(model.n_features_in_)] * len(trees) if columns is None else columns
    return [(int(own[j]), edges) for tree, own in zip(trees, shown, strict=True) for j, edges in _of_tree(tree.tree_)]


def _of_sklearn(model: Any) -> bool:
    """Whether its class is scikit-learn's own: one that is derived from it may predict anything."""
    return type(model).__module__.partition(".")[0] == "sklearn"


def _begins_alike(model: Any) -> bool:
    """Whether boosting begins with the same number for every row, and not with the predictions of another model."""
    start = getattr(model, "init_", None)
    return start is None or isinstance(start, str) or is_of(start, "sklearn.dummy", "DummyClassifier", "DummyRegressor")


def _order(model: Any) -> IntArray:
    """The user's columns in the order of the histograms: those of categories come first."""
    categorical = getattr(model, "is_categorical_", None)
    if categorical is None:
        return np.arange(model.n_features_in_, dtype=np.intp)
    return np.argsort(~np.asarray(categorical, dtype=bool), kind="stable")


def _of_tree(tree: Any) -> Iterator[tuple[int, FloatArray]]:
    """Trees read float32: a number is above a threshold if the nearest float32 is, so from halfway to the next on."""
    for j in np.unique(tree.feature[tree.feature >= 0]):
        edges = np.asarray(tree.threshold[tree.feature == j], dtype=float)
        near = edges.astype(np.float32)
        above = near.astype(float) > edges
        last = np.where(above, np.nextafter(near, np.float32(-np.inf)), near)
        first = np.where(above, near, np.nextafter(near, np.float32(np.inf)))
        middle = 0.5 * (last.astype(float) + first.astype(float))
        yield int(j), np.where(middle.astype(np.float32) == last, middle, np.nextafter(middle, -np.inf))


def _of_histograms(predictors: list[Any], order: IntArray) -> Iterator[tuple[int, FloatArray]]:
    for predictor in predictors:
        nodes = predictor.nodes[(predictor.nodes["is_leaf"] == 0) & (predictor.nodes["is_categorical"] == 0)]
        for j in np.unique(nodes["feature_idx"]):
            edges = np.asarray(nodes["num_threshold"][nodes["feature_idx"] == j], dtype=float)
            yield int(order[j]), edges[np.isfinite(edges)]  # what is missing is told apart by an infinite one
