"""A linear function as a black box, data for it, and what may go wrong after so many rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import tippingpoint as tp

PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
WORTH = np.array([1.0, -1.0, 0.5])
RISK = 0.35


def data(n: int = 120) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3))
    return x, (x @ WORTH + 0.5 * rng.normal(size=n) > 0.0).astype(int)


def frame(n: int = 120) -> tuple[pd.DataFrame, Any]:
    x, y = data(n)
    return pd.DataFrame(x, columns=["a", "b", "c"]).assign(job=np.where(x[:, 0] > 0.3, "cook", "judge")), y


def linear(rows: Any) -> Any:
    return np.asarray(rows)[:, :3].astype(float) @ WORTH


def asked(model: Any, x: Any, y: Any, **settings: Any) -> tp.StabilityResult:
    return tp.stability(model, x, y, RISK, **{"output": "score", **PRICES, **settings})


def after(rows: int, then: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A model that answers so many rows, and then does something else."""
    seen = 0

    def model(given: Any) -> Any:
        nonlocal seen
        seen += len(given)
        return linear(given) if seen <= rows else then(given)

    return model


def raising(error: BaseException) -> Callable[[Any], Any]:
    def fail(_: Any) -> Any:
        raise error

    return fail
