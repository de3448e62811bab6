"""Hypothesis draws the same examples on every run; `HYPOTHESIS_PROFILE=explore` looks for new ones."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Generator
from pathlib import Path
from traceback import extract_tb
from typing import Any

import pytest
from hypothesis import settings

# Before anything that uses OpenMP is imported: tests run side by side, and threads that wait for each other on busy cores are
# many times slower than one.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Where a shell that runs tests in the background has it ignored: tests press Ctrl-C themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

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


SOURCE = Path(__file__).parents[1] / "src"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--lacking", default="", help="libraries that may be missing, with commas: tests of them are skipped")


def lacked(config: pytest.Config, error: BaseException | None) -> str | None:
    """Why a test that failed so is skipped: what it needs is known to be missing.

    Either the test itself wanted to import it, or the library asked for one of its extras. An import by the library that
    nobody asked for is no reason: without extras it has to work.
    """
    missing = [name for name in config.getoption("--lacking").split(",") if name]
    if not missing or error is None:
        return None
    wanted = str(error.name).partition(".")[0] if isinstance(error, ModuleNotFoundError) else None
    if wanted in missing and not any(Path(frame.filename).is_relative_to(SOURCE) for frame in extract_tb(error.__traceback__)):
        return f"{wanted} is not in this environment"
    asked = re.search(r"pip install 'tippingpoint\[(\w+)\]'", str(error))
    return f"the extra {asked[1]} is not in this environment" if asked else lacked(config, error.__cause__)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    call: pytest.CallInfo[Any] | None = getattr(report, "call", None)
    why = lacked(collector.config, call.excinfo.value) if report.failed and call and call.excinfo else None
    if why:
        report.outcome, report.longrepr = "skipped", (str(collector.path), 0, f"Skipped: {why}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    why = lacked(item.config, call.excinfo.value) if report.failed and call.excinfo else None
    if why:
        report.outcome, report.longrepr = "skipped", (str(item.path), 0, f"Skipped: {why}")
    return report
