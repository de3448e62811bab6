"""From what is declared of a feature space, and the data, to the domain that oracles work with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, blocks
from tippingpoint.data.columns import Column, in_order
from tippingpoint.data.frames import Features, unknown_category
from tippingpoint.data.vectors import CHUNK
from tippingpoint.errors import InputError
from tippingpoint.space.declared import Declared
from tippingpoint.space.domain import Domain, Menu, outside_bounds
from tippingpoint.space.inputs import resolve_inputs
from tippingpoint.space.switches import as_number, by_frequency, by_table

if TYPE_CHECKING:
    from tippingpoint.space import Space

MENU = 512
"""Values up to which a whole number has a menu; with more its steps are fine, and it moves freely and is rounded."""

MAX_CATEGORIES = 4096
"""Categories of a feature, at most: what every switch between two of them costs is kept in a table."""

LATTICE_TOLERANCE = 1e-9
"""Part of a step by which a whole number may miss it."""


Shares = Mapping[str, Mapping[float, float]]
"""By column: the weight of every value that it holds."""


def resolve(
    space: Space,
    features: Features,
    base: FloatArray | None,
    known: Mapping[str, Sequence[Any]],
    shares: Shares | None = None,
) -> Domain:
    """The domain of a space on these data; `shares` are those of the whole data, where these rows stand for them."""
    if features.inputs is not None:
        return resolve_inputs(space, features, features.inputs)
    equal = np.broadcast_to(1.0 / max(len(features.x), 1), len(features.x))
    return _Resolving(Declared(space, features, known), equal if base is None else base, shares).domain()


def check_rows(space: Space, features: Features, known: Mapping[str, Sequence[Any]]) -> None:
    """Refuse rows that the space excludes: off their lattice, out of bounds, of an unknown category, not one-hot."""
    _Resolving(Declared(space, features, known), np.empty(0), None).check_rows()


class _Resolving:
    """The bounds and menus of every feature that may move."""

    def __init__(self, declared: Declared, base: FloatArray, shares: Shares | None) -> None:
        self.declared = declared
        self.data = declared.data
        self.base = base
        self.shares = shares

    def check_rows(self) -> None:
        """What is asked of every row, whatever the others hold."""
        for name in self.declared.moves:
            if self.declared.kinds[name] in ("categorical", "ordinal"):
                if name not in self.declared.one_hot:
                    self._levels(name, self.data.columns[self.declared.place[name]])
                continue
            if self.declared.kinds[name] == "integer":
                self._lattice(name)
            self._check_inside(name)

    def domain(self) -> Domain:
        width = len(self.declared.place)
        price, step, direction = np.full(width, math.inf), np.zeros(width), np.zeros(width)
        lower, upper = np.full(width, -math.inf), np.full(width, math.inf)
        menus, missing = [], {}
        for name in self.declared.moves:
            if self.declared.kinds[name] in ("categorical", "ordinal"):
                menus.append(self._choices(name))
                continue
            size, low, high = (
                self._lattice(name)
                if self.declared.kinds[name] == "integer"
                else (0.0, self.declared.lower[name], self.declared.upper[name])
            )
            self._check_inside(name)
            if size > 0.0 and high - low < MENU * size:
                menus.append(self._whole_numbers(name, size, low, high))
                continue
            j = self.declared.place[name]
            price[j], step[j], lower[j], upper[j] = self.declared.price[name], size, low, high
            if name in self.declared.settings["missing"]:
                missing[j] = float(self.declared.settings["missing"][name])
            direction[j] = {"up": 1.0, "down": -1.0}.get(self.declared.settings["direction"].get(name, ""), 0.0)
        return Domain(self.data.names, price, lower, upper, direction, step, tuple(menus), missing, self.declared.groups())

    def _choices(self, name: str) -> Menu:
        """The menu of a categorical or ordinal feature."""
        ordinal = self.declared.kinds[name] == "ordinal"
        if name in self.declared.one_hot:
            columns = np.array([self.declared.place[column] for column in self.declared.one_hot[name]], dtype=np.intp)
            values, labels = np.eye(len(columns)), list(self.declared.one_hot[name])
        else:
            column = self.data.columns[self.declared.place[name]]
            columns = np.array([self.declared.place[name]], dtype=np.intp)
            labels = self._levels(name, column)
            if len(labels) > MAX_CATEGORIES:
                raise InputError(
                    f"{name!r} has {len(labels)} categories, too many to weigh every switch (at most {MAX_CATEGORIES}); name"
                    " it in frozen, or put rare ones together."
                )
            codes = {value: float(k) for k, value in enumerate(column.categories)}
            values = np.array([[codes[value] if codes else float(value)] for value in labels]).reshape(-1, 1)
        known = set(self.declared.known[name]) if name in self.declared.known else set(labels)
        allowed = np.array([label in known for label in labels], dtype=bool)
        levels = np.arange(len(labels), dtype=np.float64)
        cost = np.square(np.subtract.outer(levels, levels)) if ordinal else self._switching(name, labels, values, columns)
        return self._menu(name, columns, values, cost, allowed, levels if ordinal else None)

    def _levels(self, name: str, column: Column) -> list[Any]:
        """The values of a categorical or ordinal feature; of an ordinal, in their order."""
        listed, held = self.declared.settings["categories"].get(name), self.declared.values(name)
        if column.holds != "category":
            seen = np.unique(held[~np.isnan(held)])
            levels = (
                seen if listed is None else np.array([as_number(f"categories[{name!r}]", value, value) for value in listed])
            )
            astray = np.flatnonzero(~np.isin(held, levels) & ~np.isnan(held))
            if len(astray):
                row, value = self.data.index[int(astray[0])], float(held[astray[0]])
                raise unknown_category(row, name, value, listed or ())
            return [float(level) for level in levels]
        if listed is not None or self.declared.kinds[name] == "categorical" or column.ordered:
            return list(column.categories if listed is None else listed)
        if not all(isinstance(value, (int, float)) for value in column.categories):
            raise InputError(
                f"{name!r} is ordinal, but its order is not known; list its levels, as categories={{{name!r}: [...]}}."
            )
        return in_order(column.categories)

    def _switching(self, name: str, labels: list[Any], values: FloatArray, columns: IntArray) -> FloatArray:
        """What every switch costs before the price."""
        given = self.declared.settings["switch"].get(name)
        if given is None:
            return 1.0 - np.eye(len(labels))
        if isinstance(given, str) and given == "frequency":
            return by_frequency(self._shares(values, columns))
        return by_table(name, given, labels)

    def _shares(self, values: FloatArray, columns: IntArray) -> FloatArray:
        """The weight of every option."""
        if len(columns) > 1:  # one-hot: few, and a row of each
            if self.shares is not None:
                return np.array([self.shares[self.data.names[j]].get(1.0, 0.0) for j in columns])
            held = self.data.x[:, columns]
            return np.array([float(self.base[(held == row).all(axis=1)].sum()) for row in values])
        if self.shares is not None:
            shares = self.shares[self.data.names[columns[0]]]
        else:
            seen, which = np.unique(self.data.x[:, columns[0]], return_inverse=True)
            shares = dict(zip(seen.tolist(), np.bincount(which, self.base).tolist(), strict=True))
        return np.array([shares.get(value, 0.0) for value in values[:, 0].tolist()])

    def _lattice(self, name: str) -> tuple[float, float, float]:
        """Step, least and largest value of a whole number; where no bounds are given, those observed."""
        size = as_number("step", name, self.declared.settings["step"].get(name, 1.0))
        if not (size > 0.0 and math.isfinite(size)):
            raise InputError(f"step[{name!r}]={size:g} must be a positive number.")
        held = self.declared.values(name)
        seen = held[~np.isnan(held)]
        anchor = float(seen[0]) if len(seen) else 0.0
        counts = (held - anchor) / size
        astray = np.flatnonzero(np.abs(counts - np.round(counts)) > LATTICE_TOLERANCE * (1.0 + np.abs(counts)))
        if size == 1.0 and anchor != round(anchor):
            astray = np.flatnonzero(held == anchor)
        if len(astray):
            row = int(astray[0])
            raise InputError(
                f"X[{self.data.index[row]!r}, {name!r}]={held[row]:g} is not a whole number of steps of {size:g}; make the"
                " feature numeric, or give it another step."
            )
        low = self.declared.lower[name] if math.isfinite(self.declared.lower[name]) else float(seen.min(initial=anchor))
        high = self.declared.upper[name] if math.isfinite(self.declared.upper[name]) else float(seen.max(initial=anchor))
        first = math.ceil((low - anchor) / size - LATTICE_TOLERANCE)
        last = math.floor((high - anchor) / size + LATTICE_TOLERANCE)
        return size, anchor + first * size, anchor + last * size

    def _whole_numbers(self, name: str, size: float, low: float, high: float) -> Menu:
        held = self.declared.values(name)
        inside = low + size * np.arange(round((high - low) / size) + 1)
        beyond = np.unique(held[(held < low - 0.5 * size) | (held > high + 0.5 * size)])  # outliers keep their own value
        values = np.sort(np.concatenate((inside, beyond)))
        columns = np.array([self.declared.place[name]], dtype=np.intp)
        return self._menu(
            name, columns, values[:, None], np.square(np.subtract.outer(values, values)), ~np.isin(values, beyond), values
        )

    def _menu(
        self,
        name: str,
        columns: IntArray,
        values: FloatArray,
        cost: FloatArray,
        allowed: BoolArray,
        axis: FloatArray | None,
    ) -> Menu:
        """A menu at the feature's price, in which nobody goes where it is not allowed, and what is missing stays missing.

        Going missing has a price of its own, whatever the value was.
        """
        cost = self.declared.price[name] * cost
        declared = cost.copy()
        cost[:, ~allowed] = math.inf
        direction = self.declared.settings["direction"].get(name)
        if axis is not None and direction is not None:
            falls = np.subtract.outer(axis, axis) > 0.0
            cost[falls if direction == "up" else falls.T] = math.inf
        np.fill_diagonal(cost, 0.0)
        np.fill_diagonal(declared, 0.0)
        vanishing = self.declared.settings["missing"].get(name, math.inf)
        if len(columns) == 1 and (self.data.missing[columns[0]] or math.isfinite(vanishing)):
            values = np.vstack((values, [[math.nan]]))
            cost, declared = (np.pad(each, (0, 1), constant_values=math.inf) for each in (cost, declared))
            for each in (cost, declared):
                each[:-1, -1], each[-1, -1] = vanishing, 0.0
            axis = None if axis is None else np.append(axis, math.nan)
        kind = "one-hot" if name in self.declared.one_hot else self.declared.kinds[name]
        if axis is not None:
            return Menu(name, kind, columns, values, cost, axis)
        uniform = self.declared.settings["switch"].get(name) is None
        return Menu(name, kind, columns, values, cost, axis, declared, self.declared.price[name] if uniform else math.inf)

    def _check_inside(self, name: str) -> None:
        if self.declared.space.outliers == "keep":
            return
        held, low, high = self.declared.values(name), self.declared.lower[name], self.declared.upper[name]
        if low == -math.inf and high == math.inf:  # what is read is finite or missing
            return
        for rows in blocks(len(held), CHUNK):
            outside = (held[rows] < low) | (held[rows] > high)
            if outside.any():
                row = rows.start + int(np.argmax(outside))
                raise outside_bounds(self.data.cell(row, self.declared.place[name]), float(held[row]), low, high)
