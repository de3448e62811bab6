"""The sensitive distribution as a frame: the same columns for samples in memory and in partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tippingpoint.data.columns import Column
from tippingpoint.data.frames import build_frame

NUMBERS = ("weight", "share", "mass", "loss_before", "loss", "cost")
"""Of an atom, in the order of a frame."""


def frame_of(row: Any, numbers: Mapping[str, Any], places: Mapping[str, Any], columns: Sequence[Column], backend: str) -> Any:
    """Atoms as a frame: the row that each belongs to, its numbers, then every feature under its own name."""
    shown: dict[str, Any] = {"row": row, **{name: numbers[name] for name in NUMBERS}}
    held = {column.name: column for column in columns}
    for name, values in places.items():
        heading = name
        while heading in shown:  # what is ours comes first, and no feature takes another's place
            heading = f"feature:{heading}"
        shown[heading] = held[name].decoded(values) if name in held else values
    return build_frame(shown, backend)
