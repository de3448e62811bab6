"""How much is known of a stability: the same wherever it is read."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tippingpoint as tp
from tippingpoint.report.badges import standing
from tippingpoint.standing import Standing
from tippingpoint.text import bound, headline

FOUND = tp.stability(([1.0], -1.5), [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], 0.5, theta1=1.0, theta2=math.inf).summary
NOISY = {"exact": False, "lower": 0.0, "upper": math.inf, "upper_by": "noisy"}

CASES: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "exact": ({}, "exact", "exact", "exact"),
    "bounded": ({"exact": False, "lower": 0.05}, "bounded", "≥ 0.05", "two-sided"),
    "searched": ({"exact": False, "lower": 0.0}, "searched", "upper", "upper bound only"),
    "noisy": (NOISY, "estimate", "estimate", "estimate only"),
    "nothing found": (
        {"exact": False, "lower": 0.0, "value": math.inf, "upper": math.inf},
        "not found",
        "not found",
        "not found",
    ),
    "out of reach": ({"exact": True, "lower": math.inf, "value": math.inf, "upper": math.inf}, "exact", "exact", "exact"),
}


@pytest.mark.parametrize("case", CASES)
def test_text_and_badges_agree_with_the_standing(case: str) -> None:
    changes, kind, word, badge = CASES[case]
    summary = {**FOUND, **changes}
    assert Standing.of(summary).kind == kind
    assert bound(summary) == word
    assert standing(summary) == badge


@pytest.mark.parametrize("case", CASES)
def test_only_what_is_exact_is_certain_after_an_interrupt(case: str) -> None:
    changes, kind, _, _ = CASES[case]
    known = Standing.of({**FOUND, **changes, "interrupted": True})
    assert (known.kind, known.interrupted) == (kind, True)
    assert known.undecided is (kind != "exact")
    assert bound({**FOUND, **changes, "interrupted": True}) == ("exact" if kind == "exact" else "interrupted")


def test_a_standing_says_why() -> None:
    assert Standing.of(FOUND).why == FOUND["lower_by"]
    assert Standing.of({**FOUND, **NOISY}).why == "noisy"


HEADLINES = {
    "exact": "Stability 0.125: what it takes to lift the error rate from 0% to 50%.",
    "bounded": "Stability between 0.05 and 0.125: what it takes to lift the error rate from 0% to 50%.",
    "searched": "Stability at most 0.125: what was found to lift the error rate from 0% to 50%.",
    "noisy": "Stability about 0.125: an estimate of what it takes to lift the error rate from 0% to 50%.",
}


@pytest.mark.parametrize("case", HEADLINES)
def test_the_headline_claims_no_more_than_is_known(case: str) -> None:
    assert headline({**FOUND, **CASES[case][0]}) == HEADLINES[case]


def test_bounds_that_read_the_same_are_one_number() -> None:
    assert headline({**FOUND, "exact": False, "lower": FOUND["value"] * (1 - 1e-6)}) == HEADLINES["exact"]


@pytest.mark.parametrize(("case", "words"), [("searched", "found (an upper bound)"), ("noisy", "estimated (no bound)")])
def test_a_gate_on_the_value_says_what_the_value_is(case: str, words: str) -> None:
    judged = tp.Gate(0.1, on="value").judge({"model": {**FOUND, **CASES[case][0]}})
    assert judged.sentence == f"Passed: the stability {words} is 0.125; at least 0.1 was asked for."
