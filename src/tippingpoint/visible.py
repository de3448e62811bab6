"""Text that comes from users' data, such as names, values and paths: shown as it is, and without power where it is shown.

A column may be called anything. An escape sequence in its name would recolour a terminal or rewrite its lines, an override of
direction would turn the words around it about, a formula would be run by a spreadsheet. What would not be seen is written as
the escape that Python and JSON have for it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from tippingpoint.errors import shortened

HIDDEN_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode's categories of what is not seen: controls, formats (directions, zero widths), half surrogate pairs, separators."""

FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""How a cell begins that spreadsheets run or swallow; the last are the wide forms of the first."""

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""A number, which is harmless whatever its sign."""

NUMERIC = "biufcmM"
"""NumPy's kinds of columns that hold no text."""

LAYOUT = "\n\t"
"""What lines up a text of ours, or is part of a cell; never of a name on a line."""


def visible(value: object, keep: str = "") -> str:
    r"""A value as one line of text in which everything is seen: `a\x1b[2J` for an escape sequence, `\u202e` for an override.

    Parameters
    ----------
    value
        What to show.
    keep
        Characters that stay as they are, as `LAYOUT` of a text of several lines.
    """
    text = str(value)
    if text.isprintable():
        return text
    return "".join(_escape(letter) if letter not in keep and is_hidden(letter) else letter for letter in text)


def readable(value: object) -> str:
    """The same, with overlong names cut off: for people, who would not read them."""
    return shortened(visible(value))


def is_hidden(letter: str) -> bool:
    """Whether a character does something else than to be seen."""
    return unicodedata.category(letter) in HIDDEN_CATEGORIES


def spreadsheet_cell(value: Any) -> Any:
    """A value for a CSV file: text that a spreadsheet would take for a formula has an apostrophe in front of it."""
    if not isinstance(value, str):
        return value
    text = visible(value, keep=LAYOUT)
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def csv_text(frame: Any, **settings: Any) -> str:
    """A pandas frame as CSV that is safe to open in a spreadsheet; `settings` as of `to_csv`."""
    safe = frame.rename(columns=spreadsheet_cell)
    for k, kind in enumerate(safe.dtypes):
        if kind.kind not in NUMERIC:
            safe.isetitem(k, safe.iloc[:, k].astype(object).map(spreadsheet_cell, na_action="ignore"))
    return str(safe.to_csv(index=False, lineterminator="\n", **settings))


def _escape(letter: str) -> str:
    return ascii(letter)[1:-1]
