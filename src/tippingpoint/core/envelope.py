"""Upper envelopes: of alternatives that gain and cost something, those that are best at some price."""

from __future__ import annotations

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray

TIE = 2.0**-48
"""Relative difference of two gains that is rounding: at the largest risk the cheaper of the two counts."""


def envelope(group: IntArray, gain: FloatArray, cost: FloatArray) -> IntArray:
    """The alternatives on the envelopes `max λ·gain - cost` of their groups, sorted by group and then by gain.

    An alternative is never best if another costs no more at no less gain, or if it lies above the chord of its
    neighbours. Dropping all of those at once and looking again ends with the convex envelope.
    """
    gain, cost = _near_one(gain), _near_one(cost)  # so that the products below are numbers
    kept = undominated(group, gain, cost)
    while True:
        bent = _above_chord(group[kept], gain[kept], cost[kept])
        if not bent.any():
            return kept
        kept = kept[~bent]


def _near_one(values: FloatArray) -> FloatArray:
    """The values in units of a power of two near the largest, which changes no digit."""
    return np.asarray(np.ldexp(values, -np.frexp(np.abs(values).max(initial=0.0))[1]))


def undominated(group: IntArray, gain: FloatArray, cost: FloatArray) -> IntArray:
    """The alternatives that no other of their group beats in gain, up to rounding, at no more cost, by group and then both."""
    order = np.lexsort((-gain, cost, group))
    same = group[order][1:] == group[order][:-1]
    best_before = _running_maximum(group[order], gain[order])[:-1]
    return np.asarray(order[np.concatenate(([True], ~same | (gain[order][1:] > best_before + TIE * np.abs(best_before))))])


def _running_maximum(group: IntArray, values: FloatArray) -> FloatArray:
    """Largest value so far within each run of equal `group`, groups in order."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    raised = np.maximum.accumulate(ranks + group * len(values))
    return np.asarray(np.sort(values)[raised - group * len(values)])


def _above_chord(group: IntArray, gain: FloatArray, cost: FloatArray) -> BoolArray:
    bent = np.zeros(len(group), dtype=bool)
    if len(group) > 2:
        inner = (group[2:] == group[1:-1]) & (group[1:-1] == group[:-2])
        rise, fall = gain[1:-1] - gain[:-2], gain[2:] - gain[1:-1]
        bent[1:-1] = inner & ((cost[1:-1] - cost[:-2]) * fall >= (cost[2:] - cost[1:-1]) * rise)
    return bent
