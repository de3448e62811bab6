"""Models of CatBoost as forests.

It compares in float32, `float32(x) > border` goes right, and adds doubles. Models are read from the document that CatBoost
would store. Splits on categories compare hashes of their names, or statistics of the target, and are not read.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.data.columns import plain
from tippingpoint.families.trees.forest import LEAF, Forest
from tippingpoint.families.trees.readers.float32 import le32
from tippingpoint.families.trees.readers.nodes import planted
from tippingpoint.families.trees.readers.rounding import TELLING, UNIT64, any_order
from tippingpoint.families.trees.reading import Link, Outputs, Returns, TreeReading, Unread
from tippingpoint.foreign import is_of

LOGISTIC = ("Logloss", "CrossEntropy", "Focal")
"""Losses whose sums are log-odds of the second class."""

SOFTMAX, ONE_AGAINST_ALL = "MultiClass", "MultiClassOneVsAll"
"""Losses of several classes: probabilities are the softmax of the sums; each is the logistic function of its own."""

EXPONENTS = ("Poisson", "Tweedie")
"""Losses of which a CatBoostRegressor, and no other class, predicts the exponential of the sums."""

PLAIN = ("RMSE", "RMSPE", "MAE", "Quantile", "LogLinQuantile", "MAPE", "Lq", "Huber", "Expectile", "LogCosh", *EXPONENTS)
"""Losses of one number."""

OWN = "PythonUserDefinedPerObject"
"""A loss of the user's."""

NUMBERS = "FloatFeature"
"""Splits of columns of numbers."""

MISSING_RIGHT = "AsTrue"
"""How columns are described whose missing values are above every border; otherwise they are above none."""

RAW = "RawFormulaVal"
"""What CatBoost calls its sums."""

OWN_ROUNDINGS = 2
"""Of what a leaf adds: the scale of the model, on either side."""

EVEN_CHANCE = 0.5
"""The probability above which the second class is told, unless the user moves it."""


@dataclass(frozen=True)
class _Tree:
    """A tree of CatBoost.

    Attributes
    ----------
    splits
        What is asked.
    which
        Which of them every node asks that is no leaf.
    left, right
        Children of all nodes, from the root on; `LEAF` at leaves.
    values
        `(L, K)` what the leaves add.
    """

    splits: Sequence[Mapping[str, Any]]
    which: IntArray
    left: IntArray
    right: IntArray
    values: FloatArray


def read(model: Any) -> TreeReading | Unread:
    """A fitted CatBoostClassifier, CatBoostRegressor or CatBoost."""
    document = _document(model)
    loss = document["model_info"].get("params", {}).get("loss_function", {}).get("type", "")
    scale, base = _scale_and_bias(document)
    trees = _trees(document, len(base))
    flaw = _flaw(document, trees, loss, len(base))
    if flaw is not None:
        return Unread(flaw)
    meaning = _meaning(model, loss)
    if isinstance(meaning, Unread):
        return meaning
    returns, link = meaning
    names = tuple(map(str, model.feature_names_))
    forest = _forest(document, trees, scale, base, len(names))
    return TreeReading(
        forest,
        returns,
        "CatBoost",
        Outputs(partial(model.predict, prediction_type=RAW)),
        any_order(forest, UNIT64, OWN_ROUNDINGS) + (0.0 if returns == "prediction" else TELLING * UNIT64),
        link,
        None if returns == "prediction" else tuple(plain(model.classes_)) or tuple(range(max(2, len(base)))),
        None if names == tuple(map(str, range(len(names)))) else names,
    )


def _document(model: Any) -> Mapping[str, Any]:
    """What CatBoost stores of a model; it writes files only."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _scale_and_bias(document: Mapping[str, Any]) -> tuple[float, FloatArray]:
    scale, bias = document["scale_and_bias"]
    return float(scale), np.atleast_1d(np.asarray(bias, dtype=float))


def _flaw(document: Mapping[str, Any], trees: Sequence[_Tree], loss: str, outputs: int) -> str | None:
    """What is not read of it."""
    if not trees:
        return "it has no trees"
    if any(split["split_type"] != NUMBERS for tree in trees for split in tree.splits):
        return "it splits on categories, text or embeddings, by numbers that it makes of them"
    if outputs > 1 and loss not in (SOFTMAX, ONE_AGAINST_ALL):
        return f"it predicts {outputs} numbers a row"
    chance = float(document["model_info"].get("binclass_probability_threshold", EVEN_CHANCE))
    return None if chance == EVEN_CHANCE else f"it tells the second class from a probability of {chance:g} on, not of a half"


def _meaning(model: Any, loss: str) -> tuple[Returns, Link] | Unread:
    """What the sums are; a CatBoost is what its loss says, and its regressors what their class says."""
    if is_of(model, "catboost", "CatBoostRegressor") and loss in (*PLAIN, OWN):
        return "prediction", "log" if loss in EXPONENTS else "identity"
    if loss in LOGISTIC or loss == SOFTMAX:
        return "score", "identity"
    if loss == ONE_AGAINST_ALL:
        return "order", "identity"
    if loss in PLAIN:
        return "prediction", "identity"
    return Unread(f"its loss is {loss!r}, which is not read" if loss else "it does not store the loss that it was trained on")


def _trees(document: Mapping[str, Any], outputs: int) -> list[_Tree]:
    if "oblivious_trees" in document:
        return [_oblivious(tree, outputs) for tree in document["oblivious_trees"]]
    return [_nested(tree, outputs) for tree in document.get("trees", ())]


def _oblivious(tree: Mapping[str, Any], outputs: int) -> _Tree:
    """One split a level: bit `k` of a leaf's number is the answer to split `k`, so the last split is asked first."""
    splits = tree.get("splits") or []
    inner = 2 ** len(splits) - 1
    nodes = np.arange(2 * inner + 1)
    level = np.repeat(np.arange(len(splits)), 2 ** np.arange(len(splits)))
    left = np.where(nodes < inner, 2 * nodes + 1, LEAF)
    right = np.where(nodes < inner, 2 * nodes + 2, LEAF)
    return _Tree(splits, len(splits) - 1 - level, left, right, np.reshape(tree["leaf_values"], (-1, outputs)))


def _nested(tree: Mapping[str, Any], outputs: int) -> _Tree:
    """Nodes inside nodes, numbered level by level."""
    splits, values, left, right, nodes = [], [], [], [], [tree]
    for node in nodes:  # which grow on the way
        if "split" in node:
            splits.append(node["split"])
            left.append(len(nodes))
            right.append(len(nodes) + 1)
            nodes += [node["left"], node["right"]]
        else:
            values.append(node["value"])
            left.append(LEAF)
            right.append(LEAF)
    return _Tree(splits, np.arange(len(splits)), np.array(left), np.array(right), np.reshape(values, (-1, outputs)))


def _forest(document: Mapping[str, Any], trees: Sequence[_Tree], scale: float, base: FloatArray, width: int) -> Forest:
    described = {each["feature_index"]: each for each in document["features_info"].get("float_features", ())}
    splits = [split for tree in trees for split in tree.splits]
    asked = [described[split["float_feature_index"]] for split in splits]
    firsts = np.cumsum([0, *(len(tree.splits) for tree in trees)])
    left = np.concatenate([tree.left for tree in trees])
    which = np.zeros(len(left), dtype=np.intp)
    which[left >= 0] = np.concatenate([first + tree.which for first, tree in zip(firsts, trees, strict=False)])

    def of_nodes(found: Sequence[Any]) -> Any:
        return np.array([*found, 0])[which]  # a tree may be a single leaf, and all of them

    return planted(
        starts=np.cumsum([0, *(len(tree.left) for tree in trees)]),
        feature=of_nodes([each["flat_feature_index"] for each in asked]),
        threshold=le32(of_nodes([split["border"] for split in splits])),
        missing_left=of_nodes([each["nan_value_treatment"] != MISSING_RIGHT for each in asked]),
        left=left,
        right=np.concatenate([tree.right for tree in trees]),
        values=scale * np.concatenate([tree.values for tree in trees]),
        base=base,
        width=width,
    )
