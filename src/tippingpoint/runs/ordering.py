r"""Which runs to make next, so that a budget goes where it moves the stability.

By the envelope theorem the stability falls by :math:`\theta_1 p_i w_i` for every unit by which the best response of sample i
rises. An alternative of cost c that nobody has asked about yet raises it by :math:`\lambda(1 - \ell_i) - c - e_i(\lambda)` at
most, if the model errs there. So what a run is expected to do to the stability, to first order, is

.. math:: p_i w_i \cdot P(\text{error}) \cdot \max(0,\ \lambda (1 - \ell_i) - c - e_i(\lambda)),

with the price :math:`\lambda` and the weights w of a table in which every run not yet made has its expected loss. The chance of
an error comes from the runs made so far: that of the variant and that of the sample, both drawn towards that of all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.core.divergences import Divergence
from tippingpoint.core.dual import Status, solve
from tippingpoint.core.problem import Problem
from tippingpoint.families.table.oracle import TableOracle

PRIOR_RUNS = 2.0
"""As many runs as all others count, where the chance of one variant or sample is estimated."""

ALMOST = 0.9
"""Part of the way to the largest expected risk that is asked about where the threshold is beyond it."""

PRICEY = 10.0
"""Times the largest cost: a price at which every error pays, where no other is known."""

HALFWAY = 0.5
"""Part of that way where nobody says a threshold."""


@dataclass(frozen=True)
class Question:
    """The stability that the runs are for; a risk of None is halfway to the largest that can be expected."""

    risk: float | None
    theta1: float
    theta2: float
    divergence: Divergence


@dataclass(frozen=True)
class State:
    """What is known of the planned runs of one model.

    Attributes
    ----------
    sample, variant
        `(m,)` numbers from 0; variant 0 is the original.
    cost, loss
        `(m,)`; the loss is NaN where it is not known.
    asked
        `(m,)` whether the run was made; one without a loss has no outcome, and gets none.
    """

    sample: IntArray
    variant: IntArray
    cost: FloatArray
    loss: FloatArray
    asked: BoolArray


def expected_gain(state: State, question: Question) -> FloatArray:
    """By how much each run is expected to lower the stability, to first order; 0 of those that were made."""
    gain = np.zeros(len(state.sample))
    known = state.asked & np.isfinite(state.loss)
    first = known & (state.variant == 0)
    if math.isinf(question.theta1) or not first.any():
        return gain
    base = np.full(int(state.sample.max()) + 1, math.nan)
    base[state.sample[first]] = state.loss[first]
    usable = np.isfinite(base[state.sample])  # of samples whose original is known
    waiting = ~state.asked & usable
    if not waiting.any():
        return gain
    chance = error_chance(state)
    loss = np.where(known, state.loss, np.maximum(base[state.sample], chance))
    price, weights = _priced(state, loss, usable & (known | waiting), question)
    lift = np.maximum(state.loss - base[state.sample], 0.0)
    reached = np.zeros(len(base))
    made = known & usable
    np.maximum.at(reached, state.sample[made], price * lift[made] - state.cost[made])
    rest = price * (1.0 - base[state.sample]) - state.cost - reached[state.sample]
    gain[waiting] = (weights[state.sample] * chance * np.maximum(rest, 0.0))[waiting]
    return gain


def error_chance(state: State) -> FloatArray:
    """The chance that each run errs: odds of its variant times odds of its sample over those of all."""
    known = state.asked & np.isfinite(state.loss)
    changed = known & (state.variant > 0)
    seen = changed if changed.any() else known
    mean = float(np.clip(state.loss[seen].mean(), 0.01, 0.99)) if seen.any() else 0.5

    def odds(groups: IntArray, runs: BoolArray) -> FloatArray:
        count = int(groups.max()) + 1
        total = np.bincount(groups[runs], weights=np.clip(state.loss[runs], 0.0, 1.0), minlength=count) + PRIOR_RUNS * mean
        rate = np.clip(total / (np.bincount(groups[runs], minlength=count) + PRIOR_RUNS), 1e-3, 1.0 - 1e-3)
        return np.asarray((rate / (1.0 - rate))[groups])

    both = odds(state.variant, changed) * odds(state.sample, known) / (mean / (1.0 - mean))
    return np.asarray(both / (1.0 + both))


def _priced(state: State, loss: FloatArray, kept: BoolArray, question: Question) -> tuple[float, FloatArray]:
    """The dual price of a cost, and the weight `p_i w_i` of every sample, of the table with expected losses."""
    numbers, sample = np.unique(state.sample[kept], return_inverse=True)
    cost = np.where(state.variant[kept] == 0, 0.0, state.cost[kept])
    oracle = TableOracle(sample.astype(np.intp), loss[kept], cost, {})
    base = np.full(len(numbers), 1.0 / len(numbers))
    now = float(oracle.losses.mean())
    reach = now + float(oracle.peak().lift.mean())
    if question.risk is None:
        risk = now + HALFWAY * (reach - now)
    elif question.risk >= reach or question.risk <= now:
        risk = now + ALMOST * (reach - now)
    else:
        risk = question.risk
    problem = Problem(oracle, base, risk, question.theta1, question.theta2, question.divergence)
    solution = solve(problem)
    whole = np.zeros(int(state.sample.max()) + 1)
    whole[numbers] = base
    if solution.status is not Status.ATTAINED:
        return PRICEY * float(cost.max()), whole
    left = solution.left
    whole[numbers] = base * (1.0 + problem.samples.joined(lambda block: left.of(problem.terms, block).changes))
    return left.price / question.theta1, whole
