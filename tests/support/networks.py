"""Small networks made of lines, and rooms to move in, that tests share."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from tippingpoint.core.arrays import FloatArray
from tippingpoint.families.network.column.lines import Chain, Lines

FEATURES, COLUMN = 4, 2
ROOMS = {"free": (-math.inf, math.inf), "boxed": (-1.5, 2.0), "one-sided": (0.0, math.inf), "down": (-2.5, 0.0)}


def normed(width: int) -> nn.Module:
    layer = nn.BatchNorm1d(width)
    layer.running_mean, layer.running_var = 0.3 * torch.randn(width), 0.5 + torch.rand(width)
    nn.init.normal_(layer.weight)
    nn.init.normal_(layer.bias)
    return layer


def one_hidden(k: int) -> list[nn.Module]:
    return [nn.Linear(FEATURES, 6), nn.ReLU(), nn.Linear(6, k)]


def three_hidden(k: int) -> list[nn.Module]:
    first = [nn.Flatten(), nn.Linear(FEATURES, 9), normed(9), nn.ReLU(), nn.Dropout(0.5), nn.Linear(9, 8, bias=False)]
    return [*first, nn.ReLU(), nn.Identity(), nn.Linear(8, 7), nn.ReLU(), nn.Linear(7, k)]


def leaky(k: int) -> list[nn.Module]:
    first = [nn.Linear(FEATURES, 6), nn.LeakyReLU(0.2), nn.Linear(6, 6), nn.Hardtanh(-0.4, 0.9), nn.Linear(6, 6), nn.PReLU(6)]
    return [*first, nn.Linear(6, 5), nn.LeakyReLU(-0.5), nn.Linear(5, k)]


def bounded(k: int) -> list[nn.Module]:
    return [nn.ReLU6(), nn.Linear(FEATURES, 8), nn.ReLU6(), nn.Linear(8, k)]


def linear(k: int) -> list[nn.Module]:
    return [nn.Linear(FEATURES, k)]


NETS: dict[str, Callable[[int], list[nn.Module]]] = {
    "one hidden": one_hidden,
    "three hidden": three_hidden,
    "leaky": leaky,
    "linear": linear,
    "bounded": bounded,
}


def network(seed: int, kind: str, outputs: int = 1) -> nn.Sequential:
    """A network in double precision that bends where the samples are."""
    torch.manual_seed(seed)
    module = nn.Sequential(*NETS[kind](outputs)).double().eval()
    with torch.no_grad():
        for layer in module:
            if isinstance(layer, nn.Linear):
                layer.weight.mul_(2.0)
    return module


def part(module: nn.Sequential, layer: int) -> nn.Linear:
    found = module[layer]
    assert isinstance(found, nn.Linear)
    return found


def all_lines(module: nn.Sequential, x: FloatArray, column: int, low: FloatArray, high: FloatArray) -> Lines:
    chain = Chain.of(module, x.shape[1])
    assert isinstance(chain, Chain)
    parts = list(chain.along(chain.enter(x), column, low, high))
    names = ("sample", "start", "stop", "value", "slope")
    return Lines(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
