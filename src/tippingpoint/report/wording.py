"""Words that several sections share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tippingpoint.report.badges import EXACT, MEANING, NOT_FOUND
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


def stability_form(value: float, standing: str) -> str:
    """A stability; the infinity sign only if it is proved."""
    return NOT_FOUND if math.isinf(value) and standing != EXACT else number(value)


def not_found_legend(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """A sentence that explains "not found", if a row of a table says so."""
    there = any(stability_form(row["value"], row["standing"]) == NOT_FOUND for row in rows)
    return [f"“{NOT_FOUND}” means: {MEANING[NOT_FOUND]}."] if there else []
