"""Spaces written as TOML: everything that a `Space` takes, by the same names, and whether to infer the rest from the data."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any

from tippingpoint.cli.config import read_toml
from tippingpoint.cli.parsing import as_values
from tippingpoint.cli.partitions import PartedData
from tippingpoint.errors import InputError
from tippingpoint.space import Space

INFERRED = "infer"
"""What is written in place of a file, for a space that is read off the data; a file of that name is `./infer`."""

INFERRING = ("infer", "ranges")
"""What a file says beyond a `Space`: whether to infer one from the data first, and with which bounds."""


def read_space(
    written: str | Mapping[str, Any] | None, frozen: Sequence[str] | None, data: Any, encoded: Collection[str] = ()
) -> Space | None:
    """The space of a file, or of a table in the configuration, with the features frozen on the command line; or read off the
    data, in which the columns that a model encodes are categories, whatever they hold.
    """
    if written is None:
        return Space(frozen=frozen) if frozen else None
    if written == INFERRED:
        written = {"infer": True}
    name, entries = (written, read_toml(written)) if isinstance(written, str) else ("space", dict(written))
    known = (*(f.name for f in fields(Space)), *INFERRING)
    for key in entries:
        if key not in known:
            close = difflib.get_close_matches(key, known, 1, 0.6)
            hint = f"perhaps {close[0]!r} is meant" if close else f"it has {', '.join(sorted(known))}"
            raise InputError(f"{name} has {key!r}, which is nothing that a space has; {hint}.")
    infer, ranges = entries.pop("infer", False), entries.pop("ranges", None)
    if infer is True and isinstance(data, PartedData):
        raise InputError(
            f"{name}: a space is inferred from all rows at once, which data in parts are not; infer it from a sample of them,"
            " or write down what may move."
        )
    if not isinstance(infer, bool):
        raise InputError(f"{name}: infer = {infer!r} must be true or false.")
    if not infer and (ranges is not None or isinstance(entries.get("one_hot"), bool)):
        odd = "ranges" if ranges is not None else "one_hot"
        raise InputError(f"{name}: {odd} = {ranges if ranges is not None else entries['one_hot']!r} needs infer = true.")
    for argument, as_held in (("switch", _switch), ("categories", _values)):
        if isinstance(entries.get(argument), dict):
            entries[argument] = {column: as_held(given, column, data) for column, given in entries[argument].items()}
    read = _inferred(entries, ranges, data, encoded) if infer else Space(**entries)
    return read.edit(frozen=list(frozen)) if frozen else read


def _inferred(entries: Mapping[str, Any], ranges: Any, data: Any, encoded: Collection[str]) -> Space:
    """A space read off the data, in which numbers that the model encodes are categories, unless another kind is declared."""
    numbers = [name for name in data.columns if name in encoded and data[name].dtype.kind in "iuf"]
    declared = entries.get("kind", {})
    kinds = {**dict.fromkeys(numbers, "categorical"), **declared} if isinstance(declared, dict) else declared
    return Space.infer(data, **{**entries, "ranges": ranges or "observed", "kind": kinds})


def _values(values: Any, column: str, data: Any) -> Any:
    """A list of categories as the column's own values."""
    if not isinstance(values, list) or column not in data.columns:
        return values
    return as_values([str(value) for value in values], data[column])


def _switch(costs: Any, column: str, data: Any) -> Any:
    """A table of costs with the column's own values as keys; those of TOML are text."""
    if not isinstance(costs, dict) or column not in data.columns:
        return costs

    def keyed(table: dict[str, Any]) -> dict[Any, Any]:
        return dict(zip(as_values(list(table), data[column]), table.values(), strict=True))

    return {origin: keyed(to) if isinstance(to, dict) else to for origin, to in keyed(costs).items()}
