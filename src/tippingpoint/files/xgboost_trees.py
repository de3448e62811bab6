"""The trees of an XGBoost model: read from a parsed document, proved to be trees, and written anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from tippingpoint.files.damage import Damage, Unserved, refuse_trees
from tippingpoint.files.documents import FloatArray, IntArray, Section
from tippingpoint.files.forests import BoolArray, check_trees

Array = TypeVar("Array", IntArray, FloatArray)

STATISTICS = ("base_weights", "loss_changes", "sum_hessian")
"""What training noted of each node; no prediction depends on it, but importances do."""

LINKS = ("left_children", "right_children", "parents", "split_indices", "default_left")
"""Whole numbers, one a node."""

KINDS = ("split_type",)
"""Whole numbers, one a node, that files before categories lack."""

CATEGORIES = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
"""What the splits on categories hold: the categories that go right."""

MEMBERS = (
    *STATISTICS,
    *LINKS,
    *KINDS,
    *CATEGORIES,
    "split_conditions",
    "id",
    "tree_param",
    "leaf_child_counts",
    "leaf_weights",
)
"""All that any version stores of a tree."""

DELETED_FEATURE = 2**31 - 1
"""The feature of a node that pruning has deleted, but left in its place."""

ROOT_PARENT = 2**31 - 1
"""The parent of a root."""

MAX_CATEGORY = 2**24
"""Categories are less: they arrive as single floats, which are whole and apart up to here."""

MAX_MASK_BYTES = 2**29
"""Bytes of the bits of all sets of categories: XGBoost keeps one up to the largest category of each split."""


@dataclass(frozen=True)
class Trees:
    """Trees behind one another, without the nodes that pruning has deleted.

    Attributes
    ----------
    starts
        Where the nodes of each tree begin, and where the last ends.
    left, right
        Children of each node, numbered within its tree; -1 at leaves.
    feature
        The column that a split asks; 0 at leaves.
    value
        What a split compares with (left is less), or what a leaf says.
    default_left
        Where missing values go.
    categorical
        Which splits hold a set of categories, which go right, in place of a comparison.
    category_starts, categories
        The categories of node i are `categories[category_starts[i]:category_starts[i + 1]]`.
    statistics
        What training noted of each node, by name.
    """

    starts: IntArray
    left: IntArray
    right: IntArray
    feature: IntArray
    value: FloatArray
    default_left: BoolArray
    categorical: BoolArray
    category_starts: IntArray
    categories: IntArray
    statistics: Mapping[str, FloatArray]

    def __len__(self) -> int:
        return len(self.starts) - 1


def read_trees(documents: Sequence[Any], features: int) -> Trees:
    """The trees in a list of parsed ones, for data of so many columns."""
    sections = [Section(each, f"tree {at}") for at, each in enumerate(documents)]
    sizes = [_size(each, at, features) for at, each in enumerate(sections)]
    starts = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    whole = {name: _joined(sections, sizes, name) for name in (*LINKS, *KINDS)}
    numbers = {name: _joined_numbers(sections, sizes, name) for name in (*STATISTICS, "split_conditions")}
    left, right, feature = whole["left_children"], whole["right_children"], whole["split_indices"]
    alive = (feature != DELETED_FEATURE) | (whole["default_left"] == 0)
    check_trees(left, right, starts, alive)
    splits = alive & (left != -1)
    tree = np.repeat(np.arange(len(sizes)), sizes)
    refuse_trees(splits & ((feature < 0) | (feature >= features)), tree, f"asks a feature outside the {features} of the model")
    refuse_trees((whole["default_left"] | whole["split_type"]) >> 1 != 0, tree, "has a sign that is neither 0 nor 1")
    categorical = splits & (whole["split_type"] == 1)
    value = numbers["split_conditions"]
    refuse_trees(alive & ~splits & ~np.isfinite(value), tree, "has a leaf without a finite value")
    refuse_trees(splits & ~categorical & np.isnan(value), tree, "compares with no number")
    counts, categories = _categories(sections, starts, categorical)
    return _compact(
        Trees(
            starts,
            left,
            right,
            np.where(splits, feature, 0),
            value,
            splits & (whole["default_left"] == 1),
            categorical,
            np.concatenate(([0], np.cumsum(counts))),
            categories,
            {name: numbers[name] for name in STATISTICS},
        ),
        alive,
    )


def written_trees(trees: Trees, features: int) -> list[dict[str, Any]]:
    """A document a tree, as XGBoost stores them."""
    parents = _parents(trees)
    small: dict[str, np.ndarray[Any, Any]] = {
        "left_children": trees.left.astype(np.int32),
        "right_children": trees.right.astype(np.int32),
        "parents": parents.astype(np.int32),
        "split_indices": trees.feature.astype(np.int32),
        "default_left": trees.default_left.astype(np.uint8),
        "split_type": trees.categorical.astype(np.uint8),
        "split_conditions": trees.value,
        **trees.statistics,
    }
    return [_written(trees, small, at, features) for at in range(len(trees))]


def _written(trees: Trees, small: Mapping[str, np.ndarray[Any, Any]], at: int, features: int) -> dict[str, Any]:
    first, last = trees.starts[at], trees.starts[at + 1]
    nodes = np.flatnonzero(trees.categorical[first:last])
    begin, end = trees.category_starts[first], trees.category_starts[last]
    return {
        "id": at,
        "tree_param": {
            "num_deleted": "0",
            "num_nodes": str(last - first),
            "size_leaf_vector": "1",
            "num_feature": str(features),
        },
        **{name: values[first:last] for name, values in small.items()},
        "categories": trees.categories[begin:end].astype(np.int32),
        "categories_nodes": nodes.astype(np.int32),
        "categories_segments": trees.category_starts[first + nodes] - begin,
        "categories_sizes": trees.category_starts[first + nodes + 1] - trees.category_starts[first + nodes],
    }


def _parents(trees: Trees) -> IntArray:
    parents = np.full(len(trees.left), ROOT_PARENT)
    first = np.repeat(trees.starts[:-1], np.diff(trees.starts))
    splits = np.flatnonzero(trees.left != -1)
    for child in (trees.left, trees.right):
        parents[first[splits] + child[splits]] = splits - first[splits]
    return parents


def _size(section: Section, at: int, features: int) -> int:
    section.only(MEMBERS)
    param = section.section("tree_param")
    if param.count("size_leaf_vector", 1) > 1:
        raise Unserved("whose leaves hold vectors (multi_output_tree), which is not served; train one output a tree")
    if param.count("num_feature", features) > features:
        raise Damage(f"tree {at} claims {param.count('num_feature')} features, where the model has {features}")
    return param.count("num_nodes")


def _joined(sections: Sequence[Section], sizes: Sequence[int], name: str) -> IntArray:
    found = []
    for section, size in zip(sections, sizes, strict=True):
        missing = name in KINDS and name not in section  # before categories, all splits compare; links were counted first
        found.append(_long(section, name, size, np.zeros(size, np.int64) if missing else section.integers(name)))
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _joined_numbers(sections: Sequence[Section], sizes: Sequence[int], name: str) -> FloatArray:
    found = []
    for section, size in zip(sections, sizes, strict=True):
        found.append(_long(section, name, size, section.numbers(name)))
    return np.concatenate(found) if found else np.zeros(0, np.float32)


def _long(section: Section, name: str, size: int, values: Array) -> Array:
    if len(values) != size:
        raise Damage(f"{section.called} has {size} nodes, but {len(values)} {name!r}")
    return values


def _categories(sections: Sequence[Section], starts: IntArray, categorical: BoolArray) -> tuple[IntArray, IntArray]:
    """How many categories each node has, and all of them."""
    counts = np.zeros(len(categorical), np.int64)
    found = [np.zeros(0, np.int64)]
    bits = 0
    for at, section in enumerate(sections):
        first, last = starts[at], starts[at + 1]
        wanted = np.flatnonzero(categorical[first:last])
        if not len(wanted) and not any(name in section and len(section.member(name)) for name in CATEGORIES):
            continue
        every, nodes, begins, lengths = (section.integers(name) for name in CATEGORIES)
        if not (len(nodes) == len(begins) == len(lengths) and (np.diff(nodes) > 0).all()):
            raise Damage(f"tree {at} lists the categories of its splits twice, or out of order")
        if ((begins < 0) | (lengths < 1) | (begins > len(every)) | (lengths > len(every) - begins)).any():
            raise Damage(f"tree {at} has a split whose categories are outside its {len(every)}")
        if not np.isin(wanted, nodes).all():
            raise Damage(f"tree {at} has a split on categories, but none of them")
        kept = np.isin(nodes, wanted)  # a split that was pruned to a leaf may have left its categories behind
        nodes, begins, lengths = nodes[kept], begins[kept], lengths[kept]
        if lengths.sum() > len(every):
            raise Damage(f"tree {at} has splits that share their categories")
        counts[first + nodes] = lengths
        each = every[np.repeat(begins - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths) + np.arange(lengths.sum())]
        if ((each < 0) | (each >= MAX_CATEGORY)).any():
            raise Damage(f"tree {at} has a category outside 0 to {MAX_CATEGORY - 1}")
        largest = np.maximum.reduceat(each, np.concatenate(([0], np.cumsum(lengths)[:-1]))) if len(nodes) else each[:0]
        bits += int((largest + 32).sum())
        found.append(each)
    if bits > 8 * MAX_MASK_BYTES:
        raise Unserved(
            f"whose sets of categories would take {bits // 8} bytes, where {MAX_MASK_BYTES} are the most that are served"
        )
    return counts, np.concatenate(found)


def _compact(trees: Trees, alive: BoolArray) -> Trees:
    """Without nodes that are not alive."""
    if alive.all():
        return trees
    before = np.concatenate(([0], np.cumsum(alive)))
    starts = before[trees.starts]
    first = np.repeat(trees.starts[:-1], np.diff(trees.starts))

    def moved(child: IntArray) -> IntArray:
        return np.where(child == -1, -1, before[first + child] - before[first])[alive]

    return Trees(
        starts,
        moved(trees.left),
        moved(trees.right),
        trees.feature[alive],
        trees.value[alive],
        trees.default_left[alive],
        trees.categorical[alive],
        np.concatenate((trees.category_starts[:-1][alive], trees.category_starts[-1:])),  # what is deleted has no categories
        trees.categories,
        {name: values[alive] for name, values in trees.statistics.items()},
    )
