"""The parts of a page, from top to bottom; each makes sense without scripts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tippingpoint.show.report.charts import area_chart, bar_chart, gauge, line_chart, risk_bar
from tippingpoint.show.report.elements import Markup, table, tag
from tippingpoint.show.report.telling import (
    change,
    changes_in_words,
    risk_form,
    told_features,
    told_manifest,
    told_models,
    told_move,
    told_population,
)
from tippingpoint.show.text import number, percent, risk_name

DRAWN = 10
"""Features of a ranking that are drawn; the table has more."""


SHIFTED = (
    "The sensitive population is what the data would have to look like. Groups are listed that would have to be seen more"
    " often, by more than two standard errors; many conditions were looked at, so one of them may be chance."
)
"""Above the description of whom the weights favour."""

MOVED = (
    "At these prices nobody is counted more or less often; rows only move. Groups are listed that move more often than others."
)
"""Above the description of who moves."""


def figure(picture: Markup, caption: str) -> Markup:
    """A picture and what it shows."""
    return tag("figure", picture, tag("figcaption", caption))


def section(name: str, title: str, *children: Any, lead: str | None = None) -> Markup:
    """A part of the page, with its heading."""
    return tag(
        "section",
        tag("h2", title, id=f"{name}-title"),
        tag("p", lead, class_="lead") if lead else None,
        *children,
        id=name,
        aria_labelledby=f"{name}-title",
    )


def answer_section(summary: Mapping[str, Any]) -> Markup:
    """The answer, its gauge, and what it is worth."""
    result, told = summary["result"], summary["words"]
    form = risk_form(result)
    what = risk_name(result["loss"])
    costs = f"That costs as much as {' or as '.join(told['equivalents'])}." if told["equivalents"] else None
    facts = [
        (f"{what.capitalize()} now", form(result["current_risk"])),
        ("Threshold", form(result["risk"])),
        ("Stability", number(result["value"])),
    ]
    cards = [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts]
    notes = [
        ("How sure is it?", told["certificate"]),
        ("Sampling error", told["sampling"]),
        ("What is paid for", told["prices"]),
    ]
    interval = f"between {number(summary['gauge']['low'])} and {number(summary['gauge']['high'])} with 95 % confidence"
    meaning = "The stability is the price of the cheapest change of the data that gets there. A large one is good. "
    return tag(
        "section",
        tag("h2", "The answer", id="answer-title", class_="hidden"),
        tag("p", told["sentence"], class_="sentence"),
        tag("dl", cards, class_="cards"),
        risk_bar(result, form, f"From {form(result['current_risk'])} to {form(result['risk'])}, in parts"),
        tag(
            "div",
            tag("p", meaning, costs),
            gauge(summary["gauge"], f"The stability is {number(result['value'])}, {interval}"),
            class_="panel",
        ),
        tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in notes], class_="notes"),
        id="answer",
        aria_labelledby="answer-title",
    )


def curves_section(summary: Mapping[str, Any]) -> Markup:
    """The stability over thresholds, and along the dial."""
    result, curve, tradeoff = summary["result"], summary["curve"], summary["tradeoff"]
    kind = "" if curve["exact"] else " (upper bounds)"
    axis, ends = f"threshold ({risk_name(result['loss'])})", ("reweighting only", "moving only")
    over = line_chart(curve, result["risk"], axis, "Stability over thresholds", risk_form(result))
    along = line_chart(tradeoff, tradeoff["own"], "what is cheap", "Stability along the dial", percent, ends)
    reached = f"What it takes to reach a threshold{kind}, at this report's prices."
    return section(
        "curves",
        "Other thresholds, other kinds of change",
        tag(
            "div",
            figure(over, f"{reached} The dot is this report; the band is ± 1.96 standard errors."),
            figure(along, f"The same threshold when moving gets cheaper and reweighting dearer, from left to right{kind}."),
            class_="pair",
        ),
    )


def population_section(summary: Mapping[str, Any]) -> Markup:
    """Who is counted more often, what moves, and how weights concentrate."""
    result, reweighted = summary["result"], summary["population"]["of"] == "weights"
    head, rules = told_population(summary["population"])
    quiet = "No simple group of rows stands out: no single condition differs by more than two standard errors."
    who = table("Groups that stand out, one condition at a time", head, rules) if rules else tag("p", quiet, class_="quiet")
    moves = [(move["feature"], told_move(move), percent(move["share"])) for move in summary["moves"]]
    columns = ["feature", "on average, where it changes", "of the sensitive population"]
    moved = table("What moves most", columns, moves, left=2) if moves else None
    uneven = "How unevenly rows count: the further above the diagonal, the fewer rows carry the weight. They amount to"
    weights = figure(
        area_chart(summary["concentration"], "How the weights concentrate on the heaviest rows"),
        f"{uneven} {percent(result['effective_share'])} of the rows.",
    )
    beside = weights if reweighted and result["effective_share"] < 1.0 - 1e-6 else None
    return section(
        "population",
        "Who the sensitive population is",
        tag("div", tag("div", who, moved), beside, class_="pair wide"),
        lead=SHIFTED if reweighted else MOVED,
    )


def rows_section(summary: Mapping[str, Any]) -> Markup:
    """The rows that add most to the risk, before and after."""
    rows, form = summary["rows"], risk_form(summary["result"])
    body = []
    for top in rows["top"]:
        moved = f"; {percent(top['moved'])} of it moves" if 0.0 < top["moved"] < 1.0 else ""
        words = [
            tag("span", *change(name, before, after), class_="change") for name, before, after in changes_in_words(rows, top)
        ]
        body.append(
            (
                rows["labels"][top["stored"]],
                f"{number(top['weight'], 3)}×{moved}",
                f"{form(top['loss_before'])} → {form(top['loss'])}",
                number(top["cost"], 3),
                percent(top["adds"]),
                [*words, _whole(rows, top)] if top["changes"] else "stays as it is",
            )
        )
    head = ["row", "counts", "loss now → then", "cost of moving", "of the rise", "what changes"]
    stored = (
        f"Features of {len(rows['labels'])} of {rows['of']:,} rows are stored in this page for display; all rows enter every"
        " number."
    )
    shown = (
        table("The rows that add most to the risk", head, body, class_="rows")
        if body
        else tag("p", "No row has to change.", class_="quiet")
    )
    return section(
        "rows",
        "The most sensitive rows",
        tag("div", shown, id="rows-shown"),
        tag("p", stored, class_="quiet", id="rows-note"),
        lead="Real rows of your data: how much more often each would have to count, and what would have to change in it.",
    )


def _whole(rows: Mapping[str, Any], top: Mapping[str, Any]) -> Markup:
    """All features of a row, before and after, the changed ones marked."""
    after = dict(top["changes"])
    lines = []
    for j, (name, value) in enumerate(zip(rows["columns"], rows["before"][top["stored"]], strict=True)):
        now = "missing" if value is None else value
        lines.append((name, now, tag("mark", after[j]) if j in after else now))
    label = rows["labels"][top["stored"]]
    return tag(
        "details",
        tag("summary", f"all {len(lines)} features"),
        table(f"Row {label}, now and then", ["feature", "now", "then"], lines),
    )


def features_section(summary: Mapping[str, Any]) -> Markup | None:
    """Which feature needs only be touched a little."""
    told = summary["features"]
    if told is None:
        return None
    head, rows = told_features(told)
    chart = bar_chart(told["rows"][:DRAWN], "feature", told["limit"], "Stability when only one feature may move")
    threshold = risk_form(told["asked"])(told["asked"]["risk"])
    return section(
        "features",
        "Which feature breaks it",
        figure(chart, "Short bars are sensitive features. The dashed line is what reweighting alone costs."),
        table(f"The {len(rows)} most sensitive of {told['of']}", head, rows),
        lead=f"What it takes if only one feature may move, for each of them, at the threshold {threshold}.",
    )


def comparison_section(summary: Mapping[str, Any]) -> Markup | None:
    """Models side by side."""
    told = summary["comparison"]
    if told is None:
        return None
    head, rows, pairs = told_models(told)
    chart = bar_chart(told["rows"], "model", math.inf, "Stability of each model")
    return section(
        "models",
        "Models side by side",
        figure(chart, "Long bars are stable models; lines are ± 1.96 standard errors."),
        table("The most stable first", head, rows),
        table("Differences, with paired errors", ["model", "difference", "95 % interval", "in words"], pairs),
        lead="The same rows, the same prices, the same threshold.",
    )


def limits_section(summary: Mapping[str, Any]) -> Markup:
    """What the number does not say."""
    return section("limits", "What this does not say", tag("ul", [tag("li", limit) for limit in summary["limits"]]))


def manifest_section(summary: Mapping[str, Any]) -> Markup:
    """What the report was made from."""
    return section(
        "manifest",
        "What this was made from",
        table("Versions, data and settings", ["what", "value"], told_manifest(summary["manifest"]), left=2),
    )
