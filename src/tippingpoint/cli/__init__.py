"""The command line: one file a command.

Exit codes: 0 fine, 2 bad input. (1 is kept for a gate that fails.)
"""

from __future__ import annotations

import argparse
import io
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn, TextIO

from tippingpoint import __version__
from tippingpoint.cli import demo, evaluate, reproduce
from tippingpoint.errors import TippingPointError

COMMANDS = (demo, evaluate, reproduce)
"""The registry: a new command is a module with `add` and `run`, and a place here."""


class Parser(argparse.ArgumentParser):
    """Options whose errors are one sentence, like all others."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"tippingpoint: {message}; see {self.prog} --help.\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; what goes wrong is one sentence on standard error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without Greek letters shows their numbers
            stream.reconfigure(errors="backslashreplace")
    parser = Parser(
        prog="tippingpoint",
        description="How much must the data change before this model breaks?",
        epilog="Try: tippingpoint demo",
    )
    parser.add_argument("--version", action="version", version=f"tippingpoint {__version__}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(commands)
    options = parser.parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            options.run(options)
    except (TippingPointError, OSError) as error:
        if options.debug:
            raise
        print(f"tippingpoint: {_sentence(error)}", file=sys.stderr)
        return 2
    return 0


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}; check the path."
    return " ".join(str(error).split())


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as a sentence, without the line of our code that gave it."""
    print(f"tippingpoint: warning: {message}", file=sys.stderr)
