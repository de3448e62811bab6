"""Hypothesis draws the same examples on every run; `HYPOTHESIS_PROFILE=explore` looks for new ones."""

from __future__ import annotations

import os

from hypothesis import settings

# Before anything that uses OpenMP is imported: tests run side by side, and threads that wait for each other on busy cores are
# many times slower than one.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
