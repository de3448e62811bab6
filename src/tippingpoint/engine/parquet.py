"""Parquet files, row group by row group: each is a partition, and only its needed columns are read."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tippingpoint.engine.partitions import Listed, Part, Partition
from tippingpoint.engine.tables import Cut, named_column
from tippingpoint.errors import InputError
from tippingpoint.foreign import why

ENDINGS = (".parquet", ".pq")
"""Of the files that are read in a directory."""


@dataclass(frozen=True)
class RowGroup(Partition):
    """One row group of a Parquet file.

    Attributes
    ----------
    number, name
        As of any partition.
    path, group
        The file, and the place of the row group in it.
    columns
        What is read of it.
    cut
        Which of them is what.
    """

    number: int
    name: str
    path: str
    group: int
    columns: tuple[str, ...]
    cut: Cut

    def load(self) -> Part:
        import pyarrow.parquet as pq

        with _readable(self.path), pq.ParquetFile(self.path) as file:
            table = file.read_row_group(self.group, columns=list(self.columns)).to_pandas(ignore_metadata=True)
        return self.cut.part(table[list(self.columns)])


def parquet_partitions(paths: Sequence[str], y: Any, sample_weight: Any, columns: tuple[str, ...] | None) -> Listed:
    """The row groups of all files, in the order of the paths and, within a directory or pattern, of their names."""
    pq = _library(paths[0])
    cut = Cut(
        named_column("y", y, "a Parquet file"),
        None if sample_weight is None else named_column("sample_weight", sample_weight, "a Parquet file"),
        columns,
    )
    groups: list[RowGroup] = []
    rows: list[int] = []
    for path in (file for given in paths for file in parquet_files(given)):
        with _readable(path), pq.ParquetFile(path) as file:
            held, names = file.metadata, _stored_columns(file.schema_arrow)
        try:
            features = cut.features(names)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        beside = [name for name in (cut.y, cut.weight) if name is not None and name not in features]
        for group in range(held.num_row_groups):
            name = f"row group {group} of {path}"
            groups.append(RowGroup(len(groups), name, path, group, (*features, *beside), cut))
            rows.append(held.row_group(group).num_rows)
    if not sum(rows):
        raise InputError(f"X={paths[0]!r} holds no rows; give files that hold some.")
    named = cut.features(groups[0].columns)
    return Listed(groups, tuple(rows), names=named)


def parquet_columns(path: str) -> list[str]:
    """The columns of a file."""
    pq = _library(path)
    with _readable(path), pq.ParquetFile(path) as file:
        return _stored_columns(file.schema_arrow)


def parquet_values(path: str, column: str) -> Iterator[Any]:
    """One column of a file as pandas series, a row group at a time."""
    pq = _library(path)
    with _readable(path), pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group, columns=[column]).to_pandas(ignore_metadata=True)[column]


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
    if path.is_file():
        return [given]
    if path.is_dir():
        found = sorted(str(file) for ending in ENDINGS for file in path.rglob(f"*{ending}") if not _hidden(file, path))
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
        matched = sorted(file for file in glob.glob(given, recursive=True) if Path(file).is_file())  # noqa: PTH207  # absolute ones too
        if matched:
            return matched
        raise InputError(f"X={given!r} matches no file; mend the pattern.")
    raise InputError(
        f"X={given!r} does not exist; name a Parquet file, a directory of them, or a pattern, as 'data/*.parquet'."
    )


def _hidden(file: Path, root: Path) -> bool:
    return any(part.startswith((".", "_")) for part in file.relative_to(root).parts)


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Whatever pyarrow makes of a file that is none of its own, or not whole, in one sentence."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path} cannot be read as Parquet ({why(error)}); if it was cut off, write it anew.") from error
