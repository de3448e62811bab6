"""The ways through blocks that ordinary questions seldom take."""

from __future__ import annotations

import copy
import math
import os
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from problems import INF, answer, linear, table
from tippingpoint.cached import cached_property
from tippingpoint.core import blocks, dual
from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.atoms import Atoms, AtomsOracle, WithLosses
from tippingpoint.core.blocks import Block, InMemory, Reduced, Samples, T, Task
from tippingpoint.core.crossing import NearestErrorOracle, NearestErrors
from tippingpoint.core.cuts import NOBODY, Perturbation, perturbation
from tippingpoint.core.divergences import KL, CVaR
from tippingpoint.core.dual import Solution, solve
from tippingpoint.core.problem import GainsOnly, Problem
from tippingpoint.core.responses import Response, Restricted, joined
from tippingpoint.core.sensitive import laid_out
from tippingpoint.core.spreads import ArraySpread
from tippingpoint.core.whole import Part, Whole
from tippingpoint.errors import NumericalError, UnsupportedError

N = 40
BASE = np.full(N, 1.0 / N)


def test_responses_of_neighbouring_runs_are_those_of_one() -> None:
    parts = [Response(np.full(n, 1.0 * n), np.full(n, 2.0), np.zeros(n)) for n in (2, 3)]
    whole = joined(parts)
    assert whole.lift.tolist() == [2.0, 2.0, 3.0, 3.0, 3.0]
    assert joined(parts[:1]) is parts[0]


def moved(samples: Samples, price: float) -> list[float]:
    every = samples.gather(lambda block: (block.base, block.responses.respond(price)))
    return [sum(float(base @ found.lift) for base, found in every), sum(float(base @ found.cost) for base, found in every)]


def test_samples_that_are_alike_have_the_sums_of_those_they_stand_for() -> None:
    rng = np.random.default_rng(0)
    losses = (rng.random(N) < 0.3).astype(float)
    errors = NearestErrors(losses, np.where(losses > 0.0, 0.0, rng.exponential(size=N)))
    samples = InMemory(errors, BASE)
    fewer = Reduced(samples, 0.5)
    for price in (0.1, 0.49):
        whole, few = (moved(each, price) for each in (samples, fewer))
        assert few == pytest.approx(whole, rel=1e-13)
    assert fewer.ceiling == INF
    smaller = samples.blocks[0].reduced(0.2)
    assert len(smaller) < len(samples.blocks[0].reduced(0.4)) < N


class Errors(NearestErrorOracle):
    certificate, unit = "given", "cost"

    def __init__(self, nearest: FloatArray) -> None:
        self._nearest = nearest

    @property
    def losses(self) -> FloatArray:
        return np.zeros(len(self._nearest))

    @property
    def nearest(self) -> FloatArray:
        return self._nearest

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> dict[str, Any]:
        return {}


def test_an_oracle_bounds_gains_where_it_knows_them() -> None:
    errors = Errors(np.array([1.0, 3.0]))
    assert errors.exact
    assert errors.gain_bounds(2.0).tolist() == [1.0, 0.0]  # type: ignore[union-attr]
    assert errors.peak().cost.tolist() == [1.0, 3.0]
    assert (errors.lightened(), errors.at_price(1.0)) == (errors, None)
    oracle, _, _ = table(np.random.default_rng(1), N, 3)
    oracle.exact = False
    assert oracle.gain_bounds(1.0) is None
    oracle.exact = True
    response = oracle.respond(1.0)
    assert np.array_equal(np.asarray(oracle.gain_bounds(1.0)), response.lift - response.cost)


def test_what_is_counted_off_has_nothing_to_escape_to() -> None:
    oracle, _, _ = table(np.random.default_rng(1), N, 3)
    part = oracle.part(slice(0, 3))
    assert isinstance(part, WithLosses)
    for held in (part, GainsOnly(np.zeros(2), np.zeros(2))):
        with pytest.raises(UnsupportedError, match="ceiling"):
            held.escape(1.0)
    assert (GainsOnly(np.zeros(2), np.ones(2)).peak().cost == -1.0).all()


def test_responses_of_all_samples_at_once_are_seen_in_runs() -> None:
    oracle = linear(np.random.default_rng(2), "squared", N, 2)[0]
    part = Whole(oracle).part(slice(3, 7))
    assert isinstance(part, Part)
    assert (part.respond(0.01).lift == oracle.respond(0.01).lift[3:7]).all()
    assert (part.peak().lift == oracle.peak().lift[3:7]).all()
    assert (part.escape(2.0).cost == oracle.escape(2.0).cost[3:7]).all()
    assert (part.respond(0.01).lift == oracle.respond(0.01).lift[3:7]).all()


def test_a_forked_process_does_not_wait_for_a_lock_of_the_other() -> None:
    oracle = linear(np.random.default_rng(2), "squared", N, 2)[0]
    whole = Whole(oracle)
    held = threading.Lock()
    held.acquire()
    whole._lock = -1, held  # as another thread held it when this process was forked
    assert (whole.find("respond", 0.01).lift == oracle.respond(0.01).lift).all()
    assert whole._lock[0] == os.getpid()


def test_attributes_of_two_objects_are_computed_at_the_same_time() -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow:
        def __init__(self, *, waits: bool) -> None:
            self.waits = waits

        @cached_property
        def value(self) -> object:
            if self.waits:
                begun.set()
                go_on.wait(10.0)
            return object()

    slow, quick = Slow(waits=True), Slow(waits=False)
    threads = [threading.Thread(target=lambda each=each: each.value, daemon=True) for each in (slow, quick)]
    threads[0].start()
    assert begun.wait(10.0)
    threads[1].start()
    threads[1].join(10.0)
    assert not threads[1].is_alive(), "no lock of all objects, which a fork would leave locked"
    assert quick.value is quick.value
    go_on.set()
    threads[0].join(10.0)
    assert slow.value is slow.value
    assert isinstance(Slow.value, cached_property)


def test_samples_are_pickled_without_their_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle, _, _ = table(np.random.default_rng(1), N, 3)
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 16)
    samples = InMemory(oracle, BASE, threads=2)
    again = copy.copy(samples)
    assert len(samples.blocks) == 3
    assert "blocks" not in vars(copy.copy(samples))  # as in a pickle
    assert again.facts == samples.facts
    assert not samples.unbounded
    assert samples.scouts() is None


def test_a_few_samples_are_asked_first_and_change_no_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = linear(np.random.default_rng(3), "logistic", 400, 3)[0]
    risk = 1.4 * float(oracle.losses.mean())
    plain = answer(oracle, risk, 1.0, 0.25, KL())
    monkeypatch.setattr(blocks, "SCOUTS_FROM", 100)
    monkeypatch.setattr(blocks, "SCOUT_ROWS", 20)
    scouted = answer(oracle, risk, 1.0, 0.25, KL())
    assert scouted.value == pytest.approx(plain.value, rel=1e-12)
    highest = 0.999 * float(oracle.losses.max())  # beyond what the few can reach by weights alone
    assert answer(oracle, highest, INF, 0.25, KL()).q.risk == pytest.approx(highest)
    squared = linear(np.random.default_rng(4), "squared", 400, 2)[0]
    assert answer(squared, 2.0 * float(squared.losses.mean()), 0.3, INF, KL()).value > 0.0


def test_few_samples_that_find_nothing_leave_the_price_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = linear(np.random.default_rng(3), "logistic", 400, 3)[0]
    problem = Problem(oracle, np.full(400, 1 / 400), 1.4 * float(oracle.losses.mean()), 1.0, 0.25, KL())
    monkeypatch.setattr(blocks, "SCOUTS_FROM", 100)
    monkeypatch.setattr(blocks, "SCOUT_ROWS", 20)

    def failing(few: Problem) -> Solution:
        raise NumericalError(f"risk={few.risk:g}: no number")

    monkeypatch.setattr(dual, "_solved", failing)
    assert math.isnan(dual._scouted_price(problem))


def test_everybody_goes_over_where_rounding_asks_for_more_than_that() -> None:
    loss, cost = np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [0.0, 2.0]])
    oracle = AtomsOracle(np.array([0, 0, 1, 1]), loss.ravel(), cost.ravel(), {})
    problem = Problem(oracle, np.full(2, 0.5), 0.5, 1.0, INF, KL())
    apart = replace(solve(problem), left=problem.evaluate(0.5), right=problem.evaluate(3.0), share=0.5)
    more = replace(problem, risk=1.0 + 1e-9)
    found = laid_out(more.samples, perturbation(more, apart))
    assert found.lift.tolist() == [1.0, 1.0]


def test_facts_of_samples_that_hold_an_empty_block() -> None:
    oracle, _, _ = table(np.random.default_rng(1), N, 3)

    class Two(Samples):
        @property
        def ceiling(self) -> float:
            return INF

        def gather(self, task: Task[T]) -> list[T]:
            nobody = Restricted(oracle, np.zeros(0, dtype=np.intp))
            return [task(InMemory(oracle, BASE).blocks[0]), task(Block(nobody, np.zeros(0), 1, N))]

    samples = Two()
    assert samples.facts.count == N
    samples.forget()
    problem = Problem(samples, BASE, 1.3 * samples.facts.risk, 1.0, 0.25, KL())
    assert problem.moving_price == 1.0
    assert solve(problem).lower == pytest.approx(answer(oracle, problem.risk, 1.0, 0.25, KL()).solution.lower, rel=1e-12)


def test_the_atoms_of_some_samples() -> None:
    oracle, _, _ = table(np.random.default_rng(1), N, 3)
    got = answer(oracle, 1.3 * float(BASE @ oracle.losses), 1.0, INF, KL())
    whole = laid_out(got.problem.samples, perturbation(got.problem, got.solution))
    some = whole.take(np.array([0, 2]))
    assert some.lift.tolist() == whole.lift[[0, 2]].tolist()
    assert Perturbation(got.problem.terms, got.solution, NOBODY).of(got.problem.samples.gather(lambda b: b)[0]).split == -1


def test_the_worst_share_settles_where_its_mass_is_used_up() -> None:
    spread = ArraySpread(np.array([3.0, 1.0, 2.0, 0.0]), np.full(4, 0.25))
    assert CVaR(0.5).alpha(spread) == -2.0


def test_the_best_atom_at_a_price_of_its_own_for_every_sample() -> None:
    atoms = Atoms(np.zeros((2, 1)))
    atoms.add(np.array([0, 1]), np.array([1.0, 1.0]), np.array([1.0, 1.0]), np.array([[5.0], [6.0]]))
    assert atoms.at(np.array([0.5, 2.0])).ravel().tolist() == [0.0, 6.0]
    assert math.isinf(atoms.respond(0.0).lift.max()) is False
