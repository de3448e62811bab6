"""Tables of a report in words: what the page and its Markdown twin say alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from tippingpoint.report.badges import EXACT
from tippingpoint.report.words import alone
from tippingpoint.text import level, number, percent, risk_name

ONE_WAY = 0.9
"""Part of all moves of a feature that must go one way to be told as such."""

KNOWN = "what is known"
"""Above a column of badges."""

OWN = "this stability"
"""The result itself, among what it is held against."""

NOT_TOLD = "not fingerprinted"

DATA_DIGEST = "SHA-256 of names, values, target and weights"

SHOWN = 12
"""Digits of a fingerprint where it is told in passing."""

Cells = list[list[str]]


def risk_form(result: Mapping[str, Any]) -> Callable[[float], str]:
    """How risks of this loss are written."""
    return lambda value: level(value, result["loss"])


def told_population(population: Mapping[str, Any]) -> tuple[list[str], Cells]:
    """Who stands out, as a table."""
    then = "of the sensitive population" if population["of"] == "weights" else "of the rows that move"
    rows = [
        [rule["condition"], percent(rule["now"]), percent(rule["then"]), f"{number(rule['lift'], 3)}×"]
        for rule in population["rules"]
    ]
    return ["rows where …", "of the data", then, "over-representation"], rows


def told_move(move: Mapping[str, Any]) -> str:
    """How a feature moves where it does."""
    if move["switches"]:
        return "switches"
    way = (
        "up"
        if move["mean"] > ONE_WAY * move["length"]
        else "down"
        if -move["mean"] > ONE_WAY * move["length"]
        else "up or down"
    )
    return f"{way}, by {number(move['length'], 2)} standard deviations"


def told_facts(summary: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The numbers of the headline: what each is, the number, and its badge, empty where it is measured or chosen."""
    result, gate = summary["result"], summary["gate"]
    form, what = risk_form(result), risk_name(result["loss"])
    facts = [
        (f"{what[:1].upper()}{what[1:]} now", form(result["current_risk"]), ""),
        ("Threshold", form(result["risk"]), ""),
        ("Stability", number(result["value"]), summary["standing"]),
    ]
    return facts if gate is None else [*facts, ("Gate: at least", number(gate["threshold"], 6), gate["outcome"])]


def told_header(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the report is about: model and data with the beginning of their fingerprints, and the date."""
    made_from = summary["manifest"]
    model = (made_from["model"]["name"], made_from["model"]["fingerprint"])
    data = (summary["data"] or f"{made_from['data']['rows']:,} rows", made_from["data"]["fingerprint"])
    told = [(name, f"{what} ({_beginning(digest)})") for name, (what, digest) in (("Model", model), ("Data", data))]
    return [*told, ("Date", summary["date"])]


def told_certainty(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the answer is worth, point by point."""
    told, gate = summary["words"], summary["gate"]
    return [
        *([] if gate is None else [("The gate", gate["sentence"])]),
        ("How sure is it?", told["certificate"]),
        ("Sampling error", told["sampling"]),
        ("What is paid for", told["prices"]),
    ]


def told_yardsticks(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Name, value and standing of what the stability can be held against, the cheapest first, itself among them."""
    own = {"name": OWN, "value": summary["result"]["value"], "standing": summary["standing"]}
    return sorted([own, *summary["yardsticks"]], key=lambda each: float(each["value"]))


def told_features(told: Mapping[str, Any]) -> tuple[list[str], Cells]:
    """The ranking of features as a table; the last cell is a badge."""
    form = risk_form(told["asked"])
    rows = []
    for row in told["rows"]:
        error = number(row["standard_error"], 2) if row["matters"] else "–"
        closes = percent(1.0 - row["value"] / told["limit"]) if row["matters"] and math.isfinite(told["limit"]) else "–"
        rows.append(
            [
                row["feature"],
                number(row["value"]),
                number(row["lower"]),
                error,
                closes if row["matters"] else "does not matter",
                percent(row["moved_share"]),
                form(row["reach"]),
                row["standing"],
            ]
        )
    cheaper = f"cheaper than {alone('reweighting', told['asked']['theta2'])}"
    return [
        "feature",
        "stability",
        "at least",
        "standard error",
        cheaper if math.isfinite(told["limit"]) else "cheaper",
        "rows moved",
        "largest risk in reach",
        KNOWN,
    ], rows


def told_limit(told: Mapping[str, Any]) -> str:
    """What a feature without effect costs; empty where there is no such limit."""
    if not math.isfinite(told["limit"]):
        return ""
    costs = f"{alone('reweighting', told['asked']['theta2'])} costs: {number(told['limit'])} ({EXACT})"
    return f"The limit, where a feature makes no difference, is what {costs}."


def told_models(told: Mapping[str, Any]) -> tuple[list[str], Cells]:
    """The models as a table; the last cell is a badge."""
    form = risk_form(told["asked"])
    names = ("value", "lower", "upper")
    rows = [
        [
            row["model"],
            form(row["current_risk"]),
            *(number(row[name]) for name in names),
            number(row["standard_error"], 2),
            row["standing"],
        ]
        for row in told["rows"]
    ]
    return ["model", "risk now", "stability", "at least", "at most", "standard error", KNOWN], rows


def told_differences(told: Mapping[str, Any]) -> tuple[list[str], Cells]:
    """Differences between models as a table, with nothing in words that is not certified."""
    rows = []
    for pair in told["differences"]:
        interval = f"{number(pair['low'], 3)} to {number(pair['high'], 3)}"
        versus = f"{pair['model']} minus {pair['reference']}"
        rows.append([versus, number(pair["difference"]), interval, pair["verdict"]])
    return ["models", "difference", "95 % interval (sampling only)", "verdict"], rows


def told_manifest(told: Mapping[str, Any]) -> Cells:
    """What a report was made from, line by line."""
    settings, model, data = told["settings"], told["model"], told["data"]
    return [
        ["date (UTC)", told["date"]],
        [told["command"]["kind"], told["command"]["text"]],
        ["model", model["name"]],
        [
            "fingerprint of the model",
            model["of"] if model["fingerprint"] is None else f"{model['fingerprint']} (SHA-256 of {model['of']})",
        ],
        ["rows", f"{data['rows']:,}"],
        ["features", f"{data['features']:,}"],
        [
            "fingerprint of the data",
            NOT_TOLD
            if data["fingerprint"] is None
            else f"{data['fingerprint']} (SHA-256 of names, values, target and weights)",
        ],
        ["loss", settings["loss"]],
        ["threshold", number(settings["risk"], 12)],
        ["price of moving θ1", number(settings["theta1"], 12)],
        ["price of reweighting θ2", number(settings["theta2"], 12)],
        ["divergence", settings["divergence"]],
        ["distance in", settings["unit"]],
        ["best responses", told["responses"]],
        ["seed", told["seed"]],
        *([name, version] for name, version in told["versions"].items()),
    ]


def _beginning(digest: str | None) -> str:
    return NOT_TOLD if digest is None else f"SHA-256 {digest[:SHOWN]}…"
