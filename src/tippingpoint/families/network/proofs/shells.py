"""Lines in the distance that no functional of a network's output exceeds, whichever way a sample moves.

A network of layers that are known one by one is a chain of affine maps `A_0, …, A_m` with gates between them. Two bounds:

- *How fast it can change at all.* Between any two points a gate is a diagonal matrix `cI + rS`, `‖S‖ ≤ 1`, where `c ± r` are
  the largest and the least slope of its activation. Expanding the product gives a Lipschitz constant never above the product of
  the norms (Combettes and Pesquet, 2020). All norms are bounded from above, none is estimated.
- *How far it gets within a ball.* A gate `max(u, pu)` lies between two lines over all that `u` can be within the ball; from the
  output backwards they make a plane above the functional (Zhang et al., CROWN, 2018), exact in a ball where no gate can flip.

The bound on the surface of a ball, and the Lipschitz constant from there on, is a bound outside the ball.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from tippingpoint.core.arrays import FloatArray, blocks
from tippingpoint.errors import InputError
from tippingpoint.families.network.options import EFFORTS
from tippingpoint.families.network.proofs.layers import SLACK, Network, Shape, lengths, network_of, traced
from tippingpoint.space.domain import Domain

ROUNDING = 1e-12
"""Allowance on the height of planes, of the sizes of all its terms: far above what float64 loses."""

RADII, RATIO = 10, 1.6
"""Balls around a sample, and from one radius to the next: a hundredfold in all; few samples need as many."""

FLIPPING_SHARE = 0.05
"""Part of the gates, each counted alone, that could flip within the first ball that is not linear."""

MAX_NUMBERS = 2**20
"""Numbers in the largest array, 8 MB."""

Lines = tuple[Tensor, Tensor, Tensor]
"""Slopes and intercepts of lines around a gate, or of a shell."""


@dataclass(frozen=True)
class Shell:
    """Between two distances, no functional of the output exceeds a line in the distance, `offset + slope·‖s‖`."""

    inner: FloatArray
    outer: FloatArray
    """`(n,)`, distances from and to: the same where a sample needs fewer shells than others; the last has no end."""
    offset: FloatArray
    slope: FloatArray
    """`(n, m)`, one a functional; no slope is negative."""


def reason(module: nn.Module, shape: Shape) -> str | None:
    """Why a module that takes samples of this shape has no certificate, in words; None where it has one."""
    try:
        traced(module, shape)
    except InputError as refused:
        return str(refused)
    return None


@torch.no_grad()
def shells(
    module: nn.Module,
    x: FloatArray,
    shape: Shape,
    domain: Domain,
    functionals: FloatArray,
    constants: FloatArray,
    work: float = EFFORTS["tight"],
) -> tuple[Shell, ...] | None:
    """Shells around every row of `x`, from distance 0 to infinity; None where the module is not certified.

    Sample i takes a step `s`: feature j moves by `s_j/√price_j`, features of infinite price stay. Whatever the step, where
    `inner_i ≤ ‖s‖ ≤ outer_i`, `functionals[i, q]·output + constants[i, q] ≤ offset[i, q] + slope[i, q]·‖s‖`. Bounds on
    features are not used. The more `work` (multiplications for all balls; a larger network gets fewer balls for them), the
    tighter. The output is that of the weights as they are, in double precision; the module is left alone.
    """
    if reason(module, shape) is not None:
        return None
    layers, (n, m) = traced(module, shape), constants.shape
    network = network_of(layers, shape, domain)
    balls = min(network.affordable(n, m, work), RADII + 1)
    inner, offset, slope = np.zeros((n, balls + 1)), np.empty((n, m, balls + 1)), np.empty((n, m, balls + 1))
    for part in blocks(n, MAX_NUMBERS // (network.widest * max(2 * network.widest if balls else 1, m))):
        inputs = torch.tensor(x[part], dtype=torch.float64)
        rows, shifts = (torch.tensor(given[part], dtype=torch.float64) for given in (functionals, constants))
        output = nn.Sequential(*layers)(inputs.clone().reshape(-1, *shape)).reshape(len(inputs), -1)
        for k, found in enumerate(_Around(network, inputs, output, rows, shifts).lines(balls)):
            inner[part, k], offset[part, :, k], slope[part, :, k] = (each.numpy() for each in found)
    outer = np.hstack([inner[:, 1:], np.full((n, 1), math.inf)])
    kept = [k for k in range(balls + 1) if k == balls or (outer[:, k] > inner[:, k]).any()]
    return tuple(Shell(inner[:, k], outer[:, k], offset[:, :, k], slope[:, :, k]) for k in kept)


@torch.no_grad()
def steepness(module: nn.Module, shape: Shape, domain: Domain, functionals: FloatArray) -> float | None:
    """The largest Lipschitz constant of these functionals of the output, in the distance; None where nothing is certified."""
    if reason(module, shape) is not None:
        return None
    network = network_of(traced(module, shape), shape, domain)
    distinct = np.unique(functionals.reshape(-1, functionals.shape[-1]), axis=0)
    return float(network.steepest(torch.tensor(distinct[None], dtype=torch.float64)).max()) * (1.0 + SLACK)


class _Around:
    """Planes `a + β·s` above the functionals of some samples, within balls."""

    def __init__(self, network: Network, x: Tensor, output: Tensor, rows: Tensor, shifts: Tensor) -> None:
        self._network, self._x, self._rows, self._shifts = network, x, rows, shifts
        self._value = _applied(rows, output) + shifts + SLACK * (_applied(rows.abs(), output.abs()) + shifts.abs())
        self._steepest = network.steepest(rows)

    def lines(self, balls: int) -> Iterator[Lines]:
        """Where each shell begins, and the offset and slope of its line: of one shell a ball, and of the one beyond."""
        start, offset, live = torch.zeros_like(self._x[:, 0]), self._value, torch.arange(len(self._x))
        if not balls:
            yield start, offset, self._steepest
            return
        flips, slope = self._linear()
        first = torch.nan_to_num(flips.amin(1), posinf=1.0) * (1.0 - SLACK)  # any radius will do where nothing ever flips
        radius = torch.maximum(torch.nan_to_num(flips.quantile(FLIPPING_SHARE, dim=1), posinf=0.0), RATIO * first)
        radius = torch.where(radius > 0.0, radius, 1.0)
        yield start, self._value + self._rounding, slope
        start, offset = first, self._value + self._rounding + (slope - self._steepest).clamp(max=0.0) * first[:, None]
        for _ in range(1, balls):
            height, rise, end = offset.clone(), self._steepest.clone(), radius[live, None]
            a, slope = self._plane(live, end)
            better = a + slope * end < offset[live] + self._steepest[live] * end
            height[live], rise[live] = torch.where(better, a, height[live]), torch.where(better, slope, rise[live])
            yield start, height, rise
            live = live[better.any(1)]  # where no plane is below the Lipschitz line, larger balls are not worth it
            offset = torch.minimum(offset, height + (rise - self._steepest) * radius[:, None])
            start, radius = start.index_copy(0, live, radius[live]), radius * RATIO
        yield start, offset, self._steepest

    def _linear(self) -> tuple[Tensor, Tensor]:
        """How far each gate is from flipping while no other does, and the slope of the functionals until the first does."""
        start = self._network.start
        self._inputs = [self._x @ start.weight.T + start.bias]
        self._sizes = [self._x.abs() @ start.weight.abs().T + start.bias.abs()]
        flips, slopes = [], self._network.affines[0].weight.T[None]
        for kink, affine in zip(self._network.kinks, self._network.affines[1:], strict=True):
            u, speed = self._inputs[-1], torch.linalg.vector_norm(slopes, dim=1)
            flips.append(torch.where(speed > 0.0, u.abs() / speed, math.inf))
            gate = torch.where(u > 0.0, 1.0, kink)
            slopes = (slopes * gate[:, None]) @ affine.weight.T
            self._inputs.append((u * gate) @ affine.weight.T + affine.bias)
            self._sizes.append(self._sizes[-1] @ affine.weight.abs().T + affine.bias.abs())
        self._rounding = ROUNDING * (_applied(self._rows.abs(), self._sizes[-1]) + self._shifts.abs())
        return torch.cat(flips, dim=1), lengths(self._rows @ slopes.mT)

    def _plane(self, live: Tensor, radius: Tensor) -> tuple[Tensor, Tensor]:
        """`a` and `‖β‖` of a plane above each functional of these samples, within the ball."""
        network, gates = self._network, list[Lines]()
        for k, (kink, affine, unit) in enumerate(zip(network.kinks, network.affines, network.units, strict=False)):
            u, spread = self._inputs[k][live], unit * radius + ROUNDING * self._sizes[k][live]
            low, high = u - spread, u + spread
            if k > 0:
                w, b = (torch.cat([both, -both])[None] for both in (affine.weight, affine.bias))
                a, slope = self._backward(w, b, live, gates)
                top = a + slope * radius + ROUNDING * (self._sizes[k][live].repeat(1, 2) + a.abs())
                low, high = torch.maximum(low, -top[:, len(unit) :]), torch.minimum(high, top[:, : len(unit)])
            gates.append(_between(low, high, kink))
        last, rows = network.affines[-1], self._rows[live]
        a, slope = self._backward(rows @ last.weight, rows @ last.bias + self._shifts[live], live, gates)
        return a + ROUNDING * a.abs() + self._rounding[live], slope

    def _backward(self, rows: Tensor, a: Tensor, live: Tensor, gates: list[Lines]) -> tuple[Tensor, Tensor]:
        """From `a + rows·gate(u)` to a plane above it: the upper line where a row is positive, the lower one elsewhere."""
        for k in range(len(gates) - 1, -1, -1):
            lower, more, intercept = gates[k]
            positive, affine = rows.clamp(min=0.0), self._network.affines[k]
            a = a + _applied(positive, intercept)
            rows = (rows * lower[:, None]).addcmul_(positive, more[:, None])
            a = a + (rows @ affine.bias if k else _applied(rows, self._inputs[0][live]))
            rows = rows @ affine.weight
        return a, lengths(rows)


def _between(low: Tensor, high: Tensor, kink: Tensor) -> Lines:
    """Lines around `max(u, pu)`: below, through 0, by the smaller area; the chord above, how much steeper it is, and at 0."""
    chord = (high - kink * low) / (high - low)
    decided = (low >= 0.0) | (high <= 0.0)
    lower = torch.where(high >= -low, 1.0, kink)
    return lower, torch.where(decided, 0.0, chord - lower), torch.where(decided, 0.0, (kink - chord) * low)


def _applied(rows: Tensor, vectors: Tensor) -> Tensor:
    """`rows_i vector_i` of every sample."""
    return (rows @ vectors[..., None])[..., 0]
