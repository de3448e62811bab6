"""TOML files that commands read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError


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
