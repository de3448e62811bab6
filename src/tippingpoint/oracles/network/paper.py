r"""The paper's own algorithms: gradient ascent on the samples, then one gradient step on the price.

Algorithm 1 (KL) and Algorithm 2 (:math:`\chi^2`) of Blanchet, Cui, Li and Liu (2024), corrected where they print sums for
means (math.md 10.5): the baseline that `tippingpoint.oracles.network.exploring` is measured against. They are run anew for
every question. Their last samples are put into a pool, so the value reported belongs to a perturbation of risk exactly `r`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, total
from tippingpoint.core.problem import Problem
from tippingpoint.losses import loss_named
from tippingpoint.oracles.network.climbing import lift
from tippingpoint.oracles.network.oracle import INTERRUPTED, PoolOracle, Setting
from tippingpoint.oracles.network.pool import Pool
from tippingpoint.oracles.network.scores import cost
from tippingpoint.progress import progress_bar

FIRST_PRICE = 1.0
"""`h` at the beginning, as published."""


@dataclass(frozen=True)
class Schedule:
    """The hyper-parameters of the two algorithms.

    Attributes
    ----------
    epochs
        Outer iterations, each with one step on the price.
    inner_steps
        Gradient steps on the samples in each.
    learning_rate
        Adam's rate for the samples.
    price_rate
        Adam's rate for the price.
    """

    epochs: int = 200
    inner_steps: int = 20
    learning_rate: float = 0.01
    price_rate: float = 0.05


class Adam:
    """Adam's ascent, with its published constants."""

    def __init__(self, rate: float, like: FloatArray) -> None:
        self._rate = rate
        self._mean, self._square, self._time = np.zeros_like(like), np.zeros_like(like), 0

    def step(self, gradient: FloatArray) -> FloatArray:
        """What to add."""
        self._time += 1
        self._mean += 0.1 * (gradient - self._mean)
        self._square += 0.001 * (np.square(gradient) - self._square)
        mean, square = self._mean / (1.0 - 0.9**self._time), self._square / (1.0 - 0.999**self._time)
        return np.asarray(self._rate * mean / (np.sqrt(square) + 1e-8))


class PaperOracle(PoolOracle):
    """Answers every question by running the paper's algorithm for it."""

    def __init__(self, setting: Setting, schedule: Schedule, *, progress: bool | None) -> None:
        rows = np.arange(setting.scores.samples)
        resting = Pool.resting(setting.scores.none(rows).astype(setting.scores.dtype))
        super().__init__(setting, resting, "gradient ascent, the paper's algorithm")
        self._schedule = schedule
        self._progress = progress

    def tuned(self, problem: Problem) -> PoolOracle:
        setting, scores = self.setting, self.setting.scores
        rows = np.arange(scores.samples)
        steps, h = scores.none(rows), np.array([FIRST_PRICE])
        mover, pricer = Adam(self._schedule.learning_rate, steps), Adam(self._schedule.price_rate, h)
        # The 0/1 loss has no gradient; samples climb the cross-entropy, as they do in the paper's experiments.
        climbs = loss_named("logistic") if setting.loss.needs_crossing else setting.loss
        trace, notes = list[float](), tuple[str, ...]()
        with progress_bar("epochs", self._schedule.epochs, show=self._progress) as tick:
            try:
                for epoch in range(self._schedule.epochs):
                    for _ in range(0 if math.isinf(problem.theta1) else self._schedule.inner_steps):
                        value, slope = scores.linearised(rows, steps)
                        gradient = h[0] * climbs.slope(value)[:, None] * slope - 2.0 * problem.theta1 * steps
                        steps = scores.kept(rows, steps + mover.step(gradient))
                    risk = self._risk(problem, float(h[0]), steps)
                    trace.append(risk)
                    h = np.maximum(h + pricer.step(np.array([problem.risk - risk])), 0.0)
                    tick(epoch + 1)
            except KeyboardInterrupt:
                notes = (INTERRUPTED,)
        pool = self.pool.joined(steps, self._lift(steps))
        return PoolOracle(setting, pool, self.certificate, tuple(trace), notes)

    def _lift(self, steps: FloatArray) -> FloatArray:
        rows = np.arange(len(steps))
        return lift(self.setting.loss, self.setting.now, self.setting.scores.values(rows, steps))

    def _risk(self, problem: Problem, h: float, steps: FloatArray) -> float:
        """`Σ p w ℓ(z)` with the weights that are best at `h`: its distance from `r` is the slope in `h`."""
        loss = self.losses + self._lift(steps)
        if math.isinf(problem.theta2):
            return total(problem.base, loss)
        moving = 0.0 if math.isinf(problem.theta1) else problem.theta1 * cost(steps)
        tilt = problem.divergence.tilt(h * loss - moving, problem.base, problem.theta2)
        return total(problem.base * (1.0 + tilt.changes), loss)
