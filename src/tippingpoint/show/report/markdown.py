"""The Markdown twin of the page: the same numbers, without pictures."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tippingpoint.show.report.telling import (
    changes_in_words,
    risk_form,
    told_features,
    told_manifest,
    told_models,
    told_population,
)
from tippingpoint.show.text import number, percent, risk_name
from tippingpoint.show.visible import visible

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
        *[f"**{name}:** {_text(value)}" for name, value in (("Model", summary["model"]), ("Data", summary["data"])) if value],
        *_answer(summary),
        *_sweeps(summary),
        *_population(summary),
        *_rows(summary),
        *_others(summary),
        "## What this does not say",
        "\n".join(f"- {_paragraph(limit)}" for limit in summary["limits"]),
        "## What this was made from",
        _table(["what", "value"], told_manifest(summary["manifest"])),
    ]
    return "\n\n".join(parts) + "\n"


def _answer(summary: Mapping[str, Any]) -> list[str]:
    result, words, form = summary["result"], summary["words"], risk_form(summary["result"])
    facts = [
        [f"{risk_name(result['loss'])} now", form(result["current_risk"])],
        ["threshold", form(result["risk"])],
        ["stability", number(result["value"])],
        ["at least", number(result["lower"], 10)],
        ["at most", number(result["upper"], 10)],
        ["standard error", number(result["standard_error"], 2)],
        ["rows that move", percent(result["moved_share"])],
        ["typical move", f"{number(result['root_mean_square_move'])} {result['unit']}"],
        ["rows left, in effect", percent(result["effective_share"])],
        ["KL divergence (nats)", number(result["nats"])],
        ["rise by moving", form(result["corruption_excess"])],
        ["rise by reweighting", form(result["reweighting_excess"])],
    ]
    costs = f"That costs as much as {' or as '.join(words['equivalents'])}." if words["equivalents"] else ""
    said = [words["sentence"], costs, words["certificate"], words["sampling"], words["prices"]]
    return [*(_paragraph(each) for each in said if each), _table(["what", "value"], facts)]


def _sweeps(summary: Mapping[str, Any]) -> list[str]:
    form = risk_form(summary["result"])
    parts = ["## Other thresholds, other kinds of change"]
    for sweep, name, written in (
        (summary["curve"], "threshold", form),
        (summary["tradeoff"], "dial (0: reweighting only, 1: moving only)", number),
    ):
        own = summary["result"]["risk"] if sweep["over"] == "risk" else sweep["own"]
        kept = [k for k, at in enumerate(sweep["at"]) if k % SWEPT == 0 or at == own]
        rows = [
            [written(sweep["at"][k]), number(sweep["value"][k]), *(number(sweep[end][k]) for end in ("low", "high"))]
            for k in kept
        ]
        parts.append(_table([name, "stability", "low (95 %)", "high (95 %)"], rows))
    return parts


def _population(summary: Mapping[str, Any]) -> list[str]:
    head, rules = told_population(summary["population"])
    parts = ["## Who the sensitive population is"]
    if summary["population"]["of"] == "moves":
        parts.append("At these prices nobody is counted more or less often; rows only move.")
    return [*parts, _table(head, rules) if rules else "No simple group of rows stands out."]


def _rows(summary: Mapping[str, Any]) -> list[str]:
    rows, form = summary["rows"], risk_form(summary["result"])
    told = [
        [
            rows["labels"][top["stored"]],
            f"{number(top['weight'], 3)}×",
            f"{form(top['loss_before'])} → {form(top['loss'])}",
            number(top["cost"], 3),
            percent(top["adds"]),
            "; ".join(f"{name} {now} → {after}" for name, now, after in changes_in_words(rows, top)) or "stays as it is",
        ]
        for top in rows["top"]
    ]
    head = ["row", "counts", "loss now → then", "cost of moving", "of the rise", "what changes most"]
    return ["## The most sensitive rows", _table(head, told) if told else "No row has to change."]


def _others(summary: Mapping[str, Any]) -> list[str]:
    parts = []
    if summary["features"] is not None:
        limit = summary["features"]["limit"]
        parts += ["## Which feature breaks it", _table(*told_features(summary["features"]))]
        parts += [f"Reweighting alone costs {number(limit)}."] if math.isfinite(limit) else []
    if summary["comparison"] is not None:
        head, rows, pairs = told_models(summary["comparison"])
        parts += ["## Models side by side", _table(head, rows)]
        parts.append(_table(["model", "difference", "95 % interval", "in words"], pairs))
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
