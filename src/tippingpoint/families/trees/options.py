"""How a tree ensemble is proved: the options that users have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from tippingpoint.core.prover import Limits
from tippingpoint.errors import InputError
from tippingpoint.families.options import TIME_LIMIT, Options, check_progress, on_command_line
from tippingpoint.processors import threads_of


@dataclass(frozen=True)
class TreeOptions(Options):
    """How a tree ensemble is proved.

    Attributes
    ----------
    gap
        Between the bounds of a stability, relative to the upper one, at which its proof ends; 0 proves all that it can.
    time_limit
        Seconds for the proof of a question; what is proved by then is in the bounds.
    threads
        That work at once; None for all cores, as far as OMP_NUM_THREADS allows; -1 is all, -2 all but one. The numbers are the
        same.
    progress
        Whether to show the bounds as they close; None: on a terminal.
    classes
        Labels in the order of the outputs.
    """

    gap: float = field(
        default=1e-3,
        metadata=on_command_line("of tree ensembles: between the bounds, at which proofs end; default 0.001", kind="number"),
    )
    time_limit: float = field(default=60.0, metadata=TIME_LIMIT)
    threads: int | None = None
    progress: bool | None = None
    classes: Sequence[Any] | None = None

    def check(self, given: Mapping[str, Any]) -> None:
        if not (_is_number(self.gap) and 0.0 <= self.gap < 1.0):
            raise InputError(f"gap={self.gap!r} must be a number from 0 to 1, as 0.001 for a tenth of a percent.")
        if not (_is_number(self.time_limit) and self.time_limit > 0.0):
            raise InputError(f"time_limit={self.time_limit!r} must be a positive number of seconds; float('inf') for no limit.")
        threads_of(self.threads)
        check_progress(self.progress)

    @property
    def limits(self) -> Limits:
        """Of a proof."""
        return Limits(float(self.gap), float(self.time_limit))

    @property
    def workers(self) -> int:
        """Threads that work at once."""
        return threads_of(self.threads)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(float(value))
