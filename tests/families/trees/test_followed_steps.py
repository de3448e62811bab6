"""Which raw column each of a pipeline's columns is made of, whatever the steps and the kind of data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

from groves import (
    CLASSES,
    check_cuts,
    columns_of,
    everything,
    features_for,
    fitted,
    people,
    reading,
    transformed,
    unread,
)
from tippingpoint.data.frames import read_features
from tippingpoint.families.trees.columns.model_columns import ModelColumns, model_columns

pytestmark = [
    pytest.mark.filterwarnings("ignore:`TargetEncoder.shuffle`:FutureWarning"),  # the seed, by its old name
    pytest.mark.filterwarnings("ignore:n_quantiles:UserWarning"),
]


def test_a_column_transformer_is_followed_into_its_parts() -> None:
    data = people()
    steps = fitted(everything(), data)
    found, features = columns_of(steps, data)
    at = {name: j for j, name in enumerate(data.columns)}
    parts = [("z", 1), ("x", 1), ("z", 1), ("city", 0), ("city", 0), ("job", 0), ("job", 0), ("code", 0)]
    parts += [("x", 1), ("tiny", 1), ("age", 1), ("wage", 1)]
    assert found.source.tolist() == [at[name] for name, _ in parts]
    assert found.rises.tolist() == [rises for _, rises in parts]
    np.testing.assert_array_equal(found.values(features.x), transformed(steps, data))
    for m in np.flatnonzero(found.rises):
        check_cuts(steps, data, found, features, int(m))
    assert not found.refused


def test_columns_are_found_by_name_wherever_they_are() -> None:
    data = people()
    steps = fitted(everything(MinMaxScaler()), data)
    usual, _ = columns_of(steps, data)
    turned = data[data.columns[::-1]].assign(other=1.0)
    found, features = columns_of(steps, turned)
    assert [features.names[j] for j in found.source] == [data.columns[j] for j in usual.source]
    assert found.rises.tolist() == usual.rises.tolist()
    np.testing.assert_array_equal(found.values(features.x), transformed(steps, data))
    check_cuts(steps, turned, found, features, 1)


def test_columns_are_found_by_place_in_arrays_and_by_numbers_slices_and_masks() -> None:
    data = people()[["x", "tiny", "age", "wage"]].to_numpy()
    chosen = [(StandardScaler(), [-1]), (MinMaxScaler(), slice(1, 3)), (RobustScaler(), [True, False, False, False])]
    steps = fitted(make_column_transformer(*chosen), data)
    found, features = columns_of(steps, data)
    assert found.source.tolist() == [3, 1, 2, 0]
    for m in range(4):
        check_cuts(steps, data, found, features, m)


def test_inner_steps_that_return_frames_are_followed_by_place() -> None:
    data = people()[["wage", "age", "x"]]
    first = make_column_transformer((StandardScaler(), ["age"]), remainder="passthrough", verbose_feature_names_out=False)
    second = make_column_transformer((MinMaxScaler(), ["x"]), remainder="passthrough")
    steps = fitted(make_pipeline(first, second).set_output(transform="pandas"), data)
    found, features = columns_of(steps, data)
    assert found.source.tolist() == [2, 1, 0]
    np.testing.assert_array_equal(found.values(features.x), transformed(steps, data))


def test_unions_and_selectors_are_followed() -> None:
    data = people()[["x", "age", "z"]]
    union = make_union(StandardScaler(), make_pipeline(SimpleImputer(), MinMaxScaler()), "passthrough")
    steps = fitted(make_pipeline(union, SimpleImputer(), SelectKBest(k=5), VarianceThreshold()), data)
    found, features = columns_of(steps, data)
    kept = steps[2].get_support()
    assert found.source.tolist() == np.tile([0, 1, 2], 3)[kept].tolist()
    check_cuts(steps, data, found, features, 0)


@pytest.mark.parametrize(
    "encoder, outputs",
    [
        (OneHotEncoder(), [0, 0, 0, 1, 1, 1]),
        (OneHotEncoder(drop="first"), [0, 0, 1, 1]),
        (OneHotEncoder(drop="if_binary"), [0, 0, 0, 1, 1, 1]),
        (OneHotEncoder(drop=["cook", 5]), [0, 0, 1, 1]),
        (OneHotEncoder(max_categories=2), [0, 0, 1, 1]),
        (OneHotEncoder(max_categories=2, drop="first"), [0, 1]),
        (OneHotEncoder(min_frequency=3, handle_unknown="infrequent_if_exist", sparse_output=False), [0, 0, 0, 1, 1, 1]),
        (OrdinalEncoder(max_categories=2), [0, 1]),
        (TargetEncoder(random_state=0), [0, 1]),
    ],
)
def test_encoders_make_columns_of_categories(encoder: Any, outputs: list[int]) -> None:
    data = people()[["job", "code"]]
    steps = fitted(encoder, data)
    found, features = columns_of(steps, data)
    assert found.source.tolist() == outputs
    assert not found.rises.any()
    np.testing.assert_array_equal(found.values(features.x), transformed(steps, data))


def test_a_target_encoder_of_several_classes_makes_a_column_a_class() -> None:
    data = people()[["job", "code"]]
    found, _ = columns_of(fitted(TargetEncoder(random_state=0), data, CLASSES), data)
    assert found.source.tolist() == [0, 0, 0, 1, 1, 1]


def test_encoders_of_numbers_make_menus_of_them() -> None:
    data = people()[["age"]].to_numpy()
    steps = fitted(make_pipeline(StandardScaler(), OrdinalEncoder()), data)
    found, features = columns_of(steps, data)
    assert (found.source.tolist(), found.rises.tolist()) == ([0], [0])
    np.testing.assert_array_equal(found.values(features.x[::-1]), transformed(steps, data[::-1]))
    with pytest.raises(ValueError, match="column 0 of the model neither rises nor falls"):
        found.cuts(0, np.zeros(1))


def test_one_hot_bins_and_curves_are_known_to_be_of_one_column_only() -> None:
    data = people()[["age", "tiny"]]
    bins = fitted(KBinsDiscretizer(4, encode="onehot"), data)
    curve = fitted(FunctionTransformer(np.square), data)
    assert columns_of(bins, data)[0].source.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    for steps in (bins, curve):
        assert not columns_of(steps, data)[0].rises.any()


def test_indicators_are_of_the_column_in_which_something_is_missing() -> None:
    data = people()[["x", "z"]]
    found, features = columns_of(fitted(make_union(MissingIndicator(), SimpleImputer(add_indicator=True)), data), data)
    assert found.source.tolist() == [1, 0, 1, 1]
    assert found.rises.tolist() == [1, 1, 1, 1]
    assert np.isposinf(found.cuts(0, np.array([0.5]))).all()  # no number is a missing one
    assert np.isneginf(found.cuts(0, np.array([-0.5]))).all()
    gaps = np.isnan(features.x[:, 1])
    np.testing.assert_array_equal(found.values(features.x)[:, 0] == 1.0, gaps)


def test_columns_that_were_empty_are_dropped_or_kept_as_the_imputer_does() -> None:
    data = people()[["x", "z", "age"]].assign(z=np.nan)
    assert columns_of(fitted(SimpleImputer(), data), data)[0].source.tolist() == [0, 2]
    assert columns_of(fitted(SimpleImputer(keep_empty_features=True), data), data)[0].source.tolist() == [0, 1, 2]


def test_an_imputer_of_a_number_turns() -> None:
    data = people()[["age", "code"]].to_numpy(dtype=float)
    steps = fitted(SimpleImputer(missing_values=5.0, strategy="constant", fill_value=-7.0, add_indicator=True), data)
    found, _ = columns_of(steps, data)
    assert not found.rises.any()


def test_whole_numbers_and_booleans_are_the_same_beside_others_that_are_not() -> None:
    data = people()[["age", "flag", "code"]].astype({"code": "Int64"})
    steps = fitted(make_pipeline(StandardScaler(), MinMaxScaler()), data)
    found, features = columns_of(steps, data)
    mixed = np.vstack((features.x[:3], features.x[:1] + 0.25, [[1e300, 0.0, -1e25]]))
    together = found.values(mixed, np.zeros(5, dtype=np.intp))
    singly = np.vstack([found.values(row[None], np.zeros(1, dtype=np.intp)) for row in mixed])
    np.testing.assert_array_equal(together, singly)
    for m in range(3):
        check_cuts(steps, data.astype({"code": "int64", "flag": "float64"}), found, features, m)


def test_float32_that_other_rows_turn_into_float64_is_refused() -> None:
    data = people()[["wage", "age"]].astype(np.float32)
    assert "of float32: pass float64" in unread(fitted(StandardScaler(), data), data)
    plain = fitted(make_column_transformer(("passthrough", ["wage", "age"])), data)
    found, features = columns_of(plain, data)
    check_cuts(plain, data.astype(float), found, features, 0)


def test_polars_frames_are_served() -> None:
    polars = pytest.importorskip("polars")
    data = people()[["x", "age", "job"]]
    steps = fitted(make_column_transformer((StandardScaler(), ["age", "x"]), (OrdinalEncoder(), ["job"])), data)
    found, features = columns_of(steps, polars.DataFrame(data.to_dict("list")))
    assert found.source.tolist() == [1, 0, 2]
    assert found.rises.tolist() == [1, 1, 0]
    np.testing.assert_array_equal(found.values(features.x), transformed(steps, data))
    for m in range(2):
        check_cuts(steps, data, found, features, m)


def test_categories_that_the_model_itself_encodes_behind_a_pipeline_have_its_codes() -> None:
    data = people()[["job", "age"]]
    steps = fitted(make_column_transformer((OrdinalEncoder(), ["job"]), remainder="passthrough"), data)
    known = {0: (0.0, 2.0)}  # as of a HistGradientBoosting that never saw a cook
    found = model_columns(steps, reading(2, categories=known), features_for(steps, data))
    assert isinstance(found, ModelColumns)
    codes = found.values(features_for(steps, data).x)[:, 0]
    for job, code in (("clerk", 0.0), ("nurse", 1.0), ("cook", math.nan)):
        np.testing.assert_array_equal(codes[data["job"] == job], code)
    assert unread(steps, data, library="XGBoost", categories=known) == "its preprocessing fails on job='cook'"


def test_numbers_that_the_model_takes_for_categories_behind_a_pipeline_neither_rise_nor_fall() -> None:
    data = people()[["x", "code"]].to_numpy()
    steps = fitted(make_column_transformer((StandardScaler(), [0]), remainder="passthrough"), data)
    found = model_columns(steps, reading(2, categories={1: (5.0, 1.0)}), read_features(data))
    assert isinstance(found, ModelColumns)
    assert found.rises.tolist() == [1, 0]
    codes = {5.0: 0.0, 1.0: 1.0, 2.0: math.nan}
    np.testing.assert_array_equal(found.values(data)[:, 1], [codes[code] for code in data[:, 1]])


def test_frames_of_categories_out_of_a_pipeline_have_the_codes_of_the_model() -> None:
    data = people()[["x", "job"]].astype({"job": "category"})
    chosen = make_column_transformer((StandardScaler(), ["x"]), remainder="passthrough").set_output(transform="pandas")
    steps = fitted(chosen, data)
    features = read_features(data)
    found = model_columns(steps, reading(2, "LightGBM", categories={1: ("nurse", "clerk")}), features)
    assert isinstance(found, ModelColumns)
    codes = found.values(features.x)[:, 1]
    for job, code in (("nurse", 0.0), ("clerk", 1.0), ("cook", -1.0)):
        np.testing.assert_array_equal(codes[data["job"] == job], code)
    assert found.rises.tolist() == [1, 0]


def test_rows_are_the_samples_that_are_said() -> None:
    data = people()
    steps = fitted(everything(), data)
    found, features = columns_of(steps, data)
    rows = np.array([7, 3, 90])
    np.testing.assert_array_equal(found.values(features.x[rows], rows), transformed(steps, data)[rows])
    np.testing.assert_array_equal(found.values(features.x[rows]), transformed(steps, data)[rows])
    assert found.values(features.x[:0]).shape == (0, len(found.source))
