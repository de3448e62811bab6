r"""How far sums over trees may be from exact ones, whatever the row.

A sum of :math:`m + 1` numbers, added in any order with relative errors of at most :math:`u` an addition, is off by at most
:math:`γ_m \sum|x_i|`, :math:`γ_m = mu/(1 - mu)`; an addition in order is off by :math:`u` times the sum so far.
"""

from __future__ import annotations

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.families.trees.forest import LEAF, Forest

UNIT32, UNIT64 = 2.0**-24, 2.0**-53
"""Relative error of an operation in float32 and in float64."""

TELLING = 8.0
"""Units of rounding within which two scores may have equal probabilities. The logistic function of `x` is above a half, as a
float, from `1 + e^(-x)` four units below two on, and `e^(-x)` itself is off by up to two; softmax is no coarser."""


def any_order(forest: Forest, unit: float, each: int = 0) -> float:
    r""":math:`γ_{T + each} (|base| + \sum_t \max|leaf_t|)`: sums in any order, of terms that are rounded `each` times."""
    low, high = leaf_ranges(forest)
    largest = np.maximum(-low, high)
    steps = (largest > 0.0).sum(axis=0) + each  # to add nothing is exact
    return float(np.max(steps * unit / (1.0 - steps * unit) * (np.abs(forest.base) + largest.sum(axis=0))))


def in_order(forest: Forest, unit: float) -> float:
    r""":math:`(1 + u)^T u \sum_t \max|s_t|`: sums tree after tree, begun or ended with the base.

    The error of `s_t`, the sum up to a tree, is that of the sum before times :math:`1 + u`, and :math:`u|s_t|`.
    """
    low, high = leaf_ranges(forest)
    adds = np.maximum(-low, high) > 0.0
    sums = np.cumsum(low, axis=0), np.cumsum(high, axis=0)
    partial = np.maximum.reduce([np.abs(start + total) for start in (0.0, forest.base) for total in sums])
    last = np.maximum.reduce([np.abs(forest.base + total[-1]) for total in sums])
    return float(np.max((1.0 + unit) ** (adds.sum(axis=0) + 1) * unit * ((partial * adds).sum(axis=0) + last)))


def leaf_ranges(forest: Forest) -> tuple[FloatArray, FloatArray]:
    """`(T, K)` the smallest and the largest values of the leaves of each tree."""
    leaves = np.flatnonzero(forest.feature == LEAF)
    values = forest.values[forest.leaf[leaves]]
    first = np.searchsorted(leaves, forest.roots)  # the nodes of a tree stand together
    return np.minimum.reduceat(values, first, axis=0), np.maximum.reduceat(values, first, axis=0)
