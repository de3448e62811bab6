"""Trees, forests and gradient boosting of scikit-learn as forests.

They read float32, `float32(x) ≤ t`, and add doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.data.columns import plain
from tippingpoint.families.trees.forest import Forest
from tippingpoint.families.trees.readers.float32 import le32
from tippingpoint.families.trees.readers.nodes import planted
from tippingpoint.families.trees.readers.rounding import UNIT64, any_order
from tippingpoint.families.trees.reading import Outputs, Returns, TreeReading, Unread
from tippingpoint.foreign import is_of

LIBRARY = "scikit-learn"

CONSTANT = {"prior", "most_frequent", "constant", "mean", "median", "quantile"}
"""Strategies of dummies that say the same of every row."""

EXPONENTIAL_SLOPE = 2.0
"""Under the exponential loss log-odds are twice the sums: what it says is half of them."""

OWN_ROUNDINGS = 2
"""Of what a leaf adds: the learning rate, or the number of trees of a mean, on either side."""


def read(model: Any) -> TreeReading | Unread:
    """A fitted tree, forest or extra trees: a mean of what the leaves hold."""
    if int(model.n_outputs_) > 1:
        return Unread(f"it predicts {model.n_outputs_} outputs a row")
    trees = list(getattr(model, "estimators_", (model,)))
    classifies = hasattr(model, "classes_")
    returns: Returns = "probability" if classifies else "prediction"
    ask = model.predict_proba if classifies else model.predict
    groups = np.zeros(len(trees), dtype=np.intp)
    forest = _forest(trees, groups, 1.0 / len(trees), np.zeros(len(model.classes_) if classifies else 1), model.n_features_in_)
    return _reading(model, forest, returns, Outputs(ask), any_order(forest, UNIT64, OWN_ROUNDINGS))


def read_boosting(model: Any) -> TreeReading | Unread:
    """A fitted GradientBoostingClassifier or -Regressor: a constant, and steps of the learning rate."""
    if not _is_constant(model.init_):
        return Unread(f"it begins with the predictions of another model (init={type(model.init_).__name__})")
    classifies = hasattr(model, "classes_")
    slope = EXPONENTIAL_SLOPE if model.loss == "exponential" else 1.0
    stages = model.estimators_
    blank = np.zeros((1, model.n_features_in_), dtype=np.float32)
    base = slope * np.ravel(model._raw_predict_init(blank))  # noqa: SLF001  # scikit-learn shows no other way
    groups = np.tile(np.arange(stages.shape[1]), stages.shape[0])
    forest = _forest(np.ravel(stages).tolist(), groups, slope * model.learning_rate, base, model.n_features_in_)
    ask = model.decision_function if classifies else model.predict
    returns: Returns = "score" if classifies else "prediction"
    return _reading(model, forest, returns, Outputs(ask, slope), any_order(forest, UNIT64, OWN_ROUNDINGS))


def _reading(model: Any, forest: Forest, returns: Returns, ask: Outputs, rounding: float) -> TreeReading:
    return TreeReading(
        forest,
        returns,
        LIBRARY,
        ask,
        rounding,
        classes=tuple(plain(model.classes_)) if hasattr(model, "classes_") else None,
        names=names_of(model),
    )


def names_of(model: Any) -> tuple[str, ...] | None:
    """Of the columns that an estimator was fitted on."""
    return tuple(map(str, model.feature_names_in_)) if hasattr(model, "feature_names_in_") else None


def _is_constant(init: Any) -> bool:
    if isinstance(init, str):
        return init == "zero"
    return is_of(init, "sklearn.dummy", "DummyClassifier", "DummyRegressor") and init.strategy in CONSTANT


def _forest(trees: Sequence[Any], groups: IntArray, factor: float, base: FloatArray, width: int) -> Forest:
    """Trees whose leaves hold one number for one group each, or one for every output."""
    grown = [tree.tree_ for tree in trees]
    sizes = [tree.node_count for tree in grown]
    left = np.concatenate([tree.children_left for tree in grown])
    held = np.concatenate([tree.value[:, 0, :] for tree in grown])[left < 0] * factor
    values = held
    if held.shape[1] != len(base):
        values = np.zeros((len(held), len(base)))
        values[np.arange(len(held)), np.repeat(groups, sizes)[left < 0]] = held[:, 0]
    return planted(
        starts=np.concatenate(([0], np.cumsum(sizes))),
        feature=np.concatenate([tree.feature for tree in grown]),
        threshold=le32(np.concatenate([tree.threshold for tree in grown])),
        missing_left=np.concatenate([tree.missing_go_to_left for tree in grown]),
        left=left,
        right=np.concatenate([tree.children_right for tree in grown]),
        values=values,
        base=base,
        width=int(width),
    )
