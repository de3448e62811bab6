"""Reports as people read them: one page of HTML, Markdown, or the plain summary as JSON. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tippingpoint.show.report.markdown import render_markdown
from tippingpoint.show.report.page import render_page
from tippingpoint.show.report.storing import render_json

__all__ = ["RENDERINGS", "render_json", "render_markdown", "render_page"]

RENDERINGS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    ".html": render_page,
    ".md": render_markdown,
    ".json": render_json,
}
"""By suffix: who writes a summary."""
