"""Where training ends: at the minimum that independent solvers find, with weights that count as rows do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.linear_model import LinearRegression, LogisticRegression
from torch import nn

from tippingpoint.core.arrays import FloatArray
from tippingpoint.training import (
    AdversarialTrainingClassifier,
    AdversarialTrainingRegressor,
    ERMClassifier,
    ERMRegressor,
    TiltedERMClassifier,
    TiltedERMRegressor,
)
from trainees import ALL, CLASSIFIERS, NAMES, REGRESSORS, TARGET, WEIGHT, Y3, D, N, X, Y, converged, small, state, y_of


def test_empirical_risk_minimisation_of_a_line_is_logistic_regression_and_least_squares() -> None:
    model = converged(ERMClassifier, "linear", max_iter=1500).fit(X, Y, WEIGHT)
    peer = LogisticRegression(C=np.inf, tol=1e-10).fit(X, Y, WEIGHT)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=2e-4)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=2e-4)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-4)
    three = converged(ERMClassifier, "linear").fit(X, Y3)
    several = LogisticRegression(C=np.inf, tol=1e-10).fit(X, Y3)
    np.testing.assert_allclose(three.predict_proba(X), several.predict_proba(X), atol=1e-3)
    number = converged(ERMRegressor, "linear").fit(X, TARGET, WEIGHT)
    least = LinearRegression().fit(X, TARGET, WEIGHT)
    assert number.coef_.shape == least.coef_.shape
    np.testing.assert_allclose(number.coef_, least.coef_, atol=1e-4)
    assert number.intercept_ == pytest.approx(least.intercept_, abs=1e-4)


def least(objective: Callable[[FloatArray], float]) -> FloatArray:
    return np.asarray(minimize(objective, np.zeros(D + 1), method="BFGS", options={"gtol": 1e-9, "maxiter": 500}).x)


def margins(at: FloatArray) -> FloatArray:
    return np.asarray(np.where(Y == 1, 1.0, -1.0) * (X @ at[:D] + at[D]))


@pytest.mark.parametrize("t", [0.2, 1.0, 5.0])
def test_tilted_training_of_a_line_ends_where_an_independent_solver_does(t: float) -> None:
    model = converged(TiltedERMClassifier, "linear", t=t).fit(X, Y)
    best = least(lambda at: t * float(logsumexp(np.logaddexp(0.0, -margins(at)) / t)))
    np.testing.assert_allclose([*model.coef_[0], *model.intercept_], best, atol=1e-3)


@pytest.mark.parametrize("moving", [None, [0], ["income", 2]])
def test_adversarial_training_of_a_line_ends_where_an_independent_solver_does(moving: Any) -> None:
    """With the squared loss: `min_w E[e²] / (1 - ‖w‖²/γ)`, the norm over the columns that move."""
    gamma, columns = 20.0, {None: [0, 1, 2], 1: [0], 2: [1, 2]}[None if moving is None else len(moving)]

    def risk(at: FloatArray) -> float:
        error = np.mean((TARGET - X @ at[:D] - at[D]) ** 2)
        room = 1.0 - (at[columns] ** 2).sum() / gamma
        return float(error / room) if room > 0.0 else 1e9

    frame = pd.DataFrame(X, columns=NAMES)
    model = converged(AdversarialTrainingRegressor, "linear", gamma=gamma, features=moving).fit(frame, TARGET)
    best = least(risk)
    np.testing.assert_allclose([*model.coef_, model.intercept_], best, atol=1e-3)
    assert np.abs(best[:D] - LinearRegression().fit(X, TARGET).coef_).max() > 0.01


@pytest.mark.parametrize("model", ["linear", "mlp"])
@pytest.mark.parametrize("makes", [CLASSIFIERS, REGRESSORS], ids=["classes", "numbers"])
def test_without_an_adversary_or_a_tilt_training_is_empirical_risk_minimisation(makes: tuple[Any, ...], model: str) -> None:
    plain, adversary, tilted = makes

    def parameters(make: Any, **options: Any) -> FloatArray:
        fitted = make(model, max_iter=100, learning_rate=0.01, random_state=5, **options).fit(X, y_of(make), WEIGHT)
        return np.asarray(nn.utils.parameters_to_vector(fitted.as_module().parameters()).detach())

    erm = parameters(plain)
    np.testing.assert_array_equal(parameters(adversary, gamma=np.inf), erm)
    np.testing.assert_array_equal(parameters(tilted, t=np.inf), erm)
    np.testing.assert_allclose(parameters(adversary, gamma=1e8, inner_steps=3), erm, atol=1e-5)
    np.testing.assert_allclose(parameters(tilted, t=1e8), erm, atol=1e-4)
    assert np.abs(parameters(adversary, gamma=5.0, inner_steps=3) - erm).max() > 1e-3
    assert np.abs(parameters(tilted, t=1.0) - erm).max() > 1e-3


def test_targeted_training_turns_from_the_columns_that_move_to_those_that_do_not() -> None:
    twins = np.column_stack([X[:, 0], X[:, 0], X[:, 1]])
    coefs = {
        name: np.abs(
            converged(AdversarialTrainingClassifier, "linear", gamma=0.3, features=name, inner_steps=5).fit(twins, Y).coef_[0]
        )
        for name in ((0,), (1,), (0, 1))
    }
    assert coefs[0,][0] < 0.1 * coefs[0,][1]
    assert coefs[1,][1] < 0.1 * coefs[1,][0]
    assert coefs[0, 1][:2].sum() < 0.8 * coefs[0,][:2].sum()
    np.testing.assert_allclose(coefs[0, 1][0], coefs[0, 1][1], atol=5e-3)


def test_a_column_of_zeros_is_left_as_drawn_unless_it_may_move() -> None:
    """Nothing is learned of a column that is always zero, until an adversary may fill it: then its coefficient must go."""
    empty = np.column_stack([X, np.zeros(N)])
    first = converged(ERMClassifier, "linear", max_iter=1, learning_rate=1e-12).fit(empty, Y).coef_[0, 3]
    kept = converged(AdversarialTrainingClassifier, "linear", gamma=1.0, features=[0], max_iter=300).fit(empty, Y).coef_[0, 3]
    gone = converged(AdversarialTrainingClassifier, "linear", gamma=1.0, features=[3], max_iter=600).fit(empty, Y).coef_[0, 3]
    assert kept == pytest.approx(first, rel=1e-6)
    assert abs(first) > 0.05
    assert abs(gone) < 0.005


def test_weight_decay_shrinks_and_batches_still_learn() -> None:
    free, decayed = (converged(ERMClassifier, "linear", weight_decay=w, max_iter=600).fit(X, Y) for w in (0.0, 0.3))
    assert np.linalg.norm(decayed.coef_) < 0.7 * np.linalg.norm(free.coef_)
    batched = converged(ERMClassifier, "linear", batch_size=16, max_iter=600).fit(X, Y)
    np.testing.assert_allclose(batched.coef_, free.coef_, atol=0.3)
    assert (batched.coef_ != free.coef_).all()


@pytest.mark.parametrize("make", REGRESSORS)
def test_every_regressor_takes_the_absolute_loss(make: Any) -> None:
    outlier = TARGET.copy()
    outlier[:4] += 200.0
    kinds = [
        converged(make, "linear", loss=loss, max_iter=400, **dear(make)).fit(X, outlier) for loss in ("squared", "absolute")
    ]
    medians = [np.median(np.abs(model.predict(X) - outlier)) for model in kinds]
    assert medians[1] < 0.5 * medians[0] or make is TiltedERMRegressor
    assert kinds[0].get_params()["loss"] == "squared"
    assert not np.allclose(kinds[0].coef_, kinds[1].coef_, atol=1e-3)


def dear(make: Any) -> dict[str, Any]:
    return {"gamma": 1e4, "inner_steps": 2} if make is AdversarialTrainingRegressor else {}


@pytest.mark.parametrize("make", ALL)
def test_a_weight_of_two_is_a_row_given_twice_up_to_float32(make: Any) -> None:
    options: dict[str, Any] = {"validation_share": 0.0, "learning_rate": 0.01}
    weighted = small(make, "linear", **options).fit(X, y_of(make), WEIGHT)
    rows = np.repeat(np.arange(N), WEIGHT.astype(int))
    repeated = small(make, "linear", **options).fit(X[rows], y_of(make)[rows])
    plain = small(make, "linear", **options).fit(X, y_of(make))
    score = "predict" if make in REGRESSORS else "decision_function"
    ours, theirs, others = (getattr(model, score)(X) for model in (weighted, repeated, plain))
    np.testing.assert_allclose(ours, theirs, atol=2e-4)
    assert np.abs(ours - others).max() > 1e-2


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_a_weight_of_zero_is_a_row_removed(make: Any, share: float) -> None:
    weight = (np.arange(N) % 3 > 0).astype(float)
    options = {"validation_share": share, "patience": 2}
    left = weight > 0.0
    zeroed = small(make, **options).fit(X, y_of(make), weight)
    removed = small(make, **options).fit(X[left], y_of(make)[left])
    np.testing.assert_array_equal(zeroed.predict(X), removed.predict(X))
    assert state(zeroed) == state(removed)


@pytest.mark.parametrize("factor", [1e-60, 4.0, 1e60])
def test_only_the_proportion_of_weights_counts(factor: float) -> None:
    weight = 2.0 ** np.random.default_rng(3).integers(-2, 3, N)
    plain, scaled = (small(TiltedERMClassifier).fit(X, Y, w) for w in (weight, weight * factor))
    np.testing.assert_allclose(scaled.predict_proba(X), plain.predict_proba(X), atol=1e-5)
    assert state(small(ERMClassifier).fit(X, Y, 3.0)) == state(small(ERMClassifier).fit(X, Y))


def test_the_validation_score_weighs_the_rows_held_out() -> None:
    """All the weight held out lies on rows that are labelled wrongly on purpose."""
    x = np.linspace(-3.0, 3.0, 200)[:, None]
    y = (x[:, 0] > 0.0).astype(int)
    wrong = np.arange(200) % 5 == 0
    y[wrong] = 1 - y[wrong]
    plain, heavy = (small(ERMClassifier, "linear", learning_rate=0.1).fit(x, y, w) for w in (None, np.where(wrong, 0.01, 1.0)))
    held = plain._split(x, y, np.random.RandomState(0).randint(2**31 - 1))[1]
    right = plain.predict(x[held]) == y[held]
    assert plain.validation_score_ == pytest.approx(right.mean())
    right = heavy.predict(x[held]) == y[held]
    assert heavy.validation_score_ == pytest.approx(np.average(right, weights=np.where(wrong, 0.01, 1.0)[held]))
    assert heavy.validation_score_ > plain.validation_score_ + 0.1


def test_the_validation_score_of_a_regressor_is_r2_of_the_rows_held_out() -> None:
    model = small(ERMRegressor, "linear", max_iter=400, validation_share=0.3).fit(X, TARGET, WEIGHT + 1.0)
    held = model._split(X, TARGET, np.random.RandomState(0).randint(2**31 - 1))[1]
    assert model.validation_score_ == pytest.approx(model.score(X[held], TARGET[held], WEIGHT[held] + 1.0), rel=1e-12)
    assert np.isnan(small(ERMRegressor, max_iter=2, validation_share=0.02).fit(X, TARGET).validation_score_)
