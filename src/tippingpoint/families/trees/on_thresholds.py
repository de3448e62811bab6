"""Rows that lie on thresholds: what they need to err is no move but a rounding, and no finding."""

from __future__ import annotations

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


def caution(domain: Domain, x: FloatArray, rows: IntArray, places: FloatArray, lift: FloatArray, *, errors: bool) -> str:
    """What is to be said first of all of places that were found; empty where all of them are moves.

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
        return ""
    verb = ("errs" if count == 1 else "err") if errors else ("has" if count == 1 else "have") + " a higher loss"
    columns = np.flatnonzero(off[free].any(axis=0))
    named = ", ".join(repr(domain.names[j]) for j in columns[:3]) + (" ..." if len(columns) > 3 else "")
    whole = [j for j in columns if _whole(x[:, j])]
    remedy = f"{KEEP_WHOLE}; {SAY_WHOLE.format(name=domain.names[whole[0]])}" if whole else STAY_ON
    return f"{count:,} of {len(x):,} rows {verb} at no cost, on thresholds of the trees (in {named}); {remedy}"


def _whole(column: FloatArray) -> bool:
    return bool((column[~np.isnan(column)] % 1.0 == 0.0).all())
