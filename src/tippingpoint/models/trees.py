"""Tree ensembles of scikit-learn: where along a column they can change their answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.frames import Features


def breakpoints(model: Any, features: Features, columns: IntArray) -> Mapping[int, FloatArray]:
    """By column: the values on either side of every threshold; nothing for models that are not trees on these very columns.

    Between two thresholds the answer is constant, so the nearest place with another one is beside a threshold.
    """
    thresholds = _thresholds(model)
    if thresholds is None or getattr(model, "n_features_in_", -1) != features.x.shape[1]:
        return {}
    found = {}
    for j in columns:
        edges = np.unique(np.concatenate([np.zeros(0), *(at for feature, at in thresholds if feature == j)]))
        found[int(j)] = np.unique(_beside(edges, single=not hasattr(model, "_predictors")))
    return found


def _beside(edges: FloatArray, *, single: bool) -> FloatArray:
    """The last number that is not above a threshold, and the first that is; but for histograms, trees read float32."""
    if not single:
        return np.concatenate((edges, np.nextafter(edges, np.inf)))
    near = edges.astype(np.float32)
    above = near.astype(float) > edges
    last = np.where(above, np.nextafter(near, np.float32(-np.inf)), near)
    first = np.where(above, near, np.nextafter(near, np.float32(np.inf)))
    return np.concatenate((last, first)).astype(float)


def _thresholds(model: Any) -> list[tuple[int, FloatArray]] | None:
    """Column and thresholds, tree by tree; None where the model is not known to be trees."""
    if hasattr(model, "_predictors") and hasattr(model, "_bin_mapper"):
        predictors = [tree for stage in model._predictors for tree in stage]  # noqa: SLF001  # scikit-learn shows no other way
        if getattr(model, "is_categorical_", None) is not None:
            return None
        return list(_of_histograms(predictors))
    trees = np.ravel(model.estimators_).tolist() if hasattr(model, "estimators_") else [model]
    if not all(hasattr(tree, "tree_") for tree in trees):
        return None
    return [part for tree in trees for part in _of_tree(tree.tree_)]


def _of_tree(tree: Any) -> Iterator[tuple[int, FloatArray]]:
    for j in np.unique(tree.feature[tree.feature >= 0]):
        yield int(j), np.asarray(tree.threshold[tree.feature == j], dtype=float)


def _of_histograms(predictors: list[Any]) -> Iterator[tuple[int, FloatArray]]:
    for predictor in predictors:
        nodes = predictor.nodes[predictor.nodes["is_leaf"] == 0]
        for j in np.unique(nodes["feature_idx"]):
            yield int(j), np.asarray(nodes["num_threshold"][nodes["feature_idx"] == j], dtype=float)
