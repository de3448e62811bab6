"""Moves as a reader can check them: with the digits that a column has, and a warning where a row cannot be like that."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from tippingpoint.report import render_markdown, render_page
from tippingpoint.report.changes import cell, changes_of, largest_changes
from tippingpoint.report.column_format import column_format

N = 150


def people() -> tuple[Any, pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    x = pd.DataFrame(
        {
            "age": rng.integers(18, 70, N),
            "salary": rng.integers(1_000_000, 9_000_000, N),
            "income": rng.normal(40.0, 12.0, N).round(1),
            "rate": rng.normal(3.0, 1.0, N).round(2),
            "measured": rng.normal(size=N),
            "married": rng.integers(0, 2, N),
            "member": rng.integers(0, 2, N).astype(bool),
        }
    )
    score = 0.05 * x["age"] + 0.08 * x["income"] - x["rate"] + x["married"] + rng.normal(size=N)
    coef = [0.05, 1e-7, 0.08, -1.0, 0.3, 1.0, 0.5]
    return (coef, -4.0), x, np.where(score > 4.0, 1, 0)


def summary(**settings: Any) -> dict[str, Any]:
    model, x, y = people()
    return tp.stability(model, x, y, 0.6, scale="std", theta1=1.0, theta2=1.0, **settings).report_summary()


def digits(text: str) -> int:
    return len(text.partition(".")[2])


def test_moves_have_the_digits_of_their_column() -> None:
    told = summary()
    seen = set()
    for top in told["rows"]["top"]:
        for change in changes_of(told["rows"], top):
            after = change.after.removeprefix("≈").rpartition(" ")[2]
            most = {"age": 0, "salary": 0, "income": 1, "rate": 2, "married": 0}.get(change.feature)
            if most is not None:
                seen.add(change.feature)
                assert max(digits(change.before), digits(after)) <= most, change
            assert change.before != change.after
    assert seen == {"age", "salary", "income", "rate", "married"}


def test_what_a_row_holds_now_is_told_to_its_last_digit() -> None:
    _, x, _ = people()
    rows = summary()["rows"]
    for label, before in zip(rows["labels"], rows["before"], strict=True):
        for name, value, holds in zip(rows["columns"], before, rows["holds"], strict=True):
            if name in ("age", "salary", "income", "rate", "married"):
                assert float(cell(value, holds)) == x.loc[int(label), name], name


def test_a_row_that_cannot_exist_carries_its_warning() -> None:
    told = summary()
    rows, page, text = told["rows"], render_page(told), render_markdown(told)
    doubts = [change for top in rows["top"] for change in largest_changes(rows, top)[0] if change.doubt]
    ages = [change for change in doubts if change.feature == "age"]
    assert ages
    for change in ages:
        assert change.after.startswith("≈")
        exactly = re.match(r"⚠ (\d+\.\d+), not a whole number", change.doubt)
        assert exactly is not None, change.doubt
        assert abs(float(exactly[1]) - float(change.after[1:])) <= 0.5 + 1e-3
        assert change.doubt in page
        assert f"{change.feature} {change.before} → {change.after} ({change.doubt})" in text
    for doubt in rows["doubts"]:  # above the rows, and not at the end
        assert page.index(doubt) < page.index("The rows that add most to the risk") < page.index("What this does not say")
        assert text.index(doubt) < text.index("What this does not say")
    assert not any("whole numbers" in limit for limit in told["limits"])


def test_a_doubt_further_down_a_row_is_counted() -> None:
    rows = {
        "columns": list("abcdef"),
        "spread": [1.0] * 6,
        "holds": [{"decimals": 0, "digits": 4, "whole": True, "range": [0.0, 9.0], "within": [0.0, 9.0]}] * 6,
        "before": [[0] * 6],
    }
    shown, further = largest_changes(
        rows, {"stored": 0, "changes": [[j, 6.0 - j + (0.5 if j in (0, 4, 5) else 0.0)] for j in range(6)]}
    )
    assert [change.feature for change in shown] == list("abcd")
    assert [bool(change.doubt) for change in shown] == [True, False, False, False]
    assert further == "⚠ 2 further changes may be impossible"


def test_within_a_space_nothing_is_doubtful() -> None:
    _, x, _ = people()
    told = summary(space=tp.Space.infer(x))
    assert told["rows"]["doubts"] == []
    assert "⚠" not in render_page(told).partition("<script")[0]
    assert all(not change.doubt for top in told["rows"]["top"] for change in changes_of(told["rows"], top))


@pytest.mark.parametrize(
    ("values", "decimals", "digits"),
    [
        ([1.0, 20.0, 1_234_567.0], 0, 7),
        ([1.5, 2.0], 1, 4),
        ([3.99, 1234.5], 2, 6),
        ([0.1, 0.2, 0.3, 1.1], 1, 4),
        ([0.009259, 0.2654, 12.11], None, 4),
        ([1.23456, 2.0], None, 6),
        (np.random.default_rng(0).normal(size=50), None, 4),
        (np.array([0.1, 0.25, 17.99], dtype=np.float32), 2, 4),
        ([8388607.5, 1.0], 1, 4),
        ([np.nan, 4.0], 0, 4),
    ],
)
def test_the_digits_of_a_column(values: Any, decimals: int | None, digits: int) -> None:
    held = column_format(np.asarray(values, dtype=float))
    assert held is not None
    assert held["decimals"] == decimals
    if decimals is None:
        assert held["digits"] == digits


@pytest.mark.parametrize(("value", "said"), [(66.5, "67"), (67.5, "68"), (-0.5, "-1"), (-0.2, "0"), (1e300, f"{1e300:.0f}")])
def test_halves_are_rounded_as_a_browser_rounds_them(value: float, said: str) -> None:
    assert cell(value, {"decimals": 0, "digits": 4}) == said


def test_a_column_without_values_holds_nothing() -> None:
    assert column_format(np.array([np.nan, np.nan])) is None


def test_values_that_a_column_cannot_tell_apart_are_told_apart_in_words() -> None:
    rows: dict[str, Any] = {
        "columns": ["rate", "measured"],
        "spread": [1.0, 1.0],
        "holds": [
            {"decimals": 2, "digits": 4, "whole": False, "range": [0.0, 9.0], "within": [0.0, 9.0]},
            {"decimals": None, "digits": 4, "whole": False, "range": [0.0, 9.0], "within": [0.0, 9.0]},
        ],
        "before": [[3.15, 1.23456789]],
    }
    told = {change.feature: change for change in changes_of(rows, {"stored": 0, "changes": [[0, 3.1499], [1, 1.23460001]]})}
    assert (told["rate"].before, told["rate"].after) == ("3.15", "just below 3.15")
    assert (told["measured"].before, told["measured"].after) == ("1.23457", "1.2346")
