"""Outcomes that are missing, as refusals and answers that could not be read: what they count as."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError

Missing = str | float | tuple[float, float]
"""What a user says of missing outcomes."""


@dataclass(frozen=True)
class MissingRule:
    """What a missing outcome counts as.

    Attributes
    ----------
    kind
        "bounds": anything between two losses, so the number is bounded from both sides. "wrong": one loss. "drop": the line is
        left out.
    low, high
        The two losses, as far as they are given; the same for one.
    """

    kind: Literal["bounds", "wrong", "drop"]
    low: float | None = None
    high: float | None = None

    @classmethod
    def read(cls, given: Any) -> MissingRule:
        """The rule that a user names, by a word, a loss or two losses."""
        if given in ("bounds", "wrong", "drop") if isinstance(given, str) else False:
            return cls(given)
        if _is_loss(given):
            return cls("wrong", float(given), float(given))
        if isinstance(given, (tuple, list)) and len(given) == 2 and all(map(_is_loss, given)) and given[0] < given[1]:
            return cls("bounds", float(given[0]), float(given[1]))
        raise InputError(
            f"missing={given!r} must be 'bounds' (the number is bounded from both sides), 'wrong' (the largest loss), 'drop', a"
            " loss, or the least and the largest loss that an outcome can have, as (0, 5)."
        )

    @property
    def written(self) -> Missing:
        """As a user says it."""
        if self.low is None or self.high is None:
            return self.kind
        return self.low if self.kind == "wrong" else (self.low, self.high)

    def range(self, losses: FloatArray) -> tuple[float, float]:
        """What a missing loss is at least and at most: as given, else by the losses that are known."""
        known = losses[~np.isnan(losses)]
        if self.low is not None and self.high is not None:
            least, largest = (float(known.min()), float(known.max())) if len(known) else (self.low, self.high)
            if self.kind == "bounds" and not self.low <= least <= largest <= self.high:
                raise InputError(
                    f"missing=({self.low:g}, {self.high:g}) must be the least and the largest loss of any outcome, but"
                    f" known ones go from {least:g} to {largest:g}; widen it."
                )
            return self.low, self.high
        if not len(known):
            raise InputError("every loss is missing; give the outcomes that are known, or what a missing one counts as.")
        low, high = float(known.min()), float(known.max())
        return (0.0, 1.0) if low >= 0.0 and high <= 1.0 else (low, high)

    def filled(self, losses: FloatArray, held: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
        """The losses with the least, and with the largest, in place of what is missing; for one loss, that in both."""
        gone = np.isnan(losses)
        low, high = held if self.kind == "bounds" else (held[1], held[1])
        return np.where(gone, low, losses), np.where(gone, high, losses)


def _is_loss(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def told(
    rule: MissingRule,
    held: tuple[float, float],
    *,
    gone: int,
    of: int,
    originals: int,
    risks: tuple[float, float],
    repeated: bool,
) -> str:
    """A note on missing outcomes.

    Parameters
    ----------
    rule, held
        What they count as.
    gone, of, originals
        How many outcomes are missing of how many, and how many of them of originals; those without are dropped with "drop".
    risks
        The mean loss now, for the two fillings.
    repeated
        Whether losses are means of runs.
    """
    first = f"{gone:,} of {of:,} outcomes {'is' if gone == 1 else 'are'} missing"
    also = f", {originals:,} of them of originals" if originals else ""
    if rule.kind == "drop":
        samples = f", and {originals:,} {'sample' if originals == 1 else 'samples'} without an original" if originals else ""
        rest = "means are of the runs that are left" if repeated else "alternatives more could only lower the number"
        return f"{first} and left out{samples}: the number is of what is left, and {rest}"
    if rule.kind == "wrong":
        return f"{first}{also}, and each counts as a loss of {held[1]:g}"
    now = f", and the mean loss now lies between {risks[0]:.4g} and {risks[1]:.4g}" if originals else ""
    return (
        f"{first}{also}: each may be a loss from {held[0]:g} to {held[1]:g}, which the two bounds allow for{now};"
        " missing='wrong' or 'drop' says what they count as"
    )
