"""Packed files, unpacked within limits: zip archives of model files, packed tables and logs, Parquet."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from tippingpoint.errors import InputError
from tippingpoint.files.base import ZIP, Content

EXPANSION = 32
"""How many times its size a packed file may hold once it is unpacked; weights are rarely packed to a tenth."""

FREE_BYTES = 64 * 2**20
"""Bytes that an archive of any size may hold."""

TABLE_BYTES = 2**28
"""Bytes that a packed table of any size may hold."""

TABLE_CELLS = 2**28
"""Cells that a Parquet file of any size may hold: 2 GiB of numbers."""

UNPACKERS: Mapping[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
"""Readers of packed files by ending; `.zip` is read too."""

PIECE = 2**20
"""Bytes that are unpacked at once."""

MAX_NESTING = 2
"""How deep archives may lie in archives: skops keeps sparse matrices as archives of its own."""


def unpacked(content: Content) -> dict[str, bytes]:
    """Every part of an archive by its name; an error where it would fill the memory or has two parts of one name."""
    limit = max(FREE_BYTES, EXPANSION * len(content.data))
    return _parts(content, content.data, limit, MAX_NESTING)


def check_size(content: Content) -> None:
    """Refuse an archive that says of itself that it would fill the memory."""
    with zipfile.ZipFile(io.BytesIO(content.data)) as archive:
        _check_whole(content, archive.infolist(), max(FREE_BYTES, EXPANSION * len(content.data)))


def packed(parts: Mapping[str, bytes]) -> io.BytesIO:
    """The same parts in an archive that we wrote: readers that differ about a crafted one cannot differ about this."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part)
    buffer.seek(0)
    return buffer


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
    whole, most = sum(group.total_byte_size for group in groups), max(TABLE_BYTES, EXPANSION * size)
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


def _parts(content: Content, data: bytes, limit: int, depth: int) -> dict[str, bytes]:
    parts: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        held = archive.infolist()
        whole = _check_whole(content, held, limit)
        for each in held:
            if each.filename in parts:
                raise InputError(
                    f"{content.path} holds several parts of one name, so that nobody can tell which counts; save it anew."
                )
            with archive.open(each) as part:  # piece by piece: what says that it is small is never unpacked beyond that
                parts[each.filename] = b"".join(iter(partial(part.read, PIECE), b""))
    for inner in parts.values():
        if inner.startswith(ZIP) and depth > 1:
            with suppress(zipfile.BadZipFile):  # numbers that happen to begin as an archive does
                _parts(content, inner, limit - whole, depth - 1)
    return parts


def _check_whole(content: Content, held: list[zipfile.ZipInfo], limit: int) -> int:
    whole = sum(each.file_size for each in held)
    if whole > limit:
        raise InputError(
            f"{content.path} holds {whole:,} bytes once it is unpacked; at most {limit:,} are read of a file of"
            f" {len(content.data):,}, so that none can fill the memory."
        )
    return whole
