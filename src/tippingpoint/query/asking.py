"""Asking a model what a sample's score would be elsewhere, and counting how often; searches as talks, and their turns.

A search is a talk: it says which places it wants to know about, and is told. What it says next depends on what it was told,
and on nothing else: not on how many calls there are. Several talks take turns by what each has spent. So whatever is asked
within some calls is asked within more calls too, and what is found can only become better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.losses import Loss
from tippingpoint.progress import Tick
from tippingpoint.query.atoms import Atoms, Earlier, Outline
from tippingpoint.space.domain import Domain

Scores = Callable[[IntArray, FloatArray], FloatArray]
"""`v` of these samples at these places, one row each: the number that raises the loss."""

Question = tuple[IntArray, FloatArray]
"""Samples, and a place for each."""

Talk = Generator[Question, FloatArray, None]
"""A search: it yields questions, and is sent `v` at the places; not a number where it is no place for the sample."""

TOGETHER = 2**22
"""Numbers that are shown to the model at once, where there are many places to ask about."""

TURN, EACH, PART = 2048, 4, 4
"""Rows of a turn: so many, or so many a sample, or one in so many of earlier turns. Fewer would be slow, more unfair."""

SNAPSHOTS = 1.25
"""By what factor the calls grow from one snapshot of what was found to the next."""


@dataclass(frozen=True)
class Ground:
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
    """

    x: FloatArray
    domain: Domain
    loss: Loss
    now: FloatArray
    graded: bool

    @property
    def rows(self) -> IntArray:
        """The samples that can be made worse: where there are errors only, those that are right."""
        if self.loss.needs_crossing:
            return np.flatnonzero(self.loss.value(self.now) == 0.0)
        return np.arange(len(self.x), dtype=np.intp)


@dataclass
class Asker:
    """A model, its samples, and what is left of the budget.

    Attributes
    ----------
    scores
        Who answers.
    ground
        About what.
    budget
        Rows that the model may be asked about; None for as many as the searches want.
    tick
        Told how many of them are spent.
    spent, answered
        Rows that the model was asked about, those where the samples are among them; and those elsewhere that it answered.
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
    ground: Ground
    budget: int | None
    tick: Tick
    spent: int = 0
    answered: int = 0
    cut: bool = False
    losses: FloatArray = field(init=False)
    atoms: Atoms = field(init=False)
    nearest: FloatArray = field(init=False)
    earlier: list[tuple[int, Outline]] = field(init=False)

    def __post_init__(self) -> None:
        x = self.ground.x
        self.losses = self.ground.loss.value(self.ground.now)
        self.atoms = Atoms(x)
        self.nearest = np.full(len(x), math.inf)
        self.spent = len(x)
        self.earlier = [(self.spent, self.atoms.outline())]

    @property
    def left(self) -> float:
        return math.inf if self.budget is None else max(self.budget - self.spent, 0)

    def ask(self, rows: IntArray, places: FloatArray, own: Atoms | None = None) -> FloatArray:
        """`v` at these places, every one of them remembered; not a number where it is no place, or the budget is spent."""
        ground = self.ground
        found = np.full(len(rows), np.nan)
        cost = ground.domain.distance(ground.x[rows], places)
        legal = np.flatnonzero(np.isfinite(cost))
        stays = legal[cost[legal] == 0.0]
        found[stays] = ground.now[rows[stays]]
        asked = legal[cost[legal] > 0.0]
        if len(asked) > self.left:
            asked, self.cut = asked[: int(self.left)], True
        if not len(asked):
            return found
        self.spent += len(asked)
        found[asked] = self.scores(rows[asked], places[asked])
        self.answered += len(asked)
        lift = ground.loss.value(found[asked]) - self.losses[rows[asked]]
        for atoms in (self.atoms, own):
            if atoms is not None:
                atoms.add(rows[asked], lift, cost[asked], places[asked])
        if ground.loss.needs_crossing:
            errs = asked[lift > 0.0]
            np.minimum.at(self.nearest, rows[errs], cost[errs])
        if self.spent >= SNAPSHOTS * self.earlier[-1][0]:
            self.earlier.append((self.spent, self.atoms.outline()))
        self.tick(self.spent)
        return found

    @property
    def halfway(self) -> Earlier | None:
        """What had been found when about half of the calls were spent; None where there were none before."""
        before = [(spent, seen) for spent, seen in self.earlier if len(self.ground.x) < spent <= self.spent / 2]
        return (1.0 - before[-1][0] / self.spent, before[-1][1]) if before else None

    def ask_again(self, rows: IntArray, places: FloatArray) -> FloatArray:
        """The losses at places that are known, by another answer; nothing of it is remembered."""
        self.spent += len(rows)
        return self.ground.loss.value(self.scores(rows, places))


def ask_each(trials: Iterable[Question]) -> Generator[Question, FloatArray, list[FloatArray]]:
    """Many questions of a talk, and the answers to each."""
    found, lengths = list[FloatArray](), list[int]()

    def measured() -> Iterator[Question]:
        for rows, places in trials:
            lengths.append(len(rows))
            yield rows, places

    for rows, places in bundles(measured()):
        found.append((yield rows, places))
    return np.split(np.concatenate(found), np.cumsum(lengths)[:-1]) if found else []


def bundles(trials: Iterable[Question]) -> Iterator[Question]:
    """Many questions as few, so many at once as are good for the model's speed."""
    bundle, numbers = list[Question](), 0
    for trial in trials:
        bundle.append(trial)
        numbers += trial[1].size
        if numbers >= TOGETHER:
            yield _one(bundle)
            bundle, numbers = [], 0
    if bundle:
        yield _one(bundle)


def _one(bundle: Sequence[Question]) -> Question:
    return np.concatenate([rows for rows, _ in bundle]), np.concatenate([places for _, places in bundle])


@dataclass
class Speaker:
    """A talk, where it is, and what it has spent.

    Attributes
    ----------
    talk
        The search.
    atoms
        What it found itself, where it looks at that.
    """

    talk: Talk
    atoms: Atoms | None = None
    spent: int = 0
    done: bool = False
    _question: Question | None = None
    _answers: list[FloatArray] = field(default_factory=list)

    def speak(self, asker: Asker) -> None:
        """One turn."""
        if self._question is None:
            self._hear(next, self.talk)
        if self._question is None:
            return
        (rows, places), before = self._question, asker.spent
        start, turn = sum(map(len, self._answers)), max(TURN, EACH * len(asker.ground.x), self.spent // PART)
        self._answers.append(asker.ask(rows[start : start + turn], places[start : start + turn], self.atoms))
        self.spent += asker.spent - before
        if start + turn >= len(rows):
            answers, self._answers = np.concatenate(self._answers), []
            self._hear(self.talk.send, answers)

    def _hear(self, say: Callable[..., Question], *told: object) -> None:
        try:
            self._question = say(*told)
        except StopIteration:
            self._question, self.done = None, True


def converse(asker: Asker, sides: Sequence[tuple[float, Sequence[Speaker]]]) -> None:
    """Let talks take turns until all are done or the budget is spent.

    Of several sides the one that has spent least for its weight is next, and of a side the speaker that has spent least.
    """
    while not asker.cut:
        waiting = [(weight, [each for each in side if not each.done]) for weight, side in sides]
        totals = [sum(each.spent for each in side) / weight for weight, side in sides]
        open_sides = [k for k, (_, side) in enumerate(waiting) if side]
        if not open_sides:
            return
        side = waiting[min(open_sides, key=totals.__getitem__)][1]
        min(side, key=lambda each: each.spent).speak(asker)
