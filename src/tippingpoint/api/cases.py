"""A model on data, read and checked once, and what is to be asked of it: where every question of the front door begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from tippingpoint.api.profiles import Profile
from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.oracle import Oracle
from tippingpoint.data.alignment import in_rows_of, repeated_labels
from tippingpoint.data.categories import stored_values
from tippingpoint.data.frames import Features, column_names, read_features
from tippingpoint.data.vectors import base_weights, read_vector
from tippingpoint.data.witness import Witness
from tippingpoint.engine.tables import split_off
from tippingpoint.errors import InputError
from tippingpoint.families.base import Family, Judgement, Subject
from tippingpoint.families.registry import judge
from tippingpoint.foreign import is_module
from tippingpoint.preprocessing.categories import by_position
from tippingpoint.preprocessing.encoders import encoded_columns, taken_as_text
from tippingpoint.preprocessing.modules import unwrapped
from tippingpoint.processors import threads_of
from tippingpoint.results.origin import Origin, origin_of
from tippingpoint.space import Space
from tippingpoint.space.declared import note_on_order
from tippingpoint.space.domain import Domain
from tippingpoint.space.inputs import inputs_in_units
from tippingpoint.space.scaling import Scale, in_units

TEXT_ROWS = 64
"""Rows by which it is found out whether a model takes text as the number that it is."""


@dataclass(frozen=True)
class Case:
    """A model on data, read and checked: all that a profile needs.

    Attributes
    ----------
    judgement, family
        The model and its loss, and the family that serves it.
    domain
        What may move.
    features, base
        The samples of positive weight, and their weights.
    witness
        Of what the data were before the model saw them.
    origin
        What all of that was made from, for those who read a report of it.
    notes
        How the data were understood, where nobody had said it.
    threads
        That work at once on every question.
    """

    judgement: Judgement
    family: Family
    domain: Domain
    features: Features
    base: FloatArray
    witness: Witness
    origin: Origin
    notes: tuple[str, ...] = ()
    threads: int = 1

    def profile(self) -> Profile:
        """The best responses in the whole domain."""
        return self.profile_by(self.judgement.oracle(self.domain))

    def profile_by(self, oracle: Oracle) -> Profile:
        """A profile of these samples by this oracle."""
        features, judged = self.features, self.judgement
        if judged.searched:
            self.witness.check()
        columns = features.columns if features.inputs is None else features.inputs.columns
        notes = (*self.notes, *judged.notes)
        return Profile(
            oracle,
            self.base,
            features.index,
            judged.label,
            judged.range,
            features.backend,
            columns,
            self.origin,
            notes,
            self.threads,
            features.seal,
            domain=self.domain,
        )


def prepared(
    model: Any,
    data: Any,
    y: Any,
    options: Mapping[str, Any],
    *,
    loss: Any,
    sample_weight: Any,
    space: Space | None,
    scale: Scale | None,
) -> Case:
    """The data read, the space resolved, the model recognised; `options` are those of families."""
    if not isinstance(space, (Space, type(None))):
        raise InputError(f"space={space!r} must be a tippingpoint.Space, as Space(frozen=['sex']).")
    if isinstance(data, Mapping) and not is_module(unwrapped(model)):
        raise InputError(
            "X is a mapping, the inputs of a PyTorch module by name, and the model is none; pass a table, as"
            " pandas.DataFrame(X), or the module itself."
        )
    chosen = space or Space()
    data, y, sample_weight = split_off(data, y, sample_weight)
    y, reordered = in_rows_of(data, y, "y")
    sample_weight, reweighted = in_rows_of(data, sample_weight, "sample_weight")
    notes = (repeated_labels(data), reordered, reweighted, by_position(model, data))
    known = encoded_columns(model, column_names(data))
    chosen, yielded = chosen.fitted_to(known)
    categories = chosen.read_as(known, data)
    features = read_features(data, categories)
    if features.text or features.categorical:
        kept, asked = _kept_as_stored(model, data, features)
        categories |= stored_values(data, kept)
        features = read_features(data, categories)
        calls = options.get("calls")
        if isinstance(calls, Integral) and not isinstance(calls, bool):
            options = {**options, "calls": int(calls) - asked}
    witness = Witness(data, categories, features)
    base = base_weights(sample_weight, len(features.x))
    domain = chosen.resolve(features, base, known)
    features = replace(features, vanishing=frozenset(features.names.index(name) for name in domain.vanishing))
    if np.count_nonzero(base) < len(base):
        rows = np.flatnonzero(base)
        y = read_vector(y, "y", len(base))[rows]
        features, base = features.take(rows), base[rows]
    served = judge(Subject(model, features, y, loss, domain), options)
    served.judgement.check_missing(domain)
    given = {"loss": loss, "sample_weight": sample_weight, "space": space, "scale": scale, **options}
    seed = int(options.get("seed", 0)) if served.judgement.searched else None
    return Case(
        served.judgement,
        served.family,
        _in_units(domain, features, base, scale),
        features,
        base,
        witness,
        origin_of(model, _contents(features), y, base, given, seed, features.seal),
        tuple(note for note in (*notes, yielded, *features.notes, note_on_order(chosen, features)) if note is not None),
        threads_of(options.get("threads")),
    )


def _kept_as_stored(model: Any, data: Any, features: Features) -> tuple[tuple[str, ...], int]:
    """The columns of numbers stored as text or categories that the model takes as such, and how many rows it was asked."""
    rows = np.linspace(0, len(features.x) - 1, min(TEXT_ROWS, len(features.x))).astype(np.intp)
    given = replace(features, native=data).take(rows).native
    return taken_as_text(model, given, features.take(rows).native, (*features.text, *features.categorical))


def _in_units(domain: Domain, features: Features, base: FloatArray, scale: Scale | None) -> Domain:
    """The domain in the units chosen, of a table or of inputs of a module."""
    if features.inputs is None:
        return in_units(domain, features, base, scale)
    return inputs_in_units(domain, features, features.inputs, base, scale)


def _contents(features: Features) -> dict[str, Any]:
    """What a fingerprint of the data is of."""
    if features.inputs is not None:
        return features.inputs.contents(features.x)
    return {f"{column.name}\x00{column.categories!r}": features.x[:, j] for j, column in enumerate(features.columns)}
