"""Options of a family: a frozen dataclass a family, each field an option that users may give, typed, with its default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeVar

from tippingpoint.errors import InputError

if TYPE_CHECKING:
    from typing_extensions import Self

Own = TypeVar("Own", bound="Options")


@dataclass(frozen=True)
class Options:
    """Of a family that needs none; the others derive from it and add fields."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """What may be given."""
        return tuple(field.name for field in fields(cls))

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        """The options of a user, who gave some of `names()`; an error names the one that is wrong, and the remedy."""
        options = cls(**given)
        options.check(given)
        return options

    def check(self, given: Mapping[str, Any]) -> None:
        """Refuse values that make no sense, and options that have no effect beside the others that are `given`."""


def check_whole(name: str, value: Any, least: int, *, optional: bool = False, why: str = "") -> None:
    """A whole number, `least` or more; None too where it is optional."""
    if (optional and value is None) or (isinstance(value, Integral) and int(value) >= least):
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
