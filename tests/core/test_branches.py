"""The ways through the core that ordinary questions seldom take: with these, `tests/core` alone takes every one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from problems import INF, answer, linear, table
from tippingpoint.core import dual
from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.atoms import AtomsOracle
from tippingpoint.core.blocks import InMemory
from tippingpoint.core.divergences import KL, ChiSquare, CVaR, Divergence
from tippingpoint.core.dual import Status, highest_floor, solve
from tippingpoint.core.inference import check_level, influence, length, resampled
from tippingpoint.core.oracle import INTERRUPTED, Certificate, failed
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import Restricted
from tippingpoint.core.sensitive import check_sound, sensitive_distribution
from tippingpoint.core.units import InUnits, Units, shifted, units_of
from tippingpoint.errors import InputError, ModelError, NumericalError, UnsupportedError

N = 12
BASE = np.full(N, 1.0 / N)


def scaled(loss: FloatArray, cost: FloatArray) -> AtomsOracle:
    return AtomsOracle(np.repeat(np.arange(len(loss)), loss.shape[1]), loss.ravel(), cost.ravel(), {})


@pytest.mark.parametrize("size", [0.1, 5.0])
def test_the_shortcut_of_kl_is_the_general_tilt(size: float) -> None:
    values = size * np.random.default_rng(0).normal(size=N)
    own, general = KL().tilt(values, BASE, 0.7), Divergence.tilt(KL(), values, BASE, 0.7)
    assert own.changes == pytest.approx(general.changes, rel=1e-12, abs=1e-14)
    assert own.scores == pytest.approx(general.scores, rel=1e-12, abs=1e-14)


def test_the_worst_share_has_all_the_weight_and_the_rest_none() -> None:
    scores = np.array([-1.0, 2.0])
    assert (CVaR(0.25).weights(scores) == [0.0, 4.0]).all()
    assert (CVaR(0.25).changes(scores) == [-1.0, 3.0]).all()


@pytest.mark.parametrize("prices", [(1.0, 0.25), (INF, 0.2), (0.2, INF)], ids=str)
@pytest.mark.parametrize("units", [Units(300, 0, 0), Units(-300, 200, -250), Units(0, -350, 300)], ids=str)
@pytest.mark.parametrize("divergence", [KL(), ChiSquare()], ids=lambda d: d.label)
def test_units_change_the_answer_by_themselves_alone(divergence: Divergence, units: Units, prices: tuple[float, float]) -> None:
    oracle, loss, cost = table(np.random.default_rng(3), N, 4)
    risk = 1.3 * float(BASE @ oracle.losses)
    plain = answer(oracle, risk, *prices, divergence)
    far = scaled(np.ldexp(loss, units.loss), np.ldexp(cost, units.move))
    theta1, theta2 = shifted(prices[0], units.cost - units.move), shifted(prices[1], units.cost)
    found = answer(far, shifted(risk, units.loss), theta1, theta2, divergence)
    assert found.value == pytest.approx(shifted(plain.value, units.cost), rel=1e-9)
    assert found.solution.lower == pytest.approx(shifted(plain.solution.lower, units.cost), rel=1e-9)


@pytest.mark.parametrize("power", [-300, 300])
def test_moves_without_end_have_units_of_what_is_wanted(power: int) -> None:
    """The squared loss has no largest lift, so no cost that reaches it: the move that is wanted decides."""
    oracle = linear(np.random.default_rng(4), "squared", N, 2)[0]
    risk = 1.5 * float(BASE @ oracle.losses)
    plain = answer(oracle, risk, 1.0, INF, KL())
    found = answer(oracle, risk, shifted(1.0, power), INF, KL())
    assert found.value == pytest.approx(shifted(plain.value, power), rel=1e-9)
    units = Units(3, -2, 0)
    seen, lift = InUnits(oracle, units).escape(2.0), oracle.escape(16.0)
    assert seen.lift == pytest.approx(np.ldexp(lift.lift, -3), rel=1e-15)
    assert seen.cost == pytest.approx(np.ldexp(lift.cost, 2), rel=1e-15)


def test_units_of_questions_that_need_both_changes_or_none() -> None:
    oracle, loss, _ = table(np.random.default_rng(5), N, 3)
    out_of_reach = Problem(oracle, BASE, 10.0 * float(loss.max()), 2.0**-9, 2.0**40, CVaR(0.5))
    assert units_of(out_of_reach).cost == 41, "neither gets there alone: the dearer decides"
    still = AtomsOracle(np.arange(N), np.zeros(N), np.zeros(N), {})
    assert units_of(Problem(still, BASE, 0.0, 1.0, INF, KL())) == Units(0, 0, 1)
    assert shifted(-1.0, 5000) == -INF
    with pytest.raises(NumericalError, match="is no number"):
        InUnits(oracle, Units(1030, 0, 0)).respond(1.0)


def test_costs_may_be_far_from_one_where_prices_and_losses_are_not() -> None:
    _, loss, cost = table(np.random.default_rng(6), N, 3)
    risk = 1.3 * float(BASE @ loss[:, 0])
    plain = answer(scaled(loss, cost), risk, 1.0, INF, KL())
    found = answer(scaled(loss, np.ldexp(cost, 1000)), risk, 2.0**-100, INF, KL())
    assert found.value == pytest.approx(shifted(plain.value, 900), rel=1e-9)
    assert answer(scaled(loss, np.ldexp(cost, 1000)), risk, 2.0**100, INF, KL()).value == INF, "larger than any number"


@pytest.mark.parametrize("allowed", [2, 3, 5])
def test_a_search_that_is_cut_off_still_brackets(monkeypatch: pytest.MonkeyPatch, allowed: int) -> None:
    oracle, _, _ = table(np.random.default_rng(8), N, 4)
    problem = Problem(oracle, BASE, 1.3 * float(BASE @ oracle.losses), 1.0, 0.25, KL())
    whole = solve(problem)
    monkeypatch.setattr(dual, "MAX_EVALUATIONS", allowed)
    cut = solve(problem)
    upper = (1.0 - cut.share) * cut.left.cost + cut.share * cut.right.cost
    assert cut.evaluations <= allowed
    assert cut.lower <= whole.lower * (1 + 1e-9)
    assert upper >= whole.lower * (1 - 1e-9)


def test_a_search_that_is_cut_off_before_it_brackets_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle, _, _ = table(np.random.default_rng(8), N, 4)
    monkeypatch.setattr(dual, "MAX_EVALUATIONS", 0)
    with pytest.raises(NumericalError, match="too many orders of magnitude apart"):
        solve(Problem(oracle, BASE, 1.3 * float(BASE @ oracle.losses), 1.0, 0.25, KL()))


@pytest.mark.parametrize("limit", [INF, 3.0], ids=["bounds everywhere", "no bounds far out"])
def test_bounds_on_responses_bound_the_stability_from_below(limit: float) -> None:
    oracle, _, _ = table(np.random.default_rng(9), N, 4)
    found = answer(oracle, 1.2 * float(BASE @ oracle.losses), 1.0, 0.25, KL())

    def gain(price: float) -> FloatArray:
        response = oracle.respond(price)
        return price * response.lift - response.cost if price < limit else np.full(N, INF)

    for price in (found.solution.left.price, 100.0):
        bound = highest_floor(found.problem, gain, price)
        assert 0.95 * found.value <= bound <= found.value * (1 + 1e-12)
    unreachable = Problem(oracle, BASE, 10.0, 1.0, INF, KL())
    assert highest_floor(unreachable, lambda _: np.zeros(N), 1.0) == INF, "nobody can gain: the bound rises for ever"


def test_some_samples_of_responses_respond_as_they_did() -> None:
    oracle, rows = linear(np.random.default_rng(10), "squared", N, 2)[0], np.array([4, 1, 7])
    some = Restricted(oracle, rows)
    for part, full in (
        (some.respond(0.1), oracle.respond(0.1)),
        (some.peak(), oracle.peak()),
        (some.escape(2.0), oracle.escape(2.0)),
    ):
        assert (part.lift == full.lift[rows]).all()
        assert (part.cost == full.cost[rows]).all()
        assert (part.slope == full.slope[rows]).all()


def test_rows_drawn_again_vary_as_the_mean_does() -> None:
    oracle = AtomsOracle(np.arange(4), np.arange(4.0), np.zeros(4), {})
    values = resampled(lambda drawn: drawn.facts.risk, InMemory(oracle, np.full(4, 0.25)), replicates=400, seed=0)
    assert length(values - values.mean()) / math.sqrt(len(values)) == pytest.approx(math.sqrt(1.25 / 4), rel=0.15)
    check_level(0.5)
    with pytest.raises(InputError, match=r"level=1\.5"):
        check_level(1.5)


def test_a_perturbation_that_is_no_answer_is_refused() -> None:
    oracle, _, _ = table(np.random.default_rng(11), N, 4)
    found = answer(oracle, 1.3 * float(BASE @ oracle.losses), 1.0, 0.25, KL())
    check_sound(found.problem, found.solution, found.q, found.solution.lower, exact=True)
    with pytest.raises(NumericalError, match="which is no answer"):
        check_sound(found.problem, found.solution, found.q, math.nan, exact=False)


def test_what_is_out_of_reach_has_nothing_to_refuse_and_no_influence() -> None:
    oracle, loss, _ = table(np.random.default_rng(11), N, 4)
    found = answer(oracle, 2.0 * float(loss.max()), 1.0, INF, KL())
    assert found.solution.status is Status.UNREACHABLE
    check_sound(found.problem, found.solution, found.q, math.nan, exact=True)
    assert np.isnan(influence(found.problem, found.solution)).all()


def test_a_sample_that_goes_over_as_a_whole_is_not_split() -> None:
    """Two samples cross for 1 and for 2: at the threshold 0.5 the cheaper one is over, and nothing of it is left behind."""
    oracle = scaled(np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [0.0, 2.0]]))
    problem = Problem(oracle, np.full(2, 0.5), 0.5, 1.0, INF, KL())
    far_apart = replace(solve(problem), left=problem.evaluate(0.5), right=problem.evaluate(3.0), share=0.5)
    q = sensitive_distribution(problem, far_apart)
    assert (q.risk, q.total_cost, q.moved_share) == (0.5, 0.5, 0.5)
    assert (q.loss.tolist(), q.cost.tolist(), q.share.tolist()) == ([1.0, 0.0], [1.0, 0.0], [1.0, 1.0])
    assert (q.effective_share, q.effective_sample) == (1.0, 2.0)


class Searched(AtomsOracle):
    """The same responses, by somebody who does not claim that there are no better ones."""

    exact = False
    certificate = "looked around"
    found: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        return (*super().notes, *self.found)

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        raise NotImplementedError


class Nearly:
    """Samples of which a reader must know."""

    def joined(self, other: Any) -> Nearly:
        raise NotImplementedError

    def words(self, rows: int) -> str:
        return f"one of {rows}"


def test_what_is_doubted_is_said_with_the_number_of_samples() -> None:
    oracle = Searched(np.arange(2), np.array([0.0, 1.0]), np.zeros(2), {})
    oracle.doubted = Nearly()
    assert oracle.caution == "one of 2"


def test_what_an_oracle_says_that_knows_no_better() -> None:
    oracle = Searched(np.arange(2), np.array([0.0, 1.0]), np.zeros(2), {})
    problem = Problem(oracle, np.full(2, 0.5), 0.75, 1.0, 1.0, KL())
    assert oracle.tuned(problem) is oracle
    assert oracle.widened() is oracle
    assert (oracle.least, oracle.caution) == (None, "")
    assert oracle.certify(problem, solve(problem)) == Certificate(0.0, "not certified: looked around")
    assert (oracle.trace, oracle.notes, oracle.stopped) == ((), (), False)
    oracle.found = (INTERRUPTED,)
    assert oracle.stopped
    with pytest.raises(UnsupportedError, match="Searched has no ceiling"):
        oracle.escape(1.0)


def test_a_model_that_failed_is_quoted_with_the_calls_that_it_took() -> None:
    note = failed(ModelError("the model raised ValueError."), 1234)
    assert note.startswith("the search ended after 1,234 calls because the model failed: the model raised ValueError; what")


def test_an_oracle_without_a_formula_offers_none() -> None:
    assert scaled(np.zeros((2, 1)), np.zeros((2, 1))).closed_form() is None
    with pytest.raises(UnsupportedError, match="rows of a table"):
        scaled(np.zeros((2, 1)), np.zeros((2, 1))).inputs(np.zeros(1), np.zeros(1, dtype=np.intp), np.zeros(1))
