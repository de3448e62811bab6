"""`tippingpoint curve`: the stability over thresholds, over a price, or along the dial between moving and reweighting."""

from __future__ import annotations

import argparse
from typing import Any

from tippingpoint.api.stability import profile
from tippingpoint.cli import options as shared
from tippingpoint.cli.alternatives import TABLE_FILES, read_tables, refuse_columns
from tippingpoint.cli.gate import stopped
from tippingpoint.cli.inputs import question_settings, read_inputs
from tippingpoint.cli.interrupts import INTERRUPTED
from tippingpoint.cli.outputs import check_outputs, deliver, sweeps_json
from tippingpoint.cli.parsing import command, numbers, refuse
from tippingpoint.cli.partitions import check_parts, cluster
from tippingpoint.errors import InputError

PRICES = ("theta1", "theta2")
"""What may be one price or several."""

EPILOG = f"""examples:
  tippingpoint curve --model model.json --data eval.csv --target y --risks 0.3,0.4,0.5
  tippingpoint curve --model model.json --data eval.csv --target y --risk 0.4 --mixes 0,0.25,0.5,0.75,1
  tippingpoint curve --model model.json --data eval.csv --target y --risk 0.4 --theta1 0.1,1,10 --theta2 0.25
  tippingpoint curve --table runs.csv --by model --risks 0.3,0.4,0.5

{TABLE_FILES}{shared.MODEL_FILES}"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(commands, "curve", "the stability over thresholds or over prices", EPILOG)
    shared.add_model(parser)
    shared.add_data(parser, parts=True)
    shared.add_columns(parser)
    question = shared.add_question(parser, risk=False, sweep=True)
    question.add_argument("--risks", metavar="A,B,...", type=numbers, help="thresholds, instead of --risk")
    question.add_argument("--mixes", metavar="A,B,...", type=numbers, help="places on the dial, instead of --mix")
    shared.add_search(parser)
    shared.add_work(parser, parts=True)
    shared.add_outputs(parser, report=False)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Search once, ask often."""
    check_outputs(options)
    check_parts(options)
    sweep = _swept(options)
    if options.table is None:
        refuse_columns(options)
        inputs = read_inputs(options, parts=True)
        with cluster(options) as client:
            found = profile(inputs.model, inputs.x, inputs.y, client=client, **inputs.settings).curve(**sweep)
    else:
        tables = read_tables(options)
        if tables.grouped:
            sweeps = {name: each.curve(**sweep) for name, each in tables.profiles.items()}
            deliver(options, "\n\n".join(f"{name}\n{each}" for name, each in sweeps.items()), sweeps_json(sweeps))
            return INTERRUPTED if any(stopped(options, each) for each in sweeps.values()) else 0
        found = tables.first.curve(**sweep)
    deliver(options, str(found), found.to_json())
    return INTERRUPTED if stopped(options, found) else 0


def _swept(options: argparse.Namespace) -> dict[str, Any]:
    """What to ask of a profile: every setting is one value, but for the one that the curve is over."""
    prices = {name: getattr(options, name) for name in PRICES}
    several = [f"--{name}" for name in ("risks", "mixes") if getattr(options, name) is not None]
    several += [f"--{name}" for name, values in prices.items() if values is not None and len(values) > 1]
    if len(several) != 1:
        given = f"; it is given {' and '.join(several)}" if several else ""
        raise InputError(
            f"a curve is over one of --risks, --mixes, --theta1 and --theta2, as --theta1 0.1,1,10{given}. See tippingpoint"
            " curve --help."
        )
    if several == ["--risks"]:
        refuse(options, "--risks", "risk")
    elif options.risk is None:
        raise InputError(f"{several[0]} needs --risk, the threshold; see tippingpoint curve --help.")
    if several == ["--mixes"]:
        refuse(options, "--mixes", "mix", *PRICES)
    one = {name: values[0] if values is not None and len(values) == 1 else values for name, values in prices.items()}
    settings = {**question_settings(options), **one, "risk": options.risk, "risks": options.risks}
    return {**settings, "mix": options.mix if options.mixes is None else options.mixes}
