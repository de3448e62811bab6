"""What people call losses: other names of ours, measures that are none, and the name of a function of their own."""

from __future__ import annotations

from functools import partial
from typing import Any

from tippingpoint.text import OWN_LOSS_NAME

ALSO_CALLED = {
    "error": "zero_one",
    "error_rate": "zero_one",
    "misclassification": "zero_one",
    "zero_one_loss": "zero_one",
    "0_1": "zero_one",
    "0/1": "zero_one",
    "01": "zero_one",
    "log_loss": "logistic",
    "logloss": "logistic",
    "bce": "logistic",
    "binary_cross_entropy": "logistic",
    "binary_crossentropy": "logistic",
    "crossentropy": "cross_entropy",
    "nll": "cross_entropy",
    "neg_log_likelihood": "cross_entropy",
    "negative_log_likelihood": "cross_entropy",
    "hinge_loss": "hinge",
    "mse": "squared",
    "squared_error": "squared",
    "mean_squared_error": "squared",
    "mae": "absolute",
    "absolute_error": "absolute",
    "mean_absolute_error": "absolute",
    "quantile": "pinball",
    "pinball_loss": "pinball",
    "mean_pinball_loss": "pinball",
}
"""Names that scikit-learn, the boosters and papers use, and ours; in small letters, with `_` for `-` and blanks."""

NO_MEANS = {
    "rmse": "the root of a mean is no mean; use 'mse', and the square of your threshold as risk",
    "root_mean_squared_error": "the root of a mean is no mean; use 'mse', and the square of your threshold as risk",
    "accuracy": "it is good where it is large; use 'error', and 1 - accuracy as risk",
    **dict.fromkeys(
        ("auc", "roc_auc", "f1", "precision", "recall", "r2"),
        "it is not the mean of one number a row, which a risk is; use 'error' or 'log_loss' for classes, 'mse' for numbers",
    ),
}
"""Measures that are asked for and cannot be a loss, and what to do instead."""


def canonical(name: str) -> str:
    """Our name of a loss, from any of its names; what is not known stays as it is."""
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    return ALSO_CALLED.get(plain, plain)


def own_name(loss: Any) -> str:
    """What results call a loss that is the user's own function: its name, where it has one."""
    while isinstance(loss, partial):
        loss = loss.func
    name = str(getattr(loss, "__name__", type(loss).__name__))
    return OWN_LOSS_NAME if name == "<lambda>" else name
