r"""The risk to be expected without labels, if the score means what it meant.

Where :math:`P_1(y \mid s) = P_0(y \mid s)`, the risk of the current rows is :math:`\sum_j q_j\, E_0[\ell \mid s_j]`. It is an
estimate under that assumption, and no bound: outcomes may change where inputs do not.
"""

from __future__ import annotations

import numpy as np

from tippingpoint.api.windows import Reference
from tippingpoint.core.arrays import FloatArray, total
from tippingpoint.data.frames import Features

BINS = 50
"""Parts of the scores of equal mass, over which losses are averaged where there are not two classes."""


def expected_risk(reference: Reference, features: Features, base: FloatArray) -> float:
    """The mean over rows of what a row of that score lost on the reference."""
    if reference.classifies and len(reference.labels) == 1:  # every outcome was of this class, whatever the score
        return total(base, reference.losses(features, reference.labels[0]))
    now = reference.scored()
    later = reference.unlabelled(features)
    if reference.classifies and len(reference.labels) == 2:
        return _of_two_classes(reference, now.margins.values, later.values, features, base)
    losses = reference.margins.loss.value(reference.margins.values)
    return total(base, _binned(now.margins.values, losses, now.base, later.values))


def _of_two_classes(reference: Reference, before: FloatArray, after: FloatArray, features: Features, base: FloatArray) -> float:
    """Chances of the second class rise with its score (isotonic regression); the loss of either outcome is known."""
    from sklearn.isotonic import IsotonicRegression

    positive = (reference.y == reference.labels[1]).astype(float)
    rising = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    chance = rising.fit(-before, positive, sample_weight=reference.case.base).predict(-after)
    lost = [reference.losses(features, label) for label in reference.labels]
    return total(base, (1.0 - chance) * lost[0] + chance * lost[1])


def _binned(before: FloatArray, losses: FloatArray, base: FloatArray, after: FloatArray) -> FloatArray:
    """The mean loss of the part of the reference in which a score lies."""
    order = np.argsort(before, kind="stable")
    part = np.minimum((np.cumsum(base[order]) * BINS).astype(np.intp), BINS - 1)
    held, lost = (np.bincount(part, each[order], BINS) for each in (base, base * losses))
    kept = np.flatnonzero(held > 0.0)
    first = before[order][np.searchsorted(part, kept)]
    means = lost[kept] / held[kept]
    return np.asarray(means[np.clip(np.searchsorted(first, after, side="right") - 1, 0, len(kept) - 1)])
