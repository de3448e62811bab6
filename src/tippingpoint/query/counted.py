"""A model whose calls are counted and whose replies are remembered, and what is known of it before a search."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.atoms import Atoms, Outline
from tippingpoint.losses import Loss
from tippingpoint.progress import Tick
from tippingpoint.query.oracle import Earlier
from tippingpoint.query.others import Others
from tippingpoint.space.domain import Domain

Scores = Callable[[IntArray, FloatArray], FloatArray]
"""`v` of these samples at these places, one row each: the number that raises the loss."""

SNAPSHOT_RATIO = 1.25
"""By what factor the calls grow from one snapshot of what was found to the next."""


@dataclass(frozen=True)
class Task:
    """What is known before a search.

    Attributes
    ----------
    x, domain
        The samples and where they may go.
    loss
        `f`, the loss of a score.
    now
        `v` where the samples are.
    graded
        Whether a score says how far an error is, or only whether there is one.
    others
        Who samples learn from, where they are a part of the data; None where they are all, and learn from each other.
    """

    x: FloatArray
    domain: Domain
    loss: Loss
    now: FloatArray
    graded: bool
    others: Others | None = None

    @property
    def known(self) -> FloatArray:
        """Rows that show where the data are."""
        return self.x if self.others is None else self.others.x

    @property
    def rows(self) -> IntArray:
        """The samples that can be made worse: where there are errors only, those that are right."""
        if self.loss.needs_crossing:
            return np.flatnonzero(self.loss.value(self.now) == 0.0)
        return np.arange(len(self.x), dtype=np.intp)


@dataclass
class CountedModel:
    """A model, its samples, and what is left of the budget.

    Attributes
    ----------
    scores
        The model.
    task
        The samples, and where they may go.
    budget
        Rows that the model may be called with; None for as many as the searches want.
    tick
        Shows how many of them are spent.
    purse
        What every sample may still be asked about in the search that is running; None where only all of them together have
        a budget, or none.
    asked
        How often every sample was asked about elsewhere than where it is.
    spent, answered
        Rows that the model was called with, those where the samples are among them; and those elsewhere that it scored.
    cut
        Whether the budget did not suffice for a question.
    losses
        Where the samples are.
    atoms
        What all the searches found.
    nearest
        The least cost of an error of every sample that was found; infinite where there is none, and for losses that have no
        boundary.
    earlier
        What had been found after so many calls, every now and then.
    """

    scores: Scores
    task: Task
    budget: int | None
    tick: Tick
    purse: IntArray | None = None
    asked: IntArray = field(init=False)
    spent: int = 0
    answered: int = 0
    cut: bool = False
    losses: FloatArray = field(init=False)
    atoms: Atoms = field(init=False)
    nearest: FloatArray = field(init=False)
    earlier: list[tuple[int, Outline]] = field(init=False)

    def __post_init__(self) -> None:
        x = self.task.x
        self.losses = self.task.loss.value(self.task.now)
        self.atoms = Atoms(x)
        self.nearest = np.full(len(x), math.inf)
        self.asked = np.zeros(len(x), dtype=np.intp)
        self.spent = len(x)
        self.earlier = [(self.spent, self.atoms.outline())]

    @property
    def left(self) -> float:
        return math.inf if self.budget is None else max(self.budget - self.spent, 0)

    def query(self, rows: IntArray, places: FloatArray, own: Atoms | None = None) -> FloatArray:
        """`v` at these places, every one of them remembered; not a number where it is no place, or the budget is spent."""
        task = self.task
        found = np.full(len(rows), np.nan)
        cost = task.domain.distance(task.x[rows], places)
        legal = np.flatnonzero(np.isfinite(cost))
        stays = legal[cost[legal] == 0.0]
        found[stays] = task.now[rows[stays]]
        moved = legal[cost[legal] > 0.0]
        if len(moved) > self.left:
            moved, self.cut = moved[: int(self.left)], True
        if self.purse is not None:
            moved = self._afforded(moved, rows, self.purse)
        if not len(moved):
            return found
        self.spent += len(moved)
        np.add.at(self.asked, rows[moved], 1)
        found[moved] = self.scores(rows[moved], places[moved])
        self.answered += len(moved)
        lift = task.loss.value(found[moved]) - self.losses[rows[moved]]
        for atoms in (self.atoms, own):
            if atoms is not None:
                atoms.add(rows[moved], lift, cost[moved], places[moved])
        if task.loss.needs_crossing:
            errs = moved[lift > 0.0]
            np.minimum.at(self.nearest, rows[errs], cost[errs])
        if self.spent >= SNAPSHOT_RATIO * self.earlier[-1][0]:
            self.earlier.append((self.spent, self.atoms.outline()))
        self.tick(self.spent)
        return found

    def _afforded(self, moved: IntArray, rows: IntArray, purse: IntArray) -> IntArray:
        """Of these places, in order, as many of every sample as its purse pays for."""
        of = rows[moved]
        order = np.argsort(of, kind="stable")
        turn = np.empty(len(of), dtype=np.intp)
        turn[order] = np.arange(len(of)) - np.searchsorted(of[order], of[order])
        paid = turn < purse[of]
        self.cut = self.cut or not paid.all()
        np.subtract.at(purse, of[paid], 1)
        return moved[paid]

    @property
    def halfway(self) -> Earlier | None:
        """What had been found when about half of the calls were spent; None where there were none before."""
        before = [(spent, seen) for spent, seen in self.earlier if len(self.task.x) < spent <= self.spent / 2]
        return (1.0 - before[-1][0] / self.spent, before[-1][1]) if before else None

    def query_again(self, rows: IntArray, places: FloatArray) -> FloatArray:
        """The losses at places that are known, by another reply; nothing of it is remembered."""
        self.spent += len(rows)
        return self.task.loss.value(self.scores(rows, places))
