"""Arguments that are read: whose errors are one sentence, and how numbers, lists and values of a column are written."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from tippingpoint.errors import InputError

PATHS = ("FILE", "DIR", "NAME=FILE", "[VARIANT=]LOG")
"""How arguments that are paths are called in the help."""


class Parser(argparse.ArgumentParser):
    """Options whose errors are one sentence, like all others, and whose names are never abbreviated."""

    def __init__(self, **settings: Any) -> None:
        settings["allow_abbrev"] = False
        super().__init__(**settings)

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see {self.prog} --help.")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The arguments; an empty path is refused, as it would stand for the current directory."""
        found, rest = super().parse_known_args(args, namespace)
        for action in self._actions:
            if action.metavar in PATHS:
                check_path(_spelt(action), getattr(found, action.dest, None), named="=" in action.metavar)
        return found, rest

    def options(self) -> dict[str, argparse.Action]:
        """Every long option, by its name."""
        return {name: action for action in self._actions for name in action.option_strings if name.startswith("--")}

    def arguments(self) -> list[argparse.Action]:
        """What is given by its place."""
        return [action for action in self._actions if not action.option_strings]


def _spelt(action: argparse.Action) -> str:
    return action.option_strings[0] if action.option_strings else action.dest


def check_path(option: str, given: Any, *, named: bool = False) -> None:
    """Refuse a path, or one of several, that is empty; also as `NAME=` of those that are `named`."""
    for text in given if isinstance(given, list) else [given]:
        if isinstance(text, str) and (not text or (named and text.endswith("=") and text.count("=") == 1)):
            raise InputError(f"{option} {text!r} is an empty path. Name a file, or leave the option out.")


def command(commands: Any, name: str, summary: str, epilog: str) -> Parser:
    """A command, with examples below its options."""
    parser: Parser = commands.add_parser(
        name, help=summary, description=summary, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    return parser


def number(text: str) -> float:
    """A number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def count(text: str) -> int:
    """A whole number, one or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 1 or more")
    return int(text)


def missing_rule(text: str) -> str | float | tuple[float, ...]:
    """What a missing outcome counts as: a word, a loss, or two; who reads tables knows the words."""
    try:
        losses = tuple(float(part) for part in text.split(","))
    except ValueError:
        return text
    return losses[0] if len(losses) == 1 else losses


def seed(text: str) -> int:
    """A whole number that any generator takes."""
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 4294967295")
    return int(text)


def numbers(text: str) -> list[float]:
    """Numbers between commas."""
    return [number(part.strip()) for part in words(text)]


def words(text: str) -> list[str]:
    """Words between commas."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise argparse.ArgumentTypeError(f"{text!r} must be words between commas, as a,b")
    return parts


def as_values(texts: Sequence[str], column: Any) -> list[Any]:
    """Each text as the value of the column that is written so, or as one of its type; as text where it is neither."""
    written = {str(value): value for value in column.dropna().unique().tolist()}
    numeric = column.dtype.kind in "iuf"
    return [written.get(text, _number_in(written, text) if numeric else text) for text in texts]


def _number_in(written: dict[str, Any], text: str) -> Any:
    """A number that is written otherwise, or not there; `1` where the column has 1.0."""
    try:
        value = float(text)
    except ValueError:
        return text
    whole = int(value) if value.is_integer() else value
    return next((each for each in written.values() if each == value), whole)


def refuse(options: argparse.Namespace, reason: str, *names: str) -> None:
    """An option that would be ignored is an error."""
    for name in names:
        if getattr(options, name, None):
            raise InputError(f"--{name.replace('_', '-')} has no meaning with {reason}; leave it out.")
