"""Checks of the lines of a table: one original a sample, one line an alternative, or one a run of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.errors import InputError

USUAL_GROUPING = "model"
"""What the column that tells several runs of the same samples apart is mostly called."""

Groupings = Callable[[], list[tuple[str, bool]]]
"""Columns that look like a forgotten grouping, and whether every sample has all of its groups."""


def check_originals(
    codes: IntArray,
    labels: list[Any],
    losses: FloatArray,
    costs: FloatArray,
    lines: IntArray,
    of: str,
    cost: str,
    groupings: Groupings | None,
) -> None:
    """Every sample has one original: a line of cost 0, or several that agree.

    Parameters
    ----------
    codes, labels
        The sample of each alternative, and what samples are called.
    losses, costs, lines
        Of each alternative, and the line of the table that it stands on.
    of, cost
        In words, which part of the table it is; and the name of the column of costs.
    groupings
        What may have been forgotten.
    """
    original = np.flatnonzero(costs == 0.0)
    without = np.flatnonzero(np.bincount(codes[original], minlength=len(labels)) == 0)
    if len(without):
        own = np.flatnonzero(codes == without[0])
        i = own[np.argmin(costs[own])]
        raise InputError(
            f"table[{cost!r}][{lines[i]}] is {costs[i]:g}: sample {labels[without[0]]!r}{of} has no line of cost 0, this is its"
            " cheapest; add the sample as it is, with cost 0."
        )
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
        remedy = (
            f"there is one for each {names[0]!r}, so give {grouped_by(names[0])} for a profile of each, or keep one of them"
        )
    else:
        remedy = f"keep the original; if these are runs of several models, give their column, as {grouped_by(USUAL_GROUPING)}"
    raise InputError(f"sample {labels[codes[i]]!r}{of} has several lines of cost 0 with different losses, {where}; {remedy}.")


def check_single(key: IntArray, count: int, lines: IntArray, told: Callable[[int], str], groupings: Groupings | None) -> None:
    """Every alternative stands on one line, where runs are not told apart.

    Parameters
    ----------
    key, count
        The number of the alternative of each line, and how many there can be.
    lines
        Lines of the table.
    told
        The alternative of a line, in words.
    groupings
        What may have been forgotten.
    """
    # Few numbers are counted off; many are hashed.
    if count <= 8 * len(key) and not (np.bincount(key, minlength=1) > 1).any():
        return
    import pandas as pd

    again = np.flatnonzero(pd.Index(key).duplicated())
    if not len(again):
        return
    i = again[0]
    first = np.flatnonzero(key == key[i])[0]
    names = [] if groupings is None else [name for name, _ in groupings()]
    remedy = f"give {grouped_by(names[0])} for a profile of each, or " if names else ""
    raise InputError(
        f"{told(int(i))} stands on two lines, table[{lines[first]}] and table[{lines[i]}]; {remedy}name the column that counts"
        " its runs, as repeat='run' (--repeat run), or keep one of them."
    )


def grouped_by(column: str) -> str:
    """How to say that a column tells several tables apart."""
    return f"by={column!r} (tippingpoint compare --by {column})"
