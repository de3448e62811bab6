"""The recipe "Add a loss", step by step: the hinge with its corner rounded off."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import tippingpoint as tp
from examples import black_box, divergences, linear, network, relu, tanh, tree
from laws import brute_force, envelope_theorem, moving_alone, points_fed_back, two_sided
from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError
from tippingpoint.families.capabilities import Knowledge, SpaceKind
from tippingpoint.losses import LOSSES, Loss
from tippingpoint.losses.base import Task
from tippingpoint.push import Push, Reach
from trials import Trial

# Step 1, a class: the loss as a function of what pushing raises, and the pushes among which the best must be.


class RoundedHinge(Loss):
    """`q²/2` for `0 ≤ q = 1 + v ≤ 1`, `q - 1/2` beyond, 0 before."""

    name = "rounded_hinge"
    task: Task = "classification"
    steepest = 1.0

    def value(self, v: FloatArray) -> FloatArray:
        clipped = np.clip(1.0 + v, 0.0, 1.0)
        return clipped * (np.maximum(1.0 + v, 0.0) - 0.5 * clipped)

    def lift(self, v: FloatArray, push: FloatArray) -> FloatArray:
        q = 1.0 + v
        curved = (q >= 0.0) & (q + push <= 1.0)
        straight = np.where(q >= 1.0, push, self.value(v + push) - self.value(v))
        return np.where(curved, push * (q + 0.5 * push), straight)

    def slope(self, v: FloatArray) -> FloatArray:
        return np.clip(1.0 + v, 0.0, 1.0)

    def curvature(self, v: FloatArray) -> FloatArray:
        return ((v >= -1.0) & (v < 0.0)).astype(float)

    def candidates(self, price: float, v: FloatArray, push: Push) -> Sequence[Reach]:
        return (*push.meets(0.5 * price, 1.0 + v), push.at(0.5 * price))


# Step 2, a line in LOSSES (losses/__init__.py); here for one test.


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LOSSES, "rounded_hinge", RoundedHinge)


# That is all: every family that declares all losses serves it, and the laws hold.

SERVED: dict[str, tuple[Callable[[str, SpaceKind], Trial], SpaceKind, Knowledge]] = {
    "linear, numbers": (linear, "numbers", "exact"),
    "linear, bounds": (linear, "bounds", "exact"),
    "linear, whole numbers": (linear, "whole numbers", "exact"),
    "linear, categories": (linear, "categories", "exact"),
    "linear, fine steps": (linear, "fine steps", "bounded"),
    "network, one feature": (partial(network, relu), "one feature", "exact"),
    "network, numbers": (partial(network, tanh, countless=True), "numbers", "bounded"),
    "trees": (tree, "one feature", "exact"),
    "black box, categories": (black_box, "categories", "exact"),
    "black box, numbers": (black_box, "numbers", "searched"),
}


@pytest.mark.parametrize("served", list(SERVED))
def test_every_law_holds_of_a_new_loss(served: str) -> None:
    build, kind, answer = SERVED[served]
    trial = build("rounded_hinge", kind)
    envelope_theorem(trial)
    points_fed_back(trial)
    brute_force(trial)
    moving_alone(trial, answer)
    for divergence in divergences():
        two_sided(trial, divergence, answer)


def test_it_comes_out_of_the_front_door_by_name_and_of_reports(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(60, 2))
    y = (x[:, 0] > 0.0).astype(int)
    result = tp.stability(([1.0, 0.5], 0.0), x, y, 0.5, loss="rounded_hinge")
    assert result.exact
    assert result.loss == "rounded_hinge"
    assert tp.stability(([1.0, 0.5], 0.0), x, y, 0.5, loss=RoundedHinge()).value == result.value
    page = result.report(tmp_path / "hinge.html").read_text(encoding="utf-8")
    assert "rounded_hinge" in page
    assert "rounded_hinge" in json.dumps(json.loads(result.report(tmp_path / "hinge.json").read_text(encoding="utf-8")))


def test_it_judges_its_own_task_and_is_named_among_those_that_do() -> None:
    x, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(InputError, match=r"is not known; use one of .*rounded_hinge"):
        tp.stability(([1.0, 0.5], 0.0), x, y, 0.5, loss="rounded")
