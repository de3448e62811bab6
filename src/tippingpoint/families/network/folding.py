"""PyTorch modules behind preprocessing: folded into one module where that is affine."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from tippingpoint.data.frames import Features
from tippingpoint.errors import InputError
from tippingpoint.foreign import guarded
from tippingpoint.preprocessing.affine import NotAffineError, fold
from tippingpoint.preprocessing.modules import input_dtype


def folded(steps: Any, module: nn.Module, features: Features) -> nn.Module | None:
    """One module of the raw columns: an affine layer in front of the user's; None where the preprocessing is anything else."""
    if features.missing.any() or any(column.holds == "category" for column in features.columns):
        return None
    with guarded(lambda why: InputError(f"the steps in front of the module fail on X ({why}); pass the columns they take.")):
        width = np.asarray(steps.transform(features.spread(1).native)).shape[1]
    try:
        weight, bias = fold([step for _, step in steps.steps], np.eye(width), np.zeros(width), features.names)
    except NotAffineError:
        return None
    front = nn.Linear(weight.shape[1], width, dtype=input_dtype(module))
    with torch.no_grad():
        front.weight.copy_(torch.from_numpy(weight))
        front.bias.copy_(torch.from_numpy(bias))
    return nn.Sequential(front, module).train(module.training)
