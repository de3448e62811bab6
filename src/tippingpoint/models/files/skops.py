"""skops files: scikit-learn's estimators without pickle, of types that are known or named."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError, listed
from tippingpoint.models.files.base import Content, Format, Loading, Stored, library, reading


def holds(content: Content) -> bool:
    """Whether it is a zip archive with a skops schema."""
    return "schema.json" in content.members


def untrusted(path: str | Path) -> list[str]:
    """The types in a file that a user has to name."""
    io = library("skops.io", "skops", path)
    with reading(path, FORMAT.name), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sorted(io.get_untrusted_types(file=path))


def load(content: Content, loading: Loading) -> Stored:
    """The estimator, once every type in the file is known to be harmless or was named by the user."""
    path = content.path
    io = library("skops.io", "skops", path)
    unknown = untrusted(path)
    with reading(path, FORMAT.name), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of versions that differ: a model that cannot be used says so when it is asked
        odd = [name for name in loading.trust if name not in unknown]
        if odd:
            holds_ = f"they are {listed(unknown)}" if unknown else "it holds none"
            raise InputError(f"trust names {odd[0]!r}, which is no type of {path} that needs trust; {holds_}.")
        missing = [name for name in unknown if name not in loading.trust]
        if missing:
            raise InputError(
                f"{path} holds types that skops does not know to be harmless, {listed(missing)}; if you trust whoever wrote"
                f" the file, name them, as --trust {','.join(unknown)} (trust=[...] in Python)."
            )
        model = io.load(path, trusted=unknown)
    return Stored(model, named_columns(model))


def named_columns(model: Any) -> tuple[str, ...] | None:
    """The columns that an estimator was fitted to, where they had names."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


FORMAT = Format("a skops file", (".skops",), ("trust",), holds, load)
