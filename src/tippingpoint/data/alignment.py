"""Which rows belong together: labels of pandas indices, matched or refused, never passed over."""

from __future__ import annotations

from typing import Any

from tippingpoint.errors import InputError

BY_PLACE = "rows are named by their position"
"""Part of the note on rows that share labels."""


def repeated_labels(data: Any) -> str | None:
    """A note where rows of a pandas frame share labels; None where every row has its own."""
    labels = getattr(data, "index", None)
    if labels is None or getattr(labels, "is_unique", True):
        return None
    return f"the index of X holds {labels[labels.duplicated()].tolist()[0]!r} more than once, so {BY_PLACE}"


def in_rows_of(data: Any, values: Any, name: str) -> tuple[Any, str | None]:
    """A pandas series in the order of the rows of a pandas frame, and a note where that was another; all else as it is.

    A fresh index (0, 1, 2, …) beside one with labels says that one of the two was renumbered, so labels do not tell which rows
    belong together; it is refused as labels are that differ.
    """
    import pandas as pd

    rows, own = getattr(data, "index", None), getattr(values, "index", None)
    if not (isinstance(rows, pd.Index) and isinstance(own, pd.Index)) or len(rows) != len(own) or rows.equals(own):
        return values, None
    differ = [at for at, (mine, its) in enumerate(zip(rows.tolist(), own.tolist(), strict=True)) if mine != its]
    if not differ:
        return values, None
    fresh = any(labels.equals(pd.RangeIndex(len(labels))) for labels in (rows, own))
    if fresh or not (rows.is_unique and own.is_unique) or set(rows.tolist()) != set(own.tolist()):
        mine, its = rows.tolist()[differ[0]], own.tolist()[differ[0]]
        raise InputError(
            f"the index of {name} is not that of X: row {differ[0]} is {mine!r} in X and {its!r} in {name}; pass"
            f" {name}.loc[X.index] to go by labels, or {name}.to_numpy() if both are in the same order."
        )
    return values.iloc[own.get_indexer(rows)], f"{name} was put in the order of the rows of X, by the labels of its index"
