"""Models that write into their input: the data stay what they are, and so does the result."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tippingpoint as tp
from boxes import PRICES, RISK, WORTH, asked, data, frame, linear


def zeroes(rows: Any) -> Any:
    scores = linear(rows)
    rows *= 0.0
    return scores


def overwrites_columns(rows: pd.DataFrame) -> Any:
    scores = linear(rows)
    for name in ("a", "b", "c"):
        values = rows[name].to_numpy()
        values.setflags(write=True)
        values[:] = 0.0
        rows.loc[:, name] = 7.0
    rows["job"] = "spy"
    rows.drop(columns="b", inplace=True)  # noqa: PD002  # that is what it does
    return scores


def test_a_model_that_zeroes_its_array_gets_a_copy_of_its_own() -> None:
    x, y = data()
    clean = asked(linear, x, y)
    before, labels = x.copy(), y.copy()
    dirty = asked(zeroes, x, y)
    assert dirty.value == clean.value
    assert np.array_equal(x, before)
    assert np.array_equal(y, labels)
    assert dirty.sensitive.equals(clean.sensitive)


def test_a_model_that_overwrites_the_columns_of_its_frame_gets_a_copy_of_its_own() -> None:
    x, y = frame()
    clean, before = asked(linear, x, y), x.copy(deep=True)
    assert asked(overwrites_columns, x, y).value == clean.value
    pd.testing.assert_frame_equal(x, before)


def test_polars_too() -> None:
    polars = pytest.importorskip("polars")
    x, y = data()
    rows = polars.DataFrame(x, schema=["a", "b", "c"])

    def dirty(given: Any) -> Any:
        scores = given.to_numpy() @ WORTH
        for name in given.columns:
            given[0, name] = 99.0
        return scores

    assert asked(dirty, rows, y).value == asked(linear, x, y).value
    assert np.array_equal(rows.to_numpy(), x)


def test_a_scaler_that_works_in_place_is_as_exact_as_one_that_does_not() -> None:
    x, y = data()
    clean = make_pipeline(StandardScaler(), LogisticRegression()).fit(x, y)
    dirty = make_pipeline(StandardScaler(copy=False), LogisticRegression()).fit(x.copy(), y)
    before = x.copy()
    wanted, found = (tp.stability(model, x, y, RISK, **PRICES) for model in (clean, dirty))
    assert found.exact
    assert found.value == pytest.approx(wanted.value, rel=1e-9)
    assert np.array_equal(x, before)


def test_features_and_comparisons_leave_the_data_alone() -> None:
    x, y = data()
    before = x.copy()
    ranked = [tp.feature_stability(model, x, y, RISK, output="score", **PRICES) for model in (linear, zeroes)]
    assert {name: ranked[0][name].value for name in ranked[0]} == {name: ranked[1][name].value for name in ranked[1]}
    both = tp.compare({"clean": linear, "dirty": zeroes}, x, y, RISK, output="score", **PRICES).results
    assert both["clean"].value == both["dirty"].value
    assert np.array_equal(x, before)


def test_a_loss_of_ones_own_may_write_into_what_it_gets() -> None:
    x, y = data()

    def squared(scores: Any, labels: Any) -> Any:
        return np.square(scores - labels)

    def dirty(scores: Any, labels: Any) -> Any:
        found = squared(scores, labels)
        scores *= 0.0
        labels *= 0
        return found

    labels = y.copy()
    wanted = tp.stability(linear, x, y, 2.0, loss=squared, **PRICES)
    assert tp.stability(linear, x, y, 2.0, loss=dirty, **PRICES).value == wanted.value
    assert np.array_equal(y, labels)


def test_targets_that_a_model_holds_and_changes_are_those_that_were_given() -> None:
    x, labels = data()
    target = labels.astype(float)
    wanted = tp.stability(linear, x, target.copy(), 2.0, loss="squared", **PRICES)
    calls = 0

    def treacherous(rows: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 8:
            target[:] = 100.0
        return linear(rows)

    assert tp.stability(treacherous, x, target, 2.0, loss="squared", **PRICES).value == wanted.value


def test_an_answer_in_a_buffer_that_is_used_again_is_read_before() -> None:
    x, y = data()
    buffer = np.empty(40)

    def thrifty(rows: Any) -> Any:
        buffer[: len(rows)] = linear(rows)
        return buffer[: len(rows)]

    assert asked(thrifty, x, y, batch=40).value == asked(linear, x, y, batch=40).value


def test_a_model_that_holds_the_data_and_writes_into_them_later_is_an_error() -> None:
    x, y = data()
    calls = 0

    def treacherous(rows: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 8:
            x[5, 1] = 42.0
        return linear(rows)

    with pytest.raises(tp.InputError, match=r"X\[5, 'x1'\] changed while the model was asked, from .* to 42; .*X.copy\(\)"):
        asked(treacherous, x, y)


def test_what_the_user_does_with_the_data_afterwards_does_not_change_a_profile() -> None:
    x, y = data()
    for model in (linear, (WORTH, 0.0)):
        mine = x.copy()
        profile = tp.profile(model, mine, y)
        mine *= 0.0
        wanted = tp.profile(model, x, y).stability(RISK, **PRICES)
        assert profile.stability(RISK, **PRICES).sensitive.equals(wanted.sensitive)


def test_a_picture_leaves_the_result_alone() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    x, y = data()
    result = asked(linear, x, y)
    before = result.sensitive.copy()
    try:
        result.plot_sensitive(model=zeroes)
        assert result.sensitive.equals(before)
        with pytest.raises(tp.InputError, match=r"picture .*sys\.exit"):
            result.plot_sensitive(model=lambda _: sys.exit(0))
    finally:
        plt.close("all")
