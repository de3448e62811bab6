"""Files that are written whole or not at all: the one place of the package that writes any.

A file is written beside its target under a name of its own, brought to the disk, and renamed. Whoever looks finds the old file
or the new one, whatever happens in between. What a killed run leaves behind is hidden, and the next run that writes to the same
folder removes it; the files of runs that are still alive are locked, and left alone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tippingpoint.errors import InputError, OutputError

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

PREFIX, SUFFIX = ".tippingpoint-", ".tmp"
"""What temporary files begin and end with: hidden, recognisable, and short enough wherever their target's name is."""

MAX_AGE_SECONDS = 3600.0
"""Seconds after which a temporary file is taken for a dead one, where files cannot be locked."""

NEW, PRIVATE = 0o666, 0o600
"""Modes: of a file that was not there, less the user's mask; and of one that was, until it gets its own."""

SPACE_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""Errors that another path would not help against."""


def write_file(path: Path, content: str | bytes) -> None:
    """Write one file completely, or leave everything as it is."""
    write_files({path: content})


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """Write all of these files completely, or none of them.

    Text is UTF-8; half a surrogate pair, which that cannot hold, is written as the escape that JSON has for it. A link is
    followed, a file that is there keeps its mode, and one that may not be written to is not replaced.
    """
    staged: list[_Staged] = []
    try:
        for path, content in contents.items():
            with _in_words(path):
                staged.append(_stage(path, content))
        for each in staged:
            with _in_words(each.path):
                each.publish()
        for folder in {each.target.parent for each in staged}:
            _sync(folder)
    finally:
        for each in staged:
            each.forget()


@dataclass
class _Staged:
    """A file that is complete but not yet where it belongs.

    Attributes
    ----------
    path, target
        As the user wrote it, and what it stands for.
    temporary, handle
        Where the content is now, and the open file, which holds the lock.
    """

    path: Path
    target: Path
    temporary: Path
    handle: int

    def publish(self) -> None:
        """Put the file in its place."""
        if fcntl is None:
            self._close()  # only POSIX renames a file that is open
        self.temporary.replace(self.target)

    def forget(self) -> None:
        """Let go of the file, and remove what is left of it."""
        with contextlib.suppress(OSError):
            self.temporary.unlink()
        self._close()

    def _close(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1


@contextlib.contextmanager
def _in_words(path: Path) -> Iterator[None]:
    """What the system says against a file, as a sentence."""
    try:
        yield
    except OSError as error:
        remedy = "make room, or write elsewhere" if error.errno in SPACE_ERRORS else "check the path"
        raise OutputError(f"{path} cannot be written: {error.strerror or error}; {remedy}.") from None


def _stage(path: Path, content: str | bytes) -> _Staged:
    """The content in a temporary file beside the one it is for, on the disk."""
    if "\0" in str(path):
        raise InputError(f"{str(path)!r} holds the character NUL, which no file's name can; leave it out.")
    target = Path(os.path.realpath(path))
    known = _status(target)
    if known is not None and not stat.S_ISREG(known.st_mode):
        raise InputError(f"{str(path)!r} is not a file; give the name of a file to write.")
    if known is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    _sweep(target.parent)
    temporary, handle = _reserve(target.parent, NEW if known is None else PRIVATE)
    staged = _Staged(path, target, temporary, handle)
    try:
        if known is not None:
            _take_after(handle, temporary, known)
        _write(handle, content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content)
        os.fsync(handle)
    except BaseException:
        staged.forget()
        raise
    return staged


def _status(target: Path) -> os.stat_result | None:
    try:
        return target.stat()
    except FileNotFoundError:
        return None


def _reserve(folder: Path, mode: int) -> tuple[Path, int]:
    """A new file that nobody else has, open and locked."""
    while True:
        name = folder / f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}"
        try:
            handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        except FileExistsError:
            continue
        if _lock(handle) is not False and os.fstat(handle).st_nlink > 0:
            return name, handle
        os.close(handle)  # another run took it for a dead one before it was locked, and removes it


def _lock(handle: int) -> bool | None:
    """Whether a file is ours now; None where that cannot be told, as there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


def _take_after(handle: int, temporary: Path, known: os.stat_result) -> None:
    """Give a file the owner, as far as that is allowed, and the mode of the one that it will replace."""
    if hasattr(os, "fchown"):
        with contextlib.suppress(OSError):
            os.fchown(handle, known.st_uid, known.st_gid)
    temporary.chmod(stat.S_IMODE(known.st_mode))


def _write(handle: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(handle, left) :]


def _sweep(folder: Path) -> None:
    """Remove the temporary files of runs that were killed."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        found = [Path(entry.path) for entry in entries if entry.name.startswith(PREFIX) and entry.name.endswith(SUFFIX)]
        for path in found:
            with contextlib.suppress(OSError):
                _remove_dead(path)


def _remove_dead(path: Path) -> None:
    """Remove a temporary file unless the run that it belongs to is alive: it then has a lock, or is young where none are."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        return
    old = time.time() - status.st_mtime > MAX_AGE_SECONDS
    if fcntl is None:
        if old:
            path.unlink()
        return
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        mine = _lock(handle)
        if old if mine is None else mine:
            path.unlink()
    finally:
        os.close(handle)


def _sync(folder: Path) -> None:
    """Bring the names of a folder to the disk too, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
