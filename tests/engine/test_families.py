"""Every family of models serves a partition as it serves the whole, also where it holds one class only."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import tippingpoint as tp
from partitioned import cut, oracles, planned
from tippingpoint.api.cases import prepared
from tippingpoint.engine.oracle import APART
from tippingpoint.engine.partitions import partitions_of
from tippingpoint.losses import PiecewiseLinear

RNG = np.random.default_rng(3)
X = pd.DataFrame(RNG.normal(size=(60, 2)), columns=["a", "b"])
SIGN = np.sort(np.where(X["a"] + 0.3 * X["b"] > 0.0, 1, -1))
X = X.iloc[np.argsort(np.where(X["a"] + 0.3 * X["b"] > 0.0, 1, -1), kind="stable")].reset_index(drop=True)
THREE = np.repeat([0, 1, 2], 20)
WORDS = np.where(SIGN > 0, "yes", "no")
TARGET = np.round(RNG.normal(size=60), 1)
CUTS = (0, 5, 5, 6, 40, 60)


def module(outputs: int) -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, outputs)).eval()


def by_words(rows: Any) -> Any:
    return np.where(np.asarray(rows["a"]) > 0.0, "yes", "no")


def by_scores(rows: Any) -> Any:
    return np.asarray(rows)[:, :1] * np.array([[1.0, 0.0, -1.0]])


MODELS: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    "coefficients": (([1.0, 0.5], 0.1), WORDS, None, {}),
    "linear": (LogisticRegression().fit(X, WORDS), WORDS, None, {}),
    "linear, three classes": (LogisticRegression().fit(X, THREE), THREE, None, {}),
    "regression": (Ridge().fit(X, TARGET), TARGET, None, {}),
    "pieces": (None, SIGN, PiecewiseLinear(np.eye(2), [0.0, 0.1]), {}),
    "tree": (DecisionTreeClassifier(max_depth=2).fit(X, WORDS), WORDS, None, {}),
    "boosted trees": (GradientBoostingClassifier(n_estimators=3, max_depth=1).fit(X, WORDS), WORDS, None, {}),
    "regression tree": (DecisionTreeRegressor(max_depth=2).fit(X, TARGET), TARGET, None, {}),
    "module, one score, signs": (module(1), SIGN, None, {}),
    "module, one score, words": (module(1), WORDS, None, {}),
    "module, three classes": (module(3), THREE, "logistic", {}),
    "words": (by_words, WORDS, None, {"calls": 600}),
    "scores": (by_scores, THREE, None, {"calls": 600}),
    "machine": (SVC().fit(X, WORDS), WORDS, None, {"calls": 900}),
}


@pytest.mark.parametrize("name", MODELS)
def test_losses_of_partitions_are_those_of_the_whole(name: str) -> None:
    model, y, loss, options = MODELS[name]
    data = X.to_numpy() if isinstance(model, torch.nn.Module) else X
    if isinstance(data, np.ndarray):
        partitions = partitions_of([(data[i:j], y[i:j]) for i, j in pairwise(CUTS)], None)
    else:
        partitions = partitions_of(cut(data.assign(label=y), CUTS), "label")
    made = planned(model, partitions, loss=loss, scale="raw", options=options)
    case = prepared(model, data, y, options, loss=loss, sample_weight=None, space=None, scale="raw")
    every = oracles(model, partitions, made)
    assert {each.family for each in every} == {case.family.name} == {made.family}
    assert {each.label for each in every} == {case.judgement.label} == {made.label}
    assert {each.range for each in every} == {case.judgement.range}
    losses = np.concatenate([each.oracle.losses for each in every if each.oracle is not None])
    np.testing.assert_allclose(losses, case.judgement.oracle(case.domain).losses, rtol=1e-6, atol=1e-9)


def torch_net() -> Any:
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1)).double()


NET = torch_net()
TREE = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X.to_numpy(), SIGN)
ALIKE: dict[str, tuple[Any, dict[str, Any], bool]] = {
    "linear": (([1.0, 0.3], 0.1), {}, True),
    "trees": (TREE, {}, False),
    "module": (NET, {"certify": "quick"}, False),
    "black box": (lambda rows: np.where(np.asarray(rows)[:, 0] > 0.0, 1, -1), {"output": "label", "calls": 60 * 60}, False),
}


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("kind", ALIKE)
def test_bounds_of_any_partitions_hold_and_say_where_they_may_differ(kind: str, count: int) -> None:
    model, options, closed = ALIKE[kind]
    rows = X.to_numpy()
    ends = np.linspace(0, len(rows), count + 1).astype(int)
    question: dict[str, Any] = {"theta1": 1.0, "theta2": 0.5}
    made = tp.profile(model, rows, SIGN, threads=1, **options)
    risk = 0.5 * (1.0 + made.risk)
    whole = made.stability(risk, **question)
    cut = tp.profile(model, [(rows[a:b], SIGN[a:b]) for a, b in pairwise(ends)], None, threads=1, **options)
    parts = cut.stability(risk, **question)
    assert cut.risk == pytest.approx(made.risk, rel=1e-12)
    assert (APART in parts.notes) == (not closed)
    assert max(parts.lower, whole.lower) <= min(parts.value, whole.value) * (1.0 + 1e-9), "every bound holds of every find"
    if closed:
        assert (parts.value, parts.lower) == pytest.approx((whole.value, whole.lower), rel=1e-12)
        assert parts.standard_error == pytest.approx(whole.standard_error, rel=1e-12)
        assert parts.standing.exact == whole.standing.exact
    elif kind == "trees":
        assert parts.value == pytest.approx(whole.value, rel=1e-9)
        assert parts.standard_error == pytest.approx(whole.standard_error, rel=1e-9)
    cost = 0.5 * whole.value
    ours, theirs = cut.worst_risk(cost, **question), made.worst_risk(cost, **question)
    for each in (ours, theirs):
        for found in (ours, theirs):
            assert each.certified is None or found.value <= each.certified + 1e-9
