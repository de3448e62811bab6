"""Single features, one after the other: from every sample outwards, until it errs or there is nothing left to try.

Where the places that can matter are known, and few enough, each is tried: then the best response along the feature is exact.
A search over several features makes the same scans, but for places that cost a sample no less than an error of it that is
known already. So what it finds is never worse than what a scan of one feature finds.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, blocks
from tippingpoint.query.axes import Beside, Choice, Line
from tippingpoint.query.counted import Task
from tippingpoint.query.turns import Query, Rounds, Search, columns_of_turn, endless_rounds, query_each, rows_of_turn

HALVINGS = 8
"""Bisections between a sample and an error of its own."""

RUNGS, NEAREST_RUNG, FARTHEST_RUNG = 24, 0.01, 12.0
"""Places on either side of a sample along a line, the nearest and the farthest of them in spreads of the feature."""

LEVELS = 8
"""Quantiles of the data that are tried along a line."""

MAX_PLACES_CROSSING, MAX_PLACES_SMOOTH = 2000, 500
"""Places beside the known changes of a model up to which each is tried; for losses that rise smoothly none can be left out."""

MAX_NUMBERS = 2**22
"""Numbers held at once."""

Radius = Callable[[], FloatArray]
"""The cost of every sample from which on places cannot matter."""


def places_known(task: Task, feature: Line | Choice) -> int | None:
    """How many places a scan of this feature tries, where that makes it exact; None where it cannot be."""
    if feature.menu is not None:
        return len(feature.menu.values)
    if isinstance(feature, Choice) or feature.beside is None:
        return None
    places = len(feature.beside.above)
    return places if places <= (MAX_PLACES_CROSSING if task.loss.needs_crossing else MAX_PLACES_SMOOTH) else None


def scan(task: Task, feature: Line | Choice, radius: Radius, *, endless: bool, rounds: Rounds = endless_rounds) -> Search:
    """All there is along one feature; endless: along a line whose places cannot be counted ever finer, by rounds."""
    if not len(task.rows):  # nobody to move: every sample is wrong already
        return
    known = places_known(task, feature)
    for fineness in rounds() if endless and known is None else (0,):
        width = known or 2 ** (fineness + 1) * (RUNGS + LEVELS)
        for part in blocks(len(task.rows), max(MAX_NUMBERS // width, 1)):
            rows = task.rows[part]
            if isinstance(feature, Line) and known is None:
                yield from _between(task, feature, rows, 2**fineness, radius)
            elif isinstance(feature, Line) and feature.beside is not None:
                at = _beside(feature, feature.beside, task.x[rows])
                yield from _outwards(task, feature, rows, at, _cost(feature, task.x[rows], at), radius)
            elif feature.menu is not None:
                cost = feature.menu.cost[feature.menu.options(task.x[rows])]
                order = np.argsort(cost, axis=1, kind="stable")
                yield from _outwards(task, feature, rows, order, np.take_along_axis(cost, order, axis=1), radius)


def _between(task: Task, line: Line, rows: IntArray, fineness: int, radius: Radius) -> Search:
    """Places on a ladder, then halvings between the nearest error and the last place before it that is right."""
    at = _ladder(line, task, rows, fineness)
    # The first place beyond the radius matters too: there may be an error between it and the place before.
    replies = yield from _outwards(task, line, rows, at, _cost_before(line, task.x[rows], at), radius)
    if task.loss.needs_crossing:
        yield from _halved(task, line, rows, at, replies, radius)


def _beside(line: Line, beside: Beside, x: FloatArray) -> FloatArray:
    """`(n, S)` positions beside the changes of the model, the nearest first on either side in turns; NaN for no place."""
    home, count = line.positions(x), len(beside.above)
    up = np.searchsorted(beside.above, home, side="right")[:, None] + np.arange(count)
    down = np.searchsorted(beside.below, home, side="left")[:, None] - 1 - np.arange(len(beside.below))
    rising = np.where(up < count, beside.above[np.minimum(up, count - 1)], np.nan)
    falling = np.where(down >= 0, beside.below[np.maximum(down, 0)], np.nan)
    at = np.full((len(x), 2 * max(rising.shape[1], falling.shape[1])), np.nan)
    at[:, 0 : 2 * rising.shape[1] : 2], at[:, 1 : 2 * falling.shape[1] : 2] = rising, falling
    return np.asarray(at[:, ~np.isnan(at).all(axis=0)])


def _ladder(line: Line, task: Task, rows: IntArray, fineness: int) -> FloatArray:
    """`(n, S)` positions on both sides of these rows and at levels of the data, the nearest first; NaN for no place."""
    x = task.x
    home, held = line.positions(x[rows]), line.positions(task.known)
    reach = line.spread * np.geomspace(NEAREST_RUNG, FARTHEST_RUNG, RUNGS * fineness)
    known = held[~np.isnan(held)]
    levels = np.quantile(known, np.linspace(0.0, 1.0, LEVELS * fineness)) if len(known) else np.zeros(0)
    wishes = [home + side * each for each in reach for side in (1.0, -1.0)] + [np.full(len(rows), each) for each in levels]
    at = np.column_stack([line.snapped(x[rows], np.where(np.isnan(home), home, wish)) for wish in wishes])
    order = np.lexsort((at, np.abs(at - home[:, None])), axis=1)
    at = np.take_along_axis(at, order, axis=1)
    again = np.column_stack((np.zeros(len(at), dtype=bool), at[:, 1:] == at[:, :-1]))
    return np.where(again | (at == home[:, None]), np.nan, at)


def _cost(line: Line, x: FloatArray, at: FloatArray) -> FloatArray:
    return np.asarray(line.price * np.square(at - line.positions(x)[:, None]))


def _cost_before(line: Line, x: FloatArray, at: FloatArray) -> FloatArray:
    """Of positions from near to far: the cost of the one before it on the same side."""
    cost, side = _cost(line, x, at), np.sign(at - line.positions(x)[:, None])
    before = np.full(at.shape, np.nan)
    for each in (-1.0, 1.0):
        so_far = np.maximum.accumulate(np.where(side == each, cost, 0.0), axis=1)
        earlier = np.column_stack((np.zeros(len(at)), so_far[:, :-1]))
        before = np.where(side == each, earlier, before)
    return before


def _outwards(
    task: Task, feature: Line | Choice, rows: IntArray, at: FloatArray | IntArray, gate: FloatArray, radius: Radius
) -> Generator[Query, FloatArray, FloatArray]:
    """Answers at `(n, S)` positions, tried from the first to the last; NaN where the gate is not within the radius."""
    replies, gate, start, tried = np.full(at.shape, np.nan), np.where(np.isnan(gate), np.inf, gate), 0, 0
    alone = task.others is not None  # then how many places are tried at once must not depend on the other rows
    while start < at.shape[1] and (gate[:, start:].min(axis=1) < radius()[rows]).any():
        trials, bound, count = list[tuple[int, IntArray]](), radius()[rows], 0
        most = columns_of_turn(start) if alone else rows_of_turn(len(rows), tried)
        while start < at.shape[1] and (len(trials) if alone else count) < most:
            here = np.flatnonzero(gate[:, start] < bound)
            trials.append((start, here))
            count, start = count + len(here), start + 1
        tried += count
        found = yield from query_each((rows[here], _placed(task, feature, rows[here], at[here, k])) for k, here in trials)
        for (k, here), reply in zip(trials, found, strict=True):
            replies[here, k] = reply
    return replies


def _placed(task: Task, feature: Line | Choice, rows: IntArray, where: FloatArray | IntArray) -> FloatArray:
    """The rows as they are but for one feature: a line at positions, anything else at options of its menu."""
    places = task.x[rows]
    if isinstance(feature, Line) and feature.menu is None:
        feature.put(places, where.astype(float))
    elif feature.menu is not None:
        places[:, feature.menu.columns] = feature.menu.values[where.astype(np.intp)]
    return places


def _halved(task: Task, line: Line, rows: IntArray, at: FloatArray, replies: FloatArray, radius: Radius) -> Search:
    """Between the nearest error along a line and the last place before it that is right."""
    home = line.positions(task.x[rows])
    everyone, apart = np.arange(len(rows)), np.abs(at - home[:, None])
    nearest = np.where(replies >= 0.0, apart, np.inf).argmin(axis=1)
    high = np.where(replies[everyone, nearest] >= 0.0, apart[everyone, nearest], np.inf)
    side = np.sign(at - home[:, None])
    before = (replies < 0.0) & (side == side[everyone, nearest][:, None]) & (apart < high[:, None])
    low = np.where(before, apart, 0.0).max(axis=1)
    for _ in range(HALVINGS):
        found = np.flatnonzero(np.isfinite(high) & (line.price * np.square(low) < radius()[rows]))
        if not len(found):
            return
        middle = 0.5 * (low[found] + high[found])
        position = line.snapped(task.x[rows[found]], home[found] + side[found, nearest[found]] * middle)
        wrong = (yield rows[found], _placed(task, line, rows[found], position)) >= 0.0
        low[found], high[found] = np.where(wrong, low[found], middle), np.where(wrong, middle, high[found])
