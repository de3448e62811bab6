"""What pyproject.toml claims is what `make test-lowest` and `make test` install."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from packaging.requirements import Requirement
from packaging.version import Version

import tippingpoint as tp

ROOT = Path(__file__).parents[1]
UNTESTED = {"tomli": "a stand-in for Python 3.10; the versions are those of Python 3.11"}
"""Claims without a lowest version to test, and why."""

EVERY_DAY = {"torch"}
"""Tested at the version of constraints.txt only, so no older one is claimed: older builds without CUDA were not to be had."""


def constraints(name: str) -> dict[str, Version]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {library: Version(version) for library, version in pairs}


def claims(*, tools: bool) -> list[Requirement]:
    """What users need, with every extra; or the tools of those who work on it."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for name, lines in project["optional-dependencies"].items() if (name == "dev") == tools for line in lines]
    return [Requirement(line) for line in [*([] if tools else project["dependencies"]), *extras]]


def least(claim: Requirement) -> Version:
    (only,) = claim.specifier
    assert only.operator == ">="
    return Version(only.version)


@pytest.mark.parametrize("claim", claims(tools=False), ids=str)
def test_the_lowest_version_claimed_is_the_one_tested(claim: Requirement) -> None:
    if claim.name in UNTESTED:
        pytest.skip(UNTESTED[claim.name])
    tested = "constraints.txt" if claim.name in EVERY_DAY else "constraints-lowest.txt"
    assert least(claim) == constraints(tested)[claim.name]


@pytest.mark.parametrize("claim", claims(tools=True), ids=str)
def test_tools_that_are_tested_at_their_lowest_are_claimed_so(claim: Requirement) -> None:
    lowest = constraints("constraints-lowest.txt").get(claim.name)
    if lowest is not None:
        assert least(claim) == lowest


@pytest.mark.parametrize("claim", [*claims(tools=False), *claims(tools=True)], ids=str)
def test_the_versions_of_every_day_fulfil_the_claims(claim: Requirement) -> None:
    chosen = constraints("constraints.txt").get(claim.name)
    if chosen is not None:
        assert claim.specifier.contains(chosen)


def test_the_version_to_cite_is_this_one() -> None:
    assert f"\nversion: {tp.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_every_pragma_that_hides_a_line_from_coverage_says_why() -> None:
    silent = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "pragma: no " in line and not line.partition("pragma: no ")[2].partition(" - ")[2].strip()
    ]
    assert silent == []
