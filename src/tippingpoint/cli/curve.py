"""`tippingpoint curve`: the stability over thresholds, or along the dial between moving and reweighting."""

from __future__ import annotations

import argparse
from typing import Any

from tippingpoint.cli import options as shared
from tippingpoint.cli.gate import stopped
from tippingpoint.cli.interrupts import INTERRUPTED
from tippingpoint.cli.outputs import check_outputs, deliver, sweep_json
from tippingpoint.cli.parsing import command, numbers, refuse
from tippingpoint.cli.subjects import asked, read_subject
from tippingpoint.errors import InputError
from tippingpoint.front import profile

EPILOG = f"""examples:
  tippingpoint curve --model model.json --data eval.csv --target y --risks 0.3,0.4,0.5
  tippingpoint curve --model model.json --data eval.csv --target y --risk 0.4 --mixes 0,0.25,0.5,0.75,1

{shared.MODEL_FILES}"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(commands, "curve", "the stability over thresholds or over prices", EPILOG)
    shared.add_model(parser)
    shared.add_data(parser)
    question = shared.add_question(parser, risk=False)
    over = question.add_mutually_exclusive_group(required=True)
    over.add_argument("--risks", metavar="A,B,...", type=numbers, help="thresholds, instead of --risk")
    over.add_argument("--mixes", metavar="A,B,...", type=numbers, help="places on the dial, instead of --mix")
    shared.add_search(parser)
    shared.add_outputs(parser, report=False)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Search once, ask often."""
    check_outputs(options)
    if options.risks is not None:
        refuse(options, "--risks", "risk")
    else:
        refuse(options, "--mixes", "mix", "theta1", "theta2")
        if options.risk is None:
            raise InputError("--mixes needs --risk, the threshold; see tippingpoint curve --help.")
    subject = read_subject(options)
    profiled = profile(subject.model, subject.x, subject.y, **subject.settings)
    settings = asked(options)
    if options.risks is not None:
        sweep = profiled.curve(options.risks, **settings)
    else:
        along = {name: settings[name] for name in ("budget", "divergence")}
        sweep = profiled.tradeoff(options.mixes, risk=options.risk, **along)
    deliver(options, str(sweep), sweep_json(sweep))
    return INTERRUPTED if stopped(options, sweep) else 0
