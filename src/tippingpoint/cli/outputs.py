"""What commands write: files first, all or none of them, then what a person reads."""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tippingpoint.cli.streams import say, say_json
from tippingpoint.comparisons import Comparison
from tippingpoint.errors import InputError
from tippingpoint.results import StabilityResult, Sweep
from tippingpoint.show.report import RENDERINGS
from tippingpoint.show.visible import visible
from tippingpoint.writing import write_files

FILES = ("json", "report", "sensitive")
"""Options that name files to write."""

COMPARISON, SWEEP = "tippingpoint.comparison/1", "tippingpoint.sweep/1"
"""Names and versions of the JSON that comparisons and sweeps are written as."""


def check_outputs(options: argparse.Namespace) -> None:
    """Whether the files to write make sense, before the work begins."""
    given = {name: getattr(options, name, None) for name in FILES}
    chosen = {name: path for name, path in given.items() if path is not None}
    for name in ("sensitive", "report"):
        if chosen.get(name) == "-":
            as_file = "q.csv" if name == "sensitive" else "report.html"
            raise InputError(f"--{name} - : only --json can be printed; give a file, as --{name} {as_file}.")
    if "report" in chosen and Path(chosen["report"]).suffix.lower() not in RENDERINGS:
        raise InputError(
            f"--report {chosen['report']}: a report ends in {', '.join(RENDERINGS)}; give it one of these endings."
        )
    taken: dict[str, str] = {}
    for name, path in chosen.items():
        other = taken.setdefault(os.path.realpath(path), name)
        if other != name:
            raise InputError(f"--{other} and --{name} are both {chosen[other]!r}; give each its own file.")


def deliver(
    options: argparse.Namespace, text: str, stored: str, *, report: str | None = None, sensitive: str | None = None
) -> None:
    """Write the files that were asked for, then print; nothing is written where anything fails before."""
    contents: dict[Path, str | bytes] = {}
    if sensitive is not None:
        contents[Path(options.sensitive)] = sensitive
    if options.json not in (None, "-"):
        contents[Path(options.json)] = stored + "\n"
    if report is not None:
        contents[Path(options.report)] = report
    write_files(contents)
    if options.json == "-":
        say_json(options, stored)
    elif not options.quiet:
        say(options, text)
        if report is not None:
            say(options, f"\nThe report is in {visible(options.report)}.")


def rendered_report(path: str, result: StabilityResult, **parts: Any) -> str:
    """The report of a result, with what else is known, as the ending of the path wants it."""
    return RENDERINGS[Path(path).suffix.lower()](result.report_summary(**parts))


def comparison_json(compared: Comparison) -> str:
    """A comparison as JSON: every result, and the differences."""
    results = {name: result.to_dict() for name, result in compared.results.items()}
    differences = compared.differences().to_dict("records")
    return _dumped({"schema": COMPARISON, "results": results, "differences": [_storable(row) for row in differences]})


def sweep_json(sweep: Sweep) -> str:
    """A sweep as JSON: what varies, its values, and the result at each."""
    results = [result.to_dict() for result in sweep]
    return _dumped({"schema": SWEEP, "over": sweep.over, "at": list(sweep.at), "results": results})


def _storable(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Infinities and NaN as the strings JSON lacks."""
    return {str(k): str(v) if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}


def _dumped(stored: Mapping[str, Any]) -> str:
    return json.dumps(stored, indent=2, allow_nan=False, ensure_ascii=False)
