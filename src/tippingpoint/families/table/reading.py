"""A table of alternatives, read: what each sample could become, what it would cost, what the loss would be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.data.frames import base_weights, read_numbers, read_vector
from tippingpoint.errors import InputError
from tippingpoint.families.table.oracle import TableOracle

USUAL_GROUPING = "model"
"""What the column that tells several runs of the same samples apart is mostly called."""


@dataclass(frozen=True)
class TableSamples:
    """The samples of a table.

    Attributes
    ----------
    oracle
        The best of each sample's alternatives.
    base
        Weights of the samples, positive, of sum one.
    labels
        What each is called.
    whole
        The sum of their weights as they were given.
    """

    oracle: TableOracle
    base: FloatArray
    labels: list[Any]
    whole: float


@dataclass(frozen=True)
class Alternatives:
    """The lines of a table, read.

    Attributes
    ----------
    sample, loss, cost, weight
        `(m,)` of each line: the number of its sample in the order of their first lines, and what the table says.
    labels
        What each sample is called.
    columns
        What else the table says of each line.
    roles
        The name of the column of each role.
    backend
        Kind of frame that it came in.
    """

    sample: IntArray
    loss: FloatArray
    cost: FloatArray
    weight: FloatArray | None
    labels: list[Any]
    columns: Mapping[str, Any]
    roles: Mapping[str, str]
    backend: str

    def of(self, lines: IntArray, group: str | None = None) -> TableSamples:
        """The samples of these lines; `group` is what they have in common."""
        numbers, codes = np.unique(self.sample[lines], return_inverse=True)
        labels = [self.labels[i] for i in numbers]
        loss, cost = self.loss[lines], self.cost[lines]
        of = "" if group is None else f" of {group!r}"
        _check_originals(codes, labels, loss, cost, lines, of, None if group is not None else self.groupings)
        base, whole = self._base(codes, labels, lines, of)
        rows = np.flatnonzero(base)
        kept = np.isin(codes, rows)
        place = np.cumsum(base > 0.0) - 1
        columns = {name: values[lines[kept]] for name, values in self.columns.items()} or {"line": lines[kept]}
        oracle = TableOracle(place[codes[kept]], loss[kept], cost[kept], columns)
        return TableSamples(oracle, base[rows], [labels[i] for i in rows], whole)

    @property
    def range(self) -> tuple[float, float]:
        """What a mean loss can be: of losses that are all 0 or 1 an error rate, of others anything."""
        return (0.0, 1.0) if np.isin(self.loss, (0.0, 1.0)).all() else (-math.inf, math.inf)

    def check_ungrouped(self) -> None:
        """Refuse runs of several groups in one: pooled, each sample would have the alternatives of all of them."""
        crossed = [name for name, complete in self.groupings() if complete]
        if crossed and (self.cost > 0.0).any():
            raise InputError(
                f"every sample has a line of cost 0 for each {crossed[0]!r}: these are several tables in one; give"
                f" {_remedy(crossed[0])} for a profile of each, or leave the column out if they are one."
            )

    def groupings(self) -> list[tuple[str, bool]]:
        """Columns that look like a forgotten grouping, the likeliest first, and whether every sample has all of its groups.

        Split by such a column, every sample of every group has its line of cost 0, and some sample has several groups.
        """
        found = []
        for name, values in self.columns.items():
            codes, count = _codes(values)
            if count < 2:
                continue
            pairs, pair = np.unique(self.sample * count + codes, return_inverse=True)
            several = len(pairs) > len(self.labels)
            if several and np.isin(np.arange(len(pairs)), pair[self.cost == 0.0]).all():
                found.append((name, len(pairs) == count * len(self.labels), count))
        found.sort(key=lambda each: (not each[1], each[0] != USUAL_GROUPING, each[2]))
        return [(name, complete) for name, complete, _ in found]

    def _base(self, codes: IntArray, labels: list[Any], lines: IntArray, of: str) -> tuple[FloatArray, float]:
        """The weight of each sample, of all one; and what they weigh together as given."""
        if self.weight is None:
            return base_weights(None, len(labels)), float(len(labels))
        given, name = self.weight[lines], self.roles["weight"]
        first = np.zeros(len(labels))
        first[codes[::-1]] = given[::-1]
        uneven = np.flatnonzero(given != first[codes])
        if len(uneven):
            i = uneven[0]
            raise InputError(
                f"table[{name!r}][{lines[i]}]: sample {labels[codes[i]]!r}{of} has different weights on its lines; give one"
                " weight a sample."
            )
        return base_weights(first, len(labels), f"table[{name!r}]"), float(first.sum())


def read_alternatives(frame: Any, roles: Mapping[str, str]) -> Alternatives:
    """The columns of a table, and what can be said of each line alone."""
    for role, name in roles.items():
        if name not in frame.columns:
            raise InputError(
                f"the table has no column {name!r} for the {_ROLE.get(role, role)}; its columns are {frame.columns!r}."
            )
        twice = next((other for other, same in roles.items() if same == name and other != role), None)
        if twice is not None:
            raise InputError(f"the column {name!r} is named for {role} and for {twice}; name a column of its own for each.")
    if not len(frame):
        raise InputError("the table is empty; give one line an alternative.")
    numbers = {
        role: read_numbers(frame[name].to_native(), f"table[{name!r}]")
        for role, name in roles.items()
        if role in ("loss", "cost", "weight")
    }
    sample, labels = numbered(read_vector(frame[roles["sample"]].to_native(), f"table[{roles['sample']!r}]"), roles["sample"])
    for role, plural in (("cost", "costs"), ("weight", "weights")):
        negative = np.flatnonzero(numbers.get(role, np.zeros(0)) < 0.0)
        if len(negative):
            i = int(negative[0])
            raise InputError(
                f"table[{roles[role]!r}][{i}] is {numbers[role][i]:g} for sample {labels[sample[i]]!r}; {plural} must be ≥ 0."
            )
    extra = {name: frame[name].to_numpy() for name in frame.columns if name not in roles.values()}
    backend = frame.implementation.value
    return Alternatives(sample, numbers["loss"], numbers["cost"], numbers.get("weight"), labels, extra, roles, backend)


_ROLE = {"by": "groups"}
"""What a role is called in a sentence, where that is not its own name."""


def numbered(values: np.ndarray[Any, Any], name: str, what: str = "sample") -> tuple[IntArray, list[Any]]:
    """Number the values in the order of their first line."""
    import pandas as pd

    codes, labels = pd.factorize(values)
    if (codes < 0).any():
        raise InputError(f"table[{name!r}][{int(np.flatnonzero(codes < 0)[0])}] is missing; every line needs its {what}.")
    return codes.astype(np.intp), list(pd.Index(labels))  # as Python names them: 1, not np.int64(1)


def _codes(values: Any) -> tuple[IntArray, int]:
    """Values numbered, and how many there are; 0 where some are missing or cannot be told apart."""
    import pandas as pd

    try:
        codes, labels = pd.factorize(values)
    except TypeError:  # lists and the like
        return np.zeros(0, dtype=np.intp), 0
    return codes.astype(np.intp), 0 if (codes < 0).any() else len(labels)


def _check_originals(
    codes: IntArray,
    labels: list[Any],
    losses: FloatArray,
    costs: FloatArray,
    lines: IntArray,
    of: str,
    groupings: Callable[[], list[tuple[str, bool]]] | None,
) -> None:
    """Every sample has one original: a line of cost 0, or several that agree."""
    original = np.flatnonzero(costs == 0.0)
    without = np.flatnonzero(np.bincount(codes[original], minlength=len(labels)) == 0)
    if len(without):
        raise InputError(f"sample {labels[without[0]]!r}{of} has no line of cost 0; add the sample as it is, with cost 0.")
    first = np.zeros(len(labels), dtype=np.intp)
    first[codes[original[::-1]]] = original[::-1]
    several = original[losses[original] != losses[first[codes[original]]]]
    if not len(several):
        return
    i = several[0]
    where = f"table[{lines[first[codes[i]]]}] and table[{lines[i]}]"
    names = [] if groupings is None else [name for name, _ in groupings()]
    if groupings is None:
        remedy = "keep the original"
    elif names:
        remedy = f"there is one for each {names[0]!r}, so give {_remedy(names[0])} for a profile of each, or keep one of them"
    else:
        remedy = f"keep the original; if these are runs of several models, give their column, as {_remedy(USUAL_GROUPING)}"
    raise InputError(f"sample {labels[codes[i]]!r}{of} has several lines of cost 0 with different losses, {where}; {remedy}.")


def _remedy(column: str) -> str:
    """How to say that a column tells several tables apart."""
    return f"by={column!r} (tippingpoint compare --by {column})"
