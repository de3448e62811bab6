"""What it costs to switch from one category to another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError, listed


def by_frequency(share: FloatArray) -> FloatArray:
    """`-log p` of the category switched to, for shares `p` of the categories; one that never occurs is out of reach."""
    with np.errstate(divide="ignore"):
        surprise = np.log(share.sum()) - np.log(share)
    return np.where(np.eye(len(share), dtype=bool), 0.0, surprise)


def by_table(name: str, given: Any, labels: Sequence[Any]) -> FloatArray:
    """Costs in the order of the labels, from a mapping of mappings, a pandas frame or a square array."""
    if hasattr(given, "loc"):
        given = {start: dict(given.loc[start]) for start in given.index}
    table = _from_mapping(name, given, labels) if isinstance(given, Mapping) else _from_array(name, given, labels)
    same = np.eye(len(labels), dtype=bool)
    bad = np.argwhere(np.isnan(table) | np.where(same, table != 0.0, table <= 0.0))
    if len(bad):
        start, end = (labels[k] for k in bad[0])
        switch = f"switch[{name!r}] from {start!r} to {end!r} is {table[tuple(bad[0])]:g}"
        raise InputError(f"{switch}; it must be positive (infinite: not allowed), and 0 from a category to itself.")
    return table


def _from_mapping(name: str, given: Mapping[Any, Any], labels: Sequence[Any]) -> FloatArray:
    """`{from: {to: cost}}`; a switch that is not listed is not allowed."""
    table = np.where(np.eye(len(labels), dtype=bool), 0.0, math.inf)
    place = {label: k for k, label in enumerate(labels)}
    for start, row in given.items():
        if not isinstance(row, Mapping):
            raise InputError(f"switch[{name!r}][{start!r}]={row!r} must be a mapping, as {{to: cost}}.")
        for end, cost in row.items():
            odd = next((label for label in (start, end) if label not in place), None)
            if odd is not None:
                raise InputError(f"switch[{name!r}] names {odd!r}, which is no category; they are {listed(labels)}.")
            table[place[start], place[end]] = as_number(f"switch[{name!r}][{start!r}]", end, cost)
    return table


def _from_array(name: str, given: Any, labels: Sequence[Any]) -> FloatArray:
    try:
        table = np.array(given, dtype=float)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape != (len(labels), len(labels)):
        shown = f"={given!r}" if isinstance(given, str) else f" of shape {table.shape}"
        raise InputError(
            f"switch[{name!r}]{shown} must be 'frequency', a table {{from: {{to: cost}}}}, or a square array for its"
            f" {len(labels)} categories, {listed(labels)}."
        )
    return table


def as_number(argument: str, name: Any, value: Any) -> float:
    """A number, or an error that names what it was given for."""
    try:
        number = float(value)
    except OverflowError:
        raise InputError(f"{argument}[{name!r}]={value!r} is above 1.8e308. Give a number that float64 can hold.") from None
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise InputError(f"{argument}[{name!r}]={value!r} must be a number.")
    return number
