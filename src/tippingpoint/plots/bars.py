"""Numbers as bars: the excess risk split in two, features in their order, groups side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.errors import InputError, listed
from tippingpoint.plots.canvas import (
    DASHES,
    INK,
    MOVING,
    PALETTE,
    REWEIGHTING,
    SHADE,
    SIZE,
    axes_on,
    colour,
    entries,
    explain_above,
    name_settings,
    read_band,
    read_values,
)
from tippingpoint.text import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WHISKER: dict[str, Any] = {"fmt": "none", "ecolor": INK, "elinewidth": 1.1, "capsize": 2.5}
"""How error bars look."""

ROOM, LINE = 0.9, 0.28
"""Inches of a ranking's height around its bars, and of each bar."""

ERROR_BAR_OFFSET = 0.12
"""How far to the left and to the right of the middle the two error bars of a stacked bar are."""


def draw_split(
    labels: Iterable[Any],
    corruption: Any,
    reweighting: Any,
    ax: Axes | None = None,
    *,
    errors: tuple[Any, Any] | None = None,
    xlabel: str = "",
    ylabel: str = "excess risk",
) -> Axes:
    """The excess risk of every setting as a stacked bar: what moving samples adds, then what reweighting them adds.

    Parameters
    ----------
    labels
        Of the settings, along the horizontal axis; numbers are rounded for reading.
    corruption, reweighting
        `(k,)` excess risk from moving and from reweighting; what is not a number is not drawn.
    ax
        Where to draw; a new figure where none is given.
    errors
        Half the length of an error bar at the end of each part.
    xlabel, ylabel
        What the axes show.
    """
    names = [label if isinstance(label, str) else number(float(label), 3) for label in labels]
    moving, weighing = (
        read_values(part, name, len(names)) for part, name in ((corruption, "corruption"), (reweighting, "reweighting"))
    )
    ax = axes_on(ax)
    places = np.arange(len(names))
    # A part below zero, which reweighting can be, goes down from zero instead of eating into the other.
    start = np.where(np.sign(weighing) * np.sign(moving) >= 0.0, moving, 0.0)
    ax.bar(places, moving, 0.72, color=MOVING, label="moving samples")
    ax.bar(places, weighing, 0.72, start, color=REWEIGHTING, label="reweighting them")
    if errors is not None:
        ax.errorbar(places - ERROR_BAR_OFFSET, moving, read_values(errors[0], "errors[0]", len(names)), **WHISKER)
        ax.errorbar(places + ERROR_BAR_OFFSET, start + weighing, read_values(errors[1], "errors[1]", len(names)), **WHISKER)
    ax.axhline(0.0, color=INK, linewidth=0.8)
    name_settings(ax, names)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    explain_above(ax)
    return ax


def draw_ranking(
    names: Sequence[str],
    values: Any,
    errors: Any = None,
    kinds: Sequence[str] | None = None,
    limit: float | None = None,
    ax: Axes | None = None,
    *,
    xlabel: str = "stability",
    limit_label: str = "reweighting alone",
    largest_first: bool = False,
    palette: Sequence[str] = (),
) -> Axes:
    """Features as horizontal bars, the most sensitive (the least value) on top.

    Parameters
    ----------
    names, values
        Of each feature; an infinite value is no bar but the sign `∞`.
    errors
        Half the length of an error bar of each; none where it is not a number.
    kinds
        What each feature is: a colour a kind, named in the legend where there are several.
    limit
        A dashed line at what reweighting alone costs; none where that is infinite.
    ax
        Where to draw; a new figure where none is given, as high as the features are many.
    xlabel, limit_label
        What the bars and the dashed line show.
    largest_first
        Whether the largest value is on top instead.
    palette
        Kinds in the order of their colours, so that several pictures agree; those of `kinds` that it lacks come after them.
    """
    read = read_values(values, "values", len(names))
    spread = np.full(len(names), np.nan) if errors is None else read_values(errors, "errors", len(names))
    if not len(names):
        raise InputError("names is empty; give at least one feature.")
    if kinds is not None and len(kinds) != len(names):
        raise InputError(f"kinds has {len(kinds)} values but there are {len(names)} names; give one kind a feature.")
    every = list(dict.fromkeys([*palette, *kinds] if kinds is not None else [""]))
    if len(every) > len(PALETTE):
        raise InputError(f"kinds names {listed(every)}; at most {len(PALETTE)} kinds can be told apart by colour.")
    ax = axes_on(ax, (SIZE[0], ROOM + LINE * max(len(names), 3)))
    order = np.argsort(-read if largest_first else read, kind="stable")
    place = np.empty(len(names))
    place[order] = np.arange(len(names))
    finite = np.isfinite(read)
    for k, kind in enumerate(every):
        mine = finite if kinds is None else finite & np.array([given == kind for given in kinds])
        if kinds is not None and kind not in kinds:
            continue
        ax.barh(place[mine], read[mine], 0.72, color=colour(k), label=kind if len(every) > 1 else "_one")
    known = finite & np.isfinite(spread)
    ax.errorbar(read[known], place[known], xerr=spread[known], **WHISKER)
    for row in place[np.isinf(read)]:
        ax.text(0.01, row, "∞", color=SHADE, va="center", transform=ax.get_yaxis_transform())
    ax.set_yticks(range(len(names)), [str(names[k]) for k in order])
    ax.tick_params(axis="y", length=0.0)
    edge = math.inf if limit is None else limit
    if math.isfinite(edge):
        ax.plot([edge, edge], [-0.5, len(names) - 0.5], color=INK, linestyle=DASHES, linewidth=1.2, label=limit_label)
    ax.set_xlim(left=min(0.0, float(read[finite].min(initial=0.0))))  # last, so that the right end still fits all
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlabel(xlabel)
    if entries(ax):
        explain_above(ax)
    return ax


def draw_groups(
    groups: Iterable[Any],
    series: Mapping[str, Any],
    ylabel: str,
    ax: Axes | None = None,
    *,
    xlabel: str = "",
) -> Axes:
    """Bars side by side, a cluster a group and a colour a series, with error bars.

    Parameters
    ----------
    groups
        Names of the clusters, along the horizontal axis.
    series
        By name: a value a group, `(mean, spread)` with error bars of `± spread`, or `(mean, lower, upper)`.
    ylabel, xlabel
        What the axes show.
    ax
        Where to draw; a new figure where none is given.
    """
    if not series:
        raise InputError("series is empty; give at least one bar a group, as {'accuracy': values}.")
    clusters = [str(group) for group in groups]
    read = {name: read_band(values, f"series[{name!r}]", len(clusters)) for name, values in series.items()}
    ax = axes_on(ax)
    width = 0.8 / len(read)
    places = np.arange(len(clusters))
    for k, (name, (middle, low, high)) in enumerate(read.items()):
        at = places + width * (k - 0.5 * (len(read) - 1))
        ax.bar(at, middle, 0.92 * width, color=colour(k), label=str(name))
        if low is not None and high is not None:
            ax.errorbar(at, middle, np.maximum([middle - low, high - middle], 0.0), **WHISKER)
    ax.axhline(0.0, color=INK, linewidth=0.8)
    name_settings(ax, clusters)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if len(read) > 1:
        explain_above(ax)
    return ax
