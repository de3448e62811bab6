"""How a CSV file is written: its separator, its decimals and its encoding, as the options say or as its beginning shows."""

from __future__ import annotations

import argparse
import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tippingpoint.errors import InputError

COMMA = ","
"""What separates cells where no option says and nothing else is seen."""

SEPARATORS = (COMMA, ";", "\t")
"""What is recognised."""

TAB = "tab"
"""What the separator is called that cannot be seen."""

SEPARATOR_NAMES = {TAB: "\t", "\\t": "\t", "semicolon": ";", "comma": COMMA, "pipe": "|", "space": " "}
"""Separators that are hard to type in a shell, by name."""

SNIFFED_BYTES = 2**16
"""Bytes at the beginning of a file by which its separator is recognised."""

SNIFFED_LINES = 100
"""Lines among these that are looked at."""

ENCODING_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
"""How files begin that say their encoding themselves, as those of spreadsheets do."""

DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+(,\d+)?([eE][-+]?\d+)?\s*")
"""A number that is written with a decimal comma, or without decimals."""

UNAMBIGUOUS = re.compile(r"\s*[-+]?\d+,(\d{1,2}|\d{4,})([eE][-+]?\d+)?\s*")
"""One whose comma cannot be meant to group thousands."""


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written; None where the file is to show it.

    Attributes
    ----------
    sep
        One character between cells.
    decimal
        "." or ",".
    encoding
        As Python knows it.
    quiet
        Whether what was recognised is not to be printed.
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    quiet: bool = False

    @property
    def given(self) -> tuple[str, ...]:
        """The options that say something."""
        return tuple(f"--{name}" for name in ("sep", "decimal", "encoding") if getattr(self, name) is not None)

    def seen(self, beginning: bytes) -> Dialect:
        """The dialect of a file that begins like this, where the options do not say."""
        encoding = self.encoding or next((name for mark, name in ENCODING_MARKS.items() if beginning.startswith(mark)), "utf-8")
        text = codecs.getincrementaldecoder(encoding)("replace").decode(beginning)
        sep = self.sep or separator(text)
        if sep == self.decimal:
            raise InputError(f"--decimal {sep} cannot also separate cells; give another --sep, as --sep ';'.")
        return replace(self, sep=sep, encoding=encoding)


UNSPECIFIED = Dialect()
"""Of which the options say nothing."""


def dialect(options: argparse.Namespace) -> Dialect:
    """What the options say of CSV files."""
    return Dialect(options.sep, options.decimal, options.encoding, options.quiet)


def separator(text: str) -> str:
    """What separates the cells of a text: what its first line has alone, or what divides all lines alike; else a comma."""
    whole = text.rpartition("\n")[0] or text  # the last line may be cut off
    rows = {sep: _divided(whole, sep) for sep in SEPARATORS}
    divides = [sep for sep, found in rows.items() if found and len(found[0]) > 1]
    alike = [sep for sep in divides if len({len(row) for row in rows[sep] if row}) == 1]
    for candidates in (divides, alike):
        if len(candidates) == 1:
            return candidates[0]
    return COMMA


def _divided(text: str, sep: str) -> list[list[str]]:
    """The first rows of a text; quoted cells are whole."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=sep):
            if len(rows) == SNIFFED_LINES:
                break
            rows.append(row)
    except csv.Error:  # of what cannot be divided, what could
        pass
    return rows


def with_decimal_commas(frame: Any) -> tuple[Any, Sequence[str]]:
    """The frame with columns of numbers that are written with decimal commas as numbers, and the names of these columns.

    Only where it is clear: all cells of the column are such numbers, no number of the file has a decimal point, and one comma
    at least is not followed by three digits, which could be thousands.
    """
    if any(frame[name].dtype.kind == "f" and (frame[name] % 1 > 0).any() for name in frame.columns):
        return frame, ()
    found = {}
    for name in frame.columns:
        cells = frame[name].dropna()
        if cells.dtype.kind != "O" and not str(cells.dtype).startswith("str"):
            continue
        if len(cells) and cells.map(lambda cell: isinstance(cell, str) and DECIMAL_COMMA.fullmatch(cell) is not None).all():
            found[name] = cells.map(lambda cell: UNAMBIGUOUS.fullmatch(cell) is not None).any()
    if not any(found.values()):
        return frame, ()
    read = {name: frame[name].map(lambda cell: cell.replace(",", "."), na_action="ignore").astype(float) for name in found}
    return frame.assign(**read), tuple(found)


def separator_named(text: str) -> str:
    """What separates cells, as the command line says it: one character, or the name of one."""
    sep = SEPARATOR_NAMES.get(text, text)
    if len(sep) != 1 or sep in '"\r\n':
        raise argparse.ArgumentTypeError(f"{text!r} is not one character, as ';', nor tab")
    return sep


def encoding_named(text: str) -> str:
    """An encoding of text that Python knows."""
    try:
        "".encode(text)
    except (LookupError, UnicodeError, ValueError):
        raise argparse.ArgumentTypeError(f"{text!r} is no encoding of text; utf-8, utf-16, latin-1 and cp1252 are") from None
    return text


def shown(sep: str) -> str:
    """A separator as one would give it."""
    return TAB if sep == SEPARATOR_NAMES[TAB] else f"'{sep}'"
