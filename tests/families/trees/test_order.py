"""What a profile learns at one question is kept for the next; what it answers does not depend on it."""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from compiled import needs_kernels
from small_trees import LIBRARIES, NUMBERS, amounts, people, small
from tippingpoint.api.profiles import Profile
from tippingpoint.families.trees.memory import Memory
from tippingpoint.results.stability import StabilityResult
from tree_spaces import everything

ROWS = 200
"""Enough for a few of them to be looked at first."""
QUESTIONS: tuple[dict[str, Any], ...] = (
    {"part": 0.3, "theta1": 1.0, "theta2": 0.25},
    {"part": 0.7, "theta1": 0.5, "theta2": math.inf},
    {"part": 0.35, "theta1": 1.0, "theta2": 0.3, "divergence": "chi2"},
)
LOSSES = ("zero_one", "logistic")


def data(library: str) -> tuple[Any, pd.DataFrame, Any]:
    training, rows = people(400, 0, seen=True), people(ROWS, 1, seen=False)
    rows = rows.assign(z=rows["z"].where(np.arange(ROWS) % 9 > 0))
    kind = LIBRARIES[library]
    model = kind.made("two", 8, 4).fit(kind.taken(training), (amounts(training, 0) > 0.0).astype(int))
    return model, kind.taken(rows), (amounts(rows, 1) > 0.0).astype(int)


def profiled(loss: str, library: str = "LightGBM", **options: Any) -> Profile:
    model, rows, labels = data(library)
    return tp.profile(model, rows, labels, loss=loss, progress=False, **options)


def asked(profile: Profile, question: dict[str, Any]) -> StabilityResult:
    prices = {name: value for name, value in question.items() if name != "part"}
    return profile.stability(profile.risk + question["part"] * (1.0 - profile.risk), **prices)


def bytes_of(result: StabilityResult) -> tuple[bytes, bytes]:
    """All that a result says, and where its rows go, to the last digit."""
    shown = result.sensitive
    numbers = shown[["weight", "share", "mass", "loss", "cost", *NUMBERS]].to_numpy(dtype=float)
    return result.to_json().encode(), numbers.tobytes()


@needs_kernels
@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_of_questions_does_not_matter(loss: str) -> None:
    alone = [bytes_of(asked(profiled(loss), question)) for question in QUESTIONS]
    assert len(set(alone)) == len(QUESTIONS)
    for order in itertools.permutations(range(len(QUESTIONS))):
        profile = profiled(loss)
        for k in order:
            assert bytes_of(asked(profile, QUESTIONS[k])) == alone[k], order


@pytest.mark.parametrize("loss", LOSSES)
def test_what_was_learnt_is_kept(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked the same again, nothing is searched for."""
    profile = profiled(loss)
    first = asked(profile, QUESTIONS[0])
    fresh: list[int] = []
    keep = Memory._keep

    def kept(self: Memory, price: float, budget: int, rows: Any, *found: Any) -> None:
        fresh.append(len(rows))
        keep(self, price, budget, rows, *found)

    monkeypatch.setattr(Memory, "_keep", kept)
    assert asked(profile, QUESTIONS[0]) == first
    assert sum(fresh) == 0
    assert fresh


@needs_kernels
@pytest.mark.parametrize("library", ["LightGBM", "XGBoost"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_number_of_threads_does_not_matter(loss: str, library: str) -> None:
    one, two, three = (bytes_of(asked(profiled(loss, library, threads=n), QUESTIONS[0])) for n in (1, 2, 3))
    assert one == two == three


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_profile_answers_the_same_after_a_journey(library: str) -> None:
    model = small(library, "two")
    space = everything(model.library).space
    profile = tp.profile(model.model, model.data, model.y, space=space, progress=False)
    first = bytes_of(asked(profile, QUESTIONS[0]))
    travelled = pickle.loads(pickle.dumps(profile))  # noqa: S301
    assert bytes_of(asked(travelled, QUESTIONS[0])) == first
    assert bytes_of(asked(travelled, QUESTIONS[1])) == bytes_of(asked(profile, QUESTIONS[1]))
