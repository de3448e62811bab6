"""Data frames and arrays in, arrays with names out, and the same kind of frame back.

The only place that knows pandas, polars and NumPy apart; narwhals does the work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.data.columns import (
    Column,
    OddTextError,
    UnknownCategoryError,
    categories_are_numbers,
    declared_categories,
    encode,
    is_missing,
    stored_numbers,
)
from tippingpoint.data.inputs import Inputs, read_inputs
from tippingpoint.data.seals import UNSHARED, Seal, shareable, shared, survey
from tippingpoint.data.vectors import PLAIN, as_array, as_numbers
from tippingpoint.errors import InputError, UnsupportedError, listed

Fill = Callable[[slice], None]
"""Writes a block of rows of the numbers that are not there yet."""


class Place(str):
    """The label of a row of a partition: its place in words, which messages show without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Features:
    """The evaluation data as numbers.

    Attributes
    ----------
    x
        `(n, d)` float64; categories as their positions, NaN where a value is missing.
    columns
        What each holds; called `x0, x1, …` for an array.
    index
        Label of each row: a pandas index that names every row once, otherwise the position.
    backend
        Kind of frame that results come back in.
    native
        What the user gave, for calling the model itself.
    shape
        Shape of one sample as it was given; `(d,)` for a table.
    vanishing
        Positions of columns whose values may go missing.
    gaps
        Columns in which a value is missing, where that is known already.
    seal
        Of `x`, where that is the user's own array.
    inputs
        What the columns are to a module of several inputs, where these were given by name.
    text, objects, categorical
        Names of columns of numbers that were stored as text, as objects of another type, or as categories.
    """

    x: FloatArray
    columns: tuple[Column, ...]
    index: Sequence[Any]
    backend: str
    native: Any
    shape: tuple[int, ...]
    vanishing: frozenset[int] = frozenset()
    gaps: BoolArray | None = field(default=None, repr=False)
    seal: Seal = UNSHARED
    inputs: Inputs | None = None
    text: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """How columns were read whose type does not say that they hold numbers."""
        found = []
        if self.objects:
            found.append(f"X stores numbers as objects in {listed(self.objects)}, which are read as numbers")
        for stored, names in (("text", self.text), ("categories", self.categorical)):
            if names:
                found.append(
                    f"X stores numbers as {stored} in {listed(names)}, which are read as numbers; if one holds codes, declare"
                    f" it as Space(kind={{{names[0]!r}: 'categorical'}})"
                )
        return tuple(found)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @cached_property
    def missing(self) -> BoolArray:
        """Columns in which a value is missing, or may go so."""
        found = survey(self.x).missing if self.gaps is None else self.gaps.copy()
        found[list(self.vanishing)] = True
        return found

    def take(self, rows: IntArray) -> Features:
        """These rows only."""
        index, native = [self.index[i] for i in rows.tolist()], _native_rows(self.native, rows)
        inputs = None if self.inputs is None else self.inputs.take(rows)
        return replace(self, x=self.x[rows], index=index, native=native, gaps=None, seal=UNSHARED, inputs=inputs)

    def spread(self, most: int) -> Features:
        """At most so many rows, spread evenly over the data (which may be sorted)."""
        return self.take(np.linspace(0, len(self.x) - 1, min(most, len(self.x))).astype(np.intp))

    def native_at(self, rows: IntArray, x: FloatArray) -> Any:
        """These rows as the user's model takes them, with the values of `x` in place of their own; the model may keep them."""
        import narwhals as nw

        x = x.copy()  # a model may write into what it is given
        if isinstance(self.native, np.ndarray):
            return self._array_at(x)
        taken = _native_rows(self.native, rows)
        frame = nw.from_native(taken, eager_only=True)
        changed = []
        for j, column in enumerate(self.columns):
            if not np.array_equal(x[:, j], self.x[rows, j], equal_nan=True):
                changed.append(_series(column.decoded(x[:, j]), frame[frame.columns[j]]))
        return frame.with_columns(*changed).to_native() if changed else taken

    def _array_at(self, x: FloatArray) -> Any:
        """Numbers as an array of the user's shape; categories as the numbers that they are there."""
        for j, column in enumerate(self.columns):
            if column.holds == "category":
                x[:, j] = column.decoded(x[:, j])
        return x.reshape(len(x), *self.shape)

    def cell(self, row: int, column: int) -> str:
        """One value, as Python writes it: by the column's name in a table, by its place in an array of more dimensions."""
        label = self.index[row]
        if self.inputs is not None:
            each, place = self.inputs.place(column)
            return each.at(label, place)
        return f"X[{label!r}, {self.names[column]!r}]" if len(self.shape) == 1 else f"X[{label}, {self._place(column)}]"

    def row_words(self, row: int) -> str:
        """A row in a sentence, by its label."""
        label = self.index[row]
        return label if isinstance(label, Place) else f"row {label!r}"

    def column_words(self, column: int) -> str:
        """A column in a sentence: by its name, in an array of more dimensions also by its place there."""
        name = repr(self.names[column])
        return name if len(self.shape) == 1 else f"X[:, {self._place(column)}] ({name})"

    def _place(self, column: int) -> str:
        return ", ".join(map(str, np.unravel_index(column, self.shape)))

    def check_numbers(self, columns: IntArray | None = None) -> None:
        """Refuse what is missing and what is no number, in these columns or in all."""
        for j in range(len(self.columns)) if columns is None else columns:
            column = self.columns[j]
            if column.holds == "category" and column.categories:
                raise InputError(
                    f"X[{column.name!r}] holds categories (String, such as {column.categories[0]!r}), and the model takes"
                    " numbers; encode them in a pipeline, with OneHotEncoder in front of the model, or drop the column."
                )
            if self.missing[j] and not np.isnan(self.x[:, j]).any():
                raise InputError(
                    f"missing[{column.name!r}]: the model takes no missing values; leave it out of the space, or impute in a"
                    " pipeline in front of the model."
                )
            if self.missing[j]:
                row = int(np.flatnonzero(np.isnan(self.x[:, j]))[0])
                value = " is missing" if hasattr(self.native, "columns") else "=nan"
                raise InputError(f"{self.cell(row, int(j))}{value}: every value must be finite; impute or drop the row.")


def read_frame(data: Any, name: str) -> Any:
    """A frame behind narwhals' one face; anything that is no frame as it is."""
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        return nw.from_native(data, eager_only=True, pass_through=True)
    except DuplicateError:
        columns = [str(column) for column in getattr(data, "column_names", data.columns)]
        raise _repeated_column(name, columns) from None


def column_names(data: Any) -> list[str]:
    """The names of the columns of a frame; none for anything else."""
    import narwhals as nw

    frame = read_frame(data, "X")
    return [str(name) for name in frame.columns] if isinstance(frame, nw.DataFrame) else []


def refuse_lazy(data: Any) -> None:
    """An error for data that are not in memory; their types are known by name, so nothing is imported for them."""
    kind = type(data)
    library, name = kind.__module__.lstrip("_").partition(".")[0], kind.__name__
    if library == "pyspark" and name == "DataFrame":
        raise UnsupportedError(
            "X is a Spark DataFrame, which is not read. Write it with X.write.parquet(path), and pass that path."
        )
    if (library, name) in (("polars", "LazyFrame"), ("duckdb", "DuckDBPyRelation"), ("pyarrow", "RecordBatchReader")):
        raise UnsupportedError(f"X is a {name}, which is not in memory. Collect it into a frame, or a sample of its rows.")


def read_features(data: Any, categories: Mapping[str, Sequence[Any]] | None = None, *, stored: bool = True) -> Features:
    """The columns of a frame or an array as numbers.

    Parameters
    ----------
    data
        A frame, an array, or inputs of a module by name.
    categories
        Columns that are read as categories, and as which.
    stored
        Whether other columns of text, objects or categories that hold numbers only are read as numbers; if not, they are
        categories too.
    """
    import narwhals as nw

    if isinstance(data, Mapping):
        return _from_mapping(data)
    frame = read_frame(data, "X")
    known = categories or {}
    converted = dict[str, str]()
    if isinstance(frame, nw.DataFrame) and stored:
        read, converted = _with_numbers(frame, known)
        data, frame = (data if read is frame else read.to_native()), read
    features, fill = _from_frame(frame, data, known) if isinstance(frame, nw.DataFrame) else _from_array(data, known)
    x, is_shared = features.x, not features.x.flags.writeable  # what is ours can be written
    if 0 in x.shape:
        raise InputError(f"X has shape {x.shape}: there is nothing to evaluate; give at least one row and column.")
    seen = survey(x, fill, summed=is_shared)
    _refuse_infinite(features, seen.infinite)
    columns = tuple(_whole(column, x[:, j]) if seen.missing[j] else column for j, column in enumerate(features.columns))
    seal = Seal("X", x, seen.sums) if is_shared else UNSHARED
    text, objects, categorical = (
        tuple(name for name, kind in converted.items() if kind == stored_as) for stored_as in ("text", "objects", "categorical")
    )
    return replace(features, columns=columns, gaps=seen.missing, seal=seal, text=text, objects=objects, categorical=categorical)


def _with_numbers(frame: Any, categories: Mapping[str, Sequence[Any]]) -> tuple[Any, dict[str, str]]:
    """A frame with numbers where columns of text, objects or categories hold nothing else; and how these were stored."""
    import narwhals as nw

    changed, converted = [], dict[str, str]()
    for series in frame.iter_columns():
        name, categorical = str(series.name), categories_are_numbers(series)
        if name in categories or not (categorical or isinstance(series.dtype, (nw.String, nw.Object, nw.Decimal))):
            continue
        try:
            found = stored_numbers(series.to_list(), name)
        except OddTextError as odd:
            label = _labels(frame.to_native().index)[odd.row] if frame.implementation.is_pandas() else odd.row
            raise InputError(
                f"X[{label!r}, {name!r}]={odd.value!r} is text in a column of numbers. Replace it by a number or a missing"
                " value, for example with pandas.to_numeric. If these are categories, declare"
                f" Space(kind={{{name!r}: 'categorical'}})."
            ) from None
        if found is None:
            continue
        changed.append(_series(found.values, series))
        if categorical or found.text:
            converted[name] = "categorical" if categorical else "text"
        elif series.null_count() < len(series):
            converted[name] = "objects"
    return (frame.with_columns(*changed) if changed else frame), converted


def _from_mapping(data: Mapping[Any, Any]) -> Features:
    """Inputs of a module by name, as one table of the numbers that may move."""
    x, columns, inputs = read_inputs(data)
    features = Features(x, columns, range(len(x)), "pandas", None, x.shape[1:], inputs=inputs)
    seen = survey(x)
    _refuse_infinite(features, seen.infinite)
    return replace(features, gaps=seen.missing)


def _refuse_infinite(features: Features, found: tuple[int, int] | None) -> None:
    if found is not None:
        raise InputError(f"{features.cell(*found)}={features.x[found]}: every value must be finite; impute or drop the row.")


def _labels(index: Any) -> Sequence[Any]:
    """The labels of a pandas index as Python's own: messages show them, and results are paired by them."""
    import pandas as pd

    return range(index.start, index.stop, index.step) if isinstance(index, pd.RangeIndex) else index.tolist()


def build_frame(columns: Mapping[str, Any], backend: str, index: Sequence[Any] | None = None) -> Any:
    """A frame of the user's kind; pandas gets `index`, others do without."""
    if backend == "pandas":
        import pandas as pd

        return pd.DataFrame(dict(columns), index=None if index is None else pd.Index(index))
    import narwhals as nw

    return nw.from_dict(dict(columns), backend=nw.Implementation.from_backend(backend)).to_native()  # type: ignore[arg-type]  # any eager one, by its name


def _from_frame(frame: Any, data: Any, categories: Mapping[str, Sequence[Any]]) -> tuple[Features, Fill]:
    """A frame as numbers, once these are filled in: all columns of a block of rows, while it is in the cache."""
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise _repeated_column("X", names)
    x = np.empty(frame.shape)
    backend = frame.implementation.value
    index = _labels(data.index) if backend == "pandas" and data.index.is_unique else range(len(x))
    columns, later = [], []
    for j, (name, series) in enumerate(zip(names, frame.iter_columns(), strict=True)):
        try:
            values, column = _read_column(name, series, categories.get(name))
        except UnknownCategoryError as unknown:
            raise unknown_category(index[unknown.row], name, unknown.value, categories[name]) from None
        columns.append(column)
        if values.flags.owndata:  # made for us: it goes as soon as it is written
            x[:, j] = values
        else:
            later.append((j, values))

    def fill(rows: slice) -> None:
        for j, values in later:
            x[rows, j] = values[rows]

    return Features(x, tuple(columns), index, backend, data, x.shape[1:]), fill


def unknown_category(row: Any, name: str, value: Any, categories: Sequence[Any]) -> InputError:
    """The error for a value that is none of its column's categories."""
    return InputError(
        f"X[{row!r}, {name!r}]={value!r} is none of its categories, {listed(categories)}; add it to them, or drop the row."
    )


def _read_column(name: str, series: Any, categories: Sequence[Any] | None) -> tuple[np.ndarray[Any, Any], Column]:
    """A column as numbers of any type: by the categories given, otherwise by its type."""
    import narwhals as nw

    kind, like = series.dtype, series.head(0)
    if categories is None and kind.is_numeric():
        return _as_numbers(series), Column(name, "integer" if kind.is_integer() else "number", like=like)
    if categories is None and kind == nw.Boolean:
        return _as_numbers(series), Column(name, "boolean", like=like)
    if categories is None and not isinstance(kind, (nw.Categorical, nw.Enum, nw.String, nw.Object)):
        raise InputError(
            f"X[{name!r}] is of type {kind}, neither a number nor a category; turn it into one (a date into days) or drop it."
        )
    declared, ordered = declared_categories(series)
    codes, column = encode(series.to_list(), name, declared if categories is None else categories)
    if categories is None and declared is None and not column.categories:  # nothing but missing values: of no type
        return codes, Column(name, "number", like=like)
    gap = math.nan if column.gap is None and not np.isnan(codes).any() and series.implementation.is_pandas() else column.gap
    return codes, replace(column, ordered=ordered, like=like, gap=gap)


def _whole(column: Column, numbers: FloatArray) -> Column:
    """A column with gaps: of whole numbers, if all others are. pandas stores these as floats, though nobody meant halves."""
    if column.holds != "number" or column.like is None:
        return column
    held = numbers[~np.isnan(numbers)]
    return replace(column, holds="integer") if len(held) and bool((held == np.round(held)).all()) else column


def _as_numbers(series: Any) -> np.ndarray[Any, Any]:
    try:
        values = series.to_numpy()
        return np.asarray(values) if values.dtype.kind in PLAIN else np.asarray(values, dtype=float)
    except (TypeError, ValueError):  # what is missing from a nullable column is no number
        return np.array([math.nan if is_missing(value) else float(value) for value in series.to_list()])


def _series(values: Any, like: Any) -> Any:
    """Values as a column beside another, under its name."""
    import narwhals as nw

    if not like.implementation.is_pandas():
        native = nw.from_native(values, series_only=True, pass_through=True)
        series = native if isinstance(native, nw.Series) else nw.new_series(like.name, values, backend=like.implementation)
        return series.alias(like.name)  # an Arrow array has no name of its own
    import pandas as pd

    made = values if isinstance(values, pd.Series) else pd.Series(values)
    return nw.from_native(made.set_axis(like.to_native().index).rename(like.name), series_only=True)


def _from_array(data: Any, categories: Mapping[str, Sequence[Any]]) -> tuple[Features, Fill | None]:
    """An array as numbers: a large one of floats itself, any other copied, by what is returned with it or before."""
    refuse_lazy(data)
    if hasattr(data, "toarray"):
        raise InputError("X is a sparse matrix; pass X.toarray(), stability moves every feature.")
    if type(data).__module__ == "torch":
        data = _from_tensor(data)
    x = as_array(data, "X")
    if x.ndim < 2:
        raise InputError(f"X has shape {x.shape}; give a table of rows and columns.")
    flat = x.reshape(len(x), math.prod(x.shape[1:]))
    columns = [Column(f"x{j}") for j in range(flat.shape[1])]
    encoded = [j for j, column in enumerate(columns) if column.name in categories]
    numbers, fill = _own_or_shared(flat, written=bool(encoded))
    for j in encoded:
        name = columns[j].name
        try:
            numbers[:, j], columns[j] = encode(numbers[:, j].tolist(), name, categories[name])
        except UnknownCategoryError as unknown:
            raise unknown_category(unknown.row, name, unknown.value, categories[name]) from None
    return Features(numbers, tuple(columns), range(len(x)), "pandas", x, x.shape[1:]), fill


def _own_or_shared(values: np.ndarray[Any, Any], *, written: bool) -> tuple[FloatArray, Fill | None]:
    """A table as floats: the user's own, to be read only, where it is large; else a copy, to be filled unless `written`."""
    if written or values.dtype.kind not in PLAIN:
        numbers = as_numbers(values, "X")
        return (numbers.copy() if np.may_share_memory(numbers, values) else numbers), None
    if values.dtype == np.dtype(float) and shareable(values):
        return shared(values), None
    copied = np.empty(values.shape)

    def fill(rows: slice) -> None:
        copied[rows] = values[rows]

    return copied, fill


def _from_tensor(tensor: Any) -> Any:
    if not tensor.is_floating_point():
        raise InputError(
            f"X is a tensor of {tensor.dtype}; samples move by small steps, so give floats (token ids: embed them)."
        )
    return tensor.detach().cpu().double().numpy()


def _native_rows(native: Any, rows: IntArray) -> Any:
    import narwhals as nw

    if native is None:
        return None
    frame = nw.from_native(native, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return native[rows]
    taken = frame[rows.tolist(), :]
    # Of all rows in their order pandas makes no copy, and C code writes into what pandas has marked as read-only.
    return (taken.clone() if len(rows) == len(native) else taken).to_native()


def _repeated_column(name: str, columns: Sequence[str]) -> InputError:
    twice = next(column for column in columns if columns.count(column) > 1)
    return InputError(f"{name} has more than one column called {twice!r}; give every column its own name.")
