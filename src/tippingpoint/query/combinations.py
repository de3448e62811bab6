"""Combinations of two and three features: each is scanned alone around a place, and the sums say which to try together.

For models that change by jumps, such as trees, what lies between two places is worth nothing, so here places are counted: of
every feature some that are cheaper than the nearest error known. Around the sample itself this finds combinations; around
that error it finds exchanges, a little less of one feature for a little more of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, blocks
from tippingpoint.core.atoms import Atoms
from tippingpoint.query.axes import Beside, Choice, Line
from tippingpoint.query.counted import Task
from tippingpoint.query.turns import Query, Search, query_each

PLACES_A_SIDE = 8
"""Places of a line on either side that are scanned; all there are within reach, where there are fewer."""

Parts = FloatArray
"""How far out they are, of all that is within reach."""

MAX_SWITCHES = 16
"""Options of a choice that are scanned, the cheapest first."""

OPTIONS_A_FEATURE = 8
"""Places of a feature that are combined with those of others: those that no cheaper one beats first, then the cheapest.
More of them where there are few features."""

MAX_OPTIONS = 64
"""Places of all features that are combined, the most effective for their cost first."""

REACH_IN_SPREADS = 4.0
"""How far a line is scanned, in spreads, for samples of which no error is known."""

SUM_ERROR, INTERACTION = 0.3, 0.5
"""How far a sum of changes may be off, relative to the changes; and to what an error takes, since two features together may do
what neither does alone."""

MIN_TRIALS, SHARED_TRIALS, TRIALS_AT_ONCE = 24, 192, 8
"""Pairs that are tried, and triples: so many, or more where few features share this number; and how many of them before what
was found is looked at."""

MAX_SEEDS = 12
"""Pairs to which a third feature is added."""

MAX_NUMBERS = 2**21
"""Numbers held at once."""


@dataclass(frozen=True)
class FeaturePlaces:
    """Places of one feature: `(n, K)` positions (of a choice its options), and their costs from home; infinite for no place."""

    feature: Line | Choice
    at: FloatArray
    cost: FloatArray

    def put(self, places: FloatArray, rows: IntArray, which: IntArray) -> None:
        """Move the feature of `places`, which belong to these rows of the options, to these columns of them."""
        where = self.at[rows, which]
        if isinstance(self.feature, Line):
            self.feature.put(places, where)
        else:
            self.feature.put(places, where.astype(np.intp))


@dataclass(frozen=True)
class Candidates:
    """Places of all features that may be combined, `(n, W)` of each: what they add to the cost and to the score.

    `feature` and `which` say of which feature they are, and the how-many-th of its options; the cost of none is infinite.
    """

    feature: IntArray
    which: IntArray
    dearer: FloatArray
    gain: FloatArray

    def sums(self, of: FloatArray, picked: IntArray) -> FloatArray:
        """Of `(n, M, 3)` places, of which -1 is none, what they add together."""
        padded = np.column_stack((of, np.zeros(len(of))))
        return np.asarray(
            np.take_along_axis(padded[:, :, None], picked.reshape(len(of), -1, 1), axis=1).reshape(picked.shape).sum(axis=2)
        )


def combine(task: Task, features: Sequence[Line | Choice], atoms: Atoms, rows: IntArray, parts: Parts) -> Search:
    """Combinations around the samples, then exchanges around the nearest errors that are known."""
    if len(features) < 2:
        return
    yield from _around(task, features, atoms, rows, task.x[rows], parts)
    found = atoms.cheapest()[0][rows]
    moved = np.flatnonzero(np.isfinite(_radius(atoms)[rows]))
    yield from _around(task, features, atoms, rows[moved], found[moved], parts)


def even() -> Parts:
    """Parts that are spread evenly."""
    return np.linspace(0.0, 1.0, PLACES_A_SIDE)


def drawn(generator: np.random.Generator) -> Parts:
    """Parts that are drawn at random, the near ones more often; the nearest of all is one."""
    return np.append(0.0, np.sort(np.square(generator.random(PLACES_A_SIDE - 1))))


def _around(
    task: Task, features: Sequence[Line | Choice], atoms: Atoms, rows: IntArray, base: FloatArray, parts: Parts
) -> Search:
    """Up to three features moved at once from these places."""
    if not len(rows):
        return
    home, bound = task.x[rows], _radius(atoms)[rows]
    options = [_options(feature, home, bound, parts) for feature in features]
    value = yield rows, base
    spent = task.domain.distance(home, base)
    near = [each.cost < bound[:, None] for each in options]
    trials = [(each, k, np.flatnonzero(near[f][:, k])) for f, each in enumerate(options) for k in range(each.at.shape[1])]
    replies = yield from query_each((rows[here], _moved(base, each, here, np.full(len(here), k))) for each, k, here in trials)
    scores = {id(each): np.full(each.at.shape, np.nan) for each in options}
    for (each, k, here), reply in zip(trials, replies, strict=True):
        scores[id(each)][here, k] = reply
    candidates = _candidates(
        options, [_cost_now(each.feature, home, base) for each in options], [scores[id(each)] for each in options], value
    )
    bound = _radius(atoms)[rows]
    known = bound[np.isfinite(bound)]
    far = 2.0 * known.max(initial=1.0) if task.others is None else _farthest(options)
    reward = np.where(np.isfinite(bound), bound, far) - spent
    picked = np.concatenate(
        [
            _picked(candidates, part, value, reward, max(MIN_TRIALS, SHARED_TRIALS // len(features)))
            for part in blocks(len(rows), max(MAX_NUMBERS // MAX_OPTIONS**2, 1))
        ],
        axis=0,
    )
    dearer = candidates.sums(np.where(np.isfinite(candidates.dearer), candidates.dearer, 0.0), picked)
    for start in range(0, picked.shape[1], TRIALS_AT_ONCE):
        bound = _radius(atoms)[rows]
        trials_now = list[Query]()
        for k in range(start, min(start + TRIALS_AT_ONCE, picked.shape[1])):
            here = np.flatnonzero((picked[:, k] >= 0).any(axis=1) & (spent + dearer[:, k] < bound))
            places = base[here]
            for slot in range(picked.shape[2]):
                for f, each in enumerate(options):
                    chosen = picked[here, k, slot]
                    some = np.flatnonzero((chosen >= 0) & (candidates.feature[here, chosen] == f))
                    part = places[some]
                    each.put(part, here[some], candidates.which[here[some], chosen[some]])
                    places[some] = part
            trials_now.append((rows[here], places))
        yield from query_each(trials_now)


def _farthest(options: Sequence[FeaturePlaces]) -> FloatArray:
    """What every sample would pay to move all its features as far as is tried, and as much again."""
    return np.asarray(2.0 * sum(np.where(np.isfinite(each.cost), each.cost, 0.0).max(axis=1) for each in options))


def _moved(base: FloatArray, options: FeaturePlaces, here: IntArray, which: IntArray) -> FloatArray:
    """These rows of the base with one feature moved to options of its own."""
    places = base[here]
    options.put(places, here, which)
    return places


def _radius(atoms: Atoms) -> FloatArray:
    """The cost of every sample's nearest error; infinite where none is known."""
    cost = atoms.cheapest()[1]
    return np.where(cost > 0.0, cost, np.inf)


def _options(feature: Line | Choice, home: FloatArray, bound: FloatArray, parts: Parts) -> FeaturePlaces:
    """Places of a feature that cost less than the bound; staying at home is one of them."""
    if isinstance(feature, Choice):
        cost = feature.menu.cost[feature.menu.options(home)]
        order = np.argsort(cost, axis=1, kind="stable")[:, : MAX_SWITCHES + 1]
        return FeaturePlaces(feature, order.astype(float), np.take_along_axis(cost, order, axis=1))
    here = feature.positions(home)
    reach = np.where(np.isfinite(bound), np.sqrt(bound / feature.price), REACH_IN_SPREADS * feature.spread)
    if feature.beside is not None:
        wishes = _between(feature.beside, here, reach, parts)
    else:
        wishes = [here + side * reach * (part + 1.0 / PLACES_A_SIDE) for part in parts for side in (1.0, -1.0)]
    at = np.column_stack([here, *(feature.snapped(home, np.where(np.isnan(here), here, wish)) for wish in wishes)])
    order = np.argsort(np.abs(at - here[:, None]), axis=1, kind="stable")
    at = np.take_along_axis(at, order, axis=1)
    cost = feature.price * np.square(at - here[:, None])
    again = np.column_stack((np.zeros(len(at), dtype=bool), (at[:, 2:, None] == at[:, 1:-1, None]).any(axis=2)))
    cost[:, 2:][again[:, 1:]] = np.inf
    cost[:, 1:][cost[:, 1:] == 0.0] = np.inf
    return FeaturePlaces(feature, at, np.where(np.isnan(cost), np.inf, cost))


def _between(beside: Beside, home: FloatArray, reach: FloatArray, parts: Parts) -> list[FloatArray]:
    """Of the changes of the model within reach, on either side, those that are so far out."""
    first, last = (
        np.searchsorted(beside.above, home, side="right"),
        np.searchsorted(beside.above, home + reach, side="right") - 1,
    )
    lowest, highest = np.searchsorted(beside.below, home - reach), np.searchsorted(beside.below, home, side="left") - 1
    wishes = []
    for part in parts:
        up = np.round(first + part * (last - first)).astype(np.intp)
        down = np.round(highest - part * (highest - lowest)).astype(np.intp)
        wishes.append(np.where(last >= first, beside.above[np.clip(up, 0, len(beside.above) - 1)], home))
        wishes.append(np.where(highest >= lowest, beside.below[np.clip(down, 0, len(beside.below) - 1)], home))
    return wishes


def _cost_now(feature: Line | Choice, home: FloatArray, base: FloatArray) -> FloatArray:
    """What the feature costs where it is in the base."""
    if isinstance(feature, Line):
        return np.nan_to_num(feature.price * np.square(feature.positions(base) - feature.positions(home)))
    return np.asarray(feature.menu.cost[feature.menu.options(home), feature.menu.options(base)])


def _candidates(
    options: Sequence[FeaturePlaces], now: Sequence[FloatArray], scores: Sequence[FloatArray], value: FloatArray
) -> Candidates:
    """Of the options of every feature those that are combined."""
    parts = list[tuple[IntArray, IntArray, FloatArray, FloatArray]]()
    for f, (each, cost, score) in enumerate(zip(options, now, scores, strict=True)):
        dearer, gain = each.cost - cost[:, None], score - value[:, None]
        dearer = np.where(np.isnan(gain) | (each.cost == cost[:, None]), np.inf, dearer)
        order = np.argsort(dearer, axis=1, kind="stable")
        dearer, gain = np.take_along_axis(dearer, order, axis=1), np.take_along_axis(gain, order, axis=1)
        gain = np.where(np.isfinite(dearer), gain, -np.inf)
        best = np.maximum.accumulate(gain, axis=1)
        beaten = np.column_stack((np.zeros(len(gain), dtype=bool), gain[:, 1:] <= best[:, :-1]))
        rank = np.where(np.isfinite(dearer), beaten, 2)
        chosen = np.argsort(rank, axis=1, kind="stable")[
            :, : max(OPTIONS_A_FEATURE, MAX_OPTIONS // len(options))
        ]  # those that no cheaper one beats, then the cheapest
        gone = np.take_along_axis(rank, chosen, axis=1) == 2
        parts.append(
            (
                np.full(chosen.shape, f),
                np.take_along_axis(order, chosen, axis=1),
                np.where(gone, np.inf, np.take_along_axis(dearer, chosen, axis=1)),
                np.where(gone, 0.0, np.take_along_axis(gain, chosen, axis=1)),
            )
        )
    feature, which, dearer, gain = (np.concatenate(each, axis=1) for each in zip(*parts, strict=True))
    if feature.shape[1] > MAX_OPTIONS:
        rate = np.where(np.isfinite(dearer), np.square(gain) / np.maximum(np.abs(dearer), np.finfo(float).tiny), -1.0)
        best = np.argpartition(-rate, MAX_OPTIONS - 1, axis=1)[:, :MAX_OPTIONS]
        feature, which, dearer, gain = (np.take_along_axis(each, best, axis=1) for each in (feature, which, dearer, gain))
    return Candidates(feature, which, dearer, gain)


def _picked(candidates: Candidates, part: slice, value: FloatArray, reward: FloatArray, most: int) -> IntArray:
    """`(n, M, 3)`: the most promising pairs and triples of places, -1 for none; the most promising first."""
    feature, dearer, gain = candidates.feature[part], candidates.dearer[part], candidates.gain[part]
    a, b = np.triu_indices(feature.shape[1], 1)
    apart = feature[:, a] != feature[:, b]
    cost = np.where(apart, dearer[:, a] + dearer[:, b], np.inf)
    push, doubt = gain[:, a] + gain[:, b], np.abs(gain[:, a]) + np.abs(gain[:, b])
    doubt += INTERACTION * np.abs(value[part, None])
    worth = _promise(value[part, None] + push, doubt, reward[part, None] - cost)
    pairs = _largest(worth, most)
    rows = np.arange(len(feature))[:, None]
    first = np.stack((a[pairs], b[pairs], np.full(pairs.shape, -1)), axis=2)
    first[~(worth[rows, pairs] > 0.0)] = -1
    # A third feature is added to pairs that may fall short, so they are chosen with twice the doubt.
    seeds = _largest(_promise(value[part, None] + push, 2.0 * doubt, reward[part, None] - cost), MAX_SEEDS)
    sa, sb = a[seeds], b[seeds]
    third = (feature[:, None, :] != feature[rows, sa][:, :, None]) & (feature[:, None, :] != feature[rows, sb][:, :, None])
    cost3 = np.where(third, cost[rows, seeds][:, :, None] + dearer[:, None, :], np.inf)
    push3 = push[rows, seeds][:, :, None] + gain[:, None, :]
    doubt3 = doubt[rows, seeds][:, :, None] + np.abs(gain)[:, None, :]
    worth3 = _promise(value[part, None, None] + push3, doubt3, reward[part, None, None] - cost3).reshape(len(feature), -1)
    triples = _largest(worth3, most)
    seed, more = np.divmod(triples, feature.shape[1])
    second = np.stack((sa[rows, seed], sb[rows, seed], more), axis=2)
    second[~(worth3[rows, triples] > 0.0)] = -1
    both = np.concatenate((first, second), axis=1)
    order = np.argsort(-np.concatenate((worth[rows, pairs], worth3[rows, triples]), axis=1), axis=1, kind="stable")
    return np.asarray(np.take_along_axis(both, order[:, :, None], axis=1))


def _promise(score: FloatArray, doubt: FloatArray, saved: FloatArray) -> FloatArray:
    """What is saved, times how likely the score is that of an error."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        chance = 1.0 / (1.0 + np.exp(-score / (SUM_ERROR * doubt)))
        return np.where(saved > 0.0, saved * np.nan_to_num(chance), 0.0)


def _largest(worth: FloatArray, most: int) -> IntArray:
    """The columns of the largest values of every row."""
    most = min(most, worth.shape[1])
    return np.asarray(np.argpartition(-worth, most - 1, axis=1)[:, :most]) if most else np.zeros((len(worth), 0), dtype=np.intp)
