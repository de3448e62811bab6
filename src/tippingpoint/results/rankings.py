"""The stability of every feature on its own: who needs only be touched a little, and who cannot matter."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tippingpoint.data.frames import build_frame
from tippingpoint.errors import DetachedError, InputError, listed
from tippingpoint.json_numbers import decode
from tippingpoint.plots import draw_ranking
from tippingpoint.results.advice import Advice, Ranked, of_features, of_result
from tippingpoint.results.base import Result, required
from tippingpoint.results.pickling import obstacle
from tippingpoint.results.stability import StabilityResult, bands, shows_corrected
from tippingpoint.results.sweeps import as_number, heading, stability_axis
from tippingpoint.text import UNENDED, bound, cautions, headline, level, number, percent, render_table, shown_stability
from tippingpoint.visible import readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NO_DIFFERENCE = 1e-9
"""Relative distance from the limit at which a feature makes no difference."""

NUMBERS_ONLY = "holds its numbers only; run feature_stability() again"
"""What a ranking is that cannot work out a feature again, where no reason is known."""


@dataclass(frozen=True, repr=False)
class FeatureStability(Result):
    """Stabilities when only one feature, or one group of them, may move; the most sensitive first.

    Attributes
    ----------
    results
        The result of each, by name. They hold numbers; `result(name)` works one out again with its sensitive distribution.
    limit
        What reweighting alone costs: a feature that attains it cannot matter. Infinite where nothing is reweighted.
    kinds
        What each feature is; "group" for several.
    reach
        The largest risk that moving the feature reaches at any cost, or was found to reach, nothing reweighted: the present
        risk for a feature that the model does not use.
    reach_proved
        Whether every `reach` is proved to be the largest; otherwise they are lower bounds.
    backend
        Kind of frame that results come in.
    again
        Works a feature out again; None where only numbers are left.
    interrupted
        Whether it was stopped before the last feature, or a search did not end; features not asked about are left out.
    detached
        Why no feature can be worked out again, and what to do about it.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], ["no", "no", "yes", "yes"]
    >>> ranked = tp.feature_stability(([1.0, 0.1], -1.5), X, y, risk=0.5, theta1=1.0, theta2=0.25)
    >>> list(ranked.results), ranked.kinds["x0"]
    (['x0', 'x1'], 'numeric')
    >>> round(ranked.results["x0"].value, 4), round(ranked.results["x1"].value, 1)
    (0.1476, 12.5)
    """

    results: Mapping[str, StabilityResult]
    limit: float
    kinds: Mapping[str, str]
    reach: Mapping[str, float]
    backend: str = "pandas"
    again: Callable[[str], StabilityResult] | None = None
    interrupted: bool = False
    reach_proved: bool = False
    detached: str = field(default=NUMBERS_ONLY, compare=False)

    COLUMNS = ("value", "lower", "upper", "standard_error", "moved_share")
    SCHEMA: ClassVar[str] = "tippingpoint.features/1"
    ONE: ClassVar[str] = "feature"
    """What is ranked."""

    MAKER: ClassVar[str] = "feature_stability()"
    """Who makes it."""

    LIVE: ClassVar[tuple[str, ...]] = ("again", "detached")

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, feature: str) -> StabilityResult:
        self._check(feature)
        return self.results[feature]

    def result(self, feature: str) -> StabilityResult:
        """The whole result of one feature, with its sensitive distribution and the bootstrap."""
        self._check(feature)
        if self.again is None:
            raise DetachedError(f"this ranking {self.detached}.")
        return self.again(feature)

    def top(self, most: int) -> FeatureStability:
        """The most sensitive only."""
        return replace(self, results=dict(list(self.results.items())[:most]))

    def matters(self, feature: str) -> bool:
        """Whether, at these prices, moving the feature makes the threshold any cheaper to reach."""
        self._check(feature)
        value = self.results[feature].value
        return math.isfinite(value) and value < self.limit * (1.0 - NO_DIFFERENCE)

    def to_frame(self) -> Any:
        """One line a feature, the most sensitive first."""
        columns: dict[str, list[Any]] = {self.ONE: list(self), "kind": [self.kinds[name] for name in self]}
        for name in (*self.COLUMNS, *(("corrected", "corrected_error") if self._repeated else ())):
            columns[heading(name)] = [as_number(getattr(r, name)) for r in self.results.values()]
        columns["limit"] = [self.limit] * len(self)
        columns["reach"] = [self.reach[name] for name in self]
        columns["matters"] = [self.matters(name) for name in self]
        columns["exact"] = [r.exact for r in self.results.values()]
        columns["status"] = [r.status for r in self.results.values()]
        columns["interrupted"] = [r.interrupted for r in self.results.values()]
        return build_frame(columns, self.backend)

    def _stored(self) -> dict[str, Any]:
        ranked = [
            {self.ONE: name, "kind": self.kinds[name], "reach": self.reach[name], **result.to_dict()}
            for name, result in self.results.items()
        ]
        known = {"interrupted": self.interrupted, "reach_proved": self.reach_proved, "limit": self.limit}
        return {**known, f"{self.ONE}s": ranked}

    @classmethod
    def _restored(cls, stored: Mapping[str, Any]) -> FeatureStability:
        ranked, limit, interrupted = (required(stored, name) for name in (f"{cls.ONE}s", "limit", "interrupted"))
        rows = {required(row, cls.ONE): row for row in ranked}
        return cls(
            {name: StabilityResult.from_dict(row) for name, row in rows.items()},
            decode(limit),
            {name: required(row, "kind") for name, row in rows.items()},
            {name: decode(required(row, "reach")) for name, row in rows.items()},
            interrupted=interrupted,
            reach_proved=bool(stored.get("reach_proved", False)),
            detached=f"was read from JSON, which holds its numbers only; run {cls.MAKER} again",
        )

    def __getstate__(self) -> dict[str, Any]:
        why = None if self.again is None else obstacle(self.again)
        if why is None:
            return super().__getstate__()
        detached = f"was pickled, and its model cannot be ({why}); run {self.MAKER} again"
        return {**super().__getstate__(), "again": None, "detached": detached}

    def advice(self) -> Advice:
        """Which features to target, and how."""
        first = next(iter(self.results.values()))
        if first.status == "already":
            return of_result(first.summary)
        ranked = [Ranked(name, r.lower, r.value, r.standard_error, r.interrupted) for name, r in self.results.items()]
        return of_features(ranked, self.limit, complete=not self.interrupted)

    def plot(self, most: int = 10, ax: Axes | None = None) -> Axes:
        """The most sensitive features as bars with 95% intervals, and what reweighting alone costs as a dashed line.

        If outcomes of a table were repeated, bars are corrected stabilities, and there is no dashed line.

        Parameters
        ----------
        most
            Features shown.
        ax
            Where to draw; a new figure where none is given.
        """
        shown = self.top(most).results
        if not shown:
            raise InputError(f"most={most!r} leaves no {self.ONE} to draw; 10 are usual.")
        first = next(iter(shown.values()))
        if first.status == "already":
            raise InputError(f"risk={first.risk:g} is reached whatever moves, so there is nothing to draw; ask for more.")
        value, low, high = bands(list(shown.values()))
        limit = math.inf if shows_corrected(list(shown.values())) else self.limit  # which is not corrected
        kinds = [self.kinds[name] for name in shown]
        margin = np.maximum(value - low, high - value)
        return draw_ranking(list(shown), value, margin, kinds, limit, ax, xlabel=stability_axis(shown.values()))

    def __str__(self) -> str:
        first = next(iter(self.results.values()))
        if first.status == "already":
            return headline(first.summary)
        rows = [[*self._called(name), *self._row(name)] for name in self]
        errors = ["corrected", "its error"] if self._repeated else ["std. error"]
        head = [*self._TITLES, "stability", *errors, "closes", "moved", "reach", "bound"]
        table = render_table(head, rows, left=len(self._TITLES))
        began = "Interrupted. " if self.interrupted else ""
        asked = {**first.summary, "status": "features", "one": self.ONE}
        return "\n".join([began + headline(asked), table, *self._notes()])

    _TITLES: ClassVar[tuple[str, ...]] = ("feature", "kind")

    def _called(self, name: str) -> list[str]:
        return [name, self.kinds[name]]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({', '.join(f'{readable(name)}={shown_stability(r)}' for name, r in self.results.items())})"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def _row(self, name: str) -> list[str]:
        result = self.results[name]
        reach = level(self.reach[name], result.loss)
        if not self.matters(name):
            known = "not found" if self._missed(name) else "exact" if result.standing.exact else "interrupted"
            nothing = ["-"] * (2 if self._repeated else 1)
            closes = "-" if result.status == "not_found" else "nothing"
            return [shown_stability(result), *nothing, closes, "-", reach, known]
        closes = percent(1.0 - result.value / self.limit) if math.isfinite(self.limit) else "-"
        if self._repeated:
            errors = [number(as_number(result.corrected)), number(as_number(result.corrected_error), 2)]
        else:
            errors = [number(result.standard_error, 2)]
        return [number(result.value), *errors, closes, percent(result.moved_share), reach, bound(result.summary)]

    def _missed(self, name: str) -> bool:
        """Whether a search that ended found nothing that the feature can do, which proves nothing."""
        known = self.results[name].standing
        return not (self.matters(name) or known.exact or known.undecided)

    @property
    def _repeated(self) -> bool:
        """Whether outcomes were run several times."""
        return any(result.repeated for result in self.results.values())

    _ALONE: ClassVar[str] = "moving the feature alone"
    _CHANGE: ClassVar[str] = "move of this feature"
    _TOO: ClassVar[str] = "once the feature moves too"

    def _notes(self) -> list[str]:
        searched = any(not r.exact for r in self.results.values())
        reaches = "reaches" if self.reach_proved else "was found to reach"
        first = cautions({name: r.caution for name, r in self.results.items()})
        legend = [*first, f"reach: the largest risk that {self._ALONE} {reaches}, at any cost."]
        if math.isfinite(self.limit):
            closes = f"how much less than reweighting alone ({number(self.limit)}) it costs {self._TOO}"
            legend.insert(len(legend) - 1, f"closes: {closes}.")
        if self._repeated:
            legend.append("corrected: the stability without the noise of repeats. The order and 'closes' are by 'stability'.")
        dear = self._dear()
        if dear is not None:
            legend.append(dear)
        if searched:
            legend.append("bound: 'upper' was searched for, and the truth may be lower; '≥' is certified from below.")
            if any(self._missed(name) for name in self):
                legend.append(f"not found: the search found no {self._CHANGE} that lowers the cost, and one may exist.")
        if self.interrupted:
            legend.append(f"{UNENDED} {self.ONE.capitalize()}s that are missing were not asked about.")
        one, *others = self.results.values()  # what is noted of all of them is of the model or the data
        return legend + [f"note: {readable(note)}." for note in one.notes if all(note in r.notes for r in others)]

    def _dear(self) -> str | None:
        """Why a feature that could do harm does none: its steps cost more than an error is worth."""
        idle = [r for name, r in self.results.items() if not self.matters(name) and self.reach[name] > r.current_risk]
        if not idle or idle[0].loss != "zero_one" or not 0.0 < idle[0].price < math.inf or math.isinf(idle[0].theta1):
            return None
        worth = idle[0].price / idle[0].theta1
        return (
            f"nothing, yet in reach: an error is worth {number(worth, 2)} here, and the moves cost more; see Space(price=...)."
        )

    def _check(self, feature: str) -> None:
        if feature not in self.results:
            raise InputError(f"{feature!r} was not asked about; these were: {listed(self.results)}.")
