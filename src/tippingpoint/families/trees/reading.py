"""What a reader tells of a model: its forest, what the numbers are that come out of it, and what it takes for columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.families.trees.forest import Forest

Returns = Literal["score", "order", "probability", "prediction"]
"""What the outputs of a forest are.

- "score": of classes; one number a class, or of two classes one number, above 0 for the second. Probabilities are their
  softmax, or of one number the logistic function of it.
- "order": of classes, as many numbers as scores are. The largest, or the sign of the one, tells the class; they tell no
  probabilities.
- "probability": of classes, one number a class, as forests average them.
- "prediction": of a regressor, before its link.
"""

Link = Literal["identity", "log", "logit"]
"""Of a regressor: the output is the identity, the logarithm or the log-odds of what is predicted."""


@dataclass(frozen=True)
class Outputs:
    """The library's own outputs: a method of a model, which goes wherever the model can.

    Attributes
    ----------
    of
        The method; of rows as the user would give them to the model.
    factor
        From what it returns to what the forest's scores are.
    """

    of: Callable[[Any], Any]
    factor: float = 1.0

    def __call__(self, rows: Any) -> FloatArray:
        count = rows.shape[0] if hasattr(rows, "shape") else len(rows)  # a sparse matrix has no length
        return self.factor * np.asarray(self.of(rows), dtype=float).reshape(count, -1)


@dataclass(frozen=True)
class TreeReading:
    """A model read as a forest.

    Attributes
    ----------
    forest
        Its trees, on its own columns.
    returns, link
        What the outputs are.
    library
        Of the model, in words: "XGBoost", "scikit-learn", ...
    ask
        The library's own outputs, `(n, K)`, of rows as the user would give them to the model: what the forest's scores are
        checked against.
    rounding
        How far the library's own outputs may be from exact sums, absolute: far where they are of float32. Where classes are
        as close as that, the library may tell either.
    classes
        Labels in the order of the outputs (of one score: the first and the second class); None for regressors.
    names
        Of the columns it takes, in their order; None where it takes them by position.
    categories
        By column: the categories that it knows, in the order of their codes, from 0 on. Their codes are what the forest takes,
        and its sets list. Columns of categories that are not here hold the codes themselves; what is no category that it knows
        is missing to it, if it takes it at all.
    absent
        The value of the entries that a sparse matrix does not store: zero, or NaN for a library that reads them as missing.
    """

    forest: Forest
    returns: Returns
    library: str
    ask: Callable[[Any], FloatArray]
    rounding: float
    link: Link = "identity"
    classes: tuple[Any, ...] | None = None
    names: tuple[str, ...] | None = None
    categories: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)
    absent: float = 0.0


@dataclass(frozen=True)
class Unread:
    """Why a model of trees is not read: a clause, to follow a colon."""

    reason: str
