"""Samples in partitions, wherever these are: in this process, loaded for every pass where memory is short, or elsewhere."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tippingpoint.core.blocks import Samples, T, Task
from tippingpoint.engine.partitions import Partitions
from tippingpoint.engine.placed import (
    Function,
    Placed,
    place_part,
    placed_unsearched,
    placed_whole,
    run,
    run_bounded,
    standing,
)
from tippingpoint.engine.planning import Plan
from tippingpoint.errors import InputError
from tippingpoint.progress import Tick, progress_bar


class PartitionedSamples(Samples):
    """Samples in partitions.

    Attributes
    ----------
    stopped
        Whether somebody at the keyboard ended a search of them: what was found by then is here, and nothing more is searched.
    searched
        Whether responses are searched for; what is placed knows then where samples go, and all are kept.
    """

    stopped: bool = False
    searched: bool = False

    @abstractmethod
    def ended(self, newer: PartitionedSamples | None = None) -> PartitionedSamples:
        """What an interrupt leaves: the partitions of `newer` whose search is done, and these of all others."""

    @abstractmethod
    def each(self, function: Function, *args: Any) -> list[Any]:
        """What a function makes of every partition, in their order; small, as it is brought here."""

    @abstractmethod
    def mapped(self, function: Callable[..., Placed], *args: Any) -> PartitionedSamples:
        """The same samples by what a function makes of every partition; that stays where it is."""

    @abstractmethod
    def shown(self, function: Function, *args: Any, only: Sequence[int] | None = None) -> list[Any]:
        """What a function makes of partitions that can tell where their samples go: of all, or of those with these numbers."""

    def gather(self, task: Task[T]) -> list[T]:
        return [found for part in self.each(run, task) for found in part]

    @property
    def ceiling(self) -> float:
        return float(min(each.ceiling for each in self.each(standing) if each is not None))


class BoundedSamples(Samples):
    """The same samples as if they gained what bounds allow at a price: the dual of them bounds that of all from below."""

    def __init__(self, samples: PartitionedSamples, price: float) -> None:
        self._samples = samples
        self._price = price

    @property
    def ceiling(self) -> float:
        return self._samples.ceiling

    def gather(self, task: Task[T]) -> list[T]:
        return [found for part in self._samples.each(run_bounded, task, self._price) for found in part]


@dataclass(frozen=True)
class Step:
    """What is made of every partition after it was placed."""

    function: Callable[..., Placed]
    args: tuple[Any, ...]


@dataclass(frozen=True)
class After:
    """A function of what these steps make of a partition that is placed again."""

    steps: tuple[Step, ...]
    function: Function

    def __call__(self, placed: Placed, *args: Any) -> Any:
        for step in self.steps:
            placed = step.function(placed, *step.args)
        return self.function(placed, *args)


def _itself(placed: Placed) -> Placed:
    return placed


class LocalSamples(PartitionedSamples):
    """Partitions in this process.

    What is placed is kept as long as `memory` lasts; what does not fit is loaded and prepared anew for every pass. The bytes of
    an answer do not depend on it.

    Parameters
    ----------
    model, plan, partitions
        Of what.
    threads
        That work at once.
    memory
        Bytes that placed partitions may take; searched models are kept in any case, as they are dear to search again.
    progress
        Whether to show a bar while partitions are loaded; None: on a terminal.
    """

    stopped: bool = False

    def __init__(
        self, model: Any, plan: Plan, partitions: Partitions, threads: int, memory: int, *, progress: bool | None = None
    ) -> None:
        self._model = model
        self._plan = plan
        self.searched: bool = plan.searched
        self._partitions = partitions
        self._threads = threads
        self._memory = memory
        self._progress = progress
        self._steps: tuple[Step, ...] = ()
        self._kept: dict[int, Placed] = {}
        self._taken = 0

    def each(self, function: Function, *args: Any) -> list[Any]:
        if self.searched:
            self._search()
        kept = len(self._kept) == len(self._partitions)
        if kept and len(self._partitions) > self._threads > 1:  # every thread a partition
            with ThreadPoolExecutor(self._threads) as pool:
                return list(pool.map(lambda number: function(self._kept[number], *args), range(len(self._partitions))))
        with progress_bar("partitions", len(self._partitions), show=False if kept else self._progress) as tick:
            found = []
            for placed in self._placed():
                found.append(function(placed, *args))
                tick(len(found))
                del placed  # before the next is loaded
            return found

    def mapped(self, function: Callable[..., Placed], *args: Any) -> LocalSamples:
        made = LocalSamples(self._model, self._plan, self._partitions, self._threads, self._memory, progress=self._progress)
        made._steps = (*self._steps, Step(function, args))
        made.stopped = self.stopped
        for number, placed in self._kept.items():
            found = placed
            try:
                found = placed if made.stopped else function(placed, *args)
                made.stopped = made.stopped or found.stopped
            except KeyboardInterrupt:
                made.stopped = True
            made._keep(number, found.begun() if made.stopped else found)
        return made

    def ended(self, newer: PartitionedSamples | None = None) -> LocalSamples:
        found = newer if isinstance(newer, LocalSamples) else self
        found.stopped = True
        found._kept = {number: each.begun() for number, each in found._kept.items()}  # noqa: SLF001  # of the same class
        return found

    def keep(self, placed: Iterable[Placed]) -> None:
        """Partitions that were placed, and searched, elsewhere."""
        for each in placed:
            self._keep(each.number, each.begun())

    def shown(self, function: Function, *args: Any, only: Sequence[int] | None = None) -> list[Any]:
        if self.searched:  # they know where they have been
            self._search()
            return [function(placed, *args) for placed in self._placed() if only is None or placed.number in only]
        found = []
        others = frozenset() if only is None else frozenset(range(len(self._partitions))) - set(only)
        for partition, part in self._partitions.iterate(skip=others):
            found.append(function(placed_whole(self._model, self._plan, partition.number, partition.name, part), *args))
            del part  # before the next is loaded
        return found

    def _search(self) -> None:
        """Place all partitions, which are kept. An interrupt ends the search: the samples of all later ones stay."""
        count = len(self._plan.rows)
        if len(self._kept) == count:
            return
        with progress_bar("partitions", count, show=self._progress) as tick:
            while len(self._kept) < count:
                try:
                    self._search_rest(tick)
                except KeyboardInterrupt:
                    if self.stopped or all(each.untouched for each in self._kept.values()):
                        raise  # nothing was found
                    self.stopped = True

    def _search_rest(self, tick: Tick) -> None:
        for partition, part in self._partitions.iterate(skip=frozenset(self._kept)):
            make = placed_unsearched if self.stopped else place_part
            placed = make(self._model, self._plan, partition.number, partition.name, part, self._threads)
            del part
            self._keep(partition.number, After(self._steps, _itself)(placed))
            self.stopped = self.stopped or placed.stopped
            tick(len(self._kept))
        if len(self._kept) < len(self._plan.rows):
            raise self._fewer()

    def _fewer(self) -> InputError:
        count = len(self._plan.rows)
        return InputError(f"X gave {len(self._partitions)} partitions, and {count} before; it must give the same every time.")

    def _placed(self) -> Iterator[Placed]:
        """Every partition, in order: from memory, or placed anew."""
        if len(self._kept) == len(self._partitions):
            yield from (self._kept[number] for number in range(len(self._partitions)))
            return
        count, number = len(self._plan.rows), 0
        for partition, part in self._partitions.iterate(skip=frozenset(self._kept)):
            yield from (self._kept[each] for each in range(number, partition.number))
            number = partition.number + 1
            placed = place_part(self._model, self._plan, partition.number, partition.name, part, self._threads)
            del part
            placed = After(self._steps, _itself)(placed)
            self._keep(partition.number, placed)
            yield placed
            del placed  # as it may not be kept
        if len(self._partitions) != count:
            raise self._fewer()
        yield from (self._kept[each] for each in range(number, count))

    def _keep(self, number: int, placed: Placed) -> None:
        size = 0 if self.searched else placed.size
        if self._taken + size <= self._memory:
            self._kept[number] = placed
            self._taken += size
