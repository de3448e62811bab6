"""Models judged on the same samples: their differences, with paired errors, and what may be concluded from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tippingpoint.core.arrays import IntArray
from tippingpoint.core.inference import LEVEL, NORMAL_FROM, check_level, normal_margin, standard_error
from tippingpoint.core.oracle import Corrected
from tippingpoint.data.alignment import BY_PLACE
from tippingpoint.data.frames import build_frame
from tippingpoint.errors import DetachedError, InputError, listed
from tippingpoint.json_numbers import decode
from tippingpoint.plots import draw_ranking
from tippingpoint.results.base import Result, required
from tippingpoint.results.evidence import Evidence
from tippingpoint.results.stability import StabilityResult, bands
from tippingpoint.results.sweeps import as_number, cell, heading, not_found_legend, stability_axis
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
class Pair:
    """How much more stable one model is than another, and what is not known of it.

    Attributes
    ----------
    difference
        Of what was found; of corrected stabilities, from equally many repeats, if outcomes were repeated. Not a number if the
        noise of one model only is known.
    error
        Its paired standard error.
    noise
        How far the difference may be off by the bias of repeats that remains: half the distance of its two extrapolations.
    repeats
        Repeats from which both were corrected; 0 if neither was.
    least
        What is certain of the size of the difference, apart from these errors: no bounds of either overlap if it is positive.
    low_open, high_open
        Whether the noise of repeats leaves the difference without a lower, or an upper end.
    unknown
        Models whose noise of answers is not known, though the other's is.
    """

    difference: float
    error: float
    least: float
    noise: float = 0.0
    repeats: int = 0
    low_open: bool = False
    high_open: bool = False
    unknown: tuple[str, ...] = ()

    def margin(self, level: float) -> float:
        """How far the truth may be from the difference."""
        return normal_margin(self.error, level) + self.noise

    def ends(self, level: float) -> tuple[float, float]:
        """The interval of the difference."""
        margin = self.margin(level)
        low = -math.inf if self.low_open else self.difference - margin
        return low, math.inf if self.high_open else self.difference + margin

    def significant(self, level: float) -> bool:
        """Whether it exceeds its margin, on a side that has an end."""
        margin = self.margin(level)
        side_open = self.low_open if self.difference > 0.0 else self.high_open
        if not math.isfinite(margin) or side_open:
            return False
        return (self.least if self.least > 0.0 else abs(self.difference)) > margin


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
    paired
        Each model's difference to the first, by name, where it was stored; fresh results work it out.

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
    paired: Mapping[str, Pair] = field(default_factory=dict, repr=False, compare=False)

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
            "differences": [self._stored_pair(row) for row in self.pairs()] if self._paired else [],
            "verdicts": [asdict(verdict) for verdict in self.verdicts()] if self._paired else [],
        }

    @classmethod
    def _restored(cls, stored: Mapping[str, Any]) -> Comparison:
        results, differences = required(stored, "results"), required(stored, "differences")
        read = {name: StabilityResult.from_dict(result) for name, result in results.items()}
        pairs = {required(row, "model"): _restored_pair(row, read) for row in differences}
        return cls(read, interrupted=required(stored, "interrupted"), paired=pairs)

    def _stored_pair(self, row: tuple[str, str, float, float, float, float]) -> dict[str, Any]:
        pair = self._difference(row[0], row[1])
        more = {"certain": pair.least, "noise": pair.noise, "repeats": pair.repeats, "unknown": pair.unknown}
        return {**dict(zip(self._HEAD, row, strict=True)), **more}

    def to_frame(self) -> Any:
        """One line a model, the most stable first."""
        ranked = self.ranked()
        shown = ("corrected", "corrected_error") if self.repeated else ()
        names = ("current_risk", "value", "lower", "upper", "standard_error", *shown, "status")
        columns = {heading(name): [as_number(getattr(result, name)) for _, result in ranked] for name in names}
        return build_frame({"model": [name for name, _ in ranked], **columns}, self.backend)

    @property
    def repeated(self) -> bool:
        """Whether outcomes of some model were run several times, so that noise of answers is corrected."""
        return any(result.repeated for result in self.results.values())

    def ranked(self) -> list[tuple[str, StabilityResult]]:
        """Names and results, the most stable first: by corrected stabilities if all have one."""
        corrected = all(result.corrected is not None for result in self.results.values())
        return sorted(self.results.items(), key=lambda item: -(item[1].corrected or 0.0 if corrected else item[1].value))

    def differences(self, reference: str | None = None, level: float = LEVEL) -> Any:
        """Each model's stability minus the reference's (the first model's), with a paired standard error and interval.

        They are differences of what was found, and their intervals those of sampling only; `verdict` knows of the bounds too.
        If outcomes were repeated, they are differences of corrected stabilities. Both models are cut to the smaller number of
        repeats, so that one bias is in both. Errors then contain the noise of the answers, and intervals what is not known of
        the bias that remains. If the noise of one model only is known, there is no difference.
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
                pair = self._difference(name, against)
                rows.append((name, against, pair.difference, pair.error, *pair.ends(level)))
        return rows

    def verdict(self, model: str, reference: str | None = None, level: float = LEVEL) -> Verdict:
        """Which of two models is more stable, from what is certified only.

        Decided where what is certain of the difference, from the lower bound of one to the upper bound of the other, is larger
        than the sampling error allows, and every search ended. If outcomes were repeated, the difference is that of
        `differences`, and it has to hold for both extrapolations to infinitely many repeats.

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
        pair = self._difference(model, against)
        certified = pair.least > 0.0
        significant = pair.significant(level)
        ended = not (one.standing.interrupted or other.standing.interrupted)
        decided = ended and certified and significant
        sentence = self._sentence(model, against, pair, level)
        return Verdict(model, against, decided, certified, significant, ended, sentence)

    def verdicts(self, reference: str | None = None, level: float = LEVEL) -> list[Verdict]:
        """The verdict on each model against the reference."""
        against = self._reference(reference)
        return [self.verdict(name, against, level) for name in self.results if name != against]

    def plot(self, ax: Axes | None = None) -> Axes:
        """The stability of each model, the most stable on top, with 95% intervals; of pairs, `differences` knows more.

        If outcomes of all models were repeated, these are corrected stabilities.
        """
        value, low, high = bands(list(self.results.values()))
        margin = np.maximum(value - low, high - value)
        label = stability_axis(self.results.values())
        return draw_ranking(list(self.results), value, margin, ax=ax, xlabel=label, largest_first=True)

    def __str__(self) -> str:
        ranked = self.ranked()
        columns = (
            "current_risk",
            "value",
            *(("corrected", "corrected_error") if self.repeated else ("standard_error",)),
            "status",
        )
        rows = [[name, *(cell(r, c) for c in columns), bound(r.summary)] for name, r in ranked]
        first = cautions({name: r.caution for name, r in ranked})
        blocks = [*first, render_table(["model", *map(heading, columns), "bound"], rows)]
        blocks += [*not_found_legend(self.results.values()), *self._notes()]
        if len(rows) > 1 and self._paired:
            blocks += ["", render_table(self._HEAD, self.pairs()), "", *self._legend(), *map(str, self.verdicts())]
        return "\n".join([*blocks, *([UNENDED] if self.interrupted else [])])

    def _notes(self) -> list[str]:
        """The notes of the results, each once; models are named if it is not a note of all of them."""
        owners: dict[str, list[str]] = {}
        for name, result in self.results.items():
            for note in dict.fromkeys(result.notes):
                owners.setdefault(note, []).append(name)
        return [
            f"note: {readable(note)}." if len(names) == len(self.results) else f"note ({listed(names)}): {readable(note)}."
            for note, names in owners.items()
        ]

    def _legend(self) -> list[str]:
        """What the differences are of, if outcomes were repeated."""
        first = next(iter(self.results))
        repeats = sorted(
            {pair.repeats for pair in (self._difference(name, first) for name in self.results if name != first)} - {0}
        )
        if not repeats:
            return []
        both = f"from {listed(repeats)} repeats of both models"
        return [f"Differences are of corrected stabilities, {both}; errors contain the noise of the answers."]

    @property
    def _paired(self) -> bool:
        """Whether the differences to the first model have errors."""
        (_, reference), *others = self.results.items()
        return all(
            name in self.paired or (result.evidence is not None and reference.evidence is not None) for name, result in others
        )

    def _reference(self, name: str | None) -> str:
        against = next(iter(self.results)) if name is None else name
        if against not in self.results:
            raise InputError(f"reference={name!r} is not one of the models compared: {list(self.results)!r}.")
        return against

    def _difference(self, model: str, reference: str) -> Pair:
        """What was found of the one more than of the other, with its error, paired by the samples' labels."""
        one, other = self.results[model], self.results[reference]
        held, base = one.evidence, other.evidence
        if held is None or base is None:
            if model in self.paired and reference == next(iter(self.results)):
                return self.paired[model]
            raise DetachedError("a result read from JSON holds its numbers only, and errors are paired; run stability() again.")
        least = max(one.lower - other.upper, other.lower - one.upper)
        reachable = math.isfinite(one.value) and math.isfinite(other.value)
        if not (one.repeated or other.repeated) or not reachable:
            paired = held.influence[_order(base.index, held.index)]
            return Pair(one.value - other.value, standard_error(paired - base.influence, base.base, base.groups), least)
        repeats = min(one.repeats, other.repeats)
        unknown = tuple(name for name in (model, reference) if not self.results[name].repeated)
        found = (None, None) if unknown else (held.corrected(repeats), base.corrected(repeats))
        mine, theirs = found
        if mine is None or theirs is None:
            unknown = unknown or tuple(name for name, each in zip((model, reference), found, strict=True) if each is None)
            return Pair(math.nan, math.nan, least, unknown=unknown)
        return _corrected_pair(one, other, (mine, theirs), (held, base), repeats)

    def _sentence(self, model: str, reference: str, pair: Pair, level: float) -> str:
        """The sentence of a verdict; where it is undecided, all that is missing."""
        one, other = self.results[model], self.results[reference]
        certified, margin = pair.least > 0.0, pair.margin(level)
        missing = []
        unended = [repr(name) for name in (model, reference) if self.results[name].standing.interrupted]
        if unended:
            missing.append(f"the search of {' and of '.join(unended)} did not end")
        if not certified:
            same = one.standing.exact and other.standing.exact and pair.difference == 0.0
            known = f"their bounds overlap ({_range(one)} for {model!r}, {_range(other)} for {reference!r})"
            missing.append(f"both have the same stability ({number(one.value)})" if same else known)
        if not pair.significant(level):
            missing.append(self._insignificant(model, reference, pair, margin))
        if missing:
            return f"Undecided between {model!r} and {reference!r}: {', and '.join(missing)}."
        found = f"{model!r} is {'more' if pair.difference > 0.0 else 'less'} stable than {reference!r}"
        scarce, fewest = min(((each, each.effective_sample) for each in (one, other)), key=lambda item: item[1])
        if fewest >= NORMAL_FROM:
            return f"{found}."
        left = f"{fewest:.0f} effective {'groups' if scarce.groups else 'samples'} (fewer than {NORMAL_FROM:.0f})"
        return f"{found}, by a sampling error that is not to be trusted: the weights leave only {left}."

    def _insignificant(self, model: str, reference: str, pair: Pair, margin: float) -> str:
        """Why the errors do not allow a verdict."""
        if pair.unknown:
            names = " and of ".join(map(repr, pair.unknown))
            return f"the noise of the answers of {names} is not known; run each outcome twice or more"
        if not math.isfinite(margin):
            return "the sampling error of the difference is not defined"
        certified, least = pair.least > 0.0, pair.least
        if (least if certified else abs(pair.difference)) > margin:  # but for the side that is open
            lesser = reference if pair.difference > 0.0 else model
            return (
                f"what is chosen on some repeats of {lesser!r} does not reach the threshold on the others, so its stability may"
                " be infinite without their noise"
            )
        partly = certified and abs(pair.difference) > margin
        what = f"what is certain of the difference ({number(least, 2)})" if partly else "the difference"
        error = "the error of samples and repeats" if pair.repeats else "the sampling error"
        noise = "; the noise of the repeats leaves its interval open on one side" if pair.low_open or pair.high_open else ""
        return f"{what} is within {error} (±{number(margin, 2)}){noise}"


def _corrected_pair(
    one: StabilityResult,
    other: StabilityResult,
    corrected: tuple[Corrected, Corrected],
    evidence: tuple[Evidence, Evidence],
    repeats: int,
) -> Pair:
    """The difference of two corrected stabilities.

    Its error is taken of the difference of square roots, times their sum: a square root of a stability is closer to normal. The
    remaining bias is of the same kind in both, so that it is as far apart as the distances of their two extrapolations are.
    """
    (mine, theirs), (held, base) = corrected, evidence
    open_ends = one.noise_unbounded or math.isinf(mine.high), other.noise_unbounded or math.isinf(theirs.high)
    values = [each.low if math.isinf(each.high) else each.value for each in corrected]
    difference, roots = values[0] - values[1], [math.sqrt(max(value, 0.0)) for value in values]
    floors = [min(each.floor, value) for each, value in zip(corrected, values, strict=True)]
    least = max(floors[0] - values[1], floors[1] - values[0])
    apart, error = 0.0, math.nan
    if all(roots):
        total = roots[0] + roots[1]
        effects = (mine.effects / roots[0])[_order(base.index, held.index)] - theirs.effects / roots[1]
        error = 0.5 * total * standard_error(effects, base.base, base.groups)
        widths = [math.sqrt(each.high) - math.sqrt(max(each.low, 0.0)) for each in corrected if math.isfinite(each.high)]
        apart = 0.5 * total * (abs(widths[0] - widths[1]) if len(widths) == len(corrected) else sum(widths))
    return Pair(difference, error, least, apart, repeats, low_open=open_ends[1], high_open=open_ends[0])


def _restored_pair(row: Mapping[str, Any], results: Mapping[str, StabilityResult]) -> Pair:
    """A difference to the first model as it was stored; earlier versions stored less, and corrected none."""
    one, other = results[required(row, "model")], next(iter(results.values()))
    error, low, high = (decode(required(row, key)) for key in ("standard_error", "low", "high"))
    return Pair(
        difference=decode(row.get("difference", one.value - other.value)),
        error=error,
        least=decode(row.get("certain", max(one.lower - other.upper, other.lower - one.upper))),
        noise=decode(row.get("noise", 0.0)),
        repeats=row.get("repeats", 0),
        low_open=low == -math.inf,
        high_open=high == math.inf,
        unknown=tuple(row.get("unknown", ())),
    )


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
