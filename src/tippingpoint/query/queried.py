"""A search from beginning to end: every place there is, where they can be counted; otherwise as far as the budget goes.

What holds of it, for a model that answers the same every time:

- More calls find nothing worse: what is queried within some calls is what is queried first within more (`turns.py`).
- All features together are never worse than one of them: their search makes the scan of every single feature, but for places
  that cost no less than an error that it knows (`scans.py`). Nor are they worse than a group of the space that lies within
  them: the search among its combinations is made as it would be for the group alone. Where no number of calls is given, that
  holds as it stands. Where one is given it holds for `d` features if they have `2d` times the calls of the one feature (that
  is how `feature_stability` shares them), and those are several turns (`TURN_ROWS`, or `TURN_ROWS_A_SAMPLE`).
- Features that the model is known not to use change nothing. Of any other two sets, the larger one is searched for more, and
  may in principle find less.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.atoms import Atoms
from tippingpoint.core.oracle import INTERRUPTED, failed
from tippingpoint.errors import ModelError
from tippingpoint.progress import progress_bar
from tippingpoint.query.axes import Beside, Choice, Line, axes
from tippingpoint.query.confirmation import MAX_CONFIRMED, confirm, losses_afresh
from tippingpoint.query.counted import CountedModel, Task
from tippingpoint.query.enumeration import count_of, enumerate_all, listings
from tippingpoint.query.noise import Noise
from tippingpoint.query.oracle import Floor, NoisyOracle, QueryOracle
from tippingpoint.query.others import Others
from tippingpoint.query.reading import ScoreReading
from tippingpoint.query.scans import places_known, scan
from tippingpoint.query.search import Searcher
from tippingpoint.query.turns import RunningSearch, endless_rounds, purse_rounds, run_by_purse, run_in_turns, run_one_by_one
from tippingpoint.space.domain import Domain

MAX_ENUMERATED = 2000
"""Places a sample up to which, where no number is given, every one of them is tried."""

SCAN_WEIGHT, COMBINATION_WEIGHT = 2.0, 1.0
"""What single features get of the calls, and what combinations of them get, until one of the two is done."""

EXPECTED_CALLS = 500
"""Calls a sample that a search is thought to take while a bar is shown, where no number is given."""

CONFIRMATION_PART, FRESH_PART = 20, 5
"""Of a number of calls that is given, this part is kept to query again what was found; of noisy replies the latter."""

UNLIMITED = 2**62
"""As many places as there are, where no number of calls is given."""


@dataclass(frozen=True)
class QueriedModel:
    """A model of which nothing is known but its replies, and how it is searched.

    Attributes
    ----------
    reading
        What its replies mean.
    x
        The samples.
    reason
        In words: why it can only be queried.
    noise
        How many replies are averaged, and how far they are apart.
    seed, progress
        Of what is drawn, and whether to show a bar.
    others
        Who the samples learn from, where they are a part of the data; None where they are all.
    """

    reading: ScoreReading
    x: FloatArray
    reason: str
    noise: Noise = field(default_factory=Noise)
    seed: int = 0
    progress: bool | None = None
    others: Others | None = None

    @cached_property
    def now(self) -> FloatArray:
        """`v` where the samples are."""
        return self.reading.scores(np.arange(len(self.x)), self.x)

    def oracle(
        self, domain: Domain, breaks: Mapping[int, Beside], floor: Floor | None = None, calls: int | None = None
    ) -> QueryOracle:
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
        task = self._task(domain)
        lists = listings(domain, breaks)
        every = count_of(lists) if lists is not None else 0
        all_of_them = (every + 1) * samples
        several = len(domain.features) > 1 or bool(domain.missing)  # along one feature a scan finds as much with less
        counted = lists is not None and several and all_of_them <= (given or samples * MAX_ENUMERATED)
        budget = None if given is None else given - self._reserve(given)
        exact, notes, fresh, halfway = False, tuple[str, ...](), None, None
        with progress_bar("model calls", budget or samples * EXPECTED_CALLS, show=self.progress) as tick:
            model = CountedModel(self.reading.scores, task, all_of_them if counted else budget, tick)
            try:
                if counted and lists is not None:
                    enumerate_all(model, lists)
                    exact = True
                else:
                    exact = self._search(model, breaks, endless=given is not None)
                halfway = model.halfway
                spare = UNLIMITED if given is None else given - model.spent
                if noise.seen:
                    fresh = losses_afresh(model, spare, self.seed)
                elif noise.repeats == 1:
                    confirm(model, spare, self.seed)
            except KeyboardInterrupt:
                exact, notes = False, (INTERRUPTED,)
            except ModelError as failure:
                if not model.answered:
                    raise
                exact, notes = False, (failed(failure, model.spent * noise.repeats),)
        exact, interrupted = exact and not noise.seen, bool(notes)
        how = f"each of {every:,} places tried for every sample" if exact else self._effort(model)
        notes += (noise.note(),) if noise.repeats > 1 else ()
        found = model.atoms, model.losses, domain, how
        if fresh is not None:
            return NoisyOracle(fresh, *found, notes=notes, floor=floor, interrupted=interrupted)
        far = domain.farthest(self.x)
        return QueryOracle(
            *found, exact=exact, notes=notes, floor=floor, interrupted=interrupted, earlier=halfway, farthest=far
        )

    def staying(self, domain: Domain, failure: ModelError) -> QueryOracle:
        """Nobody moves: the model failed at once, but not before other questions were answered."""
        model = CountedModel(self.reading.scores, self._task(domain), len(self.x), lambda _: None)
        notes = (failed(failure, model.spent * self.noise.repeats),)
        found = model.atoms, model.losses, domain, self._effort(model)
        return QueryOracle(*found, exact=False, notes=notes, interrupted=True)

    def _task(self, domain: Domain) -> Task:
        return Task(self.x, domain, self.reading.loss, self.now, self.reading.graded, self.others)

    def _effort(self, model: CountedModel) -> str:
        """In words: how much was searched."""
        return f"searched with {model.spent * self.noise.repeats:,} calls of the model ({self.reason})"

    def _search(self, model: CountedModel, breaks: Mapping[int, Beside], *, endless: bool) -> bool:
        """Single features and combinations of them; whether every place that can matter was tried."""
        task, spread = model.task, _spread(model.task.known)
        rounds = partial(purse_rounds, model) if self.others is not None else endless_rounds
        lines, choices = axes(task.domain, spread, breaks)
        features: list[Line | Choice] = [*lines, *choices]
        scans = [
            RunningSearch(scan(task, feature, lambda: model.nearest, endless=endless, rounds=rounds)) for feature in features
        ]
        together = list[RunningSearch]()
        for names in _sets(task.domain, [feature.name for feature in features]):
            inner = replace(task, domain=task.domain.only(names))
            atoms = Atoms(self.x)
            seed = (self.seed, zlib.crc32("\n".join(names).encode()))
            searcher = Searcher(inner, *axes(inner.domain, spread, breaks), atoms, self.reading.labels, seed)
            together.append(RunningSearch(searcher.run(endless=endless, rounds=rounds), atoms))
        sides = [(SCAN_WEIGHT, scans), (COMBINATION_WEIGHT, together)]
        if self.others is None:
            run_in_turns(model, sides)
        elif model.budget is None:
            run_one_by_one(model, [*together, *scans])  # errors that combinations find spare the scans many places
        else:
            allowance = model.budget // len(self.x) - 1
            model.budget = None  # the purses of the samples are what bounds them now
            run_by_purse(model, allowance, sides)
        return not together and not model.cut and all(places_known(task, feature) is not None for feature in features)

    def _reserve(self, given: int) -> int:
        """Of the places that may be queried, those that are kept to be queried again."""
        free = given - len(self.x)
        if self.others is not None:  # a part of what every sample may be asked about, whatever the others may
            return free // len(self.x) // (FRESH_PART if self.noise.repeats > 1 else CONFIRMATION_PART) * len(self.x)
        return free // FRESH_PART if self.noise.repeats > 1 else min(free // CONFIRMATION_PART, MAX_CONFIRMED)


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
