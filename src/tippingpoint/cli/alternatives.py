"""Tables of alternatives that a command is about, instead of models on data."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from tippingpoint.api.profiles import Profile
from tippingpoint.api.settings import OF_ALL
from tippingpoint.api.tables import profile_table
from tippingpoint.cli import options as shared
from tippingpoint.cli.dialects import dialect
from tippingpoint.cli.inputs import named
from tippingpoint.cli.lines import OF_TABLES, naming_lines
from tippingpoint.cli.parsing import refuse
from tippingpoint.cli.tables import read_table
from tippingpoint.errors import InputError

TABLE_FILES = """\
runs.csv has one line an alternative, with columns sample, loss, cost (the line of cost 0 is the sample as it is), and
optionally variant (its name), repeat (which run of it), weight; an empty loss is an outcome that is missing.
"""
"""What `--table` may be, below the examples."""

UNNAMED = "table"
"""What a table is called that nobody names."""


@dataclass(frozen=True)
class Tables:
    """Profiles of tables of alternatives.

    Attributes
    ----------
    profiles
        By the name of a group or of a file; the first is the reference.
    path
        Where the first comes from.
    grouped
        Whether they have names that a user knows.
    """

    profiles: dict[str, Profile]
    path: str
    grouped: bool

    @property
    def name(self) -> str | None:
        """What the first is called, where a user knows it by that."""
        return next(iter(self.profiles)) if self.grouped else None

    @property
    def first(self) -> Profile:
        """The only one, or the reference."""
        return next(iter(self.profiles.values()))


def read_tables(options: argparse.Namespace) -> Tables:
    """The tables that the options name: one, one in several groups, or several."""
    of_models = (*shared.LOADING, *shared.search_options(), *OF_ALL)
    refuse(options, "--table", "data", "target", "loss", "scale", "frozen", "space", *of_models)
    given: list[str] = options.table if isinstance(options.table, list) else [options.table]
    by = getattr(options, "by", None)
    if len(given) > 1:
        refuse(options, "several --table", "by")
        paths = named(given, "--table")
        return Tables(
            {name: _profiled(options, path) for name, path in paths.items()}, next(iter(paths.values())), grouped=True
        )
    path = given[0]
    if by is None:
        return Tables({UNNAMED: _profiled(options, path)}, path, grouped=False)
    profiles = _profiled(options, path, by=by)
    return Tables(profiles, path, grouped=True)


def several_tables(options: argparse.Namespace) -> Tables:
    """The same where one would be too few."""
    tables = read_tables(options)
    if len(tables.profiles) > 1:
        return tables
    if tables.grouped:
        raise InputError(f"--by {options.by}: all lines of {tables.path} have the same, {tables.name!r}; nothing to compare.")
    raise InputError(
        f"--table {tables.path} is alone; say which column tells the runs in it apart, as --by model, or give another --table."
    )


def refuse_columns(options: argparse.Namespace) -> None:
    """Options of tables mean nothing where there is none."""
    refuse(options, "--linear" if getattr(options, "linear", None) else "--model", *shared.TABLES)


def _profiled(options: argparse.Namespace, path: str, **grouping: Any) -> Any:
    columns = {role: getattr(options, f"{role}_column") or role for role in shared.ROLES}
    columns |= {role: getattr(options, role) for role in shared.KEYS if getattr(options, role) is not None}
    grouping |= {} if options.missing is None else {"missing": options.missing}
    written = dialect(options)
    frame = read_table(path, written)
    with naming_lines(path, written, OF_TABLES):
        return profile_table(frame, weight=options.weight, **columns, **grouping)
