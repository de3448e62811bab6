"""The contract of a family of models: what it is given, what it declares, what it hands back.

A family is a folder with a `family.py`. Its `Family` is asked whether a model is its own (`recognise`); if so it hands back a
`Judgement`, which builds the `Oracle` of any space (`tippingpoint.core.oracle`). A model of its kind that it cannot serve it
refuses with a `Refusal`, whose reason is shown to the user; what is no business of its own is None.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.core.oracle import Oracle
from tippingpoint.data.frames import Features
from tippingpoint.errors import UnsupportedError
from tippingpoint.families.capabilities import Capability
from tippingpoint.families.options import Options
from tippingpoint.losses import Loss
from tippingpoint.space.domain import Domain
from tippingpoint.text import SCORE


@dataclass(frozen=True)
class Learnt:
    """What a family finds out of a sample of all rows, once, and tells every partition.

    Attributes
    ----------
    calls
        Of the model, that this took.
    """

    calls: int


@dataclass(frozen=True)
class Shared:
    """What the judgement of a partition knows of the rest of the data: the same for all partitions, but for `numbers`.

    Whatever a sample's search takes from other samples it takes from here, and what is drawn at random for it is drawn by its
    number: so its best responses do not depend on which rows are in its partition.

    Attributes
    ----------
    features, y
        A sample of all rows, drawn with the seed by row number, and its labels or targets.
    numbers
        Of the partition's own rows, among all.
    total
        How many rows there are in all.
    learnt
        What the family found out of the sample before; None where each partition finds that out for itself.
    """

    features: Features
    y: Any
    numbers: IntArray
    total: int
    learnt: Learnt | None = None


@dataclass(frozen=True)
class Subject:
    """What is to be judged.

    Attributes
    ----------
    model
        As the user has it; of a search for parameters, what it ended with.
    features, y
        The rows, and their labels or targets.
    loss
        What to judge by: a name, a `Loss`, a function, or None for the usual one.
    domain
        Where samples may go, for families that serve some spaces only.
    labels
        The distinct values of y in the whole data, where these rows are a part of them; None where they are all.
    shared
        What is known of the other rows, where these are a partition of the data; None where they are all.
    """

    model: Any
    features: Features
    y: Any
    loss: Any
    domain: Domain
    labels: tuple[Any, ...] | None = None
    shared: Shared | None = None


@dataclass(frozen=True)
class Margins:
    """The one number through which the loss acts on every sample, and what it costs to shift it.

    Attributes
    ----------
    values
        `v`, of which the loss is `loss.value(v)`: minus the margin of a classifier, the residual of a regressor.
    loss
        `f`.
    compliance
        `B`: shifting `v` by `t` costs at least `t²/B` wherever samples may go; None where nothing is known of that.
    unit
        What shifting it means: "features (linear, exact)" where some move of features always costs no more than `t²/B`,
        "features (linear, relaxed)" where bounds or jumps may make it dearer, "features (Lipschitz)" where no move shifts it
        faster; "score" where nothing is known.
    """

    values: FloatArray
    loss: Loss
    compliance: float | None = None
    unit: str = SCORE


def told_apart(values: FloatArray, wrong: BoolArray) -> FloatArray:
    """`v` of a 0/1 loss, at least zero for the samples that are wrong and below it for those that are right."""
    least = np.finfo(float).smallest_subnormal
    return np.where(wrong, np.maximum(values, 0.0), np.minimum(values, -least))


@dataclass(frozen=True)
class Refusal:
    """Why a family does not serve a model that is of its kind: a clause, to follow a colon or stand in brackets."""

    reason: str


class Judgement(ABC):
    """A model on data, judged by a loss.

    Attributes
    ----------
    label, range
        Of the loss: what results call it, and the least and the largest value it can take.
    searched
        Whether best responses are searched for, and not known in closed form.
    notes
        How the model was understood, where nobody had said it.
    """

    label: str
    range: tuple[float, float]
    notes: tuple[str, ...] = ()
    searched = False

    @abstractmethod
    def oracle(self, domain: Domain) -> Oracle:
        """Who finds best responses in a feature space."""

    def check_missing(self, domain: Domain) -> None:
        """Refuse features that may go missing, where the model cannot be asked about that."""
        if domain.vanishing:
            raise UnsupportedError(
                f"missing[{domain.vanishing[0]!r}]: a model of this kind takes no missing values; leave it out of the space, or"
                " wrap the model in a function that takes them."
            )

    def shared(self, parts: int) -> Judgement:
        """The same with a part of what may be spent on a search, for each of so many questions."""
        return self

    def learnt(self, sample: Features, y: Any, calls: int | None) -> Learnt | None:
        """What partitions are told of a sample of all rows; None where each of them finds that out for itself.

        Parameters
        ----------
        sample, y
            The rows, and their labels or targets.
        calls
            Of the model, that may be spent on it; None for as many as it takes.
        """
        return None

    def along(self, domain: Domain) -> Oracle:
        """The same for a space in which one feature, or few, may move; exact more often."""
        return self.oracle(domain)

    def margins(self, domain: Domain) -> Margins:
        """The number through which the loss acts on every sample, and what it costs at least to shift it in a space."""
        raise UnsupportedError("a model of this kind has no margin, so no drift can be measured on it.")


class Family(ABC):
    """Models that are served alike.

    Attributes
    ----------
    name
        Of all of them, in a sentence: "networks".
    one
        Of one of them: "a network".
    options
        What users may say of how its models are searched.
    capabilities
        What it serves, and how well: declared, and held to that by the conformance tests.
    """

    name: str
    one: str
    options: type[Options] = Options
    capabilities: tuple[Capability, ...] = ()

    @abstractmethod
    def recognise(self, subject: Subject, given: Mapping[str, Any], reason: str) -> Judgement | Refusal | None:
        """The judgement of a model of this family; a refusal with its reason; None where the model is not of its kind.

        Parameters
        ----------
        subject
            The model, the data and the loss.
        given
            Options of this family that the user gave.
        reason
            Why the family asked before this one, whose kind it is, did not serve it; "" where there is none.
        """
