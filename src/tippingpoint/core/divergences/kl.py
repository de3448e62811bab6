"""Kullback-Leibler divergence."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, total
from tippingpoint.core.divergences.base import Divergence, Tilt
from tippingpoint.core.spreads import Spread

SERIES_BELOW = 1e-2
"""|s| below which :math:`e^s - 1 - s` is summed as a series: the direct form has lost two digits there."""


@dataclass(frozen=True)
class KL(Divergence):
    r""":math:`\phi(w) = w \log w - w + 1`, :math:`\phi^*(s) = e^s - 1`, :math:`w = e^s`.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> profile = tp.profile(([1.0], -1.5), X, y)
    >>> result = profile.stability(risk=0.5, theta1=1.0, theta2=0.25, divergence=tp.KL())
    >>> result.divergence
    'kl'
    """

    name = "kl"

    @property
    def title(self) -> str:
        return "KL divergence"

    def phi(self, weights: FloatArray) -> FloatArray:
        return weights * np.log(np.where(weights > 0, weights, 1.0)) - weights + 1.0

    def conjugate(self, scores: FloatArray) -> FloatArray:
        return np.expm1(scores)

    def centred_conjugate(self, scores: FloatArray) -> FloatArray:
        t = scores
        series = t * t * (0.5 + t * (1 / 6 + t * (1 / 24 + t * (1 / 120 + t * (1 / 720 + t / 5040)))))
        return np.where(np.abs(t) < SERIES_BELOW, series, np.expm1(t) - t)

    def weights(self, scores: FloatArray) -> FloatArray:
        return np.exp(scores)

    def stiffness(self, scores: FloatArray) -> FloatArray:
        return np.exp(scores)

    def alpha(self, spread: Spread) -> float:
        top = spread.high
        if max(top, -spread.low) < 1.0:
            (mean,) = spread.sums(lambda values, base: (total(base, np.expm1(values)),))
            return -math.log1p(mean)
        (mean,) = spread.sums(lambda values, base: (total(base, np.exp(values - top)),))
        return -(top + math.log(mean))

    def tilted(self, scores: FloatArray, edge: float) -> Tilt:
        changes = np.expm1(scores)  # one exponential a sample serves for all
        return Tilt(changes, scores, changes, 1.0 + changes)

    def changes(self, scores: FloatArray) -> FloatArray:
        return np.expm1(scores)

    def browser(self) -> str | None:
        return """{
    phi: (w) => (w > 0 ? w * Math.log(w) : 0) - w + 1,
    conjugate: Math.expm1,
    centred(s) {
      if (Math.abs(s) >= 1e-2) return Math.expm1(s) - s;
      return s * s * (0.5 + s * (1 / 6 + s * (1 / 24 + s * (1 / 120 + s * (1 / 720 + s / 5040)))));
    },
    changes: Math.expm1,
    stiffness: Math.exp,
    tilt(values, base, theta) {
      const top = largest(values);
      const scaled = values.map((v) => (v - top) / theta);
      let changes, alpha;
      if (least(scaled) > -1) {
        const rises = scaled.map(Math.expm1);
        const mean = total(base, rises);
        alpha = -Math.log1p(mean);
        changes = rises.map((rise) => (rise - mean) / (1 + mean));
      } else {
        const powers = scaled.map(Math.exp);
        const mean = total(base, powers);
        alpha = -Math.log(mean);
        changes = powers.map((power) => power / mean - 1);
      }
      const stiffness = changes.map((change) => 1 + change);
      return { changes, scores: scaled.map((s) => s + alpha), conjugate: changes, stiffness, alpha: alpha * theta - top };
    },
  }"""
