"""A module as a chain of layers, where it is one: what certificates can be computed from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import ModelError
from tippingpoint.families.network.proofs.layers import numbers_of, plain
from tippingpoint.families.network.proofs.ranges import HiddenLayer
from tippingpoint.foreign import guarded

FUNCTIONS: dict[Any, Callable[[], nn.Module]] = {
    torch.relu: nn.ReLU,
    torch.relu_: nn.ReLU,
    nn.functional.relu: nn.ReLU,
    "relu": nn.ReLU,
    torch.tanh: nn.Tanh,
    nn.functional.tanh: nn.Tanh,
    "tanh": nn.Tanh,
    torch.sigmoid: nn.Sigmoid,
    "sigmoid": nn.Sigmoid,
    nn.functional.gelu: nn.GELU,
    nn.functional.silu: nn.SiLU,
    nn.functional.elu: nn.ELU,
    nn.functional.softplus: nn.Softplus,
}
"""Functions of one argument that are layers by another name."""

RESHAPING = (torch.flatten, torch.squeeze, torch.reshape, "flatten", "squeeze", "reshape", "view")
"""Calls that only change the shape; the trial tells whether they did more."""

LEAVES = (nn.Linear, nn.Conv1d, nn.Conv2d)
"""Modules that are one layer by themselves."""

TRIAL_TOLERANCE = 1e-4
"""Relative difference of outputs that a faithful chain may show."""


def chain(module: nn.Module, inputs: torch.Tensor) -> nn.Sequential | None:
    """The layers of a module that is a chain of them, tried out on some inputs; None where it is anything else."""
    if not all(plain(layer) for layer in module.modules()):
        return None
    layers = [module] if type(module) in LEAVES else list(_flat(module)) if type(module) is nn.Sequential else _traced(module)
    if layers is None:
        return None
    sequence = nn.Sequential(*layers)
    try:
        with guarded(ModelError), torch.no_grad():
            wanted, found = module(inputs.clone()), sequence(inputs.clone())  # layers may work in place
    except ModelError:  # whatever goes wrong here, it is not a chain
        return None
    if not (isinstance(wanted, torch.Tensor) and isinstance(found, torch.Tensor)) or wanted.numel() != found.numel():
        return None
    apart = (wanted.reshape(-1) - found.reshape(-1)).abs().max()
    return sequence if float(apart) <= TRIAL_TOLERANCE * (1.0 + float(wanted.abs().max())) else None


def hidden_layer(sequence: nn.Sequential, features: int) -> HiddenLayer | None:
    """`offset + Σ_j outer_j·relu(weights_jᵀx + bias_j)`, where the chain is that."""
    layers = [layer for layer in sequence if not isinstance(layer, (nn.Identity, nn.Flatten, nn.Dropout))]
    if [type(layer) for layer in layers] != [nn.Linear, nn.ReLU, nn.Linear]:
        return None
    first, last = layers[0], layers[2]
    if not (isinstance(first, nn.Linear) and isinstance(last, nn.Linear)):
        return None
    if first.in_features != features or last.out_features != 1:
        return None
    return HiddenLayer(numbers_of(first.weight), _bias(first), numbers_of(last.weight)[0], float(_bias(last)[0]))


def _flat(module: nn.Module) -> Any:
    for layer in module.children():
        yield from _flat(layer) if type(layer) is nn.Sequential else (layer,)


def _traced(module: nn.Module) -> list[nn.Module] | None:
    """The calls of a module's `forward`, one after the other, each on the result of the one before."""
    from torch import fx

    try:
        with guarded(ModelError):
            graph = fx.Tracer().trace(module)
    except ModelError:  # control flow, or anything else that cannot be traced
        return None
    layers, last = list[nn.Module](), None
    for node in graph.nodes:
        if node.op == "placeholder" and last is None:
            last = node
        elif node.op == "output":
            return layers if node.args[0] is last else None
        elif not node.args or node.args[0] is not last:
            return None
        else:
            last = node
            if node.op == "call_module":
                layer = module.get_submodule(str(node.target))
                layers += list(_flat(layer)) if type(layer) is nn.Sequential else [layer]
            elif node.target in FUNCTIONS and len(node.args) == 1 and not set(node.kwargs) - {"inplace"}:
                layers.append(FUNCTIONS[node.target]())
            elif node.target in ("clamp", torch.clamp) and dict(node.kwargs) == {"min": 0} and len(node.args) == 1:
                layers.append(nn.ReLU())
            elif node.target in RESHAPING:
                layers.append(nn.Flatten())
            else:
                return None
    return None


def _bias(layer: nn.Linear) -> FloatArray:
    return np.zeros(layer.out_features) if layer.bias is None else numbers_of(layer.bias)
