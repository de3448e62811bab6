"""Observed drift: two samples on a line, features beside their noise, windows over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import UnsupportedError
from tippingpoint.plots.canvas import (
    INK,
    MOVING,
    PALETTE,
    REWEIGHTING,
    SHADE,
    SHADOW,
    dash,
    explain,
    explain_above,
    name_settings,
    read_values,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BINS = 60
"""Bars of a density."""

TAIL = 0.001
"""Share of either sample beyond each end of the picture."""

STEPS = 40
"""Parts of the line, of equal mass, over which weights and moves are averaged."""

LEAST_SPAN = 1e-12
"""Width of a picture of samples that are all in one place."""


def draw_drift(
    before: FloatArray,
    base: FloatArray,
    weights: FloatArray,
    destinations: FloatArray,
    after: FloatArray,
    masses: FloatArray,
    *,
    xlabel: str,
    figure: Figure | None = None,
) -> Figure:
    """Where samples were, what reweighting makes of them, and where they are; below, what rows count and how far they move.

    Parameters
    ----------
    before, base
        Places of the reference rows, and their weights.
    weights, destinations
        What every reference row counts in the plan, and where it goes.
    after, masses
        Places of the current rows, and their weights.
    xlabel
        What the line is.
    figure
        Where to draw; a new one where none is given.
    """
    figure = _figure(figure, (5.8, 5.6))
    top, middle, bottom = figure.subplots(3, 1, sharex=True, gridspec_kw={"height_ratios": (2.2, 1, 1)})
    low, high = _range(np.concatenate([before, after]))
    edges = np.linspace(low, high, BINS + 1)
    top.hist(before, edges, weights=base, density=True, color=SHADOW, label="reference")
    top.hist(
        before, edges, weights=base * weights, density=True, histtype="step", color=REWEIGHTING, label="reference, reweighted"
    )
    top.hist(after, edges, weights=masses, density=True, histtype="step", color=INK, linewidth=1.5, label="current")
    top.set(ylabel="density", yticks=[])
    explain(top)
    places, counts, moves = _averages(before, base, weights, destinations)
    middle.plot(places, counts, color=REWEIGHTING)
    middle.axhline(1.0, color=SHADE, linewidth=0.8)
    middle.set(ylabel="weight")
    bottom.plot(places, moves, color=MOVING)
    bottom.axhline(0.0, color=SHADE, linewidth=0.8)
    bottom.set(ylabel="move", xlabel=xlabel, xlim=(low, high))
    _open(top, middle, bottom)
    return figure


def draw_feature_drifts(
    names: Sequence[str],
    drifts: Sequence[float],
    floors: Sequence[float],
    risks: Sequence[float],
    *,
    before: float,
    after: float | None,
    xlabel: str,
    figure: Figure | None = None,
) -> Figure:
    """On the left the drift of every feature and its noise floor; on the right the risk if only that had drifted.

    Parameters
    ----------
    names, drifts, floors, risks
        Of the features, the first on top; what is not a number is not drawn.
    before, after
        The risk of the reference, and of the current rows where it is known.
    xlabel
        What the risk is called.
    figure
        Where to draw; a new one where none is given.
    """
    figure = _figure(figure, (7.2, 1.2 + 0.28 * len(names)))
    left, right = figure.subplots(1, 2, sharey=True)
    left.set_ylim(len(names) - 0.5, -0.5)  # the first on top
    rows = np.arange(len(names))
    sizes, ticks, effects = (
        read_values(each, name, len(names)) for each, name in ((drifts, "drifts"), (floors, "floors"), (risks, "risks"))
    )
    shown = np.isfinite(sizes) & (sizes > 0.0)
    left.plot(sizes[shown], rows[shown], "o", color=PALETTE[0], label="drift")
    left.plot(ticks, rows, "|", color=INK, markersize=10, markeredgewidth=1.6, label="noise floor")
    if shown.any():
        left.set_xscale("log")
    left.set(xlabel="drift, each alone")
    left.set_yticks(rows, [str(name) for name in names])
    right.plot(effects, rows, "o", color=PALETTE[1], label="if only this had drifted")
    dash(right, before, "reference", upright=True)
    if after is not None:
        right.axvline(after, color=INK, linewidth=1.4, label="current")
    right.set(xlabel=xlabel)
    explain_above(right)
    explain(left, "upper right", abreast=2)
    _open(left, right)
    return figure


def draw_windows(
    names: Sequence[str],
    values: Mapping[str, Sequence[float]],
    *,
    errors: Mapping[str, Sequence[float]],
    before: float,
    threshold: float,
    tolerance: float,
    risk_label: str,
    scale: str = "",
    figure: Figure | None = None,
) -> Figure:
    """Over windows: the risk and the most that a drift of that size can do, the tolerance left, the drift and its floor.

    Parameters
    ----------
    names
        Of the windows, in their order.
    values
        By name: "risk", "ceiling", "remaining", "drift" and "floor" of each; what is not a number is a gap.
    errors
        Standard errors of "remaining" and "drift".
    before, threshold, tolerance
        Of the reference: its risk, the threshold, and its stability there.
    risk_label
        What the risk is called.
    scale
        The name of the scale of drift and tolerance; empty for no name.
    figure
        Where to draw; a new one where none is given.
    """
    figure = _figure(figure, (6.2, 6.4))
    unit = f"\n({scale} scale)" if scale else ""
    top, middle, bottom = figure.subplots(3, 1, sharex=True)
    at = np.arange(len(names))
    read = {name: read_values(each, name, len(names)) for name, each in values.items()}
    top.fill_between(at, np.minimum(read["risk"], read["ceiling"]), read["ceiling"], color=SHADOW, alpha=0.4, linewidth=0.0)
    top.plot(at, read["ceiling"], color=SHADE, linewidth=1.0, label="ceiling of a drift of this size")
    top.plot(at, read["risk"], "o-", color=PALETTE[1], label="risk")
    dash(top, threshold, "threshold")
    top.axhline(before, color=SHADE, linewidth=0.8, linestyle=":", label="reference")
    top.set(ylabel=risk_label)
    middle.errorbar(at, read["remaining"], _finite(errors["remaining"]), fmt="o-", color=PALETTE[2], capsize=2.5, label="left")
    dash(middle, tolerance, "on the reference")
    middle.set(ylabel=f"tolerance{unit}", ylim=(0.0, None))
    bottom.errorbar(at, read["drift"], _finite(errors["drift"]), fmt="o-", color=PALETTE[0], capsize=2.5, label="drift")
    bottom.plot(at, read["floor"], "_", color=INK, markersize=14, label="noise floor")
    bottom.set(ylabel=f"drift{unit}", ylim=(0.0, None))
    for each in (top, middle, bottom):
        explain(each)
    name_settings(bottom, names)
    _open(top, middle, bottom)
    return figure


def _figure(figure: Figure | None, size: tuple[float, float]) -> Figure:
    if figure is not None:
        return figure
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        raise UnsupportedError("pictures need matplotlib; pip install 'tippingpoint[plot]'.") from None
    return plt.figure(figsize=size, layout="constrained")


def _open(*every: Axes) -> None:
    """The two sides that hold no numbers are left open."""
    for ax in every:
        ax.spines[["top", "right"]].set_visible(False)


def _range(values: FloatArray) -> tuple[float, float]:
    low, high = (float(each) for each in np.quantile(values, (TAIL, 1.0 - TAIL)))
    return (low, high) if high - low > LEAST_SPAN else (low - 0.5, high + 0.5)


def _averages(
    before: FloatArray, base: FloatArray, weights: FloatArray, destinations: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Place, weight and move of parts of the line of equal mass: weights by mass, moves by what they count."""
    order = np.argsort(before, kind="stable")
    part = np.minimum((np.cumsum(base[order]) * STEPS).astype(np.intp), STEPS - 1)
    held = np.bincount(part, base[order], STEPS)
    kept = np.bincount(part, (base * weights)[order], STEPS)
    shifts = np.bincount(part, (base * weights * (destinations - before))[order], STEPS)
    places = np.bincount(part, (base * before)[order], STEPS)
    here = held > 0.0
    moves = np.divide(shifts, kept, out=np.full(STEPS, np.nan), where=kept > 0.0)
    return places[here] / held[here], kept[here] / held[here], moves[here]


def _finite(errors: Any) -> FloatArray:
    """Error bars; none where they are no numbers."""
    values = np.asarray(errors, dtype=float)
    return np.where(np.isfinite(values), values, 0.0)
