"""How a network is searched: the options that users have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar

from tippingpoint.errors import InputError
from tippingpoint.families.options import SEED, TIME_LIMIT, Options, check_choice, check_progress, check_whole, on_command_line

METHODS = ("path", "exact", "paper")
"""What `method` may be."""

EFFORTS = {"none": 0.0, "quick": 2e10, "tight": 4e12}
"""What `certify` may be: multiplications that go into lower bounds; about a second, and a minute or two."""


@dataclass(frozen=True)
class Schedule:
    """The hyper-parameters of the two algorithms.

    Attributes
    ----------
    epochs
        Outer iterations, each with one step on the price.
    inner_steps
        Gradient steps on the samples in each.
    learning_rate
        Adam's rate for the samples.
    price_rate
        Adam's rate for the price.
    """

    epochs: int = 200
    inner_steps: int = 20
    learning_rate: float = 0.01
    price_rate: float = 0.05


@dataclass(frozen=True)
class NetworkOptions(Options):
    """How a network is searched.

    Attributes
    ----------
    method
        "path" (default), "exact" (proofs, for one hidden layer of ReLUs) or "paper" (the published gradient ascent).
    seed
        Of the random starts.
    restarts
        Random starts at every price; by default more for fewer samples.
    device
        Where the module is to run; where it is, if None.
    batch
        Rows that the module sees at once.
    progress
        Whether to show a bar; None: on a terminal.
    certify
        How hard to try for a lower bound on what is only searched: "quick" (about a second), "tight" (minutes) or "none".
    tolerance
        Of `method="exact"`: the relative gap at which a sample counts as proved.
    time_limit
        Of `method="exact"`: seconds for the proofs of a question.
    classes
        Labels in the order of the outputs.
    epochs
        Of `method="paper"`: outer iterations, each with one step on the price.
    inner_steps
        Of `method="paper"`: gradient steps on the samples in each epoch.
    learning_rate
        Of `method="paper"`: Adam's rate for the samples.
    price_rate
        Of `method="paper"`: Adam's rate for the price.
    """

    method: str = field(
        default="path",
        metadata=on_command_line("of networks: search, prove, or the published algorithm; default path", choices=METHODS),
    )
    seed: int = field(default=0, metadata=SEED)
    restarts: int | None = None
    device: Any = None
    batch: int | None = None
    progress: bool | None = None
    certify: str = field(
        default="quick", metadata=on_command_line("of networks: effort for the lower bound; default quick", choices=EFFORTS)
    )
    tolerance: float = 0.01
    time_limit: float = field(default=60.0, metadata=TIME_LIMIT)
    classes: Sequence[Any] | None = None
    epochs: int = Schedule.epochs
    inner_steps: int = Schedule.inner_steps
    learning_rate: float = Schedule.learning_rate
    price_rate: float = Schedule.price_rate

    PAPER: ClassVar = ("epochs", "inner_steps", "learning_rate", "price_rate")
    PROOFS: ClassVar = ("tolerance", "time_limit")
    SEARCHED: ClassVar = ("seed", "restarts", "certify")

    def check(self, given: Mapping[str, Any]) -> None:
        check_choice("method", self.method, METHODS)
        check_choice("certify", self.certify, EFFORTS)
        idle = {"path": (*self.PAPER, *self.PROOFS), "exact": self.PAPER, "paper": (*self.PROOFS, *self.SEARCHED)}[self.method]
        for name in idle:
            if name in given:
                raise InputError(f"{name}={given[name]!r} has no effect with method={self.method!r}; leave it out.")
        check_progress(self.progress)
        for name, least in {"seed": 0, "epochs": 1, "inner_steps": 1}.items():
            check_whole(name, getattr(self, name), least)
        check_whole("restarts", self.restarts, 0, optional=True)
        check_whole("batch", self.batch, 1, optional=True)
        for name in ("tolerance", "time_limit", "learning_rate", "price_rate"):
            value = getattr(self, name)
            if not (isinstance(value, Real) and float(value) > 0.0 and (math.isfinite(value) or name == "time_limit")):
                raise InputError(f"{name}={value!r} must be a positive number.")

    @property
    def schedule(self) -> Schedule:
        """Of the paper's algorithm."""
        return Schedule(self.epochs, self.inner_steps, self.learning_rate, self.price_rate)
