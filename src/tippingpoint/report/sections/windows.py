"""Against what: what observed changes of the data cost, beside what it takes to break the model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from tippingpoint.core.inference import LEVEL, normal_margin
from tippingpoint.errors import InputError
from tippingpoint.report.charts import price_bar
from tippingpoint.report.elements import table as html_table
from tippingpoint.report.elements import tag
from tippingpoint.report.markdown_text import paragraph, table
from tippingpoint.report.material import Material
from tippingpoint.report.section import Section, lead
from tippingpoint.report.sections.features import QUESTION
from tippingpoint.report.wording import Cells, risk_form
from tippingpoint.results.drift import DriftResult, DriftSeries
from tippingpoint.results.drift_text import SCALES, scale
from tippingpoint.text import number, risk_name

if TYPE_CHECKING:
    from tippingpoint.report.elements import Markup

LEAD = (
    "What the data did between windows, in the price of what breaks the model. A drift smaller than the tolerance cannot have"
    " taken the model to the threshold; a larger one need not have. It is a size, and not a damage."
)

CAPTION = "Drifts from the evaluation data, beside the tolerance; the shaded band is ± 1.96 standard errors of sampling"

TABLE_CAPTION = "The windows"

TOLERANCE = "tolerance"
"""The stability itself, among the drifts."""

SAME = 1e-6
"""Relative difference up to which two stabilities are the same."""


class WindowRow(TypedDict):
    """One window; what needs labels is not a number without them."""

    window: str
    rows: float
    risk: float
    ceiling: float
    remaining: float
    drift: float
    standard_error: float
    floor: float
    p_adjusted: float


class Against(TypedDict):
    """All windows, and the tolerance on the line that they are measured on."""

    unit: str
    scale: str
    same_scale: bool
    statistic: str
    tolerance: float
    tolerance_error: float
    sentence: str
    rows: list[WindowRow]


class WindowsPart(TypedDict):
    """Observed drifts, where windows were given."""

    against: Against | None


class WindowsSection(Section[WindowsPart]):
    """Observed drifts as yardsticks."""

    name = "against"
    title = "Against what?"

    def compute(self, material: Material) -> WindowsPart:
        drifts = material.request.drifts
        return {"against": None if drifts is None else _against(material.result, drifts)}

    def html(self, part: WindowsPart, result: Mapping[str, Any]) -> Sequence[Any] | None:
        against = part["against"]
        if against is None:
            return None
        return [
            lead(LEAD),
            tag("p", against["sentence"]),
            html_table(CAPTION, ["change", "", _costs(against), "noise floor"], _bars(against), left=2, class_="held"),
            html_table(TABLE_CAPTION, *_windows(against, result)),
        ]

    def markdown(self, part: WindowsPart, result: Mapping[str, Any]) -> Sequence[str] | None:
        against = part["against"]
        if against is None:
            return None
        return [LEAD, paragraph(against["sentence"]), table(*_windows(against, result))]


WINDOWS = WindowsSection()


def _against(result: Mapping[str, Any], drifts: DriftResult | DriftSeries) -> Against:
    series = drifts if isinstance(drifts, DriftSeries) else DriftSeries({drifts.window: drifts})
    first = next(iter(series.results.values()))
    for name in QUESTION:
        one, other = result[name], getattr(first, name)
        if one != other:
            raise InputError(
                f"drifts were asked with {name}={other!r} and the result with {one!r}; ask both the same question."
            )
    adjusted = series.adjusted
    rows: list[WindowRow] = [
        {
            "window": name,
            "rows": each.rows_after,
            "risk": math.nan if each.outcome is None else each.outcome.risk,
            "ceiling": math.nan if each.outcome is None else each.outcome.ceiling,
            "remaining": math.nan if each.outcome is None else each.outcome.remaining,
            "drift": each.value,
            "standard_error": each.standard_error,
            "floor": each.floor,
            "p_adjusted": adjusted[name],
        }
        for name, each in series.results.items()
    ]
    return {
        "unit": first.unit,
        "scale": scale(first),
        "same_scale": first.same_scale,
        "statistic": first.statistic,
        "tolerance": first.tolerance,
        "tolerance_error": first.tolerance_error,
        "sentence": _sentence(result, series),
        "rows": rows,
    }


def _sentence(result: Mapping[str, Any], series: DriftSeries) -> str:
    """What both were measured on, and how the tolerance there is related to the stability above."""
    drift = next(iter(series.results.values()))
    told = f"Drifts and tolerance are measured on the {drift.statistic}, in {drift.unit}."
    reason = SCALES[drift.unit][1]
    if reason:
        told += (
            f" {reason[0].upper()}{reason[1:]}. The tolerance on this scale is {number(drift.tolerance)}; the stability above,"
            f" {number(result['value'])}, is on another scale, so do not compare it with these drifts."
        )
    elif abs(drift.tolerance - result["value"]) > SAME * max(drift.tolerance, result["value"]):
        told += (
            f" The tolerance of the reference of these drifts is {number(drift.tolerance)}; the stability above is that of"
            " other rows or of another space."
        )
    least = series.least_adjusted
    if not math.isnan(least):
        told += f" The permutations allow corrected p-values down to {number(least, 2)}."
    return f"{told} P-values are for all windows together (Holm); a noise floor is what windows of these sizes drift by chance."


def _costs(against: Against) -> str:
    """The heading of costs, with the scale that they are on if it is not that of the stability."""
    return "costs" if against["same_scale"] else f"costs ({against['scale']} scale)"


def _bars(against: Against) -> list[tuple[Any, Markup | None, str, str]]:
    margin = normal_margin(against["tolerance_error"], LEVEL)
    margin = 0.0 if math.isnan(margin) else margin
    tolerance = against["tolerance"]
    band = (max(tolerance - margin, 0.0), tolerance + margin)
    finite = [each for each in (band[1], *(row["drift"] for row in against["rows"])) if math.isfinite(each)]
    end = 1.04 * max(finite, default=1.0) or 1.0
    held: list[tuple[str, float, float]] = [(TOLERANCE, tolerance, math.nan)]
    held += [(row["window"], row["drift"], row["floor"]) for row in against["rows"]]
    bars = []
    for name, value, floor in sorted(held, key=lambda each: each[1]):
        own = name == TOLERANCE
        bar = price_bar(value, end, f"{name}: {number(value)}", band if own else None) if math.isfinite(value) else None
        bars.append((tag("strong", name) if own else name, bar, number(value), "" if math.isnan(floor) else number(floor, 2)))
    return bars


def _windows(against: Against, result: Mapping[str, Any]) -> tuple[list[str], Cells]:
    form, what = risk_form(result), risk_name(result["loss"])
    rows = [
        [
            row["window"],
            f"{row['rows']:,.0f}",
            form(row["risk"]),
            form(row["ceiling"]),
            number(row["remaining"], 3),
            f"{number(row['drift'], 3)} ± {number(row['standard_error'], 2)}",
            number(row["floor"], 2),
            number(row["p_adjusted"], 2),
        ]
        for row in against["rows"]
    ]
    apart = "" if against["same_scale"] else f" ({against['scale']} scale)"
    heads = ["at most, at this drift", f"tolerance left{apart}", f"drift{apart}", "noise floor", "p (Holm)"]
    return ["window", "rows", what, *heads], rows
