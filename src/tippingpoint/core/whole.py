"""Best responses that can only be had of all samples at once, seen in runs of samples."""

from __future__ import annotations

import math
import os
import threading

from tippingpoint.core.arrays import FloatArray
from tippingpoint.core.responses import BestResponses, Response


class Whole:
    """Best responses that can only be had of all samples at once, seen in runs: those at the last two prices are kept."""

    def __init__(self, responses: BestResponses) -> None:
        self._responses = responses
        self._kept: dict[tuple[str, float], Response] = {}
        self._lock = os.getpid(), threading.Lock()

    def part(self, rows: slice) -> BestResponses:
        return Part(self, self._responses.losses[rows], self._responses.ceiling, rows)

    def find(self, kind: str, argument: float) -> Response:
        """`respond`, `peak` or `escape` of all samples."""
        with self._lock_here():
            if (kind, argument) not in self._kept:
                responses = self._responses
                found = responses.peak() if kind == "peak" else getattr(responses, kind)(argument)
                self._kept = dict([*self._kept.items(), ((kind, argument), found)][-2:])
            return self._kept[kind, argument]

    def _lock_here(self) -> threading.Lock:
        """The lock of this process; one that was forked while another thread held it would wait forever."""
        process, lock = self._lock
        if process != os.getpid():
            self._lock = os.getpid(), threading.Lock()
            return self._lock[1]
        return lock


class Part:
    """A run of samples of responses that are found of all at once."""

    def __init__(self, whole: Whole, losses: FloatArray, ceiling: float, rows: slice) -> None:
        self._whole = whole
        self._rows = rows
        self.losses = losses
        self.ceiling = ceiling

    def respond(self, price: float) -> Response:
        return self._whole.find("respond", price).take(self._rows)

    def peak(self) -> Response:
        return self._whole.find("peak", math.inf).take(self._rows)

    def escape(self, lift: float) -> Response:
        return self._whole.find("escape", lift).take(self._rows)
