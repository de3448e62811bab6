"""How every partition is read, so that all of them mean the same by a number: types, categories, weights, row numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray
from tippingpoint.data.categories import joined
from tippingpoint.data.columns import Column, in_order, plain
from tippingpoint.data.frames import Features, read_features
from tippingpoint.data.vectors import read_weights
from tippingpoint.engine.partitions import Part, Partition, named
from tippingpoint.engine.schema import Schema, aligned
from tippingpoint.engine.survey import Facts, check_length


@dataclass(frozen=True)
class Reading:
    """How partitions are read.

    Attributes
    ----------
    schema
        The columns of all.
    categories
        Of every column that is read as categories.
    columns
        What each holds over all partitions, and how it is written as numbers.
    vanishing
        Columns in which a value is missing anywhere, or may go so.
    rows
        Of every partition.
    peak, weight
        The largest weight of a row, and the sum of all in units of it.
    """

    schema: Schema
    categories: Mapping[str, Sequence[Any]]
    columns: tuple[Column, ...]
    vanishing: frozenset[int]
    rows: tuple[int, ...]
    peak: float
    weight: float

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Number of the first row of every partition, among all rows."""
        return (0, *np.cumsum(self.rows).tolist()[:-1])

    def features(self, x: Any) -> Features:
        """The rows of a table of these columns, as numbers."""
        read = read_features(aligned(x, self.schema), self.categories)
        columns = tuple(replace(known, like=own.like) for known, own in zip(self.columns, read.columns, strict=True))
        return replace(read, columns=columns, vanishing=self.vanishing)

    def base(self, part: Part) -> FloatArray:
        """The weights of its rows, as parts of the weight of all."""
        return np.asarray(read_weights(part.weight, part.rows) / self.peak / self.weight)

    def load(self, partition: Partition) -> Part:
        """The rows of a partition, as many as there were."""
        part = partition.load()
        check_length(partition, part, self.rows)
        return part


def read_categories(
    facts: Facts, encoded: Mapping[str, Sequence[Any]], listed: Mapping[str, Sequence[Any]]
) -> dict[str, Sequence[Any]]:
    """Which columns are read as categories, and as which: as `data.categories.category_columns` of the whole data."""
    found: dict[str, Sequence[Any]] = {}
    for column in facts.schema.columns:
        name, held = column.name, list(facts.counts.get(column.name) or ())
        if name in listed and (name in encoded or column.kind == "category"):
            found[name] = list(listed[name])
        elif name in encoded and name not in listed:
            found[name] = joined(column.declared, encoded[name], held)
        elif column.kind == "category":
            found[name] = in_order(plain(held)) if column.declared is None else joined(column.declared, (), held)
    return found


def read_by(facts: Facts, categories: Mapping[str, Sequence[Any]]) -> Reading:
    """How partitions of which these facts are known are read."""
    empty = aligned(facts.sketch.x, facts.schema)
    read = read_features(empty, {name: [*categories[name], *_others(facts, name, categories)] for name in categories})
    columns = []
    for j, (own, column) in enumerate(zip(read.columns, facts.schema.columns, strict=True)):
        if column.name in categories:
            held = tuple(plain(categories[column.name]))
            gap = facts.gaps.get(column.name, own.gap)
            columns.append(replace(own, categories=held, ordered=column.ordered, gap=gap))
        elif column.kind == "number" and facts.schema.backend != "array":
            gapped = facts.missing[j] and facts.whole[j] and not facts.schema.columns[j].void
            columns.append(replace(own, holds="integer" if column.integer or gapped else "number"))
        else:
            columns.append(own)
    missing = frozenset(np.flatnonzero(facts.missing).tolist())
    return Reading(facts.schema, categories, tuple(columns), missing, facts.rows, facts.peak, facts.weight)


def unknown_value(facts: Facts, categories: Mapping[str, Sequence[Any]]) -> bool:
    """Whether a column holds a value that is none of its categories."""
    return any(_others(facts, name, categories) for name in categories)


def _others(facts: Facts, name: str, categories: Mapping[str, Sequence[Any]]) -> list[Any]:
    known = set(plain(categories[name]))
    return [value for value in facts.counts.get(name) or () if value not in known]


def read_through(partition: Partition, reading: Reading) -> None:
    """Read a partition for the errors that it may hold."""
    with named(partition.name):
        part = reading.load(partition)
        if part.rows:
            reading.features(part.x)


def numbers(reading: Reading, partition: Partition) -> tuple[FloatArray, FloatArray]:
    """The columns of a partition as numbers, and weights in units of the largest: of rows of positive weight."""
    with named(partition.name):
        part = reading.load(partition)
        if not part.rows:
            return np.empty((0, len(reading.columns))), np.empty(0)
        weight = read_weights(part.weight, part.rows) / reading.peak
        x = reading.features(part.x).x
    return (x, weight) if weight.all() else (x[weight > 0.0], weight[weight > 0.0])
