"""How this process works on blocks: on some threads, and in memory that is used again."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import TypeVar

import numpy as np

from tippingpoint.core.arrays import blocks

LARGEST_FREED = 2**24
"""Bytes of freed memory from which on it goes back to the system: some tens of arrays of the size of a block."""

RUNS_A_THREAD = 4
"""Runs of neighbouring blocks that each thread is given: it takes as few as possible to keep all of them busy."""

S = TypeVar("S")
T = TypeVar("T")


def run(task: Callable[[S], T], several: Sequence[S], threads: int = 1) -> list[T]:
    """What a function makes of each, in their order, on so many threads."""
    if threads == 1 or len(several) <= 1:
        return _in_turn(task, several)
    runs = [several[part] for part in blocks(len(several), -(-len(several) // (RUNS_A_THREAD * threads)))]
    return [each for done in _pool(threads).map(partial(_in_turn, task), runs) for each in done]


def _in_turn(task: Callable[[S], T], several: Sequence[S]) -> list[T]:
    _keep_freed_memory()
    with np.errstate(all="ignore"):  # a setting of the thread; what is no number is noticed in what comes of it
        return [task(each) for each in several]


@lru_cache(maxsize=1)
def _keep_freed_memory() -> None:
    """Have the C library keep what is freed for the next array, instead of giving it back and asking for it again.

    Arrays of the size of a block would else be fresh pages each time, which takes longer than what is done with them. The C
    library of Linux learns from the largest array that was freed; this one is never touched, so it costs nothing.
    """
    np.empty(LARGEST_FREED, dtype=np.uint8)


@lru_cache(maxsize=4)
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that wait for work; a process that was forked has none of those of its parent."""
    return ThreadPoolExecutor(threads, thread_name_prefix="tippingpoint")


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows has no fork
    os.register_at_fork(after_in_child=_pool.cache_clear)
