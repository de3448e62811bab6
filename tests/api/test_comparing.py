"""Models on the same rows: paired errors, and who is the most stable."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tippingpoint as tp
from front import COEF, INF, INTERCEPT, MODEL, PRICES, data


def test_models_that_are_the_same_differ_by_nothing_with_no_error() -> None:
    x, y = data()
    comparison = tp.compare({"one": MODEL, "same": (COEF.copy(), INTERCEPT)}, x, y, 0.5, **PRICES)
    (row,) = comparison.differences().to_dict("records")
    assert row == {"model": "same", "reference": "one", "difference": 0.0, "standard_error": 0.0, "low": 0.0, "high": 0.0}
    assert comparison.results["one"].standard_error > 0.0


@pytest.mark.parametrize(("divergence", "theta1", "theta2"), [("kl", 0.4, 0.4), ("chi2", INF, 0.3), ("kl", 0.3, INF)])
def test_the_paired_error_is_that_of_the_bootstrapped_difference(divergence: str, theta1: float, theta2: float) -> None:
    x, y = data(400)
    asked: dict[str, Any] = {"theta1": theta1, "theta2": theta2, "divergence": divergence, "loss": "hinge"}
    comparison = tp.compare({"one": MODEL, "other": (COEF * [1.0, -0.5, 1.0], 0.0)}, x, y, 1.2, **asked)
    drawn = {name: result.bootstrap(400, seed=3) for name, result in comparison.results.items()}
    spread = np.std(drawn["other"].values - drawn["one"].values, ddof=1)  # the same rows in both
    (row,) = comparison.differences().to_dict("records")
    assert row["difference"] == comparison.results["other"].value - comparison.results["one"].value
    assert row["standard_error"] == pytest.approx(spread, rel=0.15)
    unpaired = math.hypot(*(result.standard_error for result in comparison.results.values()))
    assert row["standard_error"] < unpaired, "pairing is what makes the comparison sharp"


def test_a_comparison_can_have_another_reference_and_ranks_the_most_stable_first() -> None:
    x, y = data()
    models = {"weak": (COEF * 2.0, 0.1), "strong": (COEF * [1.0, 1.0, 0.0], 0.1), "third": (COEF * [1.0, 0.0, 0.0], 0.0)}
    comparison = tp.compare(models, x, y, 1.0, loss="hinge", **PRICES)
    ranked = comparison.to_frame()
    assert ranked["stability"].is_monotonic_decreasing
    assert set(ranked["model"]) == set(models)
    back, forth = comparison.differences("strong"), comparison.differences()
    assert back.set_index("model").loc["weak", "difference"] == -forth.set_index("model").loc["strong", "difference"]
    wide, narrow = comparison.differences(level=0.99), comparison.differences(level=0.5)
    assert (wide["high"] - wide["low"] > narrow["high"] - narrow["low"]).all()
    for name in models:
        assert name in str(comparison)
