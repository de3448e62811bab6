"""Small models of every library, under every loss and with every kind of feature, against all places one by one.

Where a model cuts is found by asking it; losses, costs and the places of every row are those of the definitions.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from problems import primal_by_cvxpy
from small_trees import LIBRARIES, LOSSES, NUMBERS, SHADES, Library, people, small
from tippingpoint.core.divergences import divergence_named
from tree_places import all_places
from tree_spaces import KINDS, everything
from tree_truth import CLOSE, QUESTIONS, check, profiled

SEVERAL = [(library, task, loss) for library in LIBRARIES for task, losses in LOSSES.items() for loss in losses]


def of_odds(library: Library, task: str, loss: str) -> bool:
    """Whether a loss of several classes is of no number that the trees add up."""
    return library.tells and task == "three" and "hinge" in loss


@pytest.mark.parametrize(
    ("library", "task", "loss"), [(name, *case) for name, *case in SEVERAL if not of_odds(LIBRARIES[name], *case)]
)
def test_both_bounds_are_the_truth_under_every_loss(library: str, task: str, loss: str) -> None:
    check(small(library, task), loss, everything(LIBRARIES[library]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("task", "loss"), [("two", "zero_one"), ("amount", "absolute")])
@pytest.mark.parametrize("library", LIBRARIES)
def test_both_bounds_are_the_truth_for_every_kind_of_feature(library: str, task: str, loss: str, kind: str) -> None:
    if kind == "going missing" and not LIBRARIES[library].gaps:
        pytest.skip("it takes nothing that is missing")
    check(small(library, task), loss, KINDS[kind](LIBRARIES[library]), QUESTIONS[:2])


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("task", LOSSES)
def test_every_model_asks_about_every_feature(library: str, task: str) -> None:
    """Otherwise nothing above is said of it."""
    model = small(library, task)
    assert all(model.edges[name].shape[1] > 0 for name in NUMBERS)
    rows, answers = people(100, 2, seen=False), []
    for name in SHADES:
        shaded = rows.assign(shade=pd.Categorical([name] * len(rows), categories=list(SHADES)))
        answers.append(model.library.sums(task, model.model, model.library.taken(shaded)))
    assert any((each != answers[0]).any() for each in answers[1:])


@pytest.mark.parametrize("question", range(len(QUESTIONS)))
def test_the_truth_is_the_definition(question: int) -> None:
    """What all of the above is compared with, by a conic solver and without any duality."""
    model, setting = small("histograms", "amount"), KINDS["whole numbers"](LIBRARIES["histograms"])
    places = all_places(model.data, setting.features, model.edges)
    losses = model.losses("squared", places.rows, places.frame)
    counts = np.bincount(places.rows)
    loss, cost = (np.zeros((len(counts), counts.max())) for _ in range(2))
    for i in range(len(counts)):  # filled up with where the row is, which adds nothing
        own = places.rows == i
        loss[i, : counts[i]], cost[i, : counts[i]] = losses[own], places.cost[own]
        loss[i, counts[i] :] = places.now(losses)[i]
    part, theta1, theta2, divergence = QUESTIONS[question].values()
    risk = float(places.now(losses).mean() + part * (places.highest(losses) - places.now(losses)).mean())
    base = np.full(len(counts), 1.0 / len(counts))
    truth = places.stability(losses, risk, theta1, theta2, divergence)
    assert primal_by_cvxpy(loss, cost, base, risk, theta1, theta2, divergence_named(divergence)) == pytest.approx(
        truth, rel=1e-5
    )


@pytest.mark.parametrize("theta2", [1.0, math.inf])
@pytest.mark.parametrize(
    ("library", "task", "loss"),
    [("LightGBM", "two", "logistic"), ("forest", "three", "cross_entropy"), ("CatBoost", "amount", "absolute")],
)
def test_the_largest_risk_is_proved_and_what_is_beyond(library: str, task: str, loss: str, theta2: float) -> None:
    model, setting = small(library, task), everything(LIBRARIES[library])
    places = all_places(model.data, setting.features, model.edges)
    losses = model.losses(loss, places.rows, places.frame)
    highest = places.highest(losses)
    most = float(highest.mean() if math.isinf(theta2) else highest.max())
    profile = profiled(model, loss, setting, gap=0.0)
    largest = profile.stability(most, theta1=1.0, theta2=theta2)
    truth = places.stability(losses, most, 1.0, theta2)
    assert largest.status == "largest"
    assert largest.upper == pytest.approx(truth, rel=CLOSE)
    assert largest.lower == pytest.approx(truth, rel=CLOSE)
    beyond = profile.stability(1.01 * most, theta1=1.0, theta2=theta2)
    assert (beyond.status, beyond.lower) == ("unreachable", math.inf)


def test_errors_that_are_nowhere_are_proved_to_be() -> None:
    model, setting = small("forest", "two"), KINDS["whole numbers"](LIBRARIES["forest"])
    places = all_places(model.data, setting.features, model.edges)
    most = float(places.highest(model.losses("zero_one", places.rows, places.frame)).mean())
    assert most < 1.0
    profile = profiled(model, "zero_one", setting)
    beyond = profile.stability(0.5 * (1.0 + most), theta1=1.0, theta2=math.inf)
    assert (beyond.status, beyond.lower) == ("unreachable", math.inf)
    assert profile.stability(most, theta1=1.0, theta2=math.inf).status == "largest"
