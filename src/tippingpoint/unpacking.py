"""Packed files, unpacked within limits: CSV and JSON lines, packed or not, and Parquet. No file may fill the memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tippingpoint.errors import InputError

EXPANSION = 32
"""How many times its size a packed file may hold once it is unpacked; weights are rarely packed to a tenth."""

FREE_BYTES = 2**28
"""Bytes that a packed table of any size may hold."""

FREE_CELLS = 2**28
"""Cells that a Parquet file of any size may hold: 2 GiB of numbers."""

PIECE = 2**20
"""Bytes that are unpacked at once."""

UNPACKERS: Mapping[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
"""Readers of packed files by ending; `.zip` is read too."""


@contextmanager
def unpacked_stream(path: str, suffix: str, free: int) -> Iterator[IO[bytes]]:
    """The content of a packed file, unpacked as it is read; refused first if it holds more than its limit."""
    limit = max(free, EXPANSION * Path(path).stat().st_size)
    with _stream(path, suffix) as stream:  # before anything is kept: a parser takes many times what it reads
        if not _ends_within(stream, limit):
            raise InputError(
                f"{path} holds more than {limit:,} bytes once it is unpacked, the limit of a file of its size, so that none can"
                " fill the memory; unpack it yourself, and give what comes out."
            )
    with _stream(path, suffix) as stream:
        yield stream


def check_cells(path: str, size: int, file: IO[bytes], free: int, cells_per_byte: float = EXPANSION) -> None:
    """Refuse a Parquet file that says of itself that it would fill the memory."""
    from pyarrow import parquet

    held = parquet.read_metadata(file)
    groups = [held.row_group(k) for k in range(held.num_row_groups)]
    values = sum(group.column(k).num_values for group in groups for k in range(group.num_columns))  # lists hold many a row
    cells, limit = max(held.num_rows * held.num_columns, values), max(free, int(cells_per_byte * size))
    if cells > limit:
        raise InputError(
            f"{path} says that it holds {cells:,} cells in {size:,} bytes; at most {limit:,} are read of a file of that size,"
            " so that none can fill the memory. Write it anew, in parts."
        )
    whole, most = sum(group.total_byte_size for group in groups), max(FREE_BYTES, EXPANSION * size)
    if whole > most:
        raise InputError(
            f"{path} says that it holds {whole:,} bytes once it is unpacked, in {size:,}; at most {most:,} are read of a file"
            " of that size, so that none can fill the memory. Write it anew, in parts."
        )
    file.seek(0)


def _ends_within(stream: IO[bytes], limit: int) -> bool:
    read = 0
    while piece := stream.read(PIECE):
        read += len(piece)
        if read > limit:
            return False
    return True


@contextmanager
def _stream(path: str, suffix: str) -> Iterator[Any]:
    if suffix != ".zip":
        with UNPACKERS[suffix](path, "rb") as stream:
            yield stream
        return
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len(names) != 1:
            raise InputError(f"{path} holds {len(names)} files; give an archive of one, or the file itself.")
        with archive.open(names[0]) as stream:
            yield stream
