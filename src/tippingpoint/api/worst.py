"""The threshold that a cost reaches, of responses that are known and of those that are searched for question by question."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from tippingpoint.api.certifying import UNCERTIFIED, gap_notes, noted
from tippingpoint.core.blocks import Samples
from tippingpoint.core.dual import Solution, Status, solve
from tippingpoint.core.oracle import INTERRUPTED, Oracle
from tippingpoint.core.problem import Problem
from tippingpoint.core.responses import BestResponses
from tippingpoint.core.worst import Worst, bounded_rise, worst
from tippingpoint.results.stability import StabilityResult
from tippingpoint.results.worst import WorstRisk

MAX_ROUNDS = 8
"""Of searching at the threshold that was found before; two to four are usual."""

COARSE = 0.05
"""Relative gap at which the first look ends: it only decides where searching begins."""

NEAR = 1e-4
"""Relative change of the rise in risk at which rounds end, where nothing is attained for certain ..."""

SAME = 1e-9
"""... and where it is: the question has to be the one that was answered."""

BEYOND = 1.5
"""How far out is looked once more, in rises that were found: what pays only there may pay here too, once it is known ..."""

ROOM = 1.02
"""... unless it is proved that there is no more than this part of the rise to be found."""

CONTRADICTION = 1e-3
"""Part of the rise by which a ceiling may be below what is reached before it is no rounding."""

LARGEST_POSSIBLE = "the largest possible risk"
"""What certifies a ceiling that is the largest loss itself."""

Responses = Callable[[Oracle], "BestResponses | Samples"]
"""What a question is asked of, of an oracle."""


@dataclass(frozen=True)
class Reached:
    """The threshold that a cost reaches.

    Attributes
    ----------
    oracle, problem
        Who found the responses, and the question about that threshold.
    found
        What the cost can do, by these responses.
    """

    oracle: Oracle
    problem: Problem
    found: Worst


def reached(oracle: Oracle, problem: Problem, cost: float, highest: float, responses: Responses) -> Reached:
    """The largest threshold that a perturbation of a cost reaches; `highest` is the largest loss there is.

    Where responses are searched for question by question, they are searched for at the threshold that was found with those
    before, until that hardly changes; then further out, as long as that finds more and what is proved leaves room for it.
    Any of these thresholds is reached, so the largest counts.
    """
    if oracle.exact or not problem.moves:
        return _reached(oracle, problem, worst(problem, cost))
    answer = oracle.reaching(problem, cost) if cost > 0.0 else None
    if answer is not None:
        return _confirmed(*answer, problem, cost, responses)
    oracle = oracle.timed()
    first = _reached(oracle, problem, worst(problem, cost, COARSE))
    best, rise, risk, beyond = first, first.problem.wanted, first.problem.risk, False
    for number in range(MAX_ROUNDS):
        asked = replace(problem, risk=min(risk, highest))
        tuned = oracle.tuned(asked)
        question = replace(asked, responses=responses(tuned))
        found = worst(question, cost)
        apart, before = abs(found.rise - rise), best.found.rise
        if apart <= SAME * rise and tuned.attains(asked):
            return Reached(tuned, question, found)  # the very question that was proved
        if number == 0 or found.rise > before:
            best = _reached(tuned, question, found)
        if tuned is oracle or tuned.interrupted or (beyond and found.rise <= (1.0 + NEAR) * before):
            break
        beyond = apart <= NEAR * rise and not tuned.attains(asked)
        if beyond and not _leaves_room(best, cost, highest):
            break
        rise = BEYOND * best.found.rise if beyond else max(found.rise, rise * _further(question, cost))
        risk = problem.current + rise
    return best


def _confirmed(oracle: Oracle, risk: float, problem: Problem, cost: float, responses: Responses) -> Reached:
    """The threshold that a search for it reports, if the responses reach it; otherwise the one that they reach."""
    question = replace(problem, responses=responses(oracle), risk=risk)
    found = worst(question, cost)
    same = abs(found.rise - question.wanted) <= SAME * question.wanted
    return Reached(oracle, question, found) if same else _reached(oracle, question, found)


def _leaves_room(made: Reached, cost: float, highest: float) -> bool:
    """Whether more than was found may be in reach, by what is proved."""
    rise = made.found.rise
    if cost == 0.0 or rise >= highest - made.problem.current:
        return False
    return bounded_rise(made.oracle, made.problem, solve(made.problem), cost) > ROOM * rise


def _further(question: Problem, cost: float) -> float:
    """By what part more the risk may rise for the cost: costs grow like the square of a small rise, and never faster."""
    solution = solve(question)
    spent = (1.0 - solution.share) * solution.left.cost + solution.share * solution.right.cost
    return math.sqrt(cost / spent) if solution.status is Status.ATTAINED and spent > 0.0 else 0.0


def _reached(oracle: Oracle, problem: Problem, found: Worst) -> Reached:
    """With the question about the threshold that was found."""
    largest = problem.reachable if found.status is Status.LARGEST else math.inf
    return Reached(oracle, replace(problem, risk=min(problem.current + found.rise, largest)), found)


def bounded_by(made: Reached, solution: Solution, cost: float) -> tuple[float, bool]:
    """The rise in risk that bounds on what samples can gain prove to be out of reach, and whether somebody did not wait for it.

    Infinite where nobody bounds it, or where what bounds it contradicts what was found.
    """
    if made.oracle.noisy:
        return math.inf, False
    try:
        ceiling = bounded_rise(made.oracle, made.problem, solution, cost)
        ceiling = min(ceiling, made.oracle.risk_bound(made.problem) - made.problem.current)
    except KeyboardInterrupt:
        return math.inf, True
    return (ceiling if ceiling >= (1.0 - CONTRADICTION) * made.found.rise else math.inf), False


def worst_result(made: Reached, solution: Solution, result: StabilityResult, cost: float, highest: float) -> WorstRisk:
    """What a cost can do, in words and numbers.

    `result` is the stability at that threshold, without a note on its gap; `highest` is the largest loss.
    """
    found, oracle, problem = made.found, made.oracle, made.problem
    # That a stability is known proves that its cost reaches no more; what a larger one does needs responses that are exact.
    spent = found.status is Status.ATTAINED and result.lower >= (1.0 - SAME) * cost
    proved = result.exact and (spent or oracle.exact or not problem.moves)
    ceiling, stopped = (found.ceiling, False) if proved else bounded_by(made, solution, cost)
    certified = None
    if math.isfinite(ceiling):
        certified = max(min(problem.current + ceiling, highest), result.risk)
    by = f"{UNCERTIFIED}interrupted" if stopped else result.lower_by
    if certified is None and not by.startswith(UNCERTIFIED):
        by = f"{UNCERTIFIED}{by}"
    elif certified is not None and not proved:  # the stability may have no lower bound where the risk has an upper one
        by = LARGEST_POSSIBLE if certified >= (1.0 - SAME) * highest else oracle.certificate
    ending = "time" if oracle.timed_out else oracle.ending(problem) or result.ending
    return WorstRisk(
        value=result.risk,
        certified=certified,
        certified_by=by,
        exact=proved or (certified is not None and certified - result.risk <= SAME * found.rise),
        status=found.status.value,
        cost=cost,
        spent=result.value,
        excess=found.rise,
        standard_error=result.standard_error / result.price if 0.0 < result.price < math.inf else math.nan,
        current_risk=result.current_risk,
        largest_risk=result.largest_risk,
        loss=result.loss,
        divergence=result.divergence,
        theta1=result.theta1,
        theta2=result.theta2,
        price=result.price,
        samples=result.samples,
        stability=noted(oracle, result),
        notes=(
            *result.notes,
            *gap_notes(oracle, ending, result.risk, math.inf if certified is None else certified),
            *([INTERRUPTED] if stopped and INTERRUPTED not in result.notes else []),
        ),
        interrupted=result.interrupted or stopped,
        caution=result.caution,
        time_limit_reached=result.time_limit_reached,
    )
