"""Features one by one: how far each drifted alone, against its noise, and what the risk would be if only that had happened."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.api.windows import Losses, Reference, Window, losses_at
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, total
from tippingpoint.data.columns import Column
from tippingpoint.errors import InputError, ModelError, UnsupportedError
from tippingpoint.results.drift_parts import FeatureDrift
from tippingpoint.space.domain import Domain, Menu
from tippingpoint.transport import (
    Drift,
    Permuted,
    drift_by_stratum,
    drift_by_switching,
    drift_on_table,
    permuted,
    permuted_levels,
)

MAX_PERMUTATIONS = 99
"""Deals at random for each feature, at most: there are many of them, and their p-values are to be read together."""

MAX_NAMED = 6
"""Values that the reference does not have, named at most."""

NO_PLACE = "some current values have no place in its order, as the reference does not have them; list them in categories="
UNREACHED = "nothing that may be done to the reference has this distribution, as values began to be missing"
REFUSED = "the model takes no values that the reference does not have"
NOT_SEARCHED = "its stability is a search of its own; ask feature_stability"


@dataclass(frozen=True)
class FeatureTable:
    """What was found of the features, and what is to be said of all of them."""

    rows: tuple[FeatureDrift, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Levels:
    """A feature of finitely many values in two windows.

    Attributes
    ----------
    before, after
        The number of the value of every row; the reference's own come first.
    values
        `(K, m)`: what the columns of the feature hold at each.
    names
        What each is called.
    costs
        `(K, K)`: of going from one to the other; one number where all switches cost the same.
    """

    before: IntArray
    after: IntArray
    values: FloatArray
    names: tuple[str, ...]
    costs: FloatArray | float


@dataclass(frozen=True)
class Travelled:
    """Where a plan takes rows: parts of the whole mass, of these rows, to these values of the columns of a feature."""

    rows: IntArray
    masses: FloatArray
    values: FloatArray


def feature_table(
    reference: Reference,
    before: Window,
    current: Window,
    risk: float,
    question: Mapping[str, Any],
    permutations: int,
    seed: int,
) -> FeatureTable:
    """Every feature that may move, alone, at the prices of the space; its bounds and directions do not bind the world."""
    if len(before.features.shape) != 1:
        return FeatureTable(notes=("features are not looked at one by one where a sample is no row of columns",))
    domain = reference.case.domain
    columns = tuple(
        replace(own, categories=_joined(own, other))
        for own, other in zip(before.features.columns, current.features.columns, strict=True)
    )
    dealt = min(permutations, MAX_PERMUTATIONS)
    losses = losses_at(reference, columns)
    measured = _Measured(reference, before, current, columns, risk, question, dealt, seed, losses)
    rows = tuple(measured.feature(name) for name in domain.features)
    frozen = [name for j, name in enumerate(domain.names) if not _moves(domain, j)]
    notes = (f"{len(frozen)} features that may not move were not looked at: their drift has no price",) if frozen else ()
    return FeatureTable(rows, notes)


@dataclass(frozen=True)
class _Measured:
    """All that every feature is measured by."""

    reference: Reference
    before: Window
    current: Window
    columns: tuple[Column, ...]
    risk: float
    question: Mapping[str, Any]
    permutations: int
    seed: int
    losses: Losses

    def seed_of(self, feature: str) -> int:
        """Of the rows dealt out for one feature, which does not depend on which others there are."""
        return seed_of(self.seed, self.domain.features.index(feature))

    @property
    def domain(self) -> Domain:
        return self.reference.case.domain

    @property
    def reweighting(self) -> dict[str, Any]:
        return {name: self.question[name] for name in ("theta2", "divergence")}

    def feature(self, name: str) -> FeatureDrift:
        menu = next((menu for menu in self.domain.menus if menu.name == name), None)
        if menu is None:
            j = self.domain.names.index(name)
            if self.domain.pinned[j]:
                return self._none(name, "it has no spread in the reference, so that a move has no price")
            return self._along(name, np.array([j]), self.question["theta1"] * float(self.domain.price[j]))
        if menu.metric:
            return self._ordered(menu)
        return self._switched(menu)

    def _along(
        self, name: str, columns: IntArray, price: float, places: tuple[FloatArray, FloatArray] | None = None, **extra: Any
    ) -> FeatureDrift:
        """A feature with a place for every value; rows that have none, as it is missing, stay among themselves."""
        x0, x1 = places or (self.before.features.x[:, columns[0]], self.current.features.x[:, columns[0]])
        gone = np.isnan(x0), np.isnan(x1)
        x0, x1 = np.where(gone[0], 0.0, x0), np.where(gone[1], 0.0, x1)
        base, masses = self.before.base, self.current.base
        found = drift_by_stratum(x0, base, gone[0], x1, masses, gone[1], price=price, **self.reweighting).whole
        nulls = None
        if self.permutations:
            labels: tuple[Any, Any] = gone if gone[0].any() or gone[1].any() else (None, None)
            nulls = permuted(
                x0,
                base,
                x1,
                masses,
                price=price,
                permutations=self.permutations,
                seed=self.seed_of(name),
                labels=labels[0],
                current_labels=labels[1],
                **self.reweighting,
            )
        travelled = None
        if math.isfinite(found.upper):
            parts = [
                _matched(x0, base * found.weights, x1, masses, self.current.features.x[:, columns], *which)
                for which in ((~gone[0], ~gone[1]), gone)
                if which[1].any()
            ]
            travelled = Travelled(
                *(np.concatenate(each) for each in zip(*((t.rows, t.masses, t.values) for t in parts), strict=True))
            )
        return self._row(name, columns, found, nulls, travelled, **extra)

    def _ordered(self, menu: Menu) -> FeatureDrift:
        """Whole numbers and levels in an order, at the price of a squared step."""
        x0, x1 = (window.features.x[:, menu.columns[0]] for window in (self.before, self.current))
        axis = np.asarray(menu.axis, dtype=float)
        unseen = ~np.isin(x1, x0) & ~np.isnan(x1)
        if menu.kind == "integer":
            places = x0, x1
        else:
            if (~np.isin(x1, menu.values[:, 0]) & ~np.isnan(x1)).any():
                return self._none(menu.name, NO_PLACE, *self._unseen(menu.columns, unseen))
            along = menu.along(self.before.features.x), menu.along(self.current.features.x)
            places = np.where(np.isnan(x0), np.nan, along[0]), np.where(np.isnan(x1), np.nan, along[1])
        pairs = np.isfinite(menu.cost) & (menu.cost > 0.0) & ~menu.gap & ~menu.gap[:, None]
        if not pairs.any():
            return self._none(menu.name, "it has one value only, so that a step has no price")
        a, b = (int(k[0]) for k in np.nonzero(pairs))
        price = self.question["theta1"] * float(menu.cost[a, b] / (axis[a] - axis[b]) ** 2)
        share, names = self._unseen(menu.columns, unseen)
        return self._along(menu.name, menu.columns, price, places, unseen_share=share, unseen=names, kind=menu.kind)

    def _switched(self, menu: Menu) -> FeatureDrift:
        """Categories: what is missing is one more of them."""
        levels = self._levels(menu)
        k = len(levels.values)
        p, q = (
            np.bincount(each, window.base, k).astype(float)
            for each, window in ((levels.before, self.before), (levels.after, self.current))
        )
        found = self._switching(p, q, levels.costs, np.arange(k))
        nulls = None
        if self.permutations:
            held = np.unique(np.concatenate([levels.before, levels.after]))

            def value(p: FloatArray, q: FloatArray) -> float:
                return self._switching(p, q, levels.costs, held).upper

            nulls = permuted_levels(
                levels.before,
                self.before.base,
                levels.after,
                self.current.base,
                value,
                permutations=self.permutations,
                seed=self.seed_of(menu.name),
            )
        unseen = p[levels.after] == 0.0
        names = tuple(levels.names[i] for i in np.unique(levels.after[unseen])[:MAX_NAMED])
        share = total(self.current.base, unseen.astype(float))
        travelled = _spread(levels, self.before.base, found)
        return self._row(menu.name, menu.columns, found, nulls, travelled, unseen_share=share, unseen=names, kind=menu.kind)

    def _switching(self, p: FloatArray, q: FloatArray, costs: FloatArray | float, levels: IntArray) -> Drift:
        """The drift of shares of some levels."""
        theta1 = self.question["theta1"]
        if isinstance(costs, float):
            return drift_by_switching(p, q, switch=theta1 * costs, **self.reweighting)
        return drift_on_table(p, q, theta1 * costs[np.ix_(levels, levels)], **self.reweighting)

    def _levels(self, menu: Menu) -> Levels:
        """The values of a categorical feature in both windows; a switch that the table does not price costs its dearest."""
        x0, x1 = (window.features.x[:, menu.columns] for window in (self.before, self.current))
        held = np.concatenate([menu.values, x0, x1])
        _, first, codes = np.unique(np.where(np.isnan(held), np.inf, held), axis=0, return_index=True, return_inverse=True)
        codes = codes.reshape(-1)
        order = np.argsort(np.argsort(first))  # numbered by first appearance: the options of the menu first
        codes = order[codes]
        values = held[np.sort(first)]
        known, k = len(menu.values), len(values)
        costs = np.full((k, k), math.inf)
        costs[np.ix_(codes[:known], codes[:known])] = menu.cost
        priced = costs[np.isfinite(costs) & (costs > 0.0)]
        dearest = float(priced.max()) if len(priced) else 1.0
        costs = np.where(np.isfinite(costs), costs, dearest)
        np.fill_diagonal(costs, 0.0)
        same = bool((np.abs(priced - dearest) <= 1e-12 * dearest).all())
        names = tuple(self._label(menu, row) for row in values)
        before, after = codes[known : known + len(x0)], codes[known + len(x0) :]
        return Levels(before, after, values, names, dearest if same else costs)

    def _label(self, menu: Menu, values: FloatArray) -> str:
        if len(menu.columns) > 1:
            return self.domain.names[int(menu.columns[int(np.argmax(values))])]
        return self.columns[int(menu.columns[0])].label(float(values[0]))

    def _unseen(self, columns: IntArray, unseen: Any) -> tuple[float, tuple[str, ...]]:
        values = np.unique(self.current.features.x[unseen][:, columns[0]])
        named = tuple(self.columns[int(columns[0])].label(float(value)) for value in values[:MAX_NAMED])
        return total(self.current.base, np.asarray(unseen, dtype=float)), named

    def _row(
        self,
        name: str,
        columns: IntArray,
        found: Drift,
        nulls: Permuted | None,
        travelled: Travelled | None,
        *,
        unseen_share: float = math.nan,
        unseen: tuple[str, ...] = (),
        kind: str | None = None,
    ) -> FeatureDrift:
        risk, note = self._risk_if_only(columns, travelled)
        stability, why = self._stability(name)
        return FeatureDrift(
            name=name,
            kind=kind or self.domain.kind(name),
            drift=found.upper,
            lower=found.lower,
            moving=found.moving,
            floor=math.nan if nulls is None else nulls.floor,
            p_value=math.nan if nulls is None else nulls.p_value,
            unseen_share=unseen_share,
            unseen=unseen,
            risk_if_only=risk,
            stability=stability,
            note="; ".join(each for each in (note, why) if each),
        )

    def _none(self, name: str, why: str, unseen_share: float = math.nan, unseen: tuple[str, ...] = ()) -> FeatureDrift:
        """A feature of which nothing was measured."""
        stability, _ = self._stability(name)
        nothing = math.nan
        kind = self.domain.kind(name)
        return FeatureDrift(name, kind, nothing, 0.0, nothing, nothing, nothing, unseen_share, unseen, nothing, stability, why)

    def _risk_if_only(self, columns: IntArray, travelled: Travelled | None) -> tuple[float, str]:
        """The risk of the reference after the plan of one feature; all else, labels too, is carried along."""
        if travelled is None:
            return math.nan, UNREACHED
        places = self.before.features.x[travelled.rows]
        places[:, columns] = travelled.values
        try:
            lost = self.losses(travelled.rows, places)
        except (InputError, ModelError):
            return math.nan, REFUSED
        return total(travelled.masses, lost) / float(np.add.reduce(travelled.masses)), ""

    def _stability(self, name: str) -> tuple[float, str]:
        """`R_j` of the reference; a black box would have to be searched for it."""
        stabilities = self.reference.stabilities
        if name not in stabilities:
            case = self.reference.case
            if case.judgement.searched and case.family.name == "black boxes":
                stabilities[name] = math.nan
            else:
                try:
                    alone = case.profile_by(case.judgement.along(case.domain.only((name,))))
                    stabilities[name] = alone.stability(self.risk, **self.question).value
                except UnsupportedError:
                    stabilities[name] = math.nan
        return stabilities[name], NOT_SEARCHED if math.isnan(stabilities[name]) else ""


def _matched(
    before: FloatArray,
    masses: FloatArray,
    after: FloatArray,
    target: FloatArray,
    values: FloatArray,
    mine: BoolArray,
    theirs: BoolArray,
) -> Travelled:
    """Some rows in the order of their values, matched from the left with current ones: the cheapest transport on a line."""
    held, wanted = np.flatnonzero(mine), np.flatnonzero(theirs)
    source = held[np.argsort(before[held], kind="stable")]
    sink = wanted[np.argsort(after[wanted], kind="stable")]
    whole = float(np.add.reduce(target[wanted]))
    ends, marks = (np.minimum(np.cumsum(each) / float(np.add.reduce(each)), 1.0) for each in (masses[source], target[sink]))
    ends[-1] = marks[-1] = 1.0
    levels = np.union1d(ends, marks)
    parts = np.diff(levels, prepend=0.0)
    middle = levels - 0.5 * parts
    rows, columns = source[np.searchsorted(ends, middle)], sink[np.searchsorted(marks, middle)]
    here = parts > 0.0
    return Travelled(rows[here], whole * parts[here], values[columns[here]])


def _spread(levels: Levels, base: FloatArray, found: Drift) -> Travelled:
    """Every row spread over the levels that the plan takes its own to."""
    shares = np.asarray(found.destinations)
    counts = (shares > 0.0).sum(axis=1)
    rows = np.repeat(np.arange(len(base)), counts[levels.before])
    of_level = [np.flatnonzero(shares[k] > 0.0) for k in range(len(shares))]
    ends = np.concatenate([of_level[k] for k in levels.before.tolist()]) if len(rows) else np.zeros(0, dtype=np.intp)
    starts = levels.before[rows]
    masses = base[rows] * found.weights[starts] * shares[starts, ends]
    kept = masses > 0.0
    return Travelled(rows[kept], masses[kept], levels.values[ends[kept]])


def _joined(own: Column, other: Column) -> tuple[Any, ...]:
    return other.categories if len(other.categories) > len(own.categories) else own.categories


def _moves(domain: Domain, j: int) -> bool:
    return bool(np.isfinite(domain.price[j])) or any(j in menu.columns for menu in domain.menus)


def seed_of(*numbers: int) -> int:
    """One seed of several numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])
