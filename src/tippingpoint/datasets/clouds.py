"""Two clouds of points, the first example of the paper."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from tippingpoint.datasets.task import Task
from tippingpoint.errors import InputError

CENTRES = ((2.0, 2.0), (-1.0, -1.0))
"""Where the points of outcome 0 and 1 lie; both clouds have covariance I."""


def toy(seed: int = 0, samples: int = 100) -> Task:
    """`N((2, 2), I)` with y = 0, then `N((-1, -1), I)` with y = 1.

    Parameters
    ----------
    seed
        Which points are drawn; the same for the same seed.
    samples
        How many of each.

    Examples
    --------
    >>> print(toy())
    two clouds: 200 rows × 2 columns, y = 1 in 50%
      numeric  x1, x2
      source   Drawn from two normal distributions with seed 0, 100 of each.
    """
    import pandas as pd

    for name, value, least in (("seed", seed, 0), ("samples", samples, 1)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise InputError(f"{name}={value!r} must be a whole number, at least {least}.")
    drawn = np.random.default_rng(int(seed)).standard_normal((len(CENTRES), samples, 2))
    x = (drawn + np.array(CENTRES)[:, None, :]).reshape(-1, 2)
    y = pd.Series(np.repeat((0, 1), samples), name="y")
    source = f"Drawn from two normal distributions with seed {seed}, {samples:,} of each."
    return Task("two clouds", pd.DataFrame(x, columns=["x1", "x2"]), y, ("x1", "x2"), source=source)
