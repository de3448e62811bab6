"""The most sensitive distribution itself: where samples go in two features, and how their weights concentrate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.errors import InputError
from tippingpoint.plots.canvas import (
    DASHES,
    INK,
    PALETTE,
    REWEIGHTING,
    SHADE,
    SHADOW,
    Along,
    axes_on,
    colour,
    explain,
    make_room,
    name_settings,
    read_values,
)
from tippingpoint.text import number, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D

Legend = Literal["axes", "figure", "none"]
"""Where a legend may be."""

SHADOWS: dict[str, Any] = {"color": SHADOW, "linewidths": 0.0, "alpha": 0.6, "zorder": 1.0}
DOTS: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.4, "alpha": 0.85, "zorder": 3.0}
LINKS: dict[str, Any] = {"colors": SHADE, "linewidths": 0.5, "alpha": 0.5, "zorder": 2.0}
"""How samples look where they were, where they go, and on the way."""

AREA = 22.0
"""Square points of a marker of weight one, in a cloud of up to `FULL_SIZE_SAMPLES` samples."""

FULL_SIZE_SAMPLES = 300
"""Samples from which on markers shrink, their number times their area staying the same."""

MAX_VECTOR_DOTS = 5000
"""Samples from which on dots are pixels in an SVG too, which would be large and slow otherwise."""

MIN_AREA = 4.0
"""Square points that a marker of weight one has at least."""

MAX_DRAWN_WEIGHT = 16.0
"""Weight from which on a marker grows no more: one sample must not hide the others."""

MARGIN = 0.06
"""Part of the width and height left free around the samples."""

BOUNDARY = "decision boundary"
"""What the zero of a function is called."""

GRID = 181
"""Points a side at which the boundary is looked for."""

BOUNDARY_MARGIN = 0.2
"""Part of the width and height by which it is looked for beyond the limits, which may yet be widened."""

SIZES = (8.0, 4.0, 2.0)
"""Weights whose size the legend may show besides that of one: the largest that there is, and a half where there is none."""


def draw_sensitive(
    before: Any,
    after: Any,
    rows: Any,
    weights: Any,
    groups: Any = None,
    names: Sequence[str] = ("x0", "x1"),
    boundary: Callable[[FloatArray], Any] | None = None,
    ax: Axes | None = None,
    *,
    ticks: tuple[Sequence[str] | None, Sequence[str] | None] = (None, None),
    legend: Legend = "axes",
) -> Axes:
    """The most sensitive distribution in two features: grey shadows where samples were, dots where they go.

    The area of a dot is proportional to its weight, up to a weight of 16, from which on dots are all the same size; the
    legend shows the size of weight one. A thin line joins a dot that moved to its shadow. What weighs nothing is not drawn.

    Parameters
    ----------
    before
        `(n, 2)` samples as they were.
    after
        `(m, 2)` where they go, one line an atom.
    rows
        `(m,)` position in `before` of the sample that each atom belongs to.
    weights
        `(m,)` weight of each atom; one is as now.
    groups
        `(m,)` labels that colour the dots, such as the class of each; all the same where none are given.
    names
        Of the two features.
    boundary
        Function of `(k, 2)` points whose zero is drawn as a line, such as a decision function.
    ax
        Where to draw; a new figure where none is given. Axes that share their limits with others show the samples of all.
    ticks
        What 0, 1, … stand for along each axis, where a feature holds categories.
    legend
        Where colours and sizes are explained: above the dots; below the "figure" (of constrained layout), which one of
        several pictures side by side may do for all; or "none".
    """
    origin, goal = _points(before, "before"), _points(after, "after")
    own = _rows(rows, len(goal), len(origin))
    weight = read_values(weights, "weights", len(goal))
    labels = _labels(groups, len(goal))
    if not len(goal):
        raise InputError("after has no points; give at least one.")
    ax = axes_on(ax)
    unit = max(min(AREA, AREA * FULL_SIZE_SAMPLES / len(goal)), MIN_AREA)
    area = unit * np.clip(weight, 0.0, MAX_DRAWN_WEIGHT)
    clouds = [
        ax.scatter(origin[:, 0], origin[:, 1], s=unit, rasterized=len(goal) > MAX_VECTOR_DOTS, label="as they were", **SHADOWS)
    ]
    _join(ax, origin[own], goal, weight)
    order = np.argsort(-area, kind="stable")  # the small ones on top of the large
    for k, kind in enumerate(sorted(set(labels), key=_rank)):
        mine = order[[labels[i] == kind for i in order]]
        look = {"color": colour(k), "label": str(kind), "rasterized": len(goal) > MAX_VECTOR_DOTS, **DOTS}
        clouds.append(ax.scatter(goal[mine, 0], goal[mine, 1], s=area[mine], **look))
    _frame(ax, ticks)
    ax.set(xlabel=names[0], ylabel=names[1])
    handles = _dots(clouds, unit, weight)
    named = [str(handle.get_label()) for handle in handles] + [BOUNDARY] * (boundary is not None)
    abreast = make_room(ax, max([*_legends(ax), named if legend == "axes" else []], key=len))
    if boundary is not None:
        handles += _trace(ax, boundary)
    if legend == "axes":
        explain(ax, "upper right", abreast=abreast, handles=handles)
    elif legend == "figure":
        ax.figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize="small", frameon=False)
    return ax


def draw_weights(weights: Any, base: Any = None, ax: Axes | None = None) -> Axes:
    """How the weights concentrate: the share of Q* that the most weighted part of the data holds.

    A diagonal is the data as they are; the more the curve bends away from it, the fewer samples count. The broken line is
    what it would be if all of Q* were an even part of the data of the size of the effective share `1/Σ p w²`.

    Parameters
    ----------
    weights
        `(m,)` weight of each atom, one being as now.
    base
        `(m,)` share of the data that each atom is; equal where none is given.
    ax
        Where to draw; a new figure where none is given.
    """
    weight = read_values(weights, "weights")
    if not len(weight) or not np.isfinite(weight).all() or (weight < 0.0).any() or not weight.any():
        raise InputError(
            "weights must be finite, none below 0 and one above it at least; pass those of the sensitive distribution."
        )
    share = np.full(len(weight), 1.0) if base is None else read_values(base, "base", len(weight))
    share = share / share.sum()
    weight = weight / (share @ weight)
    order = np.argsort(-weight, kind="stable")
    data, held = (np.append(0.0, np.cumsum(part[order])) for part in (share, share * weight))
    effective = 1.0 / float(share @ np.square(weight))
    ax = axes_on(ax)
    ax.plot([0.0, 1.0], [0.0, 1.0], color=SHADE, linewidth=1.0, label="as now, weights one")
    ax.plot(data, held, color=REWEIGHTING, linewidth=2.0, label=f"weights up to {number(float(weight.max()), 3)}")
    ax.plot(
        [0.0, effective, 1.0],
        [0.0, 1.0, 1.0],
        color=INK,
        linestyle=DASHES,
        linewidth=1.2,
        label=f"effective share {percent(effective)}",
    )
    ax.set(xlabel="share of the data, the most weighted first", ylabel="share of the sensitive distribution")
    ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.02))
    explain(ax, "lower right")
    return ax


def _points(values: Any, name: str) -> FloatArray:
    try:
        points = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, one line a point.") from None
    if points.ndim != 2 or points.shape[1] != 2:
        raise InputError(f"{name} has shape {points.shape}; give two numbers a point.")
    return points


def _rows(rows: Any, length: int, samples: int) -> IntArray:
    own = np.asarray(rows)
    if own.shape != (length,) or own.dtype.kind not in "iu":
        raise InputError(f"rows has shape {own.shape} and type {own.dtype}; give {length} positions in before.")
    if length and (own.min() < 0 or own.max() >= samples):
        raise InputError(f"rows goes from {own.min()} to {own.max()}, but before has {samples} points, counted from 0.")
    return own.astype(np.intp)


def _labels(groups: Any, length: int) -> list[Any]:
    labels = ["as they go"] * length if groups is None else np.asarray(groups).tolist()
    if len(labels) != length:
        raise InputError(f"groups has {len(labels)} labels but after has {length} points; give one label a point.")
    if len(set(labels)) > len(PALETTE):
        raise InputError(
            f"groups has {len(set(labels))} different labels; at most {len(PALETTE)} can be told apart by colour; bin them, as"
            " with pandas.cut."
        )
    return labels


def _rank(label: Any) -> tuple[bool, Any]:
    """Numbers by size, then words by alphabet."""
    return (False, label) if isinstance(label, (int, float)) else (True, str(label))


def _join(ax: Axes, start: FloatArray, end: FloatArray, weight: FloatArray) -> None:
    from matplotlib.collections import LineCollection

    gone = np.flatnonzero((start != end).any(axis=1) & (weight > 0.0))
    if len(gone):
        segments = np.stack([start[gone], end[gone]], axis=1)
        ax.add_collection(LineCollection(list(segments), **LINKS))


def _frame(ax: Axes, ticks: Sequence[Sequence[str] | None]) -> None:
    """Limits around all dots of the axes and of those that share them, and around every category."""
    from matplotlib.collections import PathCollection

    shared: tuple[tuple[Along, Any], ...] = (("x", ax.get_shared_x_axes()), ("y", ax.get_shared_y_axes()))
    for k, ((along, axes), words) in enumerate(zip(shared, ticks, strict=True)):
        clouds = [c for sibling in axes.get_siblings(ax) for c in sibling.collections if isinstance(c, PathCollection)]
        dots = np.concatenate([np.ma.filled(np.ma.asarray(cloud.get_offsets(), dtype=float), np.nan)[:, k] for cloud in clouds])
        low, high = float(np.nanmin(dots)), float(np.nanmax(dots))
        room = MARGIN * (high - low) if high > low else 0.5
        if words is not None:
            low, high, room = 0.0, len(words) - 1.0, 0.5
            name_settings(ax, words, along)
        ax.set(**{f"{along}lim": (low - room, high + room)})


def _legends(ax: Axes) -> list[list[str]]:
    """What the legends of axes say that share their height with these."""
    siblings = ax.get_shared_y_axes().get_siblings(ax)
    legends = [legend for sibling in siblings if sibling is not ax and (legend := sibling.get_legend()) is not None]
    return [[text.get_text() for text in legend.get_texts()] for legend in legends]


def _trace(ax: Axes, boundary: Callable[[FloatArray], Any]) -> list[Line2D]:
    """The zero of a function, a little beyond the limits too, and its entry of the legend; nothing where it has none."""
    from matplotlib.lines import Line2D

    limits = (ax.get_xlim(), ax.get_ylim())
    x, y = (
        np.linspace(low - BOUNDARY_MARGIN * (high - low), high + BOUNDARY_MARGIN * (high - low), GRID) for low, high in limits
    )
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    level = read_values(boundary(grid.reshape(-1, 2)), "boundary(points)", GRID * GRID).reshape(GRID, GRID)
    if not level.min() < 0.0 < level.max():
        return []
    ax.contour(x, y, level, levels=[0.0], colors=INK, linewidths=1.4, zorder=2.5)
    return [Line2D([], [], color=INK, linewidth=1.4, label=BOUNDARY)]


def _dots(clouds: Sequence[PathCollection], unit: float, weight: FloatArray) -> list[Line2D]:
    """The entries of the legend: colours at one size, then what a size means."""
    from matplotlib.lines import Line2D

    def dot(label: str, shade: Any, area: float) -> Line2D:
        return Line2D([], [], linestyle="", marker="o", color=shade, markeredgewidth=0.0, markersize=area**0.5, label=label)

    dots = [dot(str(cloud.get_label()), cloud.get_facecolor()[0], AREA) for cloud in clouds]
    if (weight == 1.0).all():
        return dots
    shown = sorted([1.0, next((size for size in SIZES if size <= weight.max()), 0.5)])
    return [*dots, *(dot(f"weight {number(size)}", SHADE, size * unit) for size in shown)]
