"""A partition where it is: its oracle in blocks, what may be said of it, and a better one for a question.

Everything here is a function of a `Placed` that can be sent to where it is; what comes back is small, or placed again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.blocks import Block, InMemory, T, Task
from tippingpoint.core.cuts import Perturbation
from tippingpoint.core.divergences import Divergence
from tippingpoint.core.oracle import Doubted, Oracle
from tippingpoint.core.problem import GainsOnly, Problem
from tippingpoint.core.sensitive import LaidOut, laid_out
from tippingpoint.data.atom_frames import NUMBERS
from tippingpoint.engine.partitions import Loaded, Part, Partition
from tippingpoint.engine.planning import Plan
from tippingpoint.engine.preparing import Prepared, Unsearched, prepare, prepared_at

LEAST_RISE = 1e-9
"""Part of the rise in risk below which a partition takes no part in a question."""


@dataclass(frozen=True)
class Placed:
    """The samples of one partition.

    Attributes
    ----------
    number
        Of the partition.
    oracle
        Who finds their best responses; None where it holds no sample.
    base
        Their weights, which sum to the partition's share of all.
    first
        The oracle before any question was asked, which further ones begin with.
    index
        Numbers of the samples among all rows.
    notes
        How the model was understood.
    threads
        That work on its blocks.
    """

    number: int
    oracle: Oracle | None
    base: FloatArray
    first: Oracle | None
    index: Sequence[Any] | IntArray
    notes: tuple[str, ...]
    threads: int

    @cached_property
    def samples(self) -> InMemory | None:
        """The samples in blocks."""
        return None if self.oracle is None else InMemory(self.oracle, self.base, self.threads, partition=self.number)

    @property
    def stopped(self) -> bool:
        """Whether somebody at the keyboard ended the search."""
        return self.oracle is not None and self.oracle.stopped

    @property
    def untouched(self) -> bool:
        """Whether its search follows questions and none was asked: any response would begin one."""
        return self.oracle is not None and self.oracle is self.first and type(self.oracle).tuned is not Oracle.tuned

    def begun(self) -> Placed:
        """The same after an interrupt: where no search was begun, the samples stay."""
        if self.oracle is None or not self.untouched:
            return self
        return replace(self, oracle=Unsearched(self.oracle, self.oracle.unit))

    @property
    def size(self) -> int:
        """Bytes that its arrays take, with those that its blocks remember while a question is answered."""
        return array_bytes((self.oracle, self.base, self.first, self.index)) + len(self.base) * REMEMBERED_BYTES

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "samples"}


REMEMBERED_BYTES = 64
"""Of a sample, at most, that its block remembers between two rounds: response, gain, value, and fewer samples with weights."""


def array_bytes(value: Any) -> int:
    """Bytes of all arrays that an object of ours holds, each counted once; a view counts as all that it keeps."""
    seen: set[int] = set()
    total, rest = 0, [value]
    while rest:
        each = rest.pop()
        while isinstance(each, np.ndarray) and isinstance(each.base, np.ndarray):
            each = each.base
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, np.ndarray):
            total += each.nbytes
        elif isinstance(each, Mapping):
            rest.extend(each.values())
        elif isinstance(each, (list, tuple)):
            rest.extend(each)
        elif type(each).__module__.startswith(PACKAGE) and hasattr(each, "__dict__"):
            rest.extend(vars(each).values())
    return total


PACKAGE = __name__.partition(".")[0]


def place(model: Any, plan: Plan, partition: Partition, threads: int) -> Placed:
    """A partition, loaded and prepared where this runs."""
    return _placed(prepared_at(partition, model, plan), threads, light=not plan.searched)


def place_part(model: Any, plan: Plan, number: int, name: str, part: Part, threads: int) -> Placed:
    """The same of rows that are here already."""
    partition = Loaded(number, name, part)
    return _placed(prepare(model, plan, partition, part), threads, light=not plan.searched)


def placed_unsearched(model: Any, plan: Plan, number: int, name: str, part: Part, threads: int) -> Placed:
    """The same where nobody waits for a search: the samples stay."""
    return _placed(prepare(model, plan, Loaded(number, name, part), part, search=False), threads, light=False)


def placed_whole(model: Any, plan: Plan, number: int, name: str, part: Part) -> Placed:
    """The same with all that is needed to tell where samples go."""
    return _placed(prepare(model, plan, Loaded(number, name, part), part), 1, light=False)


def _placed(prepared: Prepared, threads: int, *, light: bool) -> Placed:
    oracle = prepared.oracle.lightened() if prepared.oracle is not None and light else prepared.oracle
    return Placed(prepared.number, oracle, prepared.base, oracle, prepared.index, prepared.notes, threads)


def run(placed: Placed, task: Task[T]) -> list[T]:
    """What a function makes of the blocks of a partition."""
    return [] if placed.samples is None else placed.samples.gather(task)


def run_bounded(placed: Placed, task: Task[T], price: float) -> list[T]:
    """The same as if samples gained what bounds allow at a price; without any end where nobody bounds them."""
    if placed.oracle is None or placed.samples is None:
        return []
    bounds = placed.oracle.gain_bounds(price)
    gains = np.full(len(placed.base), math.inf) if bounds is None else bounds

    def bounded(block: Block) -> T:
        rows = slice(block.first, block.first + len(block))
        return task(block.seen(GainsOnly(block.losses, gains[rows])))

    return placed.samples.gather(bounded)


@dataclass(frozen=True)
class Standing:
    """What may be said of the responses of a partition."""

    samples: int
    exact: bool
    certificate: str
    unit: str
    noisy: bool
    interrupted: bool
    timed_out: bool
    doubted: Doubted | None
    notes: tuple[str, ...]
    ceiling: float
    bounded: bool
    gap: float | None


def standing(placed: Placed) -> Standing | None:
    """Of the responses of a partition; None where it has none."""
    oracle = placed.oracle
    if oracle is None:
        return None
    notes = tuple(dict.fromkeys((*placed.notes, *oracle.notes)))
    bounded = oracle.exact or oracle.gain_bounds(1.0) is not None
    return Standing(
        len(placed.base),
        oracle.exact,
        oracle.certificate,
        oracle.unit,
        oracle.noisy,
        oracle.interrupted,
        oracle.timed_out,
        oracle.doubted,
        notes,
        oracle.ceiling,
        bounded,
        oracle.gap,
    )


@dataclass(frozen=True)
class Asked:
    """A question about all samples, as a partition is to see it.

    Attributes
    ----------
    theta1, theta2, divergence
        As of the question.
    rise
        By how much the risk is to rise.
    price
        The dual price `h` that answers it, as far as is known; None before anything is.
    """

    theta1: float
    theta2: float
    divergence: Divergence
    rise: float
    price: float | None


def tuned(placed: Placed, asked: Asked) -> Placed:
    """The partition with responses searched for at the price of a question.

    A question about its samples alone has the same dual price as that about all if its threshold is the risk that the
    perturbation of all brings to it: so that is what its oracle is asked, unless it searches at prices themselves.
    """
    if placed.oracle is None or placed.first is None or placed.first.exact:
        return placed
    if asked.price is not None:
        priced = placed.oracle.at_price(asked.price / asked.theta1)
        if priced is not None:
            return replace(placed, oracle=priced)
    base = placed.base / placed.base.sum()
    now = Problem(placed.oracle, base, 0.0, asked.theta1, asked.theta2, asked.divergence)
    risk = now.current + asked.rise if asked.price is None else now.evaluate(asked.price).excess
    if risk - now.current <= LEAST_RISE * asked.rise:
        return placed
    return replace(placed, oracle=placed.first.tuned(replace(now, responses=placed.first, risk=risk)))


@dataclass(frozen=True)
class Atoms:
    """Some atoms of Q* in a partition, and where they go.

    Attributes
    ----------
    row
        Number of each sample among all rows.
    numbers
        Weight, share, mass, loss before, loss and cost, by name.
    places
        Where they go, by feature.
    """

    row: IntArray
    numbers: dict[str, FloatArray]
    places: dict[str, Any]


def atoms(placed: Placed, q: Perturbation, rows: IntArray | None = None) -> Atoms:
    """The atoms of some samples of a partition, or of all; its oracle must know where samples are."""
    oracle, samples = placed.oracle, placed.samples
    if oracle is None or samples is None:
        return Atoms(np.zeros(0, dtype=np.intp), {name: np.zeros(0) for name in NUMBERS}, {})
    found = laid_out(samples, q)
    chosen = np.argsort(found.sample, kind="stable") if rows is None else np.flatnonzero(np.isin(found.sample, rows))
    found = found.take(chosen)
    losses, weights = oracle.losses[found.sample], 1.0 + found.change
    numbers = {
        "weight": weights,
        "share": found.share,
        "mass": placed.base[found.sample] * found.share * weights,
        "loss_before": losses,
        "loss": losses + found.lift,
        "cost": found.cost,
    }
    return Atoms(np.asarray(placed.index)[found.sample], numbers, _places(oracle, q, found))


def _places(oracle: Oracle, q: Perturbation, atoms: LaidOut) -> dict[str, Any]:
    """Where atoms go, by feature."""
    moved: dict[str, Any] = {}
    for side, h in enumerate((q.solution.left.price, q.solution.right.price)):
        here = np.flatnonzero(atoms.right == bool(side))
        if len(here):
            for name, values in oracle.points(h / q.terms.theta1, atoms.sample[here], atoms.lift[here]).items():
                column = moved.setdefault(name, np.empty(len(atoms.sample), dtype=np.asarray(values).dtype))
                column[here] = values
    return moved


@dataclass(frozen=True)
class Heavy:
    """A sample that adds much to the risk: its partition, its position there, and what it adds."""

    adds: float
    number: int
    position: int


@dataclass(frozen=True)
class Heaviest:
    """The samples of a block that add most to the risk."""

    q: Perturbation
    count: int

    def __call__(self, block: Block) -> list[Heavy]:
        found = self.q.of(block)
        after = block.losses + found.lift
        if found.split >= 0:
            after[found.split] += found.part * (found.over[0] - found.lift[found.split])
        adds = block.base * ((1.0 + found.changes) * after - block.losses)
        most = np.argsort(-adds, kind="stable")[: self.count]
        return [Heavy(float(adds[i]), block.place[0], block.first + int(i)) for i in most if adds[i] > 0.0]


Function = Callable[..., Any]
"""Of a `Placed`, and of whatever else is sent along."""
