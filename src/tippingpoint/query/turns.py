"""Searches as generators of queries, and the turns that several of them take at one model.

A search yields the places that it wants to know about, and is sent their scores. What it yields next depends on what it was
sent, and on nothing else: not on how many calls there are. Several searches take turns by what each has spent. So whatever is
queried within some calls is queried within more calls too, and what is found can only become better.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.atoms import Atoms
from tippingpoint.query.counted import CountedModel

Query = tuple[IntArray, FloatArray]
"""Samples, and a place for each."""

Search = Generator[Query, FloatArray, None]
"""It yields queries, and is sent `v` at the places; not a number where it is no place for the sample."""

BATCH_NUMBERS = 2**22
"""Numbers that are shown to the model at once, where there are many places to query."""

TURN_ROWS, TURN_ROWS_A_SAMPLE, TURN_PART = 2048, 4, 4
"""Rows of a turn: so many, or so many a sample, or one in so many of earlier turns. Fewer would be slow, more unfair."""


def rows_of_turn(samples: int, spent: int) -> int:
    """Rows of the next turn of a search of so many samples that has spent so many rows."""
    return max(TURN_ROWS, TURN_ROWS_A_SAMPLE * samples, spent // TURN_PART)


def columns_of_turn(tried: int) -> int:
    """The same a sample, of a search that has tried so many places of every one of them: it depends on nobody's neighbours."""
    return max(TURN_ROWS_A_SAMPLE, tried // TURN_PART)


Rounds = Callable[[], Iterable[int]]
"""Counts the rounds of a search that could go on for ever."""


def endless_rounds() -> Iterable[int]:
    """As many as there are calls for."""
    return itertools.count()


def query_each(trials: Iterable[Query]) -> Generator[Query, FloatArray, list[FloatArray]]:
    """Many queries of a search, and the scores of each."""
    found, lengths = list[FloatArray](), list[int]()

    def measured() -> Iterator[Query]:
        for rows, places in trials:
            lengths.append(len(rows))
            yield rows, places

    for rows, places in batches(measured()):
        found.append((yield rows, places))
    return np.split(np.concatenate(found), np.cumsum(lengths)[:-1]) if found else []


def batches(trials: Iterable[Query]) -> Iterator[Query]:
    """Many queries as few, so many at once as are good for the model's speed."""
    batch, numbers = list[Query](), 0
    for trial in trials:
        batch.append(trial)
        numbers += trial[1].size
        if numbers >= BATCH_NUMBERS:
            yield _joined(batch)
            batch, numbers = [], 0
    if batch:
        yield _joined(batch)


def _joined(batch: Sequence[Query]) -> Query:
    return np.concatenate([rows for rows, _ in batch]), np.concatenate([places for _, places in batch])


MAX_IDLE_TURNS = 300
"""Turns in a row without a place that is new, after which a search goes in circles: as of a partition of one row."""


@dataclass
class RunningSearch:
    """A search, where it is, and what it has spent.

    Attributes
    ----------
    search
        Yields queries.
    atoms
        What it found itself, where it looks at that.
    """

    search: Search
    atoms: Atoms | None = None
    spent: int = 0
    done: bool = False
    _idle: int = 0
    _query: Query | None = None
    _scores: list[FloatArray] = field(default_factory=list)

    def advance(self, model: CountedModel) -> None:
        """One turn."""
        if self._query is None:
            self._resume(next, self.search)
        if self._query is None:
            return
        (rows, places), before = self._query, model.spent
        start, turn = sum(map(len, self._scores)), rows_of_turn(len(model.task.x), self.spent)
        self._scores.append(model.query(rows[start : start + turn], places[start : start + turn], self.atoms))
        self.spent += model.spent - before
        self._idle = self._idle + 1 if model.spent == before else 0
        if self._idle == MAX_IDLE_TURNS:
            self.done = True
        if start + turn >= len(rows):
            scores, self._scores = np.concatenate(self._scores), []
            self._resume(self.search.send, scores)

    def _resume(self, step: Callable[..., Query], *given: object) -> None:
        try:
            self._query = step(*given)
        except StopIteration:
            self._query, self.done = None, True


def run_in_turns(model: CountedModel, sides: Sequence[tuple[float, Sequence[RunningSearch]]]) -> None:
    """Let searches take turns until all are done or the budget is spent.

    Of several sides the one that has spent least for its weight is next, and of a side the search that has spent least.
    """
    while not model.cut:
        waiting = [(weight, [each for each in side if not each.done]) for weight, side in sides]
        totals = [sum(each.spent for each in side) / weight for weight, side in sides]
        open_sides = [k for k, (_, side) in enumerate(waiting) if side]
        if not open_sides:
            return
        side = waiting[min(open_sides, key=totals.__getitem__)][1]
        min(side, key=lambda each: each.spent).advance(model)


def run_one_by_one(model: CountedModel, searches: Sequence[RunningSearch]) -> None:
    """Let searches run one after the other, each to its end: what one knows of the others does not depend on the rows."""
    for search in searches:
        while not search.done:
            search.advance(model)


def run_by_purse(model: CountedModel, allowance: int, sides: Sequence[tuple[float, Sequence[RunningSearch]]]) -> None:
    """The same where every sample may be asked about so many places.

    A side gets its share of them by weight, and what those before it left; within a side the searches share alike, and a search
    leaves what it does not need to the next.
    """
    weights = sum(weight for weight, searches in sides if searches)
    granted, before = 0.0, model.asked.copy()
    for weight, searches in sides:
        granted += weight / weights * allowance if searches else 0.0
        for k, search in enumerate(searches):
            free = round(granted) - (model.asked - before)
            model.purse = free // (len(searches) - k)
            run_one_by_one(model, [search])
    model.purse = None


def purse_rounds(model: CountedModel) -> Iterator[int]:
    """Rounds until every purse is empty; a sample that was not asked about in one of them takes part in none after it."""
    for k in itertools.count():
        before = model.asked.copy()
        yield k
        if model.purse is None:
            return
        model.purse[model.asked == before] = 0
        if not model.purse.any():
            return
