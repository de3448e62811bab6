"""A progress bar for long work: on a terminal, and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tick = Callable[[int], None]
"""Told how many of the steps are done."""


@contextmanager
def progress_bar(title: str, steps: int, *, show: bool | None) -> Iterator[Tick]:
    """A bar on standard error; `show=None` means where that is a terminal."""
    if not (sys.stderr.isatty() if show is None else show):
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True, force_terminal=show), transient=True) as bar:
        task = bar.add_task(title, total=steps)
        yield lambda done: bar.update(task, completed=done)


def _silent(done: int) -> None:
    pass
