"""Changes of rows in words, rounded to what the column holds, with a warning where due; `assets/tables.js` does the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from tippingpoint.report.edits import is_text
from tippingpoint.text import number

MAX_NAMED = 4
"""Changes of a row that are named at once; the others are a click away."""

DIGITS, FURTHER_DIGITS = 4, 2
"""Of a number in a column of which nothing is known; and further ones, where two values would look the same."""

WHOLE_ROUND_OFF = 1e-6
"""Distance from a whole number that is rounding."""

ANY_DOUBLE = Context(prec=400)
"""Digits enough for any number of a computer."""

WARNING = "⚠ "
"""Before what makes a move doubtful."""


@dataclass(frozen=True)
class Change:
    """A feature of a row before and after, and what makes that doubtful; empty where nothing does.

    `edited` is whether both are texts, of which edits are shown.
    """

    feature: str
    before: str
    after: str
    doubt: str
    edited: bool = False


def changes_of(rows: Mapping[str, Any], top: Mapping[str, Any]) -> list[Change]:
    """All changes of a row, the largest first, in standard deviations; a switch counts as one."""
    now = rows["before"][top["stored"]]

    def size(each: Sequence[Any]) -> float:
        j, then = each
        if isinstance(then, str) or isinstance(now[j], str) or now[j] is None or then is None or rows["spread"][j] <= 0.0:
            return 1.0
        return float(abs(then - now[j]) / rows["spread"][j])

    ordered = sorted(top["changes"], key=lambda each: (-size(each), each[0]))
    return [_change(rows, j, now[j], then) for j, then in ordered]


def largest_changes(rows: Mapping[str, Any], top: Mapping[str, Any]) -> tuple[list[Change], str]:
    """The largest changes of a row, and a warning where others of it are doubtful."""
    changes = changes_of(rows, top)
    hidden = sum(bool(each.doubt) for each in changes[MAX_NAMED:])
    return changes[
        :MAX_NAMED
    ], f"⚠ {hidden} further {'change' if hidden == 1 else 'changes'} may be impossible" if hidden else ""


def cell(value: Any, holds: Mapping[str, Any] | None, more: int = 0) -> str:
    """A value of a feature, with the digits that its column has; `more` where they do not tell two values apart."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return value
    if holds is None or holds["decimals"] is None:
        return str(value) if isinstance(value, int) else number(value, (DIGITS if holds is None else holds["digits"]) + more)
    unit = Decimal(1).scaleb(-holds["decimals"])
    rounded = Decimal(value).quantize(unit, ROUND_HALF_UP, ANY_DOUBLE)  # as a browser's toFixed does
    fixed = f"{rounded:f}"
    plain = fixed.rstrip("0").rstrip(".") if "." in fixed else fixed
    return "0" if plain == "-0" else plain


def _change(rows: Mapping[str, Any], j: int, now: Any, then: Any) -> Change:
    holds = rows["holds"][j]
    before, after = cell(now, holds), cell(then, holds)
    numbers = isinstance(now, (int, float)) and isinstance(then, (int, float))
    if before == after and (holds is None or holds["decimals"] is None):
        before, after = cell(now, holds, FURTHER_DIGITS), cell(then, holds, FURTHER_DIGITS)
    if _broken(then, holds):
        after = f"≈{after}"
    elif before == after and numbers:
        after = f"just {'above' if then > now else 'below'} {before}"
    return Change(rows["columns"][j], before, after, _doubt(then, holds), is_text(now, then))


def _broken(then: Any, holds: Mapping[str, Any] | None) -> bool:
    """Whether a value is a fraction where the data hold whole numbers only."""
    return holds is not None and holds["whole"] and isinstance(then, float) and abs(then - round(then)) > WHOLE_ROUND_OFF


def _doubt(then: Any, holds: Mapping[str, Any] | None) -> str:
    if holds is None or not isinstance(then, (int, float)):
        return ""
    doubts = [f"{number(then, 5)}, not a whole number"] if _broken(then, holds) else []
    if not holds["within"][0] <= then <= holds["within"][1]:
        low, high = (cell(end, holds) for end in holds["range"])
        doubts.append(f"outside the data ({low} to {high})")
    return WARNING + "; ".join(doubts) if doubts else ""
