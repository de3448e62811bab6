"""Places that can be counted: where every one of them was tried, the best response is exact, whatever the model."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.query.axes import Beside
from tippingpoint.query.counted import CountedModel
from tippingpoint.query.turns import Query, batches
from tippingpoint.space.domain import Domain


@dataclass(frozen=True)
class Listing:
    """All the values that some columns may take together; a sample's own are among them, or `own` says that they are not."""

    columns: IntArray
    values: FloatArray
    own: bool


def listings(domain: Domain, breaks: Mapping[int, Beside]) -> list[Listing] | None:
    """The places there are, where they can be counted: menus, and numbers at which the model can change; else None."""
    found = []
    for menu in domain.menus:
        listed = menu.values if menu.vanishes else menu.values[~menu.gap]
        found.append(Listing(menu.columns, listed, own=bool(menu.gap.any())))  # what is missing stays so
    for j in domain.free:
        if int(j) not in breaks or domain.step[j] > 0.0:
            return None
        places = np.union1d(breaks[int(j)].below, breaks[int(j)].above)
        at = np.append(places, np.nan) if int(j) in domain.missing else places
        found.append(Listing(np.array([j], dtype=np.intp), at[:, None], own=True))
    return found


def count_of(lists: Sequence[Listing]) -> int:
    """How many places they make together."""
    return math.prod(len(listing.values) + listing.own for listing in lists)


def enumerate_all(model: CountedModel, lists: Sequence[Listing]) -> None:
    """Try every combination."""
    x = model.task.x
    everyone = np.arange(len(x))

    def trials() -> Iterator[Query]:
        for values in itertools.product(*([*listing.values, *([None] if listing.own else [])] for listing in lists)):
            places = x.copy()
            for listing, value in zip(lists, values, strict=True):
                if value is not None:
                    places[:, listing.columns] = value
            yield everyone, places

    for rows, places in batches(trials()):
        model.query(rows, places)
