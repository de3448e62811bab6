"""Numbers stored as text or objects, as databases and CSV files give them; and categories whose type declares an order."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import tippingpoint as tp
from tippingpoint.data.columns import OddTextError, stored_numbers
from tippingpoint.data.frames import read_features

RNG = np.random.default_rng(0)
ROWS = 80
X = pd.DataFrame(
    {"income": RNG.normal(40.0, 12.0, ROWS).round(1), "age": RNG.integers(18, 70, ROWS), "code": RNG.integers(1, 6, ROWS)}
)
Y = (X["income"] + 0.3 * X["age"] + 5.0 * (X["code"] == 2) + RNG.normal(0.0, 8.0, ROWS) > 55.0).astype(int)
CODES = X.assign(code=X["code"].astype(str))
QUESTION: dict[str, Any] = {"risk": 0.5, "scale": "std"}

LINEAR = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
FOREST = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, Y)
ENCODED = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["code"]), remainder="passthrough"), LogisticRegression(max_iter=2000)
).fit(CODES, Y)


def in_polars(frame: pd.DataFrame) -> Any:
    return pytest.importorskip("polars").DataFrame({name: frame[name].astype(str).tolist() for name in frame})


STORED: dict[str, Callable[[], Any]] = {
    "objects": lambda: X.astype(object),
    "text": lambda: X.astype(str),
    "text as objects": lambda: X.astype(str).astype(object),
    "decimals": lambda: X.map(lambda value: Decimal(str(value))),
    "text with blanks around": lambda: X.astype(str).map(lambda value: f" {value} "),
    "polars text": lambda: in_polars(X),
    "text as categories": lambda: X.astype(str).astype("category"),
    "numbers as categories": lambda: X.astype("category"),
}


@pytest.mark.parametrize("model", [LINEAR, FOREST], ids=["linear", "forest"])
@pytest.mark.parametrize("stored", STORED)
def test_stored_numbers_are_the_numbers_that_the_model_learnt(model: Any, stored: str) -> None:
    data = STORED[stored]()
    found, plain = tp.stability(model, data, Y, **QUESTION), tp.stability(model, X, Y, **QUESTION)
    assert found.value == pytest.approx(plain.value, rel=1e-12)
    assert found.standing.kind == plain.standing.kind
    assert "which are read as numbers" in found.notes[0]
    assert plain.notes == ()
    inferred = tp.stability(model, data, Y, space=tp.Space.infer(data), **QUESTION)
    whole = tp.Space() if "text" in stored or "categories" in stored else tp.Space.infer(X)
    assert inferred.value == pytest.approx(tp.stability(model, X, Y, space=whole, **QUESTION).value, rel=1e-12)


def test_codes_that_the_model_encodes_stay_categories() -> None:
    plain = tp.stability(ENCODED, CODES.assign(code=CODES["code"].astype("category")), Y, **QUESTION)
    assert tp.stability(ENCODED, CODES, Y, **QUESTION).value == plain.value
    assert tp.stability(ENCODED, CODES, Y, **QUESTION).notes == ()
    assert tp.stability(ENCODED, CODES, Y, space=tp.Space.infer(CODES), **QUESTION).standing.kind == "exact"
    every = tp.stability(ENCODED, X.astype(str), Y, **QUESTION)  # numbers beside codes
    assert every.value == pytest.approx(plain.value, rel=1e-12)
    assert "'income', 'age', which are read as numbers" in every.notes[0]


def test_categories_of_numbers_stay_categories_where_the_model_takes_them_so() -> None:
    typed = X.assign(code=X["code"].astype("category"))
    by_codes = RandomForestClassifier(3, max_depth=2, random_state=0)
    encoder = make_column_transformer((OneHotEncoder(), ["code"]), remainder="passthrough")
    encoded = tp.stability(make_pipeline(encoder, by_codes).fit(typed, Y), typed, Y, **QUESTION)
    assert encoded.standing.kind == "exact"
    assert not any("stores numbers" in note for note in encoded.notes)
    few = typed[:24]
    asked = tp.stability(lambda rows: rows["code"].cat.codes / 6.0, few, Y[:24], risk=0.9, output="probability", calls=2000)
    assert not any("stores numbers" in note for note in asked.notes)
    ordered = X.assign(code=pd.Categorical(X["code"], ordered=True))
    assert "read as ordinal" in tp.stability(LINEAR, ordered, Y, **QUESTION).notes[0]
    declared = tp.stability(LINEAR, typed, Y, space=tp.Space(kind={"code": "categorical"}), **QUESTION)
    assert declared.notes == ()
    assert "X stores numbers as categories in 'code'." in str(tp.Space.infer(typed))
    table = typed.assign(y=Y)
    with pytest.raises(tp.InputError, match=r"X\['code'\] stores numbers as categories\. Store the column as numbers"):
        tp.stability(LINEAR, [table[:40], table[40:]], "y", **QUESTION)
    parted = tp.stability(LINEAR, [table[:40], table[40:]], "y", space=tp.Space(kind={"code": "categorical"}), **QUESTION)
    assert parted.value == pytest.approx(declared.value, rel=1e-9)


@pytest.mark.parametrize("stored", ["category", str])
def test_catboost_keeps_its_own_categories(stored: Any) -> None:
    catboost = pytest.importorskip("catboost")
    typed = X.assign(code=X["code"].astype(stored))
    model = catboost.CatBoostClassifier(iterations=3, depth=2, verbose=0, cat_features=["code"], allow_writing_files=False)
    found = tp.stability(model.fit(typed, Y), typed[:24], Y[:24], risk=0.9, calls=2000)
    assert not any("stores numbers" in note for note in found.notes)


def test_an_inferred_kind_yields_to_what_the_model_encodes() -> None:
    encoder = make_column_transformer((OneHotEncoder(), ["code"]), remainder="passthrough")
    model = make_pipeline(encoder, LogisticRegression(max_iter=2000)).fit(X, Y)
    inferred = tp.Space.infer(X)
    found = tp.stability(model, X, Y, space=inferred, **QUESTION)
    declared = tp.stability(model, X, Y, space=tp.Space.infer(X, kind={"code": "categorical"}), **QUESTION)
    assert found.value == pytest.approx(declared.value, rel=1e-12)
    assert (found.standing.kind, declared.notes) == ("exact", ())
    assert "the model encodes 'code' as categories" in found.notes[0]
    table = X.assign(y=Y)
    parted = tp.stability(model, [table[:40], table[40:]], "y", space=inferred, **QUESTION)
    assert parted.value == pytest.approx(found.value, rel=1e-9)
    assert "the model encodes 'code' as categories" in parted.notes[0]
    for space in (
        inferred.edit(kind={"code": "integer"}),
        inferred.edit(upper={"code": 3}),
        tp.Space(kind={"code": "integer"}),
    ):
        with pytest.raises(tp.InputError, match=r"kind\['code'\]='integer' contradicts the model"):
            tp.stability(model, X, Y, space=space, **QUESTION)


CHANCES = {"1": 0.1, "2": 0.9, "3": 0.2, "4": 0.1, "5": 0.0}


def by_text(rows: Any) -> Any:
    return np.clip(np.asarray(rows["income"], dtype=float) / 80.0, 0.0, 0.5) + rows["code"].map(CHANCES).fillna(0.0) / 2.0


def by_number(rows: Any) -> Any:
    return np.asarray(rows["code"], dtype=float) / 6.0


def test_a_function_is_asked_what_it_makes_of_text() -> None:
    asked: dict[str, Any] = {"risk": 0.9, "scale": "std", "output": "probability", "calls": 4000}
    few, labels = CODES[:24], Y[:24]
    found = tp.stability(by_text, few.assign(income=few["income"].astype(str)), labels, **asked)
    declared = tp.stability(by_text, few, labels, space=tp.Space(kind={"code": "categorical"}), **asked)
    assert found.current_risk == declared.current_risk
    assert found.value == pytest.approx(declared.value, rel=0.05)
    assert "in 'income', which are read as numbers" in found.notes[0]
    numbers = tp.stability(by_number, few, labels, **asked)
    assert "in 'code', which are read as numbers" in numbers.notes[0]
    assert str not in set(numbers.sensitive["code"].map(type))


def test_calls_include_those_that_find_it_out() -> None:
    counted = []

    def counts(rows: Any) -> Any:
        counted.append(len(rows))
        return by_text(rows)

    tp.stability(counts, CODES[:24], Y[:24], risk=0.9, scale="std", output="probability", calls=1500)
    assert sum(counted) <= 1500


def test_a_declared_kind_is_not_questioned() -> None:
    text = X.astype(str)
    space = tp.Space(kind={"code": "categorical"})
    assert read_features(text, space.read_as({}, text)).columns[2].holds == "category"
    assert tp.Space.infer(text, kind={"code": "categorical"}).categories["code"] == ("1", "2", "3", "4", "5")
    shown = str(tp.Space.infer(text))
    assert "X stores numbers as text in 'income', 'age', 'code'." in shown
    assert "stores numbers" not in str(tp.Space.infer(text, kind=dict.fromkeys(text, "numeric")))


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["1", "2.5", None], [1.0, 2.5, np.nan]),
        (["-.5", "+3.", "1e3"], [-0.5, 3.0, 1000.0]),
        (["1", " ", ""], [1.0, np.nan, np.nan]),
        ([1, "2", True], [1.0, 2.0, 1.0]),
        ([Decimal("1.50"), 2], [1.5, 2.0]),
        ([True, False], [True, False]),
        ([True, None], [1.0, np.nan]),
        ([10**400, 1], [np.inf, 1.0]),
        ([2**70, 1], [2.0**70, 1.0]),
        (["01234", "90210"], None),
        (["1_000", "2"], None),
        (["nan", "1"], None),
        (["0x10", "1"], None),
        (["1,5", "2,5"], None),
        (["18-25", "26"], None),
        (["", " "], None),
        ([["a list"], ["another"]], None),
    ],
    ids=str,
)
def test_what_is_a_number(values: list[Any], numbers: list[float] | None) -> None:
    found = stored_numbers(values, "a")
    assert (found is None) == (numbers is None)
    if found is not None:
        np.testing.assert_array_equal(found.values, numbers)


def test_whole_numbers_and_truth_values_keep_their_types() -> None:
    kinds = {"number": ["1.0", "2"], "integer": [Decimal(3), Decimal(4)], "boolean": [True, False]}
    read = read_features(pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in kinds.items()}))
    assert {column.name: column.holds for column in read.columns} == {name: name for name in kinds}


def test_a_column_of_nothing_is_missing() -> None:
    nothing = X.assign(age=pd.Series([None] * ROWS, dtype=object))
    with pytest.raises(tp.InputError, match=r"X\[0, 'age'\] is missing"):
        tp.stability(LINEAR, nothing, Y, **QUESTION)
    assert read_features(nothing).notes == ()


def test_text_in_a_column_of_numbers_is_refused_where_it_stands() -> None:
    odd = X.astype(object).set_axis([f"r{k}" for k in range(ROWS)])
    odd.loc["r7", "income"] = "n/a"
    refused = r"X\['r7', 'income'\]='n/a' is text in a column of numbers\. Replace it .*kind=\{'income': 'categorical'\}"
    with pytest.raises(tp.InputError, match=refused):
        tp.stability(LINEAR, odd, Y.set_axis(odd.index), **QUESTION)
    with pytest.raises(tp.InputError, match=refused):
        tp.Space.infer(odd)
    assert tp.Space.infer(odd, kind={"income": "categorical"}).kind["income"] == "categorical"
    with pytest.raises(OddTextError):
        stored_numbers([*map(str, range(30)), "?"], "a")
    assert stored_numbers(["1", "2", "3+"], "a") is None  # levels, not a slip


def test_blanks_are_what_the_model_imputes() -> None:
    model = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()).fit(X, Y)
    blank = X.astype(str)
    blank.loc[3, "income"] = " "
    missing = X.copy()
    missing.loc[3, "income"] = np.nan
    found = tp.stability(model, blank, Y, **QUESTION)
    assert found.value == pytest.approx(tp.stability(model, missing, Y, **QUESTION).value, rel=1e-12)


@pytest.mark.parametrize("value", [dt.date(2026, 1, 31), dt.timedelta(days=3), pd.Timestamp("2026-01-31")])
def test_dates_are_no_categories(value: Any) -> None:
    with pytest.raises(tp.InputError, match=r"X\['age'\] holds .* neither numbers nor categories; turn it into one"):
        tp.stability(LINEAR, X.assign(age=pd.Series([value] * ROWS, dtype=object)), Y, **QUESTION)


def test_targets_of_a_database_are_numbers() -> None:
    few = X[:12]
    amounts = (few["income"] / 10.0).round(2)

    def predicted(rows: Any) -> Any:
        return np.asarray(rows["income"], dtype=float) / 10.0 + 0.1

    exact = [Decimal(str(amount)) for amount in amounts]
    found = tp.stability(predicted, few, exact, risk=1.0, calls=2000)
    assert (found.loss, found.value) == (
        "squared",
        tp.stability(predicted, few, amounts, risk=1.0, calls=2000).value,
    )
    labels = [Decimal(int(label)) for label in Y]
    assert tp.stability(LINEAR, X, labels, **QUESTION).value == tp.stability(LINEAR, X, Y, **QUESTION).value


def test_decimals_of_polars_keep_the_digits_of_a_move() -> None:
    polars = pytest.importorskip("polars")
    data = polars.DataFrame(X.to_dict("list"))
    stored = data.with_columns(polars.col("income").cast(polars.Decimal(10, 1)))
    found = tp.stability(LINEAR, stored, Y, **QUESTION)
    places = tp.stability(LINEAR, data, Y, **QUESTION).sensitive["income"].to_list()
    assert found.sensitive["income"].to_list() == places
    assert "X stores numbers as objects in 'income'" in found.notes[0]


def test_a_function_takes_decimals_of_an_arrow_table() -> None:
    arrow = pytest.importorskip("pyarrow")
    plain = arrow.Table.from_pandas(X, preserve_index=False)
    stored = plain.set_column(0, "income", plain["income"].cast(arrow.decimal128(10, 1)))

    def halved(rows: Any) -> Any:
        return np.asarray(rows["income"]) * 0.5 > 20.0  # Decimal times float fails

    found, expected = (tp.stability(halved, data, Y, calls=2000, **QUESTION) for data in (stored, plain))
    assert found.value == expected.value


def test_a_failing_row_of_a_partition_is_named_once() -> None:
    def fails(rows: Any) -> Any:
        raise ValueError("no")

    with pytest.raises(tp.ModelError, match="model=function fails on row 0 of partition 0"):
        tp.stability(fails, [X.assign(y=Y)], "y", **QUESTION)


def test_partitions_refuse_numbers_stored_as_text() -> None:
    text = X.astype(str).assign(y=Y)
    with pytest.raises(tp.InputError, match=r"X\['income'\] stores numbers as text\. Store the column as numbers"):
        tp.stability(LINEAR, [text[:40], text[40:]], "y", **QUESTION)
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({**X.to_dict("list"), "y": Y.to_list()}).with_columns(
        polars.col("income").cast(polars.Decimal(10, 1))
    )
    with pytest.raises(tp.InputError, match=r"X\['income'\] stores numbers as decimals\. Store the column as numbers"):
        tp.stability(LINEAR, [table[:40], table[40:]], "y", **QUESTION)
    codes = CODES.assign(y=Y)
    whole = tp.stability(ENCODED, CODES, Y, **QUESTION)
    found = tp.stability(ENCODED, [codes[:40], codes[40:]], "y", **QUESTION)
    assert found.value == pytest.approx(whole.value, rel=1e-9)


def test_windows_of_stored_numbers() -> None:
    text = X.astype(str)
    asked: dict[str, Any] = {"risk": 0.6, "permutations": 0, "features": False, "scale": "std"}
    found = tp.drift(LINEAR, (text[:40], Y[:40]), (text[40:], Y[40:]), **asked)
    assert found.value == pytest.approx(tp.drift(LINEAR, (X[:40], Y[:40]), (X[40:], Y[40:]), **asked).value, rel=1e-12)


# Categories in an order


GRADES = ["low", "mid", "high", "top"]
HELD = RNG.integers(0, 3, ROWS)
GRADED = pd.DataFrame({"income": X["income"], "grade": pd.Categorical([GRADES[k] for k in HELD], GRADES, ordered=True)})
GRADED_Y = (HELD + RNG.normal(0.0, 0.7, ROWS) > 1.2).astype(int)
GRADER = make_pipeline(
    make_column_transformer((OneHotEncoder(categories=[GRADES]), ["grade"]), remainder="passthrough"),
    LogisticRegression(max_iter=2000),
).fit(GRADED, GRADED_Y)


def test_an_ordered_type_is_an_order() -> None:
    question: dict[str, Any] = {"risk": 0.5, "theta1": 1.0, "theta2": float("inf")}
    by_type = tp.feature_stability(GRADER, GRADED, GRADED_Y, 0.5, theta1=1.0, theta2=float("inf"))
    levels = tp.Space(kind={"grade": "ordinal"}, categories={"grade": GRADES})
    declared = tp.feature_stability(GRADER, GRADED, GRADED_Y, 0.5, space=levels, theta1=1.0, theta2=float("inf"))
    assert by_type["grade"].value == declared["grade"].value
    found = tp.stability(GRADER, GRADED, GRADED_Y, **question)
    assert "an order of the categories in 'grade', which are read as ordinal" in found.notes[0]
    assert tp.stability(GRADER, GRADED, GRADED_Y, space=levels, **question).notes == ()
    unordered = tp.Space(kind={"grade": "categorical"})
    flat = tp.stability(GRADER, GRADED.astype({"grade": str}), GRADED_Y, **question)
    assert tp.stability(GRADER, GRADED, GRADED_Y, space=unordered, **question).value == flat.value


def test_the_inferred_space_prints_the_order() -> None:
    space = tp.Space.infer(GRADED)
    assert (space.kind["grade"], space.categories["grade"]) == ("ordinal", tuple(GRADES))
    assert "grade    ordinal  low, mid, high, top" in str(space)
    assert tp.Space.infer(GRADED, switch={"grade": "frequency"}).kind["grade"] == "categorical"
    switched = tp.Space(switch={"grade": "frequency"}).resolve(read_features(GRADED))
    assert [menu.kind for menu in switched.menus] == ["categorical"]


def test_drift_counts_the_levels_of_an_order() -> None:
    worse = GRADED.assign(grade=pd.Categorical(["low"] * ROWS, GRADES, ordered=True))
    asked: dict[str, Any] = {"risk": 0.6, "permutations": 0, "theta1": 1.0, "theta2": float("inf")}
    found = tp.drift(GRADER, (GRADED, GRADED_Y), (worse, GRADED_Y), **asked)
    grade = next(each for each in found.by_feature if each.name == "grade")
    assert grade.kind == "ordinal"
    assert grade.drift == pytest.approx(np.square(HELD).mean())
