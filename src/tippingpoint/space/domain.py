"""A feature space resolved for the columns of a data set: what every oracle works with.

Distance is `d(x, x̂) = Σ_j c_j (x_j - x̂_j)²` over the columns that move freely, plus `cost[from, to]` of every feature that
has a menu of values; infinite on all others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, combine
from tippingpoint.errors import InputError

STEP_ROUND_OFF = 1e-6
"""Part of a step by which a multiple of it may miss by rounding."""

ORDINAL = "ordinal"
"""The kind of a feature whose categories have an order."""

Bounds = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Menu:
    """A feature of finitely many values: a category, a one-hot group, an ordinal, a whole number.

    Attributes
    ----------
    name, kind
        Of the feature.
    columns
        `(m,)` positions of the columns that hold it: one, or all of a one-hot group.
    values
        `(K, m)`: what the columns hold at every option; NaN is missing.
    cost
        `(K, K)`: of going from the option of the row to the option of the column; zero on the diagonal, infinite where not
        allowed.
    axis
        `(K,)`: where the options lie, if the cost is a squared distance along a line; None where it is that of a switch.
    declared
        `(K, K)`: of a switch, the cost that the space declares, also to options that the model does not know; infinite if it
        declares none. None for a squared distance, which has one rate for all options.
    otherwise
        The cost of a change between options that the menu does not have; infinite if the space declares none.
    """

    name: str
    kind: str
    columns: IntArray
    values: FloatArray
    cost: FloatArray
    axis: FloatArray | None
    declared: FloatArray | None = None
    otherwise: float = math.inf

    @property
    def prices(self) -> FloatArray:
        """`(K, K)`: the declared cost of every change, also of those that no worst case may make."""
        return self.cost if self.declared is None else self.declared

    @property
    def metric(self) -> bool:
        """Whether the cost is a squared distance, which has a unit, or the price of a switch, which has none."""
        return self.axis is not None

    @property
    def numeric(self) -> bool:
        """Whether its values are numbers, whose moves have a length; those of ordinals are categories in an order."""
        return self.metric and self.kind != ORDINAL

    @property
    def gap(self) -> BoolArray:
        """Which option is missing; at most one."""
        return np.asarray(np.isnan(self.values).any(axis=1))

    @property
    def vanishes(self) -> bool:
        """Whether a value may go missing."""
        return bool(np.isfinite(self.cost[~self.gap][:, self.gap]).any())

    def along(self, x: FloatArray) -> FloatArray:
        """Where every row of `x` lies on the axis."""
        return np.asarray(self.axis, dtype=float)[self.options(x)]

    def options(self, x: FloatArray) -> IntArray:
        """Which option every row of `x` holds."""
        if len(self.columns) > 1:
            return np.asarray(np.argmax(x[:, self.columns], axis=1), dtype=np.intp)
        held, known = x[:, self.columns[0]], self.values[:, 0]
        order = np.argsort(known)  # NaN, what is missing, comes last, and is found there
        steps = known[order[~np.isnan(known[order])]]
        # The nearest: multiples of a step miss it by rounding.
        nearest = np.searchsorted(0.5 * (steps[:-1] + steps[1:]), held)
        return np.asarray(order[np.where(np.isnan(held), len(known) - 1, nearest)], dtype=np.intp)

    def holds(self, x: FloatArray, options: IntArray) -> BoolArray:
        """Whether every row of `x` holds the option beside it, but for rounding."""
        steps = np.diff(np.unique(self.values[~np.isnan(self.values)]))
        named, held = self.values[options], x[:, self.columns]
        near = np.abs(named - held) <= STEP_ROUND_OFF * steps.min(initial=1.0)
        return np.asarray((_same(named, held) | near).all(axis=1))


@dataclass(frozen=True)
class Domain:
    """A space resolved for the columns of a data set.

    Attributes
    ----------
    names
        Of the columns.
    price
        `c_j`; infinite where a column may not move freely.
    lower, upper
        Bounds on a column that moves freely. A sample beyond them may stay where it is, or come back. If the lower bound is
        infinity and the upper bound is minus infinity, the column never moves to another number, but it may go missing.
    direction
        +1 where a column may only rise, -1 where only fall, 0 where both.
    step
        Zero, or the step of a whole number with too many values for a menu.
    menus
        The features of finitely many values that may move.
    missing
        By column that moves freely: what it costs to go missing, where it may. A menu has an option for that instead.
    groups
        Features that may be asked about together, by name.
    unit
        What the square root of a distance measures, in words.
    """

    names: tuple[str, ...]
    price: FloatArray
    lower: FloatArray
    upper: FloatArray
    direction: FloatArray
    step: FloatArray
    menus: tuple[Menu, ...] = ()
    missing: Mapping[int, float] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unit: str = "feature units"

    @property
    def free(self) -> IntArray:
        """Columns that move freely."""
        return np.flatnonzero(np.isfinite(self.price))

    @property
    def features(self) -> tuple[str, ...]:
        """Every feature that may move, in the order of the columns."""
        where = {self.names[j]: int(j) for j in self.free} | {menu.name: int(menu.columns[0]) for menu in self.menus}
        return tuple(sorted(where, key=where.__getitem__))

    @property
    def vanishing(self) -> tuple[str, ...]:
        """Features that may go missing."""
        return (*(self.names[j] for j in self.missing), *(menu.name for menu in self.menus if menu.vanishes))

    @property
    def mixed(self) -> bool:
        """Whether anything moves by jumps."""
        return bool(self.menus) or bool(self.missing) or bool((self.step[self.free] > 0.0).any())

    @property
    def bounded(self) -> BoolArray:
        """Columns that move freely, but not everywhere."""
        fenced = (self.lower > -math.inf) | (self.upper < math.inf) | (self.direction != 0.0)
        return np.asarray(fenced & np.isfinite(self.price))

    @property
    def measured(self) -> bool:
        """Whether some feature is a number that may move."""
        return bool(len(self.free)) or any(menu.numeric for menu in self.menus)

    @property
    def switching(self) -> tuple[str, ...]:
        """Features whose category may change."""
        return tuple(menu.name for menu in self.menus if not menu.numeric)

    @property
    def unmeasured(self) -> bool:
        """Whether some feature changes without a distance: its category, or by going missing."""
        return bool(self.switching or self.vanishing)

    @property
    def pinned(self) -> BoolArray:
        """Columns that never move to another number, but may go missing."""
        return np.asarray(self.lower > self.upper)

    def kind(self, feature: str) -> str:
        """What kind of feature this is."""
        menu = next((menu for menu in self.menus if menu.name == feature), None)
        if menu is not None:
            return menu.kind
        return "integer" if self.step[self.names.index(feature)] > 0.0 else "numeric"

    def only(self, features: Iterable[str]) -> Domain:
        """The same space in which only these features move."""
        chosen = set(features)
        stays = np.array([name not in chosen for name in self.names])
        menus = tuple(menu for menu in self.menus if menu.name in chosen)
        missing = {j: price for j, price in self.missing.items() if not stays[j]}
        return replace(self, price=np.where(stays, math.inf, self.price), menus=menus, missing=missing)

    def bounds(self, x: FloatArray, columns: IntArray) -> Bounds:
        """The least and the largest value of these columns for every row of `x`; what is missing stays."""
        here = x[:, columns]
        low, high = np.fmin(self.lower[columns], here), np.fmax(self.upper[columns], here)
        still = np.isnan(here)
        low = np.where((self.direction[columns] > 0.0) | still, here, low)
        return low, np.where((self.direction[columns] < 0.0) | still, here, high)

    def relaxed(self) -> Domain:
        """A space in which all columns move freely, and no move costs more than here: what bounds it bounds this one."""
        price, lower, upper = self.price.copy(), self.lower.copy(), self.upper.copy()
        for menu in self.menus:
            apart = np.square(menu.values[:, None, :] - menu.values[None, :, :]).sum(axis=2)
            with np.errstate(divide="ignore", invalid="ignore"):
                rates = (menu.cost / apart)[np.isfinite(menu.cost) & (apart > 0.0)]
            if len(rates):
                price[menu.columns] = rates.min()
                lower[menu.columns] = np.nanmin(menu.values, axis=0)
                upper[menu.columns] = np.nanmax(menu.values, axis=0)
        return replace(self, price=price, lower=lower, upper=upper, step=np.zeros_like(self.step), menus=())

    def scaled(self, spread: FloatArray, unit: str) -> Domain:
        """The same space with distances in units of each column's spread.

        A column without spread has no unit, so it does not move to another value. Going missing has no unit either: its price
        stays as it was given, and such a column may still go missing.
        """
        gone = np.isin(np.arange(len(spread)), list(self.missing))
        pinned = ~(spread > 0.0) & gone
        with np.errstate(divide="ignore"):
            price = np.where(spread > 0.0, self.price / np.square(spread), np.where(gone, self.price, math.inf))
        lower, upper = np.where(pinned, math.inf, self.lower), np.where(pinned, -math.inf, self.upper)
        menus = []
        for menu in self.menus:
            wide = float(spread[menu.columns[0]])
            if not menu.metric:
                menus.append(menu)
            elif wide > 0.0:
                menus.append(replace(menu, cost=np.where(menu.gap, menu.cost, menu.cost / wide**2)))
            elif menu.vanishes:
                stays = np.eye(len(menu.cost), dtype=bool)
                menus.append(replace(menu, cost=np.where(menu.gap | stays, menu.cost, math.inf)))
        return replace(self, price=price, lower=lower, upper=upper, menus=tuple(menus), unit=unit)

    def distance(self, x: FloatArray, z: FloatArray) -> FloatArray:
        """`d(z, x)` of every pair of rows; infinite where `z` is no place for `x`."""
        free, steps = self.free, self.step[self.free]
        moved = np.where(np.isnan(x[:, free]) | np.isnan(z[:, free]), 0.0, z[:, free] - x[:, free])
        low, high = self.bounds(x, free)
        counts = moved / np.where(steps > 0.0, steps, math.inf)
        legal = ~((z[:, free] < low) | (z[:, free] > high)).any(axis=1)
        legal &= (np.abs(counts - np.round(counts)) <= STEP_ROUND_OFF).all(axis=1)
        cost = combine(np.square(moved), self.price[free])
        before, after = np.isnan(x[:, free]), np.isnan(z[:, free])
        legal &= ~(before & ~after).any(axis=1)
        if (after & ~before).any():
            prices = np.array([self.missing.get(int(j), math.inf) for j in free])
            cost = cost + np.where(after & ~before, prices, 0.0).sum(axis=1)
        still = ~np.isin(np.arange(len(self.names)), free)
        for menu in self.menus:
            still[menu.columns] = False
            there = menu.options(z)
            legal &= menu.holds(z, there)
            cost += menu.cost[menu.options(x), there]
        legal &= _same(x[:, still], z[:, still]).all(axis=1)
        return np.where(legal, cost, math.inf)

    def changes(self, x: FloatArray, z: FloatArray) -> Changes:
        """What differs between pairs of rows: the part of `d(z, x)` that is a distance, and what has none."""
        free = self.free
        moved = np.where(np.isnan(x[:, free]) | np.isnan(z[:, free]), 0.0, z[:, free] - x[:, free])
        squared = combine(np.square(moved), self.price[free])
        vanished = np.asarray((np.isnan(z[:, free]) & ~np.isnan(x[:, free])).any(axis=1))
        switched = np.zeros(len(x), dtype=bool)
        for menu in self.menus:
            here, there = menu.options(x), menu.options(z)
            gone = menu.gap[there] & ~menu.gap[here]
            vanished |= gone
            if menu.numeric:
                squared = squared + np.where(gone, 0.0, menu.cost[here, there])
            else:
                switched |= (here != there) & ~gone
        return Changes(squared, switched, vanished)

    def farthest(self, x: FloatArray) -> float:
        """No row of `x` has a place that is farther away than this."""
        free = self.free
        low, high = self.bounds(x, free)
        span = np.nan_to_num(np.fmax(x[:, free] - low, high - x[:, free]), nan=0.0, posinf=math.inf)
        prices = np.array([self.missing.get(int(j), 0.0) for j in free])
        cost = np.fmax(np.square(span) * self.price[free], prices).sum(axis=1)
        for menu in self.menus:
            cost += np.where(np.isfinite(menu.cost), menu.cost, 0.0).max(axis=1)[menu.options(x)]
        return float(cost.max(initial=0.0))


class Changes(NamedTuple):
    """What differs between pairs of rows.

    Attributes
    ----------
    squared
        The squared distance that numbers move, at their prices.
    switched, vanished
        Whether a category changes, that of an ordinal among them; whether a value goes missing.
    """

    squared: FloatArray
    switched: BoolArray
    vanished: BoolArray


def _same(a: FloatArray, b: FloatArray) -> BoolArray:
    return np.asarray((a == b) | (np.isnan(a) & np.isnan(b)))


def outside_bounds(cell: str, value: float, lower: float, upper: float) -> InputError:
    """The error for a value, of a cell as Python writes it, that its own bounds exclude."""
    return InputError(
        f"{cell}={value:g} lies outside its bounds [{lower:g}, {upper:g}]; widen lower/upper, drop the row, or"
        " say Space(outliers='keep') to let such samples stay where they are."
    )
