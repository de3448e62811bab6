"""Models that answer the same question differently: noticed, and refused or averaged."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray
from tippingpoint.errors import InputError

ROUNDING = 1e-4
"""Difference of two answers, relative to how answers spread, that is rounding: of the seven digits of single precision, sums
that are arranged by the size of the batch lose up to three. What a search can gain from so little is of that size too."""

SINGLE_PRECISION = 8.0 * float(np.finfo(np.float32).eps)
"""The same, relative to the answers themselves: theirs are large where the spread is around a large mean."""

REPEATS = 20
"""Answers that are averaged where a remedy is proposed."""


@dataclass
class Noise:
    """Answers averaged over several calls, and how far single ones were apart.

    Attributes
    ----------
    repeats
        Calls a question; with one, nothing is averaged and nothing learnt.
    """

    repeats: int = 1
    _squares: float = 0.0
    _degrees: int = 0
    _size: float = 0.0

    def averaged(self, reply: Callable[[], np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
        """The mean of so many answers as there are repeats."""
        mean = reply()
        squares = np.zeros(mean.shape)
        for k in range(2, self.repeats + 1):
            another = reply()
            before = another - mean
            mean = mean + before / k
            squares += before * (another - mean)
        if self.repeats > 1:
            self._squares += float(squares.sum())
            self._degrees += squares.size * (self.repeats - 1)
            self._size = max(self._size, float(np.abs(mean).max(initial=0.0)))
        return mean

    @property
    def single(self) -> float:
        """The standard deviation of one reply, over all queries."""
        return math.sqrt(self._squares / self._degrees) if self._degrees else 0.0

    @property
    def averages(self) -> float:
        """The standard deviation of the mean of the answers to a question."""
        return self.single / math.sqrt(self.repeats)

    @property
    def seen(self) -> bool:
        """Whether answers differ by more than rounding."""
        return self.single > ROUNDING * self._size

    def note(self) -> str:
        """In words, for a result."""
        if not self.seen:
            return f"the model answers the same every time, so repeats={self.repeats} are not needed"
        return (
            f"the model's answers are noisy: one has a standard deviation of {self.single:.3g}, the mean of {self.repeats},"
            f" which is taken, {self.averages:.3g}; a search among noisy answers picks lucky ones, which makes the value too"
            " small, and has fewer rows for its calls, which makes it too large"
        )


def numbers_differ(first: FloatArray, again: FloatArray) -> BoolArray:
    """Which rows got other numbers, by more than rounding."""
    spread = np.abs(first - np.median(first))
    usual = float(np.median(spread[spread > 0.0])) if spread.any() else 0.0
    apart = np.abs(again - first) > ROUNDING * np.maximum(spread, usual) + SINGLE_PRECISION * np.abs(first)
    return np.asarray(apart.reshape(len(apart), -1).any(axis=1))


def unsteady(differ: str, remedy: str = f"average it with repeats={REPEATS}") -> InputError:
    """The refusal of a model whose answers differ in these words."""
    return InputError(
        f"the model answers differently when asked again about the same rows: {differ}; it must be a fixed function of each"
        f" row: fix its seed, and leave out what looks at the other rows or at earlier calls, or {remedy}."
    )
