r"""Linear models of a score, and the best responses they suggest.

Around a point a network's score is :math:`v + \beta^\top s`, and for a linear score the best response is known in closed form,
whatever the loss and the bounds. Follow it, linearise there, and repeat. Where the score bends down (a ReLU of negative
weight) the model promises too much, and the next point would jump back; there the old model and the new one are *mixed*,

.. math:: \min_{w \in [0,1]} \max_s \lambda f\bigl(v(w) + \beta(w)^\top s\bigr) - \lVert s \rVert^2,

which finds the kink that both of them meet at. Where it bends up the new model promises more, and replaces the old one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, combine
from tippingpoint.families.network.search.scores import Scores, cost
from tippingpoint.losses import Loss
from tippingpoint.losses.push_response import PushResponse, Side
from tippingpoint.push import BoxPush, FreePush, Push

MAX_SQUARED_STEP = 1e30
"""Squared steps beyond this lead nowhere."""

RESTRAINT = 0.9
"""Part of the pole's price (squared losses) at which a step is taken where the price is beyond it: ten times the residual."""


@dataclass(frozen=True)
class Cut:
    """`v + βᵀs`, for every sample.

    Attributes
    ----------
    v
        The model's score where the sample is now.
    slope
        `β`, of the features that may move.
    """

    v: FloatArray
    slope: FloatArray

    @classmethod
    def at(cls, scores: Scores, rows: IntArray, steps: FloatArray) -> tuple[Cut, FloatArray]:
        """The linearisation after these steps, and the score there."""
        value, slope = scores.linearised(rows, steps)
        return cls(value - combine(slope, steps), slope), value

    def value(self, steps: FloatArray) -> FloatArray:
        return self.v + combine(self.slope, steps)

    def take(self, rows: IntArray | BoolArray) -> Cut:
        return Cut(self.v[rows], self.slope[rows])

    def mixed(self, other: Cut, share: FloatArray) -> Cut:
        return Cut(
            (1.0 - share) * self.v + share * other.v,
            (1.0 - share)[:, None] * self.slope + share[:, None] * other.slope,
        )


@dataclass(frozen=True)
class Suggestion:
    """The best responses of a cut: the steps, what the cut promises for them, and their multipliers `μ`."""

    steps: FloatArray
    gain: FloatArray
    multiplier: FloatArray


def suggest(price: float, cut: Cut, loss: Loss, room: tuple[FloatArray, FloatArray] | None) -> Suggestion:
    """Best responses of a linear score at a price (`inf`: as far as the largest lift)."""
    one = np.ones_like(cut.v)
    sides = [Side(loss, cut.v, one)]
    if loss.falls:
        sides.append(Side(loss.mirrored(), -cut.v, -one))
    answer = PushResponse.best(price, [(side, _push(price, side, cut, room)) for side in sides])
    signed = answer.direction * answer.multiplier
    steps = signed[:, None] * cut.slope
    if room is None:
        length = combine(cut.slope, cut.slope)
        with np.errstate(divide="ignore", invalid="ignore"):  # a restrained push is shorter than its multiplier says
            shorter = np.where(answer.compliance < length, answer.compliance / length, 1.0)
        steps *= shorter[:, None]
    else:
        steps = np.clip(steps, *room)
    with np.errstate(over="ignore", invalid="ignore"):
        sane = cost(steps) < MAX_SQUARED_STEP  # mixed slopes can cancel, and what is next to flat is crossed nowhere near
    return Suggestion(np.where(sane[:, None], steps, 0.0), np.where(sane, answer.gain, 0.0), answer.multiplier)


def mixing_share(old: Cut, new: Cut, multiplier: FloatArray | None) -> FloatArray:
    r"""How much of the new cut to mix in.

    At a fixed multiplier the minimum of :math:`2\mu v(w) + \mu^2 \lVert\beta(w)\rVert^2` over `w`; without one, the maximum of
    the distance :math:`v(w)^2/\lVert\beta(w)\rVert^2` to the zero of the mixed score.
    """
    rise = new.v - old.v
    across = new.slope - old.slope
    first, second = combine(old.slope, across), combine(across, across)
    with np.errstate(divide="ignore", invalid="ignore"):
        if multiplier is None:
            length, need = combine(old.slope, old.slope), -old.v
            share = -(rise * length + need * first) / (rise * first + need * second)
        else:
            share = -(rise / multiplier + first) / second
    return np.where(np.isfinite(share), np.clip(share, 0.0, 1.0), 1.0)


def _push(price: float, side: Side, cut: Cut, room: tuple[FloatArray, FloatArray] | None) -> Push:
    if room is None:
        length = cost(cut.slope)
        if math.isfinite(price) and price > 0.0 and math.isfinite(side.loss.ceiling(1.0)):
            length = np.minimum(length, RESTRAINT / price)
        return FreePush(length, len(length))
    low, high = room
    up = side.direction[:, None] * cut.slope > 0.0
    return BoxPush(np.abs(cut.slope), np.ones(cut.slope.shape[1]), np.where(up, high, -low))
