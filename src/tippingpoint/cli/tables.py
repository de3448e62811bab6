"""Tables that commands read: CSV, packed or not, and Parquet; from files only, and no larger than their files can explain."""

from __future__ import annotations

import io
import re
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tippingpoint import unpacking
from tippingpoint.cli.dialects import COMMA, SNIFFED_BYTES, UNSPECIFIED, Dialect, shown, with_decimal_commas
from tippingpoint.cli.streams import print_stderr
from tippingpoint.errors import InputError

PARQUET = (".parquet", ".pq")
"""Endings of Parquet files; all others are read as CSV."""

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(://|::)")
"""How an address begins: a scheme, which pandas would fetch."""

UNSERVED = (".zst", ".tar", ".tgz", ".7z")
"""Endings of packed files that are not."""

EXPANSION, FREE_BYTES, FREE_CELLS = unpacking.EXPANSION, unpacking.FREE_BYTES, unpacking.FREE_CELLS
"""Limits of packed files: how many times its size one may hold, and the bytes and cells that one of any size may."""


def read_table(path: str, dialect: Dialect = UNSPECIFIED) -> Any:
    """A CSV or Parquet file as a pandas frame; a path only, never an address that would be fetched."""
    import pandas as pd

    _check_file(path)
    suffix = Path(path).suffix.lower()
    kind = "Parquet" if suffix in PARQUET else "CSV"
    if kind == "Parquet" and dialect.given:
        raise InputError(f"{dialect.given[0]} is of CSV files, and {path} is Parquet; leave it out.")
    try:
        if kind == "Parquet":
            with Path(path).open("rb") as file:
                unpacking.check_cells(path, Path(path).stat().st_size, file, FREE_CELLS)
                return pd.read_parquet(file)
        with opened(path, suffix) as raw:
            return _read_csv(path, raw, dialect)
    except ImportError:
        raise InputError(f"{path}: reading Parquet needs pyarrow; pip install pyarrow, or give a CSV file.") from None
    except (InputError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the file itself, as one that is not there
        raise InputError(f"{path} cannot be read as {kind} ({' '.join(str(error).split())}); check the file.") from None


def _read_csv(path: str, raw: io.BufferedReader[Any], dialect: Dialect) -> Any:
    """A CSV file; a line on standard error says what is recognised of how it is written, since it could be meant otherwise."""
    import pandas as pd

    try:
        seen = dialect.seen(raw.peek(SNIFFED_BYTES))
        frame = pd.read_csv(raw, sep=seen.sep, decimal=seen.decimal or ".", encoding=seen.encoding)
    except UnicodeError:
        tried = dialect.encoding or "utf-8"
        raise InputError(f"{path} is not written in {tried}; give its --encoding, as utf-8, latin-1 or utf-16.") from None
    if not isinstance(frame.index, pd.RangeIndex):
        raise InputError(f"{path}: its lines hold more cells than its first line has names; name every column, or mend them.")
    recognised = []
    if dialect.sep is None and seen.sep not in (None, COMMA):
        recognised.append(f"--sep {shown(seen.sep)}")
    if seen.sep != COMMA and dialect.decimal is None:
        frame, columns = with_decimal_commas(frame)
        recognised += ["--decimal ','"] if columns else []
    if recognised and not dialect.quiet:
        print_stderr(f"tippingpoint: {path} is read with {' '.join(recognised)}, as it seems to be written.")
    return frame


def with_text(frame: Any, path: str, dialect: Dialect, text: Mapping[str, Collection[Any]]) -> Any:
    """A frame of a CSV file, with the cells of some columns as they are written, such as '01'; `text` has their known values.

    A cell that is read as missing, such as NA, stays so unless it is a known value. A pipe cannot be read again, so it is left.
    """
    import pandas as pd

    again = [name for name in text if name in frame.columns and (frame[name].dtype.kind in "biuf" or frame[name].isna().any())]
    suffix = Path(path).suffix.lower()
    if not again or suffix in PARQUET or not Path(path).is_file():
        return frame
    with opened(path, suffix) as raw:
        seen = dialect.seen(raw.peek(SNIFFED_BYTES))
        cells = pd.read_csv(raw, sep=seen.sep, encoding=seen.encoding, usecols=again, dtype=str, keep_default_na=False)
    return frame.assign(**{name: cells[name].where(frame[name].notna() | cells[name].isin(list(text[name]))) for name in again})


def _check_file(path: str) -> None:
    """Refuse what is no file: addresses, directories and devices; a pipe is one."""
    if ADDRESS.match(path):
        raise InputError(f"{path} is an address, and nothing is fetched; download it, and give the file.")
    try:
        mode = Path(path).stat().st_mode
    except ValueError as error:
        raise InputError(f"{path!r} is no path ({error}); give a file.") from None
    if stat.S_ISDIR(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise InputError(f"{path} is a {'directory' if stat.S_ISDIR(mode) else 'device'}; give a file.")


@contextmanager
def opened(path: str, suffix: str) -> Iterator[io.BufferedReader[Any]]:
    """A CSV file; one that is packed, unpacked as it is read, once it is known to hold no more than `EXPANSION` allows."""
    if suffix in UNSERVED:
        raise InputError(f"{path}: CSV files packed as {suffix} are not read; unpack it, or pack it as .gz.")
    if suffix not in (*unpacking.UNPACKERS, ".zip"):
        with io.BufferedReader(io.FileIO(path), SNIFFED_BYTES) as file:
            yield file
        return
    with unpacking.unpacked_stream(path, suffix, FREE_BYTES) as stream:
        yield io.BufferedReader(stream, SNIFFED_BYTES)
