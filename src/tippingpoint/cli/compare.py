"""`tippingpoint compare`: several models on the same rows, or tables of the same samples, with paired errors."""

from __future__ import annotations

import argparse
from typing import Any

from tippingpoint.api.comparing import compare
from tippingpoint.cli import options as shared
from tippingpoint.cli.alternatives import TABLE_FILES, refuse_columns, several_tables
from tippingpoint.cli.gate import check_gate, check_gated, gate
from tippingpoint.cli.inputs import question_settings, read_inputs
from tippingpoint.cli.outputs import check_outputs, deliver, rendered_report, wanted
from tippingpoint.cli.parsing import command
from tippingpoint.cli.provenance import provenance
from tippingpoint.errors import InputError
from tippingpoint.results.comparisons import Comparison

EPILOG = f"""examples:
  tippingpoint compare --model now=model.json --model next=next.json --data eval.csv --target y --risk 0.4
  tippingpoint compare --config run.toml --model model.json --model next.json --gate-model next --fail-below 0.005
  tippingpoint compare --table runs.csv --by model --risk 0.4
  tippingpoint compare --table now.csv --table next.csv --risk 0.4

{TABLE_FILES}With --by, a column tells several runs in it apart; samples are paired by what they are called.
{shared.MODEL_FILES}The gate judges every model, or the one that is named.
{shared.CODES}"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(
        commands, "compare", "several models on the same data, or tables of the same samples, with paired errors", EPILOG
    )
    shared.add_model(parser, several=True)
    shared.add_data(parser)
    shared.add_columns(parser, common=True)
    shared.add_question(parser)
    shared.add_search(parser)
    shared.add_work(parser)
    shared.add_gate(parser, several=True)
    shared.add_outputs(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare, write, then judge by the gate."""
    check_outputs(options)
    check_gate(options)
    compared, several, parts = _of_models(options) if options.table is None else _of_tables(options)
    complete = len(compared.results) == several
    first = next(iter(compared.results.values()))
    parts.update(provenance(options, parts["model"], compared.results, "model", complete=complete))
    report = wanted(options.report, lambda: rendered_report(options.report, first, comparison=compared, **parts))
    deliver(options, str(compared), compared.to_json(), report=report)
    return gate(options, compared.results, "model", complete=complete)


def _of_models(options: argparse.Namespace) -> tuple[Comparison, int, dict[str, Any]]:
    """The models compared, how many there are, and what a report can tell of where they come from."""
    refuse_columns(options)
    if len(options.model) < 2:
        raise InputError(f"--model {options.model[0]} is alone; give two or more, or evaluate it.")
    inputs = read_inputs(options, several=True)
    check_gated(options, inputs.models)
    compared = compare(inputs.models, inputs.x, inputs.y, options.risk, **inputs.settings, **question_settings(options))
    return compared, len(inputs.models), {"model": inputs.path, "data": options.data}


def _of_tables(options: argparse.Namespace) -> tuple[Comparison, int, dict[str, Any]]:
    """The tables compared, and the same of them."""
    tables = several_tables(options)
    check_gated(options, tables.profiles)
    compared = compare(tables.profiles, risk=options.risk, common=options.common, **question_settings(options))
    return compared, len(tables.profiles), {"model": tables.name, "data": tables.path}
