"""A few random trees against every cell they have; `hostile/tree_answers.py`, as a command, compares thousands of answers."""

from __future__ import annotations

import numpy as np
import pytest

from compiled import needs_kernels
from tippingpoint.families.trees import kernels as seam
from tree_answers import GOOD, Atoms, Question, compared, fitted, tally

COUNT = 120
"""Answers that are compared here."""

KINDS = ("stability", "feature stability", "worst risk", "largest risk")
"""What is asked."""


@needs_kernels
def test_answers_are_true_of_all_cells() -> None:
    found = tally(COUNT, seed=3)
    assert not [example for example in found.examples if example.startswith((*KINDS, "an answer"))]
    assert all(found.tried[kind] > COUNT // 20 for kind in KINDS)


def test_without_kernels_they_are_true_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(seam.SWITCH, "0")
    small = next(seed for seed in range(50) if (model := fitted(seed)) is not None and len(model.told[0]) < 100)
    outcomes = [(outcome, again) for asked, outcome, again in compared(small) if asked in KINDS]
    assert len(outcomes) > 1
    assert [each for each in outcomes if each[0] != GOOD] == []


@needs_kernels
@pytest.mark.parametrize("seed", [4000231, 4000051, 8000004, 27000000191])
def test_models_that_once_had_a_wrong_answer_have_none(seed: int) -> None:
    """Losses that are equal but for rounding, costs of 1e76, and a worst risk that claimed the present one."""
    assert [(outcome, again) for _, outcome, again in compared(seed) if outcome != GOOD] == []


@pytest.mark.parametrize("divergence", ["kl", "chi2", "cvar:0.4"])
def test_the_truth_agrees_with_itself(divergence: str) -> None:
    """The worst risk at the cost of a risk is that risk."""
    model = next(model for model in map(fitted, range(50)) if model is not None and model.task == "two")
    losses = model.losses("zero_one")
    still = tuple(np.full((1, len(each.places)), 0.3) for each in model.cells)
    costs = tuple(each.repeat(len(model.x), axis=0) for each in still)
    for j, cells in enumerate(model.cells):
        costs[j][range(len(model.x)), cells.home(model.x[:, j])] = 0.0
    atoms = Atoms.of(losses, costs, model.base)
    question = Question(1.0, 0.5, divergence)
    for part in (0.2, 0.7):
        risk = atoms.now + part * (question.largest(atoms) - atoms.now)
        cost = question.stability(atoms, risk)
        worst = question.worst(atoms, cost)
        assert worst >= risk * (1.0 - 1e-6)
        assert worst == pytest.approx(risk, rel=1e-6) or cost == 0.0, "some of CVaR costs nothing"
