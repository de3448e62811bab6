"""Weighted quantiles of columns over all partitions: histograms over a bracket that shrinks, exact once few values are left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray

BINS = 1024
"""Of a histogram: a round makes the bracket so many times narrower."""

FEW = 256
"""Distinct values in the bracket up to which a partition hands over the values themselves."""

GLANCE = 4 * FEW
"""Values, evenly spread, of which more distinct ones than that settle that they are many."""

TIE = 1e-12
"""Share by which a level may be missed by rounding, as `space.scaling.quantiles` has it."""


@dataclass(frozen=True)
class Target:
    """A quantile that is looked for.

    Attributes
    ----------
    column
        Its position.
    level
        Share of the weight up to it.
    centre
        None, or what values are taken as distances from: of a deviation.
    low, high
        Where it lies, both ends among them.
    below
        Weight below `low`.
    """

    column: int
    level: float
    centre: float | None
    low: float
    high: float
    below: float = 0.0


@dataclass(frozen=True)
class Slice:
    """What a partition holds in the bracket of a target.

    Attributes
    ----------
    sums
        Weight in every bin.
    values, weights
        The values themselves, and what they weigh, where they are few; None where they are many.
    above
        The least value above the bracket; infinite where there is none.
    """

    sums: FloatArray
    values: FloatArray | None
    weights: FloatArray
    above: float


Columns = Callable[[Any], tuple[FloatArray, FloatArray]]
"""From a partition to the numbers of all its columns, and the weights of its rows."""


def sliced(partition: Any, columns: Columns, targets: Sequence[Target]) -> list[Slice]:
    """What one partition holds in the bracket of every target."""
    x, weight = columns(partition)
    return [_slice(x[:, target.column], weight, target) for target in targets]


def _slice(column: FloatArray, weight: FloatArray, target: Target) -> Slice:
    held = ~np.isnan(column)
    values, weight = column[held], weight[held]
    if target.centre is not None:
        values = np.abs(values - target.centre)
    over = values[values > target.high]
    inside = (values >= target.low) & (values <= target.high)
    values, weight = values[inside], weight[inside]
    bins = np.clip(np.searchsorted(_edges(target), values, side="right") - 1, 0, BINS - 1)
    sums = np.asarray(np.bincount(bins, weight, BINS), dtype=float)
    # A glance at some of them spares sorting them all, round after round.
    if len(np.unique(values[:: max(len(values) // GLANCE, 1)])) > FEW:
        return Slice(sums, None, np.empty(0), float(over.min(initial=np.inf)))
    distinct, which = np.unique(values, return_inverse=True)
    if len(distinct) > FEW:
        return Slice(sums, None, np.empty(0), float(over.min(initial=np.inf)))
    each = np.asarray(np.bincount(which, weight, len(distinct)), dtype=float)
    return Slice(sums, distinct, each, float(over.min(initial=np.inf)))


def _edges(target: Target) -> FloatArray:
    share = np.linspace(0.0, 1.0, BINS + 1)
    return np.maximum.accumulate(target.low * (1.0 - share) + target.high * share)


def weighted_quantiles(run: Any, columns: Columns, targets: Sequence[Target], mass: Sequence[float]) -> list[float]:
    """The quantiles of all targets, a few passes over the data.

    Parameters
    ----------
    run
        Applies a function to every partition.
    columns
        What a partition holds.
    targets
        What is looked for, in brackets that hold it.
    mass
        Of every target: the weight of what is not missing of its column.
    """
    found: dict[int, float] = {}
    open_targets = dict(enumerate(targets))
    while open_targets:
        every = run(sliced, columns, list(open_targets.values()))
        for place, (k, target) in zip(range(len(open_targets)), list(open_targets.items()), strict=True):
            slices = [each[place] for each in every]
            if all(each.values is not None for each in slices):
                found[k] = _exact(target, slices, mass[k])
                del open_targets[k]
            else:
                open_targets[k] = _narrowed(target, slices, mass[k])
    return [found[k] for k in range(len(targets))]


def _exact(target: Target, slices: Sequence[Slice], mass: float) -> float:
    """The quantile out of the values that are left; where two values serve, their mean."""
    joined = np.concatenate([each.values for each in slices if each.values is not None])
    values, which = np.unique(joined, return_inverse=True)
    sums = np.bincount(which, np.concatenate([each.weights for each in slices]), len(values))
    reached = (target.below + np.cumsum(sums)) / mass
    first = min(int(np.searchsorted(reached, target.level * (1.0 - TIE))), len(values) - 1)
    after = values[first]
    if abs(reached[first] - target.level) <= TIE:
        above = min(each.above for each in slices)
        after = values[first + 1] if first + 1 < len(values) else above if np.isfinite(above) else after
    return 0.5 * float(values[first] + after)


def _narrowed(target: Target, slices: Sequence[Slice], mass: float) -> Target:
    """The bin that holds the quantile, as a bracket."""
    sums = np.add.reduce([each.sums for each in slices])
    reached = target.below + np.cumsum(sums)
    # The last bin that holds anything is the end: rounding may leave the level just beyond it.
    last = int(np.flatnonzero(sums)[-1])
    k = min(int(np.searchsorted(reached, target.level * mass * (1.0 - TIE))), last)
    edges = _edges(target)
    low, high = float(edges[k]), float(edges[k + 1])
    if k < BINS - 1:
        high = float(np.nextafter(high, -np.inf))  # the next edge belongs to the next bin
    return replace(target, low=low, high=max(low, high), below=float(reached[k] - sums[k]))
