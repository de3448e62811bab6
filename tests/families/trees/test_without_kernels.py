"""Without compiled kernels the answers are the same, and a note says that they take longer."""

from __future__ import annotations

from typing import Any

import pytest

import tippingpoint as tp
from small_trees import LIBRARIES, small
from tippingpoint.core.oracle import INTERRUPTED
from tippingpoint.families.trees import kernels as seam
from tippingpoint.families.trees.search.row_search import RowSearch
from tree_spaces import everything
from tree_truth import QUESTIONS, check, profiled

SLOWER = "proved by NumPy and HiGHS, which takes longer: the kernels were turned off by TIPPINGPOINT_KERNELS=0"
CASES = [
    ("XGBoost", "two", "zero_one"),
    ("LightGBM", "three", "zero_one"),
    ("CatBoost", "two", "zero_one"),
    ("forest", "three", "zero_one"),
    ("histograms", "two", "logistic"),
    ("tree", "two", "logistic"),
    ("gradient boosting", "amount", "squared"),
    ("extra trees", "amount", "pinball"),
    ("CatBoost", "amount", "huber"),
]


@pytest.fixture(autouse=True)
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(seam.SWITCH, "0")


@pytest.mark.parametrize(("library", "task", "loss"), CASES)
def test_both_bounds_are_the_truth_without_kernels(library: str, task: str, loss: str) -> None:
    model = small(library, task)
    for result in check(model, loss, everything(model.library), QUESTIONS[:2]):
        assert SLOWER in result.notes


def test_with_kernels_no_note_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(seam.SWITCH)
    if seam.kernels() is None:
        pytest.skip("the kernels are not compiled here")
    model = small("forest", "two")
    result = profiled(model, "zero_one", everything(model.library)).stability(0.9, theta1=1.0, theta2=1.0)
    assert SLOWER not in result.notes


def test_one_feature_alone_takes_no_search() -> None:
    model = small("LightGBM", "two")
    space = tp.Space(movable=["x"])
    result = tp.stability(model.model, model.data, model.y, 0.9, space=space, theta1=1.0, theta2=1.0)
    assert result.exact
    assert SLOWER not in result.notes


def test_the_cross_entropy_of_several_classes_is_a_black_box_then() -> None:
    model = small("LightGBM", "three")
    result = tp.stability(
        model.model, model.data, model.y, 2.0, loss="cross_entropy", theta1=1.0, theta2=1.0, calls=2000, progress=False
    )
    assert "(the cross-entropy of several classes takes the compiled kernels, which are not here)" in result.lower_by


def test_an_interrupt_keeps_the_bounds_without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    model = small("forest", "two")
    setting = everything(LIBRARIES["forest"])
    prices: dict[str, Any] = {"theta1": 1.0, "theta2": 1.0}
    whole = profiled(model, "zero_one", setting, gap=0.0).stability(0.9, **prices)
    profile, run, rows = profiled(model, "zero_one", setting, gap=0.0), RowSearch.run, iter(range(1000))

    def interrupted(self: RowSearch, *asked: object) -> float:
        if next(rows) == 5:
            raise KeyboardInterrupt
        return run(self, *asked)  # type: ignore[arg-type]

    monkeypatch.setattr(RowSearch, "run", interrupted)
    result = profile.stability(0.9, **prices)
    assert result.interrupted
    assert INTERRUPTED in result.notes
    assert result.lower < whole.upper <= result.upper
    monkeypatch.setattr(RowSearch, "run", run)
    assert profile.stability(0.9, **prices) == whole


def test_where_they_were_not_compiled_the_note_says_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(seam.SWITCH)
    monkeypatch.setattr("tippingpoint.families.trees.judgement.kernels", lambda: None)
    model = small("forest", "two")
    result = profiled(model, "zero_one", everything(model.library)).stability(0.9, theta1=1.0, theta2=1.0)
    assert any(note.endswith("the kernels were not compiled when the package was installed") for note in result.notes)
