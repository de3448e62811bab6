"""Where a model changes its mind between two classes, as the zero of a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.foreign import is_module


def decision(model: Any) -> Callable[[Any], FloatArray]:
    """A function of data, below zero for the first of two classes and above it for the second.

    Parameters
    ----------
    model
        With `decision_function`, `predict_proba` or `predict`, the first that it has; `(coef, intercept)`; a PyTorch module
        that returns logits; or a function that returns one number a row (zero on the boundary) or two scores.
    """
    classes = getattr(model, "classes_", None)
    if classes is not None and len(classes) != 2:
        raise UnsupportedError(f"the model has {len(classes)} classes; a boundary is drawn between two, so leave model out.")
    if isinstance(model, tuple) and len(model) == 2:
        return lambda data: _single(np.asarray(data, dtype=float) @ np.asarray(model[0], dtype=float).T + model[1])
    for name, read in (("decision_function", _single), ("predict_proba", _single), ("predict", _sided(classes))):
        if hasattr(model, name):
            return _composed(getattr(model, name), read)
    if not callable(model):
        raise InputError(
            f"model is a {type(model).__name__}; give one with decision_function, predict_proba or predict, or a function."
        )
    return _composed(_of_arrays(model) if is_module(model) else model, _single)


def _composed(method: Callable[[Any], Any], read: Callable[[Any], FloatArray]) -> Callable[[Any], FloatArray]:
    return lambda data: read(method(data))


def _single(outputs: Any) -> FloatArray:
    """One number a row; of two, how far the second is ahead."""
    scores = np.asarray(outputs, dtype=float)
    if scores.ndim == 2 and scores.shape[1] == 2:
        return np.asarray(scores[:, 1] - scores[:, 0])
    if scores.ndim == 2 and scores.shape[1] > 2:
        raise UnsupportedError(
            f"the model gives {scores.shape[1]} scores; a boundary is drawn between two, so leave model out."
        )
    return scores.reshape(len(scores))


def _sided(classes: Any) -> Callable[[Any], FloatArray]:
    def read(outputs: Any) -> FloatArray:
        labels = np.asarray(outputs)
        known = np.unique(labels) if classes is None else np.asarray(classes)
        if len(known) > 2:
            raise UnsupportedError(
                f"the model predicts {len(known)} different values; a boundary is drawn between two, so leave model out."
            )
        return np.where(labels == known[-1], 1.0, -1.0)

    return read


def _of_arrays(module: Any) -> Callable[[Any], Any]:
    """A module as a function of arrays."""
    import torch

    def outputs(data: Any) -> Any:
        kind = next((p for p in module.parameters() if p.dtype.is_floating_point), torch.empty(0))
        with torch.no_grad():
            return module(torch.as_tensor(np.asarray(data, dtype=float)).to(kind)).double().cpu().numpy()

    return outputs
