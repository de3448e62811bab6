"""`tippingpoint report`: everything there is to say of a model on one page."""

from __future__ import annotations

import argparse
from typing import Any

from tippingpoint.cli import options as shared
from tippingpoint.cli.gate import check_gate, gate
from tippingpoint.cli.opening import how_to_open
from tippingpoint.cli.outputs import check_outputs, deliver, rendered_report
from tippingpoint.cli.parsing import command
from tippingpoint.cli.streams import say
from tippingpoint.cli.subjects import asked, read_subject
from tippingpoint.front import review

REPORT = "tippingpoint-report.html"
"""Where the report goes, unless the user says where."""

EPILOG = f"""examples:
  tippingpoint report --model model.json --data eval.csv --target y --risk 0.4
  tippingpoint report --model now=model.json --model next=next.json --data eval.csv --target y --risk 0.4 --report review.md

With several models the report is about the first, and compares the others with it.
{shared.MODEL_FILES}{shared.CODES}"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(commands, "report", "the stability, the features and who is sensitive, on one page", EPILOG)
    shared.add_model(parser, several=True)
    shared.add_data(parser)
    shared.add_question(parser)
    shared.add_search(parser)
    shared.add_gate(parser)
    shared.add_outputs(parser)
    parser.set_defaults(run=run, report=REPORT)


def run(options: argparse.Namespace) -> int:
    """Evaluate, rank the features, compare, write the page, then judge by the gate."""
    check_outputs(options)
    check_gate(options)
    subject = read_subject(options, several=True)
    x, y, settings = subject.x, subject.y, {**subject.settings, **asked(options)}
    found = review(subject.models, x, y, options.risk, **settings)
    result = found.result
    page = rendered_report(
        options.report, result, features=found.features, comparison=found.comparison, model=subject.path, data=options.data
    )
    deliver(options, str(result), result.to_json(), report=page)
    if not options.quiet and options.json != "-":
        say(options, how_to_open(options.report))
    return gate(options, {"model": result}, "")
