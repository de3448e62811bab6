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

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.blocks import Block
from tippingpoint.core.jumps import jump_between
from tippingpoint.core.perturbations import Evaluation, Terms, Untilted
from tippingpoint.core.problem import Problem
from tippingpoint.core.spreads import Pairs, SampleSpread
from tippingpoint.core.units import Units, is_ordinary, shifted, units_of
from tippingpoint.errors import NumericalError, UnsupportedError

TOLERANCE = 1e-12
"""Relative gap between the two bounds at which the search stops."""

ROUNDING = 1e-14
"""Two means of losses this close, relative to the mean size of a loss, are the same number."""

SETTLED = 1e-13
"""Part of the cost that the order of going over may change for the search to stop; a few more evaluations get there."""

MAX_POLISHED = 2
"""Evaluations for that."""

SMOOTH_FROM = 0.9
"""Part of a rise in risk that the curvature must explain for Newton's step to be tried: the rest are jumps."""

CLOSE = 1.1
"""Ratio of prices up to which Newton's step is taken as it is where nothing bounds the search from above."""

QUADRATIC = 1e-2
"""Part of the last error that is left where Newton's steps converge as they should."""

STEP_TOLERANCE = 1e-5
"""Relative Newton step below which the next point is put as far beyond the root, to close the bracket."""

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
    """No perturbation reaches the threshold, by these responses: R = ∞."""
    NOT_FOUND = "not_found"
    """A search found none that does, and nothing proves that there is none; `solve` knows responses only, and never says so."""


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
        converted = units.problem(problem)
        solution = _attempt(converted)
        if solution is not None:
            return _in_users(solution, units, converted.terms)
    raise NumericalError(
        f"risk={problem.risk:g}, theta1={problem.theta1:g}, theta2={problem.theta2:g}: losses, costs and prices are too many"
        " orders of magnitude apart to be computed with; bring them to comparable sizes, by other units or other prices."
    )


def _in_users(solution: Solution, units: Units, terms: Terms) -> Solution:
    """A solution in units of its own, in those of the user."""
    return replace(
        solution,
        left=units.evaluation(solution.left, terms),
        right=units.evaluation(solution.right, terms),
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
    size = max(problem.samples.facts.size, abs(problem.risk))
    rest = problem.rest()
    if problem.wanted <= ROUNDING * size:
        return Solution(Status.ALREADY, rest, rest, 0.0, 0.0, 0)
    if rest.excess >= -ROUNDING * size:  # reweighting without cost goes that far: mix it with the data as they are
        now = replace(rest, weighting=Untilted(), excess=-problem.wanted)
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
    """The best of the lower bounds `g(h)` that bounds on responses give, searched from `h = price` on."""
    return highest_of(problem, lambda rung: problem.floor(rung * problem.theta1, gain(rung)), price)


def highest_of(problem: Problem, floor: Callable[[float], float], price: float) -> float:
    """The best of the lower bounds that `floor` gives by `λ`, searched from `h = price` on.

    Every price gives one; the search only decides how good the best is.
    """
    return max(highest_on_grid(floor, price / problem.theta1), 0.0)


def highest_on_grid(value_at: Callable[[float], float], start: float) -> float:
    """The largest of a function's values by `λ`, searched from `start` on; infinite where they rise for ever.

    It asks at powers of `FLOOR_GRID` only, so that whoever computes them can keep them for the next question.
    """
    values: dict[int, float] = {}

    def value(k: int) -> float:
        if k not in values:
            values[k] = value_at(FLOOR_GRID**k)
        return values[k]

    best, step = round(math.log(start, FLOOR_GRID)), FLOOR_STRIDE
    while step and len(values) < MAX_EVALUATIONS:
        if FLOOR_GRID**best > MAX_START_PRICE:
            return math.inf  # out of reach
        better = max((best, best - step, best + step), key=value)
        # Far above the best price bounds may be infinite, and say only that it lies below.
        further = best - step if better == best and value(best) == -math.inf else better
        best, step = further, step // 2 if further == best else step
    return value(best)


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
    lower, share, width, widths, polished, jumps = 0.0, 0.0, math.inf, [math.inf, math.inf], 0, False
    last: Evaluation | None = None
    whole = problem
    risks: list[float] = []
    for evaluations in range(1, MAX_EVALUATIONS + 1):
        point = problem.evaluate(price)
        risks.append(problem.risk + point.excess)
        if abs(point.excess) <= noise:
            return Solution(Status.ATTAINED, point, point, 0.0, point.value, evaluations, tuple(risks))
        if point.excess < 0.0:
            left = point
        else:
            right = point
        if right is point:
            problem = whole.below(right.price)
        if right is None:
            price = _outward(point, last, ceiling)
            if price <= point.price:  # as close to the ceiling as numbers go, and the risk is still too low
                right = problem.escaped(point)
                return Solution(Status.ATTAINED, left, right, _share(left, right), left.value, evaluations, tuple(risks))
            last = point
            continue
        lower = max(left.value, right.value)
        share = _share(left, right)
        upper = (1.0 - share) * left.cost + share * right.cost
        width = right.price - left.price
        closed = upper - lower <= TOLERANCE * upper
        # As long as it matters who goes over from one side to the other, they would have to be sorted: another look is cheaper.
        settled = width * min(-left.excess, right.excess) <= SETTLED * upper or polished == MAX_POLISHED
        polished += closed
        if (closed and settled) or width <= 2.0 * np.spacing(right.price):
            alone = _single(problem, left, right)
            if alone is not None:
                left, right, share, lower = alone, alone, 0.0, max(lower, alone.value)
            return Solution(Status.ATTAINED, left, right, share, lower, evaluations, tuple(risks))
        pace = Pace(
            converges=last is None or abs(point.excess) <= 0.25 * abs(last.excess),
            same_side=last is not None and point.excess * last.excess > 0.0,
            fast=last is not None and _is_fast(last, point),
            smooth=last is None or _is_smooth(last, point),
            shrinks=width <= 0.25 * widths[0],
        )
        widths, last = [widths[-1], width], point
        price, jumps = _inward(problem, left, right, point, pace, jumps=jumps)
    if right is None:
        raise NumericalError(f"risk={problem.risk:g} is within reach, but no price h up to {left.price:g} gets there.")
    return Solution(Status.ATTAINED, left, right, share, lower, MAX_EVALUATIONS, tuple(risks))


def _single(problem: Problem, left: Evaluation, right: Evaluation) -> Evaluation | None:
    """The one perturbation between two neighbours that has the risk asked for, where nothing jumps between them.

    It spares a search for who goes over from one side to the other.
    """
    nearer = left if -left.excess < right.excess else right
    if not _is_smooth(left, right) or nearer.curvature <= 0.0:
        return None
    found = problem.evaluate(nearer.price - nearer.excess / nearer.curvature)
    return found if abs(found.excess) <= 0.1 * TOLERANCE * problem.wanted else None


def _is_fast(last: Evaluation, point: Evaluation) -> bool:
    """Whether Newton's steps have begun to double the digits."""
    return abs(point.excess) <= QUADRATIC * abs(last.excess)


def _is_smooth(last: Evaluation, point: Evaluation) -> bool:
    """Whether the curvature at a point explains by how much the risk has risen since the last."""
    rise = (point.excess - last.excess) / (point.price - last.price)
    return point.curvature > 0.0 and point.curvature >= SMOOTH_FROM * rise


def _first_price(problem: Problem, rest: Evaluation, ceiling: float) -> float:
    """That of a few samples; else Newton's step from rest, or the price at which enough samples have jumped."""
    wanted = problem.wanted
    scouted = _scouted_price(problem)
    if 0.0 < scouted < ceiling:
        return scouted
    if rest.curvature > 0.0:
        first = min(-rest.excess / rest.curvature, MAX_START_PRICE * problem.theta1)
    elif problem.reweights and problem.samples.facts.spread > 0.0:  # a cap, or a variance that underflows
        first = problem.theta2 / problem.samples.facts.spread
    else:
        ties = SampleSpread(problem.samples, _peak_ties)
        first = problem.theta1
        if ties.low < math.inf:
            enough = ties.narrowed(lambda _: wanted, ties.low, ties.high).first(wanted)[0]
            first = problem.theta1 * enough or problem.theta1
    return first if first < ceiling else 0.5 * ceiling


def _scouted_price(problem: Problem) -> float:
    """The price of the same rise of a few samples; not a number where nobody scouts, or they find none."""
    scouts = problem.samples.scouts()
    if scouts is None:
        return math.nan
    few = replace(problem, responses=scouts, risk=scouts.facts.risk + problem.wanted)
    try:
        found = _solved(few)
    except (ArithmeticError, UnsupportedError):
        return math.nan
    if found.status is not Status.ATTAINED:
        return math.nan
    return (1.0 - found.share) * found.left.price + found.share * found.right.price


def _outward(point: Evaluation, last: Evaluation | None, ceiling: float) -> float:
    """Nothing bounds the maximum from above yet: Newton's step where it is close, else from two to `STRIDE` times as far."""
    newton = math.inf if point.curvature <= 0.0 else point.price - point.excess / point.curvature
    near = newton <= CLOSE * point.price and (last is None or _is_fast(last, point))
    if near and point.price < newton < ceiling:
        return newton
    further = min(max(newton, 2.0 * point.price), STRIDE * point.price)
    if further < ceiling:
        return further
    closer = ceiling - (ceiling - point.price) / 16.0
    return closer if closer < ceiling else math.nextafter(ceiling, 0.0)


@dataclass(frozen=True)
class Pace:
    """How a search goes on.

    Attributes
    ----------
    converges
        Whether the last step brought the risk much nearer to the threshold.
    same_side
        Whether it did not pass it.
    fast
        Whether Newton's steps have begun to double the digits: the next will do without a bracket.
    smooth
        Whether the curvature explains how the risk rises, and not jumps.
    shrinks
        Whether the bracket did, over the last two steps, as fast as halving would.
    """

    converges: bool
    same_side: bool
    fast: bool
    smooth: bool
    shrinks: bool


def _inward(
    problem: Problem, left: Evaluation, right: Evaluation, point: Evaluation, pace: Pace, *, jumps: bool
) -> tuple[float, bool]:
    """The next price, strictly between the two sides, and whether jumps make most of the rise between these."""
    candidate, span, rise = math.nan, right.price - left.price, right.excess - left.excess
    if pace.converges and (pace.smooth or not jumps) and point.curvature > 0.0:
        step = -point.excess / point.curvature
        settled = abs(step) <= STEP_TOLERANCE * point.price
        candidate = point.price + (2.0 * step if settled and not pace.fast else step)
    elif pace.smooth and span <= STEP_TOLERANCE * right.price:
        candidate = left.price - left.excess * span / rise
    if not left.price < candidate < right.price and (pace.converges or pace.shrinks):
        proposed = jump_between(problem, left, right)
        candidate, jumps = proposed.price, proposed.jumps
        if proposed.many and pace.converges and pace.same_side:  # from beyond, the other side closes in too
            beyond = point.price + 2.0 * (candidate - point.price)
            candidate = beyond if left.price < beyond < right.price else candidate
    if left.price < candidate < right.price:
        return candidate, jumps
    if left.price == 0.0:
        return (0.5 * right.price if pace.converges or pace.shrinks else right.price / STRIDE), jumps
    if right.price > 16.0 * left.price:
        return math.sqrt(left.price * right.price), jumps
    return 0.5 * (left.price + right.price), jumps


def _peak_ties(block: Block) -> Pairs:
    """The price from which on it pays samples to go where their loss is highest, and by how much the risk rises then."""
    peak = block.responses.peak()
    reach = np.isfinite(peak.lift) & (peak.lift > 0.0)
    return peak.cost[reach] / peak.lift[reach], block.base[reach] * peak.lift[reach]


def _share(left: Evaluation, right: Evaluation) -> float:
    """How much of `right` makes the mixture's risk the threshold."""
    return min(-left.excess / (right.excess - left.excess), 1.0) if right.excess > left.excess else 0.0
