"""The feature space: which features may move, within which bounds, at what price.

Distance is `d(x, x̂) = Σ_j c_j (x_j - x̂_j)²` over the features that may move, infinite on all others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError

Each = float | Mapping[str, float] | Sequence[float] | FloatArray
"""A number for all features, for some by name, or one for each in order."""


@dataclass(frozen=True)
class Space:
    """What may move, how far, at what price; numeric features.

    Parameters
    ----------
    frozen
        Features that may not move.
    movable
        If given, the only features that may move.
    price
        `c_j`, price of a squared unit of each feature: a number for all, a mapping from some names, or one for each.
    lower, upper
        Bounds on the value of each feature after the move.

    Examples
    --------
    >>> space = Space(frozen=["sex"], lower={"age": 0}, upper={"age": 110}, price={"income": 0.01})
    >>> space.resolve(["age", "sex", "income"]).price
    array([1.  ,  inf, 0.01])
    """

    frozen: Sequence[str] = ()
    movable: Sequence[str] | None = None
    price: Each = 1.0
    lower: Each = -math.inf
    upper: Each = math.inf

    def resolve(self, names: Sequence[str]) -> Domain:
        """This space for the columns of a data set."""
        known = {name: j for j, name in enumerate(names)}
        price = _each("price", self.price, known, 1.0)
        lower = _each("lower", self.lower, known, -math.inf)
        upper = _each("upper", self.upper, known, math.inf)
        for j, name in enumerate(names):
            if not (price[j] > 0.0 and math.isfinite(price[j])):
                raise InputError(
                    f"price[{name!r}]={price[j]:g} must be a positive number; to keep a feature from moving, name it in frozen."
                )
            if not lower[j] <= upper[j]:
                raise InputError(f"lower[{name!r}]={lower[j]:g} is above upper[{name!r}]={upper[j]:g}; swap them.")
        for argument, chosen in (("frozen", self.frozen), ("movable", () if self.movable is None else self.movable)):
            if isinstance(chosen, str) or not isinstance(chosen, Iterable):
                raise InputError(f"{argument}={chosen!r} must be a list of feature names, as [{names[0]!r}].")
        for name in self.frozen:
            price[_known("frozen", name, known)] = math.inf
        if self.movable is not None:
            allowed = {_known("movable", name, known) for name in self.movable}
            price[[j for j in range(len(names)) if j not in allowed]] = math.inf
        return Domain(tuple(names), price, lower, upper)


@dataclass(frozen=True)
class Domain:
    """A space resolved for the columns of a data set; an infinite price means that a feature may not move."""

    names: tuple[str, ...]
    price: FloatArray
    lower: FloatArray
    upper: FloatArray
    unit: str = "feature units"

    def scaled(self, spread: FloatArray) -> Domain:
        """The same space with distances in units of each feature's spread; a feature without spread may not move."""
        with np.errstate(divide="ignore"):
            price = np.where(spread > 0.0, self.price / np.square(spread), math.inf)
        return Domain(self.names, price, self.lower, self.upper, "standard deviations")

    def check(self, x: FloatArray, rows: Sequence[object]) -> None:
        """Refuse data outside the bounds: the sample as it is must be allowed."""
        for j in np.flatnonzero(np.isfinite(self.price) & (np.isfinite(self.lower) | np.isfinite(self.upper))):
            column = x[:, j]
            outside = np.flatnonzero((column < self.lower[j]) | (column > self.upper[j]))
            if len(outside):
                i = int(outside[0])
                raise InputError(
                    f"X[{rows[i]!r}, {self.names[j]!r}]={column[i]:g} lies outside its bounds"
                    f" [{self.lower[j]:g}, {self.upper[j]:g}]; widen lower/upper or drop the row."
                )


def _each(argument: str, given: Each, known: Mapping[str, int], default: float) -> FloatArray:
    values = np.full(len(known), default)
    if isinstance(given, Mapping):
        for name, value in given.items():
            values[_known(argument, name, known)] = _number(argument, name, value)
        return values
    array = np.asarray(given)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{argument}={given!r} must be a number, a mapping from feature names, or one number a feature.")
    if array.shape not in ((), values.shape):
        raise InputError(f"{argument} has shape {array.shape} but there are {len(known)} features; give one number for each.")
    if np.isnan(array).any():
        raise InputError(f"{argument} contains NaN; leave a feature out of a mapping to use its default.")
    values[:] = array
    return values


def _known(argument: str, name: str, known: Mapping[str, int]) -> int:
    if name not in known and str(name) in known:
        name = str(name)  # pandas names columns by numbers where nobody else does
    if name not in known:
        raise InputError(f"{argument} names {name!r}, which is not a feature; the features are {_listed(list(known))}.")
    return known[name]


def _number(argument: str, name: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise InputError(f"{argument}[{name!r}]={value!r} must be a number.")
    return number


def _listed(names: Sequence[str], most: int = 12) -> str:
    """Names for a sentence."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"
