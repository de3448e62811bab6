"""Ctrl-C, at any moment: one line, no traceback, exit code 130. Nothing else is imported here, so that it is there early."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

INTERRUPTED = 130
"""The exit code that shells give to a program that was stopped."""

MESSAGE = "tippingpoint: interrupted."
"""The line on standard error."""

SHOW_CURSOR = b"\x1b[?25h"
"""What a terminal needs whose progress bar has no time to tidy up."""


class Interrupts:
    """What an interrupt does: it ends the process at once, except while a command works, which may tell what it has first.

    Attributes
    ----------
    code
        What the process would end with.
    patient
        Whether the next interrupt is an exception.
    arrived
        Whether one came while the command worked, whoever caught it.
    """

    def __init__(self) -> None:
        self.code: int = INTERRUPTED
        self.patient: bool = False
        self.arrived: bool = False

    def working(self) -> None:
        """From now on the first interrupt is an exception."""
        self.patient = True

    def finished(self, code: int) -> None:
        """The answer is out: an interrupt changes nothing about it any more."""
        self.patient, self.code = False, code

    def arrive(self, number: int, frame: FrameType | None) -> None:
        """An interrupt; a second one has no patience."""
        if self.patient:
            self.patient, self.arrived = False, True
            raise KeyboardInterrupt
        self._leave()

    def lost(self, unraisable: Any) -> None:
        """An exception that nobody can catch, as in a finaliser; an interrupt among them is heeded all the same."""
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._leave()
        sys.__unraisablehook__(unraisable)

    def _leave(self) -> None:
        """End without asking anybody; files are written whole, so none is left in halves."""
        with contextlib.suppress(OSError):
            if os.isatty(2):
                os.write(2, SHOW_CURSOR)
            if self.code == INTERRUPTED:
                os.write(2, f"{MESSAGE}\n".encode())
        os._exit(self.code)


@contextlib.contextmanager
def interruptible(*, own: bool) -> Iterator[Interrupts]:
    """Interrupts of a process of our own, for good; those of another's process, or that are ignored, are left as they are."""
    interrupts = Interrupts()
    if own and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupts.arrive)
        sys.unraisablehook = interrupts.lost
    yield interrupts
