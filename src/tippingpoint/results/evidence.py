"""What a fresh result can still work out: Q* itself, the bootstrap, and where samples are and go.

Drawing is left to `plots`, which knows numbers only; this is where columns, categories and the user's model become numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, IntArray, total
from tippingpoint.core.cuts import Perturbation, perturbation
from tippingpoint.core.drawn import Drawn, DrawnGroups
from tippingpoint.core.dual import Status, solve
from tippingpoint.core.inference import influence, resampled
from tippingpoint.core.oracle import Corrected, Oracle
from tippingpoint.core.problem import Problem
from tippingpoint.core.sensitive import SensitiveDistribution, SensitiveSummary, atoms_of, summary
from tippingpoint.data.atom_frames import frame_of
from tippingpoint.data.columns import Column, encode
from tippingpoint.data.frames import build_frame
from tippingpoint.data.seals import UNSHARED, Seal
from tippingpoint.data.vectors import read_vector
from tippingpoint.errors import DetachedError, InputError, TippingPointError, UnsupportedError, listed
from tippingpoint.foreign import why
from tippingpoint.plots import draw_sensitive
from tippingpoint.results.bootstrap import Bootstrap
from tippingpoint.results.boundary import decision
from tippingpoint.results.origin import Origin
from tippingpoint.results.pickling import obstacle
from tippingpoint.space.domain import Domain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPREAD = 0.5
"""How wide the samples of one category are spread, of the distance to the next; else they would cover each other."""

GOLDEN = 0.6180339887498949
"""Its multiples fill the unit interval evenly, in any order of the samples."""


class _Shown(NamedTuple):
    """A feature along an axis: its values before and after, and what they stand for where they are no numbers."""

    before: FloatArray
    after: FloatArray
    words: tuple[str, ...] | None


@dataclass(frozen=True)
class Places:
    """Where samples are and where they go, in numbers.

    Attributes
    ----------
    before
        Values of each sample, by feature.
    after
        Values of each atom, by feature.
    distribution
        Q*, whose atoms they are.
    columns
        What the features hold, where that is known; categories are their positions.
    backend
        Kind of frame that the model takes, where it takes frames.
    """

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    distribution: SensitiveDistribution
    columns: tuple[Column, ...]
    backend: str

    def picture(self, features: Sequence[str] | None, labels: Any, model: Any, ax: Axes | None) -> Axes:
        """Q* in two features: as `StabilityResult.plot_sensitive`."""
        q = self.distribution
        chosen = self.most_moved() if features is None else self._named(features)
        shifted = {name for name in chosen if self._numbers[name][0].holds == "shift"}
        if shifted and model is not None:
            raise UnsupportedError(
                "there is no boundary to draw where axes are how far inputs of a module move; leave model out."
            )
        groups = None if labels is None else read_vector(labels, "labels")
        if groups is not None and len(groups) != len(q.base):
            raise InputError(
                f"labels has {len(groups)} values but {len(q.base)} rows have positive weight; give one label a row."
            )
        first, second = (self._shown(name) for name in chosen)
        return draw_sensitive(
            np.column_stack([first.before, second.before]),
            np.column_stack([first.after, second.after]),
            q.sample,
            q.weight * q.share,
            None if groups is None else groups[q.sample],
            [f"how far {name} moves" if name in shifted else name for name in chosen],
            None if model is None else self._boundary(model, chosen),
            ax,
            ticks=(first.words, second.words),
        )

    def _shown(self, name: str) -> _Shown:
        """A feature as it is drawn: samples of the same category are spread, each by the same before and after."""
        column, before, after = self._numbers[name]
        named = words(column)
        if named is None:
            return _Shown(before, after, None)
        shift = SPREAD * (np.arange(len(before)) * GOLDEN % 1.0 - 0.5)
        return _Shown(before + shift, after + shift[self.distribution.sample], named)

    def most_moved(self) -> tuple[str, str]:
        """The two features that move most, in standard deviations; where none does, whose means the weights shift most."""
        if len(self._numbers) < 2:
            raise UnsupportedError(f"the samples have {len(self._numbers)} feature; a picture of where they go needs two.")
        ranked = sorted(self._numbers, key=self._change, reverse=True)[:2]
        first, second = (name for name in self._numbers if name in ranked)
        return first, second

    def _change(self, name: str) -> tuple[float, float]:
        """Root-mean-square move and shift of the mean under Q*, of a feature; a category has moved by one or not at all."""
        column, before, after = self._numbers[name]
        mass = self.distribution.mass
        step = after - before[self.distribution.sample]
        if words(column) is not None:
            went = np.isnan(after) & ~np.isnan(before[self.distribution.sample])
            return float(np.sqrt(mass @ (went | (np.nan_to_num(step) != 0.0)))), 0.0
        unit = float(np.nanstd(before)) or 1.0
        shift = abs(float(np.nansum(mass * after) - np.nansum(self.distribution.base * before)))
        return float(np.sqrt(np.nansum(mass * np.square(step)))) / unit, shift / unit

    def _named(self, features: Any) -> tuple[str, str]:
        names = tuple(features) if isinstance(features, Iterable) and not isinstance(features, str) else ()
        if len(names) != 2 or names[0] == names[1]:
            raise InputError(f"features={features!r} must be the names of two features, as ['age', 'income'].")
        for name in names:
            if name not in self._numbers:
                raise InputError(f"features names {name!r}, which is not a feature; these are: {listed(self._numbers)}.")
        return names[0], names[1]

    @property
    def numbers(self) -> Mapping[str, tuple[Column, FloatArray, FloatArray]]:
        """What each feature holds, and its values before (a sample) and after (an atom)."""
        return self._numbers

    @cached_property
    def _numbers(self) -> dict[str, tuple[Column, FloatArray, FloatArray]]:
        """What each feature holds, and its values before and after."""
        return {name: self.number(name) for name in self.before}

    def number(self, name: str) -> tuple[Column, FloatArray, FloatArray]:
        """What a feature holds, and its values before and after; words of a table are read as categories."""
        before = self.before[name]
        column = next((each for each in self.columns if each.name == name), Column(name))
        values = np.concatenate([np.asarray(before), np.asarray(self.after[name])])
        if values.dtype.kind not in "biuf":
            values, column = encode(values.tolist(), name)
        if column.holds == "boolean" and not np.isin(values, (0.0, 1.0)).all():  # moved as a number
            column = replace(column, holds="number")
        held = values.astype(float)
        return column, held[: len(before)], held[len(before) :]

    def _boundary(self, model: Any, chosen: tuple[str, str]) -> Callable[[FloatArray], FloatArray]:
        """The model's decision in two features, the others held at their medians, or at their most frequent category."""
        decide = decision(model)

        def boundary(points: FloatArray) -> FloatArray:
            grid = dict(zip(chosen, points.T, strict=True))
            rows = self._given({name: grid.get(name, self._typical(name)) for name in self._numbers}, len(points))
            try:
                return decide(rows)
            except (TippingPointError, KeyboardInterrupt):
                raise
            except BaseException as error:
                raise InputError(f"the model fails on points of the picture ({why(error)}); leave model out.") from error

        return boundary

    def _typical(self, name: str) -> float:
        column, before, _ = self._numbers[name]
        known = before[~np.isnan(before)]
        if words(column) is not None:
            values, counts = np.unique(known, return_counts=True)
            return float(values[counts.argmax()])
        return float(np.median(known))

    def _given(self, numbers: Mapping[str, FloatArray | float], length: int) -> Any:
        """Numbers of every feature as the user's model takes them: a frame, or an array."""
        decoded = {}
        for name, values in numbers.items():
            column, wanted = self._numbers[name][0], np.broadcast_to(values, length)
            named = words(column)
            if named is not None:  # between two categories there is none: the nearer one
                wanted = np.clip(np.round(wanted), 0.0, len(named) - 1.0)
            decoded[name] = column.decoded(wanted)
        if any(column.like is None for column in self.columns) or not self.columns:
            return np.column_stack(list(decoded.values()))
        return build_frame(decoded, self.backend)


def words(column: Column) -> tuple[str, ...] | None:
    """What 0, 1, … stand for in a column; None where they are numbers."""
    if column.holds == "boolean":
        return ("False", "True")
    return tuple(map(str, column.categories)) if column.holds == "category" else None


class Moves(NamedTuple):
    """How samples move under Q*.

    Attributes
    ----------
    distance
        Root mean square distance of numbers.
    switched, vanished
        Share of the data whose category changes, and in which a value goes missing.
    """

    distance: float
    switched: float
    vanished: float


class Source(NamedTuple):
    """Who found the best responses, and the problem that they were found for."""

    oracle: Oracle
    problem: Problem


class Recorded(NamedTuple):
    """What is left of a source that cannot be pickled: where samples are and go, and why there is no more."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    influence: FloatArray
    distribution: SensitiveDistribution
    why: str


@dataclass(frozen=True)
class Evidence:
    """What a fresh result can still work out; a result read from JSON has none of it.

    It is pickled with the best responses where these can be, and otherwise with the places that they lead to: there is no
    bootstrap and no report then.

    Attributes
    ----------
    source
        Who found the best responses, and the problem; where these could not be pickled, what was recorded of them.
    value
        The stability.
    perturbation, summary
        Q*, and what can be said of it in numbers.
    index
        Label of each sample.
    loss_range
        The least and the largest value of the loss.
    columns
        What the columns of the data hold, where samples have any.
    backend
        Kind of frame that Q* comes in.
    origin
        What the result was made from, where that is known.
    seal
        Of the data, where they are the user's own array: checked before they are read again.
    groups
        The number of the group of each sample; None where samples are independent.
    domain
        What may move; None for a table.
    """

    source: Source | Recorded
    value: float
    perturbation: Perturbation
    summary: SensitiveSummary
    index: Sequence[Any]
    loss_range: tuple[float, float]
    columns: tuple[Column, ...] = ()
    backend: str = "pandas"
    origin: Origin | None = None
    seal: Seal = field(default=UNSHARED, repr=False)
    groups: IntArray | None = field(default=None, repr=False)
    domain: Domain | None = field(default=None, repr=False)

    @property
    def oracle(self) -> Oracle:
        """Who found the best responses."""
        return self._live.oracle

    @property
    def problem(self) -> Problem:
        """The problem that they were found for."""
        return self._live.problem

    @property
    def _live(self) -> Source:
        if isinstance(self.source, Recorded):
            raise DetachedError(
                f"this result was pickled, and its model cannot be ({self.source.why}): it holds its numbers and the sensitive"
                " distribution only; run stability() again."
            )
        self.seal.check()
        return self.source

    def __getstate__(self) -> dict[str, Any]:
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        why = None if isinstance(self.source, Recorded) else obstacle(self.source)
        return state if why is None else {**state, "source": self._recorded(why)}

    def _recorded(self, why: str) -> Recorded:
        return Recorded(self._before(), self._after(), self.influence, self.distribution, why)

    @property
    def base(self) -> FloatArray:
        """Base weight of each sample of positive weight."""
        return self.distribution.base if isinstance(self.source, Recorded) else self.source.problem.base

    @cached_property
    def influence(self) -> FloatArray:
        """First-order effect of each of these samples on the stability."""
        if isinstance(self.source, Recorded):
            return self.source.influence
        return influence(self.source.problem, self.perturbation.solution)

    @cached_property
    def distribution(self) -> SensitiveDistribution:
        """Q* as atoms, without their features."""
        if isinstance(self.source, Recorded):
            return self.source.distribution
        return atoms_of(self.source.problem, self.perturbation, self.summary)

    def sensitive(self) -> Any:
        """Q* as a frame, atoms in the order of their rows."""
        return self._frame(np.argsort(self.distribution.sample, kind="stable"))

    def moved_inputs(self) -> Any:
        """What the model is given at every atom, in the order of `sensitive`, as the user gave it."""
        q, oracle = self.distribution, self.oracle
        atoms = np.argsort(q.sample, kind="stable")
        return oracle.inputs(np.where(q.right, q.prices[1], q.prices[0])[atoms], q.sample[atoms], q.lift[atoms])

    def _frame(self, atoms: IntArray) -> Any:
        """These atoms as a frame."""
        q = self.distribution
        numbers = {
            "weight": q.weight[atoms],
            "share": q.share[atoms],
            "mass": q.mass[atoms],
            "loss_before": q.losses[q.sample[atoms]],
            "loss": q.loss[atoms],
            "cost": q.cost[atoms],
        }
        places = {name: values[atoms] for name, values in self._after().items()}
        return frame_of([self.index[i] for i in q.sample[atoms]], numbers, places, self.columns, self.backend)

    def heaviest(self, count: int) -> Any:
        """The atoms of the samples that add most to the risk, the heaviest first."""
        q = self.distribution
        adds = np.bincount(q.sample, weights=q.mass * q.loss, minlength=len(q.base)) - q.base * q.losses
        order = [int(i) for i in np.argsort(-adds, kind="stable")[:count] if adds[i] > 0.0]
        return self._frame(np.concatenate([np.flatnonzero(q.sample == i) for i in order] or [np.zeros(0, dtype=np.intp)]))

    def places(self) -> Places:
        """Where every sample is, and where every atom goes, in numbers."""
        return Places(self._before(), self._after(), self.distribution, self.columns, self.backend)

    @cached_property
    def _corrections(self) -> dict[int, Corrected | None]:
        return {}

    def corrected(self, repeats: int) -> Corrected | None:
        """The stability without the noise of repeats, from this number of them; None if the noise is not known."""
        if repeats not in self._corrections:
            correct = self.oracle.corrector(self.problem, repeats)
            self._corrections[repeats] = None if correct is None else correct(self.base)
        return self._corrections[repeats]

    def bootstrap(self, replicates: int, seed: int) -> Bootstrap:
        """Stabilities of rows drawn with replacement, by the same best responses; corrected if outcomes were repeated."""
        problem = self.problem
        correct = self.oracle.corrector(problem)
        own = None if correct is None else correct(self.base)

        def corrected(drawn: Drawn | DrawnGroups) -> float:
            found = None if correct is None else correct(drawn.weights())
            return math.inf if found is None else found.value

        def stability(drawn: Drawn | DrawnGroups) -> float:
            again = replace(problem, responses=drawn)
            solution = solve(again)
            if solution.status is Status.UNREACHABLE:
                return math.inf
            return summary(again, perturbation(again, solution)).total_cost

        value, one = (self.value, stability) if own is None else (own.value, corrected)
        values = resampled(one, problem.samples, replicates=replicates, seed=seed, groups=self.groups)
        return Bootstrap(values, value, own is not None)

    def _before(self) -> Mapping[str, Any]:
        """Every sample where it is, by feature: where it stays if nothing is paid."""
        if isinstance(self.source, Recorded):
            return self.source.before
        everyone = np.arange(len(self.base), dtype=np.intp)
        return self.oracle.points(0.0, everyone, np.zeros(len(everyone)))

    def moves(self, domain: Domain) -> Moves:
        """How far numbers move under Q*, and how often categories change and values go missing."""
        q = self.distribution
        moved = np.flatnonzero(q.cost > 0.0)
        everyone = q.sample[moved]
        before = self.oracle.points(0.0, everyone, np.zeros(len(moved)))
        x, z = (_rows(domain, values, len(moved)) for values in (before, self._after(moved)))
        changes = domain.changes(x, z)
        return Moves(
            math.sqrt(total(q.mass[moved], changes.squared)),
            total(q.origin[moved], changes.switched),
            total(q.origin[moved], changes.vanished),
        )

    def _after(self, chosen: IntArray | None = None) -> Mapping[str, Any]:
        """Where every atom goes, or where these go, by feature."""
        if isinstance(self.source, Recorded):
            return self.source.after
        q, oracle, moved = self.distribution, self.oracle, dict[str, Any]()
        among = np.arange(len(q.sample), dtype=np.intp) if chosen is None else chosen
        for right, price in enumerate(q.prices):
            places = np.flatnonzero(q.right[among] == bool(right))
            atoms = among[places]
            if len(atoms):
                for name, values in oracle.points(price, q.sample[atoms], q.lift[atoms]).items():
                    column = moved.setdefault(name, np.empty(len(among), dtype=np.asarray(values).dtype))
                    column[places] = values
        return moved


def _rows(domain: Domain, values: Mapping[str, Any], count: int) -> FloatArray:
    """Places by feature as rows of a domain; columns that may not move are left at zero."""
    rows = np.zeros((count, len(domain.names)))
    for j in {*domain.free.tolist(), *(int(j) for menu in domain.menus for j in menu.columns)}:
        rows[:, j] = np.asarray(values[domain.names[j]], dtype=float)
    return rows
