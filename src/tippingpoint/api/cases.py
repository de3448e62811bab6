"""A model on data, read and checked once, and what is to be asked of it: where every question of the front door begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tippingpoint.api.profiles import Profile
from tippingpoint.core.arrays import FloatArray
from tippingpoint.data.alignment import in_rows_of, repeated_labels
from tippingpoint.data.frames import Features, base_weights, read_features, read_vector
from tippingpoint.data.witness import Witness
from tippingpoint.errors import InputError
from tippingpoint.families.positions import by_position
from tippingpoint.families.registry import COUNTED, Judgement, encoded_by, judge
from tippingpoint.results.origin import Origin, origin_of
from tippingpoint.space import Space
from tippingpoint.space.domain import Domain
from tippingpoint.space.scaling import Scale, in_units

SETTINGS = ("theta1", "theta2", "mix", "budget", "divergence")
"""What a question is asked with; all other options are of the search."""


@dataclass(frozen=True)
class Case:
    """A model on data, read and checked: all that a profile needs.

    Attributes
    ----------
    judgement
        The model and its loss.
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
    """

    judgement: Judgement
    domain: Domain
    features: Features
    base: FloatArray
    witness: Witness
    origin: Origin
    notes: tuple[str, ...] = ()

    def serves(self, search: Mapping[str, Any]) -> bool:
        """Whether the model is searched in a way that knows these options."""
        return self.judgement.searched and (self.judgement.counts_calls or not any(name in search for name in COUNTED))

    def check_options(self, search: Mapping[str, Any]) -> None:
        """An option that would be ignored is an error."""
        if not search or self.serves(search):
            return
        if self.judgement.searched:
            name = next(name for name in COUNTED if name in search)
            raise InputError(f"{name}={search[name]!r} counts the calls of black boxes; this is a network, so leave it out.")
        name = next(iter(search))
        raise InputError(
            f"{name}={search[name]!r} is an option of a search (of networks and black boxes); this model needs none, so leave"
            " it out."
        )

    def profile(self) -> Profile:
        """The best responses in the whole domain."""
        return self.ask(self.judgement.oracle(self.domain))

    def ask(self, oracle: Any) -> Profile:
        """A profile of these samples by this oracle."""
        features, judged = self.features, self.judgement
        if judged.searched:
            self.witness.check()
        columns, notes = features.columns, (*self.notes, *judged.notes)
        return Profile(
            oracle, self.base, features.index, judged.label, judged.range, features.backend, columns, self.origin, notes
        )


def question(
    model: Any,
    data: Any,
    y: Any,
    settings: Mapping[str, Any],
    *,
    loss: Any,
    sample_weight: Any,
    space: Space | None,
    scale: Scale | None,
    check: bool = True,
) -> tuple[Case, dict[str, Any]]:
    """A model on data, and what it is to be asked: options of the question and of the search come together here."""
    asked, search = sorted_out(settings)
    case = prepared(model, data, y, loss, sample_weight, space, scale, search)
    if check:
        case.check_options(search)
    return case, asked


def prepared(
    model: Any,
    data: Any,
    y: Any,
    loss: Any,
    sample_weight: Any,
    space: Space | None,
    scale: Scale | None,
    search: Mapping[str, Any],
) -> Case:
    """The data read, the space resolved, the model recognised."""
    if not isinstance(space, (Space, type(None))):
        raise InputError(f"space={space!r} must be a tippingpoint.Space, as Space(frozen=['sex']).")
    chosen = space or Space()
    y, reordered = in_rows_of(data, y, "y")
    sample_weight, reweighted = in_rows_of(data, sample_weight, "sample_weight")
    notes = (repeated_labels(data), reordered, reweighted, by_position(model, data))
    known = encoded_by(model, getattr(data, "columns", ()))
    categories = chosen.read_as(known, data)
    features = read_features(data, categories)
    witness = Witness(data, categories, features)
    base = base_weights(sample_weight, len(features.x))
    domain = chosen.resolve(features, base, known)
    features = replace(features, vanishing=frozenset(features.names.index(name) for name in domain.vanishing))
    rows = np.flatnonzero(base)
    if len(rows) < len(base):
        y = read_vector(y, "y", len(base))[rows]
        features, base = features.take(rows), base[rows]
    of_all = {name: value for name, value in search.items() if name not in COUNTED}
    judgement = judge(model, features, y, loss, of_all, {name: search[name] for name in COUNTED if name in search})
    judgement.check_missing(domain)
    told = tuple(note for note in notes if note is not None)
    given = {"loss": loss, "sample_weight": sample_weight, "space": space, "scale": scale, **search}
    columns = {f"{column.name}\x00{column.categories!r}": features.x[:, j] for j, column in enumerate(features.columns)}
    origin = origin_of(model, columns, y, base, given, int(search.get("seed", 0)) if judgement.searched else None)
    return Case(judgement, in_units(domain, features, base, scale), features, base, witness, origin, told)


def sorted_out(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Which settings are of the question, and which of the search."""
    asked = {name: value for name, value in settings.items() if name in SETTINGS}
    return asked, {name: value for name, value in settings.items() if name not in SETTINGS}
