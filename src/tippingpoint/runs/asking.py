"""Calls of the user's model: several at a time, no more than allowed, no faster than allowed, again where one fails."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from tippingpoint.errors import InputError
from tippingpoint.foreign import why
from tippingpoint.runs.store import Reply
from tippingpoint.visible import visible

LONGEST_PAUSE = 60.0
"""Seconds of a pause between two attempts, at most."""

Attempts = Generator[tuple[float, bool], tuple[Any, str | None], list[Reply | None]]
"""Pauses, and whether a call follows; told what came of it, an answer or an error; what comes of all."""

NOTHING: tuple[Any, str | None] = (None, None)
"""What comes of a pause."""

PATIENCE = 1.0
"""Seconds that an event loop has to answer, or to end."""

BESIDE_LOOP = 32
"""Threads at least for what coroutines have done beside their event loop, as by `asyncio.to_thread`."""

NO_CALLS_LEFT = "no calls left to try again"


class BlockedError(InputError):
    """A coroutine blocks the event loop, so that nothing that was asked beside it can end."""


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
    timeout
        Seconds that a call may take; None for any number.
    limits
        Of all calls of all models.
    """

    ask: Callable[[Any], Any]
    name: str
    batch: int | None
    retries: int
    backoff: float
    timeout: float | None
    limits: Limits

    @property
    def asynchronous(self) -> bool:
        """Whether `ask` is a coroutine."""
        return inspect.iscoroutinefunction(self.ask) or inspect.iscoroutinefunction(type(self.ask).__call__)

    def replies(self, prompts: Sequence[Any], calls: Threads) -> list[Reply | None]:
        """What the model answers; None where it could not even be asked. Calls with a time limit are made on `calls`."""
        steps = self._attempts(prompts)
        try:
            pause, call = next(steps)
            while True:
                if pause > 0.0:
                    self.limits.stopped.wait(pause)
                pause, call = steps.send(self._outcome(prompts, calls) if call else NOTHING)
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
                pause, call = steps.send(await self._outcome_later(prompts) if call else NOTHING)
        except StopIteration as end:
            return list(end.value)

    def _argument(self, prompts: Sequence[Any]) -> Any:
        return prompts[0] if self.batch is None else list(prompts)

    def _outcome(self, prompts: Sequence[Any], calls: Threads) -> tuple[Any, str | None]:
        """What comes of one call."""
        argument = self._argument(prompts)
        if self.timeout is None:
            try:
                return self.ask(argument), None
            except BaseException as error:  # noqa: BLE001  # whatever a user's code raises is an answer that is missing
                return _settled(error, lambda: None)
        future = calls.submit(self.ask, argument)
        if not wait([future], self.timeout).done:
            calls.leave_one()
            return None, self._late
        return _settled(future.exception(), future.result)

    async def _outcome_later(self, prompts: Sequence[Any]) -> tuple[Any, str | None]:
        """The same of a coroutine, in a task of its own: its cancellation is not ours."""
        try:
            task = asyncio.ensure_future(self.ask(self._argument(prompts)))
        except BaseException as error:  # noqa: BLE001  # as above
            return _settled(error, lambda: None)
        done, _ = await asyncio.wait({task}, timeout=self.timeout)
        if not done:
            task.cancel()  # and not waited for: it may not obey
            return None, self._late
        return _settled(asyncio.CancelledError() if task.cancelled() else task.exception(), task.result)

    @property
    def _late(self) -> str:
        return f"TimeoutError: no answer within {self.timeout:g} seconds"

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
            except Exception:  # noqa: BLE001  # an object of the user's may raise anything
                raise InputError(
                    f"ask of {self.name!r} returns {type(answer).__name__}, which cannot be written down; return text, or what"
                    " JSON can hold."
                ) from None
        return held


def failure(error: BaseException) -> str:
    """What a call of the user's function raised, in words that a terminal can be shown."""
    return visible(f"{type(error).__name__}: {why(error)}")


def _settled(error: BaseException | None, answer: Callable[[], Any]) -> tuple[Any, str | None]:
    """What comes of a call that has ended; only an interrupt is raised."""
    if isinstance(error, KeyboardInterrupt):
        raise error
    return (answer(), None) if error is None else (None, failure(error))


class Threads(ThreadPoolExecutor):
    """Threads that nothing waits for: a call that never returns holds up neither the others nor the end of the program.

    A `ThreadPoolExecutor` in name, since an event loop accepts no other executor; its threads are joined at exit, these not.
    """

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self._count = count
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._begun: list[threading.Thread] = []
        self._starting = threading.Lock()

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def call() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                answer = function(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001  # whoever asks for the result is told
                future.set_exception(error)
            else:
                future.set_result(answer)

        self._tasks.put(call)
        with self._starting:
            if len(self._begun) < self._count:
                self._begun.append(threading.Thread(target=self._work, name="tippingpoint-ask", daemon=True))
                self._begun[-1].start()
        return future

    def leave_one(self) -> None:
        """Another thread may be started, in place of one whose call takes too long."""
        with self._starting:
            self._count += 1

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002  # as inherited
        """Let idle threads end; calls under way are left to themselves."""
        with self._starting:
            for _ in self._begun:
                self._tasks.put(None)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()
            del task  # nothing is kept while it waits


class Pool:
    """Who makes calls side by side: threads, and an event loop in a thread of its own if models are asynchronous."""

    def __init__(self, concurrency: int, *, loop: bool, timeout: float | None = None) -> None:
        self.concurrency = concurrency
        self.timeout = timeout
        # Those that ask may all be stuck when answers are judged; a call with a time limit leaves one of `_calls` behind.
        self._threads, self._calls, self._judges = (Threads(concurrency) for _ in range(3))
        self._closing = False
        self._loop = asyncio.new_event_loop() if loop else None
        if self._loop is not None:
            self._loop.set_default_executor(Threads(max(concurrency, BESIDE_LOOP)))
            self._loop.set_exception_handler(lambda *_: None)  # of tasks of the user's that are left at the end
            self._runner = threading.Thread(target=self._run, args=(self._loop,), daemon=True)
            self._runner.start()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        """Keep the loop going: an interrupt that a coroutine raises leaves it, and is also the outcome of that coroutine."""
        while not self._closing:
            with suppress(BaseException):
                loop.run_forever()
        loop.close()

    def submit(self, asker: Asker, prompts: Sequence[Any], record: Callable[[list[Reply | None]], None]) -> Future[None]:
        """Ask, and have what comes of it recorded: by who asked, as no interrupt reaches other threads than the main one."""

        def ask() -> None:
            record(asker.replies(prompts, self._calls))

        async def ask_later() -> None:
            record(await asker.replies_later(prompts))

        if asker.asynchronous and self._loop is not None:
            return asyncio.run_coroutine_threadsafe(ask_later(), self._loop)
        return self._threads.submit(ask)

    def map(self, function: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
        """What a function makes of each."""
        futures = [self._judges.submit(function, value) for value in values]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()

    def check_loop(self) -> None:
        """Refuse a coroutine that blocks the event loop: no time limit reaches it, and all others wait for it."""
        if self._loop is None or self.timeout is None:
            return
        beat = threading.Event()
        self._loop.call_soon_threadsafe(beat.set)
        if not beat.wait(self.timeout + PATIENCE):
            raise BlockedError(
                f"ask is asynchronous, and blocks its event loop for more than timeout={self.timeout:g} seconds. Await inside"
                " it, or write it as a plain function."
            )

    def close(self) -> None:
        """Let threads and the event loop end; a call that is stuck is left behind."""
        for threads in (self._threads, self._calls, self._judges):
            threads.shutdown()
        if self._loop is not None:
            self._closing = True
            asyncio.run_coroutine_threadsafe(self._end(self._loop), self._loop)
            self._runner.join(PATIENCE)

    @staticmethod
    async def _end(loop: asyncio.AbstractEventLoop) -> None:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=PATIENCE / 2)
        loop.stop()


@contextmanager
def pool(concurrency: int, *, loop: bool, timeout: float | None = None) -> Iterator[Pool]:
    """A pool while it is needed."""
    made = Pool(concurrency, loop=loop, timeout=timeout)
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
    interrupted = False
    while waiting or running:
        try:
            while waiting and len(running) < pool.concurrency:
                running.add(pool.submit(*waiting.pop()))
            finished = wait(running, None if pool.timeout is None else pool.timeout + PATIENCE, FIRST_COMPLETED).done
            running -= finished
            if not finished:
                pool.check_loop()
            errors = [error for error in map(_error, finished) if error is not None]
            if any(isinstance(error, KeyboardInterrupt) for error in errors):  # the user's function raised it
                limits.stopped.set()
            failure = failure or next(iter(errors), None)
            if failure is not None or not goes_on():
                waiting = []
        except BlockedError:
            raise
        except KeyboardInterrupt as interrupt:
            if interrupted:
                raise
            interrupted = True
            failure, waiting = interrupt, []
            limits.stopped.set()
    if failure is not None:
        raise failure


def _error(future: Future[None]) -> BaseException | None:
    """What a batch ended with, if not with its replies."""
    if future.cancelled():
        return InputError("ask cancels tasks of its event loop that are not its own; cancel only what it started.")
    return future.exception()
