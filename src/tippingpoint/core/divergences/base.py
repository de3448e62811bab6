r"""Divergences: the price :math:`\phi(w)` of giving a sample weight :math:`w` instead of one.

Every divergence answers one question. Given a value :math:`v_i` for each sample and a price :math:`\theta`, which
weights attain

.. math:: \Psi(v) = \max_{w \ge 0} \sum_i p_i (w_i v_i - \theta \phi(w_i)) \quad \text{s.t.} \quad \sum_i p_i w_i = 1 ?

With *scores* :math:`s_i = (v_i + \alpha)/\theta`, and the :math:`\alpha` that makes the weights average one,
:math:`w_i = (\phi^*)'(s_i)` and :math:`\Psi(v) = \theta \sum_i p_i \phi^*(s_i) - \alpha`. When all weights are close to
one that difference loses every digit; then :math:`\Psi(v) = \sum_i p_i v_i + \theta \sum_i p_i (\phi^*(s_i) - s_i)`
is used, whose last terms are non-negative. So each class gives the *centred* conjugate :math:`\phi^*(s) - s` too.

A divergence is all in its class: its formulas, what it is called, and the same formulas for the page of a report.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tippingpoint.core.arrays import FloatArray, total
from tippingpoint.errors import NumericalError

FENCHEL_BELOW = 1.0
"""|s| below which Fenchel's equality is used in its centred form."""

RELATIVE_TIE = 1e-12
"""Losses this close, relative to the largest, count as equally large when all the mass goes to the largest."""

MAX_HALVINGS = 2200
"""Cap on the steps of a search for a root: halving the largest double as often leaves less than the smallest."""


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
    """A convex price `φ` with `φ(1) = φ'(1) = 0`; one short subclass each.

    Examples
    --------
    >>> import numpy as np
    >>> import tippingpoint as tp
    >>> isinstance(tp.KL(), tp.Divergence)
    True
    >>> tp.KL().phi(np.array([1.0, 2.0])).round(4)  # what weights cost: nothing at one
    array([0.    , 0.3863])
    """

    name: ClassVar[str]
    parameter: ClassVar[str] = ""
    """What the number behind the name is, as SHARE in "cvar:SHARE"; empty where there is none."""
    example: ClassVar[str] = ""
    """A value of the parameter."""
    caps: ClassVar[bool] = False
    """Whether weights are free up to a cap, instead of priced."""

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

    def browser(self) -> str | None:
        """The same formulas for the page of a report, as a JavaScript object; None where a page is to show what is precomputed.

        `phi(w)`, `conjugate(s)`, `centred(s)`, `changes(s)` and `stiffness(s)` of one number each, as the methods here; where
        it has them, also `alpha(values, base)`, a `tilt(values, base, theta)` of its own, and `crowding(share)`. The script
        has `total(base, values)`, `largest(values)` and `least(values)` for them.
        """
        return None

    def alpha(self, values: FloatArray, base: FloatArray) -> float:
        """The `α` for which the weights of the scores `values + α` average one under `base`: by Newton's method, bracketed."""
        low, high = -float(values.max()), -float(values.min())
        alpha, length = min(max(-total(base, values), low), high), high - low
        for _ in range(MAX_HALVINGS):
            with np.errstate(all="ignore"):  # beyond the scores that have weights, a mean is infinite or none
                mean, slope = total(base, self.changes(values + alpha)), total(base, self.stiffness(values + alpha))
                step = float(alpha - np.divide(mean, slope))
            low, high = (alpha, high) if mean <= 0.0 else (low, alpha)
            # Far from the root Newton's steps may creep; they must halve each time, or the bracket is halved.
            fast = low < step < high and abs(step - alpha) <= 0.5 * length
            after = step if fast else 0.5 * (low + high)
            length = abs(after - alpha)
            if mean == 0.0 or length <= np.finfo(float).eps * abs(alpha):
                return alpha
            alpha = after
        raise NumericalError(f"the weights of the {self.title} cannot be made to average one; are all values numbers?")

    def tilt(self, values: FloatArray, base: FloatArray, theta: float) -> Tilt:
        """The weights that attain `Ψ` for `values` at price `theta`."""
        # Measured from the top, so that a small θ does not magnify the rounding of a large common part.
        top = float(values.max())
        scaled = (values - top) / theta
        alpha = self.alpha(scaled, base)
        scores = scaled + alpha
        return Tilt(self.changes(scores), scores, self.conjugate(scores), self.stiffness(scores), alpha * theta - top)

    def penalty(self, tilt: Tilt, base: FloatArray) -> float:
        """`Σ p φ(w)` by Fenchel's equality `φ(w) + φ*(s) = w·s`, arranged so that nothing large cancels."""
        if float(np.abs(tilt.scores).max()) < FENCHEL_BELOW:
            first_order = total(base * tilt.changes, tilt.scores)
            return max(first_order - total(base, self.centred_conjugate(tilt.scores)), 0.0)
        return max(total(base * tilt.weights, tilt.scores) - total(base, tilt.conjugate), 0.0)

    def left_out(self, cost: float) -> float:
        """The share `u` of the rows that can be left out for a cost, the others counting alike: `(1-u)·φ(1/(1-u)) + u·φ(0)`."""
        share, middle, beyond = 0.0, 0.5, 1.0
        while share < middle < beyond:
            with np.errstate(all="ignore"):  # no weight may be infinitely dear
                kept, none = self.phi(np.array([1.0 / (1.0 - middle), 0.0]))
            share, beyond = (middle, beyond) if (1.0 - middle) * kept + middle * none <= cost else (share, middle)
            middle = 0.5 * (share + beyond)
        return share

    def largest_mean(self, values: FloatArray, base: FloatArray) -> float:
        """The largest mean of `values` that reweighting alone can reach, at any price."""
        return float(values.max())

    def concentrate(self, values: FloatArray, costs: FloatArray, base: FloatArray, theta: float) -> FloatArray:
        """Weights of the largest mean of `values` and, among those, of least `Σ p (w·cost + θ·φ(w))`."""
        top = values >= values.max() - RELATIVE_TIE * float(np.abs(values).max())
        share = float(base[top].sum())
        weights = np.zeros_like(values)
        weights[top] = self.tilt(-costs[top], base[top] / share, theta * self.crowding(share)).weights / share
        return weights

    @abstractmethod
    def changes(self, scores: FloatArray) -> FloatArray:
        """`(φ*)'(s) - 1` without cancellation."""

    def crowding(self, share: float) -> float:
        """How the price grows, within a group that holds `share` of the base and takes all the mass."""
        return 1.0

    @property
    def label(self) -> str:
        """How results, tables and files name this divergence."""
        return self.name

    @property
    def title(self) -> str:
        """What sentences call it."""
        return f"{self.label} divergence"
