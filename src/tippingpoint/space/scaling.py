"""Units: how far a feature's own spread is, and a word of warning where columns differ widely and nobody chose one."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, blocks
from tippingpoint.data.frames import Features
from tippingpoint.data.vectors import CHUNK
from tippingpoint.errors import InputError, ScaleWarning, listed
from tippingpoint.space.domain import Domain

SPREAD_RATIO = 100.0
"""Ratio of column spreads from which on one unit for all columns is hardly meant."""

SQUARE_RANGE = 2.0**128
"""Values up to here, and down to its inverse, have squares that are numbers, whatever is done with them."""

SPREAD_ROWS = 5000
"""Rows, evenly spread, on which column spreads are compared before that warning."""

UNITS = {"std": "standard deviations", "mad": "median absolute deviations", "iqr": "interquartile ranges"}
"""Spreads by name, and what distances are then measured in."""

EACH = {1: "column", 2: "coordinate"}
"""What has a spread of its own, by the dimensions of a sample: of a table, of a sequence; in an image, of more, a pixel has."""

SCALES = ("raw", *UNITS)
"""What may be said by name: as it is given, or a spread."""

Scale = str | Mapping[str, float]


def in_units(domain: Domain, features: Features, base: FloatArray, scale: Scale | None) -> Domain:
    """The domain of a table in the units chosen."""
    check_scale(scale, "as {'age': 10}")
    if isinstance(scale, Mapping):
        return domain.scaled(_given(domain, scale), "units of your own")
    if scale == "raw":
        return domain
    if scale is None:
        _warn_if_uneven(domain, features)
        return domain
    spread = deviation(features.x, base) if scale == "std" else np.ones(len(domain.names))
    steps = {int(menu.columns[0]): menu.along(features.x) for menu in domain.menus if menu.metric}
    for j, column in steps.items():
        spread[j] = (
            deviation(column[:, None], base)[0]
            if scale == "std"
            else quantile_spread(features.column_words(j), column, base, scale)
        )
    for j in domain.free if scale != "std" else ():
        spread[j] = quantile_spread(features.column_words(int(j)), features.x[:, j], base, scale)
    return domain.scaled(spread, UNITS[scale])


def check_scale(scale: Any, example: str) -> None:
    """Refuse what is neither known by name nor a unit for each feature."""
    if not isinstance(scale, Mapping) and scale not in (None, *SCALES):
        known = ", ".join(map(repr, SCALES))
        raise InputError(f"scale={scale!r} is not known; use one of {known}, or a unit for each feature, {example}.")


def _given(domain: Domain, scale: Mapping[str, float]) -> FloatArray:
    spread = np.ones(len(domain.names))
    place = {name: j for j, name in enumerate(domain.names)}
    for name, unit in scale.items():
        if name not in place:
            raise InputError(f"scale names {name!r}, which is not a column; the columns are {listed(domain.names)}.")
        if not (isinstance(unit, Real) and 0.0 < float(unit) < math.inf):
            raise InputError(f"scale[{name!r}]={unit!r} must be a positive number, what one unit of the feature is.")
        if any(place[name] in menu.columns and not menu.metric for menu in domain.menus):
            raise InputError(f"scale[{name!r}]={unit!r}: a switch of categories has no unit; set its price in the space.")
        spread[place[name]] = unit
    return spread


def quantile_spread(name: str, column: FloatArray, base: FloatArray, scale: str) -> float:
    """Interquartile range, or median absolute deviation, of what is not missing."""
    held = ~np.isnan(column)
    values, weights = column[held], base[held]
    if not len(values) or np.ptp(values) == 0.0:
        return 0.0
    low, middle, high = quantiles(values, weights, (0.25, 0.5, 0.75))
    spread = high - low if scale == "iqr" else quantiles(np.abs(values - middle), weights, (0.5,))[0]
    return checked_spread(name, spread, scale)


def checked_spread(name: str, spread: float, scale: str) -> float:
    """A spread by quantiles, which must not be zero where values differ."""
    if spread == 0.0:
        raise InputError(
            f"scale={scale!r}: the {UNITS[scale]} of {name} are 0, since half of its values or more are equal; use 'std', or"
            " give units, as scale={'age': 10}."
        )
    return spread


def quantiles(values: FloatArray, weights: FloatArray, levels: tuple[float, ...]) -> list[float]:
    """Weighted quantiles: where two values serve, their mean."""
    order = np.argsort(values, kind="stable")
    ordered, reached = values[order], np.cumsum(weights[order])
    reached = reached / reached[-1]
    found = []
    for level in levels:
        first = int(np.searchsorted(reached, level * (1.0 - 1e-12)))
        after = min(first + 1, len(ordered) - 1) if abs(reached[first] - level) <= 1e-12 else first
        found.append(0.5 * float(ordered[first] + ordered[after]))
    return found


def _warn_if_uneven(domain: Domain, features: Features) -> None:
    sampled = features.x[:: -(-len(features.x) // SPREAD_ROWS), domain.free]
    if not sampled.size:
        return
    spread = deviation(sampled, np.full(len(sampled), 1.0 / len(sampled)))
    with np.errstate(over="ignore"):
        prices = np.where(spread > 0.0, spread * np.sqrt(domain.price[domain.free]), math.nan)
    if np.isfinite(prices).any():
        wide, narrow = int(np.nanargmax(prices)), int(np.nanargmin(prices))
        if prices[wide] / prices[narrow] > SPREAD_RATIO:
            first, second = (features.column_words(int(domain.free[k])) for k in (wide, narrow))
            warn_of_scale(first, second, prices[wide] / prices[narrow], EACH.get(len(features.shape), "pixel"))


def warn_of_scale(wide: str, narrow: str, ratio: float, each: str) -> None:
    """Warn that one unit for all is hardly meant; `each` is the word for what has a spread of its own."""
    warnings.warn(
        f"a standard deviation of {wide} is {ratio:,.0f} times as far as one of {narrow}; pass scale='std' to measure each"
        f" {each} in its own, Space(price=...) to price them yourself, or scale='raw' if this is meant.",
        ScaleWarning,
        stacklevel=_outside(),
    )


def _outside() -> int:
    """The stack level of the user's own line, seen from a function that warns."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("tippingpoint"):
        frame, level = frame.f_back, level + 1
    return level


def deviation(x: FloatArray, base: FloatArray) -> FloatArray:
    """Weighted standard deviation of what is not missing of every column, exactly zero for a constant one."""
    low, high = np.fmin.reduce(x, axis=0), np.fmax.reduce(x, axis=0)
    size = np.fmax(np.abs(low), np.abs(high))
    extreme = np.isfinite(size) & (size > 0.0) & ((size > SQUARE_RANGE) | (size < 1.0 / SQUARE_RANGE))
    if extreme.any():  # in units of a power of two, whose squares are numbers
        powers = np.where(extreme, np.frexp(np.where(extreme, size, 1.0))[1], 0)
        return np.asarray(np.ldexp(deviation(np.ldexp(x, -powers), base), powers))
    rowwise = list(blocks(len(x), CHUNK // x.shape[1]))
    gaps = any(np.isnan(x[rows]).any() for rows in rowwise)
    mass = sum(_summed(base[rows], ~np.isnan(x[rows])) for rows in rowwise) if gaps else np.ones(x.shape[1])
    with np.errstate(invalid="ignore"):  # a column of nothing has no mass
        mean = sum(_summed(base[rows], _zeroed(x[rows], gaps=gaps)) for rows in rowwise) / mass
        square = sum(_summed(base[rows], np.square(_zeroed(x[rows] - mean, gaps=gaps))) for rows in rowwise) / mass
    return np.where(low < high, np.sqrt(square), 0.0)


def _summed(weights: FloatArray, values: FloatArray | BoolArray) -> FloatArray:
    """`Σ_i w_i v_ij` of every column."""
    laid_out = np.ascontiguousarray(weights)  # equal ones may be one number, for which NumPy sums in another order
    return np.asarray(np.einsum("i,ij->j", laid_out, values), dtype=float)


def _zeroed(values: FloatArray, *, gaps: bool) -> FloatArray:
    return np.where(np.isnan(values), 0.0, values) if gaps else values
