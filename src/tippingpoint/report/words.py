"""What a report says in sentences, from the plain numbers of a result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tippingpoint.report.badges import ESTIMATE, INTERRUPTED, MEANING, NOT_FOUND, standing
from tippingpoint.text import level, number, percent, risk_name

LITTLE = 0.99
"""Effective share of the rows from which on a shift is small."""


def sentence(result: Mapping[str, Any], population: Mapping[str, Any], moves: Sequence[Mapping[str, Any]]) -> str:
    """The answer in one sentence: from where to where, by shifting towards whom, and by moving what."""
    what, now, then = risk_name(result["loss"]), *(level(result[key], result["loss"]) for key in ("current_risk", "risk"))
    if result["status"] == "already":
        return f"The {what} is {now} now, and the threshold is {then}: nothing needs to be paid to get there."
    if result["status"] == "unreachable":
        most = level(result["largest_risk"], result["loss"])
        reached = "that can be reached" if result["exact"] else "that was found"
        return f"No allowed change raises the {what} from {now} to {then}; the largest {reached} is {most}."
    parts = [part for part in (_shifting(result, population), _moving(result, moves)) if part]
    return f"To raise the {what} from {now} to {then}, {' and '.join(parts) or 'hardly anything has to change'}."


def _shifting(result: Mapping[str, Any], population: Mapping[str, Any]) -> str:
    if math.isinf(result["theta2"]) or result["effective_share"] > 1.0 - 1e-6:
        return ""
    rules = population["rules"] if population["of"] == "weights" else []
    little = result["effective_share"] > LITTLE
    shift = "shift the population a little towards" if little else "shift the population towards"
    kept = [] if little else [f"as if only {percent(result['effective_share'])} of the rows were left"]
    if not rules:
        return f"{shift} rows with large losses" + "".join(f" ({each})" for each in kept)
    whom = f"rows where {rules[0]['condition']}" if rules[0]["feature"] else rules[0]["condition"]
    grows = f"from {percent(rules[0]['now'])} to {percent(rules[0]['then'])}"
    return f"{shift} {whom} ({'; '.join([grows, *kept])})"


def _moving(result: Mapping[str, Any], moves: Sequence[Mapping[str, Any]]) -> str:
    if math.isinf(result["theta1"]) or result["moved_share"] <= 0.0:
        return ""
    named = [f"“{each['feature']}”" for each in moves[:2]]
    mostly = f", mostly in {' and '.join(named)}" if named else ""
    far = f" (root mean square {number(result['root_mean_square_move'], 3)} {result['unit']})"
    return f"move {percent(result['moved_share'])} of the rows{mostly}" + ("" if result["unit"] == "cost" else far)


def equivalents(result: Mapping[str, Any]) -> str:
    """What else the same price would pay for, so that it can be pictured; empty where it pays for nothing."""
    value = result["value"]
    if not 0.0 < value < math.inf:
        return ""
    said = []
    if math.isfinite(result["theta2"]) and result["divergence"] in ("kl", "chi2"):
        spent = value / result["theta2"]
        left = -math.expm1(-spent) if result["divergence"] == "kl" else spent / (1.0 + spent)
        said.append(f"leave out any {percent(left)} of the rows")
    if math.isfinite(result["theta1"]) and result["unit"] != "cost":
        said.append(f"move every row by {number(math.sqrt(value / result['theta1']), 3)} {result['unit']}")
    return f"For the same price, {number(value)}, one could instead {', or '.join(said)}." if said else ""


def alone(kind: str, price: float) -> str:
    """One kind of change without the other: always with its price, as another price makes another number."""
    return f"{kind} alone (θ{1 if kind == 'moving' else 2} = {number(price)})"


def yardstick(result: Mapping[str, Any], each: Mapping[str, Any]) -> str:
    """What a stability is held against."""
    what = risk_name(result["loss"])
    if each["kind"] == "noise":
        return f"sampling noise (the {what} rises to {level(each['risk'], result['loss'])})"
    return alone(each["kind"], result["theta1" if each["kind"] == "moving" else "theta2"])


def noise(result: Mapping[str, Any], size: float, yardsticks: Sequence[Mapping[str, Any]]) -> str:
    """What sampling noise is, what it costs, and how many times that the stability is; empty where it is not known."""
    cost = next((each["value"] for each in yardsticks if each["kind"] == "noise"), math.nan)
    if math.isnan(cost) or math.isnan(size):
        return ""
    what, loss = risk_name(result["loss"]), result["loss"]
    apart = f"{number(100.0 * size, 3)} percentage points" if loss == "zero_one" else number(size, 3)
    said = f"Two random halves of these rows typically differ by {apart} in {what} (root mean square)."
    if result["current_risk"] + size >= result["risk"]:
        return f"{said} The threshold is no further away than that: chance alone may reach it."
    if not math.isfinite(cost):
        return f"{said} No allowed change was found that raises it by as much."
    ratio = result["value"] / cost if cost > 0.0 else math.inf
    found = "the stability" if result["exact"] else "the stability found"
    times = f"; {found} is {number(ratio, 2) if ratio < 10.0 else f'{ratio:,.0f}'} times that" if cost > 0.0 else ""
    return f"{said} To raise the {what} by as much costs {number(cost, 3)}{times}."


def prices(result: Mapping[str, Any]) -> str:
    """What the two kinds of change cost."""
    unit = "a cost of one" if result["unit"] == "cost" else f"a distance of one (in {result['unit']})"
    moving = (
        "Rows may not be moved"
        if math.isinf(result["theta1"])
        else f"Moving a row by {unit} costs {number(result['theta1'])}"
        + ("" if result["unit"] == "cost" else ", by twice as far four times as much")
    )
    name = {"kl": "KL divergence", "chi2": "chi-square divergence"}.get(result["divergence"])
    if math.isinf(result["theta2"]):
        weighing = "how often rows occur may not be changed"
    elif name is None:
        weighing = f"weights are free within the cap of {result['divergence']}"
    else:
        weighing = f"changing how often rows occur costs {number(result['theta2'])} for each unit of {name}"
    return f"{moving}; {weighing}."


def certificate(result: Mapping[str, Any]) -> str:
    """What is exact, and what is a bound."""
    if standing(result) in (ESTIMATE, INTERRUPTED, NOT_FOUND):
        meant = MEANING[standing(result)]
        floor = f"; at least {number(result['lower'], 6)} is needed" if 0.0 < result["lower"] < math.inf else ""
        return f"{meant[:1].upper()}{meant[1:]}{floor} ({result['lower_by']})."
    if result["status"] == "unreachable":
        return f"This is proved. ({result['lower_by']})"
    lower, upper = number(result["lower"], 6), number(result["upper"], 6)
    if result["exact"]:
        return (
            f"Exact: no cheaper change exists (at least {lower} is needed), and a change that costs {upper} is shown below."
            f" How: {result['lower_by']}."
        )
    if result["lower"] > 0.0:
        return (
            f"Bounded from both sides: at least {lower} is needed ({result['lower_by']}), and a change that costs {upper} is"
            " shown below. The truth lies between."
        )
    return f"An upper bound: a change that costs {upper} is shown below; a cheaper one may exist ({result['lower_by']})."


def sampling(result: Mapping[str, Any]) -> str:
    """The standard error, in words."""
    if math.isnan(result["standard_error"]):
        return "There is no standard error here."
    sample = f"{result['effective_sample']:,.0f} effective of {result['samples']:,} rows"
    error = number(result["standard_error"], 2)
    return f"± {error}: with other rows from the same source it would differ by about that ({sample})."


def doubts(found: Mapping[str, Any]) -> list[str]:
    """How much of what moves may be impossible, and what forbids it."""
    said = []
    for kind, told in (
        ("outside", "leave the range that “{feature}” and other features have in the data"),
        ("broken", "get a fraction where the data hold whole numbers only, as in “{feature}”"),
    ):
        if found[kind]["share"] > 0.0:
            what = told.format(feature=found[kind]["feature"])
            share = percent(found[kind]["share"])
            said.append(f"{share} of what is moved would {what}; such rows may be impossible. A Space forbids them.")
    return said


def limits(result: Mapping[str, Any], doubts: Mapping[str, Any]) -> list[str]:
    """What this number does not say, in this very case."""
    said = ["It is a worst case, not a forecast: the cheapest change that reaches the threshold, not the likeliest."]
    if result["unit"] != "cost":
        said.append("Labels do not change. Only features move, and only how often rows occur is changed.")
    said.append(
        "The stability is a price, in the units of the two prices above. It compares with others at the same prices only."
    )
    if not result["exact"]:
        said.append(
            "The changes were searched for, not derived. A cheaper change may exist; the certificate above says what is proved."
        )
    if doubts["live"] == "none":
        said.append("There are too many rows for a page to hold, so nothing can be tried out here; ask the profile in Python.")
    elif doubts["live"] == "bound":
        said.append(
            f"What is computed in this page uses at most {doubts['places']} places a row. At the report's own setting it is the"
            " report's number, elsewhere an upper bound on it."
        )
    if doubts["stored"] < doubts["rows"]:
        said.append(
            f"For display only, features of {doubts['stored']:,} of the {doubts['rows']:,} rows are stored in this page, those"
            " that matter most at several settings. All rows enter every number."
        )
    return [*said, *(f"{note[:1].upper()}{note[1:]}." for note in result["notes"])]
