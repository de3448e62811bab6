r"""The stability curve read the other way: the largest risk that a perturbation of a cost can reach.

.. math:: W(\rho) = \sup\{r : R(r) \le \rho\} = \min_{h > 0} \frac{\rho + \Psi\bigl(\theta_1 e_i(h/\theta_1)\bigr)}{h}

By weak duality every `h` gives a ceiling that no perturbation of that cost passes. The perturbation at `h` has a risk and a
cost of its own, and the ceiling is least where that cost is `ρ`. So the search keeps the best point on either side of `ρ`. The
two, mixed so that the cost is `ρ`, are a perturbation whose risk is reached; the search stops when that is the ceiling.

Risks are measured from the present one, so that a rise of any smallness keeps its digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tippingpoint.core.blocks import Reduced, Samples
from tippingpoint.core.dual import MAX_EVALUATIONS, STRIDE, Solution, Status, highest_on_grid
from tippingpoint.core.oracle import Oracle
from tippingpoint.core.passes import pass_at
from tippingpoint.core.perturbations import Evaluation, Terms
from tippingpoint.core.problem import Problem
from tippingpoint.core.units import MAX_EXPONENT, exponent, is_ordinary, shifted, units_of
from tippingpoint.errors import NumericalError, UnsupportedError

TOLERANCE = 1e-13
"""Relative gap between the risk that is reached and the ceiling at which the search stops."""

LEAST_PRICE = 2.0**-200
"""A price at which nothing is paid, to any digit: what a cost of nothing reaches is read there."""

ROUNDING = 1e-15
"""Part of the rise beyond a jump that is rounding of what is before it ..."""

MAX_ROUNDING = 1e-10
"""... as long as that is no larger part of the rise that was found."""

MAX_BOUNDED_PRICE = 1e30
"""Price `λ` beyond which bounds on responses are not asked for: costs do not matter there."""

SMOOTH_FROM = 0.9
"""Part of a rise in risk that the curvature must explain for Newton's step to be tried: the rest are jumps."""


@dataclass(frozen=True)
class Worst:
    """What a cost can do.

    Attributes
    ----------
    status
        `ATTAINED`, or `LARGEST` where the cost is more than what the largest risk takes.
    rise
        By how much a perturbation of that cost raises the risk.
    ceiling
        What no such perturbation raises it above, by these responses; the same but for rounding.
    evaluations
        Passes over the samples that it took.
    """

    status: Status
    rise: float
    ceiling: float
    evaluations: int


def worst(problem: Problem, cost: float, tolerance: float = TOLERANCE) -> Worst:
    """By how much a perturbation of a cost can raise the risk; the threshold of the problem is of no account.

    Parameters
    ----------
    problem
        Responses, prices and divergence.
    cost
        `ρ ≥ 0`.
    tolerance
        Relative gap at which to stop.
    """
    current = problem.current
    problem = replace(problem, risk=current)
    with np.errstate(all="ignore"):  # what is no number is noticed below
        if is_ordinary(problem) and abs(exponent(cost) or 0) <= MAX_EXPONENT:
            found = _attempt(problem, cost, tolerance)
            if found is not None:
                return found
        units = units_of(problem)
        # Units of the cheaper kind of change would hide the dearer one, which a large cost pays for.
        units = replace(units, cost=max(units.cost, exponent(cost) or units.cost))
        found = _attempt(units.problem(problem), shifted(cost, -units.cost), tolerance)
    if found is None:
        raise NumericalError(
            f"cost={cost:g}, theta1={problem.theta1:g}, theta2={problem.theta2:g}: losses, costs and prices are too many orders"
            " of magnitude apart to be computed with; bring them to comparable sizes, by other units or other prices."
        )
    return replace(found, rise=shifted(found.rise, units.loss), ceiling=shifted(found.ceiling, units.loss))


def _attempt(problem: Problem, cost: float, tolerance: float) -> Worst | None:
    """An answer that is one: of numbers."""
    try:
        found = _found(problem, cost, tolerance)
    except (ArithmeticError, UnsupportedError):  # no number to divide by, or nothing to escape to
        return None
    return found if all(map(math.isfinite, (found.rise, found.ceiling))) and found.rise >= 0.0 else None


class Trial:
    """Perturbations at dual prices, their risk measured from the present one.

    Parameters
    ----------
    problem
        Its threshold is the present risk.
    """

    def __init__(self, problem: Problem) -> None:
        facts, terms = problem.samples.facts, problem.terms
        self._problem = problem
        self._largest = max(facts.risk - facts.least, facts.largest - facts.risk)
        # Rounding of the present risk must not be taken for a rise: here the one is measured from is `least + raised` itself.
        self.terms: Terms = replace(terms, raised=terms.risk - terms.least)

    def at(self, price: float, samples: Samples) -> Evaluation:
        """Everything at dual price `h > 0`; `excess` is the rise in risk."""
        near = price * self._largest < self._problem.theta2  # a guess, which decides no digit
        return pass_at(self.terms, samples, price, near=near)

    def below(self, price: float) -> Samples:
        """Samples that stand for all at prices below one."""
        samples, theta1 = self._problem.samples, self._problem.theta1
        return Reduced(samples, price / theta1) if self._problem.moves else samples


def _found(problem: Problem, cost: float, tolerance: float) -> Worst:
    trial = Trial(problem)
    if cost == 0.0:
        rise = trial.at(LEAST_PRICE * min(problem.theta1, problem.theta2), problem.samples).excess
        free = rise if rise > math.sqrt(LEAST_PRICE) * problem.samples.facts.size else 0.0
        return Worst(Status.ATTAINED, free, free, 1)
    if math.isfinite(problem.reachable):
        most = problem.concentrated()
        if cost >= most.cost * (1.0 - tolerance):
            rise = max(most.excess + problem.wanted, 0.0)
            return Worst(Status.LARGEST, rise, rise, 0)
    return _bracketed(problem, trial, cost, tolerance)


def _bracketed(problem: Problem, trial: Trial, cost: float, tolerance: float) -> Worst:
    """Prices closed in on where the cost is `ρ`: by Newton's steps, or by chords where samples jump."""
    rest, samples = problem.rest(), problem.samples
    left, right, last = replace(rest, excess=rest.excess + problem.wanted), None, None
    price, widths, chords = _first_price(problem, left, cost), [math.inf, math.inf], False
    for evaluations in range(1, MAX_EVALUATIONS + 1):
        point = trial.at(price, samples)
        left, right = (point, right) if point.cost < cost else (left, point)
        if right is None:
            ceiling = _ceiling(point, cost)
            price = _outward(point, cost, problem.ceiling)
            # Beside a ceiling any further loss costs its price.
            rise = point.excess + ((cost - point.cost) / problem.ceiling if price <= point.price else 0.0)
            if price <= point.price or ceiling - rise <= tolerance * ceiling:
                return Worst(Status.ATTAINED, rise, max(rise, ceiling), evaluations)
            last = point
            continue
        samples = trial.below(right.price)
        rise = _mixed(left, right, cost)
        ceiling = min(_ceiling(each, cost) for each in (left, right))
        width = right.price - left.price
        closed = ceiling - rise <= max(tolerance, min(ROUNDING * right.excess / rise, MAX_ROUNDING)) * ceiling
        if closed or width <= 2.0 * np.spacing(right.price) or evaluations == MAX_EVALUATIONS:
            return Worst(Status.ATTAINED, rise, max(rise, ceiling), evaluations)
        smooth = last is not None and _is_smooth(last, point)
        chords = not chords and width > 0.25 * widths[0]  # what does not close in fast enough takes turns
        price = _inward(left, right, point, cost, smooth=smooth, chords=chords)
        widths, last = [widths[-1], width], point
    raise NumericalError(f"no price h up to {left.price:g} costs {cost:g}.")


def _first_price(problem: Problem, rest: Evaluation, cost: float) -> float:
    """`√(2ρ/κ)`, as costs are `κh²/2` at first; where responses only jump, any price will do to begin with."""
    first = math.sqrt(2.0 * cost / rest.curvature) if rest.curvature > 0.0 else min(problem.theta1, problem.theta2)
    return first if first < problem.ceiling else 0.5 * problem.ceiling


def _outward(point: Evaluation, cost: float, ceiling: float) -> float:
    """Nothing costs enough yet: Newton's step, else from two to `STRIDE` times as far; below a ceiling, closer to it."""
    further = min(max(1.1 * _newton(point, cost), 2.0 * point.price), STRIDE * point.price)
    if further < ceiling:
        return further
    closer = ceiling - (ceiling - point.price) / 16.0
    return closer if closer < ceiling else math.nextafter(ceiling, 0.0)


def _inward(left: Evaluation, right: Evaluation, point: Evaluation, cost: float, *, smooth: bool, chords: bool) -> float:
    """The next price between the two sides: where Newton's step or a line through `√cost` meets the cost, or their chord.

    The chord's slope, cost a risk, is a price between the two; where samples jump it is soon that of the jump.
    """
    candidate = math.nan
    if not chords:
        candidate = _newton(point, cost) if smooth else _interpolated(left, right, cost)
    if not left.price < candidate < right.price:
        candidate = (right.cost - left.cost) / (right.excess - left.excess)
    return candidate if left.price < candidate < right.price else 0.5 * (left.price + right.price)


def _newton(point: Evaluation, cost: float) -> float:
    """Newton's step on the square root of the cost, nearly linear in the price; nowhere, if nothing is smooth."""
    if point.curvature <= 0.0 or point.cost <= 0.0:
        return -math.inf
    root = math.sqrt(point.cost)
    return point.price + (math.sqrt(cost) - root) * 2.0 * root / (point.price * point.curvature)


def _interpolated(left: Evaluation, right: Evaluation, cost: float) -> float:
    """Where the line through the square roots of the costs of the two sides meets that of the cost."""
    here, there, wanted = (math.sqrt(each) for each in (left.cost, right.cost, cost))
    return left.price + (right.price - left.price) * (wanted - here) / (there - here)


def _is_smooth(last: Evaluation, point: Evaluation) -> bool:
    """Whether the curvature at a point explains by how much the risk has risen since the last."""
    rise = (point.excess - last.excess) / (point.price - last.price)
    return point.curvature > 0.0 and point.curvature >= SMOOTH_FROM * rise


def _mixed(left: Evaluation, right: Evaluation, cost: float) -> float:
    """The rise of the mixture of the two sides whose cost is `ρ`."""
    return left.excess + (right.excess - left.excess) * (cost - left.cost) / (right.cost - left.cost)


def _ceiling(point: Evaluation, cost: float) -> float:
    """`(ρ + Ψ)/h`, measured from the present risk; nothing is known at a price of 0."""
    return (cost - point.value) / point.price if point.price > 0.0 else math.inf


def bounded_rise(oracle: Oracle, problem: Problem, solution: Solution, cost: float) -> float:
    """The least ceiling on the rise in risk, for a cost, that an oracle's bounds on what samples can gain give.

    Weak duality makes one of the bounds at any price; infinite where there are none, or they are of no use.

    Parameters
    ----------
    oracle
        Who bounds.
    problem, solution
        The question about the risk that was found for the cost: it tells at which prices bounds are worth most.
    cost
        `ρ`.
    """
    theta1, wanted = problem.theta1, problem.wanted
    prices = [side.price / theta1 for side in (solution.left, solution.right) if 0.0 < side.price < math.inf]
    prices = prices or [1.0 if cost > 0.0 else LEAST_PRICE]

    def ceiling(price: float) -> float:
        floor = oracle.floor(problem, price) if price <= MAX_BOUNDED_PRICE else None
        return math.inf if floor is None else wanted + (cost - floor) / (price * theta1)

    with np.errstate(all="ignore"):  # far out bounds may be no numbers
        if oracle.floor(problem, prices[-1]) is None:
            return math.inf
        searched = [-highest_on_grid(lambda price: -ceiling(price), prices[-1])] if cost > 0.0 else []
        return min([*searched, *map(ceiling, prices)])
