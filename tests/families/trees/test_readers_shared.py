"""What the readers share: comparisons in float32, nodes in order, bounds on rounding, and the check of a reading."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier, RandomForestClassifier

from ensembles import TABLE, as_array, reading_of
from tippingpoint.families.trees.forest import LEAF, Forest
from tippingpoint.families.trees.readers.checking import MOVED_ROWS, check_reading, check_rows, moved_rows
from tippingpoint.families.trees.readers.float32 import le32
from tippingpoint.families.trees.readers.nodes import bits, planted
from tippingpoint.families.trees.readers.rounding import UNIT32, any_order, in_order, leaf_ranges
from tippingpoint.families.trees.reading import TreeReading

LARGEST = float(np.finfo(np.float32).max)
SMALLEST = float(np.finfo(np.float32).smallest_subnormal)


def float32(x: float) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(x))


@pytest.mark.parametrize(
    "t",
    [
        *(0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 1.0 + 2.0**-24, 1.0 + 3.0 * 2.0**-24, 1e-3, 1e8 + 3.0),
        *(SMALLEST, -SMALLEST, 0.5 * SMALLEST, -0.5 * SMALLEST, 1.5 * SMALLEST, 1e-60, -1e-60, 1e-310, 2.0**-126, -(2.0**-126)),
        *(LARGEST, -LARGEST, np.nextafter(LARGEST, 0.0), 1e39, -1e39, 1e300, -1e300),
    ],
)
def test_the_largest_double_whose_float32_is_at_most_a_number(t: float) -> None:
    edge = float(le32(t))
    assert float32(edge) <= t < float32(np.nextafter(edge, np.inf))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_and_of_any_number(t: float) -> None:
    edge = float(le32(t))
    assert float32(edge) <= t < float32(np.nextafter(edge, np.inf))


def test_and_of_what_is_none() -> None:
    assert le32(np.inf) == np.inf
    assert float32(float(le32(-np.inf))) == -np.inf < float32(float(np.nextafter(le32(-np.inf), 0.0)))
    assert np.isnan(le32(np.nan))
    np.testing.assert_array_equal(le32(np.array([[0.5, np.inf]])), [[0.5 + 2.0**-25, np.inf]])


def test_nodes_are_put_in_order_and_those_that_nobody_gets_to_are_left_out() -> None:
    """In the second tree a node has a child that stands before it, and one was deleted."""
    forest = planted(
        starts=[0, 1, 7],
        feature=[9, 2, 9, 9, 1, 9, 9],
        threshold=[9.0, 0.5, 9.0, 9.0, -1.0, 9.0, 9.0],
        missing_left=[1, 1, 1, 1, 0, 1, 1],
        left=[-1, 3, -1, -1, 1, -1, -1],
        right=[-1, 2, -1, -1, 5, -1, -1],
        values=[[10.0], [2.0], [4.0], [5.0], [6.0]],
        base=[0.25],
        width=3,
    )
    assert forest.roots.tolist() == [0, 1]
    assert forest.feature.tolist() == [LEAF, 2, 1, LEAF, LEAF, LEAF]
    inner = np.flatnonzero(forest.feature != LEAF)
    assert (forest.left[inner] > inner).all()
    assert (forest.right[inner] > inner).all()
    x = np.array([[0.0, -2.0, 0.0], [0.0, 0.0, 0.5], [0.0, 5.0, 0.6], [0.0, np.nan, np.nan]])
    np.testing.assert_array_equal(forest.scores(x), [[12.25], [16.25], [14.25], [16.25]])
    assert np.isnan(forest.threshold[forest.feature == LEAF]).all()
    assert 5.0 not in forest.values


def test_bits_of_masks() -> None:
    assert bits(np.array([0b101, 1 << 31], dtype=np.uint32)).tolist() == [0, 2, 63]
    assert bits(np.zeros(3, dtype=np.uint32)).tolist() == []


def stumps(values: Any, base: Any) -> Forest:
    """Trees of two leaves each, `(T, 2, K)`."""
    held = np.asarray(values, dtype=float)
    trees = len(held)
    return planted(
        starts=3 * np.arange(trees + 1),
        feature=np.zeros(3 * trees),
        threshold=np.tile([0.0, np.nan, np.nan], trees),
        missing_left=np.zeros(3 * trees),
        left=np.tile([1, -1, -1], trees),
        right=np.tile([2, -1, -1], trees),
        values=held.reshape(2 * trees, -1),
        base=base,
        width=1,
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("base", [0.0, 3.3, -70.1])
def test_sums_in_float32_keep_within_the_bounds(seed: int, base: float) -> None:
    rng = np.random.default_rng(seed)
    values = (rng.normal(size=(300, 2, 1)) * np.exp(rng.normal(size=(300, 1, 1))) + rng.normal()).astype(np.float32)
    forest = stumps(values, [float(np.float32(base))])
    for side, x in enumerate(([[-1.0]], [[1.0]])):
        exact = float(forest.base[0]) + np.sum(values[:, side].astype(float))
        orders = [np.concatenate(([np.float32(base)], values[:, side, 0])), np.append(values[:, side, 0], np.float32(base))]
        for terms in orders:
            total = np.float32(0.0)
            for term in terms:
                total += term
            assert abs(float(total) - exact) <= in_order(forest, UNIT32)
        shuffled = np.float32(0.0)
        for term in rng.permutation(orders[0]):
            shuffled += term
        assert abs(float(shuffled) - exact) <= any_order(forest, UNIT32)
        assert forest.scores(np.array(x)) == pytest.approx(exact)
    assert in_order(forest, UNIT32) < any_order(forest, UNIT32) < 400 * UNIT32 * float(np.abs(values).sum() + abs(base))


def test_a_bound_that_is_reached() -> None:
    """Every addition loses half a unit in the last place."""
    forest = stumps(np.full((64, 2, 1), UNIT32), [1.0])
    total = np.float32(1.0)
    for _ in range(64):
        total += np.float32(UNIT32)
    lost = 1.0 + 64 * UNIT32 - float(total)
    assert lost <= in_order(forest, UNIT32) <= 1.05 * lost


def test_ranges_of_leaves_are_of_their_own_tree_and_output() -> None:
    low, high = leaf_ranges(stumps([[[1.0, 0.0], [3.0, 0.0]], [[0.0, -2.0], [0.0, -5.0]]], [0.0, 0.0]))
    np.testing.assert_array_equal(low, [[1.0, 0.0], [0.0, -5.0]])
    np.testing.assert_array_equal(high, [[3.0, 0.0], [0.0, -2.0]])


@pytest.fixture(scope="module")
def right() -> TreeReading:
    return reading_of(RandomForestClassifier(9, max_depth=4, random_state=0).fit(TABLE.x, TABLE.two))


def found_in(reading: TreeReading, **wrong: Any) -> str | None:
    return check_reading(replace(reading, forest=replace(reading.forest, **wrong)), TABLE.x, as_array)


def test_a_right_reading_passes(right: TreeReading) -> None:
    assert check_reading(right, TABLE.x, as_array) is None


def test_a_wrong_one_does_not(right: TreeReading) -> None:
    forest = right.forest
    splits = np.flatnonzero(forest.feature != LEAF)
    single = forest.threshold.astype(np.float32)
    for wrong in (
        {"threshold": np.nextafter(forest.threshold, np.inf)},
        {"threshold": np.nextafter(forest.threshold, -np.inf)},
        {"threshold": single.astype(float)},
        {"missing_left": ~forest.missing_left},
        {"missing_left": forest.missing_left ^ (np.arange(len(forest.feature)) == splits[-1])},
        {"base": forest.base + 1e-12},
        {"left": forest.right, "right": forest.left},
    ):
        found = found_in(right, **wrong)
        assert found is not None
        assert found.startswith("scikit-learn returns ")
        assert "for a row whose leaves add up to " in found


def test_what_comes_out_has_to_be_as_many_numbers(right: TreeReading) -> None:
    fewer = replace(right.forest, values=right.forest.values[:, :1], base=right.forest.base[:1])
    found = check_reading(replace(right, forest=fewer), TABLE.x, as_array)
    assert found == "scikit-learn returns 2 numbers a row, and its trees add up to 1"


def test_answers_that_are_no_numbers_are_wrong(right: TreeReading) -> None:
    asked = replace(right, ask=lambda rows: np.full((len(rows), 2), np.nan))
    assert check_rows(asked, TABLE.x, TABLE.x) is not None


def test_rows_are_moved_where_they_may_be(right: TreeReading) -> None:
    like, moved = moved_rows(right, TABLE.x, movable=np.array([0, 2]), gaps=np.array([2]))
    again = moved_rows(right, TABLE.x, movable=np.array([0, 2]), gaps=np.array([2]))
    np.testing.assert_array_equal(moved, again[1])
    assert moved.shape == (MOVED_ROWS, 4)
    changed = (moved != TABLE.x[like]) & ~(np.isnan(moved) & np.isnan(TABLE.x[like]))
    assert changed.any(axis=0).tolist() == [True, False, True, False]
    assert np.isnan(moved[changed[:, 2], 2]).any()
    assert not np.isnan(moved[changed[:, 0], 0]).any()
    edges = right.forest.threshold[right.forest.feature == 0]
    edges = edges[np.isfinite(edges)]  # one more splits what is missing from all numbers
    assert np.isin(edges, moved[:, 0]).all()
    assert np.isin(np.nextafter(edges, np.inf), moved[:, 0]).all()


def test_a_model_without_splits_has_nowhere_to_move_to() -> None:
    model = GradientBoostingRegressor(n_estimators=2).fit(TABLE.whole, np.ones(len(TABLE.whole)))
    reading = reading_of(model)
    assert len(moved_rows(reading, TABLE.whole)[0]) == 0
    assert check_reading(reading, TABLE.whole, as_array) is None


def test_categories_are_moved_to_what_the_model_knows() -> None:
    x = TABLE.x.copy()
    x[:, 2] += 5.0
    labels = np.isin(x[:, 2], (3.0, 6.0)).astype(int)
    reading = reading_of(HistGradientBoostingClassifier(max_iter=3, categorical_features=[2]).fit(x, labels))
    known = np.array(reading.categories[2])
    coded = x.copy()
    coded[:, 2] = np.where(np.isnan(x[:, 2]), np.nan, np.searchsorted(known, x[:, 2]))

    def rows_of(like: Any, moved: Any) -> Any:
        values = np.append(known, np.nan)[np.where(np.isnan(moved[:, 2]), len(known), np.nan_to_num(moved[:, 2])).astype(int)]
        return np.column_stack((moved[:, :2], values, moved[:, 3]))

    assert check_reading(reading, coded, rows_of) is None
    swapped = replace(reading.forest, sets=tuple(each + 1 for each in reading.forest.sets))
    assert check_reading(replace(reading, forest=swapped), coded, rows_of) is not None


def test_no_library_is_imported_to_find_out() -> None:
    program = (
        "import sys; from sklearn.linear_model import LinearRegression;"
        "from tippingpoint.families.trees.readers import read_model;"
        "assert read_model(LinearRegression()) is None and read_model(print) is None;"
        "assert not {'xgboost', 'lightgbm', 'catboost', 'sklearn.ensemble'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
