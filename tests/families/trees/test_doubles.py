"""Doubles in their order, and bisection over them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tippingpoint.core.arrays import BoolArray, FloatArray
from tippingpoint.families.trees.columns.doubles import LARGEST, doubles, last_doubles, ranks

FINITE = st.floats(-LARGEST, LARGEST)


@given(st.floats(-1e308, 1e308))
def test_neighbours_are_one_place_apart(number: float) -> None:
    at = ranks(np.array([number, np.nextafter(number, math.inf), np.nextafter(number, -math.inf)]))
    assert (at - at[0]).tolist() == [0, 1, -1]
    assert doubles(at)[0] == number


def test_both_zeros_share_a_place() -> None:
    assert ranks(np.array([-0.0, 0.0, 5e-324])).tolist() == [0, 0, 1]


@given(st.lists(FINITE, min_size=1, max_size=5), st.sampled_from([2, 3, 7, 16]))
def test_the_last_double_is_found_to_the_last_digit(edges: list[float], parts: int) -> None:
    wanted, asked = np.array(edges), []

    def holds(at: FloatArray) -> BoolArray:
        asked.append(at)
        return at <= wanted

    low, high = np.full(len(edges), -LARGEST), np.where(wanted < LARGEST, LARGEST, -LARGEST)
    found = last_doubles(holds, low, high, parts)
    np.testing.assert_array_equal(found, np.where(wanted < LARGEST, wanted, -LARGEST))
    assert len(asked) <= math.ceil(64 / math.log2(parts)) + 1
    assert all(at.shape == (parts - 1, len(edges)) for at in asked)


@pytest.mark.parametrize("parts", [2, 16])
def test_nothing_is_looked_for_between_neighbours(parts: int) -> None:
    low = np.array([[1.0, -2.0]])
    high = np.nextafter(low, math.inf)
    found = last_doubles(lambda at: np.zeros(at.shape, dtype=bool), low, high, parts)
    np.testing.assert_array_equal(found, low)
