r"""The most sensitive distribution Q*: where every sample goes, with what weight, at what cost.

The dual ends with two perturbations a hair apart, one of risk at most `r`, one of at least `r`. Where best responses tie
(0/1 loss, hinge, tables) they differ by whole jumps, and either alone misses `r`. So the weights are mixed, and the
samples go over from their left to their right response until the risk is `r`; the sample that would overshoot is split in
two. At most one ever is. The cheapest go first, those that cost the same a unit of loss in the order of their rows; where
the two sides are so close that no order could matter, all go in the order of their rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, total
from tippingpoint.core.dual import MAX_RISK_MISS, ROUNDING, Solution, Status
from tippingpoint.core.problem import Problem
from tippingpoint.errors import NumericalError

DISAGREEMENT = 1e-3
"""Part by which the bounds of exact responses may differ: rounding explains less, and more is no answer."""

MAX_ORDER_EFFECT = 1e-13
"""Part of the cost that the order of going over may change before samples are sorted for it."""


@dataclass(frozen=True)
class SensitiveDistribution:
    """Q* as atoms: one a sample, and one more for the sample that is split.

    Attributes
    ----------
    sample
        Position of the sample that the atom belongs to.
    share
        Part of the sample that goes here; the shares of a sample sum to one.
    change
        `w_i - 1`, the same for all atoms of a sample.
    lift, cost
        Loss above the sample's own, and squared distance moved.
    right
        Whether the atom is the sample's response at `prices[1]` rather than at `prices[0]`.
    prices
        The two prices `λ` whose responses the atoms are; equal where there is no jump.
    base
        Base weight of each *sample*.
    losses
        Present loss of each *sample*.
    moving_price
        What is paid for a squared distance of one.
    reweighting_cost
        `θ2 Σ p φ(w)`.
    """

    sample: IntArray
    share: FloatArray
    change: FloatArray
    lift: FloatArray
    cost: FloatArray
    right: BoolArray
    prices: tuple[float, float]
    base: FloatArray
    losses: FloatArray
    moving_price: float
    reweighting_cost: float

    @cached_property
    def weight(self) -> FloatArray:
        """`w_i` of each atom."""
        return 1.0 + self.change

    @property
    def weights(self) -> FloatArray:
        """`w_i` of each sample."""
        return self.weight[: len(self.base)]

    @property
    def loss(self) -> FloatArray:
        """Loss of each atom."""
        return self.losses[self.sample] + self.lift

    @cached_property
    def mass(self) -> FloatArray:
        """Probability of each atom under Q*."""
        return self.origin * self.weight

    @cached_property
    def origin(self) -> FloatArray:
        """Base probability that each atom comes from."""
        return self.base[self.sample] * self.share

    @property
    def risk(self) -> float:
        """`E_Q[W ℓ]`."""
        present = total(self.base, self.losses)
        reweighted = total(self.base * self.change[: len(self.base)], self.losses - present)
        return present + (reweighted + total(self.mass, self.lift))

    @property
    def moving_cost(self) -> float:
        """`θ1 Σ p w d`."""
        return self.moving_price * self.squared_move

    @property
    def total_cost(self) -> float:
        """What Q* costs: the primal value, an upper bound on the stability whatever h is."""
        return self.moving_cost + self.reweighting_cost

    @property
    def squared_move(self) -> float:
        """`Σ p w d`: mean squared distance moved, under Q*."""
        return total(self.mass, self.cost)

    @property
    def moved_share(self) -> float:
        """Share of the data that moves at all."""
        return total(self.origin, self.cost > 0.0)

    @property
    def effective_share(self) -> float:
        """`1/Σ p w²`: the share of the population that the weights amount to; one when nothing is reweighted."""
        return 1.0 / total(self.base, np.square(self.weights))

    @property
    def effective_sample(self) -> float:
        """`1/Σ (p w)²`: how many equally weighted samples Q* amounts to."""
        return 1.0 / float(np.square(self.base * self.weights).sum())

    @property
    def nats(self) -> float:
        """`Σ p w log w`: Kullback-Leibler divergence of the weights, whatever divergence priced them."""
        positive = np.where(self.weights > 0.0, self.weights, 1.0)
        return max(total(self.base, self.weights * np.log(positive)), 0.0)

    @property
    def corruption_excess(self) -> float:
        """`Σ p ℓ(z*) - Σ p ℓ(ẑ)`: excess risk from moving."""
        return total(self.origin, self.lift)

    @property
    def reweighting_excess(self) -> float:
        """`Σ p w ℓ(z*) - Σ p ℓ(z*)`: excess risk from reweighting what has moved."""
        present = total(self.base, self.losses)
        return total(self.origin * self.change, (self.losses[self.sample] - present) + self.lift)


def check_sound(problem: Problem, solution: Solution, q: SensitiveDistribution, lower: float, *, exact: bool) -> None:
    """The last look at an answer before it is given: Q* is a distribution, of the risk that was asked for, at a cost.

    Of exact responses, both bounds must also agree. Whatever went wrong before, with numbers too large or too small to compute
    with, ends here in an error and not in an answer.
    """
    if solution.status is Status.UNREACHABLE:
        return
    cost, mass, risk = q.total_cost, float(q.mass.sum()), q.risk
    size = max(abs(problem.risk), abs(problem.current))
    sound = (
        all(map(math.isfinite, (cost, mass, risk)))
        and cost >= 0.0
        and float(q.weight.min()) >= 0.0
        and abs(mass - 1.0) <= MAX_RISK_MISS
        and problem.risk - risk <= MAX_RISK_MISS * max(problem.wanted, 0.0) + ROUNDING * size
        and (lower >= (1.0 - DISAGREEMENT) * cost if exact else not math.isnan(lower))
    )
    if not sound:
        raise NumericalError(
            f"risk={problem.risk:g}, theta1={problem.theta1:g}, theta2={problem.theta2:g}: the numbers are too large, too small"
            f" or too far apart to compute with (what was found has the risk {risk:g} at a cost between {lower:g} and {cost:g},"
            " which is no answer); bring losses, costs and prices to comparable sizes."
        )


def sensitive_distribution(problem: Problem, solution: Solution) -> SensitiveDistribution:
    """The perturbation of risk exactly `r` that the two sides of the solution enclose."""
    left, right, share = solution.left, solution.right, solution.share
    changes = left.changes if share == 0.0 else (1.0 - share) * left.changes + share * right.changes
    base, losses, weights = problem.base, problem.responses.losses, 1.0 + changes
    rise = right.response.lift - left.response.lift
    heights = base * weights * rise
    reweighted = total(base * changes, losses - problem.current)
    wanted = problem.wanted - reweighted - total(base * weights, left.response.lift)
    goes_right = np.zeros(len(base), dtype=bool)
    split, part = -1, 0.0
    candidates = np.flatnonzero(heights > 0.0)
    if len(candidates) and wanted > 0.0 and share > 0.0:
        order = candidates
        at_stake = (right.price - left.price) * float(heights.sum())
        if at_stake > MAX_ORDER_EFFECT * max(left.cost, right.cost):
            ties = (right.response.cost[candidates] - left.response.cost[candidates]) / rise[candidates]
            order = candidates[np.argsort(ties, kind="stable")]
        reached = np.cumsum(heights[order])
        last = int(np.searchsorted(reached, wanted))
        goes_right[order[:last]] = True
        if last < len(order):
            split = int(order[last])
            part = (wanted - (float(reached[last - 1]) if last else 0.0)) / float(heights[split])
            if part >= 1.0:  # it goes over as a whole: nothing is left to be split off
                goes_right[split], part = True, 0.0
    lift = np.where(goes_right, right.response.lift, left.response.lift)
    cost = np.where(goes_right, right.response.cost, left.response.cost)
    sample: IntArray = np.arange(len(base), dtype=np.intp)
    shares = np.ones(len(base))
    if part > 0.0:
        shares[split] = 1.0 - part
        sample, shares = np.append(sample, split), np.append(shares, part)
        lift, cost = np.append(lift, right.response.lift[split]), np.append(cost, right.response.cost[split])
        goes_right = np.append(goes_right, True)
    return SensitiveDistribution(
        sample=sample,
        share=shares,
        change=changes[sample],
        lift=lift,
        cost=cost,
        right=goes_right,
        prices=(left.price / problem.theta1, right.price / problem.theta1),
        base=base,
        losses=losses,
        moving_price=problem.moving_price,
        # The two sides are a hair apart: the chord of φ is φ to second order in that hair, with all its digits.
        reweighting_cost=(1.0 - share) * left.reweighting + share * right.reweighting,
    )
