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


@contextmanager
def rated_bar(title: str, steps: int, *, show: bool | None) -> Iterator[Tick]:
    """A bar with how many steps are made a second and how long the rest will take, for work whose pace is somebody else's."""
    if not (sys.stderr.isatty() if show is None else show):
        yield _silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(stderr=True, force_terminal=show), transient=True) as bar:
        task = bar.add_task(title, total=steps, rate="")

        def tick(done: int) -> None:
            bar.update(task, completed=done)
            speed = bar.tasks[0].speed
            bar.update(task, rate="" if speed is None else f"{speed:.3g}/s, left:")

        yield tick


def _silent(done: int) -> None:
    pass


@contextmanager
def interval_bar(title: str, *, show: bool | None) -> Iterator[Callable[[float, float], None]]:
    """Two bounds that close, on standard error; `show=None` means where that is a terminal."""
    if not (sys.stderr.isatty() if show is None else show):
        yield _unwatched
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True, force_terminal=show), transient=True) as bar:
        task = bar.add_task(title)
        yield lambda lower, upper: bar.update(task, description=f"{title} between {lower:.4g} and {upper:.4g}")


def _unwatched(lower: float, upper: float) -> None:
    pass
