"""Encoders of categories inside a user's pipeline: which raw columns they read, and what every category is worth.

A linear model behind encoders and affine steps is additive: each raw column contributes on its own. So the pipeline is asked
once for a sample with each of its categories in turn, whatever encoder it has, and the tables of contributions are exact.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.frames import Features
from tippingpoint.models.affine import NotAffineError, positions


def encoded_columns(model: Any, names: Sequence[str]) -> dict[str, list[Any]]:
    """The raw columns that a pipeline reads as categories, and the categories that it knows."""
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    width = int(getattr(model, "n_features_in_", 0))
    given = [str(name) for name in getattr(model, "feature_names_in_", ())] or list(names) or [f"x{j}" for j in range(width)]
    found: dict[str, list[Any]] = {}
    _collect(steps, given, found)
    return found


def _collect(steps: Sequence[Any], names: Sequence[str], found: dict[str, list[Any]]) -> None:
    """Follow the columns until something else than an imputer changes them."""
    filled: set[Any] = set()
    for step in steps:
        if hasattr(step, "transformers_"):
            for _, inner, chosen in step.transformers_:
                try:
                    columns = [names[j] for j in positions(chosen, names, len(names))]
                except (NotAffineError, ValueError, IndexError):
                    continue
                if not isinstance(inner, str):
                    _collect([s for _, s in inner.steps] if hasattr(inner, "steps") else [inner], columns, found)
            return
        if hasattr(step, "categories_") and not hasattr(step, "predict"):
            for name, values in zip(names, step.categories_, strict=False):
                found[name] = [value for value in np.asarray(values).tolist() if _known(value) and value not in filled]
            return
        if hasattr(step, "statistics_") and getattr(step, "add_indicator", True) is False:
            if step.strategy == "constant":
                filled |= {value for value in np.asarray(step.statistics_, dtype=object).tolist() if isinstance(value, str)}
        elif step is not None and step != "passthrough":
            return


def _known(value: Any) -> bool:
    return value is not None and value == value  # noqa: PLR0124  # NaN is a category to some encoders, and no value


def contributions(
    steps: Any, coef: FloatArray, features: Features
) -> tuple[FloatArray, Mapping[int, FloatArray], Mapping[int, FloatArray]]:
    """What the first row scores, and what every category, or a missing number, of each column adds to that instead.

    Parameters
    ----------
    steps
        The fitted pipeline without its last step.
    coef
        `(K, m)` coefficients of the last step.
    features
        The data.

    Returns
    -------
    base
        `(K,)`, without the intercept.
    tables
        By column of categories: `(K, C + 1)`, the last for what is missing.
    missing
        By column of numbers in which something is missing: `(K,)`.
    """
    start = features.x[:1]
    asked: list[tuple[int, int]] = []
    probes = [start[0]]
    for j, column in enumerate(features.columns):
        options = range(len(column.categories)) if column.holds == "category" else range(0)
        gap = [(j, -1)] if features.missing[j] else []
        for place in [*((j, k) for k in options), *gap]:
            asked.append(place)
            probes.append(start[0].copy())
            probes[-1][j] = np.nan if place[1] < 0 else place[1]
    rows = np.array(probes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # categories that the encoder does not know are its own affair
        seen = steps.transform(features.native_at(np.zeros(len(rows), dtype=np.intp), rows))
    dense = seen.toarray() if hasattr(seen, "toarray") else np.asarray(seen, dtype=float)
    scores = np.asarray(dense @ coef.T, dtype=float)
    added = scores[1:] - scores[0]
    tables: dict[int, FloatArray] = {}
    missing: dict[int, FloatArray] = {}
    for (j, k), change in zip(asked, added, strict=True):
        categories = features.columns[j].categories
        if features.columns[j].holds == "category":
            tables.setdefault(j, np.zeros((len(coef), len(categories) + 1)))[:, k] = change
        else:
            missing[j] = change
    return scores[0], tables, missing
