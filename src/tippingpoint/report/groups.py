"""Who the sensitive population is: conditions on single features that it fulfils more often than the data do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, total
from tippingpoint.data.columns import Column
from tippingpoint.results.evidence import words

CUTS = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Where numbers are cut into two parts: the share of the data below."""

MAX_DISTINCT = 10
"""Distinct numbers up to which each is a condition of its own."""

MAX_RULES = 6
"""Conditions that are listed."""

MIN_SHARE_NOW, MIN_SHARE_THEN = 0.02, 0.05
"""Share of the data, and of the sensitive distribution, below which a condition is not listed."""

ROUND_OFF = 1e-9
"""Part of a share that is rounding."""

MIN_LIFT = 1.1
"""Over-representation from which on a condition is listed."""

STANDARD_ERRORS = 2.0
"""Standard errors by which the two shares must differ."""

MAX_OVERLAP = 0.7
"""Part of two groups' rows that may be the same; a second name for one group says nothing new."""


@dataclass(frozen=True)
class Condition:
    """A group of rows: the feature, the condition in words, and which rows fulfil it."""

    feature: str
    words: str
    holds: BoolArray


class Rule(TypedDict):
    """A group that stands out: its share now and in the sensitive distribution."""

    feature: str
    condition: str
    now: float
    then: float
    lift: float


def describe(
    features: Mapping[str, tuple[Column, FloatArray]], base: FloatArray, weights: FloatArray, first: Condition | None = None
) -> list[Rule]:
    """The conditions that stand out most, one a feature, by how surprising the share under the weights is.

    Parameters
    ----------
    features
        What each holds, and its values now.
    base, weights
        Shares of the rows now, and how much more or less each counts in the sensitive distribution; averaging one.
    first
        A condition that is listed before all others, where it stands out.
    """
    found = []
    for feature, (column, values) in features.items():
        scored = [(_surprise(each, base, weights), each) for each in _conditions(feature, column, values, base)]
        best = max(scored, key=lambda pair: pair[0], default=(0.0, None))
        if best[1] is not None and best[0] > 0.0:
            found.append(best)
    found.sort(key=lambda pair: -pair[0])
    chosen = [first] if first is not None and _surprise(first, base, weights) > 0.0 else []
    for _, condition in found:
        if condition is not None and not any(_overlap(condition, other, base) > MAX_OVERLAP for other in chosen):
            chosen.append(condition)
    return [_rule(condition, base, weights) for condition in chosen[:MAX_RULES]]


def _conditions(feature: str, column: Column, values: FloatArray, base: FloatArray) -> Iterator[Condition]:
    known = ~np.isnan(values)
    distinct = np.unique(values[known])
    named = words(column)
    if named is not None or len(distinct) <= MAX_DISTINCT:
        if len(distinct) > MAX_DISTINCT:  # of many names, only those that are frequent enough to be listed
            shares = np.bincount(np.searchsorted(distinct, values[known]), weights=base[known])
            distinct = distinct[shares >= MIN_SHARE_NOW * (1.0 - ROUND_OFF)]
        for value in distinct:
            label = named[int(value)] if named is not None else f"{value:g}"
            yield Condition(feature, f"{feature} is {label}", known & (values == value))
    else:
        order = np.argsort(values[known], kind="stable")
        reached = np.cumsum(base[known][order]) / base[known].sum()
        for cut in np.unique(values[known][order][np.searchsorted(reached, CUTS)]):
            shown = f"{cut:.4g}"
            yield Condition(feature, f"{feature} above {shown}", known & (values > cut))
            yield Condition(feature, f"{feature} at most {shown}", known & (values <= cut))
    if not known.all():
        yield Condition(feature, f"{feature} is missing", ~known)


def _shares(condition: Condition, base: FloatArray, weights: FloatArray) -> tuple[float, float]:
    return total(base, condition.holds), total(base * weights, condition.holds)


def _surprise(condition: Condition, base: FloatArray, weights: FloatArray) -> float:
    """Kullback-Leibler divergence of the two shares; 0 where the group is small, hardly heavier, or by chance."""
    now, then = _shares(condition, base, weights)
    if not MIN_SHARE_NOW <= now < 1.0 or then < MIN_SHARE_THEN or then < MIN_LIFT * now:
        return 0.0
    inside = condition.holds.astype(float)
    effect = base * (weights * (inside - then) - (inside - now))
    if then - now < STANDARD_ERRORS * math.sqrt(float(np.square(effect).sum())):
        return 0.0
    rest = (1.0 - then) * math.log((1.0 - then) / (1.0 - now)) if then < 1.0 - 1e-12 else 0.0
    return then * math.log(then / now) + rest


def _overlap(one: Condition, other: Condition, base: FloatArray) -> float:
    return total(base, one.holds & other.holds) / total(base, one.holds | other.holds)


def _rule(condition: Condition, base: FloatArray, weights: FloatArray) -> Rule:
    now, then = _shares(condition, base, weights)
    return {"feature": condition.feature, "condition": condition.words, "now": now, "then": then, "lift": then / now}
