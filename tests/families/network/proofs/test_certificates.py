"""Certified lines above a network: never below it, exact where it is linear, and refused where nothing is known."""

from __future__ import annotations

import copy
import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tippingpoint.core.arrays import FloatArray
from tippingpoint.families.network.options import EFFORTS
from tippingpoint.families.network.proofs import layers as known_layers
from tippingpoint.families.network.proofs.layers import GATES
from tippingpoint.families.network.proofs.shells import Shell, reason, shells
from tippingpoint.space import Space
from tippingpoint.space.domain import Domain

SLACK = 1e-9
FUNCTIONALS = 3
THOROUGH = EFFORTS["tight"]


def mlp(*widths: int, gate: nn.Module | None = None) -> nn.Sequential:
    layers: list[nn.Module] = []
    for a, b in pairwise(widths):
        layers += [nn.Linear(a, b), copy.deepcopy(gate) if gate else nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def settled_norm(norm: nn.BatchNorm1d | nn.BatchNorm2d) -> nn.Module:
    """A normalisation that has seen data."""
    for values in (norm.running_mean, norm.running_var, norm.weight, norm.bias):
        assert isinstance(values, Tensor)
        values.data.uniform_(0.3, 2.0)
    norm.weight.data[0] *= -1.0
    return norm


def networks() -> dict[str, tuple[nn.Module, tuple[int, ...]]]:
    torch.manual_seed(5)
    images, signals = (2, 6, 6), (2, 9)
    return {
        "linear": (nn.Linear(5, 3), (5,)),
        "affine": (nn.Sequential(nn.Linear(5, 4), nn.Sequential(nn.Identity(), nn.Linear(4, 3))), (5,)),
        "relu": (mlp(5, 16, 16, 3), (5,)),
        "deep relu": (mlp(4, 8, 8, 8, 8, 2), (4,)),
        "one output": (mlp(5, 9, 1), (5,)),
        "no column": (nn.Sequential(mlp(5, 9, 1), nn.Flatten(0)), (5,)),
        "leaky": (mlp(5, 12, 12, 3, gate=nn.LeakyReLU(0.2)), (5,)),
        "rising leaky": (mlp(5, 12, 12, 3, gate=nn.LeakyReLU(-0.5)), (5,)),
        "steep leaky": (mlp(5, 12, 3, gate=nn.LeakyReLU(2.0)), (5,)),
        "dropout": (nn.Sequential(nn.Dropout(0.5), mlp(5, 8, 8, 2), nn.Dropout(0.2)), (5,)),
        "norm": (
            nn.Sequential(nn.Linear(5, 8), settled_norm(nn.BatchNorm1d(8)), nn.ReLU(inplace=True), nn.Linear(8, 3)),
            (5,),
        ),
        "gate first": (nn.Sequential(nn.ReLU(inplace=True), nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 2)), (5,)),
        "gate last": (nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 2), nn.Sigmoid()), (5,)),
        "two gates": (nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.SiLU(), nn.Linear(6, 2)), (5,)),
        "images": (
            nn.Sequential(
                nn.Conv2d(2, 4, 3, padding=1),
                settled_norm(nn.BatchNorm2d(4)),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Conv2d(4, 6, 2, groups=2),
                nn.Tanh(),
                nn.AvgPool2d(2, padding=1),
                nn.Flatten(),
                nn.Linear(24, 3),
            ),
            images,
        ),
        "strides": (
            nn.Sequential(nn.Conv2d(2, 3, 3, stride=2, padding=2, dilation=2), nn.ReLU(), nn.Flatten(), nn.Linear(27, 2)),
            images,
        ),
        "signals": (
            nn.Sequential(
                nn.Conv1d(2, 4, 3, padding="same"),
                settled_norm(nn.BatchNorm1d(4)),
                nn.ELU(1.5),
                nn.AvgPool1d(3, stride=1),
                nn.MaxPool1d(2, padding=1),
                nn.Flatten(),
                nn.Linear(16, 2),
            ),
            signals,
        ),
        "unflatten": (nn.Sequential(nn.Unflatten(1, (2, 3)), nn.Linear(3, 4), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2)), (6,)),
        **{
            f"gate {kind.__name__}": (mlp(4, 7, 6, 2, gate=kind()), (4,))
            for kind in GATES
            if not issubclass(kind, nn.MaxPool1d | nn.MaxPool2d)
        },
    }


NETWORKS = networks()


def priced(d: int) -> Domain:
    """The second feature stays, the others have prices of their own."""
    names = [f"x{j}" for j in range(d)]
    return Space(frozen=[names[1]], price=np.linspace(0.3, 3.0, d)).resolve(names)


def problem(name: str, n: int = 6) -> tuple[nn.Module, tuple[int, ...], FloatArray, Domain, FloatArray, FloatArray]:
    module, shape = NETWORKS[name]
    module = copy.deepcopy(module).double().eval()
    rng = np.random.default_rng(len(name))
    x = rng.normal(size=(n, math.prod(shape)))
    k = outputs(module, shape, x).shape[1]
    return module, shape, x, priced(x.shape[1]), rng.normal(size=(n, FUNCTIONALS, k)), rng.normal(size=(n, FUNCTIONALS))


def outputs(module: nn.Module, shape: tuple[int, ...], points: FloatArray) -> FloatArray:
    with torch.no_grad():
        return np.asarray(module(torch.tensor(points).reshape(-1, *shape)).reshape(len(points), -1).numpy())


def certified(name: str, n: int = 6, work: float = THOROUGH) -> tuple[Shell, ...]:
    module, shape, x, domain, functionals, constants = problem(name, n)
    found = shells(module, x, shape, domain, functionals, constants, work)
    assert found is not None
    return found


def heights(found: tuple[Shell, ...], lengths: FloatArray) -> FloatArray:
    """The lowest line of all shells that hold each sample's length: every one of them must be above the network."""
    every = [
        np.where(
            ((shell.inner <= lengths) & (lengths <= shell.outer))[:, None],
            shell.offset + shell.slope * lengths[:, None],
            math.inf,
        )
        for shell in found
    ]
    return np.asarray(np.min(every, axis=0))


def moved(x: FloatArray, domain: Domain, steps: FloatArray) -> FloatArray:
    moves = np.isfinite(domain.price)
    points = x.copy()
    points[:, moves] += steps / np.sqrt(domain.price[moves])
    return points


def directions(name: str, rng: np.random.Generator) -> list[FloatArray]:
    """Random ones, sparse ones, and the gradients of the functionals."""
    module, shape, x, domain, functionals, _ = problem(name)
    moves = np.isfinite(domain.price)
    found = [rng.normal(size=(len(x), moves.sum())) * (rng.random(moves.sum()) < part) for part in (1.0, 1.0, 1.0, 0.3)]
    for q in range(FUNCTIONALS):
        inputs = torch.tensor(x).requires_grad_()
        out = module(inputs.reshape(-1, *shape).clone()).reshape(len(x), -1)
        (gradient,) = torch.autograd.grad((out * torch.tensor(functionals[:, q])).sum(), inputs)
        found.append(gradient.numpy()[:, moves] / np.sqrt(domain.price[moves]))
    lengths = [np.linalg.norm(each, axis=1, keepdims=True) for each in found]
    return [each / np.where(length > 0.0, length, 1.0) for each, length in zip(found, lengths, strict=True)]


@pytest.mark.parametrize("dense", [known_layers.MAX_ENTRIES, 20])
@pytest.mark.parametrize("name", NETWORKS)
def test_no_step_gets_above_the_lines(name: str, dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_layers, "MAX_ENTRIES", dense)  # with 20, by the bounds of layers too large to be written out
    module, shape, x, domain, functionals, constants = problem(name)
    found, rng = certified(name), np.random.default_rng(1)
    edges = [shell.inner for shell in found] + [shell.inner * 1.3 + 0.01 for shell in found]
    for lengths in [*edges, *(np.full(len(x), length) for length in np.geomspace(1e-3, 300.0, 14))]:
        for direction in directions(name, rng):
            given = outputs(module, shape, moved(x, domain, direction * lengths[:, None]))
            value = np.einsum("iqk,ik->iq", functionals, given) + constants
            top = heights(found, np.where(np.linalg.norm(direction, axis=1) > 0.0, lengths, 0.0))
            assert (value <= top + SLACK * (1.0 + np.abs(value))).all()


@pytest.mark.parametrize("name", NETWORKS)
def test_shells_cover_all_distances(name: str) -> None:
    found = certified(name)
    assert (found[0].inner == 0.0).all()
    assert np.isinf(found[-1].outer).all()
    for shell, beyond in pairwise(found):
        np.testing.assert_array_equal(shell.outer, beyond.inner)
        assert (np.isfinite(shell.outer) & (shell.outer >= shell.inner)).all()
    assert all((shell.slope >= 0.0).all() and np.isfinite(shell.offset).all() for shell in found)


@pytest.mark.parametrize("name", ["linear", "affine"])
def test_affine_networks_attain_their_line(name: str) -> None:
    module, shape, x, domain, functionals, constants = problem(name)
    (shell,) = certified(name)
    for q, direction in enumerate(directions(name, np.random.default_rng(0))[-FUNCTIONALS:]):
        given = outputs(module, shape, moved(x, domain, 7.0 * direction))
        value = np.einsum("ik,ik->i", functionals[:, q], given) + constants[:, q]
        np.testing.assert_allclose(shell.offset[:, q] + 7.0 * shell.slope[:, q], value, rtol=1e-7)


@pytest.mark.parametrize("name", ["relu", "deep relu", "leaky", "norm", "strides", "gate first"])
def test_the_first_shell_is_the_network_itself(name: str) -> None:
    module, shape, x, domain, functionals, constants = problem(name)
    first = certified(name)[0]
    assert (first.outer > 0.0).all()
    for q, direction in enumerate(directions(name, np.random.default_rng(0))[-FUNCTIONALS:]):
        given = outputs(module, shape, moved(x, domain, first.outer[:, None] * direction))
        value = np.einsum("ik,ik->i", functionals[:, q], given) + constants[:, q]
        np.testing.assert_allclose(first.offset[:, q] + first.outer * first.slope[:, q], value, rtol=1e-7, atol=1e-9)


def test_beyond_the_first_shell_a_gate_flips() -> None:
    module, _, x, domain, _, _ = problem("one output")
    first, layer = certified("one output")[0], NETWORKS["one output"][0].get_submodule("0")
    moves = np.isfinite(domain.price)
    weights = np.asarray(layer.weight.detach().double().numpy())[:, moves] / np.sqrt(domain.price[moves])  # type: ignore[operator]
    reached = np.abs(outputs(module.get_submodule("0"), (x.shape[1],), x)) / np.linalg.norm(weights, axis=1)
    np.testing.assert_allclose(first.outer, reached.min(axis=1), rtol=1e-6)


def test_planes_are_below_the_lipschitz_line() -> None:
    torch.manual_seed(2)
    module, rng = mlp(5, 16, 16, 1), np.random.default_rng(3)
    x, domain = rng.normal(size=(50, 5)), Space().resolve(list("abcde"))
    found = shells(module, x, (5,), domain, np.ones((50, 1, 1)), np.zeros((50, 1)))
    assert found is not None
    value, steepest = found[0].offset, found[-1].slope
    for shell in found[:-1]:
        ends = shell.outer[:, None]
        assert (shell.offset + shell.slope * ends <= (value + steepest * ends) * (1.0 + SLACK) + SLACK).all()
    wide = found[len(found) // 2]
    rise = (wide.offset + wide.slope * wide.outer[:, None] - value) / (steepest * wide.outer[:, None])
    assert np.median(rise) < 0.6
    assert (found[-1].offset < value).all()


def test_lipschitz_constant_is_at_most_the_product_of_norms() -> None:
    module, _, _, domain, functionals, _ = problem("gate Tanh")
    (shell,) = certified("gate Tanh")
    weights = [np.asarray(layer.weight.detach()) for layer in module.modules() if isinstance(layer, nn.Linear)]
    moves = np.isfinite(domain.price)
    product = np.linalg.norm(weights[0][:, moves] / np.sqrt(domain.price[moves]), 2) * np.linalg.norm(weights[1], 2)
    rows = np.linalg.norm(functionals @ weights[2], axis=-1)
    assert (shell.slope <= rows * product * (1.0 + 1e-7)).all()
    assert (shell.slope < 0.9 * rows * product).any()


@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv2d(2, 4, 3),
        nn.Conv2d(4, 4, 3, groups=2, stride=2, padding=1),
        nn.Conv2d(2, 3, 3, dilation=2, padding=2),
        nn.Conv2d(2, 2, 2, stride=2),
        nn.AvgPool2d(2),
        nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False),
        nn.AvgPool2d(3, ceil_mode=True),
        settled_norm(nn.BatchNorm2d(2)),
        nn.Linear(8, 5),
    ],
    ids=str,
)
def test_norms_of_layers_that_are_not_written_out_are_bounds(layer: nn.Module, monkeypatch: pytest.MonkeyPatch) -> None:
    channels = layer.in_channels if isinstance(layer, nn.Conv2d) else 2
    assert isinstance(channels, int)
    shape = (channels, 8, 8)
    layer = layer.double().eval()
    with torch.no_grad():
        exact = torch.linalg.matrix_norm(known_layers._affine(layer, shape).weight, 2)
        monkeypatch.setattr(known_layers, "MAX_ENTRIES", 64)
        bound = known_layers._affine(layer, shape).weight
    assert bound.ndim == 0
    assert exact <= bound <= 3.0 * exact


@pytest.mark.parametrize("kind", [kind for kind in GATES if not issubclass(kind, nn.MaxPool1d | nn.MaxPool2d)])
def test_slopes_of_gates(kind: type[nn.Module]) -> None:
    u = torch.linspace(-30.0, 30.0, 600_001, dtype=torch.float64).requires_grad_()
    module = kind().double()
    (slopes,) = torch.autograd.grad(module(u).sum(), u)
    gate = GATES[kind](module)
    assert gate.least - 1e-12 <= slopes.min()
    assert slopes.max() <= gate.most + 1e-12
    if kind is nn.GELU:
        (slopes,) = torch.autograd.grad(nn.GELU("tanh")(u).sum(), u)
        assert gate.least <= slopes.min() <= slopes.max() <= gate.most


class Own(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x**2


class OwnLinear(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) ** 2


def hooked() -> nn.Module:
    layer = nn.Linear(4, 2)
    layer.register_forward_hook(lambda _module, _given, result: 2 * result)
    return layer


def infinite() -> nn.Module:
    layer = nn.Linear(4, 2)
    layer.weight.data[0, 0] = math.inf
    return layer


REFUSED: list[tuple[nn.Module, tuple[int, ...], str]] = [
    (Own(), (4,), "Own"),
    (nn.Sequential(nn.Linear(4, 3), OwnLinear(3, 2)).eval(), (4,), "OwnLinear"),
    (nn.Sequential(nn.MaxPool1d(3, stride=2), nn.Flatten()).eval(), (2, 9), "MaxPool1d"),
    (nn.Sequential(nn.MaxPool2d(2, dilation=2), nn.Flatten()).eval(), (2, 9, 9), "MaxPool2d"),
    (nn.Sequential(nn.Embedding(5, 3), nn.Flatten()).eval(), (4,), "Embedding"),
    (nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)).train(), (4,), "BatchNorm1d"),
    (nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3, track_running_stats=False)).eval(), (4,), "BatchNorm1d"),
    (nn.Sequential(nn.Dropout(0.5), nn.Linear(4, 3)).train(), (4,), "Dropout"),
    (nn.Sequential(nn.Conv1d(2, 2, 3, padding=1, padding_mode="circular"), nn.Flatten()).eval(), (2, 9), "Conv1d"),
    (nn.Sequential(nn.Linear(4, 3), nn.Softplus(threshold=1.0)).eval(), (4,), "Softplus"),
    (nn.Sequential(nn.Linear(4, 3), nn.LayerNorm(3)).eval(), (4,), "LayerNorm"),
    (nn.Sequential(nn.Linear(4, 3), nn.Flatten(0)).eval(), (4,), "Flatten"),
    (nn.Sequential(nn.Linear(5, 3)).eval(), (4,), "Linear"),
    (nn.Sequential(nn.Linear(4, 3)).eval(), (2, 4), "shape"),
    (hooked().eval(), (4,), "Linear"),
    (infinite().eval(), (4,), "Linear"),
    (nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3)).eval(), (4,), "Linear"),
]


@pytest.mark.parametrize("module, shape, named", REFUSED)
def test_what_is_not_known_is_refused(module: nn.Module, shape: tuple[int, ...], named: str) -> None:
    why = reason(module, shape)
    assert why is not None
    assert named in why
    d = math.prod(shape)
    assert shells(module, np.zeros((2, d)), shape, priced(d), np.zeros((2, 1, 3)), np.zeros((2, 1))) is None


@pytest.mark.parametrize("name", NETWORKS)
def test_what_is_known_has_no_reason_to_be_refused(name: str) -> None:
    module, shape, *_ = problem(name)
    assert reason(module, shape) is None


def test_nothing_moves_where_all_is_frozen() -> None:
    module, shape, x, _, functionals, constants = problem("relu")
    names = [f"x{j}" for j in range(x.shape[1])]
    found = shells(module, x, shape, Space(frozen=names).resolve(names), functionals, constants)
    assert found is not None
    value = np.einsum("iqk,ik->iq", functionals, outputs(module, shape, x)) + constants
    assert (found[-1].slope == 0.0).all()
    np.testing.assert_allclose(found[-1].offset, value, rtol=1e-7, atol=1e-8)


def test_a_dear_network_gets_fewer_balls() -> None:
    full, few, one = (certified("relu", work=work) for work in (THOROUGH, 1e5, 1.0))
    assert len(full) > len(few) > len(one) == 2  # the ball in which it is linear, and beyond


def test_module_and_data_are_left_alone() -> None:
    module = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 3), nn.BatchNorm1d(3), nn.ReLU(inplace=True), nn.Linear(3, 1))
    module.eval()
    module[3].train()  # a mode of no consequence, yet the user's
    module(torch.ones(2, 4)).sum().backward()
    before = {key: value.clone() for key, value in module.state_dict().items()}
    grads = [p.grad.clone() for p in module.parameters() if p.grad is not None]
    modes = [part.training for part in module.modules()]
    x = np.random.default_rng(0).normal(size=(5, 4))
    kept = x.copy()
    assert shells(module, x, (4,), priced(4), np.ones((5, 1, 1)), np.zeros((5, 1))) is not None
    np.testing.assert_array_equal(x, kept)
    assert all(
        torch.equal(before[key], value) and value.dtype == before[key].dtype for key, value in module.state_dict().items()
    )
    assert all(torch.equal(old, p.grad) for old, p in zip(grads, module.parameters(), strict=True) if p.grad is not None)
    assert [part.training for part in module.modules()] == modes
    assert all(p.requires_grad for p in module.parameters())


def test_samples_on_every_kink_have_planes_too() -> None:
    torch.manual_seed(4)
    module = nn.Sequential(nn.Linear(3, 12, bias=False), nn.ReLU(), nn.Linear(12, 1, bias=False)).double()
    domain, rng = Space().resolve(list("abc")), np.random.default_rng(0)
    found = shells(module, np.zeros((1, 3)), (3,), domain, np.ones((1, 1, 1)), np.zeros((1, 1)))
    assert found is not None
    for steps in rng.normal(size=(200, 3)) * rng.choice([0.01, 1.0, 30.0], size=(200, 1)):
        top = heights(found, np.array([np.linalg.norm(steps)]))
        assert outputs(module, (3,), steps[None])[0, 0] <= top[0, 0] + SLACK
