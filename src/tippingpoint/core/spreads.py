"""Values of all samples with their weights, wherever they are: sums over them, and where their masses add up to something."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, total
from tippingpoint.core.blocks import Block, Samples

BINS = 2048
"""Of a histogram: every round narrows the place that is looked for by so much."""

TIGHT = 0.125
"""Part of a stretch that its values may fill before bins are laid over them alone."""

MAX_COLLECTED = 8192
"""Values that are few enough to be brought together and sorted."""

T = TypeVar("T")
Pairs = tuple[FloatArray, FloatArray]
"""Values, and the mass of each."""


class Spread(ABC):
    """Values of all samples, and the mass of each."""

    @abstractmethod
    def gather(self, function: Callable[[FloatArray, FloatArray], T]) -> list[T]:
        """What a function makes of values and masses, block by block."""

    @property
    def low(self) -> float:
        """The least value."""
        return self._extremes[0]

    @property
    def high(self) -> float:
        """The largest value."""
        return self._extremes[1]

    @property
    def mean(self) -> float:
        """`Σ p v`."""
        return self._extremes[2]

    @cached_property
    def _extremes(self) -> tuple[float, float, float]:
        found = self.gather(_extremes)
        return min(each[0] for each in found), max(each[1] for each in found), math.fsum(each[2] for each in found)

    def sums(self, function: Callable[[FloatArray, FloatArray], tuple[float, ...]]) -> tuple[float, ...]:
        """Sums of what a function makes of values and masses, over all blocks."""
        return tuple(math.fsum(each) for each in zip(*self.gather(function), strict=True))

    def mapped(self, function: Callable[[FloatArray, FloatArray], Pairs]) -> Spread:
        """What a function makes of these values and masses."""
        return _Mapped(self, function)

    def narrowed(self, target: Callable[[FloatArray], FloatArray | float], low: float, high: float) -> Narrowed:
        """The few values around the first at which the mass up to it reaches `target` of it, which must not rise.

        `low` and `high` enclose the values. By rounds of histograms, until the values left can be brought together.
        """
        cut, before = _Bin((), low, high), 0.0
        while 0.0 < cut.scale < math.inf:
            least, most, counts, masses = self._histogram(cut)
            if least >= most or counts.sum() <= MAX_COLLECTED:
                break
            if most - least < TIGHT * (cut.high - cut.low):  # a far-off value or two would take all the bins
                cut = replace(cut, low=least, high=most)
                continue
            enough = before + np.cumsum(masses) >= target(cut.ends)
            k = int(np.argmax(enough)) if enough.any() else BINS - 1
            before += float(masses[:k].sum())
            cut = cut.inner(k)
            if 0 < counts[k] <= MAX_COLLECTED:
                break
        values, here = self._collected(cut)
        return Narrowed(values, here, before, cut.low)

    def _histogram(self, cut: _Bin) -> tuple[float, float, IntArray, FloatArray]:
        found = self.gather(cut.histogram)
        return (
            min(each[0] for each in found),
            max(each[1] for each in found),
            np.add.reduce([each[2] for each in found]),
            np.add.reduce([each[3] for each in found]),
        )

    def _collected(self, cut: _Bin) -> Pairs:
        """The values of a bin in their order, each once, and the mass of each."""
        found = self.gather(cut.distinct)
        values = np.concatenate([each[0] for each in found])
        distinct, place = np.unique(values, return_inverse=True)
        return distinct, _masses(place, np.concatenate([each[1] for each in found]), len(distinct))


@dataclass(frozen=True)
class Narrowed:
    """Values around a place that was looked for.

    Attributes
    ----------
    values, masses
        Distinct and in their order, and the mass of each.
    before
        Mass of all values below them.
    low
        Where the stretch begins that holds them.
    """

    values: FloatArray
    masses: FloatArray
    before: float
    low: float

    def first(self, target: float) -> tuple[float, float, float]:
        """The first value up to which the mass reaches a target (the last where none does), the mass below it, and its own."""
        reached = self.before + np.cumsum(self.masses)
        k = min(int(np.searchsorted(reached, target)), len(self.values) - 1)
        return float(self.values[k]), float(reached[k] - self.masses[k]), float(self.masses[k])


@dataclass(frozen=True)
class _Bin:
    """A stretch of numbers: the `k`-th of equal parts of a longer one, and so on outwards; rounding moves nothing across."""

    within: tuple[tuple[float, float, int], ...]
    low: float
    high: float

    @property
    def scale(self) -> float:
        width = self.high - self.low
        return BINS / width if width > 0.0 else 0.0

    @property
    def ends(self) -> FloatArray:
        """Where its parts end."""
        return self.low + (self.high - self.low) * (np.arange(1, BINS + 1) / BINS)

    def inner(self, k: int) -> _Bin:
        """The `k`-th part."""
        start, end = (self.low + (self.high - self.low) * (edge / BINS) for edge in (k, k + 1))
        return replace(self, within=(*self.within, (self.low, self.scale, k)), low=start, high=end)

    def inside(self, values: FloatArray) -> BoolArray:
        here = np.ones(len(values), dtype=bool)
        for low, scale, k in self.within:
            here &= _places(values, low, scale) == k
        return here

    def histogram(self, values: FloatArray, masses: FloatArray) -> tuple[float, float, IntArray, FloatArray]:
        if self.within:
            here = self.inside(values)
            values, masses = values[here], masses[here]
        places = _places(values, self.low, self.scale)
        counts, mass = np.bincount(places, minlength=BINS), _masses(places, masses, BINS)
        return float(values.min(initial=math.inf)), float(values.max(initial=-math.inf)), counts, mass

    def distinct(self, values: FloatArray, masses: FloatArray) -> Pairs:
        here = self.inside(values)
        found, place = np.unique(values[here], return_inverse=True)
        return found, _masses(place, masses[here], len(found))


def _masses(places: IntArray, masses: FloatArray, count: int) -> FloatArray:
    """The mass that lies at each of so many places."""
    return np.asarray(np.bincount(places, masses, minlength=count), dtype=float)


def _places(values: FloatArray, low: float, scale: float) -> IntArray:
    """In which of the equal parts values lie."""
    return np.asarray(np.clip((values - low) * scale, 0.0, BINS - 1.0).astype(np.intp))


class ArraySpread(Spread):
    """Values and weights in two arrays."""

    def __init__(self, values: FloatArray, base: FloatArray) -> None:
        self._values = values
        self._base = base

    def gather(self, function: Callable[[FloatArray, FloatArray], T]) -> list[T]:
        with np.errstate(all="ignore"):  # as for blocks
            return [function(self._values, self._base)]


class _Mapped(Spread):
    """What a function makes of the values and masses of another spread."""

    def __init__(self, inner: Spread, function: Callable[[FloatArray, FloatArray], Pairs]) -> None:
        self._inner = inner
        self._function = function

    def gather(self, function: Callable[[FloatArray, FloatArray], T]) -> list[T]:
        first = self._function
        return self._inner.gather(lambda values, masses: function(*first(values, masses)))


class SampleSpread(Spread):
    """What a function makes of every sample of a question.

    Parameters
    ----------
    samples
        Of the question.
    pairs
        Makes values and masses of a block.
    known
        The least, the largest and the mean value, where they are known already.
    """

    def __init__(
        self, samples: Samples, pairs: Callable[[Block], Pairs], known: tuple[float, float, float] | None = None
    ) -> None:
        self._samples = samples
        self._pairs = pairs
        if known is not None:
            self._extremes = known  # found before, in another pass

    def gather(self, function: Callable[[FloatArray, FloatArray], T]) -> list[T]:
        pairs = self._pairs
        return self._samples.gather(lambda block: function(*pairs(block)))


def _extremes(values: FloatArray, masses: FloatArray) -> tuple[float, float, float]:
    return float(values.min(initial=math.inf)), float(values.max(initial=-math.inf)), total(masses, values)
