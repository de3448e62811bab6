"""Models of XGBoost as forests.

It compares in float32, `float32(x) < t`, and adds in float32. Categories that a split lists go right there: here its children
change places. Models are read from the document that XGBoost would store, whose digits tell every float32 apart.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.families.trees.forest import LEAF, Forest
from tippingpoint.families.trees.readers.float32 import before32, le32
from tippingpoint.families.trees.readers.nodes import planted
from tippingpoint.families.trees.readers.rounding import TELLING, UNIT32, in_order
from tippingpoint.families.trees.reading import Link, Outputs, Returns, TreeReading, Unread
from tippingpoint.foreign import is_of
from tippingpoint.preprocessing.booster_rows import booster_rows, columns_named
from tippingpoint.preprocessing.categories import native_categories

LINKS: Mapping[str, Link] = {
    "binary:logistic": "logit",
    "reg:logistic": "logit",
    "reg:squarederror": "identity",
    "reg:linear": "identity",
    "reg:squaredlogerror": "identity",
    "reg:pseudohubererror": "identity",
    "reg:absoluteerror": "identity",
    "reg:quantileerror": "identity",
    "count:poisson": "log",
    "reg:gamma": "log",
    "reg:tweedie": "log",
}
"""By objective of one output: what its sums are of what it predicts; the base is stored on the scale of predictions."""

LOG_ODDS = "binary:logitraw"
"""An objective whose sums are log-odds, and so are its base and its predictions."""

HINGE = "binary:hinge"
"""An objective whose sums tell classes by their sign, and nothing else."""

SEVERAL = ("multi:softprob", "multi:softmax")
"""Objectives of several classes, whose scores are the sums of their own trees."""

CLOSEST, CLOSEST_SINCE = 1e-6, [3, 2]
"""How close to 0 and to 1 XGBoost lets a base be of which it takes the log-odds, and since which version."""

BASE_UNITS = 4.0
"""Units of float32 by which logarithms of two libraries may differ: two in the last place."""

DART_UNITS = 3.0
"""Roundings of what a tree adds with a weight, besides adding it: the base is added, taken off again, the rest multiplied."""


def read(model: Any, labels: Sequence[Any] | None = None) -> TreeReading | Unread:
    """A fitted estimator or a Booster; `labels` are those of its classes, where it has numbers only."""
    booster = model.get_booster() if is_of(model, "xgboost", "XGBModel") else model
    document = json.loads(bytes(booster.save_raw("json")))
    learner = document["learner"]
    flaw = _flaw(model, learner)
    if flaw is not None:
        return Unread(flaw)
    groups = _groups(learner)
    meaning = _meaning(model, learner["objective"]["name"])
    if isinstance(meaning, Unread):
        return meaning
    returns, link = meaning
    forest, rounding = _forest(learner, _rounds(model), _base(learner, groups, document["version"]))
    names = tuple(booster.feature_names) if booster.feature_names else None
    places = names or tuple(map(str, range(forest.width)))
    known = native_categories(booster, places)
    return TreeReading(
        forest,
        returns,
        "XGBoost",
        Outputs(partial(_margins, model, names)),
        rounding + (0.0 if returns == "prediction" else TELLING * UNIT32),
        link,
        None if returns == "prediction" else tuple(labels if labels is not None else range(max(2, groups))),
        names,
        {places.index(name): known.by_column[name] for name in known.typed},
        absent=math.nan,
    )


def _flaw(model: Any, learner: Mapping[str, Any]) -> str | None:
    """What is not read of it."""
    booster, shape = learner["gradient_booster"], learner["learner_model_param"]
    if booster["name"] == "gblinear":
        return "it is a linear model (gblinear), without trees"
    missing = getattr(model, "missing", math.nan)
    if missing is not None and not math.isnan(missing):
        return f"it reads {missing:g} as missing, and only NaN is read so here"
    trees = _grown(booster)["trees"]
    if not trees:
        return "it has no trees"
    if any(int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in trees):
        return "its leaves hold several numbers (multi_output_tree)"
    if int(shape.get("num_target", 1)) > 1:
        return f"it predicts {shape['num_target']} numbers a row"
    return None


def _meaning(model: Any, objective: str) -> tuple[Returns, Link] | Unread:
    """What the sums are; a Booster is what its objective says, an estimator what it is."""
    one = "classifier" if is_of(model, "xgboost", "XGBClassifier") else "regressor"
    if is_of(model, "xgboost", "Booster") and not objective.startswith(("reg:", "count:")):
        one = "classifier"
    if one == "regressor" and (objective in LINKS or objective == LOG_ODDS):
        return "prediction", LINKS.get(objective, "identity")
    if one == "classifier" and (LINKS.get(objective) == "logit" or objective in SEVERAL):
        return "score", "identity"
    if one == "classifier" and objective == HINGE:
        return "order", "identity"
    if one == "classifier" and objective == LOG_ODDS:
        if is_of(model, "xgboost", "XGBModel"):
            return Unread(f"its predict compares log-odds ({LOG_ODDS}) with a half, as if they were probabilities")
        return "score", "identity"
    of_whom = f" of a {one}" if objective in (*LINKS, *SEVERAL, HINGE) else ""
    return Unread(f"its objective is {objective!r}, which is not read{of_whom}")


def _grown(booster: Mapping[str, Any]) -> Mapping[str, Any]:
    """The document of the trees."""
    found: Mapping[str, Any] = booster.get("gbtree", booster)["model"]
    return found


def _dropped(booster: Mapping[str, Any]) -> Sequence[float]:
    """Weights of the first trees, of dart: beside the trees, or since 3.4 among them; those of the others are one."""
    found: Sequence[float] = booster.get("weight_drop") or _grown(booster).get("weight_drop", ())
    return found


def _groups(learner: Mapping[str, Any]) -> int:
    return max(1, int(learner["learner_model_param"]["num_class"]))


def _rounds(model: Any) -> int | None:
    """How many rounds its predict uses: estimators stop at the best, where one was looked for."""
    try:
        return int(model.best_iteration) + 1 if is_of(model, "xgboost", "XGBModel") else None
    except AttributeError:
        return None


def _forest(learner: Mapping[str, Any], rounds: int | None, base: FloatArray) -> tuple[Forest, float]:
    """The forest, and how far XGBoost's own sums may be off."""
    booster = learner["gradient_booster"]
    grown = _grown(booster)
    used = len(grown["trees"]) if rounds is None else int(grown["iteration_indptr"][rounds])
    trees, group = grown["trees"][:used], np.array(grown["tree_info"][:used], dtype=np.intp)
    dropped = _dropped(booster)
    weights = np.ones(len(grown["trees"]), dtype=np.float32)
    weights[: len(dropped)] = dropped
    sizes = [len(tree["left_children"]) for tree in trees]
    joined = {name: np.concatenate([tree[name] for tree in trees]) for name in ("left_children", "right_children")}
    starts = np.concatenate(([0], np.cumsum(sizes)))
    condition = np.concatenate([np.array(tree["split_conditions"], dtype=np.float32) for tree in trees])
    members, sets = _sets(trees, starts)
    listed = members != LEAF
    default_left = np.concatenate([tree["default_left"] for tree in trees]).astype(bool)
    leaves = np.flatnonzero(joined["left_children"] < 0)
    tree_of = np.repeat(np.arange(len(trees)), sizes)[leaves]
    values = np.zeros((len(leaves), len(base)))
    values[np.arange(len(leaves)), group[tree_of]] = condition[leaves] * weights.astype(float)[tree_of]
    forest = planted(
        starts=starts,
        feature=np.concatenate([tree["split_indices"] for tree in trees]),
        threshold=le32(before32(condition)),
        missing_left=default_left ^ listed,
        left=np.where(listed, joined["right_children"], joined["left_children"]),
        right=np.where(listed, joined["left_children"], joined["right_children"]),
        values=values,
        base=base,
        width=int(learner["learner_model_param"]["num_feature"]),
        members=members,
        sets=sets,
    )
    rounding = in_order(forest, UNIT32) + BASE_UNITS * UNIT32 * float(np.abs(base).max())
    if dropped:
        rounding += _weighted_rounding(forest, weights[:used].astype(float), group)
    return forest, rounding


def _weighted_rounding(forest: Forest, weights: FloatArray, group: IntArray) -> float:
    """What weights of trees add to it: predicting in place, dart adds a leaf to the base, takes that off, and multiplies."""
    low, high = forest.leaf_ranges
    each = weights[:, None] * np.abs(forest.base) + np.maximum(-low, high)
    own = group[:, None] == np.arange(forest.outputs)
    return DART_UNITS * UNIT32 * float(np.max((each * own).sum(axis=0)))


def _sets(trees: Sequence[Mapping[str, Any]], starts: IntArray) -> tuple[IntArray, list[list[int]]]:
    """Which set each node has, and the sets."""
    members = np.full(starts[-1], LEAF, dtype=np.intp)
    sets: list[list[int]] = []
    for start, tree in zip(starts, trees, strict=False):
        segments = (tree.get(f"categories_{name}", ()) for name in ("nodes", "segments", "sizes"))
        for node, begin, size in zip(*segments, strict=True):
            members[start + node] = len(sets)
            sets.append(tree["categories"][begin : begin + size])
    return members, sets


def _base(learner: Mapping[str, Any], groups: int, version: Sequence[int]) -> FloatArray:
    """What the sums begin with, computed as XGBoost of this version does, in float32."""
    text = str(learner["learner_model_param"]["base_score"])
    stored = np.array([float(number) for number in text.strip("[]").split(",")], dtype=np.float32)
    objective, one = learner["objective"]["name"], np.float32(1.0)
    if LINKS.get(objective) == "logit":
        if list(version) >= CLOSEST_SINCE:
            stored = np.clip(stored, np.float32(CLOSEST), one - np.float32(CLOSEST))
        stored = -np.log(one / stored - one)
    elif LINKS.get(objective) == "log":
        stored = np.log(stored)
    return np.broadcast_to(stored.astype(float), groups).copy()


def _margins(model: Any, names: tuple[str, ...] | None, rows: Any) -> Any:
    """Sums of XGBoost's own."""
    if is_of(model, "xgboost", "Booster"):
        given = booster_rows(model)(rows).matrix(rows)
    else:  # an estimator takes its own columns only, in its order
        given = columns_named(rows, names) if hasattr(rows, "columns") else rows
    return model.predict(given, output_margin=True)
