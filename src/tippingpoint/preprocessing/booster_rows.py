"""Rows as Boosters of XGBoost and LightGBM take them: their columns in their order, their categories as they know them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tippingpoint.preprocessing.categories import as_trained, booster_names, native_categories

Rows = Any
"""A data frame or an array."""


class BoosterRows:
    """What a booster takes of rows.

    Attributes
    ----------
    names
        Of the columns that it was trained on; None where they had no names.
    """

    def __init__(self, booster: Any, columns: Sequence[str] = ()) -> None:
        """Of frames with these columns; arrays have none."""
        self.names: tuple[str, ...] | None = booster_names(booster, columns)
        self._booster = booster
        self._known = native_categories(booster, columns)

    def frame(self, rows: Rows) -> Any:
        """A pandas frame of the booster's columns; None where rows have no names."""
        if not hasattr(rows, "columns"):
            return None
        return columns_named(as_trained(_as_pandas(rows), self._known), self.names)

    def matrix(self, rows: Rows) -> Any:
        """XGBoost's own matrix, with the names that the booster knows or none."""
        import xgboost as library

        frame, types = self.frame(rows), self._booster.feature_types
        if frame is None:
            names = self._booster.feature_names
            return library.DMatrix(rows, feature_names=names, feature_types=types, enable_categorical=True)
        if self.names is None:
            return library.DMatrix(frame.to_numpy(dtype=float), feature_types=types, enable_categorical=True)
        return library.DMatrix(frame, enable_categorical=True)


def booster_rows(booster: Any) -> Callable[[Rows], BoosterRows]:
    """How a booster takes rows, by their columns."""
    return _ByColumns(booster, {})


@dataclass(frozen=True)
class _ByColumns:
    """What was found out of frames with the same columns is remembered."""

    booster: Any
    known: dict[tuple[str, ...], BoosterRows] = field(repr=False, compare=False)

    def __call__(self, rows: Rows) -> BoosterRows:
        columns = tuple(map(str, getattr(rows, "columns", ())))
        if columns not in self.known:
            self.known[columns] = BoosterRows(self.booster, columns)
        return self.known[columns]


def columns_named(frame: Any, names: Sequence[str] | None) -> Any:
    """The columns of a frame with these names, which are texts, whatever the frame's are; all where there are no names."""
    named = {str(column): column for column in frame.columns}
    if names is None or tuple(names) == tuple(named):
        return frame
    return frame[[named.get(name, name) for name in names]]


def _as_pandas(rows: Rows) -> Any:
    """A frame of any kind as pandas', column by column."""
    import narwhals as nw
    import pandas as pd

    if isinstance(rows, pd.DataFrame):
        return rows
    frame = nw.from_native(rows, eager_only=True)
    return pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
