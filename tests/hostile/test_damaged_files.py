"""A few damaged files of every format; `hostile/damaged.py`, as a command, tries thousands."""

from __future__ import annotations

from pathlib import Path

import pytest

from damaged import FACTORY, KINDS, cases, outcome

TRIED = {"ONNX": 8, "skops, inside": 12}
"""How many of a format, where each takes a process of its own."""

OTHERS = 30
"""How many of all others."""


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_are_refused_or_answer(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "factory.py").write_text(FACTORY, encoding="utf-8")
    monkeypatch.delitem(__import__("sys").modules, "factory", raising=False)
    for whole in KINDS[kind].originals().values():
        assert outcome(kind, tmp_path, whole) == "answered"
    told = [outcome(kind, tmp_path, content) for _, content in cases(kind, TRIED.get(kind, OTHERS), seed=7)]
    assert "refused" in told or kind == "CSV", "a CSV file without its end is one"
