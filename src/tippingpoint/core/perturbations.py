"""A perturbation of all samples in a few numbers: where they go, with what weights, is worked out block by block from these.

A perturbation is a *move* (which of its responses every sample makes) and a *weighting* (how its weight follows). Both are a
handful of numbers, whatever the number of samples, so that they can be kept, stored and sent to where the samples are.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.blocks import Block
from tippingpoint.core.divergences import Divergence
from tippingpoint.core.divergences.base import Concentration, Settled
from tippingpoint.core.responses import Response

if TYPE_CHECKING:
    from tippingpoint.core.units import Units

TRACE_SHARE = 1e-10
"""Part of the weight that every sample keeps so that those of no weight can escape at a ceiling too."""


@dataclass(frozen=True)
class Terms:
    """What every block has to know of a question.

    What an infinite price means is said here and nowhere else: at an infinite `theta1` nothing moves, at an infinite `theta2`
    nothing is reweighted.

    Attributes
    ----------
    risk
        The threshold.
    theta1, theta2, divergence
        The prices, and what is priced.
    least, raised
        The least loss of all samples, and their mean loss above it.
    """

    risk: float
    theta1: float
    theta2: float
    divergence: Divergence
    least: float
    raised: float

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
    def wanted(self) -> float:
        """`r` minus the present risk: by how much the risk is to rise."""
        # Above the least loss, so that large losses a hair apart keep that hair.
        return (self.risk - self.least) - self.raised

    def above(self, losses: FloatArray) -> FloatArray:
        """The losses, measured from the present risk."""
        if self.least == 0.0:
            return losses - self.raised
        raised = losses - self.least
        raised -= self.raised
        return raised

    def gain(self, price: float, response: Response) -> FloatArray:
        """`h·lift - θ1·cost`."""
        gain = price * response.lift
        if self.moves:
            gain -= self.theta1 * response.cost
        return gain

    def respond(self, block: Block, price: float) -> Response:
        """The best responses at dual price `h`."""
        return block.responses.respond(price / self.theta1) if self.moves else Response.staying(len(block))

    def peak(self, block: Block) -> Response:
        """The highest losses, and what they cost at least."""
        return block.responses.peak() if self.moves else Response.staying(len(block))


@dataclass(frozen=True)
class Perturbed:
    """What becomes of the samples of a block.

    Attributes
    ----------
    response
        Where they go.
    changes
        `w_i - 1`, averaging zero over all samples.
    influence
        `θ2·φ*(s_i)` (or `θ1·e_i` where nothing is reweighted): minus the first-order effect of a sample on `g`.
    """

    response: Response
    changes: FloatArray
    influence: FloatArray


class Move(ABC):
    """Which response every sample makes."""

    @abstractmethod
    def response(self, terms: Terms, block: Block) -> Response:
        """Of the samples of a block."""


@dataclass(frozen=True)
class Respond(Move):
    """The best response at dual price `h`."""

    price: float

    def response(self, terms: Terms, block: Block) -> Response:
        return terms.respond(block, self.price)


@dataclass(frozen=True)
class Peak(Move):
    """The highest loss there is."""

    def response(self, terms: Terms, block: Block) -> Response:
        return terms.peak(block)


@dataclass(frozen=True)
class Escape(Move):
    """At least so much lift, at the ceiling's price; who cannot makes the move `beside`."""

    lift: float
    beside: Move

    def response(self, terms: Terms, block: Block) -> Response:
        escape, stays = block.responses.escape(self.lift), self.beside.response(terms, block)
        here = np.isinf(escape.cost)
        lift, cost = np.where(here, stays.lift, escape.lift), np.where(here, stays.cost, escape.cost)
        return Response(lift, cost, np.zeros_like(lift))


class Weighting(ABC):
    """How the weights of samples follow from where they go."""

    @abstractmethod
    def changes(self, terms: Terms, block: Block, response: Response) -> FloatArray:
        """`w_i - 1`."""

    @abstractmethod
    def influence(self, terms: Terms, block: Block, response: Response) -> FloatArray:
        """As in `Perturbed`."""

    def both(self, terms: Terms, block: Block, response: Response) -> tuple[FloatArray, FloatArray]:
        """Changes and influence."""
        return self.changes(terms, block, response), self.influence(terms, block, response)


@dataclass(frozen=True)
class Untilted(Weighting):
    """All weights stay one.

    Attributes
    ----------
    price
        `h`, where this is because nothing may be reweighted; not a number where the influence is none.
    """

    price: float = 0.0

    def changes(self, terms: Terms, block: Block, response: Response) -> FloatArray:
        return np.zeros(len(block))

    def influence(self, terms: Terms, block: Block, response: Response) -> FloatArray:
        return np.asarray(self.price * block.losses + terms.gain(self.price, response))


@dataclass(frozen=True)
class Tilting(Weighting):
    """`w_i = (φ*)'(s_i)` of the scores `s_i = (v_i - top)/θ2 + α`.

    Attributes
    ----------
    price
        `h`, in the values `v_i = h·ℓ_i + gain_i`.
    centred
        Whether values are measured from the present risk; otherwise from the threshold.
    top
        What values are measured from besides.
    settled
        `α`.
    """

    price: float
    centred: bool
    top: float
    settled: Settled

    def scores(self, terms: Terms, block: Block, response: Response) -> FloatArray:
        values = values_of(terms, block, response, self.price, centred=self.centred)
        values -= self.top
        values /= terms.theta2
        values += self.settled.alpha
        return values

    def changes(self, terms: Terms, block: Block, response: Response) -> FloatArray:
        return terms.divergence.tilted(self.scores(terms, block, response), self.settled.edge).changes

    def influence(self, terms: Terms, block: Block, response: Response) -> FloatArray:
        return self.both(terms, block, response)[1]

    def both(self, terms: Terms, block: Block, response: Response) -> tuple[FloatArray, FloatArray]:
        tilt = terms.divergence.tilted(self.scores(terms, block, response), self.settled.edge)
        return tilt.changes, np.asarray(terms.theta2 * tilt.conjugate)


@dataclass(frozen=True)
class Ordered(Weighting):
    """What a cap on weights does at once, for no price: the order of the losses decides."""

    top: float
    settled: Settled

    def changes(self, terms: Terms, block: Block, response: Response) -> FloatArray:
        return terms.divergence.tilted(block.losses - self.top + self.settled.alpha, self.settled.edge).changes

    def influence(self, terms: Terms, block: Block, response: Response) -> FloatArray:
        return np.zeros(len(block))


@dataclass(frozen=True)
class Concentrated(Weighting):
    """All the weight where losses are highest."""

    concentration: Concentration | None

    def changes(self, terms: Terms, block: Block, response: Response) -> FloatArray:
        if self.concentration is None:
            return np.zeros(len(block))
        highest = block.losses + response.lift
        return self.concentration.weights(highest, terms.moving_price * response.cost) - 1.0

    def influence(self, terms: Terms, block: Block, response: Response) -> FloatArray:
        return np.full(len(block), math.nan)


@dataclass(frozen=True)
class Traced(Weighting):
    """A `TRACE_SHARE` of the weight spread over all, the rest as at another place."""

    weighting: Weighting
    move: Move

    def changes(self, terms: Terms, block: Block, response: Response) -> FloatArray:
        return (1.0 - TRACE_SHARE) * self.weighting.changes(terms, block, self.move.response(terms, block))

    def influence(self, terms: Terms, block: Block, response: Response) -> FloatArray:
        return self.weighting.influence(terms, block, self.move.response(terms, block))


@dataclass(frozen=True)
class Evaluation:
    """All that is known at one dual price `h`.

    Attributes
    ----------
    price
        `h`.
    move, weighting
        The perturbation that attains `g(h)`.
    excess
        `Σ p w ℓ - r`, minus the slope of `g`.
    curvature
        `-g''` between jumps.
    value
        `g(h)`, a lower bound on the stability.
    moving, reweighting
        `θ1 Σ p w d` and `θ2 Σ p φ(w)`: what this perturbation costs.
    converted
        Where it was found in other units: these, the terms in them, and what was found.
    """

    price: float
    move: Move
    weighting: Weighting
    excess: float
    curvature: float
    value: float
    moving: float
    reweighting: float
    converted: tuple[Units, Terms, Evaluation] | None = None

    @property
    def cost(self) -> float:
        return self.moving + self.reweighting

    def of(self, terms: Terms, block: Block) -> Perturbed:
        """What becomes of the samples of a block."""
        if self.converted is not None:
            units, own_terms, found = self.converted
            return units.perturbed(found.of(own_terms, units.block(block)))
        response = self.move.response(terms, block)
        changes, effect = self.weighting.both(terms, block, response)
        return Perturbed(response, changes, effect)


def values_of(terms: Terms, block: Block, response: Response, price: float, *, centred: bool) -> FloatArray:
    """`v_i = h·ℓ_i + gain_i`, with the losses measured from the present risk or from the threshold.

    From the present risk while weights stay near one, from the threshold when they do not: either way the large part of the
    values is subtracted before it can swallow the small part that counts.
    """
    values = terms.above(block.losses) if centred else block.losses - terms.risk
    values *= price
    values += terms.gain(price, response)
    return values
