r"""One question, and all that is known about it at one dual price `h`.

.. math:: g(h) = h r - \Psi\bigl(\theta_1 e_i(h/\theta_1)\bigr)

:math:`\Psi` is the divergence's (`tippingpoint.core.divergences`), :math:`e_i` the best responses'. Every `g(h)` is a lower
bound on the stability, and the perturbation that attains it has the risk at which it is tight.

What an infinite price means is said here and nowhere else: at an infinite :math:`\theta_1` nothing moves (`moves`), at an
infinite :math:`\theta_2` nothing is reweighted (`reweights`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tippingpoint.core.arrays import FloatArray, total
from tippingpoint.core.divergences import Divergence
from tippingpoint.core.responses import BestResponses, Response

TRACE_SHARE = 1e-10
"""Part of the weight that every sample keeps so that those of no weight can escape at a ceiling too."""


@dataclass(frozen=True)
class Evaluation:
    """All that is known at one dual price `h`.

    Attributes
    ----------
    price
        `h`.
    response
        The best responses at `h/θ1`.
    changes
        `w_i - 1`, averaging zero.
    influence
        `θ2·φ*(s_i)` (or `θ1·e_i` where nothing is reweighted): minus the first-order effect of a sample on `g`.
    excess
        `Σ p w ℓ - r`, minus the slope of `g`.
    curvature
        `-g''` between jumps.
    value
        `g(h)`, a lower bound on the stability.
    moving, reweighting
        `θ1 Σ p w d` and `θ2 Σ p φ(w)`: what this perturbation costs.
    """

    price: float
    response: Response
    changes: FloatArray
    influence: FloatArray
    excess: float
    curvature: float
    value: float
    moving: float
    reweighting: float

    @property
    def weights(self) -> FloatArray:
        return 1.0 + self.changes

    @property
    def cost(self) -> float:
        return self.moving + self.reweighting


@dataclass(frozen=True)
class Problem:
    """One question: these responses, these prices, this threshold.

    `base` holds positive weights that sum to one.
    """

    responses: BestResponses
    base: FloatArray
    risk: float
    theta1: float
    theta2: float
    divergence: Divergence

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
        return self.theta1 * self.responses.ceiling if self.moves else math.inf

    @cached_property
    def current(self) -> float:
        """The risk as it is now."""
        return total(self.base, self.responses.losses)

    @cached_property
    def _above(self) -> FloatArray:
        """The losses, measured from the present risk."""
        raised = self.responses.losses - self._floor
        return raised - total(self.base, raised)

    @cached_property
    def wanted(self) -> float:
        """`r` minus the present risk: by how much the risk is to rise."""
        return (self.risk - self._floor) - total(self.base, self.responses.losses - self._floor)

    @property
    def _floor(self) -> float:
        """The least loss: risks and losses are compared above it, so that large losses a hair apart keep that hair."""
        return float(self.responses.losses.min())

    def evaluate(self, price: float) -> Evaluation:
        """Everything at dual price `h > 0`."""
        return self._weigh(price, self._response(price))

    def floor(self, price: float, gain: FloatArray) -> float:
        """`g(h)` for bounds `gain ≥ e_i(λ) - λ·ℓ(ẑ_i)` at `λ = h/θ1`: a lower bound on the stability, whatever `h` is."""
        return self.bounded(price, gain).value if np.isfinite(gain).all() else -math.inf

    def bounded(self, price: float, gain: FloatArray) -> Evaluation:
        """The evaluation at `h` as if these bounds on gains were attained; of its risk and costs nothing can be said."""
        nothing = np.zeros_like(gain)
        # Only θ1·gain enters the value; as a cost of its own it needs no point that attains it.
        return self._weigh(price, Response(nothing, -gain, nothing))

    def rest(self) -> Evaluation:
        """The data as they are, or as they are at once for the smallest price (CVaR reweights without cost)."""
        response = self._response(0.0)
        changes = zero = np.zeros_like(self.base)
        curvature = self._steepness(self.base, response)
        if self.reweights:
            stiffness = float(self.divergence.stiffness(zero[:1])[0])
            curvature += stiffness * total(self.base, np.square(self._above)) / self.theta2
            if stiffness == 0.0:  # a cap, not a price: at h → 0+ the order of the losses decides
                changes = self.divergence.tilt(self.responses.losses, self.base, self.theta2).changes
        return self._evaluation(0.0, response, changes, zero, 0.0, curvature, value=0.0)

    @cached_property
    def reachable(self) -> float:
        """The largest risk that any perturbation reaches, at any cost."""
        return self.largest_risk(self.responses.losses + self._peak().lift)

    def largest_risk(self, highest: FloatArray) -> float:
        """The largest risk where these are the highest losses that samples reach."""
        if not self.reweights:
            return total(self.base, highest)
        return math.inf if np.isinf(highest).any() else self.divergence.largest_mean(highest, self.base)

    def concentrated(self) -> Evaluation:
        """The cheapest perturbation of all that reach the largest risk."""
        peak = self._peak()
        highest = self.responses.losses + peak.lift
        unknown = np.full_like(highest, math.nan)
        changes, reweighting = np.zeros_like(highest), 0.0
        if self.reweights:
            weights = self.divergence.concentrate(highest, self.moving_price * peak.cost, self.base, self.theta2)
            changes, reweighting = weights - 1.0, self.theta2 * total(self.base, self.divergence.phi(weights))
        return self._evaluation(math.inf, peak, changes, unknown, reweighting, curvature=0.0, value=0.0)

    def escaped(self, beside: Evaluation) -> Evaluation:
        """Beyond the ceiling: any further loss costs the ceiling's price, whatever the weights `beside` it.

        The samples that can escape may weigh nothing there, so a `TRACE_SHARE` of the weight is spread over all.
        """
        deficit = self.wanted - beside.excess
        escape = self.responses.escape(2.0 * deficit / (TRACE_SHARE * float(self.base.min())))
        stays = np.isinf(escape.cost)
        response = Response(
            np.where(stays, beside.response.lift, escape.lift),
            np.where(stays, beside.response.cost, escape.cost),
            np.zeros_like(escape.lift),
        )
        changes, reweighting = (1.0 - TRACE_SHARE) * beside.changes, (1.0 - TRACE_SHARE) * beside.reweighting
        return self._evaluation(self.ceiling, response, changes, beside.influence, reweighting, 0.0, beside.value)

    def _weigh(self, price: float, response: Response) -> Evaluation:
        losses = self.responses.losses
        gain = price * response.lift - self.moving_price * response.cost
        mean_gain = total(self.base, gain)
        value = price * self.wanted - mean_gain
        if not self.reweights:
            curvature = self._steepness(self.base, response)
            nothing = np.zeros_like(losses)
            return self._evaluation(price, response, nothing, price * losses + gain, 0.0, curvature, value)
        # Centred at the present risk while weights stay near one, at the threshold when they do not: either way the
        # large part of E_i is subtracted before it can swallow the small part that counts.
        values = price * self._above
        values += gain
        values -= mean_gain
        centred = max(float(values.max()), -float(values.min())) < self.theta2
        if not centred:
            values = price * (losses - self.risk)
            values += gain
        tilt = self.divergence.tilt(values, self.base, self.theta2)
        if centred:
            value -= self.theta2 * total(self.base, self.divergence.centred_conjugate(tilt.scores))
        else:
            value = tilt.alpha - self.theta2 * total(self.base, tilt.conjugate)
        curvature = _spread(self._above + response.lift, self.base * tilt.stiffness) / self.theta2
        curvature += self._steepness(self.base * tilt.weights, response)
        reweighting = self.theta2 * self.divergence.penalty(tilt, self.base)
        influence = self.theta2 * tilt.conjugate
        return self._evaluation(price, response, tilt.changes, influence, reweighting, curvature, value)

    def _steepness(self, mass: FloatArray, response: Response) -> float:
        """How fast the risk rises with h because responses move: `Σ p w ℓ'/θ1`."""
        return total(mass, response.slope) / self.theta1

    def _evaluation(
        self,
        price: float,
        response: Response,
        changes: FloatArray,
        influence: FloatArray,
        reweighting: float,
        curvature: float,
        value: float,
    ) -> Evaluation:
        """An evaluation with the risk and the cost of moving that follow from the weights and the response."""
        mass = self.base * changes
        reweighted = total(mass, self._above)
        mass += self.base
        return Evaluation(
            price=price,
            response=response,
            changes=changes,
            influence=influence,
            excess=reweighted + total(mass, response.lift) - self.wanted,
            curvature=curvature,
            value=value,
            moving=self.moving_price * total(mass, response.cost),
            reweighting=reweighting,
        )

    def _response(self, price: float) -> Response:
        """The best responses at dual price `h`."""
        return self.responses.respond(price / self.theta1) if self.moves else Response.staying(len(self.base))

    def _peak(self) -> Response:
        return self.responses.peak() if self.moves else Response.staying(len(self.base))


def _spread(values: FloatArray, mass: FloatArray) -> float:
    """`Σ m v² - (Σ m v)²/Σ m`, computed about the mean."""
    whole = float(mass.sum())
    if whole <= 0.0:
        return 0.0
    apart = values - total(mass, values) / whole
    apart *= apart
    return total(mass, apart)
