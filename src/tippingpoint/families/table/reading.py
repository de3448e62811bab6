"""A table of alternatives, read: what each sample could become, what it would cost, what the loss would be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.data.vectors import base_weights, read_numbers, read_vector
from tippingpoint.errors import InputError
from tippingpoint.families.table.held_out import fold_count
from tippingpoint.families.table.missing import MissingRule, told
from tippingpoint.families.table.oracle import GappedOracle, Gaps, TableOracle
from tippingpoint.families.table.originals import USUAL_GROUPING, check_originals, check_single, grouped_by
from tippingpoint.families.table.repeats import noise_known
from tippingpoint.families.table.runs import Runs, ranks

ONE_RUN = (
    "every alternative was run once, so noise of the answers cannot be told from sensitivity; if answers are drawn at random,"
    " run them several times and name the column that counts the runs, as repeat='run'"
)
"""What is said of a table without repeated runs."""

ONE_RUN_OF_ORIGINALS = "some originals were run once, so no run can be held out"
"""The note of a table with too few runs of its originals."""

FEW_RUNS = "too few outcomes were run more than once, so noise of the answers cannot be told from sensitivity"
"""The note of a table with too few runs."""


@dataclass(frozen=True)
class TableSamples:
    """The samples of a table.

    Attributes
    ----------
    oracle
        The best of each sample's alternatives.
    base
        Weights of the samples, positive, of sum one.
    labels
        What each is called.
    whole
        The sum of their weights as they were given.
    groups
        The number of the group that each belongs to; None where each is alone.
    missing
        Outcomes that are missing.
    notes
        What a careful reader should know.
    """

    oracle: TableOracle
    base: FloatArray
    labels: list[Any]
    whole: float
    groups: IntArray | None = None
    missing: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Alternatives:
    """The lines of a table, read.

    Attributes
    ----------
    sample, loss, cost, weight
        `(m,)` of each line: the number of its sample in the order of their first lines, and what the table says.
    labels
        What each sample is called.
    columns
        What else the table says of each line.
    roles
        The name of the column of each role.
    backend
        Kind of frame that it came in.
    variant, repeat, group
        `(m,)` of each line: the numbers of its alternative, of its run in their own order, and of the group of its sample.
    missing
        What a missing loss counts as; None where none is missing.
    """

    sample: IntArray
    loss: FloatArray
    cost: FloatArray
    weight: FloatArray | None
    labels: list[Any]
    columns: Mapping[str, Any]
    roles: Mapping[str, str]
    backend: str
    variant: IntArray | None = None
    repeat: IntArray | None = None
    group: IntArray | None = None
    missing: MissingRule | None = None

    def of(self, lines: IntArray | None = None, name: str | None = None) -> TableSamples:
        """The samples of these lines, or of all; `name` is what they have in common."""
        lines = np.arange(len(self.loss)) if lines is None else lines
        of = "" if name is None else f" of {name!r}"
        gone = np.isnan(self.loss[lines]) if self.missing is not None else np.zeros(0, dtype=bool)
        count, read = int(gone.sum()), len(lines)
        originals = int((gone & (self.cost[lines] == 0.0)).sum()) if count else 0
        if count and self.missing is not None and self.missing.kind == "drop":
            lines, originals = self._without(lines, gone)
        return self._samples(lines, of, name is not None, (count, read, originals))

    def _without(self, lines: IntArray, gone: BoolArray) -> tuple[IntArray, int]:
        """The lines without those that are missing, and without samples that are left with no original; how many these are."""
        kept = lines[~gone]
        had = np.bincount(self.sample[lines[self.cost[lines] == 0.0]], minlength=len(self.labels)) > 0
        has = np.bincount(self.sample[kept[self.cost[kept] == 0.0]], minlength=len(self.labels)) > 0
        lost = had & ~has
        kept = kept[~lost[self.sample[kept]]]
        if not len(kept):
            raise InputError("missing='drop' leaves no sample with its original; say what a missing outcome counts as.")
        return kept, int(lost.sum())

    def _samples(self, lines: IntArray, of: str, grouped: bool, gone: tuple[int, int, int]) -> TableSamples:  # noqa: FBT001
        present = np.bincount(self.sample[lines], minlength=len(self.labels)) > 0
        codes = (np.cumsum(present) - 1)[self.sample[lines]]
        labels = self.labels if present.all() else [self.labels[i] for i in np.flatnonzero(present)]
        base, whole = self._base(codes, labels, lines, of)
        if not base.all():  # samples without weight are left out
            heavy = base > 0.0
            lines, codes = lines[heavy[codes]], (np.cumsum(heavy) - 1)[codes[heavy[codes]]]
            labels, base = [labels[i] for i in np.flatnonzero(heavy)], base[heavy]
        held = (0.0, 0.0) if self.missing is None else self.missing.range(self.loss)
        fillings = (self.loss[lines],) * 2 if self.missing is None else self.missing.filled(self.loss[lines], held)
        groupings = None if grouped else self.groupings
        first, runs, highest_runs, several = self._alternatives(lines, codes, fillings, of)
        sample, cost, spots = codes[first], self.cost[lines[first]], lines[first]
        losses = several if several is not None else (fillings[0][first], fillings[1][first])
        for loss in losses if losses[0] is not losses[1] else losses[:1]:
            check_originals(sample, labels, loss, cost, spots, of, self.roles["cost"], groupings)
        if self.variant is not None and runs is None:
            key, most = codes * self._variants + self.variant[lines], len(labels) * self._variants
            check_single(key, most, lines, lambda i: self._called(lines[i], of), groupings)
        every = len(spots) == len(self.loss)  # in their order, then
        columns = {name: values if every else values[spots] for name, values in self.columns.items()} or {"line": spots}
        count = gone[0]
        oracle = TableOracle(sample, losses[0], cost, columns, runs)
        if count and self.missing is not None and self.missing.kind == "bounds" and (losses[0] != losses[1]).any():
            gaps = Gaps(count, *held)
            oracle = GappedOracle(sample, losses[0], cost, columns, runs, losses[1], highest_runs, gaps)
        notes = [] if self.repeat is not None else [ONE_RUN]
        if runs is not None and not noise_known(runs):
            notes.append(FEW_RUNS)
        elif runs is not None and fold_count(runs, cost) < 2:
            notes.append(ONE_RUN_OF_ORIGINALS)
        if count and self.missing is not None:
            original = np.zeros((2, len(labels)))
            at = cost == 0.0
            original[:, sample[at]] = losses[0][at], losses[1][at]
            risks = float(base @ original[0]), float(base @ original[1])
            counts = {"gone": gone[0], "of": gone[1], "originals": gone[2]}
            notes.append(told(self.missing, held, **counts, risks=risks, repeated=runs is not None))
        return TableSamples(oracle, base, labels, whole, self._groups(lines, codes, labels, of), count, tuple(notes))

    def _alternatives(
        self,
        lines: IntArray,
        codes: IntArray,
        fillings: tuple[FloatArray, FloatArray],
        of: str,
    ) -> tuple[Any, Runs | None, Runs | None, tuple[FloatArray, FloatArray] | None]:
        """Where each alternative first stands among these lines; the runs of both fillings, and their means."""
        if self.variant is None or self.repeat is None:
            return slice(None), None, None, None
        import pandas as pd

        alternative, keys = pd.factorize(codes * self._variants + self.variant[lines])
        alternative = alternative.astype(np.intp)
        first = np.full(len(keys), -1, dtype=np.intp)
        first[alternative[::-1]] = np.arange(len(lines))[::-1]
        repeat, cost = self.repeat[lines], self.cost[lines]
        uneven = np.flatnonzero(cost != cost[first[alternative]])
        if len(uneven):
            i = int(uneven[0])
            raise InputError(
                f"table[{self.roles['cost']!r}][{lines[i]}] is {cost[i]:g}, and {cost[first[alternative[i]]]:g} in another run"
                f" of {self._called(lines[i], of)}; give every run of an alternative the same cost."
            )
        whole = int(self.repeat.max()) + 1
        key, most = alternative * whole + repeat, len(keys) * whole
        check_single(key, most, lines, lambda i: f"one run of {self._called(lines[i], of)}", None)
        rank = ranks(alternative, repeat)
        least, largest = (Runs(alternative, filling, rank, len(keys)) for filling in fillings)
        means = least.means
        return first, least, largest, (means, means if fillings[0] is fillings[1] else largest.means)

    @property
    def _variants(self) -> int:
        return 0 if self.variant is None else int(self.variant.max()) + 1

    def _called(self, line: int, of: str) -> str:
        """The alternative of a line, in words."""
        return f"the alternative {self.columns[self.roles['variant']][line]!r} of sample {self.labels[self.sample[line]]!r}{of}"

    def _groups(self, lines: IntArray, codes: IntArray, labels: list[Any], of: str) -> IntArray | None:
        """The group of each sample; None where every sample is alone in its own."""
        if self.group is None:
            return None
        given = self.group[lines]
        first = np.zeros(len(labels), dtype=np.intp)
        first[codes[::-1]] = given[::-1]
        uneven = np.flatnonzero(given != first[codes])
        if len(uneven):
            i = uneven[0]
            raise InputError(
                f"table[{self.roles['group']!r}][{lines[i]}]: sample {labels[codes[i]]!r}{of} is in another group on another of"
                " its lines; give one group a sample."
            )
        groups, inverse = np.unique(first, return_inverse=True)
        if len(groups) < 2:
            raise InputError(
                f"table[{self.roles['group']!r}] holds one group only{of}; errors are taken between groups, so give two or"
                " more, or leave group out."
            )
        return None if len(groups) == len(labels) else np.asarray(inverse, dtype=np.intp)

    @property
    def range(self) -> tuple[float, float]:
        """What a mean loss can be: of losses that are all 0 or 1 an error rate, of others anything."""
        known = self.loss if self.missing is None else self.loss[~np.isnan(self.loss)]
        rule = self.missing
        plain = rule is None or rule.low is None or {rule.low, rule.high} <= {0.0, 1.0}
        return (0.0, 1.0) if plain and bool(((known == 0.0) | (known == 1.0)).all()) else (-math.inf, math.inf)

    def check_ungrouped(self) -> None:
        """Refuse runs of several groups in one: pooled, each sample would have the alternatives of all of them."""
        originals = np.bincount(self.sample[self.cost == 0.0], minlength=len(self.labels))
        if originals.min() < 2:  # of a sample in several groups every one has its own
            return
        crossed = [name for name, complete in self.groupings() if complete]
        if crossed and (self.cost > 0.0).any():
            raise InputError(
                f"every sample has a line of cost 0 for each {crossed[0]!r}: these are several tables in one; give"
                f" {grouped_by(crossed[0])} for a profile of each, or leave the column out if they are one."
            )

    def groupings(self) -> list[tuple[str, bool]]:
        """Columns that look like a forgotten grouping, the likeliest first, and whether every sample has all of its groups.

        Split by such a column, every sample of every group has its line of cost 0, and some sample has several groups.
        """
        found = []
        for name, values in self.columns.items():
            codes, count = (None, 0) if name in self.roles.values() else _codes(values)
            if codes is None or count < 2:
                continue
            pairs, pair = np.unique(self.sample * count + codes, return_inverse=True)
            several = len(pairs) > len(self.labels)
            if several and np.isin(np.arange(len(pairs)), pair[self.cost == 0.0]).all():
                found.append((name, len(pairs) == count * len(self.labels), count))
        found.sort(key=lambda each: (not each[1], each[0] != USUAL_GROUPING, each[2]))
        return [(name, complete) for name, complete, _ in found]

    def _base(self, codes: IntArray, labels: list[Any], lines: IntArray, of: str) -> tuple[FloatArray, float]:
        """The weight of each sample, of all one; and what they weigh together as given."""
        if self.weight is None:
            return base_weights(None, len(labels)), float(len(labels))
        given, name = self.weight[lines], self.roles["weight"]
        first = np.zeros(len(labels))
        first[codes[::-1]] = given[::-1]
        uneven = np.flatnonzero(given != first[codes])
        if len(uneven):
            i = uneven[0]
            raise InputError(
                f"table[{name!r}][{lines[i]}]: sample {labels[codes[i]]!r}{of} has different weights on its lines; give one"
                " weight a sample."
            )
        return base_weights(first, len(labels), f"table[{name!r}]"), float(first.sum())


def read_alternatives(frame: Any, roles: Mapping[str, str], missing: MissingRule | None = None) -> Alternatives:
    """The columns of a table, and what can be said of each line alone; without a rule, no loss may be missing."""
    _check_roles(frame, roles)
    if not len(frame):
        raise InputError("the table is empty; give one line an alternative.")
    numbers = {
        role: read_numbers(frame[name].to_native(), f"table[{name!r}]", gaps=role == "loss" and missing is not None)
        for role, name in roles.items()
        if role in ("loss", "cost", "weight")
    }
    sample, labels = _numbered_column(frame, roles["sample"], "sample")
    for role, plural in (("cost", "costs"), ("weight", "weights")):
        negative = np.flatnonzero(numbers.get(role, np.zeros(0)) < 0.0)
        if len(negative):
            i = int(negative[0])
            raise InputError(
                f"table[{roles[role]!r}][{i}] is {numbers[role][i]:g} for sample {labels[sample[i]]!r}; {plural} must be ≥ 0."
            )
    gone = missing is not None and bool(np.isnan(numbers["loss"]).any())
    group = _numbered_column(frame, roles["group"], "group")[0] if "group" in roles else None
    variant = _numbered_column(frame, roles["variant"], "variant")[0] if "variant" in roles else None
    hidden = {roles.get(role) for role in ("sample", "loss", "cost", "weight", "by", "repeat")}
    extra = {name: frame[name].to_numpy() for name in frame.columns if name not in hidden}
    return Alternatives(
        sample,
        numbers["loss"],
        numbers["cost"],
        numbers.get("weight"),
        labels,
        extra,
        roles,
        frame.implementation.value,
        variant,
        _ordered_runs(frame, roles),
        group,
        missing if gone else None,
    )


def _check_roles(frame: Any, roles: Mapping[str, str]) -> None:
    for role, name in roles.items():
        if name not in frame.columns:
            raise InputError(
                f"the table has no column {name!r} for the {_ROLE.get(role, role)}; its columns are {frame.columns!r}."
            )
        twice = next((other for other, same in roles.items() if same == name and other != role), None)
        if twice is not None:
            raise InputError(f"the column {name!r} is named for {role} and for {twice}; name a column of its own for each.")
    if "repeat" in roles and "variant" not in roles:
        raise InputError(
            f"repeat={roles['repeat']!r} counts runs of an alternative, and no column says which one a line is; name it, as"
            " variant='wording' (--variant wording)."
        )


def _ordered_runs(frame: Any, roles: Mapping[str, str]) -> IntArray | None:
    """The number of the run of each line, in the order of what runs are called: lines may stand in any order."""
    if "repeat" not in roles:
        return None
    codes, called = _numbered_column(frame, roles["repeat"], "run")
    try:
        order = sorted(range(len(called)), key=lambda k: called[k])
    except TypeError:  # of several types
        order = sorted(range(len(called)), key=lambda k: str(called[k]))
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    return np.asarray(place[codes])


_ROLE = {"by": "groups", "repeat": "runs", "group": "group of samples"}
"""What a role is called in a sentence, where that is not its own name."""


def _numbered_column(frame: Any, name: str, what: str) -> tuple[IntArray, list[Any]]:
    return numbered(frame[name].to_native(), name, what)


def numbered(column: Any, name: str, what: str = "sample") -> tuple[IntArray, list[Any]]:
    """Number the values of a column in the order of their first line."""
    import pandas as pd

    values = column if isinstance(column, pd.Series) else read_vector(column, f"table[{name!r}]")

    codes, labels = pd.factorize(values)
    if (codes < 0).any():
        raise InputError(f"table[{name!r}][{int(np.flatnonzero(codes < 0)[0])}] is missing; every line needs its {what}.")
    return codes.astype(np.intp), pd.Index(labels).tolist()  # as Python names them: 1, not np.int64(1)


def _codes(values: Any) -> tuple[IntArray, int]:
    """Values numbered, and how many there are; 0 where some are missing or cannot be told apart."""
    import pandas as pd

    try:
        codes, labels = pd.factorize(values)
    except TypeError:  # lists and the like
        return np.zeros(0, dtype=np.intp), 0
    return codes.astype(np.intp), 0 if (codes < 0).any() else len(labels)
