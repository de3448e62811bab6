"""Answers for small models of trees, against all places one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import tippingpoint as tp
from small_trees import Small
from tippingpoint.api.profiles import Profile
from tippingpoint.results.stability import StabilityResult
from tree_places import all_places, paid
from tree_spaces import Setting

Question = Mapping[str, Any]
QUESTIONS: tuple[Question, ...] = (
    {"part": 0.3, "theta1": 1.0, "theta2": 0.25, "divergence": "kl"},
    {"part": 0.6, "theta1": 0.4, "theta2": math.inf, "divergence": "kl"},
    {"part": 0.5, "theta1": 1.0, "theta2": 0.5, "divergence": "chi2"},
)
"""Which part of what moving can add to the risk is asked for, and at which prices."""

SINGLE = 1e-5
"""Relative: what libraries leave open that add in single precision."""
CLOSE = 1e-6
"""The same of others."""


def profiled(model: Small, loss: str, setting: Setting, **options: Any) -> Profile:
    return tp.profile(model.model, model.data, model.y, loss=loss, space=setting.space, progress=False, **options)


def check(model: Small, loss: str, setting: Setting, questions: Sequence[Question] = QUESTIONS) -> list[StabilityResult]:
    """Both bounds are the truth, and places shown are what they claim to be; the results."""
    places = all_places(model.data, setting.features, model.edges)
    losses = model.losses(loss, places.rows, places.frame)
    now, most = places.now(losses).mean(), places.highest(losses).mean()
    gap = SINGLE if model.library.single else 0.0
    profile = profiled(model, loss, setting, gap=gap, threads=1)
    results: list[StabilityResult] = []
    for question in questions if most > now else ():
        prices = {name: value for name, value in question.items() if name != "part"}
        risk = now + question["part"] * (most - now)
        truth = places.stability(losses, risk, **prices)
        result = profile.stability(risk, **prices)
        assert 0.0 < truth < math.inf
        assert result.current_risk == pytest.approx(now, rel=CLOSE if model.library.single else 1e-9)
        assert result.upper == pytest.approx(truth, rel=CLOSE)
        assert result.lower == pytest.approx(truth, rel=gap + CLOSE)
        assert result.lower <= truth * (1.0 + 1e-9)
        check_shown(model, loss, setting, result)
        results.append(result)
    return results


def check_shown(model: Small, loss: str, setting: Setting, result: StabilityResult) -> None:
    """Every place shown has the loss that it claims by the library's own word, and costs what it claims by definition."""
    shown = result.sensitive
    frame = shown[list(model.data.columns)].astype(model.data.dtypes.to_dict())
    rows = shown["row"].to_numpy()
    assert shown["loss"].to_numpy() == pytest.approx(
        model.losses(loss, rows, frame), rel=CLOSE, abs=CLOSE if model.library.single else 1e-12
    )
    assert shown["cost"].to_numpy() == pytest.approx(paid(setting.features, model.data, rows, frame), rel=1e-9, abs=1e-12)
    assert float((shown["mass"] * shown["loss"]).sum()) == pytest.approx(result.risk)
    assert result.theta1 * float((shown["mass"] * shown["cost"]).sum()) == pytest.approx(result.corruption_cost)
