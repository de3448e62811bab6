"""Models of XGBoost as forests: the same answers on thresholds, beside them, and where something is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from scipy.special import expit, logit

import tippingpoint as tp
from ensembles import SHADES, TABLE, furthest, reading_of, reason_of, shaded, shaded_frame
from tippingpoint.families.trees import readers
from tippingpoint.families.trees.readers.rounding import UNIT32

SMALL: dict[str, Any] = {"n_estimators": 7, "max_depth": 3, "n_jobs": 1}


def classifier(**settings: Any) -> Any:
    return xgb.XGBClassifier(**{**SMALL, **settings})


def regressor(**settings: Any) -> Any:
    return xgb.XGBRegressor(**{**SMALL, **settings})


def trained(objective: str, label: Any = TABLE.two, rounds: int = 6, **settings: Any) -> xgb.Booster:
    data = xgb.DMatrix(TABLE.x, label=label)
    return xgb.train({"objective": objective, "max_depth": 3, "nthread": 1, **settings}, data, num_boost_round=rounds)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"tree_method": "exact"},
        {"tree_method": "approx"},
        {"booster": "dart", "rate_drop": 0.5, "skip_drop": 0.2},
        {"booster": "dart", "rate_drop": 0.5, "base_score": 0.9, "num_parallel_tree": 2},
        {"num_parallel_tree": 3, "subsample": 0.6},
        {"base_score": 0.2},
        {"base_score": 0.99},
        {"grow_policy": "lossguide", "max_leaves": 6},
        {"gamma": 2.0, "tree_method": "exact", "max_depth": 5},
        {"monotone_constraints": "(1,0,0,0)"},
        {"objective": "reg:logistic"},
        {"learning_rate": 1e-3},
        {"objective": "binary:hinge"},
    ],
    ids=str,
)
def test_classifiers_of_two_classes(settings: dict[str, Any]) -> None:
    reading, apart = furthest(classifier(**settings).fit(TABLE.x, TABLE.two), TABLE.x)
    assert reading.returns == ("order" if settings.get("objective") == "binary:hinge" else "score")
    assert reading.classes == (0, 1)
    assert apart <= reading.rounding < 1e-5


@pytest.mark.parametrize(
    "settings", [{}, {"objective": "multi:softmax"}, {"booster": "dart", "rate_drop": 0.5}, {"num_parallel_tree": 2}], ids=str
)
def test_classifiers_of_three(settings: dict[str, Any]) -> None:
    reading, _ = furthest(classifier(**settings).fit(TABLE.x, TABLE.three), TABLE.x)
    assert (reading.returns, reading.classes, reading.forest.outputs) == ("score", (0, 1, 2), 3)


@pytest.mark.parametrize(
    ("objective", "link"),
    [
        ("reg:squarederror", "identity"),
        ("reg:squaredlogerror", "identity"),
        ("reg:pseudohubererror", "identity"),
        ("reg:absoluteerror", "identity"),
        ("reg:quantileerror", "identity"),
        ("count:poisson", "log"),
        ("reg:gamma", "log"),
        ("reg:tweedie", "log"),
        ("reg:logistic", "logit"),
        ("binary:logistic", "logit"),
        ("binary:logitraw", "identity"),
    ],
)
@pytest.mark.parametrize("base", [None, 0.3])
def test_regressors(objective: str, link: str, base: float | None) -> None:
    target = TABLE.two if "logi" in objective else TABLE.counts
    model = regressor(objective=objective, base_score=base, quantile_alpha=0.4 if "quantile" in objective else None)
    reading, _ = furthest(model.fit(TABLE.x, target), TABLE.x)
    assert (reading.returns, reading.link, reading.classes) == ("prediction", link, None)
    if base is not None:
        assert reading.forest.base == pytest.approx(
            {"identity": base, "log": np.log(base), "logit": logit(base)}[link], rel=1e-6
        )


def test_forests() -> None:
    furthest(xgb.XGBRFClassifier(n_estimators=6, max_depth=3, n_jobs=1).fit(TABLE.x, TABLE.two), TABLE.x)
    furthest(xgb.XGBRFRegressor(n_estimators=6, max_depth=3, n_jobs=1).fit(TABLE.x, TABLE.amount), TABLE.x)


def test_a_base_at_the_ends_is_kept_from_them() -> None:
    reading, _ = furthest(classifier(base_score=1e-9).fit(TABLE.x, TABLE.two), TABLE.x)
    kept = tuple(map(int, xgb.__version__.split(".")[:2])) >= (3, 2)
    assert reading.forest.base == pytest.approx(logit(1e-6 if kept else 1e-9), rel=1e-6)


def test_weights_that_are_stored_among_the_trees() -> None:
    """As 3.4 stores those of dart, and of the first trees only."""
    booster = classifier(booster="dart", rate_drop=0.5, n_estimators=9).fit(TABLE.x, TABLE.two).get_booster()
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    dart = learner["gradient_booster"]
    weights = dart.get("weight_drop") or dart["model"]["weight_drop"]
    assert min(weights) < 1.0
    trees = dart.get("gbtree", dart)
    first = {**learner, "gradient_booster": {**trees, "model": {**trees["model"], "weight_drop": weights[:5]}}}
    every = {**learner, "gradient_booster": {**dart, "gbtree": trees, "weight_drop": [*weights[:5], 1.0, 1.0, 1.0, 1.0]}}
    found = [readers.xgboost._forest(each, None, np.zeros(1)) for each in (first, every)]
    np.testing.assert_array_equal(found[0][0].values, found[1][0].values)
    assert found[0][1] == found[1][1]


def test_numbers_of_all_sizes() -> None:
    """Thresholds that float32 hardly tells apart, and ones of subnormal and of huge size."""
    rng = np.random.default_rng(5)
    step = float(np.spacing(np.float32(1e8)))
    x = np.column_stack((1e8 + step * rng.integers(0, 6, 200), 1e-42 * rng.integers(0, 9, 200), 1e30 * rng.normal(size=200)))
    y = (x[:, 0] > 1e8 + 2.0 * step).astype(int) ^ (x[:, 1] > 3e-42).astype(int) ^ (x[:, 2] > 0.0).astype(int)
    furthest(classifier(max_depth=4).fit(x, y), x)


def test_gaps_that_training_did_not_see() -> None:
    furthest(classifier().fit(TABLE.whole, TABLE.two), TABLE.x)


def test_categories_of_splits_that_were_pruned() -> None:
    frame, x, labels = shaded()
    model = classifier(enable_categorical=True, max_cat_to_onehot=1, max_depth=6, gamma=3.0, tree_method="hist")
    furthest(model.fit(frame, labels), x, shaded_frame)


def test_an_estimator_stops_at_the_best_round_and_its_booster_does_not() -> None:
    model = classifier(n_estimators=60, learning_rate=0.9, early_stopping_rounds=3, max_depth=5)
    model.fit(TABLE.x[:150], TABLE.two[:150], eval_set=[(TABLE.x[150:], TABLE.two[150:])], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    reading, _ = furthest(model, TABLE.x)
    assert len(reading.forest.roots) == model.best_iteration + 1
    whole = reading_of(model.get_booster())
    assert len(whole.forest.roots) == model.get_booster().num_boosted_rounds()
    margins = model.get_booster().predict(xgb.DMatrix(TABLE.x), output_margin=True)
    np.testing.assert_allclose(whole.forest.scores(TABLE.x)[:, 0], margins, atol=whole.rounding)


@pytest.mark.parametrize(
    ("objective", "returns"),
    [
        ("binary:logistic", "score"),
        ("binary:logitraw", "score"),
        ("binary:hinge", "order"),
        ("multi:softmax", "score"),
        ("multi:softprob", "score"),
        ("reg:logistic", "prediction"),
        ("count:poisson", "prediction"),
    ],
)
def test_boosters(objective: str, returns: str) -> None:
    several = objective.startswith("multi:")
    booster = trained(objective, TABLE.three if several else TABLE.two, **({"num_class": 3} if several else {}))
    reading = reading_of(booster)
    scores = reading.forest.scores(TABLE.x)
    assert reading.returns == returns
    assert np.abs(scores - reading.ask(TABLE.x)).max() <= reading.rounding
    predicted = booster.predict(xgb.DMatrix(TABLE.x))
    if objective in ("binary:logistic", "reg:logistic"):
        np.testing.assert_allclose(predicted, expit(scores[:, 0]), atol=1e-6)
    elif objective == "multi:softmax":
        np.testing.assert_array_equal(predicted, scores.argmax(axis=1))
    elif objective == "binary:hinge":
        np.testing.assert_array_equal(predicted, scores[:, 0] > 0.0)


def test_a_booster_takes_columns_by_name_and_an_estimator_too() -> None:
    frame = pd.DataFrame(TABLE.x, columns=["a", "b", "c", "d"])
    backwards = frame[["d", "c", "b", "a"]]
    estimator = classifier().fit(frame, TABLE.two)
    for model in (estimator, estimator.get_booster()):
        reading = reading_of(model)
        assert reading.names == ("a", "b", "c", "d")
        assert np.abs(reading.ask(backwards) - reading.forest.scores(TABLE.x)).max() <= reading.rounding


@pytest.mark.parametrize("onehot", [1, 100], ids=["sets", "one category a split"])
@pytest.mark.parametrize("kind", ["gbtree", "dart"])
def test_categories_that_are_listed_go_left(onehot: int, kind: str) -> None:
    frame, x, labels = shaded()
    model = classifier(enable_categorical=True, max_cat_to_onehot=onehot, booster=kind, tree_method="hist").fit(frame, labels)
    reading, _ = furthest(model, x, shaded_frame)
    assert reading.forest.sets
    assert reading.categories in ({1: SHADES}, {})  # before 3.1 their names are not stored
    booster = reading_of(model.get_booster())
    assert np.abs(booster.ask(frame) - reading.forest.scores(x)).max() <= reading.rounding


def test_categories_that_are_numbers() -> None:
    _, x, labels = shaded()
    types = ["q", "c", "q"]
    data = xgb.DMatrix(x, label=labels, feature_types=types, enable_categorical=True)
    settings = {"objective": "binary:logistic", "max_depth": 3, "max_cat_to_onehot": 1, "tree_method": "hist"}
    reading = reading_of(xgb.train(settings, data, num_boost_round=6))
    assert reading.forest.sets
    assert reading.categories == {}
    unseen = np.vstack((x, np.column_stack((x[:5, 0], [7.0, 40.0, -1.0, 5.0, 100.0], x[:5, 2]))))
    seen = np.where(unseen[:, 1] < 0.0, 99.0, unseen[:, 1])  # codes below 0 are refused
    rows = np.column_stack((unseen[:, 0], seen, unseen[:, 2]))
    assert np.abs(reading.ask(rows) - reading.forest.scores(rows)).max() <= reading.rounding


def test_categories_that_are_numbers_of_an_estimator() -> None:
    _, x, labels = shaded()
    model = classifier(feature_types=["q", "c", "q"], enable_categorical=True, max_cat_to_onehot=1, tree_method="hist")
    assert furthest(model.fit(x, labels), x)[0].forest.sets


def test_objectives_of_the_user_s_are_read_as_what_predict_makes_of_them() -> None:
    def squares(truth: Any, predicted: Any) -> tuple[Any, Any]:
        return predicted - truth, np.ones_like(predicted)

    furthest(regressor(objective=squares).fit(TABLE.x, TABLE.amount), TABLE.x)
    furthest(classifier(objective=squares).fit(TABLE.x, TABLE.two), TABLE.x)


def test_columns_that_are_called_by_numbers() -> None:
    frame = pd.DataFrame(TABLE.x)
    model = classifier().fit(frame, TABLE.two)
    for each in (model, model.get_booster()):
        reading = reading_of(each)
        assert reading.names == ("0", "1", "2", "3")
        assert np.abs(reading.ask(frame) - reading.forest.scores(TABLE.x)).max() <= reading.rounding


@pytest.mark.parametrize("ending", ["json", "ubj"])
def test_files(ending: str, tmp_path: Path) -> None:
    frame, x, labels = shaded()
    saved = classifier(enable_categorical=True, max_cat_to_onehot=1).fit(frame, labels)
    saved.save_model(tmp_path / f"model.{ending}")
    loaded = tp.load_model(tmp_path / f"model.{ending}", classes=["no", "yes"])
    reading, original = reading_of(loaded), reading_of(saved)
    assert reading.classes == ("no", "yes")
    np.testing.assert_array_equal(reading.forest.scores(x), original.forest.scores(x))
    assert np.abs(reading.ask(frame[["b", "shade", "a"]]) - original.forest.scores(x)).max() <= reading.rounding
    regressor(objective="count:poisson").fit(TABLE.x, TABLE.counts).save_model(tmp_path / f"counts.{ending}")
    furthest(tp.load_model(tmp_path / f"counts.{ending}"), TABLE.x)


def test_a_file_stops_at_the_best_round(tmp_path: Path) -> None:
    model = classifier(n_estimators=60, learning_rate=0.9, early_stopping_rounds=3, max_depth=5)
    model.fit(TABLE.x[:150], TABLE.two[:150], eval_set=[(TABLE.x[150:], TABLE.two[150:])], verbose=False)
    model.save_model(tmp_path / "model.json")
    reading, _ = furthest(tp.load_model(tmp_path / "model.json"), TABLE.x)
    assert len(reading.forest.roots) == model.best_iteration + 1


def test_the_bound_on_rounding_is_one_for_many_trees() -> None:
    model = classifier(n_estimators=300, max_depth=6).fit(TABLE.x, TABLE.two)
    reading, apart = furthest(model, TABLE.x)
    assert UNIT32 < apart <= reading.rounding < 1e-3


@pytest.mark.parametrize(
    ("model", "target", "reason"),
    [
        (xgb.XGBClassifier(booster="gblinear", n_estimators=2), TABLE.two, "it is a linear model (gblinear), without trees"),
        (classifier(missing=-1.0), TABLE.two, "it reads -1 as missing, and only NaN is read so here"),
        (
            regressor(multi_strategy="multi_output_tree", tree_method="hist"),
            np.column_stack((TABLE.amount, TABLE.counts)),
            "its leaves hold several numbers (multi_output_tree)",
        ),
        (regressor(), np.column_stack((TABLE.amount, TABLE.counts)), "it predicts 2 numbers a row"),
        (
            classifier(objective="binary:logitraw"),
            TABLE.two,
            "its predict compares log-odds (binary:logitraw) with a half, as if they were probabilities",
        ),
        (
            classifier(objective="reg:squarederror"),
            TABLE.two,
            "its objective is 'reg:squarederror', which is not read of a classifier",
        ),
        (regressor(objective="survival:cox"), TABLE.counts, "its objective is 'survival:cox', which is not read"),
        (regressor(objective="rank:pairwise"), TABLE.two, "its objective is 'rank:pairwise', which is not read"),
    ],
)
def test_what_is_not_read(model: Any, target: Any, reason: str) -> None:
    assert reason_of(model.fit(np.nan_to_num(TABLE.x), target)) == reason


def test_what_is_not_read_of_rankers_and_boosters() -> None:
    ranker = xgb.XGBRanker(**SMALL).fit(TABLE.x, TABLE.three, qid=np.repeat(np.arange(12), 20))
    assert reason_of(ranker) == "its objective is 'rank:ndcg', which is not read"
    assert reason_of(trained("binary:logistic", rounds=0)) == "it has no trees"
