"""Hypothesis draws the same examples on every run; `HYPOTHESIS_PROFILE=explore` looks for new ones."""

from __future__ import annotations

import os
import sys

import pytest
from hypothesis import settings

# Before anything that uses OpenMP is imported: tests run side by side, and threads that wait for each other on busy cores are
# many times slower than one.
os.environ.setdefault("OMP_NUM_THREADS", "1")

pytest_plugins = ["commands", "workshop"]  # fixtures that several folders use

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests write factories of their own: what an earlier one had Python import under the same name is forgotten."""
    monkeypatch.delitem(sys.modules, "vendor", raising=False)


@pytest.fixture(autouse=True)
def drawn_alike() -> None:
    """PyTorch draws the same networks in every run and in every order of the tests."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(0)
