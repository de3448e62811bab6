r"""The paper's own algorithms: gradient ascent on the samples, then one gradient step on the price.

Algorithm 1 (KL) and Algorithm 2 (:math:`\chi^2`) of Blanchet, Cui, Li and Liu (2024), corrected where they print sums for
means (docs/mathematics.md, section 10): the baseline that `explorer.py` is measured against. They are run anew for
every question. Their last samples are kept as atoms, so the value reported belongs to a perturbation of risk exactly `r`.

For the 0/1 loss, which has no gradient, the paper takes the nearest error of every sample as given: only the price climbs.
"""

from __future__ import annotations

import numpy as np
import torch

from tippingpoint.core.arrays import FloatArray, blocks, total
from tippingpoint.core.atoms import Layers
from tippingpoint.core.problem import Problem
from tippingpoint.errors import ModelError
from tippingpoint.families.network.options import Schedule
from tippingpoint.families.network.search.nearest import SearchedErrorOracle
from tippingpoint.families.network.search.oracle import LayersOracle, Setting
from tippingpoint.families.network.search.scores import cost
from tippingpoint.families.network.search.summits import lift
from tippingpoint.progress import progress_bar

FIRST_PRICE = 1.0
"""`h` at the beginning, as published."""


class _Ascent:
    """Adam on `h·ℓ(z) - θ1·d(z, ẑ)` of every sample; it goes on where it stopped when `h` changes."""

    def __init__(self, setting: Setting, problem: Problem, schedule: Schedule) -> None:
        self._scores = scores = setting.scores
        self._rows = np.arange(scores.samples)
        self._origin = scores.inputs(self._rows, scores.staying(self._rows))
        flat = self._origin
        self._moves = torch.as_tensor(scores.moves, device=flat.device)
        self._unit = torch.as_tensor(scores.unit, device=flat.device, dtype=flat.dtype)
        self._steps = torch.zeros((scores.samples, len(scores.moves)), device=flat.device, dtype=flat.dtype)
        self._optimiser = torch.optim.Adam([self._steps], lr=schedule.learning_rate, maximize=True)
        still = scores.still
        self._moving = None if still is None else torch.as_tensor(~still, device=flat.device, dtype=flat.dtype)
        self._count = schedule.inner_steps if problem.moves else 0
        self._theta1 = problem.theta1
        self._setting = setting
        self._last = self._shift, np.zeros(scores.samples)
        self._room = None
        if scores.bounded:
            self._room = [torch.as_tensor(side, device=flat.device, dtype=flat.dtype) for side in scores.room(self._rows)]

    def layers(self, staying: Layers) -> Layers:
        """Where the samples are, beside where they began; where a module that fails saw them last, if it does."""
        steps = self._scores.kept(self._rows, self._shift)
        try:
            gained = self._lift(steps)
        except ModelError:
            steps, gained = self._last
        return staying.joined(steps, gained, cost(steps))

    def respond(self, h: float) -> tuple[FloatArray, FloatArray]:
        """The inner iterations of one epoch; then what every sample has gained, and what its move costs."""
        self._climb(h)
        gained = self._lift(self._shift)
        self._last = self._scores.kept(self._rows, self._shift), gained
        return gained, cost(self._shift)

    @property
    def _shift(self) -> FloatArray:
        return np.asarray(self._steps.double().cpu().numpy())

    def _lift(self, steps: FloatArray) -> FloatArray:
        return lift(self._setting.loss, self._setting.now, self._scores.values(self._rows, steps))

    def _climb(self, h: float) -> None:
        for _ in range(self._count):
            gradient = torch.empty_like(self._steps)
            for part in blocks(len(self._rows), self._scores.batch):
                gradient[part] = self._gradient(h, part)
            self._steps.grad = gradient
            self._optimiser.step()
            if self._room is not None:
                self._steps.clamp_(*self._room)

    def _gradient(self, h: float, part: slice) -> torch.Tensor:
        steps = self._steps[part].detach().requires_grad_()
        with torch.enable_grad():
            moved = self._origin[part].index_add(1, self._moves, steps / self._unit)
            v = self._scores.scored(moved, self._rows[part])
            (slope,) = torch.autograd.grad(v.sum(), steps)
        if self._moving is not None:
            slope = slope * self._moving[part]
        rising = h * self._setting.loss.slope(v.detach().double().cpu().numpy())
        pull = torch.as_tensor(rising, device=slope.device, dtype=slope.dtype)
        return pull[:, None] * slope - 2.0 * self._theta1 * steps.detach()


class _Nearest:
    """The 0/1 loss: a sample goes to its nearest error as soon as that pays."""

    def __init__(self, errors: SearchedErrorOracle, problem: Problem) -> None:
        self._errors = errors
        self._theta1 = problem.theta1

    def layers(self, staying: Layers) -> Layers:
        return self._errors.layers

    def respond(self, h: float) -> tuple[FloatArray, FloatArray]:
        best = self._errors.respond(h / self._theta1)
        return best.lift, best.cost


class PaperOracle(LayersOracle):
    """Answers every question by running the paper's algorithm for it.

    Parameters
    ----------
    setting
        The network.
    schedule
        Of the algorithm.
    errors
        For the 0/1 loss: the nearest error of every sample.
    progress
        Whether to show a bar.
    """

    def __init__(
        self,
        setting: Setting,
        schedule: Schedule,
        errors: SearchedErrorOracle | None = None,
        *,
        progress: bool | None,
    ) -> None:
        rows = np.arange(setting.scores.samples)
        layers = Layers.staying(setting.scores.staying(rows).astype(setting.scores.dtype))
        notes = () if errors is None else errors.notes
        super().__init__(setting, layers, "gradient ascent, the paper's algorithm", notes=notes)
        self._schedule = schedule
        self._errors = errors
        self._progress = progress

    def tuned(self, problem: Problem) -> LayersOracle:
        samples = _Ascent(self.setting, problem, self._schedule) if self._errors is None else _Nearest(self._errors, problem)
        h = torch.full((1,), FIRST_PRICE, dtype=torch.float64)
        pricer = torch.optim.Adam([h], lr=self._schedule.price_rate, maximize=True)
        trace, notes = list[float](), self.notes
        with progress_bar("epochs", self._schedule.epochs, show=self._progress) as tick:
            try:
                for epoch in range(self._schedule.epochs):
                    trace.append(self._risk(problem, float(h), *samples.respond(float(h))))
                    h.grad = torch.tensor([problem.risk - trace[-1]], dtype=torch.float64)
                    pricer.step()
                    h.clamp_(min=0.0)
                    tick(epoch + 1)
            except (KeyboardInterrupt, ModelError) as stop:
                if isinstance(stop, ModelError) and not trace:
                    raise
                notes = (*notes, self.setting.ended(stop))
        return LayersOracle(self.setting, samples.layers(self.layers), self.certificate, trace=tuple(trace), notes=notes)

    def _risk(self, problem: Problem, h: float, gained: FloatArray, moved: FloatArray) -> float:
        """`Σ p w ℓ(z)` with the weights that are best at `h`: its distance from `r` is the slope in `h`."""
        loss = self.losses + gained
        if not problem.reweights:
            return total(problem.base, loss)
        moving = problem.moving_price * moved
        tilt = problem.divergence.tilt(h * loss - moving, problem.base, problem.theta2)
        return total(problem.base * (1.0 + tilt.changes), loss)
