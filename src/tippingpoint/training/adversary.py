"""The adversary of adversarial training: where each sample would do most harm at a price on every squared unit moved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

GAIN_ROUND_OFF = 1e-6
"""A gain below this is rounding: training is in float32."""

Losses = Callable[[Tensor, Tensor], Tensor]
"""From outputs and targets to one loss a sample."""


@dataclass(frozen=True)
class Entrance:
    """A module as `rest(front(x))`, and how a slope at `u = front(x)` moves the samples.

    For a first layer `u = Wx + b` the slope in `x` is `Wᵀ` times that in `u`, so the search can stay in `u`, which is
    as wide as the layer: samples are moved once, at the end. Without one, `u` is `x`.

    Attributes
    ----------
    front
        The first layer, if it is linear.
    rest
        What comes after it.
    columns
        1 for columns that may move, 0 for those that may not; None where all may.
    """

    front: nn.Linear | None
    rest: nn.Module
    columns: Tensor | None

    @classmethod
    def of(cls, module: nn.Module, columns: Tensor | None) -> Entrance:
        """The module split after its first layer, where that is linear."""
        if type(module) is nn.Linear:  # not one of its children: they may return anything
            return cls(module, nn.Identity(), columns)
        first = module[0] if type(module) is nn.Sequential and len(module) > 1 else None
        if type(first) is nn.Linear:
            return cls(first, module[1:], columns)  # type: ignore[index]  # a Sequential, by the line above
        return cls(None, module, columns)

    def enter(self, x: Tensor) -> Tensor:
        """`u` of these rows."""
        return x if self.front is None else self.front(x)

    def moves(self, slope: Tensor) -> Tensor:
        """The slope in `x` over the columns that may move."""
        back = slope if self.front is None else slope @ self.front.weight
        return back if self.columns is None else back * self.columns

    def pull(self) -> Callable[[Tensor], Tensor]:
        """From a slope in `u` to what moving along it in `x` changes in `u`: times `W M Wᵀ`, small and worked out once."""
        if self.front is None:
            return self.moves
        weight = self.front.weight
        metric = (weight if self.columns is None else weight * self.columns) @ weight.T
        return lambda slope: slope @ metric


def worst_places(
    module: nn.Module, losses: Losses, x: Tensor, target: Tensor, gamma: float, columns: Tensor | None, steps: int
) -> Tensor:
    """The best place seen in `steps` iterations of `z ← x + ∇ℓ(z)/2γ` from where each sample is, for `ℓ(z) - γ ‖z - x‖²`.

    Each step maximises `γ`'s parabola plus the loss's tangent: it cannot fall where the loss is convex, and where it ends it is
    stationary. It is a local search, as the paper's; it ends early once no sample gains.
    """
    entrance = Entrance.of(module, columns)
    with torch.no_grad():
        pull, start = entrance.pull(), entrance.enter(x)
    slope = best = torch.zeros_like(start)
    value = torch.full((len(x),), -torch.inf, dtype=x.dtype, device=x.device)
    for step in range(steps + 1):
        shift = pull(slope)
        at = torch.add(start, shift, alpha=0.5 / gamma).requires_grad_(step < steps)
        loss = losses(entrance.rest(at), target)
        cost = torch.linalg.vecdot(slope.flatten(1), shift.flatten(1)) / (4.0 * gamma)
        gain = loss.detach() - cost
        fell = gain < value - GAIN_ROUND_OFF
        best = torch.where(fell.reshape(-1, *[1] * (slope.dim() - 1)), best, slope) if fell.any() else slope
        idle = bool((gain - value).max() <= GAIN_ROUND_OFF)
        value = torch.where(fell, value, gain)
        if step == steps or idle:
            break
        (slope,) = torch.autograd.grad(loss.sum(), at)
    with torch.no_grad():
        return torch.add(x, entrance.moves(best), alpha=0.5 / gamma)
