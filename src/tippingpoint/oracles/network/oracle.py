"""Networks as oracles: a pool of atoms found by searching, refined for every question, certified from below where possible."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.dual import Solution, Status, solve
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import Response
from tippingpoint.losses import Loss
from tippingpoint.oracles.base import Certificate, Oracle
from tippingpoint.oracles.network.climbing import Summit, lift
from tippingpoint.oracles.network.crossing import Errors
from tippingpoint.oracles.network.exploring import RATIO, Explorer
from tippingpoint.oracles.network.pool import Pool
from tippingpoint.oracles.network.scores import Scores
from tippingpoint.progress import progress_bar

ROUNDS = 8
"""Cap on searches at the price of a question; three to five are usual."""

CLOSE = 1e-4
"""Relative step of the price at which the rounds end; the stability is off by the square of it."""

EXTENSIONS = 16
"""Rungs that may be added to the ladder for a threshold far away."""

INTERRUPTED = "the search was interrupted; what it had found by then still gives a valid upper bound, but a looser one"


class Certifier(Protocol):
    """Who bounds the responses of a network from above, and so the stability from below."""

    def sharpened(self, problem: Problem, price: float, oracle: PathOracle) -> tuple[Certifier, Pool]:
        """A certifier for this question at its price `λ`, and the pool with what was learnt on the way."""

    def certify(self, problem: Problem, solution: Solution) -> Certificate:
        """The lower bound."""


@dataclass(frozen=True)
class Uncertified:
    """Nothing is known from below."""

    why: str

    def sharpened(self, problem: Problem, price: float, oracle: PathOracle) -> tuple[Certifier, Pool]:
        return self, oracle.pool

    def certify(self, problem: Problem, solution: Solution) -> Certificate:
        return Certificate(0.0, f"not certified: {self.why}")


@dataclass(frozen=True)
class Setting:
    """What all oracles of one network share: the module's scores, its loss, and how to name what moves."""

    scores: Scores
    loss: Loss
    now: FloatArray
    names: tuple[str, ...]
    unit: str

    @property
    def losses(self) -> FloatArray:
        """The losses as they are now."""
        return self.loss.value(self.now)


class PoolOracle(Oracle):
    """The exact best responses among the atoms of a pool."""

    exact = False
    ceiling = math.inf

    def __init__(
        self, setting: Setting, pool: Pool, certificate: str, trace: tuple[float, ...] = (), notes: tuple[str, ...] = ()
    ) -> None:
        self.setting = setting
        self.pool = pool
        self.certificate = certificate
        self.unit = setting.unit
        self._losses = setting.losses
        self._trace = trace
        self._notes = notes

    @property
    def losses(self) -> FloatArray:
        return self._losses

    @property
    def trace(self) -> tuple[float, ...]:
        return self._trace

    @property
    def notes(self) -> tuple[str, ...]:
        return self._notes

    def respond(self, price: float) -> Response:
        return self.pool.respond(price)

    def peak(self) -> Response:
        return self.pool.peak()

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        steps = np.where((lift > 0.0)[:, None], self.pool.places(price, rows), 0.0)
        return dict(zip(self.setting.names, self.setting.scores.points(rows, steps).T, strict=True))

    def certify(self, problem: Problem, solution: Solution) -> Certificate:
        if math.isinf(problem.theta1):
            return Certificate(solution.lower, "exact: nothing moves, and weights are a problem in one number")
        return Certificate(0.0, f"not certified: {self.certificate}")


class PathOracle(PoolOracle):
    """A pool searched for along a ladder of prices, and refined at the price of every question.

    Parameters
    ----------
    explorer
        Who searches.
    setting
        The network.
    pool, top
        What was found so far, and the highest price of the ladder.
    certifier
        Who bounds from below.
    notes
        What a careful reader should know.
    """

    def __init__(
        self,
        explorer: Explorer,
        setting: Setting,
        pool: Pool,
        top: float,
        certifier: Certifier,
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(setting, pool, "searched along a path of prices", notes=notes)
        self._explorer = explorer
        self._top = top
        self._certifier = certifier
        self._further: dict[float, Summit] = {}

    def tuned(self, problem: Problem) -> PathOracle:
        """Further rungs where the threshold is out of reach; then a search at the very price of the question."""
        if math.isinf(problem.theta1):
            return self
        oracle = self
        if not self.setting.loss.needs_crossing:
            try:
                for pool in self._reaching(problem):
                    oracle = self._with(pool, self._certifier)
                for pool in oracle._refined(problem):  # noqa: SLF001  # one of its own
                    oracle = self._with(pool, self._certifier)
            except KeyboardInterrupt:
                return self._with(oracle.pool, self._certifier, INTERRUPTED)
        solution = solve(replace(problem, responses=oracle))
        if solution.status in (Status.ALREADY, Status.UNREACHABLE):
            return oracle
        certifier, pool = self._certifier.sharpened(problem, _price(problem, solution), oracle)
        return self._with(pool, certifier)

    def certify(self, problem: Problem, solution: Solution) -> Certificate:
        if math.isinf(problem.theta1):
            return super().certify(problem, solution)
        return self._certifier.certify(problem, solution)

    def learnt(self, steps: FloatArray) -> Pool:
        """The pool with these steps, as the module itself judges them."""
        scores, rows = self.setting.scores, np.arange(len(steps))
        kept = scores.kept(rows, steps)
        return self.pool.joined(kept, lift(self.setting.loss, self.setting.now, scores.values(rows, kept)))

    def _reaching(self, problem: Problem) -> Iterator[Pool]:
        """Pools of more and more rungs, until the threshold's price lies within them."""
        pool, top, rows = self.pool, self._top, np.arange(len(self._losses))
        for _ in range(EXTENSIONS):
            solution = solve(replace(problem, responses=self._with(pool, self._certifier)))
            if solution.status is Status.ALREADY:
                return
            if solution.status is Status.ATTAINED and _price(problem, solution) < top:
                return
            before, top = top, top * RATIO
            if top not in self._further:
                self._further[top] = Summit.foot(top, self.setting.scores)
                self._explorer.scale(self._further[top], pool.places(before, rows))
            pool = pool.joined(self._further[top].steps, self._further[top].lift)
            yield pool

    def _refined(self, problem: Problem) -> Iterator[Pool]:
        """Pools with a search more, at prices that close in on where the risk of the responses meets the threshold.

        The pool's own price would be a tie between two of its atoms. The risk of fresh responses is smooth in the price,
        so secants find its root in three or four searches.
        """
        pool, rows = self.pool, np.arange(len(self._losses))
        solution = solve(replace(problem, responses=self))
        if solution.status is not Status.ATTAINED:
            return
        price, before = _price(problem, solution), (0.0, -problem.wanted)
        for _ in range(ROUNDS):
            summit = Summit.foot(price, self.setting.scores)
            known = pool.places(price, rows)
            summit.learn(rows, known, pool.respond(price).lift)
            self._explorer.again(summit, known)
            pool = pool.joined(summit.steps, summit.lift)
            yield pool
            fresh = replace(problem, responses=self._with(pool, self._certifier))
            excess = fresh.evaluate(price * problem.theta1).excess
            rise = excess - before[1]
            after = price - excess * (price - before[0]) / rise if rise * (price - before[0]) > 0.0 else price
            after = min(max(after, price / RATIO), price * RATIO)
            if abs(after - price) <= CLOSE * price:
                return
            price, before = after, (price, excess)

    def _with(self, pool: Pool, certifier: Certifier, *notes: str) -> PathOracle:
        return PathOracle(self._explorer, self.setting, pool, self._top, certifier, (*self._notes, *notes))


def explored(explorer: Explorer, setting: Setting, certifier: Certifier, *, progress: bool | None) -> PathOracle:
    """The profile of a loss that rises smoothly: summits down the ladder."""
    rows = np.arange(setting.scores.samples)
    pool = Pool.resting(setting.scores.none(rows).astype(setting.scores.dtype))
    ladder, summits, notes = explorer.ladder(), list[Summit](), tuple[str, ...]()
    with progress_bar("best responses", len(ladder), show=progress) as tick:
        try:
            for price in ladder:
                summits.append(Summit.foot(price, setting.scores))
                explorer.scale(summits[-1], summits[-2].steps if len(summits) > 1 else None)
                tick(len(summits))
        except KeyboardInterrupt:
            notes = (INTERRUPTED,)
    for summit in reversed(summits):
        gained = summit.lift
        if notes:  # a summit may have been left between its steps and its lift
            gained = lift(setting.loss, setting.now, setting.scores.values(rows, summit.steps))
        pool = pool.joined(summit.steps, gained)
    return PathOracle(explorer, setting, pool, ladder[0], certifier, notes)


def crossed(explorer: Explorer, setting: Setting, errors: Errors, *, progress: bool | None) -> tuple[Pool, tuple[str, ...]]:
    """The pool of the 0/1 loss: every sample's nearest error."""
    rows, notes = np.arange(setting.scores.samples), tuple[str, ...]()
    with progress_bar("nearest errors", explorer.searches, show=progress) as tick:
        try:
            explorer.seek(errors, tick)
        except KeyboardInterrupt:
            notes = (INTERRUPTED,)
    steps = setting.scores.none(rows)
    steps[errors.rows] = np.where(np.isfinite(errors.distance)[:, None], errors.steps, 0.0)
    return with_errors(setting, steps), notes


def with_errors(setting: Setting, steps: FloatArray) -> Pool:
    """The pool of the steps at which the module was wrong, by its own word."""
    rows = np.arange(len(steps))
    wrong = setting.scores.values(rows, steps) > 0.0
    gained = np.where(wrong & (setting.now < 0.0), 1.0, 0.0)
    return Pool.resting(np.zeros_like(steps, dtype=setting.scores.dtype)).joined(steps, gained)


def _price(problem: Problem, solution: Solution) -> float:
    """`λ*`, between the two sides of a solution."""
    h = (1.0 - solution.share) * solution.left.price + solution.share * solution.right.price
    return h / problem.theta1 if math.isfinite(h) else math.inf
