"""Data and models that the cases are made of: seeded draws and what ships with scikit-learn.

What an optimiser fits ends a little elsewhere on every machine, so coefficients are rounded to two digits after the fit, and
networks hold weights that were drawn, not trained: the numbers are then those of the package, not of a solver of others.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier


class Task(NamedTuple):
    """A model's data."""

    X: Any
    y: Any


@lru_cache
def tumours(columns: int = 6) -> Task:
    """Two classes, labels in words."""
    data = load_breast_cancer(as_frame=True)
    rows = np.random.default_rng(0).permutation(len(data.data))[:160]
    named = data.target.map({0: "malignant", 1: "benign"})
    return Task(data.data.iloc[rows, :columns], named.iloc[rows])


@lru_cache
def flowers() -> Task:
    """Three classes."""
    data = load_iris(as_frame=True)
    return Task(data.data, data.target)


@lru_cache
def wines() -> Task:
    """Three classes of wine, by five of their measurements."""
    data = load_wine(as_frame=True)
    return Task(data.data.iloc[:, [0, 1, 6, 9, 11]], data.target)


@lru_cache
def diabetes() -> Task:
    """Numbers to be predicted, in units of a hundred."""
    data = load_diabetes(as_frame=True)
    rows = np.random.default_rng(1).permutation(len(data.data))[:140]
    return Task(data.data.iloc[rows, :5] * 20.0, data.target.iloc[rows] / 100.0)


@lru_cache
def people(rows: int = 240) -> Task:
    """Whole numbers, numbers, words and truths."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 70, rows),
            "income": rng.normal(40.0, 12.0, rows).round(1),
            "job": rng.choice(["cook", "clerk", "nurse", "judge"], rows),
            "sex": rng.choice(["f", "m"], rows),
            "owner": rng.random(rows) < 0.4,
        }
    )
    score = frame["income"] + 20.0 * (frame["job"] == "judge") + 0.3 * frame["age"] + 4.0 * frame["owner"]
    return Task(frame, score + rng.normal(0.0, 8.0, rows) > 56.0)


@lru_cache
def gaps() -> Task:
    """Numbers of which some are missing; the last are whole."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(120, 3)).round(4)
    y = (x @ [1.0, -0.7, 0.4] + rng.normal(scale=0.5, size=120) > 0.0).astype(int)
    x[:, 2] = x[:, 2].round()
    x[rng.random(x.shape) < 0.1] = np.nan
    return Task(pd.DataFrame(x, columns=["a", "b", "c"]), y)


@lru_cache
def dummies() -> Task:
    """A category as three columns of 0 and 1, a number, and levels."""
    rng = np.random.default_rng(4)
    colour = rng.integers(0, 3, 150)
    frame = pd.DataFrame({f"colour_{name}": (colour == k).astype(float) for k, name in enumerate(("red", "green", "blue"))})
    frame["size"] = rng.normal(size=150).round(4)
    frame["level"] = rng.integers(0, 4, 150)
    score = frame["size"] + 0.8 * (colour == 1) - 0.5 * frame["level"] + 0.4 + rng.normal(scale=0.5, size=150)
    return Task(frame, np.where(score > 0.0, "yes", "no"))


@lru_cache
def points(classes: int = 2, columns: int = 4, rows: int = 60) -> Task:
    """Seeded numbers, with labels that a network gets mostly right; zero classes are a number to predict."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(rows, columns)).round(4)
    noisy = x + rng.normal(scale=0.3, size=x.shape)
    outputs = drawn(max(classes, 1) if classes != 2 else 1, columns)(_tensor(noisy)).detach().numpy()
    if classes == 0:
        return Task(x, outputs[:, 0].round(3))
    return Task(x, (outputs[:, 0] > 0.0).astype(int) if classes == 2 else outputs.argmax(axis=1))


@lru_cache
def alternatives(name: str = "now") -> pd.DataFrame:
    """A table of alternatives of fifty samples, in tenths so that ties occur."""
    rng = np.random.default_rng(6)
    lines = []
    for sample in range(50):
        before = float(rng.random() < 0.2)
        lines.append((f"q{sample}", 0.0, before, 1.0 + sample % 3))
        lines += [(f"q{sample}", rng.integers(1, 20) / 10.0, float(rng.random() < 0.5), 1.0 + sample % 3) for _ in range(3)]
    table = pd.DataFrame(lines, columns=["sample", "cost", "loss", "heft"])
    if name == "next":
        table["loss"] = np.where((table["cost"] > 0.0) & (table["cost"] < 0.8), 0.0, table["loss"])
    if name == "graded":
        table["loss"] = (table["loss"] + table["cost"]).round(2)
    return table


@lru_cache
def linear(name: str) -> Any:  # noqa: PLR0911  # one line a model
    """A linear model, or a pipeline that ends in one, by what it is called."""
    if name in ("logistic", "svc", "ridge classifier", "strict"):
        ends = {
            "logistic": LogisticRegression(),
            "svc": LinearSVC(random_state=0),
            "ridge classifier": RidgeClassifier(),
            "strict": LogisticRegression(C=0.01),
        }
        return _rounded(make_pipeline(StandardScaler(), ends[name]).fit(*tumours()))
    if name == "principal":
        return _rounded(make_pipeline(StandardScaler(), PCA(3, svd_solver="full"), LogisticRegression()).fit(*tumours()))
    if name in ("ridge", "least squares"):
        return _rounded((Ridge(1.0) if name == "ridge" else LinearRegression()).fit(*diabetes()))
    if name == "ridge behind a scaler":
        return _rounded(make_pipeline(MinMaxScaler(), Ridge(0.1)).fit(*diabetes()))
    if name in ("flowers", "wines"):
        task = flowers() if name == "flowers" else wines()
        return _rounded(make_pipeline(StandardScaler(), LogisticRegression(C=0.3, max_iter=1000)).fit(*task))
    if name == "imputed":
        return _rounded(make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()).fit(*gaps()))
    if name == "dummies":
        return _rounded(LogisticRegression().fit(*dummies()))
    ages = OrdinalEncoder() if name == "people, ordinal" else OneHotEncoder()
    columns = ColumnTransformer([("words", ages, ["job", "sex"]), ("numbers", StandardScaler(), ["age", "income", "owner"])])
    return _rounded(make_pipeline(columns, LogisticRegression()).fit(*people()))


@lru_cache
def box(name: str) -> Any:
    """A model that is asked, by what it is called."""
    small: dict[str, Any] = {"n_estimators": 8, "max_depth": 3, "random_state": 0}
    few: dict[str, Any] = {"max_iter": 8, "max_depth": 3, "min_samples_leaf": 10, "early_stopping": False, "random_state": 0}
    classifiers = {
        "forest": RandomForestClassifier(**small),
        "extra trees": ExtraTreesClassifier(**small),
        "boosting": GradientBoostingClassifier(**small),
        "histogram": HistGradientBoostingClassifier(**few),
        "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    }
    regressors = {
        "forest of numbers": RandomForestRegressor(**small),
        "boosting of numbers": GradientBoostingRegressor(**small),
        "histogram of numbers": HistGradientBoostingRegressor(**few),
    }
    if name in classifiers:
        return classifiers[name].fit(*tumours(4))
    if name in regressors:
        return regressors[name].fit(*diabetes())
    if name == "forest of flowers":
        return RandomForestClassifier(**small).fit(*flowers())
    if name == "forest of people":
        columns = ColumnTransformer([("words", OneHotEncoder(), ["job", "sex"])], remainder="passthrough")
        return make_pipeline(columns, RandomForestClassifier(**small)).fit(*people())
    if name == "histogram with gaps":
        return HistGradientBoostingClassifier(**few).fit(*gaps())
    return _booster(name)


def vendor(rows: pd.DataFrame) -> Any:
    """A function of a frame that returns scores."""
    return 0.05 * rows["income"] + 1.0 * (rows["job"] == "judge") - 2.5


def curved(rows: pd.DataFrame) -> Any:
    """A function of a frame that returns scores, not linear."""
    x = rows.to_numpy()
    return x[:, 0] * x[:, 1] - 0.5 * x[:, 2] ** 2 + x[:, 3]


def _booster(name: str) -> Any:
    X, y = tumours(4)
    target = (y == "malignant").astype(int)
    if name == "xgboost":
        import xgboost

        return xgboost.XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1, random_state=0).fit(X, target)
    if name == "lightgbm":
        import lightgbm

        settings: dict[str, Any] = {"deterministic": True, "force_row_wise": True, "verbose": -1}
        model = lightgbm.LGBMClassifier(n_estimators=8, num_leaves=6, n_jobs=1, random_state=0, **settings)
        return model.fit(X.rename(columns=lambda each: each.replace(" ", "_")), target)
    raise KeyError(name)


@lru_cache
def drawn(outputs: int = 1, columns: int = 4, hidden: tuple[int, ...] = (6,), gate: str = "ReLU") -> Any:
    """A module of float64 with drawn weights."""
    import torch
    from torch import nn

    rng, widths, layers = np.random.default_rng(7), (columns, *hidden, outputs), []
    for k, (inner, outer) in enumerate(pairwise(widths)):
        layer = nn.Linear(inner, outer).double()
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(rng.normal(scale=1.5 / np.sqrt(inner), size=(outer, inner)).round(3)))
            layer.bias.copy_(torch.from_numpy(rng.normal(scale=0.2, size=outer).round(3)))
        layers += [layer] if k == len(hidden) else [layer, getattr(nn, gate)()]
    return nn.Sequential(*layers).eval()


def _tensor(x: Any) -> Any:
    import torch

    return torch.from_numpy(x)


def _rounded(model: Any) -> Any:
    """The model with coefficients of two digits, in place."""
    last = model[-1] if hasattr(model, "steps") else model
    last.coef_, last.intercept_ = np.round(last.coef_, 2), np.round(last.intercept_, 2)
    return model
