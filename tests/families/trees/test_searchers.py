"""Both searchers against all places one by one; `TIPPINGPOINT_SEEDS=1000` draws more problems than a test run has time for."""

from __future__ import annotations

import math
import os
import pickle
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import tippingpoint as tp
from compiled import needs_kernels
from forests import STEP, CellProblem, all_places, permuted, random_problem, random_rows, random_trees, starting_profits
from tippingpoint.core.arrays import FloatArray
from tippingpoint.families.trees import kernels as seam
from tippingpoint.families.trees.cells import CellForest, CellRows, Line
from tippingpoint.families.trees.forest import LEAF
from tippingpoint.families.trees.search.choosing import searcher
from tippingpoint.families.trees.search.kernel_search import KernelSearcher
from tippingpoint.families.trees.search.leaf_boxes import LeafBoxes
from tippingpoint.families.trees.search.milp_search import MilpSearcher
from tippingpoint.families.trees.search.pushing import Kind, Link, ScoreLoss, Sides
from tippingpoint.families.trees.search.row_search import RowSearch, Side
from tippingpoint.families.trees.search.searcher import Found, Searcher

SEEDS = int(os.environ.get("TIPPINGPOINT_SEEDS", "40"))
PLENTY = 10_000
"""Passes, as good as no limit for problems this small."""
CLOSE = 3e-8
"""Relative: what HiGHS may leave open."""
kernels, without = pytest.param(KernelSearcher, marks=needs_kernels), MilpSearcher
both = pytest.mark.parametrize("kind", [kernels, without], ids=["kernels", "without"])


def made(kind: type[KernelSearcher | MilpSearcher], problem: CellProblem) -> Searcher:
    return kind(problem.forest, problem.rows, problem.sides, problem.base, problem.now)


def asked(rng: np.random.Generator, problem: CellProblem) -> tuple[FloatArray, FloatArray]:
    """Prices, and profits that are known: at least those of the samples as they are."""
    count, start = len(problem.rows), starting_profits(problem)
    prices = rng.choice([0.1, 0.5, 2.0, 10.0], count)
    radii = rng.choice([0.05, 0.3, 2.0, 50.0], count)
    return prices, np.maximum(start, -radii) if problem.sides.crossing else rng.choice([0.0, 0.0, 0.1], count)


def problems(*, crossing: bool) -> Iterator[tuple[int, np.random.Generator, CellProblem]]:
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        yield seed, rng, random_problem(rng, crossing=crossing, exact=seed % 2 > 0)


def assert_true(problem: CellProblem, prices: FloatArray, known: FloatArray, found: Found, about: object) -> FloatArray:
    """`profit ≤ truth ≤ bound`, and places are worth what is said of them; the truth."""
    truth = np.empty(len(known))
    for i in problem.samples:
        places = all_places(problem, i)
        truth[i] = places.best(problem, i, prices[i], known[i])
        slack = CLOSE * (1.0 + abs(truth[i])) if math.isfinite(truth[i]) else 0.0
        assert found.profit[i] <= truth[i] + slack, (about, i)
        assert found.bound[i] >= truth[i] - slack, (about, i)
        assert found.bound[i] >= found.profit[i], (about, i)
        here = (places.cells == found.cells[i]).all(axis=1)
        assert here.sum() == 1, (about, i)
        if found.found[i]:
            assert places.profits(problem, i, prices[i])[here][0] >= found.profit[i] - slack, (about, i)
        else:
            assert found.profit[i] == known[i], (about, i)
    return truth


def assert_settled(found: Found, truth: FloatArray, about: object) -> None:
    same = truth == found.profit
    assert np.allclose(found.profit[~same], truth[~same], rtol=CLOSE, atol=CLOSE), about
    assert np.allclose(found.bound[~same], truth[~same], rtol=CLOSE, atol=CLOSE), about
    assert not found.cut.any(), about


@both
@pytest.mark.parametrize("crossing", [True, False], ids=["errors", "losses"])
def test_bounds_hold_at_any_budget_and_meet_at_a_large_one(kind: type[KernelSearcher], crossing: bool) -> None:  # noqa: FBT001
    for seed, rng, problem in problems(crossing=crossing):
        prices, known = asked(rng, problem)
        for budget in (0, 1, 3, 20, PLENTY):
            found = made(kind, problem).search(problem.samples, prices, known, budget, math.inf)
            truth = assert_true(problem, prices, known, found, (seed, budget))
        assert_settled(found, truth, seed)


@both
def test_places_that_are_refused_do_not_count(kind: type[KernelSearcher]) -> None:
    """Nor does any place in the same leaves; of the others the best is found."""
    refusals = 0
    for seed, rng, drawn in problems(crossing=True):
        # Leaves of equal values: cells that add the same are not the same.
        equal = replace(drawn, forest=replace(drawn.forest, values=np.round(drawn.forest.values)))
        problem = equal if seed % 2 else drawn
        prices, known = asked(rng, problem)[0], np.maximum(starting_profits(problem), -50.0)
        searching, every = made(kind, problem), {i: all_places(problem, i) for i in problem.samples.tolist()}
        boxes = LeafBoxes(problem.forest)
        leaves = {i: np.array([boxes.leaves(place) for place in every[i].cells]) for i in every}
        allowed = {i: np.ones(len(every[i].cells), dtype=bool) for i in every}
        refused: dict[int, Any] = {}
        for _ in range(3):
            found = searching.search(problem.samples, prices, known, PLENTY, math.inf, refused)
            for i in problem.samples.tolist():
                profits = every[i].profits(problem, i, prices[i])[allowed[i]]
                truth = max(float(profits.max(initial=-math.inf)), known[i])
                assert found.profit[i] == pytest.approx(truth, rel=CLOSE, abs=CLOSE), (seed, i)
                assert found.bound[i] == pytest.approx(truth, rel=CLOSE, abs=CLOSE), (seed, i)
                if found.found[i]:
                    here = np.flatnonzero((every[i].cells == found.cells[i]).all(axis=1))[0]
                    assert allowed[i][here], (seed, i)
                    allowed[i] &= (leaves[i] != leaves[i][here]).any(axis=1)
                    refused[i] = np.vstack([refused.get(i, found.cells[:0]), found.cells[i : i + 1]])
                    refusals += 1
    assert refusals > SEEDS // 2


@needs_kernels
def test_what_no_place_is_worth_hides_no_gain() -> None:
    """Of trees that contradict each other, under a steep loss: added up tree by tree, a place might be worth e⁸²."""
    lines = tuple(Line(f"v{v}", v, np.zeros(1), 1.0) for v in range(2))
    trees = [(0, 1.0, -1.0), (0, -1.0, 1.0)] * 20 + [(1, 0.0, 1.0)]
    nodes = [
        each
        for t, (v, *_) in enumerate(trees)
        for each in ([v, 0, 3 * t + 1, 3 * t + 2], *([LEAF, 2 * t + k, LEAF, LEAF] for k in (0, 1)))
    ]
    variable, cut, left, right = np.array(nodes, dtype=np.int32).T.copy()
    values = np.array([[value] for _, *own in trees for value in own])
    roots, nowhere = np.arange(0, len(nodes), 3, dtype=np.int32), np.zeros(len(nodes), dtype=bool)
    forest = CellForest(lines, variable, cut, nowhere, left, right, roots, values, (np.zeros((0, 3), dtype=bool),) * 2)
    anywhere, home = np.full((1, 2), np.inf), np.zeros((1, 2), dtype=np.int32)
    rows = CellRows(np.full((1, 2), -0.5), -anywhere, anywhere, home, home)
    loss = ScoreLoss(Kind.LINKED, (float(Link.EXP_UP), 1.0, float(Kind.SQUARE), 0.0))
    sides = Sides(np.array([0, 1], dtype=np.int32), np.ones((1, 1)), np.zeros(1), np.zeros(1, dtype=np.int32), (loss,))
    problem, gain = CellProblem(forest, rows, sides, np.zeros(1)), (math.e - 1.0) ** 2 - 0.25
    for budget in (0, 1, PLENTY):
        found = made(KernelSearcher, problem).search(np.array([0]), np.ones(1), np.zeros(1), budget, math.inf)
        assert found.bound[0] >= gain * (1.0 - 1e-9), budget
    assert found.profit[0] == pytest.approx(gain)
    assert found.bound[0] == pytest.approx(gain)


@needs_kernels
@pytest.mark.parametrize("crossing", [True, False], ids=["errors", "losses"])
def test_both_find_the_same(crossing: bool) -> None:  # noqa: FBT001
    """In forests of more places than can be tried one by one."""
    for seed in range(max(SEEDS // 8, 2)):
        rng = np.random.default_rng(seed)
        problem = larger_problem(rng, samples=4, trees=20, crossing=crossing)
        prices, known = asked(rng, problem)
        one, other = (
            made(kind, problem).search(problem.samples, prices, known, PLENTY, math.inf)
            for kind in (KernelSearcher, MilpSearcher)
        )
        assert_settled(other, one.profit, seed)
        assert_settled(one, other.profit, seed)


@needs_kernels
def test_trees_that_agree_on_a_place_do_not_leave_a_row_open() -> None:
    """Of thirty columns few matter to it: to halve one after the other, a hundred times as many passes were not enough."""
    x, y = load_breast_cancer(return_X_y=True)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    model = RandomForestClassifier(30, max_depth=8, random_state=0).fit(x[::2], y[::2])
    profile = tp.profile(model, x[::22], y[::22], loss="zero_one", scale="raw", progress=False)
    oracle: Any = profile.oracle  # no front door asks about single rows
    searching = oracle._setting.task.searcher
    found = searching.search(np.array([12]), np.ones(1), np.array([-30.0]), 4096, math.inf)
    assert found.found[0]
    assert found.bound[0] == found.profit[0]


def larger_problem(rng: np.random.Generator, *, samples: int, trees: int, crossing: bool) -> CellProblem:
    """Eight numbers with fifteen cuts each."""
    lines = tuple(Line(f"v{v}", v, np.sort(rng.normal(size=15)), float(rng.uniform(0.5, 2.0))) for v in range(8))
    drawn = random_problem(rng, crossing=crossing, samples=samples)
    sides = replace(drawn.sides, weights=rng.choice([-1.0, 1.0], (len(drawn.sides.weights), 1)))
    forest = random_trees(rng, lines, 1, trees=trees, depth=4)
    return CellProblem(forest, random_rows(rng, lines, samples), sides, np.zeros(1))


@needs_kernels
@pytest.mark.parametrize("crossing", [True, False], ids=["errors", "losses"])
@pytest.mark.parametrize("budget", [0, 7, PLENTY])
def test_threads_find_the_same_bytes(crossing: bool, budget: int) -> None:  # noqa: FBT001
    rng = np.random.default_rng(0)
    problem = larger_problem(rng, samples=40, trees=12, crossing=crossing)
    prices, known = asked(rng, problem)
    found = [
        KernelSearcher(problem.forest, problem.rows, problem.sides, problem.base, problem.now, threads).search(
            problem.samples, prices, known, budget, math.inf
        )
        for threads in (1, 2, 3)
    ]
    assert found[0].found.any() or not (budget or crossing)  # a quick look for losses bounds, and finds nothing
    for other in found[1:]:
        for name in ("profit", "bound", "found", "cells", "cut"):
            assert getattr(other, name).tobytes() == getattr(found[0], name).tobytes()


def test_without_kernels_too_the_same_is_found_again() -> None:
    rng = np.random.default_rng(0)
    problem = larger_problem(rng, samples=10, trees=8, crossing=False)
    prices, known = asked(rng, problem)
    one, other = (made(MilpSearcher, problem).search(problem.samples, prices, known, 1, math.inf) for _ in range(2))
    assert one.found.any()
    for name in ("profit", "bound", "found", "cells", "cut"):
        assert getattr(other, name).tobytes() == getattr(one, name).tobytes()


@both
@pytest.mark.parametrize("crossing", [True, False], ids=["errors", "losses"])
def test_the_order_of_trees_and_variables_does_not_matter(kind: type[KernelSearcher], crossing: bool) -> None:  # noqa: FBT001
    for seed, rng, problem in problems(crossing=crossing):
        prices, known = asked(rng, problem)
        trees = rng.permutation(len(problem.forest.roots))
        other = permuted(problem, trees, rng.permutation(len(problem.forest.variables)))
        found = made(kind, problem).search(problem.samples, prices, known, PLENTY, math.inf)
        again = made(kind, other).search(problem.samples, prices, known, PLENTY, math.inf)
        assert again.profit == pytest.approx(found.profit, rel=CLOSE, abs=CLOSE), seed
        assert again.bound == pytest.approx(found.bound, rel=CLOSE, abs=CLOSE), seed


@both
def test_a_lattice_is_numbers_whose_cuts_are_where_it_is(kind: type[KernelSearcher]) -> None:
    """With cuts between lattice points: up to the next point above a cut, or down to the last below, is as far for both."""
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        whole = tuple(Line(f"v{v}", v, np.arange(-2.5, 3.0), float(rng.uniform(0.5, 2.0)), 1.0) for v in range(3))
        forest = random_trees(rng, whole, 1, trees=6, depth=3)
        x = rng.integers(-3, 4, 3).astype(float)
        beside = tuple(
            replace(line, step=0.0, cuts=np.where(line.cuts > own, np.nextafter(line.cuts + 0.5, -np.inf), line.cuts - 0.5))
            for line, own in zip(whole, x, strict=True)
        )
        home = np.array([[line.home(own) for line, own in zip(whole, x, strict=True)]], dtype=np.int32)
        anywhere, option = np.full((1, 3), np.inf), np.zeros((1, 3), dtype=np.int32)
        rows = CellRows(x[None, :], -anywhere, anywhere, home, option)
        sides = Sides(np.array([0, 1], dtype=np.int32), np.ones((1, 1)), np.array([-2.0]), np.zeros(1, dtype=np.int32), (STEP,))
        one, other = (
            made(kind, CellProblem(replace(forest, variables=lines), rows, sides, np.zeros(1))).search(
                np.array([0]), np.ones(1), np.array([-1e3]), PLENTY, math.inf
            )
            for lines in (whole, beside)
        )
        assert one.profit == other.profit, seed
        assert one.bound == other.bound, seed


@both
def test_scores_have_the_base_in_them(kind: type[KernelSearcher]) -> None:
    problem = random_problem(np.random.default_rng(3), crossing=True)
    places = all_places(problem, 0)
    assert made(kind, problem).scores(places.cells) == pytest.approx(places.outputs)


@both
def test_outputs_along_a_variable_are_those_of_its_cells(kind: type[KernelSearcher]) -> None:
    for seed, _, problem in problems(crossing=True):
        searching, home = made(kind, problem), problem.rows.home
        for v, variable in enumerate(problem.forest.variables):
            outputs = searching.along(problem.samples, v)
            for cell in range(variable.cells):
                there = home.copy()
                there[:, v] = cell
                assert outputs[:, cell] == pytest.approx(problem.forest.scores(there) + problem.base), (seed, v, cell)


@both
def test_time_ends_a_search_with_what_is_known_by_then(kind: type[KernelSearcher]) -> None:
    rng = np.random.default_rng(1)
    problem = larger_problem(rng, samples=20, trees=12, crossing=True)
    prices, known = asked(rng, problem)
    found = made(kind, problem).search(problem.samples, prices, known, PLENTY, 0.0)
    best = made(kind, problem).search(problem.samples, prices, known, PLENTY, math.inf).profit
    assert found.cut.any()
    assert (found.profit >= known).all()
    assert (found.bound >= best - CLOSE).all()


def test_an_interrupt_does_not_lose_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    problem = larger_problem(rng, samples=6, trees=6, crossing=True)
    prices, known = asked(rng, problem)
    whole = made(MilpSearcher, problem).search(problem.samples, prices, known, 1, math.inf)
    run, rows = RowSearch.run, iter(range(len(problem.rows)))

    def interrupted(self: RowSearch, sides: list[Side], budget: int) -> float:
        if next(rows) == 3:
            raise KeyboardInterrupt
        return run(self, sides, budget)

    monkeypatch.setattr(RowSearch, "run", interrupted)
    found = made(MilpSearcher, problem).search(problem.samples, prices, known, 1, math.inf)
    assert found.interrupted
    assert found.cut.tolist() == [False] * 3 + [True] * 3
    assert found.profit.tolist() == [*whole.profit[:3], *known[3:]]
    assert found.bound.tolist() == [*whole.bound[:3], *[math.inf] * 3]


@needs_kernels
def test_an_interrupt_ends_the_kernels_with_what_they_found() -> None:
    rng = np.random.default_rng(2)
    problem = larger_problem(rng, samples=1000, trees=60, crossing=True)
    asked_often = np.tile(problem.samples, 100)  # which takes many seconds
    prices, known = np.ones(len(asked_often)), np.tile(np.maximum(starting_profits(problem), -50.0), 100)
    searching = KernelSearcher(problem.forest, problem.rows, problem.sides, problem.base, problem.now)
    searching.search(asked_often[:1], prices[:1], known[:1], 0, math.inf)  # all that it needs is there
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    found = searching.search(asked_often, prices, known, PLENTY, math.inf)
    timer.join()
    assert found.interrupted
    assert found.cut.any()
    assert not found.cut.all()


@needs_kernels
def test_kernels_are_made_again_after_a_journey() -> None:
    rng = np.random.default_rng(4)
    problem = random_problem(rng, crossing=True)
    prices, known = asked(rng, problem)
    searching = made(KernelSearcher, problem)
    found = searching.search(problem.samples, prices, known, PLENTY, math.inf)
    again = pickle.loads(pickle.dumps(searching)).search(problem.samples, prices, known, PLENTY, math.inf)  # noqa: S301
    assert again.profit.tobytes() == found.profit.tobytes()


@needs_kernels
def test_kernels_search_where_there_are_any() -> None:
    problem = random_problem(np.random.default_rng(5), crossing=True)
    assert searcher(problem.forest, problem.rows, problem.sides, problem.base, problem.now).name == "compiled kernels"


def test_without_kernels_highs_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(seam.SWITCH, "0")
    problem = random_problem(np.random.default_rng(5), crossing=True)
    assert searcher(problem.forest, problem.rows, problem.sides, problem.base, problem.now).name == "NumPy and HiGHS"
    with pytest.raises(RuntimeError, match="not compiled"):
        made(KernelSearcher, problem).scores(problem.rows.home)
