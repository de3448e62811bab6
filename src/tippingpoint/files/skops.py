"""skops files: scikit-learn's estimators without pickle, of types that are known or named."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from tippingpoint.errors import InputError, listed
from tippingpoint.files.archives import packed, unpacked
from tippingpoint.files.base import Content, Format, Loading, Stored, check_version, library, reading
from tippingpoint.files.isolated import Child, Message
from tippingpoint.files.natives import flaw

MIN_VERSION = (0, 15)
"""The first version of skops without known ways to run code from a file: older ones call whatever function of `numpy.random` a
file names, and list nothing to trust; before 0.13 any function (CVE-2025-54412, CVE-2025-54413)."""

CHECKED_MODULES = re.compile(
    r"(builtins|collections|numpy|scipy|functools|operator)(\..*)?"
    r"|sklearn\.(linear_model|preprocessing|pipeline|compose|impute|decomposition|calibration|tree|ensemble|dummy|frozen|base"
    r"|naive_bayes|neural_network|discriminant_analysis|feature_selection|model_selection|multiclass|multioutput|utils|_loss"
    r")(\..*)?"
)
"""Modules whose estimators compute with NumPy, which looks at its indices, or with trees, which `natives` looks at. A file of
others is tried in a child process first: what its compiled code does with the numbers of the file shows only there."""

ROWS = np.array([[0.0], [1.0], [-1e3], [1e3]])
"""Values that every column has in the rows of that trial."""


def holds(content: Content) -> bool:
    """Whether it is a zip archive with a skops schema."""
    return "schema.json" in content.members


def untrusted(content: Content) -> list[str]:
    """The types in a file that a user has to name."""
    library("skops.io", "skops", content.path)
    with reading(content.path, FORMAT.name), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _unknown(packed(unpacked(content)).getvalue())


def load(content: Content, loading: Loading) -> Stored:
    """The estimator, once every type in the file is known to be harmless or was named by the user."""
    path = content.path
    check_version(library("skops", "skops", path), MIN_VERSION, path)
    io_ = library("skops.io", "skops", path)
    with reading(path, FORMAT.name), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of versions that differ: a model that cannot be used says so when it is asked
        parts = unpacked(content)
        data = packed(parts).getvalue()
        unknown = _unknown(data)
        if not isinstance(loading.trust, bool):
            _check_types(path, loading.trust, unknown)
        elif unknown and not loading.trust:
            raise InputError(_needs_trust(path, unknown, unknown))
        if loading.trust is not True and not all(map(CHECKED_MODULES.fullmatch, _modules(json.loads(parts["schema.json"])))):
            Child(f"{__name__}:trial", str(path)).ask(
                {"archive": np.frombuffer(data, np.uint8), "types": np.array(unknown, str)}
            )
        model = io_.loads(data, trusted=unknown)
        found = flaw(model)
    if found is not None:
        raise InputError(f"{path} {found}; it is damaged or hostile: save it again.")
    return Stored(model, named_columns(model))


def trial(message: Message) -> Message:
    """In a child: load a file and ask its model about a few rows; whether that ends well is the answer."""
    import skops.io

    warnings.simplefilter("ignore")
    model = skops.io.loads(message["archive"].tobytes(), trusted=message["types"].tolist())
    width = getattr(model, "n_features_in_", None)
    if flaw(model) is None and isinstance(width, int) and width > 0:
        rows: Any = np.broadcast_to(ROWS, (len(ROWS), width)).copy()
        names = named_columns(model)
        if names is not None:
            import pandas as pd

            rows = pd.DataFrame(rows, columns=list(names))
        for method in ("predict", "predict_proba", "decision_function"):
            try:
                getattr(model, method, len)(rows)
            except Exception:  # noqa: BLE001, S112  # a sentence of its own, such as of text that it wants, is no harm
                continue
    return {"ends": np.array("well")}


def named_columns(model: Any) -> tuple[str, ...] | None:
    """The columns that an estimator was fitted to, where they had names."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def _unknown(data: bytes) -> list[str]:
    import skops.io

    return sorted(skops.io.get_untrusted_types(data=data))


def _check_types(path: Any, trusted: Any, unknown: list[str]) -> None:
    """Every type that is named must be there, and every one that needs it named."""
    odd = [name for name in trusted if name not in unknown]
    if odd:
        needed = f"they are {listed(unknown)}" if unknown else "it holds none"
        raise InputError(f"trust names {odd[0]!r}, which is no type of {path} that needs trust; {needed}.")
    missing = [name for name in unknown if name not in trusted]
    if missing:
        raise InputError(_needs_trust(path, missing, unknown))


def _needs_trust(path: Any, missing: list[str], unknown: list[str]) -> str:
    return (
        f"{path} holds types that skops does not know to be harmless, {listed(missing)}; if you trust whoever wrote the file,"
        f" name them, as --trust {','.join(unknown)} (trust=[...] in Python)."
    )


def _modules(schema: Any) -> Iterator[str]:
    """The modules of all types that a schema names."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(value.get("__module__"), str):
                yield value["__module__"]
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


FORMAT = Format("a skops file", (".skops",), ("trust",), holds, load)
