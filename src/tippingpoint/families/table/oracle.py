"""Best responses among the alternatives of a table: exact over what it offers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.core.atoms import AtomsOracle, Envelopes
from tippingpoint.core.dual import Solution, Status, solve
from tippingpoint.core.oracle import Certificate, Corrected, Corrector
from tippingpoint.core.problem import Problem
from tippingpoint.families.table.held_out import held_out
from tippingpoint.families.table.repeats import corrector, usual
from tippingpoint.families.table.runs import Runs

WHATEVER = "exact over the table, whatever the missing outcomes are"
"""What certifies a number that missing outcomes do not change."""

SAME = 1e-9
"""Relative difference of two numbers that is rounding."""


class TableOracle(AtomsOracle):
    """Best responses among given alternatives: no model, no features, only what each costs and what the loss would be.

    Parameters
    ----------
    sample
        `(m,)` position of the sample that each alternative belongs to, `0..n-1`.
    loss, cost
        `(m,)` of each alternative; every sample has one of cost 0, its original.
    columns
        What else is known of each alternative, to be shown where it is chosen.
    runs
        Of which the losses are means; None where every alternative was run once.
    """

    exact = True
    derived = True
    certificate: str = "exact over the alternatives given in the table"
    unit = "cost"

    def __init__(
        self, sample: IntArray, loss: FloatArray, cost: FloatArray, columns: Mapping[str, Any], runs: Runs | None = None
    ) -> None:
        super().__init__(sample, loss, cost, columns)
        self._given = sample, loss, cost
        self._runs = runs
        if runs is not None:
            self.certificate = "exact over the mean losses of the runs in the table"

    @property
    def offers(self) -> tuple[IntArray, FloatArray]:
        """What is offered to whom: every pair of a sample and a cost that occurs, in order, as two columns."""
        sample, _, cost = self._given
        order = np.lexsort((cost, sample))
        sample, cost = sample[order], cost[order]
        fresh = np.concatenate(([True], (sample[1:] != sample[:-1]) | (cost[1:] != cost[:-1])))
        return sample[fresh], cost[fresh]

    def taking(self, samples: IntArray) -> TableOracle:
        """The alternatives of these samples only, in this order."""
        place = np.full(len(self.losses), -1, dtype=np.intp)
        place[samples] = np.arange(len(samples))
        return self._keeping(place[self._given[0]] >= 0, place)

    def values(self, column: str) -> list[Any] | None:
        """What the alternatives hold in a column, originals left out, each once; None where there is no such column."""
        if column not in self._columns:
            return None
        held = np.asarray(self._columns[column])[self._given[2] > 0.0]
        return list(dict.fromkeys(held.tolist()))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of what is known of each alternative."""
        return tuple(self._columns)

    def only(self, column: str, value: Any) -> TableOracle:
        """The originals, and the alternatives of one value in a column."""
        held = np.asarray(self._columns[column])
        return self._keeping((self._given[2] == 0.0) | np.asarray(held == value, dtype=bool))

    def _keeping(self, kept: BoolArray, place: IntArray | None = None) -> TableOracle:
        """These alternatives only, of samples that stand at other places then."""
        sample, loss, cost = self._given[0][kept], self._given[1][kept], self._given[2][kept]
        columns = {name: np.asarray(column)[kept] for name, column in self._columns.items()}
        runs = None if self._runs is None else self._runs.keeping(kept)
        return TableOracle(sample if place is None else place[sample], loss, cost, columns, runs)

    def held_atoms(self) -> Envelopes:
        return self._envelopes

    def held_out(self, problem: Problem) -> float | None:
        if self._runs is None:
            return None
        sample, _, cost = self._given
        return held_out(problem, self._runs, sample, cost)

    @property
    def repeats(self) -> int:
        return 0 if self._runs is None else usual(self._runs.counts)

    def corrector(self, problem: Problem, repeats: int | None = None) -> Corrector | None:
        if self._runs is None:
            return None
        sample, _, cost = self._given
        return corrector(problem, self._runs, sample, cost, repeats)


@dataclass(frozen=True)
class Between:
    """The corrected stability with missing outcomes counted as the least loss, and its floor: as the largest."""

    least: Corrector
    largest: Corrector

    def __call__(self, base: FloatArray) -> Corrected | None:
        found, floor = self.least(base), self.largest(base)
        return None if found is None else replace(found, floor=0.0 if floor is None else min(floor.floor, found.value))


@dataclass(frozen=True)
class Gaps:
    """Outcomes that are missing.

    Attributes
    ----------
    count
        How many.
    low, high
        What they are at least and at most.
    """

    count: int
    low: float
    high: float


class GappedOracle(TableOracle):
    """Alternatives of which some outcomes are missing: the number is bounded from both sides.

    More loss anywhere never costs more, so `R` lies between its values for the two fillings. These are the responses of the
    filling with the least losses: what they reach is reached whatever is missing.

    Parameters
    ----------
    sample, loss, cost, columns, runs
        As of `TableOracle`, with the least loss for what is missing.
    highest, highest_runs
        `(m,)` losses with the largest loss for what is missing, and the runs that they are means of.
    gaps
        What is missing.
    """

    exact = False

    def __init__(
        self,
        sample: IntArray,
        loss: FloatArray,
        cost: FloatArray,
        columns: Mapping[str, Any],
        runs: Runs | None,
        highest: FloatArray,
        highest_runs: Runs | None,
        gaps: Gaps,
    ) -> None:
        super().__init__(sample, loss, cost, columns, runs)
        self._highest = highest
        self._gaps = gaps
        self._worst = TableOracle(sample, highest, cost, columns, highest_runs)
        self.certificate: str = f"missing outcomes counted as the largest loss, {gaps.high:g}"
        self.attained_by: str = f"sensitive distribution, missing outcomes counted as the least loss, {gaps.low:g}"

    def _keeping(self, kept: BoolArray, place: IntArray | None = None) -> TableOracle:
        some = super()._keeping(kept, place)
        highest = self._highest[kept]
        sample, loss, cost = some._given  # noqa: SLF001  # its own kind
        if (highest == loss).all():
            return some
        gaps = replace(self._gaps, count=int((highest != loss).sum()))
        runs = None if self._worst._runs is None else self._worst._runs.keeping(kept)  # noqa: SLF001
        return GappedOracle(sample, loss, cost, some._columns, some._runs, highest, runs, gaps)  # noqa: SLF001

    def corrector(self, problem: Problem, repeats: int | None = None) -> Corrector | None:
        least = super().corrector(problem, repeats)
        largest = self._worst.corrector(replace(problem, responses=self._worst), repeats)
        return None if least is None or largest is None else Between(least, largest)

    def attains(self, problem: Problem) -> bool:
        """Never: even where nothing moves, the loss of an original may be missing."""
        return False

    def bound(self, problem: Problem, solution: Solution) -> Certificate:
        worst = solve(replace(problem, responses=self._worst))
        if worst.status is Status.UNREACHABLE:
            return Certificate(math.inf, WHATEVER)
        same = solution.status is not Status.UNREACHABLE and worst.lower >= (1.0 - SAME) * solution.lower
        return Certificate(worst.lower, WHATEVER if same else self.certificate)
