"""How a network is searched: the options that users have."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

from tippingpoint.errors import InputError
from tippingpoint.families.network.proofs.certificates import BRIEF, THOROUGH
from tippingpoint.families.network.search.paper import Schedule

METHODS = ("path", "exact", "paper")
"""Ways to search."""

EFFORTS = {"none": 0.0, "quick": BRIEF, "tight": THOROUGH}
"""How much work goes into lower bounds."""


@dataclass(frozen=True)
class Search:
    """How a network is searched.

    Attributes
    ----------
    method
        "path" (default), "exact" (proofs, for one hidden layer of ReLUs) or "paper" (the published gradient ascent).
    seed, restarts
        Of the random starts, and how many there are at every price; by default more for fewer samples.
    device
        Where the module is to run; where it is, if None.
    batch
        Rows that the module sees at once.
    progress
        Whether to show a bar; None: on a terminal.
    certify
        How hard to try for a lower bound on what is only searched: "quick" (about a second), "tight" (minutes) or "none".
    tolerance, time_limit
        Of proofs: relative gap of a sample that counts as proved, and seconds.
    classes
        Labels in the order of the outputs.
    epochs, inner_steps, learning_rate, price_rate
        Of the paper's algorithm.
    """

    method: str = "path"
    seed: int = 0
    restarts: int | None = None
    device: Any = None
    batch: int | None = None
    progress: bool | None = None
    certify: str = "quick"
    tolerance: float = 0.01
    time_limit: float = 60.0
    classes: Sequence[Any] | None = None
    epochs: int = Schedule.epochs
    inner_steps: int = Schedule.inner_steps
    learning_rate: float = Schedule.learning_rate
    price_rate: float = Schedule.price_rate

    PAPER = ("epochs", "inner_steps", "learning_rate", "price_rate")
    PROOFS = ("tolerance", "time_limit")
    SEARCHED = ("seed", "restarts", "certify")

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Search:
        """The options of a user, each of them known, sound, and of use to the method chosen."""
        known = [f.name for f in fields(cls)]
        for name in given:
            if name not in known:
                raise InputError(f"{name}={given[name]!r} is not an option of networks; they are {', '.join(known)}.")
        search = cls(**given)
        _check_word("method", search.method, METHODS)
        _check_word("certify", search.certify, EFFORTS)
        idle = {"path": (*cls.PAPER, *cls.PROOFS), "exact": cls.PAPER, "paper": (*cls.PROOFS, *cls.SEARCHED)}[search.method]
        for name in idle:
            if name in given:
                raise InputError(f"{name}={given[name]!r} has no effect with method={search.method!r}; leave it out.")
        search._check_numbers()
        return search

    @property
    def schedule(self) -> Schedule:
        """Of the paper's algorithm."""
        return Schedule(self.epochs, self.inner_steps, self.learning_rate, self.price_rate)

    def _check_numbers(self) -> None:
        if self.progress not in (None, True, False):
            raise InputError(f"progress={self.progress!r} must be True, False, or None for a bar where there is a terminal.")
        for name, least in {"seed": 0, "restarts": 0, "epochs": 1, "inner_steps": 1, "batch": 1}.items():
            value = getattr(self, name)
            whole = isinstance(value, Integral) and int(value) >= least
            if not whole and not (name in ("batch", "restarts") and value is None):
                raise InputError(f"{name}={value!r} must be a whole number, {least} or more.")
        for name in ("tolerance", "time_limit", "learning_rate", "price_rate"):
            value = getattr(self, name)
            if not (isinstance(value, Real) and float(value) > 0.0 and (math.isfinite(value) or name == "time_limit")):
                raise InputError(f"{name}={value!r} must be a positive number.")


def _check_word(name: str, value: Any, known: Iterable[str]) -> None:
    if value not in tuple(known):
        raise InputError(f"{name}={value!r} is not known; use one of {', '.join(known)}.")
