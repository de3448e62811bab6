"""From what a user says of a feature space, and the data, to the domain that oracles work with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.columns import Column
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.domain import Domain, Menu, outside_bounds
from tippingpoint.errors import InputError, listed
from tippingpoint.frames import Features

if TYPE_CHECKING:
    from tippingpoint.space import Space

MENU = 512
"""Values up to which a whole number has a menu; with more its steps are fine, and it moves freely and is rounded."""

KINDS = ("numeric", "integer", "ordinal", "categorical", "fixed")

BY_TYPE = {"number": "numeric", "integer": "numeric", "boolean": "numeric", "category": "categorical"}
"""What a feature is where nobody says: numbers are numbers, as in the paper; `Space.infer` looks closer."""

ON_LATTICE = 1e-9
"""Part of a step by which a whole number may miss it."""


def resolve(space: Space, features: Features, base: FloatArray | None, known: Mapping[str, Sequence[Any]]) -> Domain:
    """The domain of a space on these data."""
    return _Resolving(space, features, base, known).domain()


class _Resolving:
    def __init__(self, space: Space, features: Features, base: FloatArray | None, known: Mapping[str, Sequence[Any]]) -> None:
        self.space = space
        self.data = features
        self.base = np.full(len(features.x), 1.0 / max(len(features.x), 1)) if base is None else base
        self.known = known
        self.place = {name: j for j, name in enumerate(features.names)}
        self.one_hot = self._one_hot()
        inside = {column for columns in self.one_hot.values() for column in columns}
        self.features = [name for name in features.names if name not in inside] + list(self.one_hot)
        self.price = self._each("price", space.price, 1.0)
        self.lower = self._each("lower", space.lower, -math.inf)
        self.upper = self._each("upper", space.upper, math.inf)
        self.moves = self._moves()
        self.kinds = self._kinds()
        self._check_words()

    def domain(self) -> Domain:
        width = len(self.place)
        price, step, direction = np.full(width, math.inf), np.zeros(width), np.zeros(width)
        lower, upper = np.full(width, -math.inf), np.full(width, math.inf)
        menus = []
        for name in self.features:
            if not (self.price[name] > 0.0 and math.isfinite(self.price[name])):
                raise InputError(
                    f"price[{name!r}]={self.price[name]:g} must be a positive number; to keep a feature from moving, name it in"
                    " frozen."
                )
            if not self.lower[name] <= self.upper[name]:
                raise InputError(
                    f"lower[{name!r}]={self.lower[name]:g} is above upper[{name!r}]={self.upper[name]:g}; swap them."
                )
            if name not in self.moves:
                continue
            if self.kinds[name] in ("categorical", "ordinal"):
                menus.append(self._choices(name))
                continue
            j = self.place[name]
            sign = {"up": 1.0, "down": -1.0}.get(self.space.direction.get(name, ""), 0.0)
            if self.kinds[name] == "integer":
                size, low, high = self._lattice(name)
                if high - low < MENU * size:
                    menus.append(self._whole_numbers(name, size, low, high))
                    continue
                step[j], lower[j], upper[j] = size, low, high
            else:
                self._check_inside(name, self.lower[name], self.upper[name])
                lower[j], upper[j] = self.lower[name], self.upper[name]
            price[j], direction[j] = self.price[name], sign
        return Domain(self.data.names, price, lower, upper, direction, step, tuple(menus), self._groups())

    def _one_hot(self) -> dict[str, list[str]]:
        """The one-hot groups, each of columns that exist, belong to no other, and are one-hot."""
        owner: dict[str, str] = {}
        groups = {}
        for group, columns in _mapping("one_hot", self.space.one_hot).items():
            if group in self.place:
                raise InputError(f"one_hot[{group!r}] is the name of a column too; give the group a name of its own.")
            members = _names(f"one_hot[{group!r}]", columns, self.data.names)
            for column in members:
                if column not in self.place:
                    raise InputError(
                        f"one_hot[{group!r}] names {column!r}, which is not a column; they are {listed(self.data.names)}."
                    )
                if column in owner:
                    raise InputError(
                        f"one_hot groups overlap: {column!r} is in {owner[column]!r} and in {group!r}; a column belongs to one."
                    )
                owner[column] = group
            if len(members) < 2:
                raise InputError(f"one_hot[{group!r}] has {len(members)} column(s); a group needs two or more.")
            held = self.data.x[:, [self.place[column] for column in members]]
            bad = np.flatnonzero((((held != 0.0) & (held != 1.0)).any(axis=1)) | (held.sum(axis=1) != 1.0))
            if len(bad):
                row = self.data.index[int(bad[0])]
                told = ", ".join(f"{column}={value:g}" for column, value in zip(members, held[bad[0]], strict=True) if value)
                raise InputError(
                    f"X[{row!r}] is not one-hot in {group!r} ({told or 'all 0'}): exactly one of its columns must be 1; mend the"
                    " row, or leave the group out."
                )
            groups[group] = members
        return groups

    def _each(self, argument: str, given: Any, default: float) -> dict[str, float]:
        """A number for every feature."""
        values = dict.fromkeys(self.features, default)
        if isinstance(given, Mapping):
            for name, value in given.items():
                values[self._feature(argument, name)] = _number(argument, name, value)
            return values
        array = np.asarray(given)
        if array.dtype.kind not in "biuf":
            raise InputError(f"{argument}={given!r} must be a number, a mapping from feature names, or one number a feature.")
        if array.shape not in ((), (len(self.place),)):
            raise InputError(
                f"{argument} has shape {array.shape} but there are {len(self.place)} features; give one number for each."
            )
        if np.isnan(array).any():
            raise InputError(f"{argument} contains NaN; leave a feature out of a mapping to use its default.")
        every = np.broadcast_to(array, (len(self.place),))
        for name in self.features:
            values[name] = float(every[self.place[self.one_hot[name][0] if name in self.one_hot else name]])
        return values

    def _moves(self) -> set[str]:
        space, moves = self.space, set(self.features)
        frozen = _names("frozen", space.frozen, self.data.names)
        if space.movable is not None:
            moves = {self._feature("movable", name) for name in _names("movable", space.movable, self.data.names)}
        return moves - {self._feature("frozen", name) for name in frozen}

    def _kinds(self) -> dict[str, str]:
        kinds = {}
        said = {self._feature("kind", name): kind for name, kind in _mapping("kind", self.space.kind).items()}
        for name in self.features:
            column = None if name in self.one_hot else self.data.columns[self.place[name]]
            kind = said.get(name) or ("categorical" if column is None else BY_TYPE[column.holds])
            if kind not in KINDS:
                raise InputError(f"kind[{name!r}]={kind!r} is not known; use one of {', '.join(KINDS)}.")
            if kind == "fixed":
                self.moves.discard(name)
            elif column is None and kind != "categorical":
                raise InputError(f"kind[{name!r}]={kind!r}, but a one-hot group is categorical; leave it out.")
            elif column is not None and column.holds == "category" and kind in ("numeric", "integer"):
                raise InputError(
                    f"kind[{name!r}]={kind!r}, but the column holds categories, such as {column.categories[0]!r}; use"
                    " 'categorical' or 'ordinal'."
                )
            kinds[name] = kind
        return kinds

    def _check_words(self) -> None:
        """Refuse what would be ignored."""
        space = self.space
        for name, way in _mapping("direction", space.direction).items():
            if way not in ("up", "down"):
                raise InputError(f"direction[{name!r}]={way!r} is not known; use 'up' or 'down'.")
            if self.kinds[self._feature("direction", name)] == "categorical":
                raise InputError(f"direction[{name!r}]={way!r}: categories have no order; make it ordinal, or leave it out.")
        for argument in ("switch", "categories", "step"):
            for name in _mapping(argument, getattr(space, argument)):
                kind = self.kinds[self._feature(argument, name)]
                served = {"switch": ("categorical",), "categories": ("categorical", "ordinal"), "step": ("integer",)}[argument]
                if kind not in (*served, "fixed"):
                    raise InputError(f"{argument}[{name!r}] has no meaning for a feature that is {kind}; leave it out.")
        for argument, each in (("lower", space.lower), ("upper", space.upper)):
            for name in each if isinstance(each, Mapping) else ():
                if self.kinds[self._feature(argument, name)] in ("categorical", "ordinal"):
                    raise InputError(f"{argument}[{name!r}]: categories have no bounds; list those allowed in categories.")
        if space.outliers not in ("refuse", "keep"):
            raise InputError(f"outliers={space.outliers!r} is not known; use 'refuse' or 'keep'.")

    def _groups(self) -> dict[str, tuple[str, ...]]:
        owner: dict[str, str] = {}
        groups = {}
        for group, features in _mapping("groups", self.space.groups).items():
            check_group_name(group, self.place, self.one_hot)
            members = [self._feature(f"groups[{group!r}]", name) for name in _names(f"groups[{group!r}]", features, ("age",))]
            for name in members:
                if name in owner:
                    raise InputError(
                        f"groups overlap: {name!r} is in {owner[name]!r} and in {group!r}; a feature belongs to one."
                    )
                owner[name] = group
            groups[str(group)] = tuple(members)
        return groups

    def _choices(self, name: str) -> Menu:
        """The menu of a categorical or ordinal feature."""
        ordinal, price = self.kinds[name] == "ordinal", self.price[name]
        if name in self.one_hot:
            columns = np.array([self.place[column] for column in self.one_hot[name]], dtype=np.intp)
            values, labels = np.eye(len(columns)), list(self.one_hot[name])
            allowed = np.ones(len(columns), dtype=bool)
        else:
            column = self.data.columns[self.place[name]]
            columns = np.array([self.place[name]], dtype=np.intp)
            labels = self._levels(name, column) if ordinal or column.holds != "category" else list(column.categories)
            codes = {value: float(k) for k, value in enumerate(column.categories)}
            values = np.array([[codes[value] if codes else float(value)] for value in labels])
            allowed = np.isin(np.arange(len(labels)), [k for k, value in enumerate(labels) if self._legal(name, value)])
        apart = np.subtract.outer(np.arange(len(labels)), np.arange(len(labels)))
        if ordinal:
            cost = price * np.square(apart.astype(float))
        else:
            cost = price * self._switching(name, labels, values, columns)
        way = self.space.direction.get(name)
        cost[(apart > 0 if way == "up" else apart < 0) if way else np.zeros_like(apart, dtype=bool)] = math.inf
        return self._menu(name, columns, values, cost, allowed, np.arange(len(labels)) * 1.0 if ordinal else None)

    def _levels(self, name: str, column: Column) -> list[Any]:
        if name in self.space.categories:
            return list(self.space.categories[name])
        if column.holds == "category":
            if all(isinstance(value, (int, float)) for value in column.categories) or self._ordered(name):
                return list(column.categories)
            raise InputError(
                f"{name!r} is ordinal, but its order is not known; list its levels, as categories={{{name!r}: [...]}}."
            )
        held = self.data.x[:, self.place[name]]
        return [float(value) for value in np.unique(held[~np.isnan(held)])]

    def _ordered(self, name: str) -> bool:
        native = getattr(self.data.native, "dtypes", {})
        return bool(getattr(native.get(name) if hasattr(native, "get") else None, "ordered", False))

    def _legal(self, name: str, value: Any) -> bool:
        return name not in self.known or value in set(self.known[name])

    def _switching(self, name: str, labels: list[Any], values: FloatArray, columns: IntArray) -> FloatArray:
        """What every switch costs before the price."""
        given = self.space.switch.get(name)
        same = np.eye(len(labels), dtype=bool)
        if given is None:
            return np.where(same, 0.0, 1.0)
        if isinstance(given, str):
            if given != "frequency":
                raise InputError(f"switch[{name!r}]={given!r} is not known; use 'frequency' or a table.")
            held = self.data.x[:, columns]
            share = np.array([float(self.base[(held == row).all(axis=1)].sum()) for row in values])
            with np.errstate(divide="ignore"):
                return np.where(same, 0.0, np.broadcast_to(-np.log(share / share.sum()), same.shape))
        table = _table(name, given, labels)
        bad = np.argwhere(np.isnan(table) | np.where(same, table != 0.0, table <= 0.0))
        if len(bad):
            start, end = (labels[k] for k in bad[0])
            told = f"switch[{name!r}] from {start!r} to {end!r} is {table[tuple(bad[0])]:g}"
            raise InputError(f"{told}; it must be positive (infinite: not allowed), and 0 from a category to itself.")
        return table

    def _lattice(self, name: str) -> tuple[float, float, float]:
        """Step, least and largest value of a whole number; where no bounds are given, those observed."""
        j, size = self.place[name], _number("step", name, self.space.step.get(name, 1.0))
        if not (size > 0.0 and math.isfinite(size)):
            raise InputError(f"step[{name!r}]={size:g} must be a positive number.")
        held = self.data.x[:, j]
        seen = held[~np.isnan(held)]
        anchor = float(seen[0]) if len(seen) else 0.0
        counts = (held - anchor) / size
        astray = np.flatnonzero(np.abs(counts - np.round(counts)) > ON_LATTICE * (1.0 + np.abs(counts)))
        if len(astray) or (size == 1.0 and anchor != round(anchor)):
            row = int(astray[0]) if len(astray) else int(np.flatnonzero(held == anchor)[0])
            raise InputError(
                f"X[{self.data.index[row]!r}, {name!r}]={held[row]:g} is not a whole number of steps of {size:g}; make the"
                " feature numeric, or give it another step."
            )
        self._check_inside(name, self.lower[name], self.upper[name])
        low = self.lower[name] if math.isfinite(self.lower[name]) else float(seen.min(initial=anchor))
        high = self.upper[name] if math.isfinite(self.upper[name]) else float(seen.max(initial=anchor))
        return (
            size,
            anchor + math.ceil((low - anchor) / size - ON_LATTICE) * size,
            anchor + math.floor((high - anchor) / size + ON_LATTICE) * size,
        )

    def _whole_numbers(self, name: str, size: float, low: float, high: float) -> Menu:
        held = self.data.x[:, self.place[name]]
        inside = low + size * np.arange(round((high - low) / size) + 1)
        kept = np.setdiff1d(held[~np.isnan(held)], inside)  # samples beyond the bounds keep their own value
        values = np.sort(np.concatenate((inside, kept)))
        apart = np.subtract.outer(values, values)
        cost = self.price[name] * np.square(apart)
        way = self.space.direction.get(name)
        cost[(apart > 0 if way == "up" else apart < 0) if way else np.zeros_like(apart, dtype=bool)] = math.inf
        columns = np.array([self.place[name]], dtype=np.intp)
        return self._menu(name, columns, values[:, None], cost, np.isin(values, inside), values)

    def _menu(
        self,
        name: str,
        columns: IntArray,
        values: FloatArray,
        cost: FloatArray,
        allowed: BoolArray,
        axis: FloatArray | None,
    ) -> Menu:
        """A menu in which nobody goes where it is not allowed, and what is missing stays missing."""
        cost[:, ~allowed] = math.inf
        np.fill_diagonal(cost, 0.0)
        if len(columns) == 1 and self.data.missing[columns[0]]:
            values = np.vstack((values, [[math.nan]]))
            cost = np.pad(cost, (0, 1), constant_values=math.inf)
            cost[-1, -1] = 0.0
            axis = None if axis is None else np.append(axis, math.nan)
        kind = "one-hot" if name in self.one_hot else self.kinds[name]
        return Menu(name, kind, columns, values, cost, axis)

    def _check_inside(self, name: str, low: float, high: float) -> None:
        if self.space.outliers == "keep":
            return
        held = self.data.x[:, self.place[name]]
        outside = np.flatnonzero((held < low) | (held > high))
        if len(outside):
            raise outside_bounds(self.data.index[int(outside[0])], name, float(held[outside[0]]), low, high)

    def _feature(self, argument: str, name: Any) -> str:
        """A feature by its name; pandas names columns by numbers where nobody else does."""
        if name not in self.features and str(name) in self.features:
            name = str(name)
        if name in self.features:
            return str(name)
        owner = next((group for group, columns in self.one_hot.items() if name in columns), None)
        if owner is not None:
            raise InputError(f"{argument} names {name!r}, a column of the one-hot group {owner!r}; name the group.")
        raise InputError(f"{argument} names {name!r}, which is not a feature; the features are {listed(self.features)}.")


def check_group_name(group: Any, columns: Iterable[str], one_hot: Iterable[str]) -> None:
    """Refuse a name that means something else already."""
    if group in set(columns) or group in set(one_hot):
        raise InputError(f"the group {group!r} has the name of a column; give it a name of its own.")


def _table(name: str, given: Any, labels: Sequence[Any]) -> FloatArray:
    """Costs of switches in the order of the labels, from a mapping of mappings, a frame or a square array."""
    if hasattr(given, "to_dict") and hasattr(given, "columns"):
        given = {start: {end: given.loc[start, end] for end in given.columns} for start in given.index}
    if isinstance(given, Mapping):
        table = np.where(np.eye(len(labels), dtype=bool), 0.0, math.inf)
        place = {label: k for k, label in enumerate(labels)}
        for start, row in given.items():
            for end, cost in row.items() if isinstance(row, Mapping) else ():
                for label in (start, end):
                    if label not in place:
                        raise InputError(f"switch[{name!r}] names {label!r}, which is no category; they are {listed(labels)}.")
                table[place[start], place[end]] = _number("switch", f"{start} to {end}", cost)
        return table
    try:
        table = np.array(given, dtype=float)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape != (len(labels), len(labels)):
        raise InputError(
            f"switch[{name!r}] must be 'frequency', {{from: {{to: cost}}}}, or a square array for its {len(labels)} categories."
        )
    return table


def _mapping(argument: str, given: Any) -> Mapping[Any, Any]:
    if not isinstance(given, Mapping):
        raise InputError(f"{argument}={given!r} must be a mapping from feature names.")
    return given


def _names(argument: str, given: Any, example: Sequence[str]) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{argument}={given!r} must be a list of feature names, as [{example[0]!r}].")
    return list(given)


def _number(argument: str, name: Any, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise InputError(f"{argument}[{name!r}]={value!r} must be a number.")
    return number
