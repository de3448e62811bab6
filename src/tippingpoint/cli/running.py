"""A command from its words to its exit code."""

from __future__ import annotations

import argparse
import sys
import traceback
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any, TextIO

from tippingpoint import __version__
from tippingpoint.cli.config import expanded
from tippingpoint.cli.faults import NO_READER, exit_code, sentence
from tippingpoint.cli.interrupts import INTERRUPTED, MESSAGE, Interrupts
from tippingpoint.cli.lines import data_lines
from tippingpoint.cli.parsing import Parser
from tippingpoint.cli.streams import answer_stream, drain_streams, prepare_streams, print_stderr, without_progress_bars
from tippingpoint.errors import InputError, OutputError
from tippingpoint.visible import LAYOUT

COMMANDS = (
    "demo",
    "evaluate",
    "worst_risk",
    "features",
    "compare",
    "curve",
    "drift",
    "runs",
    "report",
    "reproduce",
    "completion",
    "doctor",
    "schema",
)
"""The registry: a new command is a module with `add` and `run`, and a place here; `run` may return an exit code."""

STANDALONE = "doctor"
"""The command that has to run where what the others are built on cannot be imported."""


def run(words: Sequence[str], *, own: bool, interrupts: Interrupts) -> int:
    """Run a command; `own` says whether the process is, and `interrupts` whether somebody at the keyboard had enough of it."""
    prepare_streams(own=own)
    code = _ended(words, own=own, interrupts=interrupts)
    drain_streams(own=own)
    return code


def _ended(words: Sequence[str], *, own: bool, interrupts: Interrupts) -> int:
    """How the command ended."""
    try:
        parser, commands = command_line(words)
        interrupts.working()
        options = _read(words, parser, commands)
        code = _help_code() if options is None else _work(options, own=own, interrupts=interrupts)
    except BrokenPipeError:
        return NO_READER
    except KeyboardInterrupt:
        print_stderr(MESSAGE)
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  # the command line is where every error ends
        if "--debug" in words:
            print_stderr(traceback.format_exc().rstrip(), keep=LAYOUT)
        print_stderr(f"tippingpoint: {sentence(error)}")
        return exit_code(error)
    if interrupts.arrived or code == INTERRUPTED:  # after what there was by then
        print_stderr(MESSAGE)
        return INTERRUPTED
    return code


def _work(options: argparse.Namespace, *, own: bool, interrupts: Interrupts) -> int:
    """The work itself."""
    with answer_stream(own=own) as answer, without_progress_bars(options), warnings.catch_warnings():
        warnings.showwarning = _warn
        options.answer, options.interrupts = answer, interrupts
        try:
            with data_lines(options):
                return int(options.run(options) or 0)
        except SystemExit as end:
            raise InputError(
                f"the model's own code ended the program (exit {end.code!r}); let its module do so only where it is run itself."
            ) from None


def _imported(words: Sequence[str]) -> list[Any]:
    """The modules of all commands; of `STANDALONE` alone where that is the one that is asked for."""
    asked = next((word for word in words if not word.startswith("-")), None)
    names = (STANDALONE,) if asked == STANDALONE else COMMANDS
    return [import_module(f"tippingpoint.cli.{name}") for name in names]


def command_line(words: Sequence[str] = ()) -> tuple[Parser, dict[str, Parser]]:
    """The parser of all words, and that of each command by its name; only of what is needed where `words` are given."""
    parser = Parser(
        prog="tippingpoint",
        description="How much must the data change before this model breaks?",
        epilog="Try: tippingpoint demo. Every command has examples: tippingpoint COMMAND --help",
    )
    parser.add_argument("--version", action="version", version=f"tippingpoint {__version__}")
    debug: dict[str, Any] = {"action": "store_true", "help": "show the traceback of an error"}
    parser.add_argument("--debug", **debug)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in _imported(words):
        module.add(commands)
    for each in commands.choices.values():
        each.add_argument("--debug", default=argparse.SUPPRESS, **debug)
    return parser, commands.choices


def _read(words: Sequence[str], parser: Parser, commands: dict[str, Parser]) -> argparse.Namespace | None:
    """The options on the command line and in the file that it names; None where help was printed instead."""
    _check_words(words)
    every, tables = expanded(words, commands)
    _check_words(every)
    try:
        return argparse.Namespace(**{**vars(parser.parse_args(every)), **tables, "words": tuple(words)})
    except SystemExit:  # errors are exceptions of ours
        return None


def _check_words(words: Sequence[str]) -> None:
    """A shell gives no NUL to a command; a file of options, or Python, might."""
    for word in words:
        if "\0" in word:
            raise InputError(f"{word!r} holds the character NUL, which no argument of a command can; leave it out.")


def _help_code() -> int:
    """The exit code of help: it is fine if it got out."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"the help cannot be printed: {error.strerror or error}; print it elsewhere.") from None
    return 0


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as a sentence, without the line of our code that gave it."""
    print_stderr(f"tippingpoint: warning: {' '.join(str(message).split())}")
