"""Labels of any type, as the numbers that oracles work with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tippingpoint.core.arrays import blocks
from tippingpoint.errors import InputError

SmallArray = npt.NDArray[np.signedinteger[Any]]
"""Positions among the classes, in as few bytes as these need."""

ROWS = 2**16
"""Labels looked at at once."""

SPAN = 2**15
"""Whole numbers from the least to the largest label up to which there is a table of them all, in 16 bits a row."""


def class_indices(
    y: np.ndarray[Any, Any], classes: Sequence[Any] | None, scores: int, labels: Sequence[Any] | None = None
) -> tuple[SmallArray, tuple[Any, ...]]:
    """Position of every label among the classes, and the classes.

    Parameters
    ----------
    y
        Labels.
    classes
        The model's labels, or None to read them off `y` in sorted order.
    scores
        How many scores the model has; one serves two classes.
    labels
        The distinct labels of the whole data, in sorted order, where `y` is a part of them.
    """
    distinct, inverse = distinct_labels(y)
    wanted, every = max(2, scores), distinct if labels is None else list(labels)
    if len(every) == 1:
        raise InputError(f"y holds one class only, {every[0]!r}; evaluate on data that has at least two.")
    if classes is None:
        if len(every) != wanted:
            raise InputError(
                f"y holds {len(every)} distinct labels but the model has {scores} score(s), for {wanted} classes;"
                " name them (classes=...), or judge a regressor by a loss for regressors, as 'squared'."
            )
        classes = every
    position = {label: k for k, label in enumerate(classes)}
    unseen = [label for label in distinct if label not in position]
    if unseen:
        raise InputError(f"y holds the label {unseen[0]!r}, which the model never saw; its classes are {list(classes)!r}.")
    return _placed([position[label] for label in distinct], inverse, len(classes)), tuple(classes)


def _placed(positions: Sequence[int], inverse: SmallArray, count: int) -> SmallArray:
    """The position of every row's label, of so many classes."""
    small = np.min_scalar_type(-max(count, 1))  # signed, so that they can be subtracted
    if list(positions) == list(range(len(positions))):
        return inverse.astype(small, copy=False)
    placed, lookup = np.empty(len(inverse), dtype=small), np.array(positions, dtype=small)
    for rows in blocks(len(inverse), ROWS):
        placed[rows] = lookup[inverse[rows]]
    return placed


def distinct_labels(y: np.ndarray[Any, Any]) -> tuple[list[Any], SmallArray]:
    """Distinct labels, sorted where they can be, and the position of each row's label among them."""
    import pandas as pd

    if y.dtype.kind in "biuf" and len(y):
        low, high = y.min(), y.max()
        upper = _upper_of_two(y, low, high) if low < high else None
        if upper is not None:
            return [low.item(), high.item()], upper
        if y.dtype.kind in "iu" and high.item() - low.item() < SPAN:
            return _counted(y, low, high.item() - low.item() + 1)
    if y.dtype.kind == "O" and pd.api.types.infer_dtype(y, skipna=False) == "string":
        codes, found = pd.factorize(y)
        listed = sorted(found.tolist())
        place = {label: k for k, label in enumerate(listed)}
        return listed, _placed([place[label] for label in found.tolist()], codes, len(listed))
    try:
        values, inverse = np.unique(y, return_inverse=True)
        set(map(hash, values.tolist()))  # lists can be sorted, and are no labels
    except (TypeError, ValueError):  # labels of mixed types cannot be sorted
        check_labels(y, "y")
        codes, labels = pd.factorize(y, use_na_sentinel=False)
        return labels.tolist(), codes.astype(np.intp)
    return values.tolist(), inverse


def check_labels(y: Iterable[Any], name: str) -> None:
    """Refuse what no class can be called, such as lists and structures, which do not keep their value."""
    for row, label in enumerate(y):
        try:
            hash(label)
        except TypeError:
            raise InputError(f"{name}[{row}]={label!r} is not a label. Give numbers or text, one value per row.") from None


def _upper_of_two(y: np.ndarray[Any, Any], low: Any, high: Any) -> SmallArray | None:
    """1 where a label is the higher of two, which need no sorting; None where there are others."""
    upper = np.empty(len(y), dtype=np.int8)
    for rows in blocks(len(y), ROWS):
        held = y[rows]
        above = held == high
        if np.count_nonzero(above) + np.count_nonzero(held == low) < len(held):
            return None
        upper[rows] = above
    return upper


def _counted(y: np.ndarray[Any, Any], low: Any, span: int) -> tuple[list[int], SmallArray]:
    """Whole numbers of a short span, counted off and not sorted."""
    above, seen = np.empty(len(y), dtype=np.int16), np.zeros(span, dtype=bool)
    for rows in blocks(len(y), ROWS):
        above[rows] = y[rows].astype(np.int64) - low.astype(np.int64)
        seen[above[rows]] = True
    held = np.flatnonzero(seen)
    return [int(low) + k for k in held.tolist()], _placed((np.cumsum(seen) - 1).tolist(), above, len(held))
