"""Numbers as JSON: what JSON lacks survives, and a word stays a word."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import tippingpoint as tp
from tippingpoint.json_numbers import decode, decode_all, encode, read_json, write_json

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize("value", [0.0, -0.0, 0.1, 1e-300, 5e-324, 1.7976931348623157e308, INF, -INF, NAN])
@pytest.mark.parametrize("kind", [float, np.float64])
def test_a_number_comes_back_bit_for_bit(value: float, kind: Any) -> None:
    back = decode(json.loads(write_json(kind(value))))
    assert type(back) is float
    assert np.float64(back).tobytes() == np.float64(value).tobytes()


def test_what_is_not_finite_has_three_different_spellings() -> None:
    assert write_json([NAN, INF, -INF]) == '["nan", "inf", "-inf"]'
    assert write_json(np.array([NAN, INF, -INF], dtype=np.float32)) == '["nan", "inf", "-inf"]'


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (np.int64(3), 3),
        (np.bool_(True), True),  # noqa: FBT003  # what is tested
        (np.float32(0.5), 0.5),
        (np.str_("a"), "a"),
        ((1, (2.5, None)), [1, [2.5, None]]),
        (np.array([[1.0, 2.0], [3.0, INF]]), [[1.0, 2.0], [3.0, "inf"]]),
        (np.array(7), 7),
        ({1: {"a": np.arange(2)}}, {"1": {"a": [0, 1]}}),
        ("inf", "inf"),
    ],
)
def test_types_that_json_lacks_become_those_that_it_has(value: Any, stored: Any) -> None:
    assert encode(value) == stored
    assert json.loads(write_json(value)) == stored
    assert type(encode(value)) is type(stored)


def test_letters_stay_letters_and_spaces_can_be_left_out() -> None:
    assert write_json({"größe": [1.0, 2.0]}, compact=True) == '{"größe":[1.0,2.0]}'
    assert write_json({"a": 1}, indent=2) == '{\n  "a": 1\n}'


def test_several_numbers_come_back_as_a_tuple() -> None:
    assert decode_all([1, "inf", 0.5]) == (1.0, INF, 0.5)


@pytest.mark.parametrize("stored", ["infinity", "NaN", "", None, True, [1.0], {}])
def test_what_is_no_number_is_refused(stored: Any) -> None:
    with pytest.raises(tp.InputError, match="where a number belongs"):
        decode(stored)


@pytest.mark.parametrize("stored", ["nan", 1.0, None, {"a": 1.0}])
def test_what_is_no_list_is_refused(stored: Any) -> None:
    with pytest.raises(tp.InputError, match="where a list of numbers belongs"):
        decode_all(stored)


@pytest.mark.parametrize("text", ["{", "", b"\xff\xfe\x00", None])
def test_what_is_no_json_is_refused(text: Any) -> None:
    with pytest.raises(tp.InputError, match="not JSON"):
        read_json(text)


def test_nothing_else_is_written_as_something_it_is_not() -> None:
    with pytest.raises(TypeError):
        write_json(object())
    with pytest.raises(TypeError):
        write_json(np.datetime64("2026-01-31"))
