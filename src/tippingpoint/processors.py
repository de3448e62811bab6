"""Cores and memory that this process may use."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any

from tippingpoint.errors import InputError

LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables by which people limit the threads of numerical libraries; the first that is set counts for ours too."""

PLENTY = 2**33
"""Bytes that are taken to be free where the system does not say."""


def usable_cores() -> int:
    """How many threads can work at once here: what the system leaves to this process, not what the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_of(given: Any = None) -> int:
    """Threads to work with: as many as are given, by joblib's convention (-1 is all cores, -2 all but one).

    Where none are given, all cores, as far as the usual variables allow them.
    """
    cores = usable_cores()
    if given is None:
        said = next((os.environ[name] for name in LIMITS if os.environ.get(name)), "")
        first = said.split(",")[0].strip()  # OpenMP lists one number a level
        return min(cores, int(first)) if first.isdigit() and int(first) > 0 else cores
    if isinstance(given, bool) or not isinstance(given, Integral) or int(given) == 0:
        raise InputError(f"threads={given!r} must be a whole number: 1 or more, or -1 for all cores, -2 for all but one.")
    wanted = int(given)
    return wanted if wanted > 0 else max(cores + 1 + wanted, 1)


def free_memory() -> int:
    """Bytes that are free now, as far as the system says."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return PLENTY
