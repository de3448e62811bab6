"""Networks below the front door: certificates hold, proofs can be stopped, modules of any style are read and left alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import tippingpoint as tp
from tippingpoint.core.divergences import divergence_named
from tippingpoint.core.dual import highest_floor, solve
from tippingpoint.core.problem import Problem
from tippingpoint.models.chains import chain, hidden_layer
from tippingpoint.oracles.network.gates import GateSearch
from tippingpoint.progress import progress_bar

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(50, 4))
Y = (X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * DRAW.normal(size=50) > 0.3).astype(int)
THREE = (Y + (X[:, 2] > 0.8)).astype(int)


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def trained(*widths: int, classes: int = 1, seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    layers: list[nn.Module] = []
    for before, after in zip([4, *widths], [*widths, classes], strict=True):
        layers += [nn.Linear(before, after), nn.ReLU()]
    net = nn.Sequential(*layers[:-1]).double()
    inputs, labels = torch.tensor(X), torch.tensor(Y if classes == 1 else THREE)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.03)
    for _ in range(60):
        optimiser.zero_grad()
        out = net(inputs)
        one = nn.functional.binary_cross_entropy_with_logits
        loss: Any = one(out[:, 0], labels.double()) if classes == 1 else nn.functional.cross_entropy(out, labels)
        loss.backward()
        optimiser.step()
    return net.eval()


@pytest.mark.parametrize("divergence", ["kl", "chi2"])
@pytest.mark.parametrize("prices", [(1.0, 0.25), (0.3, math.inf), (5.0, 0.1)])
@pytest.mark.parametrize("loss", ["cross_entropy", "hinge", "squared_hinge", "zero_one"])
@pytest.mark.parametrize("classes", [1, 3])
def test_lower_bounds_are_below_what_a_long_search_finds(
    classes: int, loss: str, prices: tuple[float, float], divergence: str
) -> None:
    net = trained(8, 8, classes=classes)
    y = Y if classes == 1 else THREE
    profile = tp.profile(net, X, y, loss=loss, restarts=8, certify="tight")
    risk = 0.5 if loss == "zero_one" else 2.0 * profile.risk
    result = profile.stability(risk, theta1=prices[0], theta2=prices[1], divergence=divergence)
    assert 0.0 < result.lower <= result.upper
    assert result.gap < 0.9
    assert "relaxations" in result.lower_by


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "pinball:0.8", "epsilon_insensitive"])
@pytest.mark.parametrize("widths", [(6,), (6, 6)])
def test_regressors_are_bounded_from_both_sides(widths: tuple[int, ...], loss: str) -> None:
    target = X[:, 0] - X[:, 1] + 0.3 * DRAW.normal(size=len(X))
    net = trained(*widths)
    method: dict[str, Any] = {"method": "exact", "tolerance": 1e-3} if len(widths) == 1 else {}
    path, bounded = (tp.profile(net, X, target, loss=loss, restarts=8, **extra) for extra in ({}, method))
    for theta1, theta2 in ((1.0, 0.25), (20.0, math.inf)):
        searched = path.stability(1.3 * path.risk, theta1=theta1, theta2=theta2)
        proved = bounded.stability(1.3 * path.risk, theta1=theta1, theta2=theta2)
        assert 0.0 < searched.lower <= proved.upper * (1.0 + 1e-9)
        assert proved.lower <= proved.upper <= searched.upper * (1.0 + 1e-9)
        if method:
            assert proved.gap < 0.01


def test_bounds_of_exact_gains_are_the_dual_itself() -> None:
    profile = tp.profile((np.array([1.0, -2.0, 0.5, 0.0]), 0.1), X, Y, loss="logistic")
    problem = Problem(profile.oracle, profile.base, 1.5 * profile.risk, 1.0, 0.25, divergence_named("kl"))
    solution = solve(problem)

    def gain(price: float) -> Any:
        response = profile.oracle.respond(price)
        return price * response.lift - response.cost

    price = solution.left.price
    assert problem.floor(price, gain(price)) == pytest.approx(solution.lower, rel=1e-9)
    floor = highest_floor(problem, gain, 100.0 * price)
    assert floor <= solution.lower * (1.0 + 1e-12)
    assert floor == pytest.approx(solution.lower, rel=1e-3)
    assert problem.floor(price, np.full(len(X), math.inf)) == -math.inf


class Written(nn.Module):
    """The same network in the ways that people write it."""

    def __init__(self, net: nn.Sequential) -> None:
        super().__init__()
        self.first, self.last = net[0], net[2]


class Clamp(Written):
    def forward(self, x: torch.Tensor) -> Any:
        return self.last(torch.clamp(self.first(x), min=0))


class View(Written):
    def forward(self, x: torch.Tensor) -> Any:
        return self.last(nn.functional.relu(self.first(x))).view(-1)


class Reshape(Written):
    def forward(self, x: torch.Tensor) -> Any:
        return self.last(self.first(x).relu()).reshape(-1)


class Squeeze(Written):
    def forward(self, x: torch.Tensor) -> Any:
        return self.last(torch.relu(self.first(x))).squeeze(1)


@pytest.mark.parametrize("written", [Clamp, View, Reshape, Squeeze])
def test_hand_written_modules_are_read_as_the_chain_they_are(written: type[Written]) -> None:
    net = trained(8)
    found = chain(written(net), torch.tensor(X))
    assert found is not None
    layer = hidden_layer(found)
    assert layer is not None
    seen = np.maximum(X @ layer.weights.T + layer.bias, 0.0) @ layer.outer + layer.offset
    np.testing.assert_allclose(seen, net(torch.tensor(X)).detach().numpy()[:, 0], rtol=1e-12)


def test_a_layer_alone_is_a_chain_and_branches_are_not() -> None:
    inputs = torch.tensor(X)

    class Residual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 4).double()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.as_tensor(x + self.layer(x))

    assert chain(nn.Linear(4, 1).double(), inputs) is not None
    assert chain(Residual(), inputs) is None
    result = tp.stability(nn.Sequential(Residual(), nn.Linear(4, 1).double()), X, Y, 0.9, loss="zero_one")
    assert result.lower == 0.0
    assert "not certified" in result.lower_by
    assert "not certified" in str(result)


def test_modes_within_a_module_are_left_alone() -> None:
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1)).train()
    net[1].eval()
    mean = net[1].running_mean.clone()  # type: ignore[operator]
    tp.profile(net, X, Y)
    assert net.training
    assert not net[1].training
    assert torch.equal(mean, net[1].running_mean)  # type: ignore[arg-type]


@pytest.mark.parametrize("loss", ["zero_one", "cross_entropy"])
def test_proofs_that_are_interrupted_leave_what_they_know(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    net = trained(10)
    risk = 0.5 if loss == "zero_one" else 1.0
    whole = tp.stability(net, X, Y, risk, loss=loss, theta1=1.0, theta2=0.25, method="exact")
    evaluate, calls = GateSearch._evaluate, [0]

    def interrupted(self: GateSearch, *given: Any) -> Any:
        calls[0] += 1
        if calls[0] == 2:
            raise KeyboardInterrupt
        return evaluate(self, *given)

    monkeypatch.setattr(GateSearch, "_evaluate", interrupted)
    stopped = tp.stability(net, X, Y, risk, loss=loss, theta1=1.0, theta2=0.25, method="exact")
    assert calls[0] >= 2
    assert stopped.lower <= whole.upper * (1.0 + 1e-9)
    assert stopped.upper >= whole.lower * (1.0 - 1e-9)


def test_where_nothing_can_err_the_proof_says_so() -> None:
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
    net[2].weight.data.abs_()  # type: ignore[operator]
    net[2].bias.data[:] = 1.0  # type: ignore[operator]
    y = np.r_[np.zeros(3, int), np.ones(47, int)]
    assert tp.stability(net, X, y, 0.5, theta1=1.0, theta2=math.inf).status == "unreachable"
    only_weights = tp.stability(net, X, y, 0.5, theta1=1.0, theta2=0.25)
    assert only_weights.lower == pytest.approx(only_weights.upper, rel=2e-3)


def test_what_cannot_be_differentiated_is_refused() -> None:
    class Detached(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.detach()[:, 0]

    with pytest.raises(tp.InputError, match="gradient"):
        tp.profile(Detached(), X, Y)


@pytest.mark.parametrize("classes", [5, "ab", [0, 1, 2], [0, 0]])
def test_classes_that_do_not_fit_are_refused(classes: Any) -> None:
    with pytest.raises(tp.InputError, match="classes="):
        tp.profile(nn.Linear(4, 1), X, Y, classes=classes)


def test_a_loss_that_fails_is_quoted() -> None:
    with pytest.raises(tp.InputError, match=r"the loss fails on outputs of shape \(\d+, 1\)"):
        tp.profile(nn.Linear(4, 1), X, Y, loss=nn.CrossEntropyLoss())


def test_a_bar_is_shown_where_asked_for_only(capsys: pytest.CaptureFixture[str]) -> None:
    tp.profile(trained(4), X, Y, loss="hinge")
    assert capsys.readouterr().err == ""
    with progress_bar("searching", 3, show=True) as tick:
        tick(2)
    assert "searching" in capsys.readouterr().err
