"""Malformed command lines and files: never a traceback, never code 3."""

from __future__ import annotations

import pytest

from malformed import trial

COUNT = 150
"""Cases of the small trial."""


@pytest.mark.filterwarnings("default")
def test_malformed_inputs_end_with_a_sentence() -> None:
    outcomes = trial(COUNT)
    assert [each for each in outcomes if each.fault] == []
    assert {0, 2} <= {each.code for each in outcomes}, "some of them are sound enough"
