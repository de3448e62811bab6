"""`tippingpoint demo`: the whole idea on real data, in a few seconds."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from tippingpoint.api.features import feature_stability
from tippingpoint.api.stability import profile
from tippingpoint.cli.outputs import check_outputs, how_to_open, rendered_report
from tippingpoint.cli.parsing import command, seed
from tippingpoint.cli.provenance import provenance
from tippingpoint.cli.report import REPORT
from tippingpoint.errors import InputError
from tippingpoint.results.stability import StabilityResult
from tippingpoint.visible import visible
from tippingpoint.writing import write_file

EPILOG = """examples:
  tippingpoint demo
  tippingpoint demo --seed 1 --report demo.md
"""

MAX_SHOWN = 5
"""Rows of the sensitive distribution, and features, that are shown."""

MAX_MOVERS = 3
"""Further rows shown where none of the heaviest moves."""

NAMED_MOVES = 2
"""Features named for each row: those that moved most, in standard deviations."""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(commands, "demo", "a real model on real data, evaluated on the spot", EPILOG)
    parser.add_argument("--seed", type=seed, default=0, help="how the data are split; default 0")
    parser.add_argument("--report", metavar="FILE", help=f"where the report goes (.html, .md or .json); default {REPORT}")
    parser.add_argument("--no-report", action="store_true", help="leave no file behind")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Train, evaluate under two losses, show who is sensitive, and to which measurements."""
    from rich.console import Console
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from tippingpoint.datasets import breast_cancer

    if options.no_report and options.report is not None:
        raise InputError(f"--report {options.report} and --no-report exclude each other; leave one out.")
    check_outputs(options)
    console = Console(file=options.answer, highlight=False)
    x, y = breast_cancer()
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.5, random_state=options.seed)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(x_train, y_train)
    console.print("[bold]How much must the data change before this model breaks?[/bold]")
    console.print(
        f"A logistic regression tells malignant from benign tumours; it was trained on {len(x_train)} of them and is"
        f" evaluated on {len(x_test)} others, {x.shape[1]} measurements each, in standard deviations.\n"
    )
    questions = (
        ("zero_one", 0.25, "when does one answer in four become wrong?"),
        ("logistic", math.log(2.0), "when are its probabilities worth no more than a coin's (log 2)?"),
    )
    results = {}
    for loss, risk, question in questions:
        console.rule(f"[bold]{loss}[/bold]: {question}", align="left")
        result = profile(model, x_test, y_test, loss=loss, scale="std").stability(risk, theta1=1.0, theta2=0.25)
        results[loss] = result
        console.print(str(result), markup=False, soft_wrap=True)
        _show_heaviest(console, result, x_test)
    console.rule("[bold]features[/bold]: and if only one measurement may move?", align="left")
    ranked = feature_stability(model, x_test, y_test, 0.25, scale="std", theta1=1.0, theta2=0.25)
    console.print(str(ranked.top(MAX_SHOWN)), markup=False, soft_wrap=True)
    console.print(str(ranked.advice()), markup=False, soft_wrap=True)
    console.print()
    if not options.no_report:
        path = options.report or REPORT
        origin = {"model": "logistic regression", "data": "breast cancer, Wisconsin", **provenance(options)}
        write_file(Path(path), rendered_report(path, results["zero_one"], features=ranked, **origin))
        console.print(f"The report is in {visible(path)}. {how_to_open(path)}\n", markup=False, soft_wrap=True)
    console.print("Next: the README's ten lines on your own model, or `tippingpoint evaluate --help`.", markup=False)


def _show_heaviest(console: Any, result: StabilityResult, x: Any) -> None:
    from rich.table import Table

    ranked = result.sensitive.sort_values(["weight", "share"], ascending=False, kind="stable").drop_duplicates("row")
    shown, movers = ranked.head(MAX_SHOWN), ranked.nlargest(MAX_MOVERS, "cost")
    title = f"the {MAX_SHOWN} heaviest rows of the sensitive distribution"
    if not (shown["cost"] > 0).any():
        shown, title = _concatenated(shown, movers), f"{title}, and the {len(movers)} that move farthest"
    table = Table(title=title, title_justify="left")
    for name in ("row", "weight", "loss now", "loss then", "cost"):
        table.add_column(name, justify="right")
    table.add_column("moved most")
    for _, atom in shown.iterrows():
        now = x.loc[int(atom["row"])]
        moves = ((atom[x.columns] - now) / x.std(ddof=0)).astype(float)
        most = moves.abs().nlargest(NAMED_MOVES)
        named = ", ".join(f"{column} {moves[column]:+.2g} sd" for column in most[most > 0].index)
        numbers = (f"{int(atom['row'])}", *(f"{atom[c]:.3g}" for c in ("weight", "loss_before", "loss", "cost")))
        table.add_row(*numbers, named or "stays: reweighted only")
    console.print(table)
    console.print()


def _concatenated(first: Any, second: Any) -> Any:
    import pandas as pd

    return pd.concat([first, second])
