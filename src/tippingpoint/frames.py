"""Data frames and arrays in, arrays with names out, and the same kind of frame back.

The only place that knows pandas, polars and NumPy apart; narwhals does the work.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, blocks
from tippingpoint.errors import InputError

CHUNK = 2**20
"""Numbers looked at at once."""

NUMBERS = (Real, Decimal, np.bool_, type(None))
"""What a column of mixed types may hold; None is missing, and refused as such."""


@dataclass(frozen=True)
class Features:
    """The evaluation data as numbers.

    Attributes
    ----------
    x
        `(n, d)` float64.
    names
        Column names; `x0, x1, …` for an array.
    index
        Label of each row: a pandas index, otherwise the position.
    backend
        Kind of frame that results come back in.
    native
        What the user gave, for asking the model itself.
    shape
        Shape of one sample as it was given; `(d,)` for a table.
    """

    x: FloatArray
    names: tuple[str, ...]
    index: Sequence[Any]
    backend: str
    native: Any
    shape: tuple[int, ...]

    def take(self, rows: IntArray) -> Features:
        """These rows only."""
        index = [self.index[i] for i in rows]
        return Features(self.x[rows], self.names, index, self.backend, _native_rows(self.native, rows), self.shape)

    def spread(self, most: int) -> Features:
        """At most so many rows, spread evenly over the data (which may be sorted)."""
        return self.take(np.linspace(0, len(self.x) - 1, min(most, len(self.x))).astype(np.intp))


def read_frame(data: Any, name: str) -> Any:
    """A frame behind narwhals' one face; anything that is no frame as it is."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        return nw.from_native(data, eager_only=True, pass_through=True)
    except DuplicateError:
        columns = [str(column) for column in getattr(data, "column_names", data.columns)]
        raise _repeated_column(name, columns) from None


def read_features(data: Any) -> Features:
    """The columns of a frame or an array as numbers, or an error that names the cell that is not one."""
    import narwhals as nw

    frame = read_frame(data, "X")
    features = _from_frame(frame, data) if isinstance(frame, nw.DataFrame) else _from_array(data)
    if 0 in features.x.shape:
        raise InputError(f"X has shape {features.x.shape}: there is nothing to evaluate; give at least one row and column.")
    for chunk in blocks(len(features.x), CHUNK // features.x.shape[1]):
        bad = ~np.isfinite(features.x[chunk])
        if bad.any():
            row, column = (int(k) for k in np.argwhere(bad)[0])
            row += chunk.start
            raise InputError(
                f"X[{features.index[row]!r}, {features.names[column]!r}]={features.x[row, column]}: every value must be"
                " finite; impute or drop the row."
            )
    return features


def read_vector(data: Any, name: str, length: int | None = None) -> np.ndarray[Any, Any]:
    """A series, list or array of one dimension."""
    import narwhals as nw

    series = nw.from_native(data, series_only=True, pass_through=True)
    values = series.to_numpy() if isinstance(series, nw.Series) else _array(data, name)
    if values.ndim != 1:
        raise InputError(f"{name} has shape {values.shape}; give one value a row, as a vector.")
    if length is not None and len(values) != length:
        raise InputError(f"{name} has {len(values)} values but X has {length} rows; give one value a row.")
    return values


def read_numbers(data: Any, name: str, length: int | None = None) -> FloatArray:
    """A vector of finite numbers."""
    numbers = _numbers(read_vector(data, name, length), name)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        raise InputError(f"{name}[{bad[0]}]={numbers[bad[0]]}: every value must be finite; drop the row or fill it.")
    return numbers


def read_labels(data: Any, name: str, length: int | None = None) -> np.ndarray[Any, Any]:
    """A vector of labels of any type, none of them missing."""
    import pandas as pd

    labels = read_vector(data, name, length)
    missing = ~np.isfinite(labels) if labels.dtype.kind == "f" else np.asarray(pd.isna(labels))
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise InputError(f"{name}[{row}]={labels[row]}: every label must be known; drop the row or fill it.")
    return labels


def base_weights(data: Any, length: int, name: str = "sample_weight") -> FloatArray:
    """Sample weights that sum to one; equal where none are given."""
    if data is None:
        return np.full(length, 1.0 / length)
    weights = read_numbers(data, name, length)
    negative = np.flatnonzero(weights < 0.0)
    if len(negative):
        raise InputError(f"{name}[{negative[0]}]={weights[negative[0]]:g} is negative; weights must be ≥ 0.")
    if not weights.any():
        raise InputError(f"{name} is zero throughout; give at least one sample a positive weight.")
    scaled = weights / weights.max()
    return np.asarray(scaled / scaled.sum())


def build_frame(columns: Mapping[str, Any], backend: str, index: Sequence[Any] | None = None) -> Any:
    """A frame of the user's kind; pandas gets `index`, others do without."""
    if backend == "pandas":
        import pandas as pd

        return pd.DataFrame(dict(columns), index=None if index is None else pd.Index(index))
    import narwhals as nw

    return nw.from_dict(dict(columns), backend=nw.Implementation.from_backend(backend)).to_native()  # type: ignore[arg-type]  # any eager one, by its name


def _from_frame(frame: Any, data: Any) -> Features:
    import narwhals as nw

    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise _repeated_column("X", names)
    x = np.empty(frame.shape)
    backend = frame.implementation.value
    index = data.index if backend == "pandas" else range(len(x))
    for j, (name, column) in enumerate(zip(names, frame.iter_columns(), strict=True)):
        if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
            raise InputError(
                f"X[{name!r}] is of type {column.dtype}, not a number; encode it (for example with OneHotEncoder) or drop it."
            )
        try:
            x[:, j] = column.to_numpy()
        except (TypeError, ValueError):  # what is missing from a nullable column is no number
            x[:, j] = math.nan
        if np.isnan(x[:, j]).any() and column.null_count():  # counting is slow, so only where there is something to count
            row = int(np.flatnonzero(column.is_null().to_numpy())[0])
            raise InputError(f"X[{index[row]!r}, {name!r}] is missing: every value must be finite; impute or drop the row.")
    return Features(x, tuple(names), index, backend, data, x.shape[1:])


def _from_array(data: Any) -> Features:
    if hasattr(data, "toarray"):
        raise InputError("X is a sparse matrix; pass X.toarray(), stability moves every feature.")
    if type(data).__module__ == "torch":
        data = _from_tensor(data)
    x = _array(data, "X")
    if x.ndim < 2:
        raise InputError(f"X has shape {x.shape}; give a table of rows and columns.")
    flat = x.reshape(len(x), math.prod(x.shape[1:]))
    names = tuple(f"x{j}" for j in range(flat.shape[1]))
    return Features(_numbers(flat, "X"), names, range(len(x)), "pandas", x, x.shape[1:])


def _from_tensor(tensor: Any) -> Any:
    if not tensor.is_floating_point():
        raise InputError(
            f"X is a tensor of {tensor.dtype}; samples move by small steps, so give floats (token ids: embed them)."
        )
    return tensor.detach().cpu().double().numpy()


def _native_rows(native: Any, rows: IntArray) -> Any:
    import narwhals as nw

    frame = nw.from_native(native, eager_only=True, pass_through=True)
    return frame[rows.tolist(), :].to_native() if isinstance(frame, nw.DataFrame) else native[rows]


def _repeated_column(name: str, columns: Sequence[str]) -> InputError:
    twice = next(column for column in columns if columns.count(column) > 1)
    return InputError(f"{name} has more than one column called {twice!r}; give every column its own name.")


def _array(data: Any, name: str) -> np.ndarray[Any, Any]:
    if np.ma.is_masked(data):
        raise InputError(f"{name} holds masked values; fill them or drop their rows.")
    try:
        values = np.asarray(data)
        # NumPy makes text of a list that mixes text with numbers or with what is missing.
        return np.asarray(data, dtype=object) if values.dtype.kind in "US" and isinstance(data, (list, tuple)) else values
    except ValueError:
        raise InputError(f"{name} has rows of different lengths; give every row the same number of values.") from None


def _numbers(values: np.ndarray[Any, Any], name: str) -> FloatArray:
    """As float64; text, dates and complex numbers are refused, also where they could be read as numbers."""
    if values.dtype.kind not in "biuf":
        odd = next((value for value in values.flat if not isinstance(value, NUMBERS)), None)
        if odd is not None:
            raise InputError(f"{name} holds values that are not numbers, such as {str(odd)!r}; encode them or drop them.")
    return np.asarray(values, dtype=float)
