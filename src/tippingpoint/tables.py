"""Tables of alternatives: what each sample could become, what it would cost, what the loss would be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.errors import InputError
from tippingpoint.frames import base_weights, read_frame, read_numbers, read_vector
from tippingpoint.oracles.table import TableOracle
from tippingpoint.origin import Origin, call_of, data_fingerprint
from tippingpoint.profiles import Profile
from tippingpoint.show.text import GIVEN


def profile_table(
    table: Any, *, sample: str = "sample", loss: str = "loss", cost: str = "cost", weight: str | None = None
) -> Profile:
    """The profile of a table of alternatives; no model is needed.

    For paraphrases of prompts, corruptions of images, simulations, or a vendor's black box: run them, write down one line
    an alternative, and get the exact stability over what was tried.

    Parameters
    ----------
    table
        A pandas or polars frame, one line an alternative. The line of cost 0 is the sample as it is.
    sample
        Column that says which sample a line belongs to.
    loss
        Column with the loss of the alternative.
    cost
        Column with what it costs to go there; it takes the place of the squared distance.
    weight
        Column with the weight of the sample (the same on all its lines). Where none is named, a column called "weight" is
        taken; without one, all samples weigh the same.

    Examples
    --------
    >>> import pandas as pd, tippingpoint as tp
    >>> runs = pd.DataFrame({"sample": ["a", "a", "b"], "loss": [0, 1, 0], "cost": [0, 2, 0]})
    >>> tp.profile_table(runs).stability(risk=0.5, theta1=1.0, theta2=float("inf")).value
    1.0
    """
    import narwhals as nw

    frame = read_frame(table, "table")
    if not isinstance(frame, nw.DataFrame):
        raise InputError(f"table is a {type(table).__name__}; give a pandas or polars frame, one line an alternative.")
    if weight is None and "weight" in frame.columns and "weight" not in (sample, loss, cost):
        weight = "weight"
    roles = {"sample": sample, "loss": loss, "cost": cost} | ({"weight": weight} if weight else {})
    for role, name in roles.items():
        if name not in frame.columns:
            raise InputError(f"the table has no column {name!r} for the {role}; its columns are {frame.columns!r}.")
    if not len(frame):
        raise InputError("the table is empty; give one line an alternative.")
    losses = read_numbers(frame[loss].to_native(), f"table[{loss!r}]")
    costs = read_numbers(frame[cost].to_native(), f"table[{cost!r}]")
    positions, labels = _positions(read_vector(frame[sample].to_native(), f"table[{sample!r}]"), sample)
    negative = np.flatnonzero(costs < 0.0)
    if len(negative):
        i = int(negative[0])
        raise InputError(f"table[{cost!r}] is {costs[i]:g} for sample {labels[positions[i]]!r}; costs must be ≥ 0.")
    _check_originals(positions, labels, losses, costs)
    base = _weights(frame[weight].to_native() if weight else None, weight, positions, labels)
    rows = np.flatnonzero(base)
    kept = np.isin(positions, rows)
    place = np.cumsum(base > 0.0) - 1
    extra = [name for name in frame.columns if name not in roles.values()]
    columns = {name: frame[name].to_numpy()[kept] for name in extra} or {"line": np.flatnonzero(kept)}
    oracle = TableOracle(place[positions[kept]], losses[kept], costs[kept], columns)
    index = [labels[i] for i in rows]
    lines = data_fingerprint({name: frame[name].to_numpy() for name in frame.columns})
    origin = Origin("a table of alternatives", "", None, lambda: lines, call_of("profile_table", "table", weight=weight))
    return Profile(oracle, base[rows], index, GIVEN, (-math.inf, math.inf), frame.implementation.value, origin=origin)


def _positions(samples: np.ndarray[Any, Any], name: str) -> tuple[IntArray, list[Any]]:
    """Number the samples in the order of their first line."""
    import pandas as pd

    codes, labels = pd.factorize(samples)
    if (codes < 0).any():
        raise InputError(
            f"table[{name!r}] is missing on line {int(np.flatnonzero(codes < 0)[0])}; every line needs its sample."
        )
    return codes.astype(np.intp), list(pd.Index(labels))  # as Python names them: 1, not np.int64(1)


def _check_originals(positions: IntArray, labels: list[Any], losses: FloatArray, costs: FloatArray) -> None:
    original = costs == 0.0
    without = np.flatnonzero(np.bincount(positions[original], minlength=len(labels)) == 0)
    if len(without):
        raise InputError(f"sample {labels[without[0]]!r} has no line of cost 0; add the sample as it is, with cost 0.")
    low, high = np.full(len(labels), np.inf), np.full(len(labels), -np.inf)
    np.minimum.at(low, positions[original], losses[original])
    np.maximum.at(high, positions[original], losses[original])
    several = np.flatnonzero(low < high)
    if len(several):
        raise InputError(f"sample {labels[several[0]]!r} has several lines of cost 0 with different losses; keep the original.")


def _weights(column: Any, name: str | None, positions: IntArray, labels: list[Any]) -> FloatArray:
    if column is None:
        return base_weights(None, len(labels))
    given = read_numbers(column, f"table[{name!r}]")
    first = np.zeros(len(labels))
    first[positions[::-1]] = given[::-1]
    uneven = np.flatnonzero(given != first[positions])
    if len(uneven):
        raise InputError(
            f"sample {labels[positions[uneven[0]]]!r} has different weights on its lines; give one weight a sample."
        )
    negative = np.flatnonzero(first < 0.0)
    if len(negative):
        raise InputError(f"table[{name!r}] is {first[negative[0]]:g} for sample {labels[negative[0]]!r}; weights must be ≥ 0.")
    return base_weights(first, len(labels), f"table[{name!r}]")
