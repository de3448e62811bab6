"""A search from beginning to end: every place there is, where they can be counted; otherwise as far as the budget goes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.domain import Domain
from tippingpoint.losses import Loss
from tippingpoint.oracles.blackbox.asking import Asker, Scores
from tippingpoint.oracles.blackbox.atoms import AtomsOracle, Floor
from tippingpoint.oracles.blackbox.counting import combinations, enumerate_all, listings
from tippingpoint.oracles.blackbox.search import Searcher
from tippingpoint.progress import progress_bar

CALLS = 500
"""Calls a sample where no number is given."""

COUNTED = 2000
"""Places a sample up to which, where no number is given, every one of them is tried."""

LOOKS = 6
"""Times that every feature is looked at, at least, where no number is given and there are many."""

INTERRUPTED = "the search was interrupted; what it had found by then still gives a valid upper bound, but a looser one"


@dataclass(frozen=True)
class Quest:
    """A model that can only be asked, and how.

    Attributes
    ----------
    scores
        `v` of samples at places.
    x
        The samples.
    loss
        `f`, the loss of `v`.
    graded
        Whether `v` says how far an error is, or only whether there is one.
    labels
        The true class of every sample; None where there are no classes.
    reason
        In words: why it can only be asked.
    calls
        Calls of the model, one a row; None for as many as are good for the number of features.
    seed, progress
        Of what is drawn, and whether to show a bar.
    """

    scores: Scores
    x: FloatArray
    loss: Loss
    graded: bool
    labels: IntArray | None
    reason: str
    calls: int | None = None
    seed: int = 0
    progress: bool | None = None

    @cached_property
    def now(self) -> FloatArray:
        """`v` where the samples are."""
        return self.scores(np.arange(len(self.x)), self.x)

    def oracle(self, domain: Domain, breaks: Mapping[int, FloatArray], floor: Floor | None = None) -> AtomsOracle:
        """What is found in a domain.

        Parameters
        ----------
        domain
            Where samples may go.
        breaks
            The numbers at which the model can change, by column, where they are known.
        floor
            Who bounds the stability from below, where anybody does.
        """
        samples = len(self.x)
        most = self.calls or samples * max(CALLS, LOOKS * _looks(domain))
        lists = listings(domain, breaks)
        every = combinations(lists) if lists is not None else 0
        all_of_them = (every + 1) * samples
        exact, notes = lists is not None and all_of_them <= (self.calls or samples * COUNTED), tuple[str, ...]()
        calls = all_of_them if exact else most
        with progress_bar("model calls", calls, show=self.progress) as tick:
            asker = Asker(self.scores, self.x, domain, self.loss, self.now, self.graded, calls, tick)
            try:
                if exact and lists is not None:
                    enumerate_all(asker, lists)
                else:
                    Searcher(asker, _spread(self.x), self.labels, self.seed).run()
            except KeyboardInterrupt:
                exact, notes = False, (INTERRUPTED,)
        searched = f"searched with {asker.spent:,} calls of the model ({self.reason})"
        how = f"each of {every:,} places tried for every sample" if exact else searched
        return AtomsOracle(asker.atoms, asker.losses, domain, how, exact=exact, notes=notes, floor=floor)


def _looks(domain: Domain) -> int:
    """Calls that a glance at every feature takes."""
    options = sum(len(menu.values) for menu in domain.menus if menu.axis is None)
    return 2 * (len(domain.free) + sum(menu.axis is not None for menu in domain.menus)) + options


def _spread(x: FloatArray) -> FloatArray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that are missing throughout
        spread = np.nanstd(x, axis=0)
    return np.where(np.isfinite(spread), spread, 0.0)
