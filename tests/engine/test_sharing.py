"""What samples take from others comes from the sample of all rows: best responses do not depend on the partitioning."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor

import tippingpoint as tp
from partitioned import oracles, planned
from tippingpoint import Space
from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.divergences import KL
from tippingpoint.core.problem import Problem
from tippingpoint.engine.partitions import partitions_of
from tippingpoint.engine.preparing import Prepared
from tippingpoint.query.draws import row_choices, row_normals, row_uniforms

ROWS = 150
PARTITIONINGS = ((0, ROWS), (0, 101, ROWS), (0, 7, 8, 60, 61, ROWS))
"""One, two and five partitions, some of them of a single row."""

PRICES = (0.1, 0.5, 2.0, 10.0, 100.0)

RNG = np.random.default_rng(11)
X = RNG.normal(size=(ROWS, 3)) * [1.0, 2.0, 0.5]
SCORE = X[:, 0] + 0.5 * np.sin(2.0 * X[:, 1]) * X[:, 0] + X[:, 2] ** 2 - 0.3
LABEL = (SCORE + 0.3 * RNG.normal(size=ROWS) > 0.0).astype(int)
NUMBERS = pd.DataFrame(X, columns=["a", "b", "c"])
MIXED = NUMBERS.assign(n=RNG.integers(0, 6, ROWS), job=RNG.choice(["cook", "clerk", "smith"], ROWS))


def curved(rows: Any) -> FloatArray:
    a, b, c = (np.asarray(rows[name], dtype=float) for name in "abc")
    return np.asarray(a + 0.5 * np.sin(2.0 * b) * a + c * c - 0.3)


def mixed(rows: Any) -> FloatArray:
    job = np.asarray(rows["job"]).astype(str)
    whole, first = np.asarray(rows["n"], dtype=float), np.asarray(rows["a"], dtype=float)
    return np.asarray(curved(rows) + 0.2 * whole - 0.4 * (job == "cook") * first)


def classes(rows: Any) -> IntArray:
    return (curved(rows) > 0.0).astype(int)


def regressed(rows: Any) -> FloatArray:
    return curved(rows)


def prepared(model: Any, x: Any, y: Any, cuts: tuple[int, ...], **settings: Any) -> list[Prepared]:
    """Every partition of these rows."""
    if isinstance(x, pd.DataFrame):
        whole = x.assign(label=y)
        partitions = partitions_of([whole.iloc[first:last] for first, last in pairwise(cuts)], "label")
    else:
        partitions = partitions_of([(x[first:last], y[first:last]) for first, last in pairwise(cuts)], None)
    return oracles(model, partitions, planned(model, partitions, **{"scale": "raw", **settings}))


def responses(every: list[Prepared], price: float) -> FloatArray:
    """Lifts and costs of all rows at a price, in their order."""
    found = [each.oracle.respond(price) for each in every if each.oracle is not None]
    return np.array([np.concatenate([each.lift for each in found]), np.concatenate([each.cost for each in found])])


BLACK_BOXES: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    "scores, errors": (curved, NUMBERS, LABEL, {"options": {"output": "score"}}),
    "scores, errors, few calls": (curved, NUMBERS, LABEL, {"options": {"output": "score", "calls": 60 * ROWS}}),
    "scores, hinge": (curved, NUMBERS, LABEL, {"loss": "hinge", "options": {"output": "score"}}),
    "scores, hinge, few calls": (
        curved,
        NUMBERS,
        LABEL,
        {"loss": "hinge", "options": {"output": "score", "calls": 80 * ROWS}},
    ),
    "labels": (classes, NUMBERS, LABEL, {}),
    "labels, few calls": (classes, NUMBERS, LABEL, {"options": {"calls": 70 * ROWS}}),
    "labels, more calls": (classes, NUMBERS, LABEL, {"options": {"calls": 300 * ROWS}}),
    "predictions": (regressed, NUMBERS, SCORE.round(2) + 0.5, {"loss": "squared"}),
    "mixed": (mixed, MIXED, LABEL, {"options": {"output": "score"}, "space": Space(kind={"n": "integer"})}),
    "mixed, few calls": (
        mixed,
        MIXED,
        LABEL,
        {"options": {"output": "score", "calls": 90 * ROWS}, "space": Space(kind={"n": "integer"}, groups={"two": ["a", "n"]})},
    ),
    "one feature": (
        curved,
        NUMBERS,
        LABEL,
        {"options": {"output": "score", "calls": 90 * ROWS}, "space": Space(movable=["b"])},
    ),
}


@pytest.mark.parametrize("name", BLACK_BOXES)
def test_a_black_box_responds_alike_however_rows_are_cut(name: str) -> None:
    model, x, y, settings = BLACK_BOXES[name]
    one, *others = (prepared(model, x, y, cuts, **settings) for cuts in PARTITIONINGS)
    assert responses(one, PRICES[-1])[1].any(), "nobody moves, so there is nothing to compare"
    for every in others:
        for price in PRICES:
            np.testing.assert_allclose(responses(every, price), responses(one, price), rtol=1e-12, atol=1e-12)


def network(*widths: int, double: bool = True, activation: type[torch.nn.Module] = torch.nn.Tanh) -> torch.nn.Module:
    """A chain of layers of these widths, whose outputs are around 0 where the data are."""
    torch.manual_seed(4)
    layers: list[torch.nn.Module] = []
    for before, after in pairwise(widths):
        layers += [torch.nn.Linear(before, after), activation()]
    chain = torch.nn.Sequential(*layers[:-1]).double()
    inputs = torch.from_numpy(np.column_stack((X, np.zeros((ROWS, widths[0] - X.shape[1])))))
    with torch.no_grad():
        last = layers[-2]
        assert isinstance(last, torch.nn.Linear)
        last.bias.copy_(last.bias - torch.quantile(chain(inputs), 0.5, dim=0))
    return (chain if double else chain.float()).eval()


THREE = np.digitize(SCORE, [-0.5, 0.8])
WHOLE = np.column_stack((X, RNG.integers(0, 6, ROWS)))
NETWORKS: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    "errors": (network(3, 8, 8, 1), X, LABEL, {}),
    "errors, one hidden layer of ReLUs": (
        network(3, 6, 1, activation=torch.nn.ReLU),
        X,
        LABEL,
        {"options": {"certify": "none"}},  # proofs end by the clock
    ),
    "errors of three classes": (network(3, 8, 3), X, THREE, {}),
    "logistic": (network(3, 8, 8, 1), X, LABEL, {"loss": "logistic"}),
    "logistic of three classes": (network(3, 8, 3), X, THREE, {"loss": "logistic"}),
    "logistic, ReLUs": (network(3, 8, 8, 1, activation=torch.nn.ReLU), X, LABEL, {"loss": "logistic"}),
    "squared": (network(3, 8, 8, 1), X, SCORE, {"loss": "squared"}),
    "random starts": (network(3, 8, 8, 1), X, LABEL, {"loss": "logistic", "options": {"restarts": 2}}),
    "errors, whole numbers": (network(4, 8, 1), WHOLE, LABEL, {"space": Space(kind={"x3": "integer"})}),
    "bounds": (network(3, 8, 8, 1), X, LABEL, {"loss": "hinge", "space": Space(lower=dict.fromkeys(("x0", "x1", "x2"), -9.0))}),
}


SINGLE = {
    "errors": (network(3, 8, 8, 1, double=False), X, LABEL, {}),
    "logistic": (network(3, 8, 8, 1, double=False), X, LABEL, {"loss": "logistic"}),
    "squared, ReLUs": (network(3, 8, 8, 1, double=False, activation=torch.nn.ReLU), X, SCORE, {"loss": "squared"}),
}


SINGLE_TOLERANCE = 1e-5
"""Of responses in single precision."""

ALIKE = 0.98
"""Part of the rows that keep to it, at least: rounding may decide which of two starts is better, though seldom."""


@pytest.mark.parametrize("name", SINGLE)
def test_a_network_of_single_precision_gains_alike(name: str) -> None:
    model, x, y, settings = SINGLE[name]
    one, *others = (prepared(model, x, y, cuts, **settings) for cuts in PARTITIONINGS)
    for every in others:
        for price in PRICES:
            mine, other = responses(every, price), responses(one, price)
            alike = np.isclose(mine, other, rtol=SINGLE_TOLERANCE, atol=SINGLE_TOLERANCE).all(axis=0)
            assert alike.mean() >= ALIKE
            assert price * mine[0].mean() - mine[1].mean() == pytest.approx(price * other[0].mean() - other[1].mean(), rel=1e-3)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_responds_alike_however_rows_are_cut(name: str) -> None:
    model, x, y, settings = NETWORKS[name]
    one, *others = (prepared(model, x, y, cuts, **settings) for cuts in PARTITIONINGS)
    assert responses(one, PRICES[-1])[1].any(), "nobody moves, so there is nothing to compare"
    for every in others:
        for price in PRICES:
            np.testing.assert_allclose(responses(every, price), responses(one, price), rtol=1e-9, atol=1e-9)


TREES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "errors": (GradientBoostingClassifier(n_estimators=8, max_depth=3, random_state=0).fit(NUMBERS, LABEL), LABEL, {}),
    "logistic": (
        GradientBoostingClassifier(n_estimators=8, max_depth=3, random_state=0).fit(NUMBERS, LABEL),
        LABEL,
        {"loss": "logistic"},
    ),
    "squared": (
        RandomForestRegressor(n_estimators=6, max_depth=4, random_state=0).fit(NUMBERS, SCORE),
        SCORE.round(2),
        {"loss": "squared"},
    ),
}


def proved(every: list[Prepared], price: float) -> tuple[FloatArray, FloatArray]:
    """What rows gain at a price where every partition was tuned to a question of its own, and what they can gain at most."""
    gains, bounds = [], []
    for each in every:
        if each.oracle is None:
            continue
        base = each.base / each.base.sum()
        problem = Problem(each.oracle, base, float(base @ each.oracle.losses) + 0.2, 1.0, math.inf, KL())
        tuned = each.oracle.tuned(problem)
        found, bound = tuned.respond(price), tuned.gain_bounds(price)
        assert bound is not None
        gains.append(price * found.lift - found.cost)
        bounds.append(bound)
    return np.concatenate(gains), np.concatenate(bounds)


GAP = 1e-3
"""To which a question about trees is proved."""


@pytest.mark.parametrize("name", TREES)
def test_trees_respond_alike_however_rows_are_cut(name: str) -> None:
    model, y, settings = TREES[name]
    one, *others = (prepared(model, NUMBERS, y, cuts, **settings) for cuts in PARTITIONINGS)
    for every in others:
        for price in PRICES:
            np.testing.assert_allclose(responses(every, price), responses(one, price), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", TREES)
def test_what_is_proved_of_trees_holds_however_rows_are_cut(name: str) -> None:
    model, y, settings = TREES[name]
    every = [prepared(model, NUMBERS, y, cuts, **settings) for cuts in PARTITIONINGS]
    for price in (0.5, 2.0, 10.0):
        found = [proved(each, price) for each in every]
        for gains, _ in found:
            for _, bounds in found:
                assert (gains <= bounds * (1.0 + 1e-9) + 1e-9).all()


@pytest.mark.parametrize("name", TREES)
def test_intervals_of_trees_agree_to_the_gap(name: str) -> None:
    model, y, settings = TREES[name]
    whole = NUMBERS.assign(label=y)
    found = []
    for cuts in PARTITIONINGS:
        frames = [whole.iloc[first:last] for first, last in pairwise(cuts)]
        profile = tp.profile(model, frames, "label", scale="raw", **settings)
        found.append(profile.stability(profile.risk + 0.2, theta1=1.0, theta2=math.inf))
    for one in found:
        assert (1.0 - GAP) * one.value <= one.lower <= one.value * (1.0 + 1e-9)
        assert one.value == pytest.approx(found[0].value, rel=GAP)


def test_what_is_drawn_for_a_row_is_its_own() -> None:
    rows = np.arange(10_000)
    drawn = row_uniforms([3, 1], rows, 4)
    np.testing.assert_array_equal(row_uniforms([3, 1], rows[::-7], 4), drawn[::-7])
    np.testing.assert_array_equal(row_uniforms([3, 1], rows, 2), drawn[:, :2])
    assert not np.isclose(row_uniforms([3, 2], rows, 4), drawn).mean() > 1e-3
    assert (np.abs(np.asarray(np.corrcoef(drawn.T)) - np.eye(4)) < 0.05).all()
    assert (np.abs(np.histogram(drawn, 20, (0.0, 1.0))[0] - 2000) < 200).all()
    normal = row_normals([3, 1], rows, 4)
    assert abs(normal.mean()) < 0.03
    assert abs(normal.std() - 1.0) < 0.02
    assert (np.bincount(row_choices([5], rows, 10), minlength=10) > 850).all()
