"""`tippingpoint drift`: how far current data are from a reference, in the units of stability, and what that did to a model."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tippingpoint.api.drift import CURRENT, MAX_WINDOWS, PERMUTATIONS, drift
from tippingpoint.api.windows import PERIODS, REFERENCE, column_and_period, window_names
from tippingpoint.cli import options as shared
from tippingpoint.cli.dialects import dialect
from tippingpoint.cli.gate import FAILED, PASSED
from tippingpoint.cli.inputs import Inputs, named, question_settings, read_inputs
from tippingpoint.cli.lines import OF_DATA, naming_lines
from tippingpoint.cli.outputs import check_outputs, deliver
from tippingpoint.cli.parsing import command, number
from tippingpoint.cli.streams import print_stderr
from tippingpoint.errors import InputError, listed
from tippingpoint.results.drift import DriftResult, DriftSeries

EPILOG = f"""examples:
  tippingpoint drift --model model.json --reference eval.csv --current june.csv --target y --risk 0.4
  tippingpoint drift --model model.json --reference eval.csv --current may=5.csv --current june=6.csv --target y --risk 0.4
  tippingpoint drift --model model.json --reference eval.csv --current later.csv --by region --target y --risk 0.4
  tippingpoint drift --model model.json --reference eval.csv --current later.csv --by date:month --target y --risk 0.4
  tippingpoint drift --config run.toml --reference eval.csv --current june.csv --fail-below-remaining 0.01

A current file without the target column has no labels: only sizes are told then, and no gate passes.
{shared.MODEL_FILES}exit codes: 0 fine, 1 the gate (--fail-below-remaining) failed, 2 bad input, 3 a fault of ours,
130 interrupted.
"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(commands, "drift", "how far current data are from a reference, and what that did to a model", EPILOG)
    shared.add_model(parser, table=False)
    shared.add_data(parser, windows=True)
    question = shared.add_question(parser)
    question.add_argument(
        "--by",
        metavar="COLUMN[:PERIOD]",
        help=f"column of the current file: a window for each value, at most {MAX_WINDOWS}, or for each {', '.join(PERIODS)} of"
        " its dates",
    )
    question.add_argument(
        "--permutations",
        metavar="COUNT",
        type=_whole,
        help=f"for floor and p-value (default: {PERMUTATIONS}, more for several windows)",
    )
    question.add_argument("--no-features", action="store_true", help="do not look at every feature alone")
    question.add_argument(
        "--assume", choices=("calibration",), help="adds the risk to be expected if scores mean what they meant"
    )
    shared.add_search(parser)
    shared.add_work(parser)
    group = parser.add_argument_group("a gate")
    group.add_argument(
        "--fail-below-remaining",
        metavar="STABILITY",
        type=number,
        help="exit with code 1 where the tolerance of the current rows is below this, in any window",
    )
    shared.add_outputs(parser, report=False)
    parser.set_defaults(run=run, data=None)


def run(options: argparse.Namespace) -> int:
    """Measure, write, then judge by the gate."""
    check_outputs(options)
    gate = options.fail_below_remaining
    if gate is not None and (math.isnan(gate) or gate <= 0.0):
        raise InputError(f"--fail-below-remaining {gate:g}: no tolerance is below that; give a positive number.")
    inputs = read_inputs(argparse.Namespace(**{**vars(options), "data": options.reference}))
    found = _measured(
        options,
        inputs,
        options.reference,
        by=options.by,
        permutations=options.permutations,
        features=not options.no_features,
        assume=options.assume,
    )
    deliver(options, str(found), found.to_json())
    results = found.results if isinstance(found, DriftSeries) else {CURRENT: found}
    return PASSED if gate is None else _judged(results, gate, quiet=options.quiet)


def drifts_of(options: argparse.Namespace, inputs: Inputs, reference: str) -> DriftResult | DriftSeries:
    """The drifts of the current files from the data of a command, for its report."""
    return _measured(options, inputs, reference, by=None, features=False)


def _measured(
    options: argparse.Namespace, inputs: Inputs, reference: str, *, by: str | None, **settings: Any
) -> DriftResult | DriftSeries:
    """The drift of every current file from the reference, which is what the inputs hold."""
    paths = _paths(options)
    given = {name: value for name, value in inputs.settings.items() if name != "sample_weight"}
    seed = given.pop("seed", None)
    current, split = _current(options, inputs, paths, by)
    with _naming_files(options, {REFERENCE: reference, **paths}):
        found: DriftResult | DriftSeries = drift(
            inputs.model,
            (inputs.x, inputs.y, inputs.settings["sample_weight"]),
            current,
            risk=options.risk,
            seed=seed or 0,
            by=split,
            **settings,
            **given,
            **question_settings(options),
        )
    return found


def _paths(options: argparse.Namespace) -> dict[str, str]:
    """The current files by name; one alone is called so."""
    if len(options.current) == 1 and "=" not in options.current[0]:
        return {CURRENT: options.current[0]}
    return named(options.current, "--current")


def _current(options: argparse.Namespace, inputs: Inputs, paths: Mapping[str, str], by: str | None) -> tuple[Any, Any]:
    """The windows, and what splits the only one."""
    windows, split = {}, None
    for name, path in paths.items():
        x, y, weight, whole = inputs.window(options, path)
        if y is None and not options.quiet:
            print_stderr(f"tippingpoint: {path} has no column {options.target!r}, so there are no labels: only sizes are told.")
        windows[name] = (x, y, weight)
        if by is not None:
            if len(paths) > 1:
                raise InputError("--by splits one file; give one --current, or leave --by out.")
            column, period = column_and_period(by, list(whole.columns), argument="--by ")
            if column not in whole.columns:
                raise InputError(f"{path} has no column {column!r} for --by; its columns are [{listed(whole.columns)}].")
            split = window_names(whole[column].to_numpy(), period, MAX_WINDOWS, argument="--by ", column=column)
    return (windows if list(paths) != [CURRENT] else windows[CURRENT]), split


@contextmanager
def _naming_files(options: argparse.Namespace, paths: Mapping[str, str]) -> Iterator[None]:
    """Put file and line in front of errors about rows of a window."""
    try:
        yield
    except InputError as error:
        for name, path in paths.items():
            if str(error).startswith(f"{name}: "):
                with naming_lines(path, dialect(options), OF_DATA):
                    raise
        raise


def _judged(results: Mapping[str, DriftResult], gate: float, *, quiet: bool) -> int:
    """The exit code, and a sentence on standard error that says why."""
    for name, result in results.items():
        if result.outcome is None:
            print_stderr(f"gate: failed: without labels of {name!r} nothing is known of the tolerance that is left.")
            return FAILED
    name, worst = min(results.items(), key=lambda item: item[1].remaining)
    whose = "" if len(results) == 1 else f" of {name!r}"
    apart = "" if worst.same_scale else " (not the scale of stability)"
    left = f"measured on the {worst.statistic} in {worst.unit}{apart}, is {worst.remaining:.6g}"
    found = f"the tolerance{whose} of the current rows to {worst.risk:g}, {left}"
    if worst.remaining < gate:
        print_stderr(f"gate: failed: {found}, below {gate:g}.")
        return FAILED
    if not quiet:
        print_stderr(f"gate: passed: {found}, not below {gate:g}.")
    return PASSED


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 0 or more")
    return int(text)
