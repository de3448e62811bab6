"""The oracle of the 0/1 loss: the nearest error that a search found of every sample, and who bounds how near one can be."""

from __future__ import annotations

import math

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.core.atoms import Layers
from tippingpoint.core.crossing import NearestErrorOracle
from tippingpoint.core.oracle import INTERRUPTED
from tippingpoint.errors import ModelError
from tippingpoint.families.network.search.errors import Errors
from tippingpoint.families.network.search.explorer import Explorer
from tippingpoint.families.network.search.oracle import PATH, Certifier, SearchedOracle, Setting
from tippingpoint.families.network.search.scores import cost
from tippingpoint.progress import progress_bar


class SearchedErrorOracle(SearchedOracle, NearestErrorOracle):
    """The nearest errors that a search found; where none is known, a sample stays.

    Parameters
    ----------
    setting
        The network.
    steps
        `(n, d)` to the nearest error known of every sample that is right; of the others, anything.
    wrong
        Whether the module errs there, by its own word.
    certifier
        Who bounds from below.
    notes
        What a careful reader should know.
    """

    def __init__(
        self, setting: Setting, steps: FloatArray, wrong: BoolArray, certifier: Certifier, notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(setting, PATH, certifier, notes=notes)
        already = setting.now >= 0.0
        self._nearest = np.where(already, 0.0, np.where(wrong, cost(steps), math.inf))
        self._steps = steps.astype(setting.scores.dtype)

    @property
    def nearest(self) -> FloatArray:
        return self._nearest

    @property
    def layers(self) -> Layers:
        """The same as atoms: staying, and the nearest error."""
        peak = self.peak()
        return Layers.staying(np.zeros_like(self._steps)).joined(self._steps, peak.lift, peak.cost)

    def steps(self, price: float, rows: IntArray) -> FloatArray:
        return self._steps[rows].astype(float)


def searched_errors(
    explorer: Explorer, setting: Setting, errors: Errors, certifier: Certifier, *, progress: bool | None
) -> SearchedErrorOracle:
    """The oracle of the nearest errors that a search from many starts finds; they are put into `errors` too."""
    rows, notes = np.arange(setting.scores.samples), tuple[str, ...]()
    with progress_bar("nearest errors", explorer.searches, show=progress) as tick:
        try:
            explorer.seek(errors, tick)
        except KeyboardInterrupt:
            notes = (INTERRUPTED,)
        except ModelError as failure:
            if not np.isfinite(errors.distance).any():
                raise
            notes = (setting.ended(failure),)
    steps = setting.scores.staying(rows)
    known = np.isfinite(errors.distance)
    steps[errors.rows] = np.where(known[:, None], errors.steps, 0.0)
    try:
        wrong = errs(setting, steps)
    except ModelError as failure:  # then its first word counts: it erred there once
        if not known.any():
            raise
        wrong = np.zeros(len(rows), dtype=bool)
        wrong[errors.rows[known]] = True
        notes = notes or (setting.ended(failure),)
    return SearchedErrorOracle(setting, steps, wrong, certifier, notes)


def errs(setting: Setting, steps: FloatArray) -> BoolArray:
    """Whether the module itself errs after a step of every sample."""
    return np.asarray(setting.scores.values(np.arange(len(steps)), steps) > 0.0)
