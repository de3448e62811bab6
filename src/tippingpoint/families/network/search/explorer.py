"""Where to begin: prices on a ladder, and good starts at each rung.

A search is as good as its starts. The ladder is walked downwards: at the highest price, where far summits are in reach,
samples begin where they are and at random; at every further price where they went at the price before. And at each of
them every sample is offered where *others* of its label went, since what is wrong for one is wrong for all of that label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, blocks
from tippingpoint.families.network.search.cuts import Cut, suggest
from tippingpoint.families.network.search.errors import Errors, approach, land
from tippingpoint.families.network.search.scores import Outputs, Scores, cost
from tippingpoint.families.network.search.summits import Summit, climb
from tippingpoint.losses import Loss
from tippingpoint.progress import Tick
from tippingpoint.query.draws import row_normals

RATIO = 4.0
"""From one price of the ladder to the next."""

RUNGS, HIGHEST_RUNG = 4, 32.0
"""How many there are, and the highest, in units of the price at which a typical sample moves its score by one half."""

FIRST_ITERATIONS = 4
"""Iterations from a start that is not known to be any good; most have settled by then, and the others are taken up again."""

CROSSING_ITERATIONS = 12
"""The same for nearest errors, which nothing takes up again."""

WARM_ITERATIONS, WARMER_ITERATIONS = 5, 3
"""Iterations from the best that is known at a neighbouring price, and from there at one nearly the same."""

MAX_REFERENCES = 250
"""Samples of a label whose destinations are offered to the others."""

MIN_PROMISE = 0.5
"""Part of what is known that another's destination must be worth, as it stands, to begin from it."""

MAX_DISTANCES = 2**22
"""Distances held at once."""


class Explorer:
    """Searches for best responses of a module's scores.

    Parameters
    ----------
    scores
        The module.
    loss
        What it is judged by.
    labels
        The label of every sample: those of the same lose the same at the same place, so they can learn from each other. None
        where nobody can.
    seed
        Of the random starts.
    restarts
        How many of them there are at every price.
    leads
        Further scores, such as the lead of every class, towards whose zeros searches begin too.
    guide
        Where other samples go, where these are a part of the data; None where they are all, and learn from each other.
    """

    def __init__(
        self,
        scores: Scores,
        loss: Loss,
        labels: IntArray | None,
        seed: int,
        restarts: int,
        leads: Sequence[Outputs] = (),
        guide: Guide | None = None,
    ) -> None:
        self.scores = scores
        self.loss = loss
        self._labels = labels
        self._seed = seed
        self._restarts = restarts
        self._guide = guide
        self._leads = [scores.by(lead) for lead in leads]
        self._all = np.arange(scores.samples)
        now, slope = scores.linearised(self._all, scores.staying(self._all))
        self.now: FloatArray = now
        """Every sample's score where it is."""
        steep = cost(slope)
        typical = float(np.median(steep[steep > 0.0])) if (steep > 0.0).any() else 1.0
        self.unit: float = 1.0 / typical if guide is None else guide.explorer.unit
        """The price at which a typical sample moves its score by one half."""

    @property
    def labels(self) -> IntArray | None:
        """Of the samples, where they can learn from each other."""
        return self._labels

    def ladder(self) -> list[float]:
        """Prices that a profile is made of, from the highest down."""
        return [HIGHEST_RUNG * self.unit / RATIO**k for k in range(RUNGS)]

    def scale(self, summit: Summit, warm: FloatArray | None) -> None:
        """From where samples went at the price before (at the first, from here), from where others went, and at random."""
        self._climb(summit, self._all, self.scores.staying(self._all) if warm is None else warm, FIRST_ITERATIONS)
        for lead in self._leads if warm is None else ():
            self._climb(summit, self._all, self._towards(lead, self._all, summit.price), FIRST_ITERATIONS)
        for k in range(self._restarts):
            self._climb(summit, self._all, self._around(summit, k), FIRST_ITERATIONS)
        self._share(summit)

    def again(self, summit: Summit, steps: FloatArray, *, near: bool) -> None:
        """From steps that are known to be good at a neighbouring price, or at one nearly the same."""
        self._climb(summit, self._all, steps, WARMER_ITERATIONS if near else WARM_ITERATIONS)

    def seek(self, errors: Errors, tick: Tick) -> None:
        """The nearest errors of samples that are right."""
        where = np.arange(len(errors.rows))
        for k, begin in enumerate(self._starts(errors)):
            steps = self.scores.kept(errors.rows, begin)
            land(self.scores, errors, where, approach(self.scores, errors, where, steps, CROSSING_ITERATIONS))
            tick(k + 1)

    @property
    def searches(self) -> int:
        """How many starts `seek` makes."""
        return 1 + self._donors + len(self._leads) + self._restarts

    @property
    def _donors(self) -> int:
        """Others whose nearest errors are tried; a guide may be the sample itself, so of guides one more."""
        return 2 if self._guide is None else 3

    def _starts(self, errors: Errors) -> Iterator[FloatArray]:
        """Where they are; towards every class; the nearest errors of others, once and again; beside the nearest known."""
        yield self.scores.staying(errors.rows)
        for lead in self._leads:
            yield self._towards(lead, errors.rows, math.inf)
        for nearest in range(self._donors):
            yield self._nearest(errors, nearest)
        for k in range(self._restarts):
            reach = np.where(np.isfinite(errors.distance), errors.distance, 0.0)
            yield errors.steps + self._random(errors.rows, np.sqrt(reach), k)

    def _nearest(self, errors: Errors, rank: int) -> FloatArray:
        """The steps to a near place where another sample of the same label errs."""
        if self._labels is None:
            return errors.steps + self._random(errors.rows, np.ones(len(errors.rows)), self._restarts + rank)
        begin = errors.steps.copy()
        for mine in self._groups(errors.rows):
            if self._guide is not None:
                there = self._guide.errors(int(self._labels[errors.rows[mine[0]]]))
                if len(there):
                    here = self.scores.places(errors.rows[mine])
                    begin[mine] = there[_best(here, there, np.zeros(len(there)), rank)] - here
                continue
            known = mine[np.isfinite(errors.distance[mine])]
            offered = self._some(known)
            if len(offered) > 1:
                prizes = np.zeros(len(offered))
                chosen = self._best(errors.rows[mine], errors.rows[offered], errors.steps[offered], prizes, rank + 1)
                begin[mine] = self._to(errors.rows[mine], errors.rows[offered][chosen], errors.steps[offered][chosen])
        return begin

    def _share(self, summit: Summit) -> None:
        """Begin where another sample's destination is worth most."""
        begin, promised = summit.steps.copy(), np.full(len(self._all), -np.inf)
        base = self.loss.value(self.now)
        for mine in self._groups(self._all):
            if self._guide is not None and self._labels is not None:
                there, worth = self._guide.destinations(summit.price, int(self._labels[mine[0]]))
                if len(there):
                    here = self.scores.places(mine)
                    chosen = _best(here, there, worth, 0)
                    begin[mine] = there[chosen] - here
                    promised[mine] = worth[chosen] - summit.price * base[mine] - cost(begin[mine])
                continue
            offered = self._some(mine[summit.gain[mine] > 0.0])
            if len(offered) > 1:
                prizes = summit.price * (base[offered] + summit.lift[offered])
                chosen = self._best(mine, offered, summit.steps[offered], prizes, 0)
                begin[mine] = self._to(mine, offered[chosen], summit.steps[offered][chosen])
                promised[mine] = prizes[chosen] - summit.price * base[mine] - cost(begin[mine])
        rows = np.flatnonzero((cost(begin - summit.steps) > 0.0) & (promised > MIN_PROMISE * summit.gain))
        if len(rows):
            self._climb(summit, rows, self.scores.kept(rows, begin[rows]), FIRST_ITERATIONS)

    def _best(self, rows: IntArray, others: IntArray, steps: FloatArray, prizes: FloatArray, rank: int) -> IntArray:
        """For every row, who of the others has been where it would pay most to be: `prize - distance²`."""
        return _best(self.scores.places(rows), self.scores.places(others) + steps, prizes, rank)

    def _to(self, rows: IntArray, others: IntArray, steps: FloatArray) -> FloatArray:
        return self.scores.freed(rows, self.scores.places(others) + steps - self.scores.places(rows))

    def _groups(self, rows: IntArray) -> Iterator[IntArray]:
        """Positions among `rows` of those that belong together; nothing where nobody does."""
        group = rows[:0] if self._labels is None else self._labels[rows]
        for one in np.unique(group):
            yield np.flatnonzero(group == one)

    def _some(self, places: IntArray) -> IntArray:
        return some_of(places)

    def _towards(self, lead: Scores, rows: IntArray, price: float) -> FloatArray:
        """The best responses of another score, as it is where the samples are."""
        cut, _ = Cut.at(lead, rows, lead.staying(rows))
        return suggest(price, cut, self.loss, lead.room(rows) if lead.bounded else None).steps

    def _around(self, summit: Summit, k: int) -> FloatArray:
        """Somewhere around where samples are, as far away as they go now, and no nearer than most of them do."""
        length = np.sqrt(cost(summit.steps))
        usual = usual_length(summit) if self._guide is None else usual_length(self._guide.summit(summit.price))
        return self._random(self._all, np.maximum(length, usual), k)

    def _random(self, rows: IntArray, length: FloatArray, k: int) -> FloatArray:
        """Directions without preference, of these lengths; the same for the same seed and place in the search."""
        width = len(self.scores.moves)
        if self._guide is None:
            drawn = np.random.default_rng([self._seed, k]).standard_normal((len(length), width))
        else:
            drawn = row_normals([self._seed, k], self._guide.numbers[rows], width)
        drawn = self.scores.freed(rows, drawn)
        size = np.sqrt(cost(drawn))
        return drawn * (length / np.where(size > 0.0, size, 1.0))[:, None]

    def _climb(self, summit: Summit, rows: IntArray, steps: FloatArray, iterations: int) -> None:
        climb(self.scores, self.loss, self.now, summit, rows, self.scores.kept(rows, steps), iterations)


class Guide:
    """Where samples of the whole data go, told to those of a partition.

    The guides search among themselves, with the same module at the same prices, so that every partition is told the same. What
    may still differ between partitionings is the rounding of the module: the last digits of a product of matrices depend on
    how many rows are multiplied at once, and in single precision these decide now and then which of two starts is better.

    Parameters
    ----------
    explorer
        Of the guides: some of a sample of all rows.
    numbers
        Of the partition's own rows, among all rows.
    """

    def __init__(self, explorer: Explorer, numbers: IntArray) -> None:
        self.explorer = explorer
        self.numbers = numbers
        self._summits: dict[float, Summit] = {}
        self._errors: Errors | None = None

    def summit(self, price: float) -> Summit:
        """Where the guides go at a price of the ladder, or of its extension upwards."""
        if price not in self._summits:
            explorer, top = self.explorer, self.explorer.ladder()[0]
            made = Summit.staying(price, explorer.scores)
            before = None if price == top else self.summit(price * RATIO if price < top else price / RATIO)
            explorer.scale(made, None if before is None else before.steps)
            self._summits[price] = made
        return self._summits[price]

    def destinations(self, price: float, label: int) -> tuple[FloatArray, FloatArray]:
        """Where guides of a label go at a price, and what it is worth to be there."""
        explorer, summit = self.explorer, self.summit(price)
        rows = self._of(label, summit.gain > 0.0)
        prizes = price * (explorer.loss.value(explorer.now)[rows] + summit.lift[rows])
        return explorer.scores.places(rows) + summit.steps[rows], prizes

    def errors(self, label: int) -> FloatArray:
        """Where guides of a label err, the nearest such place of each."""
        explorer = self.explorer
        if self._errors is None:
            found = Errors.unknown(explorer.scores, np.flatnonzero(explorer.now < 0.0))
            explorer.seek(found, lambda _: None)
            self._errors = found
        known = np.isfinite(self._errors.distance)
        able = np.zeros(len(explorer.now), dtype=bool)
        able[self._errors.rows[known]] = True
        rows = self._of(label, able)
        return explorer.scores.places(rows) + self._errors.steps[np.searchsorted(self._errors.rows, rows)]

    def _of(self, label: int, able: BoolArray) -> IntArray:
        labels = self.explorer.labels
        return some_of(np.flatnonzero(able & (labels == label))) if labels is not None else np.zeros(0, dtype=np.intp)


def some_of(places: IntArray) -> IntArray:
    """Of too many, some, evenly spread."""
    if len(places) <= MAX_REFERENCES:
        return places
    return places[np.linspace(0, len(places) - 1, MAX_REFERENCES).astype(np.intp)]


def usual_length(summit: Summit) -> float:
    """How far samples go that go anywhere, in the middle."""
    length = np.sqrt(cost(summit.steps))
    moved = length[length > 0.0]
    return float(np.median(moved)) if len(moved) else 1.0


def _best(here: FloatArray, there: FloatArray, prizes: FloatArray, rank: int) -> IntArray:
    """For every row of `here`, where it would pay most to be, `prize - distance²`; or what comes so many ranks after that."""
    found = np.empty(len(here), dtype=np.intp)
    square = cost(there)
    rank = min(rank, len(there) - 1)
    for part in blocks(len(here), MAX_DISTANCES // len(there)):
        worth = prizes - square + 2.0 * (here[part] @ there.T)  # but for what is the same for all others
        found[part] = np.argpartition(-worth, rank, axis=1)[:, rank] if rank else worth.argmax(axis=1)
    return found
