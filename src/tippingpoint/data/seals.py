"""Large arrays that stay the user's own: looked at once, block by block, and sealed, so that a later change is noticed.

A small array is copied, and what the user does with theirs later is no matter. A copy of a large one takes time and memory that
the answer does not need; it is shared instead, and whoever reads it again checks its seal first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tippingpoint.core.arrays import BoolArray, FloatArray, blocks
from tippingpoint.errors import InputError

WordArray = npt.NDArray[np.uint64]

SHARED_FROM = 2**25
"""Bytes from which on an array is shared and not copied: a copy of fewer is neither seen in the time nor in the memory that an
evaluation takes, and leaves users free to write into what they gave."""

BLOCK_BYTES = 2**19
"""Bytes looked at at once: these, their mixed words and the multipliers stay in the cache of one core."""

WORD = 8
"""Bytes of a word that is summed."""

HALF = np.uint64(32)
"""Bits by which a word is folded onto itself. Without it two signs that change would cancel: their bit is the highest, and
whatever it is multiplied by, it is lost beyond the word or stays where it is."""

SINCE = "since it was read"
"""When a change happened, of an array that is about to be read again."""

BLAME = "an array this large is not copied, so whoever writes into it changes what was read"
"""How that can be."""


@dataclass(frozen=True)
class Seal:
    """An array that the user holds too, and a checksum of every block of its rows.

    In a pickle, or in a deep copy, it is checked once more and then left open: nobody else holds that array.

    Attributes
    ----------
    name
        What messages call it.
    array
        The array itself; None where nothing is shared, and nothing to be noticed.
    sums
        Checksums, in the order of the blocks.
    """

    name: str = "X"
    array: np.ndarray[Any, Any] | None = field(default=None, repr=False)
    sums: WordArray = field(default_factory=lambda: np.zeros(0, dtype=np.uint64), repr=False)

    def check(self, when: str = SINCE, blame: str = BLAME) -> None:
        """Refuse an array that has changed."""
        if self.array is None:
            return
        checksum = _Checksum(self.array)
        for rows, before in zip(_rows(self.array), self.sums, strict=True):
            if checksum(self.array[rows]) != before:
                raise InputError(
                    f"{self.name} changed {when}, in one of its rows {rows.start} to {rows.stop - 1}; {blame}: pass"
                    f" {self.name}.copy()."
                )

    def __copy__(self) -> Seal:
        return self

    def __reduce__(self) -> tuple[type[Seal], tuple[str]]:
        self.check()
        return Seal, (self.name,)


UNSHARED = Seal()
"""Of arrays that nobody else holds."""


@dataclass(frozen=True)
class Survey:
    """What one look at every block of a table found.

    Attributes
    ----------
    missing
        Columns that hold NaN.
    infinite
        Row and column of the first infinite value; None where there is none.
    sums
        Checksums by block; empty where none were asked for.
    """

    missing: BoolArray
    infinite: tuple[int, int] | None
    sums: WordArray


def survey(x: FloatArray, fill: Callable[[slice], None] | None = None, *, summed: bool = False) -> Survey:
    """One look at every block of rows.

    Parameters
    ----------
    x
        `(n, d)`, in C order.
    fill
        Writes a block of rows into `x` before it is looked at, where they are not there yet.
    summed
        Whether to take checksums.
    """
    missing, infinite = np.zeros(x.shape[1], dtype=bool), None
    checksum, sums = _Checksum(x) if summed else None, []
    for rows in _rows(x):
        if fill is not None:
            fill(rows)
        block = x[rows]
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(np.add.reduce(block, axis=None))  # of what is not finite no sum is
        if not finite:
            missing |= np.isnan(block).any(axis=0)
            odd = np.isinf(block)
            if infinite is None and odd.any():
                row, column = (int(k) for k in np.argwhere(odd)[0])
                infinite = rows.start + row, column
        if checksum is not None:
            sums.append(checksum(block))
    return Survey(missing, infinite, np.array(sums, dtype=np.uint64))


def shareable(values: np.ndarray[Any, Any]) -> bool:
    """Whether an array is large, and its bytes are its values in their order."""
    in_order = values.flags.c_contiguous and values.flags.aligned and not values.dtype.hasobject
    return bool(in_order and values.nbytes >= SHARED_FROM)


def shared(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A view of the user's array through which nothing is written."""
    view = values.view()
    view.flags.writeable = False
    return view


def kept(values: np.ndarray[Any, Any], name: str) -> tuple[np.ndarray[Any, Any], Seal]:
    """An array of the user's that is to be read later: a small one copied, a large one shared and sealed."""
    if not shareable(values):
        return values.copy(), UNSHARED
    view, checksum = shared(values), _Checksum(values)
    return view, Seal(name, view, np.array([checksum(view[rows]) for rows in _rows(view)], dtype=np.uint64))


class _Checksum:
    r""":math:`\sum_k m_k (w_k \oplus \lfloor w_k / 2^{32} \rfloor) \bmod 2^{64}` over the words of a block, every `m_k` odd.

    A block in which one value changed never has the same; one in which several did, or changed places, by a rare chance.
    """

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        longest = max((values[rows].nbytes for rows in _rows(values)), default=0)
        self._multipliers = _multipliers(longest // WORD + 1)
        self._mixed = np.empty(longest // WORD + 1, dtype=np.uint64)

    def __call__(self, block: np.ndarray[Any, Any]) -> int:
        octets = block.reshape(-1).view(np.uint8)
        count = len(octets) // WORD
        words, mixed = octets[: count * WORD].view(np.uint64), self._mixed[:count]
        np.right_shift(words, HALF, out=mixed)
        np.bitwise_xor(mixed, words, out=mixed)
        rest = int.from_bytes(octets[count * WORD :].tobytes(), "little") * int(self._multipliers[count])
        return (int(np.einsum("i,i->", mixed, self._multipliers[:count])) + rest) % 2**64


@lru_cache(maxsize=4)
def _multipliers(count: int) -> WordArray:
    """Odd numbers in no order: by those of a progression, changes of neighbours could cancel."""
    drawn = np.random.default_rng(0).integers(0, 2**64, size=count, dtype=np.uint64)
    return np.asarray(drawn | np.uint64(1))


def _rows(values: np.ndarray[Any, Any]) -> Iterator[slice]:
    """The blocks of an array, always the same ones."""
    return blocks(len(values), BLOCK_BYTES // max(values.nbytes // max(len(values), 1), 1))
