"""Rows of a CSV file as an editor numbers its lines: the header is line 1."""

from __future__ import annotations

import argparse
import csv
import io
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from tippingpoint.cli.dialects import SNIFFED_BYTES, Dialect, dialect
from tippingpoint.cli.tables import PARQUET, opened
from tippingpoint.errors import InputError

OF_TABLES = re.compile(r"\btable(?:\['[^']*'\]|\[\"[^\"]*\"\])?\[(\d+)\]")
"""How errors name a line of a table of alternatives: `table[3]`, `table['cost'][3]`."""

OF_DATA = re.compile(r"\bX\[(\d+), |\b(?:y|sample_weight)\[(\d+)\]|\brow (\d+)\b")
"""How errors name a row of evaluation data: `X[3, 'age']`, `y[3]`, `row 3`."""

OF_WEIGHTED = re.compile(r"\bX\[(\d+), |\bsample_weight\[(\d+)\]")
"""The same where rows may be of zero weight: others than these are then counted without them."""

DECIMALS = re.compile(r"such as '[-+]?\d+,\d+'")
"""How an error shows a number with a decimal comma, which was read as text."""


@contextmanager
def naming_lines(path: str | None, dialect: Dialect, notation: re.Pattern[str]) -> Iterator[None]:
    """Put the lines of the file in front of errors about its rows."""
    try:
        yield
    except LocatedError:
        raise
    except InputError as error:
        message = str(error)
        rows = [int(next(filter(None, found.groups()))) for found in notation.finditer(message)] if path is not None else []
        numbers = lines_of(path, dialect, rows) if path is not None and rows else []
        hint = " If it has decimal commas, say --decimal ','." if DECIMALS.search(message) else ""
        if not numbers:
            if not hint:
                raise
            raise InputError(f"{message}{hint}") from error
        where = f"line {numbers[0]}" if len(numbers) == 1 else f"lines {', '.join(map(str, numbers))}"
        raise LocatedError(f"{path}, {where}: {message}{hint}") from error


class LocatedError(InputError):
    """An error whose line has been found: of a file within the files of a command, nobody looks for it in another."""


def data_lines(options: argparse.Namespace) -> AbstractContextManager[None]:
    """The same for the evaluation data of a command, if they are one file; those of `reproduce` are a directory."""
    if not hasattr(options, "sep") or not isinstance(options.data, str):
        return nullcontext()
    return naming_lines(options.data, dialect(options), OF_DATA if options.weight is None else OF_WEIGHTED)


def lines_of(path: str, dialect: Dialect, rows: list[int]) -> list[int]:
    """The lines on which these rows of a CSV file begin; none where that cannot be told, as of a pipe."""
    suffix = Path(path).suffix.lower()
    if suffix in PARQUET or not Path(path).is_file():
        return []
    found: dict[int, int] = {}
    try:
        with opened(path, suffix) as raw:
            seen = dialect.seen(raw.peek(SNIFFED_BYTES))
            text = io.TextIOWrapper(raw, encoding=seen.encoding, newline="")
            reader = csv.reader(text, delimiter=seen.sep or ",")
            row, line = -2, 1  # the header is none of them
            for cells in reader:
                if len(cells) > 1 or (cells and cells[0].strip()):  # as pandas, which skips blank lines
                    row += 1
                    if row in rows:
                        found[row] = line
                if len(found) == len(set(rows)):
                    break
                line = reader.line_num + 1
    except (csv.Error, OSError, EOFError, ValueError):
        return []
    return sorted(found.values())
