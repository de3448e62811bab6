"""What a user declares of features, by name, checked against the columns of the data: whatever would be ignored is refused."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.data.columns import Column
from tippingpoint.data.frames import Features
from tippingpoint.errors import InputError, listed
from tippingpoint.space.switches import as_number

if TYPE_CHECKING:
    from tippingpoint.space import Space

KINDS = ("numeric", "integer", "ordinal", "categorical", "fixed")

BY_TYPE = {"number": "numeric", "integer": "numeric", "boolean": "numeric", "category": "categorical"}
"""What a feature is where nothing is declared: numbers are numbers, as in the paper; `Space.infer` looks closer."""

SETTINGS = {
    "lower": (("numeric", "integer"), "list the values it may take in categories"),
    "upper": (("numeric", "integer"), "list the values it may take in categories"),
    "direction": (("numeric", "integer", "ordinal"), "make it ordinal, or leave it out"),
    "step": (("integer",), "make it integer, or leave it out"),
    "categories": (("categorical", "ordinal"), "make it categorical or ordinal, or leave it out"),
    "switch": (("categorical",), "make it categorical, or leave it out"),
    "missing": (("numeric", "integer", "ordinal", "categorical"), "leave it out"),
}
"""The kinds of feature that each of these has a meaning for, and what to do about the others."""


def by_type(column: Column, space: Space) -> str:
    """What a feature is by the type of its column: with an order of categories it is ordinal, unless switches have costs."""
    return "ordinal" if column.is_order and column.name not in mapping("switch", space.switch) else BY_TYPE[column.holds]


def note_on_order(space: Space, features: Features) -> str | None:
    """A note on columns that are ordinal by their type alone; None if there are none."""
    kinds = {str(name) for name in mapping("kind", space.kind)}
    names = [each.name for each in features.columns if each.name not in kinds and by_type(each, space) == "ordinal"]
    if not names:
        return None
    return (
        f"X declares an order of the categories in {listed(names)}, which are read as ordinal: a move by k levels costs k²; if"
        f" the order does not count, declare Space(kind={{{names[0]!r}: 'categorical'}})"
    )


class Declared:
    """A space on these data, feature by feature: a column of its own, or a one-hot group.

    Attributes
    ----------
    space, data
        What is declared, and of what.
    known
        Columns that the model encodes, and the categories that it knows.
    place
        The position of every column.
    one_hot
        The columns of every one-hot group.
    features
        Names of all features: columns in no group, then the groups.
    price, lower, upper, kinds
        Of every feature.
    moves
        The features that may move, in their order.
    settings
        What else is declared of single features: by argument, then by feature.
    """

    def __init__(self, space: Space, data: Features, known: Mapping[str, Sequence[Any]]) -> None:
        self.space = space
        self.data = data
        self.known = known
        self.place: dict[str, int] = {name: j for j, name in enumerate(data.names)}
        self.one_hot: dict[str, list[str]] = self._one_hot()
        inside = {column for columns in self.one_hot.values() for column in columns}
        self.features: list[str] = [name for name in data.names if name not in inside] + list(self.one_hot)
        self.price: dict[str, float] = self._each("price", space.price, 1.0)
        self.lower: dict[str, float] = self._each("lower", space.lower, -math.inf)
        self.upper: dict[str, float] = self._each("upper", space.upper, math.inf)
        self.kinds: dict[str, str] = self._kinds()
        self.moves: list[str] = self._moves()
        self.settings: dict[str, dict[str, Any]] = {argument: self._setting(argument) for argument in SETTINGS}
        self._check()

    def values(self, column: str) -> FloatArray:
        """What a column holds, as numbers."""
        return self.data.x[:, self.place[column]]

    def groups(self) -> dict[str, tuple[str, ...]]:
        """The features of every group, each in one group only."""
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
            ones = ", ".join(f"{column}={value:g}" for column, value in zip(members, held[bad[0]], strict=True) if value)
            raise InputError(
                f"X[{row!r}] is not one-hot in {group!r} ({ones or 'all 0'}): exactly one of its columns must be 1; mend the"
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
        declared = {self._feature("kind", name): kind for name, kind in mapping("kind", self.space.kind).items()}
        for name in self.features:
            column = None if name in self.one_hot else self.data.columns[self.place[name]]
            kind = declared.get(name, "categorical" if column is None else by_type(column, self.space))
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
                f"kind[{first!r}]={kinds[first]!r} contradicts the model, which encodes the column as categories. Declare the"
                f" kind 'categorical' for {listed(encoded)}, or no kind."
            )
        return kinds

    def _moves(self) -> list[str]:
        """The features that may move, in their order."""
        space, moves = self.space, set(self.features)
        if space.movable is not None:
            moves = {self._feature("movable", name) for name in _names("movable", space.movable, self.data.names)}
        moves -= {self._feature("frozen", name) for name in _names("frozen", space.frozen, self.data.names)}
        return [name for name in self.features if name in moves and self.kinds[name] != "fixed"]

    def _setting(self, argument: str) -> dict[str, Any]:
        """What an argument declares of single features, under their names; what would be ignored is refused."""
        given = getattr(self.space, argument)
        if argument in ("lower", "upper") and not isinstance(given, Mapping):
            return {}
        values = {self._feature(argument, name): value for name, value in mapping(argument, given).items()}
        served, remedy = SETTINGS[argument]
        for name in values:
            if self.kinds[name] not in (*served, "fixed"):
                raise InputError(f"{argument}[{name!r}] has no meaning for a feature that is {self.kinds[name]}; {remedy}.")
            if argument == "categories" and name in self.one_hot:
                raise InputError(f"categories[{name!r}] are the columns of the one-hot group; leave it out.")
            if argument == "missing" and name in self.one_hot:
                raise InputError(f"missing[{name!r}]: a one-hot group always has a category; leave it out.")
        return values

    def _check(self) -> None:
        """Refuse what means nothing."""
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
        self._check_settings()
        if self.space.outliers not in ("refuse", "keep"):
            raise InputError(f"outliers={self.space.outliers!r} is not known; use 'refuse' or 'keep'.")

    def _check_settings(self) -> None:
        """The same of what is declared of single features."""
        for name, direction in self.settings["direction"].items():
            if direction not in ("up", "down"):
                raise InputError(f"direction[{name!r}]={direction!r} is not known; use 'up' or 'down'.")
        for name, values in self.settings["categories"].items():
            every = _names(f"categories[{name!r}]", values, self.data.names)
            twice = next((value for value, times in Counter(every).items() if times > 1), None)
            if twice is not None:
                raise InputError(f"categories[{name!r}] lists {twice!r} twice; list every value once.")
        for name, cost in self.settings["missing"].items():
            if not 0.0 < as_number("missing", name, cost) < math.inf:
                raise InputError(
                    f"missing[{name!r}]={cost!r} must be a positive number, what it costs to go missing; leave it out if"
                    " it may not."
                )

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
