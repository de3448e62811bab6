"""Small forests on cells, drawn at random, and all the places of a row one by one: slow, and beyond doubt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.families.trees.cells import CellForest, CellRows, Line, Options, Variable
from tippingpoint.families.trees.forest import LEAF, Int32Array
from tippingpoint.families.trees.search.pushing import Kind, Link, ScoreLoss, Sides

STEP = ScoreLoss(Kind.STEP)
EIGHTHS = 8.0
"""Sums of multiples of an eighth are exact in any order, and often zero: the boundary itself is then a place."""


@dataclass(frozen=True)
class CellProblem:
    """A forest on cells, samples in them, and the directions in which they are pushed."""

    forest: CellForest
    rows: CellRows
    sides: Sides
    base: FloatArray

    @property
    def samples(self) -> IntArray:
        return np.arange(len(self.rows))

    @property
    def now(self) -> FloatArray:
        """The losses of the samples as they are."""
        return self.sides.present(self.forest.scores(self.rows.home) + self.base)


@dataclass(frozen=True)
class Places:
    """All places that a sample can go to: their cells, what they cost, and the outputs there."""

    cells: Int32Array
    cost: FloatArray
    outputs: FloatArray

    def best(self, problem: CellProblem, sample: int, price: float, known: float) -> float:
        """The profit of the best of them, or what is known if none is better."""
        return max(known, float(self.profits(problem, sample, price).max(initial=-math.inf)))

    def profits(self, problem: CellProblem, sample: int, price: float) -> FloatArray:
        """Of every place, on the best side."""
        sides = problem.sides.of(np.array([sample]))
        worth = np.full(len(self.cost), -math.inf)
        home = problem.rows.home[[sample]]
        now = sides.present(problem.forest.scores(home) + problem.base)[0]
        for weights, offset, which in zip(sides.weights, sides.offset, sides.loss, strict=True):
            score = offset + self.outputs @ weights
            if sides.crossing:
                worth = np.maximum(worth, np.where(score >= 0.0, 0.0, -math.inf))
            else:
                worth = np.maximum(worth, price * (sides.losses[which].value(score) - now))
        return np.asarray(worth - self.cost)


def all_places(problem: CellProblem, sample: int) -> Places:
    """Every combination of cells that the sample may enter."""
    variables = problem.forest.variables
    costs = [problem.rows.costs(variables, v, np.array([sample]))[0] for v in range(len(variables))]
    allowed = [np.flatnonzero(np.isfinite(cost)) for cost in costs]
    cells = np.stack([each.ravel() for each in np.meshgrid(*allowed, indexing="ij")], axis=1).astype(np.int32)
    cost = np.sum([costs[v][cells[:, v]] for v in range(len(variables))], axis=0)
    return Places(cells, cost, problem.forest.scores(cells) + problem.base)


def random_problem(rng: np.random.Generator, *, crossing: bool, samples: int = 6, exact: bool = False) -> CellProblem:
    """Numeric, categorical and missing splits; lines with bounds, steps and ways to vanish; menus with tables; what stays.

    `exact` draws values in eighths. Scores go where losses of probabilities and tables are kept from growing, and are no longer
    convex.
    """
    variables = tuple(_random_variable(rng, v) for v in range(rng.integers(1, 5)))
    outputs = int(rng.choice([1, 1, 2, 3]))
    forest = random_trees(rng, variables, outputs, trees=int(rng.integers(1, 9)), depth=int(rng.integers(1, 5)), exact=exact)
    rows = random_rows(rng, variables, samples)
    base = rng.normal(size=outputs)
    if exact:
        base = np.round(EIGHTHS * base) / EIGHTHS
    sides = random_sides(rng, outputs, samples, crossing=crossing, exact=exact)
    return CellProblem(forest, rows, sides, base)


def starting_profits(problem: CellProblem) -> FloatArray:
    """Of samples as they are: nothing, or for the 0/1 loss nothing only where they are wrong already."""
    outputs = problem.forest.scores(problem.rows.home) + problem.base
    wrong = problem.sides.present(outputs) > 0.0
    return np.where(wrong, 0.0, -math.inf) if problem.sides.crossing else np.zeros(len(problem.rows))


def permuted(problem: CellProblem, trees: IntArray, variables: IntArray) -> CellProblem:
    """The same problem with trees and variables in another order."""
    forest, rows = problem.forest, problem.rows
    place = np.append(np.argsort(variables), LEAF).astype(np.int32)  # where a variable is now; leaves stay leaves
    return replace(
        problem,
        forest=replace(
            forest,
            variables=tuple(forest.variables[v] for v in variables),
            variable=place[forest.variable],
            masks=tuple(forest.masks[v] for v in variables),
            roots=forest.roots[trees],
        ),
        rows=CellRows(
            rows.x[:, variables],
            rows.low[:, variables],
            rows.high[:, variables],
            rows.home[:, variables],
            rows.option[:, variables],
        ),
    )


def _random_variable(rng: np.random.Generator, v: int) -> Variable:
    name = f"v{v}"
    if rng.random() < 0.35:
        return _random_menu(rng, name, ordered=bool(rng.random() < 0.5))
    cuts = np.unique(np.round(rng.normal(size=rng.integers(0, 6)), 1))
    if rng.random() < 0.15:
        return Line(name, v, cuts)
    step = float(rng.choice([0.25, 0.7])) if rng.random() < 0.3 else 0.0
    vanishing = float(rng.uniform(0.1, 2.0)) if rng.random() < 0.2 else math.inf
    return Line(name, v, cuts, float(rng.uniform(0.1, 3.0)), step, vanishing)


def _random_menu(rng: np.random.Generator, name: str, *, ordered: bool) -> Options:
    """Options in cells; of ordered ones the last option may be that of what is missing."""
    count = int(rng.integers(2, 7))
    axis = np.sort(np.round(rng.normal(size=count), 1))
    if ordered:
        table = rng.uniform(0.2, 2.0) * np.square(axis[:, None] - axis)
        table[rng.random((count, count)) < 0.1] = math.inf
        parts = int(rng.integers(1, count + 1))
        cell, cells = np.sort(rng.integers(0, parts, count)), parts + 1
        if rng.random() < 0.4:
            cell[-1] = parts
            table[-1], table[:, -1] = rng.uniform(0.1, 2.0, count), rng.uniform(0.1, 2.0)
    else:
        table = rng.uniform(0.05, 2.0, (count, count))
        table[rng.random((count, count)) < 0.15] = math.inf
        cells = int(rng.integers(1, count + 1))
        cell = rng.permutation(np.concatenate([np.arange(cells), rng.integers(0, cells, count - cells)]))
    np.fill_diagonal(table, 0.0)
    cost, cheapest = np.full((count, cells), math.inf), np.zeros((count, cells), dtype=np.int32)
    for k in range(cells):
        own = np.flatnonzero(cell == k)
        if len(own):
            cost[:, k], cheapest[:, k] = table[:, own].min(axis=1), own[table[:, own].argmin(axis=1)]
    columns = np.zeros(1, dtype=np.intp)
    return Options(name, columns, axis[:, None], ordered, cells, cell.astype(np.int32), cost, cheapest)


def random_trees(
    rng: np.random.Generator, variables: Sequence[Variable], outputs: int, *, trees: int, depth: int, exact: bool = False
) -> CellForest:
    """Trees of up to so many levels, some of them a single leaf."""
    nodes: list[list[int]] = []  # variable, cut, missing_left, left, right
    values: list[FloatArray] = []
    masks: list[list[BoolArray]] = [[] for _ in variables]

    def grow(levels: int) -> int:
        at = len(nodes)
        nodes.append([LEAF, len(values), 0, LEAF, LEAF])
        if levels == 0 or rng.random() < 0.15:
            drawn = rng.normal(size=outputs)
            values.append(np.round(EIGHTHS * drawn) / EIGHTHS if exact else drawn)
            return at
        v = int(rng.integers(len(variables)))
        cut, cells = int(rng.integers(-1, variables[v].cells)), variables[v].cells
        if not variables[v].ordered:
            cut = len(masks[v])
            masks[v].append(rng.random(cells) < 0.5)
        left, right = grow(levels - 1), grow(levels - 1)
        nodes[at] = [v, cut, int(rng.random() < 0.5), left, right]
        return at

    roots = [grow(depth) for _ in range(trees)]
    variable, cut, missing_left, left, right = np.array(nodes, dtype=np.int32).T.copy()
    sets = tuple(np.array(own, dtype=bool).reshape(len(own), v.cells) for own, v in zip(masks, variables, strict=True))
    table = np.array(values)
    return CellForest(
        tuple(variables), variable, cut, missing_left.astype(bool), left, right, np.array(roots, dtype=np.int32), table, sets
    )


def random_rows(rng: np.random.Generator, variables: Sequence[Variable], samples: int) -> CellRows:
    """Samples, some of them on a cut, at a bound, or with a number missing."""
    shape = (samples, len(variables))
    x, low, high = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    home, option = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32)
    for v, variable in enumerate(variables):
        if isinstance(variable, Options):
            option[:, v] = rng.integers(0, len(variable.cell), samples)
            home[:, v] = variable.cell[option[:, v]]
            continue
        drawn = rng.normal(size=samples)
        if len(variable.cuts):
            drawn = np.where(rng.random(samples) < 0.3, rng.choice(variable.cuts, samples), drawn)
        drawn[rng.random(samples) < 0.1] = np.nan
        x[:, v] = drawn
        roam = rng.choice([0.0, 0.5, math.inf], (2, samples), p=[0.15, 0.25, 0.6])
        low[:, v], high[:, v] = drawn - roam[0], drawn + roam[1]
        home[:, v] = variable.home(drawn)
    return CellRows(x, low, high, home, option)


def random_sides(rng: np.random.Generator, outputs: int, samples: int, *, crossing: bool, exact: bool = False) -> Sides:
    """None to three sides a sample: of one output both directions, of several one output against another."""
    counts = rng.choice([0, 1, 2, 3], samples, p=[0.05, 0.55, 0.3, 0.1])
    begins, sides = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32), int(counts.sum())
    weights = np.zeros((sides, outputs))
    for each in weights:
        if outputs == 1:
            each[0] = rng.choice([-1.0, 1.0])
        else:
            chosen = rng.choice(outputs, 2, replace=False)
            each[chosen] = 1.0, -1.0
    offset = rng.normal(size=sides) - 1.0
    if exact:
        offset = np.round(EIGHTHS * offset) / EIGHTHS
    losses = (STEP,) if crossing else tuple(random_loss(rng) for _ in range(4))
    return Sides(begins, weights, offset, rng.integers(0, len(losses), sides).astype(np.int32), losses)


def random_loss(rng: np.random.Generator) -> ScoreLoss:
    """Of any kind but the 0/1 loss."""
    kind = Kind(int(rng.integers(1, 8)))
    if kind is not Kind.LINKED:
        return ScoreLoss(kind, _numbers(rng, kind))
    link, inner = Link(int(rng.integers(5))), Kind(int(rng.choice([Kind.PIECES, Kind.SQUARE, Kind.HUBER, Kind.TABLE])))
    number = 0.05 if link is Link.LOGIT else float(rng.normal())
    return ScoreLoss(kind, (float(link), number, float(inner), *_numbers(rng, inner)))


def _numbers(rng: np.random.Generator, kind: Kind) -> tuple[float, ...]:
    if kind is Kind.PIECES:
        pieces = int(rng.integers(1, 4))
        return (*np.abs(rng.normal(size=pieces)).tolist(), *rng.normal(size=pieces).tolist())
    if kind is Kind.SQUARE:
        return (float(rng.normal()),)
    if kind is Kind.HUBER:
        return (float(rng.uniform(0.2, 2.0)),)
    if kind is Kind.ODDS:
        return (float(rng.choice([1e-3, 0.05])),)
    if kind is Kind.TABLE:
        at = np.cumsum(np.concatenate([[-2.0], rng.uniform(0.1, 1.5, 5)]))
        slopes = np.cumsum(rng.exponential(size=5))
        return (*at.tolist(), *np.concatenate([[0.0], np.cumsum(slopes * np.diff(at))]).tolist())
    return ()
