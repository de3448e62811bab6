"""Repeated runs of alternatives: losses are their means, and some runs can be held out from the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray

MAX_FOLDS = 5
"""Parts that runs are held out in: with more, every number takes longer, and choices are hardly better."""


@dataclass(frozen=True)
class Runs:
    """The runs that losses are means of.

    Attributes
    ----------
    alternative
        `(m,)` position of the alternative that was run.
    loss
        `(m,)` of each run.
    rank
        `(m,)` of each run among those of its alternative, from 0.
    alternatives
        How many there are.
    """

    alternative: IntArray
    loss: FloatArray
    rank: IntArray
    alternatives: int

    @cached_property
    def counts(self) -> IntArray:
        """How often every alternative was run."""
        return np.bincount(self.alternative, minlength=self.alternatives)

    @property
    def means(self) -> FloatArray:
        """The mean loss of every alternative; not a number where it was never run."""
        return self._means(self._sums(np.ones(len(self.loss), dtype=bool)), self.counts)

    def keeping(self, kept: BoolArray) -> Runs:
        """The runs of these alternatives only."""
        place = np.cumsum(kept) - 1
        runs = np.flatnonzero(kept[self.alternative])
        return Runs(place[self.alternative[runs]], self.loss[runs], self.rank[runs], int(kept.sum()))

    def folds(self, count: int) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Mean losses of the runs outside every fold and of those in it; not a number for alternatives without any there."""
        whole = self._sums(np.ones(len(self.loss), dtype=bool))
        for fold in range(count):
            inside = self.rank % count == fold
            sums, counts = self._sums(inside), np.bincount(self.alternative[inside], minlength=self.alternatives)
            yield self._means(whole - sums, self.counts - counts), self._means(sums, counts)

    def window(self, start: IntArray, length: IntArray) -> FloatArray:
        """Mean losses of some runs of every alternative: `length` of them from place `start` on, the first after the last."""
        begins, counts, total = self._begins, self.counts, np.zeros(self.alternatives)
        for step in range(int(length.max())):
            taken = np.flatnonzero(step < length)
            total[taken] += self._in_order[begins[taken] + (start[taken] + step) % counts[taken]]
        return np.asarray(total / length)

    @cached_property
    def _in_order(self) -> FloatArray:
        """The loss of every run, by alternative and rank."""
        return self.loss[np.lexsort((self.rank, self.alternative))]

    @cached_property
    def _begins(self) -> IntArray:
        """Where the runs of every alternative begin in that order."""
        return np.asarray(np.concatenate(([0], np.cumsum(self.counts)[:-1])))

    def _sums(self, chosen: BoolArray) -> FloatArray:
        sums = np.bincount(self.alternative[chosen], weights=self.loss[chosen], minlength=self.alternatives)
        return np.asarray(sums, dtype=float)

    @staticmethod
    def _means(sums: FloatArray, counts: IntArray) -> FloatArray:
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def ranks(alternative: IntArray, order: IntArray) -> IntArray:
    """The place of every run among those of its alternative, by `order`; lines may stand in any order."""
    sequence = np.lexsort((order, alternative))
    sorted_by = alternative[sequence]
    starts = np.flatnonzero(np.concatenate(([True], sorted_by[1:] != sorted_by[:-1])))
    rank = np.empty(len(alternative), dtype=np.intp)
    rank[sequence] = np.arange(len(alternative)) - np.repeat(starts, np.diff(starts, append=len(alternative)))
    return rank
