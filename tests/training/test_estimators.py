"""The estimators as scikit-learn's: its checks, clones, labels, frames, pipelines, and modules of the user's own."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator
from torch import nn

from tippingpoint.training import (
    EXCEPTIONS,
    AdversarialTrainingClassifier,
    AdversarialTrainingRegressor,
    ERMClassifier,
    ERMRegressor,
)
from trainees import ALL, CLASSIFIERS, NAMES, REGRESSORS, TARGET, Y3, Bent, D, X, Y, small, state, y_of


@pytest.mark.parametrize(
    ("estimator", "check"),
    [case for make in ALL for case in estimator_checks_generator(small(make), expected_failed_checks=EXCEPTIONS, mark="xfail")],
    ids=lambda part: getattr(getattr(part, "func", None), "__name__", type(part).__name__),
)
def test_the_estimators_pass_the_checks_of_scikit_learn_but_those_they_list(estimator: Any, check: Any) -> None:
    check(estimator)


def test_every_exception_has_a_reason_and_is_a_check_that_exists() -> None:
    known = {check.func.__name__ for _, check in estimator_checks_generator(small(ERMClassifier))}
    assert set(EXCEPTIONS) <= known
    assert all(len(reason) > 40 for reason in EXCEPTIONS.values())


@pytest.mark.parametrize("make", ALL)
def test_a_clone_has_the_parameters_and_nothing_else(make: Any) -> None:
    changed = {"model": "linear", "weight_decay": 0.1, "validation_share": 0.2, "patience": 3, "batch_size": 32}
    if make in REGRESSORS:
        changed["loss"] = "absolute"
    if make.tuned:
        changed[make.tuned] = 0.7
    estimator = small(make).set_params(**changed).fit(X, y_of(make))
    copied = clone(estimator)
    assert copied.get_params() == {**small(make).get_params(), **changed}
    assert not hasattr(copied, "module_")
    np.testing.assert_array_equal(copied.fit(X, y_of(make)).predict(X), estimator.predict(X))


def test_the_defaults_are_those_of_the_paper() -> None:
    shared = {"model": "mlp", "hidden": 16, "learning_rate": 1e-3, "batch_size": None, "weight_decay": 0.0}
    for make in ALL:
        given = make().get_params()
        assert {name: given[name] for name in shared} == shared
    assert AdversarialTrainingClassifier().inner_steps == AdversarialTrainingRegressor().inner_steps == 20
    layers = [str(layer) for layer in ERMClassifier(max_iter=1).fit(X, Y3).as_module().children()]
    assert [layer.split("(")[0] for layer in layers] == ["Linear", "ReLU", "Linear"]
    assert "out_features=16" in layers[0]
    assert "out_features=3" in layers[2]


@pytest.mark.parametrize("make", ALL)
def test_an_estimator_survives_pickling_and_keeps_its_module_in_float64(make: Any) -> None:
    estimator = small(make).fit(X, y_of(make))
    assert all(parameter.dtype is torch.float64 for parameter in estimator.as_module().parameters())
    again = pickle.loads(pickle.dumps(estimator))  # noqa: S301
    np.testing.assert_array_equal(again.predict(X), estimator.predict(X))


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_labels_may_be_words_and_three_of_them(make: Any) -> None:
    words = np.array(["high", "low", "mid"])
    named, numbered = small(make).fit(X, words[Y3]), small(make).fit(X, Y3)
    assert named.classes_.tolist() == ["high", "low", "mid"]
    np.testing.assert_array_equal(named.predict(X), words[numbered.predict(X)])
    chances = named.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(named.classes_[chances.argmax(axis=1)], named.predict(X))
    np.testing.assert_array_equal(named.decision_function(X).argmax(axis=1), chances.argmax(axis=1))
    assert named.score(X, words[Y3]) > 0.5
    two = small(make).fit(X, words[Y])
    assert set(two.predict(X)) == {"high", "low"}
    np.testing.assert_array_equal(two.predict(X) == "low", two.decision_function(X) > 0.0)
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], 1.0 / (1.0 + np.exp(-two.decision_function(X))))


def test_probabilities_of_scores_beyond_any_exponential_are_numbers() -> None:
    chances = small(ERMClassifier, "linear").fit(X, Y).predict_proba(1e6 * X)
    assert np.isfinite(chances).all()
    assert {0.0, 1.0} == set(chances.ravel())


def test_a_prediction_is_the_same_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    model = small(ERMClassifier).fit(X, Y)
    whole = model.decision_function(X)
    monkeypatch.setattr("tippingpoint.training.bases.BLOCK", 7)
    np.testing.assert_allclose(model.decision_function(X), whole, rtol=1e-12)


def test_in_a_pipeline_and_a_grid_an_estimator_is_one_like_others() -> None:
    wide = X * [1.0, 1e3, 1e-3]
    pipeline = make_pipeline(StandardScaler(), small(AdversarialTrainingClassifier))
    search = GridSearchCV(pipeline, {"adversarialtrainingclassifier__gamma": [0.05, 5.0]}, cv=2).fit(wide, Y)
    assert search.best_score_ > 0.6
    best = search.best_estimator_[-1]
    alone = small(AdversarialTrainingClassifier, gamma=best.gamma).fit(StandardScaler().fit_transform(wide), Y)
    np.testing.assert_allclose(search.predict_proba(wide), alone.predict_proba(StandardScaler().fit_transform(wide)), atol=1e-5)
    assert cross_val_score(small(ERMRegressor, max_iter=300), X, TARGET, cv=2).min() > 0.4


def test_a_frame_leaves_its_names_and_must_come_back_in_their_order() -> None:
    frame = pd.DataFrame(X, columns=NAMES)
    model = small(ERMClassifier).fit(frame, pd.Series(Y))
    assert model.feature_names_in_.tolist() == NAMES
    assert model.n_features_in_ == D
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame[NAMES[::-1]])


def test_features_are_the_same_by_name_by_position_and_in_any_order() -> None:
    frame = pd.DataFrame(X, columns=NAMES)
    ways: list[Any] = [["debt", "age"], [0, 2], [2, "age"], np.array([2, 0]), (0, 2, 2), pd.Index(["age", "debt"])]
    others: list[Any] = [[1], [0], [0, 1, 2]]
    same, different = (
        {state(small(AdversarialTrainingClassifier, features=way, max_iter=15).fit(frame, Y)) for way in given}
        for given in (ways, others)
    )
    assert (len(same), len(different), len(same | different)) == (1, 3, 4)
    assert state(small(AdversarialTrainingClassifier, max_iter=15).fit(frame, Y)) in different


def test_the_adversary_takes_as_many_steps_as_it_is_given() -> None:
    fits = [small(AdversarialTrainingClassifier, gamma=0.5, inner_steps=steps, max_iter=10).fit(X, Y) for steps in (1, 2, 4)]
    assert len({state(model) for model in fits}) == 3


def deep(features: int, outputs: int) -> nn.Module:
    layers = [nn.Linear(features, 6), nn.Tanh(), nn.BatchNorm1d(6), nn.Linear(6, 5), nn.Dropout(0.2), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(5, outputs))


@pytest.mark.parametrize("make", ALL)
def test_a_module_of_the_users_own_is_trained(make: Any) -> None:
    model = small(make, deep, max_iter=150, validation_share=0.0).fit(X, y_of(make))
    assert isinstance(model.as_module()[2], nn.BatchNorm1d)
    assert not model.as_module().training
    assert model.score(X, y_of(make)) > 0.5
    with torch.no_grad():
        scores = model.as_module()(torch.tensor(X))[:, 0].numpy()
    ours = model.predict(X) if make in REGRESSORS else model.decision_function(X)
    np.testing.assert_array_equal(ours, scores)


def test_only_a_linear_model_has_coefficients() -> None:
    model = small(ERMClassifier, "linear").fit(X, Y)
    np.testing.assert_allclose(X @ model.coef_[0] + model.intercept_[0], model.decision_function(X), rtol=1e-12)
    for curved in ("mlp", Bent):
        again = model.set_params(model=curved).fit(X, Y)
        assert not hasattr(again, "coef_")
        assert not hasattr(again, "intercept_")
        with pytest.raises(AttributeError, match="is not linear"):
            _ = again.coef_
    assert not hasattr(ERMRegressor("linear"), "coef_")
    assert not hasattr(small(ERMRegressor).fit(X, TARGET), "intercept_")
    model.set_params(model="linear").fit(X, Y).coef_[:] = 0.0
    assert model.coef_.any()


def test_a_line_without_an_intercept_has_one_of_zero() -> None:
    model = small(ERMClassifier, lambda features, outputs: nn.Linear(features, outputs, bias=False)).fit(X, Y)
    np.testing.assert_array_equal(model.intercept_, [0.0])
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0], rtol=1e-12)
    number = small(ERMRegressor, lambda features, outputs: nn.Linear(features, outputs, bias=False)).fit(X, TARGET)
    assert number.intercept_ == 0.0
