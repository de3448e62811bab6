"""What a cost is: pairs of an original and what it became in, numbers out."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError
from tippingpoint.foreign import guarded


@dataclass(frozen=True)
class Pair:
    """An original, what became of it, and by which variation.

    Attributes
    ----------
    original, changed
        Texts, or images; None where they are not known.
    variant
        What the changed one is called in the table.
    parts
        Names of the variations that were made, one after the other.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> tp.costs.WordEdits()([tp.costs.Pair("who is it", "who was it")]).round(3).tolist()
    [0.333]
    """

    original: Any
    changed: Any
    variant: str = ""
    parts: tuple[str, ...] = ()


class Cost(ABC):
    """What changes cost, a number a pair; never below 0.

    A cost of your own is a function `f(original, changed)`; wherever costs are taken, so are functions.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> isinstance(tp.costs.WordEdits(), tp.costs.Cost)
    True
    """

    label: str
    """What it is, for a summary."""

    needs_content: bool = True
    """Whether it looks at texts or images; prices by name do not."""

    @abstractmethod
    def __call__(self, pairs: Sequence[Pair]) -> FloatArray:
        """Of every pair."""


class OwnCost(Cost):
    """A function of the user's, `f(original, changed)`."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function: Callable[[Any, Any], Any] = function
        self.label: str = f"by {getattr(function, '__name__', type(function).__name__)}"

    def __call__(self, pairs: Sequence[Pair]) -> FloatArray:
        return np.array([self._one(pair) for pair in pairs], dtype=float)

    def _one(self, pair: Pair) -> float:
        with guarded(lambda reason: InputError(f"cost fails ({reason}) on {shown(pair)}; mend the function.")):
            cost = self.function(pair.original, pair.changed)
        try:
            number = float(cost)
        except (TypeError, ValueError):
            number = math.nan
        if isinstance(cost, str) or not 0.0 <= number < math.inf:
            raise InputError(f"cost returns {cost!r} for {shown(pair)}; return a number, 0 or more.")
        return number


def shown(pair: Pair) -> str:
    """A pair in a sentence."""
    if isinstance(pair.changed, str):
        text = pair.changed if len(pair.changed) <= 40 else f"{pair.changed[:37]}..."
        return f"the variant {pair.variant!r}, {text!r}"
    return f"the variant {pair.variant!r}"
