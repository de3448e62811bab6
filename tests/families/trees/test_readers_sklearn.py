"""Trees of scikit-learn as forests: the same answers on thresholds, beside them, and where something is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

from ensembles import SHADES, TABLE, furthest, reading_of, reason_of, shaded, shaded_frame
from tippingpoint.families.trees.readers import read_model

LABELS = np.array(["low", "mid", "high"])[TABLE.three]


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=4, random_state=0),
        DecisionTreeClassifier(max_leaf_nodes=9, class_weight="balanced", random_state=0),
        ExtraTreeClassifier(max_depth=4, random_state=0),
        RandomForestClassifier(9, max_depth=4, random_state=0),
        RandomForestClassifier(7, random_state=0),
        ExtraTreesClassifier(9, max_depth=4, random_state=0),
        GradientBoostingClassifier(n_estimators=6, random_state=0),
        HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=6),
    ],
    ids=str,
)
def test_classifiers_of_three(model: Any) -> None:
    boosted = isinstance(model, GradientBoostingClassifier | HistGradientBoostingClassifier)
    reading, apart = furthest(model.fit(TABLE.whole, LABELS), TABLE.whole, gaps=False)
    assert reading.returns == ("score" if boosted else "probability")
    assert reading.classes == ("high", "low", "mid")
    assert apart <= reading.rounding < 1e-13


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=4, random_state=0),
        RandomForestClassifier(9, max_depth=4, random_state=0, n_jobs=1),
        GradientBoostingClassifier(n_estimators=6, subsample=0.7, random_state=0),
        GradientBoostingClassifier(n_estimators=6, loss="exponential", random_state=0),
        GradientBoostingClassifier(n_estimators=6, init="zero", random_state=0),
        GradientBoostingClassifier(n_estimators=6, init=DummyClassifier(strategy="most_frequent"), random_state=0),
        HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=6),
        HistGradientBoostingClassifier(max_iter=30, early_stopping=True, n_iter_no_change=2, learning_rate=0.9),
    ],
    ids=str,
)
def test_classifiers_of_two(model: Any) -> None:
    reading, _ = furthest(model.fit(TABLE.whole, TABLE.two), TABLE.whole, gaps=False)
    assert reading.forest.outputs == (2 if reading.returns == "probability" else 1)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(max_depth=4, random_state=0),
        DecisionTreeRegressor(max_depth=4, criterion="poisson", random_state=0),
        DecisionTreeRegressor(max_depth=4, monotonic_cst=[1, 0, 0, 0], random_state=0),
        ExtraTreeRegressor(max_depth=4, random_state=0),
        RandomForestRegressor(9, max_depth=4, random_state=0),
        ExtraTreesRegressor(9, max_depth=4, random_state=0),
        *(GradientBoostingRegressor(n_estimators=6, loss=loss) for loss in ("squared_error", "absolute_error", "huber")),
        GradientBoostingRegressor(n_estimators=6, loss="quantile", alpha=0.3, init=DummyRegressor(strategy="median")),
        *(HistGradientBoostingRegressor(max_iter=6, loss=loss) for loss in ("squared_error", "absolute_error")),
        *(HistGradientBoostingRegressor(max_iter=6, loss=loss) for loss in ("gamma", "poisson")),
        HistGradientBoostingRegressor(max_iter=6, loss="quantile", quantile=0.4),
    ],
    ids=str,
)
def test_regressors(model: Any) -> None:
    reading, _ = furthest(model.fit(TABLE.whole, TABLE.counts), TABLE.whole, gaps=False)
    assert (reading.returns, reading.classes) == ("prediction", None)
    assert reading.link == ("log" if getattr(model, "loss", "") in ("gamma", "poisson") else "identity")


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=4, random_state=0),
        RandomForestClassifier(9, max_depth=4, random_state=0),
        RandomForestRegressor(9, max_depth=4, random_state=0),
        HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=6),
        HistGradientBoostingRegressor(max_iter=6, max_leaf_nodes=6),
    ],
    ids=str,
)
def test_what_is_missing_goes_where_the_library_sends_it(model: Any) -> None:
    furthest(model.fit(TABLE.x, TABLE.two), TABLE.x)
    missing = np.isnan(TABLE.x[:, 0]).astype(int)
    reading, _ = furthest(model.fit(TABLE.x[:, :1], missing), TABLE.x[:, :1])
    assert np.isinf(reading.forest.threshold[reading.forest.roots[0]])


def test_gaps_that_training_did_not_see() -> None:
    furthest(HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=6).fit(TABLE.whole, TABLE.two), TABLE.x)


def test_numbers_of_all_sizes() -> None:
    rng = np.random.default_rng(5)
    step = float(np.spacing(np.float32(1e8)))
    x = np.column_stack((1e8 + step * rng.integers(0, 6, 200), 1e-42 * rng.integers(0, 9, 200), 1e30 * rng.normal(size=200)))
    y = (x[:, 0] > 1e8 + 2.0 * step).astype(int) ^ (x[:, 1] > 3e-42).astype(int) ^ (x[:, 2] > 0.0).astype(int)
    furthest(RandomForestClassifier(9, random_state=0).fit(x, y), x, gaps=False)
    furthest(HistGradientBoostingClassifier(max_iter=6).fit(x, y), x, gaps=False)


def test_names_of_columns() -> None:
    frame = pd.DataFrame(TABLE.whole, columns=["a", "b", "c", "d"])
    for model in (DecisionTreeClassifier(), RandomForestRegressor(3), HistGradientBoostingRegressor(max_iter=2)):
        assert reading_of(model.fit(frame, TABLE.two)).names == ("a", "b", "c", "d")
        assert reading_of(model.fit(TABLE.whole, TABLE.two)).names is None


@pytest.mark.parametrize("objective", ["two", "three"])
def test_categories_of_histograms_are_in_the_user_s_order(objective: str) -> None:
    frame, x, labels = shaded()
    target = labels if objective == "two" else labels + (x[:, 2] > 0.5)
    named = HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=6, categorical_features="from_dtype").fit(frame, target)
    reading = reading_of(named)
    assert reading.forest.sets
    assert reading.categories == {1: tuple(sorted(SHADES))}
    code = np.append(np.argsort(np.argsort(SHADES)), 0)  # their places in the alphabet
    coded = np.column_stack((x[:, 0], np.where(np.isnan(x[:, 1]), np.nan, code[np.nan_to_num(x[:, 1]).astype(int)]), x[:, 2]))

    def from_alphabet(like: Any, moved: Any) -> pd.DataFrame:
        back = np.append(np.argsort(code[:-1]), 0)
        shade = np.where(np.isnan(moved[:, 1]), np.nan, back[np.nan_to_num(moved[:, 1]).astype(int)])
        return shaded_frame(like, np.column_stack((moved[:, 0], shade, moved[:, 2])))

    furthest(named, coded, from_alphabet)


def test_categories_of_histograms_that_are_numbers() -> None:
    _, x, labels = shaded()
    values = np.array([10.0, 3.0, 77.0, -2.0, 40.0])
    given = np.column_stack((x[:, 0], np.where(np.isnan(x[:, 1]), np.nan, values[np.nan_to_num(x[:, 1]).astype(int)]), x[:, 2]))
    model = HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=6, categorical_features=[1]).fit(given, labels)
    reading = reading_of(model)
    assert reading.categories == {1: (-2.0, 3.0, 10.0, 40.0, 77.0)}
    known = np.array(reading.categories[1])
    unknown = given.copy()
    unknown[::4, 1] = 5.0
    codes = np.where(np.isin(unknown[:, 1], known), np.searchsorted(known, unknown[:, 1]), np.nan)
    coded = np.column_stack((x[:, 0], codes, x[:, 2]))
    assert np.abs(reading.ask(unknown) - reading.forest.scores(coded)).max() <= reading.rounding


@pytest.mark.parametrize(
    ("model", "target", "reason"),
    [
        (DecisionTreeClassifier(), np.column_stack((TABLE.two, TABLE.three)), "it predicts 2 outputs a row"),
        (RandomForestRegressor(3), np.column_stack((TABLE.amount, TABLE.counts)), "it predicts 2 outputs a row"),
        (
            GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()),
            TABLE.two,
            "it begins with the predictions of another model (init=LogisticRegression)",
        ),
        (
            GradientBoostingClassifier(n_estimators=2, init=DummyClassifier(strategy="stratified", random_state=0)),
            TABLE.two,
            "it begins with the predictions of another model (init=DummyClassifier)",
        ),
        (
            AdaBoostClassifier(n_estimators=3),
            TABLE.two,
            "AdaBoostClassifier combines trees in a way that is not read",
        ),
        (BaggingRegressor(n_estimators=3), TABLE.amount, "BaggingRegressor combines trees in a way that is not read"),
    ],
)
def test_what_is_not_read(model: Any, target: Any, reason: str) -> None:
    assert reason_of(model.fit(TABLE.whole, target)) == reason


def test_what_a_user_derived_may_predict_otherwise() -> None:
    class Doubtful(RandomForestClassifier):  # type: ignore[misc]  # scikit-learn has no types
        def predict_proba(self, X: Any) -> Any:
            return 0.5 * (super().predict_proba(X) + 0.5)

    found = reason_of(Doubtful(3).fit(TABLE.whole, TABLE.two))
    assert found == "Doubtful is derived from RandomForestClassifier, and may predict otherwise"


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        IsolationForest(n_estimators=3),
        BaggingRegressor(LinearRegression(), n_estimators=3),
        VotingClassifier([("one", DecisionTreeClassifier()), ("other", LogisticRegression())]),
    ],
    ids=str,
)
def test_what_is_no_ensemble_of_trees(model: Any) -> None:
    assert read_model(model.fit(TABLE.whole, TABLE.two)) is None


def test_what_is_not_fitted_is_nobody_s() -> None:
    for model in (DecisionTreeClassifier(), RandomForestClassifier(), GradientBoostingRegressor()):
        assert read_model(model) is None
    assert read_model(HistGradientBoostingClassifier()) is None
    assert read_model(AdaBoostClassifier()) is None
    assert read_model(np.sin) is None
