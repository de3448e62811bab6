"""PyTorch modules behind preprocessing: folded into one module where that is affine, asked as they are where it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from tippingpoint.data.frames import Features
from tippingpoint.errors import InputError
from tippingpoint.families.network.search.scores import input_dtype
from tippingpoint.foreign import guarded
from tippingpoint.preprocessing.affine import NotAffineError, fold


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


def asked(steps: Any, module: nn.Module) -> Callable[[Any], Any]:
    """The module's outputs as a function of raw rows."""

    def module_outputs(rows: Any) -> Any:
        seen = steps.transform(rows)
        dense = seen.toarray() if hasattr(seen, "toarray") else np.asarray(seen, dtype=float)
        with torch.no_grad():
            output = module(torch.as_tensor(dense, dtype=input_dtype(module))).double().numpy()
        return output[:, 0] if output.ndim == 2 and output.shape[1] == 1 else output

    module_outputs.returns = "score"  # type: ignore[attr-defined]  # modules return logits, whatever their range
    return module_outputs
