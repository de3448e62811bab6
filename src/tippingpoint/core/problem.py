r"""One question about samples.

.. math:: g(h) = h r - \Psi\bigl(\theta_1 e_i(h/\theta_1)\bigr)

:math:`\Psi` is the divergence's (`tippingpoint.core.divergences`), :math:`e_i` the best responses'. Every `g(h)` is a lower
bound on the stability, and the perturbation that attains it has the risk at which it is tight. What is known at one dual price
`h` is found in passes over the samples (`tippingpoint.core.passes`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, dot, total
from tippingpoint.core.blocks import Block, InMemory, Reduced, Samples
from tippingpoint.core.divergences import Divergence
from tippingpoint.core.divergences.base import Outcomes
from tippingpoint.core.passes import pass_at
from tippingpoint.core.perturbations import (
    TRACE_SHARE,
    Concentrated,
    Escape,
    Evaluation,
    Move,
    Ordered,
    Peak,
    Respond,
    Terms,
    Traced,
    Untilted,
    Weighting,
)
from tippingpoint.core.responses import BestResponses, Response
from tippingpoint.core.spreads import ArraySpread, Pairs, SampleSpread
from tippingpoint.errors import UnsupportedError

__all__ = ["Evaluation", "Problem", "Terms"]


@dataclass(frozen=True)
class Problem:
    """One question: these responses, these prices, this threshold.

    Attributes
    ----------
    responses
        Of all samples, in this process; or the samples themselves, wherever they are, which have their weights with them.
    base
        Positive weights that sum to one.
    risk
        The threshold.
    theta1, theta2, divergence
        The prices, and what is priced.
    threads
        That work at once, on samples in this process.
    """

    responses: BestResponses | Samples
    base: FloatArray
    risk: float
    theta1: float
    theta2: float
    divergence: Divergence
    threads: int = 1

    @cached_property
    def samples(self) -> Samples:
        """The samples, in blocks."""
        return self.responses if isinstance(self.responses, Samples) else InMemory(self.responses, self.base, self.threads)

    @cached_property
    def terms(self) -> Terms:
        """What every block has to know."""
        facts = self.samples.facts
        return Terms(self.risk, self.theta1, self.theta2, self.divergence, facts.least, facts.raised)

    @property
    def moves(self) -> bool:
        """Whether samples may move."""
        return not math.isinf(self.theta1)

    @property
    def reweights(self) -> bool:
        """Whether weights may change."""
        return not math.isinf(self.theta2)

    @property
    def moving_price(self) -> float:
        """What is paid for a cost of one: `θ1`; nothing where nothing moves."""
        return self.theta1 if self.moves else 0.0

    @property
    def ceiling(self) -> float:
        """The least dual price `h` at which a response is infinite; `inf` where there is none, or nothing moves."""
        return self.theta1 * self.samples.ceiling if self.moves else math.inf

    @property
    def current(self) -> float:
        """The risk as it is now."""
        return self.samples.facts.risk

    @property
    def wanted(self) -> float:
        """`r` minus the present risk: by how much the risk is to rise."""
        return self.terms.wanted

    def below(self, price: float) -> Problem:
        """The same question for prices below one: samples that are alike there are worked on as one."""
        if not self.moves:
            return self
        return replace(self, responses=Reduced(self.samples, price / self.theta1))

    def evaluate(self, price: float) -> Evaluation:
        """Everything at dual price `h > 0`."""
        facts = self.samples.facts
        # A guess, which decides no digit: as if nobody moved.
        near = price * max(facts.risk - facts.least, facts.largest - facts.risk) < self.theta2
        return pass_at(self.terms, self.samples, price, near=near)

    def floor(self, price: float, gain: FloatArray) -> float:
        """`g(h)` for bounds `gain ≥ e_i(λ) - λ·ℓ(ẑ_i)` at `λ = h/θ1`: a lower bound on the stability, whatever `h` is."""
        return self._bounded(gain).evaluate(price).value if np.isfinite(gain).all() else -math.inf

    def bounded_weights(self, price: float, gain: FloatArray) -> FloatArray:
        """The weights at `h` as if these bounds on gains were attained."""
        return self._bounded(gain).weights_at(price)

    def _bounded(self, gain: FloatArray) -> Problem:
        """The question as if these gains were attained; of risks and costs nothing can be said."""
        losses = self.samples.joined(lambda block: block.losses)
        return Problem(GainsOnly(losses, gain), self.base, self.risk, self.theta1, self.theta2, self.divergence, self.threads)

    def weights_at(self, price: float) -> FloatArray:
        """The weight of every sample at dual price `h > 0`."""
        terms, found = self.terms, self.evaluate(price)
        return 1.0 + self.samples.joined(lambda block: found.of(terms, block).changes)

    def rest(self) -> Evaluation:
        """The data as they are, or as they are at once for the smallest price (CVaR reweights without cost)."""
        weighting: Weighting = Untilted()
        stiffness = float(self.divergence.stiffness(np.zeros(1))[0]) if self.reweights else 0.0
        if self.reweights and stiffness == 0.0:  # a cap, not a price: at h → 0+ the order of the losses decides
            top = self.samples.facts.largest
            settled = self.divergence.settled(SampleSpread(self.samples, lambda block: (block.losses - top, block.base)))
            weighting = Ordered(top, settled)
        return self._measured(0.0, Respond(0.0), weighting, value=0.0, stiffness=stiffness)

    @cached_property
    def reachable(self) -> float:
        """The largest risk that any perturbation reaches, at any cost."""
        if self.moves and self.samples.unbounded:
            return math.inf
        terms = self.terms
        highest = SampleSpread(self.samples, lambda block: (block.losses + terms.peak(block).lift, block.base))
        if not self.reweights:
            return highest.mean
        return math.inf if math.isinf(highest.high) else self.divergence.largest_mean(highest)

    def largest_risk(self, highest: FloatArray) -> float:
        """The largest risk where these are the highest losses that samples in this process reach."""
        if not self.reweights:
            return total(self.base, highest)
        return math.inf if np.isinf(highest).any() else self.divergence.largest_mean(ArraySpread(highest, self.base))

    def dearest(self, farthest: float) -> float:
        """No perturbation costs more, if no move of a sample costs more than `farthest`."""
        moving = self.moving_price * farthest if self.moves else 0.0
        if not self.reweights or self.divergence.caps:
            return moving
        lightest = self.samples.facts.lightest  # all the weight on one sample costs most, on the lightest
        one, none = self.divergence.phi(np.array([1.0 / lightest, 0.0]))
        return moving + self.theta2 * float(lightest * one + (1.0 - lightest) * none)

    def concentrated(self) -> Evaluation:
        """The cheapest perturbation of all that reach the largest risk."""
        terms, samples = self.terms, self.samples

        def spread(function: Callable[[FloatArray, FloatArray, FloatArray], Pairs]) -> SampleSpread:
            def pairs(block: Block) -> Pairs:
                peak = terms.peak(block)
                return function(block.losses + peak.lift, terms.moving_price * peak.cost, block.base)

            return SampleSpread(samples, pairs)

        found = self.divergence.concentrated(Outcomes(spread), self.theta2) if self.reweights else None
        return self._measured(math.inf, Peak(), Concentrated(found), value=0.0, stiffness=0.0)

    def escaped(self, beside: Evaluation) -> Evaluation:
        """Beyond the ceiling: any further loss costs the ceiling's price, whatever the weights `beside` it.

        The samples that can escape may weigh nothing there, so a `TRACE_SHARE` of the weight is spread over all.
        """
        deficit = self.wanted - beside.excess
        lift = 2.0 * deficit / (TRACE_SHARE * self.samples.facts.lightest)
        move, weighting = Escape(lift, beside.move), Traced(beside.weighting, beside.move)
        found = self._measured(self.ceiling, move, weighting, value=beside.value, stiffness=0.0)
        return replace(found, reweighting=(1.0 - TRACE_SHARE) * beside.reweighting)

    def _measured(self, price: float, move: Move, weighting: Weighting, *, value: float, stiffness: float) -> Evaluation:
        """A perturbation with the risk and the costs that follow from it."""
        terms = self.terms

        def sums(block: Block) -> tuple[float, ...]:
            response = move.response(terms, block)
            above = terms.above(block.losses)
            if isinstance(weighting, Untilted):
                variance = dot(block.base, above * above) if stiffness else 0.0
                lift, cost, slope = (dot(block.base, each) for each in (response.lift, response.cost, response.slope))
                return lift, cost, slope, variance, 0.0
            changes = weighting.changes(terms, block, response)
            mass = block.base * changes
            moved = dot(mass, above)
            mass += block.base
            priced = isinstance(weighting, Concentrated) and weighting.concentration is not None
            return (
                moved + dot(mass, response.lift),
                dot(mass, response.cost),
                dot(block.base, response.slope),
                dot(block.base, above * above) if stiffness else 0.0,
                dot(block.base, terms.divergence.phi(1.0 + changes)) if priced else 0.0,
            )

        risen, cost, slope, variance, penalty = (math.fsum(each) for each in zip(*self.samples.gather(sums), strict=True))
        return Evaluation(
            price=price,
            move=move,
            weighting=weighting,
            excess=risen - terms.wanted,
            curvature=slope / terms.theta1 + (stiffness * variance / terms.theta2 if stiffness else 0.0),
            value=value,
            moving=terms.moving_price * cost if terms.moves else 0.0,
            reweighting=terms.theta2 * penalty if terms.reweights else 0.0,
        )


class GainsOnly:
    """Responses of which only the gain is known: as a cost of its own, it needs no point that attains it."""

    ceiling: float = math.inf

    def __init__(self, losses: FloatArray, gain: FloatArray) -> None:
        self.losses = losses
        self._gain = gain

    def part(self, rows: slice) -> GainsOnly:
        return GainsOnly(self.losses[rows], self._gain[rows])

    def respond(self, price: float) -> Response:
        nothing = np.zeros_like(self._gain)
        return Response(nothing, -self._gain, nothing)

    def peak(self) -> Response:
        return self.respond(math.inf)

    def escape(self, lift: float) -> Response:
        raise UnsupportedError("bounds on gains have no ceiling, so nothing can escape from it.")
