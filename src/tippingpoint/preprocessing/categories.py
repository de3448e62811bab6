"""Categories that a model itself knows: XGBoost, LightGBM and HistGradientBoosting are trained on them without an encoder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from tippingpoint.data.columns import is_missing, plain
from tippingpoint.data.frames import column_names, unknown_category
from tippingpoint.errors import InputError, listed
from tippingpoint.foreign import is_module, is_of

UNNAMED = "Column_{}"
"""What LightGBM calls columns that had no names."""


@dataclass(frozen=True)
class NativeCategories:
    """What a model knows of its columns of categories.

    Attributes
    ----------
    by_column
        The categories, in the order of their codes.
    typed
        Columns that it takes as pandas' categories of these values: text would be refused, numbers be read as codes.
    nameless
        Columns of categories of which it knows the codes only.
    closed
        Whether it fails on values that it does not know; others take them as missing.
    text
        Columns that it takes as text.
    """

    by_column: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    typed: frozenset[str] = frozenset()
    nameless: frozenset[str] = frozenset()
    closed: bool = False
    text: frozenset[str] = frozenset()


def native_categories(model: Any, names: Sequence[str]) -> NativeCategories:
    """The categories that a single model knows; `names` are those of the data, for a model that has none."""
    booster = booster_in(model)
    if booster is None:
        return _of_histograms(model, names)
    return _of_xgboost(booster, names) if is_of(booster, "xgboost", "Booster") else _of_lightgbm(booster, names)


def booster_in(model: Any) -> Any:
    """The booster behind a fitted estimator of XGBoost or LightGBM, or out of a file; None where there is none."""
    model = getattr(model, "source", model)  # as booster estimators wrap them
    if is_booster(model):
        return model
    wrapped = is_of(model, "xgboost", "XGBModel") or is_of(model, "lightgbm", "LGBMModel")
    if not wrapped or not model.__sklearn_is_fitted__():
        return None
    return model.get_booster() if hasattr(model, "get_booster") else model.booster_


def booster_names(booster: Any, columns: Iterable[str] = ()) -> tuple[str, ...] | None:
    """The columns that a booster was trained on, as those of the data are written; None where they had no names."""
    if is_of(booster, "xgboost", "Booster"):
        return None if booster.feature_names is None else tuple(booster.feature_names)
    names = tuple(booster.feature_name())
    return None if names == tuple(UNNAMED.format(j) for j in range(len(names))) else as_written(names, columns)


def as_written(names: Sequence[str], columns: Iterable[str]) -> tuple[str, ...]:
    """Names of LightGBM, which keeps spaces as underscores, as the columns of the data are written."""
    known = list(map(str, columns))
    spaced = {re.sub(r"\s", "_", column): column for column in known}
    return tuple(name if name in known else spaced.get(name, name) for name in names)


def is_booster(model: Any) -> bool:
    """Whether a model is a Booster of XGBoost or LightGBM itself; neither library is imported to find out."""
    return is_of(model, "xgboost", "Booster") or is_of(model, "lightgbm", "Booster")


def as_trained(data: Any, known: NativeCategories) -> Any:
    """A pandas frame whose columns of categories are of the type, and hold the values, that a model was trained on.

    Values that the model does not know stay, as categories after those that it knows, if it takes them at all. Other columns
    of categories hold the model's own values: the text '3' where a file has the number 3.
    """
    import pandas as pd

    for name in sorted(known.nameless.intersection(map(str, data.columns))):
        if data[name].dtype.kind not in "biuf" and not isinstance(data[name].dtype, pd.CategoricalDtype):
            raise InputError(
                f"{name!r} holds text, but the model stores no names of its categories, only their codes; save it with a newer"
                " XGBoost (3.1 or later), or give the codes."
            )
    made = {
        name: _categorical(data[name], known.by_column[name], closed=known.closed)
        for name in known.typed.intersection(map(str, data.columns))
        if not isinstance(data[name].dtype, pd.CategoricalDtype)
    }
    for name in sorted((known.by_column.keys() | known.text) - known.typed):
        if name in data.columns:
            made |= _replaced(data[name], known.by_column.get(name, ()), text=name in known.text)
    return data.assign(**made) if made else data


def _replaced(column: Any, values: Sequence[Any], *, text: bool) -> dict[str, Any]:
    """A column, by its name, with a model's own values in place of those that are written alike; nothing if it holds them."""
    if column.dtype.kind in "iuf" and not text:
        return {}
    written = {str(value): value for value in values}
    held = {value: own_value(value, values, written) for value in plain(column.unique())}
    if text:
        held = {value: own if isinstance(own, str) else _as_text(own) for value, own in held.items()}
    if all(value == own for value, own in held.items()):
        return {}
    return {column.name: column.astype(object).map(held, na_action="ignore")}


def _as_text(value: Any) -> str:
    """A value as a file has it; a whole number has no decimals, though a column with missing values stores it as a float."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _categorical(column: Any, values: Sequence[Any], *, closed: bool) -> Any:
    """A column as categories: those of the model, and any others of the data after them."""
    import pandas as pd

    written = {str(value): value for value in values}
    held = {value: own_value(value, values, written) for value in plain(column.unique())}
    others = [value for value in dict.fromkeys(held.values()) if value not in set(values)]
    if others and closed:
        row = next(row for row, value in column.items() if held.get(value) == others[0])
        raise unknown_category(row, str(column.name), others[0], values)
    meant = [None if is_missing(value) else held[value] for value in column.tolist()]
    return pd.Series(pd.Categorical(meant, categories=[*values, *others]), index=column.index)


def own_value(value: Any, values: Sequence[Any], written: Mapping[str, Any]) -> Any:
    """A value of the data as the model's own: a file has the number 3 where the model knows the text '3', or 3.0."""
    if value in values:
        return value
    return written.get(str(value), written.get(_as_text(value), value))


def _of_xgboost(booster: Any, names: Sequence[str]) -> NativeCategories:
    kinds = booster.feature_types or []
    columns = [j for j, kind in enumerate(kinds) if kind == "c"]
    if not columns:
        return NativeCategories()
    named = booster.feature_names or names
    if len(named) != len(kinds):
        return NativeCategories()
    stored = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]
    encoded = stored.get("gbtree", stored).get("model", {}).get("cats", {}).get("enc", [])
    values = {named[j]: _texts(encoded[j]) for j in columns if len(encoded) == len(kinds)}
    values = {name: known for name, known in values.items() if known}
    return NativeCategories(values, frozenset(values), frozenset(named[j] for j in columns) - frozenset(values), closed=True)


def _texts(encoded: Mapping[str, Any]) -> tuple[Any, ...]:
    """The names of categories as XGBoost stores them: numbers, or bytes cut at offsets."""
    if "offsets" not in encoded:
        return tuple(encoded["values"])
    letters, offsets = np.array(encoded["values"], dtype=np.int64).astype(np.uint8).tobytes(), encoded["offsets"]
    return tuple(letters[begin:end].decode() for begin, end in pairwise(offsets))


def _of_lightgbm(booster: Any, names: Sequence[str]) -> NativeCategories:
    """Columns of categories are those whose values are listed (`0:2:1`); pandas' own are listed in their order besides."""
    named = booster_names(booster, names) or tuple(names)
    infos = lightgbm_header(booster).get("feature_infos", "").split()
    if len(infos) != len(named):
        return NativeCategories()
    listed = [j for j, info in enumerate(infos) if not info.startswith("[") and info != "none"]
    lists = booster.pandas_categorical or []
    if not lists:
        codes = {named[j]: tuple(sorted(int(code) for code in infos[j].split(":") if int(code) >= 0)) for j in listed}
        return NativeCategories(codes)
    if len(listed) != len(lists):  # a column that no tree could use is "none", whatever it holds
        listed = [j for j, info in enumerate(infos) if not info.startswith("[")]
    if len(listed) != len(lists):
        return NativeCategories()
    values = {named[j]: tuple(plain(known)) for j, known in zip(listed, lists, strict=True)}
    return NativeCategories(values, frozenset(values))


def lightgbm_header(booster: Any) -> dict[str, str]:
    """What LightGBM writes above the trees of a model, by name."""
    head = booster.model_to_string(num_iteration=1).partition("\nTree=")[0]
    return dict(line.split("=", 1) for line in head.splitlines() if "=" in line)


def _of_histograms(model: Any, names: Sequence[str]) -> NativeCategories:
    """HistGradientBoosting has an encoder of its own in front, which compares values: text has to be text."""
    chosen, inner = getattr(model, "is_categorical_", None), getattr(model, "_preprocessor", None)
    if chosen is None or inner is None or not hasattr(inner, "named_transformers_"):
        return NativeCategories()
    named = [str(name) for name in getattr(model, "feature_names_in_", names)]
    columns = np.flatnonzero(np.asarray(chosen, dtype=bool))
    known = getattr(inner.named_transformers_.get("encoder"), "categories_", ())
    if len(known) != len(columns) or len(named) != len(chosen):
        return NativeCategories()
    values = {named[j]: tuple(plain(each)) for j, each in zip(columns, known, strict=True)}
    return NativeCategories(values, frozenset(name for name, each in values.items() if any(isinstance(v, str) for v in each)))


def by_position(model: Any, data: Any) -> str | None:
    """A note where data have names of columns and the model has none; None where it has, or where there is nothing to match."""
    named = column_names(data)
    if not named or named == [str(j) for j in range(len(named))] or not _takes_columns_by_position(model):
        return None
    return f"the model names no columns, so those of X are its own in the order in which they stand: {listed(named)}"


def _takes_columns_by_position(model: Any) -> bool:
    """Whether a model takes columns by their place alone; of a function nobody knows."""
    booster = booster_in(model)
    if booster is not None:
        return booster_names(booster) is None
    if isinstance(model, (tuple, list)) or is_module(model):
        return True
    if is_of(model, "catboost", "CatBoost"):  # it numbers columns that had no names
        names = list(model.feature_names_) if model.is_fitted() else []
        return names == [str(j) for j in range(len(names))]
    if hasattr(model, "by_position"):  # a model of ours says so itself
        return bool(model.by_position)
    return hasattr(model, "n_features_in_") and not hasattr(model, "feature_names_in_")
