"""Just enough of Universal Binary JSON to see whether a file is whole: XGBoost reads on behind the end of one that is not."""

from __future__ import annotations

WIDTHS = {b"i": 1, b"U": 1, b"C": 1, b"I": 2, b"l": 4, b"d": 4, b"L": 8, b"D": 8}
"""Bytes of the types of fixed width."""

EMPTY = (b"Z", b"N", b"T", b"F")
"""Types that are their own value."""


def is_whole(data: bytes) -> bool:
    """Whether it is one value from the first byte to the last."""
    try:
        return _Walk(data).value() == len(data)
    except (IndexError, RecursionError, ValueError):
        return False


class _Walk:
    """A walk over every value, which reads lengths only."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def value(self, kind: bytes | None = None) -> int:
        """Where the next value ends."""
        kind = self._taken(1) if kind is None else kind
        if kind in WIDTHS:
            self._skip(WIDTHS[kind])
        elif kind in (b"S", b"H"):
            self._skip(self._length())
        elif kind in (b"[", b"{"):
            self._container(named=kind == b"{")
        elif kind not in EMPTY:
            raise ValueError(f"there is no type {kind!r}")
        return self._at

    def _container(self, *, named: bool) -> None:
        kind = self._taken(1) if self._next(b"$") else None
        if self._next(b"#"):
            count = self._length()
            if not named and kind in WIDTHS:
                self._skip(count * WIDTHS[kind])
                return
            for _ in range(count):
                self._member(kind, named=named)
            return
        end = b"}" if named else b"]"
        while not self._next(end):
            self._member(kind, named=named)

    def _member(self, kind: bytes | None, *, named: bool) -> None:
        if named:
            self._skip(self._length())
        self.value(kind)

    def _length(self) -> int:
        kind = self._taken(1)
        if kind not in WIDTHS or kind in (b"d", b"D", b"C"):
            raise ValueError(f"{kind!r} is no type of lengths")
        return int.from_bytes(self._taken(WIDTHS[kind]), "big", signed=kind != b"U")

    def _next(self, wanted: bytes) -> bool:
        """Whether this comes next; then it is taken."""
        found = self._data[self._at : self._at + 1] == wanted
        self._at += found
        return found

    def _taken(self, width: int) -> bytes:
        start = self._at
        self._skip(width)
        return self._data[start : self._at]

    def _skip(self, width: int) -> None:
        if width < 0 or self._at + width > len(self._data):
            raise IndexError("a value ends behind the end")
        self._at += width
