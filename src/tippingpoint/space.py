"""The feature space: which features there are, what may move, how, within which bounds, at what price.

A `Space` is what a user says; `tippingpoint.resolving` makes of it, and of the data, what oracles work with.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from tippingpoint.columns import Column
from tippingpoint.core.arrays import FloatArray
from tippingpoint.domain import Domain
from tippingpoint.errors import InputError
from tippingpoint.frames import Features, read_features
from tippingpoint.resolving import resolve
from tippingpoint.show.text import number, render_table

Each = float | Mapping[str, float] | Sequence[float] | FloatArray
"""A number for all features, for some by name, or one for each in order."""

Kind = Literal["numeric", "integer", "ordinal", "categorical", "fixed"]
"""What a feature is: a number, a whole number, levels in order, values without order, or something that never moves."""

INFERRED = {"number": "numeric", "integer": "integer", "boolean": "categorical", "category": "categorical"}
"""What a column's type suggests."""

Ranges = Literal["observed", "quantiles", "none"]

TAIL = 0.01
"""Share of the data beyond each end of a range by quantiles."""

SHOWN = 6
"""Categories that a table of a space names."""

SEPARATORS = ("_", "=", ".", ":", "-")
"""What stands between the name of a one-hot group and the name of a category."""


@dataclass(frozen=True)
class Space:
    """What may move, how, at what price.

    Where nothing is said of a column, numbers (and booleans, as 0 and 1) are numeric, text and categories are categorical, and so
    is what the model's own pipeline encodes as categories. `Space.infer` looks closer: whole numbers stay whole, booleans flip.

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
        Bounds on the value of each numeric or integer feature after the move.
    direction
        "up" or "down" for features that may move one way only.
    kind
        What a feature is, where its column's type does not tell: "numeric", "integer", "ordinal", "categorical" or "fixed".
    categories
        The values a categorical or ordinal feature may take; for an ordinal, in their order.
    one_hot
        Groups of 0/1 columns of which exactly one is 1, by name: one feature each, and a move is another category.
    switch
        What a switch of a categorical feature costs, if not the same for all: "frequency" (minus the logarithm of the share
        of the new category, so rare ones are dear) or a table, `{from: {to: cost}}` or a square array in the order of the
        categories. The feature's price multiplies it.
    step
        Step of an integer feature; 1 where nothing is said.
    groups
        Features that are asked about together, by name (`feature_stability`).
    outliers
        What happens to samples outside their bounds: "refuse" them, or "keep" them, so that they may stay or come back.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [30, 41], "sex": ["f", "m"], "job": ["cook", "clerk"]})
    >>> print(Space.infer(people).edit(frozen=["sex"], direction={"age": "up"}))
    feature         kind                      values  price
        age  integer, up             30 to 41 by 1's      1
        sex        fixed  f, m                                -
        job  categorical                 clerk, cook      1
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
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    outliers: str = "refuse"

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

        `hints` are those that the model encodes; values of the data that it does not know are added.
        """
        said = {str(name): list(values) for name, values in self.categories.items()}
        undecided = [name for name in hints if name not in said and self.kind.get(name) not in ("numeric", "integer")]
        names = [str(name) for name in getattr(data, "columns", ())]
        told = [name for name, kind in self.kind.items() if kind in ("categorical", "ordinal") and name in names]
        for name in dict.fromkeys([*undecided, *told]):
            if name in names and name not in said:
                said[name] = _joined(hints.get(name, ()), data[name])
        return {name: values for name, values in said.items() if name in names}

    @classmethod
    def infer(
        cls,
        data: Any,
        *,
        ranges: Ranges = "observed",
        one_hot: Mapping[str, Sequence[str]] | bool = True,
        **said: Any,
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
        said
            Anything else of a `Space` that you know already, as `frozen=["sex"]`; it takes precedence.
        """
        if ranges not in ("observed", "quantiles", "none"):
            raise InputError(f"ranges={ranges!r} is not known; use 'observed', 'quantiles' or 'none'.")
        features = read_features(data)
        groups = _prefixed(features) if one_hot is True else dict(one_hot or {})
        inside = {column for columns in groups.values() for column in columns}
        kind, categories, lower, upper = dict[str, str](), dict[str, Sequence[Any]](), dict[str, float](), dict[str, float]()
        for j, column in enumerate(features.columns):
            if column.name in inside:
                continue
            kind[column.name] = INFERRED[column.holds]
            held = features.x[~np.isnan(features.x[:, j]), j]
            if column.holds in ("category", "boolean"):
                categories[column.name] = column.categories or (False, True)
            elif ranges != "none" and len(held):
                tails = (0.0, 1.0) if ranges == "observed" else (TAIL, 1.0 - TAIL)
                method = "linear" if column.holds == "number" else "inverted_cdf"
                low, high = np.quantile(held, tails, method=method)
                lower[column.name], upper[column.name] = float(low), float(high)
        outliers = "keep" if ranges == "quantiles" else "refuse"
        read = cls(kind=kind, categories=categories, lower=lower, upper=upper, one_hot=groups, outliers=outliers)
        return read.edit(**said)

    def edit(self, **changes: Any) -> Space:
        """A space like this one but for the changes: mappings are updated, `frozen` is added to, the rest is replaced."""
        known = {f.name for f in fields(self)}
        for name in changes:
            if name not in known:
                raise InputError(f"{name!r} is nothing that a Space has; it has {', '.join(sorted(known))}.")
        merged = dict(changes)
        for name, change in changes.items():
            now = getattr(self, name)
            if isinstance(now, Mapping) and isinstance(change, Mapping):
                merged[name] = {**now, **change}
            elif name == "frozen" and not isinstance(change, str) and isinstance(change, Iterable):
                merged[name] = tuple(dict.fromkeys([*now, *change]))
        return replace(self, **merged)

    def __str__(self) -> str:
        """One line a feature that this space says anything of."""
        per_feature = (self.kind, self.categories, self.one_hot, self.direction, self.switch, self.step)
        mapped = [each for each in (self.price, self.lower, self.upper) if isinstance(each, Mapping)]
        names = dict.fromkeys(name for each in (*per_feature, *mapped, self.frozen) for name in each)
        rows = [[str(name), self._kind_of(name), self._values_of(name), self._price_of(name)] for name in names]
        rows += [[str(name), "group", ", ".join(members), "-"] for name, members in self.groups.items()]
        if not rows:
            return "Every column may move, as its type allows."
        return render_table(["feature", "kind", "values", "price"], rows)

    def _stays(self, name: str) -> bool:
        return self.kind.get(name) == "fixed" or name in self.frozen or (self.movable is not None and name not in self.movable)

    def _kind_of(self, name: str) -> str:
        if self._stays(name):
            return "fixed"
        kind = (
            "one-hot" if name in self.one_hot else self.kind.get(name, "categorical" if name in self.categories else "by type")
        )
        return f"{kind}, {self.direction[name]}" if name in self.direction else kind

    def _values_of(self, name: str) -> str:
        values = self.categories.get(name, self.one_hot.get(name))
        if values is not None:
            shown = ", ".join(str(value) for value in list(values)[:SHOWN])
            return shown if len(values) <= SHOWN else f"{shown}, … ({len(values)})"
        low, high = (each.get(name) if isinstance(each, Mapping) else each for each in (self.lower, self.upper))
        ends = [number(float(end)) for end in (low, high) if isinstance(end, (int, float)) and math.isfinite(end)]
        if not ends:
            return "any"
        if len(ends) == 2:
            return f"{ends[0]} to {ends[1]}"
        return f"from {ends[0]}" if isinstance(low, (int, float)) and math.isfinite(low) else f"up to {ends[0]}"

    def _price_of(self, name: str) -> str:
        if self._stays(name):
            return "-"
        price = self.price.get(name, 1.0) if isinstance(self.price, Mapping) else self.price
        told = number(float(price)) if isinstance(price, (int, float)) else "one a column"
        if name in self.switch:
            table = self.switch[name]
            return f"{told} × {table if isinstance(table, str) else 'table'}"
        return told


def _joined(known: Sequence[Any], column: Any) -> list[Any]:
    """The categories a model knows, in its order, and after them those of the data that it does not."""
    declared = getattr(getattr(column, "cat", None), "categories", None)
    found = (
        list(declared) if declared is not None and not len(known) else [v for v in column.unique() if v == v and v is not None]
    )
    plain = [value.item() if isinstance(value, np.generic) else value for value in found]
    if declared is None:
        plain = sorted(plain, key=lambda value: (str(type(value)), value))
    have = [value.item() if isinstance(value, np.generic) else value for value in known if value == value and value is not None]
    return [*have, *(value for value in plain if value not in set(have))]


def _prefixed(features: Features) -> dict[str, list[str]]:
    """Columns of 0 and 1 that share a prefix and of which every row has exactly one."""
    found: dict[str, list[int]] = {}
    binary = ((features.x == 0.0) | (features.x == 1.0)).all(axis=0)
    for j in np.flatnonzero(binary):
        name = features.names[j]
        cut = max(name.rfind(mark) for mark in SEPARATORS)
        if cut > 0:
            found.setdefault(name[:cut], []).append(int(j))
    return {
        prefix: [features.names[j] for j in columns]
        for prefix, columns in found.items()
        if len(columns) > 1 and prefix not in features.names and bool((features.x[:, columns].sum(axis=1) == 1.0).all())
    }
