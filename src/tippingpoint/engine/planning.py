"""From partitions to a plan: all that the oracle of any one of them needs to know of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.data.columns import Column, OddTextError, all_numbers, stored_numbers
from tippingpoint.data.frames import Features, Place
from tippingpoint.engine.partitions import Partitions, Run, run_here
from tippingpoint.engine.reading import Reading, read_by, read_categories, read_through, unknown_value
from tippingpoint.engine.rows import MAX_DISTINCT, SomeRows, sampled_rows
from tippingpoint.engine.survey import Facts, Question, merged, sample_of, survey, together
from tippingpoint.engine.units import in_units_of_all
from tippingpoint.errors import InputError
from tippingpoint.families.base import Learnt, Shared, Subject
from tippingpoint.families.registry import Served, judge
from tippingpoint.losses import Loss
from tippingpoint.preprocessing.categories import by_position
from tippingpoint.preprocessing.encoders import encoded_columns
from tippingpoint.space import Space
from tippingpoint.space.declared import mapping, note_on_order
from tippingpoint.space.domain import Domain
from tippingpoint.space.resolving import Shares, resolve
from tippingpoint.space.scaling import UNITS, Scale

TRIAL_ROWS = 64
"""Rows of the sample on which a model is recognised before partitions are; those with gaps come on top."""


@dataclass(frozen=True)
class Plan:
    """A model on data in partitions: what is the same for all of them; picklable where model and loss are.

    Attributes
    ----------
    reading
        How rows are read: types, categories, columns, weights, rows and offset of every partition.
    space, known
        What the user declared, and the categories that the model knows, by column: rows are checked by them.
    domain
        What may move, in the units chosen.
    raw
        The same before units, by which families recognise models.
    labels
        Distinct values of y, sorted where they can be; some thousands of them, where there are more.
    sample
        Rows of positive weight drawn from all partitions with the seed, whatever the partitioning.
    learnt
        What the family found out of the sample for all partitions; None where each finds that out for itself.
    family, label, range, searched
        Of the model and its loss, as a trial on some rows had it.
    loss, options
        As the user gave them.
    notes
        How data and model were understood, where nobody had said it.
    """

    reading: Reading
    space: Space
    known: Mapping[str, Sequence[Any]]
    domain: Domain
    raw: Domain
    labels: tuple[Any, ...]
    sample: SomeRows
    learnt: Learnt | None
    family: str
    label: str
    range: tuple[float, float]
    searched: bool
    loss: Any
    options: Mapping[str, Any]
    notes: tuple[str, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """What each column holds."""
        return self.reading.columns

    @property
    def rows(self) -> tuple[int, ...]:
        """Of every partition."""
        return self.reading.rows

    @property
    def offsets(self) -> tuple[int, ...]:
        """Number of the first row of every partition among all rows, by which samples are called."""
        return self.reading.offsets

    @property
    def backend(self) -> str:
        """Kind of frame that results come back in."""
        return "pandas" if self.reading.schema.backend == "array" else self.reading.schema.backend

    def sample_features(self) -> Features:
        """The sample as numbers, its rows called by their numbers among all."""
        numbers = np.asarray(self.offsets)[self.sample.places[:, 0]] + self.sample.places[:, 1]
        return replace(self.reading.features(self.sample.x), index=numbers.tolist())

    def shared(self, numbers: IntArray) -> Shared | None:
        """What rows of these numbers, a partition, know of the others; None where every row of the sample weighs nothing."""
        if not len(self.sample):
            return None
        return Shared(self.sample_features(), self.sample.y, numbers, sum(self.rows), self.learnt)


def plan(
    model: Any,
    partitions: Partitions,
    options: Mapping[str, Any],
    *,
    loss: Any = None,
    space: Space | None = None,
    scale: Scale | None = None,
    run: Run | None = None,
) -> Plan:
    """The plan of a model on partitions.

    Parameters
    ----------
    model
        As the user has it.
    partitions
        The data.
    options
        Of families.
    loss, space, scale
        As of any question.
    run
        Applies a function to every partition, wherever it lives; a loop in this process where none is given.
    """
    if not isinstance(space, (Space, type(None))):
        raise InputError(f"space={space!r} must be a tippingpoint.Space, as Space(frozen=['sex']).")
    chosen, everywhere = space or Space(), run or run_here(partitions)
    seed = int(options.get("seed", 0))
    known = encoded_columns(model, partitions.names())
    chosen, yielded = chosen.fitted_to(known)
    spreads = isinstance(scale, str) and scale in UNITS
    facts = _facts(known, partitions, chosen, loss, seed, everywhere, spreads=spreads)
    _check_stored(facts, chosen, known)
    reading = read_by(facts, read_categories(facts, *chosen.hinted(known)))
    if unknown_value(facts, reading.categories):
        everywhere(read_through, reading)
    sketch = replace(reading.features(facts.sketch.x), index=_places(facts.sketch, partitions))
    shares = _shares(facts, reading)
    raw = resolve(chosen, sketch, None, known, shares)
    _check_menus(raw, facts, reading)
    vanishing = frozenset(np.flatnonzero(facts.missed).tolist()) | {sketch.names.index(name) for name in raw.vanishing}
    reading = replace(reading, vanishing=vanishing)
    sample = _sample(facts, seed, everywhere)
    served = _trial(model, reading, raw, facts, sample, partitions, loss, options)
    served.judgement.check_missing(raw)
    shown = reading.features((sample if len(sample) else facts.sketch).x)
    domain = in_units_of_all(raw, scale, facts, reading, shares, shown, everywhere)
    notes = (*partitions.notes, *facts.notes, by_position(model, facts.sketch.x), yielded, note_on_order(chosen, sketch))
    return Plan(
        reading,
        chosen,
        known,
        domain,
        raw,
        facts.labels,
        sample,
        _learnt(served, reading, facts, sample, partitions, options),
        served.family.name,
        served.judgement.label,
        served.judgement.range,
        served.judgement.searched,
        loss,
        dict(options),
        tuple(note for note in notes if note is not None),
    )


def _facts(
    known: Mapping[str, Sequence[Any]], partitions: Partitions, space: Space, loss: Any, seed: int, run: Run, *, spreads: bool
) -> Facts:
    """What all partitions hold, in one pass over them."""
    kinds = {str(name): kind for name, kind in mapping("kind", space.kind).items()}
    one_hot = {
        str(name) for names in mapping("one_hot", space.one_hot).values() if isinstance(names, (list, tuple)) for name in names
    }
    listing = {name for name, kind in kinds.items() if kind in ("categorical", "ordinal")}
    whole = {name for name, kind in kinds.items() if kind == "integer"}
    question = Question(
        frozenset(space.hinted(known)[0]),
        frozenset(listing | whole | one_hot),
        frozenset(listing | (whole if space.outliers == "keep" else set())),
        known_labels=not callable(loss) or isinstance(loss, Loss),
        rows=partitions.rows,
        sampled=None if partitions.rows is None else sampled_rows(sum(partitions.rows), seed),
        spreads=spreads,
    )
    return merged(run(survey, question))


def _check_stored(facts: Facts, space: Space, known: Mapping[str, Sequence[Any]]) -> None:
    """Refuse numbers that are stored as text or objects: only data in memory are converted, and tried on the model."""
    encoded, listed = space.hinted(known)
    kinds = {str(name) for name, kind in mapping("kind", space.kind).items() if kind in ("categorical", "ordinal")}
    kinds |= {str(name) for name in mapping("switch", space.switch)}
    for column in facts.schema.columns:
        name = column.name
        if name in encoded or name in listed or name in kinds or not (column.kind == "category" or column.decimal):
            continue
        if column.decimal:
            raise _stored_as(name, "decimals")
        if column.declared is not None:
            if not column.ordered and all_numbers(column.declared):
                raise _stored_as(name, "categories")
            continue
        try:
            found = stored_numbers(list(facts.counts.get(name) or ()), name)
            held = None if found is None else "text" if found.text else "objects"
        except OddTextError as odd:
            held = f"text, beside {odd.value!r}"
        if held is not None and facts.counts.get(name):
            raise _stored_as(name, held)


def _stored_as(name: str, held: str) -> InputError:
    return InputError(
        f"X[{name!r}] stores numbers as {held}. Store the column as numbers in every partition. If these are"
        f" categories, declare Space(kind={{{name!r}: 'categorical'}})."
    )


def _sample(facts: Facts, seed: int, run: Run) -> SomeRows:
    """The sample: of the survey, or of a second pass where rows had to be counted first; without rows of no weight."""
    sample = facts.sample
    if sample is None:
        drawn = sampled_rows(sum(facts.rows), seed)
        sample = together(run(sample_of, facts.rows, drawn), facts.schema, facts.peak)
    heavy = np.flatnonzero(sample.weight)
    return sample if len(heavy) == len(sample) else sample.take(heavy)


def _shares(facts: Facts, reading: Reading) -> Shares:
    """By column: what its values weigh, by the numbers that they are read as."""
    found: dict[str, dict[float, float]] = {}
    total = facts.weight
    for column in reading.columns:
        counts = facts.counts.get(column.name) or {}
        place = {value: float(k) for k, value in enumerate(column.categories)}
        found[column.name] = {
            place[value] if column.holds == "category" else float(value): weight / total for value, weight in counts.items()
        }
    return found


def _check_menus(domain: Domain, facts: Facts, reading: Reading) -> None:
    """Refuse features of finitely many values that have too many of them to be listed."""
    for menu in domain.menus:
        column = reading.columns[int(menu.columns[0])]
        counts = facts.counts.get(column.name, {})
        if len(menu.columns) == 1 and column.holds != "category" and (counts is None or len(counts) > MAX_DISTINCT):
            raise InputError(
                f"{menu.name!r} has more than {MAX_DISTINCT} distinct values, too many to weigh every switch; name it in"
                " frozen, make it numeric, or put rare ones together."
            )


def _places(rows: SomeRows, partitions: Partitions) -> list[Place]:
    """Where rows stand, in words."""
    return [Place(f"row {row} of {partitions[int(number)].name}") for number, row in rows.places]


def _trial(
    model: Any,
    reading: Reading,
    domain: Domain,
    facts: Facts,
    sample: SomeRows,
    partitions: Partitions,
    loss: Any,
    options: Mapping[str, Any],
) -> Served:
    """The judgement of the model on a few rows: what is wrong with it is said here, once, and not by every partition."""
    gaps = _gaps(facts, reading)
    some = sample.take(np.arange(min(TRIAL_ROWS, len(sample))))
    rows = together([each for each in (gaps, some) if len(each)], facts.schema, facts.peak)
    features = replace(reading.features(rows.x), index=_places(rows, partitions))
    calls = options.get("calls")
    if isinstance(calls, int) and not isinstance(calls, bool):
        if calls < sum(facts.rows):
            raise InputError(f"calls={calls} is too small: there are {sum(facts.rows)} rows, and each takes a call at least.")
        options = {name: value for name, value in options.items() if name != "calls"}  # they are shared out by partition
    return judge(Subject(model, features, rows.y, loss, domain, facts.labels), options)


def _learnt(
    served: Served, reading: Reading, facts: Facts, sample: SomeRows, partitions: Partitions, options: Mapping[str, Any]
) -> Learnt | None:
    """What the family finds out of the sample, with calls that rows can spare."""
    if not len(sample):
        return None
    features = replace(reading.features(sample.x), index=_places(sample, partitions))
    calls = options.get("calls")
    spare = calls - sum(facts.rows) if isinstance(calls, int) and not isinstance(calls, bool) else None
    return served.judgement.learnt(features, sample.y, spare)


def _gaps(facts: Facts, reading: Reading) -> SomeRows:
    """Rows of positive weight of the sketch that have a gap, one for each column that has any; the first row of all."""
    x = reading.features(facts.sketch.x).x
    heavy: FloatArray = facts.sketch.weight
    found = {int(np.flatnonzero(heavy)[0]): None}
    for j in np.flatnonzero(facts.missed):
        held = np.flatnonzero(np.isnan(x[:, j]) & (heavy > 0.0))
        found.update({int(held[0]): None} if len(held) else {})
    return facts.sketch.take(np.array(list(found), dtype=np.intp))
