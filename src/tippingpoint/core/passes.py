r"""Passes over the samples: all that is known at one dual price, from a few sums of every block.

The Kullback-Leibler divergence needs one round. Every block measures its values from a place of its own (its mean while weights
stay near one, its largest value otherwise) and returns sums of :math:`e_i = p_i e^{x_i}`; sums of blocks that were measured
from different places differ by a factor. With the mean :math:`m_b` of a block, :math:`k_b = \sum p (e^x - 1 - x)` and
:math:`\delta_b = (m_b - m)/\theta_2`,

.. math:: \sum_i p_i e^{(v_i - m)/\theta_2} - 1 = \sum_b P_b (e^{\delta_b} - 1 - \delta_b) + e^{\delta_b} k_b,

in which nothing cancels: perturbations of any smallness keep their digits. Other divergences find :math:`\alpha` in rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tippingpoint.core.arrays import FloatArray, dot, total
from tippingpoint.core.blocks import Block, Samples
from tippingpoint.core.divergences import KL
from tippingpoint.core.divergences.base import Settled
from tippingpoint.core.perturbations import Evaluation, Respond, Terms, Tilting, Untilted
from tippingpoint.core.responses import Response
from tippingpoint.core.spreads import Pairs, SampleSpread

PLAIN_FROM = 1e-4
"""Mean square of `x` from which on `e^x - 1 - x` may be computed as it stands: its mean is right to thirteen digits then."""

MAX_KNOWN_ERROR = 1e-6
"""Rounding, in scores, up to which the top and the mean are taken from sums; beyond it they are those of the scores."""

Moved = tuple[Response, FloatArray]
"""A response, and what it gains."""


def pass_at(terms: Terms, samples: Samples, price: float, *, near: bool) -> Evaluation:
    """Everything at dual price `h > 0`; `near` guesses whether weights stay near one, and costs a pass where it is wrong."""
    if not terms.reweights:
        return _moving_only(terms, samples, price)
    if type(terms.divergence) is not KL:
        return _in_rounds(terms, samples, price)
    sums = _sums(terms, samples, price, centred=near)
    shift = math.fsum(sums.gain) - (0.0 if near else price * terms.wanted)
    centred = max(float(sums.high.max()) - shift, shift - float(sums.low.min())) < terms.theta2
    if centred != near:
        sums = _sums(terms, samples, price, centred=centred)
    return (_near if centred else _far)(terms, price, sums, math.fsum(sums.gain))


def _sums(terms: Terms, samples: Samples, price: float, *, centred: bool) -> Sums:
    return Sums(*np.array(samples.gather(Exponential(terms, price, centred))).T)


@dataclass(frozen=True)
class Gains:
    """Sums where nothing is reweighted."""

    terms: Terms
    price: float

    def __call__(self, block: Block) -> tuple[float, float, float, float]:
        response, base = self.terms.respond(block, self.price), block.base
        gain = self.terms.gain(self.price, response)
        return dot(base, gain), dot(base, response.lift), dot(base, response.cost), dot(base, response.slope)


def _moving_only(terms: Terms, samples: Samples, price: float) -> Evaluation:
    gain, lift, cost, slope = (math.fsum(each) for each in zip(*samples.gather(Gains(terms, price)), strict=True))
    return Evaluation(
        price=price,
        move=Respond(price),
        weighting=Untilted(price),
        excess=lift - terms.wanted,
        curvature=slope / terms.theta1,
        value=price * terms.wanted - gain,
        moving=terms.moving_price * cost,
        reweighting=0.0,
    )


class Sums(NamedTuple):
    """What blocks return of an exponential tilt, by block.

    With `e = p·e^x`, where `x = (v - place)/θ2`: the gains' sum, the extremes of `v`, the place, the base mass, `Σ e` (near:
    `Σ p (e^x - 1 - x)`), sums of `e·x`, of `e·(ℓ + lift)` in two parts and with the base alone, of `e·cost`, of `e·slope`, and
    the mean of `ℓ + lift` under `e` with its squares about it.
    """

    gain: FloatArray
    low: FloatArray
    high: FloatArray
    place: FloatArray
    base: FloatArray
    mass: FloatArray
    tilt: FloatArray
    above: FloatArray
    lift: FloatArray
    rest: FloatArray
    cost: FloatArray
    slope: FloatArray
    mean: FloatArray
    square: FloatArray


@dataclass(frozen=True)
class Exponential:
    """The sums of a block for the Kullback-Leibler divergence: `centred` measures values from the present risk."""

    terms: Terms
    price: float
    centred: bool

    def __call__(self, block: Block) -> tuple[float, ...]:
        terms, price, base = self.terms, self.price, block.base
        if not len(base):
            return (0.0, math.inf, -math.inf, 0.0 if self.centred else -math.inf, *(0.0,) * 10)
        response = terms.respond(block, price)
        above, gain = terms.above(block.losses), terms.gain(price, response)
        if self.centred:
            x = price * above
        else:
            x = block.losses - terms.risk
            x *= price
        x += gain
        gained, low, high = dot(base, gain), float(x.min()), float(x.max())
        whole = float(np.add.reduce(base))
        place = dot(base, x) / whole if self.centred else high
        x -= place
        x /= terms.theta2
        if self.centred:
            rises = np.expm1(x)
            if dot(base, x * x) < PLAIN_FROM * whole:
                mass = dot(base, terms.divergence.centred_conjugate(x))
            else:
                mass = dot(base, rises - x)
            rises *= base
            tilt, moved, weights = dot(rises, x), dot(rises, above), rises + base
            held, rest = whole + mass, dot(base, above)
        else:
            weights = np.exp(x)
            weights *= base
            mass = held = float(np.add.reduce(weights))
            tilt, moved, rest = dot(weights, x), dot(weights, above), 0.0
        lifted = dot(weights, response.lift)
        cost, slope = dot(weights, response.cost), dot(weights, response.slope)
        above += response.lift
        mean = (moved + rest + lifted) / held
        above -= mean
        above *= above
        square = dot(weights, above)
        return gained, low, high, place, whole, mass, tilt, moved, lifted, rest, cost, slope, mean, square


def _near(terms: Terms, price: float, sums: Sums, mean_gain: float) -> Evaluation:
    """Sums that were measured from means, put together."""
    theta2 = terms.theta2
    mean = math.fsum(sums.base * sums.place)
    apart = (sums.place - mean) / theta2
    conjugate = terms.divergence.centred_conjugate(apart)
    alpha = -math.log1p(math.fsum(sums.base * conjugate + np.exp(apart) * sums.mass))
    exponent = apart + alpha
    factor = np.exp(exponent)
    weight = factor * (sums.base + sums.mass)
    risen = math.fsum(factor * sums.above + np.expm1(exponent) * sums.rest + factor * sums.lift)
    penalty = math.fsum(factor * sums.tilt + weight * exponent)
    return Evaluation(
        price=price,
        move=Respond(price),
        weighting=Tilting(price, centred=True, top=mean, settled=Settled(alpha)),
        excess=risen - terms.wanted,
        curvature=_curvature(terms, weight, factor, sums),
        value=price * terms.wanted - mean_gain + theta2 * alpha,
        moving=terms.moving_price * math.fsum(factor * sums.cost),
        reweighting=theta2 * max(penalty, 0.0),
    )


def _far(terms: Terms, price: float, sums: Sums, mean_gain: float) -> Evaluation:
    """Sums that were measured from largest values, put together."""
    theta2, top = terms.theta2, float(sums.place.max())
    apart = (sums.place - top) / theta2
    factor = np.exp(apart)
    apart = np.where(factor > 0.0, apart, 0.0)
    whole = math.fsum(factor * sums.mass)
    factor /= whole
    weight = factor * sums.mass
    alpha = -math.log(whole)
    return Evaluation(
        price=price,
        move=Respond(price),
        weighting=Tilting(price, centred=False, top=top, settled=Settled(alpha)),
        excess=math.fsum(factor * (sums.above + sums.lift)) - terms.wanted,
        curvature=_curvature(terms, weight, factor, sums),
        value=theta2 * alpha - top,
        moving=terms.moving_price * math.fsum(factor * sums.cost),
        reweighting=theta2 * max(math.fsum(factor * sums.tilt + weight * apart) + alpha, 0.0),
    )


def _curvature(terms: Terms, weight: FloatArray, factor: FloatArray, sums: Sums) -> float:
    """`Var_w(ℓ + lift)/θ2 + Σ p w ℓ'/θ1`, means and squares of blocks put together (Chan)."""
    mean = math.fsum(weight * sums.mean)
    variance = math.fsum(factor * sums.square + weight * np.square(sums.mean - mean))
    return variance / terms.theta2 + math.fsum(factor * sums.slope) / terms.theta1


@dataclass(frozen=True)
class Look:
    """Sums and extremes of the values of a block; the response is remembered for the rounds that follow."""

    terms: Terms
    price: float

    def __call__(self, block: Block) -> tuple[float, float, float]:
        _, gain = self.moved(block)
        values = self.terms.above(block.losses)
        values *= self.price
        values += gain
        return dot(block.base, gain), float(values.min(initial=math.inf)), float(values.max(initial=-math.inf))

    def moved(self, block: Block) -> Moved:
        return block.remembered((Look, self.price, self.terms.theta1), lambda: self._moved(block))

    def _moved(self, block: Block) -> Moved:
        response = self.terms.respond(block, self.price)
        return response, self.terms.gain(self.price, response)

    def highest(self, block: Block) -> float:
        """The largest `v_i`, rounded as `scaled` rounds it."""
        return float(self._values(block, centred=False).max(initial=-math.inf))

    def _values(self, block: Block, *, centred: bool) -> FloatArray:
        values = self.terms.above(block.losses) if centred else block.losses - self.terms.risk
        values *= self.price
        values += self.moved(block)[1]
        return values

    def scaled(self, block: Block, top: float, *, centred: bool) -> FloatArray:
        """`(v_i - top)/θ2`."""
        values = self._values(block, centred=centred)
        values -= top
        values /= self.terms.theta2
        return values


def _in_rounds(terms: Terms, samples: Samples, price: float) -> Evaluation:
    """Any divergence: a round for the extremes of the values, some for `α`, and one for the sums."""
    look, theta2 = Look(terms, price), terms.theta2
    found = samples.gather(look)
    mean_gain = math.fsum(each[0] for each in found)
    low, high = min(each[1] for each in found), max(each[2] for each in found)
    rounded = np.spacing(max(abs(low), abs(high), abs(price * terms.wanted))) > MAX_KNOWN_ERROR * theta2
    centred = max(high - mean_gain, mean_gain - low) < theta2 and not rounded
    shift = 0.0 if centred else price * terms.wanted
    top = mean_gain if centred else high - shift
    if rounded:
        top = max(samples.gather(look.highest))
    known = ((low - shift - top) / theta2, (high - shift - top) / theta2, (mean_gain - shift - top) / theta2)

    def pairs(block: Block) -> Pairs:
        return look.scaled(block, top, centred=centred), block.base

    settled = terms.divergence.settled(SampleSpread(samples, pairs, None if rounded else known))
    tilting = Tilting(price, centred, top, settled)
    parts = samples.gather(Tilted(look, tilting))
    sums = [math.fsum(each) for each in zip(*(part[0] for part in parts), strict=True)]
    conjugate, above, lift, cost, slope = sums
    stiff, means, squares = np.array([part[1] for part in parts]).T
    whole = math.fsum(stiff)
    mean = math.fsum(stiff * means) / whole if whole > 0.0 else 0.0
    variance = math.fsum(squares + stiff * np.square(means - mean))
    if centred:
        value = price * terms.wanted - mean_gain - theta2 * conjugate
    else:
        value = theta2 * settled.alpha - top - theta2 * conjugate
    return Evaluation(
        price=price,
        move=Respond(price),
        weighting=tilting,
        excess=above + lift - terms.wanted,
        curvature=variance / theta2 + slope / terms.theta1,
        value=value,
        moving=terms.moving_price * cost,
        reweighting=theta2 * terms.divergence.penalised([part[2] for part in parts]),
    )


@dataclass(frozen=True)
class Tilted:
    """The sums of a block for given weights: those that add up, those of the variance, and those of the penalty."""

    look: Look
    tilting: Tilting

    def __call__(self, block: Block) -> tuple[tuple[float, ...], tuple[float, float, float], tuple[float, float, float, float]]:
        terms, base, tilting = self.look.terms, block.base, self.tilting
        response, _ = self.look.moved(block)
        scores = self.look.scaled(block, tilting.top, centred=tilting.centred)
        scores += tilting.settled.alpha
        tilt = terms.divergence.tilted(scores, tilting.settled.edge)
        above, mass = terms.above(block.losses), base * tilt.changes
        conjugate = terms.divergence.centred_conjugate(scores) if tilting.centred else tilt.conjugate
        moved = total(mass, above)
        mass += base
        sums = total(base, conjugate), moved, *(dot(mass, each) for each in (response.lift, response.cost, response.slope))
        above += response.lift
        stiff = base * tilt.stiffness
        whole = float(np.add.reduce(stiff))
        mean = total(stiff, above) / whole if whole > 0.0 else 0.0
        above -= mean
        return sums, (whole, mean, total(stiff, above * above)), terms.divergence.penalty_sums(tilt, base)
