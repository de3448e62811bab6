"""HistGradientBoosting of scikit-learn as forests.

It compares doubles, `x ≤ t`, and adds doubles. Its columns of categories come first inside, as the positions of their values
among those that it knows: the forest takes them in the user's order, and other values are missing to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tippingpoint.core.arrays import IntArray
from tippingpoint.data.columns import plain
from tippingpoint.families.trees.forest import LEAF, Forest
from tippingpoint.families.trees.readers.nodes import bits, planted
from tippingpoint.families.trees.readers.rounding import TELLING, UNIT64, any_order
from tippingpoint.families.trees.readers.sklearn_trees import LIBRARY, names_of
from tippingpoint.families.trees.reading import Link, Outputs, TreeReading, Unread
from tippingpoint.preprocessing.categories import native_categories

LINKS: dict[str, Link] = {"IdentityLink": "identity", "LogLink": "log"}
"""By scikit-learn's name of the link of a regressor's loss."""


def read(model: Any) -> TreeReading | Unread:
    """A fitted HistGradientBoostingClassifier or -Regressor."""
    classifies = hasattr(model, "classes_")
    called = type(model._loss.link).__name__  # noqa: SLF001  # scikit-learn shows no other way; so below
    if not classifies and called not in LINKS:
        return Unread(f"its loss has the link {called}, which is not read")
    forest = _forest(model)
    names = names_of(model)
    places = names or tuple(map(str, range(forest.width)))
    known = native_categories(model, places).by_column
    return TreeReading(
        forest,
        "score" if classifies else "prediction",
        LIBRARY,
        Outputs(model._raw_predict),  # noqa: SLF001
        any_order(forest, UNIT64) + (TELLING * UNIT64 if classifies else 0.0),
        "identity" if classifies else LINKS[called],
        tuple(plain(model.classes_)) if classifies else None,
        names,
        {places.index(name): values for name, values in known.items()},
    )


def _forest(model: Any) -> Forest:
    predictors = [tree for stage in model._predictors for tree in stage]  # noqa: SLF001
    groups = int(model.n_trees_per_iteration_)
    nodes = np.concatenate([tree.nodes for tree in predictors])
    sizes = [len(tree.nodes) for tree in predictors]
    leaf = nodes["is_leaf"] != 0
    listed = ~leaf & (nodes["is_categorical"] != 0)
    sets: list[IntArray] = []
    members = np.full(len(nodes), LEAF, dtype=np.intp)
    tree_of = np.repeat(np.arange(len(predictors)), sizes)
    for node in np.flatnonzero(listed):
        members[node] = len(sets)
        sets.append(bits(predictors[tree_of[node]].raw_left_cat_bitsets[nodes["bitset_idx"][node]]))
    values = np.zeros((int(leaf.sum()), groups))
    values[np.arange(len(values)), tree_of[leaf] % groups] = nodes["value"][leaf]
    return planted(
        starts=np.concatenate(([0], np.cumsum(sizes))),
        feature=_order(model)[np.where(leaf, 0, nodes["feature_idx"])],
        threshold=nodes["num_threshold"],
        missing_left=nodes["missing_go_to_left"],
        left=np.where(leaf, LEAF, nodes["left"].astype(np.intp)),
        right=np.where(leaf, LEAF, nodes["right"].astype(np.intp)),
        values=values,
        base=np.ravel(model._baseline_prediction),  # noqa: SLF001
        width=int(model.n_features_in_),
        members=members,
        sets=sets,
    )


def _order(model: Any) -> IntArray:
    """The user's columns in the order of the histograms: those of categories come first."""
    categorical = getattr(model, "is_categorical_", None)
    if categorical is None:
        return np.arange(model.n_features_in_, dtype=np.intp)
    return np.argsort(~np.asarray(categorical, dtype=bool), kind="stable")
