"""Proofs that end early, and what results say first of all, or in notes."""

from __future__ import annotations

import itertools
import math
import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import tippingpoint as tp
from compiled import needs_kernels
from small_trees import LIBRARIES, amounts, people, small
from tippingpoint.api.certifying import gap_notes
from tippingpoint.api.profiles import Profile
from tippingpoint.core.oracle import INTERRUPTED
from tippingpoint.families.trees import kernels as seam
from tippingpoint.families.trees import proving, readers, recognise
from tippingpoint.families.trees.proving import TreeErrors
from tippingpoint.families.trees.reading import TreeReading, Unread
from tippingpoint.families.trees.search.kernel_search import KernelSearcher
from tippingpoint.families.trees.search.searcher import Found
from tippingpoint.text import percent
from tree_spaces import everything

PRICES: dict[str, Any] = {"theta1": 1.0, "theta2": 1.0}
LOSSES = {"zero_one": 0.8, "logistic": 1.4}
"""Thresholds that it takes several rounds of work to prove."""


def profiled(loss: str, library: str = "LightGBM", **options: Any) -> Profile:
    model = small(library, "two")
    space = everything(model.library).space
    return tp.profile(model.model, model.data, model.y, loss=loss, space=space, progress=False, **options)


def by_a_key(found: Found) -> Found:
    """The interrupt comes while Python works."""
    signal.raise_signal(signal.SIGINT)
    return found


def within_kernels(found: Found) -> Found:
    """It comes while the kernels work, which end it: all rows but one were not finished."""
    return replace(found, interrupted=True, cut=np.arange(len(found.cut)) > 0)


@needs_kernels
@pytest.mark.parametrize("after", [1, 2, 3])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("interrupted", [by_a_key, within_kernels])
def test_an_interrupt_keeps_the_bounds(
    interrupted: Callable[[Found], Found], loss: str, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = profiled(loss, gap=0.0).stability(LOSSES[loss], **PRICES)
    profile, search, calls = profiled(loss, gap=0.0), KernelSearcher.search, itertools.count(1)

    def searching(self: KernelSearcher, *asked: Any) -> Found:
        found = search(self, *asked)
        return interrupted(found) if next(calls) == after else found

    monkeypatch.setattr(KernelSearcher, "search", searching)
    result = profile.stability(LOSSES[loss], **PRICES)
    assert result.interrupted
    assert result.stopped
    assert INTERRUPTED in result.notes
    assert "interrupted" in str(result).splitlines()[0]
    assert result.ending == "keyboard"
    assert not result.exact
    assert result.lower < whole.lower
    assert 0.0 <= result.lower <= whole.upper <= result.upper
    again = profile.stability(LOSSES[loss], **PRICES)
    assert not again.interrupted
    assert again == whole


def test_time_ends_a_proof_and_a_note_says_so() -> None:
    hasty = profiled("zero_one", time_limit=1e-6).stability(0.8, **PRICES)
    whole = profiled("zero_one", gap=0.0).stability(0.8, **PRICES)
    assert hasty.lower <= whole.lower == pytest.approx(whole.upper)
    assert hasty.upper > whole.upper
    assert not hasty.exact
    assert not hasty.interrupted
    assert (hasty.ending, whole.ending) == ("time", "gap")
    ended = [note for note in hasty.notes if "time_limit=1e-06 s ended the proof" in note]
    assert len(ended) == 1
    assert "time_limit" not in str(whole)


def test_notes_of_a_worst_risk_are_about_its_own_bounds() -> None:
    hasty = profiled("zero_one", time_limit=1e-6).worst_risk(0.05, **PRICES)
    assert hasty.certified is not None
    assert hasty.time_limit_reached
    apart = percent((hasty.certified - hasty.value) / hasty.certified)
    assert [note for note in hasty.notes if "gap" in note] == [
        "gap=0.001 is not reached: "
        + (f"the bounds are {apart} apart, and " if hasty.value > 0.0 else "")
        + "time_limit=1e-06 s ended the proof"
    ]
    assert hasty.certified == pytest.approx(1.0)
    assert hasty.certified_by == "the largest possible risk"
    assert "not certified" not in str(hasty)


def test_bounds_within_the_gap_have_no_note_on_it() -> None:
    oracle = profiled("zero_one").oracle.at_price(1.0)
    assert oracle is not None
    assert gap_notes(oracle, "work", 1.52, 1.521) == []
    assert gap_notes(oracle, "work", 1.5, 3.0) == [
        "gap=0.001 is not reached: the bounds are 50% apart, and no work is left that is likely to narrow them"
    ]


@pytest.mark.parametrize("gap", [0.5, 0.1, 1e-3])
def test_a_proof_goes_as_far_as_was_asked(gap: float) -> None:
    for loss, risk in LOSSES.items():
        result = profiled(loss, gap=gap).stability(risk, **PRICES)
        assert result.gap <= gap
        assert result.ending == "gap"
        assert not any("proof" in note for note in result.notes)


def test_what_single_precision_leaves_open_is_said() -> None:
    result = profiled("logistic", "XGBoost", gap=0.0).stability(1.4, **PRICES)
    assert 0.0 < result.gap < 1e-4
    assert result.ending == "rounding"
    assert any("how the model's library rounds its sums decides the rest" in note for note in result.notes)


def roughly_rounding(rounding: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let models be read as if their libraries rounded sums as much as that."""
    exactly = readers.read_model

    def read(model: Any) -> TreeReading | Unread | None:
        reading = exactly(model)
        return replace(reading, rounding=rounding) if isinstance(reading, TreeReading) else reading

    monkeypatch.setattr(recognise, "read_model", read)


@pytest.mark.parametrize("compiled", [pytest.param("1", marks=needs_kernels), "0"])
@pytest.mark.parametrize("library", ["XGBoost", "LightGBM", "gradient boosting"])
def test_scores_in_doubt_are_settled_by_the_library(library: str, compiled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Places that it does not take for errors are refused, and the next ones are looked for: the gap is closed all the same."""
    monkeypatch.setenv(seam.SWITCH, compiled)
    whole = profiled("zero_one", library, gap=0.0).stability(0.8, **PRICES)
    refused = list[int]()
    confirm = TreeErrors.confirm

    def counted(self: TreeErrors) -> bool:
        taken_back = confirm(self)
        refused.append(len(self.refused))
        return taken_back

    monkeypatch.setattr(TreeErrors, "confirm", counted)
    roughly_rounding(0.5, monkeypatch)
    result = profiled("zero_one", library, gap=0.0).stability(0.8, **PRICES)
    assert max(refused) > 0
    assert result.exact
    assert result.ending == "gap"
    assert result.value == pytest.approx(whole.value, rel=1e-9)


def test_what_rounding_leaves_open_is_said_of_errors_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "MAX_REFUSED", 2)
    whole = profiled("zero_one", gap=0.0).stability(0.8, **PRICES)
    roughly_rounding(1.0, monkeypatch)
    result = profiled("zero_one", gap=0.0).stability(0.8, **PRICES)
    assert not result.exact
    assert result.lower <= whole.value <= result.upper
    assert result.gap > 0.0
    assert result.ending == "rounding"
    assert any("how the model's library rounds its sums decides the rest" in note for note in result.notes)


def on_thresholds() -> tuple[Any, pd.DataFrame, Any]:
    """A model of XGBoost, which cuts at numbers that it has seen, and the rows that it has seen them in."""
    data = people(120, 0, seen=True)
    rows = data[["x", "z", "age"]].assign(age=data["age"].astype(int), idle=np.arange(len(data)) % 3)
    labels = (amounts(data, 0) > 0.0).astype(int)
    model = LIBRARIES["XGBoost"].made("two", 3, 3).fit(rows.drop(columns="idle").assign(idle=0), labels)
    return model, rows, labels


def test_rows_that_err_at_no_cost_are_counted_first_of_all() -> None:
    model, rows, labels = on_thresholds()
    right = model.predict(rows) == labels
    erring = np.zeros(len(rows), dtype=bool)
    for nudges in itertools.product((-1e-7, 0.0, 1e-7), repeat=3):
        nudged = rows.astype(float).assign(
            **{name: rows[name] + by for name, by in zip(("x", "z", "age"), nudges, strict=True)}
        )
        erring |= right & (model.predict(nudged) != labels)
    assert erring.sum() > 1
    result = tp.stability(model, rows, labels, 0.5, **PRICES)
    assert result.caution.startswith(f"{erring.sum()} of {len(rows)} rows err at no cost, on thresholds of the trees")
    assert "tp.Space.infer(X)" in result.caution
    assert " ".join(str(result).split()).partition("first of all ")[2].startswith(result.caution)
    assert str(result).splitlines()[1].split()[:3] == ["first", "of", "all"]
    kept = tp.stability(model, rows, labels, 0.5, space=tp.Space.infer(rows, frozen=["x", "z"]), **PRICES)
    assert kept.caution == ""
    assert kept.value > result.value


def test_rows_on_thresholds_are_counted_over_all_partitions() -> None:
    model, rows, labels = on_thresholds()
    whole = tp.stability(model, rows, labels, 0.5, **PRICES).caution
    cut = [rows.assign(label=labels).iloc[first : first + 50] for first in range(0, len(rows), 50)]
    parts = tp.stability(model, cut, "label", 0.5, **PRICES).caution
    assert parts.split(",")[0] == whole.split(",")[0]
    assert "tp.Space.infer(X)" in parts


def test_comparisons_and_curves_say_it_first_of_all_too() -> None:
    model, rows, labels = on_thresholds()
    told = f"first of all: %s: {tp.stability(model, rows, labels, 0.5, **PRICES).caution}."
    comparison = tp.compare({"one": model, "two": model}, rows, labels, risk=0.5, **PRICES)
    assert str(comparison).startswith(f"{told % 'one'} Likewise: 'two'.\n")
    curve = tp.profile(model, rows, labels).curve([0.4, 0.5], **PRICES)
    assert str(curve).startswith("first of all: risk 0.4: ")
    assert "Likewise: 'risk 0.5'.\n" in str(curve)


def test_columns_that_no_tree_looks_at_are_named() -> None:
    model, rows, labels = on_thresholds()
    result = tp.stability(model, rows, labels, 0.5, **PRICES)
    assert "no tree looks at 'idle': to move there changes nothing" in result.notes
    alone = tp.stability(model, rows, labels, 0.5, space=tp.Space(movable=["idle"]), **PRICES)
    still = tp.stability(model, rows, labels, 0.5, theta1=math.inf, theta2=PRICES["theta2"])
    assert alone.exact
    assert alone.moved_share == 0.0
    assert alone.value == pytest.approx(still.value)


def test_many_columns_that_no_tree_looks_at_are_counted() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 9))
    rows[:, :7] = 0.0
    labels = rows[:, 7] + rows[:, 8] > 0.0
    model = LIBRARIES["forest"].made("two", 3, 2).fit(rows, labels)
    moved = rows + rng.normal(size=rows.shape)
    result = tp.stability(model, moved, labels, 0.6, scale="raw", **PRICES)
    assert "no tree looks at 'x0', 'x1', 'x2', 'x3', 'x4' and 2 more: to move there changes nothing" in result.notes


@pytest.mark.parametrize("movable", [["x0"], ["x0", "x1"]])
@pytest.mark.parametrize("loss", ["zero_one", "logistic"])
def test_a_row_at_zero_on_a_threshold_at_zero_is_where_it_is(loss: str, movable: list[str]) -> None:
    """The next number is 5e-324, whose square is rounded to zero: it is a move all the same, and not the risk as it is."""
    rows = np.column_stack([np.repeat([-1.0, 0.0, 1.0], 40), np.tile([0.0, 1.0], 60)])
    labels = (rows[:, 0] > 0.0).astype(int)
    model = LIBRARIES["histograms"].made("two", 3, 1).fit(rows, labels)
    for (predictor,) in model._predictors:
        predictor.nodes["num_threshold"] = 0.0
    few, truths = rows[::10], labels[::10]
    losses = np.array([float(own != told) for own, told in zip(truths, model.predict(few), strict=True)])
    space = tp.Space(movable=movable)
    result = tp.stability(model, few, truths, 0.3 if loss == "zero_one" else 1.0, loss=loss, space=space, scale="raw", **PRICES)
    if loss == "zero_one":
        assert result.current_risk == losses.mean() == 0.0
    still = tp.stability(model, few, truths, result.risk, loss=loss, theta1=math.inf, theta2=1.0)
    assert result.current_risk == still.current_risk
    assert result.value < still.value


@needs_kernels
def test_partitions_say_that_their_work_is_fixed() -> None:
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(400, 6)), columns=list("abcdef"))
    x["label"] = (x["a"] * x["b"] + x["c"] > 0.0).astype(int)
    seen, data = x[:200], x[200:].reset_index(drop=True)
    model = RandomForestClassifier(40, random_state=0, n_jobs=1).fit(seen.drop(columns="label"), seen["label"])
    asked: dict[str, Any] = {"scale": "raw", "progress": False}
    found = tp.stability(model, [data[:100], data[100:]], "label", 0.6, gap=0.0, **asked)
    assert found.gap > 1e-6
    assert found.ending == "partitions"
    assert any(note.startswith("gap=0 is not reached: ") for note in found.notes)
    loose = tp.stability(model, [data[:100], data[100:]], "label", 0.6, gap=0.5, **asked)
    assert loose.ending == "gap"
    assert not any("is not reached" in note for note in loose.notes)
