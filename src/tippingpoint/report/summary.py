"""The summary step of a report: everything that is computed for it, as one plain dictionary.

HTML, Markdown and JSON are renderings of it; none of them computes. Every section computes its own part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tippingpoint.report.material import Material, Request
from tippingpoint.report.sections import SECTIONS
from tippingpoint.report.sections.manifest import MANIFEST
from tippingpoint.results.evidence import Evidence

SCHEMA = "tippingpoint.report/2"
"""Name and version of the summary, which is also what is written as JSON."""

TITLE = "How much must the data change before this model breaks?"
"""What a report is called where no title is given."""


def summarise(result: Mapping[str, Any], evidence: Evidence, request: Request) -> dict[str, Any]:
    """Everything that a report says, computed once; arguments as of `Material`."""
    material = Material(result, evidence, request)
    summary: dict[str, Any] = {
        "schema": SCHEMA,
        "title": request.title or TITLE,
        "model": material.part(MANIFEST)["manifest"]["model"]["name"],
        "data": request.data,
        "date": request.date,
    }
    # What only the page's script computes with comes last, so that a reader of the JSON meets words and numbers first.
    for section in sorted(SECTIONS, key=lambda each: each.needs_scripts):
        part = material.part(section)
        taken = summary.keys() & part.keys()
        if taken:
            raise KeyError(f"the section {section.name!r} computes {min(taken)!r}, which another one has computed.")
        summary |= part
    return summary
