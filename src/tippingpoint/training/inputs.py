"""Reading what users give, as scikit-learn does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from tippingpoint.errors import InputError, listed

Array = np.ndarray[Any, Any]

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before scikit-learn 1.6 it was a method

    def validate_data(estimator: Any, /, X: Any, y: Any = "no_validation", **options: Any) -> Any:  # noqa: N803
        """Rows (and targets) checked and remembered by the estimator."""
        return estimator._validate_data(X, y, **options)  # noqa: SLF001


def read_training(estimator: Any, X: Any, y: Any, *, numeric: bool = False) -> tuple[Array, Array]:  # noqa: N803  # its name
    """Rows as float64 and one target each; NaN, infinities and other shapes are scikit-learn's errors."""
    x, target = validate_data(estimator, X, y, dtype=np.float64, y_numeric=numeric)
    return x, target


def read_rows(estimator: Any, X: Any) -> Array:  # noqa: N803  # scikit-learn's name
    """Rows as float64, of the columns that the estimator was fitted to."""
    return np.asarray(validate_data(estimator, X, reset=False, dtype=np.float64))


def read_weights(given: Any, rows: int) -> Array:
    """One weight a row, 0 or more, not all 0; ones where none are given. The largest is made 1, for float32 to hold them."""
    if given is None:
        return np.ones(rows)
    weight = np.full(rows, float(given), dtype=float) if isinstance(given, Real) else np.asarray(given, dtype=float)
    if weight.shape != (rows,):
        raise InputError(f"sample_weight has shape {weight.shape}; give one number for each of the {rows} rows.")
    if not (np.isfinite(weight).all() and (weight >= 0.0).all() and weight.any()):
        raise InputError("sample_weight must be finite, 0 or more, and not zero for every row.")
    return np.asarray(weight / weight.max())


def moving_columns(features: Any, width: int, names: Sequence[str] | None) -> list[int] | None:
    """Positions of the columns that may move; None for all."""
    if features is None:
        return None
    if isinstance(features, str) or not isinstance(features, Iterable):
        raise InputError(f"features={features!r} must be a list of columns, by name or position, as ['age'].")
    known = {str(name): j for j, name in enumerate(names)} if names is not None else {}
    columns = []
    for feature in features:
        whole = isinstance(feature, Integral) and not isinstance(feature, bool)
        if whole and 0 <= int(feature) < width:
            columns.append(int(feature))
        elif not whole and str(feature) in known:
            columns.append(known[str(feature)])
        else:
            there = f"the columns are {listed(known)}" if known else f"X has no names, and columns 0 to {width - 1}"
            raise InputError(f"features names {feature!r}, which is not a column; {there}.")
    if not columns:
        raise InputError("features=[] lets nothing move; name some columns, or use an ERM estimator.")
    return columns


def check_price(name: str, value: Any) -> None:
    """A positive number; infinity is one."""
    if not isinstance(value, Real) or isinstance(value, bool) or not float(value) > 0.0:
        raise InputError(f"{name}={value!r} must be a positive number.")
