"""Large arrays: looked at once by block, shared with the user, and sealed."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from tippingpoint.core.arrays import FloatArray
from tippingpoint.data import seals
from tippingpoint.data.frames import Features, read_features
from tippingpoint.data.labels import class_indices
from tippingpoint.data.seals import Seal, kept, survey
from tippingpoint.data.vectors import base_weights, read_labels, read_numbers, read_vector
from tippingpoint.errors import InputError
from tippingpoint.space import Space

WIDTH = 3


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every array counts as large, and blocks have five rows of three numbers."""
    monkeypatch.setattr(seals, "SHARED_FROM", 0)
    monkeypatch.setattr(seals, "BLOCK_BYTES", 5 * WIDTH * 8)


def table(rows: int = 23) -> FloatArray:
    return np.random.default_rng(rows).normal(size=(rows, WIDTH))


def changed(seal: Seal) -> bool:
    try:
        seal.check()
    except InputError:
        return True
    return False


CHANGES: dict[str, Callable[[FloatArray], Any]] = {
    "one bit": lambda x: flip(x, 22, 1, 0),
    "a sign": lambda x: flip(x, 7, 2, 63),
    "two signs": lambda x: flip(x, [6, 8], [0, 2], 63),
    "all signs": lambda x: np.negative(x, out=x),
    "all doubled": lambda x: np.multiply(x, 2.0, out=x),
    "all moved": lambda x: np.add(x, 1.0, out=x),
    "rows of a block exchanged": lambda x: exchange(x, 11, 12),
    "rows of two blocks exchanged": lambda x: exchange(x, 0, 22),
    "columns exchanged": lambda x: x.__setitem__((slice(None), [0, 1]), x[:, [1, 0]]),
    "shuffled": lambda x: np.random.default_rng(0).shuffle(x),
    "in the order of a column": lambda x: x.__setitem__(slice(None), x[np.argsort(x[:, 0])]),
    "upside down": lambda x: x.__setitem__(slice(None), x[::-1].copy()),
    "missing": lambda x: x.__setitem__((3, 1), np.nan),
    "nothing but zeros": lambda x: x.fill(0.0),
}


def flip(x: FloatArray, row: int | list[int], column: int | list[int], bit: int) -> None:
    x.view(np.uint64)[row, column] ^= np.uint64(1) << np.uint64(bit)


def exchange(x: FloatArray, one: int, other: int) -> None:
    x[[one, other]] = x[[other, one]]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", CHANGES)
def test_what_users_do_to_an_array_is_noticed(name: str) -> None:
    x = table()
    seal = read_features(x).seal
    assert not changed(seal)
    before = x.copy()
    CHANGES[name](x)
    assert changed(seal)
    x[:] = before
    assert not changed(seal)


@settings(deadline=None)
@drawn(
    st.integers(1, 40), st.sampled_from([8, 24, 40, 104, 1000]), st.sampled_from(["f8", "i4", "i2", "?", "U3"]), st.randoms()
)
def test_any_byte_of_any_row_is_noticed(rows: int, size: int, kind: str, random: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seals, "SHARED_FROM", 0)
        patch.setattr(seals, "BLOCK_BYTES", size)
        values = np.arange(rows).astype(kind)
        held, seal = kept(values, "y")
        assert np.shares_memory(held, values)
        assert not changed(seal)
        octets = values.view(np.uint8)
        octets[random.randrange(len(octets))] ^= np.uint8(1 << random.randrange(7))
        assert changed(seal)


@pytest.mark.usefixtures("small")
def test_a_change_is_told_by_the_rows_of_its_block() -> None:
    x = table()
    seal = read_features(x).seal
    x[12, 0] = 5.0
    with pytest.raises(InputError, match=r"^X changed since it was read, in one of its rows 10 to 14; .*: pass X\.copy\(\)\.$"):
        seal.check()


@pytest.mark.usefixtures("small")
def test_a_large_array_is_shared_and_nothing_is_written_into_it() -> None:
    x = table()
    read = read_features(x)
    assert np.shares_memory(read.x, x)
    assert not read.x.flags.writeable
    assert x.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        read.x[0, 0] = 1.0


def test_a_small_array_is_copied() -> None:
    x = table()
    read = read_features(x)
    assert not np.shares_memory(read.x, x)
    assert read.seal.array is None
    x[:] = 0.0
    read.seal.check()
    assert not (read.x == 0.0).any()


LAYOUTS: dict[str, Callable[[FloatArray], Any]] = {
    "as it is": lambda x: x,
    "Fortran's order": np.asfortranarray,
    "every other row of more": lambda x: np.repeat(x, 2, axis=0)[::2],
    "some columns of more": lambda x: np.hstack((x, x))[:, :WIDTH],
    "upside down": lambda x: x[::-1].copy()[::-1],
    "float32": lambda x: x.astype(np.float32).astype(float).astype(np.float32),
    "the other order of bytes": lambda x: x.astype(">f8"),
    "objects": lambda x: x.astype(object),
    "a frame of one block": lambda x: pd.DataFrame(x, columns=["x0", "x1", "x2"]),
    "a frame of columns": lambda x: pd.DataFrame({f"x{j}": x[:, j].copy() for j in range(WIDTH)}),
    "a list": lambda x: x.tolist(),
}


def read_only(x: FloatArray) -> FloatArray:
    locked = x.copy()
    locked.flags.writeable = False
    return locked


LAYOUTS["read-only"] = read_only


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rows", [2, 5, 23])
def test_what_is_read_does_not_depend_on_layout_or_sharing(layout: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = table(rows).astype(np.float32).astype(float)
    given = LAYOUTS[layout](x)
    copied = read_features(given)
    monkeypatch.setattr(seals, "SHARED_FROM", 0)
    monkeypatch.setattr(seals, "BLOCK_BYTES", 56)
    again = read_features(given)
    for read in (copied, again):
        assert np.array_equal(read.x, x)
        assert read.x.flags.c_contiguous
        assert read.x.dtype == np.float64
        assert read.names == ("x0", "x1", "x2")
        assert not read.missing.any()
    assert (again.seal.array is not None) == (layout in ("as it is", "read-only", "a list"))


@pytest.mark.parametrize("sharing", [0, 2**25])
@pytest.mark.parametrize("size", [1, 24, 56, 2**19])
def test_the_first_infinite_value_is_named_in_a_late_block(sharing: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seals, "SHARED_FROM", sharing)
    monkeypatch.setattr(seals, "BLOCK_BYTES", size)
    x = table()
    x[2, 0], x[19, 2], x[20, 1] = np.nan, -np.inf, np.inf
    for given in (x, pd.DataFrame(x, columns=["x0", "x1", "x2"])):
        with pytest.raises(InputError, match=r"X\[19, 'x2'\]=-inf: every value must be finite"):
            read_features(given)


@pytest.mark.parametrize("size", [1, 24, 56, 2**19])
def test_missing_values_are_found_in_a_late_block(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seals, "BLOCK_BYTES", size)
    x = table()
    x[21, 1] = np.nan
    for sharing in (0, 2**25):
        monkeypatch.setattr(seals, "SHARED_FROM", sharing)
        read = read_features(x)
        assert read.missing.tolist() == [False, True, False]
        assert read.take(np.arange(5)).missing.tolist() == [False, False, False]
        with pytest.raises(InputError, match=r"X\[21, 'x1'\]=nan: every value must be finite"):
            read.check_numbers()


def test_numbers_whose_sum_is_none_are_numbers() -> None:
    x = np.full((4, 2), 1.7e308)
    x[1] *= -1.0
    found = survey(x)
    assert found.infinite is None
    assert not found.missing.any()


def test_whole_numbers_with_gaps_are_whole() -> None:
    frame = pd.DataFrame({"n": [1.0, np.nan, 3.0], "h": [0.5, np.nan, 1.0], "f": [1.0, 2.0, 3.0], "i": [1, 2, 3], "g": np.nan})
    assert [column.holds for column in read_features(frame).columns] == ["integer", "number", "number", "integer", "number"]


def test_columns_of_any_type_are_the_same_numbers() -> None:
    frame = pd.DataFrame({"i": [1, -2, 3], "u": np.array([1, 2, 255], dtype=np.uint8), "b": [True, False, True]})
    frame["s"] = np.array([0.5, 1.5, 2.5], dtype=np.float32)
    frame["n"] = pd.array([1, None, 3], dtype="Int64")
    frame["c"] = ["no", "yes", "no"]
    wanted = [[1, 1, 1, 0.5, 1, 0], [-2, 2, 0, 1.5, np.nan, 1], [3, 255, 1, 2.5, 3, 0]]
    assert np.array_equal(read_features(frame).x, wanted, equal_nan=True)


@pytest.mark.usefixtures("small")
def test_a_pickle_is_checked_and_then_nobody_elses() -> None:
    x = table()
    read = read_features(x)
    mine: Features = pickle.loads(pickle.dumps(read))  # noqa: S301  # our own
    deep = copy.deepcopy(read)
    assert copy.copy(read.seal) is read.seal
    x[4, 2] += 1.0
    for own in (mine, deep):
        own.seal.check()
        assert own.x[4, 2] == x[4, 2] - 1.0
    for pickled in (lambda: pickle.dumps(read), lambda: copy.deepcopy(read)):
        with pytest.raises(InputError, match="X changed since it was read"):
            pickled()


def test_equal_weights_take_no_memory() -> None:
    weights = base_weights(None, 7)
    assert weights.strides == (0,)
    assert weights.tolist() == [1.0 / 7] * 7
    assert Space().resolve(read_features(table(7)), weights, {}).names == ("x0", "x1", "x2")


def test_labels_are_small_and_not_copied() -> None:
    y = np.array([3, 9, 9, 3])
    assert np.shares_memory(read_labels(y, "y"), y)
    assert not np.shares_memory(read_vector(y, "y"), y)
    index, classes = class_indices(read_labels(y, "y"), None, 1)
    assert (index.dtype, index.tolist(), classes) == (np.dtype(np.int8), [0, 1, 1, 0], (3, 9))
    index, classes = class_indices(y, [9, 3], 1)
    assert (index.dtype, index.tolist(), classes) == (np.dtype(np.int8), [1, 0, 0, 1], (9, 3))


@pytest.mark.parametrize("kind", ["int64", "uint8", "float64", "bool", "U3", object])
@pytest.mark.parametrize("count", [2, 3, 200])
def test_positions_are_those_of_a_sort(kind: Any, count: int) -> None:
    y = (np.arange(70_001) * 7 % count).astype(kind)
    distinct = np.unique(y)
    index, classes = class_indices(y, None, len(distinct) if len(distinct) > 2 else 1)
    assert list(classes) == distinct.tolist()
    assert np.array_equal(distinct[index], y)
    assert index.dtype == (np.int8 if count <= 128 else np.int16 if len(distinct) > 2 else np.int8)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([2**64 - 1, 2**64 - 3, 2**64 - 9], dtype=np.uint64),
        np.array([-(2**63), -(2**63) + 5, -(2**63) + 7]),
        np.array([-128, 0, 127], dtype=np.int8),
        np.array([0, 2**15 - 1, 3]),
        np.array([0, 2**15, 3]),
        np.array([-(2**63), 0, 2**63 - 1]),
        np.array(["b", "ä", "a"], dtype=object),
        np.array([2.5, -1.0, 0.0]),
    ],
    ids=str,
)
def test_labels_at_the_edges_are_placed_as_a_sort_places_them(labels: Any) -> None:
    y = np.tile(labels, 30_000)
    index, classes = class_indices(y, None, 3)
    assert list(classes) == sorted(labels.tolist())
    assert [type(label) for label in classes] == [type(label) for label in labels.tolist()]
    assert np.array_equal(np.array(classes, dtype=y.dtype)[index], y)


def test_targets_are_copied_once_and_checked_to_the_last() -> None:
    y = np.linspace(0.0, 1.0, 2**20 + 3)
    read = read_numbers(y, "y")
    assert not np.shares_memory(read, y)
    y[-2] = np.nan
    with pytest.raises(InputError, match=r"y\[1048577\]=nan: every value must be finite"):
        read_numbers(y, "y")
    with pytest.raises(InputError, match=r"y\[1048577\]=nan: every label must be known"):
        read_labels(y, "y")
