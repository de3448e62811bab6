"""The most sensitive rows: how much more often each would count, and what would change in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, TypedDict

from tippingpoint.report.changes import (
    DIGITS,
    FURTHER_DIGITS,
    MAX_NAMED,
    WHOLE_ROUND_OFF,
    Change,
    cell,
    changes_of,
    largest_changes,
)
from tippingpoint.report.edits import CONTEXT, MAX_PAIRS, MIN_WORDS, edits_html, edits_markdown
from tippingpoint.report.elements import Markup, tag
from tippingpoint.report.elements import table as html_table
from tippingpoint.report.markdown_text import Marked, table, text
from tippingpoint.report.material import Material
from tippingpoint.report.moves import implausible
from tippingpoint.report.other_settings import distributions_nearby
from tippingpoint.report.section import Section, lead
from tippingpoint.report.sheet import MAX_SHOWN, Rows, TopRow, sheet_of_rows
from tippingpoint.report.wording import risk_form
from tippingpoint.text import number, percent

LEAD = "Real rows of your data: how much more often each would have to count, and what would have to change in it."

TRIED_LEAD = (
    "Samples of your table: how much more often each would have to count, and to which of its alternatives it would go. All of"
    " them were tried, so none is impossible; of texts, what goes is struck through and what comes is underlined."
)
"""The same of a table of alternatives."""

CAPTION = "The rows that add most to the risk"

HEAD = ("row", "counts", "loss now → then", "cost of moving", "of the rise", "what changes most")

WHOLE_HEAD = ("feature", "now", "then")
"""Of all features of a row."""

NO_ROW = "No row has to change."

STAYS = "stays as it is"

SHIFTS = (
    "These rows are inputs of a module. Shown is how far each position of a sequence moves, or an input as a whole, in its own"
    " units; 0 is where it is now."
)
"""Where columns are distances."""

DOUBTS = {
    "outside": "leave the range that “{feature}” and other features have in the data",
    "broken": "get a fraction where the data hold whole numbers only, as in “{feature}”",
}
"""What may be impossible about a moved row."""


class DoubtedRows(Rows):
    """The rows, what is doubtful about how they move, and whether they move to alternatives that were tried."""

    doubts: list[str]
    tried: bool


class RowsPart(TypedDict):
    """The rows that the page holds, and those shown first."""

    rows: DoubtedRows


class RowsSection(Section[RowsPart]):
    """The rows that add most to the risk, before and after, each with its warnings."""

    name = "rows"
    title = "The most sensitive rows"
    script: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {
            "caption": CAPTION,
            "head": HEAD,
            "whole": WHOLE_HEAD,
            "stays": STAYS,
            "shown": MAX_SHOWN,
            "named": MAX_NAMED,
            "digits": DIGITS,
            "further": FURTHER_DIGITS,
            "roundOff": WHOLE_ROUND_OFF,
            "context": CONTEXT,
            "pairs": MAX_PAIRS,
            "words": MIN_WORDS,
        }
    )

    def compute(self, material: Material) -> RowsPart:
        evidence, places = material.evidence, material.places
        distributions = [evidence.distribution, *distributions_nearby(material.problem)]
        rows = sheet_of_rows(evidence, places, material.embedded, distributions, tried=material.tried)
        doubts = [] if material.tried else _doubts(implausible(places))
        return {"rows": {**rows, "doubts": doubts, "tried": material.tried}}

    def html(self, part: RowsPart, result: Mapping[str, Any]) -> Sequence[Any]:
        rows = part["rows"]
        body = []
        for top in rows["top"]:
            row, counts, *numbers = _cells(rows, top, result)
            moved = f"; {percent(top['moved'])} of it moves" if 0.0 < top["moved"] < 1.0 else ""
            changes, further = largest_changes(rows, top)
            words = [
                *(_changed(each) for each in changes),
                tag("span", further, class_="change doubt") if further else None,
            ]
            body.append((row, f"{counts}{moved}", *numbers, [*words, _whole(rows, top)] if top["changes"] else STAYS))
        stored = (
            f"Features of {len(rows['labels'])} of {rows['of']:,} rows are stored in this page for display; all rows enter"
            " every number."
        )
        shown = html_table(CAPTION, HEAD, body, class_="rows") if body else tag("p", NO_ROW, class_="quiet")
        return [
            lead(TRIED_LEAD if rows["tried"] else LEAD),
            *([tag("p", SHIFTS)] if rows.get("shifts") else []),
            *(tag("p", f"⚠ {doubt}", class_="doubt") for doubt in rows["doubts"]),
            tag("div", shown, id="rows-shown"),
            tag("p", stored, class_="quiet", id="rows-note"),
        ]

    def markdown(self, part: RowsPart, result: Mapping[str, Any]) -> Sequence[str]:
        rows = part["rows"]
        body = []
        for top in rows["top"]:
            changes, further = largest_changes(rows, top)
            words = [*map(_line, changes), *([Marked(text(further))] if further else [])]
            body.append([*_cells(rows, top, result), Marked("; ".join(words)) if words else STAYS])
        return [
            TRIED_LEAD if rows["tried"] else LEAD,
            *([SHIFTS] if rows.get("shifts") else []),
            *(f"⚠ {text(doubt)}" for doubt in rows["doubts"]),
            table(HEAD, body) if body else NO_ROW,
        ]


ROWS = RowsSection()


def _doubts(found: Mapping[str, Any]) -> list[str]:
    """How much of what moves may be impossible, and what forbids it."""
    doubts = []
    for kind, words in DOUBTS.items():
        if found[kind]["share"] > 0.0:
            what = words.format(feature=found[kind]["feature"])
            share = percent(found[kind]["share"])
            doubts.append(f"{share} of what is moved would {what}; such rows may be impossible. A Space forbids them.")
    return doubts


def _cells(rows: Rows, top: TopRow, result: Mapping[str, Any]) -> list[str]:
    """All of a row but what changes in it."""
    form = risk_form(result)
    return [
        rows["labels"][top["stored"]],
        f"{number(top['weight'], 3)}×",
        f"{form(top['loss_before'])} → {form(top['loss'])}",
        number(top["cost"], 3),
        percent(top["adds"]),
    ]


def _line(change: Change) -> Marked:
    doubt = f" ({change.doubt})" if change.doubt else ""
    if change.edited:
        return Marked(f"{text(change.feature)}: {edits_markdown(change.before, change.after)}{text(doubt)}")
    return Marked(text(f"{change.feature} {change.before} → {change.after}{doubt}"))


def _changed(change: Change) -> Markup:
    """A change of a row, in one line or as an edited text."""
    if change.edited:
        return tag("span", f"{change.feature}: ", *edits_html(change.before, change.after), class_="change text")
    return tag("span", f"{change.feature} {change.before} → ", *_after(change), class_="change")


def _after(change: Change) -> list[Any]:
    """What a feature becomes, marked, and what makes that doubtful."""
    if change.edited:
        return edits_html(change.before, change.after)
    doubt = tag("span", f" {change.doubt}", class_="doubt") if change.doubt else None
    return [tag("mark", change.after), doubt]


def _whole(rows: Rows, top: TopRow) -> Markup:
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
        html_table(f"Row {label}, now and then", WHOLE_HEAD, lines),
    )
