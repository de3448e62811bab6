"""The store of answers: JSON lines, each brought to the disk before the next call is made.

The first line names the format; every other line is an answer. A run that is killed loses the calls that were under way, and
no more. A last line that was cut off by that is taken off. Nothing is ever written to a file that is not a store: all of it is
checked before a byte of it is changed.
"""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tippingpoint.errors import InputError, OutputError
from tippingpoint.runs.outcomes import short, special_file
from tippingpoint.runs.planning import Planned
from tippingpoint.visible import visible

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

FORMAT = "tippingpoint.runs/2"
"""Name and version of the format, in its first line."""

READ = ("tippingpoint.runs/1", FORMAT)
"""Formats that are read; the first keeps no names of samples with its answers."""

HEADER_BEGINS = b'{"format": "tippingpoint.runs/'
"""How the first line of every store begins, also of one whose first line was cut off."""

RECORD_BEGINS = b'{"model": '
"""How every other line begins."""

Key = tuple[str, str, int]
"""Model, fingerprint of the prompt, number of the repeat."""


@dataclass(frozen=True)
class Reply:
    """What came of asking: an answer, or why there is none."""

    answer: Any = None
    error: str | None = None


@dataclass
class Store:
    """Answers by what was asked; written down as they come if there is a file.

    Attributes
    ----------
    path
        The file; None if answers are kept in memory only.
    replies
        What is known.
    functions
        Fingerprints of the functions that models without a name of their own are, by model.
    notes
        What was mended.
    """

    path: Path | None
    replies: dict[Key, Reply] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _handle: int = -1
    _writing: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str] | None, lines: Sequence[Planned], functions: Mapping[str, str | None] | None = None
    ) -> Store:
        """A store for these lines, new or with what earlier runs left; `functions` are models by name with fingerprints."""
        given = {name: each for name, each in (functions or {}).items() if each is not None}
        if path is None:
            return cls(None, functions=given)
        try:
            store = cls(Path(path), functions=given)
        except TypeError:
            raise InputError(f"store={short(path)} is no path; give the name of a file.") from None
        store._handle = _opened(store.path)  # type: ignore[arg-type]
        try:
            store._lock()
            store._read(lines)
        except BaseException:
            store.close()
            raise
        return store

    def add(self, key: Key, reply: Reply, line: Planned) -> None:
        """Write an answer down; it is on the disk when this returns."""
        with self._writing:
            known = self.replies.get(key)
            self.replies[key] = reply
            if self._handle < 0 or known == reply:  # as of a prompt that fails in every run
                return
            record: dict[str, Any] = {"model": key[0], "key": key[1], "repeat": key[2]}
            record |= {"sample": str(line.sample), "variant": line.variant}
            record |= {"function": self.functions[key[0]]} if key[0] in self.functions else {}
            record |= {"prompt": line.prompt} if isinstance(line.prompt, str) else {}
            record |= {"answer": reply.answer} if reply.error is None else {"error": reply.error}
            self._append(record)

    def close(self) -> None:
        """Let go of the file; what comes later is not written."""
        with self._writing:
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
            raise OutputError(
                f"store={self._shown} cannot be written: {error.strerror}; make room, and run this again."
            ) from None

    @property
    def _shown(self) -> str:
        return f"'{visible(self.path)}'"

    def _lock(self) -> None:
        """Refuse a second run on the same file."""
        if fcntl is None:
            return
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"store={self._shown} is in use by another run; wait for it, or give another store.") from None
        except OSError:  # a file system without locks
            return

    def _read(self, lines: Sequence[Planned]) -> None:
        """What is there already; the file stands at its end after this."""
        with os.fdopen(os.dup(self._handle), "rb") as file:
            content = file.read()
        held, rest = content.split(b"\n"), b""
        rest = held.pop()
        cut = len(content) - len(rest)
        if held or rest:
            self._check_header(held[0] if held else rest, whole=bool(held))
        mended = bool(rest) and bool(held) and _parsed(rest) is not None
        if mended:  # only its end of line is missing
            held.append(rest)
        elif held and rest and not (rest.startswith(RECORD_BEGINS) or RECORD_BEGINS.startswith(rest)):
            raise self._damaged(len(held) + 1)
        planned = {(str(line.sample), line.variant): line.key for line in lines}
        for number, line in enumerate(held[1:], 2):
            self._take(_parsed(line), number, planned)
        self._check_shared(planned)
        if mended:
            os.lseek(self._handle, 0, os.SEEK_END)
            os.write(self._handle, b"\n")
            os.fsync(self._handle)
        elif rest:
            os.ftruncate(self._handle, cut)
            self.notes.append(
                f"line {len(held) + 1} of {visible(self.path)} was cut off in the middle, and is taken off; its prompt is asked"
                " again"
            )
        os.lseek(self._handle, 0, os.SEEK_END)
        if not held:
            self._append({"format": FORMAT})

    def _check_header(self, line: bytes, *, whole: bool) -> None:
        """Refuse a file that is no store; a first line that was cut off may be one of ours."""
        found = _parsed(line)
        if isinstance(found, dict) and found.get("format") in READ:
            return
        if not whole and found is None and line.startswith(HEADER_BEGINS):
            return
        raise InputError(
            f"store={self._shown} is not a store: line 1 is not that of a store of answers. The file was left as it is. Give"
            " the name of a new file."
        )

    def _damaged(self, number: int) -> InputError:
        return InputError(
            f"{visible(self.path)}, line {number} is damaged in the middle of the file; nothing was changed: delete that line"
            " (its prompt is then asked again), or give another store."
        )

    def _take(self, record: Any, number: int, planned: Mapping[tuple[str, str], str]) -> None:
        """An answer out of the file, if it is one, and is of the same texts and the same function."""
        if not isinstance(record, dict):
            raise self._damaged(number)
        model, key, repeat, error = (record.get(name) for name in ("model", "key", "repeat", "error"))
        sound = isinstance(model, str) and isinstance(key, str) and type(repeat) is int and repeat >= 0
        if not sound or not isinstance(error, (str, type(None))):
            raise self._damaged(number)
        of = record.get("sample"), record.get("variant")
        if isinstance(of[0], str) and isinstance(of[1], str) and planned.get(of, key) != key:  # type: ignore[arg-type]
            raise InputError(
                f"store={self._shown} holds another text for {short(of[1])} of sample {short(of[0])}: other samples,"
                " variations, prompt= or seed=. Give what it was made with, or another store."
            )
        mine, theirs = self.functions.get(model), record.get("function")  # type: ignore[arg-type]
        if mine is not None and isinstance(theirs, str) and _version(mine) == _version(theirs) and mine != theirs:
            raise InputError(
                f"ask={short(model, str)} is another function than the one whose answers are in store={self._shown}. Set"
                f" name={short(model)} if they answer the same, or another name to ask again."
            )
        known = self.replies.get((model, key, repeat))  # type: ignore[arg-type]
        if known is None or known.error is not None:  # an answer is never replaced
            reply = Reply(record.get("answer")) if error is None else Reply(error=visible(error))
            self.replies[model, key, repeat] = reply  # type: ignore[index]

    def _check_shared(self, planned: Mapping[tuple[str, str], str]) -> None:
        """Refuse a store of which nothing is of use; say how much of it is of none."""
        wanted = set(planned.values())
        count = Counter(key[1] in wanted for key in self.replies)
        if count[False] and not count[True]:
            raise InputError(
                f"store={self._shown} holds {count[False]:,} answers, and none to these prompts: other samples, variations or"
                " prompt=. Give what it was made with, or another store."
            )
        if count[False]:
            self.notes.append(f"{count[False]:,} answers in the store are to prompts that are not asked here")


def _opened(path: Path) -> int:
    """A new file, or one that is there: a file, never a directory, a pipe or a device; nothing is written yet."""
    flags = os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)  # a pipe must not block
    shown = visible(path)
    try:
        if not path.exists() and not path.is_symlink():
            return os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
        kind = special_file(path.stat().st_mode)
        if kind is not None:
            raise InputError(f"store='{shown}' is a {kind}; give the name of a file.")
        handle = os.open(path, flags)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"store='{shown}' is no path ({error}); give the name of a file.") from None
    except FileNotFoundError as error:
        reason = "it is a link to nothing" if path.is_symlink() else error.strerror
        raise OutputError(f"store='{shown}' cannot be written: {reason}; check the path.") from None
    except OSError as error:
        raise OutputError(f"store='{short(path, str)}' cannot be written: {error.strerror}; check the path.") from None
    if special_file(os.fstat(handle).st_mode) is not None:  # exchanged meanwhile
        os.close(handle)
        raise InputError(f"store='{shown}' is not a file; give the name of one.")
    return handle


def _version(function: str) -> str:
    """The version of Python that a fingerprint is of: the same source has other code in another one."""
    return function.partition(":")[0]


def _parsed(line: bytes) -> Any:
    """A line as JSON; None if it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
