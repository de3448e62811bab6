"""The reference holds every public name, command and option, each public name with an example that runs as a doctest."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

import tippingpoint as tp
from tippingpoint.cli.running import command_line

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
MODULES = ("tippingpoint", "tippingpoint.variations", "tippingpoint.costs", "tippingpoint.datasets", "tippingpoint.training")
CONSTANTS = {"__version__", "RACES", "EXCEPTIONS"}
"""Names of plain data: they are told of in a sentence."""


def public(module: str) -> set[str]:
    return set(importlib.import_module(module).__all__)


def test_the_page_of_python_lists_every_public_name_once() -> None:
    page = (REFERENCE / "python.md").read_text(encoding="utf-8")
    listed: dict[str, list[str]] = {module: [] for module in MODULES}
    module = ""
    for line in page.splitlines():
        named = re.match(r"\.\. currentmodule:: (\S+)", line)
        module = named[1] if named else module
        if re.fullmatch(r"   \w+", line):
            listed[module].append(line.strip())
    for module, names in listed.items():
        assert len(names) == len(set(names))
        assert set(names) == public(module) - CONSTANTS
    for name in CONSTANTS - {"__version__"}:
        assert f".{name}`" in page


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_an_example(module: str) -> None:
    """`--doctest-modules` runs them."""
    lacking = [
        name
        for name in public(module) - CONSTANTS
        if ">>> " not in (inspect.getdoc(getattr(importlib.import_module(module), name)) or "")
    ]
    assert not lacking


def test_every_method_of_an_answer_says_what_it_does() -> None:
    answers = (
        "Profile",
        "StabilityResult",
        "Sweep",
        "WorstRisk",
        "WorstRiskCurve",
        "FeatureStability",
        "Comparison",
        "Verdict",
        "Bootstrap",
        "Runs",
        "DriftResult",
        "DriftSeries",
    )
    for name in (*answers, "Space", "Gate"):
        for method, value in inspect.getmembers(getattr(tp, name)):
            if not method.startswith("_") and (callable(value) or isinstance(value, property)):
                assert inspect.getdoc(value), f"{name}.{method} has no docstring"


def test_every_command_has_a_section_with_its_options() -> None:
    page = (REFERENCE / "command-line.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## tippingpoint ([\w-]+)$", page, re.MULTILINE)
    assert sorted(sections) == sorted(command_line()[1])
    assert sorted(re.findall(r"^```\{command\} ([\w-]+)$", page, re.MULTILINE)) == sorted(sections)
    for section in page.split("\n## tippingpoint ")[1:]:
        assert f"\n$ tippingpoint {section.split()[0]}" in section, "each is shown at work"
