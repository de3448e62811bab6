"""What a report says in sentences, from the plain numbers of a result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tippingpoint.show.text import level, number, percent, risk_name

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


def equivalents(result: Mapping[str, Any]) -> list[str]:
    """What else the same money would buy, so that a price can be pictured."""
    value = result["value"]
    if not 0.0 < value < math.inf:
        return []
    said = []
    if math.isfinite(result["theta1"]) and result["unit"] != "cost":
        said.append(f"moving every row by {number(math.sqrt(value / result['theta1']), 3)} {result['unit']}")
    if math.isfinite(result["theta2"]) and result["divergence"] in ("kl", "chi2"):
        spent = value / result["theta2"]
        left = math.exp(-spent) if result["divergence"] == "kl" else 1.0 / (1.0 + spent)
        said.append(f"looking at only {percent(left)} of the rows, taken at random, instead of all")
    return said


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
    if result["status"] == "unreachable":
        told = "This is proved." if result["exact"] else "This is what a search found; it proves nothing."
        return f"{told} ({result['lower_by']})"
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
    for kind, told in (
        ("outside", "leave the range that “{feature}” and other features have in the data"),
        ("broken", "get a fraction where the data hold whole numbers only, as in “{feature}”"),
    ):
        doubt = doubts["implausible"][kind]
        if doubt["share"] > 0.0:
            what = told.format(feature=doubt["feature"])
            said.append(
                f"{percent(doubt['share'])} of what is moved would {what}; such rows may be impossible. A Space forbids them."
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
