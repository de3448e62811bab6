"""What was searched before, kept for the next question.

A search is a function of the row, the price (or radius), what was known, and how much work it was given. Kept under all of
that, it is what the next question would find itself: questions share work, and their answers do not depend on their order.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.families.trees.search.searcher import NONE_REFUSED, Found, Refused, Searcher


@dataclass
class _Shelf:
    """Searches at one price by the same work: of every sample, where it stands among the `found`, or -1."""

    place: IntArray
    known: FloatArray
    found: Found

    def position(self, rows: IntArray, known: FloatArray) -> IntArray:
        """Where the searches of these rows stand that began with what is known; -1 where there is none."""
        at = self.place[rows]
        return np.where((at >= 0) & (self.known[np.maximum(at, 0)] == known), at, -1)


@dataclass
class Memory:
    """Searches of some samples.

    Attributes
    ----------
    samples
        How many there are.
    """

    samples: int
    _shelves: dict[tuple[float, int], _Shelf] = field(default_factory=dict)

    def search(
        self,
        searcher: Searcher,
        rows: IntArray,
        price: float,
        known: FloatArray,
        budget: int,
        seconds: float,
        refused: Refused = NONE_REFUSED,
    ) -> Found:
        """As the searcher would, at one price; what was searched before is not searched again.

        Searches of samples some of whose places are refused are few, and each is a new one: they are not kept.
        """
        doubted = np.array([int(row) in refused for row in rows], dtype=bool) if refused else np.zeros(len(rows), dtype=bool)
        if not doubted.any():
            return self._searched(searcher, rows, price, known, budget, seconds)
        which, others = np.flatnonzero(doubted), np.flatnonzero(~doubted)
        end = time.monotonic() + seconds
        found = self._searched(searcher, rows[others], price, known[others], budget, seconds)
        left = max(end - time.monotonic(), 0.0)
        fresh = searcher.search(rows[which], np.full(len(which), price), known[which], budget, left, refused)
        return found.joined(fresh).take(np.argsort(np.concatenate([others, which])))

    def _searched(
        self, searcher: Searcher, rows: IntArray, price: float, known: FloatArray, budget: int, seconds: float
    ) -> Found:
        shelf = self._shelves.get((price, budget))
        at = np.full(len(rows), -1) if shelf is None else shelf.position(rows, known)
        new = np.flatnonzero(at < 0)
        fresh = searcher.search(rows[new], np.full(len(new), price), known[new], budget, seconds)
        self._keep(price, budget, rows[new], known[new], fresh)
        return fresh if shelf is None else shelf.found.take(np.maximum(at, 0)).put(new, fresh)

    def _keep(self, price: float, budget: int, rows: IntArray, known: FloatArray, found: Found) -> None:
        """What time or somebody cut short is not kept, nor that it was: it would not be found again."""
        whole = np.flatnonzero(~found.cut)
        if not len(whole):
            return
        rows, known, found = rows[whole], known[whole], replace(found.take(whole), interrupted=False)
        shelf = self._shelves.get((price, budget))
        if shelf is None:
            shelf = _Shelf(np.full(self.samples, -1), np.zeros(0), found.take(np.zeros(0, dtype=np.intp)))
        shelf.place[rows] = len(shelf.known) + np.arange(len(rows))
        self._shelves[price, budget] = _Shelf(shelf.place, np.concatenate([shelf.known, known]), shelf.found.joined(found))
