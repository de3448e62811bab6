"""Windows of data that one model is judged on: a reference, and what came after it."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import numpy as np

from tippingpoint.api.cases import Case, prepared
from tippingpoint.api.partitioned import refuse_partitions
from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, IntArray, total
from tippingpoint.data.alignment import in_rows_of
from tippingpoint.data.columns import Column, in_order, is_missing, plain
from tippingpoint.data.frames import Features, read_features, read_frame
from tippingpoint.data.labels import distinct_labels
from tippingpoint.data.vectors import base_weights, read_labels, read_vector
from tippingpoint.engine.partitions import named
from tippingpoint.engine.tables import split_off
from tippingpoint.errors import InputError, UnsupportedError, WindowWarning, listed
from tippingpoint.families.base import Learnt, Margins, Shared, Subject
from tippingpoint.families.registry import judge
from tippingpoint.space import Space
from tippingpoint.space.scaling import Scale

REFERENCE = "reference"
"""What the reference window is called in sentences."""

SAMPLE_ROWS = 2000
"""Rows of the reference by which it is decided how the answers of a black box are read, in every window alike."""


@dataclass(frozen=True)
class Given:
    """A window as the user has it: `(X, y)` or `(X, y, weights)`; `y` is None where labels are not known."""

    x: Any
    y: Any
    weight: Any = None


@dataclass(frozen=True)
class Window:
    """Rows of positive weight, as a model is judged on them.

    Attributes
    ----------
    name
        What it is called.
    features, base
        The rows as numbers, and their weights, of sum one.
    y
        Labels or targets; None where they are not known.
    margins
        The number through which the loss acts on every row.
    """

    name: str
    features: Features
    base: FloatArray
    y: np.ndarray[Any, Any] | None
    margins: Margins

    @property
    def risk(self) -> float:
        """The mean loss."""
        return total(self.base, self.margins.loss.value(self.margins.values))

    def __len__(self) -> int:
        return len(self.base)


@dataclass(frozen=True)
class Reference:
    """The reference window, and how others are read and judged like it.

    Attributes
    ----------
    model, loss, options
        As the user gave them.
    case
        The model on the reference, read and checked.
    y
        Labels or targets of its rows of positive weight.
    stabilities
        Of single features, by name, as they become known: the same for every window; and what each does not say.
    """

    model: Any
    loss: Any
    options: Mapping[str, Any]
    case: Case
    y: np.ndarray[Any, Any]
    stabilities: dict[str, tuple[float, str]] = field(default_factory=dict)

    @classmethod
    def read(
        cls, model: Any, given: Given, options: Mapping[str, Any], *, loss: Any, space: Space | None, scale: Scale | None
    ) -> Reference:
        """The reference, as any question reads its data."""
        with named(REFERENCE):
            if given.y is None:
                raise InputError("y is None; labels are needed here, as the tolerance is that of the reference.")
            weights = {"sample_weight": given.weight, "space": space, "scale": scale}
            case = prepared(model, given.x, given.y, options, loss=loss, **weights)
            y, _ = in_rows_of(given.x, given.y, "y")
            rows = np.flatnonzero(base_weights(in_rows_of(given.x, given.weight, "sample_weight")[0], len(y)))
            return cls(model, loss, options, case, read_vector(y, "y", len(y))[rows])

    @cached_property
    def deadline(self) -> float:
        """When the stabilities of single features have to be known: the time limit after the first is asked for."""
        limit = self.options.get("time_limit", getattr(self.case.family.options, "time_limit", math.inf))
        return time.monotonic() + float(limit)

    @cached_property
    def classifies(self) -> bool:
        """Whether samples have labels, and no targets."""
        return self.margins.loss.task == "classification" and not self._own_loss

    @property
    def _own_loss(self) -> bool:
        return callable(self.loss) and not hasattr(self.loss, "value")

    @cached_property
    def margins(self) -> Margins:
        """Of the reference, with what it costs to shift them in its space."""
        return self.case.judgement.margins(self.case.domain)

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """The distinct labels of the reference."""
        return tuple(distinct_labels(read_labels(self.y, "y"))[0])

    def window(self) -> Window:
        """The reference itself."""
        return Window(REFERENCE, self.case.features, self.case.base, self.y, self.margins)

    def scored(self) -> Window:
        """The reference by its scores alone, as a window without labels can be compared with it."""
        return replace(self.window(), y=None, margins=self.unlabelled(self.case.features))

    def current(self, name: str, given: Given) -> Window:
        """Another window, its columns and categories read as those of the reference; without labels, by its scores."""
        with named(name):
            features = self.read_features(given.x)
            weight, _ = in_rows_of(given.x, given.weight, "sample_weight")
            base = base_weights(weight, len(features.x))
            y = None
            if given.y is not None:
                y, _ = in_rows_of(given.x, given.y, "y")
                y = read_vector(y, "y", len(base))
            rows = np.flatnonzero(base)
            if len(rows) < len(base):
                features, base, y = features.take(rows), base[rows], None if y is None else y[rows]
            margins = self.unlabelled(features) if y is None else self.judged(features, y)
            return Window(name, features, base, y, margins)

    def judged(self, features: Features, y: Any) -> Margins:
        """The margins of other rows, by the same reading of the same model."""
        still, labels = self.case.domain.only(()), None
        if self.classifies:
            labels = tuple(in_order(dict.fromkeys([*self.labels, *distinct_labels(read_labels(y, "y"))[0]])))
        shared = self._shared(len(features.x))
        subject = Subject(self.model, features, y, self.loss, still, labels, shared)
        served = judge(subject, self.options)
        if served.family is not self.case.family:
            raise UnsupportedError(
                f"the model is one of {served.family.name} on these rows and of {self.case.family.name} on the reference, so"
                " its scores are not the same numbers; pass it as a function of the rows to have it read as a black box."
            )
        return served.judgement.margins(self.case.domain)

    def losses(self, features: Features, label: Any) -> FloatArray:
        """What rows lose if all of them have one label."""
        margins = self.judged(features, _repeated(label, len(features.x), self.y))
        return margins.loss.value(margins.values)

    def read_features(self, data: Any) -> Features:
        """Rows with the columns of the reference, in their order; categories that it does not have come after its own."""
        known = self.case.features
        frame = _in_columns(data, known)
        categories = {
            column.name: [*column.categories, *_unseen(frame, known, j)]
            for j, column in enumerate(known.columns)
            if column.holds == "category"
        }
        features = read_features(frame, categories)
        if features.shape != known.shape:
            raise InputError(f"X has rows of shape {features.shape} and the reference of {known.shape}; give the same columns.")
        for own, column in zip(features.columns, known.columns, strict=True):
            if (own.holds == "category") != (column.holds == "category"):
                held, was = (_kind(each) for each in (own, column))
                raise InputError(f"X[{own.name!r}] holds {held}, and {was} in the reference; give both the same type.")
        return replace(features, vanishing=known.vanishing)

    def _shared(self, rows: int) -> Shared | None:
        """Of a black box: how the answers to the reference were read, so that all others are read alike."""
        learnt = self._learnt
        if learnt is None:
            return None
        held = self.case.features
        return Shared(held, self.y, np.arange(rows), rows + len(held.x), learnt)

    @cached_property
    def _learnt(self) -> Learnt | None:
        features = self.case.features
        some = np.linspace(0, len(features.x) - 1, min(SAMPLE_ROWS, len(features.x))).astype(np.intp)
        return self.case.judgement.learnt(features.take(some), self.y[some], None)

    def unlabelled(self, features: Features) -> Margins:
        """What the model says of rows, whatever their labels are.

        Of a regressor its predictions; of two classes the score of the second; of several, by how much the first is ahead.
        """
        if self._own_loss:
            raise UnsupportedError("a loss of your own is a number of the labels, so nothing is known of rows without; give y.")
        if not self.classifies:
            return self.judged(features, np.zeros(len(features.x)))
        labels = self.labels if len(self.labels) > 2 else self.labels[-1:]
        every = [self.judged(features, _repeated(label, len(features.x), self.y)) for label in labels]
        return replace(every[0], values=np.minimum.reduce([each.values for each in every]))


def read_given(name: str, value: Any) -> Given:
    """A window that the user gave."""
    if not isinstance(value, (tuple, list)) or len(value) not in (2, 3):
        raise InputError(f"{name} is a {type(value).__name__}; give (X, y), or (X, y, weights), with y=None without labels.")
    refuse_partitions(value[0], value[1], "drift")
    with named(name):
        return Given(*split_off(*value))


def warn_of_overlap(reference: Given, others: Mapping[str, Given]) -> None:
    """Rows that stand in two windows, as far as a pandas index tells: they make a drift smaller than it is."""
    import pandas as pd

    first = getattr(reference.x, "index", None)
    if not isinstance(first, pd.Index) or _unnamed(first):
        return
    known = first.unique()  # which keeps its table of labels for all windows
    found: dict[str, list[Any]] = {}
    for name, given in others.items():
        own = getattr(given.x, "index", None)
        if isinstance(own, pd.Index) and not _unnamed(own):
            both = own[known.get_indexer_for(own) >= 0].unique()
            if len(both):
                found[name] = both.tolist()
    if found:
        rows, name = sum(map(len, found.values())), next(iter(found))
        where = f"of the window {name!r}" if len(found) == 1 else f"of {len(found)} windows, {name!r} the first of them,"
        warnings.warn(
            f"{rows} rows {where} carry labels of the reference too, such as {found[name][0]!r}; rows"
            " that are in both make the drift smaller, so leave them out of one, or give them labels of their own.",
            WindowWarning,
            stacklevel=3,
        )


def _unnamed(index: Any) -> bool:
    """Whether rows are counted from zero, as where nobody has named them."""
    import pandas as pd

    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


def split_by(given: Given, by: Any, most: int) -> dict[str, Given]:
    """A window cut into at most so many: by a column, which is then left out of the features, or by a value for each row."""
    import narwhals as nw

    frame = read_frame(given.x, "X")
    if isinstance(by, str):
        columns = list(frame.columns) if isinstance(frame, nw.DataFrame) else []
        column, period = column_and_period(by, columns)
        if not isinstance(frame, nw.DataFrame) or column not in columns:
            raise InputError(f"by={by!r} is no column of the current X ({listed(columns)}); name one, or give a value a row.")
        names = window_names(frame[column].to_numpy(), period, most, argument="by=", column=column)
        x = frame.drop(column).to_native()
    else:
        names, x = window_names(read_vector(by, "by", len(given.x)), None, most, argument="by="), given.x
    distinct, codes = distinct_labels(names)
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(distinct) + 1))
    rest = Given(x, given.y, given.weight)
    return {str(value): _rows(rest, order[ends[k] : ends[k + 1]]) for k, value in enumerate(distinct)}


def column_and_period(by: str, columns: Sequence[str], *, argument: str = "by=") -> tuple[str, str | None]:
    """What `column:period` names, unless a column has that name; `argument` is what errors put before it."""
    column, colon, period = by.rpartition(":")
    if by in columns or not colon or column not in columns:
        return by, None
    if period not in PERIODS:
        raise InputError(f"{argument}{by}: {period!r} is not a period. Use {', '.join(PERIODS)}.")
    return column, period


def window_names(
    values: np.ndarray[Any, Any], period: str | None, most: int, *, argument: str, column: str = ""
) -> np.ndarray[Any, Any]:
    """The window of every row: its value, or the period of its date; an error that says what to do if they are too many.

    Parameters
    ----------
    values, period
        One value per row; and the period of `PERIODS` by which dates are grouped, if any.
    most
        Windows, at most.
    argument, column
        What errors put before the column: "by=" or "--by "; and the column, if it was one.
    """
    timed = values.dtype.kind == "M"
    if np.isnat(values).any() if timed else any(is_missing(value) for value in values.tolist()):
        raise InputError(f"{_asked(argument, column, period)} holds a missing value; every row needs its window.")
    if period is not None:
        dates = _dates(values)
        if dates is None:
            raise InputError(
                f"{argument}{column}:{period}: the column does not hold dates. Write them as 2026-01-31, or leave out"
                f" {period!r}."
            )
        values = _periods(dates, period)
    elif timed:
        values = np.datetime_as_string(values, unit="auto")
    count = len(distinct_labels(np.asarray(values))[0])
    if count < 2:
        raise InputError(f"{_asked(argument, column, period)} holds one value only, {values.tolist()[0]!r}; leave it out.")
    if count > most:
        raise InputError(
            f"{_asked(argument, column, period)} makes {count:,} windows, and at most {most:,} are compared in one call."
            f" {_coarser(values, most, argument, column)}"
        )
    return values


PERIODS = {"day": "D", "week": "W", "month": "M", "quarter": "Q", "year": "Y"}
"""By which dates are grouped, and what pandas calls them; the shortest first."""

SUGGESTED = 200
"""Windows of the period that an error suggests, at most: more are not read one by one."""

KEY = (1000_01_01, 9999_12_31)
"""Whole numbers that may be dates written without hyphens."""


def _dates(values: np.ndarray[Any, Any]) -> Any:
    """Dates, and times, as pandas has them; None if any value is none."""
    import pandas as pd

    if values.dtype.kind in "iu" and KEY[0] <= values.min() and values.max() <= KEY[1]:
        values = values.astype(str)
    if values.dtype.kind not in "OMUT":
        return None
    given = pd.Series(values.tolist() if values.dtype.kind != "M" else values)
    if not (values.dtype.kind == "M" or all(isinstance(value, (str, date)) for value in given.tolist())):
        return None
    try:
        if all(isinstance(value, str) for value in given.tolist()):
            read = pd.to_datetime(given, format="ISO8601", utc=True)
        else:
            read = pd.to_datetime(given, utc=True)
    except (ValueError, OverflowError, TypeError):
        return None
    return read.dt.tz_localize(None)


def _periods(dates: Any, period: str) -> np.ndarray[Any, Any]:
    """The period of every date, as text that sorts by time."""
    if period == "week":
        parts = dates.dt.isocalendar()
        named = parts["year"].astype(str) + "-W" + parts["week"].astype(str).str.zfill(2)
    else:
        named = dates.dt.to_period(PERIODS[period]).astype(str)
    return np.asarray(named.tolist())


def _asked(argument: str, column: str, period: str | None) -> str:
    """The argument as the user writes it."""
    asked = column if period is None else f"{column}:{period}"
    if argument.startswith("-"):
        return f"{argument}{asked}"
    return f"{argument}{asked!r}" if column else argument.rstrip("=")


def _coarser(values: np.ndarray[Any, Any], most: int, argument: str, column: str) -> str:
    """How to get fewer windows, as a sentence: by the shortest period that makes few enough, if the values are dates."""
    dates = _dates(values)
    for period in PERIODS if dates is not None else ():
        count = len(set(_periods(dates, period).tolist()))
        if count <= min(most, SUGGESTED):
            told = f"Group the dates by a period: {_asked(argument, column, period)} makes {count:,}."
            return told if column else f"Give periods instead of dates, for example {period}s, of which there are {count:,}."
    return "Give fewer values."


def _rows(given: Given, rows: IntArray) -> Given:
    return Given(*(None if each is None else _taken(each, rows) for each in (given.x, given.y, given.weight)))


def _taken(data: Any, rows: IntArray) -> Any:
    import narwhals as nw

    held = nw.from_native(data, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(held, (nw.DataFrame, nw.Series)):
        return held[rows.tolist()].to_native()
    return np.asarray(data)[rows]


def _in_columns(data: Any, known: Features) -> Any:
    """A frame with the columns of the reference, in their order; an array as it is."""
    import narwhals as nw

    frame = read_frame(data, "X")
    if not isinstance(frame, nw.DataFrame) or isinstance(known.native, np.ndarray):
        return data
    names = [str(name) for name in frame.columns]
    lacks = [name for name in known.names if name not in names]
    extra = [name for name in names if name not in known.names]
    if lacks:
        raise InputError(f"X lacks {listed(lacks)}, which the reference has; give every window the same columns.")
    if extra:
        raise InputError(f"X has {listed(extra)}, which the reference does not have; give every window the same columns.")
    if names == list(known.names):
        return data
    place = dict(zip(names, frame.columns, strict=True))
    return frame.select([place[name] for name in known.names]).to_native()


def _unseen(data: Any, known: Features, j: int) -> Sequence[Any]:
    """Values of a column that are none of its categories in the reference."""
    import narwhals as nw

    frame, column = read_frame(data, "X"), known.columns[j]
    if isinstance(frame, nw.DataFrame):
        held = frame[frame.columns[j]].unique().to_list()
    else:
        held = np.unique(np.asarray(data)[:, j]).tolist()
    seen = set(column.categories)
    return in_order(value for value in plain(held) if value not in seen)


def _kind(column: Column) -> str:
    return "categories" if column.holds == "category" else "numbers"


def _repeated(label: Any, rows: int, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """One label for every row, of the type of the others."""
    values = np.empty(rows, dtype=like.dtype)
    values[:] = label
    return values


Losses = Callable[[IntArray, FloatArray], FloatArray]
"""Of rows of the reference at places: the losses that the model has there."""


def losses_at(reference: Reference, columns: tuple[Column, ...]) -> Losses:
    """The losses of reference rows that were moved; `columns` have all categories that occur in any window."""
    features = replace(reference.case.features, columns=columns)

    def losses(rows: IntArray, places: FloatArray) -> FloatArray:
        moved = read_features(features.native_at(rows, places), _categories(columns))
        margins = reference.judged(replace(moved, vanishing=features.vanishing), reference.y[rows])
        return margins.loss.value(margins.values)

    return losses


def _categories(columns: Sequence[Column]) -> dict[str, Sequence[Any]]:
    return {column.name: column.categories for column in columns if column.holds == "category"}
