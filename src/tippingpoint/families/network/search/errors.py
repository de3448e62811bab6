"""Nearest errors: the least squared distance from every sample to where the model errs.

Project on the boundary of a linear model of the score, linearise there, repeat (`cuts.py`); then
slide along the ray from the sample until the model's own answer just changes. Several starts are combined; the best point
that the module was seen to err at is kept, so every distance is that of a real error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.families.network.search.cuts import Cut, mixing_share, suggest
from tippingpoint.families.network.search.scores import Scores, cost
from tippingpoint.losses import loss_named

STRETCHES = (1.0, 1.01, 1.1, 1.5, 3.0, 10.0)
"""How far beyond where a boundary was expected it is looked for."""

MAX_HALVINGS = 40
"""Cap on the steps that close in on the boundary along a ray."""

SETTLED_DISTANCE = 1e-6
"""Relative change of the distance at which a sample's search has settled."""


@dataclass
class Errors:
    """The nearest error known of every sample of some rows; infinite distance where none is known."""

    rows: IntArray
    steps: FloatArray
    distance: FloatArray

    @classmethod
    def unknown(cls, scores: Scores, rows: IntArray) -> Errors:
        return cls(rows, scores.staying(rows), np.full(len(rows), math.inf))

    def learn(self, where: IntArray, steps: FloatArray, wrong: BoolArray) -> None:
        """Keep what is nearer than what was known."""
        distance = np.where(wrong, cost(steps), math.inf)
        nearer = distance < self.distance[where]
        self.steps[where[nearer]] = steps[nearer]
        self.distance[where[nearer]] = distance[nearer]


def approach(scores: Scores, errors: Errors, where: IntArray, steps: FloatArray, iterations: int) -> FloatArray:
    """From these steps to the nearest boundary of a sequence of linear models; where each ends, error or not."""
    loss = loss_named("zero_one")
    ends, place = steps.copy(), np.arange(len(where))
    aggregate, _ = Cut.at(scores, errors.rows[where], steps)
    previous = np.full(len(where), math.inf)
    for _ in range(iterations):
        rows = errors.rows[where]
        room = scores.room(rows) if scores.bounded else None
        steps = scores.kept(rows, suggest(math.inf, aggregate, loss, room).steps)
        cut, value = Cut.at(scores, rows, steps)
        errors.learn(where, steps, value > scores.rounding)
        ends[place] = steps
        away = cost(steps)
        bends_down = (value < aggregate.value(steps)) & (away < errors.distance[where])
        share = np.where(bends_down, mixing_share(aggregate, cut, None), 1.0)
        aggregate = aggregate.mixed(cut, share)
        open_ = np.flatnonzero(np.abs(away - previous) > SETTLED_DISTANCE * away)
        previous, where, place = away[open_], where[open_], place[open_]
        if not len(where):
            break
        aggregate = aggregate.take(open_)
    return ends


def land(scores: Scores, errors: Errors, where: IntArray, steps: FloatArray) -> None:
    """Along the ray through these steps to the first place found where the model errs, to the precision of its numbers."""
    rows = errors.rows[where]
    near, far = np.zeros(len(where)), np.full(len(where), math.nan)
    below = np.full(len(where), math.nan)
    above = np.full(len(where), math.nan)
    for stretch in STRETCHES:
        seeking = np.flatnonzero(np.isnan(far))
        if not len(seeking):
            break
        tried = scores.kept(rows[seeking], stretch * steps[seeking])
        value = scores.values(rows[seeking], tried)
        there = value > scores.rounding
        errors.learn(where[seeking], tried, there)
        far[seeking[there]], above[seeking[there]] = stretch, value[there]
        near[seeking[~there]], below[seeking[~there]] = stretch, value[~there]
    known = np.flatnonzero(np.isfinite(far))
    precision = 4.0 * scores.eps
    for k in range(MAX_HALVINGS):
        known = known[far[known] - near[known] > precision * far[known]]
        if not len(known):
            break
        middle = 0.5 * (near[known] + far[known])
        if k % 3 != 2:  # two secant steps, then a halving for those that bend
            with np.errstate(invalid="ignore", divide="ignore"):
                secant = far[known] - above[known] * (far[known] - near[known]) / (above[known] - below[known])
            inside = (secant > near[known]) & (secant < far[known])
            middle = np.where(inside, secant, middle)
        tried = scores.kept(rows[known], middle[:, None] * steps[known])
        value = scores.values(rows[known], tried)
        there = value > scores.rounding
        errors.learn(where[known], tried, there)
        far[known[there]], above[known[there]] = middle[there], value[there]
        near[known[~there]], below[known[~there]] = middle[~there], value[~there]
