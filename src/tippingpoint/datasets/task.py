"""A data set as an experiment needs it: the columns, the outcome, and what is known of the columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tippingpoint.errors import InputError
from tippingpoint.space import Space
from tippingpoint.text import WIDTH, percent

Groups = Mapping[str, tuple[str, ...]]
"""Columns that belong together, by name."""


@dataclass(frozen=True, repr=False, eq=False)
class Task:
    """A table of numbers, the outcome to be told from it, and what its columns are; `X, y = task` takes it apart.

    Attributes
    ----------
    name
        What it is called.
    X
        A pandas frame of floats, as the source gives them: nothing is scaled.
    y
        A series of 0 and 1.
    numeric
        Columns that hold numbers or codes, the ones to standardise; all others are 0 or 1.
    one_hot
        Groups of 0/1 columns of which every row has exactly one 1.
    groups
        Columns that say the same thing together, as "race" or "education"; no column is in two.
    labels
        What a column says, in words, for charts; columns without are called by their name.
    source
        Where the rows come from.

    Examples
    --------
    >>> import pandas as pd
    >>> from tippingpoint.datasets import Task
    >>> X, y = pd.DataFrame({"age": [30.0, 40.0], "f": [1.0, 0.0]}), pd.Series([0, 1])
    >>> task = Task("two people", X, y, ("age",), {}, {"person": ("age", "f")}, {"f": "female"}, "made up")
    >>> features, outcome = task
    >>> list(features), outcome.tolist()
    (['age', 'f'], [0, 1])
    """

    name: str
    X: Any
    y: Any
    numeric: tuple[str, ...]
    one_hot: Groups = field(default_factory=dict)
    groups: Groups = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    source: str = ""

    def __iter__(self) -> Iterator[Any]:
        """X, then y."""
        return iter((self.X, self.y))

    def space(self, *, one_hot: bool = False, **settings: Any) -> Space:
        """A space that knows the groups, so that `feature_stability` can be asked about "race" as about a feature.

        Parameters
        ----------
        one_hot
            False moves every column as a number, as the paper does: a person can become half of another race, and to become
            all of it costs 2, 1 in each of two columns. True makes each of the `one_hot` groups one feature: a move is another
            category, and costs 1. Columns that are tied in other ways, as SCHL and its indicators, move apart either way.
        settings
            Anything else of a `Space`, as `frozen=["SEX"]`. Bounds are none; `Space.infer(X, one_hot=task.one_hot)` reads
            them off the columns that the model sees.
        """
        if not isinstance(one_hot, bool):
            raise InputError(f"one_hot={one_hot!r} must be True or False; for groups of your own, edit the space.")
        chosen = self.one_hot if one_hot else {}
        owner = {column: group for group, columns in chosen.items() for column in columns}
        groups = {
            name: tuple(dict.fromkeys(owner.get(column, column) for column in columns)) for name, columns in self.groups.items()
        }
        return Space(one_hot=chosen, groups=groups).edit(**settings)

    def __str__(self) -> str:
        rows, columns = self.X.shape
        lines = {
            "numeric": ", ".join(self.numeric),
            "one-hot": ", ".join(f"{name} ({len(members)})" for name, members in self.one_hot.items()),
            "groups": ", ".join(f"{name} ({len(members)})" for name, members in self.groups.items()),
            "source": self.source,
        }
        head = f"{self.name}: {rows:,} rows × {columns} columns, y = 1 in {percent(float(self.y.mean()))}"
        body = [textwrap.fill(f"  {name:<9}{text}", WIDTH, subsequent_indent=" " * 11) for name, text in lines.items() if text]
        return "\n".join([head, *body])

    def __repr__(self) -> str:
        return str(self)
