"""One additive score over a data set: how far it can be pushed, and where samples go when it is."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, Rows, Signs, blocks, combine
from tippingpoint.errors import NumericalError
from tippingpoint.push import BoxPush, FreePush, MixedPush, Offer, Push, Reach
from tippingpoint.space.domain import Domain, Menu

CHUNK = 2**19
"""Numbers held at once where a computation needs a row of them for every sample."""

COLUMNS = 16
"""Numbers that a response without bounds needs for a sample while it is being found."""

CROSSING = 1e-9
"""Relative overshoot of the points shown for the 0/1 loss, so that the model really errs there."""

REMEDY = "give the features other units (scale=, or the data themselves)"
"""What to do about numbers that are too large or too small to compute with."""


@dataclass(frozen=True)
class Score:
    """`βᵀx + b`, with a table in place of `β_j x_j` for columns of categories.

    Attributes
    ----------
    coef, intercept
        `β` and `b`; zero for columns that have a table.
    tables
        By column: what each category contributes, and last what a missing one does.
    missing
        By column of numbers: what a missing one contributes.
    """

    coef: FloatArray
    intercept: float
    tables: Mapping[int, FloatArray] = field(default_factory=dict)
    missing: Mapping[int, float] = field(default_factory=dict)

    def of(self, x: FloatArray) -> FloatArray:
        """The score of every row."""
        with np.errstate(over="ignore", invalid="ignore"):
            score = combine(self._filled(x), self.coef) + self.intercept
        for j, part in self.missing.items():
            score += np.where(np.isnan(x[:, j]), part, 0.0)
        for j, table in self.tables.items():
            score += table[np.where(np.isnan(x[:, j]), len(table) - 1, x[:, j]).astype(np.intp)]
        if not np.isfinite(score).all():
            row = int(np.flatnonzero(~np.isfinite(score))[0])
            raise NumericalError(f"the score of row {row} is {score[row]:g}: coefficients times data are no number; {REMEDY}.")
        return score

    def size(self, x: FloatArray) -> FloatArray:
        """The sum of the absolute terms: what rounding is relative to."""
        size = combine(np.abs(self._filled(x)), np.abs(self.coef)) + abs(self.intercept)
        constant = sum(np.abs(table).max() for table in self.tables.values()) + sum(map(abs, self.missing.values()))
        return size + float(constant)

    def worth(self, menu: Menu) -> FloatArray:
        """What every option of a menu contributes, the one that is missing too."""
        worth = np.zeros(len(menu.values))
        known = ~np.isnan(menu.values).any(axis=1)
        worth[known] = combine(menu.values[known], self.coef[menu.columns])
        for j in menu.columns:
            if int(j) in self.tables:
                worth[known] += self.tables[int(j)][menu.values[known, 0].astype(np.intp)]
                worth[~known] = self.tables[int(j)][-1]
            elif int(j) in self.missing:
                worth[~known] = self.missing[int(j)]
        return worth

    def minus(self, other: Score) -> Score:
        """The difference of two scores of one model."""
        tables = {j: table - other.tables[j] for j, table in self.tables.items()}
        missing = {j: part - other.missing[j] for j, part in self.missing.items()}
        return Score(self.coef - other.coef, self.intercept - other.intercept, tables, missing)

    def _filled(self, x: FloatArray) -> FloatArray:
        if not (self.missing or any(np.isnan(x[:, j]).any() for j in self.tables)):
            return x
        return np.where(np.isnan(x), 0.0, x)


def compliance(score: Score, domain: Domain) -> tuple[float, bool]:
    """`B`, such that shifting a score by `t` costs at least `t²/B`; and whether some shift always costs no more.

    A feature that moves freely adds `β²/c`. One that jumps adds the largest `δ²/cost` of its jumps: by Cauchy and Schwarz no
    combination of them gets farther. Bounds only make shifts dearer.
    """
    moves = np.flatnonzero(np.isfinite(domain.price) & (score.coef != 0.0))
    with np.errstate(all="ignore"):
        found = float(np.sum(np.square(score.coef[moves]) / domain.price[moves]))
    jumps = False
    for menu in domain.menus:
        worth = score.worth(menu)
        apart = np.square(np.subtract.outer(worth, worth))
        legal = np.isfinite(menu.cost) & (menu.cost > 0.0) & (apart > 0.0)
        if legal.any():
            jumps = True
            found += float((apart[legal] / menu.cost[legal]).max())
    free = not (jumps or domain.bounded[moves].any() or (domain.step[moves] > 0.0).any())
    return found, free


class ScoreGeometry:
    """A score of every row of `x`, in a domain.

    Nothing of the size of the data is kept but the options that rows hold; with bounds every question builds the curves of the
    rows it asks about.
    """

    def __init__(self, x: FloatArray, score: Score, domain: Domain) -> None:
        self._x = x
        self._score = score
        self._domain = domain
        self._moves = np.flatnonzero(np.isfinite(domain.price) & (score.coef != 0.0))
        self._beta = score.coef[self._moves]
        self._price = domain.price[self._moves]
        self._step = domain.step[self._moves]
        self._menus = [menu for menu in domain.menus if np.ptp(score.worth(menu)) > 0.0]
        self._offers = [Offer(score.worth(menu), menu.cost) for menu in self._menus]
        held = [menu.options(x) for menu in self._menus]
        self._options = np.column_stack(held) if held else np.zeros((len(x), 0), dtype=np.intp)
        self.bounded: bool = bool(domain.bounded[self._moves].any() or self._menus or _any_missing(x, self._moves))
        """Whether samples differ in how far they can be pushed."""
        self.rounds: bool = bool((self._step > 0.0).any())
        """Whether some features move in steps too fine for a menu: they move freely, and are rounded at the end."""
        with np.errstate(all="ignore"):
            self.compliance: float = float(np.sum(np.square(self._beta) / self._price))
        if len(self._beta) and not np.finfo(float).tiny <= self.compliance < np.inf:
            raise NumericalError(
                f"coefficients up to {np.abs(self._beta).max():g} at prices from {self._price.min():g} to {self._price.max():g}"
                f" have squares that are no numbers; {REMEDY}."
            )
        jumping = [menu.columns for menu in self._menus]
        self.columns: IntArray = np.unique(np.concatenate([self._moves, *jumping])).astype(np.intp)
        """Columns that may move and matter."""

    def without_rows(self) -> ScoreGeometry:
        """The same where no sample differs from another in how far it can be pushed, without the samples."""
        light = copy.copy(self)
        # Copies, as an empty view would keep the whole array.
        light._x, light._options = self._x[:0].copy(), self._options[:0].copy()  # noqa: SLF001  # its own
        return light

    @property
    def mixed(self) -> bool:
        """Whether features jump."""
        return bool(self._menus)

    def push(self, rows: Rows, direction: Signs) -> Push:
        """The curves of these rows, for a push in the direction (-1 or +1 a row) of the score."""
        if not self.bounded:
            return FreePush(self.compliance, len(direction))
        if self._menus:
            return self._mixed(rows, direction)
        return BoxPush(np.abs(self._beta), self._price, self._room(rows, direction))

    def steps(self, rows: Rows, direction: Signs, reach: Reach) -> FloatArray:
        """How far every one of the `columns` goes in a push along the curve; nothing where the multiplier is zero."""
        if not self.mixed:
            return self._laid_out(rows, direction, reach.multiplier, None)
        curve = self._mixed(rows, direction)
        options, multiplier = curve.chosen(reach)
        options = np.where(reach.multiplier[:, None] > 0.0, options, self._options[rows])
        return self._laid_out(rows, direction, multiplier, options)

    def crossing(self, rows: Rows, direction: Signs, distance: FloatArray, strict: BoolArray) -> FloatArray:
        """How far every one of the `columns` goes to pass a boundary this far away in score; `strict` as in `nearest`."""
        beyond = self._beyond(rows, distance)
        curve = self.push(rows, direction)
        if not isinstance(curve, MixedPush):
            return self.steps_to(rows, direction, beyond)
        bought = curve.purchase(np.where(strict, beyond, distance))
        completed = curve.completed(bought.options, beyond)
        # What jumps onto the boundary needs no more; what slides to it must pass it by more than rounding.
        multiplier = np.where(bought.multiplier > 0.0, completed.multiplier, 0.0)
        return self._laid_out(rows, direction, multiplier, bought.options, upwards=True)

    def steps_to(self, rows: Rows, direction: Signs, push: FloatArray) -> FloatArray:
        """How far every one of the `columns` goes in the cheapest push at least this far, or as far as there is room."""
        curve = self.push(rows, direction)
        if isinstance(curve, MixedPush):
            bought = curve.purchase(push)
            return self._laid_out(rows, direction, bought.multiplier, bought.options, upwards=True)
        multiplier = curve.to(np.minimum(push, curve.limit)).multiplier
        return self._laid_out(rows, direction, multiplier, None, upwards=True)

    def nearest(self, rows: Rows, direction: Signs, distance: FloatArray, strict: BoolArray) -> tuple[FloatArray, FloatArray]:
        """The least cost of passing a boundary this far away in score, and a lower bound on it.

        On the boundary itself a sample errs unless `strict`. Only a jump can land there: a slide comes as near as one likes.
        """
        curve = self.push(rows, direction)
        if isinstance(curve, MixedPush):
            bought = curve.purchase(np.where(strict, self._beyond(rows, distance), distance))
            reached = np.isfinite(bought.cost)
            slides = reached & (bought.multiplier > 0.0)
            cost = np.where(slides, curve.completed(bought.options, distance).cost, bought.cost)
            least = np.minimum(bought.least, cost)
        else:
            cost = least = curve.to(distance).cost
        if self.rounds:
            within = np.isfinite(cost)
            steps = np.where(within[:, None], self.crossing(rows, direction, distance, strict), 0.0)
            cost = np.where(within, self._cost(rows, steps), np.inf)
        return cost, least

    def rounded(self, rows: Rows, direction: Signs, reach: Reach) -> tuple[FloatArray, FloatArray]:
        """The push and the cost of what is left of a push once fine steps are rounded."""
        steps = self.steps(rows, direction, reach)
        moved = self._x[rows].copy()
        moved[:, self.columns] += steps
        return np.maximum(direction * (self._score.of(moved) - self._score.of(self._x[rows])), 0.0), self._cost(rows, steps)

    def shown(self, rows: IntArray, steps: FloatArray) -> dict[str, FloatArray]:
        """All columns of these rows by name, after their steps."""
        return shifted(self._x, rows, self.columns, steps, self._domain)

    def chunks(self, start: int, stop: int) -> Iterator[slice]:
        """Rows in slices so short that what is needed for each stays in reach of the processor; none is empty but the only."""
        rungs = sum(offer.ladder.breaks.shape[2] for offer in self._offers)
        numbers = len(self._moves) + rungs if self.bounded else 0
        if start == stop:
            return iter([slice(start, stop)])
        return blocks(stop, CHUNK // max(COLUMNS, numbers), start)

    def _mixed(self, rows: Rows, direction: Signs) -> MixedPush:
        beta, room = np.abs(self._beta), self._room(rows, direction)
        return MixedPush(beta, self._price, room, self._offers, self._options[rows], direction)

    def _beyond(self, rows: Rows, distance: FloatArray) -> FloatArray:
        """Beyond a boundary by more than rounding."""
        return np.asarray(distance * (1.0 + CROSSING) + 8.0 * np.finfo(float).eps * self._score.size(self._x[rows]))

    def _room(self, rows: Rows, direction: Signs) -> FloatArray:
        x = self._x[rows]
        low, high = self._domain.bounds(x, self._moves)
        here = x[:, self._moves]
        up = direction[:, None] * self._beta > 0.0
        return np.where(np.isnan(here), 0.0, np.where(up, high - here, here - low))

    def _laid_out(
        self, rows: Rows, direction: Signs, multiplier: FloatArray, options: IntArray | None, *, upwards: bool = False
    ) -> FloatArray:
        """Steps of the features that move freely by this multiplier, and of the menus to these options."""
        steps = multiplier[:, None] * (np.abs(self._beta) / self._price)
        room = self._room(rows, direction) if self.bounded else np.full_like(steps, np.inf)
        if self.rounds:
            fine = self._step > 0.0
            counts = steps / np.where(fine, self._step, 1.0)
            whole = np.ceil(counts - CROSSING) if upwards else np.round(counts)
            steps = np.where(fine, whole * self._step, steps)
        steps = np.minimum(steps, room) * np.sign(self._beta) * direction[:, None]
        laid = np.zeros((len(steps), len(self.columns)))
        laid[:, np.searchsorted(self.columns, self._moves)] = steps
        if options is not None:
            for f, menu in enumerate(self._menus):
                here = menu.values[self._options[rows, f]]
                # What goes missing moves by what is no number; what is missing stays.
                change = np.where(np.isnan(here), 0.0, menu.values[options[:, f]] - here)
                laid[:, np.searchsorted(self.columns, menu.columns)] = change
        return laid

    def _cost(self, rows: Rows, steps: FloatArray) -> FloatArray:
        """What these steps cost."""
        free = steps[:, np.searchsorted(self.columns, self._moves)]
        cost = combine(np.square(free), self._price)
        for f, menu in enumerate(self._menus):
            moved = self._x[rows].copy()
            moved[:, self.columns] += steps
            cost += menu.cost[self._options[rows, f], menu.options(moved)]
        return cost


def _any_missing(x: FloatArray, columns: IntArray) -> bool:
    """Whether a value of these columns is missing."""
    for rows in blocks(len(x), CHUNK // max(x.shape[1], 1)):
        # A sum is a number unless one of its terms is none, or they are huge.
        if not np.isfinite(np.add.reduce(x[rows], axis=None)) and np.isnan(x[rows][:, columns]).any():
            return True
    return False


def shifted(x: FloatArray, rows: IntArray, columns: IntArray, steps: FloatArray, domain: Domain) -> dict[str, FloatArray]:
    """All columns of these rows by name, the given ones after their steps; rounding takes nothing beyond its bounds."""
    moved = {name: x[rows, j] for j, name in enumerate(domain.names)}
    fenced = domain.bounded
    for k, j in enumerate(columns):
        values = moved[domain.names[j]]
        values += steps[:, k]
        if fenced[j]:
            low, high = domain.bounds(x[rows], np.array([j]))
            np.clip(values, low[:, 0], high[:, 0], out=values)
    return moved
