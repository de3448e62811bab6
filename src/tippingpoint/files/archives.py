"""Zip archives of models and logs: read whole, by one reader, within limits, and written anew for their next reader."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from tippingpoint.errors import InputError
from tippingpoint.files.base import ZIP, Content
from tippingpoint.unpacking import EXPANSION, PIECE

FREE_BYTES = 64 * 2**20
"""Bytes that an archive of any size may hold."""

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
