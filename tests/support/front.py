"""A small linear problem that many tests of the front door share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from tippingpoint.core.arrays import FloatArray

INF = math.inf
COEF, INTERCEPT = np.array([1.0, -0.5, 0.25]), 0.1
MODEL = (COEF, INTERCEPT)
DIVERGENCES = ("kl", "chi2", "cvar:0.4")
PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}


def data(n: int = 200, seed: int = 5) -> tuple[FloatArray, Any]:
    """Features and labels -1/+1 that the model predicts with some errors."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    y = np.where(x @ COEF + INTERCEPT + rng.normal(scale=0.8, size=n) > 0.0, 1, -1)
    return x, y


def base_of(sensitive: pd.DataFrame, weights: dict[Any, float]) -> FloatArray:
    """Base weight of the row of every atom."""
    total = sum(weights.values())
    return np.array([weights[row] / total for row in sensitive["row"]])
