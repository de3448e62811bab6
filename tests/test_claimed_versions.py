"""What pyproject.toml claims is what `make test-lowest` and `make test` install."""

from __future__ import annotations

import ast
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
from tippingpoint.files import factories, skops

ROOT = Path(__file__).parents[1]
UNTESTED = {"tomli": "a stand-in for Python 3.10; the versions are those of Python 3.11"}
"""Claims without a lowest version to test, and why."""

BROUGHT_BY = {
    "sklearn": "scikit-learn",
    "joblib": "scikit-learn",
    "PIL": "matplotlib",
    "mlflow": "mlflow-skinny",
    "distributed": "dask",
}
"""What installs a module of another name."""


def constraints(name: str) -> dict[str, Version]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if line and not line.startswith("#"))
    return {library: Version(version) for library, version in pairs}


def claims() -> dict[str, list[Requirement]]:
    """What everybody needs, by the name "", and what every extra needs, by its name."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = {"": project["dependencies"], **project["optional-dependencies"]}
    return {extra: [Requirement(line) for line in lines] for extra, lines in lists.items()}


CLAIMS = claims()
EVERY = [claim for needed in CLAIMS.values() for claim in needed]


def least(claim: Requirement) -> Version:
    (only,) = claim.specifier
    assert only.operator == ">="
    return Version(only.version)


@pytest.mark.parametrize("claim", CLAIMS[""], ids=str)
def test_the_lowest_version_claimed_is_the_one_tested(claim: Requirement) -> None:
    if claim.name in UNTESTED:
        pytest.skip(UNTESTED[claim.name])
    assert least(claim) == constraints("constraints-lowest.txt")[claim.name]


@pytest.mark.parametrize("claim", CLAIMS["dev"], ids=str)
def test_tools_that_are_tested_at_their_lowest_are_claimed_so(claim: Requirement) -> None:
    lowest = constraints("constraints-lowest.txt").get(claim.name)
    if lowest is not None:
        assert least(claim) == lowest


@pytest.mark.parametrize("claim", EVERY, ids=str)
def test_the_versions_of_every_day_fulfil_the_claims(claim: Requirement) -> None:
    chosen = constraints("constraints.txt").get(claim.name)
    if chosen is not None:
        assert claim.specifier.contains(chosen)


@pytest.mark.parametrize(("extra", "oldest"), [("skops", skops.MIN_VERSION), ("torch", factories.MIN_VERSION)])
def test_versions_that_are_refused_are_not_claimed(extra: str, oldest: tuple[int, int]) -> None:
    (claim,) = CLAIMS[extra]
    assert least(claim).release == oldest
    assert f"{'PyTorch' if extra == 'torch' else extra} {least(claim)} or newer" in (ROOT / "SECURITY.md").read_text("utf-8")


def imported(node: ast.AST) -> set[str]:
    """The modules that are imported somewhere in this piece of a program, other than for types."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return set()
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        return {str(node.module).partition(".")[0]}
    return set[str]().union(*map(imported, ast.iter_child_nodes(node)))


def test_the_library_imports_nothing_that_is_not_claimed() -> None:
    claimed = {claim.name for extra, needed in CLAIMS.items() if extra != "dev" for claim in needed}
    modules = set[str]().union(*(imported(ast.parse(path.read_bytes())) for path in (ROOT / "src").rglob("*.py")))
    foreign = modules - sys.stdlib_module_names - {"tippingpoint"}
    assert {BROUGHT_BY.get(name, name) for name in foreign} <= claimed


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
