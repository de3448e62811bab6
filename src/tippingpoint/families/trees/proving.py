"""Nearest errors and best responses of a forest, enclosed from both sides: what work is done at a level, and learnt by it."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.atoms import Atoms
from tippingpoint.core.enclosures import ErrorEnclosure, GainEnclosure
from tippingpoint.core.prover import ROUND_OFF
from tippingpoint.core.responses import Response
from tippingpoint.families.trees.cells import Line
from tippingpoint.families.trees.forest import Int32Array
from tippingpoint.families.trees.judging import Judge
from tippingpoint.families.trees.memory import Memory
from tippingpoint.families.trees.partition import Partition
from tippingpoint.families.trees.search.pushing import Sides
from tippingpoint.families.trees.search.searcher import NONE_REFUSED, Found, Refused, Searcher

ERROR_PASSES = 16
"""Of the second level, where nearest errors are searched for; at the first a look without any is enough for most."""

GAIN_PASSES = 64
"""Of the first level, where bounds are of gains at a price: most of the work is done before any, and these settle most rows."""

RADIUS = 2.0**0.25
"""From one radius within which errors are looked for to the next: questions of like prices share what they learn."""

NEAR = 4.0
"""Times the usual cost of leaving a cell: how far to look at first."""

WIDENING = 4.0
"""From one radius to the next, where errors are looked for that no question needs."""

MAX_REFUSED = 32
"""Places that the library may refuse to confirm as errors of a sample, before the sample is left to rounding."""

STRICT_LEVEL = 2
"""Of work, for an error that is one however the library rounds ..."""

STRICT_REACH = 4.0
"""... and that costs no more than so many times the place that was refused."""

TOP_FACTOR = 1e3
"""At so many times the price at which the dearest place pays, costs hardly matter."""

PEAK_FACTOR = 1e8
"""At so many times that price costs are rounding of losses."""


Ask = Callable[[IntArray, FloatArray], FloatArray]
"""The losses of samples at places, by the library's own word."""


def passes(level: int, *, crossing: bool) -> int:
    """Of the kernels, at a level of work: each makes four times as many as the one before."""
    if crossing:
        return ERROR_PASSES << 2 * (level - 1) if level else 0
    return GAIN_PASSES << 2 * level


@dataclass(frozen=True)
class Usual:
    """What is usual among samples: where proofs begin, and how far they go.

    Attributes
    ----------
    nearest
        What it costs, in the middle, to leave a cell of one variable.
    farthest
        A cost that no place of any of them exceeds.
    lift
        The most that a sample's loss can rise, in the middle of those that can.
    """

    nearest: float
    farthest: float
    lift: float


@dataclass(frozen=True)
class TreeTask:
    """A forest in a domain, judged: all that there is to search.

    Attributes
    ----------
    partition
        The forest and the samples, on cells.
    judge
        The loss.
    sides
        On which samples are pushed, their scores raised by the rounding of the library: what it may take for an error is one.
    searcher, strict
        Who searches them; and who searches for what the library takes for an error however it rounds.
    x
        `(n, d)` the samples.
    losses
        As they are now, by the library's own word.
    highest
        Bounds on the loss of any place.
    memory
        What was searched before.
    of_all
        What is usual in the whole data, by a sample of them, where these samples are a part; None where they are all. Searches
        of a sample take nothing else from others, so the same work at the same price finds the same for it, until time is
        over. How much of it a question gives to each sample beyond that, its whole partition decides: two partitionings may
        prove different bounds, all of which hold.
    """

    partition: Partition
    judge: Judge
    sides: Sides
    searcher: Searcher
    strict: Searcher
    x: FloatArray
    losses: FloatArray
    highest: FloatArray
    memory: Memory = field(repr=False)
    of_all: Usual | None = None

    @property
    def crossing(self) -> bool:
        """Whether the loss is 0 or 1."""
        return self.judge.loss.needs_crossing

    @property
    def size(self) -> int:
        """Leaves of the forest times samples."""
        return len(self.partition.forest.values) * len(self.x)

    def search(
        self, rows: IntArray, price: float, known: FloatArray, level: int, seconds: float, refused: Refused = NONE_REFUSED
    ) -> Found:
        """By the work of a level."""
        budget = passes(level, crossing=self.crossing)
        return self.memory.search(self.searcher, rows, price, known, budget, seconds, refused)

    def cost(self, rows: IntArray, cells: Int32Array) -> FloatArray:
        """What these samples pay for these cells."""
        return self.partition.rows.cost(self.partition.forest.variables, rows, cells)

    def places(self, rows: IntArray, cells: Int32Array) -> FloatArray:
        """These samples in these cells, in the user's columns."""
        return self.partition.rows.places(self.partition.forest.variables, rows, cells, self.x)

    @cached_property
    def usual(self) -> Usual:
        """What is usual: in the whole data, where these are a part of them; that no place is farther holds here too."""
        if self.of_all is not None:
            return replace(self.of_all, farthest=max(self.of_all.farthest, self._farthest()))
        lift = self.lift[self.lift > 0.0]
        return Usual(self._nearest(), self._farthest(), float(np.median(lift)) if len(lift) else 1.0)

    @property
    def lift(self) -> FloatArray:
        """Bounds on how far losses can rise."""
        return np.maximum(self.highest - self.losses, 0.0)

    def _farthest(self) -> float:
        return float(
            sum((self._costs(v, farthest=True) for v in range(self._variables)), np.zeros(len(self.x))).max(initial=0.0)
        )

    def _nearest(self) -> float:
        least = np.full(len(self.x), math.inf)
        for v in range(self._variables):
            least = np.minimum(least, self._costs(v, farthest=False))
        usual = least[np.isfinite(least) & (least > 0.0)]
        return float(np.median(usual)) if len(usual) else self._farthest()

    @property
    def _variables(self) -> int:
        return len(self.partition.forest.variables)

    def _costs(self, v: int, *, farthest: bool) -> FloatArray:
        """Of every sample, what the farthest cell of a variable costs that it may enter; or the nearest other one."""
        rows, variable = self.partition.rows, self.partition.forest.variables[v]
        if not isinstance(variable, Line):
            finite = np.isfinite(variable.cost) & (variable.cost > 0.0)
            far = np.where(finite, variable.cost, 0.0).max(axis=1, initial=0.0)
            near = np.where(finite, variable.cost, math.inf).min(axis=1, initial=math.inf)
            return np.asarray((far if farthest else near)[rows.option[:, v]])
        x, low, high, home = rows.x[:, v], rows.low[:, v], rows.high[:, v], rows.home[:, v]
        last = variable.cells - 2
        ends = (np.zeros(len(x)), np.full(len(x), last)) if farthest else (home - 1, home + 1)
        inside = [np.clip(end, 0, last).astype(np.int32) for end in ends]
        if farthest:  # the cells that the bounds are in
            inside = [np.clip(end, *np.sort([variable.home(low), variable.home(high)], axis=0)) for end in inside]
        costs = np.stack([variable.cost(x, low, high, end) for end in inside])
        if farthest:
            with np.errstate(invalid="ignore", over="ignore"):  # of columns that stay, and of missing numbers
                bounds = variable.price * np.square(np.stack([low, high]) - x)
            # The cell of a bound may hold no value of the lattice; cells before it do, and cost less than the bound itself.
            reached = np.where(np.isfinite(costs), costs, np.where(np.isfinite(bounds), bounds, 0.0))
            costs = np.vstack([reached, np.full(len(x), _finite(variable.vanishing))])
            return np.asarray(np.where(home > last, 0.0, costs.max(axis=0)))
        moved = np.stack([end != home for end in inside])
        return np.asarray(np.where(moved, costs, math.inf).min(axis=0))


def _finite(cost: float) -> float:
    return cost if math.isfinite(cost) else 0.0


class TreeErrors(ErrorEnclosure):
    """The nearest errors of the samples of a forest.

    A score may be so close to a tie that the library, which rounds, does not take the place for an error. The library has the
    last word: a place that it does not confirm is refused, and the search goes on for the next one.

    Parameters
    ----------
    task
        What there is to search.
    ask
        The losses of samples at places, by the library's own word.
    """

    def __init__(self, task: TreeTask, ask: Ask) -> None:
        super().__init__(
            task.losses, np.full(len(task.losses), math.inf), NEAR * task.usual.nearest, _wider(task.usual.farthest)
        )
        self.task = task
        self.cells: Int32Array = task.partition.rows.home.copy()
        """Where the nearest errors are."""
        self.timed_out: bool = False
        """Whether time ended an exploration."""
        self.refused: dict[int, Int32Array] = {}
        """By sample: places that were found, and that the library did not confirm."""
        self._ask = ask
        self._confirmed = np.zeros(len(task.losses), dtype=bool)

    def work(self, rows: IntArray, price: float, level: int, seconds: float) -> None:
        radius = _radius(price)
        rows = rows[~self.settled[rows]]
        found = self.task.search(rows, radius, -np.minimum(self.nearest[rows], radius), level, seconds, self.refused)
        self.cells[rows[found.found]] = found.cells[found.found]
        self._confirmed[rows[found.found]] = False
        self.learn(rows, np.where(found.found, -found.profit, math.inf), -found.bound)
        if found.interrupted:
            raise KeyboardInterrupt

    def explore(self, price: float, levels: int, seconds: float = math.inf, beyond: float = 0.0) -> None:
        """Look for errors within a price, from near to far, by so many levels of work at each radius.

        Samples of which an error is known that costs no more than `beyond` are left as they are.
        """
        end = time.monotonic() + seconds
        self._explore(price, levels, end, beyond)
        while self.confirm() and time.monotonic() < end:
            self._explore(price, levels, end, beyond)

    def _explore(self, price: float, levels: int, end: float, beyond: float) -> None:
        farthest = min(price, self._top)
        for radius in _radii(max(beyond, self.task.usual.nearest), farthest):
            for level in range(levels):
                rows = np.flatnonzero((self.nearest > beyond) & (self.least < np.minimum(self.nearest, radius)))
                if len(rows) and time.monotonic() < end:
                    self.work(rows, radius, level, end - time.monotonic())
        self.timed_out |= time.monotonic() >= end

    def find_peaks(self, levels: int, seconds: float) -> None:
        """Look for any error of the samples of which none is known."""
        self.explore(math.inf, levels, seconds, beyond=float(self.nearest[np.isfinite(self.nearest)].max(initial=0.0)))

    def confirm(self) -> bool:
        """Have the library confirm the errors that are known; whether it took any of them back."""
        task = self.task
        rows = np.flatnonzero((task.losses == 0.0) & np.isfinite(self.nearest) & ~self._confirmed)
        errs = self._ask(rows, task.places(rows, self.cells[rows])) > 0.0
        self._confirmed[rows[errs]] = True
        doubted = rows[~errs]
        for row in doubted.tolist():
            before = self.refused.get(row, self.cells[:0])
            self.refused[row] = np.concatenate([before, self.cells[row : row + 1]])
        costs = self.nearest[doubted]
        self.take_back(doubted)
        given_up = np.array([len(self.refused[row]) >= MAX_REFUSED for row in doubted.tolist()], dtype=bool)
        if given_up.any():
            self._leave_to_rounding(doubted[given_up], costs[given_up])
        return len(doubted) > 0

    def _leave_to_rounding(self, rows: IntArray, costs: FloatArray) -> None:
        """Look for errors of these samples that are errors however the library rounds, and leave it at that."""
        task = self.task
        near = np.maximum(STRICT_REACH * costs, NEAR * task.usual.nearest)
        radius = np.minimum(near, _wider(task.usual.farthest))
        found = task.strict.search(rows, np.zeros(len(rows)), -radius, passes(STRICT_LEVEL, crossing=True), math.inf)
        certain = np.flatnonzero(found.found)
        certain = certain[self._ask(rows[certain], task.places(rows[certain], found.cells[certain])) > 0.0]
        self.cells[rows[certain]] = found.cells[certain]
        self.nearest[rows[certain]] = -found.profit[certain]
        self._confirmed[rows[certain]] = True
        self.settle(rows)
        if found.interrupted:
            raise KeyboardInterrupt

    def copied(self) -> TreeErrors:
        """Another one that knows as much."""
        return copy.deepcopy(self, {id(self.task): self.task, id(self._ask): self._ask})

    def widened(self, price: float, levels: int, seconds: float) -> TreeErrors:
        """Another one that knows as much of errors within a price, and more of those beyond."""
        wider = self.copied()
        wider.explore(math.inf, levels, seconds, beyond=price)
        nearer = np.flatnonzero(wider.nearest < np.minimum(self.nearest, price))  # they would change what was answered
        wider.nearest[nearer], wider.cells[nearer] = self.nearest[nearer], self.cells[nearer]
        wider.least[nearer] = np.minimum(wider.least[nearer], wider.nearest[nearer])
        wider._confirmed[nearer] = self._confirmed[nearer]  # noqa: SLF001  # of its own kind
        return wider


class TreeGains(GainEnclosure):
    """The best responses of the samples of a forest under a loss of its outputs."""

    def __init__(self, task: TreeTask) -> None:
        usual = task.usual
        dearest = _wider(usual.farthest)
        top = TOP_FACTOR * dearest / usual.lift
        super().__init__(task.losses, task.lift, NEAR * usual.nearest / usual.lift or top, top or 1.0, dearest)
        self.task = task
        self.atoms: Atoms = Atoms(task.x)
        self.timed_out: bool = False
        """Whether time ended an exploration."""

    def respond(self, price: float) -> Response:
        return self.atoms.respond(price)

    def peak(self) -> Response:
        return self.atoms.respond(math.inf)

    def work(self, rows: IntArray, price: float, level: int, seconds: float) -> None:
        task, response = self.task, self.respond(price).take(rows)
        found = task.search(rows, price, price * response.lift - response.cost, level, seconds)
        # Raised by what the library may round, a sample seems to gain where it is.
        moved = (found.cells != task.partition.rows.home[rows]).any(axis=1)
        better = np.flatnonzero(found.found & moved)
        who, cells = rows[better], found.cells[better]
        if len(who):
            lift = task.judge.losses(who, task.searcher.scores(cells)) - task.losses[who]
            self.atoms.add(who, lift, task.cost(who, cells), task.places(who, cells))
        self.learn(rows, price, found.bound)
        self.settle(rows[found.bound <= found.profit], price)
        if found.interrupted:
            raise KeyboardInterrupt

    def find_peaks(self, levels: int, seconds: float) -> None:
        """Look for the highest loss of every sample: at a price at which costs are nothing but rounding."""
        end = time.monotonic() + seconds
        self._go(PEAK_FACTOR * self._top)
        for level in range(levels):
            lift = self.peak().lift
            rows = np.flatnonzero(self._highest > lift * (1.0 + ROUND_OFF))
            if len(rows) and time.monotonic() < end:
                self.work(rows, self._price, level, end - time.monotonic())

    def copied(self) -> TreeGains:
        """Another one that knows as much."""
        return copy.deepcopy(self, {id(self.task): self.task})

    def explore(self, price: float, levels: int, seconds: float = math.inf) -> None:
        """Look for the best places of all samples at a price, by so many levels of work."""
        end = time.monotonic() + seconds
        if price > 0.0:
            self._go(min(price, self._top))
            for level in range(levels):
                if time.monotonic() < end:
                    self.work(np.arange(len(self.losses)), self._price, level, end - time.monotonic())
        self.timed_out |= time.monotonic() >= end


def _radii(first: float, last: float) -> list[float]:
    """Radii that widen from the first; the last is the last."""
    radii = []
    while 0.0 < first < last:
        radii.append(first)
        first *= WIDENING
    return [*radii, last] if last > 0.0 else []


def _radius(price: float) -> float:
    """The least radius that is no less than a price."""
    radius = RADIUS ** math.ceil(math.log(price, RADIUS))
    return float(radius if radius >= price else radius * RADIUS)


def _wider(cost: float) -> float:
    """A little more, for what is added up in another order."""
    return cost * (1.0 + 1e-9)
