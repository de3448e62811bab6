"""The adversary's places, against brute force along a line, closed forms and conditions of stationarity."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from torch import Tensor, nn

from tippingpoint.core.arrays import FloatArray
from tippingpoint.training.adversary import Entrance, Losses, worst_places
from tippingpoint.training.objectives import binary_cross_entropy, cross_entropy, squared
from trainees import Bent

FEATURES, SAMPLES = 3, 24


@pytest.fixture
def _to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search ends only where nothing is gained at all, not where less than float32 resolves."""
    monkeypatch.setattr("tippingpoint.training.adversary.GAIN_ROUND_OFF", 0.0)


class Wrapped(nn.Module):
    """Layers in a module that the search cannot look into."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.inner(x)
        return out


def numbers(*shape: int, seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def line(*weight: float, bias: float = 0.2) -> nn.Linear:
    layer = nn.Linear(len(weight), 1).double()
    layer.weight.data, layer.bias.data = torch.tensor([weight]).double(), torch.tensor([bias]).double()
    return layer


def net(*layers: nn.Module, seed: int = 5) -> nn.Sequential:
    module = nn.Sequential(*layers).double()
    for k, parameter in enumerate(module.parameters()):
        parameter.data = numbers(*parameter.shape, seed=seed + k)
    return module


def curved(outputs: int = 1) -> nn.Sequential:
    return net(nn.Linear(FEATURES, 5), nn.Tanh(), nn.Linear(5, 4), nn.Softplus(), nn.Linear(4, outputs))


def hinged(outputs: int = 1) -> nn.Sequential:
    return net(nn.Linear(FEATURES, 8), nn.ReLU(), nn.Linear(8, outputs))


X = numbers(SAMPLES, FEATURES, seed=1)
Y = torch.arange(SAMPLES) % 2
Y3 = torch.arange(SAMPLES) % 3
TARGET = numbers(SAMPLES, seed=2)


def kept(module: nn.Module, losses: Losses, places: Tensor, target: Tensor, gamma: float) -> FloatArray:
    """`ℓ(z) - γ ‖z - x‖²` of every sample."""
    with torch.no_grad():
        return np.asarray(losses(module(places), target) - gamma * (places - X).square().sum(1))


def pushed(places: Tensor, weight: Tensor) -> FloatArray:
    """How far the margin was pushed, after a check that samples moved along the normal of the model only."""
    moved, sign = places - X, 1.0 - 2.0 * Y.double()
    push = sign * (moved @ weight)
    np.testing.assert_allclose(moved, torch.outer(sign * push, weight) / (weight @ weight), atol=1e-9)
    return np.asarray(push)


def lifted(push: FloatArray, margin: float, rate: float) -> FloatArray:
    """`log(1 + e^{t-m}) - (γ/B) t²`: the one line along which a linear model's samples move."""
    return np.asarray(np.logaddexp(0.0, push - margin) - rate * push**2)


@pytest.mark.usefixtures("_to_the_end")
@pytest.mark.parametrize("gamma", [0.05, 0.1, 0.3, 1.0, 10.0])
def test_a_linear_model_is_pushed_to_the_nearest_maximum_on_its_one_line(gamma: float) -> None:
    layer = line(1.0, -0.8, 0.5)
    weight = layer.weight.detach()[0]
    steepness = float(weight @ weight)
    with torch.no_grad():
        margins = ((2.0 * Y - 1.0) * layer(X)[:, 0]).numpy()
    push = pushed(worst_places(layer, binary_cross_entropy, X, Y, gamma, None, 4000), weight)
    np.testing.assert_allclose(push, steepness / (2.0 * gamma) / (1.0 + np.exp(margins - push)), rtol=1e-7)
    grid = np.linspace(0.0, steepness / (2.0 * gamma), 40_001)
    for t, m in zip(push, margins, strict=True):
        lift = lifted(grid, m, gamma / steepness)
        peak = int(np.argmax(np.diff(lift, append=-np.inf) < 0.0))  # the first place from which it falls
        ends = (grid[max(peak - 1, 0)], grid[min(peak + 1, len(grid) - 1)])
        best = minimize_scalar(
            lambda s, m=m: -float(lifted(s, m, gamma / steepness)), bounds=ends, method="bounded", options={"xatol": 1e-12}
        )
        assert t == pytest.approx(best.x, abs=2e-6)
        assert lifted(t, m, gamma / steepness) == pytest.approx(lift[: peak + 1].max(), abs=1e-8)


@pytest.mark.parametrize("gamma", [0.3, 0.5, 2.0])
def test_where_the_gain_is_concave_the_default_search_is_the_supremum_of_brute_force(gamma: float) -> None:
    """Below a curvature of `2γ/B` there is one maximum; in float32, as in training."""
    layer = line(1.0, -0.8, 0.5)
    steepness = 1.89
    assert steepness / 4.0 < 2.0 * gamma
    with torch.no_grad():
        margins = ((2.0 * Y - 1.0) * layer(X)[:, 0]).numpy()
    grid = np.linspace(0.0, steepness / gamma, 20_001)
    best = np.array([lifted(grid, m, gamma / steepness).max() for m in margins])
    places = worst_places(layer.float(), binary_cross_entropy, X.float(), Y, gamma, None, 20).double()
    np.testing.assert_allclose(kept(layer.double(), binary_cross_entropy, places, Y, gamma), best, atol=1e-4)


@pytest.mark.usefixtures("_to_the_end")
@pytest.mark.parametrize("gamma", [2.0, 5.0, 100.0])
@pytest.mark.parametrize("moving", [None, [0], [1, 2]])
def test_the_squared_loss_of_a_line_gains_what_its_closed_form_says(gamma: float, moving: list[int] | None) -> None:
    layer, columns = line(1.0, -0.8, 0.5), None
    if moving is not None:
        columns = torch.zeros(FEATURES)
        columns[moving] = 1.0
    with torch.no_grad():
        errors = squared(layer(X), TARGET).numpy()
    steepness = float((layer.weight.detach()[0][moving or [0, 1, 2]] ** 2).sum())
    places = worst_places(layer, squared, X, TARGET, gamma, columns, 3000)
    np.testing.assert_allclose(kept(layer, squared, places, TARGET, gamma), errors / (1.0 - steepness / gamma), rtol=1e-9)


@pytest.mark.parametrize("gamma", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("make", [curved, hinged])
def test_nobody_is_worse_off_than_where_it_stood(make: Callable[[], nn.Sequential], gamma: float) -> None:
    module = make()
    for steps in (1, 2, 20):
        places = worst_places(module, binary_cross_entropy, X, Y, gamma, None, steps)
        gain = kept(module, binary_cross_entropy, places, Y, gamma) - kept(module, binary_cross_entropy, X, Y, gamma)
        assert gain.min() >= -2e-5
        assert gain.max() > 1e-4


@pytest.mark.usefixtures("_to_the_end")
@pytest.mark.parametrize("columns", [None, torch.tensor([1.0, 0.0, 1.0])])
def test_where_the_search_converges_no_direction_that_is_open_gains(columns: Tensor | None) -> None:
    module, gamma = curved(), 30.0
    places = worst_places(module, binary_cross_entropy, X, Y, gamma, columns, 500).requires_grad_()
    value = binary_cross_entropy(module(places), Y) - gamma * (places - X).square().sum(1)
    (slope,) = torch.autograd.grad(value.sum(), places)
    open_slope = slope if columns is None else slope * columns
    assert open_slope.abs().max().item() < 1e-6
    assert (slope.abs().max().item() > 1e-3) == (columns is not None)


def test_twenty_steps_are_better_than_one_and_no_step_moves_nobody() -> None:
    module, gamma = hinged(), 2.0
    values = [
        kept(module, binary_cross_entropy, worst_places(module, binary_cross_entropy, X, Y, gamma, None, k), Y, gamma).mean()
        for k in (0, 1, 20)
    ]
    assert values[0] == kept(module, binary_cross_entropy, X, Y, gamma).mean()
    assert values[0] + 1e-3 < values[1] < values[2] - 1e-4


@pytest.mark.parametrize("columns", [None, torch.tensor([0.0, 1.0, 1.0])], ids=["all", "targeted"])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("gamma", [0.2, 2.0, 30.0])
@pytest.mark.parametrize("make", [curved, hinged])
def test_a_search_behind_the_first_layer_ends_where_one_in_the_samples_does(
    make: Callable[[int], nn.Sequential], gamma: float, outputs: int, columns: Tensor | None
) -> None:
    module = make(outputs)
    losses, target = (binary_cross_entropy, Y) if outputs == 1 else (cross_entropy, Y3)
    assert Entrance.of(module, columns).front is module[0]
    assert Entrance.of(Wrapped(module), columns).front is None
    here, there = (worst_places(m, losses, X, target, gamma, columns, 20) for m in (module, Wrapped(module)))
    np.testing.assert_allclose(here, there, atol=1e-9)
    if gamma >= 2.0:  # where strides are long, rounding of float32 grows from one to the next
        single = copy.deepcopy(module).float()
        behind, before = (worst_places(m, losses, X.float(), target, gamma, columns, 20) for m in (single, Wrapped(single)))
        assert behind.dtype is before.dtype is torch.float32
        gains = [kept(module, losses, places.double(), target, gamma) for places in (behind, before)]
        np.testing.assert_allclose(gains[0], gains[1], atol=1e-5)


@pytest.mark.parametrize("wrap", [nn.Sequential, Wrapped, lambda module: module], ids=["behind", "before", "line"])
def test_a_line_is_the_same_however_it_is_wrapped(wrap: Callable[[nn.Module], nn.Module]) -> None:
    layer = line(1.0, -0.8, 0.5)
    alone = worst_places(layer, binary_cross_entropy, X, Y, 0.7, None, 20)
    np.testing.assert_allclose(worst_places(wrap(layer), binary_cross_entropy, X, Y, 0.7, None, 20), alone, atol=1e-12)


@pytest.mark.parametrize("inside", [False, True])
def test_a_child_of_a_linear_layer_is_not_taken_for_one(inside: bool) -> None:  # noqa: FBT001
    chain = net(Bent(FEATURES, 4), nn.Linear(4, 1)) if inside else net(Bent(FEATURES, 1))
    module = chain if inside else chain[0]
    here, there = (worst_places(m, binary_cross_entropy, X, Y, 0.5, None, 20) for m in (module, Wrapped(module)))
    np.testing.assert_allclose(here, there, atol=1e-12)


@pytest.mark.parametrize("wrap", [lambda module: module, Wrapped], ids=["behind", "before"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_columns_that_may_not_move_do_not_by_a_bit(wrap: Callable[[nn.Module], nn.Module], dtype: torch.dtype) -> None:
    module, x = wrap(hinged()).to(dtype), (1e3 * X).to(dtype) / 3.0
    places = worst_places(module, binary_cross_entropy, x, Y, 0.01, torch.tensor([0.0, 1.0, 0.0], dtype=dtype), 20)
    assert torch.equal(places[:, [0, 2]], x[:, [0, 2]])
    assert (places[:, 1] != x[:, 1]).double().mean().item() > 0.4


def test_a_targeted_column_that_the_model_does_not_read_moves_nobody() -> None:
    module = hinged()
    with torch.no_grad():
        module[0].weight[:, 1] = 0.0  # type: ignore[operator]
    places = worst_places(module, binary_cross_entropy, X, Y, 0.1, torch.tensor([0.0, 1.0, 0.0]), 20)
    assert torch.equal(places, X)


def test_each_sample_keeps_the_best_place_it_saw() -> None:
    """A wave of a score: a step too far falls, and is not taken; the sample beside it still moves."""

    class Wave(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.sin(3.0 * x[:, :1])

    x = torch.tensor([[0.45], [-0.5], [0.2], [0.0]], dtype=torch.float64)
    zero = torch.zeros(4).long()
    trail = [worst_places(Wave(), binary_cross_entropy, x, zero, 0.5, None, k) for k in range(9)]
    values = np.array([(binary_cross_entropy(Wave()(z), zero) - 0.5 * (z - x).square().sum(1)).numpy() for z in trail])
    assert (np.diff(values, axis=0) >= -2e-6).all()
    raw, z = [values[0]], x
    for _ in range(8):
        z = z.detach().requires_grad_()
        (slope,) = torch.autograd.grad(binary_cross_entropy(Wave()(z), zero).sum(), z)
        z = x + slope
        raw.append((binary_cross_entropy(Wave()(z), zero) - 0.5 * (z - x).square().sum(1)).detach().numpy())
    assert (np.diff(raw, axis=0) < -1e-3).any(axis=0).any()
    assert (np.diff(raw, axis=0)[0] < 0.0).any()
    assert (np.diff(raw, axis=0)[0] > 0.0).any()
    np.testing.assert_allclose(values[1], np.max(raw[:2], axis=0), atol=1e-6)


def test_the_search_leaves_no_slope_in_the_module_and_does_not_change_it() -> None:
    module = hinged()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    places = worst_places(module, binary_cross_entropy, X, Y, 1.0, None, 5)
    assert not places.requires_grad
    assert all(parameter.grad is None for parameter in module.parameters())
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
