"""`tippingpoint worst-risk`: the largest risk that a change of the data of a cost reaches, at one cost or at several."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import Any

from tippingpoint.cli import options as shared
from tippingpoint.cli.alternatives import TABLE_FILES
from tippingpoint.cli.evaluate import profiled
from tippingpoint.cli.gate import check_ceiling, gate_ceiling
from tippingpoint.cli.inputs import question_settings
from tippingpoint.cli.outputs import check_outputs, deliver, wanted
from tippingpoint.cli.parsing import command, number, numbers, refuse
from tippingpoint.cli.partitions import check_parts
from tippingpoint.results.worst import WorstRisk
from tippingpoint.visible import csv_text

EPILOG = f"""examples:
  tippingpoint worst-risk --model model.json --data eval.csv --target y --cost 0.05 --theta1 1 --theta2 0.25
  tippingpoint worst-risk --model model.json --data eval.csv --target y --cost 0.05 --fail-above 0.3
  tippingpoint worst-risk --table runs.csv --cost 0.01,0.02,0.05

{TABLE_FILES}{shared.MODEL_FILES}{shared.CODES.replace("--fail-below", "--fail-above")}"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(commands, "worst-risk", "the largest risk that a change of the data of a cost reaches", EPILOG)
    shared.add_model(parser, linear=True)
    shared.add_data(parser, parts=True)
    shared.add_columns(parser, by=False)
    question = shared.add_prices(parser)
    question.add_argument(
        "--cost", metavar="COST", type=numbers, required=True, help="what the change may cost; several, as 0.01,0.02: a curve"
    )
    shared.add_search(parser)
    shared.add_work(parser, parts=True)
    gate = parser.add_argument_group("a gate")
    gate.add_argument(
        "--fail-above",
        metavar="RISK",
        type=number,
        help="exit with code 1 unless it is proved that the risk does not exceed this, as 0.3",
    )
    shared.add_outputs(parser, report=False, sensitive=True)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Evaluate, write, then judge by the gate."""
    check_outputs(options)
    check_ceiling(options)
    check_parts(options)
    several = len(options.cost) > 1
    if several:
        refuse(options, "several costs", "sensitive")
    with ExitStack() as stack:
        asked, _ = profiled(options, stack)
        found: Any = asked.worst_risk(options.cost if several else options.cost[0], **question_settings(options))
    results: list[WorstRisk] = list(found) if several else [found]
    last = results[-1]
    deliver(
        options,
        str(found),
        found.to_json(),
        sensitive=wanted(options.sensitive, lambda: csv_text(last.stability.sensitive)),
    )
    return gate_ceiling(options, results, complete=len(results) == len(options.cost))
