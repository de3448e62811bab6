r"""Lower envelopes of parabolas of one width: :math:`f^c(y) = \min_i c (x_i - y)^2 - f_i`.

With :math:`h_i = c x_i^2 - f_i` the parabola that is lowest at `y` is the one whose point :math:`(x_i, h_i)` the line of slope
`2cy` touches from below: a vertex of the lower convex hull, found by the slopes of its edges.
"""

from __future__ import annotations

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray

FEW = 256
"""Points above the chord of their neighbours that are dropped one at a time; more, all at once, in a pass over all."""


def lowest(centres: FloatArray, heights: FloatArray, price: float, places: FloatArray) -> tuple[FloatArray, IntArray]:
    """`min_i price·(centres_i - places_j)² - heights_i` of every place, and the `i`; centres and places in their order."""
    bends = price * np.square(centres) - heights
    kept = hull(centres, bends)
    edges = np.diff(bends[kept]) / np.diff(centres[kept])
    best = kept[np.searchsorted(edges, 2.0 * price * places)]
    return price * np.square(centres[best] - places) - heights[best], best


def hull(x: FloatArray, y: FloatArray) -> IntArray:
    """The points on the lower convex hull, `x` rising.

    No point above a chord of two others is on it, so all that lie above the chord of their neighbours are dropped at once, and
    that again, until few do: a far-off low point would take its neighbours away one a pass, and does so here one a step.
    """
    kept = np.arange(len(x))
    while len(kept) > 2:
        slopes = np.diff(y[kept]) / np.diff(x[kept])
        bent = np.flatnonzero(slopes[1:] <= slopes[:-1]) + 1
        if len(bent) == 0:
            break
        if len(bent) <= FEW:
            return _mended(x, y, kept, bent)
        kept = np.delete(kept, bent)
    return kept


def _mended(x: FloatArray, y: FloatArray, kept: IntArray, bent: IntArray) -> IntArray:
    """The hull of points that are convex but for a few: each that is dropped has its neighbours looked at again."""
    at, height = x[kept], y[kept]
    before = np.arange(-1, len(kept) - 1)
    after = np.arange(1, len(kept) + 1)
    dropped = np.zeros(len(kept), dtype=bool)
    waiting = [int(point) for point in bent]
    while waiting:
        here = waiting.pop()
        left, right = int(before[here]), int(after[here])
        if dropped[here] or left < 0 or right == len(kept):
            continue
        rise, fall = at[here] - at[left], at[right] - at[here]
        if (height[here] - height[left]) * fall < (height[right] - height[here]) * rise:
            continue
        dropped[here] = True
        after[left], before[right] = right, left
        waiting += [left, right]
    return np.asarray(kept[~dropped])
