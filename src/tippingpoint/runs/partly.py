r"""Tables of which a part was never asked: bounded from both sides.

What was asked is a part of the alternatives, so its stability is an upper bound on that of the plan. An alternative that was
not asked loses 1 at most, and what it costs is known: with a loss of 1 wherever nobody asked, every best response is at least
what it would be, :math:`\bar e_i \ge e_i`, so the stability of that table is a lower bound. Where a prompt was asked, but not
as often as was planned, the rest of its repeats counts as 0 for the one bound and as 1 for the other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tippingpoint.core.arrays import IntArray
from tippingpoint.core.dual import Solution, solve
from tippingpoint.core.oracle import Certificate
from tippingpoint.core.problem import Problem
from tippingpoint.families.table.oracle import TableOracle

BEST_LOSS, WORST_LOSS = 0.0, 1.0
"""What a judge can say at least, and at most."""

KEYS = ["sample", "variant", "model"]
"""What has one line in a table, repeats apart."""


class PartlyAsked(TableOracle):
    """Best responses among the alternatives that were asked; bounded by what the others could be at worst.

    Parameters
    ----------
    asked
        The table that was asked.
    possible
        The same with the worst where nobody asked; None where that is not known.
    interrupted
        Whether somebody ended the asking.
    """

    exact = False
    certificate: str = "some of the runs that were planned were not asked"
    lower_by: str = "every run that was not asked, taken for an error"

    def __init__(self, asked: TableOracle, possible: TableOracle | None, *, interrupted: bool) -> None:
        self.__dict__.update(asked.__dict__)  # all that the table's own oracle holds
        self._possible = possible
        self.interrupted = interrupted

    def attains(self, problem: Problem) -> bool:
        """Only where nothing moves, and every original was asked as often as was planned."""
        possible = self._possible
        return possible is not None and not problem.moves and np.array_equal(self.losses, possible.losses)

    def bound(self, problem: Problem, solution: Solution) -> Certificate:
        if self._possible is None:
            return super().bound(problem, solution)
        return Certificate(solve(replace(problem, responses=self._possible)).lower, self.lower_by)

    def taking(self, samples: IntArray) -> TableOracle:
        possible = None if self._possible is None else self._possible.taking(samples)
        return PartlyAsked(super().taking(samples), possible, interrupted=self.interrupted)


def at_best(table: Any, waiting: Any) -> Any:
    """The table with the least loss on every repeat that waits of a line that it has; the mean of repeats on one line."""
    return _completed(table, waiting, KEYS, BEST_LOSS)


def at_worst(table: Any, waiting: Any) -> Any:
    """The table with the worst loss on every line that waits, of the samples and models that it has."""
    return _completed(table, waiting, ["sample", "model"], WORST_LOSS)


def _completed(table: Any, waiting: Any, keys: list[str], loss: float) -> Any:
    """The lines of the table, and those that wait and share these keys with one of them, by their mean loss."""
    import pandas as pd

    rest = waiting.merge(table[keys].drop_duplicates(), on=keys).assign(loss=loss)
    if "weight" in table:
        rest = rest.merge(table[["sample", "model", "weight"]].drop_duplicates(), on=["sample", "model"])
    both = pd.concat([table, rest], ignore_index=True)
    means = both.groupby(KEYS, sort=False)["loss"].transform("mean")
    return both.assign(loss=means).drop(columns="repeat", errors="ignore").drop_duplicates(KEYS, ignore_index=True)
