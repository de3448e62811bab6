"""Small models of trees of every library on columns of every kind, and what their losses are by definition."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from tippingpoint.core.arrays import FloatArray, IntArray
from tree_places import cut_edges

SHADES = ("teal", "amber", "plum", "jade")
"""Categories, in no order of the alphabet."""

HOT = tuple(f"shade_{name}" for name in SHADES)
"""Their columns where a library takes numbers only."""

AGES = (0.0, 1.0, 2.0, 3.0, 4.0)
NUMBERS = ("x", "z", "age")
TRAINING, ROWS = 160, 8

LOSSES = {
    "two": ("zero_one", "logistic", "hinge", "squared_hinge"),
    "three": ("zero_one", "cross_entropy", "hinge", "squared_hinge"),
    "amount": ("squared", "absolute", "pinball", "epsilon_insensitive", "huber"),
}
"""What is judged by what: classifiers of two classes and of three, and regressors."""

LEAST = 1e-15
"""Probabilities are kept this far from zero."""

DELTA, EPSILON = 1.35, 0.1
"""Of the Huber loss and of the epsilon-insensitive one, where nobody says them."""


def people(rows: int, seed: int, *, seen: bool) -> pd.DataFrame:
    """Numbers, whole numbers and categories.

    Numbers that were seen are multiples of a tenth, others lie between: cuts keep apart, and no row is on one.
    """
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(rows, 2))
    numbers = np.round(numbers, 1) if seen else np.round(50.0 * numbers) / 50.0 + 0.005
    return pd.DataFrame(
        {
            "x": numbers[:, 0],
            "z": numbers[:, 1],
            "age": rng.choice(AGES, rows),
            "shade": pd.Categorical(rng.choice(SHADES, rows), categories=list(SHADES)),
        }
    )


def amounts(data: pd.DataFrame, seed: int) -> FloatArray:
    """Targets on which all columns have a say."""
    noise = 0.4 * np.random.default_rng(seed).normal(size=len(data))
    turned = np.where(data["shade"].isin(SHADES[1:3]), 1.0, -1.0)
    held = data[["x", "z", "age"]].fillna({"x": 1.0, "z": -1.0, "age": 0.0})
    found = held["x"] + turned * (1.2 + 0.8 * held["z"]) + 0.6 * (held["age"] - 2.0) + noise
    return np.asarray(found, dtype=float)


@dataclass(frozen=True)
class Library:
    """How a library makes small models.

    Attributes
    ----------
    module, names
        Where its classifier and its regressor are, and what they are called.
    settings
        Of both.
    trees, leaves
        What it calls the number of trees, and their depth or the number of their leaves.
    native
        Whether it takes categories as they are.
    gaps
        Whether it takes what is missing.
    method, told
        How a classifier is asked for what its trees add up.
    tells
        Whether that is probabilities.
    numbered
        Whether classes have to be numbers from 0 on.
    single
        Whether it adds in single precision.
    """

    module: str
    names: tuple[str, str]
    settings: Mapping[str, Any]
    trees: str | None = "n_estimators"
    leaves: str = "max_depth"
    native: bool = False
    gaps: bool = True
    method: str = "predict"
    told: Mapping[str, Any] = field(default_factory=dict)
    tells: bool = False
    numbered: bool = False
    single: bool = False

    def made(self, task: str, trees: int, depth: int) -> Any:
        """An estimator, not fitted yet; a test of a library that is not installed is skipped."""
        size = {} if self.trees is None else {self.trees: trees}
        size[self.leaves] = depth if "depth" in self.leaves else 2 * depth
        return getattr(pytest.importorskip(self.module), self.names[task == "amount"])(**self.settings, **size)

    def taken(self, data: pd.DataFrame) -> pd.DataFrame:
        """The data as the library takes them."""
        if self.native:
            return data
        hot = {column: (data["shade"] == name).astype(float) for column, name in zip(HOT, SHADES, strict=True)}
        return data.drop(columns="shade").assign(**hot)

    def sums(self, task: str, model: Any, frame: pd.DataFrame) -> FloatArray:
        """`(n, K)` what the library itself adds up."""
        found = getattr(model, "predict" if task == "amount" else self.method)(frame, **self.told)
        return np.asarray(found, dtype=float).reshape(len(frame), -1)


EXTRA_GAPS = tuple(map(int, version("scikit-learn").split(".")[:2])) >= (1, 6)
"""Whether extra trees take what is missing."""


def _estimators(name: str) -> tuple[str, str]:
    return f"{name}Classifier", f"{name}Regressor"


FEW: dict[str, Any] = {"min_child_samples": 5, "min_data_per_group": 5, "cat_smooth": 1.0, "cat_l2": 1.0}
"""Of LightGBM: so that it splits few rows."""
TELLS: dict[str, Any] = {"method": "predict_proba", "tells": True}
SCORES: dict[str, Any] = {"method": "decision_function"}
ALIKE: dict[str, Any] = {"random_state": 0}

LIBRARIES: dict[str, Library] = {
    "XGBoost": Library(
        "xgboost",
        _estimators("XGB"),
        {"learning_rate": 0.6, "enable_categorical": True, "n_jobs": 1},
        native=True,
        told={"output_margin": True},
        numbered=True,
        single=True,
    ),
    "LightGBM": Library(
        "lightgbm",
        _estimators("LGBM"),
        {"learning_rate": 0.5, "verbose": -1, "n_jobs": 1, **FEW},
        leaves="num_leaves",
        native=True,
        told={"raw_score": True},
    ),
    "CatBoost": Library(
        "catboost",
        _estimators("CatBoost"),
        {"learning_rate": 0.5, "verbose": 0, "allow_writing_files": False, "thread_count": 1},
        trees="iterations",
        leaves="depth",
        told={"prediction_type": "RawFormulaVal"},
    ),
    "tree": Library("sklearn.tree", _estimators("DecisionTree"), ALIKE, trees=None, **TELLS),
    "forest": Library("sklearn.ensemble", _estimators("RandomForest"), ALIKE, **TELLS),
    "extra trees": Library("sklearn.ensemble", _estimators("ExtraTrees"), ALIKE, gaps=EXTRA_GAPS, **TELLS),
    "gradient boosting": Library(
        "sklearn.ensemble", _estimators("GradientBoosting"), {"learning_rate": 0.5, **ALIKE}, gaps=False, **SCORES
    ),
    "histograms": Library(
        "sklearn.ensemble",
        _estimators("HistGradientBoosting"),
        {"learning_rate": 0.5, "min_samples_leaf": 5, "categorical_features": "from_dtype", **ALIKE},
        trees="max_iter",
        leaves="max_leaf_nodes",
        native=True,
        **SCORES,
    ),
}


@dataclass(frozen=True)
class Small:
    """A small model, rows to ask it about, and where it cuts columns of numbers.

    Attributes
    ----------
    library, task
        Which it is.
    model
        Fitted.
    data, y
        The rows, and their labels or targets.
    edges
        By column of numbers: the last number before every cut, and the first after it.
    """

    library: Library
    task: str
    model: Any
    data: pd.DataFrame
    y: Any
    edges: Mapping[str, FloatArray]

    def losses(self, name: str, rows: IntArray, frame: pd.DataFrame) -> FloatArray:
        """Of these rows, were they as the frame says: by the library's own word, and by definition."""
        if self.task == "amount":
            return of_error(name, self.y[rows] - np.ravel(self.model.predict(frame)).astype(float))
        if name == "zero_one":
            return np.asarray(np.ravel(self.model.predict(frame)) != self.y[rows], dtype=float)
        own = np.searchsorted(self.model.classes_, self.y[rows])
        outputs = self.library.sums(self.task, self.model, frame)
        return of_lead(name, lead(name, outputs, own, tells=self.library.tells))


@cache
def small(library: str, task: str) -> Small:
    """The small model of a library for a task; where it takes them, every seventh row has a gap."""
    kind = LIBRARIES[library]
    training, data = people(TRAINING, 0, seen=True), people(ROWS, 1, seen=False)
    if kind.gaps:
        training, data = (each.assign(z=each["z"].where(np.arange(len(each)) % 7 != 3)) for each in (training, data))
    return grown(kind, task, training, data)


def grown(kind: Library, task: str, training: pd.DataFrame, data: pd.DataFrame, trees: int = 3, depth: int = 3) -> Small:
    """A model of these data."""
    targets, y = (_targets(kind, task, amounts(each, seed)) for seed, each in enumerate((training, data)))
    training, data = kind.taken(training), kind.taken(data)
    model = kind.made(task, trees, depth).fit(training, targets)
    every = pd.concat([training, data], ignore_index=True)
    edges = cut_edges(lambda rows: kind.sums(task, model, rows), every, NUMBERS)
    return Small(kind, task, model, data, y, edges)


def _targets(kind: Library, task: str, amount: FloatArray) -> Any:
    if task == "amount":
        return amount
    codes = np.digitize(amount, [0.0] if task == "two" else [-0.8, 0.8])
    names = np.array(["no", "yes"] if task == "two" else ["high", "low", "mid"])
    return codes if kind.numbered else names[codes]


def lead(name: str, outputs: FloatArray, own: IntArray, *, tells: bool) -> FloatArray:
    """How far the other classes are ahead of the true one: of log-odds, or of scores."""
    if outputs.shape[1] == 1:
        return np.where(own > 0, -outputs[:, 0], outputs[:, 0])
    everyone = np.arange(len(outputs))
    mine, others = outputs[everyone, own], outputs.copy()
    others[everyone, own] = -math.inf
    together = name in ("logistic", "cross_entropy")
    if not tells:
        return np.asarray((logsumexp(others, axis=1) if together else others.max(axis=1)) - mine)
    rival = 1.0 - mine if together else others.max(axis=1)
    return np.log(np.clip(rival, LEAST, 1.0)) - np.log(np.clip(mine, LEAST, 1.0))


def of_lead(name: str, ahead: FloatArray) -> FloatArray:
    """Losses of classifiers."""
    if name in ("logistic", "cross_entropy"):
        return np.logaddexp(0.0, ahead)
    return np.maximum(0.0, 1.0 + ahead) ** (2.0 if name == "squared_hinge" else 1.0)


def of_error(name: str, error: FloatArray) -> FloatArray:
    """Losses of regressors, of what the prediction lacks."""
    size = np.abs(error)
    return {
        "squared": size**2,
        "absolute": size,
        "pinball": 0.5 * size,
        "epsilon_insensitive": np.maximum(size - EPSILON, 0.0),
        "huber": np.where(size <= DELTA, 0.5 * size**2, DELTA * (size - 0.5 * DELTA)),
    }[name]
