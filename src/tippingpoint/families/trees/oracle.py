"""The oracle of a forest: every question is proved from both sides, as far as it needs."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.atoms import LEAST_COST, AtomsOracle
from tippingpoint.core.crossing import ROUND_OFF
from tippingpoint.core.dual import Solution, Status, highest_floor, solve
from tippingpoint.core.oracle import INTERRUPTED, Certificate, Doubted, Oracle
from tippingpoint.core.problem import Problem
from tippingpoint.core.prover import Ending, Limits, Proof, prove
from tippingpoint.core.responses import Response
from tippingpoint.families.trees.confirming import confirmed
from tippingpoint.families.trees.on_thresholds import on_thresholds
from tippingpoint.families.trees.proving import Ask, TreeErrors, TreeGains, TreeTask
from tippingpoint.progress import interval_bar
from tippingpoint.space.domain import Domain

BY_CELLS = "branch and bound over the cells of the trees"
"""What certifies a lower bound."""

MAX_PEAK_SIZE = 2**13
"""Leaves times samples up to which the largest risk is looked for though no question needs it: where nothing costs anything,
searches of large forests hardly end."""

PEAK_LEVELS = 2
"""Of work, where the largest risk is looked for that no question needs."""

LEVELS_A_PRICE = 3
"""Of work, where responses are asked for at a price without a question that says how much they matter."""


@dataclass(frozen=True)
class Setting:
    """What the oracles of a forest share.

    Attributes
    ----------
    task
        What there is to search.
    domain
        Where samples may go.
    limits
        How far to go for a question.
    ask
        The losses of samples at places, by the library's own word.
    progress
        Whether to show the bounds as they close; None: on a terminal.
    notes
        What a careful reader should know.
    """

    task: TreeTask
    domain: Domain
    limits: Limits
    ask: Ask
    progress: bool | None
    notes: tuple[str, ...]

    def enclosure(self) -> TreeErrors | TreeGains:
        """Of which nothing is known yet; what was searched before is found again at once."""
        return TreeErrors(self.task, self.ask) if self.task.crossing else TreeGains(self.task)


class TreeOracle(Oracle):
    """Best responses of a forest; a question has them proved, and its answers do not depend on those before."""

    exact = False
    certificate = BY_CELLS
    ceiling: float = math.inf

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self.unit: str = setting.domain.unit
        self._found: dict[float, FoundOracle] = {}

    @property
    def losses(self) -> FloatArray:
        return self._setting.task.losses

    @property
    def notes(self) -> tuple[str, ...]:
        return self._setting.notes

    def tuned(self, problem: Problem) -> Oracle:
        """The places that answer a question, and what is proved of it."""
        if not problem.moves:
            return self
        return self._proved(problem, None)

    def reaching(self, problem: Problem, cost: float) -> tuple[Oracle, float]:
        """The places that a cost reaches most by, proved like a stability whose threshold rises with what is found."""
        tuned = self._proved(problem, cost)
        return tuned, tuned.risk

    def _proved(self, problem: Problem, cost: float | None) -> TunedTreeOracle:
        """What is proved of a stability, or of the largest risk that a cost reaches."""
        setting, enclosure, began = self._setting, self._setting.enclosure(), time.monotonic()
        title = "stability" if cost is None else "worst risk: its stability is"
        with interval_bar(title, show=setting.progress) as watch:
            proof = prove(problem, enclosure, setting.limits, watch, cost)
            question = replace(problem, risk=proof.risk)
            if proof.ending in ("gap", "work"):  # otherwise there is no time left, or nobody waits
                end = solve(replace(question, responses=enclosure)).status
                left = setting.limits.seconds - (time.monotonic() - began)
                if end in (Status.LARGEST, Status.UNREACHABLE) and left > 0.0 and setting.task.size <= MAX_PEAK_SIZE:
                    proof = _with_peaks(enclosure, proof, left)
        return TunedTreeOracle(setting, enclosure, question, proof)

    def at_price(self, price: float) -> PricedTreeOracle:
        return PricedTreeOracle.explored(self._setting, self._setting.enclosure(), price)

    def respond(self, price: float) -> Response:
        return self._at(price).respond(price)

    def peak(self) -> Response:
        return self._at(math.inf).peak()

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        return self._at(price).points(price, rows, lift)

    def _at(self, price: float) -> FoundOracle:
        """What is found at a price."""
        if price not in self._found:
            enclosure = self._setting.enclosure()
            enclosure.explore(price, LEVELS_A_PRICE, self._setting.limits.seconds)
            self._found[price] = FoundOracle(self._setting, enclosure)
        return self._found[price]


class FoundOracle(AtomsOracle):
    """The best responses among places that were found."""

    exact = False
    certificate = BY_CELLS

    def __init__(self, setting: Setting, enclosure: TreeErrors | TreeGains) -> None:
        self.gap: float | None = setting.limits.gap
        self.time_limit: float = setting.limits.seconds
        self.unit: str = setting.domain.unit
        self._enclosure = enclosure
        rows, places, losses, self._as_found = confirmed(enclosure, setting.ask)
        task, everyone = setting.task, np.arange(len(setting.task.losses))
        loss = np.concatenate([task.losses, losses])
        paid = np.maximum(setting.domain.distance(task.x[rows], places), LEAST_COST)
        cost = np.concatenate([np.zeros(len(everyone)), paid])
        shown = np.concatenate([task.x, places])
        columns = dict(zip(setting.domain.names, shown.T, strict=True))
        super().__init__(np.concatenate([everyone, rows]), loss, cost, columns)
        lift = losses - task.losses[rows]
        self.doubted: Doubted | None = on_thresholds(setting.domain, task.x, rows, places, lift, errors=task.crossing)

        self._setting = setting

    def at_price(self, price: float) -> PricedTreeOracle:
        return PricedTreeOracle.explored(self._setting, self._enclosure.copied(), price)

    @property
    def least(self) -> FloatArray | None:
        return self._enclosure.least if isinstance(self._enclosure, TreeErrors) else None

    def risk_bound(self, problem: Problem) -> float:
        return problem.largest_risk(self._enclosure.highest)


class TunedTreeOracle(FoundOracle):
    """The places that answer a question, and what is proved of it.

    Parameters
    ----------
    setting
        What the oracles of a forest share.
    enclosure
        What was found, and bounded.
    problem, proof
        The question, and what is proved of its answer.
    """

    def __init__(self, setting: Setting, enclosure: TreeErrors | TreeGains, problem: Problem, proof: Proof) -> None:
        super().__init__(setting, enclosure)
        self._problem = problem
        self._question = _question(problem)
        self._proof = proof
        self._attained = proof.exact and self._as_found
        self.interrupted: bool = proof.ending == "keyboard"
        self._notes = (*setting.notes, *([INTERRUPTED] if self.interrupted else []))
        self.timed_out: bool = proof.ending == "time"

    @property
    def notes(self) -> tuple[str, ...]:
        return self._notes

    @property
    def risk(self) -> float:
        """The threshold of the question."""
        return self._problem.risk

    def widened(self) -> Oracle:
        """Of the 0/1 loss: errors further away than the question needs are looked for too."""
        setting, enclosure = self._setting, self._enclosure
        if isinstance(enclosure, TreeGains) or self.interrupted:
            return self
        needed = solve(replace(self._problem, responses=self)).right.price / self._problem.theta1
        with interval_bar("errors farther away", show=setting.progress):
            return WidenedTreeOracle(setting, enclosure.widened(needed, LEVELS_A_PRICE, setting.limits.seconds))

    def ending(self, problem: Problem) -> Ending | None:
        return self._proof.ending if _question(problem) == self._question else None

    def attains(self, problem: Problem) -> bool:
        return not problem.moves or (self._attained and _question(problem) == self._question)

    def certify(self, problem: Problem, solution: Solution) -> Certificate:
        if problem.moves and _question(problem) == self._question:
            return Certificate(solution.lower if self._attained else self._proof.lower, BY_CELLS)
        return super().certify(problem, solution)

    def gain_bounds(self, price: float) -> FloatArray | None:
        return self._enclosure.gains(price)

    def bound(self, problem: Problem, solution: Solution) -> Certificate:
        """Of another question: whatever the bounds of this one say of it."""
        if solution.status is Status.ALREADY:
            return Certificate(solution.lower, BY_CELLS)
        price = solution.right.price if 0.0 < solution.right.price < math.inf else problem.theta1
        return Certificate(highest_floor(problem, self._enclosure.gains, price), BY_CELLS)


class PricedTreeOracle(FoundOracle):
    """The best places of all samples at a price, and bounds on what any are worth there, as they are for each on its own."""

    @classmethod
    def explored(cls, setting: Setting, enclosure: TreeErrors | TreeGains, price: float) -> PricedTreeOracle:
        """With what an enclosure learns at a price."""
        enclosure.explore(price, LEVELS_A_PRICE, setting.limits.seconds)
        return cls(setting, enclosure)

    @property
    def timed_out(self) -> bool:  # type: ignore[override]  # here it depends on the exploration
        return self._enclosure.timed_out

    @property
    def notes(self) -> tuple[str, ...]:
        return self._setting.notes

    def gain_bounds(self, price: float) -> FloatArray | None:
        return self._enclosure.gains(price)


class WidenedTreeOracle(FoundOracle):
    """Nearest errors of all samples, as far as they were found, and what they cost at least."""

    @property
    def timed_out(self) -> bool:  # type: ignore[override]  # here it depends on the exploration
        return self._enclosure.timed_out

    @property
    def exact(self) -> bool:  # type: ignore[override]  # here it depends on what was proved
        enclosure = self._enclosure
        proved = isinstance(enclosure, TreeErrors) and (enclosure.least >= enclosure.nearest * (1.0 - ROUND_OFF)).all()
        return bool(proved and self._as_found)


def _with_peaks(enclosure: TreeErrors | TreeGains, proof: Proof, seconds: float) -> Proof:
    """The same proof, after a search for the largest risk; it is of use only if it ends."""
    try:
        enclosure.find_peaks(PEAK_LEVELS, seconds)
    except KeyboardInterrupt:
        return replace(proof, ending="keyboard")
    return proof


def _question(problem: Problem) -> tuple[Any, ...]:
    """What makes a question the same one."""
    return problem.risk, problem.theta1, problem.theta2, problem.divergence, problem.base.tobytes()
