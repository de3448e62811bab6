"""Models without preprocessing: columns by name or place, categories by the model's own codes, as the libraries take them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from groves import features_for, reading
from tippingpoint.data.frames import read_features
from tippingpoint.errors import ModelError
from tippingpoint.families.trees.columns.model_columns import ModelColumns, model_columns
from tippingpoint.families.trees.reading import TreeReading, Unread

FRAME = pd.DataFrame({"a": [1.5, 2.5, math.nan], "b b": [1, 2, 3], "c": [0.0, 0.5, 1.0]})


def columns(model: TreeReading, data: Any, categories: Any = None) -> ModelColumns:
    found = model_columns(None, model, read_features(data, categories))
    assert isinstance(found, ModelColumns), found
    return found


def reason(model: TreeReading, data: Any, categories: Any = None) -> str:
    found = model_columns(None, model, read_features(data, categories))
    assert isinstance(found, Unread)
    return found.reason


@pytest.mark.parametrize("library", ["XGBoost", "LightGBM"])
def test_boosters_find_columns_by_name(library: str) -> None:
    names = ("c", "b_b", "a") if library == "LightGBM" else ("c", "b b", "a")
    found = columns(reading(3, library, names), FRAME.assign(more=1.0))
    assert found.source.tolist() == [2, 1, 0]
    assert found.rises.tolist() == [1, 1, 1]
    np.testing.assert_array_equal(found.values(read_features(FRAME).x), FRAME[["c", "b b", "a"]])


def test_a_name_with_an_underscore_of_its_own_stays() -> None:
    data = FRAME.rename(columns={"a": "b_b"})
    assert columns(reading(2, "LightGBM", ("b_b", "c")), data).source.tolist() == [0, 2]


def test_columns_of_arrays_and_of_models_without_names_go_by_place() -> None:
    assert columns(reading(3, "XGBoost", ("c", "b", "a")), FRAME.to_numpy()).source.tolist() == [0, 1, 2]
    assert columns(reading(3, "LightGBM"), FRAME).source.tolist() == [0, 1, 2]
    assert reason(reading(2, "LightGBM"), FRAME) == "it takes 2 columns, and X has 3"
    assert reason(reading(4, "XGBoost", tuple("abcd")), FRAME.to_numpy()) == "it takes 4 columns, and X has 3"


def test_absent_columns_are_named() -> None:
    assert reason(reading(2, "XGBoost", ("a", "b_b")), FRAME) == "it takes a column 'b_b', which X does not have"


def test_scikit_learn_insists_on_the_order_unless_it_encodes_categories() -> None:
    names = tuple(FRAME.columns)
    assert columns(reading(3, names=names), FRAME).source.tolist() == [0, 1, 2]
    clause = "it takes just the columns 'a', 'b b', 'c', in this order"
    assert reason(reading(3, names=names), FRAME[["c", "a", "b b"]]) == clause
    assert reason(reading(3, names=names), FRAME.assign(more=1.0)) == clause
    encoding = reading(3, names=names, categories={1: (1, 2, 3)})
    assert columns(encoding, FRAME[["c", "a", "b b"]], {"b b": [1, 2, 3]}).source.tolist() == [1, 2, 0]


def test_the_cuts_of_raw_columns_are_the_thresholds() -> None:
    found = columns(reading(3), FRAME)
    edges = np.array([3.0, -1e300, math.inf, -math.inf, 0.1])
    np.testing.assert_array_equal(found.cuts(0, edges), edges)
    assert np.isinf(found.lower).all()
    assert not found.missing_beyond.any()


CITIES = pd.DataFrame({"city": ["B", "A", None, "C"], "n": [1.0, 2.0, 3.0, 4.0]})


@pytest.mark.parametrize("library, unknown", [("scikit-learn", math.nan), ("LightGBM", -1.0)])
def test_categories_have_the_codes_of_the_model(library: str, unknown: float) -> None:
    model = reading(2, library, ("city", "n"), {0: ("B", "Z", "A")})
    found = columns(model, CITIES)
    assert found.rises.tolist() == [0, 1]
    np.testing.assert_array_equal(found.values(read_features(CITIES).x)[:, 0], [0.0, 2.0, math.nan, unknown])
    assert not found.refused


def test_categories_that_xgboost_does_not_know_are_refused() -> None:
    model = reading(2, "XGBoost", ("city", "n"), {0: ("B", "A")})
    assert reason(model, CITIES) == "it fails on city='C'"
    some, categories = CITIES[:3], {"city": ["A", "B", "C"]}
    found = columns(model, some, categories)
    assert {j: mask.tolist() for j, mask in found.refused.items()} == {0: [False, False, True, False]}
    x = read_features(some, categories).x
    np.testing.assert_array_equal(found.values(x)[:, 0], [0.0, 1.0, math.nan])
    turned = columns(reading(2, "XGBoost", ("city", "n"), {0: ("C", "B")}), some[[True, False, True]], categories)
    assert turned.refused[0].tolist() == [True, False, False, False]  # what is missing is not the first category
    x[0, 0] = 2.0
    with pytest.raises(ModelError, match=r"^the model fails on city='C'; restrict what may move with a Space\.$"):
        found.values(x)


def test_numbers_and_text_are_one_category_to_boosters_and_two_to_scikit_learn() -> None:
    data = pd.DataFrame({"code": [3, 1, 2]})
    categories = {"code": [1, 2, 3]}
    for known in (("3", "1"), (3.0, 1.0), (3, 1)):
        found = columns(reading(1, "LightGBM", ("code",), {0: known}), data, categories)
        assert found.values(read_features(data, categories).x)[:, 0].tolist() == [0.0, 1.0, -1.0]
    found = columns(reading(1, "scikit-learn", ("code",), {0: ("3", "1")}), data, categories)
    assert np.isnan(found.values(read_features(data, categories).x)).all()


def test_codes_that_the_model_has_no_names_for_are_the_numbers_themselves() -> None:
    data = np.array([[5.0, 0.5], [0.0, 1.5], [2.0, 2.5]])
    found = columns(reading(2, "LightGBM"), data, {"x0": [0.0, 2.0, 5.0]})
    assert found.rises.tolist() == [0, 1]
    np.testing.assert_array_equal(found.values(read_features(data, {"x0": [0.0, 2.0, 5.0]}).x), data)


def test_text_without_names_in_the_model_is_not_read() -> None:
    assert reason(reading(2, "XGBoost", ("city", "n")), CITIES) == "it fails on city='B'"


def test_numbers_that_the_model_takes_for_categories_are_translated() -> None:
    data = np.array([[3.0], [7.0], [math.nan], [4.0]])
    found = columns(reading(1, categories={0: (7.0, 3.0)}), data)
    assert found.rises.tolist() == [0]
    np.testing.assert_array_equal(found.values(data)[:, 0], [1.0, 0.0, math.nan, math.nan])
    assert reason(reading(1, "XGBoost", categories={0: (7.0, 3.0)}), data) == "it fails on x0='4'"


def test_polars_frames_go_by_name() -> None:
    polars = pytest.importorskip("polars")
    data = polars.DataFrame({"city": ["B", "A", None], "n": [1, 2, 3]})
    found = columns(reading(2, "XGBoost", ("n", "city"), {1: ("A", "B")}), data)
    assert found.source.tolist() == [1, 0]
    np.testing.assert_array_equal(found.values(read_features(data).x), [[1.0, 1.0], [2.0, 0.0], [3.0, math.nan]])


@pytest.mark.parametrize("library", ["XGBoost", "LightGBM", "scikit-learn"])
def test_values_are_what_the_library_itself_sees(library: str) -> None:
    """Ensembles of one split on each category: the code decides, so the scores tell it."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"job": rng.choice(["nurse", "cook", "clerk"], 300), "n": rng.normal(size=300)})
    y = data["job"].map({"nurse": 0.0, "cook": 5.0, "clerk": 9.0}).to_numpy()
    given = data.astype({"job": "category"})
    if library == "XGBoost":
        model = pytest.importorskip("xgboost").XGBRegressor(n_estimators=20, enable_categorical=True).fit(given, y)
    elif library == "LightGBM":
        model = pytest.importorskip("lightgbm").LGBMRegressor(n_estimators=20, verbose=-1, min_child_samples=2).fit(given, y)
    else:
        from sklearn.ensemble import HistGradientBoostingRegressor

        model = HistGradientBoostingRegressor(max_iter=20, categorical_features="from_dtype").fit(given, y)
    features = features_for(model, given)
    known = tuple(features.columns[0].categories)
    assert known == ("clerk", "cook", "nurse")
    found = model_columns(None, reading(2, library, ("job", "n"), {0: known}), features)
    assert isinstance(found, ModelColumns)
    codes = found.values(features.x)[:, 0]
    typical = {code: np.median(np.asarray(model.predict(given))[codes == code]) for code in range(3)}
    assert [round(float(typical[code]) / 4.0) for code in range(3)] == [2, 1, 0]
