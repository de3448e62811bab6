"""All places of rows before a small model of trees, tried one by one by the library's own word: slow, and beyond doubt.

Nothing here knows a tree. Where a model cuts a column of numbers is found by asking it: its answers change there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from problems import answer
from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.atoms import AtomsOracle
from tippingpoint.core.divergences import divergence_named
from tippingpoint.core.dual import Status
from tippingpoint.core.envelope import envelope

Answers = Callable[[pd.DataFrame], FloatArray]
"""A library's own numbers, `(n, K)`, of rows."""

Row = Mapping[str, Any]
"""What columns hold."""

Edges = Mapping[str, FloatArray]
"""By column of numbers: `(2, m)`, the last number before every cut of a model, and the first after it."""

CONTEXTS = 160
"""Rows before which the cuts of a column are looked for: what cuts it may show only if other columns hold the right values."""

GRID = 240
"""Numbers along a column between which answers may change."""

HALVINGS = 36
"""Of a stretch of the grid: what is left of it is less than any tolerance here."""


@dataclass(frozen=True)
class Number:
    """A column of numbers that moves freely, or by steps: `price·(z - x)²`. What is missing stays so."""

    name: str
    price: float = 1.0
    low: float = -math.inf
    high: float = math.inf
    direction: int = 0
    step: float = 0.0
    vanishing: float = math.inf

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.name,)

    def targets(self, row: Row, edges: Edges) -> list[Row]:
        """The nearest number on the other side of every cut."""
        x, (left, right) = float(row[self.name]), edges[self.name]
        down, up = left[right <= x], right[left >= x]
        if self.step > 0.0:
            down, up = (x + self.step * rounded((at - x) / self.step) for rounded, at in ((np.floor, down), (np.ceil, up)))
        return [{self.name: z} for z in (*np.unique([*down, *up]).tolist(), math.nan)]

    def cost(self, row: Row, there: Row) -> float:
        x, z = float(row[self.name]), float(there[self.name])
        if math.isnan(x) or math.isnan(z):
            return 0.0 if math.isnan(x) and math.isnan(z) else self.vanishing if math.isnan(z) else math.inf
        inside = min(self.low, x) <= z <= max(self.high, x) and (z - x) * self.direction >= 0.0
        whole = self.step == 0.0 or abs((z - x) / self.step - round((z - x) / self.step)) < 1e-6
        return self.price * (z - x) ** 2 if inside and whole else math.inf


@dataclass(frozen=True)
class Steps:
    """A column of whole numbers, or of levels in an order: `price·(steps between)²`."""

    name: str
    levels: Sequence[Any]
    price: float = 1.0
    direction: int = 0
    vanishing: float = math.inf

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.name,)

    def targets(self, row: Row, edges: Edges) -> list[Row]:
        return [{self.name: level} for level in (*self.levels, None)]

    def cost(self, row: Row, there: Row) -> float:
        own, other = row[self.name], there[self.name]
        if pd.isna(own) or pd.isna(other):
            return 0.0 if pd.isna(own) and pd.isna(other) else self.vanishing if pd.isna(other) else math.inf
        steps = self.levels.index(other) - self.levels.index(own)
        return self.price * steps**2 if steps * self.direction >= 0 else math.inf


@dataclass(frozen=True)
class Switch:
    """A column of categories: every switch costs the same, or what a table says of it."""

    name: str
    categories: Sequence[Any]
    price: float = 1.0
    table: Mapping[Any, Mapping[Any, float]] | None = None
    vanishing: float = math.inf

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.name,)

    def targets(self, row: Row, edges: Edges) -> list[Row]:
        return [{self.name: other} for other in (*self.categories, None)]

    def cost(self, row: Row, there: Row) -> float:
        own, other = row[self.name], there[self.name]
        if pd.isna(own) or pd.isna(other):
            return 0.0 if pd.isna(own) and pd.isna(other) else self.vanishing if pd.isna(other) else math.inf
        return self.price * _switching(own, other, self.table)


@dataclass(frozen=True)
class OneHot:
    """Columns of which one holds 1."""

    columns: Sequence[str]
    price: float = 1.0
    table: Mapping[str, Mapping[str, float]] | None = None
    name: str = "shade"

    def targets(self, row: Row, edges: Edges) -> list[Row]:
        return [{column: float(column == other) for column in self.columns} for other in self.columns]

    def cost(self, row: Row, there: Row) -> float:
        own, other = (next(name for name in self.columns if each[name] == 1.0) for each in (row, there))
        return self.price * _switching(own, other, self.table)


def _switching(own: Any, other: Any, table: Mapping[Any, Mapping[Any, float]] | None) -> float:
    if own == other:
        return 0.0
    return 1.0 if table is None else table.get(own, {}).get(other, math.inf)


Feature = Number | Steps | Switch | OneHot


@dataclass(frozen=True)
class Places:
    """Places of rows: the rows, what they hold there, and what that costs; where rows are is a place too."""

    rows: IntArray
    frame: pd.DataFrame
    cost: FloatArray

    def now(self, losses: FloatArray) -> FloatArray:
        """Of every row, its loss where it is, by those of all places."""
        return np.asarray(losses[self.cost == 0.0])

    def highest(self, losses: FloatArray) -> FloatArray:
        """Of every row, the highest loss of its places."""
        return np.array([losses[self.rows == i].max() for i in range(int(self.rows[-1]) + 1)])

    def stability(
        self,
        losses: FloatArray,
        risk: float,
        theta1: float,
        theta2: float,
        divergence: str = "kl",
        base: FloatArray | None = None,
    ) -> float:
        """The least cost of a perturbation over these places that lifts the risk to a threshold."""
        kept = envelope(self.rows, losses, self.cost)
        oracle = AtomsOracle(self.rows[kept], losses[kept], self.cost[kept], {})
        found = answer(oracle, risk, theta1, theta2, divergence_named(divergence), base)
        return math.inf if found.solution.status is Status.UNREACHABLE else found.value


def all_places(data: pd.DataFrame, features: Sequence[Feature], edges: Edges) -> Places:
    """Every combination of places of single features, of every row."""
    rows: list[IntArray] = []
    costs: list[FloatArray] = []
    held: dict[str, list[Any]] = {name: [] for feature in features for name in feature.columns}
    for i, row in enumerate(records(data)):
        options = [_options(feature, row, edges) for feature in features]
        chosen = np.indices([len(each) for each in options]).reshape(len(options), -1)
        rows.append(np.full(chosen.shape[1], i))
        costs.append(np.zeros(chosen.shape[1]))
        for feature, each, which in zip(features, options, chosen, strict=True):
            costs[-1] += np.array([cost for _, cost in each])[which]
            for name in feature.columns:
                held[name].append(np.array([there[name] for there, _ in each], dtype=object)[which])
    every = np.concatenate(rows)
    frame = data.iloc[every].reset_index(drop=True)
    for name, parts in held.items():
        frame[name] = pd.Series(np.concatenate(parts)).astype(data[name].dtype)
    return Places(every, frame, np.concatenate(costs))


def _options(feature: Feature, row: Row, edges: Edges) -> list[tuple[Row, float]]:
    """Where a feature of a row may be, and what that costs; first where it is."""
    priced = [(there, feature.cost(row, there)) for there in feature.targets(row, edges)]
    return [({name: row[name] for name in feature.columns}, 0.0), *(each for each in priced if 0.0 < each[1] < math.inf)]


def paid(features: Sequence[Feature], data: pd.DataFrame, rows: IntArray, places: pd.DataFrame) -> FloatArray:
    """What places of rows cost; infinite where a column has changed that may not."""
    moving = {name for feature in features for name in feature.columns}
    still = [name for name in data.columns if name not in moving]
    found = []
    for before, after in zip(records(data.iloc[rows]), records(places), strict=True):
        same = all(before[name] == after[name] or (pd.isna(before[name]) and pd.isna(after[name])) for name in still)
        cost = [each.cost(before, after) for each in features]
        found.append(sum(cost) if same else math.inf)
    return np.array(found)


def records(data: pd.DataFrame) -> list[Row]:
    """Row by row."""
    return [{str(name): value for name, value in row.items()} for row in data.to_dict("records")]


def cut_edges(answers: Answers, seen: pd.DataFrame, names: Sequence[str], seed: int = 0) -> dict[str, FloatArray]:
    """Where the answers of a model change along columns of numbers, whatever the others hold."""
    rng = np.random.default_rng(seed)
    shuffled = {name: seen[name].iloc[rng.integers(len(seen), size=CONTEXTS)].array for name in seen.columns}
    contexts = pd.DataFrame(shuffled)
    ladders = {name: _ladder(seen[name].to_numpy(dtype=float)) for name in names}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    stretches = [(name, a, b) for name, ladder in ladders.items() for a, b in itertools.pairwise(ladder)]
    while stretches:
        columns = [name for name, _, _ in stretches]
        left, right = (np.array(ends) for ends in zip(*((a, b) for _, a, b in stretches), strict=True))
        before, after = _told(answers, contexts, columns, left), _told(answers, contexts, columns, right)
        open_ = np.flatnonzero((before != after).any(axis=(1, 2)))
        columns, left, right, before = [columns[k] for k in open_], left[open_], right[open_], before[open_]
        far = right.copy()
        for _ in range(HALVINGS if len(open_) else 0):
            middle = 0.5 * (left + right)
            same = (_told(answers, contexts, columns, middle) == before).all(axis=(1, 2))
            left, right = np.where(same, middle, left), np.where(same, right, middle)
        for name, a, b in zip(columns, left.tolist(), right.tolist(), strict=True):
            found[name].append((a, b))
        stretches = [(name, b, end) for name, b, end in zip(columns, right.tolist(), far.tolist(), strict=True) if b < end]
    return {name: np.array(sorted(pairs)).reshape(-1, 2).T for name, pairs in found.items()}


def _ladder(held: FloatArray) -> FloatArray:
    """Numbers from below all that a column holds to above it, the space between evenly filled; and nothing.

    LightGBM may cut on both sides of it, closer than any halving tells.
    """
    low, high = np.nanmin(held), np.nanmax(held)
    beyond = 0.05 * (high - low) + 1.0
    return np.union1d(np.linspace(low - beyond, high + beyond, GRID), [0.0])


def _told(answers: Answers, contexts: pd.DataFrame, columns: Sequence[str], at: FloatArray) -> FloatArray:
    """`(m, contexts, K)` what is told of all contexts, with one column changed to one number, for each of `m`."""
    rows = contexts.iloc[np.tile(np.arange(len(contexts)), len(columns))].reset_index(drop=True)
    for name in set(columns):
        here = np.flatnonzero(np.array(columns) == name)
        held = rows[name].to_numpy(dtype=float, copy=True).reshape(len(columns), -1)
        held[here] = at[here, None]
        rows[name] = held.ravel()
    return answers(rows).reshape(len(columns), len(contexts), -1)
