"""Words that several sections share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tippingpoint.text import level, number

KNOWN = "what is known"
"""Above a column of badges."""

Cells = list[list[str]]
"""The rows of a table in words."""


def risk_form(question: Mapping[str, Any]) -> Callable[[float], str]:
    """How risks of the loss of a question are written."""
    return lambda value: level(value, question["loss"])


def alone(kind: str, price: float) -> str:
    """One kind of change without the other: always with its price, as another price makes another number."""
    return f"{kind} alone (θ{1 if kind == 'moving' else 2} = {number(price)})"
