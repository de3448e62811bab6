"""Universal Binary JSON, as XGBoost writes it: read without believing any count, and written."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from tippingpoint.files.damage import Damage

NUMBERS = {"i": ">i1", "U": ">u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8"}
"""Types of numbers, by their markers; a typed array holds one of these."""

SINGLES = {marker: struct.Struct(f">{letter}") for marker, letter in zip(NUMBERS, "bBhiqfd", strict=True)}
"""The same for one number."""

LENGTH_MARKERS = "iUIlL"
"""The types of them that may be lengths."""

CONSTANTS = {"Z": None, "T": True, "F": False}
"""Markers that are their own value."""

DEPTH = 32
"""Values within values; XGBoost's files have nine."""

MARKERS = {np.dtype(kind).newbyteorder("="): marker for marker, kind in NUMBERS.items()}
"""The marker of each type of arrays."""


def read(data: bytes) -> Any:
    """The one value that the bytes are, from the first to the last; arrays of one type are NumPy's.

    Raises
    ------
    Damage
        If they are anything else. No more is allocated than the bytes can hold.
    """
    reader = _Reader(data)
    value = reader.value(0)
    if reader.left:
        raise Damage(f"{reader.left} bytes follow its end")
    return value


def written(value: Any) -> bytes:
    """The bytes of a value: mappings, lists, texts, whole numbers and arrays."""
    parts: list[bytes] = []
    _write(value, parts)
    return b"".join(parts)


class _Reader:
    """A place in the bytes, moving on."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        """Bytes that were not read."""
        return len(self._data) - self._at

    def value(self, depth: int) -> Any:
        """The value that comes next."""
        if depth > DEPTH:
            raise Damage(f"values are nested more than {DEPTH} deep")
        marker = self._marker()
        if marker in SINGLES:
            return self._number(marker)
        if marker in CONSTANTS:
            return CONSTANTS[marker]
        if marker == "S":
            return self._text()
        if marker == "[":
            return self._list(depth)
        if marker == "{":
            return self._mapping(depth)
        raise Damage(f"byte {self._at - 1} is {marker!r}, which begins no value")

    def _list(self, depth: int) -> Any:
        if self._next(b"$"):
            kind = self._marker()
            if kind not in NUMBERS or not self._next(b"#"):
                raise Damage(f"byte {self._at} begins an array of a type or without a length that no model has")
            return self._array(kind, self._length())
        if self._next(b"#"):
            count = self._length()
            if count > self.left:  # every member has a byte at least
                raise Damage(f"a list claims {count} members where {self.left} bytes are left")
            return [self.value(depth + 1) for _ in range(count)]
        members = []
        while not self._next(b"]"):
            members.append(self.value(depth + 1))
        return members

    def _mapping(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not self._next(b"}"):
            name = self._text()
            if name in members:
                raise Damage(f"{name[:40]!r} occurs twice in one place")
            members[name] = self.value(depth + 1)
        return members

    def _text(self) -> str:
        try:
            return self._taken(self._length()).decode("utf-8")
        except UnicodeDecodeError:
            raise Damage(f"the text that ends at byte {self._at} is not UTF-8") from None

    def _length(self) -> int:
        marker = self._marker()
        if marker not in LENGTH_MARKERS:
            raise Damage(f"byte {self._at - 1} is {marker!r}, which begins no length")
        return int(self._number(marker))

    def _number(self, marker: str) -> Any:
        """One number; a list without a type may hold millions, too many to be arrays of one."""
        single = SINGLES[marker]
        return single.unpack(self._taken(single.size))[0]

    def _array(self, marker: str, count: int) -> np.ndarray[Any, Any]:
        kind = np.dtype(NUMBERS[marker])
        return np.frombuffer(self._taken(count * kind.itemsize), kind).astype(kind.newbyteorder("="))

    def _marker(self) -> str:
        return chr(self._taken(1)[0])

    def _next(self, wanted: bytes) -> bool:
        """Whether this comes next; then it is taken."""
        found = self._data[self._at : self._at + 1] == wanted
        self._at += found
        return found

    def _taken(self, width: int) -> bytes:
        if not 0 <= width <= self.left:
            raise Damage(f"a value of {width} bytes begins at byte {self._at}, where {self.left} are left")
        self._at += width
        return self._data[self._at - width : self._at]


def _write(value: Any, parts: list[bytes]) -> None:
    if isinstance(value, str):
        parts.append(b"S" + _sized(value))
    elif isinstance(value, np.ndarray):
        marker = MARKERS[value.dtype]
        parts.append(b"[$" + marker.encode() + b"#" + _length(len(value)))
        parts.append(value.astype(NUMBERS[marker]).tobytes())
    elif isinstance(value, Mapping):
        parts.append(b"{")
        for name, member in value.items():
            parts.append(_sized(name))
            _write(member, parts)
        parts.append(b"}")
    elif isinstance(value, list):
        parts.append(b"[#" + _length(len(value)))
        for member in value:
            _write(member, parts)
    else:
        parts.append(_number(value))


def _sized(text: str) -> bytes:
    encoded = text.encode("utf-8")
    return _length(len(encoded)) + encoded


def _length(count: int) -> bytes:
    return struct.pack(">cq", b"L", count)  # the only type of lengths that XGBoost reads


def _number(value: float) -> bytes:
    return struct.pack(">cf", b"d", value) if isinstance(value, float) else struct.pack(">cq", b"L", value)
