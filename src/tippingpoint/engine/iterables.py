"""Frames and arrays that come one after the other: lists, functions that begin anew, iterators that are read once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from tippingpoint.core.blocks import BLOCK_ROWS
from tippingpoint.data.frames import refuse_lazy
from tippingpoint.engine.partitions import Listed, Loaded, Part, Partition, Partitions, is_array, is_frame, named
from tippingpoint.engine.tables import Cut, named_column
from tippingpoint.errors import InputError
from tippingpoint.foreign import guarded

HELD = (
    "X is an iterator, which can be read once only, so all that it gave is held in memory; pass a function to have it read anew"
)
"""The note on data that cannot be read twice."""


@dataclass(frozen=True)
class Drawn(Partition):
    """One item of an iterator that begins anew; loading it passes over all before it, which is slow.

    Attributes
    ----------
    number, name
        As of any partition.
    stream
        Where it comes from.
    """

    number: int
    name: str
    stream: Stream

    def load(self) -> Part:
        for partition, part in self.stream.iterate():
            if partition.number == self.number:
                return part
        raise InputError(f"{self.name} is gone: X() gave fewer items than before; it must give the same at every call.")


class Stream(Partitions):
    """What a function gives that returns a fresh iterator: every pass calls it again, and nothing is held."""

    def __init__(self, source: Callable[[], Iterable[Any]], cut: Cut) -> None:
        self._source = source
        self._cut = cut
        self._count: int | None = None

    def __len__(self) -> int:
        if self._count is None:
            self._count = sum(1 for _ in self._items())
        return self._count

    def __getitem__(self, number: int) -> Partition:
        return Drawn(number, f"partition {number}", self)

    def iterate(self, skip: Collection[int] = ()) -> Iterator[tuple[Partition, Part]]:
        count = 0
        for count, item in enumerate(self._items(), 1):
            partition = self[count - 1]
            if partition.number not in skip:
                part = _part(partition.name, item, self._cut)
                del item
                yield partition, part
                del part  # before the next is made
        self._count = count

    def _items(self) -> Iterator[Any]:
        with guarded(lambda why: InputError(f"X() fails ({why}); it must return an iterator of frames or arrays.")):
            items = iter(self._source())
        for number in range(2**63):
            with guarded(lambda why, at=number: InputError(f"partition {at}: X() fails ({why}); mend the function.")):  # type: ignore[misc]  # a default binds the number now
                try:
                    item = next(items)
                except StopIteration:
                    return
            yield item
            del item


BATCH_ROWS = 2 * BLOCK_ROWS
"""Rows of a partition of lazy data."""


def lazy_source(data: Any) -> Callable[[], Iterable[Any]] | None:
    """A function that runs lazy data again and yields frames; None for data that are not lazy.

    They are recognised by the names of their types, so nothing is imported for them.
    """
    kind = type(data)
    library, name = kind.__module__.lstrip("_").partition(".")[0], kind.__name__
    if library == "pyspark":
        refuse_lazy(data)
    if library == "polars" and name == "LazyFrame":
        return partial(_of_polars, data)
    if library == "duckdb" and name == "DuckDBPyRelation":
        return partial(_of_duckdb, data)
    if library == "pyarrow" and any(each.__name__ == "Dataset" for each in kind.__mro__):
        return partial(_of_batches, data.to_batches)
    return None


def _of_polars(frame: Any) -> Iterator[Any]:
    batches = getattr(frame, "collect_batches", None)
    if batches is not None:
        yield from batches(chunk_size=BATCH_ROWS, maintain_order=True)
        return
    yield from frame.collect().iter_slices(BATCH_ROWS)  # an older polars, which cannot stream to us


def _of_duckdb(relation: Any) -> Iterator[Any]:
    names = ("to_arrow_reader", "fetch_arrow_reader", "fetch_record_batch")  # of new versions, and of old ones
    reader = next(getattr(relation, name) for name in names if hasattr(relation, name))
    yield from _of_batches(lambda: reader(BATCH_ROWS))


def _of_batches(make: Callable[[], Iterable[Any]]) -> Iterator[Any]:
    """Record batches of Arrow as pandas frames, each of `BATCH_ROWS` rows but for the last."""
    import pyarrow as pa

    held: list[Any] = []
    for batch in make():
        rest = batch
        while sum(map(len, held)) + len(rest) >= BATCH_ROWS:
            missing = BATCH_ROWS - sum(map(len, held))
            yield pa.Table.from_batches([*held, rest.slice(0, missing)]).to_pandas(ignore_metadata=True)
            held, rest = [], rest.slice(missing)
        if len(rest):
            held.append(rest)
    if held:
        yield pa.Table.from_batches(held).to_pandas(ignore_metadata=True)


def iterable_partitions(data: Any, y: Any, sample_weight: Any, columns: tuple[str, ...] | None) -> Partitions | None:
    """The items of a list of frames, of a function, an iterator or lazy data; None for data that are none of these."""
    source = lazy_source(data)
    if source is not None:
        return Stream(source, Cut(_lazy_name(data, "y", y), _lazy_name(data, "sample_weight", sample_weight), columns))
    if type(data).__module__.startswith("pyarrow") and type(data).__name__ == "RecordBatchReader":
        data = _of_batches(lambda reader=data: reader)  # type: ignore[misc]  # a default binds it now
    listed = isinstance(data, (list, tuple)) and bool(data) and all(_is_item(item) for item in data)
    if not (listed or isinstance(data, Iterator) or (callable(data) and not hasattr(data, "__array__"))):
        return None
    cut = Cut(_name("y", y), _name("sample_weight", sample_weight), columns)
    if callable(data):
        return Stream(data, cut)
    items = data if listed else _drained(data)
    every = [Loaded(k, f"partition {k}", _part(f"partition {k}", item, cut)) for k, item in enumerate(items)]
    if not every:
        raise InputError("X is an iterator that is empty, or was read before; pass a function that returns a fresh one.")
    return Listed(every, tuple(each.part.rows for each in every), () if listed else (HELD,))


def _is_item(item: Any) -> bool:
    """Whether an entry of a list is a frame, or a pair that begins with a table; a list of arrays is a table itself."""
    return is_frame(item) or (isinstance(item, tuple) and bool(item) and (is_frame(item[0]) or is_array(item[0])))


def _drained(data: Iterator[Any]) -> list[Any]:
    with guarded(lambda why: InputError(f"X, an iterator, fails ({why}); mend it.")):
        return list(data)


def _lazy_name(data: Any, argument: str, given: Any) -> str | None:
    if argument == "sample_weight" and given is None:
        return None
    return named_column(argument, given, f"a {type(data).__name__}")


def _name(argument: str, given: Any) -> str | None:
    if given is None or isinstance(given, str):
        return given
    raise InputError(
        f"{argument} is a {type(given).__name__}, but X comes in several tables; give the name of a column of them, or"
        " have pairs (X, y), or (X, y, weight), in place of tables."
    )


def _part(name: str, item: Any, cut: Cut) -> Part:
    """One item, taken apart."""
    with named(name):
        if isinstance(item, tuple):
            if len(item) not in (2, 3):
                raise InputError(f"an item of X is a tuple of {len(item)}; give (X, y) or (X, y, weight).")
            twice = next((n for n, c in (("y", cut.y), ("sample_weight", cut.weight)) if c is not None), None)
            if twice is not None and (twice == "y" or len(item) == 3):
                raise InputError(f"an item of X brings labels of its own, as (X, y); leave {twice}=... out.")
            table, y, weight = (*item, None)[:3]
            _check_table(table)
            return cut.part(table, y, weight)
        _check_table(item)
        if cut.y is None:
            raise InputError("y=None: labels are needed; give the name of their column, or pairs (X, y) in place of tables.")
        if is_array(item):
            raise InputError(f"y={cut.y!r} names a column, and an array has no names; give pairs (X, y) in place of arrays.")
        return cut.part(item)


def _check_table(table: Any) -> None:
    if not (is_frame(table) or is_array(table)):
        raise InputError(f"an item of X is a {type(table).__name__}; give frames, or arrays of rows and columns.")
