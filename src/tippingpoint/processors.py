"""Cores that this process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """How many threads can work at once here: what the system leaves to this process, not what the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
