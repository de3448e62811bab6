"""A space whose features are the inputs of a module, given by name: each moves as a whole, at one price, in one unit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.data.frames import Features
from tippingpoint.data.inputs import Input, Inputs
from tippingpoint.errors import InputError, listed
from tippingpoint.space.domain import Domain, outside_bounds
from tippingpoint.space.scaling import SPREAD_RATIO, UNITS, Scale, check_scale, deviation, quantile_spread, warn_of_scale

if TYPE_CHECKING:
    from tippingpoint.space import Space

OF_TABLES = ("kind", "categories", "one_hot", "switch", "step", "missing", "groups")
"""What a space may say of the columns of a table, and not of inputs."""


def resolve_inputs(space: Space, features: Features, inputs: Inputs) -> Domain:
    """The domain of a space on the inputs of a module; padding stays by itself, row by row (`Inputs.still`)."""
    for argument in OF_TABLES:
        if getattr(space, argument):
            raise InputError(
                f"{argument} is about columns of a table, and has no meaning for inputs of a module; of these a Space says"
                " frozen, movable, price, lower, upper and direction, by their names."
            )
    moves = _moves(space, inputs)
    width = inputs.width
    price, lower, upper, direction = (
        np.full(width, math.inf),
        np.full(width, -math.inf),
        np.full(width, math.inf),
        np.zeros(width),
    )
    prices, lows, highs = (_each(name, getattr(space, name), inputs) for name in ("price", "lower", "upper"))
    ways = _ways(space, inputs)
    for each in moves:
        cost, low, high = prices.get(each.name, 1.0), lows.get(each.name, -math.inf), highs.get(each.name, math.inf)
        if not (cost > 0.0 and math.isfinite(cost)):
            raise InputError(
                f"price[{each.name!r}]={cost:g} must be a positive number; to keep an input from moving, freeze it."
            )
        if not low <= high:
            raise InputError(f"lower[{each.name!r}]={low:g} is above upper[{each.name!r}]={high:g}; swap them.")
        _check_inside(space, features, inputs, each, low, high)
        price[each.columns], lower[each.columns], upper[each.columns] = cost, low, high
        direction[each.columns] = ways.get(each.name, 0.0)
    unit = f"units of {moves[0].name}" if len(moves) == 1 else "units of the inputs"
    return Domain(features.names, price, lower, upper, direction, np.zeros(width), unit=unit)


def inputs_in_units(domain: Domain, features: Features, inputs: Inputs, base: FloatArray, scale: Scale | None) -> Domain:
    """The domain in the units chosen: one for each input, the spread of all its values outside of padding."""
    check_scale(scale, "as {'inputs_embeds': 0.1}")
    if isinstance(scale, Mapping):
        spread = np.ones(inputs.width)
        for name, unit in scale.items():
            if not (isinstance(unit, Real) and 0.0 < float(unit) < math.inf):
                raise InputError(f"scale[{name!r}]={unit!r} must be a positive number, what one unit of the input is.")
            spread[_known("scale", name, inputs).columns] = unit
        return domain.scaled(spread, "units of your own")
    if scale == "raw":
        return domain
    moves = [each for each in inputs.floating if np.isfinite(domain.price[each.columns]).any()]
    if scale is None:
        _warn_if_uneven(domain, features, inputs, base, moves)
        return domain
    spread = np.ones(inputs.width)
    for each in moves:
        spread[each.columns] = _spread(features, inputs, base, each, scale)
    return domain.scaled(spread, UNITS[scale])


def _spread(features: Features, inputs: Inputs, base: FloatArray, each: Input, scale: str) -> float:
    """How far the values of an input are apart, all positions together, but for padding."""
    values, rows = inputs.held(each, features.x)
    if not len(values):  # all of it is padding
        return 0.0
    weights = base[rows] / base[rows].sum()
    if scale == "std":
        return float(deviation(values[:, None], weights)[0])
    return quantile_spread(each.kind, values, weights, scale)


def _warn_if_uneven(domain: Domain, features: Features, inputs: Inputs, base: FloatArray, moves: list[Input]) -> None:
    """A word where one input is measured on another scale than the next; of one alone there is nothing to compare."""
    if len(moves) < 2:
        return
    apart = {
        each.kind: _spread(features, inputs, base, each, "std") * math.sqrt(domain.price[each.columns][0]) for each in moves
    }
    spread = {kind: size for kind, size in apart.items() if size > 0.0}
    wide, narrow = (choose(spread, key=spread.__getitem__, default="") for choose in (max, min))
    if spread and spread[wide] / spread[narrow] > SPREAD_RATIO:
        warn_of_scale(wide, narrow, spread[wide] / spread[narrow], "input")


def _moves(space: Space, inputs: Inputs) -> list[Input]:
    """The inputs that may move, in their order."""
    floating = {each.name for each in inputs.floating}
    every = {each.name for each in inputs.entries}
    if space.movable is not None:
        floating = {_known("movable", name, inputs).name for name in _names("movable", space.movable)}
    for name in _names("frozen", space.frozen):
        if name not in every:
            raise InputError(f"frozen names {name!r}, which is no input; the inputs are {listed(every)}.")
        floating.discard(name)
    return [each for each in inputs.floating if each.name in floating]


def _names(argument: str, given: Any) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"{argument}={given!r} must be a list of inputs, as ['inputs_embeds'].")
    return list(given)


def _each(argument: str, given: Any, inputs: Inputs) -> dict[str, float]:
    """What an argument says of every input that could move, or of some of them."""
    named = given if isinstance(given, Mapping) else {each.name: given for each in inputs.floating}
    found = dict[str, float]()
    for name, value in named.items():
        if not isinstance(value, Real) or math.isnan(float(value)):
            raise InputError(
                f"{argument}={given!r}: give one number for all inputs, or one for each by name, as {{'inputs_embeds': 1}}."
            )
        found[_known(argument, name, inputs).name] = float(value)
    return found


def _ways(space: Space, inputs: Inputs) -> dict[str, float]:
    """+1 for inputs that may only rise, -1 for those that may only fall."""
    if not isinstance(space.direction, Mapping):
        raise InputError(f"direction={space.direction!r} must be a mapping from inputs, as {{'pixel_values': 'up'}}.")
    for name, way in space.direction.items():
        if way not in ("up", "down"):
            raise InputError(f"direction[{name!r}]={way!r} is not known; use 'up' or 'down'.")
    return {_known("direction", name, inputs).name: 1.0 if way == "up" else -1.0 for name, way in space.direction.items()}


def _known(argument: str, name: Any, inputs: Inputs) -> Input:
    """An input that can move, by its name."""
    found = next((each for each in inputs.floating if each.name == name), None)
    if found is not None:
        return found
    able = listed(each.name for each in inputs.floating)
    why = "is a mask or holds no floats, so it rides along and never moves" if name in inputs.beside else "is no input"
    raise InputError(f"{argument} names {name!r}, which {why}; those that can move are {able}.")


def _check_inside(space: Space, features: Features, inputs: Inputs, each: Input, low: float, high: float) -> None:
    if space.outliers not in ("refuse", "keep"):
        raise InputError(f"outliers={space.outliers!r} is not known; use 'refuse' or 'keep'.")
    if space.outliers == "keep" or (low == -math.inf and high == math.inf) or each.columns is None:
        return
    columns = np.arange(each.columns.start, each.columns.stop)
    held, still = features.x[:, columns], inputs.still(columns)
    outside = (held < low) | (held > high)
    if still is not None:
        outside &= ~still
    if outside.any():
        row, place = (int(k) for k in np.argwhere(outside)[0])
        raise outside_bounds(features.cell(row, int(columns[place])), float(held[row, place]), low, high)
