"""The stability of single features and groups: exact where it can be, ranked, with a limit and advice."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import tippingpoint as tp
from opaque import Opaque
from tippingpoint.core.arrays import FloatArray
from tippingpoint.losses import LOSSES, loss_named

INF = math.inf
NAMES = ["a", "b", "c", "unused"]
COEF, INTERCEPT = np.array([1.0, -0.5, 0.25, 0.0]), 0.1
MODEL = (COEF, INTERCEPT)
PAPER: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}


def data(n: int = 200, seed: int = 5) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4))
    y = np.where(x @ COEF + INTERCEPT + rng.normal(scale=0.8, size=n) > 0.0, 1, -1)
    return pd.DataFrame(x, columns=NAMES), y


def settings(loss: str) -> tuple[Any, float]:
    """Labels or targets, and a threshold some way above the present risk."""
    x, y = data()
    if loss_named(loss).task == "regression":
        y = x.to_numpy() @ COEF + np.random.default_rng(1).normal(size=len(x))
    return y, {"zero_one": 0.4, "squared": 2.0, "squared_hinge": 3.0}.get(loss, 1.2)


@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "cross_entropy"])
def test_a_feature_alone_is_the_model_whose_other_features_are_frozen(loss: str) -> None:
    x, _ = data()
    y, risk = settings(loss)
    found = tp.feature_stability(MODEL, x, y, risk, loss=loss, **PAPER)
    whole = tp.stability(MODEL, x, y, risk, loss=loss, **PAPER)
    assert set(found) == set(NAMES)
    for name in NAMES:
        alone = tp.stability(MODEL, x, y, risk, loss=loss, space=tp.Space(movable=[name]), **PAPER)
        assert found[name].value == pytest.approx(alone.value, rel=1e-12)
        assert found[name].standard_error == pytest.approx(alone.standard_error, rel=1e-12)
        assert found[name].value >= whole.value * (1.0 - 1e-12), "one feature is less freedom than all"
        assert found[name].exact
    values = [result.value for result in found.results.values()]
    assert values == sorted(values), "the most sensitive come first"


@pytest.mark.parametrize("divergence", ["kl", "chi2"])
@pytest.mark.parametrize("loss", ["zero_one", "logistic", "hinge"])
def test_an_unused_feature_attains_what_reweighting_alone_costs_and_a_group_is_no_worse_than_its_members(
    loss: str, divergence: str
) -> None:
    x, _ = data()
    y, risk = settings(loss)
    asked = {"loss": loss, "divergence": divergence, **PAPER}
    groups = {"ab": ["a", "b"], "rest": ["c", "unused"]}
    found = tp.feature_stability(MODEL, x, y, risk, space=tp.Space(groups=groups), **asked)
    limit = tp.stability(MODEL, x, y, risk, loss=loss, divergence=divergence, theta1=INF, theta2=0.25)
    assert found.limit == pytest.approx(limit.value, rel=1e-12)
    assert found["unused"].value == pytest.approx(found.limit, rel=1e-12)
    assert not found.matters("unused")
    assert found.matters("a")
    assert found.reach["unused"] == pytest.approx(found["a"].current_risk, rel=1e-12)
    assert found["ab"].value <= min(found["a"].value, found["b"].value)
    assert found["rest"].value == pytest.approx(found["c"].value, rel=1e-9), "what the model does not use adds nothing"
    assert found.kinds["ab"] == "group"
    again = tp.feature_stability(MODEL, x, y, risk, features={"mine": ["a", "b"]}, **asked)
    assert again["mine"].value == pytest.approx(found["ab"].value, rel=1e-12)


def test_moving_one_feature_of_a_squared_loss_has_the_closed_form() -> None:
    """`θ1 (√r - √v)²/β_j²` with nothing reweighted (docs/mathematics.md, section 11)."""
    x, _ = data()
    y, _ = settings("squared")
    found = tp.feature_stability(MODEL, x, y, 3.0, loss="squared", theta1=0.7, theta2=INF)
    v = float(np.square(y - x.to_numpy() @ COEF - INTERCEPT).mean())
    for name, beta in zip(NAMES[:3], COEF[:3], strict=True):
        assert found[name].value == pytest.approx(0.7 * (math.sqrt(3.0) - math.sqrt(v)) ** 2 / beta**2, rel=1e-9)
    assert math.isinf(found["unused"].value)
    assert math.isinf(found.limit)


def test_the_frame_the_text_and_the_json_say_the_same() -> None:
    x, y = data()
    found = tp.feature_stability(MODEL, x, y, 0.4, **PAPER)
    frame = found.to_frame()
    assert list(frame.columns)[:7] == ["feature", "kind", "stability", "lower", "upper", "standard_error", "moved_share"]
    assert frame["feature"].tolist() == list(found)
    assert frame["limit"].tolist() == [found.limit] * 4
    assert frame["matters"].tolist() == [True, True, True, False]
    text = str(found)
    assert "error rate" in text.splitlines()[0]
    for name in NAMES:
        assert any(line.startswith(name) for line in text.splitlines())
    assert "nothing" in next(line for line in text.splitlines() if line.startswith("unused"))
    stored = json.loads(found.to_json())
    assert [each["feature"] for each in stored["features"]] == list(found)
    assert stored["features"][0]["value"] == found["a"].value
    polars = pytest.importorskip("polars")
    ours = tp.feature_stability(MODEL, polars.DataFrame(x.to_dict("list")), y, 0.4, **PAPER).to_frame()
    assert isinstance(ours, polars.DataFrame)
    assert ours["stability"].to_list() == pytest.approx(frame["stability"].tolist(), rel=1e-12)


def test_one_feature_can_be_worked_out_again_with_its_sensitive_distribution() -> None:
    x, y = data()
    found = tp.feature_stability(MODEL, x, y, 0.4, **PAPER)
    result = found.result("b")
    assert result.value == found["b"].value
    q = result.sensitive
    assert (q["cost"] > 0).any()
    for name in ("a", "c", "unused"):
        assert q[name].tolist() == x.loc[q["row"], name].tolist(), "only the feature asked about moves"
    with pytest.raises(tp.DetachedError):
        _ = found["b"].sensitive


def test_weights_scales_and_names_mean_what_they_mean_elsewhere() -> None:
    x, y = data()
    weights = np.random.default_rng(0).integers(0, 3, len(x))
    doubled = np.repeat(np.arange(len(x)), weights)
    ours = tp.feature_stability(MODEL, x, y, 0.4, sample_weight=weights, scale="std", features=["b", "a"], **PAPER)
    theirs = tp.feature_stability(MODEL, x.iloc[doubled], y[doubled], 0.4, scale="std", features=["b", "a"], **PAPER)
    assert sorted(ours) == ["a", "b"]
    for name in ours:
        assert ours[name].value == pytest.approx(theirs[name].value, rel=1e-9)


# Features of every kind


def people(n: int = 160, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "job": rng.choice(["cook", "clerk", "nurse", "judge"], n),
            "income": rng.normal(50.0, 12.0, n),
        }
    )
    worth = frame["job"].map({"cook": -1.0, "clerk": 0.0, "nurse": 0.3, "judge": 1.5})
    y = np.where(0.05 * (frame["age"] - 40) + worth + 0.04 * (frame["income"] - 50) + rng.normal(size=n) > 0.2, "yes", "no")
    return frame, y


def piped(model: Any) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    return make_pipeline(make_column_transformer((OneHotEncoder(sparse_output=False), ["job"]), remainder="passthrough"), model)


@pytest.mark.parametrize("loss", ["zero_one", "logistic"])
def test_features_of_a_black_box_that_can_be_counted_are_exact(loss: str) -> None:
    x, y = people()
    model = piped(LogisticRegression(max_iter=5000)).fit(x, y)
    space = tp.Space(kind={"age": "integer", "job": "categorical"}, price={"age": 0.01, "job": 0.05})
    asked: dict[str, Any] = {"loss": loss, "space": space, "features": ["age", "job"], "scale": "raw", **PAPER}
    risk = 0.45 if loss == "zero_one" else 0.9
    exact = tp.feature_stability(model, x, y, risk, **asked)
    tried = tp.feature_stability(Opaque(model), x, y, risk, **asked)
    for name in ("age", "job"):
        assert tried[name].exact
        assert tried[name].value == pytest.approx(exact[name].value, rel=1e-6)
        assert exact.matters(name)
    both = tp.feature_stability(Opaque(model), x, y, risk, **{**asked, "features": {"both": ["age", "job"]}})
    pair = tp.feature_stability(model, x, y, risk, **{**asked, "features": {"both": ["age", "job"]}})
    assert both["both"].exact, "160 combinations are few enough to be tried"
    assert both["both"].value == pytest.approx(pair["both"].value, rel=1e-6)


def test_a_feature_that_is_missing_does_not_keep_the_others_from_moving() -> None:
    x = pd.DataFrame({"c": ["a", "b", None, None], "i": [3, 1, 3, 1]})
    y = np.array([1, 0, 1, 0])
    space = tp.Space(
        kind={"i": "integer"}, categories={"c": ["a", "b"]}, lower={"i": 0}, upper={"i": 4}, groups={"both": ["c", "i"]}
    )
    found = tp.feature_stability(lambda rows: (rows["i"] > 1.5).astype(int), x, y, 0.75, space=space, theta1=1.0, theta2=INF)
    assert found["i"].value == pytest.approx(1.5)
    assert found["both"].value == pytest.approx(1.5)
    assert found["both"].exact


TREES = {
    "tree": DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": RandomForestClassifier(8, max_depth=5, random_state=0),
    "histograms": HistGradientBoostingClassifier(max_iter=8, random_state=0),
}


@pytest.mark.parametrize("kind", TREES)
def test_trees_are_exact_along_a_column(kind: str) -> None:
    x, y = data(120)
    model = TREES[kind].fit(x, y)
    found = tp.feature_stability(model, x, y, 0.4, features=["a", "b"], theta1=1.0, theta2=INF)
    for name in ("a", "b"):
        assert found[name].exact
        near = nearest_error(model, x, y, name)
        wrong = model.predict(x) != y
        cheapest = np.sort(near[~wrong])
        missing = 0.4 * len(x) - wrong.sum()
        partly = missing - math.floor(missing)
        taken = cheapest[: math.floor(missing)].sum() + (partly * cheapest[math.floor(missing)] if partly > 1e-9 else 0.0)
        assert found[name].value <= taken / len(x) * (1.0 + 1e-6), "no place of a grid is nearer"
        if math.isinf(taken):
            assert math.isinf(found[name].value)
            continue
        # From step to step of the grid a square grows by 2·0.002·√d.
        assert found[name].value >= taken / len(x) - 0.004 * np.sqrt(cheapest[: math.ceil(missing)]).sum() / len(x)


def piped_trees() -> dict[str, Any]:
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    steps = make_column_transformer((OneHotEncoder(), ["k"]), (StandardScaler(), ["a", "b"]))
    return {
        "forest behind scalers and dummies": make_pipeline(steps, RandomForestClassifier(6, max_depth=4, random_state=0)),
        "histograms with categories": HistGradientBoostingClassifier(
            max_iter=8, random_state=0, categorical_features="from_dtype"
        ),
    }


@pytest.mark.parametrize("kind", piped_trees())
def test_trees_are_exact_along_a_raw_column_behind_preprocessing(kind: str) -> None:
    x, y = data(120)
    x = x[["a", "b"]].assign(a=3.0 * x["a"] + 10.0)
    # Categories come last here, and first inside the histograms.
    x["k"] = pd.Categorical(np.random.default_rng(0).choice(["u", "v", "w"], len(x)))
    model = piped_trees()[kind].fit(x, y)
    found = tp.feature_stability(model, x, y, 0.4, features=["a", "b"], theta1=1.0, theta2=INF)
    wrong = model.predict(x) != y
    for name in ("a", "b"):
        assert found[name].exact
        cheapest = np.sort(nearest_error(model, x, y, name)[~wrong])
        taken = cheapest[: round(0.4 * len(x) - wrong.sum())].sum()
        slack = 0.004 * np.sqrt(cheapest[: round(0.4 * len(x) - wrong.sum())]).sum()
        assert math.isinf(taken) or taken - slack <= found[name].value * len(x) <= taken * (1.0 + 1e-5)


def nearest_error(model: Any, x: pd.DataFrame, y: Any, name: str) -> FloatArray:
    """The squared distance to the nearest error along a column, on a grid of 1/500."""
    near = np.full(len(x), INF)
    for step in np.split(np.arange(0.0, 4.0, 0.002), 20):
        for sign in (-1.0, 1.0):
            moved = x.loc[np.repeat(x.index, len(step))].assign(**{name: np.add.outer(x[name].to_numpy(), sign * step).ravel()})
            wrong = (model.predict(moved) != np.repeat(y, len(step))).reshape(len(x), -1)
            near = np.minimum(near, np.where(wrong, np.square(step), INF).min(axis=1))
    return near


def test_a_tree_along_steps_too_fine_to_be_counted_is_exact_and_stays_on_them() -> None:
    """Places beside a threshold are no whole numbers: trying those alone would find nothing, and call that exact."""
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"dollars": rng.integers(0, 5000, 80)})
    y = (x["dollars"].to_numpy() + rng.normal(0.0, 300.0, 80) > 2500).astype(int)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(x, y)
    space = tp.Space(kind={"dollars": "integer"}, price=1e-6)
    found = tp.feature_stability(model, x, y, 0.4, space=space, scale="raw", theta1=1.0, theta2=INF)
    assert found["dollars"].exact
    every = np.arange(5000)
    wrong = model.predict(pd.DataFrame({"dollars": every})) != y[:, None]
    away = np.where(wrong, 1e-6 * (every - x["dollars"].to_numpy()[:, None]) ** 2, np.inf).min(axis=1)
    cheapest = np.sort(away[away > 0.0])
    needed = 0.4 * len(x) - (away == 0.0).sum()
    by_hand = (cheapest[: int(needed)].sum() + (needed - int(needed)) * cheapest[int(needed)]) / len(x)
    assert found["dollars"].value == pytest.approx(by_hand, rel=1e-9)
    moved = found.result("dollars").sensitive["dollars"]
    assert (moved == moved.round()).all()


def test_a_tree_is_exact_along_a_column_under_a_loss_of_ones_own_too() -> None:
    """It is a black box then, whose thresholds are known all the same."""
    x, _ = data(60)
    y = x["a"].to_numpy() ** 2
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(x, y)
    asked: dict[str, Any] = {"risk": 1.5, "features": ["a"], "theta1": 1.0, "theta2": 0.5}
    own, known = (tp.feature_stability(model, x, y, loss=loss, **asked)["a"] for loss in (_absolute, "absolute"))
    assert own.exact
    assert own.value == pytest.approx(known.value, rel=1e-6)
    assert "places tried for every sample" in own.lower_by


def _absolute(output: Any, y: Any) -> Any:
    return np.abs(output - y)


def test_a_regression_tree_is_exact_along_a_column() -> None:
    x, _ = data(80)
    y = x["a"].to_numpy() ** 2 + 0.3 * np.random.default_rng(0).normal(size=80)
    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(x, y)
    found = tp.feature_stability(model, x, y, 1.5, features=["a"], theta1=1.0, theta2=0.5)
    assert found["a"].exact
    assert found["a"].lower == pytest.approx(found["a"].upper, rel=1e-9)
    assert found["a"].loss == "squared"


# Advice


def test_advice_names_the_features_to_target_and_the_kind_of_change_that_dominates() -> None:
    x, y = data()
    found = tp.feature_stability(MODEL, x, y, 0.4, **PAPER)
    advice = found.advice()
    assert advice.targets[0] == "a"
    assert "unused" not in advice.targets
    assert "targeted adversarial training" in str(advice)
    moving = tp.stability(MODEL, x, y, 0.4, theta1=0.01, theta2=5.0).advice()
    assert (moving.dominant, moving.intervention.split(":")[0]) == ("moving", "adversarial training")
    reweighting = tp.stability(MODEL, x, y, 0.4, theta1=50.0, theta2=0.01).advice()
    assert (reweighting.dominant, reweighting.intervention.split(":")[0]) == ("reweighting", "tilted ERM")
    only = tp.stability(MODEL, x, y, 0.4, theta1=INF, theta2=0.1).advice()
    assert only.dominant == "reweighting"
    assert any("theta1" in reason for reason in only.reasons)
    nothing = tp.stability(MODEL, x, y, 0.01, **PAPER).advice()
    assert nothing.dominant == "none"
    frozen = tp.feature_stability(MODEL, x, y, 0.4, features=["unused"], **PAPER).advice()
    assert frozen.targets == ()


def test_features_too_dear_to_move_are_told_from_those_that_cannot_matter() -> None:
    x, y = people()
    model = piped(LogisticRegression(max_iter=5000)).fit(x, y)
    space = tp.Space(frozen=["age"], price={"job": 50.0})
    found = tp.feature_stability(model, x, y, 0.45, space=space, scale="std", **PAPER)
    assert not found.matters("job")
    assert found.reach["job"] > found["job"].current_risk
    assert "an error is worth" in str(found)


def test_the_words_fit_the_question() -> None:
    x, y = data()
    assert "reweighting" not in str(tp.feature_stability(MODEL, x, y, 0.4, theta1=1.0, theta2=INF)).splitlines()[0]
    forbidden = str(tp.feature_stability(MODEL, x, y, 0.4, theta1=INF, theta2=0.25))
    assert "moving" not in forbidden.splitlines()[0]
    assert "an error is worth" not in forbidden
    there = tp.feature_stability(MODEL, x, y, 0.01, **PAPER)
    assert "already" in str(there)
    assert there.advice().dominant == "none"
    assert "worth" not in repr(there)
    assert "&lt;" in tp.feature_stability(MODEL, x.rename(columns={"a": "<b>"}), y, 0.4, **PAPER)._repr_html_()


def test_trees_read_float32_also_far_from_zero() -> None:
    x = pd.DataFrame({"a": 1e5 + np.linspace(0.0, 1.0, 11)})
    y = (np.arange(11) > 4).astype(int)
    model = DecisionTreeClassifier(max_depth=1).fit(x, y)
    found = tp.feature_stability(model, x, y, 1 / 11, theta1=1.0, theta2=INF)["a"]
    steps = np.linspace(0.0, 0.2, 20_001)
    nearest = min(
        float(steps[model.predict(x.iloc[[i] * len(steps)] + side * steps[:, None]) != y[i]].min(initial=INF))
        for i in (4, 5)
        for side in (-1.0, 1.0)
    )
    assert found.exact
    assert found.value * 11 == pytest.approx(nearest**2, rel=1e-3)


# Bad input

BAD: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "a name for a list": ({"features": "a"}, ("features='a'", "list of names")),
    "an unknown feature": ({"features": ["z"]}, ("'z'", "is not a feature", "'a'")),
    "a frozen feature": ({"features": ["a"], "space": tp.Space(frozen=["a"])}, ("'a'", "may not move")),
    "a group with a column's name": ({"features": {"a": ["a", "b"]}}, ("the group 'a'", "name of its own")),
    "a group of no list": ({"features": {"g": "a"}}, ("features['g']='a'", "list of feature names")),
    "an empty group": ({"features": {"g": []}}, ("names nothing",)),
    "a column of a group": (
        {"features": ["k_1"], "space": tp.Space(one_hot={"k": ["k_1", "k_2"]}), "grouped": True},
        ("'k_1'", "one-hot group 'k'"),
    ),
    "a unit of a switch": (
        {"scale": {"k_1": 3.0}, "space": tp.Space(one_hot={"k": ["k_1", "k_2"]}), "grouped": True},
        ("scale['k_1']=3.0", "has no unit"),
    ),
    "no features": ({"features": []}, ("names nothing", "leave it out")),
    "nothing moves": ({"space": tp.Space(movable=[])}, ("no feature may move",)),
    "an option of a search": ({"restarts": 3}, ("restarts=3", "leave it out")),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(case: str) -> None:
    x, y = data()
    options, parts = BAD[case]
    asked = {**PAPER, **options}
    if asked.pop("grouped", False):
        x = x.assign(c=0.0, unused=1.0).rename(columns={"c": "k_1", "unused": "k_2"})
    with pytest.raises(tp.InputError) as caught:
        tp.feature_stability(MODEL, x, y, 0.4, **asked)
    x, y = data()
    for part in parts:
        assert part in str(caught.value)
    with pytest.raises(tp.InputError, match="was not asked about"):
        tp.feature_stability(MODEL, x, y, 0.4, features=["a"], **PAPER)["b"]


# Networks


@pytest.mark.parametrize("loss", ["zero_one", "cross_entropy", "hinge"])
def test_a_network_is_exact_along_every_column(loss: str) -> None:
    torch = pytest.importorskip("torch")
    x, y = data(60)
    linear = torch.nn.Linear(4, 1).double()
    with torch.no_grad():
        linear.weight.copy_(torch.tensor(COEF)[None])
        linear.bias.fill_(INTERCEPT)
    risk = 0.4 if loss == "zero_one" else 1.2
    found = tp.feature_stability(linear, x, y, risk, loss=loss, **PAPER)
    by_hand = tp.feature_stability(MODEL, x, y, risk, loss=loss, **PAPER)
    for name in NAMES:
        assert found[name].exact
        assert found[name].value == pytest.approx(by_hand[name].value, rel=1e-6)


def test_a_networks_one_hot_group_is_exact_by_trying_every_category() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    race = np.eye(4)[rng.integers(0, 4, 80)]
    x = pd.DataFrame(np.column_stack((race, rng.normal(size=80))), columns=["r_0", "r_1", "r_2", "r_3", "x"])
    net = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    with torch.no_grad():
        score = net(torch.tensor(x.to_numpy()).float())[:, 0].numpy()
    y = (score + rng.normal(scale=0.2, size=80) > 0).astype(int)
    space = tp.Space(one_hot={"r": ["r_0", "r_1", "r_2", "r_3"]}, price={"r": 0.1})
    found = tp.feature_stability(net, x, y, 0.45, space=space, features=["r"], theta1=1.0, theta2=INF)
    with torch.no_grad():
        every = []
        for k in range(4):
            z = x.to_numpy().copy()
            z[:, :4] = np.eye(4)[k]
            every.append((net(torch.tensor(z).float())[:, 0].numpy() > 0).astype(int) != y)
    wrong = (score > 0).astype(int) != y
    can = np.any(every, axis=0) & ~wrong
    assert can.sum() > 0.45 * 80 - wrong.sum() > 0, "the case is not trivial"
    assert found["r"].exact
    assert found["r"].value == pytest.approx(0.1 * (0.45 - wrong.mean()), rel=1e-6)


def test_pairs_of_features_are_no_less_sensitive_than_each() -> None:
    x, y = data(100)
    pairs = {f"{a}{b}": [a, b] for a, b in itertools.combinations(NAMES, 2)}
    single = tp.feature_stability(MODEL, x, y, 0.4, **PAPER)
    double = tp.feature_stability(MODEL, x, y, 0.4, features=pairs, **PAPER)
    for name, (a, b) in pairs.items():
        assert double[name].value <= min(single[a].value, single[b].value) * (1 + 1e-12)
