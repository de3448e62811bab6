"""Model columns taken back to raw ones: every claim is checked through the user's own pipeline, called by the test itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from groves import (
    NUMBERS,
    check_cuts,
    columns_of,
    fitted,
    people,
    transformed,
    with_column,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:`TargetEncoder.shuffle`:FutureWarning"),  # the seed, by its old name
    pytest.mark.filterwarnings("ignore:n_quantiles:UserWarning"),
]


RISING: dict[str, Any] = {
    "standard": StandardScaler(),
    "mean only": StandardScaler(with_std=False),
    "deviation only": StandardScaler(with_mean=False),
    "min-max": MinMaxScaler((-3, 5)),
    "clipped": MinMaxScaler(clip=True),
    "max-abs": MaxAbsScaler(),
    "robust": RobustScaler(),
    "range only": RobustScaler(with_centering=False),
    "quantiles": QuantileTransformer(n_quantiles=30),
    "normal quantiles": QuantileTransformer(n_quantiles=30, output_distribution="normal"),
    "power": PowerTransformer(),
    "plain power": PowerTransformer(standardize=False),
    "bins": KBinsDiscretizer(5, encode="ordinal"),
    "binarizer": Binarizer(threshold=0.5),
    "imputer": SimpleImputer(),
    "identity": FunctionTransformer(),
    "cube root": FunctionTransformer(np.cbrt),
    "floor": FunctionTransformer(np.floor),
    "arsinh": FunctionTransformer(np.arcsinh),
    "passthrough": Pipeline([("nothing", "passthrough")]),
    "no step": Pipeline([("nothing", None)]),
    "twice": make_pipeline(StandardScaler(), MinMaxScaler()),
    "nested": make_pipeline(make_pipeline(RobustScaler(), PowerTransformer()), StandardScaler()),
}


@pytest.mark.parametrize("name", RISING)
@pytest.mark.parametrize("kind", ["pandas", "array"])
def test_a_step_that_rises_is_cut_where_it_passes_a_threshold(name: str, kind: str) -> None:
    data = people()[NUMBERS] if kind == "pandas" else people()[NUMBERS].to_numpy()
    steps = fitted(RISING[name], data)
    found, features = columns_of(steps, data)
    assert found.source.tolist() == [0, 1, 2]
    assert found.rises.tolist() == [1, 1, 1]
    assert np.isneginf(found.lower).all()
    assert np.isposinf(found.upper).all() or "power" in name
    np.testing.assert_array_equal(found.values(features.x), transformed(steps, data))
    for m in range(3):
        check_cuts(steps, data, found, features, m)


def upside_down(step: Any) -> Any:
    step.scale_ = -step.scale_
    return step


FALLING: dict[str, Any] = {
    "negative": lambda data: fitted(FunctionTransformer(np.negative), data),
    "standard": lambda data: upside_down(fitted(StandardScaler(), data)),
    "min-max": lambda data: upside_down(fitted(MinMaxScaler(), data)),
    "robust": lambda data: upside_down(fitted(RobustScaler(), data)),
    "weights": lambda data: fitted(
        ColumnTransformer([("a", "passthrough", [0, 1, 2])], transformer_weights={"a": -2.0}, sparse_threshold=0), data
    ),
    "union": lambda data: fitted(FeatureUnion([("a", "passthrough")], transformer_weights={"a": -2.0}), data),
}


@pytest.mark.parametrize("name", FALLING)
def test_a_step_that_falls_is_cut_the_other_way_round(name: str) -> None:
    data = people()[NUMBERS].to_numpy()
    steps = FALLING[name](data)
    found, features = columns_of(steps, data)
    assert found.rises.tolist() == [-1, -1, -1]
    for m in range(3):
        cuts = check_cuts(steps, data, found, features, m)
        assert np.isfinite(cuts[:12]).all()


def test_two_falls_make_a_rise() -> None:
    data = people()[NUMBERS].to_numpy()
    steps = fitted(make_pipeline(FunctionTransformer(np.negative), StandardScaler(), FunctionTransformer(np.negative)), data)
    found, features = columns_of(steps, data)
    assert found.rises.tolist() == [1, 1, 1]
    check_cuts(steps, data, found, features, 0)


def test_all_columns_and_thresholds_share_a_few_calls() -> None:
    data = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 30)), columns=[f"n{j}" for j in range(30)])
    steps = fitted(make_column_transformer((StandardScaler(), list(data.columns))), data)
    found, _ = columns_of(steps, data)
    calls, honest = [0], steps.transform

    def counted(rows: Any) -> Any:
        calls[0] += 1
        return honest(rows)

    steps.transform = counted
    rng = np.random.default_rng(1)
    thresholds = {m: rng.normal(size=100) for m in range(30)}
    cuts = found.all_cuts(thresholds)
    assert calls[0] <= 20
    means, scales = steps.named_transformers_["standardscaler"].mean_, steps.named_transformers_["standardscaler"].scale_
    for m in range(30):
        np.testing.assert_allclose(cuts[m], thresholds[m] * scales[m] + means[m], rtol=0.0, atol=1e-14)
        assert ((cuts[m] - means[m]) / scales[m] <= thresholds[m]).all()
        assert ((np.nextafter(cuts[m], math.inf) - means[m]) / scales[m] > thresholds[m]).all()


def test_cuts_come_back_in_the_order_of_the_thresholds_and_none_of_none() -> None:
    data = people()[NUMBERS].to_numpy()
    found, _ = columns_of(fitted(StandardScaler(), data), data)
    thresholds = np.array([0.5, -0.5, 0.5, math.inf, -math.inf])
    cuts = found.cuts(1, thresholds)
    assert cuts[0] == cuts[2] > cuts[1]
    assert cuts[3:].tolist() == [math.inf, -math.inf]
    assert len(found.cuts(2, np.zeros(0))) == 0
    together = found.all_cuts({2: thresholds[:2], 1: thresholds, 0: np.zeros(0)})
    np.testing.assert_array_equal(together[1], cuts)
    np.testing.assert_array_equal(together[2], found.cuts(2, thresholds[:2]))


LIMITED: dict[str, tuple[Any, float, bool]] = {
    "log": (FunctionTransformer(np.log), 0.0, True),
    "log1p": (FunctionTransformer(np.log1p), -1.0, True),
    "log2": (FunctionTransformer(np.log2), 0.0, True),
    "log10": (FunctionTransformer(np.log10), 0.0, True),
    "sqrt": (FunctionTransformer(np.sqrt), 0.0, True),
    "box-cox": (PowerTransformer("box-cox"), 5e-324, False),
}


@pytest.mark.parametrize("name", LIMITED)
def test_where_a_function_ends_is_said(name: str) -> None:
    step, lower, missing = LIMITED[name]
    data = people()[["wage", "age"]].astype(float)
    steps = fitted(step, data)
    found, features = columns_of(steps, data)
    assert found.rises.tolist() == [1, 1]
    assert found.lower.tolist() == [lower, lower]
    assert np.isposinf(found.upper).all()
    assert found.missing_beyond.tolist() == [[missing, False]] * 2
    for m in range(2):
        check_cuts(steps, data, found, features, m)


def test_where_a_function_of_scaled_numbers_ends_is_found() -> None:
    data = people()[["x", "tiny"]]
    steps = fitted(make_pipeline(StandardScaler(), FunctionTransformer(np.expm1), FunctionTransformer(np.log1p)), data)
    found, features = columns_of(steps, data)
    assert found.rises.tolist() == [1, 1]
    limited = fitted(make_pipeline(MinMaxScaler((1, 2)), FunctionTransformer(np.sqrt)), data)
    found, features = columns_of(limited, data)
    for j, name in enumerate(data.columns):
        edge = float(found.lower[j])
        assert data[name].min() - 1.1 * np.ptp(data[name]) < edge < data[name].min()
        seen = transformed(limited, with_column(data, name, np.array([np.nextafter(edge, -math.inf), edge])))[:, j]
        assert np.isnan(seen).tolist() == [True, False]
        check_cuts(limited, data, found, features, j)


def test_a_scaler_that_fails_on_infinite_numbers_ends_the_reach() -> None:
    data = people()[["wage", "age"]]
    steps = fitted(make_pipeline(FunctionTransformer(np.exp), StandardScaler()), data)
    found, features = columns_of(steps, data)
    assert found.rises.tolist() == [1, 1]
    assert found.upper.tolist() == pytest.approx([math.log(np.finfo(float).max)] * 2)
    assert not found.missing_beyond.any()
    assert np.isneginf(found.lower).all()
    check_cuts(steps, data, found, features, 0)
    with pytest.raises(ValueError, match="infinity"):
        transformed(steps, with_column(data, "wage", np.array([np.nextafter(found.upper[0], math.inf)])))


def test_numbers_as_large_as_can_be_are_served() -> None:
    data = np.column_stack((1.7e308 * np.linspace(-1.0, 1.0, 40), np.linspace(1e-320, 2e-310, 40)))
    steps = fitted(make_pipeline(MaxAbsScaler(), FunctionTransformer(np.arctan)), data)
    found, features = columns_of(steps, data)
    assert found.rises.tolist() == [1, 1]
    check_cuts(steps, data, found, features, 0)


def test_a_steep_power_fails_not_far_from_the_data() -> None:
    data = people()[NUMBERS]
    steps = fitted(PowerTransformer(), data)
    found, _ = columns_of(steps, data)
    assert np.isposinf(found.upper).tolist() == [False, False, True]
    assert not found.missing_beyond.any()
    for name, upper in zip(NUMBERS[:2], found.upper.tolist(), strict=False):
        assert not np.isnan(transformed(steps, with_column(data, name, np.array([upper])))).any()
        with pytest.raises(ValueError, match="infinity"):
            transformed(steps, with_column(data, name, np.array([np.nextafter(upper, math.inf)])))


def test_numbers_of_the_data_that_are_missing_to_the_model_leave_a_menu() -> None:
    data = people()[["x", "tiny"]]
    found, features = columns_of(fitted(FunctionTransformer(np.log), data), data)
    assert found.rises.tolist() == [1, 0]
    assert np.isnan(found.values(features.x)[:, 1]).any()


def test_what_is_missing_to_one_step_is_a_number_after_the_next() -> None:
    data = people()[["wage", "age"]]
    steps = fitted(make_pipeline(FunctionTransformer(np.log), SimpleImputer(add_indicator=True)), data)
    assert not columns_of(steps, data)[0].rises.any()  # below zero it jumps up to the mean
