"""Proofs within limits: bounds that hold at any moment, work where it is needed, and why a proof ended."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.atoms import Atoms
from tippingpoint.core.crossing import NearestErrors
from tippingpoint.core.divergences import KL
from tippingpoint.core.dual import solve
from tippingpoint.core.enclosures import MAX_LEVEL, ErrorEnclosure, GainEnclosure
from tippingpoint.core.problem import Problem
from tippingpoint.core.prover import Limits, Proof, prove, relative_gap
from tippingpoint.core.responses import BestResponses, Response
from tippingpoint.core.worst import worst
from tippingpoint.errors import UnsupportedError

LIMITS = Limits(1e-3, math.inf)
SOME, MANY = 40, 600


class HiddenErrors(ErrorEnclosure):
    """Errors of known costs; work finds them if they are within the price, and bounds them by more at every level."""

    def __init__(self, losses: FloatArray, costs: FloatArray, horizon: float = 1e-3, levels: int = 3) -> None:
        known = costs[np.isfinite(costs)]
        super().__init__(losses, np.full(len(losses), math.inf), horizon, 1.01 * float(known.max(initial=1.0)))
        self.costs = costs
        self.levels = levels
        self.worked: list[tuple[IntArray, float, int]] = []

    def work(self, rows: IntArray, price: float, level: int, seconds: float) -> None:
        self.worked.append((rows, price, level))
        done = min((level + 1) / self.levels, 1.0)
        nearest = np.where(self.costs[rows] <= price, self.costs[rows], math.inf)
        self.learn(rows, nearest, done * np.where(np.isinf(self.costs[rows]) & (price >= self._top), math.inf, price))
        self.least[rows] = np.minimum(self.least[rows], self.costs[rows])


class HiddenPlaces(GainEnclosure):
    """Places of known lifts and costs; work finds the best at a price, and leaves less of a gap at every level.

    `loose` is how many times too high the lifts are taken for at first.
    """

    def __init__(self, lifts: FloatArray, costs: FloatArray, horizon: float = 1e-3, loose: float = 1.0) -> None:
        n, dearest = len(lifts), float(costs.max())
        super().__init__(np.zeros(n), loose * lifts.max(axis=1), horizon, 1e3 * dearest / float(lifts.min()), dearest)
        self.lifts = lifts
        self.costs = costs
        self.atoms = Atoms(np.zeros((n, 1)))
        self.rows_worked = 0

    def respond(self, price: float) -> Response:
        return self.atoms.respond(price)

    def peak(self) -> Response:
        return self.atoms.respond(math.inf)

    def work(self, rows: IntArray, price: float, level: int, seconds: float) -> None:
        self.rows_worked += len(rows)
        gains = price * self.lifts[rows] - self.costs[rows]
        best, everyone = gains.argmax(axis=1), np.arange(len(rows))
        self.atoms.add(rows, self.lifts[rows, best], self.costs[rows, best], np.zeros((len(rows), 1)))
        self.learn(rows, price, np.maximum(gains[everyone, best], 0.0) + 0.5**level * price * 0.1 * (level < 4))


def question(responses: BestResponses, risk: float, theta1: float = 1.0, theta2: float = 0.25) -> Problem:
    n = len(responses.losses)
    return Problem(responses, np.full(n, 1.0 / n), risk, theta1, theta2, KL())


def errors(n: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Losses and costs: some err already, and some never do."""
    rng = np.random.default_rng(seed)
    return (rng.random(n) < 0.2).astype(float), np.where(rng.random(n) < 0.1, math.inf, rng.exponential(size=n))


def places(n: int, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Lifts and costs of three places of every sample."""
    rng = np.random.default_rng(seed)
    lifts = np.cumsum(rng.exponential(size=(n, 3)), axis=1)
    return lifts, lifts**2 * rng.exponential(size=(n, 1))


def watched(problem: Problem, enclosure: HiddenErrors | HiddenPlaces, limits: Limits = LIMITS) -> tuple[Proof, list[Proof]]:
    seen: list[Proof] = []
    proof = prove(problem, enclosure, limits, lambda lower, upper: seen.append(Proof(lower, upper, "gap")))
    return proof, seen


@pytest.mark.parametrize("n", [SOME, MANY])
@pytest.mark.parametrize("risk", [0.3, 0.5, 0.7])
def test_bounds_on_errors_enclose_the_stability_at_any_moment(n: int, risk: float) -> None:
    losses, costs = errors(n)
    truth = solve(question(NearestErrors(losses, costs), risk)).lower
    enclosure = HiddenErrors(losses, costs)
    proof, seen = watched(question(enclosure, risk), enclosure)
    assert proof.ending == "gap"
    assert proof.gap <= LIMITS.gap
    assert len(seen) > 1
    for each in (*seen, proof):
        assert each.lower <= truth * (1.0 + 1e-9)
        assert truth <= each.upper * (1.0 + 1e-9)
    assert all(before.lower <= after.lower for before, after in pairwise(seen))


@pytest.mark.parametrize("n", [SOME, MANY])
@pytest.mark.parametrize("wanted", [0.1, 0.5, 1.5])
def test_bounds_on_gains_enclose_the_stability_at_any_moment(n: int, wanted: float) -> None:
    lifts, costs = places(n)
    whole = Atoms(np.zeros((n, 1)))
    for k in range(3):
        whole.add(np.arange(n), lifts[:, k], costs[:, k], np.zeros((n, 1)))
    enclosure = HiddenPlaces(lifts, costs)
    known = HiddenPlaces(lifts, costs)
    known.atoms = whole
    truth = solve(question(known, wanted)).lower
    proof, seen = watched(question(enclosure, wanted), enclosure)
    assert proof.ending == "gap"
    assert proof.gap <= LIMITS.gap
    for each in (*seen, proof):
        assert each.lower <= truth * (1.0 + 1e-9)
        assert truth <= each.upper * (1.0 + 1e-9)


def test_nothing_is_proved_that_the_stability_does_not_need() -> None:
    losses, costs = errors(MANY)
    enclosure = HiddenErrors(losses, costs)
    watched(question(enclosure, 0.3), enclosure)
    far = np.isfinite(costs) & (costs > 2.0)
    assert not np.isfinite(enclosure.nearest[far & (losses == 0.0)]).any()
    assert max(price for _, price, _ in enclosure.worked) < 1.0


def test_a_gap_of_zero_proves_all_that_is_needed() -> None:
    losses, costs = errors(SOME)
    enclosure = HiddenErrors(losses, costs)
    proof, _ = watched(question(enclosure, 0.5), enclosure, Limits(0.0, math.inf))
    assert proof.exact


@pytest.mark.parametrize("theta2", [0.25, math.inf])
@pytest.mark.parametrize("wanted", [0.1, 0.5, 1.5])
def test_a_gap_of_zero_proves_gains_at_the_very_price(wanted: float, theta2: float) -> None:
    """Where nothing is reweighted the dual has a kink, and no price beside it will do."""
    lifts, costs = places(SOME)
    enclosure = HiddenPlaces(lifts, costs)
    proof, _ = watched(question(enclosure, wanted, theta2=theta2), enclosure, Limits(0.0, math.inf))
    assert proof.exact


def test_what_is_a_little_out_of_reach_is_proved_to_be() -> None:
    lifts, costs = places(SOME)
    reach = float(lifts.max(axis=1).mean())
    for risk, unreachable in ((0.999 * reach, False), (1.01 * reach, True)):
        enclosure = HiddenPlaces(lifts, costs, loose=3.0)
        proof, _ = watched(question(enclosure, risk, theta2=math.inf), enclosure, Limits(0.0, math.inf))
        assert math.isinf(proof.upper) == math.isinf(proof.lower) == unreachable


def test_what_is_out_of_reach_is_proved_to_be() -> None:
    losses, costs = errors(SOME)
    enclosure = HiddenErrors(losses, costs)
    moving_only = question(enclosure, 0.999, theta2=math.inf)
    proof, _ = watched(moving_only, enclosure)
    assert proof == Proof(math.inf, math.inf, "gap", 0.999)
    gains = HiddenPlaces(*places(SOME))
    proof, _ = watched(question(gains, 1e6), gains)
    assert proof == Proof(math.inf, math.inf, "gap", 1e6)


def test_the_largest_risk_is_looked_for_at_any_price() -> None:
    losses, costs = errors(SOME)
    reachable = float(np.mean((losses > 0.0) | np.isfinite(costs)))
    enclosure = HiddenErrors(losses, costs)
    proof, _ = watched(question(enclosure, reachable, theta2=math.inf), enclosure)
    assert proof.upper == pytest.approx(float(costs[(losses == 0.0) & np.isfinite(costs)].sum()) / SOME)


def test_time_ends_a_proof_with_the_bounds_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(np.arange(0.0, 1e6, 1.0))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    losses, costs = errors(MANY)
    enclosure = HiddenErrors(losses, costs, levels=1000)
    proof, _ = watched(question(enclosure, 0.5), enclosure, Limits(1e-3, 12.0))
    assert proof.ending == "time"
    assert proof.gap > 1e-3
    truth = solve(question(NearestErrors(losses, costs), 0.5)).lower
    assert proof.lower <= truth <= proof.upper


def test_a_proof_ends_where_no_work_helps() -> None:
    losses, costs = errors(SOME)
    enclosure = HiddenErrors(losses, costs, levels=10**6)
    proof, _ = watched(question(enclosure, 0.5), enclosure)
    assert proof.ending == "work"
    assert proof.lower < proof.upper
    assert max(level for _, _, level in enclosure.worked) == MAX_LEVEL


def test_a_sample_that_is_hard_waits_for_those_that_are_easy(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them keeps the bounds apart by less than is asked for, and is not worked on for ever."""
    losses, costs = errors(SOME)
    enclosure, work = HiddenErrors(losses, costs, levels=4), HiddenErrors.work
    hard = int(np.flatnonzero(losses == 0.0)[costs[losses == 0.0].argmin()])

    def slow(self: HiddenErrors, rows: IntArray, price: float, level: int, seconds: float) -> None:
        before = self.least[hard]
        work(self, rows, price, level, seconds)
        self.least[hard] = min(max(before, 0.6 * costs[hard]), self.least[hard])

    monkeypatch.setattr(HiddenErrors, "work", slow)
    alone = HiddenErrors(losses, costs)
    alone.learn(np.arange(SOME), costs, np.where(np.arange(SOME) == hard, 0.6 * costs, costs))
    apart = prove(question(alone, 0.5), alone, Limits(1.0, math.inf), lambda *_: None).gap
    proof, _ = watched(question(enclosure, 0.5), enclosure, Limits(1.2 * apart, math.inf))
    assert proof.ending == "gap"
    levels = [level for rows, _, level in enclosure.worked if hard in rows]
    assert max(levels) < MAX_LEVEL


def test_samples_that_are_settled_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though their bounds stay apart, such as by rounding: then the proof ends, and soon."""
    enclosure, work = HiddenPlaces(*places(SOME)), HiddenPlaces.work
    worked = list[tuple[int, float]]()

    def rounded(self: HiddenPlaces, rows: IntArray, price: float, level: int, seconds: float) -> None:
        worked.extend((int(row), price) for row in rows)
        work(self, rows, price, 4, seconds)
        gains = price * self.lifts[rows] - self.costs[rows]
        self._bounds[price][rows] = np.maximum(gains.max(axis=1), 0.0) + 1e-2 * price
        self.settle(rows, price)

    monkeypatch.setattr(HiddenPlaces, "work", rounded)
    proof, _ = watched(question(enclosure, 0.5), enclosure)
    assert proof.ending == "rounding"
    assert proof.gap > LIMITS.gap
    assert len(set(worked)) == len(worked)


@pytest.mark.parametrize("after", [0, 1, 3])
def test_an_interrupt_keeps_the_bounds(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    losses, costs = errors(MANY)
    enclosure, work = HiddenErrors(losses, costs), HiddenErrors.work

    def interrupted(self: HiddenErrors, rows: IntArray, price: float, level: int, seconds: float) -> None:
        work(self, rows, price, level, seconds)
        if len(self.worked) > after:
            raise KeyboardInterrupt

    monkeypatch.setattr(HiddenErrors, "work", interrupted)
    proof, _ = watched(question(enclosure, 0.5), enclosure)
    truth = solve(question(NearestErrors(losses, costs), 0.5)).lower
    assert proof.ending == "keyboard"
    assert proof.lower <= truth <= proof.upper


def test_bounds_at_other_prices_follow_from_those_at_rungs() -> None:
    lifts, costs = places(SOME)
    enclosure = HiddenPlaces(lifts, costs)
    watched(question(enclosure, 0.5), enclosure)
    for price in (1e-3, 0.1, 0.5, 1.0, 7.0):
        truth = np.maximum((price * lifts - costs).max(axis=1), 0.0)
        assert (enclosure.gains(price) >= truth * (1.0 - 1e-9)).all()


def test_a_look_before_the_start_is_for_many_samples_only() -> None:
    few, many = (HiddenPlaces(*places(n)) for n in (SOME, MANY))
    for enclosure in (few, many):
        enclosure.scout(question(enclosure, 0.5), math.inf)
    assert few.rows_worked == 0 < many.rows_worked
    many.scout(question(many, 0.5), 0.0)


def test_gaps_are_relative_to_the_upper_bound() -> None:
    assert relative_gap(1.0, 2.0) == 0.5
    assert relative_gap(0.0, 0.0) == 0.0
    assert relative_gap(1.0, math.inf) == 1.0
    assert relative_gap(math.inf, math.inf) == 0.0


def test_nothing_escapes_from_places_that_are_counted_off() -> None:
    losses, costs = errors(SOME)
    for responses in (HiddenErrors(losses, costs), NearestErrors(losses, costs)):
        with pytest.raises(UnsupportedError, match="no ceiling"):
            responses.escape(1.0)
    assert replace(Proof(0.0, 1.0, "gap"), ending="time").gap == 1.0


def test_a_sample_that_is_settled_is_worked_on_no_more() -> None:
    lifts, costs = places(SOME)
    enclosure = HiddenPlaces(lifts, costs)
    work = enclosure.work

    def once(rows: IntArray, price: float, level: int, seconds: float) -> None:
        assert level == 0
        work(rows, price, level, seconds)
        enclosure.settle(rows, price)

    enclosure.work = once  # type: ignore[method-assign]
    proof, _ = watched(question(enclosure, 0.5), enclosure)
    assert proof.ending == "rounding"
    assert 0.0 < proof.lower < proof.upper


def reaching(cost: float, enclosure: HiddenErrors | HiddenPlaces, theta2: float, limits: Limits = LIMITS) -> Proof:
    """What is proved of the largest risk that a cost reaches."""
    return prove(question(enclosure, math.nan, theta2=theta2), enclosure, limits, lambda *_: None, cost)


@pytest.mark.parametrize("n", [SOME, MANY])
@pytest.mark.parametrize("theta2", [0.25, math.inf])
@pytest.mark.parametrize("cost", [1e-3, 0.05, 0.15])
def test_the_largest_risk_that_a_cost_reaches_is_proved_like_a_stability(n: int, theta2: float, cost: float) -> None:
    losses, costs = errors(n)
    enclosure = HiddenErrors(losses, costs)
    truth = worst(question(NearestErrors(losses, costs), math.nan, theta2=theta2), cost)
    proof = reaching(cost, enclosure, theta2)
    assert proof.ending == "gap"
    assert proof.risk <= (float(losses.mean()) + truth.rise) * (1.0 + 1e-9)
    assert cost * (1.0 - LIMITS.gap) <= proof.lower <= proof.upper <= cost * (1.0 + 1e-9)
    stability = solve(question(NearestErrors(losses, costs), proof.risk, theta2=theta2)).lower
    assert proof.lower * (1.0 - 1e-9) <= stability <= proof.upper * (1.0 + 1e-9)


@pytest.mark.parametrize("theta2", [0.25, math.inf])
def test_a_cost_that_is_more_than_enough_is_proved_to_reach_all(theta2: float) -> None:
    losses, costs = errors(SOME)
    enclosure = HiddenErrors(losses, costs)
    highest = np.maximum(losses, np.isfinite(costs))
    most = float(highest.mean() if math.isinf(theta2) else highest.max())
    assert reaching(1e3, enclosure, theta2).risk == pytest.approx(most, rel=1e-12)
    lifts, prices = places(SOME)
    most = float(lifts.max(axis=1).mean() if math.isinf(theta2) else lifts.max())
    assert reaching(1e6, HiddenPlaces(lifts, prices), theta2).risk == pytest.approx(most, rel=1e-9)


def test_without_time_a_cost_reaches_what_is_known() -> None:
    losses, costs = errors(SOME)
    proof = reaching(0.1, HiddenErrors(losses, costs), math.inf, Limits(1e-3, 0.0))
    assert (proof.ending, proof.lower, proof.risk) == ("time", 0.0, float(losses.mean()))


class DoubtedErrors(HiddenErrors):
    """Errors of which some are none: what is refused is found again further away, as often as there are costs for it."""

    def __init__(self, losses: FloatArray, costs: FloatArray, doubted: IntArray) -> None:
        super().__init__(losses, np.where(doubted > 0, 0.5 * costs, costs))
        self.truth = costs
        self.doubted = doubted.copy()

    def confirm(self) -> bool:
        refused = np.flatnonzero(np.isfinite(self.nearest) & (self._losses == 0.0) & (self.doubted > 0))
        self.doubted[refused] -= 1
        done = refused[self.doubted[refused] == 0]
        self.costs[done] = self.truth[done]
        self.take_back(refused)
        return len(refused) > 0


@pytest.mark.parametrize("seconds", [math.inf, 0.0])
def test_places_that_are_taken_back_do_not_end_a_proof(seconds: float) -> None:
    losses, costs = errors(SOME)
    doubted = np.where(np.arange(SOME) % 4 == 0, 1 + np.arange(SOME) % 3, 0)
    enclosure = DoubtedErrors(losses, costs, doubted)
    truth = solve(question(NearestErrors(losses, costs), 0.5)).lower
    if seconds:
        proof, _ = watched(question(enclosure, 0.5), enclosure, Limits(0.0, seconds))
        assert proof.exact
        assert proof.upper == pytest.approx(truth)
        return
    enclosure.learn(np.arange(SOME), enclosure.costs, np.zeros(SOME))
    proof, _ = watched(question(enclosure, 0.5), enclosure, Limits(0.0, seconds))
    assert proof.ending == "time"
    assert proof.lower <= truth <= proof.upper


@pytest.mark.parametrize("seconds", [math.inf, 0.0])
@pytest.mark.parametrize("cost", [0.05, 1e3])
def test_a_cost_reaches_less_once_places_are_taken_back(cost: float, seconds: float) -> None:
    losses, costs = errors(SOME)
    enclosure = DoubtedErrors(losses, costs, np.where(np.arange(SOME) % 4 == 0, 1, 0))
    if not seconds:
        enclosure.learn(np.arange(SOME), enclosure.costs, np.zeros(SOME))
    proof = reaching(cost, enclosure, 0.25, Limits(1e-3, seconds))
    truth = question(NearestErrors(losses, costs), math.nan, theta2=0.25)
    most = float(losses.mean()) + worst(truth, cost).rise
    assert proof.risk <= most * (1.0 + 1e-9)
    needed = solve(replace(truth, risk=proof.risk)).lower
    assert proof.lower <= needed * (1.0 + 1e-9)
    assert needed <= proof.upper * (1.0 + 1e-9)


def test_errors_that_rounding_decides_are_told_from_those_given_up() -> None:
    losses, costs = errors(SOME)
    for levels, ending in ((1, "rounding"), (10**6, "work")):
        enclosure = HiddenErrors(losses, costs, levels=levels)
        settled = np.flatnonzero((losses == 0.0) & (costs < 0.5))[:2]
        enclosure.learn(settled, costs[settled], 0.5 * costs[settled])
        enclosure.settle(settled)
        proof, _ = watched(question(enclosure, 0.5), enclosure, Limits(0.0, math.inf))
        assert proof.ending == ending
        assert proof.lower < proof.upper
        assert all(not np.isin(settled, rows).any() for rows, _, _ in enclosure.worked)
