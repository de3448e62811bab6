"""The most sensitive distribution Q*: where every sample goes, with what weight, at what cost.

Which samples go where is decided in `tippingpoint.core.cuts`. Here that is summed up in one pass, laid out as atoms, and
looked at once more before it is given as an answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, dot
from tippingpoint.core.blocks import Block, Samples
from tippingpoint.core.cuts import Perturbation, perturbation
from tippingpoint.core.dual import MAX_RISK_MISS, ROUNDING, Solution, Status
from tippingpoint.core.inference import error_of
from tippingpoint.core.perturbations import Perturbed
from tippingpoint.core.problem import Problem
from tippingpoint.errors import NumericalError

DISAGREEMENT = 1e-3
"""Part by which the bounds of exact responses may differ: rounding explains less, and more is no answer."""


@dataclass(frozen=True)
class SensitiveSummary:
    """Q* in numbers: what it costs, and what it does to the risk.

    Attributes
    ----------
    risk
        `E_Q[W ℓ]`.
    whole, lightest
        The mass of Q*, which is one but for rounding, and its least weight.
    squared_move
        `Σ p w d`: mean squared distance moved, under Q*.
    moving_cost, reweighting_cost
        `θ1 Σ p w d` and `θ2 Σ p φ(w)`.
    moved_share
        Share of the data that moves at all.
    effective_share
        `1/Σ p w²`: the share of the population that the weights amount to; one when nothing is reweighted.
    effective_sample
        `1/Σ (p w)²`: how many equally weighted samples Q* amounts to.
    nats
        `Σ p w log w`: Kullback-Leibler divergence of the weights, whatever divergence priced them.
    corruption_excess
        `Σ p ℓ(z*) - Σ p ℓ(ẑ)`: excess risk from moving.
    reweighting_excess
        `Σ p w ℓ(z*) - Σ p ℓ(z*)`: excess risk from reweighting what has moved.
    standard_error
        Of the stability; not a number where there is none.
    """

    risk: float
    whole: float
    lightest: float
    squared_move: float
    moving_cost: float
    reweighting_cost: float
    moved_share: float
    effective_share: float
    effective_sample: float
    nats: float
    corruption_excess: float
    reweighting_excess: float
    standard_error: float

    @property
    def total_cost(self) -> float:
        """What Q* costs: the primal value, an upper bound on the stability whatever h is."""
        return self.moving_cost + self.reweighting_cost


@dataclass(frozen=True)
class SensitiveDistribution(SensitiveSummary):
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


def check_sound(problem: Problem, solution: Solution, q: SensitiveSummary, lower: float, *, exact: bool) -> None:
    """The last look at an answer before it is given: Q* is a distribution, of the risk that was asked for, at a cost.

    Of exact responses, both bounds must also agree. Whatever went wrong before, with numbers too large or too small to compute
    with, ends here in an error and not in an answer.
    """
    if solution.status is Status.UNREACHABLE:
        return
    cost, mass, risk = q.total_cost, q.whole, q.risk
    size = max(abs(problem.risk), abs(problem.current))
    sound = (
        all(map(math.isfinite, (cost, mass, risk)))
        and cost >= 0.0
        and q.lightest >= 0.0
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


@dataclass(frozen=True)
class Numbers:
    """Sums of a block that `SensitiveSummary` is made of."""

    q: Perturbation

    def __call__(self, block: Block) -> tuple[float, ...]:
        sides = self.q.sides(block)
        terms, base, atoms = self.q.terms, block.base, self.q.between(block, *sides)
        lift, cost = atoms.lift, atoms.cost
        share = dot(base, (cost > 0.0).astype(float))
        if atoms.split >= 0:
            i, part = atoms.split, atoms.part
            share += part * float(base[i]) * (float(atoms.over[1] > 0.0) - float(cost[i] > 0.0))
            lift, cost = lift.copy(), cost.copy()
            lift[i] += part * (atoms.over[0] - lift[i])
            cost[i] += part * (atoms.over[1] - cost[i])
        above, mass = terms.above(block.losses), base * atoms.changes
        reweighted, shifted = dot(mass, above), dot(mass, lift)
        weights = 1.0 + atoms.changes
        mass += base
        lightest = float(weights.min(initial=math.inf))
        logs = np.log(weights if lightest > 0.0 else np.where(weights > 0.0, weights, 1.0))
        return (
            reweighted,
            shifted,
            dot(base, lift),
            dot(mass, cost),
            float(np.add.reduce(mass)),
            lightest,
            share,
            dot(mass, weights),
            dot(mass, mass),
            dot(mass, logs),
            *self._effects(block, *sides),
        )

    def _effects(self, block: Block, left: Perturbed, right: Perturbed) -> tuple[float, float, float, float, float, float]:
        """Of the influence: size, mean and mass; squares about the mean with squared weights, in units of the size."""
        solution, share = self.q.solution, self.q.solution.share
        if solution.status is not Status.ATTAINED or not len(block):
            return 1.0, 0.0, 0.0, 0.0, 0.0, 0.0
        effect = left.influence if share == 0.0 else (1.0 - share) * left.influence + share * right.influence
        size = float(np.abs(effect).max()) or 1.0
        effect = effect / size
        mass = float(np.add.reduce(block.base))
        mean = dot(block.base, effect) / mass
        squared = block.base * block.base
        apart = effect - mean
        return size, mean * size, mass, dot(squared, apart * apart), dot(squared, apart), float(np.add.reduce(squared))


def summary(problem: Problem, q: Perturbation) -> SensitiveSummary:
    """Q* in numbers, in one pass."""
    found = np.array(problem.samples.gather(Numbers(q))).T
    with np.errstate(all="ignore"):  # what is no number is noticed by `check_sound`
        return _put_together(problem, q, found)


def _put_together(problem: Problem, q: Perturbation, found: FloatArray) -> SensitiveSummary:
    reweighted, shifted, lifted, moved, whole, lightest, share, squares, masses, nats = found[:10]
    solution, terms, current = q.solution, q.terms, problem.current
    corruption, squared_move = math.fsum(lifted), math.fsum(moved)
    reweighting = math.fsum(reweighted) + math.fsum(shifted)
    error = _standard_error(found[10:], problem) if solution.status is Status.ATTAINED else math.nan
    return SensitiveSummary(
        risk=current + (math.fsum(reweighted) + (math.fsum(shifted) + corruption)),
        whole=math.fsum(whole),
        lightest=float(lightest.min()),
        squared_move=squared_move,
        moving_cost=terms.moving_price * squared_move,
        # The two sides are a hair apart: the chord of φ is φ to second order in that hair, with all its digits.
        reweighting_cost=(1.0 - solution.share) * solution.left.reweighting + solution.share * solution.right.reweighting,
        moved_share=math.fsum(share),
        effective_share=1.0 / math.fsum(squares),
        effective_sample=1.0 / math.fsum(masses),
        nats=max(math.fsum(nats), 0.0),
        corruption_excess=corruption,
        reweighting_excess=reweighting,
        standard_error=error,
    )


def _standard_error(effects: FloatArray, problem: Problem) -> float:
    """`√(Σ p² ψ² / (1 - Σ p²))` from squares of blocks about their own means."""
    size, means, mass, square, linear, squared = effects
    largest = float(size.max())
    mean = math.fsum(mass * means)
    apart, scale = (means - mean) / largest, size / largest
    whole = math.fsum(scale * scale * square + 2.0 * scale * apart * linear + apart * apart * squared)
    return error_of(largest * math.sqrt(max(whole, 0.0)), problem.samples.facts.squares)


def sensitive_distribution(problem: Problem, solution: Solution) -> SensitiveDistribution:
    """The most sensitive distribution of samples in this process, in numbers and as atoms."""
    q = perturbation(problem, solution)
    return atoms_of(problem, q, summary(problem, q))


class LaidOut(NamedTuple):
    """Atoms, one a sample in their order, and one more for the sample that is split; as in `SensitiveDistribution`."""

    sample: IntArray
    share: FloatArray
    change: FloatArray
    lift: FloatArray
    cost: FloatArray
    right: BoolArray

    def take(self, chosen: IntArray) -> LaidOut:
        """Some of them."""
        sample, share, change, lift, cost, right = self
        return LaidOut(sample[chosen], share[chosen], change[chosen], lift[chosen], cost[chosen], right[chosen])


def laid_out(samples: Samples, q: Perturbation) -> LaidOut:
    """The atoms of samples in one process."""
    parts = samples.gather(lambda block: (q.of(block), block.first))
    atoms = [part for part, _ in parts]
    changes, lift, cost = (np.concatenate([getattr(a, name) for a in atoms]) for name in ("changes", "lift", "cost"))
    right = np.concatenate([a.right for a in atoms])
    sample: IntArray = np.arange(len(changes), dtype=np.intp)
    shares = np.ones(len(changes))
    for part, first in parts:
        if part.split >= 0:
            row = first + part.split
            shares[row] = 1.0 - part.part
            sample, shares = np.append(sample, row), np.append(shares, part.part)
            lift, cost = np.append(lift, part.over[0]), np.append(cost, part.over[1])
            right = np.append(right, True)
    return LaidOut(sample, shares, changes[sample], lift, cost, right)


def atoms_of(problem: Problem, q: Perturbation, found: SensitiveSummary) -> SensitiveDistribution:
    """The atoms of a perturbation, of all samples together."""
    atoms, solution = laid_out(problem.samples, q), q.solution
    return SensitiveDistribution(
        **{each.name: getattr(found, each.name) for each in fields(SensitiveSummary)},
        **atoms._asdict(),
        prices=(solution.left.price / q.terms.theta1, solution.right.price / q.terms.theta1),
        base=problem.base,
        losses=problem.samples.joined(lambda block: block.losses),
    )
