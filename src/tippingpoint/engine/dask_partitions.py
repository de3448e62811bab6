"""Dask DataFrames and Arrays: every partition, or chunk of rows, wrapped so that the worker that holds it can load it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.engine.partitions import Listed, Part, Partition, named
from tippingpoint.engine.tables import Cut
from tippingpoint.errors import InputError, UnsupportedError


@dataclass(frozen=True)
class DaskPartition(Partition):
    """One partition of a Dask collection.

    Attributes
    ----------
    number, name
        As of any partition.
    held
        Delayed: the table, and labels and weights where they are collections of their own.
    cut
        Which of the table's columns is what.
    """

    number: int
    name: str
    held: tuple[Any, Any, Any]
    cut: Cut

    @property
    def delayed(self) -> Any:
        from dask import delayed

        return delayed(_part, pure=True)(self.name, self.cut, *self.held)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled alone it takes along what it is made of, and not what the other partitions are made of."""
        return DaskPartition, (self.number, self.name, tuple(_culled(each) for each in self.held), self.cut)

    def load(self) -> Part:
        made: Part = self.delayed.compute(scheduler="synchronous")
        return made


def _culled(held: Any) -> Any:
    """A Delayed with its own part of the graph."""
    if held is None:
        return None
    from dask.delayed import Delayed
    from dask.optimization import cull

    return Delayed(held.key, cull(dict(held.dask), [held.key])[0])


def _part(name: str, cut: Cut, table: Any, y: Any, weight: Any) -> Part:
    with named(name):
        return cut.part(table, y, weight)


def dask_partitions(data: Any, y: Any, sample_weight: Any, columns: tuple[str, ...] | None) -> Listed:
    """The partitions of a Dask DataFrame, or the chunks of rows of a Dask Array."""
    kind = type(data).__name__
    if kind not in ("DataFrame", "Array"):
        raise InputError(f"X is a Dask {kind}; give a Dask DataFrame or a Dask Array of rows and columns.")
    if kind == "Array":
        data = _table(data)
        if columns is not None:
            raise InputError("columns name columns, and X is a Dask Array, which has none; leave them out.")
    cut = Cut(_name("y", y, kind), _name("sample_weight", sample_weight, kind), columns)
    names = cut.features([str(name) for name in data.columns]) if kind == "DataFrame" else []
    beside = [_beside(data, "y", y), _beside(data, "sample_weight", sample_weight)]
    if cut.y is None and beside[0] is None:
        raise InputError("y=None: labels are needed; give the name of a column of X, or a Dask Series or Array.")
    count = _count(data)
    columned = [[None] * count if each is None else each for each in beside]
    tables = _delayed(data)
    every = [DaskPartition(k, f"partition {k}", held, cut) for k, held in enumerate(zip(tables, *columned, strict=True))]
    rows = data.chunks[0] if kind == "Array" and not np.isnan(data.chunks[0]).any() else None
    return Listed(every, None if rows is None else tuple(map(int, rows)), names=names)


def _table(data: Any) -> Any:
    """An array of rows and columns, whole rows in every chunk."""
    if data.ndim != 2:
        raise UnsupportedError(
            f"X is a Dask Array of shape {data.shape}: partitions are served of tables only, rows and columns; reshape it to"
            " (rows, columns), or give images as a NumPy array or a tensor."
        )
    return data.rechunk({1: -1}) if data.numblocks[1] > 1 else data


def _name(argument: str, given: Any, kind: str) -> str | None:
    if not isinstance(given, str):
        return None
    if kind == "Array":
        raise InputError(f"{argument}={given!r} names a column, but X is a Dask Array; give a Dask Array of one value a row.")
    return given


def _beside(data: Any, argument: str, given: Any) -> list[Any] | None:
    """The delayed partitions of labels or weights that are a collection of their own; None where they are not."""
    if given is None or isinstance(given, str):
        return None
    if not type(given).__module__.startswith("dask"):
        raise InputError(
            f"{argument} is a {type(given).__name__} in memory, but X is a Dask collection; give the name of a column of X, or"
            " a Dask Series or Array in the same partitions."
        )
    if _count(given) != _count(data):
        raise _apart(argument, f"{_count(given)} partitions", f"{_count(data)}")
    mine, its = _lengths(data), _lengths(given)
    if mine is not None and its is not None and mine != its:
        k = next(k for k, (a, b) in enumerate(zip(mine, its, strict=True)) if a != b)
        raise _apart(argument, f"{its[k]} rows in partition {k}", f"{mine[k]}")
    mine, its = _divisions(data), _divisions(given)
    if mine is not None and its is not None and mine != its:
        raise _apart(argument, f"divisions {its[:3]!r}", f"{mine[:3]!r}")
    return _delayed(given)


def _apart(argument: str, its: str, mine: str) -> InputError:
    return InputError(
        f"{argument} has {its} where X has {mine}; partition both alike, as {argument}.repartition(divisions=X.divisions)"
        " or rechunk."
    )


def _count(data: Any) -> int:
    return int(data.numblocks[0] if hasattr(data, "numblocks") else data.npartitions)


def _lengths(data: Any) -> tuple[Any, ...] | None:
    chunks: Sequence[Any] | None = data.chunks[0] if hasattr(data, "chunks") else None
    return None if chunks is None or np.isnan(chunks).any() else tuple(chunks)


def _divisions(data: Any) -> tuple[Any, ...] | None:
    return tuple(data.divisions) if getattr(data, "known_divisions", False) else None


def _delayed(data: Any) -> list[Any]:
    """One Delayed for each partition, in order."""
    if getattr(data, "ndim", 1) == 2 and hasattr(data, "numblocks"):
        return list(data.to_delayed()[:, 0])
    return list(np.ravel(data.to_delayed()))
