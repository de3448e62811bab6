"""Parquet files, row group by row group: each is a partition, a large one several, and only needed columns are read."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from tippingpoint.core.arrays import blocks
from tippingpoint.core.blocks import BLOCK_ROWS
from tippingpoint.engine.partitions import Listed, Part, Partition
from tippingpoint.engine.tables import Cut, named_column
from tippingpoint.errors import InputError
from tippingpoint.foreign import why

ENDINGS = (".parquet", ".pq")
"""Of the files that are read in a directory."""

HIDDEN = (".", "_")
"""How names begin that are passed over in a directory."""


WHOLE_CELLS, SLICE_CELLS = 2**22, 2**21
"""Cells from which on a row group is read in slices, so that a pass does not hold it all; and cells of a slice, about."""

BUFFER_BYTES = 2**20
"""Of a column that are read at once. Without a limit all pages of a row group are in memory while one slice is decoded."""


@dataclass(frozen=True)
class RowGroup(Partition):
    """One row group of a Parquet file, or a slice of one.

    Attributes
    ----------
    number, name
        As of any partition.
    path, group
        The file, and the place of the row group in it.
    first, rows
        The first row within the row group, and how many there are.
    features, y, weight
        The columns that are read; there may be no weights.
    """

    number: int
    name: str
    path: str
    group: int
    first: int
    rows: int
    features: tuple[str, ...]
    y: str
    weight: str | None

    def load(self) -> Part:
        with _opened(self.path) as file:
            return next(part for _, part in _slices(file, [self]))


class RowGroups(Listed):
    """Row groups of Parquet files; a pass decodes every row once."""

    def __init__(self, every: Sequence[RowGroup], names: Sequence[str]) -> None:
        super().__init__(every, tuple(each.rows for each in every), names=names)
        self._groups = tuple(every)

    def iterate(self, skip: Collection[int] = ()) -> Iterator[tuple[Partition, Part]]:
        wanted = (each for each in self._groups if each.number not in skip)
        for path, groups in groupby(wanted, key=attrgetter("path")):
            with _opened(path) as file:
                for _, slices in groupby(groups, key=attrgetter("group")):
                    yield from _slices(file, list(slices))


def _slices(file: Any, slices: Sequence[RowGroup]) -> Iterator[tuple[RowGroup, Part]]:
    """Slices of one row group in order, one decoded at a time."""
    import pyarrow as pa

    first = slices[0]
    columns = list(dict.fromkeys([*first.features, first.y, *([] if first.weight is None else [first.weight])]))
    if first.rows == file.metadata.row_group(first.group).num_rows:
        yield first, _part(file.read_row_group(first.group, columns=columns), first)
        return
    batches = file.iter_batches(max(each.rows for each in slices), row_groups=[first.group], columns=columns)
    nothing = file.schema_arrow.empty_table().select(columns)
    held, start = nothing, 0
    for each in slices:
        while start + len(held) < each.first + each.rows:
            fresh = pa.Table.from_batches([next(batches)]).select(columns)
            held = pa.concat_tables([held, fresh]) if len(held) else fresh
            passed = min(max(each.first - start, 0), len(held))
            held, start = held.slice(passed) if passed < len(held) else nothing, start + passed
        part = _part(held.slice(0, each.rows), each)
        held, start = held.slice(each.rows) if each.rows < len(held) else nothing, start + each.rows
        fresh = nothing
        yield each, part
        del part  # before the next is decoded


def _part(table: Any, group: RowGroup) -> Part:
    """The rows of a table in memory; labels and weights have arrays of their own, which do not keep the rest."""
    x = table.select(list(group.features)).to_pandas(ignore_metadata=True)
    y, weight = (
        None if name is None else table.select([name]).to_pandas(ignore_metadata=True)[name] for name in (group.y, group.weight)
    )
    return Cut(None, None, group.features).part(x, y, weight)


def parquet_partitions(paths: Sequence[str], y: Any, sample_weight: Any, columns: tuple[str, ...] | None) -> RowGroups:
    """The row groups of all files, in the order of the paths and, within a directory or pattern, of their names."""
    _library(paths[0])
    target = named_column("y", y, "a Parquet file")
    weight = None if sample_weight is None else named_column("sample_weight", sample_weight, "a Parquet file")
    cut = Cut(target, weight, columns)
    groups: list[RowGroup] = []
    for path in (file for given in paths for file in parquet_files(given)):
        with _opened(path) as file:
            held, names = file.metadata, _stored_columns(file.schema_arrow)
        try:
            features = tuple(cut.features(names))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        for group in range(held.num_row_groups):
            whole = held.row_group(group).num_rows
            for run in _runs(whole, len(features) + 1):
                rows = run.stop - run.start
                name = f"row group {group} of {path}"
                name = name if rows == whole else f"the slice from row {run.start} of {name}"
                groups.append(RowGroup(len(groups), name, path, group, run.start, rows, features, target, weight))
    if not any(each.rows for each in groups):
        raise InputError(f"X={paths[0]!r} holds no rows; give files that hold some.")
    return RowGroups(groups, groups[0].features)


def _runs(rows: int, width: int) -> list[slice]:
    """The slices of a row group: of whole blocks, so that without weights all sums are the same to the last bit."""
    if rows * width <= WHOLE_CELLS:
        return [slice(0, rows)]
    return list(blocks(rows, max(SLICE_CELLS // (width * BLOCK_ROWS), 1) * BLOCK_ROWS))


def parquet_columns(path: str) -> list[str]:
    """The columns of a file."""
    _library(path)
    with _opened(path) as file:
        return _stored_columns(file.schema_arrow)


def parquet_values(path: str, column: str) -> Iterator[Any]:
    """One column of a file as pandas series, a block of rows at a time."""
    import pyarrow as pa

    with _opened(path) as file:
        for batch in file.iter_batches(BLOCK_ROWS, columns=[column]):
            yield pa.Table.from_batches([batch]).to_pandas(ignore_metadata=True)[column]


def parquet_sizes(path: str) -> list[int]:
    """How many cells every row group of a file says that it holds."""
    pq = _library(path)
    with _readable(path):
        held = pq.read_metadata(path)
    return [held.row_group(group).num_rows * held.num_columns for group in range(held.num_row_groups)]


def _library(path: str) -> Any:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"X={path!r} is a Parquet file, and pyarrow is not installed; pip install 'tippingpoint[parquet]'."
        ) from None
    return pq


def _stored_columns(schema: Any) -> list[str]:
    """The columns of a file, without an index that pandas put beside them."""
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    return [name for name in schema.names if name not in [each for each in index if isinstance(each, str)]]


def parquet_files(given: str) -> list[str]:
    """The files that a path or a pattern stands for."""
    path = Path(given)
    if not given:
        raise InputError("X='' is an empty path. Name a Parquet file, a directory of them, or a pattern.")
    if path.is_file():
        return [given]
    if path.is_dir():
        found = _below(given)
        if not found:
            raise InputError(f"X={given!r} is a directory without Parquet files; name one with files that end in .parquet.")
        keyed = next((file for file in found if any("=" in part for part in Path(file).relative_to(path).parts[:-1])), None)
        if keyed is not None:
            raise InputError(
                f"X={given!r} keeps a column in the names of directories ({Path(keyed).relative_to(path)}); read it with"
                " dask.dataframe.read_parquet and pass that."
            )
        return found
    if glob.has_magic(given):
        _check_folders(given)
        matched = sorted(glob.glob(given, recursive=True))  # noqa: PTH207  # absolute ones too
        if "**" in given:  # which stands for directories too
            matched = [file for file in matched if not Path(file).is_dir()]
        for file in matched:
            _check_file(given, file)
        if matched:
            return matched
        raise InputError(f"X={given!r} matches no file; mend the pattern.")
    raise InputError(
        f"X={given!r} does not exist; name a Parquet file, a directory of them, or a pattern, as 'data/*.parquet'."
    )


def _check_folders(given: str) -> None:
    """Refuse links to nothing among the directories of a pattern: a partition that is missing changes the answer."""
    parts = Path(given).parts
    for k, part in enumerate(parts[:-1], start=1):
        folders = glob.glob(str(Path(*parts[:k]))) if glob.has_magic(part) and part != "**" else []  # noqa: PTH207  # as above
        lost = next((each for each in folders if Path(each).is_symlink() and not Path(each).exists()), None)
        if lost is not None:
            raise InputError(f"X={given!r}: {lost} is a link to nothing. Remove the link, or restore what it points to.")


def _below(given: str) -> list[str]:
    """The Parquet files of a directory and of those in it, in the order of their paths."""

    def refuse(error: OSError) -> None:
        raise InputError(f"X={given!r}: {error.filename} cannot be listed ({error.strerror}). Name its files instead.")

    found = []
    for folder, folders, names in os.walk(given, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(HIDDEN)]
        for path in (Path(folder, name) for name in folders):
            if path.is_symlink():
                raise InputError(
                    f"X={given!r}: {path} is a link to a directory, which is not followed. Name that directory too."
                )
        for name in names:
            if name.endswith(ENDINGS) and not name.startswith(HIDDEN):
                _check_file(given, str(Path(folder, name)))
                found.append(str(Path(folder, name)))
    return sorted(found)


def _check_file(given: str, file: str) -> None:
    """Refuse what is found and is no file: leaving it out would leave out its rows."""
    try:
        mode = Path(file).stat().st_mode
    except OSError as error:
        reason = "a link to nothing" if isinstance(error, FileNotFoundError) else f"not readable ({error.strerror})"
        raise InputError(f"X={given!r}: {file} is {reason}. Mend it, or remove it.") from None
    if not stat.S_ISREG(mode):
        kind = "directory" if stat.S_ISDIR(mode) else "pipe" if stat.S_ISFIFO(mode) else "device"
        raise InputError(f"X={given!r}: {file} is a {kind}. Name files only.")


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    """A Parquet file, of which little is read ahead."""
    import pyarrow.parquet as pq

    with _readable(path), pq.ParquetFile(path, buffer_size=BUFFER_BYTES, pre_buffer=False) as file:
        yield file


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Whatever pyarrow makes of a file that is none of its own, or not whole, in one sentence."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path} cannot be read as Parquet ({why(error)}); if it was cut off, write it anew.") from error
