"""One result at a glance: the risk now, what moving and reweighting add to it, and the threshold."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tippingpoint.plots.canvas import INK, MOVING, REWEIGHTING, SHADOW, axes_on, dash, explain
from tippingpoint.text import NOTHING_REACHES, bound, headline, level, number, risk_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.2, 2.6)
"""Inches of a new picture: few bars, and words above them."""

ROOM = 0.16
"""Part of the width left free to the right of the longest bar, for its number."""

BARS = 3
"""Bars there is room for, at least; fewer are no thicker."""

LINE = 62
"""Letters of a headline in one line."""

Step = tuple[str, float, float, str]
"""A bar: what it is, where it begins and ends, its colour."""


def draw_result(summary: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """The risk in steps, from now to the threshold, under the headline of the result.

    Parameters
    ----------
    summary
        Numbers and words of a result.
    ax
        Where to draw; a new figure where none is given.
    """
    ax = axes_on(ax, SIZE)
    loss = summary["loss"]
    steps = _steps(summary)
    for k, (_, start, end, colour) in enumerate(steps):
        ax.barh(k, end - start, 0.62, start, color=colour)
        if k:
            ax.plot([start, start], [k - 1, k], color=INK, linewidth=0.8)
        text = level(end, loss) if not k else f"{'-' if end < start else '+'}{level(abs(end - start), loss)}"
        ax.annotate(text, (max(start, end), k), xytext=(4, 0), textcoords="offset points", va="center", fontsize="small")
    dash(ax, summary["risk"], f"threshold {level(summary['risk'], loss)}", upright=True)
    ax.set_yticks(range(len(steps)), [name for name, *_ in steps])
    ax.set_ylim(max(len(steps), BARS) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0.0)
    ends = [summary["risk"], *(end for _, start, stop, _ in steps for end in (start, stop))]
    room = ROOM * (max(ends) - min(ends) or 1.0)
    ax.set_xlim(min(ends) - room * (min(ends) < 0.0), max(ends) + room)
    if loss == "zero_one":
        ax.xaxis.set_major_formatter(lambda share, _: f"{100.0 * share:g}%")
    ax.set_xlabel(risk_name(loss))
    ax.set_title("\n".join([*textwrap.wrap(headline(summary), LINE), _standing(summary)]), loc="left", fontsize="medium")
    explain(ax)
    return ax


def _steps(summary: Mapping[str, Any]) -> list[Step]:
    now, then = summary["current_risk"], summary["risk"]
    steps: list[Step] = [("risk now", 0.0, now, SHADOW)]
    if summary["status"] in NOTHING_REACHES:
        proved = summary["status"] == "unreachable"
        most = summary["largest_risk"] if proved else summary["largest_risk_found"]
        if most is not None and math.isfinite(most):
            steps.append(("largest in reach" if proved else "largest found", now, most, MOVING))
        return steps
    if now < then:
        moved = now + summary["corruption_excess"]
        steps.append(("moving samples" + _forbidden(summary["theta1"]), now, moved, MOVING))
        steps.append(
            ("reweighting them" + _forbidden(summary["theta2"]), moved, moved + summary["reweighting_excess"], REWEIGHTING)
        )
    return steps


def _forbidden(price: float) -> str:
    return "\n(not allowed)" if math.isinf(price) else ""


def _standing(summary: Mapping[str, Any]) -> str:
    """What is known of the number, in a few words."""
    error = summary["standard_error"]
    known = bound(summary)
    plain = {
        "exact": "exact",
        "upper": "an upper bound",
        "interrupted": "an upper bound, interrupted",
        "estimate": "an estimate",
    }
    known = plain.get(known, f"an upper bound; certified {known}")
    return known if math.isnan(error) or error == 0.0 else f"{known}; standard error {number(error, 2)}"
