"""Bad input in partitions: one sentence that names the partition, the row in it, the value and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest

from partitioned import of_frames, oracles, planned
from refusals import refusal
from tippingpoint.engine.partitions import Partitions, partitions_of
from tippingpoint.space import Space

RNG = np.random.default_rng(1)
TABLE = pd.DataFrame({"age": RNG.integers(20, 60, 400), "size": RNG.normal(size=400), "job": ["cook", "clerk"] * 200})
TABLE["label"] = RNG.integers(0, 2, 400)
TABLE["weight"] = 1.0


def guess(rows: Any) -> Any:
    return np.asarray(rows["size"]) > 0.0


def parts(change: Callable[[pd.DataFrame], pd.DataFrame] | None = None) -> list[pd.DataFrame]:
    """Twenty partitions of twenty rows; the one numbered 17 is changed."""
    every = [TABLE[k * 20 : (k + 1) * 20].reset_index(drop=True) for k in range(20)]
    if change is not None:
        every[17] = change(every[17].copy())
    return every


def said(every: Any, y: Any = "label", weight: Any = "weight", **settings: Any) -> str:
    return str(refusal(lambda: planned(guess, partitions_of(every, y, weight), **{"scale": "raw", **settings})))


def put(column: str, value: Any) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def change(frame: pd.DataFrame) -> pd.DataFrame:
        frame[column] = frame[column].astype(object if isinstance(value, str) else float)
        frame.loc[3, column] = value
        return frame

    return change


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (put("size", np.inf), "partition 17: X[3, 'size']=inf: every value must be finite; impute or drop the row."),
        (put("label", np.nan), "partition 17: y[3]=nan: every label must be known; drop the row or fill it."),
        (put("weight", -1.0), "partition 17: sample_weight[3]=-1 is negative; weights must be ≥ 0."),
        (put("weight", np.nan), "partition 17: sample_weight[3]=nan: every value must be finite; drop the row or fill it."),
        (
            lambda f: f.drop(columns="size"),
            "partition 17 has no column 'size', which is Float64 in partition 0; give every partition the same columns.",
        ),
        (
            lambda f: f.assign(more=1),
            "partition 17 has a column 'more' (Int64) that partition 0 does not have; give every partition the same columns.",
        ),
        (
            lambda f: f[["size", "age", "job", "label", "weight"]],
            (
                "partition 17 has its columns in another order: column 0 is 'size', but 'age' in partition 0; give every"
                " partition the same columns in one order."
            ),
        ),
        (
            lambda f: f.assign(age=f["age"].astype(str)),
            "partition 17: X['age'] is String, but Int64 in partition 0; give the column one type throughout.",
        ),
        (
            lambda f: f.assign(size=pd.Timestamp("2026-01-01")),
            (
                "partition 17: X['size'] is of type Datetime(time_unit='us', time_zone=None), neither a number nor a category;"
                " turn it into one (a date into days) or drop it."
            ),
        ),
        (
            pl.from_pandas,
            "partition 17 is a polars frame, but partition 0 is a pandas frame; give tables of one kind.",
        ),
        (
            lambda f: f.drop(columns="label"),
            "partition 17: y='label' is not a column; the columns are 'age', 'size', 'job', 'weight'.",
        ),
    ],
)
def test_a_bad_partition_is_named(change: Callable[[pd.DataFrame], pd.DataFrame], expected: str) -> None:
    assert said(parts(change)) == expected


def test_what_stands_in_rows_without_weight_is_no_matter() -> None:
    frame = parts()
    frame[17].loc[3, "weight"] = 0.0
    frame[17]["label"] = frame[17]["label"].astype(float)
    frame[17].loc[3, "label"] = np.nan
    partitions = of_frames(frame, weighted=True)
    made = planned(guess, partitions, scale="raw", options={"calls": 2000})
    every = oracles(guess, partitions, made)
    assert list(every[17].index) == [340 + k for k in range(20) if k != 3]
    frame[17].loc[[4, 5], "label"] = np.nan
    assert said(frame).startswith("partition 17: y[4]=nan")


def test_integers_beside_floats_are_numbers() -> None:
    made = planned(guess, of_frames(parts(lambda f: f.assign(age=f["age"] + 0.5))), scale="raw")
    assert made.columns[0].holds == "number"


def test_the_nearest_names_of_a_column_that_is_not_there() -> None:
    assert said(parts(), y="lable") == "partition 0: y='lable' is not a column; the nearest is 'label'."
    assert said(parts(), weight="wieght").endswith("sample_weight='wieght' is not a column; the nearest is 'weight'.")
    assert said(dd.from_pandas(TABLE, npartitions=2), y="lable") == "y='lable' is not a column; the nearest is 'label'."


@pytest.mark.parametrize(
    ("space", "change", "expected"),
    [
        (
            Space(kind={"age": "integer"}),
            put("age", 33.5),
            (
                "partition 17: X[3, 'age']=33.5 is not a whole number of steps of 1; make the feature numeric, or give it"
                " another step."
            ),
        ),
        (
            Space(upper={"age": 70.0}, frozen=["job"]),
            put("age", 71.0),
            (
                "X[row 3 of partition 17, 'age']=71 lies outside its bounds [-inf, 70]; widen lower/upper, drop the row, or say"
                " Space(outliers='keep') to let such samples stay where they are."
            ),
        ),
        (
            Space(categories={"job": ["cook", "clerk"]}),
            put("job", "smith"),
            "partition 17: X[3, 'job']='smith' is none of its categories, 'cook', 'clerk'; add it to them, or drop the row.",
        ),
    ],
)
def test_rows_that_a_space_excludes(space: Space, change: Callable[[pd.DataFrame], pd.DataFrame], expected: str) -> None:
    every = parts(change)

    def asked() -> None:
        partitions = partitions_of(every, "label", "weight")
        oracles(guess, partitions, planned(guess, partitions, space=space, scale="raw", options={"calls": 2000}))

    assert str(refusal(asked)) == expected


def test_steps_that_are_whole_in_every_partition_but_not_over_them() -> None:
    every = [frame.assign(age=2.0 * (frame["age"] // 2)) for frame in parts()]
    every[17]["age"] += 1.0
    message = said(every, space=Space(kind={"age": "integer"}, step={"age": 2.0}))
    assert "of partition 17, 'age']=" in message
    assert "not a whole number of steps of 2" in message


def test_one_hot_rows() -> None:
    every = [frame.drop(columns=["job"]).assign(a=1, b=0) for frame in parts()]
    every[17].loc[3, "b"] = 1
    partitions = partitions_of(every, "label", "weight")
    space = Space(one_hot={"ab": ["a", "b"]})
    asked = lambda: oracles(guess, partitions, planned(guess, partitions, space=space, scale="raw", options={"calls": 2000}))  # noqa: E731
    assert "not one-hot in 'ab'" in str(refusal(asked))
    assert "17" in str(refusal(asked))


def test_too_many_values_for_a_menu() -> None:
    wide = pd.DataFrame({"size": np.arange(9000.0), "label": [0, 1] * 4500})
    message = said([wide[:4000], wide[4000:]], weight=None, space=Space(kind={"size": "categorical"}))
    assert message.startswith("'size' has ")
    assert "too many to weigh every switch" in message


def test_one_class_only_is_refused_if_the_model_does_not_name_its_classes() -> None:
    every = [frame[["age", "size"]].assign(label=1) for frame in parts()]
    message = str(refusal(lambda: planned(([1.0, 2.0], 0.0), partitions_of(every, "label"), scale="raw")))
    assert message.startswith("y holds one class only, 1, and the model does not name its classes.")
    assert planned(([1.0, 2.0], 0.0), partitions_of(every, "label"), scale="raw", options={"classes": [0, 1]}).labels == (1,)


def test_no_rows_and_no_weight() -> None:
    assert said([TABLE[:0], TABLE[:0]]) == "X holds no rows: there is nothing to evaluate; give at least one."
    every = [frame.assign(weight=0.0) for frame in parts()]
    assert said(every) == "sample_weight is zero throughout; give at least one sample a positive weight."


def test_a_model_that_answers_too_few_rows_of_a_partition() -> None:
    def short(rows: Any) -> Any:
        answers = guess(rows)
        return answers[:-1] if len(rows) == 20 and rows["age"].iloc[0] == -1 else answers

    every = parts()
    every[17].loc[0, "age"] = -1
    partitions = partitions_of(every, "label", "weight")
    asked = lambda: oracles(short, partitions, planned(short, partitions, scale="raw", options={"calls": 2000}))  # noqa: E731
    assert str(refusal(asked)).startswith("partition 17: ")


def test_missing_values_that_a_model_does_not_take() -> None:
    every = [frame[["age", "size", "label"]] for frame in parts(put("size", np.nan))]
    message = str(refusal(lambda: planned(([1.0, 2.0], 0.0), partitions_of(every, "label"), scale="raw")))
    assert message == "X[row 3 of partition 17, 'size'] is missing: every value must be finite; impute or drop the row."


def test_labels_of_other_lengths() -> None:
    pairs = [(frame[["size"]], frame["label"].to_numpy()) for frame in parts()]
    pairs[17] = (pairs[17][0], pairs[17][1][:-1])
    assert said(pairs, None, None) == "partition 17: y has 19 values but X has 20 rows; give one value a row."


def test_dask_collections_that_do_not_belong_together() -> None:
    data = dd.from_pandas(TABLE, npartitions=4)
    x = data[["age", "size"]]
    assert said(x, data["label"].repartition(npartitions=2), None).startswith(
        "y has 2 partitions where X has 4; partition both"
    )
    other = dd.from_pandas(TABLE, npartitions=2).repartition(divisions=[0, 50, 200, 300, 399])
    assert "divisions" in said(x, other["label"], None)
    assert said(x, TABLE["label"], None).startswith("y is a Series in memory, but X is a Dask collection; give the name of a")
    assert said(x, None, None).startswith("y=None: labels are needed")
    array = da.zeros((40, 2), chunks=(20, 2))
    assert said(array, da.zeros(40, chunks=10), None).startswith("y has 4 partitions where X has 2")
    assert said(array, da.zeros(40, chunks=((30, 10),)), None).startswith("y has 30 rows in partition 0 where X has 20")
    assert said(array, "label", None).startswith("y='label' names a column, but X is a Dask Array")
    assert "tables only" in said(da.zeros((4, 3, 3)), da.zeros(4), None)
    assert said(data["age"], "label", None).startswith("X is a Dask Series; give a Dask DataFrame")


def test_bad_parquet(tmp_path: Path) -> None:
    TABLE.to_parquet(tmp_path / "good.parquet")
    content = (tmp_path / "good.parquet").read_bytes()
    cut_off = tmp_path / "cut.parquet"
    cut_off.write_bytes(content[: len(content) // 2])
    message = said(cut_off)
    assert message.startswith(f"{cut_off} cannot be read as Parquet (")
    assert message.endswith("if it was cut off, write it anew.")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert said(empty) == f"X='{empty}' is a directory without Parquet files; name one with files that end in .parquet."
    assert said(str(tmp_path / "no*.parquet")).startswith(f"X='{tmp_path / 'no*.parquet'}' matches no file")
    assert said(tmp_path / "none.parquet").startswith(f"X='{tmp_path / 'none.parquet'}' does not exist; name a Parquet file")
    good = tmp_path / "good.parquet"
    assert said(good, "lable") == f"{good}: y='lable' is not a column; the nearest is 'label'."
    assert said(good, None).startswith("y is None, but X is a Parquet file; give the name of its column")
    assert said(good, TABLE["label"]).startswith("y is a Series, but X is a Parquet file")


def test_a_row_group_that_is_damaged_is_named_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    TABLE.to_parquet(path, row_group_size=100, compression="snappy")
    partitions = partitions_of(path, "label", "weight")
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 3] = b"\x00" * (len(content) // 3 - 4)
    path.write_bytes(content)
    message = str(refusal(lambda: planned(guess, partitions, scale="raw")))
    assert f"{path} cannot be read as Parquet (" in message


def test_directories_that_hold_a_column_in_their_names(tmp_path: Path) -> None:
    (tmp_path / "year=2026").mkdir()
    TABLE.to_parquet(tmp_path / "year=2026" / "t.parquet")
    assert "keeps a column in the names of directories" in said(tmp_path)


def test_iterables_that_fail_or_hold_something_else() -> None:
    def failing() -> Any:
        yield TABLE
        message = "the disk is gone"
        raise OSError(message)

    assert said(failing) == "partition 1: X() fails (the disk is gone); mend the function."
    assert said(lambda: 3).startswith("X() fails ('int' object is not iterable)")
    assert said(lambda: iter([3])) == "partition 0: an item of X is a int; give frames, or arrays of rows and columns."
    assert said(iter([])).startswith("X is an iterator that is empty, or was read before")
    assert said(lambda: iter([TABLE]), None, None).startswith("partition 0: y=None: labels are needed")
    assert said(lambda: iter([TABLE]), TABLE["label"]).startswith("y is a Series, but X comes in several tables")
    assert said(lambda: iter([(TABLE[["age"]], TABLE["label"])])).startswith(
        "partition 0: an item of X brings labels of its own"
    )
    array = np.zeros((4, 2))
    assert said(lambda: iter([array])).startswith("partition 0: y='label' names a column, and an array has no names")
    assert "tables only" in said(lambda: iter([(np.zeros((4, 3, 3)), [0, 1, 0, 1])]), None, None)
    arrays = [(array, [0, 1, 0, 1]), (np.zeros((4, 3)), [0, 1, 0, 1])]
    assert said(lambda: iter(arrays), None, None).startswith("partition 1 has 3 columns, but partition 0 has 2")


def test_data_that_differ_from_pass_to_pass() -> None:
    lengths = iter([300, 300, 400, 400, 400, 400])
    changing = partitions_of(lambda: iter([TABLE[: next(lengths)]]), "label", "weight")
    asked = lambda: oracles(guess, changing, planned(guess, changing, scale="raw"))  # noqa: E731
    assert str(refusal(asked)) == (
        "partition 0: it has 400 rows now and had 300; X must give the same rows whenever it is read."
    )


def test_a_space_and_a_scale_that_are_none() -> None:
    assert said(parts(), space="age").startswith("space='age' must be a tippingpoint.Space")
    assert said(parts(), scale="wide").startswith("scale='wide' is not known")
    assert "half of its values or more are equal" in said(
        [f.assign(size=np.where(f["size"] > 1.2, f["size"], 0.0)) for f in parts()], scale="mad"
    )


def test_partitions_are_partitions() -> None:
    assert isinstance(partitions_of(parts(), "label", "weight"), Partitions)


def test_calls_are_shared_by_partitions() -> None:
    partitions = partitions_of(parts(), "label", "weight")
    asked = []

    def counted(rows: Any) -> Any:
        asked.append(len(rows))
        return guess(rows)

    made = planned(counted, partitions, scale="raw", options={"calls": 1200, "output": "label"})
    before = sum(asked)
    for each in oracles(counted, partitions, made):
        assert each.oracle is not None
        each.oracle.respond(1.0)
    assert sum(asked) - before <= 1200
    message = said(parts(), options={"calls": 399})
    assert message == "calls=399 is too small: there are 400 rows, and each takes a call at least."
