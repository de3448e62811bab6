"""The page on real drifts: its table and verdicts are those of the numbers beside it, and these are what the library says."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from real_data import real_data

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> Any:
    """The script that made the page."""
    spec = importlib.util.spec_from_file_location("drift_states", ROOT / "benchmarks" / "drift_states.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for it there
    spec.loader.exec_module(module)
    return module


def test_the_page_says_what_its_numbers_say(script: Any) -> None:
    found = pd.read_csv(script.TABLE)
    page = script.PAGE.read_text(encoding="utf-8")
    assert script.table(found) in page
    assert script.verdicts(found) in page
    assert len(found) == 67


def test_what_does_not_work_is_on_the_page(script: Any) -> None:
    found = pd.read_csv(script.TABLE)
    coverage = found[(found["study"] == "coverage, logistic") & found["shift"].isin(script.STATES)]
    rise = coverage["error_after"] - coverage["error_before"]
    assert coverage["drift"].corr(rise, method="spearman") < 0.0, "larger drifts, smaller errors"


def test_the_numbers_are_what_the_library_says(script: Any) -> None:
    directory = real_data("acs")
    study = next(iter(script.studies(directory)))
    people = script.some(script.acs_income(directory, "PR"), script.ROWS, np.random.default_rng(1))
    now = script.measured(study, "PR", study.reference, people, 9)
    stored = pd.read_csv(script.TABLE)
    (line,) = stored[(stored["study"] == study.name) & (stored["shift"] == "PR")].to_dict("records")
    for name in ("error_before", "error_after", "used", "ceiling", "tolerance", "remaining", "labels"):
        assert now[name] == pytest.approx(line[name], rel=2e-3), name
    assert now["drift"] == pytest.approx(line["drift"], rel=5e-3)
