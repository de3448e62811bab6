"""The command line: one file a command.

Exit codes: 0 fine, 1 a gate that fails, 2 bad input, 3 a fault of ours, 130 interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from tippingpoint import __version__
from tippingpoint.cli import compare, completion, curve, demo, evaluate, features, report, reproduce
from tippingpoint.cli.config import expanded
from tippingpoint.cli.parsing import Parser
from tippingpoint.errors import TippingPointError

COMMANDS = (demo, evaluate, features, compare, curve, report, reproduce, completion)
"""The registry: a new command is a module with `add` and `run`, and a place here; `run` may return an exit code."""

BAD_INPUT, OUR_FAULT, INTERRUPTED, NO_READER = 2, 3, 130, 141
"""Exit codes; the last two are what shells give to a program that was stopped, and to one whose reader went away."""


class Plain(io.TextIOBase):
    """Standard error that is no terminal, so that nobody draws progress bars on it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str, /) -> int:
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return False


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; what goes wrong is one sentence on standard error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without Greek letters shows their numbers
            stream.reconfigure(errors="backslashreplace")
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = _read(words)
        with _quietly(options), warnings.catch_warnings():
            warnings.showwarning = _warn
            return int(options.run(options) or 0)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left to print goes nowhere
        return NO_READER
    except KeyboardInterrupt:
        print("tippingpoint: interrupted.", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if "--debug" in words:
            raise
        print(f"tippingpoint: {_sentence(error)}", file=sys.stderr)
        return BAD_INPUT if isinstance(error, (TippingPointError, OSError)) else OUR_FAULT


def _read(words: Sequence[str]) -> argparse.Namespace:
    """The options on the command line and in the file that it names."""
    parser = Parser(
        prog="tippingpoint",
        description="How much must the data change before this model breaks?",
        epilog="Try: tippingpoint demo. Every command has examples: tippingpoint COMMAND --help",
    )
    parser.add_argument("--version", action="version", version=f"tippingpoint {__version__}")
    debug: dict[str, Any] = {"action": "store_true", "help": "show the traceback of an error"}
    parser.add_argument("--debug", **debug)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(commands)
    for each in commands.choices.values():
        each.add_argument("--debug", default=argparse.SUPPRESS, **debug)
    every, tables = expanded(words, commands.choices)
    return argparse.Namespace(**{**vars(parser.parse_args(every)), **tables})


@contextlib.contextmanager
def _quietly(options: argparse.Namespace) -> Iterator[None]:
    """No progress bars with `--quiet`."""
    if not getattr(options, "quiet", False):
        yield
        return
    with contextlib.redirect_stderr(Plain(sys.stderr)):
        yield


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}; check the path."
    text = " ".join(str(error).split())
    if isinstance(error, (TippingPointError, OSError)):
        return text
    return f"this should not happen ({type(error).__name__}: {text}); --debug shows where, please report it."


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
