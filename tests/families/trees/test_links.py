"""Models whose sums are not what they predict, or that grow their trees in other ways, against all places one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from small_trees import LIBRARIES, NUMBERS, ROWS, TRAINING, Small, amounts, people
from tippingpoint.core.arrays import FloatArray
from tree_places import cut_edges
from tree_spaces import everything
from tree_truth import QUESTIONS, check

LINKED = [
    ("XGBoost", {"objective": "count:poisson"}, "squared"),
    ("XGBoost", {"objective": "reg:logistic"}, "absolute"),
    ("XGBoost", {"objective": "reg:gamma", "booster": "dart", "rate_drop": 0.5, "random_state": 1}, "absolute"),
    ("LightGBM", {"objective": "poisson"}, "absolute"),
    ("LightGBM", {"objective": "tweedie"}, "huber"),
    ("LightGBM", {"objective": "cross_entropy"}, "squared"),
    ("CatBoost", {"loss_function": "Poisson"}, "pinball"),
    ("histograms", {"loss": "poisson"}, "squared"),
    ("histograms", {"loss": "gamma"}, "epsilon_insensitive"),
]
"""Of regressors."""

CLASSED = [
    ("XGBoost", {"objective": "binary:hinge"}, "two", "zero_one"),
    ("XGBoost", {"booster": "dart", "rate_drop": 0.5, "random_state": 1}, "two", "logistic"),
    ("XGBoost", {"num_parallel_tree": 2, "subsample": 0.7, "random_state": 1}, "three", "zero_one"),
    ("LightGBM", {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.7}, "two", "logistic"),
    ("LightGBM", {"boosting_type": "dart"}, "three", "hinge"),
    ("LightGBM", {"objective": "multiclassova"}, "three", "zero_one"),
    ("CatBoost", {"loss_function": "MultiClassOneVsAll"}, "three", "zero_one"),
    ("CatBoost", {"grow_policy": "Lossguide"}, "two", "squared_hinge"),
    ("gradient boosting", {"loss": "exponential"}, "two", "logistic"),
    ("forest", {"max_features": 1, "class_weight": "balanced"}, "two", "zero_one"),
]
"""Of classifiers."""


def trained(library: str, settings: dict[str, Any], task: str) -> Small:
    """As `small_trees.small`; targets of regressors lie between nothing and one."""
    kind = LIBRARIES[library]
    if task == "two" and not kind.single:  # sums are not always log-odds
        kind = replace(kind, method="predict_proba", told={}, tells=True)
    training, data = people(TRAINING, 0, seen=True), people(ROWS, 1, seen=False)
    targets, y = (targeted(task, amounts(each, seed)) for seed, each in enumerate((training, data)))
    training, data = kind.taken(training), kind.taken(data)
    model = kind.made(task, 3, 3).set_params(**settings).fit(training, targets)
    every = pd.concat([training, data], ignore_index=True)

    def answers(rows: pd.DataFrame) -> FloatArray:
        return kind.sums(task, model, rows)

    return Small(kind, task, model, data, y, cut_edges(answers, every, NUMBERS))


def targeted(task: str, amount: FloatArray) -> Any:
    if task == "amount":
        return expit(amount)
    return np.digitize(amount, [0.0] if task == "two" else [-0.8, 0.8])


@pytest.mark.parametrize(("library", "settings", "loss"), LINKED)
def test_predictions_of_another_scale(library: str, settings: dict[str, Any], loss: str) -> None:
    check(trained(library, settings, "amount"), loss, everything(LIBRARIES[library]), QUESTIONS[:2])


@pytest.mark.parametrize(("library", "settings", "task", "loss"), CLASSED)
def test_trees_that_grow_otherwise(library: str, settings: dict[str, Any], task: str, loss: str) -> None:
    check(trained(library, settings, task), loss, everything(LIBRARIES[library]), QUESTIONS[:2])
