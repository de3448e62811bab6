"""What moves: the features that change most under the sensitive distribution, and whether the rows they make can exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, total
from tippingpoint.report.changes import WHOLE_ROUND_OFF
from tippingpoint.report.column_format import column_format
from tippingpoint.results.evidence import Places, words
from tippingpoint.space.domain import Domain

KINDS = ("variation", "variant")
"""Columns of a table that say which kind of alternative a line is, the better first."""

MAX_MOVES = 5
"""Features that are named."""


class Distance(TypedDict, total=False):
    """Of inputs of a module only: that numbers are how far one has moved, in its own units, and not standard deviations.

    And if values go missing, how often.
    """

    distance: bool
    missing: float


class Move(Distance):
    """How a feature changes: its size as a whole, mean and length of a change where there is one, and how often there is.

    Of a table of alternatives, a kind of them that is `chosen`, with its mean cost and how often it is.
    """

    feature: str
    chosen: bool
    switches: bool
    size: float
    mean: float
    length: float
    share: float


class Doubt(TypedDict):
    """Part of what moves that may be impossible, and the feature in which most of that is."""

    share: float
    feature: str


def most_moved(places: Places, domain: Domain | None) -> list[Move]:
    """The features that change most: in standard deviations (root mean square), or the share whose category changes."""
    q = places.distribution
    moved, mass = q.cost > 0.0, q.mass
    moves, features = list[Move](), places.numbers
    for name, columns, is_category in _features(places, domain):
        before = np.column_stack([features[each][1] for each in columns])
        after = np.column_stack([features[each][2] for each in columns])
        before_atoms = before[q.sample]
        step = np.where(moved[:, None], np.nan_to_num(after - before_atoms), 0.0)
        gone = moved & (np.isnan(after) & ~np.isnan(before_atoms)).any(axis=1)
        share, lost = total(mass, (step != 0.0).any(axis=1) | gone), total(mass, gone)
        if share <= 0.0:
            continue
        unit = 1.0 if is_category else float(np.nanstd(before)) or 1.0
        size = np.sqrt(share) if is_category else np.sqrt(total(mass, np.square(step[:, 0] / unit)) + lost)
        mean, length = 0.0, 0.0
        if not is_category and share > lost:
            mean, length = (total(mass, each) / (share - lost) / unit for each in (step[:, 0], np.abs(step[:, 0])))
        move: Move = {
            "feature": name,
            "chosen": False,
            "switches": is_category,
            "size": float(size),
            "mean": mean,
            "length": length,
            "share": share,
        }
        if features[columns[0]][0].holds == "shift":
            move["distance"] = True
        if lost > 0.0:
            move["missing"] = lost
        moves.append(move)
    return sorted(moves, key=lambda each: -each["size"])[:MAX_MOVES]


def _features(places: Places, domain: Domain | None) -> Iterator[tuple[str, Sequence[str], bool]]:
    """Every feature, the columns that hold it (several of a one-hot group), and whether it is a category."""
    menus = () if domain is None else domain.menus
    names = () if domain is None else domain.names
    groups = {menu.name: [names[j] for j in menu.columns] for menu in menus if len(menu.columns) > 1}
    yield from ((name, columns, True) for name, columns in groups.items())
    grouped = {column for columns in groups.values() for column in columns}
    categories = {menu.name for menu in menus if not menu.numeric}
    for name, (column, _, _) in places.numbers.items():
        if name not in grouped:
            yield name, [name], name in categories or words(column) is not None


def most_chosen(places: Places) -> list[Move]:
    """The variations, or else the variants, of a table that samples go to most."""
    q = places.distribution
    name = next((each for each in KINDS if each in places.after), None)
    moved = np.flatnonzero(q.cost > 0.0)
    if name is None or not len(moved):
        return []
    shares, costs = dict[str, float](), dict[str, float]()
    for kind, mass, cost in zip(
        np.asarray(places.after[name])[moved].tolist(), q.mass[moved].tolist(), q.cost[moved].tolist(), strict=True
    ):
        shares[str(kind)] = shares.get(str(kind), 0.0) + mass
        costs[str(kind)] = costs.get(str(kind), 0.0) + mass * cost
    ranked = sorted(shares, key=lambda kind: -shares[kind])[:MAX_MOVES]
    return [
        {
            "feature": kind,
            "chosen": True,
            "switches": True,
            "size": float(np.sqrt(shares[kind])),
            "mean": costs[kind] / shares[kind] if shares[kind] > 0.0 else 0.0,
            "length": 0.0,
            "share": shares[kind],
        }
        for kind in ranked
    ]


def of_samples(places: Places) -> list[str]:
    """The columns of a table that are the same for all alternatives of a sample, as far as samples move: what it is about."""
    q = places.distribution
    moved = np.flatnonzero(q.cost > 0.0)
    named = []
    for name, after in places.after.items():
        now, then = np.asarray(places.before[name])[q.sample[moved]], np.asarray(after)[moved]
        if name not in KINDS and (now == then).all():
            named.append(name)
    return named


def implausible(places: Places) -> dict[str, Doubt]:
    """Of the part of the sensitive distribution that moves, how much leaves the range of the data, or breaks whole numbers."""
    q = places.distribution
    moved = q.cost > 0.0
    whole = total(q.mass, moved)
    outside, broken = np.zeros(len(moved), dtype=bool), np.zeros(len(moved), dtype=bool)
    examples: dict[str, tuple[float, str]] = {}
    for name, (column, before, after) in places.numbers.items():
        held = None if words(column) is not None or column.holds == "shift" else column_format(before)
        if held is None:
            continue
        low, high = held["within"]
        leaves = moved & ((after < low) | (after > high))
        outside |= leaves
        _note(examples, "outside", name, q.mass, leaves)
        if held["whole"]:
            breaks = moved & (np.abs(after - np.round(after)) > WHOLE_ROUND_OFF)
            broken |= breaks
            _note(examples, "broken", name, q.mass, breaks)
    part = {"outside": total(q.mass, outside), "broken": total(q.mass, broken)}
    return {
        name: {"share": value / whole if whole > 0.0 else 0.0, "feature": examples.get(name, (0.0, ""))[1]}
        for name, value in part.items()
    }


def _note(examples: dict[str, tuple[float, str]], kind: str, name: str, mass: FloatArray, here: BoolArray) -> None:
    """Keep the feature in which most of it happens."""
    share = total(mass, here)
    if share > examples.get(kind, (0.0, ""))[0]:
        examples[kind] = share, name
