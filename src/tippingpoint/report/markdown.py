"""A summary as Markdown: what the page says, without pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tippingpoint.report.markdown_text import text
from tippingpoint.report.sections import SECTIONS
from tippingpoint.report.sections.manifest import about


def render_markdown(summary: Mapping[str, Any]) -> str:
    """The summary as Markdown."""
    blocks = [f"# {text(summary['title'])}", *(f"**{name}:** {text(value)}" for name, value in about(summary))]
    for section in SECTIONS:
        blocks += section.render_markdown(summary)
    return "\n\n".join(blocks) + "\n"
