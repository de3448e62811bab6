"""The worst risk at a cost, and worst risks over costs: the stability curve read the other way."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tippingpoint.core.inference import LEVEL, normal_margin
from tippingpoint.core.oracle import INTERRUPTED
from tippingpoint.data.frames import build_frame
from tippingpoint.json_numbers import decode_all
from tippingpoint.plots import draw_lines
from tippingpoint.results.base import Result, required
from tippingpoint.results.stability import StabilityResult
from tippingpoint.standing import Kind, Standing
from tippingpoint.text import (
    UNENDED,
    WIDTH,
    Line,
    cautions,
    level,
    lines,
    number,
    render_lines,
    render_lines_html,
    render_table,
    risk_name,
)
from tippingpoint.visible import readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OF_STABILITY = ("moving", "reweighting", "excess risk", "cost", "note")
"""What the text of a stability says of the perturbation itself, which is said here too."""


@dataclass(frozen=True)
class WorstRisk(Result):
    """The largest risk that a perturbation of a cost lifts a model's risk to: the stability, read the other way.

    Attributes
    ----------
    value
        The risk that a perturbation of that cost was shown to reach. Nothing reaches more where `exact`; otherwise something
        may, and `certified` says how far.
    certified
        A ceiling that no perturbation of that cost passes, and so an upper bound on the worst risk; None where nothing is
        proved: `value` is then a lower bound of the worst case, and no more.
    certified_by
        What proves the ceiling, or why nothing does.
    exact
        Whether the two agree but for rounding.
    status
        "attained": all of the cost is needed. "largest": no perturbation, or none that was found, lifts the risk further, and
        `spent` is enough for that; it is proved where `exact`.
    cost, spent
        What may be paid, and what the sensitive distribution costs.
    excess
        `value - current_risk`, with all its digits.
    standard_error
        Of `value`, from sampling of the evaluation data: that of the stability over `price`; not a number where it is not
        defined.
    current_risk
        The mean loss now.
    largest_risk
        The largest mean loss that any perturbation reaches, at any cost; None if that is not proved.
    loss, divergence, theta1, theta2
        Of the question.
    price
        `h*`: what one more unit of risk would cost.
    samples
        Rows of positive weight.
    notes
        What a careful reader should know.
    interrupted
        Whether a search did not end: no gate takes it for an answer.
    time_limit_reached
        Whether `time_limit` ended a search or a proof. `value` and `certified` hold, and more time may bring them closer.
    caution
        What must be read before the number; empty where there is nothing.
    stability
        The stability at that risk, with the sensitive distribution that reaches it and how moving and reweighting share in it.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> profile = tp.profile(([1.0], -1.5), X, y)
    >>> worst = profile.worst_risk(cost=0.125, theta1=1.0, theta2=float("inf"))
    >>> worst.value, worst.certified, worst.current_risk
    (0.5, 0.5, 0.0)
    >>> worst.stability.value  # what it takes to lift the risk that far
    0.125
    >>> tp.WorstRisk.from_json(worst.to_json()).value
    0.5
    """

    value: float
    certified: float | None
    certified_by: str
    exact: bool
    status: str
    cost: float
    spent: float
    excess: float
    standard_error: float
    current_risk: float
    largest_risk: float | None
    loss: str
    divergence: str
    theta1: float
    theta2: float
    price: float
    samples: int
    stability: StabilityResult
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    caution: str = ""
    time_limit_reached: bool = False

    SCHEMA: ClassVar[str] = "tippingpoint.worst_risk/1"

    def _stored(self) -> dict[str, Any]:
        return {**super()._stored(), "stability": self.stability.to_dict()}

    @classmethod
    def _restored(cls, stored: Mapping[str, Any]) -> WorstRisk:
        stability = StabilityResult.from_dict(required(stored, "stability"))
        return super()._restored({**stored, "stability": stability})

    @property
    def standing(self) -> Standing:
        """How much is known of the number: exact, bounded, searched (a lower bound), or an estimate; and why."""
        kind: Kind = "searched" if self.certified is None else "bounded"
        if self.exact:
            kind = "exact"
        elif self.stability.standing.kind == "estimate":
            kind = "estimate"
        return Standing(kind, self.interrupted, self.certified_by)

    @property
    def stopped(self) -> bool:
        """Whether somebody at the keyboard ended the search; otherwise, where it was interrupted, the model failed."""
        return INTERRUPTED in self.notes

    def __str__(self) -> str:
        return "\n".join([textwrap.fill(self._headline(), WIDTH), *render_lines(self._lines())])

    def _repr_html_(self) -> str:
        return render_lines_html(self._headline(), self._lines())

    def _headline(self) -> str:
        """The answer in a sentence: as much as is known, and no more."""
        found, now, known = level(self.value, self.loss), level(self.current_risk, self.loss), self.standing
        lifted = f"lifts the {risk_name(self.loss)} to, from {now} now"
        what = f"a perturbation of cost {number(self.cost)} {lifted}"
        if known.undecided:
            return readable(f"Worst risk at least {found}, interrupted: the search for what {what} did not end.")
        opening = "Interrupted, yet certain. " if known.interrupted else ""
        enough = f"; {number(self.spent)} of the cost {number(self.cost)} is enough" if self.status == "largest" else ""
        if known.exact:
            most = f"the largest that any perturbation {lifted}{enough}" if enough else f"the most that {what}"
            return readable(f"{opening}Worst risk {found}: {most}.")
        if known.kind == "estimate":
            return readable(f"Worst risk about {found}: an estimate of what {what}{enough}.")
        if self.certified is None:
            return readable(f"Worst risk at least {found}: what {what}, as far as was found{enough}; it may be more.")
        ceiling = level(self.certified, self.loss)
        between = f"between {found} and {ceiling}" if ceiling != found else found
        return readable(f"Worst risk {between}: the most that {what}{enough}.")

    def _lines(self) -> list[Line]:
        """What stands below it."""
        told = lines(self.stability.summary)
        first = [each for each in told if each[0] in ("first of all", "prices")]
        return [
            *first,
            ("certificate", readable(self._certificate())),
            ("standard error", self._error()),
            *(each for each in told if each[0] in OF_STABILITY),
        ]

    def _certificate(self) -> str:
        reached, known = f"≥ {number(self.value, 10)} (sensitive distribution)", self.standing
        if known.kind == "estimate":
            return f"estimate only, no bound ({self.stability.standing.why}); {self.certified_by}"
        if self.certified is None:
            return f"lower bound only: {reached}; {self.certified_by}"
        ceiling = number(self.certified, 10)
        if known.exact:
            return f"exact: {reached}, ≤ {ceiling} (dual); {self.certified_by}"
        return f"two-sided: {reached}, ≤ {ceiling} ({self.certified_by})"

    def _error(self) -> str:
        if math.isnan(self.standard_error):
            reached = "can be reached" if self.exact else "was found"
            why = f"it is the largest risk that {reached}" if self.status == "largest" else "nothing changes"
            return f"not defined here: {why}"
        sample = f"{self.stability.effective_sample:,.0f} effective of {self.samples:,} samples"
        return f"{number(self.standard_error, 2)} (sampling, first order; {sample})"


@dataclass(frozen=True)
class WorstRiskCurve(Result):
    """Worst risks over a range of costs.

    Attributes
    ----------
    at
        The costs.
    results
        The worst risk at each.
    interrupted
        Whether it was stopped before the last cost, or a search did not end.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> profile = tp.profile(([1.0], -1.5), X, y)
    >>> curve = profile.worst_risk(cost=[0.0625, 0.125], theta1=1.0, theta2=float("inf"))
    >>> curve.at, [worst.value for worst in curve]
    ((0.0625, 0.125), [0.25, 0.5])
    """

    at: tuple[float, ...]
    results: tuple[WorstRisk, ...]
    backend: str = "pandas"
    interrupted: bool = False

    COLUMNS = ("value", "certified", "standard_error", "spent")
    SCHEMA: ClassVar[str] = "tippingpoint.worst_risk_curve/1"

    def _stored(self) -> dict[str, Any]:
        return {"interrupted": self.interrupted, "at": self.at, "results": [result.to_dict() for result in self]}

    @classmethod
    def _restored(cls, stored: Mapping[str, Any]) -> WorstRiskCurve:
        at, results, interrupted = (required(stored, name) for name in ("at", "results", "interrupted"))
        return cls(decode_all(at), tuple(map(WorstRisk.from_dict, results)), interrupted=interrupted)

    def __iter__(self) -> Iterator[WorstRisk]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def to_frame(self) -> Any:
        """One line a cost; what is not certified is not a number there."""
        columns = {_heading(name): [_as_number(getattr(r, name)) for r in self] for name in self.COLUMNS}
        return build_frame({"cost": list(self.at), **columns}, self.backend)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The worst risk at each cost, with a band of ±1.96 standard errors; what is certified from above is dotted."""
        value, error, ceiling = (
            np.array([_as_number(getattr(r, name)) for r in self]) for name in ("value", "standard_error", "certified")
        )
        margin = normal_margin(1.0, LEVEL) * error
        exact = all(r.exact for r in self)
        now = self.results[0].current_risk
        band = (value, np.maximum(value - margin, now), value + margin)
        what = risk_name(self.results[0].loss)
        ceilings = {"worst risk": ceiling} if not exact and np.isfinite(ceiling).any() else {}
        ylabel = f"worst {what}" if exact else f"worst {what} found (a lower bound)"
        return draw_lines(self.at, {"worst risk": band}, "cost", ylabel, ax, ceilings=ceilings)

    def __str__(self) -> str:
        rows = [[at, *(_shown(getattr(r, name)) for name in self.COLUMNS)] for at, r in zip(self.at, self, strict=True)]
        table = render_table(["cost", *map(_heading, self.COLUMNS)], rows)
        first = cautions({f"cost {number(at)}": r.caution for at, r in zip(self.at, self, strict=True)})
        reasons = dict.fromkeys(readable(r.certified_by) for r in self if r.certified is None)
        below = [textwrap.fill(f"Where nothing is certified, worst_risk is a lower bound ({why}).", WIDTH) for why in reasons]
        return "\n".join([*first, table, *below, *([UNENDED] if self.interrupted else [])])


def _shown(value: float | None) -> float | str:
    return "none" if value is None else value


def _heading(name: str) -> str:
    return "worst_risk" if name == "value" else name


def _as_number(value: float | None) -> float:
    return math.nan if value is None else value
