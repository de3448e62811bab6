"""What is read of one run of one sample, from whatever log; and where it stood."""

from __future__ import annotations

import json
import math
import stat
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError
from tippingpoint.files.archives import FREE_BYTES
from tippingpoint.unpacking import unpacked_stream
from tippingpoint.visible import visible

COLUMNS = ("sample", "variant", "model", "repeat", "loss", "cost", "variation", "text", "original", "answer", "missing")
"""The columns of a table of runs, in their order; those that nothing is known of are left out."""

ORIGINAL = "original"
"""What the variant is called that is the sample as it is, where nobody names it otherwise."""


SHORT = 60
"""Letters of a value in a message."""

SPECIAL = {
    stat.S_ISDIR: "directory",
    stat.S_ISFIFO: "pipe",
    stat.S_ISSOCK: "socket",
    stat.S_ISCHR: "device",
    stat.S_ISBLK: "device",
}
"""Kinds of files that have no content of their own: reading one may never end."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: a file and, counted from 1, its line; no line where a file is not read by lines."""

    path: str
    line: int | None = None

    def __str__(self) -> str:
        path = visible(self.path)
        return path if self.line is None else f"{path}, line {self.line}"


@dataclass(slots=True)
class Outcome:
    """One run of one sample.

    Attributes
    ----------
    sample, variant, model, repeat
        Which: `repeat` counts repeated runs from 0.
    place
        Where it was read.
    task
        The task of the log; None in a table. Several tasks of one variant are parts of one benchmark.
    scores
        Metrics by name, as the log has them.
    loss, cost
        Where the log says them itself.
    text, answer
        The prompt as asked, and what came back.
    target, document, content
        The right answer, the fingerprint of the document that the log gives, and our own fingerprint of the document. They
        decide whether samples of different logs are the same.
    missing
        Why there is no outcome, where there is none.
    variation
        Which variations were made, as far as that is known.
    extra
        What else a table says.
    """

    sample: Any
    variant: str
    model: str
    place: Place
    repeat: int = 0
    task: str | None = None
    scores: dict[str, Any] = field(default_factory=dict)
    loss: float | None = None
    cost: float | None = None
    text: str | None = None
    answer: Any = None
    target: Any = None
    document: str | None = None
    content: str | None = None
    missing: str | None = None
    variation: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class Log:
    """A log.

    Attributes
    ----------
    path, outcomes
        The file, and its outcomes.
    dropped
        Lines that were left out, counted by the reason.
    notes
        What else must be reported of it.
    higher_is_better
        Whether a higher value is better, by metric, as far as the log says it; None for a table, where the user says it.
    """

    path: str
    outcomes: list[Outcome]
    dropped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    higher_is_better: dict[str, bool] | None = None


@dataclass(frozen=True)
class Choice:
    """What a user says of logs.

    Attributes
    ----------
    metric, filter, model
        Which of several; the model that a log does not name.
    columns
        Names of the columns of a table, by what they are.
    damaged
        What to do about a line that is cut off: "refuse", or "drop" and count it.
    """

    metric: str | None = None
    filter: str | None = None
    model: str | None = None
    columns: dict[str, str] = field(default_factory=dict)
    damaged: str = "refuse"


def json_lines(path: Path, choice: Choice, dropped: Counter[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON, one a line, each with its number; a last line that is cut off is refused or counted."""
    whole = read_bytes(path)
    lines = whole.split(b"\n")
    last = max((k for k, line in enumerate(lines, 1) if line.strip()), default=0)
    if not last:
        raise InputError(f"{path} is empty; give a log with one JSON object a line.")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            cut = number == last and not whole.endswith(b"\n")
            if cut and choice.damaged == "drop":
                dropped["cut off in the middle of the line"] += 1
                continue
            if cut:
                raise InputError(
                    f"{path}, line {number} is cut off in the middle: the run that wrote it did not end; run it again, or say"
                    " damaged='drop' (--drop-damaged) to go without that line, which is then counted."
                ) from None
            raise InputError(f"{path}, line {number} is not JSON ({_reason(error)}); mend or delete that line.") from None
        if not isinstance(record, dict):
            raise InputError(f"{path}, line {number} is no JSON object but {type(record).__name__}; write one object a line.")
        yield number, record


def read_bytes(path: Path) -> bytes:
    """The content of a log; one that is packed is unpacked within limits."""
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    try:
        with unpacked_stream(str(path), ".gz", FREE_BYTES) as stream:
            return stream.read()
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InputError(f"{visible(path)} cannot be unpacked ({error}); pack it again.") from None


def special_file(mode: int) -> str | None:
    """The kind of a file that is no regular file: a directory, a pipe, a device; None for a regular one."""
    if stat.S_ISREG(mode):
        return None
    return next((kind for test, kind in SPECIAL.items() if test(mode)), "special file")


def check_regular(path: Path) -> None:
    """Refuse a path that is no regular file, without opening it: a pipe would block, a device may never end."""
    try:
        kind = special_file(path.stat().st_mode)
    except FileNotFoundError:
        link = path.is_symlink()
        raise InputError(
            f"{visible(path)} is {'a link to nothing' if link else 'not there'}; give a log, or a folder with logs."
        ) from None
    except OSError as error:
        raise InputError(f"{short(path, str)} cannot be read: {error.strerror}; check the path.") from None
    except ValueError as error:
        raise InputError(f"{visible(path)} is no path ({error}); give a log, or a folder with logs.") from None
    if kind is not None:
        raise InputError(f"{visible(path)} is a {kind}, not a file; remove it, or give the logs themselves.")


def _reason(error: Exception) -> str:
    return getattr(error, "msg", None) or str(error) or "nested too deeply"


@contextmanager
def as_written(place: Place, form: str) -> Iterator[None]:
    """What does not fit into the form of a log, as a sentence: somebody, or a damage, has changed it."""
    try:
        yield
    except InputError:
        raise
    except (TypeError, KeyError, AttributeError, IndexError, ValueError, ArithmeticError, RecursionError) as error:
        reason = short(f"{type(error).__name__}: {error}", shown=str)
        raise InputError(f"{place} is not as {form} is written ({reason}); mend it, or leave it out.") from None


def check_names(outcomes: Sequence[Outcome]) -> None:
    """Refuse samples whose name is no name."""
    for each in outcomes:
        if each.sample is None or isinstance(each.sample, (dict, list)) or not isinstance(each.sample, Hashable):
            raise InputError(f"{each.place}: a sample is called {short(each.sample)}; give it text or a number for a name.")


def as_number(value: Any) -> float | None:
    """A finite number; None where it is none."""
    if isinstance(value, bool):
        return float(value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def short(value: Any, shown: Callable[[Any], str] = repr) -> str:
    """A value for a message: on one line, and not longer than a reader wants it."""
    text = visible(shown(value))
    return text if len(text) <= SHORT else f"{text[: SHORT - 3]}..."


def encodable(value: Any) -> Any:
    """A value of which all text can be encoded: half of a surrogate pair is written as its escape."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    if type(value) in (list, tuple):
        return type(value)(encodable(each) for each in value)
    if isinstance(value, dict):
        return {encodable(name): encodable(each) for name, each in value.items()}
    return value
