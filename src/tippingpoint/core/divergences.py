r"""Divergences: the price :math:`\phi(w)` of giving a sample weight :math:`w` instead of one.

Every divergence answers one question. Given a value :math:`v_i` for each sample and a price :math:`\theta`, which
weights attain

.. math:: \Psi(v) = \max_{w \ge 0} \sum_i p_i (w_i v_i - \theta \phi(w_i)) \quad \text{s.t.} \quad \sum_i p_i w_i = 1 ?

With *scores* :math:`s_i = (v_i + \alpha)/\theta`, and the :math:`\alpha` that makes the weights average one,
:math:`w_i = (\phi^*)'(s_i)` and :math:`\Psi(v) = \theta \sum_i p_i \phi^*(s_i) - \alpha`. When all weights are close to
one that difference loses every digit; then :math:`\Psi(v) = \sum_i p_i v_i + \theta \sum_i p_i (\phi^*(s_i) - s_i)`
is used, whose last terms are non-negative. So each class gives the *centred* conjugate :math:`\phi^*(s) - s` too.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, total
from tippingpoint.errors import InputError

SERIES_BELOW = 1e-2
"""|s| below which :math:`e^s - 1 - s` is summed as a series: the direct form has lost two digits there."""

FENCHEL_BELOW = 1.0
"""|s| below which Fenchel's equality is used in its centred form."""

RELATIVE_TIE = 1e-12
"""Losses this close, relative to the largest, count as equally large when all the mass goes to the largest."""


@dataclass(frozen=True)
class Tilt:
    """The weights that attain `Ψ`, and what the dual needs to know about them.

    Attributes
    ----------
    changes
        `w_i - 1`, with the digits that the difference would lose; averaging zero under the base weights.
    scores
        `s_i = (v_i + α)/θ`.
    conjugate
        `φ*(s_i)`.
    stiffness
        `(φ*)''(s_i)`: how fast weights react to values, for Newton's method.
    alpha
        `α`.
    """

    changes: FloatArray
    scores: FloatArray
    conjugate: FloatArray
    stiffness: FloatArray
    alpha: float

    @property
    def weights(self) -> FloatArray:
        """`w_i`."""
        return 1.0 + self.changes


class Divergence(ABC):
    """A convex price `φ` with `φ(1) = 0`; one short subclass each."""

    name: ClassVar[str]

    @abstractmethod
    def phi(self, weights: FloatArray) -> FloatArray:
        """`φ(w)`, the price of weights."""

    @abstractmethod
    def conjugate(self, scores: FloatArray) -> FloatArray:
        """`φ*(s) = max_w w·s - φ(w)`."""

    @abstractmethod
    def centred_conjugate(self, scores: FloatArray) -> FloatArray:
        """`φ*(s) - s ≥ 0`, exact for small scores."""

    @abstractmethod
    def weights(self, scores: FloatArray) -> FloatArray:
        """`(φ*)'(s)`, the weights that belong to scores."""

    @abstractmethod
    def stiffness(self, scores: FloatArray) -> FloatArray:
        """`(φ*)''(s)`."""

    @abstractmethod
    def alpha(self, values: FloatArray, base: FloatArray) -> float:
        """The `α` for which the weights of the scores `values + α` average one under `base`."""

    def tilt(self, values: FloatArray, base: FloatArray, theta: float) -> Tilt:
        """The weights that attain `Ψ` for `values` at price `theta`."""
        # Measured from the top, so that a small θ does not magnify the rounding of a large common part.
        top = float(values.max())
        scaled = (values - top) / theta
        alpha = self.alpha(scaled, base)
        scores = scaled + alpha
        return Tilt(self._changes(scores), scores, self.conjugate(scores), self.stiffness(scores), alpha * theta - top)

    def penalty(self, tilt: Tilt, base: FloatArray) -> float:
        """`Σ p φ(w)` by Fenchel's equality `φ(w) + φ*(s) = w·s`, arranged so that nothing large cancels."""
        if float(np.abs(tilt.scores).max()) < FENCHEL_BELOW:
            first_order = total(base * tilt.changes, tilt.scores)
            return max(first_order - total(base, self.centred_conjugate(tilt.scores)), 0.0)
        return max(total(base * tilt.weights, tilt.scores) - total(base, tilt.conjugate), 0.0)

    def largest_mean(self, values: FloatArray, base: FloatArray) -> float:
        """The largest mean of `values` that reweighting alone can reach, at any price."""
        return float(values.max())

    def concentrate(self, values: FloatArray, costs: FloatArray, base: FloatArray, theta: float) -> FloatArray:
        """Weights of the largest mean of `values` and, among those, of least `Σ p (w·cost + θ·φ(w))`."""
        top = values >= values.max() - RELATIVE_TIE * float(np.abs(values).max())
        share = float(base[top].sum())
        weights = np.zeros_like(values)
        weights[top] = self.tilt(-costs[top], base[top] / share, theta * self._crowding(share)).weights / share
        return weights

    @abstractmethod
    def _changes(self, scores: FloatArray) -> FloatArray:
        """`(φ*)'(s) - 1` without cancellation."""

    def _crowding(self, share: float) -> float:
        """How the price grows, within a group that holds `share` of the base and takes all the mass."""
        return 1.0

    @property
    def label(self) -> str:
        """How results, tables and files name this divergence."""
        return self.name


@dataclass(frozen=True)
class KL(Divergence):
    r""":math:`\phi(w) = w \log w - w + 1`, :math:`\phi^*(s) = e^s - 1`, :math:`w = e^s`."""

    name = "kl"

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

    def alpha(self, values: FloatArray, base: FloatArray) -> float:
        top = float(values.max())
        if max(top, -float(values.min())) < 1.0:
            return -float(np.log1p(total(base, np.expm1(values))))
        return -(top + float(np.log(total(base, np.exp(values - top)))))

    def tilt(self, values: FloatArray, base: FloatArray, theta: float) -> Tilt:
        # As in general, with one exponential a sample instead of four.
        top = float(values.max())
        scaled = (values - top) / theta
        if float(scaled.min()) > -1.0:  # weights near one: keep the digits of their difference from it
            rises = np.expm1(scaled)
            mean = total(base, rises)
            alpha, changes = -math.log1p(mean), (rises - mean) / (1.0 + mean)
        else:
            powers = np.exp(scaled)
            mean = total(base, powers)
            alpha, changes = -math.log(mean), powers / mean - 1.0
        return Tilt(changes, scaled + alpha, changes, 1.0 + changes, alpha * theta - top)

    def _changes(self, scores: FloatArray) -> FloatArray:
        return np.expm1(scores)


@dataclass(frozen=True)
class ChiSquare(Divergence):
    r""":math:`\phi(w) = (w-1)^2`, :math:`\phi^*(s) = (s/2+1)_+^2 - 1`, :math:`w = (s/2+1)_+`."""

    name = "chi2"

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

    def alpha(self, values: FloatArray, base: FloatArray) -> float:
        """Finite Newton: the average weight is convex, increasing and piecewise linear in `α`.

        At `α = -mean` it is at least one, so the steps go down, and each but the last drops samples from the active set;
        3 to 6 are usual.
        """
        alpha = -total(base, values)
        while True:
            active = values + alpha > -2.0
            if active.all():
                return alpha
            mass, idle = float(base[active].sum()), float(base[~active].sum())
            step = (2.0 * idle - total(base[active], values[active])) / mass
            if step >= alpha:
                return alpha
            alpha = step

    def _changes(self, scores: FloatArray) -> FloatArray:
        return np.maximum(scores / 2.0, -1.0)

    def _crowding(self, share: float) -> float:
        return 1.0 / share


@dataclass(frozen=True)
class CVaR(Divergence):
    r""":math:`\phi(w) = 0` for :math:`0 \le w \le 1/\kappa`, else :math:`\infty`: the worst share :math:`\kappa`.

    A cap on weights, not a price: every finite `theta2` gives the same answer.
    """

    share: float

    name = "cvar"

    def __post_init__(self) -> None:
        if not (isinstance(self.share, (int, float)) and 0.0 < self.share <= 1.0):
            raise InputError(f"share={self.share!r}: the worst share of CVaR must lie in (0, 1]; try share=0.2.")

    @property
    def label(self) -> str:
        return f"cvar:{self.share:g}"

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

    def _changes(self, scores: FloatArray) -> FloatArray:
        return self.weights(scores) - 1.0

    def _capped(self, order: IntArray, base: FloatArray) -> FloatArray:
        """Weights `1/κ` in the given order until the mass is used up."""
        before = np.concatenate(([0.0], np.cumsum(base[order])[:-1]))
        weights = np.empty_like(base)
        weights[order] = np.clip((self.share - before) / base[order], 0.0, 1.0) / self.share
        return weights


DIVERGENCES: dict[str, Callable[..., Divergence]] = {"kl": KL, "chi2": ChiSquare, "cvar": CVaR}
"""The registry: a new divergence is a class above and a line here."""


def divergence_named(divergence: str | Divergence) -> Divergence:
    """The divergence a user means: an instance, `"kl"`, `"chi2"`, or `"cvar:0.2"` (worst share 0.2)."""
    if isinstance(divergence, Divergence):
        return divergence
    served = "'kl', 'chi2', 'cvar:SHARE' (as 'cvar:0.2') or a Divergence"
    name, _, parameter = str(divergence).partition(":")
    if name not in DIVERGENCES:
        raise InputError(f"divergence={divergence!r} is not known; use {served}.")
    if (name == "cvar") != bool(parameter):
        raise InputError(f"divergence={divergence!r}: cvar needs a share, and only cvar takes one; use {served}.")
    if not parameter:
        return DIVERGENCES[name]()
    try:
        share = float(parameter)
    except ValueError:
        raise InputError(f"divergence={divergence!r}: {parameter!r} is not a number; use {served}.") from None
    return DIVERGENCES[name](share)
