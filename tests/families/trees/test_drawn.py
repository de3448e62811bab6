"""Models, spaces, gaps and questions drawn at random: bounds hold, however early a proof ends, and meet where it does not.

`TIPPINGPOINT_SEEDS=1000` draws more than a test run has time for.
"""

from __future__ import annotations

import math
import os
from typing import Any

import pytest

import tippingpoint as tp
from drawn_trees import Drawn, drawn
from tippingpoint.api.profiles import Profile
from tree_places import all_places

SEEDS = int(os.environ.get("TIPPINGPOINT_SEEDS", "24"))
SINGLE = 1e-3
"""Relative: what libraries leave open that add in single precision; much, where little is asked for."""
CLOSE = 1e-6
"""The same of others."""


@pytest.mark.parametrize("seed", range(SEEDS))
def test_bounds_hold_and_meet(seed: int) -> None:
    case = drawn(seed)
    places = all_places(case.small.data, case.setting.features, case.small.edges)
    losses = case.small.losses(case.loss, places.rows, places.frame)
    now, most = (float(case.base @ each) for each in (places.now(losses), places.highest(losses)))
    profile, hasty, coarse = (profiled(case, **options) for options in ({"gap": 0.0}, {"time_limit": 1e-3}, {"gap": 0.5}))
    for question in case.questions:
        prices = {name: value for name, value in question.items() if name != "part"}
        risk = min(now + question["part"] * (most - now), 1.0 if case.loss == "zero_one" else math.inf)
        truth = places.stability(losses, risk, **prices, base=case.base)
        close = (SINGLE if case.small.library.single else 0.0) + CLOSE
        result = profile.stability(risk, **prices)
        assert result.upper == pytest.approx(truth, rel=CLOSE, abs=1e-12)
        assert result.lower == pytest.approx(truth, rel=close, abs=1e-12)
        for each in (result, hasty.stability(risk, **prices), coarse.stability(risk, **prices)):
            assert each.lower <= truth * (1.0 + 1e-9) + 1e-15
            assert each.upper >= truth * (1.0 - 1e-9) - 1e-15
            assert each.upper < math.inf or each is not result


def profiled(case: Drawn, **options: Any) -> Profile:
    model = case.small
    return tp.profile(
        model.model,
        model.data,
        model.y,
        loss=case.loss,
        space=case.setting.space,
        sample_weight=case.base,
        threads=1,
        scale="raw",
        progress=False,
        **options,
    )
