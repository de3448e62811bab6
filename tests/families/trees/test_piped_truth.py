"""Trees behind preprocessing, in the user's own columns, against all places one by one through the user's own pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

import tippingpoint as tp
from small_trees import AGES, LIBRARIES, NUMBERS, SHADES, TRAINING, Small, amounts, people
from tippingpoint.space import Space
from tree_places import Number, Steps, Switch, cut_edges
from tree_spaces import Setting
from tree_truth import QUESTIONS, check

ROWS = 4
SCALED = StandardScaler()
ENCODED = OneHotEncoder(sparse_output=False)
STEPS: dict[str, Any] = {
    "scaled": ColumnTransformer([("numbers", SCALED, ["x", "age"]), ("shade", OrdinalEncoder(), ["shade"])], remainder="drop"),
    "one-hot": ColumnTransformer([("shade", ENCODED, ["shade"])], remainder="drop", sparse_threshold=0.0),
    "filled": ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), SCALED), ["z", "x"]),
            ("shade", make_pipeline(SimpleImputer(strategy="most_frequent"), ENCODED), ["shade"]),
        ],
        remainder="passthrough",
    ),
    "marked": ColumnTransformer(
        [("numbers", SimpleImputer(add_indicator=True), ["z"]), ("shade", OrdinalEncoder(), ["shade"])], remainder="passthrough"
    ),
    "falling": ColumnTransformer(
        [("numbers", make_pipeline(FunctionTransformer(np.negative), SCALED), ["x", "z"])], remainder="drop"
    ),
    "sparse": ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), SCALED), ["z", "x"]),
            ("shade", make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()), ["shade"]),
        ],
        remainder="passthrough",
        sparse_threshold=1.0,
    ),
    "sparse without zeros": ColumnTransformer(
        [
            ("positive", FunctionTransformer(np.exp), ["x"]),
            ("marked", make_pipeline(SimpleImputer(add_indicator=True), Binarizer(threshold=0.2)), ["z"]),
            ("shade", make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()), ["shade"]),
        ],
        remainder="passthrough",
        sparse_threshold=1.0,
    ),
}
"""What people put in front of trees: columns are scaled, encoded, filled, marked, turned round, passed or dropped."""


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Text, and gaps."""
    return as_text(people(TRAINING, 0, seen=True)), as_text(people(ROWS, 1, seen=False))


def as_text(data: pd.DataFrame) -> pd.DataFrame:
    return data.assign(shade=data["shade"].astype(object), z=data["z"].where(np.arange(len(data)) % 5 != 1))


def piped(steps: str, library: str, task: str) -> Small:
    kind, (training, data) = LIBRARIES[library], frames()
    targets = [amounts(each, seed) for seed, each in enumerate((training, data))]
    y = [each if task == "amount" else (each > 0.0).astype(int) for each in targets]
    model = make_pipeline(STEPS[steps], kind.made(task, 3, 3)).fit(training, y[0])
    every = pd.concat([training, data], ignore_index=True)
    edges = cut_edges(lambda rows: kind.sums(task, model, rows), every, NUMBERS)
    return Small(kind, task, model, data, y[1], edges)


def mixed() -> Setting:
    """Numbers, one of which may go missing, whole numbers, and categories."""
    space = Space(
        kind={"age": "integer"},
        lower={"age": AGES[0]},
        upper={"age": AGES[-1]},
        price={"x": 2.0, "shade": 0.4},
        missing={"z": 0.5},
    )
    return Setting(
        space, (Number("x", 2.0), Number("z", vanishing=0.5), Steps("age", AGES), Switch("shade", sorted(SHADES), 0.4))
    )


def bounded() -> Setting:
    """The same, but `x` stays where its exponential is a number above zero."""
    space = Space(
        kind={"age": "integer"},
        lower={"age": AGES[0], "x": -5.0},
        upper={"age": AGES[-1]},
        price={"x": 2.0, "shade": 0.4},
        missing={"z": 0.5},
    )
    return Setting(space, (Number("x", 2.0, low=-5.0), *mixed().features[1:]))


CASES = [
    ("scaled", "gradient boosting", "two", "zero_one"),
    ("scaled", "LightGBM", "amount", "absolute"),
    ("one-hot", "forest", "two", "logistic"),
    ("filled", "forest", "two", "zero_one"),
    ("filled", "gradient boosting", "two", "logistic"),
    ("filled", "LightGBM", "amount", "squared"),
    ("filled", "XGBoost", "two", "hinge"),
    ("filled", "extra trees", "amount", "huber"),
    ("marked", "forest", "two", "zero_one"),
    ("marked", "histograms", "amount", "absolute"),
    ("marked", "XGBoost", "two", "zero_one"),
    ("falling", "forest", "two", "zero_one"),
    ("falling", "LightGBM", "two", "logistic"),
    ("falling", "CatBoost", "amount", "squared"),
    ("sparse", "forest", "two", "zero_one"),
    ("sparse", "gradient boosting", "two", "logistic"),
    ("sparse", "LightGBM", "amount", "squared"),
    ("sparse", "CatBoost", "two", "zero_one"),
]


@pytest.mark.parametrize(("steps", "library", "task", "loss"), CASES)
def test_both_bounds_are_the_truth_behind_preprocessing(steps: str, library: str, task: str, loss: str) -> None:
    check(piped(steps, library, task), loss, mixed(), QUESTIONS[:2])


@pytest.mark.parametrize(("task", "loss"), [("two", "zero_one"), ("amount", "squared"), ("two", "logistic")])
def test_entries_that_a_sparse_matrix_leaves_out_are_missing_to_xgboost(task: str, loss: str) -> None:
    check(piped("sparse without zeros", "XGBoost", task), loss, bounded(), QUESTIONS[:2])


def test_a_number_that_may_become_a_zero_that_xgboost_reads_as_missing_is_not_proved() -> None:
    model = piped("sparse", "XGBoost", "two")
    result = tp.stability(model.model, model.data, model.y, risk=0.5, space=mixed().space, progress=False)
    assert result.standing.kind == "searched"
    assert "a sparse matrix that leaves out 'x' at " in result.lower_by
    assert "fit with sparse_output=False and sparse_threshold=0" in result.lower_by
    assert all(words not in result.lower_by for words in ("fails", "length"))
