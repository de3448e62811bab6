r"""Climbs: where, along a column, the number `v` that raises the loss is higher than anywhere nearer to the sample.

On such a stretch :math:`v = v_0 + b\,(|\delta| - d_0)`, so a rise by `t` more costs :math:`c\,(d_0 + t/b)^2`: a push of one
piece (`tippingpoint.push`), for which every loss knows its best responses. Everywhere else a loss that is convex, or never
falls, is no larger than it was, on this climb or on that of its mirror image, nearer to the sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, IntArray, blocks
from tippingpoint.families.network.column.lines import NOISE, Lines, changes, settled
from tippingpoint.families.network.rises import Rise
from tippingpoint.losses import Loss
from tippingpoint.losses.push_response import PushResponse, Side
from tippingpoint.push import Piece, Push, Reach

MAX_CLIMBS = 2**15
"""Climbs considered at once; what is computed of each stays in reach of the processor."""


@dataclass(frozen=True)
class Climbs(Push):
    """Stretches on which `v` climbs above all that it was nearer to its sample: a push of one piece each.

    Attributes
    ----------
    loss, price
        The loss as a function of `v`, and `c` of the cost `c·δ²`.
    sample, side
        Whose stretch it is, and the sign of `δ`; in order of samples.
    near, far, rate
        It reaches over `near ≤ |δ| ≤ far`, where `v` grows by `rate` a unit.
    low, rest
        `v` at `near`, measured from `rest`, the sample's own.
    """

    loss: Loss
    price: float
    sample: IntArray
    side: FloatArray
    near: FloatArray
    far: FloatArray
    rate: FloatArray
    low: FloatArray
    rest: FloatArray

    @classmethod
    def joined(cls, parts: Sequence[Climbs]) -> Climbs:
        """Stretches of consecutive samples."""
        columns = zip(*(part.columns for part in parts), strict=True)
        return cls(parts[0].loss, parts[0].price, *(np.concatenate(column) for column in columns))

    @property
    def columns(self) -> tuple[Any, ...]:
        """All that there is one of for every stretch."""
        return self.sample, self.side, self.near, self.far, self.rate, self.low, self.rest

    def take(self, which: IntArray) -> Climbs:
        """Some of the stretches."""
        return Climbs(self.loss, self.price, *(column[which] for column in self.columns))

    def of(self, rows: IntArray) -> Climbs:
        """The stretches of these samples, which are counted in their order."""
        first, last = np.searchsorted(self.sample, rows), np.searchsorted(self.sample, rows, side="right")
        counts = last - first
        which = np.arange(counts.sum()) + np.repeat(first - (np.cumsum(counts) - counts), counts)
        return replace(self.take(which), sample=np.repeat(np.arange(len(rows)), counts))

    @cached_property
    def most(self) -> FloatArray:
        """The lift at the far end."""
        bounded = np.isfinite(self.far)
        lift = self.loss.lift(self.rest, np.where(bounded, self.limit, 0.0))
        return np.where(bounded, lift, math.inf)

    @cached_property
    def limit(self) -> FloatArray:
        return self.low + self.rate * (self.far - self.near)

    @property
    def compliance(self) -> FloatArray:
        return np.square(self.rate) / self.price

    @cached_property
    def free(self) -> float:
        return float(self.compliance[np.isinf(self.far)].max(initial=0.0))

    @property
    def anchor(self) -> FloatArray:
        return self.low - self.rate * self.near

    def at(self, multiplier: float) -> Reach:
        wish = multiplier * self.rate / self.price
        giving = (wish >= self.near) & (wish < self.far)
        return self._to(np.clip(wish, self.near, self.far), np.where(giving, self.compliance, 0.0))

    def to_limit(self) -> Reach:
        return self._to(self.far, np.zeros_like(self.far))

    def pieces(self) -> Iterator[Piece]:
        cost = self.price * np.square(self.near)
        yield Piece(self.low, self.limit, self.price * self.near / self.rate, cost, self.compliance)

    def _to(self, place: FloatArray, compliance: FloatArray) -> Reach:
        push = self.low + self.rate * (place - self.near)
        return Reach(push, self.price * np.square(place), self.price * place / self.rate, compliance)


def climbs(lines: Lines, rise: Rise, price: float) -> Climbs:
    """The climbs of lines in outward order, of all functionals of a rise: the largest of them is what the loss sees."""
    value, rate = levels(lines, rise)
    rest = current(lines, rise)[lines.sample - lines.sample[0]]
    found = [_records(lines, value[:, k], rate[:, k], rest) for k in range(value.shape[1])]
    which, near, low, chosen = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.argsort(lines.sample[which], kind="stable")
    which = which[order]
    sample, side, far = lines.sample[which], lines.side[which], lines.far[which]
    return Climbs(rise.whole, price, sample, side, near[order], far, chosen[order], low[order], rest[which])


def _records(
    lines: Lines, value: FloatArray, rate: FloatArray, rest: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Segments on which `v` is higher than anywhere nearer: which, from where on, from which rise on, and how fast."""
    begins = lines.near == 0.0
    ray = np.cumsum(begins) - 1
    position = np.arange(len(ray)) - np.flatnonzero(begins)[ray]
    reached = np.full((int(ray[-1]) + 1, int(position.max()) + 2), -math.inf)
    reached[:, 0] = rest[begins]
    last = level(value, rate, lines.far)
    reached[ray, position + 1] = last
    top = np.maximum.accumulate(reached, axis=1)[ray, position]
    which = np.flatnonzero((rate > 0.0) & (last > top))
    top, rate, near = top[which], rate[which], lines.near[which]
    missing = top - level(value[which], rate, near)
    missing[missing <= NOISE * (np.abs(top) + rate * near)] = 0.0
    return which, np.minimum(near + missing / rate, lines.far[which]), top - rest[which], rate


@dataclass(frozen=True)
class Best:
    """The best response found of every sample, and the `δ` that it goes."""

    gain: FloatArray
    lift: FloatArray
    cost: FloatArray
    slope: FloatArray
    step: FloatArray

    @classmethod
    def staying(cls, n: int) -> Best:
        return cls(*(np.zeros(n) for _ in range(5)))

    def learn(self, price: float, climbs: Climbs) -> None:
        """Compare with the best responses on these stretches."""
        worth = climbs.most if math.isinf(price) else price * climbs.most - climbs.price * np.square(climbs.near)
        hopeful = np.flatnonzero(worth > 0.0)
        for block in blocks(len(hopeful), MAX_CLIMBS):
            part = climbs.take(hopeful[block])
            answer = PushResponse.best(price, [(Side(part.loss, part.rest, part.side), part)])
            place = np.minimum(answer.multiplier * part.rate / part.price, part.far)
            self._keep(part, answer.gain, answer.lift, answer.cost, answer.slope(price), place)

    def _keep(
        self, climbs: Climbs, gain: FloatArray, lift: FloatArray, cost: FloatArray, slope: FloatArray, place: FloatArray
    ) -> None:
        best = winners(climbs.sample, gain, cost)
        known, cheaper = self.gain[climbs.sample[best]], cost[best] < self.cost[climbs.sample[best]]
        best = best[(gain[best] > known) | ((gain[best] == known) & (gain[best] > 0.0) & cheaper)]
        whose = climbs.sample[best]
        self.gain[whose], self.lift[whose], self.cost[whose], self.slope[whose] = (
            gain[best],
            lift[best],
            cost[best],
            slope[best],
        )
        self.step[whose] = climbs.side[best] * place[best]


def levels(lines: Lines, rise: Rise) -> tuple[FloatArray, FloatArray]:
    """`v = value + rate·|δ|` of every segment and functional."""
    functionals = rise.functionals[lines.sample]
    value = rise.constants[lines.sample] + np.einsum("smk,sk->sm", functionals, lines.value)
    slope = np.einsum("smk,sk->sm", functionals, lines.slope)
    terms = np.einsum("smk,sk->sm", np.abs(functionals), np.abs(lines.slope))
    return value, lines.side[:, None] * settled(slope, terms)


def current(lines: Lines, rise: Rise) -> FloatArray:
    """`v` of every sample as it is now."""
    now = lines.take(np.flatnonzero(lines.start == 0.0))
    return np.asarray(levels(now, rise)[0].max(axis=1))


def level(value: FloatArray, rate: FloatArray, place: FloatArray) -> FloatArray:
    """`value + rate·place`, a constant at infinity too."""
    with np.errstate(invalid="ignore"):
        return np.where(rate == 0.0, value, value + rate * place)


def winners(sample: IntArray, gain: FloatArray, cost: FloatArray) -> IntArray:
    """For every sample its candidate of the largest gain; of equals the cheapest, then the first. An infinite cost is none."""
    first = changes(sample)
    group, begins = np.cumsum(first) - 1, np.flatnonzero(first)
    cost = np.where(gain == np.maximum.reduceat(gain, begins)[group], cost, math.inf)
    best = np.flatnonzero((cost == np.minimum.reduceat(cost, begins)[group]) & np.isfinite(cost))
    return best[changes(sample[best])]
