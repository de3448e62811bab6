"""The workflow and the test on the page about gates do what the page says: they pass, and they stop a build."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from pages import ENVIRONMENT, ROOT, blocks

PAGE = ROOT / "docs/how-to/gate-a-build.md"
WORKFLOW = ".github/workflows/stability.yml"
GATE = "fail-below = 0.015"
TOO_HIGH = "fail-below = 0.5"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page, as its captions name them."""
    place = tmp_path_factory.mktemp("gate")
    for block in blocks(PAGE.read_text(encoding="utf-8")):
        if block.caption:
            path = place / block.caption
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
    return place


def steps(directory: Path) -> list[dict[str, Any]]:
    """The steps of the one job."""
    (job,) = yaml.safe_load((directory / WORKFLOW).read_text(encoding="utf-8"))["jobs"].values()
    return list(job["steps"])


def run(command: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """A command as a runner runs it: by a shell that ends at the first failure."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", command],  # noqa: S607  # the one on the path
        cwd=directory,
        env={**os.environ, **ENVIRONMENT, "PATH": path},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def build(directory: Path) -> tuple[list[str], subprocess.CompletedProcess[str]]:
    """The names of the steps that ran until one failed, and the last of them; what is installed is there already."""
    names = []
    for step in steps(directory):
        if "run" in step and not step["run"].startswith("pip install"):
            names.append(step["name"])
            done = run(step["run"], directory)
            if done.returncode != 0:
                break
    return names, done


def test_the_workflow_is_one_that_github_runs(directory: Path) -> None:
    workflow = yaml.safe_load((directory / WORKFLOW).read_text(encoding="utf-8"))
    assert workflow[True] == ["push", "pull_request"], "YAML 1.1 reads the key `on` as true; GitHub does not"
    assert all(("uses" in step) != ("run" in step) for step in steps(directory))
    installed = [step["run"] for step in steps(directory) if step.get("run", "").startswith("pip install")]
    assert installed == ["pip install tippingpoint"]


def test_the_gate_of_the_workflow_passes_and_then_fails(directory: Path) -> None:
    names, done = build(directory)
    assert (names, done.returncode) == (["Train", "Gate"], 0), done.stderr
    assert "gate: passed" in done.stderr
    kept = [directory / name for step in steps(directory) for name in step.get("with", {}).get("path", "").split()]
    assert [path.name for path in kept] == ["stability.html", "stability.json"]
    for path in kept:
        path.unlink()  # raises where the build did not write it

    options = directory / "stability.toml"
    asked = options.read_text(encoding="utf-8")
    assert asked.count(GATE) == 1
    options.write_text(asked.replace(GATE, TOO_HIGH), encoding="utf-8")
    names, done = build(directory)
    options.write_text(asked, encoding="utf-8")
    assert (names, done.returncode) == (["Train", "Gate"], 1), done.stderr
    assert "gate: failed" in done.stderr
    assert all(path.exists() for path in kept), "the files that tell why are there where the gate fails"


def test_the_test_of_the_page_fails_where_the_gate_is_too_high(directory: Path) -> None:
    if not (directory / "model.json").exists():
        assert run("python train.py", directory).returncode == 0
    example = (directory / "test_stability.py").read_text(encoding="utf-8")
    assert example.count("tp.Gate(0.015)") == 1
    (directory / "test_too_high.py").write_text(example.replace("tp.Gate(0.015)", "tp.Gate(0.5)"), encoding="utf-8")
    done = run("pytest -q -p no:cacheprovider test_too_high.py", directory)
    assert done.returncode == 1
    assert "Failed: the certified lower bound is" in done.stdout
    assert "1 failed" in done.stdout
