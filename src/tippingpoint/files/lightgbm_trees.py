"""The trees of a LightGBM model: read from lines of text, proved to be trees, and written anew with every digit kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tippingpoint.files.damage import Damage, refuse_trees
from tippingpoint.files.forests import IntArray, check_trees

SPLITS = ("split_feature", "threshold", "decision_type", "left_child", "right_child")
"""One number a split."""

LINEAR = ("leaf_const", "num_features", "leaf_features", "leaf_coeff")
"""What leaves with a linear model of their own hold."""

CATEGORIES = ("cat_boundaries", "cat_threshold")
"""Where the sets of categories begin, and their bits."""

STATISTICS = ("split_gain", "leaf_weight", "leaf_count", "internal_value", "internal_weight", "internal_count")
"""What training noted; no prediction depends on it, and it is not read."""

LINES = ("Tree", "num_leaves", "num_cat", "leaf_value", "is_linear", "shrinkage", *SPLITS, *LINEAR, *CATEGORIES, *STATISTICS)
"""All that any version says of a tree."""

REALS = ("threshold", "leaf_value", "leaf_const", "leaf_coeff", "shrinkage")
"""Of these, the ones that are not whole numbers."""

INFINITE_THRESHOLD = re.compile(r"(?<!\S)inf(?!\S)")
"""A threshold that no number exceeds: so LightGBM writes a split of what is missing from all the rest."""

NOT_REAL, NOT_WHOLE = re.compile(r"[^-+.0-9e ]"), re.compile(r"[^-0-9 ]")
"""Letters that no such number has."""

MAX_NUMBER_LETTERS, MAX_INTEGER_LETTERS = 40, 11
"""Letters of a number; 17 digits, a sign and an exponent have 24, and whole numbers of 32 bits eleven."""

CATEGORICAL, DEFAULT_LEFT = 1, 2
"""Bits of a decision; the two behind them say what is missing: nothing, zeros or NaN."""

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Linear:
    """Linear models in leaves, `constant + coefficients @ row[features]`; those of leaf i begin at `starts[i]`."""

    constant: FloatArray
    starts: IntArray
    features: IntArray
    coefficients: FloatArray


@dataclass(frozen=True)
class Trees:
    """Trees behind one another.

    Attributes
    ----------
    leaf_starts
        Where the leaves of each tree begin, and where the last ends; it has one split less.
    feature
        The column that each split asks.
    threshold
        What a split compares with (left is at most), or the number of its set of categories within its tree.
    decision
        What kind of a split: `CATEGORICAL`, `DEFAULT_LEFT`, and what is missing in the two bits behind them.
    left, right
        Children of each split within its tree: a split, or `~leaf`.
    value
        What each leaf says.
    category_starts, category_bits
        The sets of categories of each tree, which go left, as 32-bit masks.
    linear
        Linear models in leaves, where there are any.
    texts
        The numbers of each tree as they were written, by the names of their lines.
    """

    leaf_starts: IntArray
    feature: IntArray
    threshold: FloatArray
    decision: IntArray
    left: IntArray
    right: IntArray
    value: FloatArray
    category_starts: list[IntArray]
    category_bits: list[IntArray]
    linear: Linear | None
    texts: list[dict[str, str]]

    def __len__(self) -> int:
        return len(self.texts)


def read_trees(blocks: Sequence[Sequence[str]], features: int) -> Trees:
    """The trees in blocks of lines, for data of so many columns."""
    parsed = [_Block(lines, at) for at, lines in enumerate(blocks)]
    leaves = np.array([each.leaves for each in parsed], np.int64)
    starts = np.concatenate(([0], np.cumsum(leaves)))

    def joined(name: str) -> np.ndarray[Any, Any]:
        kind = np.float64 if name in REALS else np.int64
        return np.array([number for each in parsed for number in each.numbers[name]], kind)

    feature, threshold, decision, left, right = (joined(name) for name in SPLITS)
    value = joined("leaf_value")
    tree = np.repeat(np.arange(len(parsed)), leaves - 1)
    _check_links(left, right, leaves, tree)
    refuse_trees((feature < 0) | (feature >= features), tree, f"asks a feature outside the {features} of the model")
    refuse_trees((decision < 0) | (decision > 11), tree, "has a split of a kind that is not known")
    sets = np.array([len(each.numbers["cat_boundaries"]) - 1 for each in parsed], np.int64)
    categorical = (decision & CATEGORICAL) != 0
    wrong = categorical & ~((threshold >= 0) & (threshold < sets[tree]) & (threshold == np.floor(threshold)))
    refuse_trees(wrong, tree, "has a split on a set of categories that is not there")
    refuse_trees(np.isnan(threshold) | (threshold == -np.inf), tree, "compares with no finite number")
    refuse_trees(~np.isfinite(value), np.repeat(np.arange(len(parsed)), leaves), "has a leaf without a finite value")
    return Trees(
        starts,
        feature,
        threshold,
        decision,
        left,
        right,
        value,
        [np.array(each.numbers["cat_boundaries"], np.int64) for each in parsed],
        [np.array(each.numbers["cat_threshold"], np.int64) for each in parsed],
        _linear(parsed, joined, features),
        [each.texts for each in parsed],
    )


def written_trees(trees: Trees) -> list[str]:
    """A block of text a tree, as LightGBM stores them."""
    return [
        f"Tree={at}\n" + "".join(f"{name}={text}\n" for name, text in each.items()) + "\n\n"
        for at, each in enumerate(trees.texts)
    ]


class _Block:
    """A tree as text: the numbers on each line, as many as belong there."""

    def __init__(self, lines: Sequence[str], at: int) -> None:
        self._at = at
        self._lines: dict[str, str] = {}
        for line in filter(None, lines):
            name, equals, text = line.partition("=")
            if name not in LINES or name in self._lines or not equals:
                raise Damage(f"tree {at} has a line {line[:40]!r}, which is not known or occurs twice")
            self._lines[name] = text
        self.texts: dict[str, str] = {}
        self.numbers: dict[str, list[Any]] = {}
        (self.leaves,) = self._read("num_leaves", 1)
        (sets,) = self._read("num_cat", 1)
        linear = self._read("is_linear", 1, "0")[0]
        if not (self.leaves >= 1 and sets >= 0 and linear in (0, 1)):
            raise Damage(f"tree {at} claims {self.leaves} leaves, {sets} sets of categories and {linear} for linear leaves")
        self._read("leaf_value", self.leaves)
        for name in SPLITS:
            self._read(name, self.leaves - 1, "0 " * (self.leaves - 1) if name == "decision_type" else "")
        self._read("shrinkage", 1, "1")
        self._read_sets(sets)
        if linear:
            self._read_linear()

    def _read(self, name: str, count: int | None, otherwise: str = "") -> list[Any]:
        """The numbers on a line, and their text, which is kept."""
        tokens = self._lines.get(name, otherwise).split()
        if count is not None and len(tokens) != count:
            raise Damage(f"tree {self._at} has {len(tokens)} numbers as {name!r}, where {count} belong there")
        text = " ".join(tokens)
        kind, strange, longest = (
            (float, NOT_REAL, MAX_NUMBER_LETTERS) if name in REALS else (int, NOT_WHOLE, MAX_INTEGER_LETTERS)
        )
        finite = INFINITE_THRESHOLD.sub("", text) if name == "threshold" else text
        plain = not strange.search(finite) and max(map(len, tokens), default=0) <= longest
        try:
            self.numbers[name] = list(map(kind, tokens if plain else [""]))
        except ValueError:
            raise Damage(f"tree {self._at} has something as {name!r} that is no number") from None
        if name == "threshold" and self.numbers[name].count(np.inf) != tokens.count("inf"):
            raise Damage(f"tree {self._at} compares with no finite number")
        self.texts[name] = text
        return self.numbers[name]

    def _read_sets(self, count: int) -> None:
        if not count:
            self.numbers |= {"cat_boundaries": [0], "cat_threshold": []}
            return
        bounds = self._read("cat_boundaries", count + 1)
        bits = self._read("cat_threshold", None)
        if bounds[0] != 0 or bounds[-1] != len(bits) or any(left > right for left, right in pairwise(bounds)):
            raise Damage(f"tree {self._at} has sets of categories outside its {len(bits)} masks")
        if bits and not (min(bits) >= 0 and max(bits) < 2**32):
            raise Damage(f"tree {self._at} has a mask of categories outside 32 bits")

    def _read_linear(self) -> None:
        self._read("leaf_const", self.leaves)
        counts = self._read("num_features", self.leaves)
        if min(counts) < 0:
            raise Damage(f"tree {self._at} has a leaf with fewer than no features")
        for name in ("leaf_features", "leaf_coeff"):
            self._read(name, sum(counts))


def _check_links(left: IntArray, right: IntArray, leaves: IntArray, tree: IntArray) -> None:
    """Splits first and leaves behind them, all are nodes of trees."""
    count = leaves[tree]
    for child in (left, right):
        outside = (child >= count - 1) | (child < -count)
        if outside.any():
            at = int(np.argmax(outside))
            raise Damage(f"tree {tree[at]} has a split whose child {child[at]} is outside its {count[at]} leaves")
    starts = np.concatenate(([0], np.cumsum(2 * leaves - 1)))
    places = starts[tree] + np.arange(len(tree)) - np.concatenate(([0], np.cumsum(leaves - 1)))[tree]
    first, second = np.full(starts[-1], -1), np.full(starts[-1], -1)
    first[places] = np.where(left >= 0, left, count - 2 - left)
    second[places] = np.where(right >= 0, right, count - 2 - right)
    check_trees(first, second, starts, np.ones(starts[-1], np.bool_))


def _linear(parsed: Sequence[_Block], joined: Callable[[str], np.ndarray[Any, Any]], features: int) -> Linear | None:
    """Linear models in leaves; a tree without them has constants."""
    if not any("leaf_const" in each.numbers for each in parsed):
        return None
    for each in parsed:
        if "leaf_const" not in each.numbers:
            each.numbers |= {"leaf_const": each.numbers["leaf_value"], "num_features": [0] * each.leaves}
            each.numbers |= {"leaf_features": [], "leaf_coeff": []}
    constant, counts, used, coefficients = (joined(name) for name in LINEAR)
    if ((used < 0) | (used >= features)).any() or not np.isfinite(constant).all() or not np.isfinite(coefficients).all():
        raise Damage(f"it has a linear leaf of a feature outside its {features}, or of a number that is not finite")
    return Linear(constant, np.concatenate(([0], np.cumsum(counts))), used, coefficients)
