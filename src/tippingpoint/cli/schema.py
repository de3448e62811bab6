"""`tippingpoint schema`: the JSON Schema of what the other commands write."""

from __future__ import annotations

import argparse
from typing import Any

from tippingpoint.cli.parsing import command
from tippingpoint.cli.streams import print_answer_json
from tippingpoint.schemas import NAMES, schema_text

EPILOG = """examples:
  tippingpoint schema result > result.schema.json     # of --json, and of to_json() of any result
  tippingpoint schema report > report.schema.json     # of --report report.json
  tippingpoint schema doctor > doctor.schema.json     # of tippingpoint doctor --json
"""


def add(commands: Any) -> None:
    """Declare the command."""
    parser = command(commands, "schema", "the JSON Schema of what is written as JSON", EPILOG)
    parser.add_argument("name", nargs="?", choices=NAMES, default=NAMES[0], help=f"of what; default {NAMES[0]}")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print it."""
    print_answer_json(options, schema_text(options.name).rstrip("\n"))
