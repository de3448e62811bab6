"""`tippingpoint reproduce`: the figures of the paper on real data, with a verdict on every claim."""

from __future__ import annotations

import argparse
import os
from typing import Any

from tippingpoint.cli.outputs import same_file
from tippingpoint.cli.parsing import count
from tippingpoint.cli.streams import print_answer
from tippingpoint.errors import InputError
from tippingpoint.reproduce import NAMES
from tippingpoint.visible import visible

EPILOG = """examples:
  tippingpoint reproduce toy-cross-entropy
  tippingpoint reproduce all --data DIR --out reproduction --seeds 10
  tippingpoint reproduce income --data DIR --quick

figures: {figures}

DIR holds the ACS and COVID-19 files; a figure whose files are missing says which, and where to get them. Nothing is downloaded.
Every figure becomes a PNG, an SVG and a CSV of its numbers; claims.csv and claims.md say what holds, manifest.json with what
versions and seeds.
"""

SEEDS, QUICK_SEEDS = 10, 2
"""Draws of the data, in earnest and for a taste."""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "reproduce",
        help="the figures of the paper, on real data, over seeds",
        epilog=EPILOG.format(figures=", ".join(NAMES)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("figures", nargs="*", default=["all"], metavar="FIGURE", help="which; all where none is named")
    parser.add_argument("--data", metavar="DIR", help="directory of the data (or the environment variable TIPPINGPOINT_DATA)")
    parser.add_argument("--out", metavar="DIR", default="reproduction", help="where to write; default ./reproduction")
    parser.add_argument("--seeds", type=count, help=f"draws of the data; default {SEEDS}, with --quick {QUICK_SEEDS}")
    parser.add_argument("--jobs", type=count, help="draws at a time; default one a core")
    parser.add_argument("--quick", action="store_true", help="a minute's taste: fewer rows, seeds and settings")
    parser.add_argument("--redraw", action="store_true", help="only draw and judge anew, from the tables that are in --out")
    parser.add_argument("--quiet", action="store_true", help="no progress bar, and print nothing")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure, draw, judge; print where it is."""
    names = list(NAMES) if "all" in options.figures else options.figures
    for name in names:
        if name not in NAMES:
            raise InputError(f"{name!r} is not a figure of the paper; they are {', '.join(NAMES)}, or all.")
    _check_extras()
    from tippingpoint.reproduce.experiments import Setting
    from tippingpoint.reproduce.running import redraw, reproduce

    data = options.data or os.environ.get("TIPPINGPOINT_DATA")
    if data and same_file(options.out, data):
        raise InputError(f"--out {options.out} is the folder that the data are read from; write to another one.")
    if options.redraw:
        for name in ("data", "seeds", "jobs", "quick"):
            if getattr(options, name):
                raise InputError(f"--{name} has no effect with --redraw, which measures nothing; leave it out.")
        table = redraw(names, options.out)
    else:
        table = reproduce(
            names,
            options.out,
            setting=Setting(data, options.quick),
            seeds=options.seeds or (QUICK_SEEDS if options.quick else SEEDS),
            jobs=options.jobs or os.cpu_count() or 1,
            progress=False if options.quiet else None,
        )
    if not options.quiet:
        _show(options, table)
        print_answer(options, f"\nPictures, numbers and claims are in {visible(options.out)}.")


def _check_extras() -> None:
    from importlib.util import find_spec

    missing = [extra for package, extra in (("torch", "torch"), ("matplotlib", "plot")) if find_spec(package) is None]
    if missing:
        raise InputError(f"the figures need PyTorch and matplotlib; pip install 'tippingpoint[{','.join(missing)}]'.")


def _show(options: argparse.Namespace, table: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table(title="what the paper claims, and what was measured", title_justify="left", show_lines=True)
    for name in ("figure", "claim", "paper", "measured", "verdict"):
        shown.add_column(name)
    for _, row in table.iterrows():
        shown.add_row(*(str(row[name]) for name in ("figure", "claim", "paper", "measured", "verdict")))
    Console(file=options.answer, highlight=False, markup=False).print(shown)
