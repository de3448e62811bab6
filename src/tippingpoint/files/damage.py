"""What is wrong with a booster's file, found before another library sees a byte of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from tippingpoint.core.arrays import BoolArray, IntArray
from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.files.base import reading


class Damage(Exception):  # noqa: N818  # what is found, and not yet an error of ours
    """What contradicts itself, or the format, as a clause: `tree 3 has no root`."""


class Unserved(Exception):  # noqa: N818
    """What is well formed, but no model that is served, as a clause that ends in the remedy."""


def refuse_trees(wrong: BoolArray, tree: IntArray, clause: str) -> None:
    """Say what is wrong with the first tree that has a wrong node; `tree` is the tree of every node."""
    if wrong.any():
        raise Damage(f"tree {tree[np.argmax(wrong)]} {clause}")


@contextmanager
def examining(path: object, kind: str) -> Iterator[None]:
    """Damage, and whatever else goes wrong in reading, as a sentence about the file."""
    with reading(path, kind):
        try:
            yield
        except Damage as damage:
            raise InputError(f"{path} is {kind} that is damaged or cut off: {damage}; save it again.") from None
        except Unserved as found:
            raise UnsupportedError(f"{path} is {kind} {found}.") from None
