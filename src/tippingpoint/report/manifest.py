"""What a report was made from: date, model, data, command, seed, versions and settings, with fingerprints."""

from __future__ import annotations

import datetime as dt
import os
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError
from tippingpoint.results.origin import Origin, file_fingerprint

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")
"""Whose versions may change the last digits of a number."""

CLOCK = "SOURCE_DATE_EPOCH"
"""Seconds since 1970 that stand for now where builds are to repeat, as reproducible-builds.org defines it."""


def manifest(
    summary: Mapping[str, Any],
    origin: Origin | None,
    *,
    features: int,
    model: str | None,
    model_file: str | os.PathLike[str] | None,
    command: str | None,
    date: str,
) -> dict[str, Any]:
    """Everything that a report was made from, as words and numbers.

    Parameters
    ----------
    summary
        Of the result.
    origin
        What it was made from, where that is known.
    features
        How many a row has.
    model, model_file
        What the model is called, and the file that it was read from, where there is one.
    command
        The command line, where it was one.
    date
        As `read_date` gives it.
    """
    from tippingpoint import __version__

    known = {} if origin is None or not origin.package else _version(origin.package)
    return {
        "date": date,
        "command": {"kind": "call" if command is None else "command line", "text": command or _call(summary, origin)},
        "model": {"name": model or (origin.model if origin else "not told"), **_model_fingerprint(origin, model_file)},
        "data": {
            "rows": summary["samples"],
            "features": features,
            "fingerprint": None if origin is None else origin.data_fingerprint(),
        },
        "seed": _seed(summary, origin),
        "settings": {name: summary[name] for name in ("risk", "theta1", "theta2", "divergence", "loss", "unit")},
        "responses": summary["lower_by"],
        "versions": {
            "tippingpoint": __version__,
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in PACKAGES},
            **known,
        },
    }


def read_date(given: Any) -> str:
    """The date that a report bears, as 2026-01-31: the one given, that of `SOURCE_DATE_EPOCH`, or today's, in UTC."""
    if isinstance(given, dt.date):
        return given.strftime("%Y-%m-%d")
    if isinstance(given, str):
        try:
            return dt.date.fromisoformat(given).isoformat()
        except ValueError:
            raise InputError(f"date={given!r} is no day of a calendar; write it as '2026-01-31'.") from None
    if given is not None:
        raise InputError(f"date={given!r} must be a date, as datetime.date(2026, 1, 31) or '2026-01-31'.")
    now, fixed = dt.datetime.now(dt.timezone.utc), os.environ.get(CLOCK)
    if fixed:
        try:
            now = dt.datetime.fromtimestamp(int(fixed), dt.timezone.utc)
        except (ValueError, OverflowError, OSError):
            raise InputError(f"{CLOCK}={fixed!r} in the environment must be whole seconds since 1970; unset it.") from None
    return now.strftime("%Y-%m-%d")


def _model_fingerprint(origin: Origin | None, file: str | os.PathLike[str] | None) -> dict[str, Any]:
    """SHA-256 of the file, else of the object in memory, and in words what it was taken of."""
    if file is not None:
        if not Path(file).is_file():
            raise InputError(f"model_file={str(file)!r} is not a file; give the one that the model was read from.")
        return {"fingerprint": file_fingerprint(file), "of": "the file it was read from"}
    if origin is None or origin.model_fingerprint is None:
        return {"fingerprint": None, "of": "not fingerprinted"}
    return {"fingerprint": origin.model_fingerprint, "of": "its class and the values it holds in memory"}


def _call(summary: Mapping[str, Any], origin: Origin | None) -> str:
    """The call that asks the same again."""
    asked = ", ".join(f"{name}={_number(summary[name])}" for name in ("risk", "theta1", "theta2"))
    return f"{'profile' if origin is None else origin.call}.stability({asked}, divergence={summary['divergence']!r})"


def _number(value: float) -> str:
    return repr(value) if abs(value) < float("inf") else f'float("{value}")'


def _seed(summary: Mapping[str, Any], origin: Origin | None) -> str:
    if origin is None:
        return "not told"
    if origin.seed is None:
        return "none: nothing was drawn at random"
    return f"{origin.seed}; the number is proved, whatever was drawn" if summary["exact"] else str(origin.seed)


def _version(package: str) -> dict[str, str]:
    """The version of the package that the model comes from, where it is one that was installed."""
    try:
        return {} if package == "tippingpoint" else {package: metadata.version(package)}
    except (metadata.PackageNotFoundError, ValueError):
        return {}
