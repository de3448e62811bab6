"""`tippingpoint features`: what it takes if only one feature may move, for each of them."""

from __future__ import annotations

import argparse
from contextlib import suppress
from typing import Any

from tippingpoint.api.features import feature_stability
from tippingpoint.api.stability import stability
from tippingpoint.cli import options as shared
from tippingpoint.cli.gate import check_gate, gate, stopped
from tippingpoint.cli.inputs import question_settings, read_inputs
from tippingpoint.cli.outputs import check_outputs, deliver, rendered_report, wanted
from tippingpoint.cli.parsing import command
from tippingpoint.cli.provenance import provenance
from tippingpoint.results.rankings import FeatureStability

EPILOG = f"""examples:
  tippingpoint features --model model.json --data eval.csv --target y --risk 0.4
  tippingpoint features --model model.json --data eval.csv --target y --risk 0.4 --feature age --json ranking.json

{shared.MODEL_FILES}The gate judges the most sensitive feature.
{shared.CODES}"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(commands, "features", "the stability of each feature on its own", EPILOG)
    shared.add_model(parser, table=False)
    shared.add_data(parser)
    question = shared.add_question(parser)
    question.add_argument(
        "--feature", metavar="NAME", action="append", help="a feature or a group of the space; may be repeated; default all"
    )
    shared.add_search(parser)
    shared.add_work(parser)
    shared.add_gate(parser)
    shared.add_outputs(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Rank, write, then judge by the gate; a report is about the whole model, which then comes first."""
    check_outputs(options)
    check_gate(options)
    inputs = read_inputs(options)
    settings = {**inputs.settings, **question_settings(options)}
    question = (inputs.model, inputs.x, inputs.y, options.risk)
    parts: dict[str, Any] = {"model": inputs.path, "data": options.data}
    if options.report is None:
        ranked = feature_stability(*question, features=options.feature, **settings)
        deliver(options, f"{ranked}\n\n{ranked.advice()}", ranked.to_json())
        return _judged(options, ranked)
    result, found = stability(*question, **settings), None
    if not stopped(options, [result]):
        with suppress(KeyboardInterrupt):  # the result itself is not lost
            found = feature_stability(*question, features=options.feature, **settings)
    judged = {} if found is None else found.results
    parts.update(provenance(options, inputs.path, judged, "feature", complete=found is not None and _complete(found)))
    report = wanted(options.report, lambda: rendered_report(options.report, result, features=found, **parts))
    if found is None:
        deliver(options, str(result), None, report=report)
        return gate(options, {}, "feature", complete=False)
    deliver(options, f"{found}\n\n{found.advice()}", found.to_json(), report=report)
    return _judged(options, found)


def _judged(options: argparse.Namespace, ranked: FeatureStability) -> int:
    return gate(options, ranked.results, "feature", complete=_complete(ranked))


def _complete(ranked: FeatureStability) -> bool:
    """Whether all features are there: where no search was interrupted and the ranking was, some are missing."""
    return not ranked.interrupted or any(result.interrupted for result in ranked.results.values())
