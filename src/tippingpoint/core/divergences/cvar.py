"""Conditional value at risk: a cap on weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, total
from tippingpoint.core.divergences.base import Divergence, Tilt
from tippingpoint.errors import InputError


@dataclass(frozen=True)
class CVaR(Divergence):
    r""":math:`\phi(w) = 0` for :math:`0 \le w \le 1/\kappa`, else :math:`\infty`: the worst share :math:`\kappa`.

    A cap on weights, not a price: every finite `theta2` gives the same answer.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> profile = tp.profile(([1.0], -1.5), X, y)
    >>> result = profile.stability(risk=0.5, theta1=1.0, theta2=0.25, divergence=tp.CVaR(0.2))
    >>> result.divergence
    'cvar:0.2'
    """

    share: float

    name = "cvar"
    parameter = "SHARE"
    example = "0.2"
    caps = True

    def __post_init__(self) -> None:
        if not (isinstance(self.share, (int, float)) and 0.0 < self.share <= 1.0):
            raise InputError(f"share={self.share!r}: the worst share of CVaR must lie in (0, 1]; try share=0.2.")

    @property
    def label(self) -> str:
        return f"cvar:{self.share:g}"

    @property
    def title(self) -> str:
        return f"worst share {self.share:g} (CVaR)"

    def phi(self, weights: FloatArray) -> FloatArray:
        allowed = (weights >= 0.0) & (weights * self.share <= 1.0 + 1e-12)
        return np.where(allowed, 0.0, np.inf)

    def conjugate(self, scores: FloatArray) -> FloatArray:
        return np.maximum(scores, 0.0) / self.share

    def centred_conjugate(self, scores: FloatArray) -> FloatArray:
        return self.conjugate(scores) - scores

    def weights(self, scores: FloatArray) -> FloatArray:
        return np.where(scores > 0.0, 1.0 / self.share, 0.0)

    def stiffness(self, scores: FloatArray) -> FloatArray:
        return np.zeros_like(scores)

    def alpha(self, values: FloatArray, base: FloatArray) -> float:
        order = np.argsort(-values, kind="stable")
        last = int(np.searchsorted(np.cumsum(base[order]), self.share))
        return -float(values[order[min(last, len(order) - 1)]])

    def tilt(self, values: FloatArray, base: FloatArray, theta: float) -> Tilt:
        alpha = self.alpha(values, base)
        weights = self._capped(np.argsort(-values, kind="stable"), base)
        # Samples tied at the quantile share alike what is left there, so that row order does not matter.
        tied = values == -alpha
        weights[tied] = total(base[tied], weights[tied]) / base[tied].sum()
        scores = (values + alpha) / theta
        return Tilt(weights - 1.0, scores, self.conjugate(scores), np.zeros_like(values), alpha)

    def penalty(self, tilt: Tilt, base: FloatArray) -> float:
        return 0.0

    def largest_mean(self, values: FloatArray, base: FloatArray) -> float:
        return total(base, self._capped(np.argsort(-values, kind="stable"), base) * values)

    def concentrate(self, values: FloatArray, costs: FloatArray, base: FloatArray, theta: float) -> FloatArray:
        return self._capped(np.lexsort((costs, -values)), base)

    def changes(self, scores: FloatArray) -> FloatArray:
        return self.weights(scores) - 1.0

    def _capped(self, order: IntArray, base: FloatArray) -> FloatArray:
        """Weights `1/κ` in the given order until the mass is used up."""
        before = np.concatenate(([0.0], np.cumsum(base[order])[:-1]))
        weights = np.empty_like(base)
        weights[order] = np.clip((self.share - before) / base[order], 0.0, 1.0) / self.share
        return weights
