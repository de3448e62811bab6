"""What a model returns, read for a loss: the number `v` of it that raises the loss, and by how much."""

from __future__ import annotations

from dataclasses import dataclass

from tippingpoint.core.arrays import IntArray
from tippingpoint.losses import Loss
from tippingpoint.query.counted import Scores


@dataclass(frozen=True)
class Reading:
    """How a model is judged.

    Attributes
    ----------
    loss, label, range
        `f`, the loss of `v`; what it is called, and its least and largest value.
    labels
        The true class of every sample, where there are classes: samples of the same have the same `v` at the same place.
    """

    loss: Loss
    label: str
    range: tuple[float, float]
    labels: IntArray | None


@dataclass(frozen=True)
class ScoreReading(Reading):
    """The same of a model that is queried.

    Attributes
    ----------
    scores
        `v` of rows at places.
    graded
        Whether `v` says how far an error is, or only whether there is one.
    notes
        How replies were understood, where nobody had said it.
    """

    scores: Scores
    graded: bool = True
    notes: tuple[str, ...] = ()
