"""Whether a model answers the same rows the same: some of them are asked about again, in other company."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.families.blackbox.calling import Caller
from tippingpoint.query.noise import REPEATS, numbers_differ, unsteady

TRIAL_ROWS = 256
"""Rows on which a model is tried out."""

Answers = np.ndarray[Any, Any]


def trial_rows(samples: int) -> IntArray:
    """Some rows, evenly spread over the data, which may be sorted."""
    return np.linspace(0, samples - 1, min(TRIAL_ROWS, samples)).astype(np.intp)


def check_numbers(ask: Callable[[IntArray], FloatArray], samples: int, caller: Caller, what: str) -> None:
    """Refuse a model whose numbers (called `what`) for some rows are others when asked again."""
    rows = trial_rows(samples)
    rows = rows[_spread(len(rows), caller.affords(2 * len(rows)) // 2)]
    if caller.noise.repeats == 1 and len(rows):
        check_numbers_again(ask, rows, ask(rows), caller, what)


def check_numbers_again(
    ask: Callable[[IntArray], FloatArray], rows: IntArray, first: FloatArray, caller: Caller, what: str
) -> None:
    """The same, where the first answers for these rows are at hand."""
    some = _spread(len(rows), caller.affords(len(rows)))
    if caller.noise.repeats > 1 or not len(some):
        return
    first, again = first[some], _again(ask, rows[some])
    if numbers_differ(first, again).any():
        apart = np.abs(again - first)
        raise unsteady(f"{what} differ by up to {apart.max():.3g} ({np.sqrt(np.square(apart).mean()):.3g} on average)")


def check_labels_again(ask: Callable[[IntArray], Answers], rows: IntArray, first: Answers, caller: Caller) -> None:
    """Refuse a model whose labels of these rows are not those it gave first."""
    some = _spread(len(rows), caller.affords(len(rows)))
    differ = int((_again(ask, rows[some]) != first[some]).sum()) if len(some) else 0
    if differ:
        remedy = f"pass a model that tells scores or probabilities, which repeats={REPEATS} averages (labels have no mean)"
        raise unsteady(f"{differ} of {len(some)} labels differ", remedy)


def _spread(count: int, most: int) -> IntArray:
    """Positions of at most so many, evenly spread."""
    return np.linspace(0, count - 1, min(count, most)).astype(np.intp)


def _again(ask: Callable[[IntArray], Answers], rows: IntArray) -> Answers:
    """The answers to every second of the rows, and to the others: a model that looks at the whole batch sees another one."""
    if len(rows) == 1:
        return ask(rows)
    every = np.concatenate((ask(rows[::2]), ask(rows[1::2])))
    found = np.empty_like(every)
    found[::2], found[1::2] = np.split(every, [(len(rows) + 1) // 2])
    return found
