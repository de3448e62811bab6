"""Models of LightGBM as forests: the same answers on thresholds, beside them, next to zero, and where something is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import tippingpoint as tp
from ensembles import SHADES, TABLE, furthest, reading_of, reason_of, shaded, shaded_frame

SMALL: dict[str, Any] = {"n_estimators": 7, "num_leaves": 6, "min_child_samples": 5, "verbose": -1, "n_jobs": 1}


def classifier(**settings: Any) -> Any:
    return lgb.LGBMClassifier(**{**SMALL, **settings})


def regressor(**settings: Any) -> Any:
    return lgb.LGBMRegressor(**{**SMALL, **settings})


def trained(objective: Any, label: Any = TABLE.two, **settings: Any) -> lgb.Booster:
    known = {"objective": objective, "num_leaves": 6, "min_data_in_leaf": 5, "verbose": -1, "num_threads": 1, **settings}
    return lgb.train(known, lgb.Dataset(TABLE.x, label=label), num_boost_round=6)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"boosting_type": "dart"},
        {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1},
        {"data_sample_strategy": "goss"},
        {"sigmoid": 0.123456789},
        {"sigmoid": 2.5, "boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1},
        {"use_missing": False},
        {"boost_from_average": False},
        {"is_unbalance": True},
        {"max_bin": 4},
        {"objective": "cross_entropy"},
        {"extra_trees": True},
    ],
    ids=str,
)
def test_classifiers_of_two_classes(settings: dict[str, Any]) -> None:
    labels = np.array(["no", "yes"])[TABLE.two]
    reading, apart = furthest(classifier(**settings).fit(TABLE.x, labels), TABLE.x)
    assert (reading.returns, reading.classes) == ("score", ("no", "yes"))
    assert apart <= reading.rounding < 1e-13


@pytest.mark.parametrize("settings", [{}, {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1}], ids=str)
def test_classifiers_of_three(settings: dict[str, Any]) -> None:
    reading, _ = furthest(classifier(**settings).fit(TABLE.x, TABLE.three), TABLE.x)
    assert (reading.returns, reading.classes, reading.forest.outputs) == ("score", (0, 1, 2), 3)


def test_one_against_all_tells_an_order_only() -> None:
    model = classifier(objective="multiclassova", sigmoid=1.5).fit(TABLE.x, TABLE.three)
    reading, _ = furthest(model, TABLE.x)
    assert reading.returns == "order"
    assert (np.abs(model.predict_proba(TABLE.x).sum(axis=1) - 1.0) > 0.01).any()


@pytest.mark.parametrize(
    ("objective", "link"),
    [
        *((name, "identity") for name in ("regression", "regression_l1", "huber", "fair", "quantile", "mape")),
        *((name, "log") for name in ("poisson", "gamma", "tweedie")),
        *((name, "logit") for name in ("cross_entropy", "binary")),
    ],
)
def test_regressors(objective: str, link: str) -> None:
    model = regressor(objective=objective).fit(TABLE.x, TABLE.two if link == "logit" else TABLE.counts)
    reading, _ = furthest(model, TABLE.x)
    assert (reading.returns, reading.link, reading.classes) == ("prediction", link, None)


def test_numbers_next_to_zero_are_zero() -> None:
    rng = np.random.default_rng(2)
    tiny = float(np.float32(1e-35))
    sides = np.array([-3e-35, np.nextafter(-tiny, -1.0), -tiny, -1e-36, -0.0, 0.0, 1e-37, tiny, np.nextafter(tiny, 1.0), 3e-35])
    for cut in (-1e-35, 0.0, 1e-35):
        x = np.column_stack((rng.choice(sides, 300), rng.normal(size=300)))
        y = (x[:, 0] > cut).astype(int) ^ (x[:, 1] > 1.5).astype(int)
        reading, apart = furthest(classifier().fit(x, y), x, gaps=False)
        assert 0 in reading.forest.columns
        assert apart == 0.0


def test_gaps_that_training_did_not_see_are_zero_or_no_category() -> None:
    furthest(classifier().fit(TABLE.whole, TABLE.two), TABLE.x)
    _, x, labels = shaded()
    seen = np.nan_to_num(x)
    model = classifier(min_data_per_group=1, cat_smooth=1.0).fit(shaded_frame(np.arange(len(x)), seen), labels)
    assert furthest(model, x, shaded_frame)[0].forest.sets


def test_a_split_of_what_is_missing_from_all_the_rest() -> None:
    x = np.where(np.random.default_rng(0).random((300, 1)) < 0.4, np.nan, np.random.default_rng(1).normal(size=(300, 1)))
    reading, _ = furthest(classifier(n_estimators=1, num_leaves=2).fit(x, np.isnan(x[:, 0]).astype(int)), x)
    assert np.isinf(reading.forest.threshold[0])
    assert not reading.forest.missing_left[0]


def test_a_model_without_a_split() -> None:
    reading, _ = furthest(regressor(min_child_samples=1000).fit(TABLE.x, TABLE.amount), TABLE.x)
    assert len(reading.forest.columns) == 0


def test_predict_stops_at_the_best_round() -> None:
    settings = {"objective": "binary", "learning_rate": 0.9, "min_data_in_leaf": 5, "verbose": -1, "num_threads": 1}
    known = lgb.Dataset(TABLE.x[:150], label=TABLE.two[:150], free_raw_data=False)
    held_out = known.create_valid(TABLE.x[150:], label=TABLE.two[150:])
    stop = lgb.early_stopping(2, verbose=False)
    booster = lgb.train(settings, known, 80, valid_sets=[held_out], callbacks=[stop], keep_training_booster=True)
    assert 0 < booster.best_iteration < booster.num_trees()
    reading = reading_of(booster)
    assert len(reading.forest.roots) == booster.best_iteration
    np.testing.assert_allclose(booster.predict(TABLE.x), expit(reading.forest.scores(TABLE.x)[:, 0]), atol=1e-13)


@pytest.mark.parametrize(
    ("objective", "returns"),
    [
        ("binary", "score"),
        ("cross_entropy", "score"),
        ("multiclass", "score"),
        ("regression", "prediction"),
        ("poisson", "prediction"),
    ],
)
def test_boosters(objective: str, returns: str) -> None:
    several = objective == "multiclass"
    booster = trained(objective, TABLE.three if several else TABLE.two, **({"num_class": 3} if several else {}))
    reading = reading_of(booster)
    scores = reading.forest.scores(TABLE.x)
    assert reading.returns == returns
    assert np.abs(scores - reading.ask(TABLE.x)).max() <= 2.0 * reading.rounding
    assert reading.classes == (None if returns == "prediction" else (0, 1, 2) if several else (0, 1))
    if objective in ("binary", "cross_entropy"):
        np.testing.assert_allclose(booster.predict(TABLE.x), expit(scores[:, 0]), atol=1e-12)


def test_a_booster_takes_columns_by_name() -> None:
    frame = pd.DataFrame(TABLE.x, columns=["a", "b c", "d", "e"])
    model = classifier().fit(frame, TABLE.two)
    reading = reading_of(model.booster_)
    assert reading.names == ("a", "b_c", "d", "e")
    assert np.abs(reading.ask(frame[["e", "d", "b c", "a"]]) - reading.forest.scores(TABLE.x)).max() <= reading.rounding
    assert np.abs(reading_of(model).ask(frame) - reading.forest.scores(TABLE.x)).max() <= reading.rounding


def test_categories_that_are_listed_go_left() -> None:
    frame, x, labels = shaded()
    settings = {"min_data_per_group": 1, "cat_smooth": 1.0, "max_cat_to_onehot": 1}
    model = classifier(**settings).fit(frame, labels)
    reading, _ = furthest(model, x, shaded_frame)
    assert reading.forest.sets
    assert reading.categories == {1: SHADES}
    booster = reading_of(model.booster_)
    unknown = frame.assign(shade=frame["shade"].astype(object).where(np.arange(len(frame)) % 3 > 0, "mauve"))
    x = np.where((np.arange(len(x)) % 3 == 0)[:, None] & (np.arange(3) == 1), np.nan, x)
    assert np.abs(booster.ask(unknown) - booster.forest.scores(x)).max() <= booster.rounding


def test_categories_that_are_numbers() -> None:
    _, x, labels = shaded()
    data = lgb.Dataset(np.where(x == 3.0, 47.0, x), label=labels, categorical_feature=[1])
    settings = {
        "objective": "binary",
        "min_data_per_group": 1,
        "cat_smooth": 1.0,
        "max_cat_to_onehot": 1,
        "min_data_in_leaf": 5,
    }
    reading = reading_of(lgb.train({**settings, "verbose": -1, "num_threads": 1}, data, num_boost_round=6))
    assert reading.forest.sets
    assert reading.categories == {}
    rows = np.column_stack((np.repeat(x[:, 0], 5), np.tile([0.0, 47.0, 6.0, -3.0, 1000.0], len(x)), np.repeat(x[:, 2], 5)))
    assert np.abs(reading.ask(rows) - reading.forest.scores(rows)).max() <= reading.rounding


def test_columns_that_are_called_by_numbers() -> None:
    frame = pd.DataFrame(TABLE.x)
    model = classifier().fit(frame, TABLE.two)
    for each in (model, model.booster_):
        reading = reading_of(each)
        assert reading.names == ("0", "1", "2", "3")
        assert np.abs(reading.ask(frame) - reading.forest.scores(TABLE.x)).max() <= reading.rounding


def test_files(tmp_path: Path) -> None:
    frame, x, labels = shaded()
    saved = classifier(min_data_per_group=1, cat_smooth=1.0, sigmoid=1.7).fit(frame, labels)
    saved.booster_.save_model(tmp_path / "model.txt")
    loaded = tp.load_model(tmp_path / "model.txt", classes=["no", "yes"])
    reading = reading_of(loaded)
    assert reading.classes == ("no", "yes")
    np.testing.assert_array_equal(reading.forest.scores(x), reading_of(saved).forest.scores(x))
    assert np.abs(reading.ask(frame[["b", "shade", "a"]]) - reading.forest.scores(x)).max() <= reading.rounding
    regressor(objective="gamma").fit(TABLE.x, TABLE.counts).booster_.save_model(tmp_path / "amounts.txt")
    furthest(tp.load_model(tmp_path / "amounts.txt"), TABLE.x)
    trained("cross_entropy", sigmoid=3.0).save_model(tmp_path / "shares.txt")
    furthest(tp.load_model(tmp_path / "shares.txt"), TABLE.x)


def squares(truth: Any, predicted: Any) -> tuple[Any, Any]:
    return predicted - truth, np.ones_like(predicted)


def test_an_objective_of_the_user_s() -> None:
    furthest(regressor(objective=squares).fit(TABLE.x, TABLE.amount), TABLE.x)
    reason = "its objective is one of the user's, and nothing says what its sums are"
    assert reason_of(classifier(objective=squares).fit(TABLE.x, TABLE.two)) == reason
    assert reason_of(regressor(objective=squares).fit(TABLE.x, TABLE.amount).booster_) == reason


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (regressor(linear_tree=True), "its leaves hold linear models (linear_tree)"),
        (regressor(zero_as_missing=True), "it reads zeros as missing (zero_as_missing)"),
        (regressor(reg_sqrt=True), "it predicts squares of its sums (reg_sqrt)"),
        (classifier(objective="regression"), "its objective is 'regression', which is not read of a classifier"),
        (regressor(objective="cross_entropy_lambda"), "its objective is 'cross_entropy_lambda', which is not read"),
    ],
)
def test_what_is_not_read(model: Any, reason: str) -> None:
    assert reason_of(model.fit(TABLE.x, TABLE.two)) == reason


def test_what_is_not_read_of_rankers_and_ordered_categories() -> None:
    ranker = lgb.LGBMRanker(**SMALL).fit(TABLE.x, TABLE.three, group=[20] * 12)
    assert reason_of(ranker) == "its objective is 'lambdarank', which is not read"
    frame, _, labels = shaded()
    ordered = frame.assign(shade=frame["shade"].cat.as_ordered())
    assert reason_of(classifier().fit(ordered, labels)) == (
        "it was trained on ordered categories, or on several kinds of them, and does not store in which columns"
    )
