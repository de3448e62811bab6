"""Data of one class: the false-negative rate is the error rate of the positives, and a month may have none of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import tippingpoint as tp

RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 3))
Y = (X[:, 0] + RNG.normal(size=160) > 0).astype(int)
LINEAR = LogisticRegression().fit(X, Y)
COEFFICIENTS = (LINEAR.coef_[0], LINEAR.intercept_[0])
FEW = slice(0, 24)


def chance(rows: Any) -> Any:
    return LINEAR.predict_proba(np.asarray(rows))[:, 1]


def network() -> torch.nn.Module:
    layer = torch.nn.Linear(3, 1)
    with torch.no_grad():
        layer.weight[:] = torch.as_tensor(COEFFICIENTS[0])
        layer.bias[:] = COEFFICIENTS[1]
    return layer


PIECES = tp.PiecewiseLinear(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), [0.0, 0.5])
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "a linear model": (LINEAR, {}),
    "coefficients": (COEFFICIENTS, {"classes": [0, 1]}),
    "trees": (RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, Y), {}),
    "a network": (network(), {}),
    "a black box": (SVC().fit(X, Y), {}),
    "a function": (chance, {"classes": [0, 1], "output": "probability"}),
    "a loss that holds the model": (None, {"classes": [0, 1], "loss": PIECES, "risk": 2.0}),
}


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("case", CASES)
def test_one_class_is_the_limit_of_weights(case: str, label: int) -> None:
    model, settings = CASES[case]
    asked = {"risk": 0.9, **settings}
    rows = Y[FEW] == label
    alone = tp.stability(model, X[FEW][rows], Y[FEW][rows], **asked)
    weighted = tp.stability(model, X[FEW], Y[FEW], sample_weight=rows.astype(float), **asked)
    nearly = tp.stability(model, X[FEW], Y[FEW], sample_weight=np.where(rows, 1.0, 1e-12), **asked)
    assert weighted.current_risk == pytest.approx(alone.current_risk, rel=1e-12)
    assert weighted.value == pytest.approx(alone.value, rel=1e-12)
    # Searches spend calls on rows of next to no weight, too, and end elsewhere.
    assert nearly.value == pytest.approx(alone.value, rel=1e-2 if alone.standing.kind == "searched" else 1e-5)


def test_the_risk_of_positives_is_the_false_negative_rate() -> None:
    found = tp.stability(LINEAR, X[Y == 1], Y[Y == 1], risk=0.5)
    assert found.current_risk == pytest.approx((LINEAR.predict(X[Y == 1]) == 0).mean())
    assert found.standing.kind == "exact"


def test_a_class_of_several_is_one_class_too() -> None:
    y = RNG.integers(0, 3, 160)
    model = LogisticRegression().fit(X, y)
    found = tp.stability(model, X[y == 2], y[y == 2], risk=0.9)
    nearly = tp.stability(model, X, y, risk=0.9, sample_weight=np.where(y == 2, 1.0, 1e-12))
    assert found.value == pytest.approx(nearly.value, rel=1e-5)


@pytest.mark.parametrize("model", [COEFFICIENTS, chance, lambda rows: np.ones(len(rows), dtype=int)])
def test_the_other_class_must_be_known(model: Any) -> None:
    with pytest.raises(tp.InputError, match=r"y holds one class only, 1, and .* does not name .* for example classes=\[0, 1\]"):
        tp.stability(model, X[Y == 1], Y[Y == 1], risk=0.5)


def test_classes_of_a_model_that_names_its_own_are_those() -> None:
    assert tp.stability(LINEAR, X, Y, risk=0.5, classes=[0, 1]).value == tp.stability(LINEAR, X, Y, risk=0.5).value
    with pytest.raises(tp.InputError, match=r"classes=\[1, 0\] are not those of the model, \[0, 1\] in this order; leave it"):
        tp.stability(LINEAR, X, Y, risk=0.5, classes=[1, 0])
    with pytest.raises(tp.InputError, match=r"classes=5 must list the labels"):
        tp.stability(COEFFICIENTS, X, Y, risk=0.5, classes=5)
    with pytest.raises(tp.InputError, match=r"judges regressors but the model is a classifier"):
        tp.stability(COEFFICIENTS, X, Y, risk=2.0, loss="squared", classes=[0, 1])


def test_every_command_takes_one_class() -> None:
    rows = Y == 1
    data = (X[rows], Y[rows])
    assert tp.feature_stability(LINEAR, *data, 0.5)["x0"].value > 0.0
    compared = tp.compare({"model": LINEAR, "coefficients": COEFFICIENTS}, *data, risk=0.5, classes=[0, 1])
    assert compared.results["model"].value == pytest.approx(compared.results["coefficients"].value, rel=1e-12)
    assert 0.5 < tp.worst_risk(LINEAR, *data, 0.1).value <= 1.0


def test_partitions_of_one_class() -> None:
    positive = Y == 1
    frame = pd.DataFrame(X, columns=["a", "b", "c"])[positive].assign(y=1)
    model = LogisticRegression().fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    whole = tp.stability(model, frame[["a", "b", "c"]], frame["y"], risk=0.5)
    parts = tp.stability(model, lambda: iter([frame[:30], frame[30:]]), "y", risk=0.5)
    assert parts.value == pytest.approx(whole.value, rel=1e-9)


def windows(before: Any, after: Any, **settings: Any) -> Any:
    asked = {"risk": 0.6, "permutations": 0, "features": False, **settings}
    return tp.drift(LINEAR, before, after, **asked)


def test_a_window_without_defaults() -> None:
    first, last = np.arange(160) < 80, np.arange(160) >= 80
    good = last & (Y == 0)
    found = windows((X[first], Y[first]), (X[good], Y[good]))
    assert found.outcome.risk == pytest.approx((LINEAR.predict(X[good]) == 1).mean())
    assert math.isfinite(found.balance.labels)


def test_a_reference_without_defaults() -> None:
    first, last = np.arange(160) < 80, np.arange(160) >= 80
    good = first & (Y == 0)
    same = windows((X[good], Y[good]), (X[last & (Y == 0)], Y[last & (Y == 0)]))
    assert same.balance.labels == 0.0
    mixed = windows((X[good], Y[good]), (X[last], Y[last]))
    assert mixed.balance.labels == math.inf
    assert "the current rows hold a class that the reference lacks" in " ".join(str(mixed).split())
    unlabelled = windows((X[good], Y[good]), (X[last], None), assume="calibration")
    assert unlabelled.expected_risk == pytest.approx((LINEAR.predict(X[last]) == 1).mean())
