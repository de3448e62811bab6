"""Encoders of categories inside a user's pipeline: which raw columns they read, and what every category is worth.

A linear model behind encoders and affine steps is additive: each raw column contributes on its own. So the pipeline is asked
once for a sample with each of its categories in turn, whatever encoder it has, and the tables of contributions are exact.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.data.columns import plain
from tippingpoint.data.frames import Features
from tippingpoint.errors import InputError, ModelError
from tippingpoint.foreign import guarded, is_module, is_of
from tippingpoint.preprocessing.affine import NotAffineError, imputed_columns, positions
from tippingpoint.preprocessing.categories import NativeCategories, native_categories
from tippingpoint.preprocessing.modules import steps_and_last, unwrapped

TRIAL_ROWS = 16
"""Rows, evenly spread, among which one is looked for that a pipeline does not fail on."""


TEXT_TOLERANCE = 1e-9
"""By how much answers may differ of a model that takes text as the number that it is."""


def encoded_columns(model: Any, names: Sequence[str]) -> dict[str, list[Any]]:
    """The raw columns that a model, or the pipeline in front of it, reads as categories, and the categories that it knows."""
    model = unwrapped(model)
    if is_module(model):
        return {}
    width = int(getattr(model, "n_features_in_", None) or 0)  # CatBoost's is None before it is fitted
    given = [str(name) for name in getattr(model, "feature_names_in_", ())] or list(names) or [f"x{j}" for j in range(width)]
    found: dict[str, list[Any]] = {}
    _collect(_flat(model), given, found)
    return found


def taken_as_text(model: Any, given: Any, read: Any, names: Sequence[str]) -> tuple[tuple[str, ...], int]:
    """Of columns of numbers stored as text or categories, those that a model takes as such; and the rows it was asked about.

    A model that takes them as numbers answers the same for the numbers themselves.

    Parameters
    ----------
    model
        As the user has it.
    given, read
        Some rows as the user gave them, and the same with numbers in these columns.
    names
        The columns.
    """
    import narwhals as nw

    own = _categories_of_catboost(model, names)
    names = [name for name in names if name not in own]
    ask = _answers(unwrapped(model))
    if ask is None or not names:
        return own, 0
    text, numbers = ask(given), ask(read)
    asked = 2 * len(given)
    if text is None or _same_answers(text, numbers):  # of a model that takes neither, its family says why
        return own, asked
    asked += len(given)
    if not _same_answers(text, ask(given)):  # noise hides what the model makes of the column
        return own, asked
    if len(names) == 1:
        return (*own, *names), asked
    frame, converted = (nw.from_native(rows, eager_only=True) for rows in (given, read))
    found = []
    for name in names:
        one = frame.with_columns(next(series for series in converted.iter_columns() if str(series.name) == name))
        asked += len(given)
        if not _same_answers(text, ask(one.to_native())):
            found.append(name)
    return (*own, *found), asked


def _categories_of_catboost(model: Any, names: Sequence[str]) -> tuple[str, ...]:
    """The columns that CatBoost itself takes as categories: it predicts the same for the text '2' and the number 2."""
    steps, last = steps_and_last(unwrapped(model))
    if steps is not None or not is_of(last, "catboost", "CatBoost") or not last.is_fitted():
        return ()
    known = {str(last.feature_names_[j]) for j in last.get_cat_feature_indices()}
    return tuple(name for name in names if name in known)


def _answers(model: Any) -> Callable[[Any], Any] | None:
    """A model's scores, or what else it answers, of some rows; None where it fails. None of a model of numbers alone."""
    steps, last = steps_and_last(model)
    if is_module(last):
        method = None if steps is None else steps.transform
    else:
        methods = (getattr(model, name, None) for name in ("decision_function", "predict_proba", "predict"))
        method = next((each for each in methods if each is not None), model if callable(model) else None)
    if method is None:
        return None

    def ask(rows: Any) -> Any:
        try:
            with guarded(ModelError), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = method(rows)
                return np.asarray(found.toarray() if hasattr(found, "toarray") else found)
        except ModelError:
            return None

    return ask


def _same_answers(first: Any, second: Any) -> bool:
    if first is None or second is None or first.shape != second.shape:
        return False
    if first.dtype.kind in "biuf" and second.dtype.kind in "biuf":
        return bool(np.allclose(first, second, rtol=TEXT_TOLERANCE, atol=TEXT_TOLERANCE, equal_nan=True))
    return bool(np.array_equal(first, second))


def known_categories(model: Any, names: Sequence[str]) -> NativeCategories:
    """What a model, or the pipeline in front of it, knows of columns of categories, for data out of a file."""
    steps, last = steps_and_last(unwrapped(model))
    native = NativeCategories() if steps is not None else native_categories(last, names)
    if not native.by_column and not native.nameless:
        native = replace(native, by_column={name: tuple(values) for name, values in encoded_columns(model, names).items()})
    text = {name for name, values in native.by_column.items() if values and all(isinstance(value, str) for value in values)}
    return replace(native, text=frozenset(text.union(getattr(model, "text_columns", ()))))


def _collect(steps: Sequence[Any], names: Sequence[str], found: dict[str, list[Any]]) -> None:
    """Follow the columns until something else than an imputer changes them."""
    filled: set[Any] = set()
    for step in steps:
        if hasattr(step, "transformers_"):
            _collect_columns(step, names, found)
            return
        if hasattr(step, "categories_") and not hasattr(step, "predict"):
            for name, values in zip(names, step.categories_, strict=False):  # after them come indicators of what was missing
                found[name] = [value for value in plain(values) if value not in filled]
            return
        native = native_categories(step, names).by_column
        if native:
            found.update({name: list(values) for name, values in native.items()})
            return
        if hasattr(step, "statistics_"):
            names = [names[j] for j in imputed_columns(step)]
            if step.strategy == "constant":
                filled |= {value for value in plain(step.statistics_) if isinstance(value, str)}
        elif step is not None and not isinstance(step, str):
            return


def _collect_columns(step: Any, names: Sequence[str], found: dict[str, list[Any]]) -> None:
    """The same inside a ColumnTransformer."""
    for _, inner, chosen in step.transformers_:
        try:
            columns = [names[j] for j in positions(chosen, names, len(names))]
        except (NotAffineError, ValueError, IndexError):
            continue  # columns that the data do not have; the model itself says so
        if not isinstance(inner, str):
            _collect(_flat(inner), columns, found)


def _flat(model: Any) -> list[Any]:
    """The steps of a pipeline, those of pipelines inside it among them."""
    return [inner for _, step in model.steps for inner in _flat(step)] if hasattr(model, "steps") else [model]


def contributions(
    steps: Any, coef: FloatArray, slopes: FloatArray, features: Features, *, gaps_are_zero: bool = False
) -> tuple[FloatArray, Mapping[int, FloatArray], Mapping[int, FloatArray]]:
    """What is constant in the scores, and what every category, or a missing number, of each column contributes.

    Parameters
    ----------
    steps
        The fitted pipeline without its last step.
    coef
        `(K, m)` coefficients of the last step.
    slopes
        `(K, d)` coefficients of the columns of numbers.
    features
        The data.
    gaps_are_zero
        Whether the last step takes missing values, and predicts as if they were 0.

    Returns
    -------
    constant
        `(K,)`, without the intercept.
    tables
        By column of categories: `(K, C + 1)`, the last for what is missing.
    missing
        By column of numbers in which something is missing: `(K,)`.
    """
    start = whole_row(features)
    places = category_places(features)
    rows = np.tile(start, (len(places) + 1, 1))
    for row, (j, value) in zip(rows[1:], places, strict=True):
        row[j] = value
    seen: Any = transformed(steps, features, np.zeros(len(rows), dtype=np.intp), rows)
    seen = seen.tocsr() if hasattr(seen, "toarray") else np.asarray(seen, dtype=float)
    if gaps_are_zero:
        if hasattr(seen, "toarray"):
            seen.data = np.where(np.isnan(seen.data), 0.0, seen.data)
        else:
            seen = np.where(np.isnan(seen), 0.0, seen)
    scores = np.asarray(seen @ coef.T, dtype=float)
    constant = scores[0].copy()
    tables: dict[int, FloatArray] = {}
    missing: dict[int, FloatArray] = {}
    for j, column in enumerate(features.columns):
        if column.holds == "category":
            tables[j] = np.zeros((len(coef), len(column.categories) + 1))
        elif not np.isnan(start[j]):
            constant -= slopes[:, j] * start[j]
    for (j, value), score in zip(places, scores[1:], strict=True):
        if np.isnan(score).any():
            _check_unheld(features, j, value)
        elif j in tables:
            tables[j][:, -1 if np.isnan(value) else int(value)] = score - scores[0]
        else:
            missing[j] = score - scores[0] + slopes[:, j] * np.nan_to_num(start[j])
    return constant, tables, missing


def stumbling_block(steps: Any, features: Features) -> str:
    """In words: the category, or the gap, on which a pipeline fails, and where it stands."""
    trial = np.linspace(0, len(features.x) - 1, min(TRIAL_ROWS, len(features.x))).astype(int).tolist()
    for works in [i for i in trial if not _fails(steps, features, i, features.x[i])][:1]:
        for j, value in category_places(features):
            row = features.x[works].copy()
            row[j] = value
            if _fails(steps, features, works, row):
                column, held = features.columns[j], np.flatnonzero(_holds(features.x[:, j], value))
                where = f"X[{features.index[int(held[0])]!r}, {column.name!r}]" if len(held) else f"a row with {column.name!r}"
                return f"{where}={column.label(value)!r}"
    return "rows of X"


def _fails(steps: Any, features: Features, like: int, row: FloatArray) -> bool:
    try:
        with guarded(ModelError):
            transformed(steps, features, np.array([like]), row[None])
    except ModelError:
        return True
    return False


def transformed(steps: Any, features: Features, rows: IntArray, x: FloatArray) -> Any:
    """What comes out of the pipeline for these rows of the data, with the values of `x` in place of their own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # categories that the encoder does not know are its own affair
        return steps.transform(features.native_at(rows, x))


def _holds(column: FloatArray, value: float) -> BoolArray:
    return np.asarray(np.isnan(column) if np.isnan(value) else column == value)


def _check_unheld(features: Features, j: int, value: float) -> None:
    """Refuse data in which a value stands of which the pipeline makes nothing."""
    held = np.flatnonzero(_holds(features.x[:, j], value))
    if not len(held) and np.isnan(value):
        raise InputError(
            f"missing[{features.names[j]!r}]: the model does not impute it; leave it out of the space, or impute it in the"
            " pipeline."
        )
    if len(held):
        column, row = features.columns[j], features.index[int(held[0])]
        cell = f"X[{row!r}, {column.name!r}]"
        if np.isnan(value):
            raise InputError(f"{cell} is missing, and the model does not impute it; impute or drop the row.")
        raise InputError(f"{cell}={column.label(value)!r} is nothing to the model's encoder; drop the row, or encode it.")


def category_places(features: Features) -> list[tuple[int, float]]:
    """What is to be asked, by column: every category, and what is missing."""
    places: list[tuple[int, float]] = []
    for j, column in enumerate(features.columns):
        places += [(j, float(k)) for k in range(len(column.categories))]
        places += [(j, np.nan)] if features.missing[j] else []
    return places


def whole_row(features: Features) -> FloatArray:
    """The first row, its gaps filled with what other rows hold."""
    row = np.array(features.x[0])
    for j in np.flatnonzero(np.isnan(row)):
        held = features.x[~np.isnan(features.x[:, j]), j]
        row[j] = held[0] if len(held) else np.nan
    return row
