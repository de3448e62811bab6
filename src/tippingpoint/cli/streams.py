"""Standard output belongs to the answer, standard error to everything else that is printed."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from typing import TextIO

from tippingpoint.errors import OutputError
from tippingpoint.visible import LAYOUT, is_hidden, visible


class NoTerminal(io.TextIOBase):
    """Standard error that is no terminal, so that nobody draws progress bars on it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str, /) -> int:
        return self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return False


def prepare_streams(*, own: bool) -> None:
    """Make standard streams able to take any text; of our own process, also those that were closed: what goes there is lost."""
    if own:
        while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:  # a file that is opened later must not take their place
            pass
        os.close(spare)
        sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  # as long as we live
        sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  # as above
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without Greek letters shows their numbers
            stream.reconfigure(errors="backslashreplace")


def drain_streams(*, own: bool) -> None:
    """What could not be printed goes nowhere, so that the interpreter of our own process does not fail over it at its end."""
    for stream in filter(None, (sys.__stdout__, sys.__stderr__) if own else ()):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextlib.contextmanager
def answer_stream(*, own: bool) -> Iterator[TextIO]:
    """Standard output as it was; meanwhile, what a model or a library prints there goes to standard error.

    In a process of our own that includes what compiled code writes to the descriptor itself.
    """
    with contextlib.ExitStack() as stack:
        answer = stack.enter_context(_moved(sys.stdout)) if own and os.name == "posix" else sys.stdout
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        yield answer


@contextlib.contextmanager
def _moved(stream: TextIO) -> Iterator[TextIO]:
    """A stream on a descriptor of its own; that which it had leads to standard error until the end of the process."""
    stream.flush()
    moved = os.fdopen(os.dup(stream.fileno()), "w", encoding=stream.encoding, errors="backslashreplace")
    os.dup2(sys.stderr.fileno(), stream.fileno())
    try:
        yield moved
    finally:
        with contextlib.suppress(OSError):  # whoever wrote has heard of it
            moved.close()


@contextlib.contextmanager
def without_progress_bars(options: argparse.Namespace) -> Iterator[None]:
    """No progress bars with `--quiet`."""
    if not getattr(options, "quiet", False):
        yield
        return
    with contextlib.redirect_stderr(NoTerminal(sys.stderr)):
        yield


def print_answer(options: argparse.Namespace, text: str) -> None:
    """Print a part of the answer; whatever names in it hold, a terminal shows it and does nothing else."""
    _print(options.answer, visible(text, keep=LAYOUT))


def print_answer_json(options: argparse.Namespace, stored: str) -> None:
    """Print JSON exactly; what a terminal would obey, or cannot show, is written as JSON's own escapes."""
    encoding = getattr(options.answer, "encoding", None) or "utf-8"
    _print(options.answer, "".join(_as_json(letter, encoding) for letter in stored))


def print_stderr(text: str, keep: str = "") -> None:
    """A line on standard error, or several where line breaks are to `keep`, if anybody listens."""
    with contextlib.suppress(OSError, ValueError):
        print(visible(text, keep), file=sys.stderr)


def _print(stream: TextIO, text: str) -> None:
    try:
        print(text, file=stream, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(
            f"the answer cannot be printed: {error.strerror or error}; make room, or write it to a file."
        ) from None


def _as_json(letter: str, encoding: str) -> str:
    if letter.isascii():
        return letter
    try:
        letter.encode(encoding)
    except UnicodeEncodeError:
        return json.dumps(letter)[1:-1]
    return json.dumps(letter)[1:-1] if is_hidden(letter) else letter
