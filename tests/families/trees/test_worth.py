"""What scores are worth, and ceilings above it, for losses of every kind."""

from __future__ import annotations

import math

import numpy as np
import pytest

from forests import STEP, random_loss
from tippingpoint.families.trees.search.worth import Worth


def drawn(seed: int) -> tuple[Worth, float, float]:
    rng = np.random.default_rng(seed)
    low, high = np.sort(rng.normal(scale=3.0, size=2))
    return Worth(random_loss(rng), float(rng.choice([0.1, 2.0])), 0.5), float(low), float(high)


@pytest.mark.parametrize("seed", range(60))
def test_ceilings_are_above_and_one_meets_the_right_end(seed: int) -> None:
    worth, low, high = drawn(seed)
    scores = np.linspace(low, high, 1001)
    roof = np.min([each.offset + each.slope * scores for each in worth.ceilings(low, high)], axis=0)
    assert (roof >= worth(scores) - 1e-12 * (1.0 + np.abs(roof))).all()
    assert roof[-1] == pytest.approx(worth.at(high))


@pytest.mark.parametrize("seed", range(60))
def test_the_score_that_passes_a_value_is_not_beyond_it_and_close(seed: int) -> None:
    worth, low, high = drawn(seed)
    value = float(np.random.default_rng(seed).uniform(worth.at(low), worth.at(high)))
    at = worth.passes(value, low, high)
    assert worth.at(at) <= value + 1e-12 * (1.0 + abs(value))
    assert at == high or worth.at(at + 1e-6 * (high - low)) >= value


def test_an_error_is_worth_nothing_and_all_else_less() -> None:
    worth = Worth(STEP, 1.0, 0.0)
    assert worth(np.array([-1e-9, 0.0, 3.0])).tolist() == [-math.inf, 0.0, 0.0]
    assert worth.passes(-2.0, -1.0, 5.0) == 0.0
    assert [each.slope for each in worth.ceilings(0.0, 5.0)] == [0.0]
