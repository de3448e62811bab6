"""Pickles, and what joblib makes of them: loading one runs whatever code its author put there, so it has to be asked for."""

from __future__ import annotations

import bz2
import lzma
import re
import warnings
import zlib
from collections.abc import Callable
from typing import Any

from tippingpoint.errors import InputError
from tippingpoint.files.base import Content, Format, Loading, Stored
from tippingpoint.files.skops import named_columns
from tippingpoint.foreign import guarded

BINARY = re.compile(rb"\x80[\x02-\x05]")
"""How a pickle begins; also one by joblib that is not compressed."""

UNPACKERS: tuple[Callable[[], Any], ...] = (
    lambda: zlib.decompressobj(zlib.MAX_WBITS | 32),
    bz2.BZ2Decompressor,
    lzma.LZMADecompressor,
)
"""Of joblib's compressed pickles: zlib and gzip, bzip2, xz and lzma."""


def holds(content: Content) -> bool:
    """Whether it begins as a pickle does, compressed or not."""
    return bool(BINARY.match(content.head)) or any(BINARY.match(_unpacked(content.head, each())) for each in UNPACKERS)


def _unpacked(head: bytes, unpacker: Any) -> bytes:
    """The first two bytes of what was compressed; nothing where it was not, or in another way."""
    try:
        return bytes(unpacker.decompress(head, 2))
    except (zlib.error, lzma.LZMAError, OSError):
        return b""


def load(content: Content, loading: Loading) -> Stored:
    """What was pickled, if the user trusts it."""
    path = content.path
    loading.check_trust(path, "a pickle (skops saves models without)")
    import joblib

    with (
        guarded(
            lambda reason: InputError(
                f"{path} cannot be unpickled here ({reason}); install what it was made with, or save the model with skops."
            )
        ),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # of versions that differ: a model that cannot be used says so when it is asked
        model = joblib.load(path)
    return Stored(model, named_columns(model))


FORMAT = Format("a pickle", (".pkl", ".pickle", ".joblib"), ("trust",), holds, load)
