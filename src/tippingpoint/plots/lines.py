"""Numbers along a line: stability over the dial or the threshold, risk over epochs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError
from tippingpoint.plots.canvas import PALETTE, axes_on, colour, dash, explain, read_band, read_values
from tippingpoint.text import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = ("o", "s", "^", "D", "v", "P", "X")
"""Shapes of the points of several lines, so that they can be told apart without colour."""

STROKES = ("-", (0, (5, 2)), (0, (3, 1, 1, 1)))
"""Strokes, for more lines than there are colours."""

MAX_MARKED_POINTS = 25
"""Points up to which each is marked."""

ROW = 0.07
"""Part of the height between the infinities of one line and those of the next."""


def draw_lines(
    at: Any,
    series: Mapping[str, Any],
    xlabel: str,
    ylabel: str,
    ax: Axes | None = None,
    *,
    log: bool = False,
    floors: Mapping[str, Any] | None = None,
    ceilings: Mapping[str, Any] | None = None,
) -> Axes:
    """A line a series, with a shaded band around it.

    Parameters
    ----------
    at
        `(k,)` where along the horizontal axis.
    series
        By name: `(k,)` values, `(mean, spread)` for a band of `mean ± spread`, or `(mean, lower, upper)`. What is not a number
        is a gap in the line; so is what is infinite, and `∞` at the top of the picture says so.
    xlabel, ylabel
        What the axes show.
    ax
        Where to draw; a new figure where none is given.
    log
        Whether the vertical axis is logarithmic.
    floors
        Lower bounds of some of the series, by name, as dotted lines.
    ceilings
        Upper bounds of some of them, likewise.
    """
    if not series:
        raise InputError("series is empty; give at least one line, as {'stability': values}.")
    places = read_values(at, "at")
    read = {name: read_band(values, f"series[{name!r}]", len(places)) for name, values in series.items()}
    below = {name: read_values(values, f"floors[{name!r}]", len(places)) for name, values in (floors or {}).items()}
    above = {name: read_values(values, f"ceilings[{name!r}]", len(places)) for name, values in (ceilings or {}).items()}
    ax = axes_on(ax)
    if log:
        ax.set_yscale("log")
    for k, (name, (middle, low, high)) in enumerate(read.items()):
        if low is not None and high is not None:
            ax.fill_between(places, _finite(low), _finite(high), color=colour(k), alpha=0.18, linewidth=0.0)
        _stroke(ax, places, middle, k, str(name), each_marked=len(places) <= MAX_MARKED_POINTS)
        for bounds, side in ((below, "lower"), (above, "upper")):
            if name in bounds:
                label = f"certified {side} bound" if name == list(bounds)[-1] else None
                ax.plot(places, _finite(bounds[name]), color=colour(k), linestyle=":", linewidth=1.6, label=label)
    ax.update_datalim([(float(place), 0.0) for place in places], updatey=False)  # gaps are part of the curve
    ax.autoscale_view()
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if len(read) > 1 or below or above:
        explain(ax)
    return ax


def draw_convergence(
    traces: Mapping[str, Sequence[float]],
    threshold: float | None = None,
    xlabel: str = "epoch",
    ax: Axes | None = None,
    *,
    ylabel: str = "risk",
) -> Axes:
    """The risk after every epoch, counted from one, and the threshold as a dashed line.

    Parameters
    ----------
    traces
        The risks of each search, by name; they may differ in length.
    threshold
        The risk to be reached.
    xlabel, ylabel
        What the axes show.
    ax
        Where to draw; a new figure where none is given.
    """
    read = {name: read_values(values, f"traces[{name!r}]") for name, values in traces.items()}
    if not any(len(values) for values in read.values()):
        raise InputError("traces holds no epoch; give the risks of at least one search, as {'paper': result.trace}.")
    ax = axes_on(ax)
    from matplotlib.ticker import MaxNLocator  # after it was seen that there is a matplotlib

    each_marked = max(map(len, read.values())) <= MAX_MARKED_POINTS
    for k, (name, values) in enumerate(read.items()):
        _stroke(ax, np.arange(1.0, len(values) + 1.0), values, k, str(name), each_marked=each_marked)
    if threshold is not None:
        dash(ax, threshold, f"threshold {number(threshold)}")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if len(read) > 1 or threshold is not None:
        explain(ax)
    return ax


def _stroke(ax: Axes, at: FloatArray, values: FloatArray, k: int, name: str, *, each_marked: bool) -> None:
    """One line; of many points only those are marked that have no neighbour to be joined to."""
    shown = _finite(values)
    known = np.isfinite(shown)
    joined = np.append(False, known[:-1]) | np.append(known[1:], False)
    marked = known if each_marked else known & ~joined
    ax.plot(
        at,
        shown,
        color=colour(k),
        linestyle=STROKES[k // len(PALETTE) % len(STROKES)],
        linewidth=1.8,
        marker=MARKS[k % len(MARKS)] if marked.any() else "",
        markersize=4.5,
        markevery=np.flatnonzero(marked).tolist(),
        label=name,
    )
    infinite = np.isposinf(values)
    if not each_marked:
        infinite[1:] &= ~infinite[:-1]
    for place in at[infinite]:
        ax.text(place, 0.98 - ROW * k, "∞", color=colour(k), transform=ax.get_xaxis_transform(), ha="center", va="top")


def _finite(values: FloatArray) -> FloatArray:
    """Gaps where a value is infinite."""
    return np.where(np.isfinite(values), values, np.nan)
