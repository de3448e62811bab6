"""One hidden layer of ReLUs, how far a worthwhile step can go, and what its units can see within it.

A flatter score means shorter steps, shorter steps mean fewer gates that flip, and those a flatter score: so the radius of what
is worth looking at is tightened in a few rounds, and most gates are decided before any branching.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, combine
from tippingpoint.losses import Loss

TIGHTENINGS = 4
"""Rounds of that."""

UNBOUNDED = 1e150
"""Steps beyond this are as good as infinite."""


@dataclass(frozen=True)
class HiddenLayer:
    """`offset + Σ_j outer_j·relu(weights_jᵀx + bias_j)`."""

    weights: FloatArray
    bias: FloatArray
    outer: FloatArray
    offset: float


@dataclass(frozen=True)
class UnitRanges:
    """What the units of a hidden layer can see.

    Attributes
    ----------
    weights
        `(units, d)`, in units of steps.
    hidden
        `(n, units)`: `u`, what they see where samples are.
    sign
        `(n, units)`: the weight of each in the score that is pushed up.
    room
        The least and the largest step of every feature; None where nothing is bounded.
    """

    weights: FloatArray
    hidden: FloatArray
    sign: FloatArray
    room: tuple[FloatArray, FloatArray] | None

    @cached_property
    def gram(self) -> FloatArray:
        """`WWᵀ`."""
        return np.asarray(self.weights @ self.weights.T)

    @cached_property
    def _norm(self) -> FloatArray:
        return np.sqrt(np.diag(self.gram))

    def worthwhile(self, price: float, least: FloatArray, loss: Loss, now: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The least and the most that every unit can see within a step that is worth more than `least`; `now` is the score."""
        low, high = self._within(self.radius(price, least, loss, now))
        if self.room is not None:
            down, up = np.minimum(self.weights, 0.0), np.maximum(self.weights, 0.0)
            back, forth = (np.clip(r, -UNBOUNDED, UNBOUNDED) for r in self.room)
            low = np.maximum(low, self.hidden + back @ up.T + forth @ down.T)
            high = np.minimum(high, self.hidden + forth @ up.T + back @ down.T)
        return low, high

    def _within(self, radius: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What every unit can see within a ball around every sample."""
        spread = self._norm * np.minimum(radius, UNBOUNDED)[:, None]
        return self.hidden - spread, self.hidden + spread

    def radius(self, price: float, least: FloatArray, loss: Loss, now: FloatArray) -> FloatArray:
        """No step longer than this is worth more than `least`; infinite beyond the pole of a squared loss."""
        if math.isinf(price):
            return np.sqrt(np.maximum(-least, 0.0))
        radius = np.full(len(least), math.inf)
        for _ in range(TIGHTENINGS):
            steep = self._steepness(radius)
            if math.isfinite(loss.steepest):
                slope = 0.5 * price * loss.steepest * steep
                radius = slope + np.sqrt(np.maximum(np.square(slope) - np.maximum(least, 0.0), 0.0))
            else:  # λ((q + κρ)² - q²) - ρ² is positive up to there; from the falling side of the loss, nowhere
                stiff = 1.0 - price * np.square(steep)
                pull = 2.0 * price * steep * np.maximum(loss.root(now), 0.0)
                radius = np.where(stiff > 0.0, pull / np.where(stiff > 0.0, stiff, 1.0), math.inf)
        return radius

    def _steepness(self, radius: FloatArray) -> FloatArray:
        """A Lipschitz constant of the score within a ball: `max ‖Σ_j g_j o_j w_j‖` over the gates that can flip there."""
        low, high = self._within(radius)
        firm = np.where(low >= 0.0, self.sign, 0.0)
        loose = np.where((low < 0.0) & (high > 0.0), self.sign, 0.0)
        along = firm @ self.gram
        square = combine(along, firm) + 2.0 * np.maximum(loose * along, 0.0).sum(axis=1)
        rising, falling = np.maximum(loose, 0.0), np.maximum(-loose, 0.0)
        alike, apart = np.maximum(self.gram, 0.0), np.maximum(-self.gram, 0.0)
        square += combine(rising @ alike, rising) + combine(falling @ alike, falling) + 2.0 * combine(rising @ apart, falling)
        return np.asarray(np.sqrt(np.maximum(square, 0.0)))
