"""Files that commands read and write."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError

Writer = Callable[[Path], object]
"""Writes a file at a path."""


def read_toml(path: str) -> dict[str, Any]:
    """A TOML file."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path} is not TOML ({' '.join(str(error).split())}); write one key = value a line.") from None


def write_whole(contents: Mapping[str, str | Writer]) -> None:
    """Write all of these files completely, or none of them."""
    staged: list[tuple[Path, Path]] = []
    try:
        for path, content in contents.items():
            staged.append((_stage(path, content), Path(path).resolve()))
        for temporary, target in staged:
            temporary.replace(target)
    except BaseException:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)
        raise


def _stage(path: str, content: str | Writer) -> Path:
    """The content in a temporary file beside the one it is for."""
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise InputError(f"{path!r} is not a file; give the name of a file to write.")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}.", suffix=target.suffix)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}; check the path.") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            if isinstance(content, str):
                file.write(content)
        if not isinstance(content, str):
            content(Path(name))
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)  # mkstemp makes files private; ours are as any other program's
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)
