"""What a conformance test needs of an example: its profile, its places tried one by one, the user's own word on any place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp

import tippingpoint as tp
from bruteforce import Atoms, grid, refined
from tippingpoint.api.cases import Case, prepared
from tippingpoint.api.profiles import Profile
from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.data.frames import Features
from tippingpoint.losses import Loss, loss_named
from tippingpoint.space import Space
from tippingpoint.space.domain import Domain

LADDER = (0.05, 0.2, 0.6, 1.5, 4.0)
"""Prices at which best responses are looked at."""

NEARBY = 4.0
"""Cost up to which places count when a threshold is chosen: what a question is about."""

Scores = Callable[[pd.DataFrame], FloatArray]
"""The user's own model: one score or prediction a row, or one score a class."""

Judge = Callable[[pd.DataFrame, IntArray], FloatArray]
"""The user's own loss at places of these samples."""


class Trial(ABC):
    """One example of one family, under one loss, in one kind of space."""

    @property
    @abstractmethod
    def profile(self) -> Profile: ...

    @property
    @abstractmethod
    def counted(self) -> bool:
        """Whether the places tried are all that there are; otherwise they come near."""

    @abstractmethod
    def atoms(self, prices: Sequence[float]) -> list[Atoms]:
        """Places of every sample, tried one by one; ever nearer to the best of these prices."""

    @abstractmethod
    def fed_back(self, rows: IntArray, points: Mapping[str, Any]) -> Atoms:
        """Loss and cost of places that an oracle shows, by the user's own word."""

    @property
    def prices(self) -> list[float]:
        """The ladder, below what pays without end."""
        return [price for price in LADDER if price < 0.9 * self.profile.oracle.ceiling]

    @cached_property
    def tried(self) -> list[Atoms]:
        """Places near the best of every price of the ladder."""
        return self.atoms(self.prices)

    @cached_property
    def risk(self) -> float:
        """A threshold that moves nearby, all together, could pass."""
        within = np.array([loss[cost <= NEARBY].max() for loss, cost in self.tried])
        now = self.profile.oracle.losses
        return float(self.profile.base @ (now + 0.4 * (within - now)))


@dataclass
class ModelTrial(Trial):
    """A model on data.

    Attributes
    ----------
    model, X, y, loss, space, options
        As the user gives them to `tippingpoint.profile`.
    judge
        The user's own loss.
    alone
        The feature that moves alone, if one does.
    kinks
        By feature: values beside which a model that is constant in between changes; brute force tries these then.
    """

    model: Any
    X: pd.DataFrame
    y: Any
    judge: Judge
    loss: str | Loss
    space: Space | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    alone: str | None = None
    kinks: Mapping[str, FloatArray] = field(default_factory=dict)

    @cached_property
    def case(self) -> Case:
        return prepared(
            self.model, self.X, self.y, self.options, loss=self.loss, sample_weight=None, space=self.space, scale=None
        )

    @cached_property
    def domain(self) -> Domain:
        return self.case.domain if self.alone is None else self.case.domain.only([self.alone])

    @property
    def features(self) -> Features:
        return self.case.features

    @cached_property
    def profile(self) -> Profile:
        if self.alone is None:
            return self.case.profile()
        return self.case.profile_by(self.case.judgement.along(self.domain))

    @property
    def counted(self) -> bool:
        return bool((self.domain.step[self.domain.free] > 0.0).all())

    def atoms(self, prices: Sequence[float]) -> list[Atoms]:
        coarse, found = self._coarse
        finer = refined(self, coarse, found, prices)
        more = self.priced_of(finer)
        joined = [[np.concatenate(pair) for pair in zip(a, b, strict=True)] for a, b in zip(found, more, strict=True)]
        return [(loss, cost) for loss, cost in joined]

    def fed_back(self, rows: IntArray, points: Mapping[str, Any]) -> Atoms:
        places = self.features.x[rows]
        for name, values in points.items():
            places[:, self.domain.names.index(name)] = values
        return self.priced(rows, places)

    def priced(self, rows: IntArray, places: FloatArray) -> Atoms:
        """Loss and cost of places, as they are encoded."""
        cost = self.domain.distance(self.features.x[rows], places)
        return self.judge(self.decoded(places), rows), cost

    def decoded(self, places: FloatArray) -> pd.DataFrame:
        """Places as rows of the user's own frame."""
        return pd.DataFrame({column.name: column.decoded(places[:, j]) for j, column in enumerate(self.features.columns)})

    def priced_of(self, places: Sequence[FloatArray]) -> list[Atoms]:
        """Loss and cost of places of every sample, in one call of the model."""
        sizes = [len(each) for each in places]
        if not sum(sizes):
            return [(np.zeros(0), np.zeros(0)) for _ in sizes]
        loss, cost = self.priced(np.repeat(np.arange(len(sizes)), sizes), np.concatenate(places))
        ends = np.cumsum(sizes)[:-1]
        return list(zip(np.split(loss, ends), np.split(cost, ends), strict=True))

    @cached_property
    def _coarse(self) -> tuple[list[FloatArray], list[Atoms]]:
        places = [grid(self.domain, row, self.kinks) for row in self.features.x]
        return places, self.priced_of(places)


@dataclass
class TableTrial(Trial):
    """A table of alternatives, each with a name of its own in the column "place"."""

    table: pd.DataFrame

    counted = True

    @cached_property
    def profile(self) -> Profile:
        return tp.profile_table(self.table)

    def atoms(self, prices: Sequence[float]) -> list[Atoms]:
        parts = [self.table[self.table["sample"] == label].sort_values("cost") for label in self.profile.index]
        return [(part["loss"].to_numpy(dtype=float), part["cost"].to_numpy(dtype=float)) for part in parts]

    def fed_back(self, rows: IntArray, points: Mapping[str, Any]) -> Atoms:
        lines = self.table.set_index("place").loc[list(points["place"])]
        assert lines["sample"].tolist() == [self.profile.index[i] for i in rows], "an alternative of another sample"
        return lines["loss"].to_numpy(dtype=float), lines["cost"].to_numpy(dtype=float)


def judged_by(scores: Scores, loss: str | Loss, y: Any) -> Judge:
    """A loss by its definition: of the predicted class, of minus the margin, or of the residual."""
    chosen = loss_named(loss)
    known = np.asarray(y)

    def judge(places: pd.DataFrame, rows: IntArray) -> FloatArray:
        output, own = np.asarray(scores(places), dtype=float), known[rows]
        if chosen.task == "regression":
            return chosen.value(own - output)
        if output.ndim == 1:
            if chosen.needs_crossing:
                return np.asarray((output > 0.0) != (own > 0), dtype=float)
            return chosen.value(np.where(own > 0, -output, output))
        if chosen.needs_crossing:
            return np.asarray(output.argmax(axis=1) != own, dtype=float)
        mine = np.take_along_axis(output, own[:, None], axis=1)[:, 0]
        others = output.copy()
        np.put_along_axis(others, own[:, None], -np.inf, axis=1)
        ahead = logsumexp(others, axis=1) if chosen.name == "logistic" else others.max(axis=1)
        return chosen.value(ahead - mine)

    return judge
