"""Features of tree ensembles one by one, and groups of them: exact, against all places of these alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tippingpoint as tp
from small_trees import LIBRARIES, NUMBERS, Small, small
from tree_places import all_places
from tree_spaces import Setting, everything
from tree_truth import CLOSE, SINGLE, check_shown

PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 0.5}
GROUPS = {"pair": ["x", "shade"], "rest": ["z", "age"]}
PART = 0.4
"""Of what moving everything can add to the risk, that is asked for."""


def alone(setting: Setting, names: Sequence[str]) -> Setting:
    """The same with these features only."""
    return Setting(setting.space, [feature for feature in setting.features if feature.name in names])


def asked(model: Small, loss: str, setting: Setting) -> tuple[float, dict[str, float]]:
    """A threshold, and the truth of every feature and every group."""
    places = all_places(model.data, setting.features, model.edges)
    losses = model.losses(loss, places.rows, places.frame)
    now, most = places.now(losses).mean(), places.highest(losses).mean()
    risk = float(now + PART * (most - now))
    truth = {}
    for name, members in {**{name: [name] for name in (*NUMBERS, "shade")}, **GROUPS}.items():
        own = all_places(model.data, alone(setting, members).features, model.edges)
        truth[name] = own.stability(model.losses(loss, own.rows, own.frame), risk, **PRICES)
    return risk, truth


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("task", "loss"), [("two", "zero_one"), ("three", "cross_entropy"), ("amount", "absolute")])
def test_features_and_groups_are_exact(library: str, task: str, loss: str) -> None:
    model, setting = small(library, task), everything(LIBRARIES[library])
    space = replace(setting.space, groups=GROUPS)
    risk, truth = asked(model, loss, setting)
    gap = SINGLE if model.library.single else 0.0
    found = tp.feature_stability(
        model.model, model.data, model.y, risk, loss=loss, space=space, gap=gap, threads=1, progress=False, **PRICES
    )
    assert set(found.results) == set(truth)
    for name, result in found.results.items():
        assert result.upper == pytest.approx(truth[name], rel=CLOSE), name
        assert result.lower <= truth[name] * (1.0 + 1e-9)
        assert result.exact or name in GROUPS
        if name not in GROUPS or truth[name] < math.inf:  # of a group that is little short of a threshold not all is proved
            assert result.lower == pytest.approx(truth[name], rel=(gap if name in GROUPS else 0.0) + CLOSE), name
    values = [result.value for result in found.results.values()]
    assert values == sorted(values)
    most = min(found.results, key=lambda name: (name in GROUPS, truth[name]))
    check_shown(model, loss, alone(setting, [most]), found.result(most))


@pytest.mark.parametrize("library", ["XGBoost", "forest"])
def test_a_scan_of_one_feature_finds_what_a_search_finds(library: str) -> None:
    """Of two features of which one has nowhere to go."""
    model = small(library, "two")
    held = float(model.data["age"].iloc[0])
    rows = model.data.assign(age=held)
    risk = 0.5 + 0.5 * float((np.ravel(model.model.predict(rows)) != model.y).mean())
    shut = tp.Space(movable=["x", "age"], lower={"age": held}, upper={"age": held})
    scanned, searched = (
        tp.stability(model.model, rows, model.y, risk, space=space, gap=0.0, progress=False, **PRICES)
        for space in (tp.Space(movable=["x"]), shut)
    )
    assert scanned.lower_by == "every cell of 'x' that the trees tell apart"
    assert searched.lower_by == "branch and bound over the cells of the trees"
    assert searched.upper == pytest.approx(scanned.value, rel=1e-9)
    assert searched.lower == pytest.approx(scanned.value, rel=CLOSE)
