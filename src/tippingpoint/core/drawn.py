"""Samples drawn with replacement from others, block by block: those of the bootstrap."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.blocks import Block, Samples, T, Task
from tippingpoint.core.responses import Restricted


class Drawn(Samples):
    """Samples drawn with replacement from others: the same responses, and weights as often as each was drawn.

    How many fall into each block is drawn from `(seed, replicate)`, and which of its rows from `(seed, replicate, block)`.
    Together that is one draw from all samples, whoever makes it.

    Parameters
    ----------
    samples
        From which they are drawn.
    seed, replicate
        Of the generators.
    """

    def __init__(self, samples: Samples, seed: int, replicate: int) -> None:
        self._samples = samples
        sizes = samples.gather(_place_and_size)
        counts = np.array([size for _, size in sizes])
        generator = np.random.default_rng([seed, replicate])
        shares = generator.multinomial(int(counts.sum()), counts / counts.sum())
        draws = {place: int(share) for (place, _), share in zip(sizes, shares, strict=True)}
        self._draw = Draw(seed, replicate, draws)
        self._draw = Draw(seed, replicate, draws, math.fsum(samples.gather(self._draw.weight)))

    @property
    def ceiling(self) -> float:
        return self._samples.ceiling

    def weights(self) -> FloatArray:
        """The weight of every sample that was drawn from, in this process; 0 where it was not drawn."""
        draw = self._draw
        return self._samples.joined(lambda block: block.base * draw.counts(block) / draw.whole)

    def gather(self, task: Task[T]) -> list[T]:
        draw = self._draw
        return self._samples.gather(lambda block: task(draw.block(block)))


class DrawnGroups(Samples):
    """Groups of samples in this process, drawn whole and with replacement: as many as there are.

    Parameters
    ----------
    samples
        From which they are drawn.
    groups
        The number of the group of each sample.
    seed, replicate
        Of the generator.
    """

    def __init__(self, samples: Samples, groups: IntArray, seed: int, replicate: int) -> None:
        self._samples = samples
        count = int(groups.max()) + 1
        counts = np.random.default_rng([seed, replicate]).multinomial(count, np.full(count, 1.0 / count))
        self._counts = counts[groups]
        self._whole = math.fsum(samples.gather(lambda block: float(np.add.reduce(block.base * self._of(block)))))

    @property
    def ceiling(self) -> float:
        return self._samples.ceiling

    def gather(self, task: Task[T]) -> list[T]:
        return self._samples.gather(lambda block: task(self._block(block)))

    def weights(self) -> FloatArray:
        """As of `Drawn`."""
        return self._samples.joined(lambda block: block.base * self._of(block) / self._whole)

    def _of(self, block: Block) -> IntArray:
        return np.asarray(self._counts[block.first : block.first + len(block)])

    def _block(self, block: Block) -> Block:
        counts = self._of(block)
        drawn = np.flatnonzero(counts)
        return block.seen(Restricted(block.responses, drawn), block.base[drawn] * counts[drawn] / self._whole)


@dataclass(frozen=True)
class Draw:
    """Which rows of a block are drawn, and how often."""

    seed: int
    replicate: int
    draws: dict[tuple[int, int], int]
    whole: float = 1.0

    def counts(self, block: Block) -> IntArray:
        n = len(block)
        generator = np.random.default_rng([self.seed, self.replicate, *block.place])
        return np.asarray(generator.multinomial(self.draws[block.place], np.full(n, 1.0 / n)))

    def weight(self, block: Block) -> float:
        return float(np.add.reduce(block.base * self.counts(block)))

    def block(self, block: Block) -> Block:
        counts = self.counts(block)
        drawn = np.flatnonzero(counts)
        return block.seen(Restricted(block.responses, drawn), block.base[drawn] * counts[drawn] / self.whole)


def _place_and_size(block: Block) -> tuple[tuple[int, int], int]:
    return block.place, len(block)
