"""The largest risk at a cost: the stability read the other way, against the stability itself and against a conic solver."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import DIVERGENCES, INF, PRICES, answer, linear, table
from tippingpoint.core import worst as searching
from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.atoms import AtomsOracle
from tippingpoint.core.crossing import NearestErrors
from tippingpoint.core.divergences import KL, ChiSquare, CVaR, Divergence
from tippingpoint.core.dual import Status, solve
from tippingpoint.core.inference import rows_for
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import Response
from tippingpoint.core.units import Units, shifted
from tippingpoint.core.worst import bounded_rise, worst
from tippingpoint.errors import NumericalError
from tippingpoint.families.linear.geometry import Score
from tippingpoint.families.linear.oracle import linear_oracle
from tippingpoint.losses import LOSSES, loss_named
from tippingpoint.space import Space

LAW = 1e-9
"""Part of a rise by which the two ways may differ."""

N = 12
BASE = np.full(N, 1.0 / N)


def atoms(loss: FloatArray, cost: FloatArray) -> AtomsOracle:
    return AtomsOracle(np.repeat(np.arange(len(loss)), loss.shape[1]), loss.ravel(), cost.ravel(), {})


def asked(responses: Any, theta1: float, theta2: float, divergence: Divergence, base: FloatArray = BASE) -> Problem:
    """A question whose threshold nobody has set."""
    return Problem(responses, base, math.nan, theta1, theta2, divergence)


def check_inverse(problem: Problem, risk: float) -> None:
    """`W(R(r)) = r` and `R(W(ρ)) = ρ`, but for the digits that a threshold as one number has no room for."""
    there = answer(problem.responses, risk, problem.theta1, problem.theta2, problem.divergence, problem.base)  # type: ignore[arg-type]
    if there.solution.status is not Status.ATTAINED:
        return
    found, rise = worst(problem, there.value), there.problem.wanted
    lost = 4e-16 * max(abs(risk), 1e-300) / rise
    assert found.status is Status.ATTAINED
    assert found.rise == pytest.approx(rise, rel=LAW + lost)
    assert 0.0 <= found.ceiling - found.rise <= (LAW + lost) * rise
    back = answer(
        problem.responses,  # type: ignore[arg-type]
        problem.current + found.rise,
        problem.theta1,
        problem.theta2,
        problem.divergence,
        problem.base,
    )
    slack = 2e-15 * abs(risk) * there.solution.right.price
    assert back.value == pytest.approx(there.value, rel=LAW, abs=slack)


@pytest.mark.parametrize("name", [*LOSSES, "table"])
@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
@pytest.mark.parametrize("prices", PRICES, ids=str)
def test_it_is_the_stability_read_the_other_way(name: str, divergence: Divergence, prices: tuple[float, float]) -> None:
    rng = np.random.default_rng(len(name))
    responses = table(rng, N, 4)[0] if name == "table" else linear(rng, name, N, 3)[0]
    problem = asked(responses, *prices, divergence)
    top = problem.reachable if math.isfinite(problem.reachable) else 3.0 * problem.current + 1.0
    for part in (1e-6, 0.01, 0.2, 0.6, 0.97):
        check_inverse(problem, problem.current + part * (top - problem.current))


@st.composite
def tables(draw: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Losses and costs `(n, k)`, base weights; ties and equal losses are common."""
    n, k = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    number = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 3.0).map(lambda x: round(x, 6)))
    loss = np.array(draw(st.lists(number, min_size=n * k, max_size=n * k))).reshape(n, k)
    cost = np.array(draw(st.lists(st.floats(0.01, 4.0), min_size=n * k, max_size=n * k))).reshape(n, k)
    cost[:, 0] = 0.0
    base = np.array(draw(st.lists(st.floats(0.05, 1.0), min_size=n, max_size=n)))
    return loss, cost, base / base.sum()


limits = st.sampled_from([(1.0, 0.3), (0.05, 7.0), (INF, 0.3), (0.3, INF)])
divergences = st.sampled_from([KL(), ChiSquare(), CVaR(0.5)])


@settings(max_examples=200, deadline=None)
@given(data=tables(), part=st.floats(0.01, 0.97), prices=limits, divergence=divergences)
def test_it_is_the_inverse_on_tables_with_ties(
    data: tuple[FloatArray, FloatArray, FloatArray], part: float, prices: tuple[float, float], divergence: Divergence
) -> None:
    loss, cost, base = data
    problem = asked(atoms(loss, cost), *prices, divergence, base)
    check_inverse(problem, problem.current + part * (problem.reachable - problem.current))


@settings(max_examples=100, deadline=None)
@given(data=tables(), cost=st.floats(1e-6, 5.0), prices=limits, divergence=divergences)
def test_it_rises_with_the_cost_and_is_concave_in_it(
    data: tuple[FloatArray, FloatArray, FloatArray], cost: float, prices: tuple[float, float], divergence: Divergence
) -> None:
    loss, costs, base = data
    problem = asked(atoms(loss, costs), *prices, divergence, base)
    half, whole, twice = (worst(problem, factor * cost).rise for factor in (0.5, 1.0, 1.5))
    slack = 1e-9 * (1.0 + twice)
    assert half <= whole + slack
    assert whole <= twice + slack
    assert whole >= 0.5 * (half + twice) - slack
    assert twice <= problem.reachable - problem.current + slack


def largest_by_cvxpy(
    loss: FloatArray, cost: FloatArray, base: FloatArray, most: float, prices: tuple[float, float], divergence: Divergence
) -> float:
    """The definition itself, over masses `m_ij = w_i·share_ij`: the largest risk of all perturbations of that cost."""
    theta1, theta2 = prices
    mass = cp.Variable(loss.shape, nonneg=True)
    weights = cp.sum(mass, axis=1)
    constraints, total = [base @ weights == 1], cp.Constant(0.0)
    if math.isinf(theta1):
        constraints.append(mass[:, 1:] == 0)
    else:
        total = total + theta1 * (base @ cp.sum(cp.multiply(mass, cost), axis=1))
    if math.isinf(theta2):
        constraints.append(weights == 1)
    elif isinstance(divergence, CVaR):
        constraints.append(weights <= 1.0 / divergence.share)
    else:
        phi = cp.kl_div(weights, np.ones(len(base))) if isinstance(divergence, KL) else cp.square(weights - 1)
        total = total + theta2 * (base @ phi)
    program = cp.Problem(cp.Maximize(base @ cp.sum(cp.multiply(mass, loss), axis=1)), [*constraints, total <= most])
    program.solve(solver=cp.CLARABEL)
    return float(program.value)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
@pytest.mark.parametrize("prices", [(1.0, 0.25), (INF, 0.2), (0.2, INF)], ids=str)
@pytest.mark.parametrize("most", [0.01, 0.1, 0.4])
def test_no_conic_program_finds_more_on_a_table(divergence: Divergence, prices: tuple[float, float], most: float) -> None:
    responses, loss, cost = table(np.random.default_rng(5), N, 4)
    base = np.random.default_rng(6).dirichlet(np.ones(N))
    found = worst(asked(responses, *prices, divergence, base), most)
    risk = float(base @ responses.losses) + found.rise
    assert risk == pytest.approx(largest_by_cvxpy(loss, cost, base, most, prices, divergence), rel=2e-6)


@pytest.mark.parametrize("divergence", [KL(), ChiSquare()], ids=lambda d: d.label)
@pytest.mark.parametrize("theta2", [0.25, INF])
def test_no_conic_program_finds_more_for_the_hinge_of_a_linear_score(divergence: Divergence, theta2: float) -> None:
    """A part `s_i` of a sample goes up the hinge by `u_i` in all, for `u²/(s·B)`: as a cone, without any duality."""
    responses, x, y, beta, _ = linear(np.random.default_rng(7), "hinge", N, 2)
    margin, most = y * (x @ beta + 0.3), 0.3
    weights, goes, pushed = (cp.Variable(N, nonneg=True) for _ in range(3))
    now = np.maximum(1.0 - margin, 0.0)
    stays = cp.multiply(weights - goes, now)
    moving = sum(BASE[i] * cp.quad_over_lin(pushed[i], goes[i]) for i in range(N)) / float(beta @ beta)
    constraints = [BASE @ weights == 1, goes <= weights]
    if math.isinf(theta2):
        constraints.append(weights == 1)
        total = moving
    else:
        phi = cp.kl_div(weights, np.ones(N)) if isinstance(divergence, KL) else cp.square(weights - 1)
        total = moving + theta2 * (BASE @ phi)
    risk = BASE @ (stays + cp.multiply(goes, 1.0 - margin) + pushed)
    program = cp.Problem(cp.Maximize(risk), [*constraints, total <= most])
    program.solve(solver=cp.CLARABEL)
    problem = asked(responses, 1.0, theta2, divergence)
    assert problem.current + worst(problem, most).rise == pytest.approx(float(program.value), rel=2e-6)


@pytest.mark.parametrize("cost", [1e-300, 1e-40, 1e-12, 1e-3, 1.0, 1e8, 1e300])
def test_small_and_large_costs_keep_their_digits(cost: float) -> None:
    """The squared loss of a linear score, only moved: `W = (√v + √(ρB/θ1))²`."""
    responses, _, _, beta, _ = linear(np.random.default_rng(8), "squared", N, 3)
    problem = asked(responses, 2.0, INF, KL())
    step = cost * float(beta @ beta) / 2.0
    found = worst(problem, cost)
    assert found.rise == pytest.approx(2.0 * math.sqrt(problem.current) * math.sqrt(step) + step, rel=1e-12)


@pytest.mark.parametrize("cost", [1e-200, 1e-30, 1e-6, 0.1])
def test_reweighting_is_a_closed_form(cost: float) -> None:
    """Two losses, 5 and 6, reweighted by chi-square: `W - risk = √(ρ·variance/θ2)`, also far from a loss of nothing."""
    losses = np.where(np.arange(10) < 2, 6.0, 5.0)
    problem = asked(AtomsOracle(np.arange(10), losses, np.zeros(10), {}), INF, 2.0, ChiSquare(), np.full(10, 0.1))
    assert worst(problem, cost).rise == pytest.approx(math.sqrt(cost * 0.16 / 2.0), rel=1e-12)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
def test_for_nothing_there_is_only_what_is_free(divergence: Divergence) -> None:
    losses = np.arange(10.0)
    problem = asked(AtomsOracle(np.arange(10), losses, np.zeros(10), {}), INF, 1.0, divergence, np.full(10, 0.1))
    found = worst(problem, 0.0)
    assert found.status is Status.ATTAINED
    assert found.rise == pytest.approx(7.5 - 4.5 if divergence.caps else 0.0, rel=1e-12), "the mean of the largest four"
    on_the_edge = NearestErrors(np.zeros(2), np.array([0.0, 2.0]))
    assert worst(asked(on_the_edge, 1.0, INF, KL(), np.full(2, 0.5)), 0.0).rise == 0.5, "an error that costs nothing"


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
@pytest.mark.parametrize("prices", [(1.0, 0.25), (INF, 0.2), (0.2, INF)], ids=str)
def test_more_than_the_largest_risk_takes_reaches_no_more(divergence: Divergence, prices: tuple[float, float]) -> None:
    problem = asked(table(np.random.default_rng(9), N, 3)[0], *prices, divergence)
    enough = problem.concentrated().cost
    for cost in (enough or 1e-9, 2.0 * enough + 1.0):
        found = worst(problem, cost)
        assert found.status is Status.LARGEST
        assert problem.current + found.rise == pytest.approx(problem.reachable, rel=1e-12)
    if enough > 0.0:
        below = worst(problem, 0.999 * enough)
        assert below.status is Status.ATTAINED
        assert below.rise < found.rise


@pytest.mark.parametrize("theta2", [INF, 0.25])
def test_at_a_ceiling_any_further_loss_costs_its_price(theta2: float) -> None:
    """All residuals are nothing, so that pushing pays at one price alone: `θ1/B` a unit of risk."""
    x = np.random.default_rng(10).normal(size=(N, 2))
    domain = Space().resolve(["a", "b"])
    beta = np.array([1.0, 2.0])
    responses = linear_oracle(x, x @ beta, Score(beta, 0.0), loss_named("squared"), domain)
    found = worst(asked(responses, 1.0, theta2, KL()), 2.0)
    assert found.rise == pytest.approx(2.0 * 5.0, rel=1e-9)
    assert found.ceiling == pytest.approx(found.rise, rel=1e-9)


def test_what_is_far_beyond_does_not_blur_what_is_near() -> None:
    """One place of an enormous loss, at an enormous cost, and the answer among the others."""
    _, loss, cost = table(np.random.default_rng(12), N, 4)
    plain = worst(asked(atoms(loss, cost), 1.0, INF, KL()), 0.05)
    loss[0, 3], cost[0, 3] = 1e21, 1e21
    assert worst(asked(atoms(loss, cost), 1.0, INF, KL()), 0.05).rise == pytest.approx(plain.rise, rel=0.2)
    check_inverse(asked(atoms(loss, cost), 1.0, INF, KL()), float(BASE @ loss[:, 0]) + plain.rise)


@pytest.mark.parametrize("units", [Units(300, 0, 0), Units(-300, 200, -250), Units(0, -350, 300)], ids=str)
@pytest.mark.parametrize("divergence", [KL(), ChiSquare()], ids=lambda d: d.label)
def test_units_change_the_answer_by_themselves_alone(divergence: Divergence, units: Units) -> None:
    responses, loss, cost = table(np.random.default_rng(3), N, 4)
    plain = worst(asked(responses, 1.0, 0.25, divergence), 0.05)
    far = atoms(np.ldexp(loss, units.loss), np.ldexp(cost, units.move))
    prices = shifted(1.0, units.cost - units.move), shifted(0.25, units.cost)
    found = worst(asked(far, *prices, divergence), shifted(0.05, units.cost))
    assert found.rise == pytest.approx(shifted(plain.rise, units.loss), rel=1e-9)


class Nowhere(AtomsOracle):
    """Responses that are no numbers."""

    def part(self, rows: slice) -> Any:
        return self

    def respond(self, price: float) -> Response:
        nothing = np.full(len(self.losses), math.nan)
        return Response(nothing, nothing, nothing)


class Poor(AtomsOracle):
    """Nothing to divide by, whoever asks."""

    def part(self, rows: slice) -> Any:
        return self

    def respond(self, price: float) -> Response:
        if price > 0.0:
            raise ZeroDivisionError
        return super().respond(price)


@pytest.mark.parametrize("kind", [Nowhere, Poor])
def test_what_is_no_number_is_no_answer(kind: type[AtomsOracle]) -> None:
    broken = kind(np.arange(2), np.array([0.0, 1.0]), np.zeros(2), {})
    with pytest.raises(NumericalError, match=r"cost=0\.1, theta1=1, theta2=0\.2: losses, costs and prices are too many orders"):
        worst(asked(broken, 1.0, 0.2, KL(), np.full(2, 0.5)), 0.1)


@pytest.mark.parametrize("allowed", [2, 4])
def test_a_search_that_is_cut_off_still_says_what_is_reached_and_what_is_not(
    monkeypatch: pytest.MonkeyPatch, allowed: int
) -> None:
    problem = asked(table(np.random.default_rng(8), N, 4)[0], 1.0, INF, KL())
    whole = worst(problem, 0.05)
    monkeypatch.setattr(searching, "MAX_EVALUATIONS", allowed)
    cut = worst(problem, 0.05)
    assert cut.evaluations == allowed
    assert cut.rise <= whole.rise * (1 + 1e-12)
    assert cut.ceiling >= whole.rise * (1 - 1e-12)


def test_a_search_that_is_cut_off_before_anything_costs_enough_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MAX_EVALUATIONS", 0)
    with pytest.raises(NumericalError, match="too many orders of magnitude apart"):
        worst(asked(table(np.random.default_rng(8), N, 4)[0], 1.0, 0.25, KL()), 0.05)


class Bounded(AtomsOracle):
    """Somebody who does not claim to be exact, and bounds what samples gain from above by a part more, up to a price."""

    exact = False
    certificate = "looked around"

    def __init__(self, *given: Any, more: float | None, limit: float = INF) -> None:
        super().__init__(*given)
        self.more, self.limit = more, limit

    def gain_bounds(self, price: float) -> FloatArray | None:
        if self.more is None:
            return None
        response = self.respond(price)
        gain = (1.0 + self.more) * (price * response.lift - response.cost)
        return gain if price < self.limit else np.full(len(gain), INF)


def bounded(more: float | None, limit: float = INF) -> Bounded:
    rng = np.random.default_rng(11)
    loss, cost = rng.exponential(size=(N, 4)), rng.exponential(size=(N, 4))
    cost[:, 0] = 0.0
    return Bounded(np.repeat(np.arange(N), 4), loss.ravel(), cost.ravel(), {}, more=more, limit=limit)


@pytest.mark.parametrize("prices", [(1.0, 0.25), (0.5, INF)], ids=str)
@pytest.mark.parametrize("limit", [INF, 2.0], ids=["bounds everywhere", "no bounds far out"])
def test_bounds_on_gains_are_a_ceiling(prices: tuple[float, float], limit: float) -> None:
    cost = 0.02
    for more, wide in ((0.0, 1.0), (0.3, 1.3)):
        responses = bounded(more, limit)
        problem = asked(responses, *prices, KL())
        reached = worst(problem, cost).rise
        question = replace(problem, risk=problem.current + reached)
        ceiling = bounded_rise(responses, question, solve(question), cost)
        assert reached * (1 - 1e-12) <= ceiling <= wide * 1.001 * reached
        truth = worst(asked(atoms_of_more(responses, more), *prices, KL()), cost).rise
        assert ceiling >= min(truth, reached) * (1 - 1e-9)


def atoms_of_more(responses: Bounded, more: float) -> AtomsOracle:
    """Responses that gain as much as the bounds say, at every price: lifts larger and costs larger by the same part."""
    peak = responses.peak()
    loss = np.stack([responses.losses, responses.losses + (1.0 + more) * peak.lift], axis=1)
    return atoms(loss, np.stack([np.zeros(N), (1.0 + more) * peak.cost], axis=1))


def test_for_nothing_bounds_are_read_at_a_price_of_nothing() -> None:
    responses = bounded(0.2)
    problem = replace(asked(responses, 1.0, 0.25, KL()), risk=float(BASE @ responses.losses))
    assert bounded_rise(responses, problem, solve(problem), 0.0) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
@pytest.mark.parametrize("theta2", [5.0, INF])
@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_at_prices_at_which_values_are_rounded(divergence: Divergence, theta2: float, seed: int) -> None:
    """They are asked for at any price then, also where rounding of values exceeds what weights cost."""
    rng = np.random.default_rng(seed)
    responses = NearestErrors((rng.random(N) < 0.2).astype(float), rng.exponential(size=N))
    problem = asked(responses, 0.1, theta2, divergence)
    problem = replace(problem, risk=problem.reachable)
    cost = 2.0 * problem.concentrated().cost + 1.0
    for price in 2.0 ** np.arange(0, 101, 4):
        response = responses.respond(price)
        floor = problem.floor(0.1 * price, price * response.lift - response.cost)
        ceiling = problem.wanted + (cost - floor) / (0.1 * price)
        assert problem.wanted * (1.0 - 1e-12) <= ceiling <= problem.wanted + cost / (0.1 * price) + 1e-12


def test_the_largest_risk_is_the_ceiling_of_bounds_on_it() -> None:
    responses = bounded(0.0)
    problem = asked(responses, 1.0, 0.25, KL())
    problem = replace(problem, risk=problem.reachable)
    solution, cost = solve(problem), 1e3
    assert solution.status is Status.LARGEST
    assert bounded_rise(responses, problem, solution, cost) == pytest.approx(problem.wanted, rel=1e-6)


def test_where_nobody_bounds_there_is_no_ceiling() -> None:
    responses = bounded(None)
    problem = asked(responses, 1.0, 0.25, KL())
    problem = replace(problem, risk=1.1 * problem.current)
    assert bounded_rise(responses, problem, solve(problem), 0.05) == INF


def test_rows_that_a_standard_error_needs() -> None:
    assert rows_for(0.1, 2.0, 0.4, 50) == pytest.approx(200.0)
    assert rows_for(0.2, 2.0, 0.4, 50) == pytest.approx(50.0)
    for value, error in ((0.0, 0.1), (INF, 0.1), (1.0, math.nan)):
        assert math.isnan(rows_for(0.1, value, error, 50))


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
@pytest.mark.parametrize("prices", [(0.5, 0.25), (0.5, INF), (INF, 0.25)], ids=str)
def test_nothing_costs_more_than_the_dearest_perturbation(divergence: Divergence, prices: tuple[float, float]) -> None:
    """Against all weight on one sample, and all samples moved as far as they go."""
    rng = np.random.default_rng(0)
    base, cost = rng.dirichlet(np.ones(N)), rng.exponential(size=N)
    problem = asked(NearestErrors(np.zeros(N), cost), *prices, divergence, base)
    dearest = problem.dearest(float(cost.max()))
    moving = 0.0 if math.isinf(prices[0]) else prices[0] * cost.max()
    weighing = []
    for i in range(N):
        phi = divergence.phi(np.where(np.arange(N) == i, 1.0 / base[i], 0.0))
        weighing.append(0.0 if divergence.caps or math.isinf(prices[1]) else prices[1] * float(base @ phi))
    assert dearest == pytest.approx(moving + max(weighing), rel=1e-12)
    reached = problem.concentrated()
    assert reached.cost <= dearest * (1.0 + 1e-12)


def test_an_oracle_that_says_no_more_bounds_risks_where_it_is_exact() -> None:
    exact = bounded(0.0)
    exact.exact = True
    problem = asked(exact, 1.0, 0.25, KL())
    assert exact.risk_bound(problem) == problem.reachable
    searched = bounded(0.0)
    assert searched.risk_bound(asked(searched, 1.0, 0.25, KL())) == INF
    assert searched.risk_bound(asked(searched, INF, 0.25, KL())) == float(searched.losses.max())
    assert searched.timed() is searched
    assert searched.reaching(problem, 0.1) is None


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda d: d.label)
@pytest.mark.parametrize("risk", [1.0, 1.0 - 2.0**-53])
def test_errors_for_nothing_lift_the_risk_to_the_largest_for_nothing(divergence: Divergence, risk: float) -> None:
    """What is left of the cost is rounding, and the search for a bound that is as high goes far out."""
    losses = (np.arange(14) % 3 == 1).astype(float)
    responses, base = NearestErrors(losses, np.zeros(14)), np.full(14, 1.0 / 14.0)
    solution = solve(Problem(responses, base, risk, 5.0, 0.2, divergence))
    assert max(solution.left.cost, solution.right.cost, solution.lower) <= 1e-15


@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda each: each.name)
def test_a_cost_so_large_that_it_pays_for_far_places_reaches_them(divergence: Divergence) -> None:
    """Reweighting alone reaches 0.5 cheaply; places at 1e76 are reached by a cost of that size, and by no less."""
    loss = np.column_stack([np.linspace(0.1, 0.5, N), np.full(N, 4.0)])
    cost = np.column_stack([np.zeros(N), np.full(N, 1e76)])
    problem = asked(atoms(loss, cost), 0.5, 1.0, divergence)
    few, half, all_of_it = (problem.current + worst(problem, paid).rise for paid in (1e60, 2.5e75, 1e77))
    assert few <= 0.5 * (1.0 + 1e-9)
    assert 0.5 < half < 4.0
    assert all_of_it == pytest.approx(4.0)
    assert solve(replace(problem, risk=half)).lower == pytest.approx(2.5e75, rel=1e-6)
