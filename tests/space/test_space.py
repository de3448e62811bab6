"""The feature space: read off frames, edited, resolved for data, in units; and Q* never holds an impossible row."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import tippingpoint as tp
from tippingpoint.core.arrays import FloatArray
from tippingpoint.data.frames import read_features
from tippingpoint.families.registry import encoded_by
from tippingpoint.space import Space
from tippingpoint.space.domain import Domain, Menu
from tippingpoint.space.scaling import in_units

INF, NAN = math.inf, math.nan


def shop() -> pd.DataFrame:
    """A column of every type."""
    return pd.DataFrame(
        {
            "price": [1.5, 2.0, NAN, 4.0],
            "count": [3, 7, 4, 3],
            "open": [True, False, True, True],
            "staff": pd.array([2, None, 5, 3], dtype="Int64"),
            "listed": pd.array([True, None, False, True], dtype="boolean"),
            "rate": pd.array([0.5, 0.25, None, 1.0], dtype="Float64"),
            "size": pd.Categorical(["S", "M", "M", None], ["S", "M", "L"], ordered=True),
            "kind": pd.Categorical(["b", "a", "b", "b"], ["b", "a", "c"]),
            "town": ["York", "Bath", None, "Bath"],
        }
    )


def in_polars() -> Any:
    polars = pytest.importorskip("polars")
    frame = shop()
    plain = {name: [None if pd.isna(value) else value for value in frame[name]] for name in frame}
    return polars.DataFrame(plain).with_columns(
        polars.col("size").cast(polars.Enum(["S", "M", "L"])), polars.col("kind").cast(polars.Enum(["b", "a", "c"]))
    )


FRAMES: dict[str, Callable[[], Any]] = {"pandas": shop, "polars": in_polars}
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
    assert space.kind == KINDS
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


@pytest.mark.parametrize("backend", FRAMES)
def test_what_is_read_is_missing_where_it_was_and_turns_back_into_itself(backend: str) -> None:
    frame = FRAMES[backend]()
    features = read_features(frame)
    gaps = {"price": 2, "staff": 1, "listed": 1, "rate": 2, "size": 3, "town": 2}
    for j, column in enumerate(features.columns):
        held = np.flatnonzero(np.isnan(features.x[:, j])).tolist()
        assert held == ([gaps[column.name]] if column.name in gaps else [])
        back = column.decoded(features.x[:, j])
        assert type(frame)({column.name: back})[column.name].equals(frame[column.name]), column.name
    assert [column.ordered for column in features.columns if column.name in ("size", "town")] == [True, False]


def test_polars_categories_without_a_list_are_those_held() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"town": polars.Series(["York", "Bath", "York"], dtype=polars.Categorical)})
    features = read_features(frame)
    assert features.columns[0].categories == ("Bath", "York")
    assert features.columns[0].decoded(features.x[:, 0]).dtype == polars.Categorical


def test_rows_are_rebuilt_for_the_model_with_the_types_that_it_knows() -> None:
    """Also where the frame's labels repeat, and where a value is none that the type can hold."""
    frame = shop().set_axis(["a", "b", "a", "a"])
    features = read_features(frame)
    moved = features.x[[0, 2, 0]].copy()
    moved[:, [1, 2, 7, 8]] = [[9.0, 0.0, 2.0, 0.0], [4.0, 1.0, 0.0, NAN], [3.0, 0.5, 1.0, 1.0]]
    rows = features.native_at(np.array([0, 2, 0]), moved)
    assert rows["count"].tolist() == [9, 4, 3]
    assert rows["open"].tolist() == [0.0, 1.0, 0.5], "half a boolean is a number"
    assert rows["kind"].tolist() == ["c", "b", "a"]
    assert rows["kind"].dtype == frame["kind"].dtype
    assert rows["town"].isna().tolist() == [False, True, False]
    assert rows["staff"].dtype == "Int64"
    assert list(rows.index) == ["a", "a", "a"]
    assert features.native_at(np.array([1]), features.x[[1]]).equals(frame.iloc[[1]])


def test_a_category_that_the_type_of_a_column_lacks_is_added_to_it() -> None:
    frame = pd.DataFrame({"job": pd.Categorical(["cook", "clerk"])})
    features = read_features(frame, {"job": ["cook", "clerk", "smith"]})
    rows = features.native_at(np.array([0, 1]), np.array([[2.0], [1.0]]))
    assert rows["job"].tolist() == ["smith", "clerk"]
    assert list(rows["job"].cat.categories) == ["clerk", "cook", "smith"]
    polars = pytest.importorskip("polars")
    features = read_features(
        polars.from_pandas(frame).cast(polars.Enum(["cook", "clerk"])), {"job": ["cook", "clerk", "smith"]}
    )
    assert features.native_at(np.array([0, 1]), np.array([[2.0], [1.0]]))["job"].to_list() == ["smith", "clerk"]


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


def resolved(frame: Any, space: Space, base: FloatArray | None = None, known: Any = None) -> Domain:
    return space.resolve(read_features(frame, space.read_as(known or {}, frame)), base, known)


def held(menu: Menu) -> FloatArray:
    return menu.values  # noqa: PD011  # not those of pandas


def menu_of(domain: Domain, name: str) -> Menu:
    return next(menu for menu in domain.menus if menu.name == name)


def test_without_a_word_numbers_move_freely_and_text_switches() -> None:
    domain = resolved(shop(), Space())
    assert [domain.names[j] for j in domain.free] == ["price", "count", "open", "staff", "listed", "rate"]
    assert [menu.name for menu in domain.menus] == ["size", "kind", "town"]
    assert {menu.kind for menu in domain.menus} == {"categorical"}
    assert domain.price[0] == 1.0
    assert menu_of(domain, "kind").cost.tolist() == (1.0 - np.eye(3)).tolist()


def test_a_whole_number_has_a_menu_of_its_steps_within_its_bounds() -> None:
    frame = pd.DataFrame({"k": [4, 6, 8, 6]})
    menu = menu_of(resolved(frame, Space(kind={"k": "integer"}, price=3.0)), "k")
    assert held(menu)[:, 0].tolist() == [4.0, 5.0, 6.0, 7.0, 8.0]
    assert menu.cost[0].tolist() == [0.0, 3.0, 12.0, 27.0, 48.0]
    assert (menu.kind, menu.metric) == ("integer", True)
    space = Space(kind={"k": "integer"}, step={"k": 2}, lower={"k": 1}, upper={"k": 11.5}, direction={"k": "up"})
    menu = menu_of(resolved(frame, space), "k")
    assert held(menu)[:, 0].tolist() == [2.0, 4.0, 6.0, 8.0, 10.0]
    assert menu.cost[2].tolist() == [INF, INF, 0.0, 4.0, 16.0]
    menu = menu_of(resolved(frame, space.edit(direction={"k": "down"})), "k")
    assert menu.cost[2].tolist() == [16.0, 4.0, 0.0, INF, INF]
    tenths = pd.DataFrame({"k": [0.3, 0.1, 0.7, 0.1 + 0.2]})
    domain = resolved(tenths, Space(kind={"k": "integer"}, step={"k": 0.1}))
    menu = menu_of(domain, "k")
    assert held(menu).shape == (7, 1)
    assert menu.options(tenths.to_numpy()).tolist() == [2, 0, 6, 2], "rounding tells nobody apart"
    there = tenths.to_numpy() + 0.1
    assert domain.distance(tenths.to_numpy()[:2], there[:2]) == pytest.approx([0.01, 0.01])


def test_a_whole_number_of_many_steps_moves_freely_and_is_rounded() -> None:
    frame = pd.DataFrame({"k": [0, 600, 30]})
    space = Space(kind={"k": "integer"}, upper={"k": 700.5}, direction={"k": "down"}, price=2.0)
    domain = resolved(frame, space)
    assert not domain.menus
    assert [float(each[0]) for each in (domain.price, domain.step, domain.lower, domain.upper)] == [2.0, 1.0, 0.0, 700.0]
    assert domain.direction[0] == -1.0
    assert domain.kind("k") == "integer"
    x = frame.to_numpy(dtype=float)
    assert domain.distance(x, x - [[0.0], [1.0], [0.5]]).tolist() == [0.0, 2.0, INF]


def test_outliers_may_stay_or_come_back_but_nobody_joins_them() -> None:
    frame = pd.DataFrame({"x": [0.0, 5.0, 9.0], "k": [0, 5, 9], "far": [0, 5000, 9000]})
    space = Space(kind={"k": "integer", "far": "integer"}, outliers="keep", upper={"x": 6.0, "k": 6, "far": 6000})
    domain = resolved(frame, space)
    menu = menu_of(domain, "k")
    assert held(menu)[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 9.0]
    assert np.isinf(menu.cost[:-1, -1]).all()
    assert menu.cost[-1].tolist() == [81.0, 64.0, 49.0, 36.0, 25.0, 16.0, 9.0, 0.0]
    x = frame.to_numpy(dtype=float)
    low, high = domain.bounds(x, domain.free)
    assert high.tolist() == [[6.0, 6000.0], [6.0, 6000.0], [9.0, 9000.0]]
    assert low[:, 0].tolist() == [-INF] * 3
    assert domain.distance(x[[2]], np.array([[6.0, 6.0, 8999.0]])) == pytest.approx([9.0 + 9.0 + 1.0])
    assert domain.distance(x[[1]], np.array([[5.0, 9.0, 5000.0]])).tolist() == [INF]


def test_levels_are_a_line_in_the_order_told_or_known() -> None:
    frame = shop().assign(mark=[10, 30, 20, 10])
    space = Space(
        kind={"size": "ordinal", "town": "ordinal", "mark": "ordinal"},
        categories={"town": ["York", "Bath", "Leeds"]},
        price={"size": 2.0},
        direction={"town": "up"},
    )
    domain = resolved(frame, space)
    size, town, mark = (menu_of(domain, name) for name in ("size", "town", "mark"))
    assert size.cost[0, :3].tolist() == [0.0, 2.0, 8.0], "S, M, L"
    assert size.cost[3].tolist() == [INF, INF, INF, 0.0], "what is missing stays"
    assert np.isnan(held(size)[3, 0])
    assert town.cost[0, :3].tolist() == [0.0, 1.0, 4.0]
    assert town.cost[1, :3].tolist() == [INF, 0.0, 1.0]
    assert held(mark)[:, 0].tolist() == [10.0, 20.0, 30.0]
    assert mark.cost[0].tolist() == [0.0, 1.0, 4.0], "a level is a step, whatever its number"
    known = {"mark": [10, 30]}
    coded = menu_of(resolved(frame, space, known=known), "mark")
    assert held(coded)[:, 0].tolist() == [0.0, 2.0, 1.0], "as they are encoded: 10, 30, and 20, which is new"
    assert coded.cost.tolist() == [[0.0, INF, 4.0], [1.0, 0.0, 1.0], [4.0, INF, 0.0]], "nobody goes to 20"


def test_a_switch_costs_a_constant_or_by_table_or_by_frequency() -> None:
    frame = pd.DataFrame({"job": list("aaab"), "r0": [1, 1, 0, 0], "r1": [0, 0, 1, 1]})
    space = Space(categories={"job": list("abc")}, one_hot={"race": ["r0", "r1"]}, price={"job": 2.0, "race": 3.0})
    domain = resolved(frame, space)
    assert menu_of(domain, "job").cost.tolist() == (2.0 * (1.0 - np.eye(3))).tolist()
    assert menu_of(domain, "race").cost.tolist() == [[0.0, 3.0], [3.0, 0.0]]
    assert held(menu_of(domain, "race")).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    often = menu_of(resolved(frame, space.edit(switch={"job": "frequency"})), "job").cost
    assert often[1, 0] == pytest.approx(2.0 * math.log(4 / 3))
    assert often[0, 1] == pytest.approx(2.0 * math.log(4))
    assert often[0, 2] == INF, "it never occurs"
    weighted = resolved(frame, space.edit(switch={"job": "frequency"}), np.array([0.2, 0.2, 0.1, 0.5]))
    assert menu_of(weighted, "job").cost[0, 1] == pytest.approx(2.0 * math.log(2))
    gaps = frame.assign(job=frame["job"].where(frame.index != 0))
    assert menu_of(resolved(gaps, Space(switch={"job": "frequency"})), "job").cost[0, 1] == pytest.approx(math.log(3))
    said = {"a": {"b": 0.5}, "c": {"a": 4.0}}
    by_name = menu_of(resolved(frame, space.edit(switch={"job": said})), "job").cost
    assert by_name.tolist() == [[0.0, 1.0, INF], [INF, 0.0, INF], [8.0, INF, 0.0]]
    table = pd.DataFrame([[0.0, 1.0], [2.0, 0.0]], index=["b", "a"], columns=["b", "a"])
    assert menu_of(resolved(frame, Space(switch={"job": table})), "job").cost.tolist() == [[0.0, 2.0], [1.0, 0.0]]
    assert menu_of(resolved(frame, Space(switch={"job": [[0.0, 1.0], [2.0, 0.0]]})), "job").cost[1, 0] == 2.0
    groups = space.edit(switch={"race": {"r0": {"r1": 0.25}}})
    assert menu_of(resolved(frame, groups), "race").cost.tolist() == [[0.0, 0.75], [INF, 0.0]]


def test_columns_named_by_numbers_are_known_by_them() -> None:
    frame = pd.DataFrame(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 4.0]]))
    space = Space(direction={2: "up"}, price={2: 3.0}, one_hot={"g": [0, 1]}, switch={"g": {0: {1: 2.0}}})  # type: ignore[dict-item,list-item]
    with pytest.raises(tp.InputError, match="no category"):
        resolved(frame, space)
    domain = resolved(frame, Space(direction={2: "up"}, price={2: 3.0}, one_hot={"g": [0, 1]}))  # type: ignore[dict-item,list-item]
    assert (domain.direction[2], domain.price[2]) == (1.0, 3.0)
    array = Space(kind={"x2": "categorical"}, categories={"x2": [2, 4, 8]}).resolve(read_features(frame.to_numpy()))
    assert held(array.menus[0])[:, 0].tolist() == [2.0, 4.0, 8.0]


def test_an_array_of_numbers_may_hold_categories_and_levels() -> None:
    """Codes of a plain array mean something to a plain linear model: the number itself."""
    x = np.array([[1.0, 0.3], [2.0, -0.4], [5.0, 1.0], [2.0, 2.0]])
    space = Space(kind={"x0": "categorical"})
    result = tp.stability(([1.0, 1.0], -2.0), x, [0, 0, 1, 1], 0.75, theta1=1.0, theta2=INF, space=space)
    assert set(result.sensitive["x0"]) <= {1.0, 2.0, 5.0}
    frame = pd.DataFrame(x, columns=["code", "x"]).astype({"code": int}).assign(flag=[True, False, True, False])
    space = Space.infer(frame, kind={"code": "categorical"}, ranges="none")
    result = tp.stability(([1.0, 1.0, 0.5], -2.0), frame, [0, 0, 1, 1], 0.75, theta1=1.0, theta2=INF, space=space)
    assert result.exact
    assert set(result.sensitive["code"]) <= {1, 2, 5}
    assert result.sensitive["flag"].dtype == bool


def spread_of(scale: Any, frame: pd.DataFrame, space: Space | None = None, weight: Any = None) -> dict[str, float]:
    """The unit of every feature, from what a unit more costs; infinite where it may not move."""
    coef = np.ones(frame.shape[1])
    labels = np.arange(len(frame)) % 2
    profile = tp.profile((coef, 0.0), frame, labels, scale=scale, space=space, sample_weight=weight, loss="hinge")
    domain = profile.oracle._geometry._domain  # type: ignore[attr-defined]
    units = {
        name: float(1.0 / math.sqrt(domain.price[j])) for j, name in enumerate(domain.names) if np.isfinite(domain.price[j])
    }
    for menu in domain.menus:
        step = abs(menu.axis[1] - menu.axis[0])
        units[menu.name] = float(step / math.sqrt(menu.cost[0, 1]))
    return units


def test_units_are_those_of_each_column() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.normal(size=31) * 3.0, "k": rng.integers(0, 9, 31), "mark": rng.choice([10, 20, 50], 31), "one": 1.0}
    )
    space = Space(kind={"k": "integer", "mark": "ordinal"})
    level = frame["mark"].map({10: 0, 20: 1, 50: 2})
    assert spread_of("raw", frame, space) == {"a": 1.0, "k": 1.0, "mark": 1.0, "one": 1.0}
    deviations = {"a": frame["a"].std(ddof=0), "k": frame["k"].std(ddof=0), "mark": level.std(ddof=0)}
    assert spread_of("std", frame, space) == pytest.approx(deviations), "a constant may not move"
    quartiles = {
        c: float(np.subtract(*np.quantile(v, [0.75, 0.25], method="inverted_cdf")))
        for c, v in {"a": frame["a"], "k": frame["k"], "mark": level}.items()
    }
    assert spread_of("iqr", frame, space) == pytest.approx(quartiles)
    medians = {c: float((v - v.median()).abs().median()) for c, v in {"a": frame["a"], "k": frame["k"], "mark": level}.items()}
    assert spread_of("mad", frame, space) == pytest.approx(medians)
    assert spread_of({"a": 2.0, "mark": 0.5}, frame, space) == pytest.approx({"a": 2.0, "k": 1.0, "mark": 0.5, "one": 1.0})


def test_between_two_values_a_quantile_is_their_mean_and_what_is_missing_does_not_count() -> None:
    even = pd.DataFrame({"a": [0.0, 1.0, 2.0, 10.0]})
    assert spread_of("mad", even) == {"a": 1.0}
    assert spread_of("iqr", even) == {"a": 5.5}
    gaps = read_features(pd.DataFrame({"a": [0.0, 1.0, 2.0, 10.0, NAN], "b": [5.0, 6.0, NAN, NAN, NAN]}))
    base = np.full(5, 0.2)
    for scale, spreads in {"std": [np.std(even["a"]), 0.5], "mad": [1.0, 0.5], "iqr": [5.5, 1.0]}.items():
        price = in_units(Space().resolve(gaps), gaps, base, scale).price
        assert 1.0 / np.sqrt(price) == pytest.approx(spreads)


@pytest.mark.parametrize("scale", ["std", "mad", "iqr"])
def test_a_row_of_weight_two_is_the_row_twice(scale: str) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=24), "k": rng.integers(0, 9, 24), "b": rng.exponential(size=24)})
    weight = rng.integers(1, 4, 24)
    space = Space(kind={"k": "integer"})
    twice = frame.loc[np.repeat(frame.index, weight)].reset_index(drop=True)
    assert spread_of(scale, frame, space, weight) == pytest.approx(spread_of(scale, twice, space))
    gaps = frame.assign(a=frame["a"].where(frame.index > 3))
    filled = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()).fit(gaps, np.arange(24) % 2)
    again = gaps.loc[np.repeat(gaps.index, weight)].reset_index(drop=True)
    ours = tp.stability(filled, gaps, np.arange(24) % 2, 0.7, scale=scale, sample_weight=weight, space=space)
    theirs = tp.stability(filled, again, np.repeat(np.arange(24) % 2, weight), 0.7, scale=scale, space=space)
    assert ours.value == pytest.approx(theirs.value, rel=1e-9)


GRADES, JOBS = ["low", "mid", "top"], ["a", "b", "c"]


@st.composite
def drawn_frames(draw: st.DrawFn) -> pd.DataFrame:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(12, 30))
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n).round(2) * 2.0,
            "k": rng.integers(0, 6, n) * draw(st.sampled_from([1, 3])),
            "far": rng.integers(0, 900, n),
            "grade": [*GRADES, *rng.choice(GRADES, n - 3)],
            "job": [*JOBS, *rng.choice(JOBS, n - 3)],
            "flag": rng.random(n) < 0.5,
        }
    )
    frame[["d0", "d1", "d2"]] = np.eye(3)[rng.integers(0, 3, n)]
    for name in draw(st.sets(st.sampled_from(["x", "k", "job"]))):
        frame[name] = frame[name].where(pd.Series(rng.random(n) < 0.8) | (frame.index < 3))
    return frame


@st.composite
def drawn_spaces(draw: st.DrawFn, frame: pd.DataFrame) -> Space:
    names = ["x", "k", "far", "grade", "job", "flag", "dummy"]
    ways = st.sampled_from(["up", "down"])
    shared: dict[str, Any] = draw(
        st.sampled_from([{}, {"frozen": draw(st.sets(st.sampled_from(names), max_size=3))}, {"movable": names[1:5]}])
    )
    bounds, room = {}, st.floats(0.0, 2.0).map(round)
    for name in draw(st.sets(st.sampled_from(["x", "k", "far"]))):
        inside = draw(st.booleans())
        low, high = float(frame[name].quantile(0.2)), float(frame[name].quantile(0.8))
        bounds[name] = (low, high) if inside else (float(frame[name].min()) - draw(room), float(frame[name].max()) + draw(room))
    step = {"k": 3.0} if set(frame["k"].dropna() % 3) == {0.0} and draw(st.booleans()) else {}
    return Space(
        kind={"k": "integer", "far": "integer", "grade": "ordinal", "flag": draw(st.sampled_from(["categorical", "numeric"]))},
        categories={"grade": GRADES},
        one_hot={"dummy": ["d0", "d1", "d2"]},
        lower={name: ends[0] for name, ends in bounds.items()},
        upper={name: ends[1] for name, ends in bounds.items()},
        outliers="keep",
        direction=draw(st.dictionaries(st.sampled_from(["x", "k", "far", "grade"]), ways)),
        price=draw(st.dictionaries(st.sampled_from(names), st.floats(0.05, 3.0))) | {"far": 1e-3},
        switch=draw(
            st.sampled_from(
                [{}, {"job": "frequency"}, {"job": {"a": {"b": 0.3}, "c": {"a": 0.1}}}, {"dummy": {"d0": {"d2": 0.2}}}]
            )
        ),
        step=step,
        **shared,
    )


def pipeline_for(frame: pd.DataFrame, y: Any) -> Any:
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    text = make_column_transformer(
        (OneHotEncoder(drop="first"), ["grade"]),
        (OneHotEncoder(), ["job"]),
        (numbers, ["x", "k", "far"]),
        remainder="passthrough",
    )
    return make_pipeline(text, LogisticRegression(max_iter=1000)).fit(frame, y)


@settings(max_examples=40)
@given(data=st.data(), loss=st.sampled_from(["zero_one", "hinge", "logistic"]), by=st.sampled_from(["raw", "std"]))
def test_no_row_of_q_is_impossible(data: st.DataObject, loss: str, by: str) -> None:
    frame = data.draw(drawn_frames())
    space = data.draw(drawn_spaces(frame))
    y = np.random.default_rng(len(frame)).random(len(frame)) < 0.5
    assume(0 < y.sum() < len(y))
    model = pipeline_for(frame, y)
    profile = tp.profile(model, frame, y, loss=loss, space=space, scale=by)
    risk = 0.9 if loss == "zero_one" else 1.4 * profile.risk
    q = profile.stability(risk, theta1=1.0, theta2=2.0).sensitive
    was = frame.loc[q["row"]].reset_index(drop=True)

    moves = set(space.movable or ["x", "k", "far", "grade", "job", "flag", "dummy"]) - set(space.frozen)
    for name in ("x", "k", "far", "grade", "job", "flag"):
        assert (q[name].isna() == was[name].isna()).all(), "what is missing stays missing"
        held = was[name].notna()
        before, after = was.loc[held, name], q.loc[held, name]
        if name not in moves:
            assert (before == after).all()
        if name in ("grade", "job"):
            levels = GRADES if name == "grade" else JOBS
            assert after.isin(levels).all()
        if name == "flag" and space.kind["flag"] == "categorical":
            assert after.isin([False, True]).all()
        if name in ("x", "k", "far"):
            assert (after >= np.fmin(space.lower.get(name, -INF), before) - 1e-9).all()  # type: ignore[union-attr]
            assert (after <= np.fmax(space.upper.get(name, INF), before) + 1e-9).all()  # type: ignore[union-attr]
        if name in ("k", "far"):
            assert ((after - before) % space.step.get(name, 1.0) == 0.0).all()
            inside = [frame[name].min(), frame[name].max()]
            assert name in space.lower or after.between(*inside).all(), "without bounds, within the range observed"  # type: ignore[operator]
        if name in space.direction:
            places = (before.map(GRADES.index), after.map(GRADES.index)) if name == "grade" else (before, after)
            change = places[1] - places[0]
            assert (change >= 0).all() if space.direction[name] == "up" else (change <= 0).all()
    assert (np.sort(q[["d0", "d1", "d2"]].to_numpy(), axis=1) == [0.0, 0.0, 1.0]).all()
    changed = (q[["d0", "d1", "d2"]] != was[["d0", "d1", "d2"]]).any(axis=1)
    assert "dummy" in moves or not changed.any()
    if space.switch.keys() == {"dummy"}:
        assert ((was["d0"] == 1.0) & (q["d2"] == 1.0))[changed].all(), "the only switch on the table"

    known = encoded_by(model, frame.columns)
    x, z = (read_features(rows, space.read_as(known, rows)).x for rows in (was, q[list(frame)]))
    domain = profile.oracle._geometry._domain if loss != "zero_one" else profile.oracle._domain  # type: ignore[attr-defined]
    assert domain.distance(x, z) == pytest.approx(q["cost"].to_numpy(), rel=1e-6, abs=1e-9)
    assert domain.distance(x, x).max() == 0.0


def test_the_distance_to_an_impossible_row_is_infinite() -> None:
    frame = pd.DataFrame(
        {"x": [1.0, NAN], "job": ["a", None], "k": [1, 2], "d0": [1.0, 0.0], "d1": [0.0, 1.0], "z": [0.0, 1.0]}
    )
    space = Space(kind={"k": "integer"}, one_hot={"d": ["d0", "d1"]}, frozen=["z"], upper={"x": 2.0})
    features = read_features(frame)
    domain = space.resolve(features)
    x = features.x
    assert domain.distance(x, x).tolist() == [0.0, 0.0]

    def moved(row: int, **columns: float) -> float:
        z = x[[row]].copy()
        for name, value in columns.items():
            z[0, list(frame).index(name)] = value
        return float(domain.distance(x[[row]], z)[0])

    assert moved(0, x=1.5, k=2.0, d0=0.0, d1=1.0) == pytest.approx(0.25 + 1.0 + 1.0)
    assert moved(0, x=2.5) == INF, "beyond a bound"
    assert moved(0, x=NAN) == INF, "nobody goes missing"
    assert moved(1, x=0.0) == INF, "what is missing stays"
    assert moved(0, job=NAN) == INF
    assert moved(1, job=0.0) == INF
    assert moved(0, job=1.0) == INF, "no such category"
    assert moved(0, k=1.5) == INF
    assert moved(0, d1=1.0) == INF, "both dummies"
    assert moved(0, d0=0.0) == INF, "no dummy"
    assert moved(0, z=0.1) == INF, "frozen"


PEOPLE = pd.DataFrame(
    {
        "age": [30.0, 41.0, 52.0, 63.0],
        "kids": [0, 1, 2, 1],
        "job": ["cook", "clerk", "cook", "nurse"],
        "r0": [1, 0, 0, 1],
        "r1": [0, 1, 1, 0],
    },
    index=["ann", "bob", "cid", "dee"],
)
CLASSES = [0, 1, 0, 1]
ONE_HOT = {"race": ["r0", "r1"]}
ENCODED = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough"), LogisticRegression(max_iter=2000)
).fit(PEOPLE, CLASSES)
LEVELLED = make_pipeline(
    make_column_transformer(
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=NAN), ["job"]), remainder="passthrough"
    ),
    LogisticRegression(max_iter=2000),
).fit(PEOPLE, CLASSES)
CODED = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["job", "kids"]), remainder="passthrough"), LogisticRegression(max_iter=2000)
).fit(PEOPLE, CLASSES)


def asked(frame: Any = PEOPLE, model: Any = ENCODED, scale: Any = "raw", **said: Any) -> Callable[[], Any]:
    return lambda: tp.stability(model, frame, CLASSES, 0.6, space=Space(**said), scale=scale)


def with_job(*jobs: Any) -> pd.DataFrame:
    return PEOPLE.assign(job=list(jobs))


Case = tuple[Callable[[], Any], tuple[str, ...]]
"""What is called, and what the sentence has to contain: argument, row or column, remedy."""

BAD: dict[str, Case] = {
    "bounds that exclude a sample": (
        asked(upper={"age": 60}),
        ("X['dee', 'age']=63", "[-inf, 60]", "widen", "outliers='keep'"),
    ),
    "bounds that exclude a whole number": (
        asked(kind={"kids": "integer"}, lower={"kids": 1}),
        ("X['ann', 'kids']=0", "[1, inf]", "widen lower/upper"),
    ),
    "bounds of categories": (asked(lower={"job": 0}), ("lower['job']", "categorical", "list the values")),
    "bounds of a one-hot group": (
        asked(one_hot=ONE_HOT, upper={"race": 1}),
        ("upper['race']", "no meaning", "list the values"),
    ),
    "bounds the wrong way round": (asked(lower={"age": 9}, upper={"age": 8}), ("lower['age']=9", "upper['age']=8", "swap")),
    "words as bounds": (asked(lower={"age": "young"}), ("lower['age']='young'", "must be a number")),
    "a price of zero": (asked(price={"job": 0}), ("price['job']=0", "positive", "frozen")),
    "a negative price of a group": (asked(one_hot=ONE_HOT, price={"race": -2}), ("price['race']=-2", "positive", "frozen")),
    "a price of NaN": (asked(price={"job": NAN}), ("price['job']=nan", "must be a number")),
    "one price of NaN": (asked(price=[1, 1, NAN, 1, 1]), ("price contains NaN", "leave a feature out")),
    "one-hot groups that overlap": (
        asked(one_hot={"race": ["r0", "r1"], "other": ["r1", "kids"]}),
        ("one_hot groups overlap", "'r1' is in 'race' and in 'other'", "belongs to one"),
    ),
    "a one-hot group of one": (asked(one_hot={"race": ["r0"]}), ("one_hot['race'] has 1 column", "two or more")),
    "a one-hot group of unknown columns": (asked(one_hot={"race": ["r0", "r9"]}), ("one_hot['race'] names 'r9'", "'r0', 'r1'")),
    "a one-hot group with the name of a column": (asked(one_hot={"age": ["r0", "r1"]}), ("one_hot['age']", "name of its own")),
    "one-hot groups as a list": (asked(one_hot=[["r0", "r1"]]), ("one_hot=[['r0', 'r1']]", "must be a mapping")),
    "a one-hot group as a word": (asked(one_hot={"race": "r0"}), ("one_hot['race']='r0'", "must be a list")),
    "both dummies": (
        asked(PEOPLE.assign(r0=[1, 0, 1, 1]), one_hot=ONE_HOT),
        ("X['cid'] is not one-hot in 'race' (r0=1, r1=1)", "mend the row"),
    ),
    "no dummy": (
        asked(PEOPLE.assign(r1=[0, 1, 0, 0]), one_hot=ONE_HOT),
        ("X['cid'] is not one-hot", "(all 0)", "mend the row"),
    ),
    "half a dummy": (asked(PEOPLE.assign(r0=[0.5] * 4, r1=[0.5] * 4), one_hot=ONE_HOT), ("X['ann']", "r0=0.5, r1=0.5")),
    "a dummy named alone": (
        asked(one_hot=ONE_HOT, frozen=["r0"]),
        ("frozen names 'r0'", "one-hot group 'race'", "name the group"),
    ),
    "a dummy priced alone": (asked(one_hot=ONE_HOT, price={"r1": 2.0}), ("price names 'r1'", "name the group")),
    "groups that overlap": (
        asked(groups={"who": ["age", "job"], "what": ["job"]}),
        ("groups overlap", "'job' is in 'who' and in 'what'", "belongs to one"),
    ),
    "a group with the name of a column": (asked(groups={"age": ["kids"]}), ("the group 'age'", "of a column", "of its own")),
    "a group with the name of a one-hot group": (
        asked(one_hot=ONE_HOT, groups={"race": ["age"]}),
        ("the group 'race'", "of a one-hot group", "of its own"),
    ),
    "a group of unknown features": (asked(groups={"who": ["sex"]}), ("groups['who'] names 'sex'", "'age', 'kids', 'job'")),
    "an empty group": (asked(groups={"who": []}), ("groups['who'] is empty", "name the features")),
    "an unknown feature in frozen": (asked(frozen=["sex"]), ("frozen names 'sex'", "'age', 'kids', 'job', 'r0', 'r1'")),
    "an unknown feature in movable": (asked(movable=["sex"]), ("movable names 'sex'", "'age'")),
    "an unknown feature in kind": (asked(kind={"sex": "fixed"}), ("kind names 'sex'", "'age'")),
    "an unknown feature in categories": (asked(categories={"sex": ["f"]}), ("categories names 'sex'", "'age'")),
    "an unknown feature in direction": (asked(direction={"sex": "up"}), ("direction names 'sex'", "'age'")),
    "an unknown feature in switch": (asked(switch={"sex": "frequency"}), ("switch names 'sex'", "'age'")),
    "an unknown feature in step": (asked(step={"sex": 1}), ("step names 'sex'", "'age'")),
    "an unknown kind": (
        asked(kind={"age": "number"}),
        ("kind['age']='number'", "numeric, integer, ordinal, categorical, fixed"),
    ),
    "kinds as a word, edited": (
        lambda: tp.stability(ENCODED, PEOPLE, CLASSES, 0.6, space=Space.infer(PEOPLE).edit(kind="numeric")),
        ("kind='numeric'", "must be a mapping"),
    ),
    "kinds as a word": (asked(kind="numeric"), ("kind='numeric'", "must be a mapping")),
    "text that is a number": (asked(kind={"job": "numeric"}), ("kind['job']='numeric'", "such as 'clerk'", "'categorical'")),
    "a number that the model encodes": (
        asked(model=CODED, kind={"kids": "integer"}),
        ("kind['kids']='integer'", "the model encodes the column", "kind=dict.fromkeys(['kids'], 'categorical')"),
    ),
    "a name for every row": (
        lambda: Space().resolve(read_features(pd.DataFrame({"id": [f"p{i}" for i in range(5000)]}))),
        ("'id' has 5000 categories", "frozen", "together"),
    ),
    "a one-hot group that is a number": (asked(one_hot=ONE_HOT, kind={"race": "numeric"}), ("kind['race']", "leave it out")),
    "an unknown direction": (asked(direction={"age": "north"}), ("direction['age']='north'", "'up' or 'down'")),
    "a direction of categories": (asked(direction={"job": "up"}), ("direction['job']", "categorical", "make it ordinal")),
    "an order that is not known": (asked(kind={"job": "ordinal"}), ("'job' is ordinal", "categories={'job': [...]}")),
    "a value that is none of the categories": (
        asked(categories={"job": ["cook", "clerk"]}),
        ("X['dee', 'job']='nurse'", "'cook', 'clerk'", "add it", "drop the row"),
    ),
    "a number that is none of the categories": (
        asked(kind={"kids": "categorical"}, categories={"kids": [0, 1]}),
        ("X['cid', 'kids']=2", "add it", "drop the row"),
    ),
    "words as categories of numbers": (
        asked(kind={"kids": "categorical"}, categories={"kids": ["none"]}),
        ("categories['kids']['none']='none'", "must be a number"),
    ),
    "a category twice": (
        asked(categories={"job": ["cook", "clerk", "nurse", "cook"]}),
        ("categories['job'] lists 'cook' twice", "once"),
    ),
    "categories as a word": (asked(categories={"job": "cook"}), ("categories['job']='cook'", "list of values")),
    "categories as a list": (asked(categories=["cook"]), ("categories=['cook']", "must be a mapping")),
    "categories of a number": (asked(categories={"age": [30, 41]}), ("categories['age']", "numeric", "make it categorical")),
    "categories of a one-hot group": (
        asked(one_hot=ONE_HOT, categories={"race": ["r0"]}),
        ("categories['race']", "columns of the one-hot group", "leave it out"),
    ),
    "a category that the encoder never saw": (
        asked(with_job("cook", "clerk", "pilot", "nurse")),
        ("model=Pipeline fails on X['cid', 'job']='pilot'", "unknown categories", "values that it knows"),
    ),
    "a category that nobody has and the encoder never saw": (
        asked(categories={"job": ["cook", "clerk", "nurse", "smith"]}),
        ("model=Pipeline fails on a row with 'job'='smith'", "unknown categories", "values that it knows"),
    ),
    "a category of which the encoder makes nothing": (
        asked(with_job("cook", "clerk", "pilot", "nurse"), LEVELLED),
        ("X['cid', 'job']='pilot'", "drop the row"),
    ),
    "a gap of which the encoder makes nothing": (
        asked(with_job("cook", "clerk", None, "nurse"), LEVELLED),
        ("X['cid', 'job'] is missing", "impute or drop the row"),
    ),
    "a gap that nothing imputes": (
        asked(PEOPLE.assign(age=[30.0, NAN, 52.0, 63.0])),
        ("X['bob', 'age'] is missing", "impute or drop the row"),
    ),
    "other columns than those fitted": (
        asked(PEOPLE.rename(columns={"kids": "sons"})),
        ("model=Pipeline fails on rows of X", "fitted on"),
    ),
    "a switch by another word": (
        asked(switch={"job": "often"}),
        ("switch['job']='often'", "'frequency'", "{from: {to: cost}}"),
    ),
    "a switch of a number": (asked(switch={"age": "frequency"}), ("switch['age']", "numeric", "make it categorical")),
    "a switch table of another size": (
        asked(switch={"job": np.eye(2)}),
        ("switch['job'] of shape (2, 2)", "3 categories", "'clerk', 'cook'"),
    ),
    "a switch table with unknown names": (
        asked(switch={"job": {"cook": {"smith": 1.0}}}),
        ("switch['job'] names 'smith'", "'clerk', 'cook', 'nurse'"),
    ),
    "a switch table without costs": (asked(switch={"job": {"cook": "clerk"}}), ("switch['job']['cook']='clerk'", "{to: cost}")),
    "a switch for nothing": (
        asked(switch={"job": {"cook": {"clerk": 0.0}}}),
        ("switch['job'] from 'cook' to 'clerk' is 0", "must be positive"),
    ),
    "a switch of NaN": (asked(switch={"job": {"cook": {"clerk": NAN}}}), ("switch['job']['cook']['clerk']=nan", "a number")),
    "a price of staying": (
        asked(switch={"job": np.ones((3, 3))}),
        ("switch['job'] from 'clerk' to 'clerk' is 1", "0 from a category to itself"),
    ),
    "a step of zero": (asked(kind={"kids": "integer"}, step={"kids": 0}), ("step['kids']=0", "positive")),
    "a step of words": (asked(kind={"kids": "integer"}, step={"kids": "one"}), ("step['kids']='one'", "must be a number")),
    "a step of a number": (asked(step={"age": 1}), ("step['age']", "numeric", "make it integer")),
    "half a child": (
        asked(PEOPLE.assign(kids=[0.0, 1.0, 2.5, 1.0]), kind={"kids": "integer"}),
        ("X['cid', 'kids']=2.5", "steps of 1", "make the feature numeric"),
    ),
    "halves of children": (
        asked(PEOPLE.assign(kids=[0.5, 1.5, 2.5, 1.5]), kind={"kids": "integer"}),
        ("X['ann', 'kids']=0.5", "steps of 1", "another step"),
    ),
    "odd children in pairs": (
        asked(kind={"kids": "integer"}, step={"kids": 2}),
        ("X['bob', 'kids']=1", "steps of 2", "another step"),
    ),
    "an unknown word for outliers": (asked(outliers="drop"), ("outliers='drop'", "'refuse' or 'keep'")),
    "an unknown scale": (asked(scale="minmax"), ("scale='minmax'", "'raw', 'std', 'mad', 'iqr'", "{'age': 10}")),
    "a scale of an unknown column": (asked(scale={"sex": 1}), ("scale names 'sex'", "'age'")),
    "a scale of zero": (asked(scale={"age": 0}), ("scale['age']=0", "positive")),
    "a scale without spread": (
        asked(PEOPLE.assign(age=[30.0, 30.0, 30.0, 63.0]), scale="mad"),
        ("scale='mad'", "'age'", "use 'std'", "{'age': 10}"),
    ),
    "something that a space has not": (lambda: Space().edit(frozn=["age"]), ("'frozn'", "frozen", "groups")),
    "something that a space has not, inferred": (lambda: Space.infer(PEOPLE, cost=2.0), ("'cost'", "price")),
    "an unknown range": (lambda: Space.infer(PEOPLE, ranges="all"), ("ranges='all'", "'observed', 'quantiles' or 'none'")),  # type: ignore[arg-type]
    "lists in cells": (
        lambda: Space.infer(PEOPLE.assign(job=pd.Series([["a"], [], ["b"], []], PEOPLE.index))),
        ("X['job']", "drop the column"),
    ),
    "dates": (lambda: Space.infer(PEOPLE.assign(job=pd.Timestamp("2024-01-01"))), ("X['job']", "Datetime", "drop it")),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_space_is_refused_in_one_clear_sentence(name: str) -> None:
    call, parts = BAD[name]
    with pytest.raises(tp.InputError) as caught:
        call()
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith(".")
    for part in parts:
        assert part in said
