"""The one set of options: what each is called, what it means, and in which group a command shows it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from tippingpoint.api.prices import BUDGET
from tippingpoint.cli.dialects import encoding_named, separator_named
from tippingpoint.cli.parsing import Parser, count, missing_rule, number, numbers, seed, words
from tippingpoint.core.divergences import divergence_choices
from tippingpoint.families.options import CommandLine, Kind
from tippingpoint.families.registry import FAMILIES
from tippingpoint.files.base import RISK
from tippingpoint.space.scaling import SCALES

KINDS: dict[Kind, Callable[[str], Any]] = {"text": str, "number": number, "count": count, "seed": seed}
"""Who reads an option of a family."""

LOADING = ("classes", "state", "trust")
"""Options of model files."""

ROLES = ("sample", "loss", "cost")
"""Columns that every table of alternatives has."""

KEYS = ("variant", "repeat", "group")
"""Further columns of tables of alternatives, which need not be there."""

TABLES = (*(f"{role}_column" for role in ROLES), *KEYS, "missing", "by", "common")
"""Options of tables of alternatives."""

THREADS = "threads that work at once, of any model; default all cores, as far as OMP_NUM_THREADS allows; numbers stay the same"
"""What `--threads` is for."""

MODEL_FILES = """model files: skops, XGBoost (JSON, UBJ), LightGBM (text), ONNX, torch.export, a linear model as JSON
({"coef": [...], "intercept": 0.1, "features": [...], "classes": [...]}; the last two may be left out), or
module:factory, a function of yours that returns the model.
What a file holds decides; an ending that promises something else is an error.
"""
"""What `--model` may be, below the examples."""

CODES = (
    "exit codes: 0 fine, 1 the gate (--fail-below) failed, 2 bad input, 3 a fault of ours, 130 interrupted (no gate\n"
    "passes then), 141 nobody reads the output.\n"
)


def add_model(parser: Parser, *, several: bool = False, table: bool = True, linear: bool = False) -> None:
    """What to evaluate: the model and how its file may be loaded, or a table of alternatives instead."""
    group = parser.add_argument_group("what to evaluate")
    source: Any = group.add_mutually_exclusive_group(required=True) if table else group
    if table:
        source.add_argument(
            "--table",
            metavar="NAME=FILE" if several else "FILE",
            action="append" if several else "store",
            help=f"alternatives, one a line (CSV or Parquet); no model is needed{'; repeat it for each' if several else ''}",
        )
    if linear:
        source.add_argument("--linear", metavar="FILE", help="the same as --model, for a linear model as JSON")
    which = "a model, as name=FILE or name=module:factory; the first is the reference" if several else "the model"
    source.add_argument(
        "--model",
        metavar="NAME=FILE" if several else "FILE",
        action="append",
        required=not table,
        help=f"{which}{'; repeat it for each' if several else ''} (see below for the kinds of files)",
    )
    group.add_argument(
        "--classes", metavar="A,B,...", type=words, help="labels in the order of the outputs of a model without any"
    )
    group.add_argument(
        "--state",
        metavar="NAME=FILE" if several else "FILE",
        action="append",
        help="weights for module:factory, loaded as weights only",
    )
    group.add_argument(
        "--trust",
        metavar="TYPE,...",
        type=words,
        nargs="?",
        const=True,
        help="trust whoever wrote the file, which pickles (joblib's too) and programs of torch.export need:"
        f" {RISK}. Of a skops file, name the types to trust",
    )
    group.add_argument("--trust-pickle", dest="trust", action="store_const", const=True, help="the same as --trust alone")


class OneOrMore(argparse.Action):
    """What is given once is itself; several are a list."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, values[0] if len(values) == 1 else values)


def add_data(parser: Parser, *, parts: bool = False, windows: bool = False) -> None:
    """On which data, and what of them may move.

    They may be in several files, here or on a cluster (`parts`), or a reference and files of what came after it (`windows`).
    """
    group = parser.add_argument_group("on which data")
    kinds = "CSV or Parquet; several Parquet files, a directory or a 'pattern' of them: in parts" if parts else "CSV or Parquet"
    if windows:
        group.add_argument(
            "--reference", "--data", metavar="FILE", required=True, help="rows to compare with, with labels (CSV or Parquet)"
        )
        add_windows(group, required=True)
    else:
        group.add_argument("--data", metavar="FILE", nargs="+", action=OneOrMore, help=f"evaluation data ({kinds})")
    group.add_argument(
        "--sep", metavar="CHAR", type=separator_named, help="between cells of a CSV file; , ; and tab are mostly recognised"
    )
    group.add_argument("--decimal", choices=(".", ","), help="how a CSV file writes decimals; . unless it is clearly ,")
    group.add_argument("--encoding", metavar="NAME", type=encoding_named, help="of a CSV file, as latin-1; default utf-8")
    group.add_argument("--target", metavar="COLUMN", help="column with the labels or targets")
    group.add_argument("--weight", metavar="COLUMN", help="column with sample weights")
    group.add_argument("--loss", metavar="NAME", help="what to judge by, as error, log_loss, mse, mae, pinball:0.9")
    group.add_argument(
        "--space",
        metavar="FILE",
        help="what may move, how, at what price (TOML: the arguments of Space); 'infer' reads it off the data",
    )
    group.add_argument("--frozen", metavar="COLUMN", action="append", help="a feature that may not move; may be repeated")
    group.add_argument("--scale", choices=SCALES, help="unit of moves: as given, or each column's own spread")


def add_windows(group: argparse._ArgumentGroup, *, required: bool = False) -> None:
    """Files of what came after the data."""
    group.add_argument(
        "--current",
        metavar="NAME=FILE",
        action="append",
        required=required,
        help="rows that came after, as FILE or NAME=FILE; repeat it for several windows",
    )


def add_columns(parser: Parser, *, by: bool = True, common: bool = False) -> None:
    """The columns of a table of alternatives, and how several are paired."""
    group = parser.add_argument_group("of a table of alternatives")
    for role in ROLES:
        group.add_argument(f"--{role}-column", metavar="COLUMN", help=f"column of --table with the {role} (default: {role})")
    group.add_argument("--variant", metavar="COLUMN", help="column that names the alternatives of a sample (default: variant)")
    group.add_argument(
        "--repeat", metavar="COLUMN", help="column that counts runs of an alternative (default: repeat, if there is one)"
    )
    group.add_argument(
        "--group", metavar="COLUMN", help="what samples have in common, as a document; errors are of groups then"
    )
    group.add_argument(
        "--missing",
        metavar="RULE",
        type=missing_rule,
        help="empty losses: bounds (default: any loss, so the number is bounded), wrong, drop, a loss, or LEAST,LARGEST",
    )
    if by:
        group.add_argument("--by", metavar="COLUMN", help="column that tells several runs in one table apart, as model")
    if common:
        group.add_argument("--common", action="store_true", help="leave out samples that some of them lack; else an error")


def add_question(parser: Parser, *, risk: bool = True, sweep: bool = False) -> argparse._ArgumentGroup:
    """What to ask: the threshold, the prices (where they may be swept, one or several of each), the divergence."""
    group = parser.add_argument_group("what to ask")
    group.add_argument("--risk", metavar="LOSS", type=number, required=risk, help="the threshold: a mean loss, as 0.4")
    return add_prices(parser, group, sweep=sweep)


def add_prices(parser: Parser, group: argparse._ArgumentGroup | None = None, *, sweep: bool = False) -> argparse._ArgumentGroup:
    """The prices and the divergence of a question, in a group of their own where none is given."""
    *others, last = divergence_choices()
    group = parser.add_argument_group("what to ask") if group is None else group
    group.add_argument(
        "--mix", metavar="SHARE", type=number, help="dial from reweighting only (0) to moving only (1); default 0.5"
    )
    group.add_argument("--budget", metavar="SUM", type=number, help=f"1/theta1 + 1/theta2 along the dial; default {BUDGET:g}")
    one: dict[str, Any] = {"metavar": "A,B,...", "type": numbers} if sweep else {"metavar": "PRICE", "type": number}
    several = "; several: a curve over it" if sweep else ""
    group.add_argument("--theta1", **one, help=f"price of moving; inf forbids it{several}")
    group.add_argument("--theta2", **one, help=f"price of reweighting; inf forbids it{several}")
    group.add_argument("--divergence", metavar="NAME", default="kl", help=f"{', '.join(others)} or {last}; default kl")
    return group


def search_options() -> dict[str, CommandLine]:
    """Options of families, by the names that the front door knows them by; what several families have comes last."""
    offers = [family.options.offered() for family in FAMILIES]
    every = {name: option for offered in reversed(offers) for name, option in offered.items()}  # the first family's words
    order = [name for offered in offers for name in offered]
    own = [name for name in order if order.count(name) == 1]
    return {name: every[name] for name in (*own, *order)}


def add_search(parser: Parser) -> None:
    """How to search, where a model is searched."""
    *others, last = (family.name for family in FAMILIES if family.options.offered())
    names = f"{', '.join(others)} and {last}" if others else last
    group = parser.add_argument_group(f"how to search ({names} only)")
    for name, option in search_options().items():
        group.add_argument(
            f"--{name.replace('_', '-')}",
            metavar=option.metavar,
            type=KINDS[option.kind],
            choices=option.choices,
            help=option.help,
        )


def add_work(parser: Parser, *, parts: bool = False) -> None:
    """Who works; `parts`, whether data in parts may go to a cluster."""
    group = parser.add_argument_group("who works")
    group.add_argument("--threads", metavar="COUNT", type=count, help=THREADS)
    if not parts:
        return
    group.add_argument(
        "--workers",
        metavar="COUNT",
        type=count,
        help="start so many processes of Dask on this machine, for as long as the command runs",
    )
    group.add_argument("--cluster", metavar="ADDRESS", help="a Dask cluster that runs, as tcp://10.0.0.1:8786")
    group.add_argument(
        "--memory",
        metavar="SIZE",
        help="memory for what is kept of data in parts, of all workers together, such as '2 GB'; the rest is read again at"
        " every pass (default: half of what is free; all, with workers)",
    )


def add_gate(parser: Parser, *, several: bool = False) -> None:
    """A gate for continuous integration."""
    group = parser.add_argument_group("a gate")
    group.add_argument(
        "--fail-below", metavar="STABILITY", type=number, help="exit with code 1 where the stability is below this"
    )
    group.add_argument("--on", choices=("lower", "value"), help="what of it: its certified lower bound (default), or its value")
    if several:
        group.add_argument("--gate-model", metavar="NAME", help="only this model has to pass; default all")


def add_outputs(parser: Parser, *, report: bool = True, sensitive: bool = False) -> None:
    """What to write, and where options come from."""
    group = parser.add_argument_group("what to write")
    group.add_argument("--json", metavar="FILE", help="the result as JSON; - prints it instead of the text")
    if report:
        group.add_argument("--report", metavar="FILE", help="a report to read or to send: .html, .md or .json")
    if sensitive:
        group.add_argument("--sensitive", metavar="FILE", help="the sensitive distribution as CSV; the column mass sums to one")
    group.add_argument("--quiet", action="store_true", help="print no result and no progress")
    group.add_argument(
        "--config", metavar="FILE", help="options in a TOML file, by their long names; those given here take precedence"
    )
