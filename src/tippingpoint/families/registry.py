"""The families, in the order in which they are asked: the first that recognises a model serves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError
from tippingpoint.families.base import Family, Judgement, Refusal, Subject
from tippingpoint.families.blackbox import family as blackbox
from tippingpoint.families.linear import family as linear
from tippingpoint.families.network import family as network
from tippingpoint.families.table import family as table
from tippingpoint.families.trees import family as trees
from tippingpoint.losses import PiecewiseLinear
from tippingpoint.preprocessing.modules import unwrapped

FAMILIES: list[Family] = [table.FAMILY, linear.FAMILY, network.FAMILY, trees.FAMILY, blackbox.FAMILY]
"""The registry: a new family is a folder and a place here."""


@dataclass(frozen=True)
class Served:
    """A model, judged by the family that serves it."""

    judgement: Judgement
    family: Family


def judge(subject: Subject, given: Mapping[str, Any]) -> Served:
    """The judgement of a model by the first family that serves it; the reasons of all, where none does.

    Parameters
    ----------
    subject
        The model, the data and the loss.
    given
        Options of any family; each takes its own.
    """
    if subject.model is None and not (isinstance(subject.loss, PiecewiseLinear) and subject.loss.of_features):
        raise InputError("model=None: only a PiecewiseLinear loss of the features does without a model; pass one.")
    if isinstance(subject.model, (str, Path)):
        raise InputError(f"model={str(subject.model)!r} is a name; read the file first, with tippingpoint.load_model.")
    subject = replace(subject, model=unwrapped(subject.model))
    refusals: dict[str, str] = {}
    for family in FAMILIES:
        own = {name: value for name, value in given.items() if name in family.options.names()}
        found = family.recognise(subject, own, next(reversed(refusals.values()), ""))
        if isinstance(found, Judgement):
            return Served(found, family)
        if isinstance(found, Refusal):
            refusals[family.name] = found.reason
    reasons = "; ".join(f"{name}: {reason}" for name, reason in refusals.items())
    raise InputError(
        f"model={type(subject.model).__name__} is not served by any family of models ({reasons}); pass a fitted model,"
        " (coef, intercept), a PyTorch module or a function of the rows, or evaluate alternatives of each sample yourself and"
        " pass them to tippingpoint.profile_table."
    )
