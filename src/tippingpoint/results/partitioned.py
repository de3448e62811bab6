"""What a result of samples in partitions can still work out: none of it brings all samples to one place."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.core.arrays import IntArray
from tippingpoint.core.cuts import Perturbation, perturbation
from tippingpoint.core.dual import Status, solve
from tippingpoint.core.inference import resampled
from tippingpoint.core.problem import Problem
from tippingpoint.core.sensitive import SensitiveSummary, summary
from tippingpoint.data.columns import Column
from tippingpoint.engine.placed import Heaviest, Heavy
from tippingpoint.engine.samples import PartitionedSamples
from tippingpoint.engine.shown import atoms_frame, empty_frame
from tippingpoint.errors import DetachedError
from tippingpoint.results.bootstrap import Bootstrap

PICKLED = "this result was pickled, and its partitions stayed where they are: it holds its numbers only; run stability() again."


@dataclass(frozen=True)
class PartitionedEvidence:
    """What is left to be asked of partitions.

    Attributes
    ----------
    samples, problem
        Where they are, and the question; None once the result was pickled.
    perturbation, summary
        Q*, and what can be said of it in numbers.
    value
        The stability.
    columns, backend
        What the features hold, and the kind of frame that the data came in.
    """

    samples: PartitionedSamples | None
    problem: Problem | None
    perturbation: Perturbation
    summary: SensitiveSummary
    value: float
    columns: tuple[Column, ...]
    backend: str

    @property
    def _live(self) -> tuple[PartitionedSamples, Problem]:
        if self.samples is None or self.problem is None:
            raise DetachedError(PICKLED)
        return self.samples, self.problem

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "samples": None, "problem": None}

    def sensitive(self) -> Any:
        """Q* as a frame: on a cluster one of Dask, partition by partition; otherwise all of it, in this process."""
        samples, _ = self._live
        lazily = getattr(samples, "lazily", None)
        if lazily is None:
            return _joined(samples.shown(atoms_frame, self.perturbation, self.columns, self.backend), self.backend)
        import dask.dataframe as dd

        made = lazily(atoms_frame, self.perturbation, self.columns, "pandas")
        return dd.from_delayed(made, meta=self._empty(), verify_meta=False)

    def _empty(self) -> Any:
        """A frame of no atoms; what a table says of its lines is as its first partition has it."""
        if self.columns or self.samples is None:
            return empty_frame(self.columns)
        return self.samples.shown(atoms_frame, self.perturbation, self.columns, "pandas", only=[0])[0].iloc[:0]

    def heaviest(self, count: int) -> Any:
        """The atoms of the samples that add most to the risk, the heaviest first."""
        samples, problem = self._live
        found = [each for part in problem.samples.gather(Heaviest(self.perturbation, count)) for each in part]
        chosen = sorted(found, key=lambda each: (-each.adds, each.number, each.position))[:count]
        if not chosen:
            return empty_frame(self.columns)
        rows = _by_partition(chosen)
        frames = samples.shown(atoms_frame, self.perturbation, self.columns, self.backend, rows, only=list(rows))
        return _in_order(_joined(frames, self.backend), self.backend)

    def bootstrap(self, replicates: int, seed: int) -> Bootstrap:
        """Stabilities of rows drawn with replacement, by the same best responses."""
        _, problem = self._live

        def stability(drawn: Any) -> float:
            again = replace(problem, responses=drawn)
            solution = solve(again)
            if solution.status is Status.UNREACHABLE:
                return math.inf
            return summary(again, perturbation(again, solution)).total_cost

        return Bootstrap(resampled(stability, problem.samples, replicates=replicates, seed=seed), self.value)


def _by_partition(chosen: list[Heavy]) -> dict[int, IntArray]:
    rows: dict[int, list[int]] = {}
    for each in chosen:
        rows.setdefault(each.number, []).append(each.position)
    return {number: np.array(sorted(positions), dtype=np.intp) for number, positions in rows.items()}


def _joined(frames: list[Any], backend: str) -> Any:
    """Frames one below the other."""
    import narwhals as nw

    held = [nw.from_native(frame, eager_only=True) for frame in frames if len(frame)]
    if not held:
        return frames[0]
    joined = nw.concat(held, how="vertical").to_native()
    return joined.reset_index(drop=True) if backend == "pandas" else joined


def _in_order(frame: Any, backend: str) -> Any:
    """What adds most to the risk first."""
    import narwhals as nw

    held = nw.from_native(frame, eager_only=True)
    adds = (held["mass"] * held["loss"] - held["mass"] / held["weight"] * held["loss_before"]).to_numpy()
    taken = held[np.argsort(-np.nan_to_num(adds), kind="stable").tolist(), :].to_native()
    return taken.reset_index(drop=True) if backend == "pandas" else taken
