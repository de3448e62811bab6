"""Tables of alternatives side by side: paired by what their samples are called, never by where they stand."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tippingpoint.api.profiles import Profile
from tippingpoint.api.tables import profile_table
from tippingpoint.core.arrays import IntArray
from tippingpoint.data.frames import read_frame
from tippingpoint.errors import InputError, PairingWarning, listed
from tippingpoint.families.table.oracle import TableOracle
from tippingpoint.results.comparisons import Comparison

ROUNDING_OF_FILES = 1e-9
"""Relative difference of weights and of costs that is rounding of files."""

MAX_NAMED = 3
"""Samples, costs and tables that a sentence names, of many."""


def compare_tables(
    tables: Mapping[Any, Any], risk: float, question: Mapping[str, Any], of_models: Mapping[str, Any], *, common: bool
) -> Comparison:
    """Several tables of the same samples, or their profiles, with paired standard errors of the differences.

    Parameters
    ----------
    tables
        Frames of alternatives with the columns that `profile_table` knows without being told, or profiles, by name.
    risk, question
        The threshold, prices and divergence, as in `Profile.stability`.
    of_models
        Arguments about models on data, none of which has a meaning here.
    common
        Whether samples that some of the tables lack are left out of all of them, which a warning says. They are an error
        otherwise: without them every number is about another population.
    """
    for name, value in of_models.items():
        if value is not None:
            raise InputError(
                f"{name}={value!r} has no meaning without X and y; a table holds losses, costs and weights in columns, which"
                " profile_table(table, loss=...) names."
            )
    profiles = paired({str(name): _profiled(str(name), table) for name, table in tables.items()}, common=common)
    results = {name: each.stability(risk, **question) for name, each in profiles.items()}
    return Comparison(results, next(iter(profiles.values())).backend)


def _profiled(name: str, table: Any) -> Profile:
    import narwhals as nw

    if isinstance(table, Profile):
        return table
    if not isinstance(read_frame(table, "table"), nw.DataFrame):
        raise InputError(
            f"{name!r} is a {type(table).__name__}; a model is compared on data, so give X and y too. Only tables of"
            " alternatives and profiles do without."
        )
    try:
        return profile_table(table)
    except InputError as error:
        raise InputError(f"of {name!r}: {error}") from None


def paired(profiles: Mapping[str, Profile], *, common: bool = False) -> dict[str, Profile]:
    """The profiles with the same samples in the same order and of the same weights; an error where that cannot be."""
    (first, reference), *others = profiles.items()
    for name, each in others:
        if each.loss != reference.loss:
            raise InputError(f"{first!r} is judged by {reference.loss} and {name!r} by {each.loss}; judge all by one loss.")
    if all(list(each.index) == list(reference.index) for _, each in others):
        ordered = dict(profiles)
    else:
        ordered = _ordered(profiles, common=common)
    _check_weights(ordered)
    _check_offers(ordered)
    return ordered


def _ordered(profiles: Mapping[str, Profile], *, common: bool) -> dict[str, Profile]:
    """The samples that all have, in the order of the first."""
    for name, each in profiles.items():
        if not isinstance(each.oracle, TableOracle):
            raise InputError(f"{name!r} is of other rows than the others, or in another order; give every model the same data.")
    places = {name: {label: i for i, label in enumerate(each.index)} for name, each in profiles.items()}
    every = list(dict.fromkeys(label for held in places.values() for label in held))
    shared = [label for label in every if all(label in held for held in places.values())]
    if len(shared) < len(every):
        _check_missing(places, every, len(shared), common=common)
    return {name: _taking(each, np.array([places[name][label] for label in shared])) for name, each in profiles.items()}


def _check_missing(places: Mapping[str, Mapping[Any, int]], every: Sequence[Any], shared: int, *, common: bool) -> None:
    """Name the samples that are not everywhere: an error, unless they are to be left out."""
    lacking = {name: [label for label in every if label not in held] for name, held in places.items()}
    sentences = [f"{name!r} lacks {listed(missing, MAX_NAMED)}" for name, missing in lacking.items() if missing]
    more = len(sentences) - MAX_NAMED
    lacks = "; ".join(sentences[:MAX_NAMED]) + (f"; and {more} further ones lack some" if more > 0 else "")
    if not shared:
        raise InputError(f"the tables have no sample in common: {lacks}. Samples are paired by what they are called.")
    if not common:
        raise InputError(
            f"the tables are not of the same samples: {lacks}. Add what is missing, or compare on the {shared:,} that all have:"
            " common=True (--common)."
        )
    warnings.warn(
        f"compared on the {shared:,} of {len(every):,} samples that all tables have, a population of their own: {lacks}",
        PairingWarning,
        stacklevel=2,
    )


def _taking(profile: Profile, samples: IntArray) -> Profile:
    """The profile of a table with these samples only, in this order."""
    if not isinstance(profile.oracle, TableOracle):
        raise TypeError(f"{type(profile.oracle).__name__} cannot be taken apart")
    base = profile.base[samples]
    index = [profile.index[i] for i in samples]
    oracle = profile.oracle.taking(samples)
    return replace(profile, oracle=oracle, base=base / base.sum(), index=index, groups=_renumbered(profile.groups, samples))


def _renumbered(groups: IntArray | None, samples: IntArray) -> IntArray | None:
    """The groups of these samples, numbered anew; None where each is alone."""
    if groups is None:
        return None
    left, numbers = np.unique(groups[samples], return_inverse=True)
    return None if len(left) == len(samples) else np.asarray(numbers, dtype=np.intp)


def _check_weights(profiles: Mapping[str, Profile]) -> None:
    (first, reference), *others = profiles.items()
    for name, each in others:
        differ = np.flatnonzero(~np.isclose(each.base, reference.base, rtol=ROUNDING_OF_FILES, atol=0.0))
        if len(differ):
            i = differ[0]
            raise InputError(
                f"sample {reference.index[i]!r} has {reference.base[i]:.4g} of the weight in {first!r} and {each.base[i]:.4g}"
                f" in {name!r}; a sample weighs the same in all that are compared."
            )


def _check_offers(profiles: Mapping[str, Profile]) -> None:
    """Say so where samples could go elsewhere, or at other costs, in one table than in another."""
    offers = {name: each.oracle.offers for name, each in profiles.items() if isinstance(each.oracle, TableOracle)}
    if len(offers) < len(profiles):
        return
    (first, (samples, costs)), *others = offers.items()
    for name, (sample, cost) in others:
        both = min(len(samples), len(sample))
        differ = (samples[:both] != sample[:both]) | ~np.isclose(costs[:both], cost[:both], rtol=ROUNDING_OF_FILES, atol=0.0)
        if not differ.any() and len(samples) == len(sample):
            continue
        k = int(differ.argmax()) if differ.any() else both
        i = min(int(each[k]) for each in (samples, sample) if k < len(each))
        warnings.warn(
            f"sample {profiles[first].index[i]!r} has alternatives of the costs {_few(costs[samples == i])} in {first!r} and of"
            f" {_few(cost[sample == i])} in {name!r}: the difference of the stabilities is also one of what was tried, or of"
            " the unit of the costs",
            PairingWarning,
            stacklevel=2,
        )
        return


def _few(costs: Any) -> str:
    return listed((float(f"{cost:.6g}") for cost in costs), MAX_NAMED)
