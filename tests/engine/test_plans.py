"""What is known of partitions is what is known of the whole table: domain, units, categories, labels, weights, columns."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partitioned import (
    COLORS,
    CUTS,
    FEATURES,
    ROWS,
    as_polars,
    assert_same_domain,
    clerk,
    cut,
    of_frames,
    oracles,
    people,
    planned,
    whole,
)
from tippingpoint.engine.partitions import partitions_of
from tippingpoint.space import Space

PEOPLE = people()
CLERK = clerk(PEOPLE)

SPACES: dict[str, Space | None] = {
    "none": None,
    "integer": Space(kind={"age": "integer", "hours": "integer", "level": "integer"}, step={"level": 2.0}),
    "bounds": Space(kind={"age": "integer"}, lower={"age": 30, "income": 0.0}, upper={"age": 40}, outliers="keep"),
    "fine steps": Space(kind={"income": "integer"}, step={"income": 0.01}),
    "ordinal": Space(kind={"grade": "ordinal", "level": "ordinal"}, direction={"level": "up"}, price={"grade": 3.0}),
    "listed": Space(
        categories={"job": ["smith", "miner", "clerk", "cook"]}, kind={"level": "categorical", "member": "categorical"}
    ),
    "frequency": Space(kind={"level": "categorical"}, switch={"job": "frequency", "level": "frequency", "grade": "frequency"}),
    "one-hot": Space(one_hot={"color": list(COLORS)}, switch={"color": "frequency"}, groups={"money": ["income", "age"]}),
    "missing": Space(kind={"hours": "integer"}, missing={"hours": 2.0, "job": 1.5}),
    "frozen": Space(frozen=["income", "job"], movable=["income", "age", "job", "grade"]),
}


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("space", SPACES)
def test_the_domain_is_that_of_the_whole(space: str, cuts: str) -> None:
    made = planned(CLERK, of_frames(cut(PEOPLE, CUTS[cuts])), space=SPACES[space], scale="raw")
    case = whole(CLERK, PEOPLE.drop(columns="weight"), space=SPACES[space], scale="raw")
    assert_same_domain(made.domain, case.domain)
    assert made.columns == case.features.columns
    assert made.label == case.judgement.label
    assert made.family == case.family.name


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("scale", ["std", "mad", "iqr"])
def test_units_are_those_of_the_whole(scale: str, cuts: str, weighted: bool) -> None:  # noqa: FBT001
    space = Space(kind={"age": "integer", "grade": "ordinal", "level": "ordinal"}, frozen=COLORS)
    space = space.edit(frozen=["member"])  # of which a quantile says nothing
    made = planned(CLERK, of_frames(cut(PEOPLE, CUTS[cuts]), weighted=weighted), space=space, scale=scale)
    case = whole(CLERK, PEOPLE, space=space, scale=scale, weighted=weighted)
    assert_same_domain(made.domain, case.domain)


@pytest.mark.parametrize("space", ["none", "integer", "ordinal", "frequency", "one-hot", "frozen"])
@pytest.mark.parametrize("cuts", CUTS)
def test_polars_frames_are_read_as_the_whole_is(cuts: str, space: str) -> None:
    frame = as_polars(PEOPLE).drop("weight")
    parts = [frame[first:last] for first, last in zip(CUTS[cuts], CUTS[cuts][1:], strict=False)]
    model = _scorer
    made = planned(model, partitions_of(parts, "label"), space=SPACES[space], scale="std", options={"output": "score"})
    from tippingpoint.api.cases import prepared

    given = frame.drop("label")
    case = prepared(
        model, given, frame["label"], {"output": "score"}, loss=None, sample_weight=None, space=SPACES[space], scale="std"
    )
    assert_same_domain(made.domain, case.domain)
    assert made.columns == case.features.columns
    assert made.backend == "polars"


def _scorer(rows: Any) -> Any:
    return np.asarray(rows["age"], dtype=float) - 50.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cuts", CUTS)
def test_oracles_of_partitions_are_together_that_of_the_whole(cuts: str, weighted: bool) -> None:  # noqa: FBT001
    partitions = of_frames(cut(PEOPLE, CUTS[cuts]), weighted=weighted)
    space = Space(one_hot={"color": list(COLORS)}, kind={"age": "integer"})
    made = planned(CLERK, partitions, loss="logistic", space=space, scale="std")
    case = whole(CLERK, PEOPLE, loss="logistic", space=space, scale="std", weighted=weighted)
    every = oracles(CLERK, partitions, made)
    held = [each for each in every if each.oracle is not None]
    np.testing.assert_allclose(np.concatenate([each.base for each in every]), case.base, rtol=1e-12)
    assert [row for each in every for row in each.index] == list(case.features.index)
    ours, one = [each.oracle for each in held if each.oracle is not None], case.judgement.oracle(case.domain)
    np.testing.assert_allclose(np.concatenate([each.losses for each in ours]), one.losses, rtol=1e-9)
    for price in (0.5, 5.0):
        lifts = np.concatenate([each.respond(price).lift for each in ours])
        np.testing.assert_allclose(lifts, one.respond(price).lift, rtol=1e-7, atol=1e-10)


def test_labels_are_those_of_all_partitions() -> None:
    partitions = of_frames(cut(PEOPLE, (0, 10, 20, ROWS)))
    made = planned(CLERK, partitions)
    assert made.labels == ("no", "yes")
    assert all(each.oracle is not None for each in oracles(CLERK, partitions, made))
    assert set(PEOPLE["label"][:10]) == {"no"}


def test_the_sample_does_not_depend_on_the_partitioning() -> None:
    frame = pd.concat([PEOPLE] * 20, ignore_index=True).drop(columns="weight").assign(age=np.arange(20.0 * ROWS))
    samples = []
    for cuts in ((0, 20 * ROWS), (0, 7, 7, 1000, 20 * ROWS)):
        made = planned(CLERK, partitions_of(cut(frame, cuts), "label"), scale="raw")
        features = made.sample_features()
        assert len(features.x) == 2000
        assert features.x[:, 0].tolist() == list(features.index)
        samples.append(features.x)
    np.testing.assert_array_equal(samples[0], samples[1])
    other = planned(CLERK, partitions_of([frame], "label"), scale="raw", options={"seed": 1}).sample_features()
    assert not np.array_equal(other.x, samples[0])


def test_a_plan_and_its_oracles_can_be_pickled() -> None:
    partitions = of_frames(cut(PEOPLE, (0, 100, ROWS)))
    made = pickle.loads(pickle.dumps(planned(CLERK, partitions, scale="std")))  # noqa: S301  # our own
    assert [len(each.base) for each in oracles(CLERK, partitions, made)] == [100, ROWS - 100]


def test_categories_that_partitions_declare_apart_are_united() -> None:
    first = PEOPLE[:100].assign(grade=pd.Categorical(PEOPLE["grade"][:100].astype(str), ["low", "mid", "top"]))
    second = PEOPLE[100:].assign(grade=pd.Categorical(PEOPLE["grade"][100:].astype(str), ["top", "best", "mid", "low"]))
    partitions = of_frames([first, second])
    made = planned(CLERK, partitions, scale="raw")
    assert next(c for c in made.columns if c.name == "grade").categories == ("low", "mid", "top", "best")
    assert all(each.oracle is not None for each in oracles(CLERK, partitions, made))


def test_a_category_of_one_partition_only_is_one_of_all() -> None:
    frame = PEOPLE.assign(job=PEOPLE["job"].where(np.arange(ROWS) != 200, "abbot"))
    made = planned(CLERK, of_frames(cut(frame, CUTS["several"])), scale="raw")
    case = whole(CLERK, frame.drop(columns="weight"), scale="raw")
    assert "abbot" in next(c for c in made.columns if c.name == "job").categories
    assert_same_domain(made.domain, case.domain)


def test_whole_numbers_with_gaps_are_so_over_all_partitions() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, np.nan], "b": [1.0, 2.5, np.nan, 3.0], "c": [1.0, 2.0, 3.0, 4.0]})
    frame["label"] = [0, 1, 0, 1]
    model = lambda rows: rows["c"] > 2  # noqa: E731
    made = planned(model, partitions_of(cut(frame, (0, 2, 4)), "label"), scale="raw")
    assert [column.holds for column in made.columns] == ["integer", "number", "number"]


def test_a_partition_where_a_column_is_all_missing_is_of_the_type_of_the_others() -> None:
    frame = PEOPLE.drop(columns="weight")
    frame.loc[:79, ["income", "job", "grade"]] = None
    parts = cut(frame, (0, 80, ROWS))
    parts[0] = parts[0].assign(income=pd.Series([None] * 80, dtype=object), job=np.nan)
    model = make_forgiving(frame)
    partitions = partitions_of(parts, "label")
    made = planned(model, partitions, scale="std")
    case = whole(model, frame, scale="std")
    assert_same_domain(made.domain, case.domain)
    assert [c.holds for c in made.columns] == [c.holds for c in case.features.columns]
    assert all(each.oracle is not None for each in oracles(model, partitions, made))


def make_forgiving(frame: pd.DataFrame) -> Any:
    return lambda rows: np.asarray(rows["age"] > 40).astype(float) - 0.5 if len(frame) else None


def test_null_columns_of_polars_take_the_type_of_the_others() -> None:
    frame = pl.DataFrame({"a": [1.5, 2.0, 3.0, 4.0], "t": ["u", "v", "u", "v"], "label": [0, 1, 0, 1]})
    void = pl.DataFrame({"a": [None, None], "t": [None, None], "label": [0, 1]})
    partitions = partitions_of([void, frame], "label")
    made = planned(
        lambda rows: np.zeros(len(rows)) - 1.0, partitions, scale="raw", loss="zero_one", options={"output": "score"}
    )
    assert [column.holds for column in made.columns] == ["number", "category"]


@pytest.mark.parametrize("seed", range(3))
def test_moments_and_quantiles_of_wild_numbers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 3000
    x = np.column_stack(
        (
            rng.standard_cauchy(n) ** 3 * 1e135,
            rng.normal(size=n) * 1e-140,
            np.where(rng.random(n) < 0.4, 5.0, rng.normal(size=n)),
            np.round(rng.normal(size=n), 1),
            np.where(rng.random(n) < 0.5, np.nan, rng.normal(1e9, 1.0, n)),
        )
    )
    frame = pd.DataFrame(x, columns=list("abcde")).assign(label=rng.integers(0, 2, n), weight=rng.integers(0, 3, n) * 1e300)
    model = lambda rows: np.asarray(rows["d"]) > 0  # noqa: E731
    parts = partitions_of(cut(frame, (0, 5, 700, 700, 2500, n)), "label", "weight")
    for scale in ("std", "mad", "iqr"):
        made = planned(model, parts, scale=scale)
        case = whole(model, frame, scale=scale, weighted=True)
        np.testing.assert_allclose(made.domain.price, case.domain.price, rtol=1e-9)


def test_a_loss_is_chosen_by_all_targets_and_not_by_those_of_one_partition() -> None:
    frame = pd.DataFrame({"a": np.linspace(0.0, 1.0, 8)})
    frame["label"] = [0.0, 1.0, 0.0, 1.0, 0.5, 1.5, 2.5, 3.5]
    partitions = partitions_of(cut(frame, (0, 4, 8)), "label")
    model = lambda rows: np.asarray(rows["a"])  # noqa: E731
    made = planned(model, partitions)
    assert made.label == "squared"
    assert {each.label for each in oracles(model, partitions, made)} == {"squared"}


def test_features_are_all_columns_but_labels_and_weights() -> None:
    made = planned(CLERK, of_frames(cut(PEOPLE, CUTS["several"]), weighted=True), scale="raw")
    assert [column.name for column in made.columns] == FEATURES
