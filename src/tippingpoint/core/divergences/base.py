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

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, total
from tippingpoint.core.spreads import ArraySpread, Pairs, Spread
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
    """

    changes: FloatArray
    scores: FloatArray
    conjugate: FloatArray
    stiffness: FloatArray

    @property
    def weights(self) -> FloatArray:
        """`w_i`."""
        return 1.0 + self.changes


@dataclass(frozen=True)
class Settled:
    """What makes weights average one.

    Attributes
    ----------
    alpha
        `α`, in the scores `v + α`.
    edge
        The weight of samples whose score is exactly 0, where weights jump there; not a number where they do not.
    """

    alpha: float
    edge: float = math.nan


class Concentration(Protocol):
    """Weights that go to the largest values alone."""

    def weights(self, values: FloatArray, costs: FloatArray) -> FloatArray:
        """Of samples with these values and costs."""


@dataclass(frozen=True)
class Crowd:
    """All the mass on the values from `least` on, which hold `share` of it now; among them tilted by what they cost."""

    divergence: Divergence
    least: float
    share: float
    price: float
    cheapest: float
    alpha: float

    def weights(self, values: FloatArray, costs: FloatArray) -> FloatArray:
        inner = self.divergence.changes((self.cheapest - costs) / self.price + self.alpha)
        return np.where(values >= self.least, (1.0 + inner) / self.share, 0.0)


class Outcomes:
    """The values that samples can reach, and what each costs.

    Parameters
    ----------
    spread
        Makes the spread of what a function makes of values, costs and weights.
    """

    def __init__(self, spread: Callable[[Callable[[FloatArray, FloatArray, FloatArray], Pairs]], Spread]) -> None:
        self._spread = spread
        self.values: Spread = spread(_values)

    def costs(self, chosen: Callable[[FloatArray], BoolArray]) -> Spread:
        """The costs of the samples whose values are chosen."""

        def pairs(values: FloatArray, costs: FloatArray, base: FloatArray) -> Pairs:
            here = chosen(values)
            return costs[here], base[here]

        return self._spread(pairs)


def _values(values: FloatArray, costs: FloatArray, base: FloatArray) -> Pairs:
    return values, base


def _mass(values: FloatArray, base: FloatArray) -> tuple[float]:
    return (float(base.sum()),)


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

    def alpha(self, spread: Spread) -> float:
        """The `α` for which the weights of the scores `v + α` average one: by Newton's method, bracketed, a round each."""
        low, high = -spread.high, -spread.low
        alpha, length = min(max(-spread.mean, low), high), high - low

        def balance(values: FloatArray, base: FloatArray) -> tuple[float, float]:
            return total(base, self.changes(values + alpha)), total(base, self.stiffness(values + alpha))

        for _ in range(MAX_HALVINGS):
            with np.errstate(all="ignore"):  # beyond the scores that have weights, a mean is infinite or none
                mean, slope = spread.sums(balance)
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

    def settled(self, spread: Spread) -> Settled:
        """What makes the weights of these values average one."""
        return Settled(self.alpha(spread))

    def tilted(self, scores: FloatArray, edge: float) -> Tilt:
        """The weights of scores; `edge` as in `Settled`."""
        return Tilt(self.changes(scores), scores, self.conjugate(scores), self.stiffness(scores))

    def tilt(self, values: FloatArray, base: FloatArray, theta: float) -> Tilt:
        """The weights that attain `Ψ` for `values` at price `theta`."""
        # Measured from the top, so that a small θ does not magnify the rounding of a large common part.
        scaled = (values - float(values.max())) / theta
        settled = self.settled(ArraySpread(scaled, base))
        return self.tilted(scaled + settled.alpha, settled.edge)

    def penalty(self, tilt: Tilt, base: FloatArray) -> float:
        """`Σ p φ(w)`."""
        return self.penalised([self.penalty_sums(tilt, base)])

    def penalty_sums(self, tilt: Tilt, base: FloatArray) -> tuple[float, float, float, float]:
        """Of a block: what `penalised` adds up."""
        size = float(np.abs(tilt.scores).max(initial=0.0))
        if size < FENCHEL_BELOW:
            near = total(base * tilt.changes, tilt.scores) - total(base, self.centred_conjugate(tilt.scores))
        else:
            near = 0.0
        return size, near, total(base * tilt.weights, tilt.scores), total(base, tilt.conjugate)

    def penalised(self, sums: Sequence[tuple[float, float, float, float]]) -> float:
        """`Σ p φ(w)` by Fenchel's equality `φ(w) + φ*(s) = w·s`, arranged so that nothing large cancels."""
        if max(each[0] for each in sums) < FENCHEL_BELOW:
            return max(math.fsum(each[1] for each in sums), 0.0)
        return max(math.fsum(each[2] for each in sums) - math.fsum(each[3] for each in sums), 0.0)

    def left_out(self, cost: float) -> float:
        """The share `u` of the rows that can be left out for a cost, the others counting alike: `(1-u)·φ(1/(1-u)) + u·φ(0)`."""
        share, middle, beyond = 0.0, 0.5, 1.0
        while share < middle < beyond:
            with np.errstate(all="ignore"):  # no weight may be infinitely dear
                kept, none = self.phi(np.array([1.0 / (1.0 - middle), 0.0]))
            share, beyond = (middle, beyond) if (1.0 - middle) * kept + middle * none <= cost else (share, middle)
            middle = 0.5 * (share + beyond)
        return share

    def largest_mean(self, spread: Spread) -> float:
        """The largest mean of values that reweighting alone can reach, at any price."""
        return spread.high

    def concentrated(self, outcomes: Outcomes, theta: float) -> Concentration:
        """Weights of the largest mean of values and, among those, of least `Σ p (w·cost + θ·φ(w))`."""
        values = outcomes.values
        least = values.high - RELATIVE_TIE * max(abs(values.low), abs(values.high))
        crowd = outcomes.costs(lambda value: value >= least)
        (share,) = crowd.sums(_mass)
        price = theta * self.crowding(share)
        cheapest = crowd.low
        scaled = crowd.mapped(lambda cost, base: ((cheapest - cost) / price, base / share))
        return Crowd(self, least, share, price, cheapest, self.alpha(scaled))

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
