"""The feature space: read off frames, printed and edited."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from shop import FRAMES, held, shop
from tippingpoint.data.frames import read_features
from tippingpoint.space import Space

INF, NAN = math.inf, math.nan


KINDS = {
    "price": "numeric",
    "count": "integer",
    "open": "categorical",
    "staff": "integer",
    "listed": "categorical",
    "rate": "numeric",
    "size": "categorical",
    "kind": "categorical",
    "town": "categorical",
}


@pytest.mark.parametrize("backend", FRAMES)
def test_a_space_is_read_off_a_frame(backend: str) -> None:
    space = Space.infer(FRAMES[backend]())
    # Of pandas an ordered type declares an order; an Enum of polars has one whether it means anything or not.
    assert space.kind == {**KINDS, "size": "ordinal" if backend == "pandas" else "categorical"}
    assert {name: list(values) for name, values in space.categories.items()} == {
        "open": [False, True],
        "listed": [False, True],
        "size": ["S", "M", "L"],
        "kind": ["b", "a", "c"],
        "town": ["Bath", "York"],
    }
    assert space.lower == {"price": 1.5, "count": 3.0, "staff": 2.0, "rate": 0.25}
    assert space.upper == {"price": 4.0, "count": 7.0, "staff": 5.0, "rate": 1.0}
    assert space.one_hot == {}
    assert space.outliers == "refuse"


def test_quantiles_leave_room_for_outliers_and_none_means_none() -> None:
    frame = pd.DataFrame({"x": np.arange(201.0), "k": np.arange(201)})
    space = Space.infer(frame, ranges="quantiles")
    assert (space.lower, space.upper) == ({"x": 2.0, "k": 2.0}, {"x": 198.0, "k": 198.0})
    assert space.outliers == "keep"
    assert space.resolve(read_features(frame)).lower[0] == 2.0
    free = Space.infer(frame, ranges="none")
    assert (free.lower, free.upper) == ({}, {})


def dummies() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [30.0, 40.0, 50.0],
            "edu_high_school": [1, 0, 0],
            "edu_high_other": [0, 1, 0],
            "edu_low": [0, 0, 1],
            "race=x": [True, False, True],
            "race=y": [False, True, False],
            "has_car": [1, 1, 0],
            "has_dog": [1, 0, 0],
            "a_b_1": [1.0, 0.0, 0.0],
            "a_b_2": [0.0, 1.0, 1.0],
            "a_c_1": [1.0, 1.0, 0.0],
            "a_c_2": [0.0, 0.0, 1.0],
            "z_q_1": [0.0, 0.0, 1.0],
            "z_q_2": [1.0, 1.0, 0.0],
        }
    )


def test_one_hot_groups_are_found_by_the_prefix_of_their_columns() -> None:
    space = Space.infer(dummies())
    assert space.one_hot == {
        "z": ["z_q_1", "z_q_2"],
        "edu": ["edu_high_school", "edu_high_other", "edu_low"],
        "race": ["race=x", "race=y"],
        "a_b": ["a_b_1", "a_b_2"],
        "a_c": ["a_c_1", "a_c_2"],
    }
    assert set(space.kind) == {"age", "has_car", "has_dog"}
    given = Space.infer(dummies(), one_hot={"school": ["edu_high_school", "edu_high_other", "edu_low"]})
    assert set(given.one_hot) == {"school"}
    assert {"race=x", "a_b_1"} <= set(given.kind)
    assert Space.infer(dummies(), one_hot=False).one_hot == {}
    clash = dummies().assign(edu=[1.0, 2.0, 3.0])
    assert "edu" not in Space.infer(clash).one_hot, "it is the name of a column"


def test_a_space_prints_as_a_table_that_a_person_can_check() -> None:
    towns = ["Bath", "Cardiff", "Derby", "Ely", "Leeds", "Lincoln", "Oxford", "York"]
    frame = dummies()[["age", "race=x", "race=y"]].assign(count=[3, 4, 9], town=pd.Categorical(["York"] * 3, towns), ok=True)
    space = Space.infer(frame).edit(
        frozen=["ok"],
        price={"age": 0.25, "town": 2.0},
        direction={"age": "up"},
        switch={"town": "frequency"},
        step={"count": 2},
        groups={"who": ["age", "race"]},
    )
    assert str(space).splitlines() == [
        "feature  kind         values                                            price",
        "age      numeric, up  30 to 50                                          0.25",
        "count    integer      3 to 9 by 2                                       1",
        "town     categorical  Bath, Cardiff, Derby, Ely, Leeds, Lincoln, … (8)  2 × frequency",
        "ok       fixed        False, True                                       -",
        "race     one-hot      race=x, race=y                                    1",
        "who      group        age, race                                         -",
    ]
    assert str(Space(price=2.0)) == "Every column may move, as its type allows, at price 2."
    told = str(Space(movable=["a"], lower={"a": 1.0}, upper={"b": 3.0}, price=[1.0, 2.0])).splitlines()
    assert [line.split("  ")[0] for line in told] == ["feature", "a", "b", "all others"]
    assert "from 1" in told[1]
    assert "fixed" in told[2]


def test_an_edit_updates_what_is_said_of_features_and_forgets_what_no_longer_holds() -> None:
    space = Space.infer(shop()).edit(price={"price": 2.0}, frozen=["kind"])
    again = space.edit(price={"count": 3.0}, frozen=["town"], lower={"price": 0.0}, outliers="keep")
    assert again.price == {"price": 2.0, "count": 3.0}
    assert again.frozen == ("kind", "town")
    assert again.lower == {"price": 0.0, "count": 3.0, "staff": 2.0, "rate": 0.25}
    assert again.outliers == "keep"
    assert space.price == {"price": 2.0}, "the old one is as it was"
    other = space.edit(kind={"count": "categorical", "open": "numeric", "size": "fixed", "staff": "ordinal"})
    assert other.kind == {**KINDS, "count": "categorical", "open": "numeric", "size": "fixed", "staff": "ordinal"}
    assert [*other.lower] == [*other.upper] == ["price", "rate"]  # type: ignore[misc]
    assert set(other.categories) == {"listed", "size", "kind", "town"}
    menus = {menu.name: menu for menu in other.resolve(read_features(shop())).menus}
    assert held(menus["count"])[:, 0].tolist() == [3.0, 4.0, 7.0]
    assert {menu.kind for menu in menus.values()} == {"categorical", "ordinal"}
    said = space.edit(kind={"count": "categorical"}, categories={"count": [3, 4, 7, 9]})
    assert said.categories["count"] == [3, 4, 7, 9]
    grouped = Space.infer(dummies(), one_hot=False).edit(one_hot={"race": ["race=x", "race=y"]})
    assert "race=x" not in grouped.kind
    assert [menu.name for menu in grouped.resolve(read_features(dummies())).menus if menu.kind == "one-hot"] == ["race"]


def test_values_are_shown_whole_or_not_at_all() -> None:
    firms = ["private firm, for profit", "private firm, not for profit", "local government", "state government"]
    shown = str(Space(kind={"work": "categorical"}, categories={"work": firms})).splitlines()[1]
    assert shown.split("categorical  ")[1].startswith("private firm, for profit, private firm, not for profit, … (4)")
    long = str(Space(kind={"work": "categorical"}, categories={"work": ["word " * 40, "b"]})).splitlines()[1]
    assert "word…, … (2)" in long
