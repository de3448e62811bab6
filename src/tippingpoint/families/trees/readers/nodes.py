"""Nodes as libraries keep them, tree behind tree, as one forest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tippingpoint.core.arrays import IntArray
from tippingpoint.families.trees.forest import LEAF, Forest


def planted(
    *,
    starts: npt.ArrayLike,
    feature: npt.ArrayLike,
    threshold: npt.ArrayLike,
    missing_left: npt.ArrayLike,
    left: npt.ArrayLike,
    right: npt.ArrayLike,
    values: npt.ArrayLike,
    base: npt.ArrayLike,
    width: int,
    members: npt.ArrayLike | None = None,
    sets: Sequence[npt.ArrayLike] = (),
) -> Forest:
    """A forest: parents before their children, every tree in one piece, without nodes that nobody gets to.

    Parameters
    ----------
    starts
        `(T + 1,)` where the nodes of each tree begin, with its root, and where the last tree ends.
    feature, threshold, missing_left, members
        `(N,)` as in `Forest`; what they hold at leaves is not read. No `members`: no node splits by categories.
    left, right
        `(N,)` children, numbered within their tree; negative at leaves.
    values
        `(L, K)` what the leaves add, in the order of their nodes.
    base, width, sets
        As in `Forest`; sets need not be sorted.
    """
    first, left, right = np.asarray(starts, dtype=np.intp), np.asarray(left, dtype=np.intp), np.asarray(right, dtype=np.intp)
    inner = left >= 0
    shift = np.repeat(first[:-1], np.diff(first))
    left, right = left + shift, right + shift
    order = _order(first, left, right, inner)
    place = np.full(len(left), LEAF, dtype=np.int32)
    place[order] = np.arange(len(order))
    splits = inner[order]
    chosen = np.full(len(left), LEAF) if members is None else np.asarray(members)

    def kept(found: npt.ArrayLike, elsewhere: float) -> npt.NDArray[np.float64]:
        return np.where(splits, np.asarray(found)[order], elsewhere)

    by_number = splits & (chosen[order] == LEAF)
    leaf_rows = (np.cumsum(~inner) - 1)[order][~splits]
    leaf = np.full(len(order), LEAF, dtype=np.int32)
    leaf[~splits] = np.arange(len(leaf_rows))
    return Forest(
        feature=kept(feature, LEAF).astype(np.int32),
        threshold=np.where(by_number, np.asarray(threshold, dtype=float)[order], np.nan),
        missing_left=kept(missing_left, 0).astype(bool),
        members=kept(chosen, LEAF).astype(np.int32),
        left=np.where(splits, place[np.where(inner, left, 0)[order]], LEAF).astype(np.int32),
        right=np.where(splits, place[np.where(inner, right, 0)[order]], LEAF).astype(np.int32),
        leaf=leaf,
        values=np.ascontiguousarray(np.asarray(values, dtype=float)[leaf_rows]),
        roots=place[first[:-1]],
        base=np.array(base, dtype=float),
        sets=tuple(np.unique(np.asarray(each, dtype=np.intp)) for each in sets),
        width=width,
    )


def _order(starts: IntArray, left: IntArray, right: IntArray, inner: npt.NDArray[np.bool_]) -> IntArray:
    """The nodes that can be reached, tree by tree, from the root downwards."""
    levels, level = [], starts[:-1]
    while len(level):
        levels.append(level)
        parents = level[inner[level]]
        level = np.concatenate((left[parents], right[parents]))
    reached = np.concatenate(levels)
    tree = np.searchsorted(starts, reached, side="right")
    return reached[np.argsort(tree, kind="stable")]  # within a tree the levels stay in their order


def bits(masks: npt.ArrayLike) -> IntArray:
    """The positions of the ones in masks of 32 bits each, the lowest first."""
    words = np.ascontiguousarray(masks, dtype="<u4")
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
