r"""One forest for all libraries: flat arrays of nodes, and one rule for every split.

.. math:: f_k(x) = base_k + \sum_t value_k(leaf_t(x))

A number goes left iff `x ≤ threshold` in float64, whatever the library compares in: the threshold is the largest double that
the library sends left. A category goes left iff its code is listed. What is missing goes where the node says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.families.trees.kernels import kernels

Int32Array = npt.NDArray[np.int32]

LEAF = -1
"""In place of a column, a child or a set of categories, where a node has none."""


@dataclass(frozen=True)
class Forest:
    """Trees as arrays over all their nodes; a parent stands before its children.

    Attributes
    ----------
    feature
        `(N,)` column that a node splits on; `LEAF` at a leaf.
    threshold
        `(N,)` the largest number that goes left; not a number where a node splits by categories, and at a leaf.
    missing_left
        `(N,)` whether what is missing goes left.
    members
        `(N,)` which of `sets` goes left, where a node splits by categories; `LEAF` elsewhere.
    left, right
        `(N,)` positions of the children; `LEAF` at a leaf.
    leaf
        `(N,)` row of `values` that a leaf adds; `LEAF` inside.
    values
        `(L, K)` what each leaf adds to each output.
    roots
        `(T,)` where the trees begin.
    base
        `(K,)` what the outputs are before any tree.
    sets
        Codes of categories that go left, each sorted; codes that are not listed go right, those never seen among them.
    width
        Columns of the data that the trees take.
    """

    feature: Int32Array
    threshold: FloatArray
    missing_left: BoolArray
    members: Int32Array
    left: Int32Array
    right: Int32Array
    leaf: Int32Array
    values: FloatArray
    roots: Int32Array
    base: FloatArray
    sets: tuple[IntArray, ...]
    width: int

    @property
    def outputs(self) -> int:
        """How many numbers it predicts."""
        return int(self.values.shape[1])

    @cached_property
    def columns(self) -> IntArray:
        """The columns that any node splits on."""
        return np.unique(self.feature[self.feature != LEAF]).astype(np.intp)

    @cached_property
    def leaf_ranges(self) -> tuple[FloatArray, FloatArray]:
        """`(T, K)` the smallest and the largest values of the leaves of each tree."""
        leaves = np.flatnonzero(self.feature == LEAF)
        values = self.values[self.leaf[leaves]]
        first = np.searchsorted(leaves, self.roots)  # the nodes of a tree stand together
        return np.minimum.reduceat(values, first, axis=0), np.maximum.reduceat(values, first, axis=0)

    def goes_left(self, node: int, x: FloatArray) -> BoolArray:
        """Whether these values of the node's column go left."""
        listed = self.members[node]
        left = x <= self.threshold[node] if listed == LEAF else np.isin(x, self.sets[listed])
        return np.asarray(np.where(np.isnan(x), self.missing_left[node], left))

    def leaves(self, x: FloatArray) -> IntArray:
        """`(n, T)` rows of `values` that the rows of `x` fall into, tree by tree."""
        compiled = kernels()
        if compiled is not None:
            found = np.empty((len(x), len(self.roots)), dtype=np.int32)
            sets = np.concatenate([np.zeros(0), *self.sets])
            begins = np.cumsum([0, *map(len, self.sets)], dtype=np.int32)
            nodes = (self.feature, self.threshold, self.missing_left.astype(np.uint8), self.members, self.left, self.right)
            compiled.leaves(*nodes, self.leaf, self.roots, sets, begins, np.ascontiguousarray(x), found)
            return found.astype(np.intp)
        return self.leaves_by_numpy(x)

    def leaves_by_numpy(self, x: FloatArray) -> IntArray:
        """The same without compiled kernels."""
        found = np.empty((len(x), len(self.roots)), dtype=np.intp)
        everyone = np.arange(len(x))
        for t, root in enumerate(self.roots):
            at = [(int(root), everyone)]
            while at:
                node, rows = at.pop()
                if self.feature[node] == LEAF:
                    found[rows, t] = self.leaf[node]
                elif len(rows):
                    left = self.goes_left(node, x[rows, self.feature[node]])
                    at += [(int(self.left[node]), rows[left]), (int(self.right[node]), rows[~left])]
        return found

    def scores(self, x: FloatArray) -> FloatArray:
        """`(n, K)` outputs, summed tree by tree."""
        total = np.tile(self.base, (len(x), 1))
        for reached in self.leaves(x).T:
            total += self.values[reached]
        return total
