"""`tippingpoint report`: everything there is to say of a model on one page."""

from __future__ import annotations

import argparse
from typing import Any

from tippingpoint.api.comparing import compare
from tippingpoint.api.reviewing import review
from tippingpoint.api.variations import variation_column, variation_stability
from tippingpoint.cli import options as shared
from tippingpoint.cli.alternatives import TABLE_FILES, read_tables, refuse_columns
from tippingpoint.cli.drift import drifts_of
from tippingpoint.cli.gate import check_gate, gate
from tippingpoint.cli.inputs import question_settings, read_inputs
from tippingpoint.cli.outputs import check_outputs, deliver, how_to_open, rendered_report, wanted
from tippingpoint.cli.parsing import command, refuse
from tippingpoint.cli.provenance import provenance
from tippingpoint.cli.streams import print_answer
from tippingpoint.errors import InputError
from tippingpoint.results.stability import StabilityResult

REPORT = "tippingpoint-report.html"
"""Where the report goes, unless the user says where."""

EPILOG = f"""examples:
  tippingpoint report --model model.json --data eval.csv --target y --risk 0.4
  tippingpoint report --model now=model.json --model next=next.json --data eval.csv --target y --risk 0.4 --report review.md
  tippingpoint report --model model.json --data eval.csv --target y --risk 0.4 --current may=5.csv --current june=6.csv
  tippingpoint report --table runs.csv --by model --risk 0.4

With several models, or --by, the report is about the first, and compares the others with it. With --current it holds the
stability against how far these rows are from the data.
{TABLE_FILES}{shared.MODEL_FILES}{shared.CODES}"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(commands, "report", "the stability, the features and who is sensitive, on one page", EPILOG)
    shared.add_model(parser, several=True)
    shared.add_data(parser)
    shared.add_windows(parser.add_argument_group("against what"))
    shared.add_columns(parser, common=True)
    shared.add_question(parser)
    shared.add_search(parser)
    shared.add_work(parser)
    shared.add_gate(parser)
    shared.add_outputs(parser)
    parser.set_defaults(run=run, report=REPORT)


def run(options: argparse.Namespace) -> int:
    """Evaluate, rank the features, compare, write the page, then judge by the gate."""
    check_outputs(options)
    check_gate(options)
    if options.table is None:
        refuse_columns(options)
        result, parts = _of_models(options)
    else:
        result, parts = _of_tables(options)
    complete = options.table is not None or parts["features"] is not None
    parts.update(provenance(options, parts["model"], {"model": result}, complete=complete))
    page = wanted(options.report, lambda: rendered_report(options.report, result, **parts))
    deliver(options, str(result), result.to_json(), report=page)
    if page is not None and not options.quiet and options.json != "-":
        print_answer(options, how_to_open(options.report))
    return gate(options, {"model": result}, "", complete=complete)


def _of_models(options: argparse.Namespace) -> tuple[StabilityResult, dict[str, Any]]:
    """The stability of the first model, and what else its report shows."""
    inputs = read_inputs(options, several=True)
    x, y, settings = inputs.x, inputs.y, {**inputs.settings, **question_settings(options)}
    found = review(inputs.models, x, y, options.risk, **settings)
    parts = {"features": found.features, "comparison": found.comparison, "model": inputs.path, "data": options.data}
    if options.current and found.features is not None:
        parts["drifts"] = drifts_of(options, inputs, options.data)
    return found.result, parts


def _of_tables(options: argparse.Namespace) -> tuple[StabilityResult, dict[str, Any]]:
    """The same of the first table, with its variations in place of features."""
    refuse(options, "--table", "current")
    tables = read_tables(options)
    asked = question_settings(options)
    parts: dict[str, Any] = {"model": tables.name, "data": tables.path}
    column = variation_column(tables.first)
    if column is not None:
        parts["features"] = variation_stability(tables.first, options.risk, variation=column, **asked)
    if len(tables.profiles) == 1:
        if options.common:
            raise InputError("--common is of several tables; leave it out.")
        return tables.first.stability(options.risk, **asked), parts
    compared = compare(tables.profiles, risk=options.risk, common=options.common, **asked)
    return next(iter(compared.results.values())), {**parts, "comparison": compared}
