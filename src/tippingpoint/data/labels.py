"""Labels of any type, as the numbers that oracles work with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tippingpoint.core.arrays import IntArray
from tippingpoint.errors import InputError


def class_indices(y: np.ndarray[Any, Any], classes: Sequence[Any] | None, scores: int) -> tuple[IntArray, tuple[Any, ...]]:
    """Position of every label among the classes, and the classes.

    Parameters
    ----------
    y
        Labels.
    classes
        The model's labels, or None to read them off `y` in sorted order.
    scores
        How many scores the model has; one serves two classes.
    """
    distinct, inverse = _distinct(y)
    wanted = max(2, scores)
    if len(distinct) == 1:
        raise InputError(f"y holds one class only, {distinct[0]!r}; evaluate on data that has at least two.")
    if classes is None:
        if len(distinct) != wanted:
            raise InputError(
                f"y holds {len(distinct)} distinct labels but the model has {scores} score(s), for {wanted} classes;"
                " name them (classes=...), or judge a regressor by a loss for regressors, as 'squared'."
            )
        classes = distinct
    position = {label: k for k, label in enumerate(classes)}
    unseen = [label for label in distinct if label not in position]
    if unseen:
        raise InputError(f"y holds the label {unseen[0]!r}, which the model never saw; its classes are {list(classes)!r}.")
    return np.array([position[label] for label in distinct], dtype=np.intp)[inverse], tuple(classes)


def _distinct(y: np.ndarray[Any, Any]) -> tuple[list[Any], IntArray]:
    """Distinct labels, sorted where they can be, and the position of each row's label among them."""
    if y.dtype.kind in "biu" and len(y):
        low, high = y.min(), y.max()
        if low != high and np.count_nonzero(y == low) + np.count_nonzero(y == high) == len(y):
            return [low.item(), high.item()], (y == high).astype(np.intp)  # two numbers need no sorting
    try:
        values, inverse = np.unique(y, return_inverse=True)
        return values.tolist(), inverse
    except TypeError:  # labels of mixed types cannot be sorted
        import pandas as pd

        codes, labels = pd.factorize(y, use_na_sentinel=False)
        return labels.tolist(), codes.astype(np.intp)
