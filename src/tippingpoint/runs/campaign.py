"""All runs of a plan, from the first call to the table: what is asked in which order, and what has come of it."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np

from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError
from tippingpoint.progress import rated_bar
from tippingpoint.runs.asking import Asker, Limits, Pool, ask_all
from tippingpoint.runs.joining import table_of
from tippingpoint.runs.judging import NO_ANSWER, NO_VERDICT, Judge, Verdict
from tippingpoint.runs.ordering import Question, State, expected_gain
from tippingpoint.runs.outcomes import COLUMNS, ORIGINAL, Outcome, Place, encodable
from tippingpoint.runs.planning import Planned
from tippingpoint.runs.store import Key, Reply, Store

ROUNDS = 20
"""Rounds in which what is left is asked; the order is made anew before each."""

HOPELESS = 20
"""Prompts that fail one after the other, before any has been answered, after which nothing more is asked."""

PLAIN = (str, int, float, bool, np.generic)
"""Types of what a sample says of itself that becomes a column."""


@dataclass(frozen=True)
class Job:
    """A prompt to ask of a model: once for all lines that have it."""

    key: Key
    model: int
    lines: tuple[int, ...]


class Campaign:
    """Every planned run of every model.

    Parameters
    ----------
    lines
        The plan, originals first.
    askers
        The models.
    store
        Where answers are, and go.
    judge
        Who says what an answer loses.
    pool, limits
        Who makes calls, and how many.
    repeats
        How often each prompt is asked.
    keeps_failed
        Whether prompts that failed before are not asked again.
    ordered
        Whether what moves the stability most is asked first.
    """

    def __init__(
        self,
        lines: Sequence[Planned],
        askers: Sequence[Asker],
        store: Store,
        judge: Judge,
        pool: Pool,
        limits: Limits,
        *,
        repeats: int,
        keeps_failed: bool,
        ordered: bool,
    ) -> None:
        self._lines, self._askers, self._store = lines, askers, store
        self._judgement, self._pool, self._limits = judge, pool, limits
        self._repeats, self._ordered = repeats, ordered
        self.interrupted: bool = False
        self.notes: list[str] = []
        self._loss = np.full((len(askers), len(lines), repeats), math.nan)
        self._replies: dict[Key, Reply] = {}
        self._judged: set[Key] = set()
        by_key: dict[str, list[int]] = {}
        for i, line in enumerate(lines):
            by_key.setdefault(line.key, []).append(i)
        self._jobs = [
            Job((asker.name, key, repeat), m, tuple(found))
            for m, asker in enumerate(askers)
            for key, found in by_key.items()
            for repeat in range(repeats)
        ]
        self._replies = {job.key: store.replies[job.key] for job in self._jobs if job.key in store.replies}
        failed = {key for key, reply in self._replies.items() if reply.error is not None}
        self._held, self._failed = len(self._replies) - len(failed), len(failed)
        # Prompts that failed before are asked again, and keep their error until they are answered.
        self._open = {job.key for job in self._jobs if job.key not in self._replies} | (set() if keeps_failed else failed)
        self._failures: dict[tuple[int, int, int], str] = {}
        self._verdicts = 0
        self._lock = threading.Lock()
        self._over = False
        self._answered = self._in_a_row = 0
        self._last_error = ""

    def run(self, question: Question, *, progress: bool | None) -> None:
        """Ask until all is asked, calls are used up, nothing but failures comes back, or somebody interrupts."""
        self._judge()
        total = len(self._open) if self._limits.calls is None else min(len(self._open), self._limits.calls)
        try:
            with rated_bar("asking", total, show=progress) as tick:
                self._first_then_rest(question, tick)
        except KeyboardInterrupt:
            if not self._replies:
                raise
            self.interrupted = True
            self.notes.append("interrupted: what was asked by then is here")
            self._judge()
        finally:
            with self._lock:  # calls that were left behind change nothing any more
                self._over = True
            self._limits.stopped.set()
        self._tell()

    @property
    def unasked(self) -> int:
        """Lines of the table to be that nobody asked about."""
        return sum(len(job.lines) for job in self._jobs if job.key not in self._judged)

    def waiting(self) -> Any:
        """The runs that were never made, as a frame; None where there are none."""
        import pandas as pd

        left = [(job.key[0], self._lines[i]) for job in self._jobs if job.key not in self._judged for i in job.lines]
        if not left:
            return None
        return pd.DataFrame(
            {
                "sample": [encodable(line.sample) for _, line in left],
                "variant": [encodable(line.variant) for _, line in left],
                "model": [encodable(model) for model, _ in left],
                "cost": [line.cost for _, line in left],
            }
        )

    def table(self) -> Any:
        """The runs that were made, as a frame."""
        outcomes = [self._outcome(job, i) for job in self._jobs if job.key in self._judged for i in job.lines]
        originals = {(each.sample, each.model) for each in outcomes if each.variant == ORIGINAL}
        kept = [each for each in outcomes if (each.sample, each.model) in originals]
        if not kept:
            raise InputError("nothing was asked, so there is no table; allow more calls.")
        place = {str(line.sample): k for k, line in enumerate(self._lines[: self._samples])}
        variants = {name: k for k, name in enumerate(dict.fromkeys(line.variant for line in self._lines))}
        kept.sort(key=lambda each: (place[str(each.sample)], variants[each.variant]))
        return table_of(kept, ORIGINAL)

    @property
    def _samples(self) -> int:
        return sum(1 for line in self._lines if not line.variation)

    def _first_then_rest(self, question: Question, tick: Any) -> None:
        """Originals; then the others in rounds, the most promising first."""
        begun = len(self._open)
        originals = range(self._samples)
        first = [job for job in self._jobs if job.key in self._open and any(i in originals for i in job.lines)]
        self._ask(first, tick, begun)
        while not self._ended:
            waiting = [job for job in self._jobs if job.key in self._open]
            if not waiting:
                return
            left = self._limits.left
            most = len(waiting) if left is None else min(len(waiting), left)
            batch = max(asker.batch or 1 for asker in self._askers)
            count = min(most, max(self._pool.concurrency * batch, self._repeats, math.ceil(most / ROUNDS)))
            before = self._limits.sent
            self._ask(self._best(waiting, question)[:count], tick, begun)
            if self._limits.sent == before:
                return

    @property
    def _ended(self) -> bool:
        return self._hopeless or self._limits.left == 0

    @property
    def _hopeless(self) -> bool:
        return self._in_a_row >= HOPELESS and not self._answered

    def _ask(self, jobs: Sequence[Job], tick: Any, begun: int) -> None:
        """Ask about these; answers are written down as they come, and judged when all are there."""
        by_model = []
        for m, asker in enumerate(self._askers):
            of_model = [job for job in jobs if job.model == m]
            size = asker.batch or 1
            parts = [of_model[k : k + size] for k in range(0, len(of_model), size)]
            by_model.append(
                [(asker, [self._lines[job.lines[0]].prompt for job in part], partial(self._record, part)) for part in parts]
            )
        batches = [each for turn in zip_longest(*by_model) for each in turn if each is not None]  # models take turns

        def goes_on() -> bool:
            tick(begun - len(self._open))
            return not self._ended

        ask_all(self._pool, batches, goes_on, self._limits)
        self._judge()

    def _record(self, jobs: Sequence[Job], replies: Sequence[Reply | None]) -> None:
        """Write down what came of asking; called by whoever asked, one at a time."""
        with self._lock:
            for job, reply in zip(jobs, replies, strict=True):
                if reply is None or self._over:
                    continue
                self._store.add(job.key, reply, self._lines[job.lines[0]])
                self._replies[job.key] = reply
                self._open.discard(job.key)
                self._judged.discard(job.key)
                self._answered += reply.error is None
                self._in_a_row = self._in_a_row + 1 if reply.error is not None else 0
                self._last_error = reply.error or self._last_error

    def _judge(self) -> None:
        """Losses of the lines whose answer has not been judged yet."""
        new = [job for job in self._jobs if job.key in self._replies and job.key not in self._judged]
        judged = [(job, i) for job in new if self._replies[job.key].answer is not None for i in job.lines]

        def loss(each: tuple[Job, int]) -> Verdict:
            job, i = each
            return self._judgement.loss(self._replies[job.key].answer, self._lines[i])

        verdicts = self._pool.map(loss, judged)
        self._verdicts += sum(verdict.failure is None for verdict in verdicts)
        if verdicts and not self._verdicts:  # a fault of the judge, not of an answer
            raise InputError(f"{verdicts[0].sentence}, and on every other; mend it, and run this again.")
        for (job, i), verdict in zip(judged, verdicts, strict=True):
            place = job.model, i, job.key[2]
            self._loss[place] = verdict.loss
            if verdict.failure is not None:
                self._failures[place] = verdict.failure
        self._judged.update(job.key for job in new)

    def _best(self, waiting: Sequence[Job], question: Question) -> list[Job]:
        """Those that wait, the most promising first; models take turns."""
        if not self._ordered:
            return list(waiting)
        gains = [self._gains(m, question) for m in range(len(self._askers))]
        ranked: list[tuple[int, int, Job]] = []
        for m in range(len(self._askers)):
            own = [job for job in waiting if job.model == m]
            own.sort(key=lambda job: (-sum(gains[job.model][i] for i in job.lines), self._lines[job.lines[0]].cost))
            ranked += [(rank // self._repeats, m, job) for rank, job in enumerate(own)]
        return [job for _, _, job in sorted(ranked, key=lambda each: each[:2])]

    def _gains(self, model: int, question: Question) -> FloatArray:
        names = {name: k for k, name in enumerate(dict.fromkeys(line.variant for line in self._lines))}
        known = np.zeros(len(self._lines), dtype=bool)
        for job in self._jobs:
            if job.model == model and job.key not in self._open:
                known[list(job.lines)] = True
        found = self._loss[model]
        judged = np.isfinite(found)
        count = judged.sum(axis=1)
        loss = np.where(count > 0, np.where(judged, found, 0.0).sum(axis=1) / np.maximum(count, 1), math.nan)
        state = State(
            np.array([line.number for line in self._lines], dtype=np.intp),
            np.array([names[line.variant] for line in self._lines], dtype=np.intp),
            np.array([line.cost for line in self._lines]),
            loss,
            known,
        )
        return expected_gain(state, question)

    def _outcome(self, job: Job, i: int) -> Outcome:
        line, reply, place = self._lines[i], self._replies[job.key], (job.model, i, job.key[2])
        loss = float(self._loss[place])
        unjudged = self._failures.get(place, NO_VERDICT) if math.isnan(loss) else None
        extra = {
            name: value
            for name, value in line.item.items()
            if isinstance(value, PLAIN) and name not in (*COLUMNS, "text", "sample", "variant")
        }
        return Outcome(
            sample=line.sample,
            variant=line.variant,
            model=job.key[0],
            place=Place("the answers"),
            repeat=job.key[2],
            loss=None if math.isnan(loss) else loss,
            cost=line.cost,
            text=line.prompt if isinstance(line.prompt, str) else None,
            answer=reply.answer,
            missing=reply.error or (NO_ANSWER if reply.answer is None else unjudged),
            variation=line.variation or None,
            extra=extra,
        )

    def _tell(self) -> None:
        """What must be said of the asking itself."""
        held = f"; {self._held:,} answers were in the store" if self._held else ""
        held += f"; {self._failed:,} prompts had failed before" if self._failed else ""
        self.notes.insert(0, f"{self._limits.sent:,} prompts sent{held}")
        lines = sum(len(job.lines) for job in self._jobs)
        if len(self._jobs) < lines:
            self.notes.append(f"{lines - len(self._jobs):,} runs share the answer to a prompt that is the same word for word")
        if self._hopeless:
            self.notes.append(f"stopped after {self._in_a_row} prompts that all failed: {self._last_error}")
        elif self._limits.left == 0 and self.unasked:
            self.notes.append(f"stopped at calls={self._limits.calls:,}")
