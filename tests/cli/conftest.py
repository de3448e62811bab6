"""Every test writes factories of its own: what an earlier one had Python import under their name is forgotten."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "vendor", raising=False)
