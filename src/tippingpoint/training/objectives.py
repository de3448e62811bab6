"""What training minimises: the mean loss, the mean of what an adversary can gain, the tilted mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from tippingpoint.training.adversary import Losses, worst_places


def binary_cross_entropy(outputs: Tensor, target: Tensor) -> Tensor:
    r""":math:`\log(1 + e^{-y s})` of one score `s`, for targets 0 and 1 that stand for `y = -1` and `1`."""
    return functional.softplus((1.0 - 2.0 * target.to(outputs.dtype)) * outputs[:, 0])


def cross_entropy(outputs: Tensor, target: Tensor) -> Tensor:
    r""":math:`\log \sum_k e^{s_k} - s_y` of one score a class."""
    return functional.cross_entropy(outputs, target, reduction="none")


def squared(outputs: Tensor, target: Tensor) -> Tensor:
    """`(y - s)²`."""
    return (target - outputs[:, 0]).square()


def absolute(outputs: Tensor, target: Tensor) -> Tensor:
    """`|y - s|`."""
    return (target - outputs[:, 0]).abs()


def mean_risk(losses: Tensor, weight: Tensor) -> Tensor:
    """`Σ p_i ℓ_i`, the weights made to sum to one."""
    return (weight / weight.sum()) @ losses


def tilted_risk(losses: Tensor, weight: Tensor, temperature: float) -> Tensor:
    """`t log Σ p_i exp(ℓ_i/t)`: the largest loss as `t → 0`, the mean `m` as `t → ∞`.

    Where no loss is far above the mean it is `m + t log1p(Σ p_i expm1((ℓ_i - m)/t))`, which loses no digits to a large `t`;
    otherwise the largest term is taken out, so that a small one overflows nothing.
    """
    mean = mean_risk(losses, weight)
    if math.isinf(temperature):
        return mean
    above, share = (losses - mean) / temperature, weight / weight.sum()
    if above.max() < 1.0:
        return mean + temperature * torch.log1p(share @ torch.expm1(above))
    return mean + temperature * torch.logsumexp(above + torch.log(share), dim=0)


class Objective(Protocol):
    """A number to minimise, of a module on rows."""

    def __call__(self, module: nn.Module, x: Tensor, target: Tensor, weight: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class MeanRisk:
    """`Σ p_i ℓ_i`: empirical risk minimisation."""

    losses: Losses

    def __call__(self, module: nn.Module, x: Tensor, target: Tensor, weight: Tensor) -> Tensor:
        return mean_risk(self.losses(module(x), target), weight)


@dataclass(frozen=True)
class TiltedRisk:
    """`t log Σ p_i exp(ℓ_i/t)`: tilted empirical risk minimisation."""

    losses: Losses
    temperature: float

    def __call__(self, module: nn.Module, x: Tensor, target: Tensor, weight: Tensor) -> Tensor:
        return tilted_risk(self.losses(module(x), target), weight, self.temperature)


@dataclass(frozen=True)
class AdversarialRisk:
    """`Σ p_i sup_z ℓ(z) - γ ‖z - x_i‖²`: adversarial training, with a price on every squared unit moved.

    Attributes
    ----------
    losses
        One loss a sample.
    gamma
        Price of moving; `inf` leaves the samples where they are.
    columns
        1 for columns that may move, 0 for those that may not; None where all may.
    steps
        Of the search for every sample's place.
    """

    losses: Losses
    gamma: float
    columns: Tensor | None = None
    steps: int = 20

    def __call__(self, module: nn.Module, x: Tensor, target: Tensor, weight: Tensor) -> Tensor:
        if math.isinf(self.gamma):
            return mean_risk(self.losses(module(x), target), weight)
        places = worst_places(module, self.losses, x, target, self.gamma, self.columns, self.steps)
        moved = (places - x).flatten(1)
        # By the envelope theorem the gradient is that of the loss where the samples end, as if they had been there.
        return mean_risk(self.losses(module(places), target) - self.gamma * torch.linalg.vecdot(moved, moved), weight)
