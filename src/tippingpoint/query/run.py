"""A search from beginning to end: every place there is, where they can be counted; otherwise as far as the budget goes.

What holds of it, for a model that answers the same every time:

- More calls find nothing worse: what is asked within some calls is what is asked first within more (`asking.py`).
- All features together are never worse than one of them: their search makes the scan of every single feature, but for places
  that cost no less than an error that it knows (`scanning.py`). Nor are they worse than a group of the space that lies within
  them: the search among its combinations is made as it would be for the group alone. Where no number of calls is given, that
  holds as it stands. Where one is given it holds for `d` features if they have `2d` times the calls of the one feature (that
  is how `feature_stability` shares them), and those are several turns (`TURN` rows, or `EACH` a sample).
- Features that the model is known not to use change nothing. Of any other two sets, the larger one is searched for more, and
  may in principle find less.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.oracle import INTERRUPTED, failed
from tippingpoint.errors import ModelError
from tippingpoint.losses import Loss
from tippingpoint.progress import progress_bar
from tippingpoint.query.asking import Asker, Ground, Scores, Speaker, converse
from tippingpoint.query.atoms import Atoms, AtomsOracle, Floor, NoisyOracle
from tippingpoint.query.axes import Beside, Choice, Line, axes
from tippingpoint.query.confirming import CONFIRMED, confirm, losses_afresh
from tippingpoint.query.counting import combinations, enumerate_all, listings
from tippingpoint.query.noise import Noise
from tippingpoint.query.scanning import places_known, scan
from tippingpoint.query.search import Searcher
from tippingpoint.space.domain import Domain

COUNTED = 2000
"""Places a sample up to which, where no number is given, every one of them is tried."""

SCANS, COMBINATIONS = 2.0, 1.0
"""What single features get of the calls, and what combinations of them get, until one of the two is done."""

GUESSED = 500
"""Calls a sample that a search is thought to take while a bar is shown, where no number is given."""

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
        self, domain: Domain, breaks: Mapping[int, Beside], floor: Floor | None = None, calls: int | None = None
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
        ground = Ground(self.x, domain, self.loss, self.now, self.graded)
        lists = listings(domain, breaks)
        every = combinations(lists) if lists is not None else 0
        all_of_them = (every + 1) * samples
        several = len(domain.features) > 1 or bool(domain.missing)  # along one feature a scan finds as much with less
        counted = lists is not None and several and all_of_them <= (given or samples * COUNTED)
        budget = None if given is None else given - self._reserve(given)
        exact, notes, fresh, halfway = False, tuple[str, ...](), None, None
        with progress_bar("model calls", budget or samples * GUESSED, show=self.progress) as tick:
            asker = Asker(self.scores, ground, all_of_them if counted else budget, tick)
            try:
                if counted and lists is not None:
                    enumerate_all(asker, lists)
                    exact = True
                else:
                    exact = self._search(asker, breaks, endless=given is not None)
                halfway = asker.halfway
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
        how = f"each of {every:,} places tried for every sample" if exact else self._told(asker)
        notes += (noise.told(),) if noise.repeats > 1 else ()
        found = asker.atoms, asker.losses, domain, how
        if fresh is not None:
            return NoisyOracle(fresh, *found, notes=notes, floor=floor, interrupted=interrupted)
        return AtomsOracle(*found, exact=exact, notes=notes, floor=floor, interrupted=interrupted, earlier=halfway)

    def resting(self, domain: Domain, failure: ModelError) -> AtomsOracle:
        """Nothing is found: the model failed at once, but not before other questions were answered."""
        asker = Asker(self.scores, Ground(self.x, domain, self.loss, self.now, self.graded), len(self.x), lambda _: None)
        notes = (failed(failure, asker.spent * self.noise.repeats),)
        found = asker.atoms, asker.losses, domain, self._told(asker)
        return AtomsOracle(*found, exact=False, notes=notes, interrupted=True)

    def _told(self, asker: Asker) -> str:
        return f"searched with {asker.spent * self.noise.repeats:,} calls of the model ({self.reason})"

    def _search(self, asker: Asker, breaks: Mapping[int, Beside], *, endless: bool) -> bool:
        """Single features and combinations of them; whether every place that can matter was tried."""
        ground, spread = asker.ground, _spread(self.x)
        lines, choices = axes(ground.domain, spread, breaks)
        features: list[Line | Choice] = [*lines, *choices]
        scans = [Speaker(scan(ground, feature, lambda: asker.nearest, endless=endless)) for feature in features]
        together = list[Speaker]()
        for names in _sets(ground.domain, [feature.name for feature in features]):
            inner = replace(ground, domain=ground.domain.only(names))
            atoms = Atoms(self.x)
            seed = (self.seed, zlib.crc32("\n".join(names).encode()))
            searcher = Searcher(inner, *axes(inner.domain, spread, breaks), atoms, self.labels, seed)
            together.append(Speaker(searcher.run(endless=endless), atoms))
        converse(asker, [(SCANS, scans), (COMBINATIONS, together)])
        return not together and not asker.cut and all(places_known(ground, feature) is not None for feature in features)

    def _reserve(self, given: int) -> int:
        """Of the places that may be asked about, those that are kept for asking again."""
        free = given - len(self.x)
        return free // AFRESH if self.noise.repeats > 1 else min(free // AGAIN, CONFIRMED)


def _sets(domain: Domain, used: Sequence[str]) -> list[tuple[str, ...]]:
    """Of features that the model may use, those of every group that lies within the domain, then all; each set once."""
    within = [members for members in domain.groups.values() if set(members) <= set(domain.features)]
    found = [tuple(name for name in dict.fromkeys(used) if name in members) for members in (*within, used)]
    return [names for names in dict.fromkeys(found) if len(names) > 1]


def _spread(x: FloatArray) -> FloatArray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that are missing throughout
        spread = np.nanstd(x, axis=0)
    return np.where(np.isfinite(spread), spread, 0.0)
