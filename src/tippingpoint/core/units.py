r"""Units of a question: numbers far from one are measured in powers of two near their size, so that their squares are numbers.

With losses in units of `L`, squared distances in units of `D` and costs in units of `C`,

.. math:: R(r; \theta_1, \theta_2) = C \cdot R'(r/L; \theta_1 D/C, \theta_2/C), \qquad e_i(\lambda) = D \cdot e_i'(\lambda L/D).

`L` is the size of the losses, `D` of the moves, `C` of the answer: the price of a unit of divergence or of such a move. Powers
of two change no digit. Nearly all questions are solved as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.blocks import Block, Samples, T, Task
from tippingpoint.core.perturbations import Evaluation, Perturbed, Terms
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import BestResponses, Response
from tippingpoint.core.spreads import Pairs, SampleSpread
from tippingpoint.errors import NumericalError

MAX_EXPONENT = 128
"""Powers of two, up or down, within which no product that the dual forms leaves the range of numbers."""


MAX_PRICE_RATIO = 2.0**200
"""A price so many times that of the other kind of change that nothing is spent on it, to any digit."""


@dataclass(frozen=True)
class Units:
    """The binary logarithms of `L`, `D` and `C`."""

    loss: int
    move: int
    cost: int

    def problem(self, problem: Problem) -> Problem:
        """The same question in these units."""
        return replace(
            problem,
            responses=SamplesInUnits(problem.samples, self),
            risk=shifted(problem.risk, -self.loss),
            theta1=_price(shifted(problem.theta1, self.move - self.cost)),
            theta2=_price(shifted(problem.theta2, -self.cost)),
        )

    def evaluation(self, found: Evaluation, terms: Terms) -> Evaluation:
        """What was found in these units, in the user's; `terms` are those of the question in these units."""
        return replace(
            found,
            price=shifted(found.price, self.cost - self.loss),
            excess=shifted(found.excess, self.loss),
            curvature=shifted(found.curvature, 2 * self.loss - self.cost),
            value=shifted(found.value, self.cost),
            moving=shifted(found.moving, self.cost),
            reweighting=shifted(found.reweighting, self.cost),
            converted=(self, terms, found),
        )

    def block(self, block: Block) -> Block:
        """A block in these units."""
        return block.seen(InUnits(block.responses, self))

    def perturbed(self, found: Perturbed) -> Perturbed:
        """What becomes of samples in these units, in the user's."""
        response = Response(
            np.ldexp(found.response.lift, self.loss),
            np.ldexp(found.response.cost, self.move),
            np.ldexp(found.response.slope, 2 * self.loss - self.move),
        )
        return Perturbed(response, found.changes, np.ldexp(found.influence, self.cost))


class SamplesInUnits(Samples):
    """Samples, with losses and costs in other units."""

    def __init__(self, samples: Samples, units: Units) -> None:
        self._samples = samples
        self._units = units

    @property
    def ceiling(self) -> float:
        return shifted(self._samples.ceiling, self._units.loss - self._units.move)

    def gather(self, task: Task[T]) -> list[T]:
        units = self._units
        return self._samples.gather(lambda block: task(units.block(block)))


class InUnits:
    """Best responses, with losses and costs in other units."""

    def __init__(self, responses: BestResponses, units: Units) -> None:
        self._responses = responses
        self._units = units
        self.losses: FloatArray = np.ldexp(responses.losses, -units.loss)
        self.ceiling: float = shifted(responses.ceiling, units.loss - units.move)

    def respond(self, price: float) -> Response:
        in_units = shifted(price, self._units.move - self._units.loss)
        if in_units != price and not np.finfo(float).tiny <= in_units < math.inf:
            raise NumericalError(f"a price of {price:g} units is no number where responses are found.")
        return self._seen(self._responses.respond(in_units))

    def peak(self) -> Response:
        return self._seen(self._responses.peak())

    def escape(self, lift: float) -> Response:
        return self._seen(self._responses.escape(shifted(lift, self._units.loss)))

    def _seen(self, response: Response) -> Response:
        loss, move = self._units.loss, self._units.move
        return Response(
            np.ldexp(response.lift, -loss), np.ldexp(response.cost, -move), np.ldexp(response.slope, move - 2 * loss)
        )


def units_of(problem: Problem) -> Units:
    """Units in which the numbers of a question are near one: those of the cheaper kind of change that gets there alone.

    Where neither does, both have to be paid for, and the dearer decides.
    """
    samples = problem.samples
    sizes = [exponent(problem.risk), exponent(_largest_loss(problem))]
    loss = max((size for size in sizes if size is not None), default=0)
    second = exponent(problem.theta2)
    if not problem.moves:
        return Units(loss, 0, second or 0)
    move = _usual_move(problem)
    highest = SampleSpread(samples, lambda block: (block.losses + block.responses.peak().lift, block.base))
    costs, alone = [(exponent(problem.theta1) or 0) + move], [highest.mean >= problem.risk]
    if second is not None:
        costs.append(second)
        losses = SampleSpread(samples, lambda block: (block.losses, block.base))
        alone.append(problem.divergence.largest_mean(losses) >= problem.risk)
    cheapest = min((cost for cost, enough in zip(costs, alone, strict=True) if enough), default=max(costs))
    return Units(loss, move, cheapest)


def is_ordinary(problem: Problem) -> bool:
    """Whether losses and prices are near enough to one as they are."""
    numbers = (problem.risk, _largest_loss(problem), problem.theta1, problem.theta2)
    return all(abs(exponent(number) or 0) <= MAX_EXPONENT for number in numbers)


def _largest_loss(problem: Problem) -> float:
    facts = problem.samples.facts
    return max(abs(facts.least), abs(facts.largest))


def exponent(number: float) -> int | None:
    """The binary logarithm of a number's size, rounded; None where it has none."""
    return math.frexp(number)[1] if math.isfinite(number) and number != 0.0 else None


def shifted(number: float, power: int) -> float:
    """`number·2^power`; infinite where that is no number."""
    try:
        return math.ldexp(number, power)
    except OverflowError:
        return math.copysign(math.inf, number)


def _price(price: float) -> float:
    """A price in these units; one that the other kind of change never meets is as good as infinite."""
    return math.inf if price > MAX_PRICE_RATIO else price


def _usual_move(problem: Problem) -> int:
    """The size of a squared distance that it takes."""

    def costs(block: Block) -> Pairs:
        cost = block.responses.peak().cost
        usual = cost[np.isfinite(cost) & (cost > 0.0)]
        return usual, np.ones(len(usual))

    spread = SampleSpread(problem.samples, costs)
    (count,) = spread.sums(lambda _, masses: (float(len(masses)),))
    if count:
        return exponent(spread.narrowed(lambda _: 0.5 * count, spread.low, spread.high).first(0.5 * count)[0]) or 0
    # The risk rises by `slope` a price and the cost by `price·slope`: to raise it by what is wanted costs `wanted²/slope`.
    slope = max(problem.samples.gather(lambda block: float(block.responses.respond(0.0).slope.max(initial=0.0))))
    wanted, steep = exponent(problem.wanted), exponent(slope)
    return 2 * wanted - steep if wanted is not None and steep is not None else 0
