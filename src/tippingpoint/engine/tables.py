"""A table of a partition, taken apart: features, the column of labels, the column of weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from tippingpoint.data.alignment import in_rows_of
from tippingpoint.data.frames import read_frame
from tippingpoint.engine.partitions import Part
from tippingpoint.errors import InputError, listed


@dataclass(frozen=True)
class Cut:
    """Which columns are what.

    Attributes
    ----------
    y, weight
        Names of the columns of labels and of weights; None where they come beside the table.
    columns
        The features, in order; None for all other columns.
    """

    y: str | None
    weight: str | None
    columns: tuple[str, ...] | None = None

    def features(self, names: Sequence[str]) -> list[str]:
        """The features among these columns; an error for names that are none of them."""
        for argument, name in (("y", self.y), ("sample_weight", self.weight)):
            if name is not None and name not in names:
                raise unknown_column(argument, name, names)
        if self.columns is None:
            return [name for name in names if name not in (self.y, self.weight)]
        for name in self.columns:
            if name not in names:
                raise unknown_column("columns", name, names)
        return list(self.columns)

    def part(self, table: Any, y: Any = None, weight: Any = None) -> Part:
        """The rows of a table; labels and weights in columns of their own take precedence over none."""
        import narwhals as nw

        frame = read_frame(table, "X")
        if not isinstance(frame, nw.DataFrame):
            return Part(table, y, weight)
        place = {str(name): name for name in frame.columns}
        if not frame.columns and not len(frame):  # nothing at all, wherever it comes from
            return Part(table, y, weight)
        chosen = [place[name] for name in self.features(list(place))]
        y, moved = in_rows_of(table, y, "y")
        weight, weighed = in_rows_of(table, weight, "sample_weight")
        y = y if self.y is None else frame[place[self.y]].to_native()
        weight = weight if self.weight is None else frame[place[self.weight]].to_native()
        notes = tuple(note for note in (moved, weighed) if note is not None)
        x = frame.select(*chosen).to_native() if chosen != list(frame.columns) else table
        return Part(_numbered(x), y, weight, notes)


def split_off(data: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Any, Any]:
    """A frame without its columns of labels and of weights, and these, if they are given by name; all else as it is."""
    import narwhals as nw

    given = {"y": y, "sample_weight": sample_weight}
    names = {argument: value for argument, value in given.items() if isinstance(value, str)}
    if not names:
        return data, y, sample_weight
    frame = read_frame(data, "X")
    if not isinstance(frame, nw.DataFrame):
        argument, name = next(iter(names.items()))
        raise InputError(
            f"{argument}={name!r} names a column, and X is a {type(data).__name__}. Give one value per row, or X as a frame."
        )
    place = {str(name): name for name in frame.columns}
    chosen = Cut(names.get("y"), names.get("sample_weight")).features(list(place))
    given.update({argument: frame[place[name]].to_native() for argument, name in names.items()})
    return frame.select(*(place[name] for name in chosen)).to_native(), given["y"], given["sample_weight"]


def unknown_column(argument: str, name: str, names: Sequence[str]) -> InputError:
    """The error for the name of a column that is not there, with the nearest that are."""
    near = get_close_matches(name, names, 3, 0.6)
    which = f"the nearest {'is' if len(near) == 1 else 'are'} {listed(near)}" if near else f"the columns are {listed(names)}"
    return InputError(f"{argument}={name!r} is not a column; {which}.")


def named_column(argument: str, given: Any, what: str) -> str:
    """The name of a column, or an error that says that one is needed."""
    if isinstance(given, str):
        return given
    shown = "None" if given is None else f"a {type(given).__name__}"
    raise InputError(f"{argument} is {shown}, but X is {what}; give the name of its column, as {argument}='label'.")


def _numbered(frame: Any) -> Any:
    """A pandas frame with its rows numbered from 0: messages name a row of a partition by its number."""
    if not (hasattr(frame, "reset_index") and hasattr(frame, "index")):
        return frame
    import pandas as pd

    index = frame.index
    numbered = isinstance(index, pd.RangeIndex) and (index.start, index.step, index.name) == (0, 1, None)
    return frame if numbered else frame.reset_index(drop=True)  # which copies
