"""`tippingpoint features`: what it takes if only one feature may move, for each of them."""

from __future__ import annotations

import argparse
from typing import Any

from tippingpoint.cli import options as shared
from tippingpoint.cli.gate import check_gate, gate
from tippingpoint.cli.outputs import check_outputs, deliver, rendered_report
from tippingpoint.cli.parsing import command
from tippingpoint.cli.provenance import provenance
from tippingpoint.cli.subjects import asked, read_subject
from tippingpoint.front import feature_stability, stability

EPILOG = f"""examples:
  tippingpoint features --model model.json --data eval.csv --target y --risk 0.4
  tippingpoint features --model model.json --data eval.csv --target y --risk 0.4 --feature age --json ranking.json

{shared.MODEL_FILES}The gate judges the most sensitive feature.
{shared.CODES}"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(commands, "features", "the stability of each feature on its own", EPILOG)
    shared.add_model(parser)
    shared.add_data(parser)
    question = shared.add_question(parser)
    question.add_argument(
        "--feature", metavar="NAME", action="append", help="a feature or a group of the space; may be repeated; default all"
    )
    shared.add_search(parser)
    shared.add_gate(parser)
    shared.add_outputs(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Rank, write, then judge by the gate."""
    check_outputs(options)
    check_gate(options)
    subject = read_subject(options)
    settings = {**subject.settings, **asked(options)}
    ranked = feature_stability(subject.model, subject.x, subject.y, options.risk, features=options.feature, **settings)
    report = None
    if options.report is not None:
        result = stability(subject.model, subject.x, subject.y, options.risk, **settings)
        told = {"model": subject.path, "data": options.data, **provenance(options, subject.path, ranked.results, "feature")}
        report = rendered_report(options.report, result, features=ranked, **told)
    deliver(options, f"{ranked}\n\n{ranked.advice()}", ranked.to_json(), report=report)
    return gate(options, ranked.results, "feature")
