"""Models of trees made by hand, people to ask them about, and pipelines in front of them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, QuantileTransformer, StandardScaler

from tippingpoint.core.arrays import FloatArray
from tippingpoint.data.categories import category_columns
from tippingpoint.data.frames import Features, read_features
from tippingpoint.families.trees.columns.model_columns import ModelColumns, model_columns
from tippingpoint.families.trees.forest import Forest
from tippingpoint.families.trees.reading import TreeReading, Unread
from tippingpoint.preprocessing.encoders import encoded_columns


def reading(
    width: int,
    library: str = "scikit-learn",
    names: Sequence[str] | None = None,
    categories: Mapping[int, tuple[Any, ...]] | None = None,
) -> TreeReading:
    """Of a model without trees, on so many columns."""
    none, numbers = np.zeros(0, dtype=np.int32), np.zeros(0)
    forest = Forest(
        none, numbers, numbers > 0.0, none, none, none, none, np.zeros((0, 1)), none, np.zeros(1), sets=(), width=width
    )
    return TreeReading(
        forest,
        "score",
        library,
        lambda rows: np.zeros((len(rows), 1)),
        0.0,
        names=None if names is None else tuple(names),
        categories=categories or {},
    )


def features_for(model: Any, data: Any) -> Features:
    """The data as they are read for a model: what it encodes are categories."""
    encoded = encoded_columns(model, [str(name) for name in getattr(data, "columns", ())])
    return read_features(data, category_columns(data, encoded, {}))


NUMBERS = ["x", "tiny", "age"]
"""Columns of numbers, of very different sizes, whole ones among them."""

ROWS = 120


def people(seed: int = 0) -> pd.DataFrame:
    """Numbers of very different sizes, whole ones, text, codes, booleans, and gaps."""
    rng = np.random.default_rng(seed)
    city = rng.choice(["A", "B"], ROWS).astype(object)
    city[rng.random(ROWS) < 0.2] = np.nan
    gappy = rng.normal(size=ROWS)
    gappy[rng.random(ROWS) < 0.2] = np.nan
    return pd.DataFrame(
        {
            "x": 1e3 + 7.0 * rng.normal(size=ROWS),
            "tiny": 1e-7 * rng.normal(size=ROWS),
            "age": rng.integers(18, 90, ROWS),
            "wage": np.exp(rng.normal(size=ROWS)),
            "z": gappy,
            "job": rng.choice(["clerk", "cook", "nurse"], ROWS, p=[0.6, 0.3, 0.1]),
            "city": city,
            "code": rng.choice([1, 2, 5], ROWS),
            "flag": rng.random(ROWS) < 0.4,
        },
        index=[f"r{i}" for i in range(ROWS)],
    )


TARGET = np.random.default_rng(1).integers(0, 2, ROWS)
CLASSES = np.random.default_rng(2).integers(0, 3, ROWS)


def fitted(step: Any, data: Any, y: Any = TARGET) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return step.fit(data, y)


def transformed(steps: Any, data: Any) -> FloatArray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = steps.transform(data)
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=float)


def columns_of(steps: Any, data: Any) -> tuple[ModelColumns, Features]:
    features = features_for(steps, data)
    found = model_columns(steps, reading(transformed(steps, data).shape[1]), features)
    assert isinstance(found, ModelColumns), found
    return found, features


def unread(steps: Any, data: Any, **settings: Any) -> str:
    found = model_columns(steps, reading(transformed(steps, data).shape[1], **settings), features_for(steps, data))
    assert isinstance(found, Unread)
    assert "\n" not in found.reason
    assert not found.reason.endswith(".")
    return found.reason


def with_column(data: Any, name: str, numbers: FloatArray) -> Any:
    """The first row, again and again, with these numbers in one column."""
    if isinstance(data, np.ndarray):
        rows = np.tile(data[:1].astype(float), (len(numbers), 1))
        rows[:, int(name[1:])] = numbers
        return rows
    first = data.iloc[np.zeros(len(numbers), dtype=int)].reset_index(drop=True)
    return first.assign(**{name: numbers})


def check_cuts(steps: Any, data: Any, found: ModelColumns, features: Features, m: int) -> FloatArray:
    """Raw numbers up to the cut are on its left, those above are not, by the pipeline itself."""
    rng, name, j = np.random.default_rng(m), features.names[found.source[m]], int(found.source[m])
    seen = transformed(steps, data)[:, m]
    seen = seen[np.isfinite(seen)]
    inside = rng.uniform(seen.min(), seen.max(), 12)
    thresholds = np.concatenate((seen[:12], inside, [seen.min() - 1.0, seen.max() + 1.0, -math.inf, math.inf]))
    cuts = found.cuts(m, thresholds)
    held = features.x[:, j][~np.isnan(features.x[:, j])]
    at = cuts[np.isfinite(cuts)]
    steps_beside = np.spacing(at) * np.array([[-1e6], [-3.0], [3.0], [1e6]])
    raw = np.concatenate((held, at, np.nextafter(at, -math.inf), np.nextafter(at, math.inf), (at + steps_beside).ravel()))
    raw = raw[(raw >= found.lower[j]) & (raw <= found.upper[j])]
    values = transformed(steps, with_column(data, name, raw))[:, m]
    for threshold, cut in zip(thresholds.tolist(), cuts.tolist(), strict=True):
        left = values <= threshold if found.rises[m] > 0 else values > threshold
        np.testing.assert_array_equal(left, raw <= cut, err_msg=f"{name}, threshold {threshold!r}, cut {cut!r}")
    return cuts


def everything(remainder: Any = "passthrough") -> Any:
    """What people put in front of trees."""
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["z", "x"]),
            ("text", make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")), ["city"]),
            ("jobs", OneHotEncoder(drop="first", min_frequency=20), ["job"]),
            ("codes", OrdinalEncoder(), ["code"]),
            ("again", QuantileTransformer(n_quantiles=20), make_column_selector("^x$")),
            ("none", StandardScaler(), []),
            ("gone", "drop", ["flag"]),
        ],
        remainder=remainder,
    )
