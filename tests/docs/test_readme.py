"""The README does what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from commands import Command

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_every_example_runs_as_pasted_and_the_first_prints_what_is_shown() -> None:
    examples = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    shown = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    assert len(examples) == 9
    printed, names = [], {"__name__": "readme"}
    for example in examples:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(example, "README.md", "exec"), names)  # noqa: S102  # our own README
        printed.append(out.getvalue())
    # Digits beyond the fourth depend on the version of scikit-learn that trained the model.
    assert printed[0].splitlines()[0] == shown[0].splitlines()[0]
    assert [line[:18] for line in printed[0].splitlines()] == [line[:18] for line in shown[0].splitlines()]
    assert "difference" in printed[1], "the comparison is printed"
    assert "closes" in printed[2], "the ranking of features"
    assert "Try targeted adversarial training" in printed[2], "the advice"
    assert printed[3].startswith(shown[1]), "the space is shown as it is"
    assert "exact: ≥" in printed[3], "a pipeline is exact in raw columns"
    assert re.search(r"(two-sided|exact): ≥ [^≤]+≤ ", printed[4]), "the booster is proved from both sides"
    assert [line[:18] for line in printed[4].splitlines()][:3] == [line[:18] for line in shown[2].splitlines()][:3]
    assert printed[5].count("two-sided: ≥") == 2, "the network is bounded from both sides, under both losses"
    assert {"ERM", "AT", "tilted"} <= set(printed[6].split()), "three trainings are compared"
    assert "upper bound only" in printed[7], "the black box says what it is"
    assert printed[8].startswith("Stability"), "the table too"


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
