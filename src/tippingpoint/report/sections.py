"""The parts of a page, from top to bottom; each makes sense without scripts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tippingpoint.report import headings
from tippingpoint.report.badges import INTERRUPTED, badge
from tippingpoint.report.charts import area_chart, bar_chart, line_chart, price_bar, risk_bar
from tippingpoint.report.elements import Markup, table, tag
from tippingpoint.report.moving import Change, cell, changes_of, told_changes
from tippingpoint.report.telling import (
    KNOWN,
    OWN,
    Cells,
    risk_form,
    told_certainty,
    told_differences,
    told_facts,
    told_features,
    told_limit,
    told_manifest,
    told_models,
    told_move,
    told_population,
    told_yardsticks,
)
from tippingpoint.report.words import alone
from tippingpoint.text import number, percent, risk_name

DRAWN = 10
"""Features of a ranking that are drawn; the table has more."""


def figure(picture: Markup, *caption: Any, id_: str | None = None) -> Markup:
    """A picture and what it shows; a script may draw another picture in the place named."""
    return tag("figure", tag("div", picture, id=id_, class_="chart"), tag("figcaption", *caption))


def badged(rows: Cells) -> list[list[Any]]:
    """Rows of a table whose last cell is a badge."""
    return [[*cells, badge(last)] for *cells, last in rows]


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
    """The answer, what it is worth, and what it can be held against."""
    result, told = summary["result"], summary["words"]
    form = risk_form(result)
    cards = [
        tag("div", tag("dt", name), tag("dd", value), tag("dd", badge(known), class_="known") if known else None)
        for name, value, known in told_facts(summary)
    ]
    return tag(
        "section",
        tag("h2", headings.ANSWER, id="answer-title", class_="hidden"),
        tag("p", told["sentence"], class_="sentence"),
        tag("dl", cards, class_="cards"),
        risk_bar(result, form, f"From {form(result['current_risk'])} to {form(result['risk'])}, in parts"),
        tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in told_certainty(summary)], class_="notes"),
        _yardsticks(summary),
        id="answer",
        aria_labelledby="answer-title",
    )


def _yardsticks(summary: Mapping[str, Any]) -> Markup:
    """What the stability can be held against, as bars of one scale."""
    told, (low, high) = summary["words"], (summary["gauge"][name] for name in ("low", "high"))
    held = told_yardsticks(summary)
    end = 1.04 * max(high, *(each["value"] for each in held if math.isfinite(each["value"])), 0.0) or 1.0
    rows = []
    for each in held:
        own, finite = each["name"] == OWN, math.isfinite(each["value"])
        name = tag("strong", OWN) if own else each["name"]
        title = f"{each['name']}: {number(each['value'])}"
        bar = price_bar(each["value"], end, title, (low, high) if own else None) if finite else None
        rows.append((name, bar, number(each["value"]), badge(each["standing"])))
    return tag(
        "div",
        tag("h3", headings.YARDSTICKS),
        tag("p", f"{headings.MEANING} {told['equivalents']}"),
        table(headings.HELD_AGAINST, ["change", "", "costs", KNOWN], rows, left=2, class_="held") if end < math.inf else None,
        tag("p", f"{told['noise']} {headings.BAND}") if end < math.inf else None,
        class_="panel",
    )


def curves_section(summary: Mapping[str, Any]) -> Markup:
    """The stability over thresholds, and along the dial; a script draws them anew where other settings are tried out."""
    result, curve, tradeoff = summary["result"], summary["curve"], summary["tradeoff"]
    axis = f"threshold ({risk_name(result['loss'])})"
    over = line_chart(curve, result["risk"], axis, "Stability over thresholds", risk_form(result))
    along = line_chart(tradeoff, tradeoff["own"], "what is cheap", "Stability along the dial", percent, dial_ends(tradeoff))
    return section(
        "curves",
        headings.CURVES,
        tag(
            "div",
            figure(over, headings.OVER, " ", badge(curve["standing"]), id_="live-curve"),
            figure(along, headings.ALONG, " ", badge(tradeoff["standing"]), id_="live-dial"),
            class_="pair",
        ),
    )


def dial_ends(tradeoff: Mapping[str, Any]) -> tuple[str, str]:
    """What the two ends of the dial are called: one kind of change alone, at the price that it has there."""
    price = 1.0 / tradeoff["budget"]
    return alone("reweighting", price), alone("moving", price)


def population_section(summary: Mapping[str, Any]) -> Markup:
    """Who is counted more often, what moves, and how weights concentrate."""
    result, reweighted = summary["result"], summary["population"]["of"] == "weights"
    head, rules = told_population(summary["population"])
    nobody = tag("p", headings.NOBODY, class_="quiet")
    who = table("Groups that stand out, one condition at a time", head, rules) if rules else nobody
    moves = [(move["feature"], told_move(move), percent(move["share"])) for move in summary["moves"]]
    moved = table("What moves most", headings.MOVES_HEAD, moves, left=2) if moves else None
    weights = figure(
        area_chart(summary["concentration"], "How the weights concentrate on the heaviest rows"),
        f"{headings.UNEVEN} In this report they amount to {percent(result['effective_share'])} of the rows.",
        id_="live-weights",
    )
    return section(
        "population",
        headings.POPULATION,
        tag("div", tag("div", who, moved), weights, class_="pair wide"),
        lead=headings.SHIFTED if reweighted else headings.MOVED,
    )


def rows_section(summary: Mapping[str, Any]) -> Markup:
    """The rows that add most to the risk, before and after, each with its warnings."""
    rows, form = summary["rows"], risk_form(summary["result"])
    body = []
    for top in rows["top"]:
        moved = f"; {percent(top['moved'])} of it moves" if 0.0 < top["moved"] < 1.0 else ""
        changes, further = told_changes(rows, top)
        words = [
            *(tag("span", f"{each.feature} {each.before} → ", *_after(each), class_="change") for each in changes),
            tag("span", further, class_="change doubt") if further else None,
        ]
        body.append(
            (
                rows["labels"][top["stored"]],
                f"{number(top['weight'], 3)}×{moved}",
                f"{form(top['loss_before'])} → {form(top['loss'])}",
                number(top["cost"], 3),
                percent(top["adds"]),
                [*words, _whole(rows, top)] if top["changes"] else headings.STAYS,
            )
        )
    stored = (
        f"Features of {len(rows['labels'])} of {rows['of']:,} rows are stored in this page for display; all rows enter every"
        " number."
    )
    shown = (
        table(headings.ROWS_SHOWN, headings.ROWS_HEAD, body, class_="rows")
        if body
        else tag("p", headings.NO_ROW, class_="quiet")
    )
    return section(
        "rows",
        headings.ROWS,
        *(tag("p", f"⚠ {doubt}", class_="doubt") for doubt in rows["doubts"]),
        tag("div", shown, id="rows-shown"),
        tag("p", stored, class_="quiet", id="rows-note"),
        lead=headings.REAL_ROWS,
    )


def _after(change: Change) -> list[Any]:
    """What a feature becomes, marked, and what makes that doubtful."""
    doubt = tag("span", f" {change.doubt}", class_="doubt") if change.doubt else None
    return [tag("mark", change.after), doubt]


def _whole(rows: Mapping[str, Any], top: Mapping[str, Any]) -> Markup:
    """All features of a row, before and after, the changed ones marked."""
    changed = {each.feature: each for each in changes_of(rows, top)}
    lines = []
    for name, value, holds in zip(rows["columns"], rows["before"][top["stored"]], rows["holds"], strict=True):
        now = cell(value, holds)
        lines.append((name, changed[name].before, _after(changed[name])) if name in changed else (name, now, now))
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
        headings.FEATURES,
        tag("p", badge(INTERRUPTED), f" {headings.STOPPED}") if told["interrupted"] else None,
        figure(chart, f"{headings.SHORT_BARS} {told_limit(told)}"),
        table(f"The {len(rows)} most sensitive of {told['of']}", head, badged(rows)),
        lead=f"What it takes if only one feature may move, for each of them, at the threshold {threshold}.",
    )


def comparison_section(summary: Mapping[str, Any]) -> Markup | None:
    """Models side by side."""
    told = summary["comparison"]
    if told is None:
        return None
    head, rows = told_models(told)
    chart = bar_chart(told["rows"], "model", math.inf, "Stability of each model")
    return section(
        "models",
        headings.MODELS,
        figure(chart, headings.LONG_BARS),
        table(headings.BY_VALUE, head, badged(rows)),
        table(headings.DIFFERENCES, *told_differences(told)),
        lead=headings.SAME_QUESTION,
    )


def limits_section(summary: Mapping[str, Any]) -> Markup:
    """What the number does not say."""
    return section("limits", headings.LIMITS, tag("ul", [tag("li", limit) for limit in summary["limits"]]))


def manifest_section(summary: Mapping[str, Any]) -> Markup:
    """What the report was made from."""
    return section(
        "manifest",
        headings.MANIFEST,
        table(headings.MADE_FROM, headings.WHAT, told_manifest(summary["manifest"]), left=2),
    )
