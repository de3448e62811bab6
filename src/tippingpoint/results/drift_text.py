"""A drift in words. What is said is what was proved of the two samples; sizes are not called damages, nor parts shares."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from tippingpoint.text import (
    LINEAR,
    LIPSCHITZ,
    RELAXED,
    SCORE,
    WIDTH,
    Line,
    level,
    number,
    percent,
    render_lines,
    render_lines_html,
    risk_name,
)
from tippingpoint.visible import readable

if TYPE_CHECKING:
    from tippingpoint.results.drift import DriftResult, DriftSeries

CALIBRATION = "outcomes at the same score are as frequent in the current rows as in the reference, which nothing here checks"
"""What `assume="calibration"` takes for granted."""

SCORE_UNITS = (
    "moving means moving scores here, not features: nothing is known of what it costs to shift the score of this model"
)
"""Of a scorer of which no more is known than its answers."""

SCALES = {
    LINEAR: ("stability", ""),
    RELAXED: (
        "relaxed",
        "moves count at the cheapest rate of the space, without bounds and jumps: costs are lower than those of stability()",
    ),
    LIPSCHITZ: ("Lipschitz", "costs are lower bounds on those of stability(), by how steep the model is at most"),
    SCORE: ("score", SCORE_UNITS),
}
"""By unit: what its scale is called, and why it is not that of the stability."""

CLOSE = 1e-3
"""Relative gap between bounds below which they are one number."""

CHANCE = 0.05
"""P-value from which on a drift is not told apart from chance."""


def headline(drift: DriftResult) -> str:
    """The size of the drift, with its noise, in a sentence."""
    error = "" if math.isnan(drift.standard_error) else f" ± {number(drift.standard_error, 2)}"
    split = ""
    if 0.0 < drift.value < math.inf:
        split = f": {percent(drift.moving / drift.value)} moving, {percent(drift.reweighting / drift.value)} reweighting"
    where = "" if drift.same_scale else f" on the {scale(drift)} scale"
    return f"Drift {number(drift.value)}{error}{where}{noise(drift)}{split}."


def noise(drift: DriftResult) -> str:
    """The floor and the p-value in brackets."""
    if math.isnan(drift.floor):
        return ""
    return f" (noise floor {number(drift.floor, 2)}, p = {number(drift.p_value, 2)})"


def lines(drift: DriftResult) -> list[Line]:
    """What stands below the headline."""
    listed = [*_chance(drift), *_damage(drift), *_expected(drift), ("tolerance", _tolerance(drift))]
    listed += [
        *_stability(drift),
        ("measured on", _unit(drift)),
        ("certificate", _certificate(drift)),
        ("prices", _prices(drift)),
    ]
    listed += _balance(drift)
    listed += _features(drift)
    listed.append(("rows", _rows(drift)))
    listed += [("note", note) for note in drift.notes]
    return [(label, readable(text)) for label, text in listed]


def render(drift: DriftResult) -> str:
    """One screen of plain text."""
    return "\n".join([*textwrap.wrap(headline(drift), WIDTH), *render_lines(lines(drift))])


def render_html(drift: DriftResult) -> str:
    """The same for a notebook."""
    return render_lines_html(headline(drift), lines(drift))


def axis(drift: DriftResult) -> str:
    """What the line is that samples lie on."""
    return {"margin": "margin", "residual": "residual", "score": "score", "prediction": "prediction"}.get(
        drift.statistic, "loss"
    )


def scale(drift: DriftResult) -> str:
    """What the scale is called on which drift and tolerance are measured."""
    return SCALES[drift.unit][0]


def stability_apart(drift: DriftResult) -> str:
    """The stability of the reference beside a tolerance on another scale, as a sentence; empty on the same scale."""
    if drift.same_scale:
        return ""
    if math.isnan(drift.stability):
        return "The stability of the reference is on another scale: do not compare it with drift and tolerance."
    return (
        f"The stability of the reference in its space is {_in_space(drift)}, on another scale:"
        " do not compare it with drift and tolerance."
    )


def risk_axis(drift: DriftResult) -> str:
    """What the risk is called along an axis."""
    return risk_name(drift.loss)


def series_headline(drift: DriftResult) -> str:
    """What a table of windows is about."""
    now, then = (level(each, drift.loss) for each in (drift.risk_before, drift.risk))
    tolerance = f"{number(drift.tolerance)} ± {number(drift.tolerance_error, 2)}"
    measured = f"Drifts are measured on the {axis(drift)}, in {drift.unit}."
    apart = "" if drift.same_scale else f" on the {scale(drift)} scale"
    told = f"From {now} {risk_name(drift.loss)} on the reference; its tolerance to {then} is {tolerance}{apart}. {measured}"
    return "\n".join(textwrap.wrap(f"{told} {stability_apart(drift)}".strip(), WIDTH))


def series_notes(series: DriftSeries) -> list[str]:
    """What must be read beside a table of windows."""
    each = list(series.results.values())
    notes = [
        "",
        "p_adjusted is for all windows together (Holm); drift is a size, and says nothing of the risk but its ceiling.",
    ]
    least = series.least_adjusted
    if not math.isnan(least):
        most = max(d.permutations for d in each)
        notes.append(f"With {most} permutations p_adjusted is at least {number(least, 2)}.")
        if least >= CHANCE:
            needed = math.ceil(len(each) / CHANCE)
            notes[-1] += f" For {number(CHANCE, 2)} at least {needed} permutations are needed, or fewer windows."
    assumed = next((d.assumption for d in each if d.assumption), "")
    if assumed:
        notes.append(f"expected_risk assumes that {assumed}.")
    reason = SCALES[each[0].unit][1]
    if reason:
        notes.append(f"{reason[0].upper()}{reason[1:]}.")
    return notes


def _chance(drift: DriftResult) -> list[Line]:
    """Where nothing may have happened."""
    if not drift.p_value >= CHANCE:
        return []
    return [("chance", f"rows of one population, dealt out at random, drift as far in {percent(drift.p_value)} of all cases")]


def _damage(drift: DriftResult) -> list[Line]:
    what = risk_name(drift.loss)
    before = level(drift.risk_before, drift.loss)
    if drift.outcome is None:
        return [(what, f"{before} on the reference; without labels of the current rows nothing follows for theirs")]
    after, most = (level(each, drift.loss) for each in (drift.outcome.risk, drift.outcome.ceiling))
    felt = "" if math.isnan(drift.aligned) else f" ({percent(drift.aligned)} of the drift)"
    return [
        (what, f"{before} → {after}; no change of the reference of this size can push it past {most}"),
        ("felt by the loss", f"{number(drift.outcome.used)}: what it takes at least to get there{felt}"),
    ]


def _expected(drift: DriftResult) -> list[Line]:
    if drift.expected_risk is None:
        return []
    return [
        ("expected", f"{level(drift.expected_risk, drift.loss)}, an estimate and no bound: it assumes that {drift.assumption}")
    ]


def _tolerance(drift: DriftResult) -> str:
    then = f"to {level(drift.risk, drift.loss)}: {_with_error(drift.tolerance, drift.tolerance_error)} on the reference"
    apart = "" if drift.same_scale else f" ({scale(drift)} scale)"
    if drift.outcome is None:
        return f"{then}{apart}"
    now = _with_error(drift.outcome.remaining, drift.outcome.remaining_error)
    return f"{then}, {now} on the current rows{apart}"


def _stability(drift: DriftResult) -> list[Line]:
    """The number on the scale of the stability, where that is another one."""
    if drift.same_scale:
        return []
    if math.isnan(drift.stability):
        return [("stability", "not computed here, as it takes a search; it is on another scale than drift and tolerance")]
    return [("stability", f"{_in_space(drift)} on the reference, in its space; do not compare it with drift and tolerance")]


def _in_space(drift: DriftResult) -> str:
    """The stability in the space; as bounds if they differ."""
    if drift.stability_lower < drift.stability * (1.0 - CLOSE):
        return f"between {number(drift.stability_lower)} and {number(drift.stability)}"
    return _with_error(drift.stability, drift.stability_error)


def _with_error(value: float, error: float) -> str:
    return number(value) if math.isnan(error) or not math.isfinite(value) else f"{number(value)} ± {number(error, 2)}"


def _unit(drift: DriftResult) -> str:
    reason = SCALES[drift.unit][1]
    return f"the {axis(drift)}, in {drift.unit}" + (f"; {reason}" if reason else "")


def _certificate(drift: DriftResult) -> str:
    return f"≥ {number(drift.lower, 6)} (witness), ≤ {number(drift.upper, 6)} (plan), on these two samples"


def _prices(drift: DriftResult) -> str:
    return f"moving θ1 = {number(drift.theta1)}, reweighting θ2 = {number(drift.theta2)} ({drift.divergence})"


def _balance(drift: DriftResult) -> list[Line]:
    split = None if drift.outcome is None else drift.outcome.balance
    if split is not None and split.labels == math.inf:
        return [("class balance", "the current rows hold a class that the reference lacks; no reweighting can reach them")]
    if split is None or not 0.0 < split.total < math.inf:
        return []
    share = percent(split.labels / split.total)
    parts = f"{number(split.labels)} labels + {number(split.moving)} moving + {number(split.reweighting)} reweighting within"
    return [("class balance", f"accounts for {share} of the drift of score and label, {number(split.total)} = {parts}")]


def _features(drift: DriftResult) -> list[Line]:
    known = [each for each in drift.by_feature if math.isfinite(each.risk_if_only)]
    if not known:
        return []
    most = max(known, key=lambda each: abs(each.risk_if_only - drift.risk_before))
    effect = _points(most.risk_if_only - drift.risk_before, drift.loss)
    what = f"would change the {risk_name(drift.loss)} most, by {effect}"
    told = f"had only one of them drifted, outcomes as they were, {most.name!r} {what}"
    if drift.outcome is not None:
        told += f"; all together changed it by {_points(drift.outcome.risk - drift.risk_before, drift.loss)}"
    return [("single features", told)]


def _points(change: float, loss: str) -> str:
    return f"{100.0 * change:+.2g} points" if loss == "zero_one" else f"{change:+.3g}"


def _rows(drift: DriftResult) -> str:
    told = f"{drift.rows_before:,.0f} of the reference, {drift.rows_after:,.0f} current"
    if math.isnan(drift.floor) or not 0.0 < drift.tolerance < math.inf:
        return told
    return f"{told}; for a noise floor of a tenth of the tolerance, {drift.rows_needed():,.0f} each"
