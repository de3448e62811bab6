"""How far the data did move, in the units of stability; and the same for several windows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from tippingpoint.data.frames import build_frame
from tippingpoint.errors import DetachedError, InputError, UnsupportedError, listed
from tippingpoint.json_numbers import decode
from tippingpoint.plots import draw_drift, draw_feature_drifts, draw_windows
from tippingpoint.results import drift_text
from tippingpoint.results.base import Result, required
from tippingpoint.results.drift_parts import (
    Balance,
    DriftEvidence,
    FeatureDrift,
    Outcome,
    restored_feature,
    restored_outcome,
)
from tippingpoint.text import LINEAR, render_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NUMBERS_ONLY = "was read from JSON, which holds its numbers only; run drift() again"
"""What a drift without evidence is."""

FLOOR_PART = 0.1
"""Part of the tolerance that the noise of a drift may be for a statement about it, where nobody says otherwise."""


@dataclass(frozen=True)
class DriftResult(Result):
    """How far current data are from a reference, in the units of stability, and what that did to a model.

    The data are measured on one number a row, through which the loss acts: the margin of a classifier, the residual of a
    regressor. The reference is reweighted, at the price `theta2`, and moved, at the price `theta1`, until it is the current
    sample; `value` is the least that this costs. It is a size and not a damage: most drifts do not aim at the model.

    Attributes
    ----------
    value, lower, upper
        The drift, and bounds on it; `value` is the upper one, the cost of a plan that was found.
    moving, reweighting
        The two parts of `value`.
    standard_error
        Of `value`, from sampling of both windows, first order.
    floor, p_value
        The mean drift of rows dealt out at random into windows of these sizes; and the share of such drifts that are as large.
        Not numbers where nothing was dealt out.
    statistic, unit
        What was measured: "margin", "residual", "score", "prediction" or "loss"; and what moving it means: of "features
        (linear, exact)" and of "features (linear, relaxed)" features move, of "features (Lipschitz)" no less, of "score" only
        scores do.
    risk, risk_before
        The threshold, and the mean loss of the reference.
    tolerance, tolerance_error
        The stability of the reference at the threshold on the scale of the drift, and its standard error.
    loss, divergence, theta1, theta2
        Of the question.
    rows_before, rows_after
        Effective numbers of rows.
    window
        What the current rows are called.
    outcome
        What the labels of the current rows tell; None where they are not known.
    expected_risk, assumption
        What the risk is to be expected to be if that holds which is assumed; None where nothing is.
    by_feature
        Every feature alone; empty where nobody asked.
    notes
        What a careful reader should know.
    stability, stability_lower, stability_error
        The stability of the reference in its space, as `tippingpoint.stability` returns it, a lower bound, and its standard
        error. It may be compared with the drift only if `same_scale`. NaN if it takes a search.
    permutations
        How often rows were dealt out at most; `p_value` is at least one in this number plus one.
    evidence
        What pictures are drawn from; None where only numbers are left.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> later = [[0.5], [1.5], [2.5], [3.5]]
    >>> drift = tp.drift(([1.0], -1.6), (X, y), (later, y), risk=0.5, theta1=1.0, theta2=10.0, permutations=0)
    >>> drift.risk_before, drift.risk_after
    (0.0, 0.0)
    >>> drift.used <= drift.value and drift.risk_after <= drift.worst_risk
    True
    """

    value: float
    lower: float
    upper: float
    moving: float
    reweighting: float
    standard_error: float
    floor: float
    p_value: float
    statistic: str
    unit: str
    risk: float
    risk_before: float
    tolerance: float
    tolerance_error: float
    loss: str
    divergence: str
    theta1: float
    theta2: float
    rows_before: float
    rows_after: float
    window: str = "current"
    outcome: Outcome | None = None
    expected_risk: float | None = None
    assumption: str = ""
    by_feature: tuple[FeatureDrift, ...] = ()
    notes: tuple[str, ...] = ()
    stability: float = math.nan
    stability_lower: float = math.nan
    stability_error: float = math.nan
    permutations: int = 0
    backend: str = field(default="pandas", repr=False, compare=False)
    evidence: DriftEvidence | None = field(default=None, repr=False, compare=False)

    SCHEMA: ClassVar[str] = "tippingpoint.drift/1"
    LIVE: ClassVar[tuple[str, ...]] = ("backend", "evidence")

    @property
    def gap(self) -> float:
        """Upper minus lower bound, relative to the upper."""
        return (self.upper - self.lower) / self.upper if 0.0 < self.upper < math.inf else 0.0

    @property
    def same_scale(self) -> bool:
        """Whether drift, tolerance and `used` are on the scale of `tippingpoint.stability`, so that they may be compared."""
        return self.unit == LINEAR

    @property
    def risk_after(self) -> float:
        """The mean loss of the current rows."""
        return self._labelled("risk_after").risk

    @property
    def used(self) -> float:
        """`R(risk_after)`: what it would have taken at least to do to the model what was done to it."""
        return self._labelled("used").used

    @property
    def aligned(self) -> float:
        """`used / value`: the part of the drift that this loss feels; not a number where nothing drifted."""
        used = self._labelled("aligned").used
        return used / self.value if self.value > 0.0 else math.nan

    @property
    def worst_risk(self) -> float:
        """The largest risk that a change of the reference of this size can reach."""
        return self._labelled("worst_risk").ceiling

    @property
    def remaining(self) -> float:
        """The stability of the current rows at the threshold; 0 where their risk is there already."""
        return self._labelled("remaining").remaining

    @property
    def balance(self) -> Balance | None:
        """The drift of score and label together, split; None for targets."""
        return self._labelled("balance").balance

    @property
    def features(self) -> Any:
        """One line a feature, looked at alone; the drifts are no shares of the whole."""
        if not self.by_feature:
            raise InputError("no feature was looked at; ask for drift(..., features=True).")
        names = ("drift", "floor", "p_value", "moving", "unseen_share", "risk_if_only", "stability", "note")
        columns = {name: [getattr(each, name) for each in self.by_feature] for name in names}
        head = {"feature": [each.name for each in self.by_feature], "kind": [each.kind for each in self.by_feature]}
        return build_frame({**head, **columns}, self.backend)

    def rows_needed(self, part: float = FLOOR_PART) -> float:
        """Rows of each window at which the noise floor would be this part of the tolerance: it falls as one over the rows."""
        if not (isinstance(part, (int, float)) and 0.0 < part < math.inf):
            raise InputError(f"part={part!r} must be a positive number, as 0.1.")
        if math.isnan(self.floor):
            raise InputError("no floor is known; ask for drift(..., permutations=199).")
        if not 0.0 < self.tolerance < math.inf:
            return math.inf if self.tolerance == 0.0 else 0.0
        each = 2.0 / (1.0 / self.rows_before + 1.0 / self.rows_after)
        return each * self.floor / (part * self.tolerance)

    def plot(self, figure: Figure | None = None) -> Figure:
        """The margin before, reweighted, and now; below, by how much rows count and move, as functions of it."""
        if self.evidence is None:
            raise DetachedError(f"this drift {NUMBERS_ONLY}.")
        e = self.evidence
        return draw_drift(
            e.before,
            e.base,
            e.weights,
            e.destinations,
            e.after,
            e.masses,
            xlabel=f"{drift_text.axis(self)}, in {self.unit}",
            figure=figure,
        )

    def plot_features(self, figure: Figure | None = None) -> Figure:
        """The drift of every feature beside its floor; the risk if only that had drifted, beside before and after."""
        if not self.by_feature:
            raise InputError("no feature was looked at; ask for drift(..., features=True).")
        each = self.by_feature
        return draw_feature_drifts(
            [feature.name for feature in each],
            [feature.drift for feature in each],
            [feature.floor for feature in each],
            [feature.risk_if_only for feature in each],
            before=self.risk_before,
            after=None if self.outcome is None else self.outcome.risk,
            xlabel=drift_text.risk_axis(self),
            figure=figure,
        )

    def __str__(self) -> str:
        return drift_text.render(self)

    def _repr_html_(self) -> str:
        return drift_text.render_html(self)

    def _labelled(self, name: str) -> Outcome:
        if self.outcome is None:
            raise UnsupportedError(f"{name} needs the labels of the current rows, and there were none (y=None).")
        return self.outcome

    @classmethod
    def _restored(cls, stored: Mapping[str, Any]) -> DriftResult:
        read = dict(stored)
        outcome = read.pop("outcome", None)
        expected = read.pop("expected_risk", None)
        rows = read.pop("by_feature", [])
        read.pop("same_scale", None)
        made = super()._restored(read)
        values = {
            "outcome": None if outcome is None else restored_outcome(outcome),
            "expected_risk": None if expected is None else decode(expected),
            "by_feature": tuple(map(restored_feature, rows)),
        }
        for name, value in values.items():
            object.__setattr__(made, name, value)  # frozen for everybody else
        return made

    def _stored(self) -> dict[str, Any]:
        nested = {
            "outcome": None if self.outcome is None else asdict(self.outcome),
            "by_feature": [asdict(each) for each in self.by_feature],
            "same_scale": self.same_scale,
        }
        return super()._stored() | nested


@dataclass(frozen=True)
class DriftSeries(Result):
    """The drifts of several windows from one reference.

    Attributes
    ----------
    results
        By the name of the window, in their order.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> windows = {"may": ([[0.5], [1.5], [2.5], [3.5]], y), "june": ([[1.0], [2.0], [3.0], [4.0]], y)}
    >>> drifts = tp.drift(([1.0], -1.6), (X, y), windows, risk=0.5, theta1=1.0, theta2=10.0, permutations=0)
    >>> [(name, round(drift.value, 2), drift.risk_after) for name, drift in drifts.results.items()]
    [('may', 0.09, 0.0), ('june', 0.32, 0.25)]
    """

    results: Mapping[str, DriftResult]
    backend: str = field(default="pandas", repr=False, compare=False)

    SCHEMA: ClassVar[str] = "tippingpoint.drifts/1"
    LIVE: ClassVar[tuple[str, ...]] = ("backend",)

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, window: str) -> DriftResult:
        if window not in self.results:
            raise InputError(f"window={window!r} is none of those compared: {listed(self.results)}.")
        return self.results[window]

    @property
    def adjusted(self) -> dict[str, float]:
        """P-values for all windows together (Holm): the chance that any of them is as small where nothing drifted."""
        return holm({name: each.p_value for name, each in self.results.items()})

    @property
    def least_adjusted(self) -> float:
        """The smallest corrected p-value that the number of permutations allows: windows/(permutations + 1)."""
        most = max((each.permutations for each in self.results.values()), default=0)
        return min(len(self.results) / (most + 1), 1.0) if most else math.nan

    def to_frame(self) -> Any:
        """One line a window."""
        return build_frame(self._columns(), self.backend)

    def plot(self, figure: Figure | None = None) -> Figure:
        """Over the windows: the risk with its ceiling, the tolerance that is left, the drift with its floor."""
        columns = self._columns()
        first = next(iter(self.results.values()))
        return draw_windows(
            list(self.results),
            {name: columns[name] for name in ("risk", "ceiling", "remaining", "drift", "floor")},
            errors={"remaining": self._errors("remaining"), "drift": self._errors("drift")},
            before=first.risk_before,
            threshold=first.risk,
            tolerance=first.tolerance,
            risk_label=drift_text.risk_axis(first),
            scale=drift_text.scale(first),
            figure=figure,
        )

    def __str__(self) -> str:
        columns = self._columns()
        del columns["unit"]  # it is that of all, and stands in the headline
        shown = [name for name in columns if not all(isinstance(v, float) and math.isnan(v) for v in columns[name])]
        table = render_table(shown, list(zip(*(columns[name] for name in shown), strict=True)), left=1)
        return "\n".join(
            [drift_text.series_headline(next(iter(self.results.values()))), "", table, *drift_text.series_notes(self)]
        )

    def _columns(self) -> dict[str, list[Any]]:
        each = list(self.results.values())
        adjusted = self.adjusted

        def labelled(name: str) -> list[float]:
            return [math.nan if d.outcome is None else getattr(d.outcome, name) for d in each]

        expected = [math.nan if d.expected_risk is None else d.expected_risk for d in each]
        return {
            "window": list(self.results),
            "rows": [d.rows_after for d in each],
            "risk": labelled("risk"),
            "ceiling": labelled("ceiling"),
            "expected_risk": expected,
            "remaining": labelled("remaining"),
            "drift": [d.value for d in each],
            "floor": [d.floor for d in each],
            "p_value": [d.p_value for d in each],
            "p_adjusted": [adjusted[name] for name in self.results],
            "used": labelled("used"),
            "unit": [d.unit for d in each],
        }

    def _errors(self, name: str) -> list[float]:
        if name == "drift":
            return [d.standard_error for d in self.results.values()]
        return [math.nan if d.outcome is None else d.outcome.remaining_error for d in self.results.values()]

    def _stored(self) -> dict[str, Any]:
        return {
            "results": {name: each.to_dict() for name, each in self.results.items()},
            "adjusted": self.adjusted,
            "least_adjusted": self.least_adjusted,
        }

    @classmethod
    def _restored(cls, stored: Mapping[str, Any]) -> DriftSeries:
        return cls({name: DriftResult.from_dict(each) for name, each in required(stored, "results").items()})


def holm(values: Mapping[str, float]) -> dict[str, float]:
    """P-values of which the least is taken times their number, the next times one less, and so on, never falling (Holm)."""
    ranked = sorted((value, name) for name, value in values.items() if not math.isnan(value))
    found, most = dict.fromkeys(values, math.nan), 0.0
    for k, (value, name) in enumerate(ranked):
        most = max(most, min((len(ranked) - k) * value, 1.0))
        found[name] = most
    return found
