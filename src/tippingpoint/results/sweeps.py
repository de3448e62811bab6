"""Stabilities over a range of thresholds or of prices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tippingpoint.data.frames import build_frame
from tippingpoint.json_numbers import decode_all
from tippingpoint.plots import draw_lines, draw_split
from tippingpoint.results.base import Result, required
from tippingpoint.results.stability import StabilityResult, bands, shows_corrected
from tippingpoint.text import (
    NOT_FOUND_LEGEND,
    NOTHING_REACHES,
    UNENDED,
    cautions,
    number,
    render_table,
    risk_name,
    shown_stability,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DIAL = "mix (0: reweighting only, 1: moving only)"
"""What the dial between the two prices is called on an axis."""

PRICES = {"theta1": "price of moving θ1", "theta2": "price of reweighting θ2", "budget": "budget 1/θ1 + 1/θ2"}
"""What prices are called there."""


@dataclass(frozen=True)
class Sweep(Result):
    """Stabilities over a range of thresholds or of prices.

    Attributes
    ----------
    over
        What varies: "risk", "mix", "theta1", "theta2" or "budget".
    at
        Its values.
    results
        The result at each.
    interrupted
        Whether it was stopped before the last value, or a search did not end.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> profile = tp.profile(([1.0], -1.5), X, y)
    >>> sweep = profile.curve([0.25, 0.5], theta1=1.0, theta2=float("inf"))
    >>> sweep.over, sweep.at
    ('risk', (0.25, 0.5))
    >>> [result.value for result in sweep]
    [0.0625, 0.125]
    """

    over: str
    at: tuple[float, ...]
    results: tuple[StabilityResult, ...]
    backend: str = "pandas"
    interrupted: bool = False

    COLUMNS = ("value", "lower", "upper", "standard_error", "corruption_excess", "reweighting_excess", "effective_share")
    SCHEMA: ClassVar[str] = "tippingpoint.sweep/1"

    def _stored(self) -> dict[str, Any]:
        results = [result.to_dict() for result in self]
        return {"interrupted": self.interrupted, "over": self.over, "at": self.at, "results": results}

    @classmethod
    def _restored(cls, stored: Mapping[str, Any]) -> Sweep:
        over, at, results, interrupted = (required(stored, name) for name in ("over", "at", "results", "interrupted"))
        return cls(over, decode_all(at), tuple(map(StabilityResult.from_dict, results)), interrupted=interrupted)

    def __iter__(self) -> Iterator[StabilityResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def to_frame(self) -> Any:
        """One line a setting."""
        names = ("risk", "theta1", "theta2", *self._columns)
        columns = {heading(name): [as_number(getattr(r, name)) for r in self] for name in names}
        return build_frame({self.over: list(self.at), **columns}, self.backend)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The stability at each setting, with a band of 95% intervals; what is certified from below is dotted.

        If outcomes were repeated, it is the corrected stability, and nothing is dotted.
        """
        there = np.isfinite(self.at)  # a price that forbids a kind of change has no place along an axis
        lower, band = np.array([r.lower for r in self])[there], tuple(each[there] for each in bands(self.results))
        floors = (
            {"stability": lower}
            if not shows_corrected(self.results) and any(not r.exact and r.lower > 0.0 for r in self)
            else {}
        )
        at = np.array(self.at)[there]
        ax = draw_lines(at, {"stability": band}, self._axis, stability_axis(self), ax, floors=floors)
        if self.over in PRICES and len(at):  # it is their ratios that matter
            ax.set_xscale("log")
        return ax

    def plot_excess(self, ax: Axes | None = None) -> Axes:
        """The excess risk at each setting, split in what moving samples adds and what reweighting them adds."""
        reached = [r.status not in NOTHING_REACHES for r in self]
        moving, weighing = (
            [getattr(r, name) if there else math.nan for r, there in zip(self, reached, strict=True)]
            for name in ("corruption_excess", "reweighting_excess")
        )
        return draw_split(self.at, moving, weighing, ax, xlabel=self._axis, ylabel=f"excess {risk_name(self.results[0].loss)}")

    @property
    def _columns(self) -> tuple[str, ...]:
        """Those of `COLUMNS`, and the corrected stability if outcomes were repeated."""
        if not any(result.repeated for result in self):
            return self.COLUMNS
        after = self.COLUMNS.index("standard_error") + 1
        return (*self.COLUMNS[:after], "corrected", "corrected_error", *self.COLUMNS[after:])

    @property
    def _axis(self) -> str:
        names = {"mix": DIAL, **PRICES}
        return names.get(self.over) or f"threshold ({risk_name(self.results[0].loss)})"

    def __str__(self) -> str:
        rows = [[at, *(cell(r, name) for name in self._columns)] for at, r in zip(self.at, self, strict=True)]
        table = render_table([self.over, *map(heading, self._columns)], rows)
        first = cautions({f"{self.over} {number(at)}": r.caution for at, r in zip(self.at, self, strict=True)})
        return "\n".join([*first, table, *not_found_legend(self), *([UNENDED] if self.interrupted else [])])


def stability_axis(results: Iterable[StabilityResult]) -> str:
    """What an axis of stabilities is called: of a search they are upper bounds."""
    results = list(results)
    if shows_corrected(results):
        return "corrected stability"
    return "stability" if all(r.exact for r in results) else "stability (upper bound)"


def heading(name: str) -> str:
    """In a table of many results the value is the stability of something."""
    return "stability" if name == "value" else name


def as_number(value: Any) -> Any:
    """A number that does not exist is not a number in a table."""
    return math.nan if value is None else value


def cell(result: StabilityResult, name: str) -> Any:
    """A number of a result for a printed table."""
    return shown_stability(result) if name == "value" else as_number(getattr(result, name))


def not_found_legend(results: Iterable[StabilityResult]) -> list[str]:
    """The line below a table that explains "not found", if it is there."""
    return [NOT_FOUND_LEGEND] if any(result.status == "not_found" for result in results) else []
