"""What a case is, and where all of them are held."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from flattening import Numbers, of_result
from materials import Task, people

import tippingpoint as tp

Kind = Literal["exact", "queried", "network", "bytes"]
"""How an answer is found: in closed form; by asking a black box; with gradients of a network, or proofs over its gates. Or
whole files, of which every byte counts: they hold versions and last digits, so only one and the same machine repeats them."""

PAPER: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
"""The prices of most questions."""


@dataclass(frozen=True)
class Case:
    """A question with a name.

    Attributes
    ----------
    name
        What it is called; its first word is the family.
    kind
        How the answer is found.
    compute
        What answers it.
    """

    name: str
    kind: Kind
    compute: Callable[[], Numbers]

    def run(self) -> Numbers:
        """The answer; warnings are part of results, and are not raised here."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {name: float(value) for name, value in self.compute().items()}


CASES: dict[str, Case] = {}
"""Every question, by name."""


def add(name: str, kind: Kind, compute: Callable[[], Numbers]) -> None:
    """One more case."""
    if name in CASES:
        raise ValueError(f"two cases are called {name!r}")
    CASES[name] = Case(name, kind, compute)


def stable(model: Callable[[], Any], task: Callable[[], Task], risk: float, **settings: Any) -> Numbers:
    """A stability; models and data are made only when a case is run."""
    return of_result(tp.stability(model(), *task(), risk, **settings))


def mixed(**settings: Any) -> tp.Space:
    """What may change of people: one column may not, and another is cheap."""
    return tp.Space.infer(people().X).edit(frozen=["sex"], price={"job": 0.02}, **settings)
