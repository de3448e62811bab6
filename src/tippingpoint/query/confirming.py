"""What a search found, asked about again at its end: noise, or a model that changes as it is called, shows there first.

A search keeps the best of many answers, so those that chance has made good are what it keeps.
"""

from __future__ import annotations

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.query.asking import Asker
from tippingpoint.query.noise import numbers_differ, unsteady

CONFIRMED = 1000
"""Places that are asked about again, at most, where answers are not averaged."""

UNCONFIRMED = 0.05
"""Share of them whose loss may be another one: beside a boundary that was closed in on, rounding decides."""


def confirm(asker: Asker, most: int, seed: int) -> None:
    """Refuse a model that does not give the places found the losses that it gave them before."""
    sample, lift, _, places = asker.atoms.kept()
    some = _moved(asker, min(most, CONFIRMED), seed)
    if not len(some):
        return
    before = asker.losses[sample[some]] + lift[some]
    again = asker.ask_again(sample[some], places[some])
    differ = numbers_differ(before, again)
    if differ.mean() > UNCONFIRMED:
        apart = np.abs(again - before).max()
        raise unsteady(
            f"{differ.sum()} of {len(some)} places that the search found give another loss now, by up to {apart:.3g}"
        )


def losses_afresh(asker: Asker, most: int, seed: int) -> FloatArray:
    """Of every atom kept: the loss by an answer that no search has picked; not a number where that takes too many calls."""
    sample, lift, cost, places = asker.atoms.kept()
    fresh = np.where(cost > 0.0, np.nan, asker.losses[sample] + lift)
    some = _moved(asker, most, seed)
    if len(some):
        fresh[some] = asker.ask_again(sample[some], places[some])
    return fresh


def _moved(asker: Asker, most: int, seed: int) -> IntArray:
    """The atoms that are elsewhere than their samples; of too many, some drawn at random."""
    moved = np.flatnonzero(asker.atoms.kept()[2] > 0.0)
    return moved if len(moved) <= most else np.sort(np.random.default_rng(seed).choice(moved, max(most, 0), replace=False))
