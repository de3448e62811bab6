"""Spaces of every kind of feature, each said twice: as users say it, and as places that are tried one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from small_trees import AGES, HOT, SHADES, Library
from tippingpoint.space import Space
from tree_places import Feature, Number, OneHot, Steps, Switch

TABLE = {"teal": {"amber": 0.3, "plum": 2.0}, "amber": {"plum": 0.1, "jade": 0.6}, "plum": {"teal": 0.5}, "jade": {"teal": 0.2}}
"""What switches cost; those that are not listed are not allowed."""


class Setting(NamedTuple):
    """A space, and its features."""

    space: Space
    features: Sequence[Feature]


def everything(library: Library) -> Setting:
    """Numbers with a price, bounds and gaps, whole numbers that only rise, and categories."""
    vanishing = {"z": 0.3} if library.gaps else {}
    space = Space(
        kind={"age": "integer"},
        price={"x": 2.0, "age": 0.7, "shade": 0.5},
        lower={"x": -2.5, "age": 0},
        upper={"x": 2.5, "age": 4},
        direction={"age": "up"},
        missing=vanishing,
        **_group(library),
    )
    numbers = Number("x", 2.0, low=-2.5, high=2.5), Number("z", vanishing=vanishing.get("z", math.inf))
    return Setting(space, (*numbers, Steps("age", AGES, 0.7, direction=1), shades(library, price=0.5)))


def numbers(library: Library) -> Setting:
    """As they move by default."""
    return Setting(Space(movable=["x", "z", "age"]), (Number("x"), Number("z"), Number("age")))


def whole_numbers(library: Library) -> Setting:
    space = Space(movable=["x", "age"], kind={"age": "integer"}, lower={"age": 0}, upper={"age": 4})
    return Setting(space, (Number("x"), Steps("age", AGES)))


def fine_steps(library: Library) -> Setting:
    """So many whole numbers that they are no menu."""
    space = Space(
        movable=["x", "z"], kind={"x": "integer"}, step={"x": 0.01}, lower={"x": -4.0}, upper={"x": 4.0}, price={"x": 3.0}
    )
    return Setting(space, (Number("x", 3.0, low=-4.0, high=4.0, step=0.01), Number("z")))


def levels(library: Library) -> Setting:
    """Of numbers, and of categories where there are any."""
    order = [SHADES[k] for k in (2, 0, 3, 1)]
    listed: dict[str, list[Any]] = {"age": list(AGES)}
    kind, moving = {"age": "ordinal"}, ["x", "age"]
    features: list[Feature] = [Number("x"), Steps("age", AGES, 0.2)]
    if library.native:
        kind, listed, moving = {**kind, "shade": "ordinal"}, {**listed, "shade": order}, [*moving, "shade"]
        features.append(Steps("shade", order, direction=-1))
    down = {"shade": "down"} if library.native else {}
    space = Space(movable=moving, kind=kind, categories=listed, price={"age": 0.2}, direction=down)
    return Setting(space, features)


def switches(library: Library) -> Setting:
    """What every switch costs is said one by one."""
    if library.native:
        return Setting(
            Space(movable=["x", "shade"], switch={"shade": TABLE}, price={"shade": 0.5}),
            (Number("x"), Switch("shade", SHADES, 0.5, TABLE)),
        )
    column = dict(zip(SHADES, HOT, strict=True))
    table = {column[a]: {column[b]: cost for b, cost in row.items()} for a, row in TABLE.items()}
    space = Space(movable=["x", "shade"], one_hot={"shade": HOT}, switch={"shade": table}, price={"shade": 0.5})
    return Setting(space, (Number("x"), OneHot(HOT, 0.5, table)))


def fences(library: Library) -> Setting:
    """Frozen, bounded, directed and priced; rows beyond the bounds stay, or come back."""
    space = Space(
        frozen=["age"],
        lower={"x": -0.9},
        upper={"x": 1.1, "z": 1.5},
        direction={"z": "up"},
        price={"x": 0.5, "z": 2.0, "shade": 1.5},
        outliers="keep",
        **_group(library),
    )
    x, z = Number("x", 0.5, low=-0.9, high=1.1), Number("z", 2.0, high=1.5, direction=1)
    return Setting(space, (x, z, shades(library, price=1.5)))


def going_missing(library: Library) -> Setting:
    """Numbers, whole numbers and categories."""
    costs = {"x": 0.4, "age": 0.9, **({"shade": 0.6} if library.native else {})}
    space = Space(kind={"age": "integer"}, lower={"age": 0}, upper={"age": 4}, missing=costs, frozen=["z"], **_group(library))
    age = Steps("age", AGES, vanishing=costs["age"])
    return Setting(space, (Number("x", vanishing=costs["x"]), age, shades(library, vanishing=costs.get("shade", math.inf))))


def shades(library: Library, price: float = 1.0, vanishing: float = math.inf) -> Feature:
    """Categories as they are, or one-hot."""
    return Switch("shade", SHADES, price, vanishing=vanishing) if library.native else OneHot(HOT, price)


def _group(library: Library) -> dict[str, Any]:
    return {} if library.native else {"one_hot": {"shade": HOT}}


KINDS: dict[str, Callable[[Library], Setting]] = {
    "numbers": numbers,
    "whole numbers": whole_numbers,
    "fine steps": fine_steps,
    "levels": levels,
    "switches": switches,
    "fences": fences,
    "going missing": going_missing,
}
