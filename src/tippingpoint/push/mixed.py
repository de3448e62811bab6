r"""Pushing a score by features of which some jump: categories, levels, whole numbers.

Each such feature offers every row a menu of shifts and costs. For a convex loss only the convex envelope of the cost matters:
a feature climbs the rungs of its own envelope, one after the other, at multipliers that do not depend on what the others do.
So :math:`t(\mu)` is still one increasing curve, with jumps at the rungs, and all that was exact stays exact.

The 0/1 loss asks for the cheapest purchase that pushes far enough: a multiple-choice knapsack. The envelope bounds its cost
from below; every departure from the envelope's choice adds its *reduced cost* to that bound, so that few are left to be tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, Signs, combine
from tippingpoint.core.envelope import envelope, undominated
from tippingpoint.push.curve import BoxPush, Reach, Stretches

COST_TOLERANCE = 1e-12
"""Relative gap at which a purchase counts as the cheapest."""

STATES = 4000
"""Partial purchases of one row that are followed up at once; where there are more, the least promising are dropped, and the
bound says so."""


@dataclass(frozen=True)
class Ladder:
    """The envelope of a menu, for every option a row may hold now, and both directions of the score.

    Attributes
    ----------
    breaks, shifts, costs
        `(2, K, L)`: the multiplier at which a rung is taken (infinite where there is none), and what it adds.
    """

    breaks: FloatArray
    shifts: FloatArray
    costs: FloatArray


@dataclass(frozen=True)
class Offer:
    """What one menu does to a score.

    Attributes
    ----------
    worth
        `(K,)`: the score's part that each option contributes.
    cost
        `(K, K)`: of going from the option of the row to that of the column; infinite where not allowed.
    """

    worth: FloatArray
    cost: FloatArray

    @cached_property
    def ladder(self) -> Ladder:
        k = len(self.worth)
        start, end = (index.ravel() for index in np.meshgrid(np.arange(k), np.arange(k), indexing="ij"))
        allowed = np.isfinite(self.cost.ravel())
        start, end = start[allowed], end[allowed]
        rise, cost = self.worth[end] - self.worth[start], self.cost[start, end]
        group = np.concatenate((start, start + k))
        shift, cost = np.concatenate((-rise, rise)), np.concatenate((cost, cost))
        kept = envelope(group, shift, cost)
        owner, first = group[kept], np.searchsorted(group[kept], np.arange(2 * k))
        rung = np.arange(len(kept)) - first[owner]
        length = int(rung.max(initial=0))
        breaks = np.full((2 * k, length), np.inf)
        shifts, costs = np.zeros_like(breaks), np.zeros_like(breaks)
        up = np.flatnonzero(rung > 0)
        step, paid = (values[kept[up]] - values[kept[up - 1]] for values in (shift, cost))
        place = owner[up], rung[up] - 1
        breaks[place], shifts[place], costs[place] = 0.5 * paid / step, step, paid
        return Ladder(*(values.reshape(2, k, length) for values in (breaks, shifts, costs)))


@dataclass(frozen=True)
class Purchase:
    """The cheapest way to push every row far enough.

    Attributes
    ----------
    cost
        What it costs; infinite where it is out of reach.
    least
        A lower bound on that: the same where the cheapest is proved.
    options
        `(n, F)`: the option of every menu.
    multiplier
        Of the features that move freely.
    """

    cost: FloatArray
    least: FloatArray
    options: IntArray
    multiplier: FloatArray


class MixedPush(BoxPush):
    """Features that move freely within bounds, and features that jump.

    Parameters
    ----------
    coefficients, prices, room
        Of the features that move freely, as in `BoxPush`.
    offers
        The menus.
    options
        `(n, F)`: which option of each menu a row holds now.
    direction
        `(n,)`: the sign in which the score is pushed.
    """

    def __init__(
        self,
        coefficients: FloatArray,
        prices: FloatArray,
        room: FloatArray,
        offers: Sequence[Offer],
        options: IntArray,
        direction: Signs,
    ) -> None:
        super().__init__(coefficients, prices, room)
        self._offers = offers
        self._options = options
        self._direction = direction
        side = (direction > 0.0).astype(np.intp)
        held = [(offer.ladder, options[:, f]) for f, offer in enumerate(offers)]
        empty = np.zeros((len(room), 0))
        self._breaks = np.concatenate([empty, *(ladder.breaks[side, o] for ladder, o in held)], axis=1)
        self._shifts = np.concatenate([empty, *(ladder.shifts[side, o] for ladder, o in held)], axis=1)
        self._costs = np.concatenate([empty, *(ladder.costs[side, o] for ladder, o in held)], axis=1)

    @property
    def limit(self) -> FloatArray:
        return np.asarray(super().limit + self._shifts.sum(axis=1))

    @property
    def anchor(self) -> FloatArray:
        return np.asarray(super().anchor + self._shifts.sum(axis=1))

    def at(self, multiplier: float) -> Reach:
        free, taken = super().at(multiplier), self._breaks <= multiplier
        push, cost = free.push + combine(taken, self._shifts), free.cost + combine(taken, self._costs)
        return Reach(push, cost, free.multiplier, free.compliance)

    def to_limit(self) -> Reach:
        free = super().to_limit()
        last = np.where(np.isfinite(self._breaks), self._breaks, 0.0).max(axis=1, initial=0.0)
        cost = free.cost + self._costs.sum(axis=1)
        return Reach(self.limit, cost, np.maximum(free.multiplier, last), free.compliance)

    def corners(self, marginal: Callable[[FloatArray], FloatArray]) -> Sequence[Reach]:
        curves = self._stretches
        slope = marginal(curves.low)
        with np.errstate(invalid="ignore"):
            fits = (curves.compliance == 0.0) & (slope >= curves.multiplier * (1.0 - COST_TOLERANCE))
            fits &= slope <= curves.end * (1.0 + COST_TOLERANCE)
        row, stretch = np.nonzero(fits.T)
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        found = []
        for k in range(int(rank.max(initial=-1)) + 1):
            here = rank == k
            place = stretch[here], row[here]
            push, cost, multiplier = (np.full(len(self._room), np.nan) for _ in range(3))
            push[row[here]], cost[row[here]], multiplier[row[here]] = (
                each[place] for each in (curves.low, curves.cost, curves.multiplier)
            )
            found.append(Reach(push, cost, multiplier, np.zeros(len(push))))
        return found

    def meets(self, price: float, offset: FloatArray) -> Sequence[Reach]:
        """On every stretch that gives way, at the corners of those that do not, and at the limit."""
        found = list(self.corners(lambda push: price * (offset + push)))
        for piece in self.pieces():
            if not piece.compliance.any():
                continue
            room = 1.0 - price * piece.compliance
            with np.errstate(divide="ignore", invalid="ignore"):
                multiplier = price * (offset + piece.anchor) / room
                gives = (room > 0.0) & (piece.compliance > 0.0)
                push = np.where(gives, piece.anchor + piece.compliance * multiplier, np.nan)
            found.append(piece.reach(push))
        return [*found, self.to_limit()] if np.isfinite(self.limit).any() else found

    def to(self, push: FloatArray) -> Reach:
        bought = self.purchase(push)
        return Reach(push, bought.cost, bought.multiplier, np.zeros_like(push))

    def chosen(self, reach: Reach) -> tuple[IntArray, FloatArray]:
        """The options behind a push along the curve, and the multiplier of the features that move freely.

        Where the multiplier is that of a jump, the push tells on which side of it.
        """
        pushes, choices = [], []
        for side in (self._breaks <= reach.multiplier[:, None], self._breaks < reach.multiplier[:, None]):
            steps = np.minimum(reach.multiplier[:, None] * self._rates, self._room)
            pushes.append(combine(steps, self._coefficients) + combine(side, self._shifts))
            choices.append(self._bought(side))
        with np.errstate(invalid="ignore"):
            before = np.abs(pushes[1] - reach.push) < np.abs(pushes[0] - reach.push)
        return np.where(before[:, None], choices[1], choices[0]), reach.multiplier

    def purchase(self, push: FloatArray) -> Purchase:
        """The cheapest options, and moves of the rest, that push every row at least this far."""
        least, multiplier = self._envelope_to(push)
        options, cost, climbed = self._options.copy(), np.full_like(push, np.inf), np.zeros_like(push)
        reached = np.isfinite(least)
        for side in (self._breaks <= multiplier[:, None], self._breaks < multiplier[:, None]):
            bought = self._bought(side)
            paid, needed = combine(side, self._costs), push - combine(side, self._shifts)
            rest = self.free_push(np.arange(len(push)), np.maximum(needed, 0.0))
            better = reached & (paid + rest.cost < cost)
            cost = np.where(better, paid + rest.cost, cost)
            climbed = np.where(better, rest.multiplier, climbed)
            options[better] = bought[better]
            self._swap(push, side, bought, cost, climbed, options)
        still = push <= 0.0
        cost[still], least[still], climbed[still], options[still] = 0.0, 0.0, 0.0, self._options[still]
        open_rows = np.flatnonzero(reached & ~still & (least < cost * (1.0 - COST_TOLERANCE)))
        if len(open_rows):
            _Branching(self, push, multiplier, open_rows).improve(cost, least, options, climbed)
        return Purchase(cost, np.minimum(least, cost), options, climbed)

    def _swap(
        self, push: FloatArray, taken: BoolArray, bought: IntArray, cost: FloatArray, climbed: FloatArray, options: IntArray
    ) -> None:
        """Keep what is cheaper: a purchase along the curve with another option in one menu, nothing else moving."""
        everyone = np.arange(len(push))
        offers = [self.menus(everyone, f) for f in range(self.features)]
        shift, paid = combine(taken, self._shifts), combine(taken, self._costs)
        for f, (offered, price) in enumerate(offers):
            mine = everyone, bought[:, f]
            enough = (shift - offered[mine])[:, None] + offered >= push[:, None]
            whole = np.where(enough, (paid - price[mine])[:, None] + price, np.inf)
            best = np.argmin(whole, axis=1)
            better = np.flatnonzero(whole[everyone, best] < cost)
            cost[better], climbed[better] = whole[better, best[better]], 0.0
            options[better] = bought[better]
            options[better, f] = best[better]

    def completed(self, options: IntArray, push: FloatArray) -> Reach:
        """These options, and what the features that move freely add to push every row at least this far."""
        shift, paid = np.zeros_like(push), np.zeros_like(push)
        everyone = np.arange(len(push))
        for f in range(self.features):
            offered, price = self.menus(everyone, f)
            shift += offered[everyone, options[:, f]]
            paid += price[everyone, options[:, f]]
        rest = self.free_push(everyone, np.maximum(push - shift, 0.0))
        return Reach(push, paid + rest.cost, rest.multiplier, rest.compliance)

    def menus(self, rows: IntArray, f: int) -> tuple[FloatArray, FloatArray]:
        """`(rows, K)`: what every option of a menu shifts, and what it costs."""
        offer, now = self._offers[f], self._options[rows, f]
        return self._direction[rows, None] * (offer.worth - offer.worth[now, None]), offer.cost[now]

    @property
    def features(self) -> int:
        """How many menus there are."""
        return len(self._offers)

    @cached_property
    def _stretches(self) -> Stretches:
        return self._merged(self._breaks, self._shifts, self._costs)

    def free_push(self, rows: IntArray, push: FloatArray) -> Reach:
        """A push of some rows by the features that move freely alone."""
        coefficients = self._coefficients if self._coefficients.ndim == 1 else self._coefficients[rows]
        return BoxPush(coefficients, self._prices, self._room[rows]).to(push)

    def _envelope_to(self, push: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The convex envelope of the cost at a push, and its multiplier; infinite beyond the limit."""
        cost, multiplier = np.full_like(push, np.inf), np.full_like(push, np.inf)
        behind, spent = np.zeros_like(push), np.zeros_like(push)
        for piece in self.pieces():
            with np.errstate(invalid="ignore"):
                across = np.isinf(cost) & (push <= piece.low)  # within the jump that leads to this stretch
                slant = spent + 2.0 * piece.multiplier * (push - behind)
                cost, multiplier = np.where(across, slant, cost), np.where(across, piece.multiplier, multiplier)
                reach = piece.reach(push)
                inside = np.isinf(cost) & np.isfinite(reach.push)
                cost, multiplier = np.where(inside, reach.cost, cost), np.where(inside, reach.multiplier, multiplier)
                ended = np.isfinite(piece.high)
                top = piece.reach(np.where(ended, piece.high, np.nan))
                behind = np.where(np.isfinite(top.push), top.push, behind)
                spent = np.where(np.isfinite(top.push), top.cost, spent)
        return cost, multiplier

    def _bought(self, taken: BoolArray) -> IntArray:
        """The options at which the rungs taken end: those of the summed shift, at the summed cost."""
        options, column = self._options.copy(), 0
        everyone = np.arange(len(options))
        for f, offer in enumerate(self._offers):
            length = offer.ladder.breaks.shape[2]
            mine = slice(column, column + length)
            column += length
            moved = np.flatnonzero(taken[:, mine].any(axis=1))
            if len(moved):
                shift, cost = (
                    combine(taken[moved, mine], self._shifts[moved, mine]),
                    combine(taken[moved, mine], self._costs[moved, mine]),
                )
                offered, price = self.menus(everyone[moved], f)
                with np.errstate(invalid="ignore"):
                    apart = np.abs(offered - shift[:, None]) + np.abs(price - cost[:, None])
                options[moved, f] = np.nanargmin(np.where(np.isfinite(apart), apart, np.inf), axis=1)
        return options


class _Branching:
    """The choices that the envelope leaves open, tried menu by menu for all rows together."""

    def __init__(self, curve: MixedPush, push: FloatArray, multiplier: FloatArray, rows: IntArray) -> None:
        self._curve = curve
        self._rows = rows
        self._push = push[rows]
        self._multiplier = multiplier[rows]

    def improve(self, cost: FloatArray, least: FloatArray, options: IntArray, climbed: FloatArray) -> None:
        """Put the cheapest purchases of the rows in place of those known."""
        rows, bound = self._rows, least[self._rows]
        gap = cost[rows] - bound
        owner = np.arange(len(rows))
        extra, shift, paid = np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(rows))
        choice = np.zeros((len(rows), 0), dtype=np.intp)
        dropped = np.full(len(rows), np.inf)
        for f in range(self._curve.features):
            offered, price = self._curve.menus(rows, f)
            reduced = price - 2.0 * self._multiplier[:, None] * offered
            reduced -= reduced.min(axis=1, keepdims=True)
            promising = extra[:, None] + reduced[owner] < gap[owner, None]
            state, option = np.nonzero(promising)
            owner, extra = owner[state], extra[state] + reduced[owner[state], option]
            shift, paid = shift[state] + offered[owner, option], paid[state] + price[owner, option]
            choice = np.column_stack((choice[state], option))
            kept = undominated(owner, shift, paid)
            kept = kept[self._followed(owner[kept], extra[kept], dropped)]
            owner, extra, shift, paid, choice = owner[kept], extra[kept], shift[kept], paid[kept], choice[kept]
        rest = self._curve.free_push(rows[owner], np.maximum(self._push[owner] - shift, 0.0))
        whole = paid + rest.cost
        order = np.lexsort((np.arange(len(whole)), whole, owner))
        first = order[np.flatnonzero(np.diff(owner[order], prepend=-1))]
        better = first[whole[first] < cost[rows[owner[first]]]]
        place = rows[owner[better]]
        cost[place], climbed[place], options[place] = whole[better], rest.multiplier[better], choice[better]
        # Whatever was not followed up costs more than the best known before, or its own bound.
        least[rows] = np.minimum(cost[rows], bound + dropped)

    @staticmethod
    def _followed(owner: IntArray, extra: FloatArray, dropped: FloatArray) -> IntArray:
        """Positions of the states that are followed up; the least promising of a crowd are dropped, and remembered."""
        order = np.lexsort((extra, owner))
        first = np.searchsorted(owner[order], np.arange(len(dropped)))
        crowded = np.arange(len(order)) - first[owner[order]] >= STATES
        np.minimum.at(dropped, owner[order[crowded]], extra[order[crowded]])
        return np.sort(order[~crowded])
