"""Numbers of a loaded estimator that compiled code follows without a look: children of trees, counts of support vectors.

scikit-learn trusts the arrays that it fitted itself; those of a file may point anywhere, and following them ends the process.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tippingpoint.core.arrays import IntArray

MAX_OBJECTS = 10**7
"""Objects that are looked at in one estimator, at most."""


def flaw(model: Any) -> str | None:
    """What is wrong with the trees and support vectors of an estimator, however deep they lie; None where nothing is."""
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
    from sklearn.svm._base import BaseLibSVM
    from sklearn.tree._tree import Tree

    seen: set[int] = set()
    waiting: list[Any] = [model]
    while waiting and len(seen) < MAX_OBJECTS:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        found = None
        if isinstance(value, Tree):
            found = _tree_flaw(value)
        elif isinstance(value, TreePredictor):
            found = _predictor_flaw(value, getattr(model, "n_features_in_", None))
        elif isinstance(value, BaseLibSVM):
            found = _svm_flaw(value)
        if found is not None:
            return found
        waiting.extend(_inside(value))
    return None if len(seen) < MAX_OBJECTS else f"holds more than {MAX_OBJECTS:,} objects"


def _inside(value: Any) -> list[Any]:
    """The objects that one holds, as far as they may hold trees."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, np.ndarray):
        return value.ravel().tolist() if value.dtype == object else []
    return list(vars(value).values()) if type(value).__module__.startswith("sklearn") and hasattr(value, "__dict__") else []


def _tree_flaw(tree: Any) -> str | None:
    """A tree of scikit-learn: every node but the root is the child of one, and every split is on a feature that there is."""
    left, right, feature = (np.asarray(each) for each in (tree.children_left, tree.children_right, tree.feature))
    if len(tree.value) != len(left):
        return "holds a tree whose values are of other nodes than its own"
    inner = left != -1
    if (inner != (right != -1)).any():
        return "holds a tree with a node of one child"
    return _shape_flaw(np.concatenate([left[inner], right[inner]]), len(left)) or _feature_flaw(feature[inner], tree.n_features)


def _predictor_flaw(predictor: Any, width: Any) -> str | None:
    """A tree of HistGradientBoosting, likewise; splits on categories have a set of them."""
    nodes = predictor.nodes
    inner = nodes["is_leaf"] == 0
    children = np.concatenate([nodes["left"][inner], nodes["right"][inner]]).astype(np.intp)
    found = _shape_flaw(children, len(nodes))
    if found is None and isinstance(width, int):
        found = _feature_flaw(nodes["feature_idx"][inner], width)
    sets = nodes["bitset_idx"][inner & (nodes["is_categorical"] != 0)]
    if found is None and len(sets) and int(sets.max()) >= len(predictor.raw_left_cat_bitsets):
        found = "holds a tree with a split on categories that are not there"
    return found


def _shape_flaw(children: IntArray, nodes: int) -> str | None:
    if nodes == 0:
        return "holds a tree without nodes"
    if len(children) != nodes - 1 or (len(children) and (children.min() < 1 or children.max() >= nodes)):
        return "holds a tree whose nodes point outside of it"
    # As many children as nodes below the root, each of them once: then only a ring apart from the root is no tree, and nobody
    # who begins at the root gets there.
    return "holds a tree with a node that two others point to" if len(np.unique(children)) != len(children) else None


def _feature_flaw(features: Any, width: int) -> str | None:
    outside = len(features) and (int(np.min(features)) < 0 or int(np.max(features)) >= width)
    return f"holds a tree with a split on a feature beyond its {width}" if outside else None


def _svm_flaw(svm: Any) -> str | None:
    """Support vectors of libsvm: as many as the counts, the indices and the coefficients say."""
    vectors = svm.support_vectors_.shape[0]
    counts = np.asarray(svm._n_support)  # noqa: SLF001  # what libsvm is handed
    one_class = len(counts) <= 1 or svm._impl in ("epsilon_svr", "nu_svr", "one_class")  # noqa: SLF001  # likewise
    stated = int(counts[0]) if one_class and len(counts) else int(counts.sum())
    coefficients = svm._dual_coef_.shape  # likewise
    fits = vectors == len(svm.support_) == stated == coefficients[1] and bool((counts >= 0).all())
    classes = 2 if one_class else len(counts)
    pairs = classes * (classes - 1) // 2
    fits = fits and coefficients[0] == classes - 1 and len(svm._intercept_) == pairs  # likewise
    return None if fits else "holds support vectors that their counts do not fit"
