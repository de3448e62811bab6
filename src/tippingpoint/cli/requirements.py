"""What this package says it needs, read off its own installed metadata, and what of that is installed. Nothing is imported."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata

OURSELVES = "tippingpoint"
"""Our name, as pip knows it."""

LINE = re.compile(r"(?P<name>[\w.-]+)\s*(?:\[[^\]]*\])?\s*\(?(?:>=\s*(?P<least>[^\s;,)]+))?\)?\s*(?:;(?P<marker>.*))?")
"""A requirement of ours: a name, perhaps extras of it, mostly the least version, perhaps a marker.

None has a ceiling; a test sees to that.
"""

EXTRA = re.compile(r"""extra\s*==\s*["']([\w.-]+)["']""")
"""The part of a marker that says which extra a requirement belongs to."""

PYTHON = re.compile(r"""python_version\s*(<|>=)\s*["']([\d.]+)["']""")
"""The part of a marker that says for which versions of Python it is one."""


@dataclass(frozen=True)
class Requirement:
    """A package that we need, or one of our extras does.

    Attributes
    ----------
    name
        As pip knows it.
    least
        The oldest version that will do; None where any will.
    extra
        Which extra needs it; None where everybody does.
    """

    name: str
    least: str | None = None
    extra: str | None = None

    def is_met_by(self, version: str) -> bool:
        """Whether this version is new enough."""
        return self.least is None or release(version) >= release(self.least)

    @property
    def spelled(self) -> str:
        """As pip takes it."""
        return self.name if self.least is None else f"{self.name}>={self.least}"


@dataclass(frozen=True)
class Installed:
    """A package that is installed: its name and version."""

    name: str
    version: str


def requirements(lines: Iterable[str] | None = None, python: tuple[int, int] = sys.version_info[:2]) -> list[Requirement]:
    """What is needed with this version of Python, as the installed metadata say it, or these lines of them."""
    said = metadata.requires(OURSELVES) or [] if lines is None else lines
    return [each for each in (_requirement(line, python) for line in said) if each is not None]


def _requirement(line: str, python: tuple[int, int]) -> Requirement | None:
    """One line of them; None where it is of another version of Python."""
    found = LINE.fullmatch(line.strip())
    if found is None:
        return None
    marker = found["marker"] or ""
    for sign, bound in PYTHON.findall(marker):
        if (python >= release(bound)) != (sign == ">="):
            return None
    extra = EXTRA.search(marker)
    return Requirement(found["name"], found["least"], extra[1] if extra else None)


def extras() -> list[str]:
    """Every extra that we have, by name."""
    return sorted(metadata.metadata(OURSELVES).get_all("Provides-Extra") or [])


def installed(name: str, others: Sequence[str] = ()) -> Installed | None:
    """The package of this name, or one of others that bring the same module, as xgboost-cpu does for xgboost."""
    for each in (name, *others):
        try:
            return Installed(each, metadata.version(each))
        except metadata.PackageNotFoundError:
            continue
    return None


def release(version: str) -> tuple[int, ...]:
    """The numbers of a version that are compared, without zeros at its end: (2, 13) of 2.13.0+cpu.

    >>> release("2.13.0+cpu"), release("3.1rc2")
    ((2, 13), (3, 1))
    """
    numbers = re.match(r"\D{0,1}(?:\d+!)?(\d+(?:\.\d+)*)", version)
    parts = [int(part) for part in numbers[1].split(".")] if numbers else []
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)
