"""Conditional value at risk: a cap on weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, total
from tippingpoint.core.divergences.base import Concentration, Divergence, Outcomes, Settled, Tilt
from tippingpoint.core.spreads import Spread
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

    def alpha(self, spread: Spread) -> float:
        return self.settled(spread).alpha

    def settled(self, spread: Spread) -> Settled:
        value, above, here = self._last(spread)
        # Samples tied at the quantile share alike what is left there, so that row order does not matter.
        return Settled(-value, max(self.share - above, 0.0) / (here * self.share))

    def tilted(self, scores: FloatArray, edge: float) -> Tilt:
        weights = np.where(scores > 0.0, 1.0 / self.share, np.where(scores == 0.0, min(edge, 1.0 / self.share), 0.0))
        return Tilt(weights - 1.0, scores, self.conjugate(scores), np.zeros_like(scores))

    def penalised(self, sums: Sequence[tuple[float, float, float, float]]) -> float:
        return 0.0

    def largest_mean(self, spread: Spread) -> float:
        value, above, _ = self._last(spread)
        (held,) = spread.sums(lambda values, base: (total(base * (values > value), values),))
        return (held + value * (self.share - above)) / self.share

    def concentrated(self, outcomes: Outcomes, theta: float) -> Concentration:
        value, above, _ = self._last(outcomes.values)
        costs = outcomes.costs(lambda values: values == value)
        left = self.share - above
        cost, before, here = costs.narrowed(lambda _: left, costs.low, costs.high).first(left)
        return Cap(1.0 / self.share, value, cost, min(max(left - before, 0.0) / here, 1.0) / self.share)

    def changes(self, scores: FloatArray) -> FloatArray:
        return self.weights(scores) - 1.0

    def _last(self, spread: Spread) -> tuple[float, float, float]:
        """The value at which the largest hold the share, the mass above it, and its own."""
        falling = spread.mapped(lambda values, base: (-values, base))
        found = falling.narrowed(lambda _: self.share, -spread.high, -spread.low).first(self.share)
        return -found[0], found[1], found[2]


@dataclass(frozen=True)
class Cap:
    """Weights at their cap for values above one, and for those equal to it as long as they are cheap."""

    most: float
    value: float
    cost: float
    edge: float

    def weights(self, values: FloatArray, costs: FloatArray) -> FloatArray:
        tied = np.where(costs < self.cost, self.most, np.where(costs == self.cost, self.edge, 0.0))
        return np.where(values > self.value, self.most, np.where(values == self.value, tied, 0.0))
