"""Features of tree ensembles one by one, and groups of them: exact, against all places of these alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tippingpoint as tp
from compiled import needs_kernels
from small_trees import LIBRARIES, NUMBERS, Small, small
from tippingpoint.families.trees import kernels as seam
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


WITH_GAPS = [
    (name, constant)
    for name, library in LIBRARIES.items()
    for constant in (True, False)
    # Extra trees draw their splits; CatBoost takes a gap for a number below all others, to which numbers can move as well.
    if library.gaps and name != "extra trees" and (constant or name != "CatBoost")
]


def told_by_gaps(library: str, *, constant: bool) -> tuple[Any, np.ndarray, Any]:
    """A model for which only counts whether a column is missing, rows of which few are, and their labels."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(120, 2))
    gone = np.arange(120) % 3 == 0
    rows[:, 1] = np.where(gone, np.nan, 4.0 if constant else rows[:, 1])
    kind = LIBRARIES[library]
    whole = {"bootstrap": False, "max_features": None} if library == "forest" else {}
    model = kind.made("two", 4, 1).set_params(**whole).fit(rows, gone.astype(int))
    return model, rows[:30], gone[:30].astype(int)


@pytest.mark.parametrize("scale", ["raw", "std", "iqr"])
@pytest.mark.parametrize(("library", "constant"), WITH_GAPS)
def test_a_column_of_which_only_gaps_count_may_go_missing(library: str, scale: str, *, constant: bool) -> None:
    """Its thresholds are infinite, or all its numbers are equal; a price of going missing counts all the same."""
    model, rows, labels = told_by_gaps(library, constant=constant)
    present = ~np.isnan(rows[:, 1])
    emptied = np.where(np.arange(2) == 1, np.nan, rows[present])
    assert (model.predict(rows) == labels).all()
    assert (np.ravel(model.predict(emptied)) != labels[present]).all()
    space = tp.Space(missing={"x1": 0.3})
    question: dict[str, Any] = {"risk": 0.5, "theta1": 1.0, "theta2": math.inf, "space": space, "scale": scale, "gap": 0.0}
    result = tp.stability(model, rows, labels, progress=False, **question)
    alone = tp.feature_stability(model, rows, labels, progress=False, **question)
    for each in (result, alone["x1"]):
        assert each.exact
        assert each.value == pytest.approx(0.15)
    assert alone["x0"].value == math.inf


@pytest.mark.parametrize("kind", ["integer", "ordinal"])
@pytest.mark.parametrize("scale", ["std", "mad"])
def test_levels_without_spread_may_go_missing(scale: str, kind: str) -> None:
    model, rows, labels = told_by_gaps("LightGBM", constant=True)
    space = tp.Space(kind={"x1": kind}, missing={"x1": 0.3})
    result = tp.stability(model, rows, labels, 0.5, theta1=1.0, theta2=math.inf, space=space, scale=scale, progress=False)
    assert result.exact
    assert result.value == pytest.approx(0.15)


@pytest.mark.parametrize("compiled", [pytest.param("1", marks=needs_kernels), "0"])
def test_one_column_moves_and_another_may_only_go_missing(compiled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one movable column all cells are tried, but two are searched: a column that may only go missing is one of them."""
    monkeypatch.setenv(seam.SWITCH, compiled)
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.normal(size=200), np.zeros(200)])
    rows[rng.random(200) < 0.3, 1] = np.nan
    labels = (rows[:, 0] + 2.0 * np.isnan(rows[:, 1]) - 0.6 + 0.3 * rng.normal(size=200) > 0.0).astype(int)
    model = LIBRARIES["LightGBM"].made("two", 4, 2).fit(rows, labels)
    few, truths = rows[:12], labels[:12]
    question: dict[str, Any] = {"risk": 0.6, "theta1": 1.0, "theta2": math.inf, "scale": "raw", "progress": False, "gap": 0.0}
    moves = tp.stability(model, few, truths, space=tp.Space(movable=["x0"]), **question)
    priced = tp.stability(model, few, truths, space=tp.Space(missing={"x1": 0.001}), **question)
    expensive = tp.stability(model, few, truths, space=tp.Space(missing={"x1": 1e6}), **question)
    assert priced.exact
    assert priced.value < moves.value
    assert expensive.value == pytest.approx(moves.value)
