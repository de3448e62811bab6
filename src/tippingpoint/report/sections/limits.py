"""What the number does not say, in this very case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from tippingpoint.report.elements import tag
from tippingpoint.report.markdown_text import paragraph
from tippingpoint.report.material import Material
from tippingpoint.report.section import Section
from tippingpoint.report.sections.rows import ROWS


class LimitsPart(TypedDict):
    """A sentence each."""

    limits: list[str]


class Limits(Section[LimitsPart]):
    """What the number does not say."""

    name = "limits"
    title = "What this does not say"

    def compute(self, material: Material) -> LimitsPart:
        return {"limits": _limits(material)}

    def html(self, part: LimitsPart, result: Mapping[str, Any]) -> Sequence[Any]:
        return [tag("ul", [tag("li", limit) for limit in part["limits"]])]

    def markdown(self, part: LimitsPart, result: Mapping[str, Any]) -> Sequence[str]:
        return ["\n".join(f"- {paragraph(limit)}" for limit in part["limits"])]


LIMITS = Limits()


def _limits(material: Material) -> list[str]:
    result, embedded, rows = material.result, material.embedded, material.part(ROWS)["rows"]
    limits = ["It is a worst case, not a forecast: the cheapest change that reaches the threshold, not the likeliest."]
    if result["unit"] != "cost":
        limits.append("Labels do not change. Only features move, and only how often rows occur is changed.")
    limits.append(
        "The stability is a price, in the units of the two prices above. It compares with others at the same prices only."
    )
    if material.tried:
        limits.append(
            "It is about the alternatives in the table. One that nobody tried is not in it, and could make the number smaller."
        )
    if not result["exact"] and not material.tried:
        limits.append(
            "The changes were searched for, not derived. A cheaper change may exist; the certificate above says what is proved."
        )
    if embedded is None:
        limits.append(
            "There are too many rows for a page to hold, so nothing can be tried out here; ask the profile in Python."
        )
    elif not embedded.exact:
        limits.append(
            f"What is computed in this page uses at most {embedded.places} places a row. At the report's own setting it is the"
            " report's number, elsewhere an upper bound on it."
        )
    stored = len(rows["labels"])
    if stored < rows["of"]:
        limits.append(
            f"For display only, features of {stored:,} of the {rows['of']:,} rows are stored in this page, those"
            " that matter most at several settings. All rows enter every number."
        )
    return [*limits, *(f"{note[:1].upper()}{note[1:]}." for note in result["notes"])]
