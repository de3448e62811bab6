"""Just enough of the wire format of Protocol Buffers to look into a file: fields by number, nothing decoded."""

from __future__ import annotations

from collections.abc import Iterator

WIDTHS = {1: 8, 5: 4}
"""Bytes of the wire types of fixed width."""


def fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Number and value of every field: whole numbers, or bytes not looked into; `ValueError` where it is not that format."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value
            continue
        if wire == 2:
            width, at = _varint(data, at)
        elif wire in WIDTHS:
            width = WIDTHS[wire]
        else:
            raise ValueError(f"there is no wire type {wire}")
        if at + width > len(data):
            raise ValueError("a field ends behind the end")
        yield number, data[at : at + width]
        at += width


def packed(value: int | memoryview) -> Iterator[int]:
    """The whole numbers of a repeated field, packed or one at a time; signed, of 64 bits."""
    if isinstance(value, int):
        yield _signed(value)
        return
    at = 0
    while at < len(value):
        number, at = _varint(value, at)
        yield _signed(number)


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("a number ends behind the end")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
