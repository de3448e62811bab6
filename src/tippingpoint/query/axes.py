"""Features as a search sees them: a line to walk along, or a list to choose from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.space.domain import Domain, Menu

LADDERS = {1: (0.5,), 2: (0.25, 1.0), 3: (0.2, 0.7, 2.0), 4: (0.1, 0.4, 1.0, 2.5), 5: (0.05, 0.2, 0.6, 1.5, 3.0)}
"""Where a line is probed on either side, in spreads of the feature, for so many probes."""


@dataclass(frozen=True)
class Beside:
    """The numbers just below and just above those at which a model can change along a column, each in order."""

    below: FloatArray
    above: FloatArray

    def nearest(self, home: FloatArray, positions: FloatArray) -> FloatArray:
        """The nearest numbers to these homes at which the model says what it says at these positions."""
        if not len(self.above):
            return home
        up = self.above[np.maximum(np.searchsorted(self.above, positions, side="right") - 1, 0)]
        down = self.below[np.minimum(np.searchsorted(self.below, positions, side="left"), len(self.below) - 1)]
        fallen = np.where((positions < home) & (down < home) & (down >= positions), down, home)
        return np.where((positions > home) & (up > home) & (up <= positions), up, fallen)


@dataclass(frozen=True)
class Line:
    """A feature with a distance: a number, a whole number, or levels.

    Positions along it are the number itself, or the place of the level; moving by `u` costs `price·u²`. Where it is known at
    which numbers the model can change, positions are beside those.
    """

    column: int
    price: float
    spread: float
    domain: Domain
    menu: Menu | None = None
    beside: Beside | None = None

    @property
    def name(self) -> str:
        """Of the feature."""
        return self.domain.names[self.column] if self.menu is None else self.menu.name

    @property
    def step(self) -> float:
        """The least step there is; zero where there is none."""
        if self.menu is not None and self.menu.axis is not None:
            return float(np.nanmin(np.diff(np.sort(self.menu.axis))))
        return float(self.domain.step[self.column])

    def positions(self, x: FloatArray) -> FloatArray:
        """Where these rows are; not a number where the value is missing."""
        if self.menu is None or self.menu.axis is None:
            return np.asarray(x[:, self.column])
        return np.asarray(self.menu.axis[self.menu.options(x)])

    def snapped(self, x: FloatArray, positions: FloatArray) -> FloatArray:
        """The nearest positions that these rows may take."""
        if self.menu is not None and self.menu.axis is not None:
            allowed = np.isfinite(self.menu.cost[self.menu.options(x)])
            with np.errstate(invalid="ignore"):
                apart = np.where(allowed, np.abs(self.menu.axis - positions[:, None]), np.inf)
            nearest = self.menu.axis[np.argmin(np.where(np.isnan(apart), np.inf, apart), axis=1)]
            return np.where(np.isnan(positions), positions, nearest)  # what is missing is nowhere
        low, high = (bound[:, 0] for bound in self.domain.bounds(x, np.array([self.column])))
        here = x[:, self.column]
        if self.step > 0.0:
            positions = here + np.round((positions - here) / self.step) * self.step
        positions = np.where(np.isnan(here), here, np.clip(positions, low, high))
        return positions if self.beside is None else self.beside.nearest(here, positions)

    def towards(self, x: FloatArray, positions: FloatArray, steps: float) -> FloatArray:
        """The same, rounded outwards by up to so many steps (inwards where negative)."""
        away = np.sign(positions - self.positions(x))
        return self.snapped(x, positions + away * steps * self.step)

    def put(self, x: FloatArray, positions: FloatArray) -> None:
        """Move the rows there."""
        if self.menu is None or self.menu.axis is None:
            x[:, self.column] = positions
            return
        known = np.flatnonzero(~np.isnan(positions))
        order = np.argsort(self.menu.axis)
        place = order[np.searchsorted(self.menu.axis[order], positions[known])]
        x[known, self.column] = self.menu.values[place, 0]

    def probes(self, x: FloatArray, start: FloatArray, most: int) -> list[FloatArray]:
        """Positions to try, on both sides of where the rows are now."""
        here = self.positions(start)
        ladder = LADDERS[max(1, min(most // 2, len(LADDERS)))]
        steps = [max(rung * self.spread, self.step * (k + 1)) for k, rung in enumerate(ladder)]
        return [self.snapped(x, here + side * step) for step in steps for side in (-1.0, 1.0)]


@dataclass(frozen=True)
class Choice:
    """A feature without a distance: categories, or a one-hot group."""

    menu: Menu

    @property
    def name(self) -> str:
        """Of the feature."""
        return self.menu.name

    def put(self, x: FloatArray, options: IntArray) -> None:
        """Move the rows there."""
        x[:, self.menu.columns] = self.menu.values[options]


@dataclass(frozen=True)
class Gap(Menu):
    """Whether a feature is missing: the first option is any value that it has."""

    def options(self, x: FloatArray) -> IntArray:
        return np.isnan(x[:, self.columns[0]]).astype(np.intp)


@dataclass(frozen=True)
class Vanishing(Choice):
    """A feature that may go missing; where it does not, a line says where it goes."""

    def put(self, x: FloatArray, options: IntArray) -> None:
        x[options == 1, self.menu.columns[0]] = np.nan


def _vanishing(name: str, column: int, price: float) -> Vanishing:
    cost = np.array([[0.0, price], [np.inf, 0.0]])
    return Vanishing(Gap(name, "missing", np.array([column], dtype=np.intp), np.array([[0.0], [np.nan]]), cost, None))


def axes(domain: Domain, spread: FloatArray, breaks: Mapping[int, Beside]) -> tuple[list[Line], list[Choice]]:
    """The features of a domain; `spread` is that of every column, `breaks` where the model can change, as far as it is known.

    A column along which it cannot is none: so features that the model does not use change nothing about the search.
    """
    lines = []
    for j in domain.free:
        beside = breaks.get(int(j)) if domain.step[j] == 0.0 else None
        if beside is None or len(beside.above):
            lines.append(Line(int(j), float(domain.price[j]), float(spread[j]) or 1.0, domain, beside=beside))
    choices: list[Choice] = [_vanishing(domain.names[j], j, price) for j, price in domain.missing.items()]
    for menu in domain.menus:
        if menu.axis is None:
            choices.append(Choice(menu))
        else:
            apart = np.square(np.subtract.outer(menu.axis, menu.axis))
            with np.errstate(divide="ignore", invalid="ignore"):
                prices = (menu.cost / apart)[np.isfinite(menu.cost) & (apart > 0.0)]
            if len(prices):
                known = menu.axis[~np.isnan(menu.axis)]
                j = int(menu.columns[0])
                wide = spread[j] if menu.kind == "integer" else math.sqrt(len(known))
                lines.append(Line(j, float(prices[0]), float(wide) or 1.0, domain, menu))
            if menu.vanishes:
                choices.append(_vanishing(menu.name, int(menu.columns[0]), float(menu.cost[~menu.gap][:, menu.gap].min())))
    return lines, choices
