"""Rows that lie on thresholds: what they need to err is no move but a rounding, and no finding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.space.domain import Domain

NO_MOVE = 1e-6
"""Of a number, or of what is usual in its column: libraries that keep numbers in single precision do not tell less apart."""

KEEP_WHOLE = "space=tp.Space.infer(X) (--space infer) keeps whole numbers whole and dummies one-hot"
SAY_WHOLE = "of whole numbers that are stored as floats, kind={{{name!r}: 'integer'}} in the space says that they are"
"""What to do about it where whole numbers are moved by fractions."""

STAY_ON = "moves that small mean nothing: give these columns a step, or freeze them (tp.Space)"
"""The same where they are not."""


@dataclass(frozen=True)
class OnThresholds:
    """Rows that have a higher loss at no cost, on thresholds.

    Attributes
    ----------
    count
        How many there are.
    columns
        The columns by which they are off their place, in the order of the space.
    whole
        The first of these that holds whole numbers only; None where none does.
    errors
        Whether the higher loss is an error.
    """

    count: int
    columns: tuple[str, ...]
    whole: str | None
    errors: bool

    def joined(self, other: OnThresholds) -> OnThresholds:
        """Of the rows of both."""
        columns = tuple(dict.fromkeys((*self.columns, *other.columns)))
        return OnThresholds(self.count + other.count, columns, self.whole or other.whole, self.errors)

    def words(self, rows: int) -> str:
        """What is to be said before a number, of so many rows."""
        one = self.count == 1
        verb = ("errs" if one else "err") if self.errors else ("has" if one else "have") + " a higher loss"
        named = ", ".join(map(repr, self.columns[:3])) + (" ..." if len(self.columns) > 3 else "")
        remedy = STAY_ON if self.whole is None else f"{KEEP_WHOLE}; {SAY_WHOLE.format(name=self.whole)}"
        return f"{self.count:,} of {rows:,} rows {verb} at no cost, on thresholds of the trees (in {named}); {remedy}"


def on_thresholds(
    domain: Domain, x: FloatArray, rows: IntArray, places: FloatArray, lift: FloatArray, *, errors: bool
) -> OnThresholds | None:
    """Rows to which places were found that are no moves; None if there are none.

    Parameters
    ----------
    domain
        Where samples may go.
    x
        `(n, d)` the samples.
    rows, places, lift
        Of every place: the sample, where it is and by how much the loss is higher there.
    errors
        Whether that is an error.
    """
    before = x[rows]
    off = (before != places) & ~(np.isnan(before) & np.isnan(places))
    usual = np.abs(np.nan_to_num(x)).mean(axis=0)
    far = off & ~(np.abs(places - before) <= NO_MOVE * np.maximum(np.abs(before), usual))
    free = (lift > 0.0) & off.any(axis=1) & ~far.any(axis=1)
    count = len(np.unique(rows[free]))
    if not count:
        return None
    columns = np.flatnonzero(off[free].any(axis=0))
    whole = next((domain.names[j] for j in columns if _whole(x[:, j])), None)
    return OnThresholds(count, tuple(domain.names[j] for j in columns), whole, errors)


def _whole(column: FloatArray) -> bool:
    return bool((column[~np.isnan(column)] % 1.0 == 0.0).all())
