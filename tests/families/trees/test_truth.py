"""Small models of every library, under every loss and with every kind of feature, against all places one by one.

Where a model cuts is found by asking it; losses, costs and the places of every row are those of the definitions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import tippingpoint as tp
from small_trees import LIBRARIES, LOSSES, Small, small
from tippingpoint.results.stability import StabilityResult
from tree_places import all_places, paid
from tree_spaces import KINDS, Setting, everything

SINGLE = {"XGBoost": 1e-5}
"""Relative: what libraries leave open that add in single precision."""
CLOSE = 1e-6
"""The same of others."""
Question = Mapping[str, Any]
QUESTIONS: tuple[Question, ...] = (
    {"part": 0.3, "theta1": 1.0, "theta2": 0.25, "divergence": "kl"},
    {"part": 0.6, "theta1": 0.4, "theta2": math.inf, "divergence": "kl"},
    {"part": 0.5, "theta1": 1.0, "theta2": 0.5, "divergence": "chi2"},
)
"""Which part of what moving can add to the risk is asked for, and at which prices."""
SEVERAL = [(library, task, loss) for library in LIBRARIES for task, losses in LOSSES.items() for loss in losses]
OF_ODDS = ("hinge", "squared_hinge")
"""Losses that, of several classes, are of no number that trees of probabilities add up."""


def unread(library: str, task: str, loss: str) -> bool:
    return LIBRARIES[library].tells and task == "three" and loss in OF_ODDS


@pytest.mark.parametrize(("library", "task", "loss"), [case for case in SEVERAL if not unread(*case)])
def test_both_bounds_are_the_truth_under_every_loss(library: str, task: str, loss: str) -> None:
    check(library, small(library, task), loss, everything(LIBRARIES[library]), QUESTIONS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("task", "loss"), [("two", "zero_one"), ("amount", "absolute")])
@pytest.mark.parametrize("library", LIBRARIES)
def test_both_bounds_are_the_truth_for_every_kind_of_feature(library: str, task: str, loss: str, kind: str) -> None:
    if kind == "going missing" and not LIBRARIES[library].gaps:
        pytest.skip("it takes nothing that is missing")
    check(library, small(library, task), loss, KINDS[kind](LIBRARIES[library]), QUESTIONS[:2])


def check(library: str, model: Small, loss: str, setting: Setting, questions: Sequence[Question]) -> None:
    places = all_places(model.data, setting.features, model.edges)
    losses = model.losses(loss, places.rows, places.frame)
    now, most = places.now(losses).mean(), places.highest(losses).mean()
    gap = SINGLE.get(library, 0.0)
    profile = tp.profile(model.model, model.data, model.y, loss=loss, space=setting.space, gap=gap, threads=1, progress=False)
    for question in questions:
        part, *prices = question.values()
        risk = now + part * (most - now)
        truth = places.stability(losses, risk, *prices)
        result = profile.stability(risk, **{name: value for name, value in question.items() if name != "part"})
        assert result.current_risk == pytest.approx(now, rel=1e-12)
        assert truth > 1e-4, "a question that asks for nothing"
        assert result.upper == pytest.approx(truth, rel=1e-9)
        assert result.lower == pytest.approx(truth, rel=gap + CLOSE)
        assert result.lower <= truth * (1.0 + 1e-9)
        check_shown(model, loss, setting, result)


def check_shown(model: Small, loss: str, setting: Setting, result: StabilityResult) -> None:
    """Every place shown has the loss that it claims by the library's own word, and costs what it claims."""
    shown = result.sensitive
    frame = shown[list(model.data.columns)].astype(model.data.dtypes.to_dict())
    rows = shown["row"].to_numpy()
    assert shown["loss"].to_numpy() == pytest.approx(model.losses(loss, rows, frame), rel=1e-6, abs=1e-12)
    assert shown["cost"].to_numpy() == pytest.approx(paid(setting.features, model.data, rows, frame), rel=1e-9, abs=1e-12)
    assert float((shown["mass"] * shown["loss"]).sum()) == pytest.approx(result.risk)
    assert result.theta1 * float((shown["mass"] * shown["cost"]).sum()) == pytest.approx(result.corruption_cost)
