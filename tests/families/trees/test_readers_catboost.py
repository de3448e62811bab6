"""Models of CatBoost as forests: the same answers on thresholds, beside them, and where something is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ensembles import TABLE, as_array, furthest, reading_of, reason_of, shaded
from tippingpoint.families.trees.readers import read_model

catboost = pytest.importorskip("catboost")

SMALL: dict[str, Any] = {"iterations": 6, "depth": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
POLICIES = ("SymmetricTree", "Lossguide", "Depthwise")


def classifier(**settings: Any) -> Any:
    return catboost.CatBoostClassifier(**{**SMALL, **settings})


def regressor(**settings: Any) -> Any:
    return catboost.CatBoostRegressor(**{**SMALL, **settings})


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("nan_mode", ["Min", "Max"])
@pytest.mark.parametrize("loss", ["Logloss", "CrossEntropy"])
def test_classifiers_of_two_classes(policy: str, nan_mode: str, loss: str) -> None:
    model = classifier(grow_policy=policy, nan_mode=nan_mode, loss_function=loss).fit(TABLE.x, TABLE.two)
    reading, apart = furthest(model, TABLE.x)
    assert (reading.returns, reading.classes, reading.names) == ("score", (0, 1), None)
    assert apart <= reading.rounding < 1e-13


@pytest.mark.parametrize("policy", POLICIES)
def test_gaps_that_training_did_not_see(policy: str) -> None:
    furthest(classifier(grow_policy=policy).fit(TABLE.whole, TABLE.two), TABLE.x)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("loss", "returns"), [("MultiClass", "score"), ("MultiClassOneVsAll", "order")])
def test_classifiers_of_three(policy: str, loss: str, returns: str) -> None:
    labels = np.array(["low", "mid", "high"])[TABLE.three]
    reading, _ = furthest(classifier(grow_policy=policy, loss_function=loss).fit(TABLE.x, labels), TABLE.x)
    assert (reading.returns, reading.classes) == (returns, ("high", "low", "mid"))


@pytest.mark.parametrize(
    ("loss", "link"),
    [
        *((name, "identity") for name in ("RMSE", "MAE", "Quantile:alpha=0.3", "MAPE", "Huber:delta=1", "LogCosh", "RMSPE")),
        *((name, "identity") for name in ("Lq:q=2", "Expectile:alpha=0.3", "LogLinQuantile")),
        *((name, "log") for name in ("Poisson", "Tweedie:variance_power=1.5")),
    ],
)
def test_regressors(loss: str, link: str) -> None:
    try:
        model = regressor(loss_function=loss).fit(TABLE.x, TABLE.counts)
    except catboost.CatBoostError as refusal:
        pytest.skip(f"of this version: {refusal}")
    reading, _ = furthest(model, TABLE.x)
    assert (reading.returns, reading.link, reading.classes) == ("prediction", link, None)


def test_only_regressors_predict_exponentials(tmp_path: Path) -> None:
    model = catboost.CatBoost({**SMALL, "loss_function": "Poisson"}).fit(TABLE.x, TABLE.counts)
    assert furthest(model, TABLE.x)[0].link == "identity"
    model.save_model(str(tmp_path / "counts.cbm"))
    assert furthest(catboost.CatBoostRegressor().load_model(str(tmp_path / "counts.cbm")), TABLE.x)[0].link == "log"


def test_a_scale_and_a_bias() -> None:
    model = regressor().fit(TABLE.x, TABLE.amount)
    model.set_scale_and_bias(-2.5, 7.0)
    assert furthest(model, TABLE.x)[0].forest.base == 7.0


def test_trees_of_one_leaf() -> None:
    constant = np.zeros((len(TABLE.x), 1))
    constant[:1] = 1.0
    model = regressor(min_data_in_leaf=200, grow_policy="Depthwise").fit(constant, TABLE.amount)
    furthest(model, constant, gaps=False)


def test_early_stopping_shortens_the_model() -> None:
    model = classifier(iterations=80, learning_rate=0.9, early_stopping_rounds=2)
    model.fit(TABLE.x[:150], TABLE.two[:150], eval_set=(TABLE.x[150:], TABLE.two[150:]))
    reading, _ = furthest(model, TABLE.x)
    assert len(reading.forest.roots) == model.tree_count_ < 80


def test_an_objective_of_the_user_s() -> None:
    class Squares:
        def calc_ders_range(self, sums: Any, targets: Any, weights: Any) -> list[tuple[float, float]]:
            return [(target - each, -1.0) for each, target in zip(sums, targets, strict=True)]

    model = regressor(loss_function=Squares(), eval_metric="RMSE")
    with pytest.warns(UserWarning, match="numba"):
        model.fit(TABLE.x, TABLE.amount)
    furthest(model, TABLE.x)


def test_columns_of_categories_that_no_tree_asks() -> None:
    """They stand between columns of numbers, and shift the numbers of those."""
    constant = np.array(["all the same"] * len(TABLE.x), dtype=object)

    def framed(like: Any, x: Any) -> pd.DataFrame:
        return pd.DataFrame({"a": x[:, 0], "kind": constant[like], "b": x[:, 2], "c": x[:, 3]})

    x = np.column_stack((TABLE.x[:, 0], np.zeros(len(TABLE.x)), TABLE.x[:, 1], TABLE.x[:, 3]))
    model = classifier(cat_features=["kind"]).fit(framed(np.arange(len(x)), x), TABLE.two)
    reading, _ = furthest(model, x, framed)
    assert reading.names == ("a", "kind", "b", "c")
    assert reading.forest.width == 4
    assert max(reading.forest.columns) == 3


@pytest.mark.parametrize("onehot", [1, 10], ids=["statistics", "one category a split"])
def test_splits_on_categories_are_not_read(onehot: int) -> None:
    frame, _, labels = shaded()
    frame["shade"] = frame["shade"].astype(object).where(frame["shade"].notna(), "none")
    model = classifier(cat_features=["shade"], one_hot_max_size=onehot, iterations=30).fit(frame, labels)
    assert reason_of(model) == "it splits on categories, text or embeddings, by numbers that it makes of them"


@pytest.mark.parametrize(
    ("model", "target", "reason"),
    [
        (regressor(loss_function="MultiRMSE"), np.column_stack((TABLE.amount, TABLE.counts)), "it predicts 2 numbers a row"),
        (regressor(loss_function="RMSEWithUncertainty"), TABLE.amount, "it predicts 2 numbers a row"),
        (regressor(loss_function="Cox"), TABLE.amount, "its loss is 'Cox', which is not read"),
    ],
)
def test_what_is_not_read(model: Any, target: Any, reason: str) -> None:
    assert reason_of(model.fit(TABLE.x, target)) == reason


def test_a_class_told_from_another_probability_on_is_not_read() -> None:
    model = classifier().fit(TABLE.x, TABLE.two)
    model.set_probability_threshold(0.3)
    assert reason_of(model) == "it tells the second class from a probability of 0.3 on, not of a half"


def test_a_sum_of_models_does_not_say_what_it_predicts() -> None:
    parts = [regressor(random_seed=seed).fit(TABLE.x, TABLE.amount) for seed in (0, 1)]
    assert reason_of(catboost.sum_models(parts)) == "it does not store the loss that it was trained on"


def test_what_is_not_fitted_is_nobody_s() -> None:
    assert read_model(classifier()) is None
    assert reading_of(classifier().fit(TABLE.x, TABLE.two)).ask(as_array(np.arange(3), TABLE.x[:3])).shape == (3, 1)
