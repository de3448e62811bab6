"""`tippingpoint report`: everything there is to say of a model on one page."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tippingpoint.api.comparing import compare
from tippingpoint.api.reviewing import review
from tippingpoint.api.variations import variation_column, variation_stability
from tippingpoint.cli import options as shared
from tippingpoint.cli.alternatives import TABLE_FILES, read_tables, refuse_columns
from tippingpoint.cli.drift import drifts_of
from tippingpoint.cli.gate import check_gate, check_gated, gate
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

With several models, or --by, the report is about the first model and compares the others with it. The gate judges every
model, or the one that --gate-model names. With --current, the report compares the stability with the drift of these rows.
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
    shared.add_gate(parser, several=True)
    shared.add_outputs(parser)
    parser.set_defaults(run=run, report=REPORT)


@dataclass(frozen=True)
class Subject:
    """What a report is about.

    Attributes
    ----------
    results
        By the name of the model or table; the first is the one that the report describes.
    complete
        Whether nothing is missing from the results.
    parts
        Further arguments of `StabilityResult.report_summary`.
    """

    results: Mapping[str, StabilityResult]
    complete: bool
    parts: dict[str, Any]


def run(options: argparse.Namespace) -> int:
    """Evaluate, rank the features, compare, write the page, then apply the gate."""
    check_outputs(options)
    check_gate(options)
    if options.table is None:
        refuse_columns(options)
        subject = _of_models(options)
    else:
        subject = _of_tables(options)
    results, complete = subject.results, subject.complete
    result, what = next(iter(results.values())), "model" if len(results) > 1 else ""
    parts = {**subject.parts, **provenance(options, subject.parts["model"], results, what, complete=complete)}
    page = wanted(options.report, lambda: rendered_report(options.report, result, **parts))
    deliver(options, str(result), result.to_json(), report=page)
    if page is not None and not options.quiet and options.json != "-":
        print_answer(options, how_to_open(options.report))
    return gate(options, results, what, complete=complete)


def _of_models(options: argparse.Namespace) -> Subject:
    """Evaluate all models, and rank the features of the first."""
    inputs = read_inputs(options, several=True)
    check_gated(options, inputs.models)
    x, y, settings = inputs.x, inputs.y, {**inputs.settings, **question_settings(options)}
    found = review(inputs.models, x, y, options.risk, **settings)
    parts = {"features": found.features, "comparison": found.comparison, "model": inputs.path, "data": options.data}
    if options.current and found.features is not None:
        parts["drifts"] = drifts_of(options, inputs, options.data)
    results = {next(iter(inputs.models)): found.result} if found.comparison is None else found.comparison.results
    return Subject(results, complete=found.features is not None, parts=parts)


def _of_tables(options: argparse.Namespace) -> Subject:
    """Evaluate all tables, and rank the variations of the first."""
    refuse(options, "--table", "current")
    tables = read_tables(options)
    check_gated(options, tables.profiles)
    asked = question_settings(options)
    parts: dict[str, Any] = {"model": tables.name, "data": tables.path}
    column = variation_column(tables.first)
    if column is not None:
        parts["features"] = variation_stability(tables.first, options.risk, variation=column, **asked)
    if len(tables.profiles) == 1:
        if options.common:
            raise InputError("--common needs several tables. Leave it out, or add --table or --by.")
        results = {name: each.stability(options.risk, **asked) for name, each in tables.profiles.items()}
        return Subject(results, complete=True, parts=parts)
    compared = compare(tables.profiles, risk=options.risk, common=options.common, **asked)
    complete = len(compared.results) == len(tables.profiles)
    return Subject(compared.results, complete=complete, parts={**parts, "comparison": compared})
