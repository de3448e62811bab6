"""Networks as oracles: a pool of atoms found by searching, refined for every question, certified from below where possible."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.core.dual import Solution, Status, solve
from tippingpoint.core.oracle import INTERRUPTED, Certificate, Oracle, failed
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import Response
from tippingpoint.errors import ModelError
from tippingpoint.families.network.search.climbing import Summit, lift
from tippingpoint.families.network.search.crossing import Errors
from tippingpoint.families.network.search.exploring import RATIO, Explorer
from tippingpoint.families.network.search.pool import Between, Pool
from tippingpoint.families.network.search.scores import Scores
from tippingpoint.losses import Loss
from tippingpoint.progress import progress_bar

ROUNDS = 8
"""Cap on searches at the price of a question; three to five are usual."""

CLOSE = 2e-3
"""Relative distance from the price of a question at which the rounds end; the stability is off by the square of it."""

EXTENSIONS = 16
"""Rungs that may be added to the ladder for a threshold far away."""

PROOFS = 3
"""Cap on proofs for a question: a proof finds better atoms, better atoms move the price, and it is proved anew there."""

NEAR = 0.01
"""Relative step of the price that needs no new proof; the bound is off by the square of it."""


class Certifier(ABC):
    """Who bounds the responses of a network from above, and so the stability from below."""

    stopped: bool = False
    """Whether somebody at the keyboard ended a proof."""

    @abstractmethod
    def certify(self, problem: Problem, solution: Solution) -> Certificate:
        """The lower bound."""

    @property
    def proves(self) -> bool:
        """Whether it proves the responses of every question anew."""
        return False

    def proved(self, price: float, oracle: PathOracle) -> tuple[Certifier, Pool]:
        """A certifier that has proved the responses at a price, and the pool with what it learnt; asked of those who prove."""
        return self, oracle.pool


@dataclass(frozen=True)
class Uncertified(Certifier):
    """Nothing is known from below."""

    why: str

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

    def ended(self, stop: BaseException) -> str:
        """In words: why a search ended before it was done."""
        return failed(stop, self.scores.tally.rows) if isinstance(stop, ModelError) else INTERRUPTED


class PoolOracle(Oracle):
    """The exact best responses among the atoms of a pool."""

    exact = False
    ceiling = math.inf

    def __init__(
        self, setting: Setting, pool: Pool, certificate: str, trace: tuple[float, ...] = (), notes: tuple[str, ...] = ()
    ) -> None:
        self.interrupted = bool(notes)  # of what else there is to note, searches of networks say nothing
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
    pool, rungs
        What was found so far, and the prices of the ladder, upwards.
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
        rungs: tuple[float, ...],
        certifier: Certifier,
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(setting, pool, "searched along a path of prices", notes=notes)
        self._explorer = explorer
        self.rungs = rungs
        self._certifier = certifier
        self._further: dict[float, Summit] = {}

    def tuned(self, problem: Problem) -> PathOracle:
        """Further rungs where the threshold is out of reach; then a search at the very price of the question."""
        if math.isinf(problem.theta1) or self.interrupted:  # what was found by then is all there is
            return self
        oracle = self
        if not self.setting.loss.needs_crossing:
            try:
                for oracle in self._searched(problem):  # noqa: B007  # the last one counts
                    pass
            except (KeyboardInterrupt, ModelError) as stop:
                return oracle._with(oracle.pool, notes=(*oracle.notes, self.setting.ended(stop)))  # noqa: SLF001
        return oracle._proved(problem) if self._certifier.proves else oracle  # noqa: SLF001

    def certify(self, problem: Problem, solution: Solution) -> Certificate:
        if math.isinf(problem.theta1) or solution.status is Status.ALREADY:
            return super().certify(problem, solution)
        return self._certifier.certify(problem, solution)

    def learnt(self, steps: FloatArray) -> Pool:
        """The pool with these steps, as the module itself judges them."""
        scores, rows = self.setting.scores, np.arange(len(steps))
        kept = scores.kept(rows, steps)
        return self.pool.joined(kept, lift(self.setting.loss, self.setting.now, scores.values(rows, kept)))

    def _searched(self, problem: Problem) -> Iterator[PathOracle]:
        """Oracles of more and more rungs, until the threshold's price lies within them; then with searches at that price.

        The pool's own price is a tie between two of its atoms. The risk of fresh responses is smooth in the price, so a
        cubic tells where to begin, and secants find where it meets the threshold.
        """
        oracle, largest = self, -math.inf
        for _ in range(EXTENSIONS):
            solution = solve(replace(problem, responses=oracle))
            top = oracle.rungs[-1]
            inside = solution.status is Status.ATTAINED and _price(problem, solution) < top
            largest, before = replace(problem, responses=oracle).reachable, largest
            stuck = solution.status is not Status.ATTAINED and largest <= before
            if inside or stuck or solution.status is Status.ALREADY:
                break
            higher = self._higher(oracle, top)
            oracle = oracle._with(oracle.pool.joined(higher.steps, higher.lift), rungs=(*oracle.rungs, higher.price))
            yield oracle
        if solution.status is not Status.ATTAINED:
            return
        between = solve(replace(problem, responses=Between(oracle.pool, oracle.rungs, self._losses)))
        solution = between if between.status is Status.ATTAINED else solution
        price, steepness = _price(problem, solution), problem.theta1 * solution.left.curvature
        seen = [(0.0, -problem.wanted)]
        for _ in range(ROUNDS):
            oracle = self._with_search(oracle, price, first=len(seen) == 1)
            yield oracle
            excess = replace(problem, responses=oracle).evaluate(price * problem.theta1).excess
            before, missed = seen[-1]
            if len(seen) > 1 or steepness <= 0.0:
                steepness = (excess - missed) / (price - before)
            step = -excess / steepness if steepness > 0.0 else 0.0
            near = abs(step) <= CLOSE * price
            enclosed = any(other * excess <= 0.0 and abs(at - price) <= 4.0 * CLOSE * price for at, other in seen)
            if step == 0.0 or (near and enclosed):
                return
            seen.append((price, excess))
            # Atoms from both sides of the root mix well: once it is near, look from beyond it.
            further = price + (2.0 * step if near else min(max(step, price / RATIO - price), price * RATIO - price))
            if further == price:  # beside a pole the risk passes the threshold between two neighbouring numbers
                return
            price = further

    def _with_search(self, oracle: PathOracle, price: float, *, first: bool) -> PathOracle:
        """An oracle with what a search at a price finds."""
        rows = np.arange(len(self._losses))
        summit = Summit.foot(price, self.setting.scores)
        known = oracle.pool.places(price, rows)
        summit.learn(rows, known, oracle.respond(price).lift)
        above = [rung for rung in oracle.rungs if rung > price]
        if first and above:  # what is best on the rung above may lead to what is best here
            self._explorer.again(summit, oracle.pool.places(min(above), rows), near=False)
        self._explorer.again(summit, known, near=True)
        return oracle._with(oracle.pool.joined(summit.steps, summit.lift))

    def _higher(self, oracle: PathOracle, top: float) -> Summit:
        """The rung above the highest; the same whoever asks for it, so it is kept."""
        price = top * RATIO
        if price not in self._further:
            summit = Summit.foot(price, self.setting.scores)
            self._explorer.scale(summit, oracle.pool.places(top, np.arange(len(self._losses))))
            self._further[price] = summit
        return self._further[price]

    def _proved(self, problem: Problem) -> PathOracle:
        """This oracle after proofs at the price of the question, with what they learnt."""
        oracle, before = self, math.nan
        for _ in range(PROOFS):
            solution = solve(replace(problem, responses=oracle))
            price = _price(problem, solution)
            if solution.status is not Status.ATTAINED or abs(price - before) <= NEAR * price:
                break
            try:
                certifier, pool = oracle._certifier.proved(price, oracle)
            except (KeyboardInterrupt, ModelError) as stop:
                return oracle._with(oracle.pool, notes=(*oracle.notes, self.setting.ended(stop)))
            oracle, before = oracle._with(pool, certifier=certifier), price
            if certifier.stopped:
                return oracle._with(pool, notes=(*oracle.notes, INTERRUPTED))  # noqa: SLF001
        return oracle

    def _with(
        self,
        pool: Pool,
        *,
        rungs: tuple[float, ...] | None = None,
        certifier: Certifier | None = None,
        notes: tuple[str, ...] | None = None,
    ) -> PathOracle:
        """The same, but for what is given."""
        return PathOracle(
            self._explorer,
            self.setting,
            pool,
            self.rungs if rungs is None else rungs,
            self._certifier if certifier is None else certifier,
            self._notes if notes is None else notes,
        )


def explored(explorer: Explorer, setting: Setting, certifier: Certifier, *, progress: bool | None) -> PathOracle:
    """The profile of a loss that rises smoothly: summits down the ladder."""
    rows = np.arange(setting.scores.samples)
    pool = Pool.resting(setting.scores.none(rows).astype(setting.scores.dtype))
    ladder, summits, notes, failing = explorer.ladder(), list[Summit](), tuple[str, ...](), False
    with progress_bar("best responses", len(ladder), show=progress) as tick:
        try:
            for price in ladder:
                summits.append(Summit.foot(price, setting.scores))
                explorer.scale(summits[-1], summits[-2].steps if len(summits) > 1 else None)
                tick(len(summits))
        except KeyboardInterrupt:
            notes = (INTERRUPTED,)
        except ModelError as failure:
            if not any(summit.gain.any() for summit in summits):
                raise
            notes, failing = (setting.ended(failure),), True
    for summit in reversed(summits):
        gained = summit.lift
        if notes and not failing:  # a summit may have been left between its steps and its lift
            gained = lift(setting.loss, setting.now, setting.scores.values(rows, summit.steps))
        pool = pool.joined(summit.steps, gained)
    return PathOracle(explorer, setting, pool, tuple(reversed(ladder)), certifier, notes)


def crossed(explorer: Explorer, setting: Setting, errors: Errors, *, progress: bool | None) -> tuple[Pool, tuple[str, ...]]:
    """The pool of the 0/1 loss: every sample's nearest error."""
    rows, notes = np.arange(setting.scores.samples), tuple[str, ...]()
    with progress_bar("nearest errors", explorer.searches, show=progress) as tick:
        try:
            explorer.seek(errors, tick)
        except KeyboardInterrupt:
            notes = (INTERRUPTED,)
        except ModelError as failure:
            if not np.isfinite(errors.distance).any():
                raise
            notes = (setting.ended(failure),)
    steps = setting.scores.none(rows)
    known = np.isfinite(errors.distance)
    steps[errors.rows] = np.where(known[:, None], errors.steps, 0.0)
    try:
        return with_errors(setting, steps), notes
    except ModelError as failure:  # it is not asked again, then: it has said once that these are errors
        if not known.any():
            raise
        wrong = np.zeros(len(rows), dtype=bool)
        wrong[errors.rows[known]] = True
        return _pool_of_errors(setting, steps, wrong), notes or (setting.ended(failure),)


def with_errors(setting: Setting, steps: FloatArray) -> Pool:
    """The pool of the steps at which the module was wrong, by its own word."""
    return _pool_of_errors(setting, steps, setting.scores.values(np.arange(len(steps)), steps) > 0.0)


def _pool_of_errors(setting: Setting, steps: FloatArray, wrong: BoolArray) -> Pool:
    gained = np.where(wrong & (setting.now < 0.0), 1.0, 0.0)
    return Pool.resting(np.zeros_like(steps, dtype=setting.scores.dtype)).joined(steps, gained)


def _price(problem: Problem, solution: Solution) -> float:
    """`λ*`, between the two sides of a solution."""
    h = (1.0 - solution.share) * solution.left.price + solution.share * solution.right.price
    return h / problem.theta1 if math.isfinite(h) else math.inf
