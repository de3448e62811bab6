"""`tippingpoint evaluate`: the stability of a model on a data file, or of a table of alternatives."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import Any

from tippingpoint.api.profiles import Profile
from tippingpoint.api.stability import profile
from tippingpoint.cli import options as shared
from tippingpoint.cli.alternatives import TABLE_FILES, read_tables, refuse_columns
from tippingpoint.cli.gate import check_gate, gate
from tippingpoint.cli.inputs import question_settings, read_inputs
from tippingpoint.cli.outputs import check_outputs, deliver, rendered_report, wanted
from tippingpoint.cli.parsing import command
from tippingpoint.cli.partitions import check_parts, cluster
from tippingpoint.cli.provenance import provenance
from tippingpoint.visible import csv_text

EPILOG = f"""examples:
  tippingpoint evaluate --table runs.csv --risk 0.4
  tippingpoint evaluate --model model.json --data eval.csv --target y --risk 0.4 --theta1 1 --theta2 0.25
  tippingpoint evaluate --model model.json --data big/*.parquet --target y --risk 0.4 --workers 2
  tippingpoint evaluate --config run.toml --fail-below 0.05

{TABLE_FILES}{shared.MODEL_FILES}{shared.CODES}"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(commands, "evaluate", "the stability of a model or of a table of alternatives", EPILOG)
    shared.add_model(parser, linear=True)
    shared.add_data(parser, parts=True)
    shared.add_columns(parser, by=False)
    shared.add_question(parser)
    shared.add_search(parser)
    shared.add_work(parser, parts=True)
    shared.add_gate(parser)
    shared.add_outputs(parser, sensitive=True)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Evaluate, write, then judge by the gate."""
    check_outputs(options)
    check_gate(options)
    check_parts(options)
    with ExitStack() as stack:
        asked, parts = profiled(options, stack)
        result = asked.stability(options.risk, **question_settings(options))
    parts.update(provenance(options, parts.get("model"), {"model": result}))
    deliver(
        options,
        str(result),
        result.to_json(),
        report=wanted(options.report, lambda: rendered_report(options.report, result, **parts)),
        sensitive=wanted(options.sensitive, lambda: csv_text(result.sensitive)),
    )
    return gate(options, {"model": result}, "")


def profiled(options: argparse.Namespace, stack: ExitStack) -> tuple[Profile, dict[str, Any]]:
    """The profile, and what a report can tell of where it comes from; a cluster stays until the stack is closed."""
    if options.table is None:
        refuse_columns(options)
        inputs = read_inputs(options, parts=True)
        client = stack.enter_context(cluster(options))
        made = profile(inputs.model, inputs.x, inputs.y, client=client, **inputs.settings)
        return made, {"model": inputs.path, "data": options.data}
    tables = read_tables(options)
    return tables.first, {"data": tables.path}
