"""Models that can only be asked: what is found is feasible, close to the best, within the calls, and says what it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

import tippingpoint as tp
from opaque import Opaque
from tippingpoint.api import cases
from tippingpoint.api.reviewing import review

INF = math.inf
PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.5}
JOBS = ["clerk", "cook", "judge", "nurse"]


def data(n: int = 150, d: int = 6, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * np.linspace(0.5, 2.0, d)
    y = np.where(x @ np.linspace(1.0, -1.0, d) + rng.normal(size=n) > 0.0, "yes", "no")
    return pd.DataFrame(x, columns=[f"f{j}" for j in range(d)]), y


def people(n: int = 150, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.normal(size=n),
            "age": rng.integers(20, 60, n),
            "job": rng.choice(JOBS, n),
            "town": pd.Categorical(rng.choice(["n", "s", "w"], n)),
        }
    )
    worth = frame["job"].map(dict(zip(JOBS, (0.0, -1.0, 1.5, 0.4), strict=True)))
    score = frame["income"] + 0.05 * (frame["age"] - 40) + worth + (frame["town"] == "n") * 0.7
    return frame, np.where(score + rng.normal(size=n) > 0.3, 1, 0)


MIXED = tp.Space(
    kind={"age": "integer"},
    lower={"age": 18},
    upper={"age": 65},
    price={"age": 0.01, "job": 0.3, "town": 0.2},
    direction={"age": "up"},
)


def mixed_model() -> Any:
    steps = make_column_transformer((OneHotEncoder(), ["job", "town"]), remainder="passthrough")
    x, y = people(400, 1)
    return make_pipeline(steps, LogisticRegression(max_iter=5000)).fit(x, y)


WAYS = {
    "scores": ("predict", "decision_function"),
    "probabilities": ("predict", "predict_proba"),
    "classes only": ("predict",),
}


@pytest.mark.parametrize("prices", [(1.0, 0.5), (1.0, 1e6)], ids=["both", "moving"])
@pytest.mark.parametrize(
    ("loss", "way"),
    [(loss, way) for loss in ("zero_one", "logistic", "hinge") for way in WAYS if loss == "zero_one" or way != "classes only"],
)
def test_on_a_linear_model_it_is_within_two_percent_of_exact(loss: str, way: str, prices: tuple[float, float]) -> None:
    x, y = data()
    model = LogisticRegression().fit(x, y)
    risk = {"zero_one": 0.4, "logistic": 0.9, "hinge": 1.2}[loss]
    asked: dict[str, Any] = {"loss": loss, "theta1": prices[0], "theta2": prices[1]}
    exact = tp.stability(model, x, y, risk, **asked)
    found = tp.stability(Opaque(model, *WAYS[way]), x, y, risk, **asked)
    assert exact.value * (1.0 - 1e-9) <= found.value <= 1.02 * exact.value
    assert not found.exact
    assert found.lower == 0.0
    assert "upper bound only" in str(found)


@pytest.mark.parametrize("loss", ["squared", "absolute", "pinball:0.8", "huber"])
def test_regressors_too_are_within_two_percent(loss: str) -> None:
    x, _ = data()
    y = x.to_numpy() @ np.linspace(1.0, -1.0, 6) + np.random.default_rng(1).normal(size=len(x))
    model = LinearRegression().fit(x, y)
    risk = 3.0 if loss == "squared" else 1.5
    exact = tp.stability(model, x, y, risk, loss=loss, **PRICES)
    found = tp.stability(model.predict, x, y, risk, loss=loss, **PRICES)
    assert exact.value * (1.0 - 1e-9) <= found.value <= 1.02 * exact.value


@pytest.mark.parametrize("way", WAYS)
def test_in_a_mixed_space_it_is_within_two_percent_of_exact(way: str) -> None:
    x, y = people()
    model = mixed_model()
    exact = tp.stability(model, x, y, 0.45, space=MIXED, **PRICES)
    found = tp.stability(Opaque(model, *WAYS[way]), x, y, 0.45, space=MIXED, **PRICES)
    assert exact.exact
    # A model that tells classes only hides how much a switch is worth.
    assert exact.value * (1.0 - 1e-9) <= found.value <= (1.25 if way == "classes only" else 1.02) * exact.value


def asked(model: Any) -> Opaque:
    """A model of trees that nobody can read."""
    return Opaque(model, "predict", "predict_proba")


def boxes() -> dict[str, Any]:
    x, y = data()
    frame, label = people()
    encoded = make_column_transformer((OrdinalEncoder(), ["job", "town"]), remainder="passthrough")
    return {
        "forest": (asked(RandomForestClassifier(10, random_state=0).fit(x, y)), x, y, None),
        "histograms in raw columns": (
            asked(make_pipeline(encoded, HistGradientBoostingClassifier(max_iter=10, random_state=0)).fit(frame, label)),
            frame,
            label,
            MIXED,
        ),
        "neighbours": (KNeighborsClassifier(5).fit(x, y), x, y, None),
        "another kernel": (make_pipeline(StandardScaler(), SVC()).fit(x, y), x, y, None),
        "polynomials": (make_pipeline(PolynomialFeatures(2), LogisticRegression(max_iter=5000)).fit(x, y), x, y, None),
    }


@pytest.mark.parametrize("kind", boxes())
@pytest.mark.parametrize("divergence", ["kl", "chi2"])
def test_the_model_itself_confirms_the_risk_and_the_rows_are_legal(kind: str, divergence: str) -> None:
    model, x, y, space = boxes()[kind]
    calls = 150 * len(x)
    result = tp.stability(model, x, y, 0.45, space=space, calls=calls, divergence=divergence, **PRICES)
    q = result.sensitive
    truth = pd.Series(y, index=x.index).loc[q["row"]].to_numpy()
    wrong = model.predict(q[x.columns]) != truth
    mass = q["weight"] * q["share"] / len(x)
    assert wrong.astype(float).tolist() == q["loss"].tolist()
    assert float(mass[wrong].sum()) == pytest.approx(0.45, rel=1e-9)
    assert q[x.columns].dtypes.astype(str).tolist() == x.dtypes.astype(str).tolist()
    if space is not None:
        now = x.loc[q["row"]]
        assert (q["age"].to_numpy() >= now["age"].to_numpy()).all()
        assert q["age"].between(18, 65).all()
        assert set(q["job"]) <= set(JOBS)


@pytest.mark.parametrize("per_row", [3, 10, 40, 500])
def test_the_calls_are_counted_and_more_of_them_never_hurts_the_claim(per_row: int) -> None:
    x, y = data(60)
    box = Opaque(LogisticRegression().fit(x, y), "predict", "predict_proba")
    profile = tp.profile(box, x, y, calls=per_row * len(x))
    assert box.rows <= per_row * len(x)
    result = profile.stability(0.4, theta1=0.2, theta2=INF)
    exact = tp.stability(LogisticRegression().fit(x, y), x, y, 0.4, theta1=0.2, theta2=INF)
    assert result.value >= exact.value * (1.0 - 1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_one_feature_of_a_linear_model_is_within_two_percent(way: str) -> None:
    x, y = data()
    model = LogisticRegression().fit(x, y)
    exact = tp.feature_stability(model, x, y, 0.4, features=["f0", "f5"], **PRICES)
    found = tp.feature_stability(Opaque(model, *WAYS[way]), x, y, 0.4, features=["f0", "f5"], **PRICES)
    for name in exact:
        assert exact[name].value * (1.0 - 1e-9) <= found[name].value <= 1.02 * exact[name].value


def test_features_share_the_calls() -> None:
    x, y = data(60)
    box = Opaque(LogisticRegression().fit(x, y), "predict", "predict_proba")
    found = tp.feature_stability(box, x, y, 0.4, calls=60 * 240, **PRICES)
    assert len(found) == 6
    assert box.rows <= 60 * 240
    with pytest.raises(tp.InputError, match="too small for 6 features"):
        tp.feature_stability(box, x, y, 0.4, calls=60 * 5, **PRICES)


def test_the_same_seed_gives_the_same_bytes() -> None:
    x, y = data(80)
    box = asked(RandomForestClassifier(5, random_state=0).fit(x, y))
    first, second = (tp.stability(box, x, y, 0.4, seed=3, calls=80 * 100, **PRICES) for _ in range(2))
    assert first.to_json() == second.to_json()
    assert first.sensitive.equals(second.sensitive)


def test_a_number_of_calls_does_not_trouble_a_model_that_needs_none() -> None:
    x, y = data(60)
    linear, forest = LogisticRegression().fit(x, y), asked(RandomForestClassifier(4, random_state=0).fit(x, y))
    compared = tp.compare({"linear": linear, "forest": forest}, x, y, 0.4, calls=60 * 40, **PRICES)
    assert compared.results["linear"].value == tp.stability(linear, x, y, 0.4, **PRICES).value
    assert "searched with" in compared.results["forest"].lower_by
    both = tp.compare({"linear": linear, "forest": forest}, x, y, 0.4, mix=0.5, budget=10.0, calls=60 * 40)
    assert {result.theta1 for result in both.results.values()} == {0.2}, "the budget is the dial's"
    with pytest.raises(tp.InputError, match="calls=99 is an option of a search"):
        tp.compare({"linear": linear, "again": linear}, x, y, 0.4, calls=99, **PRICES)


def test_a_review_prepares_every_model_once_and_says_what_its_parts_say(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = data(60)
    models = {name: asked(RandomForestClassifier(4, random_state=k).fit(x, y)) for k, name in enumerate(("now", "next"))}
    prepared, prepare = list[Any](), cases.prepared

    def noted(model: Any, *rest: Any, **keywords: Any) -> Any:
        prepared.append(model)
        return prepare(model, *rest, **keywords)

    monkeypatch.setattr("tippingpoint.api.comparing.prepared", noted)
    found = review(models, x, y, 0.4, calls=60 * 100, **PRICES)
    assert prepared == [*models.values()]
    assert found.comparison is not None
    assert found.features is not None
    compared = tp.compare(models, x, y, 0.4, calls=60 * 100, **PRICES)
    ranked = tp.feature_stability(models["now"], x, y, 0.4, calls=60 * 100, **PRICES)
    assert found.comparison.results["next"].value == compared.results["next"].value
    assert found.result.value == compared.results["now"].value
    assert {name: found.features[name].value for name in ranked} == {name: ranked[name].value for name in ranked}


# What a model returns


def outputs() -> dict[str, tuple[Callable[[Any], Any], str]]:
    x, y = data()
    model = LogisticRegression().fit(x, y)
    return {
        "labels": (model.predict, "zero_one"),
        "probabilities of both": (model.predict_proba, "logistic"),
        "the probability of the second": (lambda rows: model.predict_proba(rows)[:, 1], "logistic"),
        "one score": (model.decision_function, "logistic"),
        "a column of scores": (lambda rows: model.decision_function(rows)[:, None], "zero_one"),
        "scores of both": (lambda rows: np.column_stack((0.0 * rows["f0"], model.decision_function(rows))), "zero_one"),
    }


@pytest.mark.parametrize("kind", outputs())
def test_a_function_of_the_frame_is_a_model_whatever_it_returns(kind: str) -> None:
    x, y = data()
    function, loss = outputs()[kind]
    exact = tp.stability(LogisticRegression().fit(x, y), x, y, 0.4 if loss == "zero_one" else 0.9, loss=loss, **PRICES)
    found = tp.stability(function, x, y, 0.4 if loss == "zero_one" else 0.9, loss=loss, **PRICES)
    assert found.current_risk == pytest.approx(exact.current_risk, rel=1e-9)
    assert exact.value * (1 - 1e-9) <= found.value <= 1.02 * exact.value


def test_a_loss_of_ones_own_is_a_function_of_outputs_and_targets() -> None:
    x, y = data()
    model = LogisticRegression().fit(x, y)

    def brier(shares: Any, labels: Any) -> Any:
        return np.square(shares[:, 1] - (labels == "yes"))

    found = tp.stability(model, x, y, 0.3, loss=brier, **PRICES)
    assert found.loss == "brier"
    assert found.current_risk == pytest.approx(float(brier(model.predict_proba(x), y).mean()), rel=1e-12)
    q = found.sensitive
    truth = pd.Series(y).loc[q["row"]].to_numpy()
    assert brier(model.predict_proba(q[x.columns]), truth) == pytest.approx(q["loss"].to_numpy(), abs=1e-12)


def test_a_score_of_exactly_zero_means_the_first_class() -> None:
    """As scikit-learn predicts it: right for the first class, wrong for the second."""
    x = pd.DataFrame({"a": [-1.0, 0.0, 0.0, 1.0]})
    y = np.array([0, 0, 1, 1])
    profile = tp.profile(lambda rows: rows["a"].to_numpy(), x, y, output="score")
    assert profile.oracle.losses.tolist() == [0.0, 0.0, 1.0, 0.0]


def test_several_classes_and_their_cross_entropy_are_searched() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    x = pd.DataFrame(rng.normal(size=(120, 3)) + np.eye(3)[y] * 1.5, columns=list("abc"))
    model = LogisticRegression().fit(x, y)
    exact = tp.stability(model, x, y, 0.5, **PRICES)
    assert exact.exact
    found = tp.stability(Opaque(model, "predict", "predict_proba"), x, y, 0.5, **PRICES)
    assert exact.value * (1 - 1e-9) <= found.value <= 1.02 * exact.value
    entropy = tp.stability(model, x, y, 1.2, loss="cross_entropy", **PRICES)
    now = -np.log(model.predict_proba(x)[np.arange(120), y]).mean()
    assert entropy.current_risk == pytest.approx(float(now), rel=1e-9)
    assert "3 classes" in str(entropy)


def test_scores_that_disagree_with_the_predictions_are_not_believed() -> None:
    """Of a vote of pairs, and of calibrated probabilities, the highest score need not be what is predicted."""
    x, y = data(90)

    class Contrary:
        classes_ = np.array(["no", "yes"])

        def predict(self, rows: Any) -> Any:
            return np.where(rows["f0"] > 0.0, "yes", "no")

        def predict_proba(self, rows: Any) -> Any:
            share = 1.0 / (1.0 + np.exp(rows["f0"]))
            return np.column_stack((1.0 - share, share))

    result = tp.stability(Contrary(), x, y, 0.6, **PRICES)
    assert result.current_risk == pytest.approx(float((Contrary().predict(x) != y).mean()))


def test_polars_frames_are_given_to_the_model_as_they_came() -> None:
    polars = pytest.importorskip("polars")
    x, y = people()
    frame = polars.from_pandas(x.astype({"town": str}))
    seen = set()

    def model(rows: Any) -> Any:
        seen.add((type(rows).__name__, tuple(rows.columns), tuple(str(kind) for kind in rows.dtypes)))
        return (rows["income"] + 0.02 * (rows["age"] - 40) + (rows["job"] == "judge").cast(polars.Float64)).to_numpy()

    result = tp.stability(model, frame, y, 0.55, space=MIXED, calls=100 * len(x), **PRICES)
    assert seen == {("DataFrame", tuple(frame.columns), tuple(str(kind) for kind in frame.dtypes))}
    assert isinstance(result.sensitive, polars.DataFrame)
    assert set(result.sensitive["job"]) <= set(JOBS)


def test_a_regressor_without_coefficients_is_served() -> None:
    x, _ = data(80)
    y = x["f0"].to_numpy() ** 2
    model = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(x, y)
    result = tp.stability(model.predict, x, y, 0.5, loss="squared", calls=80 * 100, **PRICES)
    assert result.loss == "squared"
    q = result.sensitive
    assert np.square(y[q["row"]] - model.predict(q[x.columns])) == pytest.approx(q["loss"].to_numpy(), rel=1e-9)


def test_an_interrupted_search_is_an_upper_bound_with_a_note() -> None:
    x, y = data(60)
    model = LogisticRegression().fit(x, y)
    calls = 0

    def impatient(rows: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 12:
            raise KeyboardInterrupt
        return model.decision_function(rows)

    result = tp.stability(impatient, x, y, 0.4, **PRICES)
    assert any("interrupted" in note for note in result.notes)
    assert result.value >= tp.stability(model, x, y, 0.4, **PRICES).value * (1 - 1e-9)


# Bad input


def fails_on_judges(rows: Any) -> Any:
    if (rows["job"] == "judge").any() and (rows["income"] < 0.0).any():
        raise ValueError("no poor judges here")
    return rows["income"].to_numpy()


def of_forest(**options: Any) -> Any:
    """The profile of a small forest."""
    return tp.profile(asked(RandomForestClassifier(2).fit(*data())), *data(), **options)


def poor_judges_left_out() -> tuple[pd.DataFrame, Any]:
    x, y = people()
    kept = (x["income"] > 0.0) | (x["job"] != "judge")
    kept &= x["income"].abs() > 0.0
    calm = x[kept].copy()
    calm["income"] = calm["income"].abs()
    return calm, y[kept.to_numpy()]


BAD: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "a file name": (
        lambda: tp.stability("model.pkl", *data(), 0.4),
        ("model='model.pkl' is a name", "tippingpoint.load_model"),
    ),
    "a model that fails on a legal row": (
        lambda: tp.stability(fails_on_judges, *poor_judges_left_out(), 0.5, **PRICES),
        ("fails on row", "income=", "no poor judges here", "Space"),
    ),
    "a model that returns NaN": (
        lambda: tp.stability(lambda rows: np.full(len(rows), np.nan), *data(), 0.4, output="score"),
        ("returns nan", "row 0"),
    ),
    "too few answers": (
        lambda: tp.stability(lambda rows: rows["f0"].to_numpy()[:3], *data(), 0.4, output="score"),
        ("shape (3,)", "150 rows"),
    ),
    "fewer calls than one call a row": (
        lambda: tp.profile(asked(RandomForestClassifier(2).fit(*data())), *data(), calls=10),
        ("calls=10", "150 rows"),
    ),
    "calls that are no whole number": (
        lambda: tp.profile(asked(RandomForestClassifier(2).fit(*data())), *data(), calls=2000.0),
        ("calls=2000.0 must be a whole number, at least one call for each of the 150 rows",),
    ),
    **{
        f"{name} that is True": (partial(of_forest, **{name: True}), (f"{name}=True must be a whole number, ",))
        for name in ("calls", "seed", "batch", "repeats")
    },
    "calls that are spent on the trial": (
        lambda: tp.profile(asked(RandomForestClassifier(2).fit(*data())), *data(), calls=200),
        ("calls=200", "to see what the model returns", "or more"),
    ),
    "an unknown option": (
        lambda: tp.profile(asked(RandomForestClassifier(2).fit(*data())), *data(), restarts=3),
        ("restarts=3", "calls, seed"),
    ),
    "an unknown output": (
        lambda: tp.profile(lambda rows: rows["f0"], *data(), output="odds"),
        ("output='odds'", "probability"),
    ),
    "a smooth loss of classes": (
        lambda: tp.profile(lambda rows: np.where(rows["f0"] > 0, "yes", "no"), *data(), loss="logistic"),
        ("loss='logistic'", "only tells classes", "'zero_one'"),
    ),
    "labels that the model never says": (
        lambda: tp.profile(lambda rows: np.full(len(rows), "maybe"), *data()),
        ("'maybe'", "none of the labels"),
    ),
    "a regression loss of a classifier": (
        lambda: tp.profile(asked(RandomForestClassifier(2).fit(*data())), data()[0], np.arange(150.0), loss="squared"),
        ("judges regressors", "'zero_one'"),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_with_a_remedy(case: str) -> None:
    call, parts = BAD[case]
    with pytest.raises(tp.InputError) as caught:
        call()
    for part in parts:
        assert part in str(caught.value), str(caught.value)
