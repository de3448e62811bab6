"""A summary as JSON: on its own, or inside a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tippingpoint.json_numbers import write_json

ESCAPES = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""Characters that could end a script or start a tag, and how JSON can also write them."""


def render_json(summary: Mapping[str, Any]) -> str:
    """The whole summary."""
    return write_json(summary, indent=1) + "\n"


def island(value: Any) -> str:
    """JSON that is safe inside a page, whatever the strings in it hold."""
    text = write_json(value, compact=True)
    for character, escaped in ESCAPES.items():
        text = text.replace(character, escaped)
    return text
