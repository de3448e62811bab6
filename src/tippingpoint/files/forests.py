"""Trees behind one another in flat arrays, and the proof that each is one."""

from __future__ import annotations

from typing import Any

import numpy as np

from tippingpoint.files.damage import Damage

MAX_DEPTH = 4000
"""Steps from a root to a leaf; XGBoost finds the depth of a tree by recursion, and 4000 steps fit its stack."""

IntArray = np.ndarray[Any, np.dtype[np.int64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]


def check_trees(left: IntArray, right: IntArray, starts: IntArray, alive: BoolArray) -> None:
    """Damage, unless from the first node of each tree all that are alive are reached, each from one parent.

    Parameters
    ----------
    left, right
        Children of each node, numbered within its tree; both -1 at leaves.
    starts
        Where each tree begins, and where the last ends.
    alive
        Nodes that were not deleted.
    """
    sizes = np.diff(starts)
    if not (sizes > 0).all():
        raise Damage(f"tree {np.argmin(sizes)} has no nodes")
    tree = np.repeat(np.arange(len(sizes)), sizes)
    roots = starts[:-1]
    splits = alive & ((left != -1) | (right != -1))
    parent = np.full(len(left), -1)
    parent[roots] = roots
    parents = np.zeros(len(left), np.int64)
    for child in (left, right):
        outside = splits & ((child < 0) | (child >= sizes[tree]))
        if outside.any():
            at = int(np.argmax(outside))
            raise Damage(f"tree {tree[at]} has a node whose child {child[at]} is outside its {sizes[tree[at]]} nodes")
        places = roots[tree[splits]] + child[splits]
        parent[places] = np.flatnonzero(splits)
        parents += np.bincount(places, minlength=len(left))
    wanted = alive.astype(np.int64)
    wanted[roots] = 0
    if not alive[roots].all():
        raise Damage(f"tree {np.argmin(alive[roots])} has a root that was deleted")
    wrong = parents != wanted
    if wrong.any():
        at = int(np.argmax(wrong))
        number = at - roots[tree[at]]
        raise Damage(f"tree {tree[at]} has a node {number} with {parents[at]} parents, where {wanted[at]} is right")
    _check_depths(parent, tree, roots, alive)


def _check_depths(parent: IntArray, tree: IntArray, roots: IntArray, alive: BoolArray) -> None:
    """Each jump doubles, so cycles show after as many as a depth has digits."""
    above = np.where(alive, parent, roots[tree])
    depth = (above != np.arange(len(above))).astype(np.int64)
    for _ in range(MAX_DEPTH.bit_length()):
        depth += depth[above]
        above = above[above]
    lost = above != roots[tree]
    if lost.any() or depth.max(initial=0) > MAX_DEPTH:
        at = int(np.argmax(lost)) if lost.any() else int(np.argmax(depth))
        raise Damage(f"tree {tree[at]} goes round in a circle, or has more than {MAX_DEPTH} steps")
