"""`tippingpoint compare`: several models on the same rows, with paired errors of their differences."""

from __future__ import annotations

import argparse
from typing import Any

from tippingpoint.cli import options as shared
from tippingpoint.cli.gate import check_gate, gate
from tippingpoint.cli.outputs import check_outputs, comparison_json, deliver, rendered_report
from tippingpoint.cli.parsing import command
from tippingpoint.cli.provenance import provenance
from tippingpoint.cli.subjects import asked, read_subject
from tippingpoint.errors import InputError
from tippingpoint.front import compare

EPILOG = f"""examples:
  tippingpoint compare --model now=model.json --model next=next.json --data eval.csv --target y --risk 0.4
  tippingpoint compare --config run.toml --model model.json --model next.json --gate-model next --fail-below 0.005

{shared.MODEL_FILES}The gate judges every model, or the one that is named.
{shared.CODES}"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(commands, "compare", "several models on the same data, with paired errors", EPILOG)
    shared.add_model(parser, several=True)
    shared.add_data(parser)
    shared.add_question(parser)
    shared.add_search(parser)
    shared.add_gate(parser, several=True)
    shared.add_outputs(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare, write, then judge by the gate."""
    check_outputs(options)
    check_gate(options)
    if len(options.model) < 2:
        raise InputError(f"--model {options.model[0]} is alone; give two or more, or evaluate it.")
    subject = read_subject(options, several=True)
    if options.gate_model is not None and options.gate_model not in subject.models:
        raise InputError(f"--gate-model {options.gate_model} is none of the models; they are {', '.join(subject.models)}.")
    compared = compare(subject.models, subject.x, subject.y, options.risk, **subject.settings, **asked(options))
    report = None
    if options.report is not None:
        first = next(iter(compared.results.values()))
        told = {"model": subject.path, "data": options.data, **provenance(options, subject.path, compared.results, "model")}
        report = rendered_report(options.report, first, comparison=compared, **told)
    deliver(options, str(compared), comparison_json(compared), report=report)
    return gate(options, compared.results, "model")
