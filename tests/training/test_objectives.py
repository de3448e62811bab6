"""What training minimises, against sums of sixty digits, finite differences, and laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax
from torch import Tensor, nn

from tippingpoint.core.arrays import FloatArray
from tippingpoint.training.objectives import (
    AdversarialRisk,
    MeanRisk,
    TiltedRisk,
    absolute,
    binary_cross_entropy,
    cross_entropy,
    mean_risk,
    squared,
    tilted_risk,
)

TEMPERATURES = (0.01, 0.1, 0.5, 1.0, 5.0, 30.0, 1e3, 1e8)
RNG = np.random.default_rng(4)
LOSSES: dict[str, FloatArray] = {
    "near each other": RNG.uniform(0.4, 0.8, 12),
    "of a bad model": RNG.exponential(150.0, 12),
    "one far above": np.array([0.01, 0.02, 0.015, 700.0]),
    "all but one at zero": np.array([0.0, 0.0, 1e-3, 0.0]),
    "all the same": np.full(5, 0.7),
}
WEIGHTS = {name: RNG.uniform(0.1, 3.0, len(losses)) for name, losses in LOSSES.items()}
PRECISION = {torch.float64: 1e-13, torch.float32: 2e-6}


def exact(losses: Any, weight: Any, temperature: float) -> float:
    """`t log Σ p_i exp(ℓ_i/t)` in sixty digits."""
    with localcontext() as context:
        context.prec = 60
        t, shares = Decimal(temperature), [Decimal(float(w)) for w in weight]
        total = sum((p * (Decimal(float(v)) / t).exp() for p, v in zip(shares, losses, strict=True)), Decimal(0))
        return float(t * (total / sum(shares)).ln())


def tensors(name: str, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    return torch.tensor(LOSSES[name], dtype=dtype), torch.tensor(WEIGHTS[name], dtype=dtype)


def differences(value: Callable[[FloatArray], float], at: FloatArray, step: float) -> FloatArray:
    """Central differences of the fourth order."""

    def along(k: int) -> float:
        unit = step * np.eye(len(at))[k]
        near, far = (value(at + s * unit) - value(at - s * unit) for s in (1.0, 2.0))
        return (8.0 * near - far) / (12.0 * step)

    return np.array([along(k) for k in range(len(at))])


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("temperature", TEMPERATURES)
def test_the_tilted_risk_has_the_digits_of_a_sum_of_sixty(temperature: float, name: str, dtype: torch.dtype) -> None:
    losses, weight = tensors(name, dtype)
    risk = tilted_risk(losses, weight, temperature)
    assert risk.dtype is dtype
    assert risk.item() == pytest.approx(exact(losses, weight, temperature), rel=PRECISION[dtype])


@pytest.mark.parametrize("temperature", TEMPERATURES)
@pytest.mark.parametrize("name", LOSSES)
def test_the_slope_of_the_tilted_risk_is_the_tilt_and_that_of_finite_differences(name: str, temperature: float) -> None:
    losses, weight = tensors(name)
    losses.requires_grad_()
    tilted_risk(losses, weight, temperature).backward()  # type: ignore[no-untyped-call]
    assert losses.grad is not None
    share = WEIGHTS[name] * np.exp((LOSSES[name] - LOSSES[name].max()) / temperature)
    np.testing.assert_allclose(losses.grad, share / share.sum(), rtol=1e-11, atol=1e-15)
    step = 1e-2 * min(temperature, 1.0)
    measured = differences(lambda at: exact(at, WEIGHTS[name], temperature), LOSSES[name], step)
    np.testing.assert_allclose(losses.grad, measured, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("side", [-1, 1])
def test_both_ways_to_sum_agree_where_they_meet(side: int) -> None:
    losses, weight = tensors("near each other")
    reach = float((losses - mean_risk(losses, weight)).max())
    temperature = reach * (1.0 + side * 1e-12)
    assert np.sign(1.0 - reach / temperature) == side
    assert tilted_risk(losses, weight, temperature).item() == pytest.approx(exact(losses, weight, temperature), rel=1e-14)


@pytest.mark.parametrize("dtype", PRECISION)
def test_a_temperature_near_zero_leaves_the_largest_loss(dtype: torch.dtype) -> None:
    for name in LOSSES:
        losses, weight = tensors(name, dtype)
        largest = losses.max().item()
        risk = tilted_risk(losses, weight, 1e-6).item()
        assert risk == pytest.approx(largest, rel=PRECISION[dtype], abs=1e-5)
        assert risk <= largest * (1.0 + PRECISION[dtype])


def test_an_infinite_temperature_leaves_the_mean_and_its_slope() -> None:
    losses, weight = tensors("of a bad model")
    losses.requires_grad_()
    risk = tilted_risk(losses, weight, math.inf)
    risk.backward()  # type: ignore[no-untyped-call]
    assert risk.item() == pytest.approx(np.average(LOSSES["of a bad model"], weights=WEIGHTS["of a bad model"]), rel=1e-14)
    assert losses.grad is not None
    np.testing.assert_allclose(losses.grad, weight / weight.sum(), rtol=1e-14)


def test_a_large_temperature_adds_half_the_variance_over_it_to_the_mean() -> None:
    losses, weight = tensors("of a bad model")
    mean, temperature = mean_risk(losses, weight), 1e6
    variance = mean_risk((losses - mean) ** 2, weight)
    added = tilted_risk(losses, weight, temperature) - mean
    assert added.item() == pytest.approx(variance.item() / (2.0 * temperature), rel=1e-3)


losses_and_weights = st.lists(st.tuples(st.floats(0.0, 50.0), st.floats(0.1, 5.0)), min_size=2, max_size=8)
temperatures = st.floats(0.02, 1e4)


@given(losses_and_weights, temperatures, st.floats(1.1, 10.0), st.floats(-20.0, 20.0))
def test_the_tilted_risk_lies_between_mean_and_maximum_falls_with_temperature_and_follows_units(
    drawn: list[tuple[float, float]], temperature: float, factor: float, shift: float
) -> None:
    losses, weight = (torch.tensor(part, dtype=torch.float64) for part in zip(*drawn, strict=True))
    risk = tilted_risk(losses, weight, temperature).item()
    slack = 1e-11 * (1.0 + losses.max().item())
    assert mean_risk(losses, weight).item() - slack <= risk <= losses.max().item() + slack
    assert tilted_risk(losses, weight, temperature * factor).item() <= risk + slack
    assert tilted_risk(losses + shift, weight, temperature).item() == pytest.approx(risk + shift, abs=30 * slack)
    assert tilted_risk(losses * factor, weight, temperature * factor).item() == pytest.approx(risk * factor, abs=30 * slack)
    assert tilted_risk(losses, weight * factor, temperature).item() == pytest.approx(risk, abs=slack)


@pytest.mark.parametrize("temperature", [0.05, 2.0, 1e6, math.inf])
def test_a_weight_of_two_is_a_loss_given_twice_and_of_zero_none(temperature: float) -> None:
    losses = torch.tensor([0.3, 1.7, 0.9, 40.0], dtype=torch.float64)
    weighted = tilted_risk(losses, torch.tensor([2.0, 1.0, 3.0, 0.0], dtype=torch.float64), temperature)
    repeated = losses[[0, 0, 1, 2, 2, 2]]
    plain = tilted_risk(repeated, torch.ones(6, dtype=torch.float64), temperature)
    assert weighted.item() == pytest.approx(plain.item(), rel=1e-13)


def test_the_losses_are_what_they_are_called() -> None:
    scores = np.array([[-800.0], [-2.0], [0.0], [0.5], [900.0]])
    outputs = torch.tensor(scores)
    for label, sign in ((0, 1.0), (1, -1.0)):
        target = torch.full((5,), label)
        np.testing.assert_allclose(binary_cross_entropy(outputs, target), np.logaddexp(0.0, sign * scores[:, 0]), rtol=1e-14)
    three = np.random.default_rng(5).normal(size=(6, 3)) * 100.0
    target = torch.tensor([0, 1, 2, 0, 1, 2])
    np.testing.assert_allclose(cross_entropy(torch.tensor(three), target), -log_softmax(three, axis=1)[range(6), target])
    truth = torch.tensor([1.0, -3.0, 0.0, 0.5, 2.0], dtype=torch.float64)
    np.testing.assert_allclose(squared(outputs, truth), (truth.numpy() - scores[:, 0]) ** 2)
    np.testing.assert_allclose(absolute(outputs, truth), np.abs(truth.numpy() - scores[:, 0]))


def test_the_mean_risk_is_the_weighted_average_of_the_losses_of_a_module() -> None:
    module, x, target, weight = problem()
    risk = MeanRisk(binary_cross_entropy)(module, x, target, weight)
    with torch.no_grad():
        losses = np.logaddexp(0.0, np.where(target == 1, -1.0, 1.0) * module(x)[:, 0].numpy())
    assert risk.item() == pytest.approx(np.average(losses, weights=weight), rel=1e-14)


def problem() -> tuple[nn.Sequential, Tensor, Tensor, Tensor]:
    """A small smooth network in float64, and rows."""
    generator = torch.Generator().manual_seed(11)
    module = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
    for parameter in module.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    x = torch.randn(9, 3, generator=generator, dtype=torch.float64)
    target = (torch.rand(9, generator=generator) > 0.5).long()
    return module, x, target, 0.5 + torch.rand(9, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize(
    "objective",
    [
        MeanRisk(binary_cross_entropy),
        TiltedRisk(binary_cross_entropy, 0.02),
        TiltedRisk(binary_cross_entropy, 0.7),
        TiltedRisk(binary_cross_entropy, 1e8),
        AdversarialRisk(binary_cross_entropy, 25.0, None, 300),
        AdversarialRisk(binary_cross_entropy, 25.0, torch.tensor([0.0, 1.0, 1.0]), 300),
    ],
    ids=["mean", "tilted 0.02", "tilted 0.7", "tilted 1e8", "adversarial", "targeted"],
)
def test_the_slope_in_the_parameters_is_that_of_finite_differences(objective: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The adversary answers anew at every difference: the envelope theorem, not the graph of its search."""
    monkeypatch.setattr("tippingpoint.training.adversary.GAIN_ROUND_OFF", 0.0)
    module, x, target, weight = problem()
    objective(module, x, target, weight).backward()
    slope = torch.cat([p.grad.ravel() for p in module.parameters() if p.grad is not None])
    begin = nn.utils.parameters_to_vector(module.parameters()).detach().clone()

    def value(at: FloatArray) -> float:
        nn.utils.vector_to_parameters(torch.from_numpy(at), module.parameters())
        return float(objective(module, x, target, weight).item())

    np.testing.assert_allclose(slope, differences(value, begin.numpy(), 1e-4), rtol=1e-6, atol=1e-8)


def test_the_adversarial_risk_is_the_loss_where_samples_end_less_what_moving_cost() -> None:
    """For a line and the squared loss: `Σ p_i e_i² / (1 - ‖w‖²/γ)`, over the columns that move."""
    _, x, _, weight = problem()
    line, target = nn.Linear(3, 1).double(), torch.linspace(-2.0, 2.0, 9, dtype=torch.float64)
    line.weight.data, line.bias.data = torch.tensor([[0.6, -0.8, 1.2]]).double(), torch.tensor([0.3]).double()
    with torch.no_grad():
        errors = squared(line(x), target)
    for columns, steepness in ((None, 0.36 + 0.64 + 1.44), (torch.tensor([1.0, 0.0, 1.0]), 0.36 + 1.44)):
        for gamma in (4.0, 40.0, 4e3):
            risk = AdversarialRisk(squared, gamma, columns, 200)(line, x, target, weight)
            assert risk.item() == pytest.approx(mean_risk(errors, weight).item() / (1.0 - steepness / gamma), rel=1e-5)


def test_at_an_infinite_price_the_adversarial_risk_is_the_mean_risk() -> None:
    module, x, target, weight = problem()
    mean = MeanRisk(binary_cross_entropy)(module, x, target, weight)
    assert AdversarialRisk(binary_cross_entropy, math.inf)(module, x, target, weight).item() == mean.item()
    dear = AdversarialRisk(binary_cross_entropy, 1e8)(module, x, target, weight)
    assert dear.item() == pytest.approx(mean.item(), rel=1e-7)
    assert AdversarialRisk(binary_cross_entropy, 1.0)(module, x, target, weight).item() > mean.item() + 0.01
