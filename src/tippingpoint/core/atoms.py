"""Atoms: places that a sample may go to, each with the lift of its loss there and what it costs. The only store of them.

The best atom of a sample at price `λ` is where `λ·lift - cost` is largest; at an infinite price, the cheapest of the largest
lift. Where a sample stays is an atom too, of no lift and no cost. Whatever found them, the optimum over distributions on atoms
is a feasible perturbation, so its cost is an upper bound on the stability; an atom more can only lower it.

The same rule in two layouts:

- `Envelopes`, for many atoms that are asked about at many prices: the upper envelope of the lines `λ·lift - cost` of every
  sample, as one flat list of edges, so that a response is a comparison and a count.
- `Layers`, for a few atoms of every sample to which one is added again and again, as searches of networks do: nothing is
  sorted, and a layer is shared by all that hold it. Building envelopes costs as much as some sixty responses among layers, and
  such a search asks for two or three before it adds the next.

`Atoms` is the memory of a search that adds atoms in any order and forgets those that are never best.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.envelope import envelope
from tippingpoint.core.oracle import Oracle
from tippingpoint.core.responses import BestResponses, Response
from tippingpoint.errors import UnsupportedError

MAX_ATOMS_A_SAMPLE = 32
"""Atoms a sample, on average, from which on a memory forgets those that cannot matter."""

MAX_RANKS = 12
"""Atoms of a sample up to which they are counted rank by rank."""

Outline = tuple[IntArray, FloatArray, FloatArray]
"""Sample, lift and cost of atoms."""

Part = tuple[IntArray, FloatArray, FloatArray, FloatArray]
"""Sample, lift, cost and place of atoms."""


class Store(ABC):
    """The best atoms of samples; with the losses beside it, it fulfils `tippingpoint.core.responses.BestResponses`."""

    ceiling: float = math.inf

    @abstractmethod
    def chosen(self, price: float) -> IntArray:
        """Which atom of every sample is the best at a price."""

    @abstractmethod
    def respond(self, price: float) -> Response:
        """The best responses among the atoms."""

    def peak(self) -> Response:
        """The largest lift of every sample, and the least cost that reaches it."""
        return self.respond(math.inf)

    def escape(self, lift: float) -> Response:
        """Atoms are counted off: no sample goes further than the last of them."""
        raise UnsupportedError("places that are counted off have no ceiling, so nothing can escape from it.")


LEAST_COST = 1e-200
"""What a move costs at least: the square of a tiny distance may be rounded to zero, which is the cost of staying."""


class Envelopes(Store):
    """The atoms that are best at some price, sorted by sample and lift; which one it is counts through all of them.

    Parameters
    ----------
    first
        `(n,)` where the atoms of each sample begin, with the one that it stays at.
    lift, cost
        `(m,)` of every atom, both rising within a sample.
    begins
        The price from which on an atom beats the one before it, where that is known already.
    """

    def __init__(self, first: IntArray, lift: FloatArray, cost: FloatArray, begins: FloatArray | None = None) -> None:
        self.first = first
        self.lift = lift
        self.cost = cost
        self._parts: dict[tuple[int, int], WithLosses] = {}
        if begins is not None:
            self.begins: FloatArray = begins
            return
        later = _others(len(lift), first)
        self.begins = np.zeros(len(lift))
        """The price from which on an atom beats the one before it; of the first of a sample 0."""
        with np.errstate(over="ignore"):  # a lift next to nothing never pays
            self.begins[later] = (cost[later] - cost[later - 1]) / (lift[later] - lift[later - 1])

    @classmethod
    def of_moves(cls, count: IntArray, lift: FloatArray, cost: FloatArray) -> Envelopes:
        """From how many atoms every sample has elsewhere, and their lifts and costs; staying is added to each."""
        staying = np.concatenate(([0], np.cumsum(count + 1)))[:-1]
        moving = _others(len(count) + len(lift), staying)
        lifts, costs = np.zeros(len(count) + len(lift)), np.zeros(len(count) + len(lift))
        lifts[moving], costs[moving] = lift, cost
        return cls(staying, lifts, costs)

    def run(self, rows: slice) -> Envelopes:
        """The atoms of a run of samples."""
        start = int(self.first[rows.start]) if rows.start < len(self.first) else len(self.lift)
        end = int(self.first[rows.stop]) if rows.stop < len(self.first) else len(self.lift)
        within = slice(start, end)
        return Envelopes(self.first[rows] - start, self.lift[within], self.cost[within], self.begins[within])

    def beside(self, losses: FloatArray, rows: slice) -> WithLosses:
        """The atoms of a run of samples beside their losses; kept, as every question asks for the same runs."""
        key = rows.start, rows.stop
        if key not in self._parts:
            self._parts[key] = WithLosses(losses[rows], self.run(rows))
        return self._parts[key]

    @cached_property
    def _ranks(self) -> list[tuple[IntArray, FloatArray]] | None:
        """Of samples that have few atoms: who has one of each rank, and from which price on it pays; None where some have many.

        What is counted rank by rank need not be summed over runs of every length, which takes several times as long.
        """
        counts = np.diff(self.first, append=len(self.begins))
        deepest = int(counts.max(initial=0))
        if deepest > MAX_RANKS:
            return None
        ranks = list[tuple[IntArray, FloatArray]]()
        for rank in range(1, deepest):
            rows = np.flatnonzero(counts > rank)
            ranks.append((rows, self.begins[self.first[rows] + rank]))
        return ranks

    def chosen(self, price: float) -> IntArray:
        if math.isinf(price):  # even where the price from which on it pays is no number
            return np.append(self.first[1:], len(self.begins)) - 1
        if self._ranks is not None:
            chosen = self.first.copy()
            for rows, begins in self._ranks:
                chosen[rows] += begins < price
            return chosen
        beaten = (self.begins < price).astype(np.intp)
        beaten[self.first] = 0
        return np.asarray(self.first + np.add.reduceat(beaten, self.first))

    def chosen_each(self, prices: FloatArray) -> IntArray:
        """The same at a finite price of every sample's own."""
        beaten = (self.begins < np.repeat(prices, np.diff(self.first, append=len(self.begins)))).astype(np.intp)
        beaten[self.first] = 0
        return np.asarray(self.first + np.add.reduceat(beaten, self.first))

    def respond(self, price: float) -> Response:
        chosen = self.chosen(price)
        return Response(self.lift[chosen], self.cost[chosen], np.zeros(len(self.first)))

    def prices(self, rows: IntArray) -> FloatArray:
        """A price, for every atom of these samples but staying, at which it is the best of them."""
        ends = np.append(self.first[1:], len(self.lift))
        held = np.concatenate([np.arange(self.first[i] + 1, ends[i]) for i in rows]) if len(rows) else np.zeros(0, np.intp)
        last = np.isin(held + 1, ends)
        after = self.begins[np.minimum(held + 1, len(self.begins) - 1)]
        return np.asarray(np.where(last, 2.0 * self.begins[held], 0.5 * (self.begins[held] + after)))


def _others(count: int, places: IntArray) -> IntArray:
    """`0..count-1` without these."""
    kept = np.ones(count, dtype=bool)
    kept[places] = False
    return np.flatnonzero(kept)


@dataclass(frozen=True)
class Layers(Store):
    """Layers of atoms, one of every sample in each; in the first everybody stays.

    Attributes
    ----------
    lifts, costs
        One `(n,)` array a layer.
    places
        One `(n, d)` array a layer: where the atoms are, in whatever precision the first layer has.
    """

    lifts: tuple[FloatArray, ...]
    costs: tuple[FloatArray, ...]
    places: tuple[np.ndarray[Any, Any], ...]

    @classmethod
    def staying(cls, places: np.ndarray[Any, Any]) -> Layers:
        """Nobody moves from these places."""
        nothing = np.zeros(len(places))
        return cls((nothing,), (nothing,), (places,))

    def joined(self, places: FloatArray, lift: FloatArray, cost: FloatArray) -> Layers:
        """One layer more."""
        return Layers((*self.lifts, lift), (*self.costs, cost), (*self.places, places.astype(self.places[0].dtype)))

    def chosen(self, price: float) -> IntArray:
        best = np.zeros(len(self.lifts[0]), dtype=np.intp)
        worth, paid = np.zeros(len(best)), np.zeros(len(best))
        for layer in range(1, len(self.lifts)):
            lift, cost = self.lifts[layer], self.costs[layer]
            gain = lift if math.isinf(price) else price * lift - cost
            better = gain > worth
            if math.isinf(price):
                better |= (gain == worth) & (cost < paid)
            worth, paid = np.where(better, gain, worth), np.where(better, cost, paid)
            best[better] = layer
        return best

    def respond(self, price: float) -> Response:
        chosen = self.chosen(price)
        lift, cost = np.zeros(len(chosen)), np.zeros(len(chosen))
        for layer in range(1, len(self.lifts)):
            here = chosen == layer
            lift[here], cost[here] = self.lifts[layer][here], self.costs[layer][here]
        return Response(lift, cost, np.zeros_like(lift))

    def at(self, price: float, rows: IntArray) -> FloatArray:
        """The best places of these samples at a price."""
        chosen = self.chosen(price)[rows]
        found = np.empty((len(rows), self.places[0].shape[1]))
        for layer in np.unique(chosen):
            here = chosen == layer
            found[here] = self.places[layer][rows[here]]
        return found


class Atoms:
    """The memory of a search: atoms with their places, of which those that are never best are forgotten.

    Parameters
    ----------
    x
        `(n, d)` where the samples are: their first atoms.
    """

    def __init__(self, x: FloatArray) -> None:
        n = len(x)
        self._parts: list[Part] = [(np.arange(n), np.zeros(n), np.zeros(n), x)]
        self._pruned: tuple[Part, Envelopes] | None = None
        self._samples = n

    def add(self, sample: IntArray, lift: FloatArray, cost: FloatArray, places: FloatArray) -> None:
        """Remember these, as far as they lift the loss."""
        pays = np.flatnonzero(lift > 0.0)
        self._parts.append((sample[pays], lift[pays], np.maximum(cost[pays], LEAST_COST), places[pays]))
        self._pruned = None
        if sum(len(part[0]) for part in self._parts) > MAX_ATOMS_A_SAMPLE * self._samples:
            self._prune()

    def kept(self) -> Part:
        """Sample, lift, cost and place of the atoms on the envelopes, sorted by sample and lift."""
        return self._prune()[0]

    def _prune(self) -> tuple[Part, Envelopes]:
        """The atoms on the envelopes; the others are forgotten."""
        if self._pruned is None:
            sample, lift, cost, places = (np.concatenate(each) for each in zip(*self._parts, strict=True))
            best = envelope(sample, lift, cost)
            part = sample[best], lift[best], cost[best], places[best]
            self._parts = [part]
            self._pruned = part, Envelopes(np.searchsorted(part[0], np.arange(self._samples)), part[1], part[2])
        return self._pruned

    def outline(self) -> Outline:
        """Sample, lift and cost of the atoms that are kept."""
        return self.kept()[:3]

    def cheapest(self) -> tuple[FloatArray, FloatArray]:
        """The place of largest lift of every sample, the cheapest of them, and its cost; its own where there is no lift."""
        (_, _, cost, places), envelopes = self._prune()
        last = envelopes.chosen(math.inf)
        return places[last], cost[last]

    def respond(self, price: float) -> Response:
        """The best responses among the atoms; at an infinite price their peak."""
        return self._prune()[1].respond(price)

    def at(self, price: float | FloatArray) -> FloatArray:
        """The best place of every sample at a price, or at a price of its own."""
        (_, _, _, places), envelopes = self._prune()
        if isinstance(price, np.ndarray):
            return np.asarray(places[envelopes.chosen_each(price)])
        return np.asarray(places[envelopes.chosen(price)])


class WithLosses:
    """The atoms of samples beside their losses."""

    ceiling: float = math.inf

    def __init__(self, losses: FloatArray, store: Store) -> None:
        self.losses = losses
        self._store = store

    def respond(self, price: float) -> Response:
        return self._store.respond(price)

    def peak(self) -> Response:
        return self._store.peak()

    def escape(self, lift: float) -> Response:
        return self._store.escape(lift)


class AtomsOracle(Oracle):
    """Best responses among atoms, whoever found them; whether there are better ones, who derives from this says.

    Parameters
    ----------
    sample
        `(m,)` position of the sample that each atom belongs to, `0..n-1`.
    loss, cost
        `(m,)` of each atom; every sample has one of cost 0, where it stays.
    columns
        What else is known of each atom, to be shown where it is chosen.
    """

    ceiling: float = math.inf

    def __init__(self, sample: IntArray, loss: FloatArray, cost: FloatArray, columns: Mapping[str, Any]) -> None:
        self._columns = columns
        original = np.flatnonzero(cost == 0.0)
        self._losses = np.zeros(int(sample.max()) + 1)
        self._losses[sample[original]] = loss[original]
        # Who loses no more elsewhere stays: these are most alternatives, and need not be sorted.
        pays = np.flatnonzero((cost == 0.0) | (loss > self._losses[sample]))
        self._kept = kept = pays[envelope(sample[pays], loss[pays], cost[pays])]
        first = np.searchsorted(sample[kept], np.arange(len(self._losses)))
        self._envelopes = Envelopes(first, loss[kept] - self._losses[sample[kept]], cost[kept])

    @property
    def losses(self) -> FloatArray:
        return self._losses

    def part(self, rows: slice) -> BestResponses:
        return self._envelopes.beside(self._losses, rows)

    def respond(self, price: float) -> Response:
        return self._envelopes.respond(price)

    def peak(self) -> Response:
        return self._envelopes.peak()

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        atoms = self.chosen(price)[rows]
        return {name: np.asarray(column)[atoms] for name, column in self._columns.items()}

    def chosen(self, price: float) -> IntArray:
        """The atom of every sample that is best at a price, by its position among those given."""
        return np.asarray(self._kept[self._envelopes.chosen(price)])
