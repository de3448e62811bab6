"""The rows that a report shows: how they are now, where they go, and which cells change."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.sensitive import SensitiveDistribution
from tippingpoint.data.columns import Column
from tippingpoint.report.column_format import ColumnFormat, column_format
from tippingpoint.report.embedding import Embedded, EmbeddedAtoms
from tippingpoint.results.evidence import Evidence, Places, words

MAX_SHOWN = 10
"""Rows that are shown at once."""

MAX_STORED = 200
"""Rows whose features a page holds, so that other settings can show others."""

MAX_CELLS = 20_000
"""Values of features that a page holds as they are now; with very many features it holds fewer rows."""

MAX_CHANGES = 40_000
"""Changed values that a page holds."""

TELLING = ("variation", "variant", "text", "answer")
"""Columns of a table that tell most of an alternative, the first first."""

MAX_NAME = 60
"""Characters up to which a value is shown as it is, spaces too."""

MAX_TEXT = 3_000
"""Characters of a text that a page holds."""

DIGITS = 9
"""Of a value after a move; less is lost in rounding than any column can tell apart."""

QUANTILES = 6
"""Prices at which places of the rows are looked up where all places are held."""

Cell = float | int | str | None
"""A value as a page shows it; None is missing."""


class TopRow(TypedDict):
    """A row that adds much to the risk: how much it counts, what it loses, and which of its cells change."""

    stored: int
    weight: float
    loss_before: float
    loss: float
    cost: float
    moved: float
    adds: float
    changes: list[list[Any]]


class Step(TypedDict):
    """How far columns go when a score rises by one, and in which direction it is pushed for each stored row, a side each."""

    columns: list[int]
    unit: list[float]
    direction: list[list[float]]


class Shifts(TypedDict, total=False):
    """Of inputs of a module only: that columns say how far something moves, and not what it holds."""

    shifts: bool


class Rows(Shifts):
    """The rows that a page holds, column by column as they are now, with the places they may go to."""

    columns: list[str]
    spread: list[float]
    holds: list[ColumnFormat | None]
    labels: list[str]
    positions: list[int]
    before: list[list[Cell]]
    places: list[list[Any]]
    step: Step | None
    top: list[TopRow]
    of: int


class Sheet:
    """The features of some rows, as cells.

    Parameters
    ----------
    places
        Where samples are and where they go.
    rows
        Positions of the samples.
    freely
        Whether every column that is no category moves as a number, truth values too.
    tried
        Whether places are alternatives of a table: columns are then what is known of each, and no moves of numbers.
    """

    def __init__(self, places: Places, rows: IntArray, *, freely: bool, tried: bool = False) -> None:
        columns = {} if tried else {name: column for name, (column, _, _) in places.numbers.items()}
        plain = {name: replace(column, holds="number") for name, column in columns.items() if column.holds == "boolean"}
        self._columns = {**columns, **plain} if freely else columns
        self.rows = rows
        self.names: list[str] = sorted(places.before, key=_telling) if tried else list(places.before)
        self.values: dict[str, np.ndarray[Any, Any]] = {
            name: np.asarray(values)[rows] for name, values in places.before.items()
        }
        self.holds: list[ColumnFormat | None] = [
            None
            if tried or words(self._columns[name]) or self._columns[name].holds == "shift"
            else column_format(places.numbers[name][1])
            for name in self.names
        ]
        cells = (self._cells(name, self.values[name]) for name in self.names)
        self.before: list[list[Cell]] = [list(row) for row in zip(*cells, strict=True)]
        self.spread: list[float] = [
            0.0 if tried else _spread(np.asarray(places.before[name]), self._columns.get(name)) for name in self.names
        ]

    def changes(self, after: Mapping[str, Any], which: Sequence[int]) -> list[list[list[Any]]]:
        """`[column, value]` of every cell that changes, for some of the rows, which `after` holds in the same order."""
        changed: list[list[list[Any]]] = [[] for _ in which]
        positions = np.asarray(which, dtype=np.intp)
        for j, name in enumerate(self.names):
            now, then = self.values[name][positions], np.asarray(after[name])
            were, cells = self._cells(name, now), self._cells(name, then)
            for k in np.flatnonzero(_differ(now, then)).tolist():
                if cells[k] != were[k]:  # else by less than is shown
                    changed[k].append([j, cells[k]])
        return changed

    def _cells(self, name: str, values: np.ndarray[Any, Any]) -> list[Cell]:
        column = self._columns.get(name, Column(name))
        if values.dtype.kind not in "biuf":
            return [None if value is None or value != value else _cut(str(value)) for value in values.tolist()]  # noqa: PLR0124  # NaN
        named = words(column)
        if named is not None and (column.holds == "category" or np.isin(values, (0, 1)).all()):
            return [None if math.isnan(value) else named[int(value)] for value in values.tolist()]
        return [_written(float(value)) for value in values.tolist()]


def contributions(q: SensitiveDistribution) -> FloatArray:
    """`p_i (w_i ℓ(z_i) - ℓ(ẑ_i))`: what every row adds to the risk; they sum to its rise."""
    then = np.bincount(q.sample, weights=q.mass * q.loss, minlength=len(q.base))
    return np.asarray(then - q.base * q.losses)


def select(distributions: Sequence[SensitiveDistribution], features: int) -> IntArray:
    """Positions of the rows worth storing: those that add most to the risk in each distribution, the first one's first."""
    most = min(MAX_STORED, max(MAX_CELLS // max(features, 1), MAX_SHOWN))
    ranked = [np.argsort(-contributions(q), kind="stable")[:most] for q in distributions]
    own, *others = ranked
    chosen = dict.fromkeys(own[: max(most // 3, MAX_SHOWN)].tolist())
    for each in zip(*(order.tolist() for order in (own, *others)), strict=True):
        for row in each:
            if len(chosen) < most:
                chosen.setdefault(row)
    return np.array(list(chosen), dtype=np.intp)


def sheet_of_rows(
    evidence: Evidence,
    places: Places,
    embedded: Embedded | None,
    distributions: Sequence[SensitiveDistribution],
    *,
    tried: bool = False,
) -> Rows:
    """The rows stored, where they can go, and those that the report itself shows first."""
    q = evidence.distribution
    rows = select(distributions, len(places.before))
    sheet = Sheet(places, rows, freely=embedded is not None and embedded.closed is not None, tried=tried)
    made: Rows = {
        "columns": sheet.names,
        "spread": sheet.spread,
        "holds": sheet.holds,
        "labels": [str(evidence.index[int(i)]) for i in rows],
        "positions": rows.tolist(),
        "before": sheet.before,
        "places": [] if embedded is None else _stored(embedded, sheet),
        "step": _step(embedded, sheet),
        "top": _top(q, places, sheet),
        "of": len(q.base),
    }
    if any(column.holds == "shift" for column, _, _ in places.numbers.values()):
        made["shifts"] = True
    return made


def _top(q: SensitiveDistribution, places: Places, sheet: Sheet) -> list[TopRow]:
    """The rows that add most to the risk in the report's own setting."""
    adds = contributions(q)
    rise = float(adds.sum())
    order = [int(i) for i in np.argsort(-adds, kind="stable")[:MAX_SHOWN] if adds[i] > 0.0]
    stored = {int(row): k for k, row in enumerate(sheet.rows)}
    top = list[TopRow]()
    for i in order:
        own = np.flatnonzero(q.sample == i)
        shown = own[np.argmax(q.cost[own])]
        after = {name: np.asarray(values)[[shown]] for name, values in places.after.items()}
        (changes,) = sheet.changes(after, [stored[i]])
        top.append(
            {
                "stored": stored[i],
                "weight": float(q.weight[i]),
                "loss_before": float(q.losses[i]),
                "loss": float(q.loss[shown]),
                "cost": float(q.cost[shown]),
                "moved": float(q.share[own] @ (q.cost[own] > 0.0)),
                "adds": float(adds[i]) / rise,
                "changes": changes,
            }
        )
    return top


def _stored(embedded: Embedded, sheet: Sheet) -> list[list[Any]]:
    """For every stored row, `[place, changed cells]` of the places that were looked up."""
    found: list[dict[int, Any]] = [{} for _ in sheet.rows]
    atoms, oracle, held = embedded.responses, embedded.oracle, 0
    if not isinstance(atoms, EmbeddedAtoms):
        return []
    for price in _looked_up(embedded, atoms, sheet.rows):
        place = (atoms.chosen(price) - atoms.first)[sheet.rows]
        fresh = [k for k, number in enumerate(place) if number > 0 and int(number) not in found[k]]
        if not fresh or held > MAX_CHANGES:
            continue
        rows = sheet.rows[fresh]
        response = oracle.peak() if math.isinf(price) else oracle.respond(price)
        for k, changed in zip(fresh, sheet.changes(oracle.points(price, rows, response.lift[rows]), fresh), strict=True):
            found[k][int(place[k])] = changed
            held += len(changed)
    return [[[place, changed] for place, changed in sorted(each.items())] for each in found]


def _looked_up(embedded: Embedded, atoms: EmbeddedAtoms, rows: IntArray) -> list[float]:
    """Prices whose places are stored: the report's own first."""
    between = atoms.prices(rows) if embedded.exact and not math.isinf(embedded.seen[0]) else np.zeros(0)
    quantiles = np.quantile(between, np.linspace(0.0, 1.0, QUANTILES)).tolist() if len(between) else []
    return [*embedded.seen, *quantiles]


def _step(embedded: Embedded | None, sheet: Sheet) -> Step | None:
    """How a push moves the rows of a line; None where places are counted off."""
    closed = None if embedded is None else embedded.closed
    if closed is None:
        return None
    return {
        "columns": closed.columns.tolist(),
        "unit": closed.step.tolist(),
        "direction": [side.direction[sheet.rows].tolist() for side in closed.sides],
    }


def _telling(name: str) -> int:
    """Where a column stands among those that are shown: what tells most of an alternative comes first."""
    return TELLING.index(name) if name in TELLING else len(TELLING)


def _cut(value: str) -> str:
    """A text as a page holds it: a long one on one line, and not all of it."""
    if len(value) <= MAX_NAME:
        return value
    line = " ".join(value.split())
    return line if len(line) <= MAX_TEXT else f"{line[:MAX_TEXT]} … (cut, {len(line):,} characters in all)"


def _differ(now: np.ndarray[Any, Any], then: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if now.dtype.kind in "biuf" and then.dtype.kind in "biuf":
        return np.asarray(~((now == then) | (np.isnan(now.astype(float)) & np.isnan(then.astype(float)))))
    return np.array([a is not b and a != b for a, b in zip(now.tolist(), then.tolist(), strict=True)], dtype=bool)


def _spread(values: np.ndarray[Any, Any], column: Column | None) -> float:
    """What a change of the column is measured against; 0 for words, of which one is as far as another."""
    if column is not None and column.holds == "shift":
        return 1.0
    if values.dtype.kind not in "biuf" or (column is not None and column.holds == "category"):
        return 0.0
    known = values[~np.isnan(values.astype(float))].astype(float)
    return float(np.std(known)) if len(known) else 0.0


def _written(value: float) -> Cell:
    """A number with the digits that are kept."""
    if math.isnan(value):
        return None
    shown = float(f"{value:.{DIGITS}g}")
    return int(shown) if shown.is_integer() and abs(shown) < 1e15 else shown
