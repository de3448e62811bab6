r"""The dual: a concave maximisation over one number.

.. math:: R = \max_{h \ge 0} g(h), \qquad g(h) = h r - \Psi\bigl(\theta_1 e_i(h/\theta_1)\bigr)

:math:`\Psi` is the divergence's (`tippingpoint.core.divergences`), :math:`e_i` the best responses'. The slope is
:math:`g'(h) = r - \sum_i p_i w_i \ell_i`, so the maximum is where the perturbed risk meets the threshold. The search
keeps the best point on either side. The two, mixed so that the risk is exactly `r`, are a feasible perturbation: their
cost is an upper bound on `R`, each `g(h)` is a lower bound, and the search stops when the two agree.

Every limit of the threshold lives here and nowhere else: a risk already reached (`R = 0`), out of reach (`R = ∞`), or equal
to the largest that can be reached. What an infinite price means is the problem's (`tippingpoint.core.problem`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from tippingpoint.core.arrays import FloatArray, total
from tippingpoint.core.problem import Evaluation, Problem
from tippingpoint.core.units import Units, is_ordinary, shifted, units_of
from tippingpoint.errors import NumericalError, UnsupportedError

TOLERANCE = 1e-12
"""Relative gap between the two bounds at which the search stops."""

ROUNDING = 1e-14
"""Two means of losses this close, relative to the mean size of a loss, are the same number."""

STEP_TOLERANCE = 1e-5
"""Relative Newton step below which the next point is put as far beyond the root, to close the bracket."""

JUMP_DISTANCE = 2.0**-40
"""Relative distance from a jump at which its sides are evaluated: far above rounding, far below `TOLERANCE/JUMP_DISTANCE`."""

MAX_START_PRICE = 1e60
"""Largest price `λ` at which the search begins: its square, times anything, is still a number."""

MAX_RISK_MISS = 1e-6
"""Part of the rise in risk that a solution may miss; rounding misses far less."""

STRIDE = 1e3
"""Largest factor by which the search goes out at once while nothing bounds it from above."""

FLOOR_GRID = 2.0**0.0625
"""From one price at which responses are bounded to the next; the best of them is within a twentieth of a percent."""

FLOOR_STRIDE = 32
"""Steps of that grid, two octaves, with which the search for the best begins."""

MAX_EVALUATIONS = 300
"""Cap on evaluations; 6 to 12 are usual, about 60 happen beside a pole."""


class Status(str, Enum):
    """How the threshold was met."""

    ATTAINED = "attained"
    """A perturbation of least cost reaches the threshold."""
    ALREADY = "already"
    """The risk is at the threshold, or above it, without any cost: R = 0."""
    LARGEST = "largest"
    """The threshold is the largest risk that can be reached."""
    UNREACHABLE = "unreachable"
    """No perturbation reaches the threshold: R = ∞."""


@dataclass(frozen=True)
class Solution:
    """The maximum, bracketed: `left` has risk at most `r`, `right` at least; `share` of `right` mixed in gives `r`.

    Where the threshold is out of reach there is nothing to show: `left` and `right` are the data as they are. `risks` are those
    met on the way, one an evaluation.
    """

    status: Status
    left: Evaluation
    right: Evaluation
    share: float
    lower: float
    evaluations: int
    risks: tuple[float, ...] = ()


def solve(problem: Problem) -> Solution:
    """The stability and the pair of perturbations that brackets it; an error where numbers are too far apart for that.

    A question of ordinary numbers is solved as it is, any other in units of its own.
    """
    with np.errstate(all="ignore"):  # what is no number is noticed below
        if is_ordinary(problem):
            solution = _attempt(problem)
            if solution is not None:
                return solution
        units = units_of(problem)
        solution = _attempt(units.problem(problem))
        if solution is not None:
            return _in_users(solution, units)
    raise NumericalError(
        f"risk={problem.risk:g}, theta1={problem.theta1:g}, theta2={problem.theta2:g}: losses, costs and prices are too many"
        " orders of magnitude apart to be computed with; bring them to comparable sizes, by other units or other prices."
    )


def _in_users(solution: Solution, units: Units) -> Solution:
    """A solution in units of its own, in those of the user."""
    return replace(
        solution,
        left=units.evaluation(solution.left),
        right=units.evaluation(solution.right),
        lower=shifted(solution.lower, units.cost),
        risks=tuple(shifted(risk, units.loss) for risk in solution.risks),
    )


def _attempt(problem: Problem) -> Solution | None:
    """A solution that is one: of numbers, and with the risk that is asked for."""
    try:
        solution = _solved(problem)
    except (ArithmeticError, UnsupportedError):  # no number to divide by, to search from, or to escape to
        return None
    left, right, share = solution.left, solution.right, solution.share
    if not all(map(math.isfinite, (left.excess, right.excess, left.cost, right.cost, share))) or math.isnan(solution.lower):
        return None
    missed = (1.0 - share) * left.excess + share * right.excess
    attained = solution.status is not Status.ATTAINED or abs(missed) <= MAX_RISK_MISS * problem.wanted
    return solution if attained else None


def _solved(problem: Problem) -> Solution:
    losses = problem.responses.losses
    size = max(total(problem.base, np.abs(losses)), abs(problem.risk))
    rest = problem.rest()
    if problem.wanted <= ROUNDING * size:
        return Solution(Status.ALREADY, rest, rest, 0.0, 0.0, 0)
    if rest.excess >= -ROUNDING * size:  # reweighting without cost goes that far: mix it with the data as they are
        zero = np.zeros_like(losses)
        now = replace(rest, changes=zero, excess=-problem.wanted)
        return Solution(Status.ALREADY, now, rest, _share(now, rest), 0.0, 0)
    largest = problem.reachable
    size = max(size, abs(largest)) if math.isfinite(largest) else size
    if problem.risk > largest + ROUNDING * size:
        return Solution(Status.UNREACHABLE, rest, rest, 0.0, math.inf, 0)
    if problem.risk >= largest - max(ROUNDING * size, TOLERANCE * (largest - problem.current)):
        return _largest(problem)
    return _bracket(problem, rest)


def honest_lower(dual: float, primal: float) -> float:
    """The dual value; where rounding puts it above the primal, as far below: the two disagree by that much."""
    return dual if dual <= primal else max(primal - (dual - primal), 0.0)


def highest_floor(problem: Problem, gain: Callable[[float], FloatArray], price: float) -> float:
    """The best of the lower bounds `g(h)` that bounds on responses give, searched from `h = price` on.

    Every `h` gives one; the search only decides how good the best is. It asks for bounds at powers of `FLOOR_GRID` only, so
    that whoever computes them can keep them for the next question.
    """
    values: dict[int, float] = {}

    def value(k: int) -> float:
        if k not in values:
            rung = FLOOR_GRID**k
            values[k] = problem.floor(rung * problem.theta1, gain(rung))
        return values[k]

    best, step = round(math.log(price / problem.theta1, FLOOR_GRID)), FLOOR_STRIDE
    while step and len(values) < MAX_EVALUATIONS:
        if FLOOR_GRID**best > MAX_START_PRICE:
            return math.inf  # the bound rises with the price for ever: out of reach
        better = max((best, best - step, best + step), key=value)
        # Far above the best price bounds may be infinite, and say only that it lies below.
        further = best - step if better == best and value(best) == -math.inf else better
        best, step = further, step // 2 if further == best else step
    return max(value(best), 0.0)


def _largest(problem: Problem) -> Solution:
    """The supremum over h may only be approached; go out until the bound stops rising."""
    point = problem.concentrated()
    lower, price, evaluations = 0.0, 1.0, 0
    scale = max(point.cost, np.finfo(float).tiny) / problem.wanted
    while evaluations < MAX_EVALUATIONS and lower < point.cost * (1.0 - TOLERANCE) and price * scale < problem.ceiling:
        lower = max(lower, problem.evaluate(price * scale).value)
        price, evaluations = 2.0 * price, evaluations + 1
    return Solution(Status.LARGEST, point, point, 0.0, min(lower, point.cost), evaluations)


def _bracket(problem: Problem, rest: Evaluation) -> Solution:
    """Safeguarded Newton on the slope of g, with a model of its jumps where Newton's step is refuted."""
    left, right = rest, None
    ceiling = problem.ceiling
    noise = 0.1 * TOLERANCE * problem.wanted
    price = _first_price(problem, rest, ceiling)
    lower, share, width, last, widths = 0.0, 0.0, math.inf, math.inf, [math.inf, math.inf]
    risks: list[float] = []
    del rest  # of the size of the data, like every evaluation: hold no more of them than are needed
    for evaluations in range(1, MAX_EVALUATIONS + 1):
        point = problem.evaluate(price)
        risks.append(problem.risk + point.excess)
        if abs(point.excess) <= noise:
            return Solution(Status.ATTAINED, point, point, 0.0, point.value, evaluations, tuple(risks))
        if point.excess < 0.0:
            left = point
        else:
            right = point
        if right is None:
            price = _outward(point, ceiling)
            if price <= point.price:  # as close to the ceiling as numbers go, and the risk is still too low
                right = problem.escaped(point)
                return Solution(Status.ATTAINED, left, right, _share(left, right), left.value, evaluations, tuple(risks))
            last = point.excess
            continue
        lower = max(left.value, right.value)
        share = _share(left, right)
        upper = (1.0 - share) * left.cost + share * right.cost
        width = right.price - left.price
        if upper - lower <= TOLERANCE * upper or width <= 2.0 * np.spacing(right.price):
            return Solution(Status.ATTAINED, left, right, share, lower, evaluations, tuple(risks))
        trust = abs(point.excess) <= 0.25 * abs(last)
        widths, last = [widths[-1], width], point.excess
        price = _inward(problem, left, right, point, trust=trust, stalled=width > 0.5 * widths[0] and not trust)
    if right is None:
        raise NumericalError(f"risk={problem.risk:g} is within reach, but no price h up to {left.price:g} gets there.")
    return Solution(Status.ATTAINED, left, right, share, lower, MAX_EVALUATIONS, tuple(risks))


def _first_price(problem: Problem, rest: Evaluation, ceiling: float) -> float:
    """Newton's step from rest; where g has no curvature there, the price at which enough samples have jumped."""
    wanted = problem.wanted
    if rest.curvature > 0.0:
        first = min(-rest.excess / rest.curvature, MAX_START_PRICE * problem.theta1)
    elif problem.reweights and np.ptp(problem.responses.losses) > 0.0:  # a cap, or a variance that underflows
        first = problem.theta2 / float(np.ptp(problem.responses.losses))
    else:
        peak = problem.responses.peak()
        reach = np.isfinite(peak.lift) & (peak.lift > 0.0)
        first = problem.theta1
        if reach.any():
            ties = peak.cost[reach] / peak.lift[reach]
            order = np.argsort(ties)
            gained = np.cumsum((problem.base[reach] * peak.lift[reach])[order])
            enough = min(int(np.searchsorted(gained, wanted)), len(order) - 1)
            first = problem.theta1 * float(ties[order[enough]]) or problem.theta1
    return first if first < ceiling else 0.5 * ceiling


def _outward(point: Evaluation, ceiling: float) -> float:
    """Nothing bounds the maximum from above yet: Newton's step, at least twice as far, at most `STRIDE` times."""
    newton = math.inf if point.curvature <= 0.0 else point.price - point.excess / point.curvature
    further = min(max(newton, 2.0 * point.price), STRIDE * point.price)
    if further < ceiling:
        return further
    closer = ceiling - (ceiling - point.price) / 16.0
    return closer if closer < ceiling else math.nextafter(ceiling, 0.0)


def _inward(problem: Problem, left: Evaluation, right: Evaluation, point: Evaluation, *, trust: bool, stalled: bool) -> float:
    """The next price, strictly between the two sides."""
    candidate = math.nan
    if stalled:
        pass
    elif trust and point.curvature > 0.0:
        step = -point.excess / point.curvature
        settled = abs(step) <= STEP_TOLERANCE * point.price
        candidate = point.price + (2.0 * step if settled else step)
    else:
        candidate = _jump(problem, left, right)
    if left.price < candidate < right.price:
        return candidate
    if left.price == 0.0:
        return right.price / STRIDE if stalled else 0.5 * right.price
    if right.price > 16.0 * left.price:
        return math.sqrt(left.price * right.price)
    return 0.5 * (left.price + right.price)


def _jump(problem: Problem, left: Evaluation, right: Evaluation) -> float:
    """Where a model of the risk between two prices meets the threshold.

    A sample whose two responses differ by more than twice what its lesser slope explains jumps where the tangents cross,
    `θ1 (d_right - d_left)/(ℓ_right - ℓ_left)`: exact for two responses, quadratically close otherwise. All other
    growth is spread evenly. At a jump its nearer unexplored side is proposed.
    """
    span = right.price - left.price
    if not problem.moves:
        return left.price - left.excess * span / (right.excess - left.excess)
    rise = right.response.lift - left.response.lift
    smooth = np.minimum(left.response.slope, right.response.slope) * (span / problem.theta1)
    jumps = np.flatnonzero((rise > 0.0) & (rise > 2.0 * smooth))
    ties = problem.theta1 * (right.response.cost[jumps] - left.response.cost[jumps]) / rise[jumps]
    order = np.argsort(ties, kind="stable")
    ties = np.clip(ties[order], left.price, right.price)
    mass = problem.base[jumps] * 0.5 * (left.weights[jumps] + right.weights[jumps])
    heights = (mass * (rise[jumps] - smooth[jumps]))[order]
    growth = max(right.excess - left.excess - float(heights.sum()), 0.0) / span
    after = left.excess + growth * (ties - left.price) + np.cumsum(heights)
    first = int(np.searchsorted(after, 0.0))
    height = float(heights[first]) if first < len(ties) else 0.0
    if first < len(ties) and after[first] - height <= 0.0:
        tie = float(ties[first])
        beyond = tie * (1.0 + JUMP_DISTANCE)
        return beyond if beyond < right.price else tie * (1.0 - JUMP_DISTANCE)
    behind = float(after[first - 1]) if first > 0 else left.excess
    start = float(ties[first - 1]) if first > 0 else left.price
    return start - behind / growth if growth > 0.0 else math.nan


def _share(left: Evaluation, right: Evaluation) -> float:
    """How much of `right` makes the mixture's risk the threshold."""
    return min(-left.excess / (right.excess - left.excess), 1.0) if right.excess > left.excess else 0.0
