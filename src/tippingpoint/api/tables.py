"""Tables of alternatives: what each sample could become, what it would cost, what the loss would be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from tippingpoint.api.profiles import Profile
from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.atoms import TableOracle
from tippingpoint.data.frames import base_weights, read_frame, read_numbers, read_vector
from tippingpoint.errors import InputError
from tippingpoint.results.origin import DataFingerprint, Origin, call_of
from tippingpoint.text import GIVEN

USUAL = "model"
"""What the column that tells several runs of the same samples apart is mostly called."""


@overload
def profile_table(
    table: Any, *, sample: str = "sample", loss: str = "loss", cost: str = "cost", weight: str | None = None, by: None = None
) -> Profile: ...


@overload
def profile_table(
    table: Any, *, sample: str = "sample", loss: str = "loss", cost: str = "cost", weight: str | None = None, by: str
) -> dict[str, Profile]: ...


def profile_table(
    table: Any,
    *,
    sample: str = "sample",
    loss: str = "loss",
    cost: str = "cost",
    weight: str | None = None,
    by: str | None = None,
) -> Profile | dict[str, Profile]:
    """The profile of a table of alternatives, or one a group of its lines; no model is needed.

    For paraphrases of prompts, corruptions of images, simulations, or a vendor's black box: run them, write down one line
    an alternative, and get the exact stability over what was tried.

    Parameters
    ----------
    table
        A pandas or polars frame, one line an alternative. The line of cost 0 is the sample as it is.
    sample
        Column that says which sample a line belongs to.
    loss
        Column with the loss of the alternative.
    cost
        Column with what it costs to go there; it takes the place of the squared distance.
    weight
        Column with the weight of the sample (the same on all its lines). Where none is named, a column called "weight" is
        taken; without one, all samples weigh the same.
    by
        Column that tells several runs of the same samples apart, such as the model that was asked. The profiles then come as
        a dictionary, by the values of this column in the order of the table; `compare` takes it as it is.

    Examples
    --------
    >>> import pandas as pd, tippingpoint as tp
    >>> runs = pd.DataFrame({"sample": ["a", "a", "b"], "loss": [0, 1, 0], "cost": [0, 2, 0]})
    >>> tp.profile_table(runs).stability(risk=0.5, theta1=1.0, theta2=float("inf")).value
    1.0
    >>> both = pd.concat([runs.assign(model="small"), runs.assign(model="large", cost=2 * runs["cost"])])
    >>> profiles = tp.profile_table(both, by="model")
    >>> {name: profile.stability(0.5, theta1=1.0, theta2=float("inf")).value for name, profile in profiles.items()}
    {'small': 1.0, 'large': 2.0}
    """
    import narwhals as nw

    frame = read_frame(table, "table")
    if not isinstance(frame, nw.DataFrame):
        raise InputError(f"table is a {type(table).__name__}; give a pandas or polars frame, one line an alternative.")
    if weight is None and "weight" in frame.columns and "weight" not in (sample, loss, cost, by):
        weight = "weight"
    roles = {"sample": sample, "loss": loss, "cost": cost, "weight": weight, "by": by}
    lines = _read(frame, {role: name for role, name in roles.items() if name is not None})
    if by is None:
        lines.check_ungrouped()
        return lines.profile(np.arange(len(lines.loss)))
    codes, groups = _numbered(read_vector(frame[by].to_native(), f"table[{by!r}]"), by, "group")
    names = [str(group) for group in groups]
    if len(set(names)) < len(names):
        raise InputError(f"table[{by!r}] holds values that are written alike, such as 1 and '1'; write each in one way.")
    return {name: lines.profile(np.flatnonzero(codes == k), name) for k, name in enumerate(names)}


@dataclass(frozen=True)
class _Lines:
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

    def profile(self, lines: IntArray, group: str | None = None) -> Profile:
        """The profile of these lines; `group` is what they have in common."""
        numbers, codes = np.unique(self.sample[lines], return_inverse=True)
        labels = [self.labels[i] for i in numbers]
        loss, cost = self.loss[lines], self.cost[lines]
        of = "" if group is None else f" of {group!r}"
        _check_originals(codes, labels, loss, cost, lines, of, None if group is not None else self.groupings)
        base = self._base(codes, labels, lines, of)
        rows = np.flatnonzero(base)
        kept = np.isin(codes, rows)
        place = np.cumsum(base > 0.0) - 1
        columns = {name: values[lines[kept]] for name, values in self.columns.items()} or {"line": lines[kept]}
        oracle = TableOracle(place[codes[kept]], loss[kept], cost[kept], columns)
        index = [labels[i] for i in rows]
        return Profile(oracle, base[rows], index, GIVEN, _range(self.loss), self.backend, origin=self._origin(lines, group))

    def _origin(self, lines: IntArray, group: str | None) -> Origin:
        """What these lines are, for a report to tell."""

        def contents() -> dict[str, Any]:
            names = np.array([str(label) for label in self.labels], dtype=object)
            held = {"sample": names[self.sample[lines]], "loss": self.loss[lines], "cost": self.cost[lines]}
            if self.weight is not None:
                held["weight"] = self.weight[lines]
            return held | {f"column:{name}": values[lines] for name, values in self.columns.items()}

        called = "a table of alternatives" if group is None else f"a table of alternatives, {group}"
        asked = call_of("profile_table", "table", weight=self.roles.get("weight"), by=self.roles.get("by"))
        return Origin(called, "", None, DataFingerprint(contents), asked)

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
        found.sort(key=lambda each: (not each[1], each[0] != USUAL, each[2]))
        return [(name, complete) for name, complete, _ in found]

    def _base(self, codes: IntArray, labels: list[Any], lines: IntArray, of: str) -> FloatArray:
        """The weight of each sample, of all one."""
        if self.weight is None:
            return base_weights(None, len(labels))
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
        return base_weights(first, len(labels), f"table[{name!r}]")


def _read(frame: Any, roles: Mapping[str, str]) -> _Lines:
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
    sample, labels = _numbered(read_vector(frame[roles["sample"]].to_native(), f"table[{roles['sample']!r}]"), roles["sample"])
    for role, plural in (("cost", "costs"), ("weight", "weights")):
        negative = np.flatnonzero(numbers.get(role, np.zeros(0)) < 0.0)
        if len(negative):
            i = int(negative[0])
            raise InputError(
                f"table[{roles[role]!r}][{i}] is {numbers[role][i]:g} for sample {labels[sample[i]]!r}; {plural} must be ≥ 0."
            )
    extra = {name: frame[name].to_numpy() for name in frame.columns if name not in roles.values()}
    backend = frame.implementation.value
    return _Lines(sample, numbers["loss"], numbers["cost"], numbers.get("weight"), labels, extra, roles, backend)


def _range(losses: FloatArray) -> tuple[float, float]:
    """What a mean loss can be: of losses that are all 0 or 1 an error rate, of others anything."""
    return (0.0, 1.0) if np.isin(losses, (0.0, 1.0)).all() else (-math.inf, math.inf)


_ROLE = {"by": "groups"}
"""What a role is called in a sentence, where that is not its own name."""


def _numbered(values: np.ndarray[Any, Any], name: str, what: str = "sample") -> tuple[IntArray, list[Any]]:
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
        remedy = f"keep the original; if these are runs of several models, give their column, as {_remedy(USUAL)}"
    raise InputError(f"sample {labels[codes[i]]!r}{of} has several lines of cost 0 with different losses, {where}; {remedy}.")


def _remedy(column: str) -> str:
    """How to say that a column tells several tables apart."""
    return f"by={column!r} (tippingpoint compare --by {column})"
