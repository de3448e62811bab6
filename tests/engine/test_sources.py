"""Where partitions come from: Parquet by row groups, Dask collections, lists, functions and iterators."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
import torch

import tippingpoint as tp
from partitioned import CUTS, ROWS, as_polars, assert_same_domain, clerk, cut, oracles, people, planned, whole
from tippingpoint.engine.iterables import HELD
from tippingpoint.engine.partitions import Part, Partitions, partitions_of, run_here
from tippingpoint.engine.preparing import prepared_at

PEOPLE = people()
CLERK = clerk(PEOPLE)
NUMBERS = PEOPLE[["age", "level"]].to_numpy(dtype=float)
LABELS = (PEOPLE["label"] == "yes").to_numpy().astype(int)
LINE = ([0.1, -0.2], -4.0)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Two files of several row groups each, and one without rows."""
    PEOPLE[:130].to_parquet(tmp_path / "a.parquet", row_group_size=50)
    PEOPLE[130:].to_parquet(tmp_path / "b.parquet", row_group_size=60, index=True)
    PEOPLE[:0].to_parquet(tmp_path / "c.parquet")
    (tmp_path / "_SUCCESS").touch()
    return tmp_path


def serves(partitions: Partitions | None) -> None:
    """Plan and oracles are those of the whole table."""
    assert partitions is not None
    made = planned(CLERK, partitions, scale="std")
    case = whole(CLERK, PEOPLE, scale="std", weighted=True)
    assert_same_domain(made.domain, case.domain)
    every = oracles(CLERK, partitions, made)
    np.testing.assert_allclose(np.concatenate([each.base for each in every]), case.base, rtol=1e-12)
    losses = [each.oracle.losses for each in every if each.oracle is not None]
    np.testing.assert_allclose(np.concatenate(losses), case.judgement.oracle(case.domain).losses)


@pytest.mark.parametrize(
    "given", [lambda d: d, lambda d: str(d / "*.parquet"), lambda d: [d / "a.parquet", str(d / "b.parquet")]]
)
def test_parquet_by_row_groups(files: Path, given: Callable[[Path], Any]) -> None:
    partitions = partitions_of(given(files), "label", "weight")
    assert partitions is not None
    assert [row for row in partitions.rows or () if row] == [50, 50, 30, 60, 50]
    assert partitions[4].name == f"row group 1 of {files / 'b.parquet'}"
    serves(pickle.loads(pickle.dumps(partitions)))  # noqa: S301  # our own


def test_the_survey_reads_every_row_group_once_and_needed_columns_only(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[int, tuple[str, ...]]] = []
    original = pq.ParquetFile.read_row_group

    def watched(self: Any, group: int, columns: list[str], **settings: Any) -> Any:
        read.append((group, tuple(columns)))
        return original(self, group, columns=columns, **settings)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", watched)
    partitions = partitions_of(files, "label", columns=["age", "level"])
    assert not read
    made = planned(LINE, partitions, scale="std")
    assert [group for group, _ in read] == [0, 1, 2, 0, 1, 0]
    assert {columns for _, columns in read} == {("age", "level", "label")}
    assert [column.name for column in made.columns] == ["age", "level"]


@pytest.mark.parametrize("memory", [0, "1 GB"])
def test_slices_of_a_large_row_group_change_no_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: Any) -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.normal(size=140_000), "b": rng.normal(size=140_000), "w": rng.integers(1, 4, 140_000)})
    frame["label"] = np.where(frame["a"] + rng.normal(size=140_000) > 0.0, "yes", "no")
    path = str(tmp_path / "t.parquet")
    frame.to_parquet(path, row_group_size=140_000)

    def asked() -> Any:
        made = tp.profile(([1.0, 0.2, 0.0], 0.1), path, "label", loss="logistic", memory=memory)
        return made.stability(0.9, theta1=1.0, theta2=0.5)

    whole = asked()
    monkeypatch.setattr("tippingpoint.engine.parquet.WHOLE_CELLS", 1000)
    monkeypatch.setattr("tippingpoint.engine.parquet.SLICE_CELLS", 1000)
    partitions = partitions_of(path, "label")
    assert partitions is not None
    assert partitions.rows == (65_536, 65_536, 8_928)
    assert partitions[1].name == f"the slice from row 65536 of row group 0 of {path}"
    for (one, part), alone in zip(partitions.iterate(skip=[0]), [partitions[1].load(), partitions[2].load()], strict=True):
        first = 65_536 * one.number
        pd.testing.assert_frame_equal(part.x, frame[["a", "b", "w"]].iloc[first : first + part.rows].reset_index(drop=True))
        pd.testing.assert_frame_equal(part.x, alone.x)
        np.testing.assert_array_equal(part.y, alone.y)
    sliced = asked()
    assert (sliced.value, sliced.lower, sliced.standard_error) == (whole.value, whole.lower, whole.standard_error)


class DuckDBPyRelation:
    """As much of DuckDB's relation as is asked for; DuckDB itself is not installed here."""

    __module__ = "_duckdb"

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def fetch_record_batch(self, rows: int) -> Any:
        return pa.RecordBatchReader.from_batches(self._table.schema, self._table.to_batches(max_chunksize=min(rows, 70)))


LAZY: dict[str, Callable[[pa.Table], Any]] = {
    "LazyFrame": lambda table: pl.from_arrow(table).lazy(),
    "dataset": pa.dataset.dataset,
    "relation": DuckDBPyRelation,
    "reader": lambda table: table.to_reader(70),
    "table": lambda table: table,
    "polars": pl.from_arrow,
    "pandas": lambda table: table.to_pandas(),
}


@pytest.mark.parametrize("kind", LAZY)
def test_any_frame_is_read_and_its_labels_are_named_by_column(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tippingpoint.engine.iterables.BATCH_ROWS", 100)
    people = PEOPLE[["age", "level", "weight", "label"]]
    given = LAZY[kind](pa.Table.from_pandas(people, preserve_index=False))
    expected = tp.stability(LINE, people[["age", "level"]], people["label"], 0.6, sample_weight=people["weight"])
    partitions = None if kind == "reader" else partitions_of(given, "label", "weight")  # which is read once
    if kind in ("LazyFrame", "dataset", "relation"):
        assert partitions is not None
        assert [part.rows for _, part in partitions.iterate()] == [100, 100, 40]
        with pytest.raises(tp.InputError, match="give the name of its column, as y='label'"):
            tp.stability(LINE, given, people["label"], 0.6)
    found = tp.stability(LINE, given, "label", 0.6, sample_weight="weight")
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert found.samples == expected.samples
    assert not any("pyarrow" in note or "[" in note for note in found.notes)


def test_a_spark_frame_is_refused_with_the_fix() -> None:
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})()
    for ask in (
        lambda: tp.stability(LINE, frame, "label", 0.5),
        lambda: tp.compare({"a": LINE, "b": LINE}, frame, "label", 0.5),
        lambda: tp.drift(LINE, (frame, "label"), (frame, "label"), risk=0.5),
        lambda: tp.Space.infer(frame),
    ):
        with pytest.raises(tp.TippingPointError, match=r"X is a Spark DataFrame.* X\.write\.parquet"):
            ask()


def test_lazy_data_where_a_table_is_needed_name_the_fix() -> None:
    with pytest.raises(tp.UnsupportedError, match=r"X is a LazyFrame, which is not in memory\. Collect it"):
        tp.Space.infer(pl.from_pandas(PEOPLE).lazy())


def test_gaps_in_one_row_group_only(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2, 3, None], "b": [0.5, 1.0, 1.5, 2.0], "y": [0, 1, 0, 1]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=2)
    made = planned(lambda rows: np.asarray(rows["b"] > 1), partitions_of(str(tmp_path / "t.parquet"), "y"), scale="raw")
    assert [column.holds for column in made.columns] == ["integer", "number"]


@pytest.mark.parametrize("split", [1, 3, 7])
def test_dask_frames(split: int) -> None:
    data = dd.from_pandas(PEOPLE, npartitions=split)
    partitions = partitions_of(data, "label", "weight")
    serves(partitions)
    part = dask.compute(next(iter(partitions or ())).delayed, scheduler="synchronous")[0]
    assert isinstance(part, Part)


def test_a_dask_partition_is_pickled_without_the_others() -> None:
    few, many = (partitions_of(dd.from_pandas(PEOPLE, npartitions=k), "label", "weight") for k in (10, 100))
    assert few is not None
    assert many is not None
    pickled = pickle.dumps(many[7])
    assert len(pickled) < 2 * len(pickle.dumps(few[7]))
    pd.testing.assert_frame_equal(pickle.loads(pickled).load().x, many[7].load().x)  # noqa: S301  # our own
    x = da.from_array(NUMBERS, chunks=(20, 2))
    array = partitions_of(x, da.from_array(LABELS, chunks=20))
    assert array is not None
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(array[3])).load().x, NUMBERS[60:80])  # noqa: S301  # our own


def test_dask_frames_with_labels_beside_them() -> None:
    data = dd.from_pandas(PEOPLE, npartitions=4)
    serves(partitions_of(data.drop(columns=["label", "weight"]), data["label"], data["weight"]))
    serves(partitions_of(data.drop(columns=["label", "weight"]), data["label"], data["weight"].to_dask_array()))


def test_dask_frames_with_empty_partitions() -> None:
    data = dd.from_pandas(PEOPLE, npartitions=5)
    none = data[data["age"] < 0]
    serves(partitions_of(dd.concat([none, data, none]), "label", "weight"))


@pytest.mark.parametrize("columns", [1, 2])
def test_dask_arrays(columns: int) -> None:
    x = da.from_array(NUMBERS, chunks=(70, columns))
    partitions = partitions_of(x, da.from_array(LABELS, chunks=70))
    assert partitions is not None
    assert partitions.rows == (70, 70, 70, 30)
    made = planned(LINE, partitions, scale="mad")
    from tippingpoint.api.cases import prepared

    case = prepared(LINE, NUMBERS, LABELS, {}, loss=None, sample_weight=None, space=None, scale="mad")
    assert_same_domain(made.domain, case.domain)
    assert made.columns == case.features.columns
    assert made.backend == "pandas"


def test_dask_arrays_of_unknown_lengths() -> None:
    x, y = da.from_array(NUMBERS, chunks=(70, 2)), da.from_array(LABELS, chunks=70)
    chosen = x[:, 0] > 40
    partitions = partitions_of(x[chosen], y[chosen])
    assert partitions is not None
    assert partitions.rows is None
    made = planned(LINE, partitions, scale="raw")
    assert sum(made.rows) == int((NUMBERS[:, 0] > 40).sum())


def test_lists_of_frames() -> None:
    serves(partitions_of(cut(PEOPLE, CUTS["empty ones"]), "label", "weight"))


def test_pairs() -> None:
    parts = [(each.drop(columns=["label", "weight"]), each["label"], each["weight"]) for each in cut(PEOPLE, CUTS["several"])]
    serves(partitions_of(parts, None))
    serves(partitions_of(lambda: iter(parts), None))


def test_a_function_is_called_for_every_pass_and_nothing_is_held() -> None:
    calls: list[int] = []

    def fresh() -> Iterator[pd.DataFrame]:
        calls.append(len(calls))
        yield from cut(PEOPLE, CUTS["several"])

    partitions = partitions_of(fresh, "label", "weight")
    serves(partitions)
    assert len(calls) >= 3
    assert partitions is not None
    assert len(partitions) == 3
    assert partitions[2].load().rows == ROWS - 150
    assert not partitions.notes


def test_an_iterator_is_read_once_and_held() -> None:
    partitions = partitions_of(iter(cut(PEOPLE, CUTS["several"])), "label", "weight")
    serves(partitions)
    assert planned(CLERK, partitions, scale="std").notes[0] == HELD


def test_arrays_one_after_the_other() -> None:
    def fresh() -> Iterator[tuple[Any, Any]]:
        for first in range(0, ROWS, 100):
            yield NUMBERS[first : first + 100], LABELS[first : first + 100]

    made = planned(LINE, partitions_of(fresh, None), scale="std")
    np.testing.assert_allclose(made.domain.price, 1.0 / NUMBERS.var(axis=0))


@pytest.mark.parametrize(
    "data",
    [NUMBERS, NUMBERS.tolist(), PEOPLE, as_polars(PEOPLE), torch.zeros(3, 2), [(1.0, 2.0), (3.0, 4.0)], [NUMBERS, NUMBERS], []],
)
def test_data_in_memory_have_no_partitions(data: Any) -> None:
    assert partitions_of(data, LABELS) is None


def test_a_local_run_loads_every_partition_once_a_pass(files: Path) -> None:
    partitions = partitions_of(files, "label", "weight")
    assert partitions is not None
    made = planned(CLERK, partitions, scale="raw")
    every = run_here(partitions)(prepared_at, CLERK, made)
    assert [each.number for each in every] == list(range(len(partitions)))
    assert sum(float(each.base.sum()) for each in every) == pytest.approx(1.0)


def test_dask_and_pyarrow_are_not_imported_before_they_are_needed() -> None:
    import subprocess

    code = "import sys, tippingpoint.engine.preparing; print(sorted({'dask', 'distributed', 'pyarrow'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("[]", "['pyarrow']")  # pandas itself imports pyarrow where it is there
