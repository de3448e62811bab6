"""Tables in files that a user names: found, read in the columns needed, checked."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tippingpoint.errors import InputError, listed


def find(directory: str | os.PathLike[str], folders: Sequence[str], names: Sequence[str]) -> Path | None:
    """The first of these files that is in the directory or in one of its folders.

    Parameters
    ----------
    directory
        What the user named.
    folders
        Folders of it to look into, besides itself.
    names
        Names of files, the best first.
    """
    if not isinstance(directory, (str, os.PathLike)):
        raise InputError(f"directory={directory!r} must be a path, as 'data'.")
    home = Path(directory)
    if not home.is_dir():
        raise InputError(f"directory={str(directory)!r} is not a directory; name the one that holds the files.")
    places = (home / folder / name for name in names for folder in (".", *folders))
    return next((place for place in places if place.is_file()), None)


def read_columns(path: Path, numbers: Sequence[str], words: Sequence[str] = (), *, member: str = "", expected: str) -> Any:
    """These columns of a CSV, as a pandas frame; those of numbers hold numbers, or are missing.

    Parameters
    ----------
    path
        A CSV, which may be gzipped, or inside a zip archive.
    numbers, words
        Columns to read; all others are skipped.
    member
        Name of the CSV inside an archive.
    expected
        What the file should be, for errors.
    """
    import pandas as pd

    wanted = {*numbers, *words}
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive, archive.open(member) as file:
                table = pd.read_csv(file, usecols=lambda name: name in wanted, low_memory=False)
        else:
            table = pd.read_csv(path, usecols=lambda name: name in wanted, low_memory=False)
    except (OSError, EOFError, ValueError, KeyError, zlib.error, zipfile.BadZipFile) as error:
        raise InputError(f"{str(path)!r} cannot be read ({error}); it should be {expected}: get it again.") from error
    missing = [name for name in (*numbers, *words) if name not in table]
    if missing:
        raise InputError(f"{str(path)!r} lacks the column {missing[0]!r}; it should be {expected}.")
    for name in numbers:
        if table[name].dtype.kind not in "biuf":
            read = pd.to_numeric(table[name], errors="coerce")
            row = int(np.flatnonzero(read.isna() & table[name].notna())[0])
            raise InputError(
                f"{name} of row {row} in {str(path)!r} is {table[name].iloc[row]!r}, which is no number; it should be"
                f" {expected}."
            )
    return table


def check_codes(table: Any, codes: Mapping[str, Sequence[int]], path: Path, expected: str) -> None:
    """Refuse what is missing, and codes that do not exist.

    Parameters
    ----------
    table
        A pandas frame of numbers, whose index counts the rows of the file.
    codes
        The values that columns may have; of columns that are not named here, any number.
    path, expected
        The file, and what it should be, for errors.
    """
    for name in table:
        values = table[name].to_numpy(dtype=float)
        known = ~np.isnan(values) if name not in codes else np.isin(values, np.asarray(codes[name]))
        if known.all():
            continue
        first = int(np.flatnonzero(~known)[0])
        value = "missing" if np.isnan(values[first]) else f"{values[first]:g}"
        allowed = f"; its codes are {_span(codes[name])}" if name in codes else ""
        raise InputError(
            f"{name} of row {table.index[first]} in {str(path)!r} is {value}{allowed}; the file should be {expected}: mend the"
            " row, or get the file again."
        )


def _span(codes: Sequence[int]) -> str:
    return f"{codes[0]} to {codes[-1]}" if isinstance(codes, range) else listed(codes)
