"""The part of the page in which settings are tried out; hidden until the page's script runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tippingpoint.report.elements import Markup, tag, void

STEPS = 1000
"""Places of a slider."""

NUMBERS = (
    ("moved_share", "rows that move"),
    ("root_mean_square_move", "typical move"),
    ("effective_share", "rows left, in effect"),
    ("nats", "KL divergence (nats)"),
)
"""What is told beside the stability."""


def live_section(summary: Mapping[str, Any]) -> Markup | None:
    """Controls, the answer, and how it splits."""
    live = summary["live"]
    if live is None:
        return None
    return tag(
        "section",
        tag("h2", "Try other settings", id="live-title"),
        tag("p", _lead(summary), class_="lead"),
        tag("div", _controls(live), _answer(live), class_="desk"),
        id="live",
        aria_labelledby="live-title",
        hidden=True,
    )


def _lead(summary: Mapping[str, Any]) -> str:
    live = summary["live"]
    told = "Everything here is computed in this page, from the numbers that it holds."
    if not live["exact"]:
        known = f" It knows at most {live['places']} places a row, so that"
        told += f"{known} away from the report's own setting a number is an upper bound."
    if not summary["result"]["exact"]:
        told += " The changes were searched for, so each number is an upper bound; a search at that very setting may find less."
    if not live["served"]:
        told += (
            f" The report itself caps weights ({summary['result']['divergence']}); here they are priced, by KL or chi-square."
        )
    return told + " The curves, the weights and the rows below follow; everything else is about this report's own setting."


def _controls(live: Mapping[str, Any]) -> Markup:
    percent = " (%)" if live["percent"] else ""
    slider = {"type": "range", "min": 0, "max": STEPS, "step": 1}
    return tag(
        "form",
        tag(
            "div",
            tag("label", f"Threshold: {live['what']}{percent}", for_="risk"),
            void("input", id="risk", type="text", inputmode="decimal", autocomplete="off"),
            void("input", id="risk-slider", aria_label="Threshold, slider", **slider),
            class_="control",
        ),
        tag(
            "div",
            tag("label", "What is cheap: reweighting (left) or moving (right)", for_="mix-slider"),
            void("input", id="mix-slider", aria_describedby="mix-ends", **slider),
            tag("p", tag("span", id="mix-low"), tag("span", id="mix-high"), class_="ends", id="mix-ends"),
            class_="control",
        ),
        tag(
            "div",
            tag(
                "div",
                tag("label", "Price of moving θ1", for_="theta1"),
                void("input", id="theta1", type="text", autocomplete="off"),
            ),
            tag(
                "div",
                tag("label", "Price of reweighting θ2", for_="theta2"),
                void("input", id="theta2", type="text", autocomplete="off"),
            ),
            class_="control two",
        ),
        tag(
            "fieldset",
            tag("legend", "Reweighting is measured by"),
            *[
                tag("label", void("input", type="radio", name="divergence", value=value), f" {name}")
                for value, name in (("kl", "KL divergence"), ("chi2", "chi-square"))
            ],
            class_="control row",
        ),
        tag("p", id="complaint", role="alert", class_="complaint"),
        tag("button", "Back to this report's setting", type="button", id="reset"),
        id="controls",
    )


def _answer(live: Mapping[str, Any]) -> Markup:
    unit = {"root_mean_square_move": f" ({live['unit']})" if live["unit"] != "cost" else ", mean cost"}
    cells = [
        tag("div", tag("dt", name + unit.get(key, "")), tag("dd", tag("output", id=f"live-{key}"))) for key, name in NUMBERS
    ]
    splits = [
        tag("div", tag("dt", name), tag("dd", tag("output", id=f"live-{key}")))
        for key, name in (("excess", "What raises the risk"), ("cost", "What is paid for"))
    ]
    return tag(
        "div",
        tag("p", "Stability", class_="kicker"),
        tag(
            "p",
            tag("output", id="live-value", for_="risk risk-slider mix-slider theta1 theta2"),
            " ",
            tag("span", id="live-standing"),
            class_="big",
        ),
        tag("p", id="live-words", aria_live="polite"),
        tag("p", id="live-setting", class_="quiet"),
        tag("dl", cells, class_="cards small"),
        tag("dl", splits, class_="cards small splits"),
        class_="panel",
    )
