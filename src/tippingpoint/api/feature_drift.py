"""Features one by one: how far each drifted alone, against its noise, and what the risk would be if only that had happened."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.api.windows import Losses, Reference, Window, losses_at
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, total
from tippingpoint.data.columns import Column
from tippingpoint.errors import InputError, ModelError, UnsupportedError, listed
from tippingpoint.progress import Tick
from tippingpoint.results.drift_parts import FeatureDrift
from tippingpoint.space.domain import Domain, Menu
from tippingpoint.transport import (
    Drift,
    Permuted,
    drift_by_stratum,
    drift_by_switching,
    drift_on_table,
    drift_with_missing,
    permuted,
    permuted_levels,
    permuted_with_missing,
)

FEATURE_PERMUTATIONS = 99
"""Permutations for each feature by default: there are many of them, and their p-values are not corrected."""

MAX_NAMED = 6
"""Values that the reference does not have, named at most."""

SAME = 1e-9
"""Relative difference below which a price that nobody declared makes no difference."""

NO_PLACE = "some current values have no place in its order, as the reference does not have them; list them in categories="
UNREACHED = "nothing that may be done to the reference has this distribution, as values began to be missing"
REFUSED = "the model takes no values that the reference does not have"
NOT_SEARCHED = "its stability is a search of its own; ask feature_stability"
NEARLY = 0.01
"""Relative gap between the bounds of a stability from which on they are reported."""

OUT_OF_TIME = "its stability was not asked for, as the time limit was reached"
BEYOND = "its drift leaves out the bounds and the direction of the space, its stability does not; do not compare the two"
NO_PRICE = "no change of it has a declared price; declare one in Space(switch=...)"
NONE_OF_THEM = "none of its columns"


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
        `(K, K)`: the declared cost of going from one to the other; infinite if none is declared.
    assumed
        The cost that is assumed for those changes: that of the most expensive declared one; NaN if none is declared.
    """

    before: IntArray
    after: IntArray
    values: FloatArray
    names: tuple[str, ...]
    costs: FloatArray
    assumed: float

    def filled(self, cost: float) -> FloatArray:
        """The costs, with this one for changes that have none."""
        return np.where(np.isfinite(self.costs), self.costs, cost)


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
    tick: Tick,
) -> FeatureTable:
    """Every feature that may move, alone, at the prices of the space; its bounds and directions do not bind the world."""
    if len(before.features.shape) != 1:
        return FeatureTable(notes=("features are not looked at one by one where a sample is no row of columns",))
    domain = reference.case.domain
    columns = tuple(
        replace(own, categories=_joined(own, other))
        for own, other in zip(before.features.columns, current.features.columns, strict=True)
    )
    losses = losses_at(reference, columns)
    measured = _Measured(reference, before, current, columns, risk, question, permutations, seed, losses)
    found = []
    for k, name in enumerate(domain.features):
        found.append(measured.feature(name))
        tick(k + 2)  # the first is of all features together
    rows = tuple(found)
    frozen = [name for j, name in enumerate(domain.names) if not _moves(domain, j)]
    notes = [f"{len(frozen)} features that may not move were not looked at: their drift has no price"] if frozen else []
    assumed = [row.name for row in rows if row.assumed]
    if assumed:
        notes.append(f"{listed(assumed)}: some changes have no declared price; the notes of `features` have what is assumed")
    return FeatureTable(rows, tuple(notes))


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
            if self.domain.pinned[self.domain.names.index(name)]:
                return self._none(name, "it has no spread in the reference, so that a move has no price")
            return self._numeric(name)
        if menu.metric:
            return self._ordered(menu)
        return self._switched(menu)

    def _numeric(self, name: str) -> FeatureDrift:
        """A number that moves freely."""
        j = self.domain.names.index(name)
        x1 = self.current.features.x[:, j]
        beyond = bool(self.domain.direction[j]) or bool(((x1 < self.domain.lower[j]) | (x1 > self.domain.upper[j])).any())
        theta1 = self.question["theta1"]
        missing = theta1 * self.domain.missing.get(j, math.inf)
        return self._along(name, np.array([j]), theta1 * float(self.domain.price[j]), missing=missing, beyond=beyond)

    def _along(
        self,
        name: str,
        columns: IntArray,
        price: float,
        places: tuple[FloatArray, FloatArray] | None = None,
        *,
        missing: float = math.inf,
        **extra: Any,
    ) -> FeatureDrift:
        """A feature with a place for every value; missing values stay among themselves unless going missing has a cost."""
        x0, x1 = places or (self.before.features.x[:, columns[0]], self.current.features.x[:, columns[0]])
        if math.isfinite(missing) and np.isnan(x1).any():
            return self._vanishing(name, columns, price, missing, x0, x1, **extra)
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

    def _vanishing(
        self, name: str, columns: IntArray, price: float, missing: float, x0: FloatArray, x1: FloatArray, **extra: Any
    ) -> FeatureDrift:
        """A feature with a place for every value, of which some go missing at a declared cost."""
        rows = x0, self.before.base, x1, self.current.base
        prices = {"price": price, "missing": missing, **self.reweighting}
        made = drift_with_missing(*rows, **prices)
        nulls = None
        if self.permutations:
            nulls = permuted_with_missing(*rows, **prices, permutations=self.permutations, seed=self.seed_of(name))
        travelled = None
        if math.isfinite(made.whole.upper):
            kept = self.before.base * made.whole.weights
            here, there = ~np.isnan(x0) & (made.gone < 1.0), ~np.isnan(x1)
            lost = np.flatnonzero(kept * made.gone > 0.0)
            values = self.current.features.x[:, columns]
            parts = [Travelled(lost, (kept * made.gone)[lost], np.full((len(lost), len(columns)), math.nan))]
            if there.any():
                masses = np.where(here, kept * (1.0 - made.gone), 0.0)
                parts.append(_matched(x0, masses, x1, self.current.base, values, masses > 0.0, there))
            travelled = Travelled(
                *(np.concatenate(each) for each in zip(*((t.rows, t.masses, t.values) for t in parts), strict=True))
            )
        return self._row(name, columns, made.whole, nulls, travelled, **extra)

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
        pairs = np.isfinite(menu.prices) & (menu.prices > 0.0) & ~menu.gap & ~menu.gap[:, None]
        if not pairs.any():
            return self._none(menu.name, "it has one value only, so that a step has no price")
        a, b = (int(k[0]) for k in np.nonzero(pairs))
        theta1 = self.question["theta1"]
        price = theta1 * float(menu.prices[a, b] / (axis[a] - axis[b]) ** 2)
        missing = theta1 * float(menu.prices[a, menu.gap][0]) if menu.gap.any() else math.inf
        share, names = self._unseen(menu.columns, unseen)
        extra: dict[str, Any] = {"unseen_share": share, "unseen": names, "kind": menu.kind, "beyond": self._beyond(menu, x1)}
        return self._along(menu.name, menu.columns, price, places, missing=missing, **extra)

    @staticmethod
    def _beyond(menu: Menu, after: FloatArray) -> bool:
        """Whether current values are options that no worst case goes to, or that it reaches one way only."""
        going = np.isfinite(menu.cost[~menu.gap][:, ~menu.gap])
        known = menu.values[~menu.gap][:, 0]
        return not (going & going.T).all() or not np.isin(after[~np.isnan(after)], known).all()

    def _switched(self, menu: Menu) -> FeatureDrift:
        """Categories: a missing value is one more of them."""
        levels = self._levels(menu)
        k = len(levels.values)
        p, q = (
            np.bincount(each, window.base, k).astype(float)
            for each, window in ((levels.before, self.before), (levels.after, self.current))
        )
        unseen = p[levels.after] == 0.0
        names = tuple(levels.names[i] for i in np.unique(levels.after[unseen])[:MAX_NAMED])
        share = total(self.current.base, unseen.astype(float))
        unpriced = ~np.isfinite(levels.costs) & (p > 0.0)[:, None] & (q > 0.0)
        if math.isnan(levels.assumed) and unpriced.any():
            return self._none(menu.name, NO_PRICE, share, names)
        costs = levels.filled(levels.assumed)
        found, note = self._switching(p, q, costs, np.arange(k)), ""
        if unpriced.any():
            free = self._switching(p, q, levels.filled(0.0), np.arange(k))
            if found.lower - free.lower > SAME * found.upper:
                found, note = replace(found, lower=min(free.lower, found.upper)), _assumption(levels, unpriced)
        nulls = None
        if self.permutations:
            held = np.unique(np.concatenate([levels.before, levels.after]))

            def value(p: FloatArray, q: FloatArray) -> float:
                return self._switching(p, q, costs, held).upper

            nulls = permuted_levels(
                levels.before,
                self.before.base,
                levels.after,
                self.current.base,
                value,
                permutations=self.permutations,
                seed=self.seed_of(menu.name),
            )
        travelled = _spread(levels, self.before.base, found)
        extra: dict[str, Any] = {"unseen_share": share, "unseen": names, "kind": menu.kind, "assumption": note}
        return self._row(menu.name, menu.columns, found, nulls, travelled, **extra)

    def _switching(self, p: FloatArray, q: FloatArray, costs: FloatArray, levels: IntArray) -> Drift:
        """The drift of shares of some levels; in closed form if all changes cost the same."""
        theta1, table = self.question["theta1"], costs[np.ix_(levels, levels)]
        off = table[~np.eye(len(levels), dtype=bool)]
        switch = float(off[0]) if len(off) else 1.0
        if switch > 0.0 and (np.abs(off - switch) <= 1e-12 * switch).all():
            return drift_by_switching(p, q, switch=theta1 * switch, **self.reweighting)
        return drift_on_table(p, q, theta1 * table, **self.reweighting)

    def _levels(self, menu: Menu) -> Levels:
        """The values of a categorical feature in both windows, and what the space declares of changes between them."""
        x0, x1 = (window.features.x[:, menu.columns] for window in (self.before, self.current))
        held = np.concatenate([menu.values, x0, x1])
        _, first, codes = np.unique(np.where(np.isnan(held), np.inf, held), axis=0, return_index=True, return_inverse=True)
        codes = codes.reshape(-1)
        order = np.argsort(np.argsort(first))  # numbered by first appearance: the options of the menu first
        codes = order[codes]
        values = held[np.sort(first)]
        known = len(menu.values)
        gone = np.isnan(values).any(axis=1)
        costs = np.where(gone | gone[:, None], math.inf, menu.otherwise)
        costs[np.ix_(codes[:known], codes[:known])] = menu.prices
        np.fill_diagonal(costs, 0.0)
        switches = costs[~gone][:, ~gone]
        switches = switches[np.isfinite(switches) & (switches > 0.0)]
        assumed = float(switches.max(initial=menu.otherwise if math.isfinite(menu.otherwise) else -math.inf))
        names = tuple(self._label(menu, row) for row in values)
        before, after = codes[known : known + len(x0)], codes[known + len(x0) :]
        return Levels(before, after, values, names, costs, assumed if assumed > 0.0 else math.nan)

    def _label(self, menu: Menu, values: FloatArray) -> str:
        if len(menu.columns) > 1:
            if not values.any():
                return NONE_OF_THEM
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
        assumption: str = "",
        beyond: bool = False,
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
            note="; ".join(each for each in (assumption, note, BEYOND if beyond else "", why) if each),
            assumed=bool(assumption),
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
        """`R_j` of the reference, and what it does not say; a black box would have to be searched for it."""
        known = self.reference.stabilities
        if name not in known:
            known[name] = self._stability_alone(name)
        return known[name]

    def _stability_alone(self, name: str) -> tuple[float, str]:
        case = self.reference.case
        if case.judgement.searched and case.family.name == "black boxes":
            return math.nan, NOT_SEARCHED
        if time.monotonic() > self.reference.deadline:
            return math.nan, OUT_OF_TIME
        try:
            alone = case.profile_by(case.judgement.along(case.domain.only((name,))))
            found = alone.stability(self.risk, **self.question)
        except UnsupportedError:
            return math.nan, NOT_SEARCHED
        if found.exact or found.lower >= found.value * (1.0 - NEARLY):
            return found.value, ""
        return found.value, f"its stability is an upper bound; the lower bound is {found.lower:.3g}"


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


def _assumption(levels: Levels, unpriced: BoolArray) -> str:
    """In words: which changes have no declared price, and what is assumed."""
    starts, ends = np.nonzero(unpriced)
    first = f"from {levels.names[int(starts[0])]!r} to {levels.names[int(ends[0])]!r}"
    more = f" and {len(starts) - 1} more changes" if len(starts) > 1 else ""
    return (
        f"no price is declared {first}{more}: `drift` assumes that of the most expensive declared change,"
        f" {levels.assumed:g}, and `lower` assumes none"
    )


def _joined(own: Column, other: Column) -> tuple[Any, ...]:
    return other.categories if len(other.categories) > len(own.categories) else own.categories


def _moves(domain: Domain, j: int) -> bool:
    return bool(np.isfinite(domain.price[j])) or any(j in menu.columns for menu in domain.menus)


def seed_of(*numbers: int) -> int:
    """One seed of several numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])
