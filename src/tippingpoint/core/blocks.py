"""Samples in blocks of rows: everything that grows with their number is done block by block, and leaves a block as a few sums.

A block is a run of rows of fixed length, so that what is being worked on stays in the processor's cache. Blocks are cut and
their sums are added in an order that depends on the rows alone: the bytes of an answer are the same for any number of threads.
Where blocks are is nobody's business but that of `Samples`: in this process (`InMemory`), or elsewhere (`tippingpoint.engine`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, blocks, dot
from tippingpoint.core.responses import BestResponses
from tippingpoint.core.threads import run
from tippingpoint.core.whole import Whole

BLOCK_ROWS = 2**16
"""Rows of a block: long enough that Python's part of the work does not count, short enough for the cache of a core."""

MAX_ROWS_KEPT = 2**20
"""Samples up to which blocks remember what the next round of a pass needs again; beyond, it is worked out anew."""

SCOUTS_FROM = 2**18
"""Samples from which on a few of them are asked first: they spare two or three passes over all."""

SCOUTS, SCOUT_ROWS = 4, 2**13
"""Runs of samples that are asked first, spread over all, and their length."""

T = TypeVar("T")
Task = Callable[["Block"], T]


@runtime_checkable
class Divisible(Protocol):
    """Best responses that can be had for a run of samples alone."""

    def part(self, rows: slice) -> BestResponses:
        """The best responses of these samples."""


@runtime_checkable
class Reducible(Protocol):
    """Best responses of which many are the same up to a price: samples that are alike can be worked on as one."""

    def reduced(self, price: float, base: FloatArray) -> tuple[BestResponses, FloatArray]:
        """Fewer samples, with weights, that stand for these at all prices below this."""


class Block:
    """A run of samples that are worked on together.

    Parameters
    ----------
    responses
        Of these samples.
    base
        Their weights.
    number
        Of the block, among those of the partition that it belongs to.
    partition
        The number of that.
    first
        Position of its first sample among those of the partition.
    keeps
        Whether there is memory for what the next round of a pass needs again.
    """

    def __init__(
        self, responses: BestResponses, base: FloatArray, number: int, first: int, *, partition: int = 0, keeps: bool = True
    ) -> None:
        self.responses = responses
        self.base = base
        self.place: tuple[int, int] = (partition, number)
        self.first = first
        self._keeps = keeps
        self._kept: tuple[Any, Any] | None = None
        self._fewer: tuple[float, Block] | None = None

    def __len__(self) -> int:
        return len(self.base)

    @property
    def losses(self) -> FloatArray:
        return self.responses.losses

    def remembered(self, key: Any, make: Callable[[], T]) -> T:
        """What `make` makes, remembered until something else is asked for."""
        if self._kept is not None and self._kept[0] == key:
            found: T = self._kept[1]
            return found
        made = make()
        if self._keeps:
            self._kept = key, made
        return made

    def forget(self) -> None:
        """Remember nothing any more."""
        self._kept = self._fewer = None

    def reduced(self, price: float) -> Block:
        """Fewer samples that stand for these at all prices below this; the same where there are none."""
        if not isinstance(self.responses, Reducible) or not self._keeps:
            return self
        if self._fewer is None or self._fewer[0] != price:
            responses, base = self.responses.reduced(price, self.base)
            partition, number = self.place
            self._fewer = price, Block(responses, base, number, self.first, partition=partition)
        return self._fewer[1]

    def seen(self, responses: BestResponses, base: FloatArray | None = None) -> Block:
        """The same samples by other responses, or with other weights."""
        partition, number = self.place
        weights = self.base if base is None else base
        return Block(responses, weights, number, self.first, partition=partition, keeps=False)


@dataclass(frozen=True)
class Facts:
    """What holds of all samples, whatever is asked of them.

    Attributes
    ----------
    count
        How many there are.
    least, largest
        Of the losses now.
    raised
        Mean loss above the least.
    risk, size
        Mean loss, and mean size of a loss.
    lightest
        The least weight.
    squares
        `Σ p²`.
    """

    count: int
    least: float
    largest: float
    raised: float
    risk: float
    size: float
    lightest: float
    squares: float

    @property
    def spread(self) -> float:
        """From the least loss to the largest."""
        return self.largest - self.least


class Samples(ABC):
    """All samples of a question: their losses, weights and best responses, in blocks."""

    @property
    @abstractmethod
    def ceiling(self) -> float:
        """The least price at which a sample of positive loss has an infinite `e_i`; `inf` where there is none."""

    @abstractmethod
    def gather(self, task: Task[T]) -> list[T]:
        """What a function makes of every block, in the order of blocks."""

    @property
    def unbounded(self) -> bool:
        """Whether every sample is known to reach any loss, at some cost."""
        return False

    def scouts(self) -> Samples | None:
        """Few samples by which it can be told about where an answer lies; None where all are few, or hard to reach."""
        return None

    def forget(self) -> None:
        """Have all blocks remember nothing any more."""
        self.gather(Block.forget)

    def joined(self, task: Task[FloatArray]) -> FloatArray:
        """The arrays that a function makes of every block, one after the other."""
        return np.concatenate(self.gather(task))

    @cached_property
    def facts(self) -> Facts:
        """Found in one pass, when they are first asked for."""
        found = [each for each in self.gather(_facts) if each is not None]
        least = min(each[1] for each in found)
        return Facts(
            count=sum(each[0] for each in found),
            least=least,
            largest=max(each[2] for each in found),
            raised=math.fsum(each[3] + each[7] * (each[1] - least) for each in found),
            risk=math.fsum(each[4] for each in found),
            size=math.fsum(each[5] for each in found),
            lightest=min(each[6] for each in found),
            squares=math.fsum(each[8] for each in found),
        )


def _facts(block: Block) -> tuple[int, float, float, float, float, float, float, float, float] | None:
    losses, base = block.losses, block.base
    if not len(base):
        return None
    least, largest = float(losses.min()), float(losses.max())
    risk = dot(base, losses)
    size = risk if least >= 0.0 else dot(base, np.abs(losses))
    raised = risk if least == 0.0 else dot(base, losses - least)
    return len(base), least, largest, raised, risk, size, float(base.min()), float(base.sum()), dot(base, base)


class Reduced(Samples):
    """Fewer samples that stand for others at all prices below one: their sums are the same.

    Parameters
    ----------
    samples
        For which they stand.
    price
        `λ` below which they do.
    """

    def __init__(self, samples: Samples, price: float) -> None:
        self._samples = samples
        self._price = price
        self.facts = samples.facts

    @property
    def ceiling(self) -> float:
        return self._samples.ceiling

    def gather(self, task: Task[T]) -> list[T]:
        price = self._price
        return self._samples.gather(lambda block: task(block.reduced(price)))


class InMemory(Samples):
    """Samples in this process.

    Parameters
    ----------
    responses, base
        Of all samples; equal weights may be one number, seen as an array (`np.broadcast_to`).
    threads
        That work on blocks at once.
    partition
        Number of the partition that these samples are, where there are others.
    """

    def __init__(self, responses: BestResponses, base: FloatArray, threads: int = 1, *, partition: int = 0) -> None:
        self.responses = responses
        self.base = base
        self.threads = threads
        self._partition = partition

    @property
    def ceiling(self) -> float:
        return self.responses.ceiling

    @cached_property
    def blocks(self) -> list[Block]:
        n, keeps = len(self.base), len(self.base) <= MAX_ROWS_KEPT
        divisible = self.responses if isinstance(self.responses, Divisible) else Whole(self.responses)
        equal = np.full(min(n, BLOCK_ROWS), self.base[0]) if self.base.strides == (0,) and n else None
        return [
            Block(
                divisible.part(rows),
                np.ascontiguousarray(self.base[rows]) if equal is None else equal[: rows.stop - rows.start],
                number,
                rows.start,
                partition=self._partition,
                keeps=keeps,
            )
            for number, rows in enumerate(blocks(n, BLOCK_ROWS))
        ]

    @property
    def unbounded(self) -> bool:
        return bool(getattr(self.responses, "unbounded", False))

    def scouts(self) -> Samples | None:
        n = len(self.base)
        if n < SCOUTS_FROM or not isinstance(self.responses, Divisible):
            return None
        starts = np.linspace(0, n - SCOUT_ROWS, SCOUTS).astype(np.intp).tolist()
        runs = [slice(start, start + SCOUT_ROWS) for start in starts]
        bases = [np.ascontiguousarray(self.base[run]) for run in runs]
        whole = math.fsum(float(np.add.reduce(base)) for base in bases)
        return Scouts(
            [
                Block(self.responses.part(run), base / whole, number, run.start)
                for number, (run, base) in enumerate(zip(runs, bases, strict=True))
            ],
            self.ceiling,
        )

    def gather(self, task: Task[T]) -> list[T]:
        return run(task, self.blocks, self.threads)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "blocks"}


class Scouts(Samples):
    """A few runs of samples alone, with weights of their own that sum to one."""

    def __init__(self, chosen: Sequence[Block], ceiling: float) -> None:
        self._blocks = chosen
        self._ceiling = ceiling

    @property
    def ceiling(self) -> float:
        return self._ceiling

    def gather(self, task: Task[T]) -> list[T]:
        return run(task, self._blocks)
