"""From what a user says of a feature space, and the data, to the domain that oracles work with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.data.columns import Column, in_order
from tippingpoint.data.frames import Features, unknown_category
from tippingpoint.errors import InputError, listed
from tippingpoint.space.domain import Domain, Menu, outside_bounds
from tippingpoint.space.switches import as_number, by_frequency, by_table

if TYPE_CHECKING:
    from tippingpoint.space import Space

MENU = 512
"""Values up to which a whole number has a menu; with more its steps are fine, and it moves freely and is rounded."""

MOST = 4096
"""Categories of a feature, at most: what every switch between two of them costs is kept in a table."""

KINDS = ("numeric", "integer", "ordinal", "categorical", "fixed")

BY_TYPE = {"number": "numeric", "integer": "numeric", "boolean": "numeric", "category": "categorical"}
"""What a feature is where nobody says: numbers are numbers, as in the paper; `Space.infer` looks closer."""

MEANS = {
    "lower": (("numeric", "integer"), "list the values it may take in categories"),
    "upper": (("numeric", "integer"), "list the values it may take in categories"),
    "direction": (("numeric", "integer", "ordinal"), "make it ordinal, or leave it out"),
    "step": (("integer",), "make it integer, or leave it out"),
    "categories": (("categorical", "ordinal"), "make it categorical or ordinal, or leave it out"),
    "switch": (("categorical",), "make it categorical, or leave it out"),
    "missing": (("numeric", "integer", "ordinal", "categorical"), "leave it out"),
}
"""The kinds of feature of which each of these can be said, and what to do where it cannot."""

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
        self.kinds = self._kinds()
        self.moves = self._moves()
        self.said = {argument: self._words(argument) for argument in MEANS}
        self._check()

    def domain(self) -> Domain:
        width = len(self.place)
        price, step, direction = np.full(width, math.inf), np.zeros(width), np.zeros(width)
        lower, upper = np.full(width, -math.inf), np.full(width, math.inf)
        menus, missing = [], {}
        for name in self.moves:
            if self.kinds[name] in ("categorical", "ordinal"):
                menus.append(self._choices(name))
                continue
            size, low, high = (
                self._lattice(name) if self.kinds[name] == "integer" else (0.0, self.lower[name], self.upper[name])
            )
            self._check_inside(name)
            if size > 0.0 and high - low < MENU * size:
                menus.append(self._whole_numbers(name, size, low, high))
                continue
            j = self.place[name]
            price[j], step[j], lower[j], upper[j] = self.price[name], size, low, high
            if name in self.said["missing"]:
                missing[j] = float(self.said["missing"][name])
            direction[j] = {"up": 1.0, "down": -1.0}.get(self.said["direction"].get(name, ""), 0.0)
        return Domain(self.data.names, price, lower, upper, direction, step, tuple(menus), missing, self._groups())

    def _one_hot(self) -> dict[str, list[str]]:
        """The one-hot groups, each of columns that exist, belong to no other, and are one-hot."""
        owner: dict[str, str] = {}
        groups = {}
        for group, columns in mapping("one_hot", self.space.one_hot).items():
            if str(group) in self.place:
                raise InputError(f"one_hot[{group!r}] is the name of a column too; give the group a name of its own.")
            members = [str(column) for column in _names(f"one_hot[{group!r}]", columns, self.data.names)]
            for column in members:
                if column not in self.place:
                    raise InputError(
                        f"one_hot[{group!r}] names {column!r}, which is not a column; they are {listed(self.data.names)}."
                    )
                if column in owner:
                    raise InputError(
                        f"one_hot groups overlap: {column!r} is in {owner[column]!r} and in {group!r}; a column belongs to one."
                    )
                owner[column] = str(group)
            if len(members) < 2:
                raise InputError(f"one_hot[{group!r}] has {len(members)} column(s); a group needs two or more.")
            self._check_one_hot(str(group), members)
            groups[str(group)] = members
        return groups

    def _check_one_hot(self, group: str, members: Sequence[str]) -> None:
        held = self.data.x[:, [self.place[column] for column in members]]
        bad = np.flatnonzero((((held != 0.0) & (held != 1.0)).any(axis=1)) | (held.sum(axis=1) != 1.0))
        if len(bad):
            row = self.data.index[int(bad[0])]
            told = ", ".join(f"{column}={value:g}" for column, value in zip(members, held[bad[0]], strict=True) if value)
            raise InputError(
                f"X[{row!r}] is not one-hot in {group!r} ({told or 'all 0'}): exactly one of its columns must be 1; mend the"
                " row, or leave the group out."
            )

    def _each(self, argument: str, given: Any, default: float) -> dict[str, float]:
        """A number for every feature."""
        values = dict.fromkeys(self.features, default)
        if isinstance(given, Mapping):
            for name, value in given.items():
                values[self._feature(argument, name)] = as_number(argument, name, value)
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

    def _kinds(self) -> dict[str, str]:
        kinds = {}
        said = {self._feature("kind", name): kind for name, kind in mapping("kind", self.space.kind).items()}
        for name in self.features:
            column = None if name in self.one_hot else self.data.columns[self.place[name]]
            kind = said.get(name, "categorical" if column is None else BY_TYPE[column.holds])
            if kind not in KINDS:
                raise InputError(f"kind[{name!r}]={kind!r} is not known; use one of {', '.join(KINDS)}.")
            if column is None and kind not in ("categorical", "fixed"):
                raise InputError(f"kind[{name!r}]={kind!r}, but a one-hot group is categorical; leave it out.")
            if column is not None and column.holds == "category" and kind in ("numeric", "integer"):
                raise InputError(
                    f"kind[{name!r}]={kind!r}, but the column holds categories, such as {column.categories[0]!r}; use"
                    " 'categorical' or 'ordinal'."
                )
            kinds[name] = kind
        encoded = [name for name, kind in kinds.items() if name in self.known and kind in ("numeric", "integer")]
        if encoded:
            first = encoded[0]
            raise InputError(
                f"kind[{first!r}]={kinds[first]!r}, but the model encodes the column as categories; say"
                f" kind=dict.fromkeys({encoded!r}, 'categorical'), or leave it out."
            )
        return kinds

    def _moves(self) -> list[str]:
        """The features that may move, in their order."""
        space, moves = self.space, set(self.features)
        if space.movable is not None:
            moves = {self._feature("movable", name) for name in _names("movable", space.movable, self.data.names)}
        moves -= {self._feature("frozen", name) for name in _names("frozen", space.frozen, self.data.names)}
        return [name for name in self.features if name in moves and self.kinds[name] != "fixed"]

    def _words(self, argument: str) -> dict[str, Any]:
        """What is said of features one by one, under their names; what would be ignored is refused."""
        given = getattr(self.space, argument)
        if argument in ("lower", "upper") and not isinstance(given, Mapping):
            return {}
        words = {self._feature(argument, name): value for name, value in mapping(argument, given).items()}
        served, remedy = MEANS[argument]
        for name in words:
            if self.kinds[name] not in (*served, "fixed"):
                raise InputError(f"{argument}[{name!r}] has no meaning for a feature that is {self.kinds[name]}; {remedy}.")
            if argument == "categories" and name in self.one_hot:
                raise InputError(f"categories[{name!r}] are the columns of the one-hot group; leave it out.")
            if argument == "missing" and name in self.one_hot:
                raise InputError(f"missing[{name!r}]: a one-hot group always has a category; leave it out.")
        return words

    def _check(self) -> None:
        """Refuse numbers and words that mean nothing."""
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
        self._check_words()
        if self.space.outliers not in ("refuse", "keep"):
            raise InputError(f"outliers={self.space.outliers!r} is not known; use 'refuse' or 'keep'.")

    def _check_words(self) -> None:
        """The same of what is said of features one by one."""
        for name, way in self.said["direction"].items():
            if way not in ("up", "down"):
                raise InputError(f"direction[{name!r}]={way!r} is not known; use 'up' or 'down'.")
        for name, values in self.said["categories"].items():
            every = _names(f"categories[{name!r}]", values, self.data.names)
            twice = next((value for value, times in Counter(every).items() if times > 1), None)
            if twice is not None:
                raise InputError(f"categories[{name!r}] lists {twice!r} twice; list every value once.")
        for name, cost in self.said["missing"].items():
            if not 0.0 < as_number("missing", name, cost) < math.inf:
                raise InputError(
                    f"missing[{name!r}]={cost!r} must be a positive number, what it costs to go missing; leave it out if"
                    " it may not."
                )

    def _groups(self) -> dict[str, tuple[str, ...]]:
        owner: dict[str, str] = {}
        groups = {}
        for group, features in mapping("groups", self.space.groups).items():
            check_group_name(group, self.place, self.one_hot)
            argument = f"groups[{group!r}]"
            members = [self._feature(argument, name) for name in _names(argument, features, self.data.names)]
            if not members:
                raise InputError(f"{argument} is empty; name the features that belong to it.")
            for name in members:
                if name in owner:
                    raise InputError(
                        f"groups overlap: {name!r} is in {owner[name]!r} and in {group!r}; a feature belongs to one."
                    )
                owner[name] = str(group)
            groups[str(group)] = tuple(members)
        return groups

    def _choices(self, name: str) -> Menu:
        """The menu of a categorical or ordinal feature."""
        ordinal = self.kinds[name] == "ordinal"
        if name in self.one_hot:
            columns = np.array([self.place[column] for column in self.one_hot[name]], dtype=np.intp)
            values, labels = np.eye(len(columns)), list(self.one_hot[name])
        else:
            column = self.data.columns[self.place[name]]
            columns = np.array([self.place[name]], dtype=np.intp)
            labels = self._levels(name, column)
            if len(labels) > MOST:
                raise InputError(
                    f"{name!r} has {len(labels)} categories, too many to weigh every switch (at most {MOST}); name it in"
                    " frozen, or put rare ones together."
                )
            codes = {value: float(k) for k, value in enumerate(column.categories)}
            values = np.array([[codes[value] if codes else float(value)] for value in labels]).reshape(-1, 1)
        known = set(self.known[name]) if name in self.known else set(labels)
        allowed = np.array([label in known for label in labels], dtype=bool)
        levels = np.arange(len(labels), dtype=np.float64)
        cost = np.square(np.subtract.outer(levels, levels)) if ordinal else self._switching(name, labels, values, columns)
        return self._menu(name, columns, values, cost, allowed, levels if ordinal else None)

    def _levels(self, name: str, column: Column) -> list[Any]:
        """The values of a categorical or ordinal feature; of an ordinal, in their order."""
        said, held = self.said["categories"].get(name), self.data.x[:, self.place[name]]
        if column.holds != "category":
            seen = np.unique(held[~np.isnan(held)])
            levels = seen if said is None else np.array([as_number(f"categories[{name!r}]", value, value) for value in said])
            astray = np.flatnonzero(~np.isin(held, levels) & ~np.isnan(held))
            if len(astray):
                row, value = self.data.index[int(astray[0])], float(held[astray[0]])
                raise unknown_category(row, name, value, said or ())
            return [float(level) for level in levels]
        if said is not None or self.kinds[name] == "categorical" or column.ordered:
            return list(column.categories if said is None else said)
        if not all(isinstance(value, (int, float)) for value in column.categories):
            raise InputError(
                f"{name!r} is ordinal, but its order is not known; list its levels, as categories={{{name!r}: [...]}}."
            )
        return in_order(column.categories)

    def _switching(self, name: str, labels: list[Any], values: FloatArray, columns: IntArray) -> FloatArray:
        """What every switch costs before the price."""
        given = self.said["switch"].get(name)
        if given is None:
            return 1.0 - np.eye(len(labels))
        if isinstance(given, str) and given == "frequency":
            held = self.data.x[:, columns]
            if len(columns) > 1:  # one-hot: few, and a row of each
                return by_frequency(np.array([float(self.base[(held == row).all(axis=1)].sum()) for row in values]))
            seen, which = np.unique(held[:, 0], return_inverse=True)
            shares = dict(zip(seen.tolist(), np.bincount(which, self.base).tolist(), strict=True))
            return by_frequency(np.array([shares.get(value, 0.0) for value in values[:, 0].tolist()]))
        return by_table(name, given, labels)

    def _lattice(self, name: str) -> tuple[float, float, float]:
        """Step, least and largest value of a whole number; where no bounds are given, those observed."""
        j, size = self.place[name], as_number("step", name, self.said["step"].get(name, 1.0))
        if not (size > 0.0 and math.isfinite(size)):
            raise InputError(f"step[{name!r}]={size:g} must be a positive number.")
        held = self.data.x[:, j]
        seen = held[~np.isnan(held)]
        anchor = float(seen[0]) if len(seen) else 0.0
        counts = (held - anchor) / size
        astray = np.flatnonzero(np.abs(counts - np.round(counts)) > ON_LATTICE * (1.0 + np.abs(counts)))
        if size == 1.0 and anchor != round(anchor):
            astray = np.flatnonzero(held == anchor)
        if len(astray):
            row = int(astray[0])
            raise InputError(
                f"X[{self.data.index[row]!r}, {name!r}]={held[row]:g} is not a whole number of steps of {size:g}; make the"
                " feature numeric, or give it another step."
            )
        low = self.lower[name] if math.isfinite(self.lower[name]) else float(seen.min(initial=anchor))
        high = self.upper[name] if math.isfinite(self.upper[name]) else float(seen.max(initial=anchor))
        first = math.ceil((low - anchor) / size - ON_LATTICE)
        last = math.floor((high - anchor) / size + ON_LATTICE)
        return size, anchor + first * size, anchor + last * size

    def _whole_numbers(self, name: str, size: float, low: float, high: float) -> Menu:
        held = self.data.x[:, self.place[name]]
        inside = low + size * np.arange(round((high - low) / size) + 1)
        beyond = np.unique(held[(held < low - 0.5 * size) | (held > high + 0.5 * size)])  # outliers keep their own value
        values = np.sort(np.concatenate((inside, beyond)))
        columns = np.array([self.place[name]], dtype=np.intp)
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
        cost = self.price[name] * cost
        cost[:, ~allowed] = math.inf
        way = self.said["direction"].get(name)
        if axis is not None and way is not None:
            falls = np.subtract.outer(axis, axis) > 0.0
            cost[falls if way == "up" else falls.T] = math.inf
        np.fill_diagonal(cost, 0.0)
        vanishing = self.said["missing"].get(name, math.inf)
        if len(columns) == 1 and (self.data.missing[columns[0]] or math.isfinite(vanishing)):
            values = np.vstack((values, [[math.nan]]))
            cost = np.pad(cost, (0, 1), constant_values=math.inf)
            cost[:-1, -1], cost[-1, -1] = vanishing, 0.0
            axis = None if axis is None else np.append(axis, math.nan)
        kind = "one-hot" if name in self.one_hot else self.kinds[name]
        return Menu(name, kind, columns, values, cost, axis)

    def _check_inside(self, name: str) -> None:
        if self.space.outliers == "keep":
            return
        held, low, high = self.data.x[:, self.place[name]], self.lower[name], self.upper[name]
        outside = np.flatnonzero((held < low) | (held > high))
        if len(outside):
            raise outside_bounds(self.data.index[int(outside[0])], name, float(held[outside[0]]), low, high)

    def _feature(self, argument: str, name: Any) -> str:
        """A feature by its name; pandas names columns by numbers where nobody else does."""
        if str(name) in self.features:
            return str(name)
        owner = next((group for group, columns in self.one_hot.items() if str(name) in columns), None)
        if owner is not None:
            raise InputError(f"{argument} names {name!r}, a column of the one-hot group {owner!r}; name the group.")
        raise InputError(f"{argument} names {name!r}, which is not a feature; the features are {listed(self.features)}.")


def check_group_name(group: Any, columns: Iterable[str], one_hot: Iterable[str]) -> None:
    """Refuse a name that means something else already."""
    taken = {**dict.fromkeys(columns, "a column"), **dict.fromkeys(one_hot, "a one-hot group")}
    if str(group) in taken:
        raise InputError(f"the group {group!r} has the name of {taken[str(group)]}; give it a name of its own.")


def mapping(argument: str, given: Any) -> Mapping[Any, Any]:
    """A mapping, or an error that names the argument."""
    if not isinstance(given, Mapping):
        raise InputError(f"{argument}={given!r} must be a mapping from feature names.")
    return given


def _names(argument: str, given: Any, example: Sequence[str]) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        what = "values" if argument.startswith("categories") else "feature names"
        raise InputError(f"{argument}={given!r} must be a list of {what}, as [{example[0]!r}].")
    return list(given)
