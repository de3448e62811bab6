"""Tree ensembles on data: which oracle answers for which space."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.oracle import Oracle
from tippingpoint.data.frames import Features
from tippingpoint.errors import ModelError
from tippingpoint.families.base import Judgement, Margins, told_apart
from tippingpoint.families.trees.cells import Line
from tippingpoint.families.trees.judging import Judge
from tippingpoint.families.trees.kernels import SWITCH, kernels, turned_off
from tippingpoint.families.trees.line import LineOracle
from tippingpoint.families.trees.memory import Memory
from tippingpoint.families.trees.options import TreeOptions
from tippingpoint.families.trees.oracle import Setting, TreeOracle
from tippingpoint.families.trees.partition import Partition, RawForest, partition
from tippingpoint.families.trees.proving import TreeTask
from tippingpoint.families.trees.search.choosing import searcher
from tippingpoint.families.trees.search.pushing import Sides
from tippingpoint.foreign import guarded
from tippingpoint.space.domain import Domain

MAX_NAMED = 5
"""Features that a note names before it counts them."""


@dataclass(frozen=True)
class TreeModel:
    """A model as its user has it, and as it was read.

    Attributes
    ----------
    estimator
        Whose word on a row is the last: the user's model; of a booster, the same as an estimator.
    steps
        The pipeline in front of the trees; None where there is none.
    raw
        The trees, and what their columns are made of.
    judge
        The loss of the outputs.
    sides, strict
        On which samples are pushed, their scores raised, and lowered, by what the library may round.
    """

    estimator: Any
    steps: Any
    raw: RawForest
    judge: Judge
    sides: Sides
    strict: Sides


class TreeJudgement(Judgement):
    """A tree ensemble that was read."""

    searched = True

    def __init__(
        self, model: TreeModel, features: Features, label: str, options: TreeOptions, sample: TreeJudgement | None = None
    ) -> None:
        """Of a part of the data, `sample` is the judgement of a sample of them all."""
        self.label: str = label
        self.range: tuple[float, float] = model.judge.loss.range
        self._model = model
        self._features = features
        self._options = options
        self._sample = sample
        self._losses = self._ask(np.arange(len(features.x)), features.x)

    def check_missing(self, domain: Domain) -> None:
        """Trees may know what to do where a value is missing, and the library refuse it all the same."""
        if not domain.vanishing:
            return
        first, gone = np.zeros(1, dtype=np.intp), self._features.x[:1].copy()
        gone[:, [*domain.missing, *(j for menu in domain.menus if menu.vanishes for j in menu.columns)]] = np.nan
        try:
            self._ask(first, gone)
        except ModelError:
            super().check_missing(domain)

    def oracle(self, domain: Domain) -> Oracle:
        task = self._task(domain)
        moving = [v for v in range(len(task.partition.forest.variables)) if _moves(task.partition, v)]
        notes = _unused(task.partition)
        if len(moving) <= 1:
            return LineOracle(task, moving, domain, self._ask, notes)
        notes += _slowness(task)
        return TreeOracle(Setting(task, domain, self._options.limits, self._ask, self._options.progress, notes))

    def margins(self, domain: Domain) -> Margins:
        """A forest jumps, so nothing can be said of what it costs to shift its outputs by a little."""
        raw, judge = self._model.raw, self._model.judge
        v = judge.margins(raw.forest.scores(raw.columns.values(self._features.x)))
        return Margins(told_apart(v, self._losses > 0.0) if judge.loss.needs_crossing else v, judge.loss)

    def _task(self, domain: Domain) -> TreeTask:
        model, judge, x = self._model, self._model.judge, self._features.x
        divided = partition(model.raw, domain, x)
        near, strict = (
            searcher(divided.forest, divided.rows, sides, divided.base, self._losses, self._options.workers)
            for sides in (model.sides, model.strict)
        )
        highest = judge.highest(model.sides)
        of_all = None if self._sample is None else self._sample._task(domain).usual  # noqa: SLF001  # of its own kind
        return TreeTask(divided, judge, model.sides, near, strict, x, self._losses, highest, Memory(len(x)), of_all)

    def _ask(self, rows: IntArray, places: FloatArray) -> FloatArray:
        """The losses of samples at places, by the library's own word."""
        if not len(rows):  # which some libraries fail on
            return np.zeros(0)
        judge, model = self._model.judge, self._model
        native = self._features.native_at(rows, places)
        with warnings.catch_warnings(), guarded(lambda why: ModelError(f"the model fails on places that were found ({why}).")):
            warnings.simplefilter("ignore")  # such as names given or missing
            if judge.loss.needs_crossing and judge.reading.classes is not None:
                return np.asarray(judge.wrong(rows, model.estimator.predict(native)), dtype=float)
            seen = native if model.steps is None else model.steps.transform(native)
            return judge.losses(rows, judge.reading.ask(seen))


def _moves(divided: Partition, v: int) -> bool:
    """Whether any sample may leave its cell of a variable."""
    variable = divided.forest.variables[v]
    if isinstance(variable, Line):
        among_numbers = np.isfinite(variable.price) and len(variable.cuts) > 0
        # Where all thresholds are infinite there is one cell of numbers, and still one of what is missing.
        goes_missing = np.isfinite(variable.vanishing) and (divided.rows.home[:, v] < variable.cells - 1).any()
        return bool(among_numbers or goes_missing)
    off = np.arange(variable.cells)[None, :] != variable.cell[:, None]
    return bool(np.isfinite(variable.cost[off]).any())


def _unused(divided: Partition) -> tuple[str, ...]:
    """A note on features that may move and cannot matter."""
    if not divided.unused:
        return ()
    named = ", ".join(map(repr, divided.unused[:MAX_NAMED]))
    more = f" and {len(divided.unused) - MAX_NAMED} more" if len(divided.unused) > MAX_NAMED else ""
    return (f"no tree looks at {named}{more}: to move there changes nothing",)


def _slowness(task: TreeTask) -> tuple[str, ...]:
    """A note where there are no compiled kernels."""
    if kernels() is not None:
        return ()
    why = f"turned off by {SWITCH}=0" if turned_off() else "not compiled when the package was installed"
    return (f"proved by {task.searcher.name}, which takes longer: the kernels were {why}",)
