"""Units of a domain whose data are in partitions: spreads from what is known of all rows, or from a few passes over them."""

from __future__ import annotations

from functools import partial

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.data.frames import Features
from tippingpoint.engine.partitions import Run
from tippingpoint.engine.quantiles import Target, weighted_quantiles
from tippingpoint.engine.reading import Reading, numbers
from tippingpoint.engine.survey import Facts
from tippingpoint.space.domain import Domain, Menu
from tippingpoint.space.resolving import Shares
from tippingpoint.space.scaling import UNITS, Scale, checked_spread, deviation, in_units, quantile_spread


def in_units_of_all(
    domain: Domain, scale: Scale | None, facts: Facts, reading: Reading, shares: Shares, sample: Features, run: Run
) -> Domain:
    """The domain in the units chosen, as `space.scaling.in_units` has it of the whole data."""
    if not (isinstance(scale, str) and scale in UNITS):
        return in_units(domain, sample, np.full(len(sample.x), 1.0 / len(sample.x)), scale)
    spread = facts.moments.deviation if scale == "std" else np.ones(len(domain.names))
    for menu in domain.menus:
        if menu.metric:
            spread[menu.columns[0]] = _of_menu(domain, menu, shares, scale)
    if scale != "std":
        spread = _by_quantiles(domain, spread, scale, facts, reading, run)
    return domain.scaled(spread, UNITS[scale])


def _of_menu(domain: Domain, menu: Menu, shares: Shares, scale: str) -> float:
    """The spread along the axis of a menu, from the weights of its values."""
    j = int(menu.columns[0])
    held = {value: weight for value, weight in shares[domain.names[j]].items() if weight > 0.0}
    if not held:
        return 0.0
    x = np.zeros((len(held), len(domain.names)))
    x[:, j] = list(held)
    along, base = menu.along(x), np.array(list(held.values()))
    base = base / base.sum()
    return (
        float(deviation(along[:, None], base)[0])
        if scale == "std"
        else quantile_spread(repr(domain.names[j]), along, base, scale)
    )


def _by_quantiles(domain: Domain, spread: FloatArray, scale: str, facts: Facts, reading: Reading, run: Run) -> FloatArray:
    """The interquartile ranges, or median absolute deviations, of the columns that move freely."""
    moments = facts.moments
    varied = [int(j) for j in domain.free if moments.low[j] < moments.high[j]]
    for j in domain.free:
        spread[j] = 0.0
    columns = partial(numbers, reading)
    levels = (0.25, 0.75) if scale == "iqr" else (0.5,)
    targets = [Target(j, level, None, float(moments.low[j]), float(moments.high[j])) for j in varied for level in levels]
    found = weighted_quantiles(run, columns, targets, [float(moments.mass[target.column]) for target in targets])
    if scale == "iqr":
        for place, j in enumerate(varied):
            spread[j] = checked_spread(repr(domain.names[j]), found[2 * place + 1] - found[2 * place], scale)
        return spread
    around = [
        Target(j, 0.5, middle, 0.0, max(float(moments.high[j]) - middle, middle - float(moments.low[j])))
        for j, middle in zip(varied, found, strict=True)
    ]
    apart = weighted_quantiles(run, columns, around, [float(moments.mass[j]) for j in varied])
    for j, each in zip(varied, apart, strict=True):
        spread[j] = checked_spread(repr(domain.names[j]), each, scale)
    return spread
