"""Laws that a search of black boxes obeys: more calls, more features, and all of them beside one are never worse."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

import tippingpoint as tp
from opaque import Opaque
from real_data import BESIDE
from tippingpoint.data.frames import read_features
from tippingpoint.families.blackbox.thresholds import breakpoints

ROUNDING = 1.0 + 1e-9
"""What solving the dual twice may differ by."""

ROWS = 60
QUESTIONS = [(0.05, 0.25), (0.2, 0.25), (0.05, math.inf), (0.2, math.inf)]
"""By how much the risk is to rise, and the price of reweighting."""

CODES = ["marital", "sex"]


class Labels:
    """A model that tells classes only."""

    def __init__(self, model: Any) -> None:
        self.predict = model.predict


@dataclass(frozen=True)
class Trial:
    """A model on real data, and the group of features that its space has."""

    model: Any
    x: pd.DataFrame
    y: Any
    group: tuple[str, ...]
    loss: str = "zero_one"
    mixed: bool = False

    def values(self, movable: list[str] | None = None, calls: int | None = None) -> list[float]:
        """The stabilities of some questions, in a space in which some features move."""
        kinds = {name: "categorical" if name in CODES else "integer" for name in self.x.columns} if self.mixed else {}
        price = {name: 0.1 for name in CODES if name in self.x.columns}
        groups = {"group": [*self.group]} if self.group and (movable is None or set(self.group) <= set(movable)) else {}
        space = tp.Space(kind=kinds, price=price, groups=groups, movable=movable)
        search: dict[str, Any] = {} if calls is None else {"calls": calls}
        profile = tp.profile(self.model, self.x, self.y, loss=self.loss, space=space, scale="std", **search)
        return [profile.stability(min(profile.risk + more, 0.99), theta1=1.0, theta2=t).value for more, t in QUESTIONS]


def adults() -> tuple[pd.DataFrame, Any]:
    """Rows of ACS Income where the data are here, or people made up in their likeness."""
    table = Path(os.environ.get("TIPPINGPOINT_DATA", BESIDE)) / "acs/acs2018_income_ca.csv.gz"
    if table.exists():
        people = pd.read_csv(table, nrows=20_000).sample(1500, random_state=0).reset_index(drop=True)
        named = people.rename(columns={"AGEP": "age", "WKHP": "hours", "MAR": "marital", "SEX": "sex"})
        return named[["age", "hours", *CODES]].astype(int), named["LABEL"].to_numpy()
    rng = np.random.default_rng(0)
    n = 1500
    frame = pd.DataFrame(
        {
            "age": rng.integers(17, 90, n),
            "hours": np.clip(rng.normal(40.0, 12.0, n).round(), 1, 99).astype(int),
            "marital": rng.integers(1, 6, n),
            "sex": rng.integers(1, 3, n),
        }
    )
    score = (
        0.05 * (frame["age"].clip(upper=55) - 40) + 0.06 * (frame["hours"] - 40) * (frame["sex"] == 1) + (frame["marital"] == 1)
    )
    return frame, (score + rng.logistic(size=n) > 0.5).astype(int).to_numpy()


@cache
def trials() -> dict[str, Trial]:
    cancer = load_breast_cancer(as_frame=True)
    names = [str(name) for name in cancer.data.columns[[1, 4, 7, 20, 21]]]
    x, y = cancer.data[names], cancer.target.to_numpy()
    train, test = slice(0, 300), slice(300, 300 + ROWS)
    read = GradientBoostingClassifier(n_estimators=40, random_state=0).fit(x[train], y[train])
    boosted = Opaque(read)
    forest = Opaque(RandomForestClassifier(20, random_state=0).fit(x[train], y[train]), "predict", "predict_proba")
    kernel = make_pipeline(StandardScaler(), SVC()).fit(x[train], y[train])
    curved = make_pipeline(StandardScaler(), PolynomialFeatures(2), SVC(kernel="linear")).fit(x[train], y[train])
    frame, label = adults()
    steps = make_column_transformer((OrdinalEncoder(), CODES), remainder="passthrough")
    piped = make_pipeline(steps, HistGradientBoostingClassifier(max_iter=30, random_state=0)).fit(frame[ROWS:], label[ROWS:])
    histograms = Opaque(piped)
    rows = x[test], y[test], tuple(names[:3])
    people = frame[:ROWS], label[:ROWS], ("age", "sex")
    return {
        "boosting": Trial(boosted, *rows),
        "boosting, logistic": Trial(boosted, *rows, loss="logistic"),
        "boosting, labels only": Trial(Labels(boosted), *rows),
        "boosting as a function": Trial(read.decision_function, *rows),
        "forest": Trial(forest, *rows),
        "forest, logistic": Trial(forest, *rows, loss="logistic"),
        "kernel": Trial(kernel, *rows),
        "kernel, hinge": Trial(curved, *rows, loss="hinge"),
        "histograms in a mixed space": Trial(histograms, *people, mixed=True),
        "histograms in a mixed space, labels only": Trial(Labels(histograms), *people, mixed=True),
        "histograms in a mixed space, logistic": Trial(histograms, *people, mixed=True, loss="logistic"),
    }


@cache
def together(kind: str) -> list[float]:
    return trials()[kind].values()


@pytest.mark.parametrize("kind", trials())
def test_all_features_together_are_never_worse_than_one_of_them_or_a_group(kind: str) -> None:
    trial = trials()[kind]
    for movable in [[name] for name in trial.x.columns] + [[*trial.group]]:
        assert all(
            a <= b * ROUNDING for a, b in zip(together(kind), trial.values([str(name) for name in movable]), strict=True)
        ), movable


@pytest.mark.parametrize("kind", trials())
def test_more_calls_are_never_worse(kind: str) -> None:
    trial = trials()[kind]
    found = [trial.values(calls=300 + per_row * ROWS) for per_row in (2, 9, 10, 40, 160)]
    for fewer, more in itertools.pairwise(found):
        assert all(b <= a * ROUNDING for a, b in zip(fewer, more, strict=True))


@pytest.mark.parametrize("kind", ["boosting", "boosting, labels only", "kernel", "histograms in a mixed space"])
def test_with_the_same_calls_all_features_are_never_worse_than_one_in_a_ranking(kind: str) -> None:
    trial = trials()[kind]
    kinds = {name: "categorical" if name in CODES else "integer" for name in trial.x.columns} if trial.mixed else {}
    space = tp.Space(kind=kinds)
    asked: dict[str, Any] = {"space": space, "scale": "std", "theta1": 1.0, "theta2": 0.25}
    ranked = tp.feature_stability(trial.model, trial.x, trial.y, 0.4, calls=400 * ROWS, **asked)
    joint = tp.stability(trial.model, trial.x, trial.y, 0.4, calls=400 * ROWS, **asked)
    assert all(joint.value <= result.value * ROUNDING for result in ranked.results.values())


@pytest.mark.parametrize("loss", ["zero_one", "logistic"])
def test_a_feature_that_trees_do_not_use_changes_nothing(loss: str) -> None:
    trial = trials()["boosting"]
    x = trial.x.assign(idle=np.arange(float(len(trial.x))))
    idle = GradientBoostingClassifier(n_estimators=10, max_depth=2, random_state=0).fit(x.assign(idle=0.0), trial.y)
    with_it = Trial(idle, x, trial.y, trial.group, loss)
    assert with_it.values() == with_it.values([name for name in x.columns if name != "idle"])


def brute_force(trial: Trial) -> Callable[[float, float], float]:
    """The stability by trying every combination of places beside the thresholds of trees for every sample."""
    features = read_features(trial.x, {})
    reps = [np.union1d(b.below, b.above) for b in breakpoints(trial.model, features, np.arange(trial.x.shape[1])).values()]
    grid = np.stack(np.meshgrid(*reps, indexing="ij"), axis=-1).reshape(-1, len(reps))
    said = trial.model.predict(pd.DataFrame(grid, columns=trial.x.columns))
    lines = list[dict[str, float]]()
    spread = trial.x.to_numpy().std(axis=0)
    now = trial.model.predict(trial.x)
    for i, row in enumerate(trial.x.to_numpy()):
        cost = np.zeros(1)
        for at, here, unit in zip(reps, row, spread, strict=True):
            alone = np.square((at - here) / unit)
            alone[max(int(np.searchsorted(at, here, side="right")) - 1, 0)] = 0.0  # where the sample's own cell begins
            cost = np.add.outer(cost, alone).ravel()
        lines.append({"sample": i, "loss": float(now[i] != trial.y[i]), "cost": 0.0})
        if now[i] == trial.y[i] and (said != trial.y[i]).any():
            lines.append({"sample": i, "loss": 1.0, "cost": float(cost[said != trial.y[i]].min())})
    profile = tp.profile_table(pd.DataFrame(lines))
    return lambda more, theta2: profile.stability(profile.risk + more, theta1=1.0, theta2=theta2).value


@pytest.mark.parametrize("columns", [(20, 21), (7, 21, 22), (0, 1, 4)])
def test_two_and_three_features_of_boosted_trees_are_within_five_percent_of_brute_force(columns: tuple[int, ...]) -> None:
    cancer = load_breast_cancer(as_frame=True)
    x, y = cancer.data.iloc[:, list(columns)], cancer.target.to_numpy()
    model = GradientBoostingClassifier(n_estimators=30, random_state=0).fit(x[:300], y[:300])
    trial = Trial(model, x[-ROWS:].reset_index(drop=True), y[-ROWS:], ())
    best, found = brute_force(trial), trial.values()
    for value, (more, theta2) in zip(found, QUESTIONS, strict=True):
        assert best(more, theta2) <= value * ROUNDING
        assert value <= 1.05 * best(more, theta2)


def test_a_result_says_what_the_last_calls_were_good_for() -> None:
    trial = trials()["boosting"]
    result = tp.stability(trial.model, trial.x, trial.y, 0.4, scale="std", theta1=1.0, theta2=0.25)
    assert " % of them lowered the stability by " in result.lower_by
