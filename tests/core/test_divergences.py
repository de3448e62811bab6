"""Each divergence against its definition."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import DIVERGENCES
from tippingpoint.core.divergences import KL, ChiSquare, CVaR, Divergence, divergence_choices, divergence_named
from tippingpoint.core.divergences.base import Outcomes
from tippingpoint.core.spreads import ArraySpread
from tippingpoint.errors import InputError, NumericalError

SMOOTH: tuple[Divergence, ...] = (KL(), ChiSquare())
GRID = np.linspace(1e-9, 12.0, 200_001)


@pytest.mark.parametrize("divergence", [*SMOOTH, CVaR(0.3)], ids=lambda d: d.label)
@pytest.mark.parametrize("score", [-5.0, -2.5, -1.0, -1e-3, 0.0, 1e-3, 0.4, 2.0])
def test_conjugate_is_the_maximum_over_weights(divergence: Divergence, score: float) -> None:
    best = float(np.max(GRID * score - divergence.phi(GRID)))
    at = np.array([score])
    assert divergence.conjugate(at)[0] == pytest.approx(best, abs=1e-4)
    assert divergence.centred_conjugate(at)[0] == pytest.approx(best - score, abs=1e-4)


@pytest.mark.parametrize("divergence", SMOOTH, ids=lambda d: d.label)
def test_derivatives_agree_with_differences(divergence: Divergence) -> None:
    s, step = np.array([-3.1, -1.2, 0.3, 1.7]), 1e-6
    slope = (divergence.conjugate(s + step) - divergence.conjugate(s - step)) / (2 * step)
    bend = (divergence.weights(s + step) - divergence.weights(s - step)) / (2 * step)
    assert divergence.weights(s) == pytest.approx(slope, rel=1e-7, abs=1e-9)
    assert divergence.stiffness(s) == pytest.approx(bend, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("divergence", SMOOTH, ids=lambda d: d.label)
@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e-2, 0.3, 0.999, 1.001, 30.0])
def test_small_quantities_keep_their_digits(divergence: Divergence, size: float) -> None:
    """Against extended precision: a sum of non-negative terms, whatever the size of the scores."""
    s = np.array([-size, size])
    wide = s.astype(np.longdouble)
    if isinstance(divergence, KL):
        series = sum((wide**k / np.prod(np.arange(1, k + 1, dtype=np.longdouble)) for k in range(2, 25)), np.longdouble(0))
        centred = series if size < 1 else np.exp(wide) - 1 - wide
    else:
        centred = np.where(wide > -2, wide**2 / 4, -1 - wide)
    assert divergence.centred_conjugate(s) == pytest.approx(centred.astype(float), rel=1e-13)


@pytest.mark.parametrize("divergence", SMOOTH, ids=lambda d: d.label)
@pytest.mark.parametrize("size", [1e-9, 1e-4, 0.1, 0.9, 5.0, 80.0])
def test_the_price_of_weights_keeps_its_digits(divergence: Divergence, size: float) -> None:
    rng = np.random.default_rng(0)
    values, base = size * rng.normal(size=50), rng.dirichlet(np.ones(50))
    tilt = divergence.tilt(values, base, 1.0)
    change = tilt.changes.astype(np.longdouble)
    if isinstance(divergence, KL):
        weights = np.maximum(1 + change, np.longdouble(1e-300))
        series = change**2 / 2 - change**3 / 6 + change**4 / 12 - change**5 / 20  # of (1+c) log(1+c) - c
        phi = np.where(np.abs(change) < 1e-3, series, weights * np.log(weights) - change)
    else:
        phi = change**2
    assert divergence.penalty(tilt, base) == pytest.approx(float(base.astype(np.longdouble) @ phi), rel=1e-9)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), scale=st.floats(1e-6, 1e6), shift=st.floats(-1e3, 1e3))
def test_weights_average_one_and_ignore_a_common_shift(seed: int, n: int, scale: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    values, base = rng.normal(size=n) * scale, rng.dirichlet(np.ones(n)) + 1e-12
    base /= base.sum()
    for divergence in DIVERGENCES:
        tilt = divergence.tilt(values, base, 1.0)
        assert base @ tilt.weights == pytest.approx(1.0, rel=1e-9)
        assert tilt.changes == pytest.approx(tilt.weights - 1.0, abs=1e-9)
        moved = divergence.tilt(values + shift, base, 1.0)
        tied = 1e-11 * (scale + abs(shift)) * np.max(tilt.weights)
        if not isinstance(divergence, CVaR):  # where a shift rounds a tie away, CVaR may break it differently
            assert moved.weights == pytest.approx(tilt.weights, rel=1e-6, abs=tied + 1e-9)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
def test_tilt_attains_the_maximum_that_a_conic_solver_finds(divergence: Divergence) -> None:
    rng = np.random.default_rng(3)
    n, theta = 25, 0.7
    values, base = rng.normal(size=n), rng.dirichlet(np.ones(n))
    w = cp.Variable(n, nonneg=True)
    constraints = [base @ w == 1]
    if isinstance(divergence, KL):
        price = base @ cp.kl_div(w, np.ones(n))
    elif isinstance(divergence, ChiSquare):
        price = base @ cp.square(w - 1)
    else:
        assert isinstance(divergence, CVaR)
        price, constraints = cp.Constant(0.0), [*constraints, w <= 1.0 / divergence.share]
    problem = cp.Problem(cp.Maximize(base @ cp.multiply(w, values) - theta * price), constraints)
    problem.solve(solver=cp.CLARABEL)
    tilt = divergence.tilt(values, base, theta)
    attained = base @ (tilt.weights * values) - theta * divergence.penalty(tilt, base)
    alpha = float((theta * tilt.scores - values)[0])
    dual = theta * float(base @ divergence.conjugate(tilt.scores)) - alpha
    assert attained == pytest.approx(float(problem.value), rel=1e-6)
    assert dual == pytest.approx(attained, rel=1e-12)


def test_chi_square_drops_samples_whose_weight_would_be_negative() -> None:
    values, base = np.array([10.0, 0.0, -10.0]), np.full(3, 1 / 3)
    assert ChiSquare().tilt(values, base, 1.0).weights == pytest.approx([3.0, 0.0, 0.0])


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
def test_concentrating_is_the_limit_of_ever_larger_values(divergence: Divergence) -> None:
    values, costs = np.array([1.0, 2.0, 2.0, 0.5]), np.array([0.1, 0.4, 0.2, 0.0])
    base = np.array([0.2, 0.3, 0.1, 0.4])
    far = divergence.tilt(1e6 * values - costs, base, 0.5)
    outcomes = Outcomes(lambda pairs: ArraySpread(*pairs(values, costs, base)))
    found = divergence.concentrated(outcomes, 0.5).weights(values, costs)
    assert found == pytest.approx(far.weights, rel=1e-4, abs=1e-4)
    assert divergence.largest_mean(ArraySpread(values, base)) == pytest.approx(float(base @ (far.weights * values)), rel=1e-4)


@pytest.mark.parametrize("divergence", [KL(), ChiSquare()], ids=lambda d: d.label)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_newtons_method_balances_weights_as_the_closed_forms_do(divergence: Divergence, scale: float) -> None:
    rng = np.random.default_rng(5)
    values, base = -np.abs(rng.normal(size=50)) * scale, rng.dirichlet(np.ones(50))
    values[0] = 0.0
    alpha = Divergence.alpha(divergence, ArraySpread(values, base))
    assert alpha == pytest.approx(divergence.alpha(ArraySpread(values, base)), rel=1e-9)
    assert base @ divergence.weights(values + alpha) == pytest.approx(1.0, rel=1e-9)


def test_weights_of_what_is_no_number_are_not_balanced() -> None:
    with pytest.raises(NumericalError, match="cannot be made to average one"):
        Divergence.alpha(KL(), ArraySpread(np.array([0.0, np.nan]), np.full(2, 0.5)))


@pytest.mark.parametrize("cost", [1e-6, 0.1, 3.0])
def test_what_can_be_left_out_for_a_cost_has_that_cost(cost: float) -> None:
    assert KL().left_out(cost) == pytest.approx(-np.expm1(-cost), rel=1e-6)
    assert ChiSquare().left_out(cost) == pytest.approx(cost / (1.0 + cost), rel=1e-6)
    assert CVaR(0.25).left_out(cost) == pytest.approx(0.75)


@pytest.mark.parametrize("name", ["renyi", "cvar", "kl:0.2", "cvar:many", "cvar:0", "cvar:1.5", 7])
def test_a_divergence_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InputError):
        divergence_named(name)


def test_names_make_divergences() -> None:
    assert [divergence_named(name).label for name in ("kl", "chi2", "cvar:0.25")] == ["kl", "chi2", "cvar:0.25"]
    assert divergence_named(CVaR(0.25)) == CVaR(0.25)


class Halved(ChiSquare):
    """A divergence of a user's own, which says no more than it must."""

    name = "halved"
    title = Divergence.title
    browser = Divergence.browser


def test_what_a_divergence_is_called_and_whether_a_page_computes_with_it() -> None:
    called = [divergence_named(name).title for name in ("kl", "chi2", "cvar:0.25")]
    assert called == ["KL divergence", "chi-square divergence", "worst share 0.25 (CVaR)"]
    assert Halved().title == "halved divergence"
    assert [each.browser() is not None for each in (KL(), ChiSquare(), CVaR(0.25), Halved())] == [True, True, False, False]


def test_what_is_offered_is_what_is_registered() -> None:
    assert divergence_choices() == ["kl", "chi2", "cvar:SHARE"]
    with pytest.raises(InputError, match=r"use 'kl', 'chi2', 'cvar:SHARE' \(as 'cvar:0.2'\) or a Divergence"):
        divergence_named("renyi")
