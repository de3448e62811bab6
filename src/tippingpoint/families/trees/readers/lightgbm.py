"""Models of LightGBM as forests.

It compares doubles, `x ≤ t`, and adds doubles; numbers next to zero are zero to it. Models are read from the text that LightGBM
would store, whose digits tell every double apart. No base: it is in the first trees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.data.columns import plain
from tippingpoint.families.trees.forest import LEAF, Forest
from tippingpoint.families.trees.readers.nodes import bits, planted
from tippingpoint.families.trees.readers.rounding import TELLING, UNIT64, any_order
from tippingpoint.families.trees.reading import Link, Outputs, Returns, TreeReading, Unread
from tippingpoint.foreign import is_of
from tippingpoint.preprocessing.booster_rows import booster_rows
from tippingpoint.preprocessing.categories import booster_names, native_categories

LINKS: Mapping[str, Link] = {
    "binary": "logit",
    "cross_entropy": "logit",
    "regression": "identity",
    "regression_l1": "identity",
    "huber": "identity",
    "fair": "identity",
    "quantile": "identity",
    "mape": "identity",
    "poisson": "log",
    "gamma": "log",
    "tweedie": "log",
}
"""By objective of one output: what its sums are of what it predicts."""

SOFTMAX, ONE_AGAINST_ALL = "multiclass", "multiclassova"
"""Objectives of several classes: probabilities are the softmax of the sums; each is the logistic function of its own sum, so
that they make no distribution, and only their order is known."""

NEXT_TO_ZERO = float(np.float32(1e-35))
"""Numbers up to here, on either side, are read as zero."""

CATEGORICAL, DEFAULT_LEFT, MISSING_SHIFT = 1, 2, 2
"""Bits of a decision: a set of categories; where what is missing goes; from which bit on they say what is missing."""

MISSING_ZERO, MISSING_NAN = 1, 2
"""What is missing, in these bits: zeros, or NaN; 0 where nothing is, and NaN is read as zero."""

WHOLE = ("split_feature", "decision_type", "left_child", "right_child")
"""Lines of a tree with one whole number a split."""

OWN_ROUNDINGS = 2
"""Of what a leaf adds: the factor of the log-odds, and the number of trees of a mean."""


def read(model: Any, labels: Sequence[Any] | None = None) -> TreeReading | Unread:
    """A fitted estimator or a Booster; `labels` are those of its classes, where it has numbers only."""
    booster = getattr(model, "booster_", model)
    text = booster.model_to_string()  # up to the best round, where there is one, as its predict
    head, *blocks = text.partition("\nend of trees")[0].split("\nTree=")
    header = dict(line.split("=", 1) for line in head.splitlines() if "=" in line)
    trees = [dict(line.split("=", 1) for line in block.splitlines() if "=" in line) for block in blocks]
    name, *settings = header.get("objective", "").split() or [""]
    flaw = _flaw(trees, settings)
    if flaw is not None:
        return Unread(flaw)
    meaning = _meaning(model, name)
    if isinstance(meaning, Unread):
        return meaning
    returns, link = meaning
    groups = int(header["num_tree_per_iteration"])
    scale = _slope(settings) if LINKS.get(name) == "logit" else 1.0
    rounds = len(trees) // groups if "average_output" in head.splitlines() else 1
    forest = _forest(trees, groups, int(header["max_feature_idx"]) + 1, scale / rounds)
    names = booster_names(booster)
    places = names or tuple(map(str, range(forest.width)))
    known = native_categories(booster, places)
    if booster.pandas_categorical and not known.typed:
        return Unread("it was trained on ordered categories, or on several kinds of them, and does not store in which columns")
    return TreeReading(
        forest,
        returns,
        "LightGBM",
        Outputs(partial(_sums, model), scale / rounds),
        any_order(forest, UNIT64, OWN_ROUNDINGS) + (0.0 if returns == "prediction" else TELLING * UNIT64),
        link,
        None if returns == "prediction" else _classes(model, labels, groups),
        names,
        {places.index(name): known.by_column[name] for name in known.typed},
    )


def _flaw(trees: Sequence[Mapping[str, str]], settings: Sequence[str]) -> str | None:
    """What is not read of it."""
    if not trees:
        return "it has no trees"
    if any(int(tree.get("is_linear", 0)) for tree in trees):
        return "its leaves hold linear models (linear_tree)"
    if "sqrt" in settings:
        return "it predicts squares of its sums (reg_sqrt)"
    decisions = _joined(trees, "decision_type", int)
    if ((decisions & CATEGORICAL == 0) & (decisions >> MISSING_SHIFT == MISSING_ZERO)).any():
        return "it reads zeros as missing (zero_as_missing)"
    return None


def _meaning(model: Any, objective: str) -> tuple[Returns, Link] | Unread:
    """What the sums are; a Booster is what its objective says, an estimator what it is."""
    one = "classifier" if is_of(model, "lightgbm", "LGBMClassifier") else "regressor"
    link = LINKS.get(objective)
    if is_of(model, "lightgbm", "Booster") and (link == "logit" or link is None):
        one = "classifier"
    if not objective:
        if one == "regressor":
            return "prediction", "identity"
        return Unread("its objective is one of the user's, and nothing says what its sums are")
    if one == "regressor" and link is not None:
        return "prediction", link
    if one == "classifier" and (link == "logit" or objective == SOFTMAX):
        return "score", "identity"
    if one == "classifier" and objective == ONE_AGAINST_ALL:
        return "order", "identity"
    of_whom = f" of a {one}" if objective in (*LINKS, SOFTMAX, ONE_AGAINST_ALL) else ""
    return Unread(f"its objective is {objective!r}, which is not read{of_whom}")


def _slope(settings: Sequence[str]) -> float:
    """What a sum is multiplied by to be log-odds: `sigmoid`, to six digits, as LightGBM reads its own text after training."""
    return float(next((each.partition(":")[2] for each in settings if each.startswith("sigmoid:")), 1.0))


def _classes(model: Any, labels: Sequence[Any] | None, groups: int) -> tuple[Any, ...]:
    if labels is None and is_of(model, "lightgbm", "LGBMClassifier"):
        return tuple(plain(model.classes_))
    return tuple(labels if labels is not None else range(max(2, groups)))


def _joined(trees: Sequence[Mapping[str, str]], name: str, kind: type) -> Any:
    """The numbers on a line of every tree, one behind the other."""
    return np.array(" ".join(tree.get(name, "") for tree in trees).split(), dtype=kind)


def _forest(trees: Sequence[Mapping[str, str]], groups: int, width: int, factor: float) -> Forest:
    """In every tree the splits, and behind them the leaves; a leaf among the children is the complement of its number."""
    leaves = _joined(trees, "num_leaves", int)
    starts = np.concatenate(([0], np.cumsum(2 * leaves - 1)))
    splits = np.repeat(leaves - 1, leaves - 1)
    inner = np.arange(starts[-1]) - np.repeat(starts[:-1], 2 * leaves - 1) < np.repeat(leaves - 1, 2 * leaves - 1)
    feature, decision, left, right = (_joined(trees, name, int) for name in WHOLE)
    threshold = _joined(trees, "threshold", float)
    listed = decision & CATEGORICAL != 0
    members, sets = _sets(trees, listed, threshold)
    nan_missing = decision >> MISSING_SHIFT == MISSING_NAN
    missing_left = np.where(nan_missing, decision & DEFAULT_LEFT != 0, threshold >= 0.0) & ~listed

    def spread(found: Any, at_leaves: float) -> Any:
        every = np.full(starts[-1], at_leaves, dtype=np.asarray(found).dtype)
        every[inner] = found
        return every

    values = np.zeros((int(leaves.sum()), groups))
    group = np.repeat(np.arange(len(trees)) % groups, leaves)
    values[np.arange(len(values)), group] = _joined(trees, "leaf_value", float) * factor
    return planted(
        starts=starts,
        feature=spread(feature, LEAF),
        threshold=spread(_edges(threshold), np.nan),
        missing_left=spread(missing_left, 0),
        left=spread(np.where(left >= 0, left, splits + ~left), LEAF),
        right=spread(np.where(right >= 0, right, splits + ~right), LEAF),
        values=values,
        base=np.zeros(groups),
        width=width,
        members=spread(members, LEAF),
        sets=sets,
    )


def _edges(threshold: FloatArray) -> FloatArray:
    """The largest number that goes left: what is next to zero goes where zero does."""
    below = (threshold >= -NEXT_TO_ZERO) & (threshold < 0.0)
    beside = (threshold >= 0.0) & (threshold <= NEXT_TO_ZERO)
    return np.where(below, np.nextafter(-NEXT_TO_ZERO, -np.inf), np.where(beside, NEXT_TO_ZERO, threshold))


def _sets(trees: Sequence[Mapping[str, str]], listed: BoolArray, threshold: FloatArray) -> tuple[IntArray, list[IntArray]]:
    """Which set each split has, its threshold being its number within the tree, and the sets."""
    sets: list[IntArray] = []
    firsts = []
    for tree in trees:
        firsts.append(len(sets))
        if "cat_boundaries" in tree:
            masks = np.array(tree["cat_threshold"].split(), dtype=np.uint32)
            sets += [bits(masks[begin:end]) for begin, end in pairwise(map(int, tree["cat_boundaries"].split()))]
    first = np.repeat(firsts, [int(tree["num_leaves"]) - 1 for tree in trees])
    return np.where(listed, first + np.where(listed, threshold, 0.0), LEAF).astype(np.intp), sets


def _sums(model: Any, rows: Any) -> Any:
    """LightGBM's own."""
    if is_of(model, "lightgbm", "Booster"):
        frame = booster_rows(model)(rows).frame(rows)
        rows = rows if frame is None else frame
    return model.predict(rows, raw_score=True)
