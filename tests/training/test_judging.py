"""Trained estimators before the front door: judged as the module or the line that they are."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tippingpoint as tp
from tippingpoint.errors import InputError
from tippingpoint.training import (
    AdversarialTrainingClassifier,
    AdversarialTrainingRegressor,
    ERMClassifier,
    ERMRegressor,
    TiltedERMClassifier,
    TiltedERMRegressor,
    select,
)
from trainees import Bent

RNG = np.random.default_rng(6)
NAMES = ["age", "income", "debt"]
X = pd.DataFrame(RNG.normal(size=(30, 3)), columns=NAMES)
SCORE = X.to_numpy() @ [1.5, -1.0, 0.5]
TARGET = SCORE + 0.2 * RNG.normal(size=30)
Y = np.where(SCORE + 0.5 * RNG.logistic(size=30) > 0.0, "repaid", "default")
Y3 = np.array(["a", "b", "c"])[np.digitize(TARGET, [-1.0, 1.0])]
QUICK: dict[str, Any] = {"hidden": 4, "max_iter": 60, "learning_rate": 0.05, "validation_share": 0.0, "random_state": 0}
ASKED: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}


def stability(model: Any, y: Any, x: Any = X, **options: Any) -> Any:
    return tp.stability(model, x, y, **{"risk": 0.5, **ASKED, **options})


@cache
def trained(make: Any, model: str = "mlp") -> Any:
    dear = {"gamma": 100.0, "inner_steps": 2} if make is AdversarialTrainingRegressor else {}
    quick = {"inner_steps": 3} if make is AdversarialTrainingClassifier else dear
    return make(model, **QUICK, **quick).fit(X, TARGET if make.__name__.endswith("Regressor") else Y)


def assert_same(ours: Any, theirs: Any) -> None:
    """Two results of the same question, to the bit but for the sums inside."""
    assert 0.0 < ours.value < np.inf
    for name in ("value", "lower", "upper", "current_risk", "exact", "loss", "samples"):
        a, b = getattr(ours, name), getattr(theirs, name)
        assert a == b or a == pytest.approx(b, rel=1e-9), name


@pytest.mark.parametrize("loss", [None, "cross_entropy"])
@pytest.mark.parametrize("make", [ERMClassifier, AdversarialTrainingClassifier, TiltedERMClassifier])
def test_a_classifier_is_judged_as_its_module_with_its_labels(make: Any, loss: str | None) -> None:
    model, risk = trained(make), 0.5 if loss is None else 1.5
    ours = stability(model, Y, loss=loss, risk=risk)
    assert_same(ours, stability(model.as_module(), Y, loss=loss, risk=risk, classes=["default", "repaid"]))
    if loss is None:
        assert ours.current_risk == pytest.approx(1.0 - model.score(X, Y))


def test_the_labels_are_the_models_not_those_of_the_data() -> None:
    """Without a label that the model knows, and with one that it does not."""
    three = ERMClassifier(**QUICK).fit(X, Y3)
    known = np.isin(Y3, ["a", "c"])
    ours = stability(three, Y3[known], X[known], certify="none", risk=0.7)
    assert_same(ours, stability(three.as_module(), Y3[known], X[known], certify="none", risk=0.7, classes=["a", "b", "c"]))
    assert ours.current_risk == pytest.approx(1.0 - three.score(X[known], Y3[known]))
    with pytest.raises(InputError, match="'late', which is not one of classes="):
        stability(trained(ERMClassifier), np.where(Y == "repaid", "repaid", "late"))


@pytest.mark.parametrize("make", [ERMRegressor, AdversarialTrainingRegressor, TiltedERMRegressor])
def test_a_regressor_is_judged_by_the_squared_loss_unless_another_is_named(make: Any) -> None:
    model, options = trained(make), {"risk": 5.0, "theta1": 20.0, "certify": "none"}
    ours = stability(model, TARGET, **options)
    assert ours.loss == "squared"
    assert ours.current_risk == pytest.approx(np.mean((model.predict(X) - TARGET) ** 2))
    assert_same(ours, stability(model.as_module(), TARGET, loss="squared", **options))
    assert stability(model, TARGET, loss="absolute", **options).loss == "absolute"


def test_every_feature_of_an_estimator_is_judged_as_that_of_its_module() -> None:
    model = trained(ERMClassifier)
    ours = tp.feature_stability(model, X, Y, 0.6, **ASKED)
    theirs = tp.feature_stability(model.as_module(), X, Y, 0.6, classes=["default", "repaid"], **ASKED)
    assert list(ours.to_frame()["feature"]) == list(theirs.to_frame()["feature"])
    for name in NAMES:
        assert_same(ours.results[name], theirs.results[name])


@pytest.mark.parametrize("loss", ["zero_one", "cross_entropy", "hinge"])
def test_a_linear_classifier_is_exact_and_its_coefficients(loss: str) -> None:
    model = trained(ERMClassifier, "linear")
    ours = stability(model, Y, loss=loss, risk=0.9)
    assert ours.exact
    assert_same(ours, stability((model.coef_, model.intercept_), Y == "repaid", loss=loss, risk=0.9))


def test_a_linear_regressor_is_exact_and_its_coefficients() -> None:
    model = trained(ERMRegressor, "linear")
    ours = stability(model, TARGET, risk=5.0, theta1=20.0)
    assert (ours.exact, ours.loss) == (True, "squared")
    assert_same(ours, stability((model.coef_, model.intercept_), TARGET, loss="squared", risk=5.0, theta1=20.0))


def test_a_linear_model_of_three_classes_is_exact() -> None:
    model = ERMClassifier("linear", **QUICK).fit(X, Y3)
    ours = stability(model, Y3, risk=0.7)
    assert ours.exact
    assert_same(ours, stability(tp.LinearModel.of(model.coef_, model.intercept_, ["a", "b", "c"]), Y3, risk=0.7))


def test_a_model_that_was_linear_once_is_judged_as_it_is_now() -> None:
    model = ERMClassifier("linear", **QUICK).fit(X, Y).set_params(model="mlp").fit(X, Y)
    assert_same(stability(model, Y), stability(trained(ERMClassifier), Y))


def test_a_child_of_a_linear_layer_is_not_judged_as_a_line() -> None:
    model = ERMClassifier(Bent, **QUICK).fit(X, Y)
    ours = stability(model, Y, certify="none")
    assert not ours.exact
    assert ours.current_risk == pytest.approx(1.0 - model.score(X, Y))


@pytest.mark.parametrize("model", ["mlp", "linear"])
def test_behind_a_scaler_an_estimator_is_judged_in_the_units_of_the_data(model: str) -> None:
    """The squared distance of scaled columns is that of the raw ones at the prices `1/s²`."""
    wide = X * [1.0, 30.0, 0.1]
    pipeline = make_pipeline(StandardScaler(), ERMClassifier(model, **QUICK)).fit(wide, Y)
    scaler, last = pipeline[0], pipeline[1]
    price = {name: float(s**-2) for name, s in zip(NAMES, scaler.scale_, strict=True)}
    raw = stability(pipeline, Y, wide, space=tp.Space(price=price))
    scaled = stability(last, Y, scaler.transform(wide))
    assert raw.value == pytest.approx(scaled.value, rel=1e-6)
    assert raw.exact == scaled.exact == (model == "linear")
    assert raw.current_risk == pytest.approx(1.0 - pipeline.score(wide, Y))


def test_what_a_grid_or_a_selection_ended_with_is_judged() -> None:
    robust = AdversarialTrainingClassifier(**{**QUICK, "validation_share": 0.2}, inner_steps=2)
    grid = GridSearchCV(robust, {"gamma": [1.0, 50.0]}, cv=2).fit(X, Y)
    best = AdversarialTrainingClassifier(**grid.best_estimator_.get_params()).fit(X, Y)
    assert_same(stability(grid, Y, certify="none"), stability(best, Y, certify="none"))
    chosen = select(robust, X, Y, values=[1.0, 50.0]).best
    assert stability(chosen, Y, certify="none").current_risk == pytest.approx(1.0 - chosen.score(X, Y))


@pytest.mark.parametrize("model", ["mlp", "linear"])
def test_columns_in_another_order_are_refused(model: str) -> None:
    with pytest.raises(InputError, match=r"reorder X|pass the columns it was fitted on"):
        stability(trained(ERMClassifier, model), Y, X[NAMES[::-1]])
    behind = make_pipeline(StandardScaler(), ERMClassifier(model, **QUICK)).fit(X, Y)
    with pytest.raises(ValueError, match="same order"):
        stability(behind, Y, X[NAMES[::-1]])


@pytest.mark.parametrize("model", ["mlp", "linear"])
def test_who_is_not_fitted_is_told_to_fit(model: str) -> None:
    fresh = ERMClassifier(model)
    searched = GridSearchCV(AdversarialTrainingClassifier(model), {"gamma": [1.0]})
    for unfitted in (fresh, make_pipeline(StandardScaler(), fresh), searched):
        with pytest.raises(InputError, match="is not fitted; call fit first"):
            stability(unfitted, Y)


def test_training_against_moved_samples_makes_moving_them_dearer() -> None:
    """What the intervention is for, at prices at which reweighting is not worth its cost."""
    plain = ERMClassifier("linear", **{**QUICK, "max_iter": 400}).fit(X, SCORE > 0.0)
    robust = AdversarialTrainingClassifier("linear", **{**QUICK, "max_iter": 400}, gamma=0.1).fit(X, SCORE > 0.0)
    prices = {"theta2": np.inf, "loss": "cross_entropy", "risk": 2.0}
    assert stability(robust, SCORE > 0.0, **prices).value > 2.0 * stability(plain, SCORE > 0.0, **prices).value


def test_a_pipeline_of_one_step_is_that_step() -> None:
    model = trained(ERMClassifier)
    assert_same(stability(make_pipeline(model), Y), stability(model, Y))
    assert stability(make_pipeline(model), Y).lower > 0.0


def test_rows_without_names_are_taken_in_their_order_as_scikit_learn_does() -> None:
    model = trained(ERMClassifier)
    assert_same(stability(model, Y, x=X.to_numpy()), stability(model, Y))


def test_a_linear_model_of_several_classes_is_exact_for_errors_and_bounded_for_the_cross_entropy() -> None:
    model = ERMClassifier("linear", **QUICK).fit(X, Y3)
    assert stability(model, Y3, risk=0.6).exact
    bounded = stability(model, Y3, loss="cross_entropy", risk=2.0)
    assert 0.0 < bounded.lower <= bounded.value
    assert_same(bounded, stability(model.as_module(), Y3, loss="cross_entropy", risk=2.0, classes=["a", "b", "c"]))
