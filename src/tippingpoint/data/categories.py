"""Which columns hold categories, and which: by what a model encodes, what a user lists, and what a column's type declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from tippingpoint.data.columns import categories_are_numbers, declared_categories, in_order, plain
from tippingpoint.data.frames import read_frame
from tippingpoint.data.vectors import as_array


def category_columns(
    data: Any, encoded: Mapping[str, Sequence[Any]], listed: Mapping[str, Sequence[Any]]
) -> dict[str, Sequence[Any]]:
    """Which columns of the data `read_features` is to read as categories, and as which.

    Parameters
    ----------
    data
        A frame or an array.
    encoded
        Columns that a model encodes, and the categories that it knows; values of the data that it does not are added.
    listed
        Categories that the user lists, which takes precedence. Numbers that nothing encodes stay numbers all the same.
    """
    import narwhals as nw

    if not encoded and not listed:
        return {}
    frame, found = read_frame(data, "X"), dict[str, Sequence[Any]]()
    if isinstance(frame, nw.DataFrame):
        for name, series in zip(map(str, frame.columns), frame.iter_columns(), strict=True):
            if name in listed and (name in encoded or not (series.dtype.is_numeric() or series.dtype == nw.Boolean)):
                found[name] = list(listed[name])
            elif name in encoded and name not in listed:
                found[name] = joined(declared_categories(series)[0], encoded[name], series.unique().to_list())
    elif np.ndim(data) == 2:
        for j, held in enumerate(as_array(data, "X").T):
            if (name := f"x{j}") in encoded:
                found[name] = list(listed[name]) if name in listed else joined(None, encoded[name], np.unique(held))
    return found


def stored_values(data: Any, names: Iterable[str]) -> dict[str, Sequence[Any]]:
    """The categories of these columns of text, objects or a categorical type, in order; other columns are left out."""
    import narwhals as nw

    wanted, frame = set(names), read_frame(data, "X")
    if not wanted or not isinstance(frame, nw.DataFrame):
        return {}
    found = dict[str, Sequence[Any]]()
    for series in frame.iter_columns():
        if str(series.name) not in wanted:
            continue
        if categories_are_numbers(series):
            found[str(series.name)] = joined(declared_categories(series)[0], (), series.unique().to_list())
        elif isinstance(series.dtype, (nw.String, nw.Object)):
            with suppress(TypeError):  # values that cannot be hashed, which are refused where they are read
                found[str(series.name)] = in_order(dict.fromkeys(plain(series.to_list())))
    return found


def joined(declared: Sequence[Any] | None, known: Sequence[Any], held: Iterable[Any]) -> list[Any]:
    """The categories that a type declares or a model knows, in their order, and after them those of the data besides."""
    return list(dict.fromkeys([*plain(declared or ()), *plain(known), *in_order(plain(held))]))
