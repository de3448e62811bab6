"""What is read of one run of one sample, from whatever log; and where it stood."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError

COLUMNS = ("sample", "variant", "model", "repeat", "loss", "cost", "variation", "text", "original", "answer", "missing")
"""The columns of a table of runs, in their order; those that nothing is known of are left out."""

ORIGINAL = "original"
"""What the variant is called that is the sample as it is, where nobody names it otherwise."""


@dataclass(frozen=True)
class Place:
    """Where something stands: a file and, counted from 1, its line; no line where a file is not read by lines."""

    path: str
    line: int | None = None

    def __str__(self) -> str:
        return self.path if self.line is None else f"{self.path}, line {self.line}"


@dataclass
class Outcome:
    """One run of one sample.

    Attributes
    ----------
    sample, variant, model, repeat
        Which: `repeat` counts repeated runs from 0.
    place
        Where it was read.
    scores
        Metrics by name, as the log has them; larger is better.
    loss, cost
        Where the log says them itself.
    text, answer
        The prompt as asked, and what came back.
    target, document
        What would be right, and a fingerprint of what is asked about: by these, samples of different logs are the same or not.
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
    scores: dict[str, Any] = field(default_factory=dict)
    loss: float | None = None
    cost: float | None = None
    text: str | None = None
    answer: Any = None
    target: Any = None
    document: str | None = None
    missing: str | None = None
    variation: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class Log:
    """A log: its outcomes; what of it was left out, counted by the reason; what else must be said of it."""

    path: str
    outcomes: list[Outcome]
    dropped: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)


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
    lines = path.read_bytes().split(b"\n")
    last = max((k for k, line in enumerate(lines, 1) if line.strip()), default=0)
    if not last:
        raise InputError(f"{path} is empty; give a log with one JSON object a line.")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            cut = number == last and not path.read_bytes().endswith(b"\n")
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


def _reason(error: Exception) -> str:
    return getattr(error, "msg", None) or str(error) or "nested too deeply"


@contextmanager
def as_written(place: Place, form: str) -> Iterator[None]:
    """What does not fit into the form of a log, as a sentence: somebody, or a damage, has changed it."""
    try:
        yield
    except InputError:
        raise
    except (TypeError, KeyError, AttributeError, IndexError, ValueError) as error:
        raise InputError(
            f"{place} is not as {form} is written ({type(error).__name__}: {error}); mend it, or leave it out."
        ) from None


def check_names(outcomes: Sequence[Outcome]) -> None:
    """Refuse samples whose name is no name."""
    for each in outcomes:
        if each.sample is None or isinstance(each.sample, (dict, list)) or not isinstance(each.sample, Hashable):
            raise InputError(f"{each.place}: a sample is called {each.sample!r}; give it text or a number for a name.")


def as_number(value: Any) -> float | None:
    """A finite number; None where it is none."""
    if isinstance(value, bool):
        return float(value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
