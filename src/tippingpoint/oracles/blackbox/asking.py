"""Asking a model what a sample's score would be elsewhere, and counting how often."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.domain import Domain
from tippingpoint.losses import Loss
from tippingpoint.oracles.blackbox.atoms import Atoms
from tippingpoint.progress import Tick

Scores = Callable[[IntArray, FloatArray], FloatArray]
"""`v` of these samples at these places, one row each: the number that raises the loss."""

TOGETHER = 2**22
"""Numbers that are shown to the model at once, where there are many places to ask about."""


@dataclass
class Asker:
    """A model, its samples, and what is left of the budget.

    Attributes
    ----------
    scores
        Who answers.
    x, domain
        The samples and where they may go.
    loss
        `f`, the loss of a score.
    now
        `v` where the samples are.
    graded
        Whether a score says how far an error is, or only whether there is one.
    budget
        Rows that the model may be asked about.
    tick
        Told how many of them are spent.
    spent, answered
        Rows that the model was asked about, those where the samples are among them; and those elsewhere that it answered.
    """

    scores: Scores
    x: FloatArray
    domain: Domain
    loss: Loss
    now: FloatArray
    graded: bool
    budget: int
    tick: Tick
    spent: int = 0
    answered: int = 0
    losses: FloatArray = field(init=False)
    atoms: Atoms = field(init=False)

    def __post_init__(self) -> None:
        self.losses = self.loss.value(self.now)
        self.atoms = Atoms(self.x)
        self.spent = len(self.x)

    @property
    def left(self) -> int:
        return self.budget - self.spent

    def ask_each(self, trials: Iterable[tuple[IntArray, FloatArray]]) -> Iterator[FloatArray]:
        """The same for many lots of rows and places, so many at once as are good for the model's speed."""
        waiting: list[tuple[IntArray, FloatArray]] = []
        for trial in trials:
            waiting.append(trial)
            if sum(places.size for _, places in waiting) >= TOGETHER:
                yield from self._together(waiting)
                waiting = []
        yield from self._together(waiting)

    def _together(self, trials: list[tuple[IntArray, FloatArray]]) -> Iterator[FloatArray]:
        if trials:
            rows, places = (np.concatenate(each) for each in zip(*trials, strict=True))
            yield from np.split(self.ask(rows, places), np.cumsum([len(each) for each, _ in trials])[:-1])

    def ask(self, rows: IntArray, places: FloatArray) -> FloatArray:
        """`v` at these places, every one of them remembered; not a number where it is no place, or the budget is spent."""
        found = np.full(len(rows), np.nan)
        cost = self.domain.distance(self.x[rows], places)
        legal = np.flatnonzero(np.isfinite(cost))
        stays = legal[cost[legal] == 0.0]
        found[stays] = self.now[rows[stays]]
        asked = legal[cost[legal] > 0.0][: max(self.left, 0)]
        if not len(asked):
            return found
        self.spent += len(asked)
        found[asked] = self.scores(rows[asked], places[asked])
        self.answered += len(asked)
        lift = self.loss.value(found[asked]) - self.losses[rows[asked]]
        self.atoms.add(rows[asked], lift, cost[asked], places[asked])
        self.tick(self.spent)
        return found

    def ask_again(self, rows: IntArray, places: FloatArray) -> FloatArray:
        """The losses at places that are known, by another answer; nothing of it is remembered."""
        self.spent += len(rows)
        return self.loss.value(self.scores(rows, places))
