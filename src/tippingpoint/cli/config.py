"""Options in a TOML file: they become arguments in front of those on the command line, which take precedence."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tippingpoint.cli.parsing import Parser, check_path
from tippingpoint.errors import InputError

REPLACES = {
    "--model": ("--linear", "--table"),
    "--linear": ("--model", "--table"),
    "--table": ("--model", "--linear", "--data", "--target"),
    "--mix": ("--theta1", "--theta2"),
    "--budget": ("--theta1", "--theta2"),
    "--theta1": ("--mix", "--budget", "--mixes"),
    "--theta2": ("--mix", "--budget", "--mixes"),
    "--risks": ("--mixes", "--risk"),
    "--mixes": ("--risks", "--mix", "--theta1", "--theta2"),
    "--report": ("--no-report",),
    "--no-report": ("--report",),
}
"""Options of the file that one on the command line takes the place of, besides its own."""

COMMAND_LINE_ONLY = ("--help", "--config", "--debug")
"""Options that only a command line can have."""

TABLE_OPTIONS = ("--space",)
"""Options that may be written as a table of the file itself instead of the name of another."""


def read_toml(path: str) -> dict[str, Any]:
    """A TOML file: of options, or of a space."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # of TOML, of UTF-8, or of a number with thousands of digits
        raise InputError(f"{path} is not TOML ({' '.join(str(error).split())}); write one key = value a line.") from None
    except RecursionError:
        raise InputError(f"{path} is nested too deeply; a file of options has tables in tables, and no more.") from None


def expanded(arguments: Sequence[str], parsers: Mapping[str, Parser]) -> tuple[list[str], dict[str, Any]]:
    """The arguments with those of `--config` in front, and the tables that stand in it."""
    position = next((k for k, word in enumerate(arguments) if word in parsers), None)
    if position is None:
        return list(arguments), {}
    name, rest = arguments[position], list(arguments[position + 1 :])
    path = _configured(rest)
    if path is None:
        return list(arguments), {}
    check_path("--config", path)
    given = {word.partition("=")[0] for word in rest if word.startswith("--")}
    known = {option: action for option, action in parsers[name].options().items() if option not in COMMAND_LINE_ONLY}
    settled = given.union(*(REPLACES.get(option, ()) for option in given))
    words: list[str] = []
    tables: dict[str, Any] = {}
    for key, value in read_toml(path).items():
        option = f"--{key.replace('_', '-')}"
        if option not in known:
            raise InputError(f"{path} has {key!r}, which is no option of tippingpoint {name}; {_nearest(option, known)}.")
        if option in settled:
            continue
        if option in TABLE_OPTIONS and isinstance(value, dict):
            tables[option.lstrip("-")] = value
        else:
            words += _words(path, option, value, known[option])
    return [*arguments[: position + 1], *words, *rest], tables


def _configured(words: Sequence[str]) -> str | None:
    path = None
    for k, word in enumerate(words):
        if word.startswith("--config="):
            path = word.partition("=")[2]
        elif word == "--config" and k + 1 < len(words):
            path = words[k + 1]
    return path


def _nearest(option: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(option, known, 1, 0.6)
    names = ", ".join(name.lstrip("-") for name in known)
    return f"perhaps {close[0].lstrip('-')!r} is meant" if close else f"they are {names}"


def _words(path: str, option: str, value: Any, action: argparse.Action) -> list[str]:
    """A value of the file as it would be written on the command line."""
    if action.nargs == 0 and not isinstance(value, bool):
        raise InputError(f"{path}: {option.lstrip('-')} = {value!r} must be true or false.")
    if action.nargs == 0 or (action.nargs == "?" and isinstance(value, bool)):
        return [option] if value else []
    repeated = isinstance(action, argparse._AppendAction)  # noqa: SLF001  # what action="append" makes
    if repeated and isinstance(value, dict):
        return [f"{option}={name}={_text(path, option, each)}" for name, each in value.items()]
    if isinstance(value, list):
        texts = [_text(path, option, each) for each in value]
        if action.nargs == "+":
            return [option, *texts]
        return [f"{option}={text}" for text in texts] if repeated else [f"{option}={','.join(texts)}"]
    return [f"{option}={_text(path, option, value)}"]


def _text(path: str, option: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InputError(f"{path}: {option.lstrip('-')} = {value!r} must be text or a number.")
    return str(value)
