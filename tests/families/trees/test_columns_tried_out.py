"""Pipelines that are not followed, that fail, or that do something else than their steps say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    SplineTransformer,
    StandardScaler,
)

from groves import (
    NUMBERS,
    columns_of,
    features_for,
    fitted,
    people,
    reading,
    transformed,
    unread,
)
from tippingpoint.data.frames import read_features
from tippingpoint.errors import ModelError
from tippingpoint.families.trees.columns.model_columns import ModelColumns, model_columns
from tippingpoint.families.trees.reading import Unread
from tippingpoint.preprocessing import tracing

pytestmark = [
    pytest.mark.filterwarnings("ignore:`TargetEncoder.shuffle`:FutureWarning"),  # the seed, by its old name
    pytest.mark.filterwarnings("ignore:n_quantiles:UserWarning"),
]


class Own(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    def fit(self, X: Any, y: Any = None) -> Own:
        return self

    def transform(self, X: Any) -> Any:
        return X


class Renamed(Own):
    pass


Renamed.__name__ = "StandardScaler"


def winsorized(x: Any) -> Any:
    return np.clip(x, -1.0, 1.0)


@pytest.mark.parametrize(
    "step, clause",
    [
        (PCA(2), "its step PCA may mix columns"),
        (PolynomialFeatures(), "its step PolynomialFeatures may mix columns"),
        (SplineTransformer(), "its step SplineTransformer may mix columns"),
        (Normalizer(), "its step Normalizer may mix columns"),
        (KNNImputer(), "its step KNNImputer may mix columns"),
        (make_pipeline(StandardScaler(), PCA(2)), "its step PCA may mix columns"),
        (make_column_transformer((PCA(1), [0, 1])), "its step PCA may mix columns"),
        (make_union(StandardScaler(), PCA(2)), "its step PCA may mix columns"),
        (Own(), "its step Own may mix columns"),
        (Renamed(), "its step StandardScaler may mix columns"),
        (FunctionTransformer(winsorized), "its step FunctionTransformer(winsorized) may mix columns"),
        (FunctionTransformer(np.log1p, kw_args={"casting": "unsafe"}), "its step FunctionTransformer(log1p) may mix columns"),
        (FunctionTransformer(np.sort), "its step FunctionTransformer(sort) may mix columns"),
    ],
)
def test_steps_that_may_mix_columns_are_named(step: Any, clause: str) -> None:
    data = people()[["age", "wage", "code"]].to_numpy(dtype=float)
    assert unread(fitted(step, data), data) == clause


def sabotaged(change: Any) -> Any:
    """A scaler of scikit-learn's that does something else."""
    steps = fitted(StandardScaler(), people()[NUMBERS].to_numpy())
    honest = steps.transform
    steps.transform = lambda rows: change(honest(rows))
    return steps


def restless() -> Any:
    calls = iter(range(1000))
    return lambda seen: seen + 1e-9 * next(calls)


MIXED = "a column that its preprocessing should make of 'x1' alone changes with 'x0'"
TURNING = "a column that its preprocessing makes of 'x0' should rise with it, and does not everywhere"
SOCIABLE = "its preprocessing makes other numbers of a row when other rows are beside it (of float32: pass float64)"


@pytest.mark.parametrize(
    "change, clause",
    [
        (lambda seen: np.column_stack([seen[:, 0], seen[:, 1] + 1e-6 * seen[:, 0], seen[:, 2]]), MIXED),
        (lambda seen: seen[:, [1, 0, 2]], MIXED),
        (lambda seen: -seen, TURNING),
        (lambda seen: np.minimum(seen, 6.0 - seen), TURNING),
        (lambda seen: seen - seen.mean(axis=0), SOCIABLE),
        (lambda seen: seen + 1e-9 * len(seen) * (np.arange(len(seen)) > 0)[:, None], SOCIABLE),
        (restless(), SOCIABLE),
        (lambda seen: seen[:, :2], "the model's preprocessing makes shape (1, 2) of 1 rows; the model takes 3 columns"),
    ],
)
def test_a_scaler_that_does_something_else_is_found_out(change: Any, clause: str) -> None:
    data = people()[NUMBERS].to_numpy()
    found = model_columns(sabotaged(change), reading(3), read_features(data))
    assert isinstance(found, Unread)
    assert found.reason == clause


@pytest.mark.parametrize("rule", ["StandardScaler", "MinMaxScaler", "OneHotEncoder", "SimpleImputer", "FunctionTransformer"])
@pytest.mark.parametrize("mutation", ["another source", "another direction", "a column more"])
def test_a_wrong_rule_is_found_out(monkeypatch: pytest.MonkeyPatch, rule: str, mutation: str) -> None:
    right, count = tracing.TRACES[rule], {"another source": 0, "another direction": 0, "a column more": 1}[mutation]

    def wrong(step: Any, columns: tracing.Trace) -> tracing.Trace:
        found = right(step, columns)
        if mutation == "another source":
            return tracing.Trace(np.roll(found.source, 1), found.rises, found.partial)
        if mutation == "another direction":
            return found.turned(-1.0)
        return found.take(np.arange(-count, len(found.source)))

    monkeypatch.setitem(tracing.TRACES, rule, wrong)
    data = people()[["x", "z", "age", "job", "city"]]
    numbers = make_pipeline(StandardScaler(), SimpleImputer(), FunctionTransformer(np.cbrt), MinMaxScaler())
    steps = fitted(make_column_transformer((numbers, ["x", "z", "age"]), (OneHotEncoder(), ["job", "city"])), data)
    found = model_columns(steps, reading(transformed(steps, data).shape[1]), features_for(steps, data))
    if (rule, mutation) == ("OneHotEncoder", "another direction"):
        assert isinstance(found, ModelColumns)  # categories have none
    else:
        assert isinstance(found, Unread)


def test_categories_and_gaps_that_the_pipeline_fails_on_are_refused() -> None:
    data = people()[["job", "code", "x"]].assign(
        job=lambda frame: pd.Categorical(frame["job"], categories=["clerk", "cook", "nurse", "pilot"])
    )
    steps = fitted(make_column_transformer((OneHotEncoder(), ["job", "code"]), remainder=PowerTransformer()), data)
    found, features = columns_of(steps, data)
    assert features.columns[0].categories == ("clerk", "cook", "nurse", "pilot")
    assert {j: mask.tolist() for j, mask in found.refused.items()} == {0: [False, False, False, True, False]}
    moved = features.x[:1].copy()
    moved[0, 0] = 3.0
    with pytest.raises(ModelError, match=r"^the model's preprocessing fails \(Found unknown categories .*pilot.*\); pass the"):
        found.values(moved)


def test_a_pipeline_that_fails_on_nearly_everything_is_left_alone() -> None:
    strange = [f"job {k}" for k in range(300)]
    data = people()[["job", "x"]].assign(job=lambda frame: pd.Categorical(frame["job"], [*frame["job"].unique(), *strange]))
    steps = fitted(make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough"), data)
    assert unread(steps, data).startswith("the model's preprocessing fails (Found unknown categories")


def test_gaps_that_may_come_and_that_the_pipeline_fails_on_are_refused() -> None:
    data = people()[["job", "age", "x"]]
    chosen = [(OneHotEncoder(), ["job"]), (KBinsDiscretizer(3, encode="ordinal"), ["age"]), (StandardScaler(), ["x"])]
    steps = fitted(make_column_transformer(*chosen), data)
    features = replace(features_for(steps, data), vanishing=frozenset({0, 1, 2}))
    found = model_columns(steps, reading(5), features)
    assert isinstance(found, ModelColumns)
    assert {j: mask.tolist() for j, mask in found.refused.items()} == {0: [False, False, False, True], 1: [True]}


def test_data_that_the_pipeline_fails_on_are_refused() -> None:
    data = people()[["job", "x"]]
    steps = fitted(make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough"), data)
    odd = data.assign(job=[*data["job"][:-1], "pilot"])
    found = model_columns(steps, reading(4), features_for(steps, odd))
    assert found == Unread("its preprocessing fails on job='pilot'")


def test_gaps_that_the_pipeline_fails_on_are_refused() -> None:
    data = people()[["age", "z"]].to_numpy(dtype=float)
    steps = fitted(make_column_transformer((KBinsDiscretizer(3), [0, 1])), np.nan_to_num(data))
    found = model_columns(steps, reading(6), read_features(data))
    assert found == Unread("its preprocessing fails on 'x1' where it is missing")


def test_columns_that_are_not_there_are_named() -> None:
    data = people()[["x", "age"]]
    steps = fitted(make_column_transformer((StandardScaler(), ["x", "age"])), data)
    found = model_columns(steps, reading(2), read_features(data[["x"]]))
    assert isinstance(found, Unread)
    assert found.reason.startswith("the model's preprocessing fails (columns are missing: {'age'})")


def test_scalers_in_front_take_columns_in_their_order_only() -> None:
    data = people()[["x", "age"]]
    found = model_columns(fitted(StandardScaler(), data), reading(2), read_features(data[["age", "x"]]))
    assert isinstance(found, Unread)
    assert "same order" in found.reason


def test_a_pipeline_that_ends_the_program_is_a_clause() -> None:
    def leave(seen: Any) -> Any:
        raise SystemExit(3)

    found = model_columns(sabotaged(leave), reading(3), read_features(people()[NUMBERS].to_numpy()))
    assert isinstance(found, Unread)
    assert "sys.exit(3)" in found.reason
