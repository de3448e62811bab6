"""Categories as the codes that a model has for them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.data.columns import is_missing
from tippingpoint.errors import ModelError
from tippingpoint.preprocessing.categories import own_value

UNLISTED = -1.0
"""A code that no set of a forest lists."""

UNKNOWN = {"scikit-learn": math.nan, "LightGBM": UNLISTED}
"""By library: what a category that the model does not know is to its trees. Others fail on it."""

LITERAL = "scikit-learn"
"""The library to which 3 and "3" are two categories; the others are given them as the model knows them."""


class Codes:
    """What a model makes of one column of categories.

    Parameters
    ----------
    known
        The categories, in the order of their codes.
    library
        Of the model.
    """

    def __init__(self, known: Sequence[Any], library: str) -> None:
        self._known = known
        self._library = library
        self._places = {value: float(code) for code, value in enumerate(known)}
        self._written = {} if library == LITERAL else {str(value): value for value in known}

    def find(self, value: Any) -> float | None:
        """The code of a category, not a number where it is missing; None where the library fails on it."""
        if is_missing(value):
            return math.nan
        return self._places.get(own_value(value, self._known, self._written), UNKNOWN.get(self._library))

    def of(self, values: Iterable[Any]) -> FloatArray:
        """The codes of many; `ModelError` where the library fails on one."""
        held = list(values)
        codes = {value: self.find(value) for value in dict.fromkeys(held)}
        strange = next((value for value, code in codes.items() if code is None), None)
        if strange is not None:
            raise ModelError(f"{self._library} fails on the category {strange!r}, which the model was not trained on.")
        return np.array([codes[value] for value in held], dtype=float)
