"""What may be asked: samples, prices and a divergence, each checked where it comes in."""

from __future__ import annotations

import math

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.divergences import KL, ChiSquare, Divergence, divergence_named
from tippingpoint.errors import InputError, UnsupportedError

ALIKE = 1e-12
"""Shares and weights that differ by no more are alike, but for rounding."""


def checked_values(values: object, name: str) -> FloatArray:
    """One finite number a row."""
    array = np.asarray(values, dtype=float)
    if array.ndim != 1 or not len(array):
        raise InputError(f"{name} has the shape {array.shape}; pass one number a row, and one row at least.")
    if not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array)))
        raise InputError(
            f"{name}[{row}]={array[row]}: a drift is of finite numbers; leave such rows out, or count them as a level."
        )
    return array


def checked_masses(masses: object, rows: int, name: str) -> FloatArray:
    """Shares of the rows: alike unless given, and summing to one."""
    if masses is None:
        return np.full(rows, 1.0 / rows)
    array = np.asarray(masses, dtype=float)
    if array.shape != (rows,):
        raise InputError(f"{name} has the shape {array.shape} for {rows} rows; pass one weight a row.")
    if not (np.isfinite(array).all() and (array >= 0.0).all()):
        row = int(np.argmin(np.isfinite(array) & (array >= 0.0)))
        raise InputError(f"{name}[{row}]={array[row]}: weights must be finite and at least 0.")
    largest = float(array.max())
    if largest == 0.0:
        raise InputError(f"{name}: all weights are 0; at least one row needs a positive one.")
    shares = array / largest  # a sum of huge or tiny weights may be no number
    shares /= float(np.add.reduce(shares))
    return np.asarray(shares)


def checked_price(price: float, name: str) -> float:
    """A positive price, possibly infinite."""
    if not (isinstance(price, (int, float, np.floating, np.integer)) and price > 0.0 and not math.isnan(price)):
        raise InputError(f"{name}={price!r} must be a positive number; pass inf for what may not change.")
    return float(price)


def checked_tolerance(tolerance: float) -> float:
    """A relative gap."""
    if not (isinstance(tolerance, (int, float, np.floating)) and 0.0 < tolerance < 1.0):
        raise InputError(f"tolerance={tolerance!r}: a relative gap lies between 0 and 1; 1e-3 is usual.")
    return float(tolerance)


def priced(divergence: str | Divergence) -> Divergence:
    """The divergence meant, if drift can be measured by it."""
    named = divergence_named(divergence)
    if named.caps:
        raise UnsupportedError(
            f"divergence={named.label!r} caps weights and does not price them: reweighting would be free, and drift no size; "
            "use 'kl' or 'chi2'."
        )
    if not isinstance(named, (KL, ChiSquare)):
        raise UnsupportedError(f"divergence={named.label!r} is not served for drift; use 'kl' or 'chi2'.")
    return named
