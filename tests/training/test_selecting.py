"""Selecting the knob: what is taken, judged by which rows, and that every value has the same chances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tippingpoint.errors import InputError
from tippingpoint.training import (
    AdversarialTrainingClassifier,
    AdversarialTrainingRegressor,
    ERMClassifier,
    ERMRegressor,
    Selection,
    TiltedERMClassifier,
    TiltedERMRegressor,
    select,
)
from tippingpoint.training.selecting import VALUES

RNG = np.random.default_rng(2)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] - X[:, 1] + RNG.logistic(size=60) > 0.0).astype(int)
TARGET = X[:, 0] - X[:, 1] + 0.3 * RNG.normal(size=60)
QUICK: dict[str, Any] = {"max_iter": 40, "learning_rate": 0.05, "validation_share": 0.3, "random_state": 0}
ROBUST = AdversarialTrainingClassifier("linear", inner_steps=3, **QUICK)


class Told(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator that scores what it is told for each value of its knob, and remembers how it was fitted."""

    tuned = "knob"

    def __init__(
        self, scores: Any = None, *, knob: float = 0.0, random_state: Any = None, validation_share: float = 0.5
    ) -> None:
        self.scores = scores
        self.knob = knob
        self.random_state = random_state
        self.validation_share = validation_share

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Told:
        self.fitted_to_ = (X, y, sample_weight)
        self.validation_score_ = self.scores[self.knob]
        return self

    def score(self, X: Any, y: Any) -> float:
        return float(np.mean(X)) * self.knob + float(np.mean(y))


@pytest.mark.parametrize(
    ("scores", "best"),
    [
        ({0.1: 0.5, 0.2: 0.9, 0.7: 0.8}, 0.2),
        ({0.1: 0.5, 0.2: 0.6, 0.7: 0.8}, 0.7),
        ({0.7: 0.9, 0.2: 0.9, 0.1: 0.3}, 0.2),
        ({0.7: 0.4, 0.2: 0.4, 0.1: 0.4}, 0.1),
        ({0.5: -3.0, 0.9: -2.0}, 0.9),
    ],
)
def test_the_best_value_is_taken_and_of_equals_the_smallest(scores: dict[float, float], best: float) -> None:
    selection = select(Told(scores), X, Y, values=list(scores))
    assert selection.value == selection.best.knob == best
    assert selection.parameter == "knob"
    assert dict(zip(selection.values, selection.scores, strict=True)) == scores
    assert list(selection.values) == sorted(scores)


def test_the_estimator_given_is_not_changed_and_data_and_weights_are_passed_on() -> None:
    given, weight = Told({0.3: 1.0, 0.4: 0.5}), np.ones(60)
    selection = select(given, X, Y, values=(0.4, 0.3, 0.3), sample_weight=weight)
    assert not hasattr(given, "fitted_to_")
    assert given.get_params() == Told({0.3: 1.0, 0.4: 0.5}).get_params()
    assert len(selection.scores) == 2
    assert all(a is b for a, b in zip(selection.best.fitted_to_, (X, Y, weight), strict=True))


def test_rows_of_validation_judge_in_place_of_those_held_out() -> None:
    told = {0.1: 0.9, 0.2: 0.1}
    selection = select(Told(told, validation_share=0.0), X, Y, values=list(told), validation=(np.ones((2, 1)), np.zeros(2)))
    assert (selection.value, selection.scores) == (0.2, (0.1, 0.2))
    far = np.array([[3.0, 0.0, 0.0], [-3.0, 0.0, 0.0]])
    honest, wrong = (select(ROBUST, X, Y, values=[20.0, 50.0], validation=(far, y)) for y in ([1, 0], [0, 1]))
    assert honest.scores == (1.0, 1.0)
    assert wrong.scores == (0.0, 0.0)


def test_the_grid_of_the_paper_is_the_default() -> None:
    assert VALUES == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    selection = select(TiltedERMClassifier("linear", **{**QUICK, "max_iter": 2}), X, Y)
    assert (selection.parameter, list(selection.values)) == ("t", list(VALUES))
    assert len(selection.scores) == 10


@pytest.mark.parametrize(
    "estimator",
    [
        ROBUST,
        TiltedERMClassifier(hidden=4, **QUICK),
        AdversarialTrainingRegressor("linear", inner_steps=3, **QUICK),
        TiltedERMRegressor("linear", **QUICK),
    ],
)
def test_every_value_is_fitted_alone_from_the_same_weights_and_judged_by_the_same_rows(estimator: Any) -> None:
    y = TARGET if hasattr(estimator, "loss") else Y
    tried = [20.0, 100.0, 1e3]
    selection = select(estimator, X, y, values=tried, sample_weight=np.ones(60))
    seed = selection.best.random_state
    alone = [clone(estimator).set_params(random_state=seed, **{estimator.tuned: value}).fit(X, y) for value in tried]
    assert selection.scores == tuple(model.validation_score_ for model in alone)
    held = {tuple(model._split(X, y if hasattr(estimator, "loss") else Y, seed)[1]) for model in alone}
    assert len(held) == 1
    np.testing.assert_array_equal(selection.best.predict(X), alone[int(np.argmax(selection.scores))].predict(X))


def test_without_a_random_state_the_values_are_still_compared_on_equal_terms() -> None:
    """At prices at which nobody moves, fits differ in nothing but their draws: there are none."""
    loose = clone(ROBUST).set_params(random_state=None)
    selection = select(loose, X, Y, values=[1e11, 1e12, 1e13])
    assert len(set(selection.scores)) == 1
    assert selection.value == 1e11
    seeds = {select(loose, X, Y, values=[1e12]).best.random_state for _ in range(3)}
    assert len(seeds) == 3
    same = {select(ROBUST, X, Y, values=[1e12]).best.random_state for _ in range(3)}
    assert len(same) == 1


def test_two_fits_at_a_time_give_the_same_answer() -> None:
    estimator = clone(ROBUST).set_params(max_iter=20)
    one, two = (select(estimator, X, Y, values=[0.1, 1.0], n_jobs=jobs) for jobs in (1, 2))
    assert one.scores == two.scores
    np.testing.assert_array_equal(one.best.coef_, two.best.coef_)


def test_a_selection_is_a_frame_and_a_table_that_marks_the_best() -> None:
    values, scores = (0.1, 0.2, 0.3), (0.25, 0.75, 0.5)
    selection = Selection(Told(knob=0.2), "knob", values, scores)
    pd.testing.assert_frame_equal(selection.to_frame(), pd.DataFrame({"knob": values, "validation_score": scores}))
    head, *lines = str(selection).splitlines()
    assert "knob" in head
    assert "validation score" in head
    assert [line.split() for line in lines if line.lstrip().startswith("0.")] == [
        ["0.1", "0.25"],
        ["0.2", "0.75", "best"],
        ["0.3", "0.5"],
    ]


@pytest.mark.parametrize("estimator", [ERMClassifier(), ERMRegressor(), make_pipeline(StandardScaler(), ERMClassifier()), None])
def test_what_has_no_knob_is_refused(estimator: Any) -> None:
    with pytest.raises(InputError, match=rf"{type(estimator).__name__} has nothing to select; use an adversarial or a tilted"):
        select(estimator, X, Y)


@pytest.mark.parametrize("values", [[], (), np.array([])])
def test_no_values_are_refused(values: Any) -> None:
    with pytest.raises(InputError, match=r"values=.* must be several numbers, as \[0\.1, 0\.5, 1\.0\]"):
        select(ROBUST, X, Y, values=values)


@pytest.mark.parametrize("values", [0.5, ["much"], [None]])
def test_values_that_are_no_numbers_are_refused(values: Any) -> None:
    with pytest.raises(InputError, match=r"values=.* must be several numbers"):
        select(ROBUST, X, Y, values=values)


def test_a_value_that_the_knob_does_not_take_is_named() -> None:
    with pytest.raises(InputError, match=r"gamma=-1\.0 must be a positive number"):
        select(ROBUST, X, Y, values=[-1.0, 1.0])


def test_nothing_to_judge_by_is_said_before_or_after_fitting() -> None:
    with pytest.raises(InputError, match=r"validation_share=0\.01 of 60 rows holds no rows out to judge by; raise it, or pass"):
        select(clone(ROBUST).set_params(validation_share=0.01), X, Y)
    few = AdversarialTrainingRegressor("linear", inner_steps=2, max_iter=2, validation_share=0.02)
    with pytest.raises(InputError, match="the rows held out are too few to judge by; raise validation_share, or pass"):
        select(few, X, TARGET, values=[100.0])
    with pytest.raises(InputError, match=r"validation_share='half' must be a share"):
        select(clone(ROBUST).set_params(validation_share="half"), X, Y)
