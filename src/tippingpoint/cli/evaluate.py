"""`tippingpoint evaluate`: the stability of a linear model on a data file, or of a table of alternatives."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from tippingpoint.cli.files import read_linear, read_table, write_whole
from tippingpoint.errors import InputError
from tippingpoint.front import profile
from tippingpoint.prices import BUDGET
from tippingpoint.profiles import Profile
from tippingpoint.results import StabilityResult
from tippingpoint.space import Space
from tippingpoint.tables import profile_table

EPILOG = """examples:
  tippingpoint evaluate --table runs.csv --risk 0.4
  tippingpoint evaluate --linear model.json --data eval.csv --target y --risk 0.4 --theta1 1 --theta2 0.25

runs.csv has one line an alternative, with columns sample, loss, cost (the line of cost 0 is the sample as it is).
model.json is {"coef": [...], "intercept": 0.1, "features": [...], "classes": [...]}; the last two may be left out.
"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "evaluate",
        help="the stability of a model or of a table of alternatives",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_argument_group("what to evaluate")
    source = what.add_mutually_exclusive_group(required=True)
    source.add_argument("--table", metavar="FILE", help="alternatives, one a line (CSV or Parquet)")
    source.add_argument("--linear", metavar="FILE", help="a linear model as JSON")
    what.add_argument("--data", metavar="FILE", help="evaluation data for --linear (CSV or Parquet)")
    what.add_argument("--target", metavar="COLUMN", help="column of --data with the labels or targets")
    what.add_argument("--weight", metavar="COLUMN", help="column with sample weights")
    what.add_argument("--loss", metavar="NAME", help="what to judge by, as zero_one, logistic, squared, pinball:0.9")
    what.add_argument("--scale", choices=("raw", "std"), help="measure moves as given, or in standard deviations")
    what.add_argument(
        "--frozen", metavar="COLUMN", action="append", default=[], help="a feature that may not move; may be repeated"
    )
    for role in ("sample", "loss", "cost"):
        what.add_argument(f"--{role}-column", metavar="COLUMN", help=f"column of --table with the {role} (default: {role})")
    ask = parser.add_argument_group("what to ask")
    ask.add_argument("--risk", type=_number, required=True, help="the threshold: a mean loss, as 0.4")
    ask.add_argument("--mix", type=_number, help="dial from reweighting only (0) to moving only (1); default 0.5")
    ask.add_argument("--budget", type=_number, help=f"1/theta1 + 1/theta2 along the dial; default {BUDGET:g}")
    ask.add_argument("--theta1", type=_number, help="price of moving; inf forbids it")
    ask.add_argument("--theta2", type=_number, help="price of reweighting; inf forbids it")
    ask.add_argument("--divergence", default="kl", help="kl, chi2 or cvar:SHARE; default kl")
    out = parser.add_argument_group("what to write")
    out.add_argument("--json", metavar="FILE", help="the result as JSON; - prints it instead of the text")
    out.add_argument("--sensitive", metavar="FILE", help="the sensitive distribution as CSV")
    out.add_argument("--quiet", action="store_true", help="do not print the result")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Evaluate, then write; nothing is written where anything fails before."""
    if None not in (options.json, options.sensitive) and Path(options.json).resolve() == Path(options.sensitive).resolve():
        raise InputError(f"--json and --sensitive are both {options.json!r}; give each its own file.")
    if options.sensitive == "-":
        raise InputError("--sensitive - : only --json can be printed; give a file, as --sensitive q.csv.")
    result = _ask(_profile(options), options)
    texts = {}
    if options.sensitive is not None:
        texts[options.sensitive] = result.sensitive.to_csv(index=False)
    if options.json not in (None, "-"):
        texts[options.json] = result.to_json() + "\n"
    write_whole(texts)
    if options.json == "-":
        print(result.to_json())
    elif not options.quiet:
        print(result)


def _profile(options: argparse.Namespace) -> Profile:
    if options.table is not None:
        _refuse(options, "--table", "data", "target", "loss", "scale", "frozen")
        columns = {role: getattr(options, f"{role}_column") or role for role in ("sample", "loss", "cost")}
        return profile_table(read_table(options.table), weight=options.weight, **columns)
    _refuse(options, "--linear", "sample_column", "loss_column", "cost_column")
    for needed in ("data", "target"):
        if getattr(options, needed) is None:
            raise InputError(f"--linear needs --{needed}; see tippingpoint evaluate --help.")
    model, features = read_linear(options.linear)
    data = read_table(options.data)
    for column in filter(None, [options.target, options.weight, *(features or [])]):
        if column not in data.columns:
            raise InputError(f"{options.data} has no column {column!r}; its columns are {list(data.columns)!r}.")
    roles = {"--target": options.target, "--weight": options.weight}
    for option, column in roles.items():
        if column is not None and (column in (features or ()) or list(roles.values()).count(column) > 1):
            raise InputError(f"{option} {column} is used twice; the target, the weight and the features are different columns.")
    used = features or [c for c in data.columns if c not in (options.target, options.weight)]
    return profile(
        model,
        data[used],
        data[options.target],
        loss=options.loss,
        sample_weight=data[options.weight] if options.weight else None,
        space=Space(frozen=options.frozen),
        scale=options.scale,
    )


def _ask(profiled: Profile, options: argparse.Namespace) -> StabilityResult:
    return profiled.stability(
        options.risk,
        theta1=options.theta1,
        theta2=options.theta2,
        mix=options.mix,
        budget=options.budget,
        divergence=options.divergence,
    )


def _refuse(options: argparse.Namespace, source: str, *names: str) -> None:
    """An option that would be ignored is an error."""
    for name in names:
        if getattr(options, name):
            raise InputError(f"--{name.replace('_', '-')} has no meaning with {source}; leave it out.")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
