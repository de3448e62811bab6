"""Keywords that nobody knows: every front door names the nearest, and whose it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tippingpoint as tp
from tippingpoint.api.settings import DOORS, QUESTION

X, Y, MODEL = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"], ([1.0], -1.5)

MISSPELT: dict[str, tuple[Callable[..., Any], dict[str, Any], str]] = {
    "a price": (
        tp.stability,
        {"thetha1": 1},
        "thetha1=1 is not known to stability; did you mean theta1, a setting of",
    ),
    "an option": (tp.stability, {"call": 5}, "call=5 is not known to stability; did you mean calls, an option of black boxes?"),
    "an argument": (tp.stability, {"sample_weights": [1]}, "did you mean sample_weight?"),
    "another door's": (tp.stability, {"features": ["x0"]}, "features=['x0'] is not known to stability; it is an argument of"),
    "nothing near": (
        tp.stability,
        {"colour": 3},
        "settings of a question are 'theta1', 'theta2', 'mix', 'budget', ",
    ),
    "an option of another family": (tp.stability, {"calls": 5}, "calls=5 is an option of a search (of black boxes)"),
    "of features": (tp.feature_stability, {"divergance": "kl"}, "feature_stability; did you mean divergence"),
}


@pytest.mark.parametrize("case", MISSPELT)
def test_a_keyword_that_is_not_known_is_answered_with_the_nearest(case: str) -> None:
    door, given, sentence = MISSPELT[case]
    with pytest.raises(tp.InputError) as caught:
        door(MODEL, X, Y, 0.5, **given)
    assert sentence in str(caught.value), str(caught.value)


def test_a_profile_asks_nothing_so_settings_belong_to_its_questions() -> None:
    with pytest.raises(tp.InputError, match=r"theta1=1 belongs to a question: ask profile\(\.\.\.\)\.stability"):
        tp.profile(MODEL, X, Y, theta1=1)
    with pytest.raises(tp.InputError, match=r"did you mean theta1, a setting of the question, which profile"):
        tp.profile(MODEL, X, Y, thetha1=1)


def test_the_questions_of_a_profile_refuse_in_the_same_words() -> None:
    profile: Any = tp.profile(MODEL, X, Y)
    with pytest.raises(tp.InputError, match=r"thetha1=1 is not known to Profile.stability; did you mean theta1"):
        profile.stability(0.5, thetha1=1)
    with pytest.raises(tp.InputError, match=r"did you mean theta2, a setting of the question\?"):
        profile.curve([0.5], teta2=1)
    with pytest.raises(tp.InputError, match=r"did you mean divergence"):
        profile.tradeoff([0.5], risk=0.5, divergance="kl")
    with pytest.raises(tp.InputError, match=r"seed=1 is not known to Profile.stability; it is an option of networks"):
        profile.stability(0.5, seed=1)


def test_tables_are_compared_by_the_same_settings() -> None:
    import pandas as pd

    table = pd.DataFrame({"sample": [1, 1, 2], "cost": [0, 1, 0], "loss": [0, 1, 0]})
    with pytest.raises(tp.InputError, match=r"thetha1=1 is not known to compare; did you mean theta1"):
        tp.compare({"a": table, "b": table}, risk=0.5, thetha1=1)
    with pytest.raises(tp.InputError, match="common=True pairs tables of alternatives"):
        tp.compare({"a": MODEL, "b": MODEL}, X, Y, 0.5, common=True)


def test_the_doors_have_the_arguments_that_are_listed() -> None:
    import inspect

    doors: dict[str, Any] = {
        "profile": tp.profile,
        "stability": tp.stability,
        "compare": tp.compare,
        "feature_stability": tp.feature_stability,
        "worst_risk": tp.worst_risk,
        "drift": tp.drift,
    }
    doors |= {"Profile.stability": tp.Profile.stability, "Profile.curve": tp.Profile.curve}
    doors |= {"Profile.worst_risk": tp.Profile.worst_risk}
    assert doors.keys() == DOORS.keys()
    for name, door in doors.items():
        taken = {each for each in inspect.signature(door).parameters if each not in ("self", "model", "models", "X", "y")}
        # A seed is an option of families, whoever else takes it.
        assert taken - {"settings", "options", "unknown", "seed", *QUESTION} == set(DOORS[name]), name
