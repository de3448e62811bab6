"""Searching among combinations of features: probes of single ones, what those suggest, and other looks from there.

Every place that was tried is an atom, so what comes of it is a feasible perturbation and its cost an upper bound on the
stability, whatever was missed. Nothing here is a proof.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.atoms import Atoms
from tippingpoint.query.axes import Choice, Line
from tippingpoint.query.combinations import combine, drawn, even
from tippingpoint.query.counted import Task
from tippingpoint.query.draws import row_choices
from tippingpoint.query.others import Others
from tippingpoint.query.probes import Probes
from tippingpoint.query.surrogate import Surrogate, Table
from tippingpoint.query.turns import Rounds, Search, endless_rounds

RUNGS = 36
"""Pushes that are tried along the curve of a surrogate, for losses that rise smoothly."""

LEAST_PUSH, PUSH_RATIO = 0.02, 1.22
"""The smallest push, in spreads of the scores, and from one to the next."""

CROSSINGS = 8
"""Tries to hit the boundary along the curve of a surrogate, for the 0/1 loss."""

MAX_PLANS = 4
"""Combinations of choices that are tried for every sample, the most promising first."""

ROUNDINGS = (0.0, -0.5, 0.5)
"""How lines with steps are rounded, outwards, while the other lines make up for it."""

MAX_BALANCED = 3
"""Lines with steps that are tried as the one that makes up for the rounding of the others."""

DONORS = 2
"""Samples of another outcome that each sample is moved towards."""

MAX_DONORS = 2000
"""Donors looked at."""

FIRST_PROBES, LATER_PROBES = 4, 10
"""Probes of a line, at first and later."""

HALVINGS = 8
"""Bisections between a sample and an error of its own."""

ROUNDS, CROSSING_ROUNDS = 2, 1
"""Times that a search begins again elsewhere, and where combinations are tried too, unless it goes on while there are calls."""

PRICES = (1.0, 0.25, 4.0)
"""Prices at which a smooth loss is looked at again, round by round, in units of the typical one."""

OVERSHOOT = 1e-4
"""Relative overshoot of the first try to cross."""

Donors = tuple[FloatArray, IntArray | None, FloatArray]
"""Places, classes and scores of the samples that others learn from."""


class Searcher:
    """The search, stage by stage.

    Parameters
    ----------
    task
        What is known before.
    lines, choices
        The features that move.
    atoms
        Where what it finds is put; what others find it does not look at, so that it is the same whoever else searches.
    labels
        The true class of every sample, where there are classes: samples of another outcome lead to errors.
    seed
        Of what is drawn.
    """

    def __init__(
        self,
        task: Task,
        lines: Sequence[Line],
        choices: Sequence[Choice],
        atoms: Atoms,
        labels: IntArray | None,
        seed: Sequence[int],
    ) -> None:
        self._task = task
        self._lines, self._choices = lines, choices
        self._probes = Probes(task, lines, choices)
        self._atoms = atoms
        self._labels = labels
        self._seed = seed
        self._generator = np.random.default_rng(seed)
        self._donors = (task.x, labels, task.now) if task.others is None else _donors(task.others)

    def run(self, *, endless: bool, rounds: Rounds = endless_rounds) -> Search:
        """Everything; endless: begin again and again, by rounds."""
        task, crossing = self._task, self._task.loss.needs_crossing
        rows = task.rows
        if not len(rows) or not (self._lines or self._choices):
            return
        if not task.graded:
            yield from self._by_flips(rows, rounds() if endless else range(ROUNDS))
            return
        first = yield from self._probes.by_scores(rows, task.x[rows], FIRST_PROBES)
        yield from self._follow(rows, first)
        yield from self._borrow(rows)
        if crossing:
            yield from self._shrink(rows)
        yield from self._look_again(rows, self._typical_price(rows, first))
        for k in rounds() if endless else range(CROSSING_ROUNDS if crossing else ROUNDS):
            if crossing:
                parts = drawn(self._generator) if k else even()
                yield from combine(task, (*self._lines, *self._choices), self._atoms, rows, parts)
            yield from self._restart(rows, k)
            if not crossing or k > 0:
                yield from self._look_again(rows, PRICES[k % len(PRICES)] * self._typical_price(rows, first))

    def _look_again(self, rows: IntArray, price: float | FloatArray) -> Search:
        """Another surrogate around what was found: the nearest errors, or what is best at a price."""
        crossing = self._task.loss.needs_crossing
        found = self._atoms.cheapest()[0] if crossing else self._atoms.at(price)
        moved = rows[(found[rows] != self._task.x[rows]).any(axis=1)]
        if len(moved):
            model = yield from self._probes.by_scores(moved, found[moved], LATER_PROBES)
            yield from self._follow(moved, model)
            if crossing:
                yield from self._shrink(moved)

    def _restart(self, rows: IntArray, k: int) -> Search:
        """Begin again from the places of samples drawn at random; what is found there is taken back as far as it goes."""
        task, others = self._task, self._task.others
        if others is None:
            donors = self._generator.integers(0, len(task.x), len(rows))
        else:
            donors = row_choices((*self._seed, k), others.numbers[rows], len(others.x))
        yield rows, self._in_their_place(rows, donors)
        if task.loss.needs_crossing:
            yield from self._shrink(rows)

    def _by_flips(self, rows: IntArray, rounds: Iterable[int]) -> Search:
        """The search for a model that tells classes only: errors are borrowed, and the boundary is felt for beside them."""
        yield from self._borrow(rows)
        yield from self._shrink(rows)
        for k in rounds:
            yield from self._restart(rows, k)
            found, cost = (each[rows] for each in self._atoms.cheapest())
            moved = np.flatnonzero(cost > 0.0)
            if len(moved):
                model = yield from self._probes.by_flips(rows[moved], found[moved], np.sqrt(cost[moved]))
                yield from self._cross(rows[moved], model)
                yield from self._shrink(rows[moved])

    def _follow(self, rows: IntArray, model: Surrogate) -> Search:
        """Places along the curve of a surrogate; for losses that fall too, both ways."""
        if self._task.loss.needs_crossing:
            yield from self._cross(rows, model)
            return
        yield from self._climb(rows, model)
        if self._task.loss.falls:
            yield from self._climb(rows, model.mirrored())

    def _climb(self, rows: IntArray, model: Surrogate) -> Search:
        now = self._donors[2]
        scale = float(np.std(now)) or float(np.abs(now).mean()) or 1.0
        with np.errstate(divide="ignore"):
            per_push = 1.0 / model.compliance
        able = np.flatnonzero(np.isfinite(per_push))
        before = np.full_like(model.start, np.nan)
        for rung in range(RUNGS if len(able) else 0):
            push = LEAST_PUSH * PUSH_RATIO**rung * scale
            places = model.respond(np.where(np.isfinite(per_push), push * per_push, 0.0))
            new = able[~((places == before) | np.isnan(places)).all(axis=1)[able]]
            before = places
            yield rows[new], places[new]

    def _cross(self, rows: IntArray, model: Surrogate) -> Search:
        """Pass the boundary as closely as can be, with the few choices that the model holds cheapest."""
        # A model that tells classes only says -1 of what is right.
        needed = -(yield rows, model.start) * (1.0 + OVERSHOOT)
        needed = np.where(np.isnan(needed), 0.0, needed)
        yield from self._approach(rows, model, model.reaching(needed))
        for options in self._cheapest_choices(model, needed):
            chosen = model.with_options(options)
            multiplier = chosen.reaching(needed)
            for outwards in ROUNDINGS if chosen.stepping else ():
                stepped = chosen.with_steps(multiplier, outwards)
                rest = stepped.reaching(needed) if stepped.sliding else multiplier
                if stepped.sliding:
                    yield from self._approach(rows, stepped, rest)
                for places in stepped.balanced(rest, needed, MAX_BALANCED):
                    yield rows, places
            if not chosen.stepping:
                yield from self._approach(rows, chosen, multiplier)

    def _approach(self, rows: IntArray, model: Surrogate, multiplier: FloatArray) -> Search:
        """Larger multipliers after a miss, smaller ones after a hit."""
        low, high = np.zeros(len(rows)), np.full(len(rows), np.inf)
        for _ in range(CROSSINGS if model.sliding or model.stepping else 1):
            wrong = (yield rows, model.respond(multiplier)) >= 0.0
            high, low = np.where(wrong, multiplier, high), np.where(wrong, low, multiplier)
            bracketed = np.isfinite(high) & (low > 0.0)
            multiplier = np.where(
                bracketed, np.sqrt(low * np.where(bracketed, high, 1.0)), np.where(wrong, 0.9 * high, 1.3 * low)
            )

    def _cheapest_choices(self, model: Surrogate, needed: FloatArray) -> Iterator[Sequence[IntArray]]:
        """Which options to take, up to two switches at once: for every row the cheapest first, if lines do the rest."""
        tables = [table for table in model.tables if isinstance(table, Table)]
        if not (tables or model.stepping):
            return
        notable = [table.notable() for table in tables]
        rest = np.sum([part.compliance for part in model.slopes], axis=0) if model.slopes else np.zeros(len(needed))
        plans, costs = list[list[IntArray]](), list[FloatArray]()
        everyone = np.arange(len(needed))
        for switched in itertools.chain(
            [()], ((a,) for a in range(len(tables))), itertools.combinations(range(len(tables)), 2)
        ):
            for which in itertools.product((1, 2), repeat=len(switched)):
                taken = dict(zip(switched, which, strict=True))
                options = [notable[c][taken.get(c, 0)] for c in range(len(tables))]
                cost, missing = np.zeros(len(needed)), needed.copy()
                for table, option in zip(tables, options, strict=True):
                    cost += table.cost[everyone, option]
                    missing -= table.change[everyone, option]
                with np.errstate(divide="ignore", invalid="ignore"):
                    lines = np.where(missing > 0.0, np.square(missing) / rest, 0.0)
                plans.append(options)
                costs.append(cost + np.where(np.isnan(lines), np.inf, lines))
        order = np.argsort(np.array(costs), axis=0, kind="stable")
        table_of = np.array(plans).reshape(len(plans), len(tables), len(needed))
        for rank in range(min(MAX_PLANS, len(plans))):
            yield [table_of[order[rank], c, everyone] for c in range(len(tables))]

    def _borrow(self, rows: IntArray) -> Search:
        """Move towards the nearest samples with another outcome: all features at once, then as few and as little as will do."""
        _, theirs, now = self._donors
        if self._labels is None or theirs is None:
            return
        labels, wrong = self._labels, now >= 0.0
        drawn_in_order = self._task.others is not None
        pool = (np.arange(len(now)) if drawn_in_order else self._generator.permutation(len(now)))[:MAX_DONORS]
        for label in np.unique(labels[rows]):
            mine, there = rows[labels[rows] == label], pool[np.where(theirs[pool] == label, wrong[pool], ~wrong[pool])]
            if not len(there):
                continue
            nearest = self._nearest(mine, there)
            for rank in range(min(DONORS, nearest.shape[1])):
                yield mine, self._in_their_place(mine, there[nearest[:, rank]])

    def _nearest(self, rows: IntArray, donors: IntArray) -> IntArray:
        """Donors of every row, the cheapest to follow first, as far as their features may be followed."""
        x, domain = self._task.x[rows], self._task.domain
        there = self._donors[0][donors]
        apart = np.zeros((len(rows), len(donors)))
        for j in domain.free:
            unit = math.sqrt(domain.price[j])
            apart += np.square(np.nan_to_num((x[:, j] * unit)[:, None] - there[:, j] * unit))
        for menu in domain.menus:
            cost = menu.cost[menu.options(x)[:, None], menu.options(there)]
            apart += np.where(np.isfinite(cost), cost, 0.0)
        most = min(DONORS, len(donors))
        first = np.argpartition(apart, most - 1, axis=1)[:, :most]
        order = np.argsort(np.take_along_axis(apart, first, axis=1), axis=1, kind="stable")
        return np.asarray(np.take_along_axis(first, order, axis=1))

    def _in_their_place(self, rows: IntArray, donors: IntArray) -> FloatArray:
        """The rows with every feature that may move as near to the donor's as it may go."""
        x, followed = self._task.x, self._donors[0][donors]
        places = x[rows]
        for line in self._lines:
            wish = line.positions(followed)
            line.put(places, line.snapped(x[rows], np.where(np.isnan(wish), line.positions(x[rows]), wish)))
        for choice in self._choices:
            here, there = choice.menu.options(x[rows]), choice.menu.options(followed)
            choice.put(places, np.where(np.isfinite(choice.menu.cost[here, there]), there, here))
        return places

    def _shrink(self, rows: IntArray) -> Search:
        """Take back what is not needed: features one by one, then all lines together."""
        x = self._task.x
        features: Sequence[Line | Choice] = (*self._lines, *self._choices)
        for feature in features:
            places = self._atoms.cheapest()[0][rows]
            columns = [feature.column] if isinstance(feature, Line) else feature.menu.columns.tolist()
            moved = np.flatnonzero((places[:, columns] != x[rows][:, columns]).any(axis=1))
            if not len(moved):
                continue
            back = places[moved]
            back[:, columns] = x[rows[moved]][:, columns]
            yield rows[moved], back
        places = self._atoms.cheapest()[0][rows]
        moved = np.flatnonzero((places != x[rows]).any(axis=1))
        part = np.full(len(moved), 0.5)
        low, high = np.zeros(len(moved)), np.ones(len(moved))
        for _ in range(HALVINGS):
            if not len(moved) or not self._lines:
                return
            nearer, home = places[moved].copy(), x[rows[moved]]
            for line in self._lines:
                start, end = line.positions(home), line.positions(places[moved])
                line.put(nearer, line.snapped(home, start + part * (end - start)))
            wrong = (yield rows[moved], nearer) >= 0.0
            high, low = np.where(wrong, part, high), np.where(wrong, low, part)
            part = 0.5 * (low + high)

    def _typical_price(self, rows: IntArray, model: Surrogate) -> float | FloatArray:
        """The price at which pushes are about a spread of the scores: where a second look is of most use.

        Of a part of the data it is every sample's own, by the spread of others: the usual compliance of all is not known.
        """
        scale = float(np.std(self._donors[2])) or 1.0
        compliance = model.compliance
        if self._task.others is not None:
            prices = np.ones(len(self._task.x))
            pushed = compliance > 0.0
            prices[rows[pushed]] = 2.0 * scale / compliance[pushed]
            return prices
        able = compliance[compliance > 0.0]
        return 2.0 * scale / float(np.median(able)) if len(able) else 1.0


def _donors(others: Others) -> Donors:
    return others.x, others.labels, others.now
