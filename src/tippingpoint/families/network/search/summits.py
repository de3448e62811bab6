"""Best responses at one price, searched for: linearise the score, go where the linear model says, repeat.

A fixed point satisfies `s = (λ/2)·∇ℓ(s)`, clipped to the bounds: it is stationary. Unlike a gradient step, the step is exact
for a linear score whatever the loss, so inside a linear piece of a network one is enough, and it sees both of the local maxima
that a logistic loss can have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.families.network.search.cuts import Cut, mixing_share, suggest
from tippingpoint.families.network.search.scores import Scores, cost
from tippingpoint.losses import Loss

SETTLED_MOVE = 1e-7
"""Squared length of a move, relative to that of the step, below which a search has settled: the value changes by no more."""


@dataclass
class Summit:
    """The best response known of every sample at one price.

    Attributes
    ----------
    price
        `λ`.
    steps, lift, gain
        Where each goes, the lift of its loss there, and `λ·lift - cost`.
    """

    price: float
    steps: FloatArray
    lift: FloatArray
    gain: FloatArray

    @classmethod
    def staying(cls, price: float, scores: Scores) -> Summit:
        """Nobody moves."""
        n = scores.samples
        return cls(price, np.zeros((n, len(scores.moves))), np.zeros(n), np.zeros(n))

    def learn(self, rows: IntArray, steps: FloatArray, lift: FloatArray) -> None:
        """Keep what is better than what was known."""
        gain = self.price * lift - cost(steps)
        better = gain > self.gain[rows]
        chosen = rows[better]
        self.steps[chosen], self.lift[chosen], self.gain[chosen] = steps[better], lift[better], gain[better]


def lift(loss: Loss, before: FloatArray, after: FloatArray) -> FloatArray:
    """`f(v') - f(v)`, with all digits of a small rise."""
    push = after - before
    falls = loss.mirrored().lift(-before, -push) if loss.falls else loss.value(after) - loss.value(before)
    return np.where(push >= 0.0, loss.lift(before, np.maximum(push, 0.0)), falls)


def climb(
    scores: Scores, loss: Loss, now: FloatArray, summit: Summit, rows: IntArray, steps: FloatArray, iterations: int
) -> None:
    """From these steps towards a stationary point; what is learnt goes to the summit. `now` is every sample's score."""
    cut, value = Cut.at(scores, rows, steps)
    summit.learn(rows, steps, lift(loss, now[rows], value))
    previous = steps
    for _ in range(iterations):
        room = scores.room(rows) if scores.bounded else None
        suggestion = suggest(summit.price, cut, loss, room)
        steps = scores.kept(rows, suggestion.steps)
        fresh, value = Cut.at(scores, rows, steps)
        summit.learn(rows, steps, lift(loss, now[rows], value))
        bends_down = value < cut.value(steps)
        share = np.where(bends_down, mixing_share(cut, fresh, suggestion.multiplier), 1.0)
        cut = cut.mixed(fresh, share)
        moving = np.flatnonzero(cost(steps - previous) > SETTLED_MOVE * cost(steps))
        if not len(moving):
            break
        rows, previous, cut = rows[moving], steps[moving], cut.take(moving)
