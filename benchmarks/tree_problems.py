"""What `trees.py` asks about: data, ensembles, and the nearest errors of single rows."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import tippingpoint as tp
from tippingpoint.families.trees.proving import TreeTask

COLUMNS = ["AGEP", "COW", "SCHL", "MAR", "OCCP", "POBP", "RELP", "WKHP", "SEX", "RAC1P"]

BOOSTERS = ("XGBoost 200x6", "LightGBM 100x31", "HistGradientBoosting")
FORESTS = ("forest 100, depth 8", "forest 100, unlimited")

PASSES = 10**6
"""Of the kernels, as good as no limit: seconds end a row."""


@dataclass(frozen=True)
class Data:
    """Rows to train and to evaluate, units of distance, and the spaces in which the latter move."""

    name: str
    x_train: Any
    y_train: Any
    x: Any
    y: Any
    unit: Any
    spaces: dict[str, Any]

    @property
    def scale(self) -> dict[str, float]:
        return dict(self.unit)


def home() -> Path:
    named = os.environ.get("TIPPINGPOINT_DATA")
    for place in (Path(named) if named else None, Path(__file__).parents[2] / "shared" / "data"):
        if place is not None and (place / "acs").is_dir():
            return place
    raise SystemExit("the ACS data are not here; name their directory in TIPPINGPOINT_DATA")


def acs(rows: int) -> Data:
    table = pd.read_csv(home() / "acs" / "acs2018_income_ca.csv.gz")
    drawn = np.random.default_rng(0).permutation(len(table))
    train, test = (table.iloc[part].reset_index(drop=True) for part in (drawn[:2000], drawn[2000 : 2000 + rows]))
    x = test[COLUMNS]
    spaces = {"lattice": tp.Space.infer(x), "continuous": None}
    labels = (part["LABEL"].to_numpy() for part in (train, test))
    return Data("ACS Income", train[COLUMNS], next(labels), x, next(labels), train[COLUMNS].std(), spaces)


def breast_cancer() -> Data:
    x, y = load_breast_cancer(return_X_y=True, as_frame=True)
    drawn = np.random.default_rng(0).permutation(len(x))
    train, test = drawn[: (len(x) + 1) // 2], drawn[(len(x) + 1) // 2 :]
    y = y.to_numpy()
    return Data("breast cancer", x.iloc[train], y[train], x.iloc[test], y[test], x.iloc[train].std(), {"continuous": None})


def model(name: str) -> Any:
    """One that is not trained yet."""
    if name.startswith("XGBoost"):
        return xgboost.XGBClassifier(n_estimators=200, max_depth=6, n_jobs=1)
    if name.startswith("LightGBM"):
        return lightgbm.LGBMClassifier(n_estimators=100, n_jobs=1, verbose=-1)
    if name.startswith("Hist"):
        return HistGradientBoostingClassifier(random_state=0)
    return RandomForestClassifier(100, max_depth=8 if "depth 8" in name else None, random_state=0)


def fitted(data: Data, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name in names:
        yield name, model(name).fit(data.x_train, data.y_train)


def in_float32(data: Data) -> Data:
    """In units of standard deviations, rounded as the libraries and veritas do: so all read the same trees."""
    x_train, x = ((part / data.unit).astype(np.float32).astype(float) for part in (data.x_train, data.x))
    return replace(data, x_train=x_train, x=x, unit=data.unit * 0.0 + 1.0)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the processor, and what came out."""
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


@dataclass(frozen=True)
class Nearest:
    """The nearest error of a row: its squared distance, the seconds that it took, and whether it is proved to be that."""

    row: int
    distance: float
    seconds: float
    exact: bool


class Rows:
    """The rows of a model that are right, each with the nearest row that is told another class: an error to begin with."""

    def __init__(self, estimator: Any, data: Data, space: Any) -> None:
        profile: Any = tp.profile(estimator, data.x, data.y, space=space, scale=data.scale, threads=1)
        self.task: TreeTask = profile.oracle._setting.task  # noqa: SLF001 - no front door asks about single rows
        self.right = np.flatnonzero(self.task.losses == 0.0)
        self.task.searcher.search(self.right[:1], np.zeros(1), np.array([-1e-12]), 0, 1.0)  # it makes what all rows need
        self._predicted = np.asarray(estimator.predict(data.x))
        self._x = (data.x / data.unit).to_numpy()

    def some(self, count: int) -> Any:
        """Spread over all that are right."""
        return self.right[np.unique(np.linspace(0, len(self.right) - 1, count).astype(int))]

    def apart(self, row: int) -> Any:
        """The rows of another class, as they differ from one."""
        return self._x[self._predicted != self._predicted[row]] - self._x[row]

    def within(self, row: int) -> float:
        return float(np.square(self.apart(row)).sum(axis=1).min())

    def search(self, searcher: Any, row: int, limit: float, within: float | None = None) -> Nearest:
        """By a searcher that is told how far to look: to the nearest row of another class, or less."""
        reach = (self.within(row) if within is None else within) * (1.0 + 1e-9)
        arguments = (np.array([row]), np.zeros(1), np.array([-reach]), PASSES, limit)
        seconds, found = timed(lambda: searcher.search(*arguments))
        return Nearest(int(row), -float(found.profit[0]), seconds, bool(found.bound[0] <= found.profit[0]))
