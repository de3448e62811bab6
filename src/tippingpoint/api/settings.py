"""The keywords of the front doors: settings of the question, and options of the family that serves the model.

Every front door and the command line read them here, so that each refuses the same, in the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from tippingpoint.errors import InputError, listed
from tippingpoint.families.base import Family
from tippingpoint.families.registry import FAMILIES

QUESTION = ("theta1", "theta2", "mix", "budget", "divergence")
"""What a question is asked with; all other keywords are options of families."""

DOORS = ("risk", "loss", "sample_weight", "space", "scale", "features")
"""Arguments of the front doors themselves, for who writes them otherwise."""


@dataclass(frozen=True)
class Settings:
    """Keywords, told apart.

    Attributes
    ----------
    question
        Prices and divergence, as `Profile.stability` takes them.
    options
        Of families: how a model is searched.
    """

    question: Mapping[str, Any]
    options: Mapping[str, Any]

    @classmethod
    def read(cls, given: Mapping[str, Any], *, question: bool = True) -> Settings:
        """Keywords that are known; `question` says whether a question is asked here, or later of the profile."""
        for name, value in given.items():
            if name in QUESTION and not question:
                raise InputError(f"{name}={value!r} belongs to a question: ask profile(...).stability(risk, {name}={value!r}).")
            if name not in QUESTION and not owners(name):
                raise InputError(f"{name}={value!r} is not known; {_nearest(name, question=question)}")
        return cls(
            {name: value for name, value in given.items() if name in QUESTION},
            {name: value for name, value in given.items() if name not in QUESTION},
        )


def owners(option: str) -> list[Family]:
    """The families that have an option."""
    return [family for family in FAMILIES if option in family.options.names()]


def check_used(options: Mapping[str, Any], families: Iterable[Family]) -> None:
    """An option that no model here has is an error: it would be ignored."""
    served = list(families)
    for name, value in options.items():
        if any(name in family.options.names() for family in served):
            continue
        names = " and ".join(family.name for family in owners(name))
        first = served[0]
        if not first.options.names():
            raise InputError(f"{name}={value!r} is an option of a search (of {names}); this model needs none, so leave it out.")
        own = ", ".join(first.options.names())
        raise InputError(
            f"{name}={value!r} is an option of {names}; this is {first.one}, whose options are {own}, so leave it out."
        )


def _nearest(name: str, *, question: bool) -> str:
    """In words: what may have been meant, and whose it is; all that is known, where nothing is near."""
    options = [option for family in FAMILIES for option in family.options.names()]
    near = get_close_matches(name.lower(), [*QUESTION, *DOORS, *options], n=1, cutoff=0.6)
    if near and near[0] in QUESTION:
        where = "" if question else ", which profile(...).stability takes"
        return f"did you mean {near[0]}, a setting of the question{where}?"
    if near and near[0] in DOORS:
        return f"did you mean {near[0]}?"
    if near:
        return f"did you mean {near[0]}, an option of {' and '.join(family.name for family in owners(near[0]))}?"
    with_options = [family for family in FAMILIES if family.options.names()]
    of_families = [f"options of {family.name} are {listed(family.options.names())}" for family in with_options]
    of_question = [f"settings of a question are {listed(QUESTION)}"] if question else []
    return "; ".join([*of_question, *of_families]) + "."
