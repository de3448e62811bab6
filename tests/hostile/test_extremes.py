"""Numbers at the edges: right, or refused with a sentence; never NaN, never a value whose Q* misses the threshold."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from commands import Command
from extremes import cases
from tippingpoint.core.dual import Solution, Status, solve
from tippingpoint.core.problem import Problem
from tippingpoint.core.sensitive import check_sound, sensitive_distribution
from tippingpoint.errors import NumericalError

SAMPLE = 300
"""Random questions in random units; the trial has more."""


def test_a_question_has_the_same_answer_in_any_units_or_none() -> None:
    outcomes = Counter(case.outcome() for case in cases(SAMPLE, seed=0))
    assert set(outcomes) <= {"answered", "refused"}, outcomes
    assert outcomes["answered"] > 0.9 * SAMPLE


@pytest.fixture(scope="module")
def patients() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 3))
    target = x @ [1.0, -0.5, 0.2] + rng.normal(0.0, 0.5, 80)
    return x, (target > 0.0).astype(int), target


COEF = np.array([1.0, -0.5, 0.2])


@pytest.mark.parametrize("size", [1e160, 1e200, 1e300, 1e-160, 1e-300])
@pytest.mark.parametrize("divergence", ["kl", "chi2", "cvar:0.7"])
@pytest.mark.parametrize("loss", ["zero_one", "logistic"])
def test_prices_scale_the_answer(size: float, divergence: str, loss: str, patients: tuple[Any, Any, Any]) -> None:
    x, y, _ = patients
    profile = tp.profile((COEF, 0.0), x, y, loss=loss)
    usual = profile.stability(0.6, theta1=1.0, theta2=0.5, divergence=divergence)
    far = profile.stability(0.6, theta1=size, theta2=0.5 * size, divergence=divergence)
    assert far.exact
    assert far.evaluations <= usual.evaluations + 10, "the steps of the search are as good"
    assert far.value / size == pytest.approx(usual.value, rel=1e-12)
    assert far.standard_error / size == pytest.approx(usual.standard_error, rel=1e-6)
    assert far.corruption_excess + far.reweighting_excess == pytest.approx(0.6 - far.current_risk, rel=1e-9)


@pytest.mark.parametrize("size", [1e145, 1e-145])
@pytest.mark.parametrize("loss", ["squared", "absolute", "huber"])
@pytest.mark.parametrize("prices", [(1.0, 1.0), (1.0, math.inf), (math.inf, 1.0)])
def test_targets_of_any_size_are_judged_rightly_or_not_at_all(
    size: float, loss: str, prices: tuple[float, float], patients: tuple[Any, Any, Any]
) -> None:
    x, _, target = patients

    def asked(unit: float) -> tp.StabilityResult:
        own = "huber" if loss != "huber" else f"huber:{unit!r}"
        judged = loss if loss != "huber" else own
        profile = tp.profile((COEF * unit, 0.0), x, target * unit, loss=judged)
        return profile.stability(2.0 * profile.risk, theta1=prices[0], theta2=prices[1])

    usual = asked(1.0)
    try:
        far = asked(size)
    except NumericalError as error:
        assert "\n" not in str(error)  # noqa: PT017  # refusing is one of two ways to be right
    else:
        assert far.value == pytest.approx(usual.value, rel=1e-9)


@pytest.mark.parametrize("loss", ["zero_one", "logistic", "hinge", "squared_hinge"])
@pytest.mark.parametrize("where", ["coef", "intercept", "x"])
@pytest.mark.parametrize("size", [1e100, 1e160, 1e200, 1e307, 1e-160])
@pytest.mark.parametrize("prices", [(0.4, 0.4), (1.0, math.inf), (math.inf, 1.0)])
def test_models_and_data_of_any_size_give_a_number_or_a_sentence(
    loss: str, where: str, size: float, prices: tuple[float, float], patients: tuple[Any, Any, Any]
) -> None:
    x, y, _ = patients
    coef = COEF * size if where == "coef" else COEF
    intercept = size if where == "intercept" else 0.1
    data = np.clip(x, -3.0, 3.0) * (size / 10.0) if where == "x" else x
    try:
        profile = tp.profile((coef, intercept), data, y, loss=loss)
        threshold = 0.8 if loss == "zero_one" else 1.5 * profile.risk + 0.1
        result = profile.stability(threshold, theta1=prices[0], theta2=prices[1])
    except NumericalError as error:
        assert "\n" not in str(error)  # noqa: PT017  # as above
        return
    numbers = (result.value, result.lower, result.upper)
    assert not any(map(math.isnan, numbers))
    assert result.lower <= result.upper * (1.0 + 1e-12)
    if math.isfinite(result.value):
        q = result.sensitive
        mass = q["weight"] * q["share"] / len(x)
        reached = float((mass * q["loss"]).sum())
        assert reached >= threshold - 1e-6 * abs(threshold - result.current_risk) - 1e-12 * abs(threshold)


@pytest.mark.parametrize("divergence", ["kl", "chi2"])
def test_a_price_that_is_never_met_is_as_good_as_infinite(divergence: str, patients: tuple[Any, Any, Any]) -> None:
    x, y, _ = patients
    profile = tp.profile((COEF, 0.0), x, y)
    moving = profile.stability(0.6, theta1=1.0, theta2=math.inf, divergence=divergence)
    reweighting = profile.stability(0.6, theta1=math.inf, theta2=1.0, divergence=divergence)
    for far in (1e150, 1e300):
        cheap = profile.stability(0.6, theta1=1.0 / far, theta2=far, divergence=divergence)
        assert cheap.value * far == pytest.approx(moving.value, rel=1e-9)
        cheap = profile.stability(0.6, theta1=far, theta2=1.0 / far, divergence=divergence)
        assert cheap.value * far == pytest.approx(reweighting.value, rel=1e-9)


def test_small_losses_and_prices_with_chi_square() -> None:
    table = pd.DataFrame({"sample": [0, 0, 1, 1], "loss": [0.0, 1e-300, 0.5e-300, 1e-300], "cost": [0.0, 1.0, 0.0, 2.0]})
    known = tp.profile_table(table.assign(loss=table["loss"] * 1e300)).stability(0.6, theta1=1.0, theta2=1.0, divergence="chi2")
    found = tp.profile_table(table.assign(cost=table["cost"])).stability(0.6e-300, theta1=1.0, theta2=1.0, divergence="chi2")
    assert found.value == pytest.approx(known.value, rel=1e-9)
    tiny = tp.profile_table(table).stability(0.6e-300, theta1=1e-300, theta2=1e-300, divergence="chi2")
    assert tiny.value * 1e300 == pytest.approx(known.value, rel=1e-9)


def test_a_loss_that_is_no_number_is_refused_by_its_row(patients: tuple[Any, Any, Any]) -> None:
    x, _, target = patients
    with pytest.raises(NumericalError, match="the squared loss of row 0 is inf, too large or too small"):
        tp.profile((COEF, 0.0), x, target + 1e200, loss="squared")


def _doctored(problem: Problem, **changes: Any) -> tuple[Solution, Any]:
    from dataclasses import replace

    solution = solve(problem)
    return solution, replace(sensitive_distribution(problem, solution), **changes)


def test_the_last_check_stops_what_is_no_answer() -> None:
    runs = pd.DataFrame({"sample": [0, 0, 1, 1], "loss": [0.0, 1.0, 0.1, 1.0], "cost": [0.0, 1.0, 0.0, 2.0]})
    profile = tp.profile_table(runs)
    from tippingpoint.core.divergences import KL

    problem = Problem(profile.oracle, profile.base, 0.6, 1.0, 1.0, KL())
    solution, q = _doctored(problem)
    assert solution.status is Status.ATTAINED
    check_sound(problem, solution, q, solution.lower, exact=True)
    for wrong in ({"risk": 0.55}, {"whole": 2.0}, {"reweighting_cost": math.nan}, {"moving_cost": -1.0}, {"lightest": -0.5}):
        with pytest.raises(NumericalError, match="which is no answer"):
            check_sound(problem, solution, _doctored(problem, **wrong)[1], solution.lower, exact=True)
    for lower in (0.5 * solution.lower, math.nan):
        with pytest.raises(NumericalError, match="which is no answer"):
            check_sound(problem, solution, q, lower, exact=True)
    check_sound(problem, solution, q, 0.0, exact=False)


def test_scales_of_extreme_columns(patients: tuple[Any, Any, Any]) -> None:
    x, y, _ = patients
    usual = tp.stability((COEF, 0.1), x, y, 0.6, scale="std")
    stretched = x * [1e140, 1.0, 1e-140]
    far = tp.stability((COEF / [1e140, 1.0, 1e-140], 0.1), stretched, y, 0.6, scale="std")
    assert far.value == pytest.approx(usual.value, rel=1e-9)


def test_the_command_line_refuses_with_code_2(place: Path, cli: Command) -> None:
    pd.DataFrame({"sample": [0, 1], "loss": [0.0, 1.0], "cost": [0.0, 0.0]}).to_csv(place / "t.csv", index=False)
    for theta in ("1e160", "1e300", "1e-300"):
        code, out, _ = cli("evaluate", "--table", "t.csv", "--risk", "0.9", "--theta1", theta, "--theta2", theta)
        assert code == 0
        assert "nan" not in out.lower()
