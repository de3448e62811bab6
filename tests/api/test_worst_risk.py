"""The worst risk at a cost, asked of profiles of every family, of partitions and of bad inputs; what its results hold."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier

import tippingpoint as tp
from tippingpoint.core.prover import prove
from tippingpoint.errors import SmallSampleWarning

mpl.use("Agg")

INF = math.inf
PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
RNG = np.random.default_rng(4)
X = pd.DataFrame(RNG.normal(size=(80, 3)), columns=["a", "b", "c"])
Y = (X["a"] + 0.5 * RNG.normal(size=80) > 0.0).astype(int)
MODEL = tp.LinearModel.of([1.0, 0.2, 0.0], 0.0, [0, 1])


def score(rows: Any) -> Any:
    return np.asarray(rows) @ np.array([1.0, 0.2, 0.0])


def stopping(calls: int = 3000) -> Any:
    """A model at which somebody presses Ctrl-C, once."""
    left = [calls]

    def model(rows: Any) -> Any:
        before, left[0] = left[0], left[0] - len(rows)
        if before >= 0 > left[0]:
            raise KeyboardInterrupt
        return score(rows)

    return model


@pytest.mark.parametrize("loss", ["zero_one", "hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("divergence", ["kl", "chi2", "cvar:0.4"])
@pytest.mark.parametrize("prices", [(1.0, 0.25), (INF, 0.2), (0.2, INF)], ids=str)
def test_the_cost_of_a_threshold_reaches_it_and_no_more(loss: str, divergence: str, prices: tuple[float, float]) -> None:
    profile = tp.profile(MODEL, X, Y, loss=loss)
    asked: dict[str, Any] = {"theta1": prices[0], "theta2": prices[1], "divergence": divergence}
    result = profile.stability(1.4 * profile.risk, **asked)
    if result.status != "attained":
        return
    worst = profile.worst_risk(result.value, **asked)
    assert worst.value == pytest.approx(result.risk, rel=1e-9)
    assert worst.certified is not None
    assert worst.value <= worst.certified <= worst.value * (1 + 1e-9)
    assert worst.exact
    assert worst.spent == worst.stability.value == pytest.approx(result.value, rel=1e-9)
    assert worst.stability.sensitive["mass"].sum() == pytest.approx(1.0)
    q = worst.stability.sensitive
    assert float((q["mass"] * q["loss"]).sum()) == pytest.approx(worst.value, rel=1e-9)


def test_its_standard_error_is_that_of_resampled_data() -> None:
    """`se(W) = se(R)/h*`, against the spread of worst risks over rows drawn again."""
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    y = (x["a"] + 0.7 * rng.normal(size=400) > 0.0).astype(int)
    worst = tp.worst_risk(([1.0, 0.2], 0.0), x, y, 0.02, loss="logistic", **PRICES)
    assert worst.standard_error == worst.stability.standard_error / worst.price
    drawn = []
    for _ in range(150):
        rows = rng.integers(0, 400, 400)
        again = tp.worst_risk(([1.0, 0.2], 0.0), x.iloc[rows], y.iloc[rows], 0.02, loss="logistic", **PRICES)
        drawn.append(again.value)
    assert worst.standard_error == pytest.approx(np.std(drawn), rel=0.2)


def test_more_than_enough_and_nothing_at_all() -> None:
    profile = tp.profile(MODEL, X, Y)
    most = profile.worst_risk(1e6, **PRICES)
    assert (most.value, most.certified, most.status) == (1.0, 1.0, "largest")
    assert most.spent == profile.stability(1.0, **PRICES).value < 1e6
    assert math.isnan(most.standard_error)
    assert "the largest that any perturbation lifts the error rate to" in str(most).replace("\n", " ")
    assert "of the cost 1e+06 is enough" in str(most).replace("\n", " ")
    none = profile.worst_risk(0.0, **PRICES)
    assert (none.value, none.certified, none.excess) == (profile.risk, profile.risk, 0.0)
    capped = profile.worst_risk(0, divergence="cvar:0.4", **PRICES)
    assert capped.value == pytest.approx(min(profile.risk / 0.4, 1.0)), "weights within a cap are free"


def test_tiny_costs_keep_their_digits_in_the_excess() -> None:
    rng = np.random.default_rng(1)
    x, beta = rng.normal(size=(50, 2)), np.array([1.0, -0.5])
    profile = tp.profile((beta, 0.0), x, x @ beta + rng.normal(size=50), loss="squared")
    for cost in (1e-200, 1e-30, 1e-10):
        step = cost * float(beta @ beta)
        worst = profile.worst_risk(cost, theta1=1.0, theta2=INF)
        assert worst.excess == pytest.approx(2.0 * math.sqrt(profile.risk * step) + step, rel=1e-10)
    assert worst.value == profile.risk + worst.excess


@pytest.mark.parametrize("cost", [-1.0, -1e-300, INF, -INF])
def test_a_cost_that_is_none_is_refused(cost: float) -> None:
    with pytest.raises(tp.InputError, match=rf"cost={cost!r} must be 0 or more, and finite"):
        tp.profile(MODEL, X, Y).worst_risk(cost, **PRICES)


@pytest.mark.parametrize("cost", ["much", "0.1", None, math.nan, True, {}])
def test_a_cost_that_is_no_number_is_refused(cost: Any) -> None:
    with pytest.raises(tp.InputError, match=r"cost=.* must be a number"):
        tp.profile(MODEL, X, Y).worst_risk(cost, **PRICES)


def test_other_mistakes_are_sentences() -> None:
    profile = tp.profile(MODEL, X, Y)
    with pytest.raises(tp.InputError, match=r"cost=\[\] must be several numbers"):
        profile.worst_risk([], **PRICES)
    with pytest.raises(tp.InputError, match=r"cost=-1 must be 0 or more"):
        profile.worst_risk([0.1, -1], **PRICES)
    with pytest.raises(tp.InputError, match=r"is not known to Profile\.worst_risk; did you mean theta1"):
        profile.worst_risk(0.1, thetha1=1.0)
    with pytest.raises(tp.InputError, match=r"risk=0\.4 is not known to worst_risk; it is an argument of stability"):
        tp.worst_risk(MODEL, X, Y, 0.1, risk=0.4)
    with pytest.raises(tp.InputError, match="theta2 is missing"):
        profile.worst_risk(0.1, theta1=1.0)


OPTIONS: tuple[dict[str, Any], ...] = ({}, {"method": "exact"})
FOREST = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, Y)
BOOSTED = GradientBoostingRegressor(n_estimators=8, max_depth=2, random_state=0).fit(X, X["a"])


@pytest.mark.parametrize("cost", [0.002, 0.05])
@pytest.mark.parametrize(
    ("model", "target", "loss"), [(FOREST, Y, None), (FOREST, Y, "logistic"), (BOOSTED, X["a"] + 0.1, None)]
)
def test_trees_are_proved_from_both_sides(model: Any, target: Any, loss: str | None, cost: float) -> None:
    loose = tp.profile(model, X, target, loss=loss, gap=0.3, progress=False).worst_risk(cost, **PRICES)
    tight = tp.profile(model, X, target, loss=loss, gap=0, progress=False).worst_risk(cost, **PRICES)
    assert loose.certified is not None
    assert tight.certified is not None
    assert tight.certified == pytest.approx(tight.value, rel=2e-3)
    assert loose.value <= tight.certified * (1 + 1e-9), "nothing that was found is above what is proved"
    assert loose.certified >= tight.value * (1 - 1e-9)


def test_an_exact_proof_of_trees_is_called_exact() -> None:
    worst = tp.profile(FOREST, X, Y, gap=0, progress=False).worst_risk(0.02, **PRICES)
    assert worst.exact
    assert worst.standing.kind == "exact"


def test_networks_are_bounded_and_black_boxes_are_not() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.ReLU(), torch.nn.Linear(6, 1))
    plain, proved = (
        tp.profile(module, X, Y, loss="logistic", progress=False, **options).worst_risk(0.02, **PRICES) for options in OPTIONS
    )
    assert plain.standing.kind == "bounded"
    assert proved.certified is not None
    assert plain.certified is not None
    assert plain.value <= proved.certified <= plain.certified * (1 + 1e-9)
    box = tp.profile(score, X, Y, output="score", calls=4000).worst_risk(0.02, **PRICES)
    exact = tp.profile(MODEL, X, Y).worst_risk(0.02, **PRICES)
    assert box.certified is None
    assert box.certified_by.startswith("not certified: ")
    assert box.value <= exact.value + 1e-9, "a search understates the worst case"
    assert str(box).startswith("Worst risk at least ")
    assert "it may be more" in str(box).replace("\n", " ")
    assert box.standing.kind == "searched"


def test_a_table_is_exact_and_noise_is_an_estimate() -> None:
    rng = np.random.default_rng(3)
    lines = pd.DataFrame(
        {"sample": np.repeat(range(30), 3), "loss": (rng.random(90) < 0.4) * 1.0, "cost": rng.gamma(2.0, size=90)}
    )
    lines.loc[::3, "cost"] = 0.0
    worst = tp.profile_table(lines).worst_risk(0.1, **PRICES)
    assert worst.exact
    noise = np.random.default_rng(1)
    noisy = tp.profile(
        lambda rows: score(rows) + noise.normal(scale=0.3, size=len(rows)), X, Y, output="score", calls=3000, repeats=5
    )
    guess = noisy.worst_risk(0.02, **PRICES)
    assert guess.standing.kind == "estimate"
    assert guess.certified is None
    assert str(guess).startswith("Worst risk about ")
    assert "estimate only, no bound" in str(guess)


def test_partitions_reach_what_the_whole_reaches() -> None:
    whole = tp.worst_risk(MODEL, X, Y, 0.03, **PRICES)
    frames = [X.assign(y=Y).iloc[start : start + 27] for start in range(0, 80, 27)]
    parts = tp.worst_risk(MODEL, frames, "y", 0.03, **PRICES)
    assert parts.exact
    assert parts.value == pytest.approx(whole.value, rel=1e-12)
    assert parts.standard_error == pytest.approx(whole.standard_error, rel=1e-9)
    assert float((parts.stability.sensitive["mass"] * parts.stability.sensitive["loss"]).sum()) == pytest.approx(parts.value)
    trees = tp.profile(FOREST, frames, "y", gap=0.01, progress=False).worst_risk(0.02, **PRICES)
    proved = tp.profile(FOREST, X, Y, gap=0, progress=False).worst_risk(0.02, **PRICES)
    assert trees.certified is not None
    assert trees.value <= proved.value * (1 + 1e-9)
    assert trees.certified >= proved.value * (1 - 1e-9)
    searched = tp.profile(score, frames, "y", output="score", calls=3000).worst_risk(0.02, **PRICES)
    assert searched.certified is None


def test_what_was_interrupted_says_so() -> None:
    worst = tp.profile(stopping(), X, Y, output="score").worst_risk(0.05, **PRICES)
    assert worst.interrupted
    assert worst.stopped
    assert worst.standing.undecided
    assert ", interrupted: the search for what" in str(worst).replace("\n", " ")
    curve = tp.profile(stopping(), X, Y, output="score").worst_risk([0.01, 0.05], **PRICES)
    assert curve.interrupted
    assert "Interrupted: a search did not end" in str(curve)


def test_results_are_stored_copied_and_pickled() -> None:
    worst = tp.profile(MODEL, X, Y).worst_risk(0.05, **PRICES)
    assert tp.WorstRisk.from_json(worst.to_json()) == worst
    assert str(tp.WorstRisk.from_json(worst.to_json())) == str(worst)
    assert copy.deepcopy(worst) == copy.copy(worst) == worst
    again = pickle.loads(pickle.dumps(worst))  # noqa: S301  # our own
    assert again == worst
    assert again.stability.sensitive.equals(worst.stability.sensitive)
    with pytest.raises(tp.DetachedError, match="read from JSON"):
        tp.WorstRisk.from_json(worst.to_json()).stability.sensitive  # noqa: B018  # it is computed when it is asked for
    with pytest.raises(tp.InputError, match="lacks 'stability'"):
        tp.WorstRisk.from_dict({key: value for key, value in worst.to_dict().items() if key != "stability"})
    assert worst._repr_html_().startswith("<div><p><strong>Worst risk ")
    assert "<th" in worst._repr_html_()
    nothing = tp.profile(score, X, Y, output="score", calls=2000).worst_risk(0.05, **PRICES)
    assert tp.WorstRisk.from_json(nothing.to_json()).certified is None


def test_a_curve_is_the_worst_risk_at_each_cost() -> None:
    profile = tp.profile(MODEL, X, Y)
    costs = [0.0, 0.01, 0.05, 50.0]
    curve = profile.worst_risk(costs, **PRICES)
    assert isinstance(curve, tp.WorstRiskCurve)
    assert [each.value for each in curve] == [profile.worst_risk(cost, **PRICES).value for cost in costs]
    assert len(curve) == 4
    assert tp.WorstRiskCurve.from_json(curve.to_json()) == curve
    frame = curve.to_frame()
    assert list(frame.columns) == ["cost", "worst_risk", "certified", "standard_error", "spent"]
    assert frame["worst_risk"].tolist() == [each.value for each in curve]
    assert str(curve).splitlines()[0].split() == ["cost", "worst_risk", "certified", "standard_error", "spent"]
    assert tp.worst_risk(MODEL, X, Y, np.array(costs), **PRICES) == curve
    ax = curve.plot()
    assert ax.get_xlabel() == "cost"
    assert ax.get_ylabel() == "worst error rate"
    assert list(np.asarray(ax.get_lines()[0].get_ydata())) == [each.value for each in curve]


def test_a_curve_of_what_was_searched_shows_its_ceiling_or_says_that_there_is_none() -> None:
    bounded = tp.profile(FOREST, X, Y, loss="logistic", gap=0.3, progress=False).worst_risk([0.01, 0.05], **PRICES)
    ax = bounded.plot()
    assert ax.get_ylabel() == "worst logistic risk found (a lower bound)"
    assert [line.get_label() for line in ax.get_lines()] == ["worst risk", "certified upper bound"]
    assert list(np.asarray(ax.get_lines()[1].get_ydata())) == [each.certified for each in bounded]
    searched = tp.profile(score, X, Y, output="score", calls=2000).worst_risk([0.01, 0.05], **PRICES)
    assert [line.get_label() for line in searched.plot().get_lines()] == ["worst risk"]
    assert "none" in str(searched)
    assert "worst_risk is a lower bound (not certified: " in str(searched).replace("\n", " ")
    assert searched.to_frame()["certified"].isna().all()


def test_rows_needed_are_those_at_which_the_standard_error_is_that_part() -> None:
    rng = np.random.default_rng(0)

    def drawn(rows: int) -> tp.StabilityResult:
        x = rng.normal(size=(rows, 2))
        return tp.stability(([1.0, 0.2], 0.0), x, (x[:, 0] + rng.normal(size=rows) > 0.0) * 1, 0.5, **PRICES)

    result = drawn(1000)
    needed = result.rows_needed(0.02)
    assert needed == math.ceil(1000 * (result.standard_error / result.value / 0.02) ** 2)
    more = drawn(needed)
    assert more.standard_error / more.value == pytest.approx(0.02, rel=0.15)
    assert f"{result.rows_needed():,} rows would bring the standard error to a tenth" in str(result).replace("\n", " ")


def test_rows_needed_of_weighted_rows_are_rows_weighted_alike() -> None:
    weight = np.where(np.arange(80) % 4, 1.0, 2.0)
    result = tp.stability(MODEL, X, Y, 0.4, sample_weight=weight, **PRICES)
    twice = tp.stability(MODEL, pd.concat([X, X]), pd.concat([Y, Y]), 0.4, sample_weight=np.tile(weight, 2), **PRICES)
    assert twice.rows_needed() == pytest.approx(result.rows_needed(), rel=0.05), "rows of the same kind change nothing"


def test_where_rows_needed_are_not_known_is_a_sentence() -> None:
    def asked(risk: float, **prices: Any) -> tp.StabilityResult:
        return tp.stability(MODEL, X, Y, risk, **{**PRICES, **prices})

    for risk, prices, words in (
        (0.01, {}, "status is 'already', as there is no standard error; give a larger risk"),
        (1.0, {}, "status is 'largest', as there is no standard error; use bootstrap"),
        (
            1.0,
            {"theta1": INF, "divergence": "cvar:0.9"},
            "status is 'unreachable', as there is no standard error; give a smaller",
        ),
    ):
        result = asked(risk, **prices)
        with pytest.raises(tp.InputError, match=words):
            result.rows_needed()
        assert "\n  rows " not in str(result)
    wrong: tuple[Any, ...] = (0.0, -1.0, INF, math.nan, "little", True, None)
    for relative in wrong:
        with pytest.raises(tp.InputError, match=r"relative=.* must be a positive number"):
            asked(0.5).rows_needed(relative)
    with pytest.raises(tp.InputError, match="more rows than can be counted"):
        asked(0.5).rows_needed(1e-300)
    with pytest.warns(SmallSampleWarning, match="effective samples"):
        tp.stability(MODEL, X[:30], Y[:30], 0.7, **PRICES).rows_needed()


def curved(rows: int = 30, loss: str = "zero_one", **settings: Any) -> tuple[tp.Profile, Any, Any]:
    """Boosted trees of two columns, and the losses of every sample at every cell, by the library's own word."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 2))
    y = (x[:, 0] + x[:, 1] ** 2 + 0.5 * rng.normal(size=300) > 0.5).astype(int)
    model = GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=0).fit(x[:150], y[:150])
    some, labels = x[150 : 150 + rows], y[150 : 150 + rows]
    cuts = [
        sorted(
            {t for e in model.estimators_.ravel() for f, t in zip(e.tree_.feature, e.tree_.threshold, strict=True) if f == j}
        )
        for j in (0, 1)
    ]
    inside = [np.r_[each[0] - 1.0, 0.5 * (np.array(each[1:]) + each[:-1]), each[-1] + 1.0] for each in cuts]
    cells = np.stack(np.meshgrid(*inside), axis=-1).reshape(-1, 2)
    if loss == "zero_one":
        losses = (model.predict(cells)[None, :] != labels[:, None]).astype(float)
    else:
        losses = np.logaddexp(0.0, -np.where(labels == 1, 1.0, -1.0)[:, None] * model.decision_function(cells)[None, :])
    return tp.profile(model, some, labels, loss=loss, scale="raw", progress=False, **settings), losses.max(axis=1), labels


@pytest.mark.parametrize("loss", ["zero_one", "logistic"])
@pytest.mark.parametrize("theta2", [0.4, INF])
def test_a_largest_risk_of_trees_is_that_of_all_cells_or_not_claimed(loss: str, theta2: float) -> None:
    profile, highest, _ = curved(loss=loss, gap=0.0)
    most = float(highest.mean() if math.isinf(theta2) else highest.max())
    claims = []
    for part in (0.05, 0.4, 0.9, 1.0):
        result = profile.stability(profile.risk + part * (most - profile.risk), theta1=0.7, theta2=theta2)
        assert result.exact
        assert result.largest_risk is None or result.largest_risk == pytest.approx(most, rel=1e-6)
        claims.append(result.largest_risk)
    assert claims[-1] is not None
    if loss == "logistic":
        beyond = profile.stability(1.5 * most, theta1=0.7, theta2=theta2)
        assert beyond.status == "unreachable"
        assert beyond.largest_risk == pytest.approx(most, rel=1e-6)
        assert f"exact: the largest risk that can be reached is {most:.4g}" in str(beyond)


def test_one_proof_answers_what_a_cost_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    profile, _, _ = curved(gap=0.0)
    asked: dict[str, Any] = {"theta1": 0.7, "theta2": 0.4}
    result = profile.stability(profile.risk + 0.2, **asked)
    made: list[Any] = []

    def counted(*given: Any) -> Any:
        made.append(given)
        return prove(*given)

    monkeypatch.setattr("tippingpoint.families.trees.oracle.prove", counted)
    worst = curved(gap=0.0)[0].worst_risk(result.value, **asked)
    assert len(made) == 1
    assert worst.exact
    assert worst.value == pytest.approx(result.risk, rel=1e-9)


def test_costs_that_suffice_for_all_of_it_are_served_by_every_divergence() -> None:
    x = RNG.normal(size=(100, 3))
    y = (x[:, 0] + 0.3 * RNG.normal(size=100) > 0.0).astype(int)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(x[:60], y[:60])
    profile = tp.profile(forest, x[60:], y[60:], scale="raw", progress=False)
    for divergence in ("kl", "chi2", "cvar:0.3"):
        for cost in (10.0, 100.0):
            worst = profile.worst_risk(cost, theta1=0.1, theta2=5.0, divergence=divergence)
            assert worst.status == "largest"
            assert worst.value == pytest.approx(1.0)
            assert worst.certified == pytest.approx(1.0)


def test_a_time_limit_ends_every_question_and_is_named() -> None:
    limited: dict[str, Any] = {"loss": "logistic", "gap": 0.0, "time_limit": 1e-9}
    profile, highest, _ = curved(**limited)
    result = profile.stability(0.9, theta1=0.7, theta2=INF)
    assert result.time_limit_reached
    assert result.status == "not_found"
    assert result.largest_risk is None
    assert result.largest_risk_found is not None
    assert result.largest_risk_found <= float(highest.mean())
    worst = profile.worst_risk(0.1, theta1=0.7, theta2=INF)
    assert worst.time_limit_reached
    assert worst.certified is None or worst.certified >= worst.value
    assert profile.reach <= float(highest.mean()) * (1.0 + 1e-9)
    assert tp.WorstRisk.from_json(worst.to_json()).time_limit_reached
    assert not curved(loss="logistic")[0].stability(0.6, theta1=0.7, theta2=INF).time_limit_reached


def test_results_of_earlier_versions_that_found_nothing_say_so() -> None:
    result = curved(loss="logistic", time_limit=1e-9)[0].stability(0.9, theta1=0.7, theta2=INF)
    stored = result.to_dict()
    stored |= {"status": "unreachable", "largest_risk": result.largest_risk_found}
    del stored["largest_risk_found"]
    assert tp.StabilityResult.from_dict(stored).to_dict() == result.to_dict()
