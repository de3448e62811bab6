"""How far the data did move: a reference and what came after it, in the units of what breaks the model."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, overload

import numpy as np

from tippingpoint.api.calibration import expected_risk
from tippingpoint.api.feature_drift import FEATURE_PERMUTATIONS, FeatureTable, feature_table, seed_of
from tippingpoint.api.prices import read_number, resolve_prices
from tippingpoint.api.profiles import Profile
from tippingpoint.api.settings import Settings, check_used
from tippingpoint.api.windows import Given, Reference, Window, read_given, split_by, warn_of_overlap
from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, total
from tippingpoint.core.divergences import Divergence, divergence_named
from tippingpoint.core.inference import standard_error
from tippingpoint.data.labels import distinct_labels
from tippingpoint.errors import InputError, UnsupportedError, WindowWarning
from tippingpoint.families.linear.geometry import Score
from tippingpoint.families.linear.oracle import linear_oracle
from tippingpoint.losses import Loss
from tippingpoint.progress import Tick, progress_bar
from tippingpoint.results.drift import DriftResult, DriftSeries
from tippingpoint.results.drift_parts import Balance, DriftEvidence, Outcome, by_importance
from tippingpoint.results.drift_text import CALIBRATION
from tippingpoint.results.stability import StabilityResult
from tippingpoint.space import Space
from tippingpoint.space.domain import Domain
from tippingpoint.space.scaling import Scale
from tippingpoint.text import LINEAR
from tippingpoint.transport import Drift, drift_by_stratum, drift_on_line, permuted

CURRENT = "current"
"""What a window is called that has no name."""

PERMUTATIONS = 199
"""Default number of permutations of the rows of both windows, for few windows: the smallest p-value is then 1/200."""

LEAST_ADJUSTED = 0.025
"""For several windows the default is as many as make this the smallest corrected p-value."""

ROWS_PERMUTED = 300_000_000
"""Rows that are permuted for all windows together, at most, if the number of permutations is the default: a few minutes."""

ROWS_AT_LEAST = 2500
"""A permutation of fewer rows takes as long as one of so many."""

MAX_WINDOWS = 1000
"""Windows that are compared in one call."""

MAX_NAMED = 3
"""Windows that a warning names."""

Windows = Mapping[str, tuple[Any, ...]]
"""Several windows by name."""

By = str | Sequence[Any] | np.ndarray[Any, Any]
"""What splits a window: a column, or a value for each row."""


@overload
def drift(
    model: Any,
    reference: tuple[Any, ...],
    current: tuple[Any, ...],
    *,
    risk: float,
    loss: str | Loss | Callable[..., Any] | None = ...,
    space: Space | None = ...,
    scale: Scale | None = ...,
    permutations: int | None = ...,
    seed: int = ...,
    features: bool = ...,
    assume: str | None = ...,
    by: None = ...,
    **settings: Any,
) -> DriftResult: ...


@overload
def drift(
    model: Any,
    reference: tuple[Any, ...],
    current: tuple[Any, ...],
    *,
    risk: float,
    loss: str | Loss | Callable[..., Any] | None = ...,
    space: Space | None = ...,
    scale: Scale | None = ...,
    permutations: int | None = ...,
    seed: int = ...,
    features: bool = ...,
    assume: str | None = ...,
    by: By,
    **settings: Any,
) -> DriftSeries: ...


@overload
def drift(
    model: Any,
    reference: tuple[Any, ...],
    current: Windows,
    *,
    risk: float,
    loss: str | Loss | Callable[..., Any] | None = ...,
    space: Space | None = ...,
    scale: Scale | None = ...,
    permutations: int | None = ...,
    seed: int = ...,
    features: bool = ...,
    assume: str | None = ...,
    by: None = ...,
    **settings: Any,
) -> DriftSeries: ...


def drift(
    model: Any,
    reference: tuple[Any, ...],
    current: tuple[Any, ...] | Windows,
    *,
    risk: float,
    loss: str | Loss | Callable[..., Any] | None = None,
    space: Space | None = None,
    scale: Scale | None = None,
    permutations: int | None = None,
    seed: int = 0,
    features: bool = True,
    assume: str | None = None,
    by: By | None = None,
    **settings: Any,
) -> DriftResult | DriftSeries:
    """How far current data are from a reference, in the units of stability, and what that did to a model.

    Both windows are measured on the one number through which the loss acts (the margin of a classifier, the residual of a
    regressor): `R(risk of the current rows) ≤ drift`, whatever the model and the loss, on these two samples as they are. A
    drift is a size: it bounds what it can have done, and says no more of it.

    Parameters
    ----------
    model
        As in `profile`.
    reference
        `(X, y)` or `(X, y, weights)`: the rows to which current ones are compared. They should not be rows that the model was
        trained on, which nobody can tell from the data.
    current
        The same of what came after; `y` is None where labels are not known, and only sizes are told then. Several windows by
        name, as `{"2016": (X, y), "2017": (X, y)}`, make a `DriftSeries`. At most 1000 windows are compared in one call.
    risk
        The threshold of the tolerance, a mean loss.
    loss, space, scale
        As in `profile`; units are those of the reference.
    permutations, seed
        How often the rows of both windows are permuted, for the noise floor and the p-value; 0 for neither. The default is
        199, and more for several windows: a corrected p-value is at least windows/(permutations + 1), and the default brings
        that to 0.025 if it takes no more than a few minutes. Windows whose p-value is large after 199 get no more. Single
        features get 99 by default.
    features
        Whether to look at every feature alone too.
    assume
        "calibration": that outcomes at the same score are as frequent as before; adds the expected risk, which is an estimate.
    by
        A column of the current X, which is then no feature, or a value for each of its rows: a window for each value. Dates
        are grouped by a period after a colon: `by="date:month"`, or day, week, quarter, year.
    settings
        Prices and divergence, as in `Profile.stability`; and options of the model's family. `time_limit` also bounds the
        time for the stabilities of single features, all together; those that are left open have a note.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> later = [[1.0], [2.0], [3.0], [4.0]]
    >>> found = tp.drift(([1.0], -1.6), (X, y), (later, y), risk=0.5, theta1=1.0, theta2=10.0, permutations=0)
    >>> found.risk_before, found.risk_after, round(found.value, 3)
    (0.0, 0.25, 0.32)
    """
    given = Settings.read(settings, "drift")
    before, windows, several = _read(reference, current, by)
    question = _question(given.question)
    _check(permutations, seed, assume)
    read = Reference.read(model, before, {**given.options, "seed": seed}, loss=loss, space=space, scale=scale)
    check_used(given.options, [read.case.family])
    drifting = _Drifting(
        read, read_number("risk", risk), question, _Permutations.choose(permutations, before, windows), seed, assume
    )
    warn_of_overlap(before, windows)
    found = {}
    steps = 1 + (len(read.case.domain.features) if features else 0)
    title, show = "windows" if several else "drift", given.options.get("progress")
    with progress_bar(title, len(windows) * steps, show=show) as tick:
        for k, (name, each) in enumerate(windows.items()):
            found[name] = drifting.measured(name, each, k, features=features, tick=partial(_tick_from, tick, k * steps))
    _warn_of_noise(found)
    return DriftSeries(found, read.case.features.backend) if several else next(iter(found.values()))


def _tick_from(tick: Tick, start: int, done: int) -> None:
    """Of the steps of one window, those of all of them."""
    tick(start + done)


def _rows(window: Given) -> int:
    return len(window.x) if hasattr(window.x, "__len__") else 0


def _read(reference: Any, current: Any, by: Any) -> tuple[Given, dict[str, Given], bool]:
    """The windows that the user gave, and whether there are several by their nature."""
    before = read_given("reference", reference)
    if isinstance(current, Mapping):
        if by is not None:
            raise InputError("by= splits one window, and current names several; leave one of them out.")
        if not current:
            raise InputError("current is empty; give a window, as (X, y), or several by name.")
        if len(current) > MAX_WINDOWS:
            raise InputError(
                f"current has {len(current):,} windows, and at most {MAX_WINDOWS:,} are compared in one call. Join some, or"
                " call drift for a part of them."
            )
        return before, {str(name): read_given(f"current[{name!r}]", each) for name, each in current.items()}, True
    after = read_given("current", current)
    return (before, {CURRENT: after}, False) if by is None else (before, split_by(after, by, MAX_WINDOWS), True)


def _question(given: Mapping[str, Any]) -> dict[str, Any]:
    """Prices and divergence that a drift can be measured with."""
    theta1, theta2 = resolve_prices(*(given.get(name) for name in ("theta1", "theta2", "mix", "budget")))
    divergence: Divergence = divergence_named(given.get("divergence", "kl"))
    if math.isinf(theta1):
        raise InputError(
            "theta1=inf: two samples of numbers have no value in common, so nothing but moving takes one to the other."
        )
    return {"theta1": theta1, "theta2": theta2, "divergence": divergence}


def _check(permutations: Any, seed: Any, assume: Any) -> None:
    for name, value in (("permutations", permutations), ("seed", seed)):
        if name == "permutations" and value is None:
            continue
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
            raise InputError(f"{name}={value!r} must be a whole number, 0 or more.")
    if assume not in (None, "calibration"):
        raise InputError(f"assume={assume!r} is not known; there is 'calibration', or None to assume nothing.")


@dataclass(frozen=True)
class _Permutations:
    """How many there are: for every window, for one whose p-value is small after these, and for a feature."""

    first: int
    most: int
    feature: int

    @classmethod
    def choose(cls, asked: int | None, before: Given, windows: Mapping[str, Given]) -> _Permutations:
        """Those that the user asked for; otherwise by the number of windows and of rows."""
        if asked is not None:
            return cls(asked, asked, asked)
        wanted = math.ceil(len(windows) / LEAST_ADJUSTED) - 1
        rows = sum(max(_rows(before) + _rows(each), ROWS_AT_LEAST) for each in windows.values())
        return cls(PERMUTATIONS, max(PERMUTATIONS, min(wanted, ROWS_PERMUTED // rows)), FEATURE_PERMUTATIONS)


@dataclass(frozen=True)
class _InSpace:
    """A stability in the space itself; NaN if it is not known."""

    value: float
    lower: float
    standard_error: float


@dataclass(frozen=True)
class _Drifting:
    """What is the same for all windows."""

    reference: Reference
    risk: float
    question: Mapping[str, Any]
    permutations: _Permutations
    seed: int
    assume: str | None

    def measured(self, name: str, given: Given, number: int, *, features: bool, tick: Tick) -> DriftResult:
        """The drift of one window."""
        current = self.reference.current(name, given)
        labelled = current.y is not None
        before = self.reference.window() if labelled else self.scored
        places, compliance = _places(before, self.statistic(labelled=labelled)), self.compliance(labelled=labelled)
        after = _places(current, self.statistic(labelled=labelled))
        price = self.question["theta1"] / compliance
        reweighted = {"theta2": self.question["theta2"], "divergence": self.question["divergence"]}
        found = drift_on_line(places, before.base, after, current.base, price=price, **reweighted)
        seed = seed_of(self.seed, number)
        floor, p_value = math.nan, math.nan
        if self.permutations.first:
            rows = places, before.base, after, current.base
            first, most = self.permutations.first, self.permutations.most
            dealt = permuted(*rows, price=price, permutations=first, most=most, seed=seed, **reweighted)
            floor, p_value = dealt.floor, dealt.p_value
        tick(1)
        table = self._features(before, current, seed, tick) if features else FeatureTable()
        expected = expected_risk(self.reference, current.features, current.base) if self.assume else None
        return DriftResult(
            value=found.upper,
            lower=found.lower,
            upper=found.upper,
            moving=found.moving,
            reweighting=found.reweighting,
            standard_error=found.standard_error(),
            floor=floor,
            p_value=p_value,
            statistic=self.statistic(labelled=labelled),
            unit=self.unit,
            risk=self.risk,
            risk_before=self.line.risk,
            tolerance=self.tolerance.value,
            tolerance_error=self.tolerance.standard_error,
            stability=self.stability.value,
            stability_lower=self.stability.lower,
            stability_error=self.stability.standard_error,
            permutations=self.permutations.most,
            loss=self.line.loss,
            divergence=self.question["divergence"].label,
            theta1=self.question["theta1"],
            theta2=self.question["theta2"],
            rows_before=_effective(before.base),
            rows_after=_effective(current.base),
            window=name,
            outcome=self._outcome(before, current, found, places, after, price) if labelled else None,
            expected_risk=expected,
            assumption=CALIBRATION if self.assume else "",
            by_feature=by_importance(table.rows, self.line.risk),
            notes=(*self._notes, *table.notes),
            backend=self.reference.case.features.backend,
            evidence=DriftEvidence(places, before.base, found.weights, found.destinations, after, current.base),
        )

    @cached_property
    def scored(self) -> Window:
        """The reference by its scores."""
        return self.reference.scored()

    @cached_property
    def line(self) -> Profile:
        """The reference on the line of its margins, on which the tolerance is that of the drift's own cost."""
        return self._profile(self.reference.window())

    @cached_property
    def tolerance(self) -> StabilityResult:
        return self.line.stability(self.risk, **self.question)

    @cached_property
    def stability(self) -> _InSpace:
        """The stability of the reference in its space: the tolerance if the line is exact, and unknown if it is a search."""
        case = self.reference.case
        if self.unit != LINEAR and case.judgement.searched:
            return _InSpace(math.nan, math.nan, math.nan)
        found = self.tolerance if self.unit == LINEAR else case.profile().stability(self.risk, **self.question)
        return _InSpace(found.value, found.lower, found.standard_error)

    def statistic(self, *, labelled: bool) -> str:
        """What is measured of a row."""
        reference = self.reference
        if reference.margins.loss.label == reference.case.judgement.label and not reference.classifies:
            return (
                "residual"
                if labelled and reference.margins.loss.task == "regression"
                else "prediction"
                if not labelled
                else "loss"
            )
        if not reference.classifies:
            return "loss"
        return "margin" if labelled else "score"

    @property
    def unit(self) -> str:
        return self.reference.margins.unit

    def compliance(self, *, labelled: bool) -> float:
        """`B`: that of the model's family; where it knows none, the variance of the scores, which are then the unit."""
        margins = self.reference.margins
        if margins.compliance is not None:
            if margins.compliance > 0.0:
                return margins.compliance
            raise UnsupportedError("no feature that the model uses may move, so a drift has no price; widen the space.")
        return self._variance if labelled else _variance(self.scored)

    @cached_property
    def _variance(self) -> float:
        return _variance(self.reference.window())

    def _profile(self, window: Window) -> Profile:
        """The samples of a window as those of a linear model of one feature, their margin."""
        v, loss = window.margins.values, window.margins.loss
        one = np.ones(1)
        price = one / self.compliance(labelled=True)
        domain = Domain(("margin",), price, -one * math.inf, one * math.inf, 0.0 * one, 0.0 * one, unit=self.unit)
        y = np.ones(len(v), dtype=np.int8) if loss.task == "classification" else np.zeros(len(v))
        oracle = linear_oracle(-v[:, None], y, Score(one, 0.0), loss, domain, -v)
        judged = self.reference.case.judgement
        return Profile(oracle, window.base, window.features.index, judged.label, judged.range, window.features.backend)

    def _outcome(
        self, before: Window, current: Window, found: Drift, places: FloatArray, after: FloatArray, price: float
    ) -> Outcome:
        """What the labels of the current rows tell."""
        now = self._profile(current)
        left = now.stability(self.risk, **self.question)
        used = self.line.stability(max(now.risk, self.line.risk), **self.question)
        losses = current.margins.loss.value(current.margins.values)
        spread = standard_error(losses - now.risk, current.base)
        return Outcome(
            risk=now.risk,
            used=used.value,
            used_error=math.hypot(used.standard_error, used.price * spread) if used.status == "attained" else math.nan,
            ceiling=_ceiling(self.line, found.upper, self.question),
            remaining=left.value,
            remaining_error=left.standard_error,
            balance=self._balance(before, current, places, after, price),
        )

    def _balance(self, before: Window, current: Window, places: FloatArray, after: FloatArray, price: float) -> Balance | None:
        """The drift of score and label together: labels stay, so that a new balance of them is paid by reweighting."""
        if not self.reference.classifies or before.y is None or current.y is None:
            return None
        _, labels = distinct_labels(np.concatenate([before.y, current.y]))
        theta2, divergence = self.question["theta2"], self.question["divergence"]
        split = drift_by_stratum(
            places,
            before.base,
            labels[: len(places)],
            after,
            current.base,
            labels[len(places) :],
            price=price,
            theta2=theta2,
            divergence=divergence,
        )
        return Balance(split.labels, split.moving, split.reweighting)

    def _features(self, before: Window, current: Window, seed: int, tick: Tick) -> FeatureTable:
        dealt = self.permutations.feature
        return feature_table(self.reference, before, current, self.risk, self.question, dealt, seed, tick)

    @property
    def _notes(self) -> tuple[str, ...]:
        case = self.reference.case
        return (*case.notes, *case.judgement.notes)


def _places(window: Window, statistic: str) -> FloatArray:
    """Where rows are on the line: residuals and losses as they are, of margins, scores and predictions the larger is better."""
    v = window.margins.values
    return v if statistic in ("residual", "loss") else -v


def _variance(window: Window) -> float:
    """Of scores, which are the unit where nothing else is known."""
    v = window.margins.values
    found = total(window.base, np.square(v - total(window.base, v)))
    if not found > 0.0:
        raise UnsupportedError(
            "the model gives every row of the reference the same score, so that no drift can be measured on it."
        )
    return found


def _effective(base: FloatArray) -> float:
    """Rows that the weights amount to."""
    return 1.0 / total(base, np.asarray(base))


def _ceiling(line: Profile, cost: float, question: Mapping[str, Any]) -> float:
    """A proved bound on the risk that a perturbation of this cost can reach; the largest loss if there is no better one."""
    found = line.worst_risk(cost, **question)
    return line.loss_range[1] if found.certified is None else found.certified


def _warn_of_noise(results: Mapping[str, DriftResult]) -> None:
    """One warning for all windows whose noise is no less than the tolerance."""
    noisy = {name: each for name, each in results.items() if each.floor >= each.tolerance > 0.0}
    if not noisy:
        return
    worst = max(noisy.values(), key=lambda each: each.floor)
    where = ""
    if len(results) > 1:
        names = ", ".join(map(repr, list(noisy)[:MAX_NAMED])) + (", ..." if len(noisy) > MAX_NAMED else "")
        where = f" in {len(noisy)} of {len(results)} windows ({names})"
    warnings.warn(
        f"two samples of these sizes from one population drift by {worst.floor:.2g} in the mean, no less than the"
        f" tolerance {worst.tolerance:.2g}{where}; a floor of a tenth of it takes some {worst.rows_needed():,.0f} rows in each"
        " window.",
        WindowWarning,
        stacklevel=3,
    )
