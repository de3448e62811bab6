"""What columns are over all partitions: their names and types, reconciled, and the rows of a partition brought to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tippingpoint.data.columns import declared_categories, plain
from tippingpoint.data.frames import read_frame
from tippingpoint.errors import InputError

Kind = Literal["number", "boolean", "category", "other"]

ARRAY = "an array"
"""What a partition without names of columns is called."""


@dataclass(frozen=True)
class ColumnType:
    """What a column of one partition, or of all, is.

    Attributes
    ----------
    name
        Of the column.
    kind
        Numbers, booleans, categories (text among them), or something else, which is refused where it is read.
    shown
        Its type as a message names it.
    native
        Its type as its own library has it; None for arrays.
    integer
        Whether the type itself is one of whole numbers.
    void
        Whether nothing is in it: such a column is of any type.
    declared, ordered
        The categories that the type lists, None where it lists none, and whether it says that they have an order.
    decimal
        Whether it stores decimals, which many models do not take.
    """

    name: str
    kind: Kind
    shown: str
    native: Any = None
    integer: bool = False
    void: bool = False
    declared: tuple[Any, ...] | None = None
    ordered: bool = False
    decimal: bool = False


@dataclass(frozen=True)
class Schema:
    """The columns of a partition, or of all.

    Attributes
    ----------
    columns
        In order.
    backend
        Kind of frame; "array" for an array.
    partition
        Whose they are, for messages.
    """

    columns: tuple[ColumnType, ...]
    backend: str
    partition: str

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


def schema_of(x: Any, partition: str) -> Schema:
    """The columns of one partition."""
    import narwhals as nw

    frame = read_frame(x, "X")
    if not isinstance(frame, nw.DataFrame):
        width = np.shape(x)[1] if np.ndim(x) > 1 else 0
        return Schema(tuple(ColumnType(f"x{j}", "number", "number") for j in range(width)), "array", partition)
    columns = tuple(_type_of(str(name), series) for name, series in zip(frame.columns, frame.iter_columns(), strict=True))
    return Schema(columns, frame.implementation.value, partition)


def _type_of(name: str, series: Any) -> ColumnType:
    import narwhals as nw

    dtype = series.dtype
    kind: Kind = "other"
    if dtype.is_numeric():
        kind = "number"
    elif dtype == nw.Boolean:
        kind = "boolean"
    elif isinstance(dtype, (nw.Categorical, nw.Enum, nw.String, nw.Object)):
        kind = "category"
    declared, ordered = declared_categories(series) if kind == "category" else (None, False)
    void = series.null_count() == len(series) or (dtype.is_float() and bool(np.isnan(series.to_numpy()).all()))
    return ColumnType(
        name,
        kind,
        str(dtype),
        getattr(series.to_native(), "dtype", None),
        dtype.is_integer(),
        void,
        None if declared is None else tuple(plain(declared)),
        ordered,
        isinstance(dtype, nw.Decimal),
    )


def united(schemas: Sequence[Schema]) -> Schema:
    """One schema for all partitions that hold rows; an error that names the first column that has another type elsewhere."""
    first = schemas[0]
    columns = list(first.columns)
    owner = [first.partition] * len(columns)
    for other in schemas[1:]:
        _check_names(first, other)
        for j, column in enumerate(other.columns):
            if columns[j].void and not column.void:
                owner[j] = other.partition
            columns[j] = _joined(columns[j], column, owner[j], other.partition)
    nothing = [replace(column, kind="number") if column.void and column.kind == "other" else column for column in columns]
    return Schema(tuple(nothing), first.backend, "X")


def _check_names(first: Schema, other: Schema) -> None:
    if first.backend != other.backend:
        mine, its = (ARRAY if each == "array" else f"a {each} frame" for each in (first.backend, other.backend))
        raise InputError(f"{other.partition} is {its}, but {first.partition} is {mine}; give tables of one kind.")
    if first.names == other.names:
        return
    if first.backend == "array":
        raise InputError(
            f"{other.partition} has {len(other.names)} columns, but {first.partition} has {len(first.names)}; give every"
            " partition the same columns."
        )
    lacks = [column for column in first.columns if column.name not in other.names]
    extra = [column for column in other.columns if column.name not in first.names]
    if lacks:
        raise InputError(
            f"{other.partition} has no column {lacks[0].name!r}, which is {lacks[0].shown} in {first.partition}; give every"
            " partition the same columns."
        )
    if extra:
        raise InputError(
            f"{other.partition} has a column {extra[0].name!r} ({extra[0].shown}) that {first.partition} does not have; give"
            " every partition the same columns."
        )
    j = next(j for j, (mine, its) in enumerate(zip(first.names, other.names, strict=True)) if mine != its)
    raise InputError(
        f"{other.partition} has its columns in another order: column {j} is {other.names[j]!r}, but {first.names[j]!r} in"
        f" {first.partition}; give every partition the same columns in one order."
    )


def _joined(mine: ColumnType, its: ColumnType, owner: str, partition: str) -> ColumnType:
    """The type of a column that is of these types in two partitions."""
    if mine.void or its.void:
        return mine if its.void else its
    if mine.kind != its.kind:
        raise InputError(
            f"{partition}: X[{its.name!r}] is {its.shown}, but {mine.shown} in {owner}; give the column one type throughout."
        )
    if mine.kind == "number":
        wider = mine if not mine.integer or its.integer else its
        return replace(wider, integer=mine.integer and its.integer, decimal=mine.decimal or its.decimal)
    if mine.declared is None or its.declared is None:
        return mine if mine.declared is not None else its
    every = tuple(dict.fromkeys([*mine.declared, *its.declared]))
    return replace(mine, declared=every, ordered=mine.ordered and its.ordered)


def aligned(x: Any, schema: Schema) -> Any:
    """The rows of a partition with the types of all: categories that others list too, and a type for what is void."""
    import narwhals as nw

    frame = read_frame(x, "X")
    if not isinstance(frame, nw.DataFrame):
        return x
    changed = []
    for column, series in zip(schema.columns, frame.iter_columns(), strict=True):
        own = _type_of(column.name, series)
        if own.void and own.kind != column.kind:
            changed.append(_cast_void(series, column))
        elif column.declared is not None and own.declared is not None and own.declared != column.declared:
            changed.append(_recategorised(series, column))
    return frame.with_columns(*changed).to_native() if changed else x


def numbers_for_void(x: Any, schema: Schema) -> Any:
    """The rows with columns of no known type, and nothing in them, as numbers that are missing: they can then be read."""
    void = tuple(
        replace(column, kind="number") if column.void and column.kind == "other" else column for column in schema.columns
    )
    return aligned(x, replace(schema, columns=void)) if void != schema.columns else x


def _cast_void(series: Any, column: ColumnType) -> Any:
    import narwhals as nw

    if series.implementation.is_pandas():
        import pandas as pd

        kinds: dict[str, Any] = {"number": float, "other": float, "boolean": "boolean", "category": object}
        kind = kinds[column.kind] if column.declared is None else _categorical(column)
        own = series.to_native()
        nothing: list[Any] = [None] * len(own)
        return nw.from_native(pd.Series(nothing, index=own.index, dtype=kind, name=own.name), series_only=True)
    if column.kind in ("number", "other"):
        return series.cast(nw.Float64)
    return nw.from_native(series.to_native().cast(column.native), series_only=True)


def _recategorised(series: Any, column: ColumnType) -> Any:
    import narwhals as nw

    if series.implementation.is_pandas():
        return nw.from_native(series.to_native().astype(_categorical(column)), series_only=True)
    return series.cast(nw.String).cast(nw.Enum(list(column.declared or ())))


def _categorical(column: ColumnType) -> Any:
    import pandas as pd

    return pd.CategoricalDtype(list(column.declared or ()), column.ordered)
