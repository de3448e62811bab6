"""Markdown, block by block: whatever a value holds, it is read as nothing but itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tippingpoint.visible import readable

SPECIAL_CHARACTERS = re.compile(r"([\\`*_\[\]<>|~&$])")
"""Characters that Markdown or HTML would read as more than themselves."""

OPENING = re.compile(r"^([#+=-]|\d+(?=[.)](\s|$)))")
"""How a block begins that is more than a paragraph: a heading, a list, a rule; what else begins one is special anywhere."""


class Marked(str):
    """Text that is Markdown already, on one line."""

    __slots__ = ()


def text(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Marked):
        return value
    return SPECIAL_CHARACTERS.sub(r"\\\1", " ".join(readable(value).split()))


def paragraph(value: Any) -> str:
    """A value that begins a block, as a paragraph and nothing else."""
    line = text(value)
    opening = OPENING.match(line)
    if opening is None:
        return line
    end = opening.end()
    return f"\\{line}" if not opening[1].isdigit() else f"{line[:end]}\\{line[end:]}"


def table(head: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    """A table."""
    lines = [[text(cell) for cell in head], ["---"] * len(head), *([text(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
