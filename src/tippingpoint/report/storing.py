"""A summary as JSON: on its own, or inside a page."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

DANGEROUS = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""Characters that could end a script or start a tag, and how JSON can also write them."""


def storable(value: Any) -> Any:
    """The same with infinities and NaN as the strings JSON lacks."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {str(key): storable(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(each) for each in value]
    return value


def render_json(summary: Mapping[str, Any]) -> str:
    """The whole summary."""
    return json.dumps(storable(summary), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def island(value: Any) -> str:
    """JSON that is safe inside a page, whatever the strings in it hold."""
    text = json.dumps(storable(value), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character, escaped in DANGEROUS.items():
        text = text.replace(character, escaped)
    return text
