"""Files that commands read and write."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError
from tippingpoint.models.linear import LinearModel

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


def read_linear(path: str) -> tuple[LinearModel, Sequence[str] | None]:
    """A linear model written as JSON, and the features its coefficients belong to, where it names them.

    `{"coef": [0.5, -1.2], "intercept": 0.1, "features": ["age", "dose"], "classes": ["no", "yes"]}`
    """
    try:
        stored = json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f'{path} is not JSON ({error}); write {{"coef": [...], "intercept": ...}}.') from None
    known = {"coef", "intercept", "features", "classes"}
    if not isinstance(stored, dict) or "coef" not in stored:
        raise InputError(f'{path} has no "coef"; write {{"coef": [...], "intercept": ...}}.')
    odd = sorted(set(stored) - known)
    if odd:
        raise InputError(f"{path} has {odd[0]!r}, which is not known; it may hold {', '.join(sorted(known))}.")
    model = LinearModel.of(stored["coef"], stored.get("intercept", 0.0), stored.get("classes"))
    features = stored.get("features")
    width = model.coef.shape[1]
    if features is not None and not (
        isinstance(features, list) and all(isinstance(name, str) for name in features) and len(set(features)) == width
    ):
        raise InputError(f'{path}: "features" must list {width} different names, one for each coefficient.')
    return model, features


def write_whole(texts: Mapping[str, str]) -> None:
    """Write all of these files completely, or none of them."""
    staged: list[tuple[Path, Path]] = []
    try:
        for path, text in texts.items():
            staged.append((_stage(path, text), Path(path).resolve()))
        for temporary, target in staged:
            temporary.replace(target)
    except BaseException:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)
        raise


def _stage(path: str, text: str) -> Path:
    """The text in a temporary file beside the one it is for."""
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise InputError(f"{path!r} is not a file; give the name of a file to write.")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}; check the path.") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)  # mkstemp makes files private; ours are as any other program's
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return Path(name)
