"""Models of trees that are not read are black boxes, and results say why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import tippingpoint as tp
from refusals import refusal
from small_trees import amounts, people, small
from tippingpoint.core.arrays import FloatArray

CALLS = 2000
TRAINING, ROWS = people(160, 0, seen=True), people(8, 1, seen=False)
NUMBERS = ["x", "z", "age"]
LABELS, OWN = ((amounts(each, seed) > 0.0).astype(int) for seed, each in enumerate((TRAINING, ROWS)))


def of_lightgbm(**settings: Any) -> Any:
    estimator = pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=3, num_leaves=4, verbose=-1, n_jobs=1, **settings)
    return estimator.fit(TRAINING[NUMBERS], LABELS)


def of_catboost(**settings: Any) -> Any:
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    estimator = pytest.importorskip("catboost").CatBoostClassifier(cat_features=["shade"], **quiet, **settings)
    return estimator.fit(TRAINING, LABELS)


class Reversed(RandomForestClassifier):  # type: ignore[misc]  # of no known type
    """Predicts otherwise than the trees say."""

    def predict(self, rows: Any) -> Any:
        return 1 - super().predict(rows)


def reversed_forest() -> Any:
    return Reversed(3, max_depth=3, random_state=0).fit(TRAINING[NUMBERS], LABELS)


def of_another() -> Any:
    estimator = GradientBoostingClassifier(n_estimators=2, init=LogisticRegression(), random_state=0)
    return estimator.fit(TRAINING[NUMBERS], LABELS)


def of_products() -> Any:
    forest = RandomForestClassifier(3, max_depth=3, random_state=0)
    return make_pipeline(PolynomialFeatures(2), forest).fit(TRAINING[NUMBERS], LABELS)


@pytest.mark.parametrize(
    ("model", "columns", "reason"),
    [
        (lambda: of_lightgbm(linear_tree=True), NUMBERS, "its leaves hold linear models (linear_tree)"),
        (lambda: of_lightgbm(zero_as_missing=True), NUMBERS, "it reads zeros as missing (zero_as_missing)"),
        (
            lambda: of_catboost(iterations=20),
            [*NUMBERS, "shade"],
            "it splits on categories, text or embeddings, by numbers that it makes of them",
        ),
        (reversed_forest, NUMBERS, "Reversed is derived from RandomForestClassifier, and may predict otherwise"),
        (of_another, NUMBERS, "it begins with the predictions of another model (init=LogisticRegression)"),
        (of_products, NUMBERS, ""),
    ],
    ids=["linear trees", "zeros", "statistics", "derived", "init", "products"],
)
def test_a_model_that_is_not_read_is_a_black_box_with_a_reason(model: Any, columns: list[str], reason: str) -> None:
    made = model()
    now = float((np.ravel(made.predict(ROWS[columns])) != OWN).mean())
    result = tp.stability(made, ROWS[columns], OWN, 0.5 * (1.0 + now), theta1=1.0, theta2=1.0, calls=CALLS, progress=False)
    assert result.current_risk == now
    assert not result.exact
    assert result.lower_by.startswith("not certified: searched with")
    assert f"({reason}" in result.lower_by
    assert reason in " ".join(str(result).split())


def missed(outputs: FloatArray, labels: FloatArray) -> FloatArray:
    return np.square(outputs[:, 1] - labels)


def test_a_loss_of_the_user_s_is_not_known_to_trees() -> None:
    forest = RandomForestClassifier(3, max_depth=3, random_state=0).fit(TRAINING[NUMBERS], LABELS)
    result = tp.stability(forest, ROWS[NUMBERS], OWN, 0.6, loss=missed, theta1=1.0, theta2=1.0, calls=CALLS, progress=False)
    assert "(a loss of your own is not known to its trees)" in result.lower_by


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_odds_of_several_classes_are_not_added_up(loss: str) -> None:
    model = small("forest", "three")
    result = tp.stability(
        model.model, model.data, model.y, 9.0, loss=loss, theta1=1.0, theta2=1.0, scale="raw", calls=CALLS, progress=False
    )
    assert f"(the {loss} loss of the odds of 3 classes is not one number that its trees add up)" in result.lower_by


@pytest.mark.parametrize("option", [{"gap": 0.1}, {"time_limit": 1.0}])
def test_options_of_proofs_are_none_of_a_black_box(option: dict[str, Any]) -> None:
    model = of_lightgbm(linear_tree=True)
    message = refusal(lambda: tp.profile(model, ROWS[NUMBERS], OWN, **option))
    assert "tree ensembles; this is a black box" in str(message)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"gap": 1.0}, "gap=1.0 must be a number from 0 to 1"),
        ({"gap": -0.1}, "gap=-0.1 must be a number from 0 to 1"),
        ({"gap": "small"}, "gap='small' must be a number from 0 to 1"),
        ({"time_limit": 0.0}, "time_limit=0.0 must be a positive number of seconds"),
        ({"time_limit": float("nan")}, "time_limit=nan must be a positive number of seconds"),
        ({"threads": 0}, "threads=0"),
        ({"calls": 10}, "calls=10 is an option of black boxes; this is a tree ensemble"),
    ],
)
def test_options_that_mean_nothing_are_refused(option: dict[str, Any], said: str) -> None:
    model = of_lightgbm()
    assert said in str(refusal(lambda: tp.profile(model, ROWS[NUMBERS], OWN, **option)))


def test_categories_that_no_tree_asks_about_are_no_obstacle() -> None:
    model = of_catboost(iterations=1, depth=1)
    result = tp.stability(model, ROWS, OWN, 0.9, theta1=1.0, theta2=1.0, gap=0.0)
    assert result.exact
    assert any("'shade'" in note and "no tree looks at" in note for note in result.notes)


def test_columns_of_other_names_are_not_taken_for_those_of_the_model() -> None:
    """LightGBM takes them by their place."""
    model = of_lightgbm()
    renamed = ROWS[NUMBERS].rename(columns={"age": "years"})
    result = tp.stability(model, renamed, OWN, 0.9, theta1=1.0, theta2=1.0, calls=CALLS, progress=False)
    assert "(it takes a column 'age', which X does not have)" in result.lower_by
