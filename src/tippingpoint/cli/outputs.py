"""What commands write: files first, all or none of them, then what a person reads."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tippingpoint.cli.partitions import parquet_among
from tippingpoint.cli.streams import print_answer, print_answer_json, print_stderr
from tippingpoint.errors import InputError
from tippingpoint.json_numbers import write_json
from tippingpoint.report import RENDERINGS
from tippingpoint.results.stability import StabilityResult
from tippingpoint.results.sweeps import Sweep
from tippingpoint.visible import visible
from tippingpoint.writing import write_files

OUTPUT_OPTIONS = ("json", "report", "sensitive")
"""Options that name files to write."""

INPUT_OPTIONS = ("linear", "space", "config", "reference")
"""Options that name files to read."""

NAMED_INPUT_OPTIONS = ("data", "model", "state", "table", "current")
"""Options that may have several values and name a file to read, as FILE or NAME=FILE."""

OPENERS = {"darwin": "open", "win32": "start"}
"""The command that opens a file with whatever shows it, by system; elsewhere it is xdg-open."""

SWEEPS = "tippingpoint.sweeps/1"
"""Name and version of the JSON that the sweeps of several tables are written as."""


def check_outputs(options: argparse.Namespace) -> None:
    """Whether the files to write make sense, before the work begins."""
    given = {name: getattr(options, name, None) for name in OUTPUT_OPTIONS}
    chosen = {name: path for name, path in given.items() if path is not None}
    for name in ("sensitive", "report"):
        if chosen.get(name) == "-":
            as_file = "q.csv" if name == "sensitive" else "report.html"
            raise InputError(f"--{name} - : only --json can be printed; give a file, as --{name} {as_file}.")
    if "report" in chosen and Path(chosen["report"]).suffix.lower() not in RENDERINGS:
        raise InputError(
            f"--report {chosen['report']}: a report ends in {', '.join(RENDERINGS)}; give it one of these endings."
        )
    read = inputs(options)
    for name, path in chosen.items():
        for option, source in read:
            if path != "-" and same_file(path, source):
                raise InputError(f"--{name} {path} would overwrite {option} {source}, which is read; write to another file.")
    taken: dict[str, str] = {}
    for name, path in chosen.items():
        other = taken.setdefault(os.path.realpath(path), name)
        if other != name:
            raise InputError(f"--{other} and --{name} are both {chosen[other]!r}; give each its own file.")


def inputs(options: argparse.Namespace) -> list[tuple[str, str]]:
    """The files that a command reads, each with the option that names it."""
    given = [(f"--{name}", getattr(options, name, None)) for name in INPUT_OPTIONS]
    for name in NAMED_INPUT_OPTIONS:
        values = getattr(options, name, None) or ()
        for text in [values] if isinstance(values, str) else values:
            given += [(f"--{name}", each) for each in (text, text.partition("=")[2])]
    files = [(option, path) for option, path in given if isinstance(path, str) and path]
    return files + [(option, source) for option, path in files for source in _sources(path)]


def _sources(path: str) -> list[str]:
    """Where the code of `module:factory` may be; the files of a directory, or of a pattern."""
    module, colon, _ = path.partition(":")
    place = module.replace(".", "/")
    code = [f"{place}.py", f"{place}/__init__.py"] if colon else []
    return code + parquet_among(path)


def same_file(one: str, other: str) -> bool:
    """Whether two paths lead to one file, through links of either kind."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):  # one of them is not there, or no path at all
        return False


def deliver(
    options: argparse.Namespace,
    text: str,
    stored: str | None,
    *,
    report: str | None = None,
    sensitive: str | None = None,
) -> None:
    """Write the files that were asked for, then print; nothing is written where anything fails before.

    A file that is there is replaced, as by any command with an output option; a line on standard error names it.
    """
    contents: dict[Path, str | bytes] = {}
    if sensitive is not None:
        contents[Path(options.sensitive)] = sensitive
    if stored is not None and options.json not in (None, "-"):
        contents[Path(options.json)] = stored + "\n"
    if report is not None:
        contents[Path(options.report)] = report
    replaced = [path for path in contents if path.exists()]
    write_files(contents)
    if not options.quiet:
        for path in replaced:
            print_stderr(f"tippingpoint: {path} was there, and is replaced.")
    if options.json == "-":
        if stored is not None:
            print_answer_json(options, stored)
    elif not options.quiet:
        print_answer(options, text)
        if report is not None:
            print_answer(options, f"\nThe report is in {visible(options.report)}.")


def wanted(path: str | None, render: Callable[[], str]) -> str | None:
    """What a file is to hold; None where no file is asked for.

    Nor is there anything for whoever does not wait for it at the keyboard: the result is not lost with it.
    """
    if path is None:
        return None
    try:
        return render()
    except KeyboardInterrupt:
        return None


def how_to_open(path: str) -> str:
    """A sentence for below a report that was written."""
    opener = OPENERS.get(sys.platform, "xdg-open")
    return f"Open it in a browser: {opener} {visible(path)}, or {Path(path).resolve().as_uri()}"


def rendered_report(path: str, result: StabilityResult, **parts: Any) -> str:
    """The report of a result, with what else is known, as the ending of the path wants it."""
    return RENDERINGS[Path(path).suffix.lower()](result.report_summary(**parts))


def sweeps_json(sweeps: Mapping[str, Sweep]) -> str:
    """Sweeps of several tables as JSON, by name."""
    stored = {name: {key: value for key, value in sweep.to_dict().items() if key != "schema"} for name, sweep in sweeps.items()}
    return write_json({"schema": SWEEPS, "sweeps": stored}, indent=2)
