"""Files that commands read and write."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError
from tippingpoint.models.linear import LinearModel


def read_table(path: str) -> Any:
    """A CSV or Parquet file as a pandas frame."""
    import pandas as pd

    suffix = Path(path).suffix.lower()
    try:
        if suffix in (".parquet", ".pq"):
            return pd.read_parquet(path)
        return pd.read_csv(path)
    except ImportError:
        raise InputError(f"{path}: reading Parquet needs pyarrow; pip install pyarrow, or give a CSV file.") from None
    except (ValueError, pd.errors.EmptyDataError) as error:
        raise InputError(
            f"{path} cannot be read as {'Parquet' if suffix in ('.parquet', '.pq') else 'CSV'}: {error}."
        ) from None


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
    if features is not None and (not isinstance(features, list) or len(features) != model.coef.shape[1]):
        raise InputError(f'{path}: "features" must list {model.coef.shape[1]} names, one for each coefficient.')
    return model, features


def write_whole(path: str, text: str) -> None:
    """Write a file completely or not at all."""
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)  # mkstemp makes files private; ours are as any other program's
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
