"""Parsed documents, whose members are asked for by name and kind; what is not there, or of another kind, is damage."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from tippingpoint.files.damage import Damage

COUNT = re.compile(r"[0-9]{1,10}")
"""A number that is stored as text."""

STRANGE_CHARACTERS = re.compile("[\0\ud800-\udfff]")
"""The zero, at which texts of C end, and halves of letters, which UTF-8 does not have."""

IntArray = np.ndarray[Any, np.dtype[np.int64]]
FloatArray = np.ndarray[Any, np.dtype[np.float32]]


def json_of(data: bytes) -> Any:
    """The JSON value that the bytes are, in which no name occurs twice in one place."""
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        raise Damage(f"byte {error.start} is not UTF-8") from None
    except RecursionError:
        raise Damage("values are nested deeper than any model's are") from None
    except json.JSONDecodeError as error:
        raise Damage(f"its JSON breaks off or is malformed at letter {error.pos}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise Damage(f"{twice[:40]!r} occurs twice in one place")
    return members


class Section:
    """A mapping of a document, called something in a sentence."""

    def __init__(self, members: Any, called: str) -> None:
        if not isinstance(members, dict):
            raise Damage(f"{called} is no mapping")
        self._members: dict[str, Any] = members
        self.called = called

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def names(self) -> list[str]:
        """What it holds."""
        return list(self._members)

    def only(self, names: Sequence[str]) -> None:
        """Damage where it holds anything else: a name in which a bit has changed would pass for one that is not there."""
        for name in self._members:
            if name not in names:
                raise Damage(f"{self.called} has a member {name[:40]!r}, which is not known")

    def member(self, name: str) -> Any:
        """Whatever is called so."""
        if name not in self._members:
            raise Damage(f"{self.called} has no {name!r}")
        return self._members[name]

    def section(self, name: str) -> Section:
        """A mapping in it."""
        return Section(self.member(name), f"{name!r}")

    def text(self, name: str) -> str:
        """A text that can be handed to C."""
        return plain(self.member(name), f"{name!r} of {self.called}")

    def texts(self, name: str) -> list[str]:
        """A list of such; none where it is missing, as in old files."""
        return [plain(each, f"a member of {name!r}") for each in self.items(name)] if name in self else []

    def count(self, name: str, otherwise: int | None = None) -> int:
        """A number of things, stored as text."""
        if otherwise is not None and name not in self:
            return otherwise
        text = self.text(name)
        if not COUNT.fullmatch(text):
            raise Damage(f"{name!r} of {self.called} is {text[:40]!r}, which is no count")
        return int(text)

    def items(self, name: str) -> list[Any]:
        """A list of anything."""
        found = self.member(name)
        if isinstance(found, np.ndarray):
            return list(found.tolist())
        if not isinstance(found, list):
            raise Damage(f"{name!r} of {self.called} is no list")
        return found

    def integers(self, name: str, otherwise: Sequence[int] | None = None) -> IntArray:
        """A list of whole numbers."""
        found = self.member(name) if otherwise is None or name in self else list(otherwise)
        if isinstance(found, np.ndarray) and found.dtype.kind in "iu":
            return found.astype(np.int64)
        if not isinstance(found, list) or not set(map(type, found)) <= {int, bool}:
            raise Damage(f"{name!r} of {self.called} is no list of whole numbers")
        try:
            return np.array(found, np.int64)
        except OverflowError:
            raise Damage(f"{name!r} of {self.called} holds a number beyond 64 bits") from None

    def numbers(self, name: str) -> FloatArray:
        """A list of numbers, to the single precision that XGBoost keeps."""
        found = self.member(name)
        with np.errstate(over="ignore"):
            if isinstance(found, np.ndarray):
                return found.astype(np.float32)
            if not isinstance(found, list) or not set(map(type, found)) <= {int, float}:
                raise Damage(f"{name!r} of {self.called} is no list of numbers")
            try:
                return np.array(found, np.float64).astype(np.float32)
            except OverflowError:
                raise Damage(f"{name!r} of {self.called} holds a number beyond any precision") from None


def plain(text: Any, called: str) -> str:
    """A text that can be handed on."""
    if not isinstance(text, str):
        raise Damage(f"{called} is no text")
    if STRANGE_CHARACTERS.search(text):
        raise Damage(f"{called} holds letters that no text has")
    return text
