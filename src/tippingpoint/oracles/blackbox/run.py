"""A search from beginning to end: every place there is, where they can be counted; otherwise as far as the budget goes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.domain import Domain
from tippingpoint.errors import ModelError
from tippingpoint.losses import Loss
from tippingpoint.oracles.base import INTERRUPTED, failed
from tippingpoint.oracles.blackbox.asking import Asker, Scores
from tippingpoint.oracles.blackbox.atoms import AtomsOracle, Floor, NoisyOracle
from tippingpoint.oracles.blackbox.confirming import CONFIRMED, confirm, losses_afresh
from tippingpoint.oracles.blackbox.counting import combinations, enumerate_all, listings
from tippingpoint.oracles.blackbox.noise import Noise
from tippingpoint.oracles.blackbox.search import Searcher
from tippingpoint.progress import Tick, progress_bar

CALLS = 500
"""Calls a sample where no number is given."""

COUNTED = 2000
"""Places a sample up to which, where no number is given, every one of them is tried."""

LOOKS = 6
"""Times that every feature is looked at, at least, where no number is given and there are many."""

AGAIN, AFRESH = 20, 5
"""Of a number of calls that is given, this part is kept for asking again about what was found; of noisy answers the latter."""

EVERY = 2**62
"""As many places as there are, where no number of calls is given."""


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
    noise
        How many answers are averaged, and how far they are apart.
    seed, progress
        Of what is drawn, and whether to show a bar.
    """

    scores: Scores
    x: FloatArray
    loss: Loss
    graded: bool
    labels: IntArray | None
    reason: str
    noise: Noise = field(default_factory=Noise)
    seed: int = 0
    progress: bool | None = None

    @cached_property
    def now(self) -> FloatArray:
        """`v` where the samples are."""
        return self.scores(np.arange(len(self.x)), self.x)

    def oracle(
        self, domain: Domain, breaks: Mapping[int, FloatArray], floor: Floor | None = None, calls: int | None = None
    ) -> AtomsOracle:
        """What is found in a domain.

        Parameters
        ----------
        domain
            Where samples may go.
        breaks
            The numbers at which the model can change, by column, where they are known.
        floor
            Who bounds the stability from below, where anybody does.
        calls
            Calls of the model, one a row; None for as many as are good for the number of features.
        """
        samples, noise = len(self.x), self.noise
        given = None if calls is None else calls // noise.repeats
        most = samples * max(CALLS, LOOKS * _looks(domain)) if given is None else given - self._reserve(given)
        lists = listings(domain, breaks)
        every = combinations(lists) if lists is not None else 0
        all_of_them = (every + 1) * samples
        exact, notes = lists is not None and all_of_them <= (given or samples * COUNTED), tuple[str, ...]()
        budget, fresh = all_of_them if exact else most, None
        with progress_bar("model calls", budget, show=self.progress) as tick:
            asker = self._asker(domain, budget, tick)
            try:
                if exact and lists is not None:
                    enumerate_all(asker, lists)
                else:
                    Searcher(asker, _spread(self.x), self.labels, self.seed).run()
                spare = EVERY if given is None else given - asker.spent
                if noise.seen:
                    fresh = losses_afresh(asker, spare, self.seed)
                elif noise.repeats == 1:
                    confirm(asker, spare, self.seed)
            except KeyboardInterrupt:
                exact, notes = False, (INTERRUPTED,)
            except ModelError as failure:
                if not asker.answered:
                    raise
                exact, notes = False, (failed(failure, asker.spent * noise.repeats),)
        exact, interrupted = exact and not noise.seen, bool(notes)
        searched = f"searched with {asker.spent * noise.repeats:,} calls of the model ({self.reason})"
        how = f"each of {every:,} places tried for every sample" if exact else searched
        notes += (noise.told(),) if noise.repeats > 1 else ()
        found = asker.atoms, asker.losses, domain, how
        if fresh is not None:
            return NoisyOracle(fresh, *found, notes=notes, floor=floor, interrupted=interrupted)
        return AtomsOracle(*found, exact=exact, notes=notes, floor=floor, interrupted=interrupted)

    def resting(self, domain: Domain, failure: ModelError) -> AtomsOracle:
        """Nothing is found: the model failed at once, but not before other questions were answered."""
        asker = self._asker(domain, len(self.x), lambda _: None)
        how = f"searched with {asker.spent * self.noise.repeats:,} calls of the model ({self.reason})"
        notes = (failed(failure, asker.spent * self.noise.repeats),)
        return AtomsOracle(asker.atoms, asker.losses, domain, how, exact=False, notes=notes, interrupted=True)

    def _asker(self, domain: Domain, budget: int, tick: Tick) -> Asker:
        return Asker(self.scores, self.x, domain, self.loss, self.now, self.graded, budget, tick)

    def _reserve(self, given: int) -> int:
        """Of the places that may be asked about, those that are kept for asking again."""
        free = given - len(self.x)
        return free // AFRESH if self.noise.repeats > 1 else min(free // AGAIN, CONFIRMED)


def _looks(domain: Domain) -> int:
    """Calls that a glance at every feature takes."""
    options = sum(len(menu.values) for menu in domain.menus if menu.axis is None)
    return 2 * (len(domain.free) + sum(menu.axis is not None for menu in domain.menus)) + options


def _spread(x: FloatArray) -> FloatArray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that are missing throughout
        spread = np.nanstd(x, axis=0)
    return np.where(np.isfinite(spread), spread, 0.0)
