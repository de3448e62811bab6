"""Layers that are known one by one: a network as a chain of affine maps with gates between them, and how steep it can be."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
import torch
from torch import Tensor, nn

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError
from tippingpoint.space.domain import Domain

SLACK = 1e-9
"""Allowance on norms and values, far above what float64 loses."""

MAX_ENTRIES = 2**23
"""Entries up to which a matrix is written out, or an eigenvalue of it is computed: 64 MB, seconds."""

MIN_SOFTPLUS_THRESHOLD = 20.0
"""Threshold from which on the jump of a softplus, `e^-threshold`, counts as rounding."""

Shape = tuple[int, ...]
Kinds = tuple[type[nn.Module], ...]
Measure = Callable[[Tensor], Tensor]


def numbers_of(tensor: Tensor) -> FloatArray:
    """A tensor of weights as an array, in double precision."""
    return np.asarray(tensor.detach().cpu().double().numpy(), dtype=float)


def lengths(rows: Tensor) -> Tensor:
    """`‖row‖` from above."""
    found: Tensor = torch.linalg.vector_norm(rows, dim=-1)
    return found * (1.0 + SLACK)


def _norm(w: Tensor) -> Tensor:
    """`‖W‖` from above: the root of the largest eigenvalue of `WWᵀ`; where that is dear, `‖W‖_F`."""
    if not w.any():
        return torch.zeros((), dtype=torch.float64)
    largest = w.abs().amax()
    w = (w if w.shape[0] <= w.shape[1] else w.T) / largest
    norm: Tensor = torch.linalg.eigvalsh(w @ w.T)[-1].sqrt() if len(w) ** 2 <= MAX_ENTRIES else torch.linalg.vector_norm(w)
    return largest * norm * (1.0 + SLACK)


@dataclass(frozen=True)
class _Affine:
    """`Wu + b`; a `W` too large to be written out is a number instead, a bound on `‖W‖`."""

    weight: Tensor
    bias: Tensor

    @cached_property
    def norm(self) -> Tensor:
        return _norm(self.weight) if self.weight.ndim else self.weight

    def after(self, inner: _Affine) -> _Affine:
        if not (self.weight.ndim and inner.weight.ndim and len(self.weight) * inner.weight.shape[1] <= MAX_ENTRIES):
            return _Affine(self.norm * inner.norm, self.bias)
        return _Affine(self.weight @ inner.weight, self.weight @ inner.bias + self.bias)


@dataclass(frozen=True)
class _Gate:
    """An activation by its slopes; `kink` is `p` of `max(u, pu)` if `p ≤ 1`. A pool at most keeps lengths: -1 to 1."""

    least: float
    most: float
    kink: float | None = None


@dataclass(frozen=True)
class Network:
    """`A_m ∘ gate_{m-1} ∘ … ∘ gate_0 ∘ A_0`, where `A_0` takes steps; `start` is `A_0` as it takes features."""

    start: _Affine
    affines: list[_Affine]
    gates: list[_Gate]
    widest: int

    @cached_property
    def norms(self) -> list[Tensor]:
        """Lipschitz constants of what enters each gate."""
        found: list[Tensor] = []
        for k, affine in enumerate(self.affines[:-1]):
            found.append(self._expanded(affine.weight, affine.norm, k, found, _norm))
        return found

    @cached_property
    def units(self) -> list[Tensor]:
        """The same for every unit, of maps that are written out."""
        weights = [affine.weight for affine in self.affines[:-1]]
        return [self._expanded(w, lengths(w), k, self.norms, lengths) for k, w in enumerate(weights)]

    def steepest(self, rows: Tensor) -> Tensor:
        """Lipschitz constants of functionals of the output."""
        return self._expanded(*_times(rows, lengths(rows), self.affines[-1], lengths), len(self.gates), self.norms, lengths)

    def _expanded(self, rows: Tensor, size: Tensor, k: int, norms: list[Tensor], measure: Measure) -> Tensor:
        """`‖F(c_k + r_k S)A_{k-1}(c_{k-1} + …)…A_0‖ ≤ r_k ‖F‖ L_{k-1} + c_k ‖F A_{k-1}(c_{k-1} + …)…A_0‖ ≤ …`."""
        total, share = torch.zeros_like(size), 1.0
        for gate, affine, norm in zip(self.gates[:k][::-1], self.affines[:k][::-1], norms[:k][::-1], strict=True):
            total = total + share * (gate.most - gate.least) / 2 * norm * size
            share *= abs(gate.most + gate.least) / 2
            if share == 0.0:
                return total
            rows, size = _times(rows, size, affine, measure)
        return total + share * size

    @property
    def kinks(self) -> list[Tensor]:
        return [torch.tensor(g.kink, dtype=torch.float64) for g in self.gates if g.kink is not None and g.kink <= 1.0]

    def affordable(self, n: int, m: int, work: float) -> int:
        """How many balls to draw around every sample for so many multiplications.

        None where a map is not written out or a gate no maximum of two lines; otherwise one, the linear, at least.
        """
        sides = [affine.weight.shape for affine in self.affines if affine.weight.ndim]
        if not self.gates or len(self.kinks) < len(self.gates) or len(sides) < len(self.affines) or 0 in sides[0]:
            return 0
        passes = [(2 * height, k) for k, (height, _) in enumerate(sides[:-1])] + [(m, len(sides))]
        each = n * sum(rows * sum(a * b for a, b in sides[:k]) for rows, k in passes)
        return max(int(work / max(each, 1)), 1)


def _times(rows: Tensor, size: Tensor, affine: _Affine, measure: Measure) -> tuple[Tensor, Tensor]:
    """A product of matrices and its size, times one more matrix; a number for the product where one is not written out."""
    if not (rows.ndim and affine.weight.ndim and rows.shape[-2] * affine.weight.shape[1] <= MAX_ENTRIES):
        return affine.norm, size * affine.norm
    product = rows @ affine.weight
    return product, measure(product)


def network_of(layers: list[nn.Module], shape: Shape, domain: Domain) -> Network:
    """Layers, one after the other, as a chain of affine maps and gates that takes steps."""
    affines, gates, widths = [_affine(nn.Identity(), shape)], list[_Gate](), [math.prod(shape)]
    for layer in layers:
        after = _after(layer, shape)
        widths.append(math.prod(after))
        if type(layer) in AFFINE:
            affines[-1] = _affine(layer, shape).after(affines[-1])
        elif type(layer) in GATES:
            gates.append(GATES[type(layer)](layer))
            affines.append(_affine(nn.Identity(), after))
        shape = after
    moves = np.flatnonzero(np.isfinite(domain.price))
    scale = torch.from_numpy(1.0 / np.sqrt(domain.price[moves]))
    start = affines[0].weight
    steps = start[:, torch.from_numpy(moves)] * scale if start.ndim else start * (scale.max() if len(moves) else 0.0)
    return Network(affines[0], [_Affine(steps, affines[0].bias), *affines[1:]], gates, max(widths))


def _affine(layer: nn.Module, shape: Shape) -> _Affine:
    linear, size = copy.deepcopy(layer), math.prod(shape)
    for name in {"bias", "running_mean"} & linear.state_dict().keys():
        linear.state_dict()[name].zero_()
    bias = layer(torch.zeros(1, *shape, dtype=torch.float64)).flatten()
    if size * len(bias) > MAX_ENTRIES:
        return _Affine(_layer_norm(linear, shape), bias)
    return _Affine(linear(torch.eye(size, dtype=torch.float64).reshape(size, *shape)).reshape(size, -1).T, bias)


def _layer_norm(linear: nn.Module, shape: Shape) -> Tensor:
    """`‖W‖ ≤ √(‖W‖₁‖W‖_∞)`, by the same layer with the sizes of its weights; of kernels also by their slices and patches."""
    bounds = [_norm(linear.weight)] if isinstance(linear, nn.Linear) else []
    if isinstance(linear, nn.Conv1d | nn.Conv2d):
        kernel = linear.weight.reshape(linear.groups, -1, linear.weight.shape[1], linear.weight[0, 0].numel())
        spans = zip(linear.kernel_size, linear.stride, linear.dilation, strict=True)
        seen = math.prod(math.ceil(k / s) if d == 1 else k for k, s, d in spans)  # how many patches a pixel is in
        bounds += [torch.stack([max(_norm(w) for w in tap) for tap in kernel.permute(3, 0, 1, 2)]).sum()]
        bounds += [max(_norm(w.flatten(1)) for w in kernel) * math.sqrt(seen)]
    for weight in linear.parameters():
        weight.abs_()
    with torch.enable_grad():
        ones = torch.ones(1, *shape, dtype=torch.float64, requires_grad=True)
        rows = linear(ones)
        (columns,) = torch.autograd.grad(rows.sum(), ones)
    return torch.stack([*bounds, (rows.abs().amax() * columns.abs().amax()).sqrt() * (1.0 + SLACK)]).amin()


@torch.no_grad()
def traced(module: nn.Module, shape: Shape) -> list[nn.Module]:
    """The layers one by one, in double precision on the processor; raises where one is not known."""
    for layer in _flat(module):
        for fault in _faults(layer):
            raise InputError(f"the layer {type(layer).__name__} {fault}")
    layers = [copy.deepcopy(layer).to("cpu", torch.float64) for layer in _flat(module)]
    for layer in layers:
        shape = _after(layer, shape)
    if len(shape) > 1:
        raise InputError(f"the output of a sample has shape {shape}, not one number or one a class")
    return layers


def _flat(module: nn.Module) -> list[nn.Module]:
    return [leaf for layer in module for leaf in _flat(layer)] if _is(module, nn.Sequential) else [module]


def plain(layer: nn.Module) -> bool:
    """Whether nothing but its type says what a layer does: hooks, as pruned weights have them, or a forward of its own may."""
    return not (layer._forward_hooks or layer._forward_pre_hooks or "forward" in vars(layer))  # noqa: SLF001


def _is(layer: nn.Module, *kinds: type[nn.Module]) -> TypeGuard[Any]:
    return type(layer) in kinds and plain(layer)


def _faults(layer: nn.Module) -> Iterator[str]:
    if not _is(layer, *AFFINE, *GATES, *NEUTRAL):
        yield "is not one whose slopes are known, or it has hooks"
    if getattr(layer, "running_var", 0) is None or (layer.training and (hasattr(layer, "running_var") or hasattr(layer, "p"))):
        yield "depends on the batch or on chance; call .eval() on the module first"
    if getattr(layer, "padding_mode", "zeros") != "zeros":
        yield "pads with something else than zeros"
    if isinstance(layer, nn.MaxPool1d | nn.MaxPool2d):
        size, stride, dilation = (np.broadcast_to(each, 2) for each in (layer.kernel_size, layer.stride, layer.dilation))
        if layer.return_indices or (stride < dilation * (size - 1) + 1).any():
            yield "has windows that overlap, or returns indices"
    if isinstance(layer, nn.Softplus) and not (layer.beta > 0.0 and layer.threshold >= MIN_SOFTPLUS_THRESHOLD):
        yield f"jumps at its threshold {layer.threshold:g}"
    if not all(bool(weight.isfinite().all()) and not weight.is_complex() for weight in layer.state_dict().values()):
        yield "has weights that are not finite real numbers"


def _after(layer: nn.Module, shape: Shape) -> Shape:
    """Shape of a sample after the layer, which must not mix samples: two remain two, and three remain three."""
    try:
        shapes = [layer(torch.zeros(n, *shape, dtype=torch.float64)).shape for n in (2, 3)]
    except (RuntimeError, ValueError, IndexError, TypeError):
        shapes = []
    if [given[:1] for given in shapes] != [(2,), (3,)]:
        raise InputError(f"the layer {type(layer).__name__} does not take samples of shape {shape}, or mixes them")
    return tuple(shapes[0][1:])


AFFINE: Kinds = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.BatchNorm1d, nn.BatchNorm2d, nn.AvgPool1d, nn.AvgPool2d)
NEUTRAL: Kinds = (nn.Flatten, nn.Unflatten, nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d)
GATES: dict[type[nn.Module], Callable[[Any], _Gate]] = {
    nn.ReLU: lambda _: _Gate(0.0, 1.0, 0.0),
    nn.LeakyReLU: lambda g: _Gate(min(g.negative_slope, 1.0), max(g.negative_slope, 1.0), g.negative_slope),
    nn.ELU: lambda g: _Gate(min(g.alpha, 0.0), max(g.alpha, 1.0)),
    nn.SELU: lambda _: _Gate(0.0, 1.7581),
    nn.SiLU: lambda _: _Gate(-0.0999, 1.0999),
    nn.GELU: lambda _: _Gate(-0.13, 1.13),
    nn.Hardswish: lambda _: _Gate(-0.5, 1.5),
    nn.Sigmoid: lambda _: _Gate(0.0, 0.25),
    **dict.fromkeys((nn.Tanh, nn.Softplus, nn.Hardtanh, nn.ReLU6, nn.Softsign, nn.LogSigmoid), lambda _: _Gate(0.0, 1.0)),
    **dict.fromkeys((nn.MaxPool1d, nn.MaxPool2d), lambda _: _Gate(-1.0, 1.0)),
}
"""The least and the largest slope of each."""
