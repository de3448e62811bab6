"""Spaces resolved for data: menus, bounds, switches, and the units in which moves are counted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tippingpoint as tp
from shop import held, shop
from tippingpoint.api.cases import prepared
from tippingpoint.core.arrays import FloatArray
from tippingpoint.data.frames import read_features
from tippingpoint.space import Space
from tippingpoint.space.domain import Domain, Menu
from tippingpoint.space.scaling import in_units

INF, NAN = math.inf, math.nan


def resolved(frame: Any, space: Space, base: FloatArray | None = None, known: Any = None) -> Domain:
    return space.resolve(read_features(frame, space.read_as(known or {}, frame)), base, known)


def menu_of(domain: Domain, name: str) -> Menu:
    return next(menu for menu in domain.menus if menu.name == name)


def test_without_a_word_numbers_move_freely_and_text_switches() -> None:
    domain = resolved(shop(), Space())
    assert [domain.names[j] for j in domain.free] == ["price", "count", "open", "staff", "listed", "rate"]
    assert [menu.name for menu in domain.menus] == ["size", "kind", "town"]
    assert [menu.kind for menu in domain.menus] == ["ordinal", "categorical", "categorical"]
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
    case = prepared((coef, 0.0), frame, labels, {}, loss="hinge", sample_weight=weight, space=space, scale=scale)
    domain = case.domain
    units = {
        name: float(1.0 / math.sqrt(domain.price[j])) for j, name in enumerate(domain.names) if np.isfinite(domain.price[j])
    }
    for menu in domain.menus:
        assert menu.axis is not None
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
