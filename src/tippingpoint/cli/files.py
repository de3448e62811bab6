"""Files that commands read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError

PARQUET = (".parquet", ".pq")
"""Endings of Parquet files; all others are read as CSV."""


def read_table(path: str) -> Any:
    """A CSV or Parquet file as a pandas frame."""
    import pandas as pd

    suffix = Path(path).suffix.lower()
    try:
        if suffix in PARQUET:
            return pd.read_parquet(path)
        return pd.read_csv(path)
    except ImportError:
        raise InputError(f"{path}: reading Parquet needs pyarrow; pip install pyarrow, or give a CSV file.") from None
    except ValueError as error:
        kind = "Parquet" if suffix in PARQUET else "CSV"
        raise InputError(f"{path} cannot be read as {kind} ({' '.join(str(error).split())}); check the file.") from None


def read_toml(path: str) -> dict[str, Any]:
    """A TOML file."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # of TOML, of UTF-8, or of a number with thousands of digits
        raise InputError(f"{path} is not TOML ({' '.join(str(error).split())}); write one key = value a line.") from None
    except RecursionError:
        raise InputError(f"{path} is nested too deeply; a file of options has tables in tables, and no more.") from None
