"""Other thresholds, and other kinds of change: the stability along two curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, TypedDict

from tippingpoint.report.badges import NOT_FOUND, badge
from tippingpoint.report.charts import line_chart
from tippingpoint.report.elements import tag
from tippingpoint.report.markdown_text import table
from tippingpoint.report.material import Material
from tippingpoint.report.other_settings import REACH_SHARE, Dial, SweepPart, over_mixes, over_thresholds
from tippingpoint.report.section import Section, figure
from tippingpoint.report.wording import KNOWN, alone, risk_form, stability_form
from tippingpoint.text import number, percent, risk_name

THRESHOLDS = (
    "What it takes to reach each threshold, at the prices of the setting. The dot is the setting; a band, where there is one,"
    " is the 95 % interval."
)

CORRECTED = "The band is the 95 % interval of the corrected stability: without the noise of repeats, which the line contains."

MIXES = (
    "The threshold of the setting, when moving gets cheaper and reweighting dearer, from left to right: the prices at the ends"
    " are not those of the setting."
)

THRESHOLDS_TITLE, MIXES_TITLE = "Stability over thresholds", "Stability along the dial"

MIXES_AXIS = "what is cheap"

LISTED_EVERY = 2
"""Every so many settings of a curve are listed in Markdown."""


class KnownSweep(SweepPart):
    """A curve, and what is known of its numbers."""

    standing: str


class KnownDial(Dial):
    """The curve along the dial, and what is known of its numbers."""

    standing: str


class CurvesPart(TypedDict):
    """The stability over thresholds, and along the dial."""

    curve: KnownSweep
    tradeoff: KnownDial


class Curves(Section[CurvesPart]):
    """The two curves; a script draws them anew where other settings are tried out."""

    name = "curves"
    title = "Other thresholds, other kinds of change"
    script: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {"thresholds": THRESHOLDS_TITLE, "mixes": MIXES_TITLE, "axis": MIXES_AXIS, "reach": REACH_SHARE}
    )

    def compute(self, material: Material) -> CurvesPart:
        problem, groups = material.problem, material.evidence.groups
        oracle = material.evidence.oracle
        curve, tradeoff = over_thresholds(problem, groups, oracle), over_mixes(problem, groups, oracle)
        return {
            "curve": {**curve, "standing": material.standing_beside},
            "tradeoff": {**tradeoff, "standing": material.standing_elsewhere},
        }

    def html(self, part: CurvesPart, result: Mapping[str, Any]) -> Sequence[Any]:
        curve, tradeoff = part["curve"], part["tradeoff"]
        axis, price = f"threshold ({risk_name(result['loss'])})", 1.0 / tradeoff["budget"]
        ends = alone("reweighting", price), alone("moving", price)
        over = line_chart(curve, result["risk"], axis, THRESHOLDS_TITLE, risk_form(result))
        along = line_chart(tradeoff, tradeoff["own"], MIXES_AXIS, MIXES_TITLE, percent, ends)
        return [
            tag(
                "div",
                figure(
                    over,
                    THRESHOLDS,
                    " ",
                    *([f"{CORRECTED} "] if result.get("repeats", 0) > 1 else []),
                    badge(curve["standing"]),
                    id_="live-curve",
                ),
                figure(along, MIXES, " ", badge(tradeoff["standing"]), id_="live-dial"),
                class_="pair",
            )
        ]

    def markdown(self, part: CurvesPart, result: Mapping[str, Any]) -> Sequence[str]:
        curve, tradeoff = part["curve"], part["tradeoff"]
        thresholds = [risk_form(result)(risk) for risk in curve["at"]]
        mixes = [_prices(tradeoff["budget"], mix) for mix in tradeoff["at"]]
        return [
            THRESHOLDS,
            *([CORRECTED] if result.get("repeats", 0) > 1 else []),
            _listed("threshold", thresholds, curve, result["risk"]),
            MIXES,
            _listed("θ1, θ2", mixes, tradeoff, tradeoff["own"]),
        ]


CURVES = Curves()


def _listed(over: str, places: Sequence[str], sweep: KnownSweep | KnownDial, own: float) -> str:
    """A curve as a table: some of its settings, the report's own among them."""
    kept = [k for k, at in enumerate(sweep["at"]) if k % LISTED_EVERY == 0 or at == own]
    rows = []
    for k in kept:
        value = stability_form(sweep["value"][k], sweep["standing"])
        ends = ["–", "–"] if value == NOT_FOUND else [number(sweep["low"][k]), number(sweep["high"][k])]
        rows.append([places[k], value, *ends, NOT_FOUND if value == NOT_FOUND else sweep["standing"]])
    return table([over, "stability", "low (95 %)", "high (95 %)", KNOWN], rows)


def _prices(budget: float, mix: float) -> str:
    """The two prices at a place on the dial."""
    return ", ".join(number(math.inf if part <= 0.0 else 1.0 / (budget * part)) for part in (mix, 1.0 - mix))
