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

OF_ALL = ("threads",)
"""Options of how any question is worked on; some families use them for their searches too."""

OF_LABELS = ("classes",)
"""Options that say what labels mean; all others are of searches and proofs."""

OF_DATA = ("loss", "sample_weight", "space", "scale")
OF_PARTITIONS = ("client", "memory")
DOORS = {
    "profile": (*OF_DATA, *OF_PARTITIONS),
    "stability": ("risk", *OF_DATA, *OF_PARTITIONS),
    "worst_risk": ("cost", *OF_DATA, *OF_PARTITIONS),
    "compare": ("risk", *OF_DATA, "common"),
    "feature_stability": ("risk", *OF_DATA, "features"),
    "drift": ("reference", "current", "risk", "loss", "space", "scale", "permutations", "features", "assume", "by"),
    "Profile.stability": ("risk",),
    "Profile.curve": ("risks", "risk"),
    "Profile.worst_risk": ("cost",),
}
"""The other keywords of every front door, for who writes them otherwise, or gives them to another."""


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
    def read(cls, given: Mapping[str, Any], door: str = "stability") -> Settings:
        """Keywords that are known to a front door: settings, unless it asks nothing itself, and options of families."""
        for name, value in given.items():
            if name in QUESTION and door == "profile":
                raise InputError(f"{name}={value!r} belongs to a question: ask profile(...).stability(risk, {name}={value!r}).")
            if name not in QUESTION and (door.startswith("Profile") or not owners(name)):
                raise InputError(f"{name}={value!r} is not known to {door}; {_meant(name, door)}")
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
        if name in OF_ALL or any(name in family.options.names() for family in served):
            continue
        names, first = _names(owners(name)), served[0]
        if not set(first.options.names()) - set(OF_LABELS):
            raise InputError(f"{name}={value!r} is an option of a search (of {names}); this model needs none, so leave it out.")
        own = ", ".join(first.options.names())
        raise InputError(
            f"{name}={value!r} is an option of {names}; this is {first.one}, whose options are {own}, so leave it out."
        )


def _meant(name: str, door: str) -> str:
    """In words: where a keyword belongs; else what may have been meant, and whose that is; else all that is known."""
    elsewhere = [other for other, names in DOORS.items() if name in names]
    if elsewhere:
        return f"it is an argument of {', '.join(elsewhere)}."
    if owners(name):  # of a profile, which was searched before
        return f"it is an option of {_names(owners(name))}: give it to profile(...)."
    options = [option for family in FAMILIES for option in family.options.names()]
    own = options if not door.startswith("Profile") else []
    near = get_close_matches(name.lower(), [*QUESTION, *DOORS[door], *own], n=1, cutoff=0.6)
    if near and near[0] in QUESTION:
        where = ", which profile(...).stability takes" if door == "profile" else ""
        return f"did you mean {near[0]}, a setting of the question{where}?"
    if near and near[0] in DOORS[door]:
        return f"did you mean {near[0]}?"
    if near:
        return f"did you mean {near[0]}, an option of {_names(owners(near[0]))}?"
    known = [] if door == "profile" else [f"settings of a question are {listed(QUESTION)}"]
    if own:
        with_options = [family for family in FAMILIES if family.options.names()]
        known += [f"options of {family.name} are {listed(family.options.names())}" for family in with_options]
    return "; ".join(known) + "."


def _names(families: Iterable[Family]) -> str:
    return " and ".join(family.name for family in families)
