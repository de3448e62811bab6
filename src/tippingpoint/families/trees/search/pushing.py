"""How samples are pushed: in which directions of the outputs, and what a pushed score is worth under a loss.

Every *side* of a sample is one direction: its score is `offset + Σ_k weight_k f_k(x)`, and a loss that never falls as the score
rises says what that is worth. The loss of a sample is the largest over its sides: rivals of its class, or both directions of a
prediction. So the best response is the best over sides, each a problem of one score that trees add up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, combine
from tippingpoint.families.trees.forest import Int32Array


class Kind(IntEnum):
    """What a `ScoreLoss` is, by the numbers of `Loss::Kind` in `native/losses.hpp`."""

    STEP = 0
    PIECES = 1
    LOGISTIC = 2
    SQUARE = 3
    HUBER = 4
    ODDS = 5
    TABLE = 6
    LINKED = 7
    SOFTMAX = 8


class Link(IntEnum):
    """How a pushed score becomes what a linked loss is a loss of, as in `native/losses.hpp`."""

    EXP_UP = 0
    EXP_DOWN = 1
    LOGISTIC_UP = 2
    LOGISTIC_DOWN = 3
    LOGIT = 4


@dataclass(frozen=True)
class ScoreLoss:
    """A loss of a pushed score, which never falls.

    Attributes
    ----------
    kind, numbers
        - `STEP`: 1 from 0 on.
        - `PIECES`: the largest of lines that do not fall: their slopes, then their offsets.
        - `LOGISTIC`: `log(1 + eˢ)`.
        - `SQUARE`: `(s + a)²` where that is positive, of `(a,)`.
        - `HUBER`: `s²/2` up to `δ`, straight beyond, 0 below zero, of `(δ,)`.
        - `ODDS`: `-log(1 - s)` of a probability, both kept `ε` away from 0, of `(ε,)`.
        - `TABLE`: convex, given at points: scores that rise, then the loss at each.
        - `LINKED`: a loss of a function of the score, of `(link, a, inner kind, inner numbers...)`. The function is `eˢ - a`,
          `a - e⁻ˢ`, the same of the logistic function, or the log-odds of the score, a probability kept `a` away from 0 and 1.
        - `SOFTMAX`: `log(1 + Σ e^s_k)` over all rivals of a class, of `(class, how far each is ahead before any tree)`. It is
          no function of the one score, a mixture of the `s_k`, which it is no less than.
    """

    kind: Kind
    numbers: tuple[float, ...] = ()

    @property
    def convex(self) -> bool:
        """Whether it is known to be."""
        return self.kind not in (Kind.STEP, Kind.LINKED)

    def value(self, score: FloatArray) -> FloatArray:
        """The loss of scores."""
        if self.kind is not Kind.LINKED:
            return np.asarray(VALUES[self.kind](np.asarray(score, dtype=float), np.array(self.numbers)))
        link, number, inner, *numbers = self.numbers
        with np.errstate(over="ignore"):  # a prediction that is no number any more is an infinite one
            linked = LINKED[Link(int(link))](np.asarray(score, dtype=float), number)
        return ScoreLoss(Kind(int(inner)), tuple(numbers)).value(linked)


VALUES: dict[Kind, Callable[[FloatArray, FloatArray], FloatArray]] = {
    Kind.STEP: lambda s, _: (s >= 0.0).astype(float),
    Kind.PIECES: lambda s, n: (n[: len(n) // 2] * s[..., None] + n[len(n) // 2 :]).max(axis=-1),
    Kind.LOGISTIC: lambda s, _: np.logaddexp(0.0, s),
    Kind.SQUARE: lambda s, n: np.square(np.maximum(s + n[0], 0.0)),
    Kind.HUBER: lambda s, n: np.clip(s, 0.0, n[0]) * (np.maximum(s, 0.0) - 0.5 * np.clip(s, 0.0, n[0])),
    Kind.ODDS: lambda s, n: np.log1p(np.clip(s, n[0], 1.0) / np.clip(1.0 - s, n[0], 1.0)),
    Kind.SOFTMAX: lambda s, _: s,
    Kind.TABLE: lambda s, n: np.asarray(np.interp(s, n[: len(n) // 2], n[len(n) // 2 :])),
}
"""Every kind by itself."""

LINKED: dict[Link, Callable[[FloatArray, float], FloatArray]] = {
    Link.EXP_UP: lambda s, a: np.exp(s) - a,
    Link.EXP_DOWN: lambda s, a: a - np.exp(-s),
    Link.LOGISTIC_UP: lambda s, a: 1.0 / (1.0 + np.exp(-s)) - a,
    Link.LOGISTIC_DOWN: lambda s, a: a - 1.0 / (1.0 + np.exp(s)),
    Link.LOGIT: lambda s, a: np.log(np.clip(s, a, 1.0)) - np.log(np.clip(1.0 - s, a, 1.0)),
}
"""Every link by itself."""


@dataclass(frozen=True)
class Sides:
    """The directions in which samples are pushed.

    Attributes
    ----------
    begins
        `(n + 1,)` where the sides of every sample begin, and the end.
    weights, offset
        `(S, K)` and `(S,)`: of every side.
    loss
        `(S,)` which of `losses` it is judged by.
    losses
        The losses.
    """

    begins: Int32Array
    weights: FloatArray
    offset: FloatArray
    loss: Int32Array
    losses: tuple[ScoreLoss, ...]

    @property
    def crossing(self) -> bool:
        """Whether samples are to be pushed across a boundary, at the least cost, and no further."""
        return self.losses[0].kind is Kind.STEP

    def of(self, samples: IntArray) -> Sides:
        """Those of these samples."""
        counts = np.diff(self.begins)[samples]
        begins = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        which = np.repeat(self.begins[samples] - begins[:-1], counts) + np.arange(begins[-1])
        return Sides(begins, self.weights[which], self.offset[which], self.loss[which], self.losses)

    def present(self, outputs: FloatArray) -> FloatArray:
        """The loss of every sample, of its outputs: the largest over its sides, zero where there are none."""
        counts = np.diff(self.begins)
        sample = np.repeat(np.arange(len(counts)), counts)
        score = self.offset + combine(outputs[sample], self.weights)
        value, most = np.empty(len(score)), np.full(len(counts), -np.inf)
        for which, loss in enumerate(self.losses):
            own = self.loss == which
            value[own] = loss.value(score[own])
        np.maximum.at(most, sample, value)
        return np.where(counts > 0, most, 0.0)
