"""The store of answers: JSON lines, each brought to the disk before the next call is made.

The first line says what was asked about; every other one is an answer. Whoever is killed loses the calls that were under way,
and no more. A last line that was cut off by that is taken off; anything else that cannot be read is an error that names its
line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError, OutputError, listed
from tippingpoint.runs.planning import Planned, fingerprint

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

FORMAT = "tippingpoint.runs/1"
"""Name and version of the format, in its first line."""

Key = tuple[str, str, int]
"""Model, fingerprint of the prompt, number of the repeat."""


@dataclass(frozen=True)
class Reply:
    """What came of asking: an answer, or why there is none."""

    answer: Any = None
    error: str | None = None


def header(lines: Sequence[Planned]) -> dict[str, Any]:
    """What a store is about: the samples and the variants of them."""
    originals = [line for line in lines if not line.variation]
    changed = [line for line in lines if line.variation]
    return {
        "format": FORMAT,
        "samples": {"count": len(originals), "sha256": fingerprint([[str(line.sample), line.key] for line in originals])},
        "variations": {
            "names": list(dict.fromkeys(line.variant for line in changed)),
            "sha256": fingerprint([[str(line.sample), line.variant, line.key] for line in changed]),
        },
    }


@dataclass
class Store:
    """Answers by what was asked; written down as they come where there is a file.

    Attributes
    ----------
    path
        The file; None where answers are kept in memory only.
    replies
        What is known.
    notes
        What was mended.
    """

    path: Path | None
    replies: dict[Key, Reply] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _handle: int = -1

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None, about: dict[str, Any]) -> Store:
        """A store of these samples and variants, new or with what an earlier run left."""
        if path is None:
            return cls(None)
        store = cls(Path(path))
        try:
            store._handle = os.open(store.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)  # type: ignore[arg-type]
        except OSError as error:
            raise OutputError(f"store={str(path)!r} cannot be written: {error.strerror}; check the path.") from None
        try:
            store._lock()
            store._read(about)
        except BaseException:
            store.close()
            raise
        return store

    def add(self, key: Key, reply: Reply, prompt: Any) -> None:
        """Write an answer down; it is on the disk when this returns."""
        self.replies[key] = reply
        if self._handle < 0:
            return
        record: dict[str, Any] = {"model": key[0], "key": key[1], "repeat": key[2]}
        record |= {"prompt": prompt} if isinstance(prompt, str) else {}
        record |= {"answer": reply.answer} if reply.error is None else {"error": reply.error}
        self._append(record)

    def close(self) -> None:
        """Let go of the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _append(self, record: dict[str, Any]) -> None:
        line = memoryview(json.dumps(record, ensure_ascii=True).encode() + b"\n")
        try:
            while line:
                line = line[os.write(self._handle, line) :]
            os.fsync(self._handle)
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written: {error.strerror}; make room, and run this again.") from None

    def _lock(self) -> None:
        """Refuse a second run on the same file."""
        if fcntl is None:
            return
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"store={str(self.path)!r} is in use by another run; wait for it, or give another store."
            ) from None
        except OSError:  # a file system without locks
            return

    def _read(self, about: dict[str, Any]) -> None:
        """What is there already; the file stands at its end after this."""
        with os.fdopen(os.dup(self._handle), "rb") as file:
            content = file.read()
        whole = content.rfind(b"\n") + 1
        lines = content[:whole].splitlines()
        rest = content[whole:]
        if rest and _parsed(rest) is not None:  # only its end of line is missing
            lines.append(rest)
            os.lseek(self._handle, 0, os.SEEK_END)
            self._write_end_of_line()
        elif rest:
            number = len(lines) + 1
            os.ftruncate(self._handle, whole)
            self.notes.append(
                f"line {number} of {self.path} was cut off in the middle, and is taken off; its prompt is asked again"
            )
        os.lseek(self._handle, 0, os.SEEK_END)
        if not lines:
            self._append(about)
            return
        self._check(_parsed(lines[0]), about)
        for number, line in enumerate(lines[1:], 2):
            record = _parsed(line)
            try:
                key = str(record["model"]), str(record["key"]), int(record["repeat"])
                self.replies[key] = Reply(record.get("answer"), record.get("error"))
            except (TypeError, KeyError, ValueError):
                raise InputError(
                    f"{self.path}, line {number} is damaged in the middle of the file; nothing was changed: delete that line"
                    " (its prompt is then asked again), or give another store."
                ) from None

    def _write_end_of_line(self) -> None:
        os.write(self._handle, b"\n")
        os.fsync(self._handle)

    def _check(self, found: Any, about: dict[str, Any]) -> None:
        """Refuse the store of something else."""
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise InputError(f"{self.path}, line 1 is not that of a store of answers; give another store, which is then made.")
        for what, noun in (("samples", "samples"), ("variations", "variations of them")):
            held, wanted = found.get(what) or {}, about[what]
            if held.get("sha256") != wanted["sha256"]:
                of = f"{held.get('count')}" if what == "samples" else listed(held.get("names") or ())
                now = f"{wanted.get('count')}" if what == "samples" else listed(wanted["names"])
                raise InputError(
                    f"{self.path} holds answers for other {noun} ({of}; now {now}, or other texts, or another seed); give"
                    " another store, or what it was made with."
                )


def _parsed(line: bytes) -> Any:
    """A line as JSON; None where it is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
