"""What must be known of all rows before the first oracle is built: one survey a partition, and what they say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.data.columns import in_order, plain
from tippingpoint.data.frames import Features, read_features, read_frame
from tippingpoint.data.labels import distinct_labels
from tippingpoint.data.vectors import no_weight, read_labels, read_vector, read_weights
from tippingpoint.engine.moments import Moments
from tippingpoint.engine.partitions import Part, Partition, named
from tippingpoint.engine.rows import MAX_DISTINCT, Look, SomeRows, gathered, sketch_rows, taken
from tippingpoint.engine.schema import Schema, aligned, numbers_for_void, schema_of, united
from tippingpoint.errors import InputError, UnsupportedError

MAX_LABELS = 4096
"""Distinct values of y that are kept; more are those of a regressor, of which none is a class."""

MAX_TEXTS = 100_000
"""Categories of a column, at most: every partition is read by the list of them all."""

Counts = Mapping[Any, float]
"""The weight of every value of a column, in units of the largest weight."""


@dataclass(frozen=True)
class Question:
    """What is asked of every partition.

    Attributes
    ----------
    encoded
        Columns that the model encodes: every value is a category, whatever its type.
    counted
        Columns of numbers whose values are counted, since the space declares them whole, ordinal, categorical or one-hot.
    shown
        Those of them of which the sketch has a row for every value.
    known_labels
        Whether labels must not be missing; a loss of the user's own may make something of that.
    rows, sampled
        Rows of every partition, and the numbers of those of the sample; None where it is not known yet.
    spreads
        Whether means and deviations are wanted, and not only ranges.
    """

    encoded: frozenset[str] = frozenset()
    counted: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()
    known_labels: bool = True
    rows: tuple[int, ...] | None = None
    sampled: IntArray | None = None
    spreads: bool = True


@dataclass(frozen=True)
class Survey:
    """Of one partition; small, and picklable.

    Attributes
    ----------
    number, name, rows
        Of the partition; of one without rows there is nothing else.
    schema, moments
        Its columns; means, deviations and ranges of rows of positive weight.
    missing, missed
        Columns in which a value is missing, in any row, and in one of positive weight.
    whole
        Columns of which all that is not missing are whole numbers.
    gaps
        What stands where a category is missing, by column.
    counts
        By column: what its values weigh; None where they are too many.
    labels
        Distinct values of y, of rows of positive weight.
    numeric, fractional
        Whether y holds numbers, and of type float; and one that is not whole, None where there is none.
    weight
        Sum of the weights, in units of the largest, `moments.peak`.
    sketch, sample
        Rows that show what columns hold, and those of the common sample.
    notes
        How the rows were put together.
    """

    number: int
    name: str
    rows: int
    schema: Schema | None = None
    moments: Moments | None = None
    missing: BoolArray = field(default_factory=lambda: np.empty(0, dtype=bool))
    missed: BoolArray = field(default_factory=lambda: np.empty(0, dtype=bool))
    whole: BoolArray = field(default_factory=lambda: np.empty(0, dtype=bool))
    gaps: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, Counts | None] = field(default_factory=dict)
    labels: tuple[Any, ...] = ()
    numeric: tuple[bool, bool] = (True, False)
    fractional: float | None = None
    weight: float = 0.0
    sketch: SomeRows | None = None
    sample: SomeRows | None = None
    notes: tuple[str, ...] = ()


def survey(partition: Partition, question: Question) -> Survey:
    """What one partition says to the question."""
    with named(partition.name):
        part = partition.load()
        check_length(partition, part, question.rows)
        if not part.rows:
            return Survey(partition.number, partition.name, 0, notes=part.notes)
        return _surveyed(partition, part, question)


def check_length(partition: Partition, part: Part, rows: Sequence[int] | None) -> None:
    """Refuse a partition that holds another number of rows than it did."""
    if rows is not None and (partition.number >= len(rows) or part.rows != rows[partition.number]):
        before = rows[partition.number] if partition.number < len(rows) else 0
        raise InputError(f"it has {part.rows} rows now and had {before}; X must give the same rows whenever it is read.")


def _surveyed(partition: Partition, part: Part, question: Question) -> Survey:
    schema = schema_of(part.x, partition.name)
    features = read_features(numbers_for_void(part.x, schema), stored=False)
    if len(features.shape) != 1:
        raise UnsupportedError(
            f"X has shape {(part.rows, *features.shape)}: partitions are served of tables only; give rows and columns, or"
            " pass images as one NumPy array or tensor."
        )
    x = features.x
    raw = read_weights(part.weight, part.rows)
    peak = float(raw.max())
    weight = raw / peak if peak > 0.0 else raw
    heavy = np.flatnonzero(weight)
    everyone = len(heavy) == len(x)
    y = read_vector(part.y, "y", part.rows)
    labels, fractional = _labels(y, heavy, known=question.known_labels)
    look = Look.at(x)
    missed = look.gaps if everyone or not look.gaps.any() else np.asarray(np.isnan(x[heavy]).any(axis=0))
    seen = x if everyone else x[heavy]
    moments = (
        Moments.of(seen, weight if everyone else weight[heavy], peak)
        if question.spreads
        else Moments.extremes(look if everyone else Look.at(seen), peak)
    )
    positions = {name: j for j, name in enumerate(features.names)}
    shown = {positions[name] for name in question.shown if name in positions}
    first = sorted(positions[name] for name in question.counted if name in positions)
    rows = SomeRows(part.x, y, weight, peak, np.column_stack((np.full(part.rows, partition.number), np.arange(part.rows))))
    return Survey(
        partition.number,
        partition.name,
        part.rows,
        schema,
        moments,
        look.gaps,
        missed,
        look.whole,
        {c.name: c.gap for j, c in enumerate(features.columns) if c.holds == "category" and look.gaps[j]},
        _counts(features, weight, question),
        labels,
        (y.dtype.kind in "biuf", y.dtype.kind == "f"),
        fractional,
        float(weight.sum()),
        rows.take(sketch_rows(x, weight, shown, first, look)),
        None if question.sampled is None else rows.take(_own(question.sampled, question.rows, partition.number)),
        part.notes,
    )


def _own(sampled: IntArray, rows: Sequence[int] | None, number: int) -> IntArray:
    """Which rows of a partition belong to the sample."""
    start = sum((rows or ())[:number])
    first, after = np.searchsorted(sampled, (start, start + (rows or ())[number]))
    return sampled[first:after] - start


def sample_of(partition: Partition, rows: tuple[int, ...], sampled: IntArray) -> SomeRows | None:
    """The rows of a partition that belong to the sample, where that was not known when it was surveyed."""
    own = _own(sampled, rows, partition.number) if partition.number < len(rows) else sampled[:0]
    if not len(own):
        return None
    with named(partition.name):
        part = partition.load()
        check_length(partition, part, rows)
        raw = read_weights(part.weight, part.rows)
        peak = float(raw.max())
        weight = raw / peak if peak > 0.0 else raw
        places = np.column_stack((np.full(len(own), partition.number), own))
        return SomeRows(taken(part.x, own), read_vector(part.y, "y", part.rows)[own], weight[own], peak, places)


def _labels(y: np.ndarray[Any, Any], heavy: IntArray, *, known: bool) -> tuple[tuple[Any, ...], float | None]:
    """Distinct values, and one that is no whole number."""
    held = y[heavy]
    if known:
        try:
            read_labels(held, "y")
        except InputError:
            whole = y.astype(object)
            whole[weightless(len(y), heavy)] = 0
            read_labels(whole if y.dtype.kind != "f" else whole.astype(float), "y")  # the same, by its own row
            raise
    elif held.dtype.kind == "f":
        held = held[np.isfinite(held)]
    if not len(held):
        return (), None
    distinct = distinct_labels(held)[0]
    odd = held[held != np.round(held)] if held.dtype.kind == "f" else held[:0]
    return tuple(distinct[: MAX_LABELS + 1]), float(odd[0]) if len(odd) else None


def weightless(rows: int, heavy: IntArray) -> BoolArray:
    """The rows that have no weight."""
    light = np.ones(rows, dtype=bool)
    light[heavy] = False
    return light


def _counts(features: Features, weight: FloatArray, question: Question) -> dict[str, Counts | None]:
    """The weights of the values of every column of categories, and of those of numbers that are asked for."""
    found: dict[str, Counts | None] = {}
    for j, column in enumerate(features.columns):
        if column.holds == "category":
            codes = features.x[:, j]
            held = ~np.isnan(codes)
            places = codes[held].astype(np.intp)
            sums = np.bincount(places, weight[held], len(column.categories))
            present = np.bincount(places, minlength=len(column.categories)) > 0
            found[column.name] = {column.categories[k]: float(sums[k]) for k in np.flatnonzero(present)}
        elif column.name in question.encoded:
            found[column.name] = _numbers_counted(features.x[:, j], weight, MAX_TEXTS, _plainly(features, j))
        elif column.name in question.counted:
            found[column.name] = _numbers_counted(features.x[:, j], weight, MAX_DISTINCT, float)
        counted = found.get(column.name)
        if column.name in found and (column.holds == "category" or column.name in question.encoded):
            _check_count(column.name, counted)
    return found


def _check_count(name: str, counted: Counts | None) -> None:
    if counted is None or len(counted) > MAX_TEXTS:
        raise InputError(f"X[{name!r}] has more than {MAX_TEXTS} categories; drop the column, or put rare ones together.")


def _numbers_counted(column: FloatArray, weight: FloatArray, most: int, kind: Any) -> Counts | None:
    held = ~np.isnan(column)
    values, which = np.unique(column[held], return_inverse=True)
    if len(values) > most:
        return None
    return {kind(value): total for value, total in zip(values.tolist(), np.bincount(which, weight[held]).tolist(), strict=True)}


def _plainly(features: Features, j: int) -> Any:
    """From a number to what the user's own column holds: an integer, a truth value."""
    holds = features.columns[j].holds
    frame = read_frame(features.native, "X")
    whole = holds == "integer" and frame[frame.columns[j]].dtype.is_integer()
    return bool if holds == "boolean" else int if whole else float


@dataclass(frozen=True)
class Facts:
    """What all partitions say together; as `Survey`, and what is said here.

    Attributes
    ----------
    rows
        Of every partition, in order.
    """

    rows: tuple[int, ...]
    schema: Schema
    moments: Moments
    missing: BoolArray
    missed: BoolArray
    whole: BoolArray
    gaps: Mapping[str, Any]
    counts: Mapping[str, Counts | None]
    labels: tuple[Any, ...]
    weight: float
    sketch: SomeRows
    sample: SomeRows | None
    notes: tuple[str, ...]

    @property
    def peak(self) -> float:
        return self.moments.peak


def merged(surveys: Sequence[Survey]) -> Facts:
    """The facts of all partitions, joined in their order."""
    held = [each for each in surveys if each.rows]
    if not held:
        raise InputError("X holds no rows: there is nothing to evaluate; give at least one.")
    schema = united([each.schema for each in held if each.schema is not None])
    moments = reduce(Moments.joined, [each.moments for each in held if each.moments is not None])
    if not moments.peak > 0.0:
        raise no_weight()
    gaps: dict[str, Any] = {}
    for each in reversed(held):
        gaps.update(each.gaps)
    return Facts(
        tuple(each.rows for each in surveys),
        schema,
        moments,
        np.logical_or.reduce([each.missing for each in held]),
        np.logical_or.reduce([each.missed for each in held]),
        np.logical_and.reduce([each.whole for each in held]),
        gaps,
        _joined_counts(held, moments.peak, schema),
        _joined_labels(held),
        float(sum(each.weight * (_peak(each) / moments.peak) for each in held)),
        together([each.sketch for each in held], schema, moments.peak),
        together([each.sample for each in held], schema, moments.peak) if held[0].sample is not None else None,
        tuple(dict.fromkeys(note for each in surveys for note in each.notes)),
    )


def together(rows: Sequence[SomeRows | None], schema: Schema, peak: float) -> SomeRows:
    """Rows of several partitions, brought to the types of all."""
    every = [replace(each, x=aligned(each.x, schema)) for each in rows if each is not None]
    return gathered(every, peak)


def _peak(each: Survey) -> float:
    return 0.0 if each.moments is None else each.moments.peak


def _joined_counts(held: Sequence[Survey], peak: float, schema: Schema) -> dict[str, Counts | None]:
    found: dict[str, Any] = {}
    categorical = {column.name for column in schema.columns if column.kind == "category"}
    for each in held:
        share = _peak(each) / peak
        for name, counts in each.counts.items():
            if counts is None or found.get(name, {}) is None:
                found[name] = None
                continue
            sums = found.setdefault(name, {})
            for value, weight in counts.items():
                sums[value] = sums.get(value, 0.0) + weight * share
            if name in categorical:
                _check_count(name, sums)
            elif len(sums) > MAX_TEXTS:
                found[name] = None
    return found


def _joined_labels(held: Sequence[Survey]) -> tuple[Any, ...]:
    """Distinct values of y, sorted where they can be; of very many, some, and one that is not whole if there is one."""
    every = list(dict.fromkeys(label for each in held for label in each.labels))
    numbers = all(each.numeric[0] for each in held)
    if numbers and any(each.numeric[1] for each in held):
        every = [float(label) for label in every]
    if len(every) > MAX_LABELS:
        odd = next((each.fractional for each in held if each.fractional is not None), None)
        every = list(dict.fromkeys([*([] if odd is None else [odd]), *every[: MAX_LABELS + 1]]))
    return tuple(in_order(plain(every)))
