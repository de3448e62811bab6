"""What a search found, queried again at its end: noise, or a model that changes as it is called, shows there first.

A search keeps the best of many answers, so those that chance has made good are what it keeps.
"""

from __future__ import annotations

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.query.counted import CountedModel
from tippingpoint.query.noise import numbers_differ, unsteady

MAX_CONFIRMED = 1000
"""Places that are queried again, at most, where replies are not averaged."""

MAX_UNCONFIRMED = 0.05
"""Share of them whose loss may be another one: beside a boundary that was closed in on, rounding decides."""


def confirm(model: CountedModel, most: int, seed: int) -> None:
    """Refuse a model that does not give the places found the losses that it gave them before."""
    sample, lift, _, places = model.atoms.kept()
    some = _moved(model, min(most, MAX_CONFIRMED), seed)
    if not len(some):
        return
    before = model.losses[sample[some]] + lift[some]
    again = model.query_again(sample[some], places[some])
    differ = numbers_differ(before, again)
    if differ.mean() > MAX_UNCONFIRMED:
        apart = np.abs(again - before).max()
        raise unsteady(
            f"{differ.sum()} of {len(some)} places that the search found give another loss now, by up to {apart:.3g}"
        )


def losses_afresh(model: CountedModel, most: int, seed: int) -> FloatArray:
    """Of every atom kept: the loss by an answer that no search has picked; not a number where that takes too many calls."""
    sample, lift, cost, places = model.atoms.kept()
    fresh = np.where(cost > 0.0, np.nan, model.losses[sample] + lift)
    some = _moved(model, most, seed)
    if len(some):
        fresh[some] = model.query_again(sample[some], places[some])
    return fresh


def _moved(model: CountedModel, most: int, seed: int) -> IntArray:
    """The atoms that are elsewhere than their samples; of too many, some drawn at random."""
    moved = np.flatnonzero(model.atoms.kept()[2] > 0.0)
    return moved if len(moved) <= most else np.sort(np.random.default_rng(seed).choice(moved, max(most, 0), replace=False))
