"""The compiled kernels: found where they are, done without where they are not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tippingpoint.families import trees
from tippingpoint.families.trees import kernels as seam

NAME = "tippingpoint.families.trees._kernels"


def test_a_build_answers_the_calls_that_python_makes() -> None:
    compiled = pytest.importorskip(NAME, reason="the kernels are not compiled here")
    assert compiled.version() == seam.VERSION
    assert seam.kernels() is compiled


def test_they_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(seam.SWITCH, "0")
    assert seam.kernels() is None


def test_they_need_not_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(trees, "_kernels", raising=False)
    monkeypatch.setitem(sys.modules, NAME, None)
    assert seam.kernels() is None


def test_a_build_of_other_sources_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seam, "VERSION", seam.VERSION + 1)
    assert seam.kernels() is None


def test_another_checkout_can_be_named_by_pythonpath(tmp_path: Path) -> None:
    """An installation that puts itself before PYTHONPATH would have one checkout tested in the name of another."""
    (tmp_path / "tippingpoint.py").write_text("", encoding="utf-8")
    words = [sys.executable, "-c", "import tippingpoint; print(tippingpoint.__file__)"]
    told = subprocess.run(words, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert Path(told.stdout.strip()).parent == tmp_path
