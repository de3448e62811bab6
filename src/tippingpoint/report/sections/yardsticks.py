"""What a stability can be held against: other changes of the same data, at the same prices. A block of the answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from tippingpoint.core.arrays import IntArray
from tippingpoint.core.divergences import Divergence
from tippingpoint.core.inference import standard_error
from tippingpoint.core.problem import Problem
from tippingpoint.report.badges import EXACT, badge
from tippingpoint.report.charts import price_bar
from tippingpoint.report.elements import Markup, tag
from tippingpoint.report.elements import table as html_table
from tippingpoint.report.markdown_text import paragraph, table
from tippingpoint.report.material import Material
from tippingpoint.report.other_settings import solve_with
from tippingpoint.report.wording import KNOWN, alone, stability_form
from tippingpoint.space.domain import Domain
from tippingpoint.text import level, number, percent, risk_name

HALVES = 2.0
"""Standard errors of a mean by which the means of two random halves of the rows differ: with a sample variance `s²` the mean of
one half varies by `s²/n` around that of all `n` rows, the other half's by as much the other way."""

TITLE = "Large compared with what?"

MEANING = "The stability is the price of the cheapest change of the data that reaches the threshold. A large one is good."

CAPTION = "What other changes of the same data cost, at the same prices"

BAND = "The shaded band is the 95 % interval of sampling."

CORRECTED_BAND = (
    "The shaded band is the 95 % interval of the corrected stability: without the noise of repeats, which the bar contains."
)

OWN = "this stability"
"""The result itself, among what it is held against."""


class Yardstick(TypedDict):
    """What another change costs."""

    kind: str
    risk: float
    value: float
    standing: str
    name: str


def compute(material: Material) -> list[Yardstick]:
    """What it costs to get there by one kind of change alone, and to raise the risk by no more than chance does.

    The noise of sampling is the typical (root mean square) difference in risk between two random halves of the rows: two
    standard errors of the mean loss. Its cost is the stability at the present risk plus that, at the question's own prices.
    """
    result, problem, beside = material.result, material.problem, material.standing_beside
    if result["status"] not in ("attained", "largest") or not result["value"] > 0.0:
        return []
    found = list[Yardstick]()

    def add(kind: str, risk: float, value: float, known: str) -> None:
        found.append({"kind": kind, "risk": risk, "value": value, "standing": known, "name": _name(result, kind, risk)})

    if math.isfinite(problem.theta2) and math.isfinite(problem.theta1):
        # Reweighting alone needs the present losses only, which nobody had to search for; of a table some may be missing.
        known = beside if material.tried else EXACT
        add("reweighting", problem.risk, solve_with(problem, theta1=math.inf).value, known)
        add("moving", problem.risk, solve_with(problem, theta2=math.inf).value, beside)
    size = sampling_noise(problem, material.evidence.groups)
    if size > 0.0:
        risk = problem.current + size
        add("noise", risk, solve_with(problem, risk=risk).value, beside)
    return found


def sampling_noise(problem: Problem, groups: IntArray | None = None) -> float:
    """The root mean square difference in risk between two random halves of the rows, or of groups of them; NaN for one."""
    losses = problem.samples.joined(lambda block: block.losses)
    return HALVES * standard_error(losses - problem.current, problem.base, groups)


def own(result: Mapping[str, Any], standing: str) -> Yardstick:
    """The stability itself, as one of them."""
    return {"kind": "own", "risk": result["risk"], "value": result["value"], "standing": standing, "name": OWN}


def _name(result: Mapping[str, Any], kind: str, risk: float) -> str:
    if kind == "noise":
        return f"sampling noise (the {risk_name(result['loss'])} rises to {level(risk, result['loss'])})"
    return alone(kind, result["theta1" if kind == "moving" else "theta2"])


def equivalents(result: Mapping[str, Any], divergence: Divergence, domain: Domain | None) -> str:
    """What else the same price would pay for, so that it can be pictured; empty where it pays for nothing."""
    value = result["value"]
    if not 0.0 < value < math.inf:
        return ""
    instead = []
    if math.isfinite(result["theta2"]) and not divergence.caps:
        share = divergence.left_out(value / result["theta2"])
        instead += [f"leave out any {percent(share)} of the rows"] if share > 0.0 else []
    if math.isfinite(result["theta1"]) and result["unit"] != "cost" and (domain is None or domain.measured):
        instead.append(f"move every row by {number(math.sqrt(value / result['theta1']), 3)} {result['unit']}")
    return f"For the same price, {number(value)}, one could instead {', or '.join(instead)}." if instead else ""


def noise(result: Mapping[str, Any], size: float, yardsticks: Sequence[Yardstick]) -> str:
    """What sampling noise is, what it costs, and how many times that the stability is; empty where it is not known."""
    cost = next((each["value"] for each in yardsticks if each["kind"] == "noise"), math.nan)
    if math.isnan(cost) or math.isnan(size):
        return ""
    what, loss = risk_name(result["loss"]), result["loss"]
    apart = f"{number(100.0 * size, 3)} percentage points" if loss == "zero_one" else number(size, 3)
    halved = f"{result['groups']:,} groups" if result.get("groups") else "rows"
    differ = f"Two random halves of these {halved} typically differ by {apart} in {what} (root mean square)."
    if result["current_risk"] + size >= result["risk"]:
        return f"{differ} The threshold is no further away than that: chance alone may reach it."
    if not math.isfinite(cost):
        return f"{differ} No allowed change was found that raises it by as much."
    ratio = result["value"] / cost if cost > 0.0 else math.inf
    found = "the stability" if result["exact"] else "the stability found"
    times = f"; {found} is {number(ratio, 2) if ratio < 10.0 else f'{ratio:,.0f}'} times that" if cost > 0.0 else ""
    return f"{differ} To raise the {what} by as much costs {number(cost, 3)}{times}."


def html(
    held: Sequence[Yardstick], words: Mapping[str, Any], interval: tuple[float, float], *, corrected: bool = False
) -> Markup:
    """Bars of one scale, the cheapest first; the stability itself has its interval."""
    end = 1.04 * max(interval[1], *(each["value"] for each in held if math.isfinite(each["value"])), 0.0) or 1.0
    rows = []
    for each in _ranked(held):
        itself, finite = each["name"] == OWN, math.isfinite(each["value"])
        name = tag("strong", OWN) if itself else each["name"]
        shown = stability_form(each["value"], each["standing"])
        title = f"{each['name']}: {shown}"
        bar = price_bar(each["value"], end, title, interval if itself else None) if finite else None
        rows.append((name, bar, shown, badge(each["standing"])))
    return tag(
        "div",
        tag("h3", TITLE),
        tag("p", f"{MEANING} {words['equivalents']}"),
        html_table(CAPTION, ["change", "", "costs", KNOWN], rows, left=2, class_="held") if end < math.inf else None,
        tag("p", f"{words['noise']} {CORRECTED_BAND if corrected else BAND}") if end < math.inf else None,
        class_="panel",
    )


def markdown(held: Sequence[Yardstick], words: Mapping[str, Any]) -> list[str]:
    """The same as a table."""
    return [
        f"## {TITLE}",
        *(paragraph(each) for each in (f"{MEANING} {words['equivalents']}", words["noise"]) if each),
        f"{CAPTION}:",
        table(
            ["change", "costs", KNOWN],
            [[each["name"], stability_form(each["value"], each["standing"]), each["standing"]] for each in _ranked(held)],
        ),
    ]


def _ranked(held: Sequence[Yardstick]) -> list[Yardstick]:
    return sorted(held, key=lambda each: each["value"])
