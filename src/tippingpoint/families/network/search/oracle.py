"""Networks as oracles: atoms found by searching, refined for every question, certified from below where possible."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.atoms import Layers
from tippingpoint.core.dual import Solution, Status, solve
from tippingpoint.core.oracle import INTERRUPTED, Certificate, Oracle, failed
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import Response
from tippingpoint.data.frames import Features
from tippingpoint.errors import ModelError
from tippingpoint.families.network.search.explorer import RATIO, Explorer
from tippingpoint.families.network.search.interpolation import InterpolatedResponses
from tippingpoint.families.network.search.scores import Scores, cost
from tippingpoint.families.network.search.summits import Summit, lift
from tippingpoint.losses import Loss
from tippingpoint.progress import progress_bar

MAX_ROUNDS = 8
"""Cap on searches at the price of a question; three to five are usual."""

PRICE_TOLERANCE = 2e-3
"""Relative distance from the price of a question at which the rounds end; the stability is off by the square of it."""

MAX_EXTENSIONS = 16
"""Rungs that may be added to the ladder for a threshold far away."""

MAX_PROOFS = 3
"""Cap on proofs for a question: a proof finds better atoms, better atoms move the price, and it is proved anew there."""

UNPROVED_STEP = 0.01
"""Relative step of the price that needs no new proof; the bound is off by the square of it."""


PATH = "searched along a path of prices"
"""How the default method searches, in words."""


class Certifier(ABC):
    """Who bounds the responses of a network from above, and so the stability from below."""

    stopped: bool = False
    """Whether somebody at the keyboard ended a proof."""

    @property
    def timed_out(self) -> bool:
        """Whether `time_limit` ended a proof."""
        return False

    def timed(self) -> Certifier:
        """The same with its time limit counted from now on."""
        return self

    @abstractmethod
    def certify(self, problem: Problem, solution: Solution) -> Certificate:
        """The lower bound."""

    @property
    def proves(self) -> bool:
        """Whether it proves the responses of every question anew."""
        return False

    def gains(self, price: float) -> FloatArray | None:
        """The most that any step can gain at a price; None where that is not known."""
        return None

    def proved(self, price: float, oracle: PathOracle) -> tuple[Certifier, Layers]:
        """For those who prove: a certifier that has proved the responses at a price, and the layers with what it learnt."""
        return self, oracle.layers


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
    features: Features
    unit: str
    farthest: float = math.inf

    @property
    def losses(self) -> FloatArray:
        """The losses as they are now."""
        return self.loss.value(self.now)

    def ended(self, stop: BaseException) -> str:
        """In words: why a search ended before it was done."""
        return failed(stop, self.scores.tally.rows) if isinstance(stop, ModelError) else INTERRUPTED


class SearchedOracle(Oracle):
    """What a search of a network found.

    Parameters
    ----------
    setting
        The network.
    certificate
        In words: how it was searched.
    certifier
        Who bounds from below.
    trace
        The risk after every epoch of a search that has epochs.
    notes
        What a careful reader should know: why the search ended before it was done, where it did.
    """

    exact = False

    def __init__(
        self,
        setting: Setting,
        certificate: str,
        certifier: Certifier,
        trace: tuple[float, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> None:
        self.interrupted: bool = bool(notes)  # of what else there is to note, searches of networks say nothing
        self.setting = setting
        self.certificate = certificate
        self.unit: str = setting.unit
        self.farthest: float = setting.farthest
        self.certifier = certifier
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

    @abstractmethod
    def steps(self, price: float, rows: IntArray) -> FloatArray:
        """The steps of these rows at a price; of those that stay, anything."""

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        features, moved = self.setting.features, self._moved(price, rows, lift)
        if features.inputs is not None:
            return features.inputs.shifts(features.x[rows], moved)
        return dict(zip(features.names, moved.T, strict=True))

    def inputs(self, prices: FloatArray, rows: IntArray, lift: FloatArray) -> Any:
        features = self.setting.features
        moved = np.empty((len(rows), features.x.shape[1]))
        for price in np.unique(prices):
            here = prices == price
            moved[here] = self._moved(float(price), rows[here], lift[here])
        return moved.reshape(-1, *features.shape) if features.inputs is None else features.inputs.given_back(moved, rows)

    def _moved(self, price: float, rows: IntArray, lift: FloatArray) -> FloatArray:
        """All numbers of these rows at a price, `(rows, d)`."""
        steps = np.where((lift > 0.0)[:, None], self.steps(price, rows), 0.0)
        return self.setting.scores.points(rows, steps)

    @property
    def timed_out(self) -> bool:  # type: ignore[override]  # here it depends on the proofs
        return self.certifier.timed_out

    def gain_bounds(self, price: float) -> FloatArray | None:
        return self.certifier.gains(price)

    def bound(self, problem: Problem, solution: Solution) -> Certificate:
        if solution.status is Status.ALREADY:  # there is nothing to bound
            return Uncertified(self.certificate).certify(problem, solution)
        return self.certifier.certify(problem, solution)


class LayersOracle(SearchedOracle):
    """The exact best responses among layers of atoms, steps of the samples; other parameters as of any search.

    Parameters
    ----------
    layers
        What was found.
    """

    ceiling: float = math.inf

    def __init__(
        self,
        setting: Setting,
        layers: Layers,
        certificate: str,
        certifier: Certifier | None = None,
        trace: tuple[float, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(setting, certificate, certifier or Uncertified(certificate), trace, notes)
        self.layers = layers

    def respond(self, price: float) -> Response:
        return self.layers.respond(price)

    def peak(self) -> Response:
        return self.layers.peak()

    def steps(self, price: float, rows: IntArray) -> FloatArray:
        return self.layers.at(price, rows)


class PathOracle(LayersOracle):
    """Layers searched for along a ladder of prices, and refined at the price of every question.

    Parameters
    ----------
    explorer
        Who searches.
    setting
        The network.
    layers, rungs
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
        layers: Layers,
        rungs: tuple[float, ...],
        certifier: Certifier,
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(setting, layers, PATH, certifier, notes=notes)
        self._explorer = explorer
        self.rungs = rungs
        self._further: dict[float, Summit] = {}

    def tuned(self, problem: Problem) -> PathOracle:
        """Further rungs where the threshold is out of reach; then a search at the very price of the question."""
        if not problem.moves or self.interrupted:  # what was found by then is all there is
            return self
        oracle = self
        try:
            for oracle in self._searched(problem):  # noqa: B007  # the last one counts
                pass
        except (KeyboardInterrupt, ModelError) as stop:
            return oracle._with(oracle.layers, notes=(*oracle.notes, self.setting.ended(stop)))  # noqa: SLF001
        return oracle._proved(problem) if self.certifier.proves else oracle  # noqa: SLF001

    def timed(self) -> PathOracle:
        return self._with(self.layers, certifier=self.certifier.timed())

    def learnt(self, steps: FloatArray) -> Layers:
        """The layers and these steps, as the module itself judges them."""
        scores, rows = self.setting.scores, np.arange(len(steps))
        kept = scores.kept(rows, steps)
        return self.layers.joined(kept, lift(self.setting.loss, self.setting.now, scores.values(rows, kept)), cost(kept))

    def _searched(self, problem: Problem) -> Iterator[PathOracle]:
        """Oracles of more and more rungs, until the threshold's price lies within them; then with searches at that price.

        The layers' own price is a tie between two of its atoms. The risk of fresh responses is smooth in the price, so a
        cubic tells where to begin, and secants find where it meets the threshold.
        """
        oracle, largest = self, -math.inf
        for _ in range(MAX_EXTENSIONS):
            solution = solve(replace(problem, responses=oracle))
            top = oracle.rungs[-1]
            inside = solution.status is Status.ATTAINED and _price(problem, solution) < top
            largest, before = replace(problem, responses=oracle).reachable, largest
            stuck = solution.status is not Status.ATTAINED and largest <= before
            if inside or stuck or solution.status is Status.ALREADY:
                break
            higher = self._higher(oracle, top)
            layers = oracle.layers.joined(higher.steps, higher.lift, cost(higher.steps))
            oracle = oracle._with(layers, rungs=(*oracle.rungs, higher.price))
            yield oracle
        if solution.status is not Status.ATTAINED:
            return
        between = solve(replace(problem, responses=InterpolatedResponses(oracle.layers, oracle.rungs, self._losses)))
        solution = between if between.status is Status.ATTAINED else solution
        price, steepness = _price(problem, solution), problem.theta1 * solution.left.curvature
        seen = [(0.0, -problem.wanted)]
        for _ in range(MAX_ROUNDS):
            oracle = self._with_search(oracle, price, first=len(seen) == 1)
            yield oracle
            excess = replace(problem, responses=oracle).evaluate(price * problem.theta1).excess
            before, missed = seen[-1]
            if len(seen) > 1 or steepness <= 0.0:
                steepness = (excess - missed) / (price - before)
            step = -excess / steepness if steepness > 0.0 else 0.0
            near = abs(step) <= PRICE_TOLERANCE * price
            enclosed = any(other * excess <= 0.0 and abs(at - price) <= 4.0 * PRICE_TOLERANCE * price for at, other in seen)
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
        summit = Summit.staying(price, self.setting.scores)
        known = oracle.layers.at(price, rows)
        summit.learn(rows, known, oracle.respond(price).lift)
        above = [rung for rung in oracle.rungs if rung > price]
        if first and above:  # what is best on the rung above may lead to what is best here
            self._explorer.again(summit, oracle.layers.at(min(above), rows), near=False)
        self._explorer.again(summit, known, near=True)
        return oracle._with(oracle.layers.joined(summit.steps, summit.lift, cost(summit.steps)))

    def _higher(self, oracle: PathOracle, top: float) -> Summit:
        """The rung above the highest; the same whoever asks for it, so it is kept."""
        price = top * RATIO
        if price not in self._further:
            summit = Summit.staying(price, self.setting.scores)
            self._explorer.scale(summit, oracle.layers.at(top, np.arange(len(self._losses))))
            self._further[price] = summit
        return self._further[price]

    def _proved(self, problem: Problem) -> PathOracle:
        """This oracle after proofs at the price of the question, with what they learnt."""
        oracle, before = self, math.nan
        for _ in range(MAX_PROOFS):
            solution = solve(replace(problem, responses=oracle))
            price = _price(problem, solution)
            if solution.status is not Status.ATTAINED or abs(price - before) <= UNPROVED_STEP * price:
                break
            try:
                certifier, layers = oracle.certifier.proved(price, oracle)
            except (KeyboardInterrupt, ModelError) as stop:
                return oracle._with(oracle.layers, notes=(*oracle.notes, self.setting.ended(stop)))
            oracle, before = oracle._with(layers, certifier=certifier), price
            if certifier.stopped:
                return oracle._with(layers, notes=(*oracle.notes, INTERRUPTED))  # noqa: SLF001
        return oracle

    def _with(
        self,
        layers: Layers,
        *,
        rungs: tuple[float, ...] | None = None,
        certifier: Certifier | None = None,
        notes: tuple[str, ...] | None = None,
    ) -> PathOracle:
        """The same, but for what is given."""
        return PathOracle(
            self._explorer,
            self.setting,
            layers,
            self.rungs if rungs is None else rungs,
            self.certifier if certifier is None else certifier,
            self._notes if notes is None else notes,
        )


def explored(explorer: Explorer, setting: Setting, certifier: Certifier, *, progress: bool | None) -> PathOracle:
    """The profile of a loss that rises smoothly: summits down the ladder."""
    rows = np.arange(setting.scores.samples)
    layers = Layers.staying(setting.scores.staying(rows).astype(setting.scores.dtype))
    ladder, summits, notes, failing = explorer.ladder(), list[Summit](), tuple[str, ...](), False
    with progress_bar("best responses", len(ladder), show=progress) as tick:
        try:
            for price in ladder:
                summits.append(Summit.staying(price, setting.scores))
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
        layers = layers.joined(summit.steps, gained, cost(summit.steps))
    return PathOracle(explorer, setting, layers, tuple(reversed(ladder)), certifier, notes)


def _price(problem: Problem, solution: Solution) -> float:
    """`λ*`, between the two sides of a solution."""
    h = (1.0 - solution.share) * solution.left.price + solution.share * solution.right.price
    return h / problem.theta1 if math.isfinite(h) else math.inf
