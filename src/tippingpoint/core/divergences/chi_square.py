"""Chi-square divergence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.divergences.base import Divergence
from tippingpoint.core.spreads import Spread


@dataclass(frozen=True)
class ChiSquare(Divergence):
    r""":math:`\phi(w) = (w-1)^2`, :math:`\phi^*(s) = (s/2+1)_+^2 - 1`, :math:`w = (s/2+1)_+`.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> profile = tp.profile(([1.0], -1.5), X, y)
    >>> result = profile.stability(risk=0.5, theta1=1.0, theta2=0.25, divergence=tp.ChiSquare())
    >>> result.divergence
    'chi2'
    """

    name = "chi2"

    @property
    def title(self) -> str:
        return "chi-square divergence"

    def phi(self, weights: FloatArray) -> FloatArray:
        return np.square(weights - 1.0)

    def conjugate(self, scores: FloatArray) -> FloatArray:
        return np.square(self.weights(scores)) - 1.0

    def centred_conjugate(self, scores: FloatArray) -> FloatArray:
        return np.where(scores > -2.0, np.square(scores) / 4.0, -1.0 - scores)

    def weights(self, scores: FloatArray) -> FloatArray:
        return np.maximum(scores / 2.0 + 1.0, 0.0)

    def stiffness(self, scores: FloatArray) -> FloatArray:
        return np.where(scores > -2.0, 0.5, 0.0)

    def alpha(self, spread: Spread) -> float:
        """Finite Newton: the average weight is convex, increasing and piecewise linear in `α`.

        At `α = -mean` it is at least one, so the steps go down, and each but the last drops samples from the active set;
        3 to 6 are usual.
        """
        alpha = max(-spread.mean, -spread.high)  # rounding may take the mean above all values

        def active(values: FloatArray, base: FloatArray) -> tuple[float, float, float]:
            mass = base * (values + alpha > -2.0).astype(float)
            held = float(np.add.reduce(mass))
            return held, float(np.add.reduce(base - mass)), float(np.add.reduce(mass * values))

        while spread.low + alpha <= -2.0:
            mass, idle, weighted = spread.sums(active)
            step = (2.0 * idle - weighted) / mass
            if step >= alpha:
                break
            alpha = step
        return alpha

    def changes(self, scores: FloatArray) -> FloatArray:
        return np.maximum(scores / 2.0, -1.0)

    def crowding(self, share: float) -> float:
        return 1.0 / share

    def browser(self) -> str | None:
        return """{
    phi: (w) => (w - 1) ** 2,
    conjugate: (s) => Math.max(s / 2 + 1, 0) ** 2 - 1,
    centred: (s) => (s > -2 ? (s * s) / 4 : -1 - s),
    changes: (s) => Math.max(s / 2, -1),
    stiffness: (s) => (s > -2 ? 0.5 : 0),
    crowding: (share) => 1 / share,
    alpha(values, base) {
      let alpha = -total(base, values);
      for (;;) {
        let mass = 0, idle = 0, held = 0;
        for (let i = 0; i < values.length; i++) {
          if (values[i] + alpha > -2) {
            mass += base[i];
            held += base[i] * values[i];
          } else idle += base[i];
        }
        const step = (2 * idle - held) / mass;
        if (idle === 0 || step >= alpha) return alpha;
        alpha = step;
      }
    },
  }"""
