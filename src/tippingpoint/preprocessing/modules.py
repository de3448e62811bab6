"""PyTorch modules at the end of a pipeline or inside an estimator, told apart without importing PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.errors import InputError

if TYPE_CHECKING:
    import torch


def holds_module(model: Any) -> bool:
    """Whether a model is an estimator around a module that says so (`as_module`)."""
    return callable(getattr(model, "as_module", None))


def unwrapped(model: Any) -> Any:
    """What a search for parameters ended with; any other model is itself, and a class is no model."""
    if isinstance(model, type):
        raise InputError(
            f"model={model.__name__} is a class, not a fitted model. Create an instance, fit it or load its weights, and pass"
            " the instance."
        )
    return getattr(model, "best_estimator_", model)


def steps_and_last(model: Any) -> tuple[Any, Any]:
    """A pipeline without its last step, and that step; any other model has no steps."""
    steps = getattr(model, "steps", None)
    if not steps:
        return None, model
    return (model[:-1], steps[-1][1]) if len(steps) > 1 else (None, steps[0][1])


def input_dtype(module: torch.nn.Module) -> torch.dtype:
    """The precision a module works in: its first floating parameter's."""
    import torch

    return next((p.dtype for p in module.parameters() if p.dtype.is_floating_point), torch.get_default_dtype())


def function_of_rows(steps: Any, module: torch.nn.Module) -> Callable[[Any], Any]:
    """The module's outputs as a function of raw rows, for preprocessing that no layer can stand for."""
    import torch

    def module_outputs(rows: Any) -> Any:
        seen = steps.transform(rows)
        dense = seen.toarray() if hasattr(seen, "toarray") else np.asarray(seen, dtype=float)
        with torch.no_grad():
            output = module(torch.as_tensor(dense, dtype=input_dtype(module))).double().numpy()
        return output[:, 0] if output.ndim == 2 and output.shape[1] == 1 else output

    module_outputs.returns = "score"  # type: ignore[attr-defined]  # modules return logits, whatever their range
    return module_outputs
