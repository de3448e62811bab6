"""Tables of a report in words: what the page and its Markdown twin say alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tippingpoint.show.report.elements import tag
from tippingpoint.show.text import level, number, percent

NAMED = 4
"""Changes of a row that are told at once; the others are a click away."""

ONE_WAY = 0.9
"""Part of all moves of a feature that must go one way to be told as such."""

Cells = list[list[str]]


def risk_form(result: Mapping[str, Any]) -> Callable[[float], str]:
    """How risks of this loss are written."""
    return lambda value: level(value, result["loss"])


def changes_in_words(rows: Mapping[str, Any], top: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Feature, value now and value then of the largest changes of a row, in standard deviations; a switch counts as one."""
    now = rows["before"][top["stored"]]

    def size(each: Sequence[Any]) -> float:
        j, then = each
        if isinstance(then, str) or isinstance(now[j], str) or now[j] is None or then is None or rows["spread"][j] <= 0.0:
            return 1.0
        return float(abs(then - now[j]) / rows["spread"][j])

    largest = sorted(top["changes"], key=lambda each: (-size(each), each[0]))[:NAMED]
    return [(rows["columns"][j], *cells(now[j], then)) for j, then in largest]


def cells(now: Any, then: Any) -> tuple[str, str]:
    """A value of a feature before and after a change, with as many digits as it takes to tell them apart."""
    told = cell(now), cell(then)
    return told if told[0] != told[1] else (cell(now, 6), cell(then, 6))


def cell(value: Any, digits: int = 4) -> str:
    """A value of a feature."""
    if value is None:
        return "missing"
    return number(value, digits) if isinstance(value, float) else str(value)


def change(name: str, before: str, after: str) -> list[Any]:
    """A change, with what is new marked."""
    return [f"{name} {before} → ", tag("mark", after)]


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


def told_features(told: Mapping[str, Any]) -> tuple[list[str], Cells]:
    """The ranking of features as a table."""
    form = risk_form(told["asked"])
    rows = []
    for row in told["rows"]:
        error = number(row["standard_error"], 2) if row["matters"] else "–"
        closes = percent(1.0 - row["value"] / told["limit"]) if row["matters"] and math.isfinite(told["limit"]) else "–"
        cheaper = closes if row["matters"] else "does not matter"
        rows.append(
            [
                row["feature"],
                number(row["value"]),
                error,
                cheaper,
                percent(row["moved_share"]),
                form(row["reach"]),
                row["bound"],
            ]
        )
    return [
        "feature",
        "stability",
        "standard error",
        "cheaper than reweighting",
        "rows moved",
        "largest risk in reach",
        "bound",
    ], rows


def told_models(told: Mapping[str, Any]) -> tuple[list[str], Cells, Cells]:
    """The comparison as two tables: models, and differences."""
    form = risk_form(told["asked"])
    rows = [
        [row["model"], form(row["current_risk"]), number(row["value"]), number(row["standard_error"], 2), row["bound"]]
        for row in told["rows"]
    ]
    pairs = []
    for pair in told["differences"]:
        certain = pair["low"] > 0.0 or pair["high"] < 0.0
        more = "more" if pair["difference"] > 0.0 else "less"
        words = f"{more} stable than {pair['reference']}" if certain else f"not told apart from {pair['reference']}"
        interval = f"{number(pair['low'], 3)} to {number(pair['high'], 3)}"
        pairs.append([pair["model"], number(pair["difference"]), interval, words])
    return ["model", "risk now", "stability", "standard error", "bound"], rows, pairs


def told_manifest(told: Mapping[str, Any]) -> Cells:
    """What a report was made from, line by line."""
    settings = told["settings"]
    return [
        *([name, version] for name, version in told["versions"].items()),
        ["rows", f"{told['samples']:,}"],
        ["features", f"{told['features']:,}"],
        ["fingerprint of the data (SHA-256)", told["fingerprint"]],
        ["loss", settings["loss"]],
        ["threshold", number(settings["risk"], 12)],
        ["price of moving θ1", number(settings["theta1"], 12)],
        ["price of reweighting θ2", number(settings["theta2"], 12)],
        ["divergence", settings["divergence"]],
        ["distance in", settings["unit"]],
        ["best responses", told["responses"]],
        ["seed", told["seed"]],
    ]
