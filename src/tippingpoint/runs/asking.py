"""Calls of the user's model: several at a time, no more than allowed, no faster than allowed, again where one fails."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tippingpoint.errors import InputError, TippingPointError
from tippingpoint.foreign import why
from tippingpoint.runs.store import Reply

LONGEST_PAUSE = 60.0
"""Seconds of a pause between two attempts, at most."""

Attempts = Generator[tuple[float, bool], tuple[Any, str | None], list[Reply | None]]
"""Pauses, and whether a call follows; told what came of it, an answer or an error; what comes of all."""

NOTHING: tuple[Any, str | None] = (None, None)
"""What comes of a pause."""

NO_CALLS_LEFT = "no calls left to try again"


@dataclass
class Limits:
    """How many prompts may still be sent, and when the next.

    Attributes
    ----------
    calls
        Prompts that may be sent in all, attempts that fail among them; None for any number.
    rate
        Prompts a second; None for as fast as they go.
    sent
        How many were.
    """

    calls: int | None = None
    rate: float | None = None
    sent: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _next: float = 0.0

    @property
    def left(self) -> int | None:
        """Prompts that may still be sent."""
        return None if self.calls is None else self.calls - self.sent

    def take(self, count: int) -> float | None:
        """Seconds to wait before so many prompts may be sent, which then count; None where they may not."""
        with self._lock:
            if self.stopped.is_set() or (self.calls is not None and self.sent + count > self.calls):
                return None
            self.sent += count
            if self.rate is None:
                return 0.0
            now = time.monotonic()
            begins = max(now, self._next)
            self._next = begins + count / self.rate
            return begins - now


@dataclass(frozen=True)
class Asker:
    """A model that can be asked, one prompt or a batch at a time; it may be asynchronous.

    Attributes
    ----------
    ask
        `ask(prompt)`, or `ask(prompts)` where there is a batch.
    name
        What the model is called.
    batch
        Prompts at once; None for one, given as it is.
    retries, backoff
        Attempts after the first, and seconds before the first of them; each waits twice as long as the one before.
    limits
        Of all calls of all models.
    """

    ask: Callable[[Any], Any]
    name: str
    batch: int | None
    retries: int
    backoff: float
    limits: Limits

    @property
    def asynchronous(self) -> bool:
        """Whether `ask` is a coroutine."""
        return inspect.iscoroutinefunction(self.ask) or inspect.iscoroutinefunction(type(self.ask).__call__)

    def replies(self, prompts: Sequence[Any]) -> list[Reply | None]:
        """What the model answers; None where it could not even be asked."""
        steps = self._attempts(prompts)
        try:
            pause, call = next(steps)
            while True:
                if pause > 0.0:
                    self.limits.stopped.wait(pause)
                pause, call = steps.send(_outcome(self.ask, self._argument(prompts)) if call else NOTHING)
        except StopIteration as end:
            return list(end.value)

    async def replies_later(self, prompts: Sequence[Any]) -> list[Reply | None]:
        """The same of a coroutine."""
        steps = self._attempts(prompts)
        try:
            pause, call = next(steps)
            while True:
                if pause > 0.0:
                    await asyncio.sleep(pause)
                pause, call = steps.send(await _outcome_later(self.ask, self._argument(prompts)) if call else NOTHING)
        except StopIteration as end:
            return list(end.value)

    def _argument(self, prompts: Sequence[Any]) -> Any:
        return prompts[0] if self.batch is None else list(prompts)

    def _attempts(self, prompts: Sequence[Any]) -> Attempts:
        """One attempt after the other, as pauses and calls for who makes them; what comes of it is returned."""
        error: str | None = None
        for attempt in range(self.retries + 1):
            if error is not None:
                yield min(self.backoff * 2.0 ** (attempt - 1), LONGEST_PAUSE), False
            pause = self.limits.take(len(prompts))
            if pause is None:
                return [None if error is None else Reply(error=f"{error} ({NO_CALLS_LEFT})") for _ in prompts]
            answered, error = yield pause, True
            if error is None:
                return self._read(answered, prompts)
        return [Reply(error=error) for _ in prompts]

    def _read(self, answered: Any, prompts: Sequence[Any]) -> list[Reply | None]:
        """Answers as they can be written down."""
        if inspect.isawaitable(answered):
            getattr(answered, "close", lambda: None)()
            raise InputError(f"ask of {self.name!r} returns a coroutine; write it as async def, so that it is awaited.")
        answers = [answered] if self.batch is None else answered
        if self.batch is not None and (not isinstance(answers, (list, tuple)) or len(answers) != len(prompts)):
            got = f"{len(answers)} answers" if isinstance(answers, (list, tuple)) else type(answers).__name__
            raise InputError(
                f"ask of {self.name!r} returns {got} for {len(prompts)} prompts; with batch= return a list, one each."
            )
        held: list[Reply | None] = []
        for answer in answers:
            try:
                held.append(Reply(json.loads(json.dumps(answer))))  # as it will be when it comes from the store
            except (TypeError, ValueError, RecursionError):
                raise InputError(
                    f"ask of {self.name!r} returns {type(answer).__name__}, which cannot be written down; return text, or what"
                    " JSON can hold."
                ) from None
        return held


def _outcome(ask: Callable[[Any], Any], argument: Any) -> tuple[Any, str | None]:
    try:
        return ask(argument), None
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001  # whatever a user's code raises is an answer that is missing
        return None, f"{type(error).__name__}: {why(error)}"


async def _outcome_later(ask: Callable[[Any], Any], argument: Any) -> tuple[Any, str | None]:
    try:
        return await ask(argument), None
    except (KeyboardInterrupt, GeneratorExit, asyncio.CancelledError):
        raise
    except BaseException as error:  # noqa: BLE001  # as above
        return None, f"{type(error).__name__}: {why(error)}"


class Pool:
    """Who makes calls side by side: threads, and an event loop in a thread of its own where models are asynchronous."""

    def __init__(self, concurrency: int, *, loop: bool) -> None:
        self.concurrency = concurrency
        self._threads = ThreadPoolExecutor(concurrency, thread_name_prefix="tippingpoint-ask")
        self._loop = asyncio.new_event_loop() if loop else None
        if self._loop is not None:
            self._runner = threading.Thread(target=self._loop.run_forever, daemon=True)
            self._runner.start()

    def submit(self, asker: Asker, prompts: Sequence[Any], record: Callable[[list[Reply | None]], None]) -> Future[None]:
        """Ask, and have what comes of it recorded: by who asked, as no interrupt reaches other threads than the main one."""

        def ask() -> None:
            record(asker.replies(prompts))

        async def ask_later() -> None:
            record(await asker.replies_later(prompts))

        if asker.asynchronous and self._loop is not None:
            return asyncio.run_coroutine_threadsafe(ask_later(), self._loop)
        return self._threads.submit(ask)

    def map(self, function: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
        """What a function makes of each."""
        return list(self._threads.map(function, values))

    def close(self) -> None:
        """End the threads; calls under way are waited for."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._runner.join()
            self._loop.close()


@contextmanager
def pool(concurrency: int, *, loop: bool) -> Iterator[Pool]:
    """A pool while it is needed."""
    made = Pool(concurrency, loop=loop)
    try:
        yield made
    finally:
        made.close()


def ask_all(
    pool: Pool,
    batches: Sequence[tuple[Asker, Sequence[Any], Callable[[list[Reply | None]], None]]],
    goes_on: Callable[[], bool],
    limits: Limits,
) -> None:
    """Ask about all batches, as many at a time as the pool has places; each comes with who records its replies.

    `goes_on` is asked after each. An error of ours waits until what is under way is recorded: answers that were paid for are
    not lost. So does an interrupt; a second one does not wait.
    """
    waiting, running = list(reversed(batches)), set[Future[None]]()
    failure: BaseException | None = None
    while waiting or running:
        try:
            while waiting and len(running) < pool.concurrency:
                running.add(pool.submit(*waiting.pop()))
            finished = wait(running, return_when=FIRST_COMPLETED).done
            running -= finished
            for future in finished:
                future.result()
            if not goes_on():
                waiting = []
        except TippingPointError as error:
            failure, waiting = failure or error, []
        except KeyboardInterrupt as interrupt:
            if isinstance(failure, KeyboardInterrupt):
                raise
            failure, waiting = interrupt, []
            limits.stopped.set()
    if failure is not None:
        raise failure
