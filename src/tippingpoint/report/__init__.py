"""Reports: one page of HTML, Markdown or JSON, made from a summary in which every number and word stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tippingpoint.report.gates import Gate
from tippingpoint.report.markdown import render_markdown
from tippingpoint.report.page import render_page
from tippingpoint.report.storing import render_json

__all__ = ["RENDERINGS", "Gate", "render_json", "render_markdown", "render_page"]

RENDERINGS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    ".html": render_page,
    ".md": render_markdown,
    ".json": render_json,
}
"""By suffix: who writes a summary."""
