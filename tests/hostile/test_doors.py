"""A few attacks on logs, stores and calls; `hostile/doors.py` tries thousands."""

from __future__ import annotations

import os

import pytest

from doors import KINDS, trial

TRIED = 25
"""Cases of each kind."""


@pytest.mark.skipif(os.name != "posix", reason="pipes, devices and alarms are those of POSIX systems")
@pytest.mark.parametrize("kind", KINDS)
def test_odd_logs_stores_and_calls_end_with_an_answer_or_a_sentence(kind: str) -> None:
    outcomes = trial(kind, TRIED, seed=11)
    assert set(outcomes) <= {"answered", "refused"}
    assert outcomes["answered"], "some of them are sound enough"
