"""The README does what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

from commands import Command
from pages import alike

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_examples_run_as_pasted_and_print_what_is_shown() -> None:
    first, big, later = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    shown, drifted = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    names: dict[str, Any] = {"__name__": "readme"}
    printed = []
    for example in (first, big, later):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(example, "README.md", "exec"), names)  # noqa: S102  # our own README
        printed.append(out.getvalue())
    assert alike(shown, printed[0])
    assert alike(drifted, printed[2])
    assert shown.startswith(f"Stability {float(printed[1]):.4g}:")  # on a cluster as in memory


def test_the_result_shown_is_the_demos(cli: Command) -> None:
    code, out, _ = cli("demo", "--no-report")
    assert code == 0
    shown = re.findall(r"```text\n(.*?)```", README, re.DOTALL)[0]
    assert shown.splitlines()[0] in out


def test_the_two_commands_at_the_top_exist() -> None:
    makefile = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    for command in ("demo", "test"):
        assert f"make {command}" in README.split("```")[0]
        assert re.search(rf"^{command}:", makefile, re.MULTILINE)


def test_the_example_is_ten_lines() -> None:
    first = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert first is not None
    assert len([line for line in first.group(1).splitlines() if line.strip()]) <= 10


def test_its_first_screen_is_short_and_every_page_is_within_one_step() -> None:
    assert len(README.splitlines()) <= 132
    root = Path(__file__).parents[2]
    linked = set(re.findall(r"\]\(([^)#:]+)\)", README))
    assert all((root / target).exists() for target in linked)
    sections = ("start", "how-to", "explanation", "reference")
    pages = {path.relative_to(root).as_posix() for name in sections for path in (root / "docs" / name).glob("*.md")}
    assert pages - {f"docs/{name}/index.md" for name in sections} <= linked
