"""A frame with a column of every type, in pandas and in polars, and what a menu holds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from tippingpoint.core.arrays import FloatArray
from tippingpoint.space.domain import Menu

NAN = math.nan


def shop() -> pd.DataFrame:
    """A column of every type."""
    return pd.DataFrame(
        {
            "price": [1.5, 2.0, NAN, 4.0],
            "count": [3, 7, 4, 3],
            "open": [True, False, True, True],
            "staff": pd.array([2, None, 5, 3], dtype="Int64"),
            "listed": pd.array([True, None, False, True], dtype="boolean"),
            "rate": pd.array([0.5, 0.25, None, 1.0], dtype="Float64"),
            "size": pd.Categorical(["S", "M", "M", None], ["S", "M", "L"], ordered=True),
            "kind": pd.Categorical(["b", "a", "b", "b"], ["b", "a", "c"]),
            "town": ["York", "Bath", None, "Bath"],
        }
    )


def shop_in_polars() -> Any:
    polars = pytest.importorskip("polars")
    frame = shop()
    plain = {name: [None if pd.isna(value) else value for value in frame[name]] for name in frame}
    return polars.DataFrame(plain).with_columns(
        polars.col("size").cast(polars.Enum(["S", "M", "L"])), polars.col("kind").cast(polars.Enum(["b", "a", "c"]))
    )


FRAMES: dict[str, Callable[[], Any]] = {"pandas": shop, "polars": shop_in_polars}


def held(menu: Menu) -> FloatArray:
    return menu.values  # noqa: PD011  # not those of pandas
