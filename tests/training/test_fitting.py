"""Training itself: what is kept, when it ends, what a step sees, and that it can be repeated to the byte."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tippingpoint.errors import NumericalError
from tippingpoint.training import (
    AdversarialTrainingClassifier,
    AdversarialTrainingRegressor,
    ERMClassifier,
    ERMRegressor,
    TiltedERMClassifier,
)
from tippingpoint.training.fitting import STEPS_BETWEEN_CHECKS, Course, History, Rows, minimise
from tippingpoint.training.objectives import AdversarialRisk, MeanRisk, Objective, TiltedRisk, binary_cross_entropy

COURSE = Course(steps=600, batch=None, learning_rate=0.01, weight_decay=0.0, patience=5)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] - X[:, 1] + RNG.normal(size=60) > 0.0).astype(int)
OBJECTIVES: dict[str, Objective] = {
    "mean": MeanRisk(binary_cross_entropy),
    "tilted": TiltedRisk(binary_cross_entropy, 0.3),
    "adversarial": AdversarialRisk(binary_cross_entropy, 2.0, None, 5),
}


def noise(samples: int, seed: int) -> Rows:
    """Labels that one feature explains in part: what more is learned of them is soon worse than nothing."""
    generator = torch.Generator().manual_seed(seed)
    x, weight = torch.randn(samples, 4, generator=generator), 0.5 + torch.rand(samples, generator=generator)
    return Rows(x, (x[:, 0] + torch.randn(samples, generator=generator) > 0.0).long(), weight)


def fresh(seed: int = 3) -> nn.Sequential:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))


def state(module: nn.Module) -> bytes:
    return b"".join(value.numpy().tobytes() for value in module.state_dict().values())


@dataclass
class Watched:
    """An objective that remembers the first column of the rows it was asked about."""

    inner: Any = field(default_factory=lambda: MeanRisk(binary_cross_entropy))
    seen: list[list[float]] = field(default_factory=list)

    def __call__(self, module: nn.Module, x: Tensor, target: Tensor, weight: Tensor) -> Tensor:
        self.seen.append(x[:, 0].tolist())
        value: Tensor = self.inner(module, x, target, weight)
        return value


@pytest.mark.parametrize("name", OBJECTIVES)
def test_early_stopping_returns_the_module_that_the_rows_held_out_judged_best(name: str) -> None:
    module, objective, held = fresh(), OBJECTIVES[name], noise(30, 2)
    history = minimise(module, objective, noise(40, 1), held, COURSE, 0)
    best = int(np.argmin(history.held_out))
    assert 0 < best < len(history.held_out) - 1
    assert objective(module, held.x, held.target, held.weight).item() == history.held_out[best]
    again = fresh()
    minimise(again, objective, noise(40, 1), None, replace(COURSE, steps=history.looked[best]), 0)
    assert state(again) == state(module)


@pytest.mark.parametrize("patience", [1, 3, 8])
def test_training_ends_after_as_many_looks_without_improvement_as_patience_says(patience: int) -> None:
    history = minimise(fresh(), OBJECTIVES["mean"], noise(40, 1), noise(30, 2), replace(COURSE, patience=patience), 0)
    assert history.looked == tuple(range(STEPS_BETWEEN_CHECKS, history.steps + 1, STEPS_BETWEEN_CHECKS))
    assert history.steps < COURSE.steps
    records = [k for k, v in enumerate(history.held_out) if v < min(history.held_out[:k], default=math.inf)]
    assert history.steps == STEPS_BETWEEN_CHECKS * (records[-1] + 1 + patience)
    assert max(np.diff(records), default=1) <= patience


def test_without_rows_held_out_every_step_is_taken() -> None:
    module = fresh()
    history = minimise(module, OBJECTIVES["mean"], noise(40, 1), None, replace(COURSE, steps=137), 0)
    assert history == History(137, (), ())
    assert not module.training


def test_the_rows_held_out_are_looked_at_after_the_last_step_too() -> None:
    history = minimise(fresh(), OBJECTIVES["mean"], noise(40, 1), noise(30, 2), replace(COURSE, steps=25), 0)
    assert (history.steps, history.looked) == (25, (10, 20, 25))
    assert len(history.held_out) == 3


def test_a_step_is_one_of_adam_on_the_objective() -> None:
    course, rows, module = Course(17, None, 0.013, 0.3, 5), noise(40, 1), fresh()
    minimise(module, OBJECTIVES["tilted"], rows, None, course, 0)
    by_hand = fresh()
    adam = torch.optim.Adam(by_hand.parameters(), lr=0.013, weight_decay=0.3)
    for _ in range(17):
        adam.zero_grad()
        losses = nn.functional.softplus((1.0 - 2.0 * rows.target) * by_hand(rows.x)[:, 0])
        shares = torch.log(rows.weight / rows.weight.sum())
        value = 0.3 * torch.logsumexp(losses / 0.3 + shares, dim=0)
        value.backward()  # type: ignore[no-untyped-call]
        adam.step()
    for ours, theirs in zip(module.parameters(), by_hand.parameters(), strict=True):
        np.testing.assert_allclose(ours.detach(), theirs.detach(), atol=2e-5)


def test_batches_show_every_row_once_before_any_comes_again() -> None:
    watched, rows = Watched(), noise(10, 1)
    minimise(fresh(), watched, rows, None, replace(COURSE, steps=9, batch=4), 0)
    assert [len(batch) for batch in watched.seen] == [4, 4, 2] * 3
    passes = [list(itertools.chain(*watched.seen[k : k + 3])) for k in (0, 3, 6)]
    assert all(sorted(seen) == sorted(rows.x[:, 0].tolist()) for seen in passes)
    assert passes[0] != passes[1] != passes[2] != passes[0]


def test_the_seed_draws_the_batches() -> None:
    seen = []
    for seed in (0, 0, 1):
        watched = Watched()
        minimise(fresh(), watched, noise(10, 1), None, replace(COURSE, steps=3, batch=4), seed)
        seen.append(watched.seen)
    assert seen[0] == seen[1] != seen[2]


def test_rows_keep_their_targets_and_weights_in_batches() -> None:
    rows = noise(10, 1)
    known = {x: (y, w) for x, y, w in zip(rows.x[:, 0].tolist(), rows.target.tolist(), rows.weight.tolist(), strict=True)}
    asked: list[bool] = []

    def objective(module: nn.Module, x: Tensor, target: Tensor, weight: Tensor) -> Tensor:
        parts = zip(x[:, 0].tolist(), target.tolist(), weight.tolist(), strict=True)
        asked.extend(known[key] == (y, w) for key, y, w in parts)
        return OBJECTIVES["mean"](module, x, target, weight)

    minimise(fresh(), objective, rows, None, replace(COURSE, steps=3, batch=4), 0)
    assert asked == [True] * 10


@pytest.mark.parametrize("batch", [10, 11])
def test_a_batch_of_all_rows_is_none(batch: int) -> None:
    whole, batched = fresh(), fresh()
    minimise(whole, OBJECTIVES["mean"], noise(10, 1), None, replace(COURSE, steps=20), 0)
    minimise(batched, OBJECTIVES["mean"], noise(10, 1), None, replace(COURSE, steps=20, batch=batch), 0)
    assert state(whole) == state(batched)


def test_an_objective_that_is_not_finite_ends_training_with_the_remedy() -> None:
    def broken(module: nn.Module, x: Tensor, target: Tensor, weight: Tensor) -> Tensor:
        return OBJECTIVES["mean"](module, x, target, weight) * (math.inf if state(module) != begin else 1.0)

    module = fresh()
    begin = state(module)
    with pytest.raises(NumericalError, match=r"the objective is inf after 1 steps: scale the columns or.* raise gamma"):
        minimise(module, broken, noise(10, 1), None, COURSE, 0)


def test_the_squared_loss_at_a_tiny_price_says_that_the_gain_is_unbounded() -> None:
    target = X @ [1.0, 2.0, -1.0]
    with pytest.raises(NumericalError, match="raise gamma"):
        AdversarialTrainingRegressor("linear", gamma=1e-6, max_iter=20, random_state=0).fit(X, target)
    with pytest.raises(NumericalError, match="scale the columns"):
        ERMRegressor("linear", max_iter=20, random_state=0).fit(X, 1e30 * target)


def test_rows_held_out_that_cannot_be_judged_count_as_no_improvement() -> None:
    held = noise(12, 2)

    def objective(module: nn.Module, x: Tensor, target: Tensor, weight: Tensor) -> Tensor:
        return OBJECTIVES["mean"](module, x, target, weight) * (math.nan if len(x) == 12 else 1.0)

    module, again = fresh(), fresh()
    history = minimise(module, objective, noise(40, 1), held, replace(COURSE, patience=3), 0)
    assert history.held_out == (math.inf,) * 4
    minimise(again, OBJECTIVES["mean"], noise(40, 1), None, replace(COURSE, steps=40), 0)
    assert state(module) == state(again)


def test_a_module_trains_as_in_training_and_is_judged_as_in_use() -> None:
    modes: dict[int, set[bool]] = {40: set(), 12: set()}

    def objective(module: nn.Module, x: Tensor, target: Tensor, weight: Tensor) -> Tensor:
        modes[len(x)].add(module.training)
        return OBJECTIVES["mean"](module, x, target, weight)

    module = fresh()
    minimise(module, objective, noise(40, 1), noise(12, 2), replace(COURSE, steps=25), 0)
    assert modes == {40: {True}, 12: {False}}
    assert not module.training


def dropping(features: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(features, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, outputs))


SEEDED: dict[str, Any] = {
    "whole": ERMClassifier(max_iter=40),
    "batches": AdversarialTrainingClassifier(max_iter=40, batch_size=16, inner_steps=3),
    "dropout": TiltedERMClassifier(dropping, max_iter=40, t=0.5),
}


@pytest.mark.parametrize("name", SEEDED)
def test_the_same_random_state_gives_the_same_bytes_and_leaves_the_random_numbers_of_others_alone(name: str) -> None:
    def fitted(seed: Any) -> bytes:
        before, others = torch.get_rng_state(), np.random.get_state()[1].tobytes()  # type: ignore[index]  # noqa: NPY002
        estimator = SEEDED[name].set_params(random_state=seed).fit(X, Y)
        assert torch.equal(torch.get_rng_state(), before)
        assert np.random.get_state()[1].tobytes() == others or seed is None  # type: ignore[index]  # noqa: NPY002
        torch.rand(3)  # others draw in between
        return state(estimator.module_)

    assert fitted(7) == fitted(7)
    assert fitted(np.random.RandomState(7)) == fitted(7)
    assert len({fitted(7), fitted(8), fitted(None), fitted(None)}) == 4


def test_the_rows_held_out_are_a_share_drawn_by_class_and_their_objective_is_in_the_history() -> None:
    skewed = (np.arange(200) % 10 == 0).astype(int)
    x = np.random.default_rng(1).normal(size=(200, 3))
    estimator = ERMClassifier(max_iter=300, validation_share=0.2, learning_rate=0.02, patience=3, random_state=0).fit(x, skewed)
    trained, held = estimator._split(x, skewed, np.random.RandomState(0).randint(2**31 - 1))
    assert sorted([*trained, *held]) == list(range(200))
    draws = [estimator._split(x, skewed, seed)[1] for seed in range(5)]
    assert [(len(kept), skewed[kept].sum()) for kept in draws] == [(40, 4)] * 5
    assert len({frozenset(kept) for kept in draws}) == 5
    scores = estimator.decision_function(x[held])
    losses = np.logaddexp(0.0, np.where(skewed[held], -scores, scores))
    assert min(estimator.history_.held_out) == pytest.approx(losses.mean(), rel=1e-5)
    assert estimator.n_iter_ == estimator.history_.steps < 300
    assert estimator.validation_score_ == np.mean((scores > 0.0) == skewed[held])


@pytest.mark.parametrize(
    ("labels", "share", "held"),
    [([0] * 20 + [1] * 20, 0.1, 4), ([0] * 39 + [1], 0.1, 4), (list(range(20)) * 2, 0.1, 4), ([0] * 5 + [1] * 4, 0.1, 0)],
    ids=["by class", "a class of one row", "more classes than rows held out", "too few rows"],
)
def test_as_many_rows_are_held_out_as_the_share_says_whatever_the_classes(labels: list[int], share: float, held: int) -> None:
    x = np.random.default_rng(1).normal(size=(len(labels), 3))
    trained, kept = ERMClassifier(validation_share=share)._split(x, np.array(labels), 5)
    assert (len(trained), len(kept)) == (len(labels) - held, held)
    assert sorted([*trained, *kept]) == list(range(len(labels)))


def test_a_share_of_nothing_takes_all_steps_on_all_rows() -> None:
    estimator = ERMClassifier("linear", max_iter=33, validation_share=0.0, random_state=0).fit(X, Y)
    assert estimator.history_ == History(33, (), ())
    assert estimator.n_iter_ == 33
    assert math.isnan(estimator.validation_score_)


def test_nothing_is_learned_of_the_rows_held_out() -> None:
    """After ten steps there was one look, and nothing to choose: only the rows trained on can tell in the module."""
    course: dict[str, Any] = {
        "max_iter": STEPS_BETWEEN_CHECKS,
        "learning_rate": 0.05,
        "validation_share": 0.25,
        "random_state": 0,
    }
    model = AdversarialTrainingClassifier(**course).fit(X, Y)
    trained, held = model._split(X, Y, np.random.RandomState(0).randint(2**31 - 1))
    for rows, same in ((held, True), (trained, False)):
        changed = X.copy()
        changed[rows[0]] += 2.0
        again = AdversarialTrainingClassifier(**course).fit(changed, Y)
        assert (state(again.module_) == state(model.module_)) is same
        assert (again.history_.held_out == model.history_.held_out) is False


def test_the_random_state_draws_the_batches_of_an_estimator() -> None:
    def level(features: int, outputs: int) -> nn.Module:
        layer = nn.Linear(features, outputs)
        nn.init.zeros_(layer.weight)
        nn.init.zeros_(layer.bias)
        return layer

    def fitted(seed: int, batch: int | None) -> bytes:
        return state(
            ERMClassifier(level, max_iter=5, validation_share=0.0, batch_size=batch, random_state=seed).fit(X, Y).module_
        )

    assert fitted(0, None) == fitted(1, None)
    assert fitted(0, 16) != fitted(1, 16)
