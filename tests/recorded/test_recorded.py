"""The numbers stay what they were: every recorded case, to what a machine can repeat.

Closed forms repeat to 1e-9 anywhere: their models have rounded coefficients, so that no fit of others is in the numbers. What
is searched takes turns that a last digit decides, and forests and boosters are fitted by libraries: such cases are held to
their values, to 1e-6, with the versions they were recorded with, and left out with others. Bytes of pages are for
`record.py compare` on one machine.
"""

from __future__ import annotations

import math
from functools import lru_cache

import pytest
from cases import CASES
from flattening import Numbers
from record import FLOOR, read, versions

from compiled import WITHOUT
from tippingpoint.families.trees.kernels import kernels

EXACT, SEARCHED = 1e-9, 1e-6
"""Relative tolerance of what is closed, and of what is searched."""

VALUES = ("value", "lower", "upper", "current_risk", "difference", "reach", "limit")
"""What is compared of a search; how it got there, and how far it got, is its own."""

FITTED = {"queried": ("scikit-learn", "xgboost-cpu", "lightgbm", "numpy"), "network": ("torch", "numpy")}
"""Whose versions decide what a search finds."""

DIFFERENCES = ("gap",)
"""What is left of two numbers that nearly agree: another processor's rounding, so held to the tolerance as it stands."""

STEPS = ("evaluations", "trace.", "weight.largest", "letters", "notes")
"""Parts of names of what counts steps or words: another machine may need one more."""

FREE = {"command: evaluate, cvar": ("price", "standard_error")}
"""What has more than one right value: with a cap on weights the dual is flat at the top, and any price there is a best one."""


@lru_cache
def recorded() -> tuple[dict[str, Numbers], dict[str, str]]:
    return read()


def test_every_case_is_recorded() -> None:
    assert list(recorded()[0]) == list(CASES)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.kind != "bytes"])
def test_the_numbers_are_those_recorded(name: str) -> None:
    case, (before, libraries) = CASES[name], recorded()
    then = before[name]
    if case.kind != "exact":
        others = [each for each in FITTED[case.kind] if versions().get(each) != libraries.get(each)]
        if others:
            pytest.skip(f"recorded with another version of {', '.join(others)}")
    if name.startswith("trees: ") and kernels() is None:
        pytest.skip(WITHOUT)
    now = case.run()
    if case.kind != "exact":
        then, now = ({key: value for key, value in numbers.items() if key.split(".")[-1] in VALUES} for numbers in (then, now))
    assert list(now) == list(then)
    relative = EXACT if case.kind == "exact" else SEARCHED
    for key, value in then.items():
        if not any(part in key for part in STEPS) and key not in FREE.get(name, ()):
            least = relative if key.split(".")[-1] in DIFFERENCES else FLOOR * relative
            assert math.isnan(value) == math.isnan(now[key]), key
            assert math.isnan(value) or now[key] == pytest.approx(value, rel=relative, abs=least), key
