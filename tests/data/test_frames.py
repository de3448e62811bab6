"""Frames are read into numbers, and numbers turn back into rows that a model knows."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from shop import FRAMES, shop
from tippingpoint.data.frames import read_features

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize("backend", FRAMES)
def test_what_is_read_is_missing_where_it_was_and_turns_back_into_itself(backend: str) -> None:
    frame = FRAMES[backend]()
    features = read_features(frame)
    gaps = {"price": 2, "staff": 1, "listed": 1, "rate": 2, "size": 3, "town": 2}
    for j, column in enumerate(features.columns):
        held = np.flatnonzero(np.isnan(features.x[:, j])).tolist()
        assert held == ([gaps[column.name]] if column.name in gaps else [])
        back = column.decoded(features.x[:, j])
        assert type(frame)({column.name: back})[column.name].equals(frame[column.name]), column.name
    assert [column.ordered for column in features.columns if column.name in ("size", "town")] == [True, False]


def test_polars_categories_without_a_list_are_those_held() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"town": polars.Series(["York", "Bath", "York"], dtype=polars.Categorical)})
    features = read_features(frame)
    assert features.columns[0].categories == ("Bath", "York")
    assert features.columns[0].decoded(features.x[:, 0]).dtype == polars.Categorical


@pytest.mark.parametrize("kind", ["int64", "uint64", "int8"])
def test_whole_numbers_that_are_too_large_for_their_type_stay_the_numbers_that_they_are(kind: str) -> None:
    column = read_features(pd.DataFrame({"count": np.array([1, 2], dtype=kind)})).columns[0]
    for numbers in ([1e300, -1e25], [2.0**63, 1.0], [-(2.0**64), 0.0]):
        assert [float(value) for value in column.decoded(np.array(numbers))] == numbers
    assert column.decoded(np.array([3.0, 4.0])).dtype == kind


def test_rows_are_rebuilt_for_the_model_with_the_types_that_it_knows() -> None:
    """Also where the frame's labels repeat, and where a value is none that the type can hold."""
    frame = shop().set_axis(["a", "b", "a", "a"])
    features = read_features(frame)
    moved = features.x[[0, 2, 0]].copy()
    moved[:, [1, 2, 7, 8]] = [[9.0, 0.0, 2.0, 0.0], [4.0, 1.0, 0.0, NAN], [3.0, 0.5, 1.0, 1.0]]
    rows = features.native_at(np.array([0, 2, 0]), moved)
    assert rows["count"].tolist() == [9, 4, 3]
    assert rows["open"].tolist() == [0.0, 1.0, 0.5], "half a boolean is a number"
    assert rows["kind"].tolist() == ["c", "b", "a"]
    assert rows["kind"].dtype == frame["kind"].dtype
    assert rows["town"].isna().tolist() == [False, True, False]
    assert rows["staff"].dtype == "Int64"
    assert list(rows.index) == ["a", "a", "a"]
    assert features.native_at(np.array([1]), features.x[[1]]).equals(frame.iloc[[1]])


def test_a_category_that_the_type_of_a_column_lacks_is_added_to_it() -> None:
    frame = pd.DataFrame({"job": pd.Categorical(["cook", "clerk"])})
    features = read_features(frame, {"job": ["cook", "clerk", "smith"]})
    rows = features.native_at(np.array([0, 1]), np.array([[2.0], [1.0]]))
    assert rows["job"].tolist() == ["smith", "clerk"]
    assert list(rows["job"].cat.categories) == ["clerk", "cook", "smith"]
    polars = pytest.importorskip("polars")
    features = read_features(
        polars.from_pandas(frame).cast(polars.Enum(["cook", "clerk"])), {"job": ["cook", "clerk", "smith"]}
    )
    assert features.native_at(np.array([0, 1]), np.array([[2.0], [1.0]]))["job"].to_list() == ["smith", "clerk"]
