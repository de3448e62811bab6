"""Losses as people name them, and what results call them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, mean_absolute_error, mean_squared_error, zero_one_loss

import tippingpoint as tp

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
NUMBERS = X @ [1.0, -0.5, 0.2] + RNG.normal(scale=0.4, size=90)
LABELS = np.where(NUMBERS > 0.0, "yes", "no")
THREE = np.array(["low", "mid", "high"])[np.digitize(NUMBERS, [-0.6, 0.6])]
REGRESSOR = LinearRegression().fit(X, NUMBERS)
CLASSIFIER = LogisticRegression().fit(X, LABELS)
OF_THREE = LogisticRegression().fit(X, THREE)


@pytest.mark.parametrize(
    ("names", "called", "model", "y", "now"),
    [
        (
            ("mae", "MAE", "mean_absolute_error", "absolute_error", "absolute"),
            "absolute",
            REGRESSOR,
            NUMBERS,
            mean_absolute_error,
        ),
        (("mse", "mean_squared_error", "squared_error", "squared"), "squared", REGRESSOR, NUMBERS, mean_squared_error),
        (("error", "error_rate", "0-1", "0/1", "zero-one", "zero_one_loss"), "zero_one", CLASSIFIER, LABELS, zero_one_loss),
    ],
)
def test_a_loss_by_any_of_its_names_is_the_mean_that_scikit_learn_computes(
    names: tuple[str, ...], called: str, model: Any, y: Any, now: Callable[..., float]
) -> None:
    for name in names:
        profile = tp.profile(model, X, y, loss=name)
        assert profile.loss == called
        assert profile.risk == pytest.approx(now(y, model.predict(X)), rel=1e-12)


@pytest.mark.parametrize("name", ["log_loss", "logloss", "neg_log_likelihood", "Log Loss", "cross_entropy", "logistic"])
def test_the_log_loss_by_any_of_its_names(name: str) -> None:
    profile = tp.profile(CLASSIFIER, X, LABELS, loss=name)
    assert profile.loss == "logistic"
    assert profile.risk == pytest.approx(log_loss(LABELS, CLASSIFIER.predict_proba(X)), rel=1e-9)


@pytest.mark.parametrize("name", ["log_loss", "cross_entropy", "logistic"])
def test_of_several_classes_it_is_called_cross_entropy(name: str) -> None:
    result = tp.stability(OF_THREE, X, THREE, risk=1.0, loss=name, calls=3000)
    assert result.loss == "cross_entropy"
    assert "cross_entropy risk" in str(result)
    assert result.current_risk == pytest.approx(log_loss(THREE, OF_THREE.predict_proba(X)), rel=1e-9)
    assert tp.profile(OF_THREE, X, THREE, loss="error").loss == "zero_one"


def test_of_several_outputs_of_a_module_too() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 3).eval()
    profile = tp.profile(net, X, THREE, loss="log_loss", restarts=0, certify="none", progress=False)
    assert profile.loss == "cross_entropy"
    two = tp.profile(torch.nn.Linear(3, 1).eval(), X, LABELS, loss="log_loss", restarts=0, certify="none", progress=False)
    assert two.loss == "logistic"


def test_a_quantile_by_its_other_name_keeps_its_number() -> None:
    assert tp.profile(REGRESSOR, X, NUMBERS, loss="quantile:0.9").loss == "pinball:0.9"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("rmse", "the square of your threshold"),
        ("accuracy", "1 - accuracy"),
        ("roc_auc", "not the mean"),
        ("R2", "not the mean"),
    ],
)
def test_a_measure_that_is_no_mean_says_what_to_take_instead(name: str, told: str) -> None:
    with pytest.raises(tp.InputError, match=told):
        tp.profile(CLASSIFIER, X, LABELS, loss=name)


def missed(output: Any, y: Any) -> Any:
    return np.abs(output - y)


class Missed:
    def __call__(self, output: Any, y: Any) -> Any:
        return np.abs(output - y)


def weighted(output: Any, y: Any, factor: float) -> Any:
    return factor * np.abs(output - y)


@pytest.mark.parametrize(
    ("own", "called"),
    [
        (missed, "missed"),
        (Missed(), "Missed"),
        (partial(weighted, factor=2.0), "weighted"),
        (lambda output, y: np.abs(output - y), "your own loss"),
    ],
)
def test_a_loss_of_ones_own_is_called_by_its_name(own: Any, called: str) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    result = tp.stability(lambda rows: rows["a"] - 0.5 * rows["b"], frame, NUMBERS, risk=1.0, loss=own, calls=3000)
    assert result.loss == called
    assert "<lambda>" not in str(result) + result.to_json()
    what = "mean of your own loss" if called == "your own loss" else f"{called} risk"
    assert f"lift the {what} from" in " ".join(str(result).split())


def test_a_nameless_loss_of_a_module_too() -> None:
    torch = pytest.importorskip("torch")
    net = torch.nn.Linear(3, 1).eval()
    asked: dict[str, Any] = {"restarts": 0, "certify": "none", "progress": False}
    profile = tp.profile(net, X, NUMBERS, loss=lambda output, y: (output[:, 0] - y).abs(), **asked)
    assert profile.loss == "your own loss"
