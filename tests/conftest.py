"""Hypothesis draws the same examples on every run; `HYPOTHESIS_PROFILE=explore` looks for new ones."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator

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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--lacking", default="", help="libraries that may be missing, with commas: tests of them are skipped")


def lacked(config: pytest.Config, said: str) -> str | None:
    """Why a test that failed with these words is skipped: it needs a library that is known to be missing."""
    missing = [name for name in config.getoption("--lacking").split(",") if name and f"No module named '{name}" in said]
    return f"{missing[0]} is not in this environment" if missing else None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    why = lacked(collector.config, str(report.longrepr)) if report.failed else None
    if why:
        report.outcome, report.longrepr = "skipped", (str(collector.path), 0, f"Skipped: {why}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    why = lacked(item.config, str(call.excinfo.value)) if report.failed and call.excinfo else None
    if why:
        report.outcome, report.longrepr = "skipped", (str(item.path), 0, f"Skipped: {why}")
    return report
