"""Data in partitions: small loaders of rows that live elsewhere, one for each part of a user's big data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tippingpoint.errors import InputError


@dataclass(frozen=True)
class Part:
    """The rows of one partition, loaded.

    Attributes
    ----------
    x
        A frame, its rows numbered from 0, or an array: features only.
    y, weight
        One value a row; None where there are none.
    notes
        How they were put together, where nobody had said it.
    """

    x: Any
    y: Any = None
    weight: Any = None
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return len(self.x)


class Partition(ABC):
    """A part of the data that is loaded when it is needed: small, and picklable where what the user gave is.

    Attributes
    ----------
    number
        Its place among the partitions, from 0.
    name
        In words, for messages: "partition 17".
    """

    number: int
    name: str

    @abstractmethod
    def load(self) -> Part:
        """Its rows, into this process."""

    @property
    def delayed(self) -> Any:
        """A Dask Delayed of the `Part`, to be computed on the worker that holds it; None where Dask does not know it."""
        return None


@dataclass(frozen=True)
class Loaded(Partition):
    """A partition in memory."""

    number: int
    name: str
    part: Part

    def load(self) -> Part:
        return self.part


class Partitions(ABC):
    """All partitions of a data set, in order.

    Attributes
    ----------
    rows
        Of every partition, where they are known before anything is loaded; None where they are not.
    notes
        How the data were understood, where nobody had said it.
    """

    rows: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, number: int) -> Partition: ...

    def __iter__(self) -> Iterator[Partition]:
        return (self[number] for number in range(len(self)))

    def names(self) -> list[str]:
        """Of the features, read off the first partition that has any; none for arrays."""
        for _, part in self.iterate():
            names = [str(name) for name in getattr(part.x, "columns", ())]
            if names or part.rows:
                return names
        return []

    def iterate(self, skip: Collection[int] = ()) -> Iterator[tuple[Partition, Part]]:
        """Every partition and its rows, in order, in one pass, without those of these numbers; one at a time is held."""
        return ((partition, partition.load()) for partition in self if partition.number not in skip)


class Listed(Partitions):
    """Partitions that can each be loaded on their own; `names` of features, where they are known."""

    def __init__(
        self,
        every: Sequence[Partition],
        rows: tuple[int, ...] | None = None,
        notes: tuple[str, ...] = (),
        names: Sequence[str] | None = None,
    ) -> None:
        self._every = tuple(every)
        self._names = names
        self.rows = rows
        self.notes = notes

    def names(self) -> list[str]:
        return super().names() if self._names is None else list(self._names)

    def __len__(self) -> int:
        return len(self._every)

    def __getitem__(self, number: int) -> Partition:
        return self._every[number]


class Run(Protocol):
    """Apply a picklable function of a partition to every partition, wherever it lives: the results, in order."""

    def __call__(self, function: Callable[..., Any], *args: Any) -> list[Any]: ...


def run_here(partitions: Partitions) -> Run:
    """One partition after the other, in this process, each loaded once a pass."""

    def run(function: Callable[..., Any], *args: Any) -> list[Any]:
        found = []
        for each, part in partitions.iterate():
            found.append(function(Loaded(each.number, each.name, part), *args))
            del part  # before the next is loaded
        return found

    return run


def partitions_of(X: Any, y: Any, sample_weight: Any = None, columns: Sequence[str] | None = None) -> Partitions | None:  # noqa: N803  # as users know it
    """The partitions of data that are not in memory as one table; None for those that are.

    Parameters
    ----------
    X
        A Dask DataFrame or Array; a Parquet file, directory, pattern, or a list of them; a list of frames; a function that
        returns a fresh iterator of frames or arrays, called for every pass; an iterator, which is read once and held; or
        partitions that were made of one of these, which know all the rest.
    y, sample_weight
        Names of columns of `X`. Of Dask, also a Series or an Array in the same partitions. Where an iterable holds pairs
        `(X, y)`, or `(X, y, weight)`, None.
    columns
        The features to read, in this order; all columns but `y` and `sample_weight` where none are given.
    """
    if isinstance(X, Partitions):
        return X
    wanted = None if columns is None else tuple(map(str, columns))
    if type(X).__module__.startswith("dask"):
        from tippingpoint.engine.dask_partitions import dask_partitions

        return dask_partitions(X, y, sample_weight, wanted)
    paths = _paths(X)
    if paths is not None:
        from tippingpoint.engine.parquet import parquet_partitions

        return parquet_partitions(paths, y, sample_weight, wanted)
    from tippingpoint.engine.iterables import iterable_partitions

    return iterable_partitions(X, y, sample_weight, wanted)


def _paths(data: Any) -> list[str] | None:
    """The files, directories and patterns that a user names; None where there are none."""
    every = list(data) if isinstance(data, (list, tuple)) else [data]
    return [str(path) for path in every] if every and all(isinstance(path, (str, Path)) for path in every) else None


@contextmanager
def named(name: str) -> Iterator[None]:
    """Whatever is wrong with the rows inside, under the name of their partition."""
    try:
        yield
    except InputError as error:
        if str(error).startswith(f"{name}: "):
            raise
        raise type(error)(f"{name}: {error}") from error


def is_frame(data: Any) -> bool:
    """Whether this is a table of pandas, polars or pyarrow in memory."""
    import narwhals as nw

    return isinstance(nw.from_native(data, eager_only=True, pass_through=True), nw.DataFrame)


def is_array(data: Any) -> bool:
    """Whether this is an array of rows and columns, or of more."""
    return isinstance(data, np.ndarray) and data.ndim >= 2
