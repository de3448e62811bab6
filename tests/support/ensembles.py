"""Tables for small ensembles of trees, and what it takes for a reading to be right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.families.trees.forest import LEAF
from tippingpoint.families.trees.readers import read_model
from tippingpoint.families.trees.readers.checking import check_reading
from tippingpoint.families.trees.readers.rounding import UNIT64, any_order
from tippingpoint.families.trees.reading import TreeReading, Unread

PUSHED = 600
"""Rows that are pushed onto thresholds, and beside them."""

SHADES = ("teal", "amber", "plum", "jade", "rust")
"""Categories that are in no order of the alphabet."""


class Table(NamedTuple):
    """Rows, with gaps and without, and targets."""

    x: FloatArray
    whole: FloatArray
    two: IntArray
    three: IntArray
    amount: FloatArray
    counts: FloatArray


def table(rows: int = 240) -> Table:
    rng = np.random.default_rng(7)
    whole = rng.normal(size=(rows, 4))
    whole[:, 2] = rng.integers(-2, 3, rows)
    whole[:, 3] = rng.integers(0, 2, rows)
    score = whole[:, 0] + whole[:, 1] * whole[:, 3] - 0.4 * whole[:, 2] + 0.4 * rng.normal(size=rows)
    x = np.where(rng.random(whole.shape) < 0.1, np.nan, whole)
    counts = 0.5 + rng.poisson(np.exp(0.5 * whole[:, 0])).astype(float)
    return Table(x, whole, (score > 0.0).astype(np.intp), np.digitize(score, [-0.7, 0.7]), score, counts)


TABLE = table()


def shaded() -> tuple[pd.DataFrame, FloatArray, IntArray]:
    """A frame whose second column holds categories, the same as numbers, and labels on which both depend."""
    shade = np.random.default_rng(11).integers(0, len(SHADES), len(TABLE.x))
    x = np.array(TABLE.x[:, [0, 2, 1]])
    x[:, 1] = shade
    x[::17, 1] = np.nan
    labels = (np.nan_to_num(TABLE.x[:, 0]) + np.isin(shade, (1, 3)) - 0.5 > 0.0).astype(np.intp)
    return shaded_frame(np.arange(len(x)), x), x, labels


def shaded_frame(like: IntArray, x: FloatArray) -> pd.DataFrame:
    shades = [None if np.isnan(code) else SHADES[int(code)] for code in x[:, 1]]
    return pd.DataFrame({"a": x[:, 0], "shade": pd.Categorical(shades, categories=list(SHADES)), "b": x[:, 2]})


def as_array(like: IntArray, x: FloatArray) -> FloatArray:
    return x.copy()


def reading_of(model: Any) -> TreeReading:
    reading = read_model(model)
    assert isinstance(reading, TreeReading), reading
    return reading


def reason_of(model: Any) -> str:
    found = read_model(model)
    assert isinstance(found, Unread), found
    return found.reason


def pushed(reading: TreeReading, x: FloatArray, *, gaps: bool = True) -> tuple[IntArray, FloatArray]:
    """Rows of `x`, every column of which that a tree asks is on a threshold, next to one as a double or as a float32, missing,
    or left as it is."""
    rng = np.random.default_rng(3)
    like = rng.integers(len(x), size=PUSHED)
    moved = x[like].copy()
    for j in reading.forest.columns:
        nodes = reading.forest.feature == j
        if (reading.forest.members[nodes] != LEAF).any():
            places = np.arange(len(SHADES), dtype=float)
        else:
            edges = np.unique(reading.forest.threshold[nodes])
            edges = edges[np.abs(edges) < 1e30]
            near = edges.astype(np.float32)
            either = [np.nextafter(each, each.dtype.type(way)) for each in (edges, near) for way in (-np.inf, np.inf)]
            places = np.concatenate([edges, near.astype(float), *either])
        if gaps:
            places = np.append(places, np.nan)
        rows = np.flatnonzero(rng.random(PUSHED) < 0.8)
        moved[rows, j] = rng.choice(places, size=len(rows)) if len(places) else moved[rows, j]
    return like, moved


def furthest(
    model: Any,
    x: FloatArray,
    rows_of: Callable[[IntArray, FloatArray], Any] = as_array,
    *,
    gaps: bool = True,
) -> tuple[TreeReading, float]:
    """A reading that is right, and how far the library's outputs are from its own at most."""
    reading = reading_of(model)
    like, moved = pushed(reading, x, gaps=gaps)
    every, places = np.vstack((x, moved)), np.concatenate((np.arange(len(x)), like))
    rows = rows_of(places, every)
    scores, asked = reading.forest.scores(every), reading.ask(rows)
    assert scores.shape == asked.shape
    apart = float(np.abs(scores - asked).max())
    assert apart <= reading.rounding + any_order(reading.forest, UNIT64)
    assert check_reading(reading, x, rows_of, gaps=None if gaps else np.zeros(0, dtype=np.intp)) is None
    assert_meant(model, reading, scores, rows)
    return reading, apart


def assert_meant(model: Any, reading: TreeReading, scores: FloatArray, rows: Any) -> None:
    """What the outputs are said to be makes of them what the model answers."""
    slack = 1e-5 if reading.library == "XGBoost" else 1e-12
    if reading.returns == "prediction":
        predicted = {"identity": scores, "log": np.exp(scores), "logit": expit(scores)}[reading.link]
        np.testing.assert_allclose(np.ravel(model.predict(rows)), predicted[:, 0], rtol=slack, atol=slack)
        return
    assert reading.classes is not None
    wide = scores if scores.shape[1] > 1 else np.column_stack((np.zeros(len(scores)), scores[:, 0]))
    ahead = np.sort(wide, axis=1)
    clear = ahead[:, -1] - ahead[:, -2] > 2.0 * reading.rounding
    assert clear.any()
    told = np.array(reading.classes)[wide.argmax(axis=1)]
    np.testing.assert_array_equal(np.ravel(model.predict(rows))[clear], told[clear])
    if reading.returns != "order":
        shares = wide if reading.returns == "probability" else softmax(wide, axis=1)
        np.testing.assert_allclose(model.predict_proba(rows), shares, rtol=slack, atol=slack)
