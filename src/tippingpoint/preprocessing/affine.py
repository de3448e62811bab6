"""Affine preprocessing, folded into the coefficients of the linear model behind it.

If a step maps `x` to `x ⊙ scale + shift`, the score `βᵀ(x ⊙ scale + shift) + b` is linear in `x` again. So distances are
measured in the columns that the user gave, not in those the model happens to see. Encoders of categories contribute nothing
here: what a category is worth is asked of the pipeline itself (`tippingpoint.preprocessing.encoders`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.data.columns import is_missing


class NotAffineError(Exception):
    """A preprocessing step is not an affine map that is known here."""


Folded = tuple[FloatArray, FloatArray]


def fold(steps: Sequence[Any], coef: FloatArray, intercept: FloatArray, names: Sequence[str] | None) -> Folded:
    """The coefficients `(K, d)` and intercepts `(K,)` in the columns before all the steps."""
    for position, step in reversed(list(enumerate(steps))):
        coef, intercept = _fold_step(step, coef, intercept, names if position == 0 else None)
    return coef, intercept


def _fold_step(step: Any, coef: FloatArray, intercept: FloatArray, names: Sequence[str] | None) -> Folded:
    if step is None or step == "passthrough":
        return coef, intercept
    for known, folding in FOLDINGS:
        if known(step):
            return folding(step, coef, intercept, names)
    raise NotAffineError(f"its step {type(step).__name__} is not an affine map known here")


def _has(*attributes: str) -> Callable[[Any], bool]:
    return lambda step: all(hasattr(step, attribute) for attribute in attributes)


def _scaled(coef: FloatArray, intercept: FloatArray, scale: Any, shift: Any) -> Folded:
    """Fold `x ⊙ scale + shift`."""
    return coef * scale, intercept + (coef * np.broadcast_to(shift, coef.shape)).sum(axis=1)


def _standard(step: Any, coef: FloatArray, intercept: FloatArray, names: Sequence[str] | None) -> Folded:
    scale = 1.0 if step.scale_ is None else 1.0 / np.asarray(step.scale_)
    mean = 0.0 if step.mean_ is None or not step.with_mean else np.asarray(step.mean_)
    return _scaled(coef, intercept, scale, -mean * scale)


def _robust(step: Any, coef: FloatArray, intercept: FloatArray, names: Sequence[str] | None) -> Folded:
    scale = 1.0 if step.scale_ is None else 1.0 / np.asarray(step.scale_)
    centre = 0.0 if step.center_ is None else np.asarray(step.center_)
    return _scaled(coef, intercept, scale, -centre * scale)


def _min_max(step: Any, coef: FloatArray, intercept: FloatArray, names: Sequence[str] | None) -> Folded:
    if step.clip:
        raise NotAffineError("its step MinMaxScaler(clip=True) cuts values off; fit it with clip=False")
    return _scaled(coef, intercept, np.asarray(step.scale_), np.asarray(step.min_))


def _max_abs(step: Any, coef: FloatArray, intercept: FloatArray, names: Sequence[str] | None) -> Folded:
    if getattr(step, "clip", False):
        raise NotAffineError("its step MaxAbsScaler(clip=True) cuts values off; fit it with clip=False")
    return _scaled(coef, intercept, 1.0 / np.asarray(step.scale_), 0.0)


def _identity(step: Any, coef: FloatArray, intercept: FloatArray, names: Sequence[str] | None) -> Folded:
    return coef, intercept


def _selected(step: Any, coef: FloatArray, intercept: FloatArray, names: Sequence[str] | None) -> Folded:
    support = np.asarray(step.get_support())
    wide = np.zeros((len(coef), len(support)))
    wide[:, support] = coef
    return wide, intercept


def _components(step: Any, coef: FloatArray, intercept: FloatArray, names: Sequence[str] | None) -> Folded:
    wide = coef / np.sqrt(step.explained_variance_) if step.whiten else coef
    part = np.asarray(wide @ step.components_)
    return part, intercept - part @ np.asarray(step.mean_)


def _imputed(step: Any, coef: FloatArray, intercept: FloatArray, names: Sequence[str] | None) -> Folded:
    """What is not missing stays as it is; indicators come after all columns."""
    kept = imputed_columns(step)
    wide = np.zeros((len(coef), len(step.statistics_)))
    wide[:, kept] = coef[:, : len(kept)]
    return wide, intercept


def imputed_columns(step: Any) -> IntArray:
    """The columns that an imputer keeps; those in which everything was missing are dropped."""
    empty = np.array([is_missing(value) for value in step.statistics_])
    return np.flatnonzero(~empty | bool(getattr(step, "keep_empty_features", False)))


def _encoded(step: Any, coef: FloatArray, intercept: FloatArray, names: Sequence[str] | None) -> Folded:
    return np.zeros((len(coef), step.n_features_in_)), intercept


def _nested(step: Any, coef: FloatArray, intercept: FloatArray, names: Sequence[str] | None) -> Folded:
    return fold([inner for _, inner in step.steps], coef, intercept, names)


def _columns(step: Any, coef: FloatArray, intercept: FloatArray, names: Sequence[str] | None) -> Folded:
    given = list(getattr(step, "feature_names_in_", [])) or list(names or [])
    wide = np.zeros((len(coef), step.n_features_in_))
    for name, inner, chosen in step.transformers_:
        columns = positions(chosen, given, step.n_features_in_)
        if (isinstance(inner, str) and inner == "drop") or not len(columns):
            continue
        inner_names = [given[j] for j in columns] if given else None
        part, intercept = _fold_step(inner, coef[:, step.output_indices_[name]], intercept, inner_names)
        np.add.at(wide.T, columns, part.T)
    return wide, intercept


def positions(chosen: Any, given: Sequence[str], width: int) -> IntArray:
    """Column positions of a ColumnTransformer's entry: names, numbers, a slice or a mask."""
    if callable(chosen):
        raise NotAffineError("its ColumnTransformer chooses columns by a function that was not resolved; fit it first")
    if isinstance(chosen, slice) and not any(isinstance(end, str) for end in (chosen.start, chosen.stop)):
        return np.arange(width, dtype=np.intp)[chosen]
    if isinstance(chosen, slice):
        start = 0 if chosen.start is None else given.index(chosen.start)
        stop = width if chosen.stop is None else given.index(chosen.stop) + 1
        return np.arange(start, stop, dtype=np.intp)
    listed = np.atleast_1d(np.asarray(chosen))
    if listed.dtype == bool:
        return np.flatnonzero(listed)
    if listed.dtype.kind in "iu":
        return np.asarray(listed % width, dtype=np.intp)
    return np.array([given.index(str(name)) for name in listed], dtype=np.intp)


FOLDINGS: list[tuple[Callable[[Any], bool], Callable[..., Folded]]] = [
    (_has("transformers_", "output_indices_"), _columns),
    (_has("steps"), _nested),
    (_has("mean_", "scale_", "with_mean"), _standard),
    (_has("center_", "scale_"), _robust),
    (_has("data_min_", "scale_", "min_"), _min_max),
    (_has("max_abs_", "scale_"), _max_abs),
    (_has("get_support"), _selected),
    (_has("components_", "mean_", "whiten", "explained_variance_"), _components),
    (_has("statistics_", "indicator_"), _imputed),
    (_has("categories_"), _encoded),
    (lambda step: hasattr(step, "func") and step.func is None, _identity),
]
"""The registry: a new affine step is a function above and a line here; a wrong fold is caught by the trial."""
