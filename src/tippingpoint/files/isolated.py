"""A child process with limits, for what only a limit from outside can bound: a graph that loops or asks for memory.

Parent and child speak in messages of named arrays, without pickle: a child that was taken over can answer wrongly, but not run
anything here. The child holds no more memory than `MEMORY`, is ended where an answer takes longer than `SECONDS`, and ends by
itself when its parent does.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tippingpoint.errors import InputError

MEMORY = 4 * 2**30
"""Bytes of address space that a child may hold, where the system keeps such limits."""

SECONDS = 60.0
"""How long a child may take for one answer."""

LIMITS = f"{SECONDS:g} seconds an answer and {MEMORY // 2**30} GiB"
"""The same, in words."""

WATCH_SECONDS = 2.0
"""Seconds from one look of a child at whether its parent is still there to the next."""

LENGTH = 8
"""Bytes of the length in front of every message."""

MAX_MESSAGE_BYTES = 2**32
"""Bytes of the longest message that is read."""

ERROR = "error"
"""Name under which a child answers with a sentence instead."""

Message = Mapping[str, np.ndarray[Any, Any]]
"""Arrays of numbers, booleans, bytes or text, by name."""

Handler = Callable[[Message], Message]
"""What a child does with a message."""

BOOT = "import sys; sys.path[:] = sys.argv[2:]; from tippingpoint.files.isolated import serve; serve(sys.argv[1])"
"""The child's program: modules come from where the parent's come from, never from the directory it stands in."""

HOME = str(Path(__file__).resolve().parents[2])
"""Where this package lies; the parent may have found it from the directory it stands in."""

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1") | {"MALLOC_ARENA_MAX": "2"}
"""Settings of a child: threads and their arenas reserve address space that is never used, and would count."""


class Child:
    """A process of ours that answers messages by `module:function`.

    Parameters
    ----------
    answer
        Who answers there: a function of a module of this package, `Message` to `Message`.
    subject
        What it works on, as errors call it.
    """

    def __init__(self, answer: str, subject: str) -> None:
        self._subject = subject
        self._lock = threading.Lock()
        self._process = subprocess.Popen(  # noqa: S603  # our own program
            [sys.executable, "-c", BOOT, answer, HOME, *filter(None, sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ONE_THREAD},
            start_new_session=True,  # Ctrl-C is the parent's to handle
        )
        self._owner = os.getpid()
        self._finalizer = weakref.finalize(self, _end, self._process, self._owner)

    def ask(self, message: Message) -> dict[str, np.ndarray[Any, Any]]:
        """The answer; an error that says what became of the child where there is none."""
        if os.getpid() != self._owner:
            raise InputError(
                f"{self._subject} was opened before this process was forked. Load the model again in this process."
            )
        with self._lock:
            late = threading.Timer(SECONDS, self._process.kill)
            late.start()
            began = time.monotonic()
            try:
                _write(_pipe(self._process.stdin), message)
                answer = _read(_pipe(self._process.stdout))
            except (OSError, EOFError, ValueError):
                raise InputError(f"{self._subject} {self._why_silent(time.monotonic() - began)}") from None
            except BaseException:  # interrupted: what it would say next belongs to no question
                self.close()
                raise
            finally:
                late.cancel()
        if ERROR in answer:
            raise InputError(f"{self._subject} fails within its limits, {LIMITS}: {answer[ERROR].item()}")
        return answer

    def close(self) -> None:
        """End the process."""
        self._finalizer()

    def _why_silent(self, took: float) -> str:
        """What became of a child that did not answer, and what to do about it."""
        self.close()
        if took >= SECONDS:
            return f"takes longer than {SECONDS:g} seconds for one answer, the limit of a model that is not trusted."
        if self._process.returncode == -signal.SIGABRT:
            return f"ends its process, perhaps for want of memory; its limits are {LIMITS}."
        return f"crashes the process that it runs in (code {self._process.returncode}); the file is damaged or hostile."


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() != owner:  # forked: the process still works for the other one
        return
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):  # what was still to be sent
            _pipe(pipe).close()


def _pipe(pipe: Any) -> BinaryIO:
    """A pipe of a process that was started with pipes."""
    stream: BinaryIO = pipe
    return stream


def serve(answer: str) -> None:
    """The child's side: answer messages until the parent closes the pipe or ends."""
    _limit()
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    module, _, function = answer.partition(":")
    respond: Handler = getattr(__import__(module, fromlist=[function]), function)
    while True:
        try:
            message = _read(requests)
        except EOFError:
            return
        try:
            reply = respond(message)
        except MemoryError:
            reply = {ERROR: np.array("it needs more memory than that.")}
        except Exception as error:  # noqa: BLE001  # whatever it is, the parent says it
            reply = {ERROR: np.array(_sentence(error))}
        _write(replies, reply)


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())[:SENTENCE].rstrip(" .")
    return f"{type(error).__name__}: {text}." if text else f"{type(error).__name__}."


SENTENCE = 200
"""Letters of another library's error that are passed on."""


def _limit() -> None:
    if sys.platform == "win32":
        return
    import resource

    for kind, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(OSError, ValueError):  # a system without this limit, or with a lower one
            resource.setrlimit(kind, (most, most))


def _watch(parent: int) -> None:
    """End with the parent, even in the midst of a computation that never ends."""
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(1)


def _write(stream: BinaryIO, message: Message) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, **dict(message))  # type: ignore[arg-type]  # its stubs know of one more keyword
    content = buffer.getbuffer()
    stream.write(len(content).to_bytes(LENGTH, "big"))
    stream.write(content)
    stream.flush()


def _read(stream: BinaryIO) -> dict[str, np.ndarray[Any, Any]]:
    length = int.from_bytes(_exactly(stream, LENGTH), "big")
    if length > MAX_MESSAGE_BYTES:
        raise ValueError("a message is longer than any that is sent")
    with np.load(io.BytesIO(_exactly(stream, length)), allow_pickle=False) as held:
        return {name: held[name] for name in held.files}


def _exactly(stream: BinaryIO, length: int) -> bytes:
    found = stream.read(length)
    if len(found) < length:
        raise EOFError("the other side has ended")
    return found
