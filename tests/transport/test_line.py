"""Drift on a line: against a conic solver, closed forms, and laws that hold whatever the samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.divergences import KL, ChiSquare, CVaR, Divergence, divergence_named
from tippingpoint.errors import InputError, NumericalError, UnsupportedError
from tippingpoint.transport import Drift, drift_on_line
from transports import conic_drift, squares

INF = math.inf
DIVERGENCES = ("kl", "chi2")


def drift(x: Any, y: Any, *, p: Any = None, q: Any = None, price: float = 1.0, theta2: float = 1.0, **options: Any) -> Drift:
    return drift_on_line(x, p, y, q, price=price, theta2=theta2, **{"tolerance": 1e-8, **options})


@st.composite
def samples(draw: Any) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Values and weights of two samples; ties, equal values and rows without weight are common."""
    number = st.one_of(st.integers(-3, 3).map(float), st.floats(-4.0, 4.0).map(lambda value: round(value, 4)))
    weight = st.sampled_from([0.0, 0.1, 1.0, 1.0, 3.0])
    sides = []
    for _ in range(2):
        values = draw(st.lists(number, min_size=1, max_size=12))
        weights = draw(st.lists(weight, min_size=len(values), max_size=len(values)))
        weights[0] = weights[0] or 1.0
        sides += [np.array(values), np.array(weights)]
    return sides[0], sides[1], sides[2], sides[3]


prices = st.sampled_from([0.01, 0.3, 1.0, 20.0, 1e3])
names = st.sampled_from(DIVERGENCES)


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("price", [0.1, 1.0, 10.0, 200.0])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_enclose_the_optimum_over_all_plans(seed: int, price: float, divergence: str) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 15)), int(rng.integers(2, 15))
    x, y = rng.normal(size=n), 0.5 + 1.3 * rng.normal(size=m)
    if seed == 3:  # ties within and between the samples
        x, y = np.round(x), np.round(y)
    p, q = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))
    found = drift(x, y, p=p, q=q, price=price, theta2=0.5, divergence=divergence)
    best = conic_drift(p, q, squares(x, y, price), 0.5, divergence)
    assert found.gap <= 1e-8
    assert found.lower == pytest.approx(best, rel=1e-6)
    assert found.upper == pytest.approx(best, rel=1e-6)


def test_two_rows_against_a_search_over_the_one_number_that_is_free() -> None:
    """`a = (t, 1-t)`: reweight two rows, and move what is left over to the other place."""
    for divergence in (KL(), ChiSquare()):

        def cost(free: FloatArray, divergence: Divergence = divergence) -> float:
            t = float(free[0])
            return 0.7 * abs(t - 0.8) + 0.3 * float(np.array([0.3, 0.7]) @ divergence.phi(np.array([t / 0.3, (1 - t) / 0.7])))

        best = minimize(cost, x0=[0.5], method="Nelder-Mead", options={"xatol": 1e-12, "fatol": 1e-15}).fun
        found = drift([0.0, 1.0], [0.0, 1.0], p=[3, 7], q=[8, 2], price=0.7, theta2=0.3, divergence=divergence)
        assert found.upper == pytest.approx(best, rel=1e-9)


@given(samples(), prices, prices, names)
def test_bounds_are_those_of_the_plan_and_the_witness_they_come_with(
    data: tuple[FloatArray, FloatArray, FloatArray, FloatArray], price: float, theta2: float, name: str
) -> None:
    """From what is returned alone: the weights and the witness prove the bounds on all rows."""
    x, p, y, q = data
    found = drift(x, y, p=p, q=q, price=price, theta2=theta2, divergence=name)
    assert 0.0 <= found.lower <= found.upper
    assert found.upper == pytest.approx(found.moving + found.reweighting)
    divergence = divergence_named(name)
    held, wanted = found.base > 0.0, found.masses > 0.0
    base, masses = found.base[held], found.masses[wanted]
    assert base @ found.weights[held] == pytest.approx(1.0)
    assert theta2 * base @ divergence.phi(found.weights[held]) == pytest.approx(found.reweighting, rel=1e-6, abs=1e-9)
    gains = (found.witness[wanted] - squares(x[held], y[wanted], price)).max(axis=1)
    tilt = divergence.tilt(gains, base, theta2)
    best = base @ (tilt.weights * gains) - theta2 * divergence.penalty(tilt, base)
    assert masses @ found.witness[wanted] - best == pytest.approx(found.lower, rel=1e-7, abs=1e-9 * (theta2 + price))
    # The mean goes where the current sample has it.
    assert base @ (found.weights * found.destinations)[held] == pytest.approx(masses @ y[wanted], abs=1e-6)


@given(samples(), prices, prices, names)
def test_bounds_are_close_on_small_samples_of_any_kind(
    data: tuple[FloatArray, FloatArray, FloatArray, FloatArray], price: float, theta2: float, name: str
) -> None:
    x, p, y, q = data
    found = drift(x, y, p=p, q=q, price=price, theta2=theta2, divergence=name, tolerance=1e-6)
    assert found.upper - found.lower <= 1e-6 * found.upper + 1e-13 * (theta2 + price)


@given(samples(), prices, prices, names)
@settings(max_examples=60)
def test_laws(data: tuple[FloatArray, FloatArray, FloatArray, FloatArray], price: float, theta2: float, name: str) -> None:
    x, p, y, q = data
    one = drift(x, y, p=p, q=q, price=price, theta2=theta2, divergence=name)
    slack = 1e-7 * one.upper + 1e-12 * (price + theta2)

    def close(other: Drift, factor: float = 1.0) -> None:
        assert other.upper == pytest.approx(factor * one.upper, rel=1e-7, abs=factor * slack)
        assert other.lower == pytest.approx(factor * one.lower, rel=1e-7, abs=factor * slack)

    itself = drift(x, x[::-1], p=p, q=p[::-1], price=price, theta2=theta2, divergence=name)
    assert itself.upper == pytest.approx(0.0, abs=1e-14 * (price + theta2))
    close(drift(x, y, p=p, q=q, price=8 * price, theta2=8 * theta2, divergence=name), 8.0)
    order, other = np.random.default_rng(0).permutation(len(x)), np.random.default_rng(1).permutation(len(y))
    close(drift(x[order], y[other], p=p[order], q=q[other], price=price, theta2=theta2, divergence=name))
    twice = drift(np.tile(x, 3), np.tile(y, 3), p=np.tile(p, 3), q=np.tile(q, 3), price=price, theta2=theta2, divergence=name)
    close(twice)
    close(drift(x + 1024.0, y + 1024.0, p=p, q=q, price=price, theta2=theta2, divergence=name))
    only_moved = drift(x, y, p=p, q=q, price=price, theta2=INF)
    only_weighted = drift(x, y, p=p, q=q, price=INF, theta2=theta2, divergence=name)
    assert one.lower <= min(only_moved.upper, only_weighted.upper) + slack
    assert drift(x, y, p=p, q=q, price=3 * price, theta2=theta2, divergence=name).upper >= one.lower - slack
    assert drift(x, y, p=p, q=q, price=price, theta2=3 * theta2, divergence=name).upper >= one.lower - slack


@pytest.mark.parametrize("mean,deviation", [(0.3, 1.0), (0.5, 1.1), (-1.0, 0.6)])
@pytest.mark.parametrize("price,theta2", [(1.0, 1.0), (0.4, 4.0), (1.5, 0.5)])
def test_normal_samples_have_their_closed_form(mean: float, deviation: float, price: float, theta2: float) -> None:
    """`min_{m,s} θ2(m² + s² - 1 - 2 log s)/2 + price((µ-m)² + (σ-s)²)`, at quantiles of the two normals."""
    from scipy.stats import norm

    n = 20_000
    quantiles = norm.ppf((np.arange(n) + 0.5) / n)

    def cost(at: FloatArray) -> float:
        reweighting = theta2 * (at[0] ** 2 + at[1] ** 2 - 1 - 2 * math.log(at[1])) / 2
        return float(reweighting + price * ((mean - at[0]) ** 2 + (deviation - at[1]) ** 2))

    best = minimize(cost, x0=[0.0, 1.0], bounds=[(None, None), (1e-3, None)]).fun
    found = drift(quantiles, mean + deviation * quantiles, price=price, theta2=theta2, tolerance=1e-3)
    assert found.gap <= 1e-3
    assert found.upper == pytest.approx(best, rel=5e-3)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_bins_and_all_rows_give_bounds_on_the_same_number(divergence: str) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.standard_t(3, size=7000), 0.2 + 1.1 * rng.standard_t(3, size=5000)
    rough = drift(x, y, price=3.0, divergence=divergence, tolerance=0.5)
    fine = drift(x, y, price=3.0, divergence=divergence, tolerance=1e-5)
    assert fine.gap <= 1e-5
    assert rough.lower <= fine.upper
    assert fine.lower <= rough.upper
    assert rough.lower == pytest.approx(fine.lower, rel=0.02)
    assert rough.upper == pytest.approx(fine.upper, rel=0.02)


def test_without_reweighting_it_is_plain_transport() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=3000), rng.exponential(size=3000)
    found = drift(x, y, price=2.5, theta2=INF)
    assert found.upper == pytest.approx(2.5 * np.mean(np.square(np.sort(x) - np.sort(y))), rel=1e-9)
    assert found.lower == pytest.approx(found.upper, rel=1e-9)
    assert found.reweighting == 0.0
    assert (found.weights == 1.0).all()
    assert np.sort(found.destinations) == pytest.approx(np.sort(y), abs=1e-9)


@pytest.mark.parametrize("name", DIVERGENCES)
def test_without_moving_it_is_the_divergence(name: str) -> None:
    x, y = [0.0, 0.0, 1.0, 2.0, 2.0], [0.0, 1.0, 1.0, 2.0]
    p, q = np.array([0.4, 0.2, 0.4]), np.array([0.25, 0.5, 0.25])
    want = 0.7 * float(p @ divergence_named(name).phi(q / p))
    found = drift(x, y, price=INF, theta2=0.7, divergence=name)
    assert found.lower == found.upper == pytest.approx(want)
    assert found.moving == 0.0
    assert drift(x, y, price=1e12, theta2=0.7, divergence=name).upper == pytest.approx(want)
    assert drift(x, [0.0, 2.0], price=INF, theta2=0.7, divergence=name).upper < INF  # a value may go
    new = drift(x, [*y, 0.5], price=INF, theta2=0.7, divergence=name)  # but none may come
    assert new.lower == new.upper == INF
    assert drift(x, y, price=INF, theta2=INF).upper == INF
    assert drift(x, [2.0, 0.0, 1.0, 2.0, 0.0], price=INF, theta2=INF).upper == 0.0


@pytest.mark.parametrize("name", DIVERGENCES)
@pytest.mark.parametrize("unit", [1e-100, 1e-9, 1e9, 1e100])
def test_units_do_not_matter(unit: float, name: str) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=300), 0.4 + rng.normal(size=200)
    one = drift(x, y, price=2.0, theta2=0.5, divergence=name)
    other = drift(unit * x, unit * y, price=2.0 / unit**2, theta2=0.5, divergence=name)
    assert other.upper == pytest.approx(one.upper, rel=1e-6)
    assert other.destinations == pytest.approx(unit * one.destinations, rel=1e-3, abs=1e-3 * unit)
    dear = drift(x, y, price=2.0 * unit, theta2=0.5 * unit, divergence=name)
    assert dear.upper == pytest.approx(unit * one.upper, rel=1e-6)


def test_a_shift_of_all_values_changes_no_digit() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.integers(-8, 8, size=50) / 8.0, rng.integers(-4, 12, size=40) / 8.0
    one, far = drift(x, y), drift(x + 2.0**40, y + 2.0**40)
    assert (far.lower, far.upper) == (one.lower, one.upper)
    assert far.destinations - 2.0**40 == pytest.approx(one.destinations, abs=1e-3)


@pytest.mark.parametrize("name", DIVERGENCES)
@pytest.mark.parametrize("ratio", [1e-30, 1e-8, 1e8, 1e30, 1e200])
def test_prices_far_apart_leave_the_cheaper_change(ratio: float, name: str) -> None:
    """Nothing is reweighted where moving is nearly free; all go to the nearest row where reweighting is."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=60), rng.normal(size=50)
    found = drift(x, y, price=ratio, theta2=1.0, divergence=name, tolerance=1e-4)
    moved = ratio * float(np.mean(squares(x, y).min(axis=0)))
    want = drift(x, y, price=ratio, theta2=INF).upper if ratio < 1.0 else moved
    assert found.upper == pytest.approx(want, rel=1e-4)
    assert found.gap <= 1e-4


def test_degenerate_samples() -> None:
    assert drift([3.0], [3.0]).upper == 0.0
    assert drift([3.0] * 5, [3.0] * 2, q=[1.0, 0.0]).upper == 0.0
    one = drift([0.0], [2.0], price=3.0)
    assert (one.lower, one.upper, one.moving) == (12.0, 12.0, 12.0)
    many = drift([0.0], [1.0, 2.0, 3.0], price=3.0)  # one row cannot be reweighted
    assert many.upper == many.lower == pytest.approx(14.0)
    assert many.destinations == pytest.approx([2.0])
    towards = drift([0.0, 1.0], [0.0], price=1e6, theta2=0.5)  # the other row loses its weight
    assert towards.upper == pytest.approx(0.5 * math.log(2.0), rel=1e-6)
    assert towards.weights == pytest.approx([2.0, 0.0], abs=1e-9)


def test_a_drift_far_below_one_keeps_its_digits() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=400)
    found = drift(x, x + 1e-6, tolerance=1e-4)
    assert found.gap <= 1e-3
    assert found.upper == pytest.approx(1e-12, rel=1e-4)  # to reweight would cost a billion times as much


def test_the_same_bytes_for_the_same_samples() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=5000), rng.normal(size=4000)
    one, two = drift(x, y, tolerance=1e-4), drift(x.copy(), y.copy(), tolerance=1e-4)
    assert (one.lower, one.upper) == (two.lower, two.upper)
    assert one.weights.tobytes() == two.weights.tobytes()
    assert one.witness.tobytes() == two.witness.tobytes()


def test_few_levels_among_many_rows_are_solved_exactly() -> None:
    """Interpolating the quantiles of 24 levels would leave a gap of a factor of two."""
    rng = np.random.default_rng(7)
    x, y = rng.integers(0, 24, size=20_000), np.minimum(rng.integers(0, 26, size=20_000), 24)
    for name in DIVERGENCES:
        found = drift(x, y, price=0.05, theta2=0.3, divergence=name, tolerance=1e-8)
        assert found.gap <= 1e-8


@pytest.mark.parametrize(
    "arguments,message",
    [
        (([], None, [1.0], None, {}), "reference has the shape"),
        (([1.0], None, [[1.0]], None, {}), "current has the shape"),
        (([1.0, math.nan], None, [1.0], None, {}), r"reference\[1\]=nan"),
        (([1.0], [1.0, 2.0], [1.0], None, {}), "base has the shape"),
        (([1.0], None, [1.0], [-1.0], {}), r"masses\[0\]=-1.0"),
        (([1.0], None, [1.0], [0.0], {}), "masses: all weights are 0"),
        (([1.0], None, [1.0], None, {"price": 0.0}), "price=0.0 must be"),
        (([1.0], None, [1.0], None, {"theta2": -1.0}), "theta2=-1.0 must be"),
        (([1.0], None, [1.0], None, {"tolerance": 0.0}), "tolerance=0.0"),
        (([1.0], None, [1.0], None, {"divergence": "hellinger"}), "divergence='hellinger'"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_sentence(arguments: Any, message: str) -> None:
    reference, base, current, masses, options = arguments
    with pytest.raises(InputError, match=message):
        drift_on_line(reference, base, current, masses, **{"price": 1.0, "theta2": 1.0, **options})


def test_caps_are_refused_since_they_are_no_prices() -> None:
    with pytest.raises(UnsupportedError, match="caps weights and does not price them"):
        drift([0.0], [1.0], divergence=CVaR(0.2))


def test_costs_beyond_numbers_are_refused() -> None:
    with pytest.raises(NumericalError, match="use larger units"):
        drift([0.0], [1e160], price=1.0)


def test_divergences_of_the_users_own_are_refused() -> None:
    class Other(Divergence):
        name = "other"

        def phi(self, weights: FloatArray) -> FloatArray:
            return np.square(weights - 1.0)

        conjugate = centred_conjugate = weights = stiffness = changes = phi  # type: ignore[assignment]  # only the name counts here

    with pytest.raises(UnsupportedError, match="'other' is not served for drift"):
        drift([0.0], [1.0], divergence=Other())


def test_tails_of_one_side_are_met_by_few_rows_of_the_other() -> None:
    """Weights of a few far-off rows rise by orders of magnitude: the chain alone leaves a gap of nine tenths here."""
    rng = np.random.default_rng(42)
    x, y = rng.standard_cauchy(6000), 1.1 * rng.standard_cauchy(300)
    for name in DIVERGENCES:
        found = drift(x, y, price=0.3 / float(np.var(x)), divergence=name, tolerance=1e-3)
        assert found.gap <= 0.05
