"""A figure of the paper: what is measured for a seed, how it is drawn, and which claims it bears on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tippingpoint.reproduce.claims import Claim
from tippingpoint.reproduce.experiments import Setting

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

DRAWN_SEED = 0
"""The seed of which pictures show single samples and single runs."""

Record = dict[str, Any]
"""One line of a table."""

Tables = Mapping[str, Any]
"""Frames by name; the one called "" holds the numbers of the figure, others what it plots besides."""


@dataclass(frozen=True)
class Figure:
    """How to reproduce one figure.

    Attributes
    ----------
    name, title
        On the command line, and in words.
    data
        The data sets that it needs from the user's directory.
    measure
        The records of one seed, by table.
    draw
        The picture, from the tables alone.
    claims
        What the tables say of the paper's claims.
    """

    name: str
    title: str
    data: tuple[str, ...]
    measure: Callable[[int, Setting], Mapping[str, list[Record]]]
    draw: Callable[[Tables], Canvas]
    claims: Callable[[Tables], Sequence[Claim]]


def numbers(seed: int, panel: str, series: str, values: Mapping[Any, float]) -> list[Record]:
    """Records of the table of numbers: one a place, as a mix, a feature or a quantity."""
    return [{"seed": seed, "panel": panel, "series": series, "at": str(at), "value": value} for at, value in values.items()]


def picked(table: Any, panel: str, series: str | None = None, at: Any = None) -> Any:
    """The lines of a panel, and of a series and a place in it."""
    chosen = table[table["panel"] == panel]
    if series is not None:
        chosen = chosen[chosen["series"] == series]
    return chosen if at is None else chosen[chosen["at"] == str(at)]


def by_seed(table: Any, panel: str, series: str, at: Any) -> Any:
    """One value a seed, in their order."""
    return picked(table, panel, series, at).sort_values("seed")["value"].to_numpy()


def traced(table: Any, panel: str, series: str) -> list[float]:
    """The values of the seed that is drawn, in the order of their places."""
    chosen = picked(table, panel, series)
    chosen = chosen[chosen["seed"] == DRAWN_SEED]
    return [float(value) for value in chosen.iloc[chosen["at"].astype(int).argsort(kind="stable")]["value"]]


def over_seeds(table: Any, panel: str, series: str, places: Sequence[Any]) -> tuple[list[float], list[float]]:
    """Mean and standard deviation over the seeds at each place; infinite where any seed is."""
    means, deviations = [], []
    for at in places:
        values = by_seed(table, panel, series, at)
        means.append(float(values.mean()))
        deviations.append(float(values.std(ddof=1)) if len(values) > 1 and math.isfinite(means[-1]) else 0.0)
    return means, deviations
