"""Models of scikit-learn: recognised, folded into the user's columns, and believed only where they are linear."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import xgboost
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, LinearSVR

import tippingpoint as tp
from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError

NAMES = ["a", "b", "c", "d", "e"]
INF = math.inf
PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}

CLASSIFIERS: list[Any] = [
    LogisticRegression(),
    LogisticRegression(fit_intercept=False),
    LinearSVC(random_state=0),
    SGDClassifier(random_state=0),
    SGDClassifier(loss="log_loss", random_state=0),
    RidgeClassifier(),
    Perceptron(random_state=0),
    LinearDiscriminantAnalysis(),
    SVC(kernel="linear"),
]
SEVERAL_CLASSES: list[Any] = [model for model in CLASSIFIERS if not isinstance(model, SVC)]
REGRESSORS: list[Any] = [
    LinearRegression(),
    Ridge(),
    Lasso(alpha=0.1),
    ElasticNet(alpha=0.1),
    HuberRegressor(),
    QuantileRegressor(quantile=0.7, alpha=0.01),
    LinearSVR(random_state=0, max_iter=100_000),
    SGDRegressor(random_state=0),
]

SCALERS: dict[str, Any] = {
    "standard": StandardScaler(),
    "standard, not centred": StandardScaler(with_mean=False),
    "standard, centred only": StandardScaler(with_std=False),
    "min-max": MinMaxScaler(feature_range=(-2.0, 3.0)),
    "max-abs": MaxAbsScaler(),
    "robust": RobustScaler(),
    "robust, not centred": RobustScaler(with_centering=False),
    "robust, centred only": RobustScaler(with_scaling=False),
    "two in a row": make_pipeline(RobustScaler(), MinMaxScaler()),
    "passthrough": "passthrough",
    "identity": FunctionTransformer(),
    "best three": SelectKBest(k=3),
    "of some variance": make_pipeline(VarianceThreshold(0.5), StandardScaler()),
    "chosen by a model": SelectFromModel(LogisticRegression(), threshold="median"),
}
COLUMNS: dict[str, Any] = {
    "by name, rest as it is": make_column_transformer((StandardScaler(), ["d", "a"]), remainder="passthrough"),
    "by name, rest dropped": make_column_transformer((StandardScaler(), ["b", "d"]), (MaxAbsScaler(), ["a"]), remainder="drop"),
    "by name, rest scaled": make_column_transformer((MinMaxScaler(), ["c"]), remainder=RobustScaler()),
    "some dropped": make_column_transformer((StandardScaler(), ["a"]), ("drop", ["b"]), remainder="passthrough"),
    "some passed": make_column_transformer((StandardScaler(), ["a"]), ("passthrough", ["e", "c"])),
    "by number": make_column_transformer((StandardScaler(), [-1, 0]), (MinMaxScaler(), [2]), remainder="passthrough"),
    "by slice": make_column_transformer((StandardScaler(), slice(0, 5, 2)), remainder="passthrough"),
    "by slice of names": make_column_transformer((RobustScaler(), slice("b", "d")), remainder="passthrough"),
    "by mask": make_column_transformer((StandardScaler(), [True, False, True, False, True]), remainder="passthrough"),
    "by selector": make_column_transformer((StandardScaler(), make_column_selector("[abd]")), remainder="passthrough"),
    "one column twice": make_column_transformer((StandardScaler(), ["a", "b"]), (MaxAbsScaler(), ["b", "c"])),
    "a pipeline inside": make_column_transformer((make_pipeline(RobustScaler(), MinMaxScaler()), ["e", "b"]), ("drop", ["a"])),
    "one inside another": make_column_transformer(
        (make_column_transformer((StandardScaler(), ["b"]), remainder="passthrough"), ["a", "b", "d"]), remainder=MaxAbsScaler()
    ),
    "nothing chosen": make_column_transformer((StandardScaler(), []), remainder="passthrough"),
}
STEPS = {**SCALERS, **COLUMNS}


def classes_of(n: int = 160, classes: int = 2) -> tuple[pd.DataFrame, Any]:
    """Overlapping classes over columns of differing position and spread."""
    rng = np.random.default_rng(11)
    y = rng.integers(0, classes, n)
    centres = rng.normal(size=(classes, len(NAMES)))
    x = (centres[y] + rng.normal(size=(n, len(NAMES)))) * [1.0, 3.0, 0.5, 2.0, 1.0] + [0.0, 10.0, -2.0, 5.0, 0.5]
    return pd.DataFrame(x, columns=NAMES, index=[f"r{i}" for i in range(n)]), y


def targets_of(n: int = 160) -> tuple[pd.DataFrame, Any]:
    x, _ = classes_of(n)
    rng = np.random.default_rng(12)
    scaled = (x - x.mean()) / x.std()
    return scaled, scaled.to_numpy() @ [1.0, -2.0, 0.0, 0.5, 3.0] + rng.normal(size=n)


def folded_by_probing(score: Callable[[Any], Any], x: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """`(coef, intercept)` in raw columns, asked of the model itself: its score at the origin and at every unit vector."""
    probes = pd.DataFrame(np.vstack([np.zeros(x.shape[1]), np.eye(x.shape[1])]), columns=x.columns)
    scores = np.asarray(score(probes)).reshape(len(probes), -1)
    return (scores[1:] - scores[0]).T, scores[0]


def moved_points(x: pd.DataFrame, sensitive: pd.DataFrame) -> pd.DataFrame:
    """Where every atom is, in all columns: a column that Q* does not show has not moved."""
    points = x.loc[sensitive["row"]].reset_index(drop=True)
    for name in set(x.columns) & set(sensitive.columns):
        points[name] = sensitive[name].to_numpy()
    return points


def labels_of(x: pd.DataFrame, y: Any, sensitive: pd.DataFrame) -> Any:
    return pd.Series(y, index=x.index).loc[sensitive["row"]].to_numpy()


def name_of(model: Any) -> str:
    return type(model).__name__


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_current_risk_of_a_classifier_is_one_minus_its_accuracy(model: Any) -> None:
    x, y = classes_of()
    scaled = (x - x.mean()) / x.std()
    fitted = clone(model).fit(scaled, y)
    assert tp.profile(fitted, scaled, y).risk == pytest.approx(1.0 - fitted.score(scaled, y), abs=1e-12)


@pytest.mark.parametrize("model", REGRESSORS, ids=name_of)
def test_current_risk_of_a_regressor_is_its_mean_squared_error(model: Any) -> None:
    x, y = targets_of()
    fitted = clone(model).fit(x, y)
    assert tp.profile(fitted, x, y).risk == pytest.approx(np.mean((fitted.predict(x) - y) ** 2), rel=1e-10)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_points_of_a_classifier_are_wrong_where_the_loss_is_one_and_right_where_it_is_nought(model: Any) -> None:
    x, y = classes_of()
    fitted = make_pipeline(StandardScaler(), clone(model)).fit(x, y)
    profile = tp.profile(fitted, x, y)
    for risk in (profile.risk + 0.05, profile.risk + 0.3):
        q = profile.stability(risk, **PRICES).sensitive
        assert q["cost"].gt(0.0).any(), "something has to move for this to be a test"
        errs = fitted.predict(moved_points(x, q)) != labels_of(x, y, q)
        np.testing.assert_array_equal(errs, q["loss"] == 1.0)
        erred = fitted.predict(x.loc[q["row"]]) != labels_of(x, y, q)
        np.testing.assert_array_equal(erred, q["loss_before"] == 1.0)


@pytest.mark.parametrize("loss", ["squared", "absolute", "pinball:0.9", "epsilon_insensitive:0.3", "huber:0.5"])
@pytest.mark.parametrize("model", REGRESSORS, ids=name_of)
def test_points_of_a_regressor_have_the_loss_that_is_told(model: Any, loss: str) -> None:
    x, y = targets_of()
    fitted = make_pipeline(MinMaxScaler(), clone(model)).fit(x, y)
    profile = tp.profile(fitted, x, y, loss=loss)
    q = profile.stability(2.0 * profile.risk, **PRICES).sensitive
    residual = labels_of(x, y, q) - fitted.predict(moved_points(x, q))
    told = {
        "squared": residual**2,
        "absolute": np.abs(residual),
        "pinball:0.9": np.maximum(0.9 * residual, -0.1 * residual),
        "epsilon_insensitive:0.3": np.maximum(np.abs(residual) - 0.3, 0.0),
        "huber:0.5": np.where(np.abs(residual) <= 0.5, residual**2 / 2.0, 0.5 * np.abs(residual) - 0.125),
    }
    assert q["cost"].gt(0.0).any()
    np.testing.assert_allclose(q["loss"], told[loss], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "cross_entropy"])
def test_points_of_a_classifier_have_the_margin_loss_that_is_told(loss: str) -> None:
    x, y = classes_of()
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(x, y)
    profile = tp.profile(fitted, x, y, loss=loss)
    q = profile.stability(2.0 * profile.risk, **PRICES).sensitive
    margin = fitted.decision_function(moved_points(x, q)) * np.where(labels_of(x, y, q) == 1, 1.0, -1.0)
    hinge = np.maximum(1.0 - margin, 0.0)
    told = {"hinge": hinge, "squared_hinge": hinge**2}.get(loss, np.logaddexp(0.0, -margin))
    np.testing.assert_allclose(q["loss"], told, rtol=1e-9, atol=1e-11)


def test_logistic_risk_is_the_log_loss_of_the_models_own_probabilities() -> None:
    x, y = classes_of()
    fitted = make_pipeline(RobustScaler(), LogisticRegression()).fit(x, y)
    likely = fitted.predict_proba(x)[np.arange(len(y)), y]
    assert tp.profile(fitted, x, y, loss="logistic").risk == pytest.approx(-np.log(likely).mean(), rel=1e-9)


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_stability_of_a_pipeline_is_that_of_its_coefficients_in_raw_columns(step: Any) -> None:
    x, y = classes_of()
    fitted = make_pipeline(clone(step) if step != "passthrough" else step, LogisticRegression()).fit(x, y)
    coef, intercept = folded_by_probing(fitted.decision_function, x)
    for loss, extra in (("zero_one", 0.2), ("hinge", 0.5), ("logistic", 0.4)):
        ours, hand = (tp.profile(model, x, y, loss=loss) for model in (fitted, (coef, intercept)))
        assert ours.risk == pytest.approx(hand.risk, rel=1e-9)
        one, other = (profile.stability(ours.risk + extra, **PRICES) for profile in (ours, hand))
        assert one.value == pytest.approx(other.value, rel=1e-8)
        assert one.corruption_cost == pytest.approx(other.corruption_cost, rel=1e-6)


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_points_of_a_pipeline_are_errors_of_the_pipeline_itself(step: Any) -> None:
    x, y = classes_of()
    fitted = make_pipeline(clone(step) if step != "passthrough" else step, LogisticRegression()).fit(x, y)
    q = tp.stability(fitted, x, y, 0.45, **PRICES).sensitive
    np.testing.assert_array_equal(fitted.predict(moved_points(x, q)) != labels_of(x, y, q), q["loss"] == 1.0)


@pytest.mark.parametrize("kind", ["by number", "by slice", "by mask", "nothing chosen"])
def test_a_column_transformer_fitted_on_an_array_is_folded_too(kind: str) -> None:
    frame, y = classes_of()
    x = frame.to_numpy()
    fitted = make_pipeline(clone(COLUMNS[kind]), LogisticRegression()).fit(x, y)
    coef, intercept = folded_by_probing(lambda probes: fitted.decision_function(probes.to_numpy()), frame)
    ours, hand = (tp.stability(model, x, y, 0.4, **PRICES).value for model in (fitted, (coef, intercept)))
    assert ours == pytest.approx(hand, rel=1e-8)


def test_the_fold_of_a_standard_scaler_is_the_textbook_formula() -> None:
    x, y = classes_of()
    fitted = make_pipeline(StandardScaler(), LinearSVC(random_state=0)).fit(x, y)
    scaler, svm = fitted[0], fitted[1]
    coef = svm.coef_[0] / scaler.scale_
    intercept = svm.intercept_[0] - coef @ scaler.mean_
    ours, hand = (tp.stability(m, x, y, 0.8, loss="hinge", **PRICES).value for m in (fitted, (coef, intercept)))
    assert ours == pytest.approx(hand, rel=1e-12)


def test_a_column_the_pipeline_drops_does_not_move() -> None:
    x, y = classes_of()
    fitted = make_pipeline(clone(COLUMNS["some dropped"]), LogisticRegression()).fit(x, y)
    q = tp.stability(fitted, x, y, 0.4, **PRICES).sensitive
    assert (q["b"].to_numpy() == x.loc[q["row"], "b"].to_numpy()).all()
    assert all((q[name].to_numpy() != x.loc[q["row"], name].to_numpy()).any() for name in ("a", "c", "d", "e"))
    assert len(fitted.predict(q[list(x.columns)])) == len(q), "the model can be asked about Q* as it is"


def test_columns_far_from_the_origin_lose_no_digit_that_matters() -> None:
    x, y = classes_of()
    far = x + 1e6
    near_model, far_model = (make_pipeline(StandardScaler(), LogisticRegression()).fit(data, y) for data in (x, far))
    near, distant = (tp.stability(m, data, y, 0.4, scale="raw", **PRICES) for m, data in ((near_model, x), (far_model, far)))
    assert distant.value == pytest.approx(near.value, rel=1e-6)
    q = distant.sensitive
    np.testing.assert_array_equal(far_model.predict(moved_points(far, q)) != labels_of(far, y, q), q["loss"] == 1.0)


@pytest.mark.parametrize("classes", [3, 4])
@pytest.mark.parametrize("model", SEVERAL_CLASSES, ids=name_of)
def test_points_among_several_classes_are_wrong_where_the_loss_is_one(model: Any, classes: int) -> None:
    x, y = classes_of(classes=classes)
    labels = np.array(["ash", "birch", "cedar", "date"])[y]
    fitted = make_pipeline(StandardScaler(), clone(model)).fit(x, labels)
    profile = tp.profile(fitted, x, labels)
    assert profile.risk == pytest.approx(1.0 - fitted.score(x, labels), abs=1e-12)
    result = profile.stability(profile.risk + 0.2, **PRICES)
    q = result.sensitive
    assert q["cost"].gt(0.0).any()
    np.testing.assert_array_equal(fitted.predict(moved_points(x, q)) != labels_of(x, labels, q), q["loss"] == 1.0)
    step = (moved_points(x, q) - moved_points(x, q.drop(columns=NAMES, errors="ignore"))).to_numpy()
    np.testing.assert_allclose(np.square(step).sum(axis=1), q["cost"], rtol=1e-5, atol=1e-12)
    coef, _ = folded_by_probing(fitted.decision_function, x)
    scores, true = fitted.decision_function(x.loc[q["row"]]), np.searchsorted(fitted.classes_, labels_of(x, labels, q))
    lead = np.take_along_axis(scores, true[:, None], axis=1) - scores
    width = np.square(coef[true][:, None, :] - coef[None, :, :]).sum(axis=2)
    nearest = np.where(width > 0.0, lead**2 / np.where(width > 0.0, width, 1.0), INF).min(axis=1)
    moved = q["cost"] > 0.0
    np.testing.assert_allclose(q["cost"][moved], nearest[moved], rtol=1e-7, err_msg="the nearest boundary of all")


def test_two_classes_by_two_scores_are_the_same_as_by_one() -> None:
    x, y = classes_of()
    coef, intercept = np.array([[0.4, -0.2, 0.7, 0.1, -0.5]]), np.array([1.0])
    one = tp.stability((coef, intercept), x, y, 0.7, **PRICES)
    two = tp.stability((np.vstack([0 * coef, coef]), np.append(0.0, intercept)), x, y, 0.7, **PRICES)
    assert two.value == pytest.approx(one.value, rel=1e-10)
    assert one.status == "attained"


def test_a_frame_fitted_by_name_is_served_whatever_kind_it_is() -> None:
    polars = pytest.importorskip("polars")
    x, y = classes_of()
    fitted = make_pipeline(clone(COLUMNS["by name, rest as it is"]), LogisticRegression()).fit(x, y)
    frame = polars.DataFrame({name: x[name].to_numpy() for name in x.columns})
    assert tp.stability(fitted, frame, y, 0.4).value == pytest.approx(tp.stability(fitted, x, y, 0.4).value, rel=1e-12)


def not_linear() -> dict[str, tuple[Any, str]]:
    """Models that are not linear in their coefficients, and what the error should say of them."""
    x, y = classes_of()
    three_x, three_y = classes_of(classes=3)
    counts = np.abs(targets_of()[1])
    clipped = make_pipeline(MinMaxScaler(clip=True), LogisticRegression()).fit(x, y)
    return {
        "a link function": (make_pipeline(StandardScaler(), PoissonRegressor()).fit(x, counts), "does not predict on X as"),
        "another kernel": (SVC(kernel="rbf").fit(x, y), "SVC is not linear"),
        "a clipping scaler": (clipped, "cuts values off"),
        "polynomials": (
            make_pipeline(PolynomialFeatures(2), Ridge()).fit(x, counts),
            "PolynomialFeatures is not an affine map",
        ),
        "a vote of pairs": (
            make_pipeline(StandardScaler(), SVC(kernel="linear", decision_function_shape="ovo")).fit(three_x, three_y),
            "does not predict on X as a linear model",
        ),
        "scores made of a vote": (
            make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(three_x, three_y),
            "does not predict on X as a linear model",
        ),
    }


NOT_LINEAR = not_linear()


@pytest.mark.parametrize("kind", NOT_LINEAR)
def test_a_model_that_is_not_linear_is_searched_and_says_why(kind: str) -> None:
    model, says = NOT_LINEAR[kind]
    x, y = classes_of(classes=3 if "vote" in kind else 2)
    target = np.abs(targets_of()[1]) if "Regressor" in repr(model) or "Ridge" in repr(model) else y
    profile = tp.profile(model, x, target, calls=20 * len(x), scale="std")
    result = profile.stability(1.5 * profile.risk + 0.1, **PRICES)
    assert not result.exact
    assert says in result.lower_by
    assert "upper bound only" in str(result)


def test_a_model_of_several_outputs_is_refused_with_a_way_out() -> None:
    x, _ = classes_of()
    y = targets_of()[1]
    with pytest.raises(tp.UnsupportedError, match="2 outputs; pass one output at a time"):
        tp.profile(Ridge().fit(x, np.column_stack([y, y])), x, y)


@pytest.mark.parametrize("model", [LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression()), Ridge()])
def test_an_unfitted_model_is_refused_with_a_call_to_fit(model: Any) -> None:
    x, y = classes_of()
    with pytest.raises(tp.InputError, match=f"model={name_of(model)} is not fitted; call fit first"):
        tp.profile(model, x, y)


def test_a_model_fitted_on_other_columns_is_refused() -> None:
    x, y = classes_of()
    fitted = LogisticRegression(max_iter=1000).fit(x[["a", "b"]], y)
    for other in (x, x[["c", "d"]], x[["b", "a"]], x[["a"]]):
        with pytest.raises(tp.InputError, match="pass the columns it was fitted on") as caught:
            tp.profile(fitted, other, y)
        assert "\n" not in str(caught.value)
    unnamed = LogisticRegression(max_iter=1000).fit(x[["a", "b"]].to_numpy(), y)
    with pytest.raises(tp.InputError, match="2 coefficients but X has 5 columns; pass the columns it was fitted on"):
        tp.profile(unnamed, x.to_numpy(), y)


def test_columns_that_a_pipeline_finds_by_name_may_stand_anywhere() -> None:
    x, y = classes_of()
    fitted = make_pipeline(clone(COLUMNS["by name, rest dropped"]), LogisticRegression()).fit(x, y)
    expected = tp.stability(fitted, x, y, 0.4, **PRICES)
    for other in (x[["e", "d", "a", "c", "b"]], x.assign(further=7.0), x[["d", "a", "b"]]):
        np.testing.assert_array_equal(fitted.predict(other), fitted.predict(x))
        result = tp.stability(fitted, other, y, 0.4, **PRICES)
        assert result.value == pytest.approx(expected.value, rel=1e-10)
        np.testing.assert_allclose(result.sensitive[["a", "b", "d"]], expected.sensitive[["a", "b", "d"]], rtol=1e-9)
    with pytest.raises(tp.InputError, match="columns"):
        tp.profile(fitted, x[["a", "b", "c"]], y)


@pytest.mark.parametrize(("model", "loss"), [(LogisticRegression(), "squared"), (Ridge(), "logistic")])
def test_a_loss_of_the_other_task_is_refused_with_those_that_fit(model: Any, loss: str) -> None:
    x, y = targets_of()
    labels = (y > 0.0).astype(int)
    with pytest.raises(tp.UnsupportedError, match=f"loss='{loss}' judges .* use "):
        tp.profile(clone(model).fit(x, labels), x, labels, loss=loss)


def test_plain_numbers_are_a_regressor_or_a_classifier_as_the_loss_says() -> None:
    x, y = targets_of()
    coef = np.array([1.0, -2.0, 0.0, 0.5, 3.0])
    assert tp.profile((coef, 0.1), x, y, loss="absolute").risk == pytest.approx(np.abs(y - x.to_numpy() @ coef - 0.1).mean())
    labels = np.where(y > 0.0, "up", "down")
    wrong = np.where(x.to_numpy() @ coef + 0.1 > 0.0, "up", "down") != labels
    assert tp.profile((coef, 0.1), x, labels).risk == pytest.approx(wrong.mean(), abs=1e-12)


def test_classes_of_plain_numbers_say_which_label_is_the_positive_one() -> None:
    x, y = classes_of()
    coef = np.array([0.4, -0.2, 0.7, 0.1, -0.5])
    wrong = np.where(x.to_numpy() @ coef + 1.0 > 0.0, 0, 1) != y
    swapped = tp.LinearModel.of(coef, 1.0, classes=[1, 0])
    assert tp.profile(swapped, x, y).risk == pytest.approx(wrong.mean(), abs=1e-12)
    mixed = np.array(["one" if label else 0 for label in y], dtype=object)
    assert tp.profile(tp.LinearModel.of(coef, 1.0, classes=["one", 0]), x, mixed).risk == pytest.approx(wrong.mean(), abs=1e-12)


def test_a_coefficient_of_zero_leaves_its_column_alone() -> None:
    x, y = classes_of()
    q = tp.stability(([1.0, 0.0, 0.0, -1.0, 0.0], 4.0), x, y, 0.8, theta1=1.0, theta2=INF).sensitive
    assert all((q[name].to_numpy() == x.loc[q["row"], name].to_numpy()).all() for name in ("b", "c", "e"))
    assert not np.allclose(q["a"], x.loc[q["row"], "a"])


def test_a_booster_that_says_it_is_fitted_is_believed() -> None:
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
    x = np.random.default_rng(0).normal(size=(60, 2))
    target = x[:, 0] + 0.1 * x[:, 1]
    with pytest.raises(tp.InputError, match="is not fitted; call fit first"):
        tp.profile(xgboost.XGBRegressor(), x, target)
    fitted = xgboost.XGBRegressor(n_estimators=3, max_depth=2).fit(x, target)
    assert tp.profile(fitted, x, target).risk == pytest.approx(np.mean((fitted.predict(x) - target) ** 2), rel=1e-5)


BOOSTED = {"booster": "gblinear", "n_estimators": 8, "base_score": 0.2}


def boosted_case(classes: int) -> tuple[Any, pd.DataFrame, FloatArray]:
    """A linear booster of XGBoost, whose `intercept_` lacks the base score, and whose `coef_` has another order."""
    rng = np.random.default_rng(3)
    x = pd.DataFrame(rng.normal(size=(90, 3)), columns=["a", "b", "c"])
    y = (rng.integers(0, classes, 90) if classes > 2 else x["a"] + rng.normal(size=90) > 0.5).astype(int)
    return xgboost.XGBClassifier(**BOOSTED).fit(x, y), x, np.asarray(y)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_linear_booster_is_the_linear_model_of_its_margins(classes: int) -> None:
    model, x, y = boosted_case(classes)
    start = model.predict(pd.DataFrame(np.zeros((1, 3)), columns=x.columns), output_margin=True).reshape(-1).astype(float)
    units = model.predict(pd.DataFrame(np.eye(3), columns=x.columns), output_margin=True).reshape(3, -1).astype(float)
    by_hand = tp.stability(((units - start).T, start), x, y, risk=0.8, classes=list(range(classes)))
    found = tp.stability(model, x, y, risk=0.8)
    assert found.standing.kind == "exact"
    assert found.current_risk == pytest.approx((model.predict(x) != y).mean())
    assert found.value == pytest.approx(by_hand.value, rel=1e-4)
    booster = model.get_booster()
    assert tp.stability(booster, x, y, risk=0.8).value == pytest.approx(found.value, rel=1e-9)
    turned = x[["c", "a", "b"]]  # a booster takes columns by their names
    assert tp.stability(booster, turned, y, risk=0.8).value == pytest.approx(found.value, rel=1e-9)


def test_a_linear_booster_behind_a_scaler_or_in_a_file(tmp_path: Path) -> None:
    model, x, y = boosted_case(2)
    found = tp.stability(model, x, y, risk=0.8)
    model.save_model(tmp_path / "model.json")
    stored = tp.stability(tp.load_model(tmp_path / "model.json"), x, y, risk=0.8)
    assert stored.standing.kind == "exact"
    assert stored.value == pytest.approx(found.value, rel=1e-9)
    piped = make_pipeline(StandardScaler(), xgboost.XGBClassifier(**BOOSTED)).fit(x, y)
    assert tp.stability(piped, x, y, risk=0.8).standing.kind == "exact"


@pytest.mark.parametrize("classes", [2, 3])
def test_a_linear_booster_predicts_a_missing_value_as_0(classes: int) -> None:
    model, x, y = boosted_case(classes)
    gaps = x.copy()
    gaps.iloc[::7, 1] = np.nan
    still = tp.Space(frozen=["b"])
    for each in (model, model.get_booster()):
        found = tp.stability(each, gaps, y, risk=0.8, space=still)
        assert found.standing.kind == "exact"
        assert found.current_risk == pytest.approx((model.predict(gaps) != y).mean())
        assert found.value == pytest.approx(
            tp.stability(each, x.assign(b=gaps["b"].fillna(0.0)), y, risk=0.8, space=still).value
        )
    piped = make_pipeline(StandardScaler(), xgboost.XGBClassifier(**BOOSTED)).fit(x + 5.0, y)
    centre = gaps["b"].fillna(x["b"].mean()) + 5.0  # the value that the scaler makes 0
    filled = tp.stability(piped, (x + 5.0).assign(b=centre), y, risk=0.8, space=still)
    assert tp.stability(piped, gaps + 5.0, y, risk=0.8, space=still).value == pytest.approx(filled.value, rel=1e-6)


def test_a_linear_booster_with_a_link_is_searched() -> None:
    _, x, y = boosted_case(2)
    model = xgboost.XGBRegressor(booster="gblinear", objective="count:poisson", n_estimators=4).fit(x, y + 1.0)
    assert tp.stability(model, x[:12], y[:12] + 1.0, risk=9.0, calls=2000).standing.kind == "searched"


@pytest.mark.parametrize(
    "model", [LogisticRegression, xgboost.XGBClassifier, torch.nn.Linear, Pipeline], ids=lambda m: m.__name__
)
def test_a_class_is_no_model(model: Any) -> None:
    _, x, y = boosted_case(2)
    refused = f"^model={model.__name__} is a class, not a fitted model. Create an instance"
    with pytest.raises(InputError, match=refused):
        tp.stability(model, x, y, risk=0.8)
    with pytest.raises(InputError, match=refused):
        tp.compare({"a": model, "b": model}, x, y, risk=0.8)
    with pytest.raises(InputError, match=refused):
        tp.stability(model, [x.assign(y=y)], "y", risk=0.8)


def test_models_that_are_not_ready() -> None:
    _, x, y = boosted_case(2)
    with pytest.raises(InputError, match="model=Booster is not trained"):
        tp.stability(xgboost.Booster(), x, y, risk=0.8)
    with pytest.raises(InputError, match="model=XGBClassifier is not fitted; call fit first"):
        tp.stability(xgboost.XGBClassifier(booster="gblinear"), x, y, risk=0.8)
    with pytest.raises(InputError, match=r"model=<lambda> cannot be called with one argument.*'rows'\)\. Pass a function"):
        tp.stability(lambda part, rows: part + rows, x, y, risk=0.8)
