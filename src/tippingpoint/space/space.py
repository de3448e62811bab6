"""The feature space: which features there are, what may move, how, within which bounds, at what price.

A `Space` is what a user declares; `tippingpoint.space.resolving` makes of it, and of the data, what oracles work with.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.data.categories import category_columns, stored_values
from tippingpoint.data.columns import Column
from tippingpoint.data.frames import Features, read_features
from tippingpoint.errors import InputError, listed
from tippingpoint.space.declared import SETTINGS, by_type, mapping
from tippingpoint.space.domain import Domain
from tippingpoint.space.resolving import resolve
from tippingpoint.text import render_table

Each = float | Mapping[str, float] | Sequence[float] | FloatArray
"""A number for all features, for some by name, or one for each in order."""

INFERRED = {"number": "numeric", "integer": "integer", "boolean": "categorical", "category": "categorical"}
"""What a column's type suggests."""

LISTED_TYPES = ("boolean", "category")
"""Columns of which the values are listed."""

BOOLEANS = (False, True)

Ranges = Literal["observed", "quantiles", "none"]

TAIL = 0.01
"""Share of the data beyond each end of a range by quantiles."""

MAX_SHOWN = 6
"""Categories that a table of a space names."""

MAX_LETTERS = 60
"""Letters that their names may take."""

AS_GIVEN = "as given"
"""What a table of a space says where columns have a number each, in their order."""

SEPARATORS = ("_", "=", ".", ":", "-")
"""What stands between the name of a one-hot group and the name of a category."""


@dataclass(frozen=True)
class Space:
    """What may move, how, at what price.

    Where no kind is given, numbers (and booleans, as 0 and 1) are numeric, text and categories are categorical, and
    so is what the model, or its pipeline, encodes as categories. Ordered categories of pandas are ordinal, unless `switch`
    gives them costs. Numbers stored as text are what the model takes them for. `Space.infer` looks closer: whole numbers stay
    whole (those too that pandas stores as floats, since some are missing), booleans flip. What is missing stays missing.

    Parameters
    ----------
    frozen
        Features that may not move.
    movable
        If given, the only features that may move.
    price
        What a feature's moves cost: of a squared unit (numeric, integer), of a squared level (ordinal), of a switch
        (categorical). A number for all, a mapping from some names, or one for each column.
    lower, upper
        Bounds on the value of each numeric or integer feature after the move; an integer without stays in the range observed.
    direction
        "up" or "down" for features that may only rise or fall.
    kind
        What a feature is, where its column's type does not say: "numeric", "integer", "ordinal", "categorical" or "fixed".
    categories
        The values a categorical or ordinal feature may take; for an ordinal, in their order.
    one_hot
        Groups of 0/1 columns of which exactly one is 1, by name: one feature each, and a move is another category.
    switch
        What a switch of a categorical feature costs, if not the same for all: "frequency" (minus the logarithm of the share
        of the new category, so rare ones are dear) or a table, `{from: {to: cost}}` (what is not listed is not allowed) or a
        square array in the order of the categories. The feature's price multiplies it.
    step
        Step of an integer feature; 1 where none is given.
    missing
        Features whose values may go missing, and what that costs, whatever the value was: `{"income": 2.0}`. It is a price as
        it stands: neither `price` nor a scale changes it. Nobody else's values do.
    groups
        Features that are asked about together, by name (`feature_stability`).
    outliers
        What happens to samples outside their bounds: "refuse" them, or "keep" them: they may stay, or come back.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [30, 41], "sex": ["f", "m"], "job": ["cook", "clerk"]})
    >>> print(Space.infer(people).edit(frozen=["sex"], direction={"age": "up"}))
    feature  kind         values       price
    age      integer, up  30 to 41     1
    sex      fixed        f, m         -
    job      categorical  clerk, cook  1
    """

    frozen: Sequence[str] = ()
    movable: Sequence[str] | None = None
    price: Each = 1.0
    lower: Each = -math.inf
    upper: Each = math.inf
    direction: Mapping[str, str] = field(default_factory=dict)
    kind: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    one_hot: Mapping[str, Sequence[str]] = field(default_factory=dict)
    switch: Mapping[str, Any] = field(default_factory=dict)
    step: Mapping[str, float] = field(default_factory=dict)
    missing: Mapping[str, float] = field(default_factory=dict)
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    outliers: str = "refuse"
    _stored: ClassVar[Mapping[str, str]] = {}
    """Of a space that was inferred: columns of numbers that are stored as "text" or "categories", which the model decides."""

    _inferred: ClassVar[frozenset[str]] = frozenset()
    """Of a space that was inferred: columns whose kind nothing but their values suggests."""

    def fitted_to(self, encoded: Collection[str]) -> tuple[Space, str | None]:
        """This space with categories where its kinds were inferred and the model encodes the columns; and a note on these."""
        kinds = mapping("kind", self.kind)
        names = [name for name in encoded if name in self._inferred and kinds.get(name) in ("numeric", "integer")]
        if not names:
            return self, None
        note = f"the model encodes {listed(names)} as categories, which are read as categorical instead of the kind inferred"
        return self.edit(kind=dict.fromkeys(names, "categorical")), note

    def resolve(
        self,
        data: Features | Sequence[str],
        base: FloatArray | None = None,
        known: Mapping[str, Sequence[Any]] | None = None,
    ) -> Domain:
        """This space for the columns of a data set.

        Parameters
        ----------
        data
            The data; names alone stand for numeric columns.
        base
            Weights of the rows, for prices by frequency; equal where none are given.
        known
            Categories that the model knows, by column: nobody moves to others.
        """
        if not isinstance(data, Features):
            columns = tuple(Column(name) for name in data)
            data = Features(np.empty((0, len(columns))), columns, (), "pandas", None, (len(columns),))
        return resolve(self, data, base, known or {})

    def read_as(self, hints: Mapping[str, Sequence[Any]], data: Any) -> dict[str, Sequence[Any]]:
        """Which columns of the data are to be read as categories, and as which.

        Parameters
        ----------
        hints
            Columns that the model encodes, and the categories that it knows; values of the data that it does not are added.
        data
            What the user gave.
        """
        found = category_columns(data, *self.hinted(hints))
        listing = {str(name) for name, kind in mapping("kind", self.kind).items() if kind in ("categorical", "ordinal")}
        listing |= {str(name) for name in mapping("switch", self.switch)}
        return {**found, **stored_values(data, listing - set(found))}

    def hinted(self, hints: Mapping[str, Sequence[Any]]) -> tuple[dict[str, Sequence[Any]], dict[str, Sequence[Any]]]:
        """Of the columns that a model encodes, those that are no numbers here; and the categories that this space lists."""
        numbers = {str(name) for name, kind in mapping("kind", self.kind).items() if kind in ("numeric", "integer")}
        encoded = {name: values for name, values in hints.items() if name not in numbers}
        listed = {str(name): values for name, values in mapping("categories", self.categories).items() if _several(values)}
        return encoded, listed

    @classmethod
    def infer(
        cls,
        data: Any,
        *,
        ranges: Ranges = "observed",
        one_hot: Mapping[str, Sequence[str]] | bool = True,
        **declared: Any,
    ) -> Space:
        """A space read off a data frame: print it, check it, `edit` it.

        Parameters
        ----------
        data
            A pandas or polars frame, or an array.
        ranges
            Bounds of numbers: the range "observed", the "quantiles" 1 % and 99 % (samples beyond may stay), or "none".
        one_hot
            Groups of 0/1 columns by name; True finds those that share a prefix and sum to one, False looks for none.
        declared
            Anything else of a `Space` that you know already, as `frozen=["sex"]`; it takes precedence.
        """
        if ranges not in ("observed", "quantiles", "none"):
            raise InputError(f"ranges={ranges!r} is not known; use 'observed', 'quantiles' or 'none'.")
        if isinstance(data, Mapping):
            raise InputError(
                "Space.infer reads tables; of inputs by name say what you know, as Space(frozen=['pixel_values'])."
            )
        priced = cls(kind=declared.get("kind", {}), switch=declared.get("switch", {}))
        features = read_features(data, priced.read_as({}, data))
        stored = {**dict.fromkeys(features.text, "text"), **dict.fromkeys(features.categorical, "categories")}
        groups = _prefixed(features) if one_hot is True else dict(one_hot or {})
        inside = {str(column) for columns in groups.values() for column in columns}
        inside |= set(stored)  # a model decides whether these are numbers
        columns = [(j, column) for j, column in enumerate(features.columns) if column.name not in inside]
        bounds = {} if ranges == "none" else {c.name: _range(c, features.x[:, j], ranges) for j, c in columns}
        read = cls(
            kind={c.name: "ordinal" if by_type(c, priced) == "ordinal" else INFERRED[c.holds] for _, c in columns},
            categories={
                c.name: BOOLEANS if c.holds == "boolean" else c.categories for _, c in columns if c.holds in LISTED_TYPES
            },
            lower={name: ends[0] for name, ends in bounds.items() if ends is not None},
            upper={name: ends[1] for name, ends in bounds.items() if ends is not None},
            one_hot=groups,
            outliers="keep" if ranges == "quantiles" else "refuse",
        )
        object.__setattr__(read, "_stored", stored)
        object.__setattr__(read, "_inferred", frozenset(read.kind))
        return read.edit(**declared)

    def edit(self, **changes: Any) -> Space:
        """A space like this one but for the changes.

        Mappings are updated, `frozen` is added to, the rest is replaced. What was declared of a feature under another kind, or
        of a column that now belongs to a one-hot group, is forgotten.
        """
        known = {f.name for f in fields(self)}
        for name in changes:
            if name not in known:
                raise InputError(f"{name!r} is nothing that a Space has; it has {', '.join(sorted(known))}.")
        merged = dict(changes)
        for argument in known:
            now, change = getattr(self, argument), changes.get(argument, {})
            if isinstance(now, Mapping) and isinstance(change, Mapping):
                merged[argument] = {**self._still_true(argument, now, changes), **change}
        if "frozen" in changes and not isinstance(changes["frozen"], str) and isinstance(changes["frozen"], Iterable):
            merged["frozen"] = tuple(dict.fromkeys([*self.frozen, *changes["frozen"]]))
        made = replace(self, **merged)
        object.__setattr__(made, "_stored", self._stored)
        declared = (changes.get(argument) for argument in ("kind", *SETTINGS))
        known_kinds = {str(name) for each in declared if isinstance(each, Mapping) for name in each}
        object.__setattr__(made, "_inferred", self._inferred - known_kinds)
        return made

    @staticmethod
    def _still_true(argument: str, now: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
        """What was declared of single features, without what a change of their kind makes void."""
        groups, kinds = (changes.get(name) for name in ("one_hot", "kind"))
        void = set()
        if isinstance(groups, Mapping) and argument != "one_hot":
            void |= {column for columns in groups.values() for column in columns}
        if isinstance(kinds, Mapping) and argument in SETTINGS:
            void |= {name for name, kind in kinds.items() if kind not in (*SETTINGS[argument][0], "fixed")}
        return {name: value for name, value in now.items() if name not in void}

    def __str__(self) -> str:
        """One line a feature that this space declares anything of."""
        mapped = [each for each in (self.price, self.lower, self.upper) if isinstance(each, Mapping)]
        declared = (self.kind, self.categories, self.one_hot, self.direction, self.switch, self.step, self.missing, *mapped)
        names = dict.fromkeys(name for each in (*declared, self.frozen, self.movable or ()) for name in each)
        rows = [(str(name), self._kind_of(name), self._values_of(name), self._price_of(name)) for name in names]
        rows += [(str(name), "group", ", ".join(map(str, members)), "-") for name, members in self.groups.items()]
        if self.movable is not None:
            rows.append(("all others", "fixed", "any", "-"))
        rows += [(name, "by type", "any", self._price_of(name)) for name in self._stored if name not in names]
        if not rows:
            return f"Every column may move, as its type allows, at price {self._price_of('')}."
        table = render_table(("feature", "kind", "values", "price"), rows, left=4)
        open_kinds = {name: kind for name, kind in self._stored.items() if name not in self.kind}
        open_by_type = {kind: [name for name in open_kinds if open_kinds[name] == kind] for kind in open_kinds.values()}
        return "\n".join([table, *(_note_on_stored(kind, names) for kind, names in open_by_type.items())])

    def _stays(self, name: str) -> bool:
        return self.kind.get(name) == "fixed" or name in self.frozen or (self.movable is not None and name not in self.movable)

    def _kind_of(self, name: str) -> str:
        if self._stays(name):
            return "fixed"
        default = "categorical" if name in self.categories else "by type"
        kind = "one-hot" if name in self.one_hot else self.kind.get(name, default)
        return f"{kind}, {self.direction[name]}" if name in self.direction else kind

    def _values_of(self, name: str) -> str:
        values = self.categories.get(name, self.one_hot.get(name))
        if values is not None:
            return _listed([" ".join(str(value).split()) for value in values])
        if self.kind.get(name) in ("categorical", "ordinal"):
            return "as observed"
        text = _between(_one_of(self.lower, name, -math.inf), _one_of(self.upper, name, math.inf))
        return f"{text} by {self.step[name]:g}" if name in self.step else text

    def _price_of(self, name: str) -> str:
        if self._stays(name):
            return "-"
        price = _one_of(self.price, name, 1.0)
        text = AS_GIVEN if math.isnan(price) else f"{price:g}"
        if name in self.switch:
            text += f" × {self.switch[name] if isinstance(self.switch[name], str) else 'table'}"
        return f"{text}, missing {self.missing[name]}" if name in self.missing else text


def _note_on_stored(stored: str, names: Sequence[str]) -> str:
    """How columns of numbers stored as text or categories will be read."""
    return (
        f"X stores numbers as {stored} in {listed(names)}. They are read as numbers, unless the model encodes them as"
        f" categories. Declare them, for example kind={{{names[0]!r}: 'categorical'}}."
    )


def _listed(values: Sequence[str]) -> str:
    """Values between commas; of many, or of long ones, the first, each of them whole, and how many there are."""
    shown = list(values[:MAX_SHOWN])
    while len(shown) > 1 and len(", ".join(shown)) > MAX_LETTERS:
        shown.pop()
    joined = textwrap.shorten(", ".join(shown), MAX_LETTERS, placeholder="…") if len(shown) == 1 else ", ".join(shown)
    return joined if len(shown) == len(values) else f"{joined}, … ({len(values)})"


def _several(values: Any) -> bool:
    """Whether these are values in a list; `resolve` names what is wrong with anything else."""
    return isinstance(values, Iterable) and not isinstance(values, str)


def _one_of(each: Each, name: str, default: float) -> float:
    """What is declared of a feature by name, or of all; where columns have one each, it is not known here."""
    if isinstance(each, Mapping):
        return float(each.get(name, default))
    return float(each) if isinstance(each, (int, float)) else math.nan


def _between(low: float, high: float) -> str:
    """A range for reading."""
    if math.isnan(low) or math.isnan(high):
        return AS_GIVEN
    if low == -math.inf:
        return "any" if high == math.inf else f"up to {high:g}"
    return f"from {low:g}" if high == math.inf else f"{low:g} to {high:g}"


def _range(column: Column, held: FloatArray, ranges: Ranges) -> tuple[float, float] | None:
    """The bounds of a number; none for categories, and where everything is missing."""
    seen = held[~np.isnan(held)]
    if column.holds not in ("number", "integer") or not len(seen):
        return None
    tail = 0.0 if ranges == "observed" else TAIL
    low, high = (
        np.quantile(seen, share, method="linear" if column.holds == "number" else "inverted_cdf")
        for share in (tail, 1.0 - tail)
    )
    return float(low), float(high)


def _prefixed(features: Features) -> dict[str, list[str]]:
    """Columns of 0 and 1 that share a prefix and of which every row has exactly one; the shortest prefix that serves."""
    found: dict[str, list[int]] = {}
    binary = ((features.x == 0.0) | (features.x == 1.0)).all(axis=0)
    for j in np.flatnonzero(binary):
        name = features.names[j]
        for cut in range(1, len(name)):
            if name[cut] in SEPARATORS:
                found.setdefault(name[:cut], []).append(int(j))
    groups: dict[str, list[str]] = {}
    taken: set[int] = set()
    for prefix in sorted(found, key=len):
        columns = found[prefix]
        if len(columns) < 2 or prefix in features.names or not taken.isdisjoint(columns):
            continue
        if bool((features.x[:, columns].sum(axis=1) == 1.0).all()):
            groups[prefix] = [features.names[j] for j in columns]
            taken.update(columns)
    return groups
