"""One variable alone: every cell of it is tried, so that the best responses are known at every price."""

from __future__ import annotations

import math

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray, blocks
from tippingpoint.core.atoms import LEAST_COST, AtomsOracle
from tippingpoint.core.envelope import envelope
from tippingpoint.core.oracle import Doubted
from tippingpoint.families.trees.forest import Int32Array
from tippingpoint.families.trees.on_thresholds import on_thresholds
from tippingpoint.families.trees.proving import Ask, TreeTask
from tippingpoint.space.domain import Domain

MAX_NUMBERS = 2**22
"""Numbers held at once."""

NOTHING_SEEN = "no tree looks at anything that moves"
"""Why samples stay."""

Atoms = tuple[IntArray, Int32Array]
"""Samples, and the cells that they go to."""


class LineOracle(AtomsOracle):
    """The best responses of samples of which one variable may change, or none.

    Parameters
    ----------
    task
        The forest in the domain.
    moving
        The variables that may change: one at most.
    domain
        Where samples may go.
    ask
        The losses of samples at places, by the library's own word.
    notes
        What a careful reader should know.
    """

    exact = True

    def __init__(self, task: TreeTask, moving: list[int], domain: Domain, ask: Ask, notes: tuple[str, ...] = ()) -> None:
        everyone = np.arange(len(task.x))
        found = [_of_block(task, v, everyone[block], ask) for v in moving for block in _blocks(task, v)]
        rows = np.concatenate([np.zeros(0, dtype=np.intp), *(rows for rows, _ in found)])
        cells = np.concatenate([task.partition.rows.home[:0], *(cells for _, cells in found)])
        places = task.places(rows, cells)
        found_losses = ask(rows, places)
        loss = np.concatenate([task.losses, found_losses])
        paid = np.maximum(domain.distance(task.x[rows], places), LEAST_COST)
        cost = np.concatenate([np.zeros(len(everyone)), paid])
        shown = dict(zip(domain.names, np.concatenate([task.x, places]).T, strict=True))
        super().__init__(np.concatenate([everyone, rows]), loss, cost, shown)
        self.unit: str = domain.unit
        self._notes = notes
        self.doubted: Doubted | None = on_thresholds(
            domain, task.x, rows, places, found_losses - task.losses[rows], errors=task.crossing
        )
        names = [task.partition.forest.variables[v].name for v in moving]
        self.certificate: str = f"every cell of {names[0]!r} that the trees tell apart" if names else NOTHING_SEEN

    @property
    def notes(self) -> tuple[str, ...]:
        return self._notes


def _blocks(task: TreeTask, v: int) -> list[slice]:
    cells = task.partition.forest.variables[v].cells
    return list(blocks(len(task.x), MAX_NUMBERS // (cells * task.partition.forest.values.shape[1])))


def _of_block(task: TreeTask, v: int, rows: IntArray, ask: Ask) -> Atoms:
    """The places of some samples that are best at some price."""
    cost = task.partition.rows.costs(task.partition.forest.variables, v, rows)
    outputs = task.searcher.along(rows, v)
    return _nearest(task, v, rows, cost, outputs, ask) if task.crossing else _best(task, v, rows, cost, outputs)


def _nearest(task: TreeTask, v: int, rows: IntArray, cost: FloatArray, outputs: FloatArray, ask: Ask) -> Atoms:
    """The nearest errors: of cells that may be one as the library rounds, it is asked, the cheapest first."""
    samples, cells = cost.shape
    raised = task.sides.of(np.repeat(rows, cells)).present(outputs.reshape(samples * cells, -1))
    may_err = raised.reshape(cost.shape) > 0.0
    cost = np.where(may_err & (task.losses[rows] == 0.0)[:, None], cost, math.inf)
    open_still, found = np.arange(samples), np.full(samples, -1)
    while len(open_still):
        nearest = cost[open_still].argmin(axis=1)
        there = np.isfinite(cost[open_still, nearest])
        open_still, nearest = open_still[there], nearest[there]
        if not len(open_still):
            break
        errs = ask(rows[open_still], _placed(task, v, rows[open_still], nearest)) > 0.0
        found[open_still[errs]] = nearest[errs]
        cost[open_still, nearest] = math.inf
        open_still = open_still[~errs]
    known = np.flatnonzero(found >= 0)
    return rows[known], _cells(task, v, rows[known], found[known])


def _best(task: TreeTask, v: int, rows: IntArray, cost: FloatArray, outputs: FloatArray) -> Atoms:
    """The cells on the envelope of every sample."""
    samples, cells = cost.shape
    loss = task.judge.losses(np.repeat(rows, cells), outputs.reshape(samples * cells, -1))
    sample, cell = np.nonzero(np.isfinite(cost) & (np.arange(cells) != task.partition.rows.home[rows, v][:, None]))
    lift = loss.reshape(cost.shape)[sample, cell] - task.losses[rows[sample]]
    better = np.flatnonzero(lift > 0.0)
    if not len(better):
        return rows[:0], task.partition.rows.home[:0]
    sample, cell = sample[better], cell[better]
    kept = envelope(sample, lift[better], cost[sample, cell])
    return rows[sample[kept]], _cells(task, v, rows[sample[kept]], cell[kept])


def _cells(task: TreeTask, v: int, rows: IntArray, cell: IntArray) -> Int32Array:
    cells = task.partition.rows.home[rows].copy()
    cells[:, v] = cell
    return cells


def _placed(task: TreeTask, v: int, rows: IntArray, cell: IntArray) -> FloatArray:
    return task.places(rows, _cells(task, v, rows, cell))
