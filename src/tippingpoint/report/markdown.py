"""The Markdown twin of the page: the same numbers, without pictures."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tippingpoint.report import headings
from tippingpoint.report.badges import MEANING
from tippingpoint.report.moving import Change, told_changes
from tippingpoint.report.telling import (
    KNOWN,
    risk_form,
    told_certainty,
    told_differences,
    told_facts,
    told_features,
    told_header,
    told_limit,
    told_manifest,
    told_models,
    told_move,
    told_population,
    told_yardsticks,
)
from tippingpoint.text import number, percent
from tippingpoint.visible import visible

SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$])")
"""Characters that Markdown or HTML would read as more than themselves."""

OPENING = re.compile(r"^([#+=-]|\d+(?=[.)](\s|$)))")
"""How a block begins that is more than a paragraph: a heading, a list, a rule; what else begins one is special anywhere."""

SWEPT = 2
"""Every so many settings of a curve are listed."""


def render_markdown(summary: Mapping[str, Any]) -> str:
    """The summary as Markdown."""
    parts = [
        f"# {_text(summary['title'])}",
        *[f"**{name}:** {_text(value)}" for name, value in told_header(summary)],
        *_answer(summary),
        *_sweeps(summary),
        *_population(summary),
        *_rows(summary),
        *_others(summary),
        f"## {headings.LIMITS}",
        "\n".join(f"- {_paragraph(limit)}" for limit in summary["limits"]),
        f"## {headings.MANIFEST}",
        _table(headings.WHAT, told_manifest(summary["manifest"])),
    ]
    return "\n\n".join(parts) + "\n"


def _answer(summary: Mapping[str, Any]) -> list[str]:
    result, words, form = summary["result"], summary["words"], risk_form(summary["result"])
    facts = [
        *([name, value, known] for name, value, known in told_facts(summary)),
        ["At least", number(result["lower"], 10), ""],
        ["At most", number(result["upper"], 10), ""],
        ["Standard error", number(result["standard_error"], 2), ""],
        ["Rows that move", percent(result["moved_share"]), ""],
        ["Typical move", f"{number(result['root_mean_square_move'])} {result['unit']}", ""],
        ["Rows left, in effect", percent(result["effective_share"]), ""],
        ["KL divergence (nats)", number(result["nats"]), ""],
        ["Rise by moving", form(result["corruption_excess"]), ""],
        ["Rise by reweighting", form(result["reweighting_excess"]), ""],
    ]
    held = [[each["name"], number(each["value"]), each["standing"]] for each in told_yardsticks(summary)]
    against = [f"{headings.MEANING} {words['equivalents']}", words["noise"]]
    return [
        f"## {headings.ANSWER}",
        _paragraph(words["sentence"]),
        _table(["what", "value", KNOWN], facts),
        *(f"**{name}** {_text(told)}" for name, told in told_certainty(summary)),
        f"“{summary['standing']}” means: {_text(MEANING[summary['standing']])}.",
        f"## {headings.YARDSTICKS}",
        *(_paragraph(each) for each in against if each),
        f"{headings.HELD_AGAINST}:",
        _table(["change", "costs", KNOWN], held),
    ]


def _sweeps(summary: Mapping[str, Any]) -> list[str]:
    form = risk_form(summary["result"])
    parts = [f"## {headings.CURVES}"]
    for sweep, name, written, caption in (
        (summary["curve"], "threshold", form, headings.OVER),
        (summary["tradeoff"], "θ1, θ2", lambda mix: _prices(summary["tradeoff"]["budget"], mix), headings.ALONG),
    ):
        own = summary["result"]["risk"] if sweep["over"] == "risk" else sweep["own"]
        kept = [k for k, at in enumerate(sweep["at"]) if k % SWEPT == 0 or at == own]
        rows = [
            [written(sweep["at"][k]), *(number(sweep[column][k]) for column in ("value", "low", "high")), sweep["standing"]]
            for k in kept
        ]
        parts += [caption, _table([name, "stability", "low (95 %)", "high (95 %)", KNOWN], rows)]
    return parts


def _prices(budget: float, mix: float) -> str:
    """The two prices at a place on the dial."""
    return ", ".join(number(math.inf if part <= 0.0 else 1.0 / (budget * part)) for part in (mix, 1.0 - mix))


def _population(summary: Mapping[str, Any]) -> list[str]:
    head, rules = told_population(summary["population"])
    moves = [[move["feature"], told_move(move), percent(move["share"])] for move in summary["moves"]]
    return [
        f"## {headings.POPULATION}",
        headings.SHIFTED if summary["population"]["of"] == "weights" else headings.MOVED,
        _table(head, rules) if rules else headings.NOBODY,
        *([_table(headings.MOVES_HEAD, moves)] if moves else []),
    ]


def _rows(summary: Mapping[str, Any]) -> list[str]:
    rows, form = summary["rows"], risk_form(summary["result"])
    told = []
    for top in rows["top"]:
        changes, further = told_changes(rows, top)
        said = [*map(_change, changes), *([further] if further else [])]
        told.append(
            [
                rows["labels"][top["stored"]],
                f"{number(top['weight'], 3)}×",
                f"{form(top['loss_before'])} → {form(top['loss'])}",
                number(top["cost"], 3),
                percent(top["adds"]),
                "; ".join(said) or headings.STAYS,
            ]
        )
    return [
        f"## {headings.ROWS}",
        headings.REAL_ROWS,
        *(f"⚠ {_text(doubt)}" for doubt in rows["doubts"]),
        _table(headings.ROWS_HEAD, told) if told else headings.NO_ROW,
    ]


def _change(change: Change) -> str:
    doubt = f" ({change.doubt})" if change.doubt else ""
    return f"{change.feature} {change.before} → {change.after}{doubt}"


def _others(summary: Mapping[str, Any]) -> list[str]:
    parts = []
    ranked, compared = summary["features"], summary["comparison"]
    if ranked is not None:
        parts += [f"## {headings.FEATURES}", *([headings.STOPPED] if ranked["interrupted"] else [])]
        parts += [_table(*told_features(ranked)), *([told_limit(ranked)] if told_limit(ranked) else [])]
    if compared is not None:
        parts += [f"## {headings.MODELS}", headings.SAME_QUESTION, _table(*told_models(compared))]
        parts += [_table(*told_differences(compared))]
    return parts


def _table(head: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    lines = [[_text(cell) for cell in head], ["---"] * len(head), *([_text(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _paragraph(value: Any) -> str:
    """A value that begins a block, as a paragraph and nothing else."""
    text = _text(value)
    opening = OPENING.match(text)
    if opening is None:
        return text
    end = opening.end()
    return f"\\{text}" if not opening[1].isdigit() else f"{text[:end]}\\{text[end:]}"


def _text(value: Any) -> str:
    """A value on one line, as nothing but itself."""
    return SPECIAL.sub(r"\\\1", " ".join(visible(value).split()))
