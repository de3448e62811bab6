"""Models judged on the same samples: their differences, with paired errors, and what may be concluded from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tippingpoint.core.arrays import IntArray
from tippingpoint.core.inference import LEVEL, NORMAL_FROM, check_level, normal_margin, standard_error
from tippingpoint.data.alignment import BY_PLACE
from tippingpoint.data.frames import build_frame
from tippingpoint.errors import DetachedError, InputError, listed
from tippingpoint.json_numbers import decode
from tippingpoint.plots import draw_ranking
from tippingpoint.results.base import Result, required
from tippingpoint.results.evidence import Evidence
from tippingpoint.results.stability import StabilityResult
from tippingpoint.results.sweeps import heading, stability_axis
from tippingpoint.text import UNENDED, bound, cautions, number, render_table
from tippingpoint.visible import readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUESTION = {
    "risk": "threshold",
    "theta1": "price of moving (theta1)",
    "theta2": "price of reweighting (theta2)",
    "divergence": "divergence",
    "loss": "loss",
    "unit": "unit of distance",
}
"""What must be the same for two stabilities to be of one kind, and what it is called."""

UNLABELLED = "nan"
"""What stands for a label that is missing."""

WEIGHT_ROUNDING = 1e-9
"""Relative difference of two base weights that rounding explains."""


@dataclass(frozen=True)
class Verdict(Result):
    """What is certain of two models: which is more stable, or why that is undecided.

    Attributes
    ----------
    model, reference
        Who is compared with whom.
    decided
        Whether they differ by more than the sampling error and the bounds allow, and every search ended.
    certified
        Whether the bounds do: the one's lower bound is above the other's upper bound, so no better search turns it round.
    significant
        Whether the sampling error does: what is certain of the difference, or else what was found, exceeds its margin.
    ended
        Whether every search did.
    sentence
        In words, with the names of both; where it is undecided, what is missing, and where it is decided from few effective
        samples, that the sampling error is not to be trusted.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> models = {"now": ([1.0], -1.5), "next": ([1.0], -1.1)}
    >>> verdict = tp.compare(models, X, y, risk=0.5, theta1=1.0, theta2=0.25).verdict("next")
    >>> verdict.decided, verdict.certified, verdict.significant
    (False, True, False)
    """

    model: str
    reference: str
    decided: bool
    certified: bool
    significant: bool
    ended: bool
    sentence: str

    SCHEMA: ClassVar[str] = "tippingpoint.verdict/1"

    def __str__(self) -> str:
        return readable(self.sentence)


@dataclass(frozen=True)
class Comparison(Result):
    """Models judged on the same samples, at the same prices and threshold; their errors are paired by the samples' labels.

    Attributes
    ----------
    results
        The result of each model, by name; the first is the reference.
    backend
        Kind of frame that tables come in.
    interrupted
        Whether it was stopped before the last model, or a search did not end: every verdict is undecided then.
    paired_errors
        The standard error of each model's difference to the first, by name, where it was stored; fresh results know it.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> models = {"now": ([1.0], -1.5), "next": ([1.0], -1.1)}
    >>> comparison = tp.compare(models, X, y, risk=0.5, theta1=1.0, theta2=0.25)
    >>> {name: round(result.value, 3) for name, result in comparison.results.items()}
    {'now': 0.125, 'next': 0.041}
    >>> print(comparison.verdict("next"))
    Undecided between 'next' and 'now': the difference is within the sampling error (±0.16).
    """

    results: Mapping[str, StabilityResult]
    backend: str = "pandas"
    interrupted: bool = False
    paired_errors: Mapping[str, float] = field(default_factory=dict, repr=False, compare=False)

    SCHEMA: ClassVar[str] = "tippingpoint.comparison/1"

    def __post_init__(self) -> None:
        if not isinstance(self.results, Mapping) or not all(isinstance(r, StabilityResult) for r in self.results.values()):
            raise InputError("results must be a mapping of names to results of stability(), as {'lr': one, 'svm': other}.")
        if len(self.results) < (1 if self.interrupted else 2):
            raise InputError(f"results holds {len(self.results)} result; compare two or more.")
        if any(result.interrupted for result in self.results.values()):
            object.__setattr__(self, "interrupted", True)  # frozen for everybody else
        (first, reference), *others = self.results.items()
        for name, result in others:
            _check_question(first, reference, name, result)
            _check_samples(first, reference, name, result)

    def _stored(self) -> dict[str, Any]:
        return {
            "interrupted": self.interrupted,
            "results": {name: result.to_dict() for name, result in self.results.items()},
            "differences": [dict(zip(self._HEAD, row, strict=True)) for row in self.pairs()] if self._paired else [],
            "verdicts": [asdict(verdict) for verdict in self.verdicts()] if self._paired else [],
        }

    @classmethod
    def _restored(cls, stored: Mapping[str, Any]) -> Comparison:
        results, differences = required(stored, "results"), required(stored, "differences")
        errors = {required(row, "model"): decode(required(row, "standard_error")) for row in differences}
        read = {name: StabilityResult.from_dict(result) for name, result in results.items()}
        return cls(read, interrupted=required(stored, "interrupted"), paired_errors=errors)

    def to_frame(self) -> Any:
        """One line a model, the most stable first."""
        ranked = sorted(self.results.items(), key=lambda item: -item[1].value)
        names = ("current_risk", "value", "lower", "upper", "standard_error", "status")
        columns = {heading(name): [getattr(result, name) for _, result in ranked] for name in names}
        return build_frame({"model": [name for name, _ in ranked], **columns}, self.backend)

    def differences(self, reference: str | None = None, level: float = LEVEL) -> Any:
        """Each model's stability minus the reference's (the first model's), with a paired standard error and interval.

        They are differences of what was found, and their intervals those of sampling only; `verdict` knows of the bounds too.
        """
        rows = self.pairs(reference, level)
        return build_frame({name: [row[k] for row in rows] for k, name in enumerate(self._HEAD)}, self.backend)

    _HEAD = ("model", "reference", "difference", "standard_error", "low", "high")

    def pairs(self, reference: str | None = None, level: float = LEVEL) -> list[tuple[str, str, float, float, float, float]]:
        """`differences` as plain rows."""
        check_level(level)
        against = self._reference(reference)
        rows = []
        for name in self.results:
            if name != against:
                difference, error = self._difference(name, against)
                margin = normal_margin(error, level)
                rows.append((name, against, difference, error, difference - margin, difference + margin))
        return rows

    def verdict(self, model: str, reference: str | None = None, level: float = LEVEL) -> Verdict:
        """Which of two models is more stable, from what is certified only.

        Decided where what is certain of the difference, from the lower bound of one to the upper bound of the other, is larger
        than the sampling error allows, and every search ended.

        Parameters
        ----------
        model, reference
            Names of both; the reference is the first model where none is named.
        level
            Of the sampling error.
        """
        check_level(level)
        against = self._reference(reference)
        if model not in self.results or model == against:
            others = [name for name in self.results if name != against]
            raise InputError(f"model={model!r} is none of those compared with {against!r}: {listed(others)}.")
        one, other = self.results[model], self.results[against]
        difference, error = self._difference(model, against)
        least = max(one.lower - other.upper, other.lower - one.upper)
        certified = least > 0.0
        margin = normal_margin(error, level)
        significant = math.isfinite(margin) and (least if certified else abs(difference)) > margin
        ended = not (one.standing.interrupted or other.standing.interrupted)
        decided = ended and certified and significant
        sentence = self._sentence(model, against, least, margin, significant=significant)
        return Verdict(model, against, decided, certified, significant, ended, sentence)

    def verdicts(self, reference: str | None = None, level: float = LEVEL) -> list[Verdict]:
        """The verdict on each model against the reference."""
        against = self._reference(reference)
        return [self.verdict(name, against, level) for name in self.results if name != against]

    def plot(self, ax: Axes | None = None) -> Axes:
        """The stability of each model, the most stable on top, ±1.96 standard errors; of pairs, `differences` knows more."""
        value, error = ([getattr(r, name) for r in self.results.values()] for name in ("value", "standard_error"))
        margin = normal_margin(1.0, LEVEL) * np.array(error)
        label = stability_axis(self.results.values())
        return draw_ranking(list(self.results), value, margin, ax=ax, xlabel=label, largest_first=True)

    def __str__(self) -> str:
        ranked = sorted(self.results.items(), key=lambda item: -item[1].value)
        columns = ("current_risk", "value", "standard_error", "status")
        rows = [[name, *(getattr(r, c) for c in columns), bound(r.summary)] for name, r in ranked]
        first = cautions({name: r.caution for name, r in ranked})
        blocks = [*first, render_table(["model", *map(heading, columns), "bound"], rows)]
        if len(rows) > 1 and self._paired:
            blocks += ["", render_table(self._HEAD, self.pairs()), "", *map(str, self.verdicts())]
        return "\n".join([*blocks, *([UNENDED] if self.interrupted else [])])

    @property
    def _paired(self) -> bool:
        """Whether the differences to the first model have errors."""
        (_, reference), *others = self.results.items()
        return all(
            name in self.paired_errors or (result.evidence is not None and reference.evidence is not None)
            for name, result in others
        )

    def _reference(self, name: str | None) -> str:
        against = next(iter(self.results)) if name is None else name
        if against not in self.results:
            raise InputError(f"reference={name!r} is not one of the models compared: {list(self.results)!r}.")
        return against

    def _difference(self, model: str, reference: str) -> tuple[float, float]:
        """What was found of the one more than of the other, and its standard error, paired by the samples' labels."""
        one, other = self.results[model], self.results[reference]
        held, base = one.evidence, other.evidence
        if held is None or base is None:
            if model in self.paired_errors and reference == next(iter(self.results)):
                return one.value - other.value, self.paired_errors[model]
            raise DetachedError("a result read from JSON holds its numbers only, and errors are paired; run stability() again.")
        paired = held.influence[_order(base.index, held.index)]
        return one.value - other.value, standard_error(paired - base.influence, base.base, base.groups)

    def _sentence(self, model: str, reference: str, least: float, margin: float, *, significant: bool) -> str:
        """The sentence of a verdict, `least` being certain of the difference; where it is undecided, all that is missing."""
        one, other = self.results[model], self.results[reference]
        certified = least > 0.0
        missing = []
        unended = [repr(name) for name in (model, reference) if self.results[name].standing.interrupted]
        if unended:
            missing.append(f"the search of {' and of '.join(unended)} did not end")
        if not certified:
            same = one.standing.exact and other.standing.exact and one.value == other.value
            known = f"their bounds overlap ({_range(one)} for {model!r}, {_range(other)} for {reference!r})"
            missing.append(f"both have the same stability ({number(one.value)})" if same else known)
        if not significant:
            partly = certified and abs(one.value - other.value) > margin
            what = f"what is certain of the difference ({number(least, 2)})" if partly else "the difference"
            within = f"{what} is within the sampling error (±{number(margin, 2)})"
            missing.append(within if math.isfinite(margin) else "the sampling error of the difference is not defined")
        if missing:
            return f"Undecided between {model!r} and {reference!r}: {', and '.join(missing)}."
        found = f"{model!r} is {'more' if one.value > other.value else 'less'} stable than {reference!r}"
        scarce, fewest = min(((each, each.effective_sample) for each in (one, other)), key=lambda item: item[1])
        if fewest >= NORMAL_FROM:
            return f"{found}."
        left = f"{fewest:.0f} effective {'groups' if scarce.groups else 'samples'} (fewer than {NORMAL_FROM:.0f})"
        return f"{found}, by a sampling error that is not to be trusted: the weights leave only {left}."


def _range(result: StabilityResult) -> str:
    """What is certain of a stability."""
    return number(result.value) if result.standing.exact else f"{number(result.lower)} to {number(result.upper)}"


def _check_question(first: str, reference: StabilityResult, name: str, result: StabilityResult) -> None:
    """Two stabilities are compared only where they answer the same question."""
    for setting, called in QUESTION.items():
        one, other = getattr(reference, setting), getattr(result, setting)
        if one != other:
            shown = [number(each, 12) if isinstance(each, float) else repr(each) for each in (one, other)]
            raise InputError(
                f"the {called} of {first!r} is {shown[0]} and that of {name!r} is {shown[1]}; compare results of one question."
            )


def _check_samples(first: str, reference: StabilityResult, name: str, result: StabilityResult) -> None:
    """Two stabilities are compared only where they are of the same samples, which weigh the same."""
    one, other = reference.evidence, result.evidence
    if one is None or other is None:
        if reference.samples != result.samples:
            raise InputError(
                f"{first!r} was judged on {reference.samples:,} samples and {name!r} on {result.samples:,}; compare models on"
                " the same ones."
            )
        return
    placed = any(BY_PLACE in note for note in (*reference.notes, *result.notes))
    if placed and one.origin and other.origin and one.origin.data_fingerprint() != other.origin.data_fingerprint():
        raise InputError(
            f"rows of {first!r} and {name!r} share labels, and are not the same rows in the same order; give every sample a"
            " label of its own."
        )
    labels = {first: _labels(one.index), name: _labels(other.index)}
    every = dict.fromkeys([*labels[first], *labels[name]])
    for owner, held in labels.items():
        known = set(held)
        lacks = [label for label in every if label not in known]
        if lacks:
            raise InputError(
                f"{owner!r} was not judged on {listed(lacks)}, which the other model was; compare models on the same samples."
            )
    order = _order(one.index, other.index)
    uneven = np.flatnonzero(np.abs(other.base[order] - one.base) > WEIGHT_ROUNDING * one.base)
    if len(uneven):
        i = int(uneven[0])
        raise InputError(
            f"the sample {one.index[i]!r} weighs {one.base[i]:.6g} for {first!r} and {other.base[order][i]:.6g} for {name!r};"
            " compare models with the same weights."
        )
    _check_groups(first, one, name, other, order)


def _check_groups(first: str, one: Evidence, name: str, other: Evidence, order: IntArray) -> None:
    """Errors are paired within the same groups of samples, or for none."""
    if one.groups is None and other.groups is None:
        return
    if one.groups is None or other.groups is None:
        given, lacks = (name, first) if one.groups is None else (first, name)
        raise InputError(f"{given!r} has its samples in groups, and {lacks!r} has not; give group= for both, or for none.")
    pairs = np.unique(np.column_stack([one.groups, other.groups[order]]), axis=0)
    for side, (mine, theirs) in enumerate(((first, name), (name, first))):
        again = np.flatnonzero(np.diff(np.sort(pairs[:, side])) == 0)
        if len(again):
            twice = np.sort(pairs[:, side])[again[0]]
            held = one.groups if side == 0 else other.groups[order]
            i = int(np.flatnonzero(held == twice)[0])
            raise InputError(
                f"the group of sample {one.index[i]!r} is one for {mine!r} and several for {theirs!r}; give every sample the"
                " same group for all."
            )


def _order(wanted: Sequence[Any], given: Sequence[Any]) -> IntArray:
    """Where each of the wanted labels stands among the given ones, which are the same."""
    wanted, given = _labels(wanted), _labels(given)
    if wanted == given:
        return np.arange(len(wanted))
    place = {label: i for i, label in enumerate(given)}
    if len(place) < len(given) or len(wanted) != len(given):
        raise InputError("samples have the same labels, in another order for each model; give every sample a label of its own.")
    return np.array([place[label] for label in wanted], dtype=np.intp)


def _labels(index: Sequence[Any]) -> list[Any]:
    """Labels that can be looked up: one that is no number, as a data frame may have, is not even equal to itself."""
    return [UNLABELLED if isinstance(label, float) and math.isnan(label) else label for label in index]
