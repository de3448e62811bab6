"""The models that are trained: linear, one hidden layer, or what the user builds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from tippingpoint.errors import InputError

Factory = Callable[[int, int], nn.Module]
"""From the number of features and of outputs to a fresh module."""


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Inside, PyTorch draws by the seed (first weights, a user's dropout); the random numbers of others are left alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def build(model: Any, hidden: Any, features: int, outputs: int) -> nn.Module:
    """A fresh module."""
    if model == "linear":
        return nn.Linear(features, outputs)
    if model == "mlp":
        return nn.Sequential(nn.Linear(features, int(hidden)), nn.ReLU(), nn.Linear(int(hidden), outputs))
    module = model(features, outputs)
    if not isinstance(module, nn.Module):
        raise InputError(f"model={model!r} returned {type(module).__name__}; it must return a torch.nn.Module.")
    return module


def check_model(model: Any) -> None:
    """A name that is known, or something to call."""
    if isinstance(model, nn.Module):
        raise InputError(
            "model is a module, which training would change; pass a function (features, outputs) -> module that makes one."
        )
    if model not in ("linear", "mlp") and not callable(model):
        raise InputError(f"model={model!r} is not known; use 'linear', 'mlp', or a function (features, outputs) -> module.")


def check_outputs(outputs: Any, rows: int, expected: int) -> None:
    """One row of scores a sample, as many as there are classes (one for two of them, and for a regressor)."""
    if not isinstance(outputs, torch.Tensor):
        raise InputError(f"the module returns {type(outputs).__name__}; it must return a tensor, ({rows}, {expected}).")
    if tuple(outputs.shape) != (rows, expected):
        raise InputError(
            f"the module's outputs have shape {tuple(outputs.shape)} for {rows} rows; it must be ({rows}, {expected})."
        )
