"""Try other settings: the part of the page that computes; hidden until the page's script runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from tippingpoint.core.divergences import Divergence
from tippingpoint.core.dual import Status
from tippingpoint.core.problem import Problem
from tippingpoint.report.badges import EXACT
from tippingpoint.report.elements import Markup, tag, void
from tippingpoint.report.embedding import Embedded
from tippingpoint.report.material import Material
from tippingpoint.report.other_settings import (
    Solved,
    along_dial,
    along_thresholds,
    dial,
    is_served,
    page_divergences,
    thresholds,
)
from tippingpoint.report.packing import pack
from tippingpoint.report.section import Section, lead
from tippingpoint.text import risk_name

SLIDER_STEPS = 1000
"""Places of a slider."""

NUMBERS = (
    ("moved_share", "rows that move"),
    ("root_mean_square_move", "typical move"),
    ("effective_share", "rows left, in effect"),
    ("nats", "KL divergence (nats)"),
)
"""What is shown beside the stability."""


class Beforehand(TypedDict):
    """What was computed for a divergence that the page has no formulas for, by threshold and by place on the dial."""

    title: str
    thresholds: list[dict[str, Any]]
    mixes: list[dict[str, Any]]


class Unserved(TypedDict, total=False):
    """What a page needs beside, where it has no formulas for the divergence of the report."""

    precomputed: Beforehand


class Live(Unserved):
    """What the page computes with, where its controls begin, and what is known of its numbers there and elsewhere."""

    profile: dict[str, Any]
    base: dict[str, Any]
    exact: bool
    places: int
    time_limit_reached: bool
    standing: list[str]
    lower: float
    present: bool
    served: bool
    setting: dict[str, Any]
    mix: float
    budget: float
    risks: list[float]
    percent: bool
    unit: str
    what: str


class LivePart(TypedDict):
    """None where a page cannot hold the profile."""

    live: Live | None


class LiveSection(Section[LivePart]):
    """Controls, the answer, and how it splits; Markdown has none of it."""

    name = "live"
    title = "Try other settings"
    needs_scripts = True

    def compute(self, material: Material) -> LivePart:
        embedded = material.embedded
        return {"live": None if embedded is None else _live(material, embedded)}

    def html(self, part: LivePart, result: Mapping[str, Any]) -> Sequence[Any] | None:
        live = part["live"]
        if live is None:
            return None
        return [lead(_lead(live, result)), tag("div", _controls(live), _answer(live), class_="desk"), _worst(live)]

    def markdown(self, part: LivePart, result: Mapping[str, Any]) -> None:
        return None


LIVE = LiveSection()


def _live(material: Material, embedded: Embedded) -> Live:
    result, problem = material.result, material.problem
    risks, most = thresholds(problem), material.evidence.loss_range[1]
    budget, mix = dial(result["theta1"], result["theta2"])
    served = is_served(problem.divergence)
    live: Live = {
        "profile": embedded.held,
        "base": pack(material.evidence.base),
        "exact": embedded.exact,
        "places": embedded.places,
        "time_limit_reached": embedded.oracle.timed_out,
        "standing": [material.standing, material.standing_elsewhere],
        "lower": result["lower"],
        # Of a table that is not exact, some outcomes are missing, those of samples as they are perhaps among them.
        "present": material.standing == EXACT or not material.tried,
        "served": served,
        "setting": {name: result[name] for name in ("risk", "theta1", "theta2", "divergence")},
        "mix": mix,
        "budget": budget,
        "risks": [min(risks[0], result["risk"]), most if math.isfinite(most) else max(risks[1], result["risk"])],
        "percent": result["loss"] == "zero_one",
        "unit": "cost" if material.unmeasured else result["unit"],
        "what": risk_name(result["loss"]),
    }
    if served:
        return live
    return {**live, "precomputed": _beforehand(problem, proved=material.standing_elsewhere == EXACT)}


def choices(live: Live) -> list[Divergence]:
    """The divergences that can be chosen in the page, and computed with."""
    return page_divergences(live["setting"]["divergence"], served=live["served"])


def _beforehand(problem: Problem, *, proved: bool) -> Beforehand:
    """The curves of the report, setting by setting, as the page shows them; `proved` if the responses are exact."""
    return {
        "title": problem.divergence.title,
        "thresholds": [_record(each, proved=proved) for each in along_thresholds(problem).values()],
        "mixes": [_record(each, proved=proved) for each in along_dial(problem).values()],
    }


def _record(solved: Solved, *, proved: bool) -> dict[str, Any]:
    """A setting and its numbers, by the names that the page's script has for them."""
    problem, q = solved.problem, solved.summary
    unproved = solved.status is Status.UNREACHABLE and not (proved or not problem.moves)
    return {
        "risk": problem.risk,
        "theta1": problem.theta1,
        "theta2": problem.theta2,
        "divergence": problem.divergence.label,
        "value": solved.value,
        "lower": solved.lower,
        "status": (Status.NOT_FOUND if unproved else solved.status).value,
        "current": problem.current,
        "largest": problem.reachable,
        "corruption_cost": q.moving_cost,
        "reweighting_cost": q.reweighting_cost,
        "corruption_excess": q.corruption_excess,
        "reweighting_excess": q.reweighting_excess,
        "root_mean_square_move": math.sqrt(q.squared_move),
        "moved_share": q.moved_share,
        "effective_share": q.effective_share,
        "nats": q.nats,
    }


def _lead(live: Live, result: Mapping[str, Any]) -> str:
    sentences = ["Everything here is computed in this page, from the numbers that it holds."]
    if "floor" in live["profile"]:
        sentences.append("What an error of a row costs is bounded from both sides, and with it each number.")
    elif not live["exact"]:
        known = f"It knows at most {live['places']} places a row, so that"
        sentences.append(f"{known} away from the report's own setting a number is an upper bound.")
    if live["time_limit_reached"]:
        sentences.append("The time limit ended the search for other settings, so more time may narrow their numbers.")
    if not result["exact"] and "floor" not in live["profile"]:
        sentences.append(
            "The changes were searched for, so each number is an upper bound; a search at that very setting may find less."
        )
    if "precomputed" not in live:
        sentences.append(
            "The curves, the weights and the rows below follow; everything else is about this report's own setting."
        )
    else:
        others, own = " or ".join(each.title for each in choices(live)), live["precomputed"]["title"]
        sentences.append(
            f"For what this report reweights by, {own}, it has no formulas and shows what was computed beforehand: thresholds"
            " and places on the dial go to the nearest on the two curves below, which stay as they are, as do the weights and"
            f" the rows. With {others} any setting can be tried, and they follow."
        )
    return " ".join(sentences)


def _controls(live: Live) -> Markup:
    percent = " (%)" if live["percent"] else ""
    named = [(each.label, each.title) for each in choices(live)]
    if "precomputed" in live:
        named.insert(0, (live["setting"]["divergence"], f"{live['precomputed']['title']}, computed beforehand"))
    slider = {"type": "range", "min": 0, "max": SLIDER_STEPS, "step": 1}
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
            *[tag("label", void("input", type="radio", name="divergence", value=name), f" {title}") for name, title in named],
            class_="control row",
        ),
        tag("p", id="complaint", role="alert", class_="complaint"),
        tag("button", "Back to this report's setting", type="button", id="reset"),
        id="controls",
    )


def _answer(live: Live) -> Markup:
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


def _worst(live: Live) -> Markup:
    """The other way round: a cost is typed in, and the risk that it reaches is told."""
    return tag(
        "div",
        tag(
            "div",
            tag("label", "The other way round: what a change may cost", for_="cost"),
            void("input", id="cost", type="text", inputmode="decimal", autocomplete="off"),
            tag("p", id="cost-complaint", role="alert", class_="complaint"),
            class_="control",
        ),
        tag(
            "div",
            tag("p", f"Worst {live['what']} at that cost", class_="kicker"),
            tag("p", tag("output", id="live-worst", for_="cost"), " ", tag("span", id="worst-standing"), class_="big"),
            tag("p", id="worst-words", aria_live="polite"),
        ),
        id="worst",
        class_="panel",
    )
