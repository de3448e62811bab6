"""The oracle of one partition: a pure function of the model, the plan and its rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.oracle import INTERRUPTED, Oracle
from tippingpoint.core.responses import Response
from tippingpoint.data.columns import Column
from tippingpoint.data.vectors import read_vector
from tippingpoint.engine.partitions import Part, Partition, named
from tippingpoint.engine.planning import Plan
from tippingpoint.engine.survey import check_length
from tippingpoint.families.base import Subject
from tippingpoint.families.registry import judge
from tippingpoint.space.resolving import check_rows


@dataclass(frozen=True)
class Prepared:
    """A model on the rows of one partition, ready to be asked for best responses.

    Attributes
    ----------
    number
        Of the partition.
    oracle
        Who finds best responses; None where the partition holds no row of positive weight.
    base
        Positive weights, which sum to the partition's share of the weight of all rows.
    index
        Numbers of the samples among all rows.
    columns
        What each holds.
    label, range
        Of the loss.
    notes
        How the model was understood, where nobody had said it.
    family
        Which models it was served as.
    """

    number: int
    oracle: Oracle | None
    base: FloatArray
    index: range | IntArray
    columns: tuple[Column, ...]
    label: str
    range: tuple[float, float]
    notes: tuple[str, ...]
    family: str


class Unsearched(Oracle):
    """Samples whose search was never begun, as an interrupt came before: they stay.

    Parameters
    ----------
    staying
        Their oracle, which is asked for losses, and for places at price zero.
    unit
        Of moves.
    """

    exact = False
    ceiling: float = math.inf
    certificate = "no search before the interrupt"
    interrupted = True

    def __init__(self, staying: Oracle, unit: str) -> None:
        self._staying = staying
        self.unit: str = unit

    @property
    def losses(self) -> FloatArray:
        return self._staying.losses

    @property
    def notes(self) -> tuple[str, ...]:
        return (INTERRUPTED,)

    def respond(self, price: float) -> Response:
        return Response.staying(len(self.losses))

    def peak(self) -> Response:
        return Response.staying(len(self.losses))

    def points(self, price: float, rows: IntArray, lift: FloatArray) -> Mapping[str, Any]:
        return self._staying.points(0.0, rows, np.zeros(len(rows)))  # at this price nothing is worth a move


def prepare(model: Any, plan: Plan, partition: Partition, part: Part, *, search: bool = True) -> Prepared:
    """The oracle of a partition; what is wrong with its rows is said under its name. Without a search samples stay."""
    with named(partition.name):
        check_length(partition, part, plan.rows)
        base = plan.reading.base(part) if part.rows else np.empty(0)
        rows = np.flatnonzero(base)
        start = plan.offsets[partition.number]
        if not len(rows):
            return _empty(plan, partition)
        features = plan.reading.features(part.x)
        check_rows(plan.space, features, plan.known)
        y = read_vector(part.y, "y", part.rows)
        index: range | IntArray = range(start, start + part.rows)
        if len(rows) < part.rows:
            features, base, y, index = features.take(rows), base[rows], y[rows], start + rows
        shared = plan.shared(start + rows) if plan.searched else None
        subject = Subject(model, features, y, plan.loss, plan.raw, plan.labels, shared)
        served = judge(subject, _options(plan, len(rows)))
        judged = served.judgement
        oracle = judged.oracle(plan.domain) if search else Unsearched(judged.oracle(plan.domain.only(())), plan.domain.unit)
        return Prepared(
            partition.number,
            oracle,
            base,
            index,
            features.columns,
            judged.label,
            judged.range,
            tuple(judged.notes),
            served.family.name,
        )


def _options(plan: Plan, rows: int) -> Mapping[str, Any]:
    """The options, with the calls of a model that these rows may spend: as many each, so that none gains by its neighbours.

    What the plan learnt of the sample is paid for by all, as far as it can be: one call a row is what a row takes.
    """
    calls, total = plan.options.get("calls"), sum(plan.rows)
    if not isinstance(calls, int) or isinstance(calls, bool):
        return plan.options
    spent = 0 if plan.learnt is None else plan.learnt.calls
    return {**plan.options, "calls": max(calls - spent, total) // total * rows}


def prepared_at(partition: Partition, model: Any, plan: Plan) -> Prepared:
    """The same as a function of a partition, for `run`."""
    with named(partition.name):
        part = partition.load()
    return prepare(model, plan, partition, part)


def _empty(plan: Plan, partition: Partition) -> Prepared:
    nobody: range = range(0)
    return Prepared(partition.number, None, np.empty(0), nobody, plan.columns, plan.label, plan.range, (), plan.family)
