"""What every column that comes out of scikit-learn's preprocessing is made of, step by step.

Trees split on one column at a time. As long as each is a function of one raw column, so is every split. Steps are known by
their classes, and by those of scikit-learn only: what a class of another's does to columns, nobody here knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, IntArray
from tippingpoint.data.columns import is_missing
from tippingpoint.preprocessing.affine import imputed_columns, positions

RISING = ("exp", "expm1", "exp2", "cbrt", "arcsinh", "arctan", "tanh", "floor", "ceil", "rint", "trunc", "sign")
"""Functions of NumPy that fall nowhere."""

PARTIAL = ("log", "log1p", "log2", "log10", "sqrt")
"""Those that rise where they are numbers at all, which is from some number on."""


class MixedColumnsError(Exception):
    """A preprocessing step is not known to make every column of a single one; the message says which."""


@dataclass(frozen=True)
class Trace:
    """Columns somewhere in a pipeline.

    Attributes
    ----------
    source
        `(m,)` the raw column that each is a function of.
    rises
        `(m,)` +1 where it never falls as the raw number rises, -1 where it never rises, 0 where that is not known.
    partial
        `(m,)` whether it may be missing where the raw number is not.
    names
        Of the columns, where they still are those of the raw data.
    """

    source: IntArray
    rises: IntArray
    partial: BoolArray
    names: tuple[str, ...] | None = None

    def take(self, columns: IntArray) -> Trace:
        """Some columns, in this order."""
        names = None if self.names is None else tuple(self.names[j] for j in columns)
        return Trace(self.source[columns], self.rises[columns], self.partial[columns], names)

    def turned(self, by: Any) -> Trace:
        """What becomes of them by functions that rise or fall as this number, or each of these, is positive or negative."""
        return replace(self, rises=self.rises * np.where(np.asarray(by) < 0.0, -1, 1), names=None)

    def shuffled(self) -> Trace:
        """What becomes of them by functions that neither rise nor fall."""
        return replace(self, rises=np.zeros_like(self.rises), names=None)


def raw_trace(ordered: BoolArray, names: Sequence[str] | None) -> Trace:
    """The raw columns themselves; `ordered` says which hold numbers."""
    return Trace(
        np.arange(len(ordered), dtype=np.intp),
        ordered.astype(np.intp),
        np.zeros(len(ordered), dtype=bool),
        None if names is None else tuple(names),
    )


def trace(step: Any, columns: Trace) -> Trace:
    """What a fitted step makes of columns on which it works; `MixedColumnsError` where that is not known."""
    if step is None or isinstance(step, str):  # "passthrough"
        return columns
    kind = type(step)
    known = TRACES.get(kind.__name__) if kind.__module__.partition(".")[0] == "sklearn" else None
    if known is None and kind.__module__.startswith("sklearn.") and hasattr(step, "get_support"):
        known = _selected
    if known is None:
        raise MixedColumnsError(f"its step {kind.__name__} may mix columns")
    return known(step, columns)


def _piped(step: Any, columns: Trace) -> Trace:
    for _, inner in step.steps:
        columns = trace(inner, columns)
    return columns


def _chosen(step: Any, columns: Trace) -> Trace:
    """A ColumnTransformer: fitted on a frame and given one, it finds its columns by name, wherever they are."""
    fitted = [str(name) for name in getattr(step, "feature_names_in_", ())]
    weights, parts = step.transformer_weights or {}, []
    for name, inner, chosen in step.transformers_:
        places = positions(chosen, fitted or columns.names or (), step.n_features_in_)
        if (isinstance(inner, str) and inner == "drop") or not len(places):
            continue
        if fitted and columns.names is not None:
            places = np.array([columns.names.index(fitted[j]) for j in places], dtype=np.intp)
        parts.append(trace(inner, columns.take(places)).turned(weights.get(name, 1.0)))
    return _beside(parts, columns)


def _united(step: Any, columns: Trace) -> Trace:
    weights = step.transformer_weights or {}
    kept = [(name, inner) for name, inner in step.transformer_list if not (isinstance(inner, str) and inner == "drop")]
    return _beside([trace(inner, columns).turned(weights.get(name, 1.0)) for name, inner in kept], columns)


def _beside(parts: Sequence[Trace], columns: Trace) -> Trace:
    """Parts side by side."""
    parts = [columns.take(np.zeros(0, dtype=np.intp)), *parts]
    return Trace(
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.rises for part in parts]),
        np.concatenate([part.partial for part in parts]),
    )


def _scaled(step: Any, columns: Trace) -> Trace:
    return columns.turned(1.0 if step.scale_ is None else step.scale_)


def _rising(step: Any, columns: Trace) -> Trace:
    return columns.turned(1.0)


def _selected(step: Any, columns: Trace) -> Trace:
    return columns.take(np.flatnonzero(step.get_support()))


def _imputed(step: Any, columns: Trace) -> Trace:
    filled = _filled(step, columns)
    parts = [filled.take(imputed_columns(step))]
    if step.indicator_ is not None:
        parts.append(_indicated(step.indicator_, columns))
    return _beside(parts, columns)


def _indicated(step: Any, columns: Trace) -> Trace:
    """Whether a value is missing: of a number it never is, which neither rises nor falls."""
    flat = _filled(step, columns)
    return replace(flat, rises=np.abs(flat.rises), names=None).take(np.asarray(step.features_, dtype=np.intp))


def _filled(step: Any, columns: Trace) -> Trace:
    """Numbers stay as they are, unless some of them count as missing."""
    kept = is_missing(step.missing_values) & ~columns.partial
    return replace(columns, rises=np.where(kept, columns.rises, 0), partial=np.zeros_like(columns.partial))


def _one_hot(step: Any, columns: Trace) -> Trace:
    counts = [len(known) for known in step.categories_]
    rare = getattr(step, "infrequent_categories_", None) or [None] * len(counts)
    dropped = [None] * len(counts) if step.drop_idx_ is None else step.drop_idx_
    outputs = [
        count - (len(few) - 1 if few is not None and len(few) else 0) - (gone is not None)
        for count, few, gone in zip(counts, rare, dropped, strict=True)
    ]
    return columns.shuffled().take(np.repeat(np.arange(len(counts), dtype=np.intp), outputs))


def _ordinal(step: Any, columns: Trace) -> Trace:
    return columns.shuffled()


def _target(step: Any, columns: Trace) -> Trace:
    outputs = len(step.classes_) if step.target_type_ == "multiclass" else 1
    return columns.shuffled().take(np.repeat(np.arange(len(step.categories_), dtype=np.intp), outputs))


def _binned(step: Any, columns: Trace) -> Trace:
    if step.encode == "ordinal":
        return columns.turned(1.0)
    return columns.shuffled().take(np.repeat(np.arange(len(step.n_bins_), dtype=np.intp), step.n_bins_))


def _called(step: Any, columns: Trace) -> Trace:
    """A FunctionTransformer: NumPy's functions of single numbers keep columns apart."""
    function = step.func
    if function is None:
        return columns
    single = isinstance(function, np.ufunc) and (function.nin, function.nout) == (1, 1) and function.signature is None
    if not single or step.kw_args:
        name = getattr(function, "__name__", type(function).__name__)
        raise MixedColumnsError(f"its step FunctionTransformer({name}) may mix columns")
    if function is np.negative:
        return columns.turned(-1.0)
    if any(function is getattr(np, name) for name in RISING):
        return columns.turned(1.0)
    if any(function is getattr(np, name) for name in PARTIAL):
        return replace(columns.turned(1.0), partial=np.ones_like(columns.partial))
    return columns.shuffled()


TRACES: dict[str, Callable[[Any, Trace], Trace]] = {
    "Pipeline": _piped,
    "ColumnTransformer": _chosen,
    "FeatureUnion": _united,
    "StandardScaler": _scaled,
    "RobustScaler": _scaled,
    "MinMaxScaler": _scaled,
    "MaxAbsScaler": _scaled,
    "QuantileTransformer": _rising,
    "Binarizer": _rising,
    "PowerTransformer": _rising,
    "SimpleImputer": _imputed,
    "MissingIndicator": _indicated,
    "OneHotEncoder": _one_hot,
    "OrdinalEncoder": _ordinal,
    "TargetEncoder": _target,
    "KBinsDiscretizer": _binned,
    "FunctionTransformer": _called,
}
"""The registry: a new step is a function above and a line here; whoever uses it tries out what it says."""
