"""Values of a column, written as text on the command line or as keys of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def as_values(texts: Sequence[str], column: Any) -> list[Any]:
    """Each text as the value of the column that is written so, or as one of its type; as text where it is neither."""
    written = {str(value): value for value in column.dropna().unique().tolist()}
    numeric = column.dtype.kind in "iuf"
    return [written.get(text, _number(text, written) if numeric else text) for text in texts]


def _number(text: str, written: dict[str, Any]) -> Any:
    """A number that is written in another way, or not there; `1` where the column has 1.0."""
    try:
        value = float(text)
    except ValueError:
        return text
    whole = int(value) if value.is_integer() else value
    return next((each for each in written.values() if each == value), whole)
