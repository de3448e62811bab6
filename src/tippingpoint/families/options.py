"""Options of a family: a frozen dataclass a family, each field an option that users may give, typed, with its default.

What the command line offers says so where it stands: `calls: int | None = field(default=None, metadata=on_command_line(...))`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from tippingpoint.errors import InputError

if TYPE_CHECKING:
    from typing_extensions import Self

Kind = Literal["text", "number", "count", "seed"]
"""How the command line reads an option: as it stands, as a number, as a whole number from 1 on, or from 0 to 2³² - 1."""


@dataclass(frozen=True)
class CommandLine:
    """How the command line offers an option; its default is that of the field.

    Attributes
    ----------
    help
        In words: what it is for.
    kind
        How it is read.
    metavar
        What stands for its value in the help; its own name where that is None.
    choices
        What it may be; None for anything of its kind.
    """

    help: str
    kind: Kind = "text"
    metavar: str | None = None
    choices: tuple[str, ...] | None = None


def on_command_line(
    help: str,  # noqa: A002  # as argparse calls it
    kind: Kind = "text",
    metavar: str | None = None,
    choices: Iterable[str] | None = None,
) -> Mapping[str, CommandLine]:
    """The metadata of a field that the command line offers; arguments as of `CommandLine`."""
    return {"command_line": CommandLine(help, kind, metavar, None if choices is None else tuple(choices))}


SEED = on_command_line("of what is drawn; default 0", kind="seed")
"""Of the option `seed` of every family that draws."""

TIME_LIMIT = on_command_line(
    "time per question, search and proof together, for tree ensembles and networks with --method exact (default: 60);"
    " drift: for all features together",
    kind="number",
    metavar="SECONDS",
)
"""Of the option `time_limit` of every family that proves."""


@dataclass(frozen=True)
class Options:
    """Of a family that needs none; the others derive from it and add fields."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """What may be given."""
        return tuple(field.name for field in fields(cls))

    @classmethod
    def offered(cls) -> dict[str, CommandLine]:
        """What may be given on the command line, and how."""
        return {field.name: field.metadata["command_line"] for field in fields(cls) if "command_line" in field.metadata}

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        """The options of a user, who gave some of `names()`; an error names the one that is wrong, and the remedy."""
        options = cls(**given)
        options.check(given)
        return options

    def check(self, given: Mapping[str, Any]) -> None:
        """Refuse values that make no sense, and options that have no effect beside the others that are `given`."""


def check_whole(name: str, value: Any, least: int, *, optional: bool = False, why: str = "") -> None:
    """A whole number, `least` or more, and not True or False; None too where it is optional."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if (optional and value is None) or (whole and int(value) >= least):
        return
    raise InputError(f"{name}={value!r} must be a whole number, {why or f'{least} or more'}.")


def check_choice(name: str, value: Any, known: Iterable[Any]) -> None:
    """One of the words that are known."""
    if value not in tuple(known):
        raise InputError(f"{name}={value!r} is not known; use one of {', '.join(map(str, known))}.")


def check_progress(value: Any) -> None:
    """Whether a bar is shown."""
    if value not in (None, True, False):
        raise InputError(f"progress={value!r} must be True, False, or None for a bar where there is a terminal.")
