r"""Pushing a score: the least cost :math:`C(t)` of shifting :math:`\beta^\top x` by :math:`t` within a feature space.

With cost :math:`\sum_j c_j \delta_j^2` and bounds on :math:`\delta`, the cheapest shift moves feature j by
:math:`\min(\mu |\beta_j|/c_j, \text{room}_j)` in the direction of its coefficient, for one multiplier
:math:`\mu = C'(t)/2`. So :math:`t(\mu)` is concave and piecewise linear, :math:`C` is convex and piecewise quadratic, and
all of a linear model's high-dimensional geometry is in the *pieces* of that one curve.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, combine


@dataclass(frozen=True)
class Reach:
    """A push of every sample.

    Attributes
    ----------
    push
        `t ≥ 0`, how far the score is shifted; not a number where there is no such push.
    cost
        `C(t)`.
    multiplier
        `μ = C'(t)/2`.
    compliance
        `dt/dμ = 2/C''(t)`; zero where nothing gives way any more.
    """

    push: FloatArray
    cost: FloatArray
    multiplier: FloatArray
    compliance: FloatArray

    def take(self, rows: IntArray) -> Reach:
        """The pushes of these samples only."""
        return Reach(self.push[rows], self.cost[rows], self.multiplier[rows], self.compliance[rows])

    def where(self, choose: BoolArray, other: Reach) -> Reach:
        """This reach where `choose` holds, the other elsewhere."""
        return Reach(
            np.where(choose, self.push, other.push),
            np.where(choose, self.cost, other.cost),
            np.where(choose, self.multiplier, other.multiplier),
            np.where(choose, self.compliance, other.compliance),
        )


@dataclass(frozen=True)
class Piece:
    """A stretch of the curve on which `t = low + compliance·(μ - multiplier)`; not a number where a sample has none."""

    low: FloatArray
    high: FloatArray
    multiplier: FloatArray
    cost: FloatArray
    compliance: FloatArray

    @property
    def anchor(self) -> FloatArray:
        """Where the stretch, prolonged, meets `μ = 0`."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.low - self.compliance * self.multiplier)

    def reach(self, push: FloatArray) -> Reach:
        """The push, not a number where it lies outside the stretch."""
        slack = np.finfo(float).eps * 4.0 * np.abs(push)
        inside = (push >= self.low - slack) & (push <= self.high + slack)
        step = np.where(inside, push - self.low, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            climb = np.where((step == 0.0) | (self.compliance == 0.0), 0.0, step / self.compliance)
        return Reach(
            np.where(inside, push, np.nan),
            self.cost + step * (2.0 * self.multiplier + climb),
            self.multiplier + climb,
            self.compliance + 0.0 * step,
        )


@dataclass(frozen=True)
class Stretches:
    """All the pieces of the curves, one row each; `end` is the multiplier at which they do."""

    low: FloatArray
    high: FloatArray
    multiplier: FloatArray
    cost: FloatArray
    compliance: FloatArray
    end: FloatArray

    def pieces(self) -> Iterator[Piece]:
        for k in range(len(self.low)):
            yield Piece(self.low[k], self.high[k], self.multiplier[k], self.cost[k], self.compliance[k])


class Push(ABC):
    """The curve `t(μ)` of every sample."""

    @property
    @abstractmethod
    def limit(self) -> FloatArray:
        """The largest push there is."""

    @property
    @abstractmethod
    def free(self) -> float:
        """The largest compliance, over the samples, that no bound ever takes away."""

    @property
    @abstractmethod
    def anchor(self) -> FloatArray:
        """Where the unbounded stretch of the curve, prolonged downwards, meets `μ = 0`."""

    @abstractmethod
    def at(self, multiplier: float) -> Reach:
        """The push whose marginal cost is `2μ`, or the limit."""

    @abstractmethod
    def pieces(self) -> Iterator[Piece]:
        """The stretches of the curve, from the bottom."""

    @abstractmethod
    def to_limit(self) -> Reach:
        """The largest push; infinite cost where it is infinite."""

    def none(self) -> Reach:
        """No push at all, with the compliance at the bottom of the curve."""
        return self.at(0.0)

    def to(self, push: FloatArray) -> Reach:
        """The push asked for; infinite cost where it is out of reach."""
        out = np.full_like(push, np.inf)
        found = Reach(push, out, out, np.zeros_like(push))
        for piece in self.pieces():
            reach = piece.reach(push)
            found = reach.where(np.isfinite(reach.push) & np.isinf(found.cost), found)
        return found

    def corners(self, marginal: Callable[[FloatArray], FloatArray]) -> Sequence[Reach]:
        """Places between jumps at which a gain is best: half its slope there lies between the multipliers of the two.

        `marginal` is that half slope as a function of the push. Without jumps there are none but the limit.
        """
        return ()

    def meets(self, price: float, offset: FloatArray) -> Sequence[Reach]:
        """Every `t` at which `price·(offset + t) = μ(t)` can be the best place of a quadratic gain."""
        return (self.meet(price, offset),)

    def meet(self, price: float, offset: FloatArray) -> Reach:
        r"""The largest `t` at which `price·(offset + t) = μ(t)` and the right side grows faster.

        `price·(offset + t(μ)) - μ` is concave in `μ`, so there is at most one; where the left side still wins at the
        limit of the curve, that limit; where there is none, not a number.
        """
        best = _nowhere(offset)
        for piece in self.pieces():
            room = 1.0 - price * piece.compliance
            with np.errstate(divide="ignore", invalid="ignore"):
                multiplier = price * (offset + piece.anchor) / room
                meets = (room > 0.0) & (piece.compliance > 0.0)
                push = np.where(meets, piece.anchor + piece.compliance * multiplier, np.nan)
            reach = piece.reach(push)
            best = reach.where(reach.push >= 0.0, best)
        last = self.to_limit()
        with np.errstate(invalid="ignore"):
            beyond = np.isfinite(last.cost) & (price * (offset + last.push) >= last.multiplier)
        return last.where(beyond, best)


class FreePush(Push):
    r"""No bounds: :math:`C(t) = t^2/B` with :math:`B = \sum_j \beta_j^2/c_j`, one for all samples or one for each."""

    def __init__(self, compliance: float | FloatArray, samples: int) -> None:
        self._compliance = np.broadcast_to(np.asarray(compliance, dtype=float), (samples,))

    @property
    def limit(self) -> FloatArray:
        return np.where(self._compliance > 0.0, np.inf, 0.0)

    @property
    def free(self) -> float:
        return float(self._compliance.max(initial=0.0))

    @property
    def anchor(self) -> FloatArray:
        return np.zeros(len(self._compliance))

    def at(self, multiplier: float) -> Reach:
        return self._along(np.full(len(self._compliance), multiplier))

    def to(self, push: FloatArray) -> Reach:
        with np.errstate(divide="ignore", invalid="ignore"):
            multiplier = np.where(push == 0.0, 0.0, push / self._compliance)
        return Reach(push, push * multiplier, multiplier, self._compliance)

    def meet(self, price: float, offset: FloatArray) -> Reach:
        room = 1.0 - price * self._compliance
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._along(np.where((offset >= 0.0) & (room > 0.0), price * offset / room, np.nan))

    def to_limit(self) -> Reach:
        limit = self.limit
        return Reach(limit, limit, limit, np.zeros_like(limit))

    def pieces(self) -> Iterator[Piece]:
        zero = np.zeros(len(self._compliance))
        yield Piece(zero, self.limit, zero, zero, self._compliance)

    def _along(self, multiplier: FloatArray) -> Reach:
        push = self._compliance * multiplier
        return Reach(push, push * multiplier, multiplier, self._compliance)


class BoxPush(Push):
    """Bounds on features: every sample has its own room, and so its own curve.

    Parameters
    ----------
    coefficients
        `|β_j|` of the features that may move, the same for all samples or `(n, d)`.
    prices
        `c_j` of the same features.
    room
        `(n, d)`: how far each may go in the direction that shifts the score; `inf` where unbounded.
    """

    def __init__(self, coefficients: FloatArray, prices: FloatArray, room: FloatArray) -> None:
        self._coefficients = coefficients
        self._prices = prices
        # A feature that does not shift the score has nowhere to go.
        self._room = room if coefficients.all() else np.where(coefficients > 0.0, room, 0.0)
        self._rates = np.where(coefficients > 0.0, coefficients, 1.0) / prices

    @property
    def limit(self) -> FloatArray:
        return combine(self._room, self._coefficients)

    @cached_property
    def free(self) -> float:
        return float(combine(np.isinf(self._room), self._coefficients * self._rates).max(initial=0.0))

    @property
    def anchor(self) -> FloatArray:
        return combine(np.where(np.isinf(self._room), 0.0, self._room), self._coefficients)

    def at(self, multiplier: float) -> Reach:
        wish = multiplier * self._rates
        steps = np.minimum(wish, self._room)
        giving = self._room > wish
        return Reach(
            combine(steps, self._coefficients),
            combine(np.square(steps), self._prices),
            np.full(len(steps), multiplier),
            combine(giving, self._coefficients * self._rates),
        )

    def to_limit(self) -> Reach:
        if not self._room.shape[1]:
            zero = np.zeros(len(self._room))
            return Reach(zero, zero, zero, zero)
        return Reach(
            self.limit,
            combine(np.square(self._room), self._prices),
            (self._room / self._rates).max(axis=1),
            np.zeros(len(self._room)),
        )

    def pieces(self) -> Iterator[Piece]:
        return self._stretches.pieces()

    @cached_property
    def _stretches(self) -> Stretches:
        none = np.zeros((len(self._room), 0))
        return self._merged(none, none, none)

    def _merged(self, jumps: FloatArray, shifts: FloatArray, costs: FloatArray) -> Stretches:
        """The stretches between events: features that reach their bounds, and jumps at these multipliers."""
        n, d = self._room.shape
        breaks = np.concatenate((self._room / self._rates, jumps), axis=1)
        order = np.argsort(breaks, axis=1, kind="stable")
        breaks = np.concatenate((np.zeros((n, 1)), np.take_along_axis(breaks, order, axis=1)), axis=1)
        given = np.broadcast_to(self._coefficients * self._rates, (n, d))
        given = _in_order(order, given, np.zeros_like(jumps))
        # Summed from the stiff end, so that no small remainder is left over from a difference.
        compliance = np.concatenate((np.cumsum(given[:, ::-1], axis=1)[:, ::-1], np.zeros((n, 1))), axis=1)
        leaps, paid = (_in_order(order, np.zeros((n, d)), jump) for jump in (shifts, costs))
        start, end = breaks, np.concatenate((breaks[:, 1:], np.full((n, 1), np.inf)), axis=1)
        gives, here = compliance > 0.0, np.isfinite(start)
        with np.errstate(invalid="ignore"):
            span = np.where(here, end - start, 0.0)
            grows = np.where(gives & here, compliance * span, 0.0)
            spends = np.where(np.isfinite(end) & (grows > 0.0), grows * (start + end), 0.0)
        none = np.zeros((n, 1))
        low = np.concatenate(
            (none, np.cumsum(np.where(np.isfinite(grows[:, :-1]), grows[:, :-1], 0.0) + leaps, axis=1)), axis=1
        )
        cost = np.concatenate((none, np.cumsum(spends[:, :-1] + paid, axis=1)), axis=1)
        # Between two jumps at one multiplier nobody stops: what is best lies at either end.
        passing = (span == 0.0) & ~gives
        passing[:, 0] = False
        low, cost = np.where(here, low, np.nan), np.where(here, cost, np.nan)
        high, first = low + grows, np.where(passing, np.nan, low)
        live = int(here.any(axis=0).sum())
        return Stretches(*(np.ascontiguousarray(each[:, :live].T) for each in (first, high, start, cost, compliance, end)))


def _in_order(order: IntArray, features: FloatArray, jumps: FloatArray) -> FloatArray:
    """What belongs to features and to jumps, in the order of the events of every row."""
    return np.asarray(np.take_along_axis(np.concatenate((features, jumps), axis=1), order, axis=1))


def _nowhere(like: FloatArray) -> Reach:
    missing = np.full_like(like, np.nan)
    return Reach(missing, missing, missing, missing)
