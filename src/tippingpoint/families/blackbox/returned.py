"""What a model returns: which of its methods to ask, and whether numbers can be what they are taken for."""

from __future__ import annotations

from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import UnsupportedError
from tippingpoint.families.blackbox.calling import Method

PROBABILITY_TOLERANCE = 1e-3
"""How far from one the probabilities of a row may sum, and how far beyond 0 and 1 one may lie: half precision reaches that."""

METHODS = {"label": "predict", "probability": "predict_proba", "score": "decision_function", "prediction": "predict"}
"""The method that returns each kind of answer, in the words of scikit-learn."""


def predictor(model: Any) -> Method:
    """The method that predicts, or the function itself."""
    return model.predict if hasattr(model, "predict") else model  # type: ignore[no-any-return]  # the user's own method


def method_for(model: Any, output: str) -> Method:
    """The method that returns what the user says: the one that is called so, otherwise `predict`, or the function itself."""
    method = getattr(model, METHODS[output], None)
    if method is not None:
        return method  # type: ignore[no-any-return]  # the user's own method
    by_name = any(hasattr(model, name) for name in ("classes_", "predict_proba", "decision_function"))
    if by_name and hasattr(model, "predict"):  # what a classifier of that kind predicts are labels
        raise UnsupportedError(
            f"output={output!r}, but the model has no {METHODS[output]}, and its predict tells labels; leave output out, or"
            " wrap the model in a function that returns what you mean."
        )
    if not (hasattr(model, "predict") or callable(model)):
        raise UnsupportedError(f"output={output!r}, but the model has no {METHODS[output]}; leave output out.")
    returns = getattr(model, "returns", output)
    if returns != output:
        raise UnsupportedError(f"output={output!r}, but the model returns a {returns}; leave output out.")
    return predictor(model)


def flaw_of_probabilities(outputs: FloatArray) -> str | None:
    """In words: why these numbers are no probabilities of classes; None where they may be."""
    odd = outputs[(outputs < -PROBABILITY_TOLERANCE) | (outputs > 1.0 + PROBABILITY_TOLERANCE)]
    if len(odd):
        return f"{odd.flat[0]:g} lies outside [0, 1]"
    if outputs.ndim == 2 and outputs.shape[1] > 1:
        sums = outputs.sum(axis=1)
        far = int(np.argmax(np.abs(sums - 1.0)))
        if abs(sums[far] - 1.0) > PROBABILITY_TOLERANCE:
            return f"those of a row sum to {sums[far]:.4g}"
    return None


def as_vector(outputs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Answers of one column, as Keras gives them, as one number a row."""
    return outputs[:, 0] if outputs.ndim == 2 and outputs.shape[1] == 1 else outputs


def called(output: str) -> str:
    """Numbers of this kind, in a sentence."""
    return "probabilities" if output == "probability" else "scores"
