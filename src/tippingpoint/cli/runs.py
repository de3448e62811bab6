"""`tippingpoint runs`: logs of evaluations, joined into a table of alternatives."""

from __future__ import annotations

import argparse
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tippingpoint.cli.outputs import same_file
from tippingpoint.cli.parsing import command, number
from tippingpoint.cli.streams import print_answer, print_stderr
from tippingpoint.costs import Cost, FormatChanges, Prices, WordEdits
from tippingpoint.errors import InputError
from tippingpoint.foreign import why
from tippingpoint.runs.reading import read_runs
from tippingpoint.runs.runs import Runs
from tippingpoint.visible import csv_text, visible
from tippingpoint.writing import write_file

EPILOG = """examples:
  tippingpoint runs results/ --original arc --out table.csv
  tippingpoint runs original=a.eval polite=b.eval terse=c.eval --out table.csv
  tippingpoint runs answers.csv --column sample=id --metric correct --price polite=0.2 --out table.csv
  tippingpoint evaluate --table table.csv --risk 0.4

A log is a sample file of lm-evaluation-harness (samples_*.jsonl), a log of Inspect (.eval, .json), a table (.csv, .jsonl,
.parquet) or a folder of these; VARIANT=LOG says which wording it is, which is otherwise the name of its task.
"""

COSTS: Mapping[str, Cost] = {"words": WordEdits(), "words-squared": WordEdits(squared=True), "formats": FormatChanges()}
"""Costs that need no words of explanation."""

MISSING = ("keep", "wrong", "drop")
ENDINGS = (".csv", ".parquet")


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(commands, "runs", "a table of alternatives from logs of evaluations", EPILOG)
    parser.add_argument("logs", metavar="[VARIANT=]LOG", nargs="+", help="a log, a table, or a folder of logs")
    group = parser.add_argument_group("what is in the logs")
    group.add_argument("--original", metavar="VARIANT", help="the variant that is the sample as it is")
    group.add_argument("--metric", metavar="NAME", help="the metric that makes the loss (default: the first between 0 and 1)")
    direction = group.add_mutually_exclusive_group()
    direction.add_argument("--higher-is-better", action="store_true", default=None, help="the loss is 1 - metric")
    direction.add_argument(
        "--lower-is-better",
        dest="higher_is_better",
        action="store_false",
        help="the loss is the metric itself (default: as the logs say, else 1 - metric)",
    )
    group.add_argument("--filter", metavar="NAME", help="of lm-evaluation-harness, where a file has several")
    group.add_argument("--model", metavar="NAME", help="what the model is called, where the logs do not say")
    group.add_argument(
        "--column",
        metavar="ROLE=NAME",
        action="append",
        help="the column of a table for sample, loss, variant ...; may be repeated",
    )
    group.add_argument("--repeats", action="store_true", help="several logs of one variant and model are repeated runs")
    group.add_argument(
        "--match", choices=("documents", "ids"), default="documents", help="ids: samples are the same where their ids are"
    )
    group.add_argument("--drop-damaged", action="store_true", help="go without a last line that was cut off, and count it")
    priced = parser.add_argument_group("what a variant costs")
    priced.add_argument("--cost", choices=tuple(COSTS), help="by the texts; default words, the share of them that is edited")
    priced.add_argument("--price", metavar="VARIANT=COST", action="append", help="a price instead; may be repeated")
    written = parser.add_argument_group("what to write")
    written.add_argument(
        "--out", metavar="FILE", help="the table: .csv or .parquet; without, only what it would hold is printed"
    )
    written.add_argument(
        "--missing", choices=MISSING, default="keep", help="outcomes that are missing: keep (empty), wrong (loss 1) or drop"
    )
    written.add_argument("--quiet", action="store_true", help="print nothing")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Read, join, write, then say what the table holds and what it does not."""
    logs = _logs(options.logs)
    paths = [path for found in logs.values() for path in found] if isinstance(logs, dict) else logs
    _check_out(options.out, paths)
    runs = read_runs(
        logs,
        original=options.original,
        metric=options.metric,
        cost=_cost(options),
        model=options.model,
        filter=options.filter,
        columns=dict(_pair(text, "--column", "sample=id") for text in options.column or ()),
        repeats=options.repeats,
        match=options.match,
        damaged="drop" if options.drop_damaged else "refuse",
        higher_is_better=options.higher_is_better,
    )
    kept = {"keep": lambda: runs, "wrong": lambda: runs.filled(1.0), "drop": runs.without_missing}[options.missing]()
    if options.out is not None:
        there = Path(options.out).exists()
        write_file(Path(options.out), _written(kept, options.out))
        if there and not options.quiet:
            print_stderr(f"tippingpoint: {options.out} was there, and is replaced.")
    if not options.quiet:
        print_answer(options, str(kept))
        if options.out is not None:
            print_answer(options, f"\nThe table is in {visible(options.out)}.")


def _logs(given: list[str]) -> list[str] | dict[str, list[str]]:
    """Logs alone, or by their variant; a file whose own name has = in it is one."""
    named = [text.partition("=") if not Path(text).exists() else (text, "", "") for text in given]
    if not any(equals for _, equals, _ in named):
        return given
    found: dict[str, list[str]] = {}
    for text, (variant, equals, path) in zip(given, named, strict=True):
        if not (equals and variant and path):
            raise InputError(f"{text}: say of every log which variant it is, as original={text}, or of none.")
        found.setdefault(variant, []).append(path)
    return found


def _cost(options: argparse.Namespace) -> Any:
    if options.price and options.cost:
        raise InputError("--price and --cost both say what a variant costs; give one of them.")
    if not options.price:
        return None if options.cost is None else COSTS[options.cost]
    prices = {}
    for text in options.price:
        variant, price = _pair(text, "--price", "polite=0.2")
        try:
            prices[variant] = number(price)
        except argparse.ArgumentTypeError as error:
            raise InputError(f"--price {text}: {error}; write it as --price {variant}=0.2.") from None
    return Prices(prices)


def _pair(text: str, option: str, example: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=") if option == "--price" else text.partition("=")
    if not (equals and name and value):
        raise InputError(f"{option} {text}: write it as {option} {example}.")
    return name, value


def _check_out(out: str | None, paths: list[str]) -> None:
    if out is None:
        return
    if Path(out).suffix.lower() not in ENDINGS:
        raise InputError(f"--out {out}: a table ends in {', '.join(ENDINGS)}; give it one of these endings.")
    for path in paths:
        if same_file(out, path):
            raise InputError(f"--out {out} would overwrite {path}, which is read; write to another file.")


def _written(runs: Runs, out: str) -> str | bytes:
    if Path(out).suffix.lower() == ".csv":
        return csv_text(runs.table)
    held = io.BytesIO()
    try:
        runs.table.to_parquet(held)
    except ImportError:
        raise InputError(f"--out {out}: Parquet needs pyarrow; pip install 'tippingpoint[parquet]', or write .csv.") from None
    except (ValueError, TypeError, OverflowError) as error:  # as of samples named by numbers and by texts
        raise InputError(f"--out {out}: the table cannot be written as Parquet ({why(error)}); write .csv.") from None
    return held.getvalue()
