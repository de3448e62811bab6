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
from tippingpoint.families.network.proofs.chains import chain, hidden_layer
from tippingpoint.families.network.proofs.gates import GateSearch
from tippingpoint.families.network.search.summits import Summit
from tippingpoint.progress import progress_bar

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(50, 4))
Y = (X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * DRAW.normal(size=50) > 0.3).astype(int)
THREE = (Y + (X[:, 2] > 0.8)).astype(int)


@pytest.fixture(autouse=True)
def _one_thread_and_seed() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
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


@pytest.mark.parametrize("widths", [(), (8, 8)])
@pytest.mark.parametrize("loss", ["cross_entropy", "hinge", "squared_hinge"])
@pytest.mark.parametrize("classes", [1, 3])
def test_no_step_gains_more_than_is_certified_at_any_price(classes: int, loss: str, widths: tuple[int, ...]) -> None:
    profile = tp.profile(trained(*widths, classes=classes), X, Y if classes == 1 else THREE, loss=loss, certify="tight")
    oracle: Any = profile.oracle
    for rung in oracle.rungs:
        for price in (1e-3 * rung, rung):
            summit = Summit.staying(price, oracle.setting.scores)
            oracle._explorer.scale(summit, None)
            most = oracle.certifier.gains(price)
            assert (most >= summit.gain * (1.0 - 1e-9)).all()


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
    layer = hidden_layer(found, 4)
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
    assert "not certified" in " ".join(str(result).split())


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


def test_where_nothing_errs_the_proof_says_how_far_it_looked() -> None:
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
    net[2].weight.data.abs_()  # type: ignore[operator]
    net[2].bias.data[:] = 1.0  # type: ignore[operator]
    y = np.r_[np.zeros(3, int), np.ones(47, int)]
    moving: dict[str, Any] = {"theta1": 1.0, "theta2": math.inf}
    anywhere = tp.stability(net, X, y, 0.5, **moving)
    assert anywhere.status == "not_found"
    assert anywhere.lower > 100.0  # no error is nearer than ten times the size of a sample
    fenced = tp.stability(net, X, y, 0.5, space=tp.Space(lower=-4.0, upper=4.0), **moving)
    assert (fenced.status, fenced.exact) == ("unreachable", True)
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


def test_a_loss_that_falls_too_is_raised_either_way() -> None:
    both = tp.PiecewiseLinear([-1.0, 1.0], [-1.0, 1.0])  # |1 - y·s|
    x, y = np.array([[3.0], [-3.0]]), [1, 0]
    identity = nn.Linear(1, 1).double()
    identity.weight.data[:], identity.bias.data[:] = 1.0, 0.0
    for model in ((np.array([1.0]), 0.0), identity):
        result = tp.stability(model, x, y, 3.0, loss=both, theta1=1.0, theta2=math.inf)
        assert result.value == pytest.approx(1.0, rel=1e-6)  # from 3 to 4 and from -3 to -4
        assert result.lower == pytest.approx(1.0, rel=1e-3)


def test_hooks_and_forwards_of_their_own_are_not_read_past() -> None:
    hooked, patched = trained(8), trained(8)
    hooked[0].register_forward_hook(lambda _module, _given, out: 5.0 * out)
    patched[2].forward = lambda x: 5.0 * nn.functional.linear(x, patched[2].weight)  # type: ignore[arg-type]

    class Twice(nn.Sequential):
        def forward(self, x: torch.Tensor) -> Any:
            return 2.0 * self[2](self[1](self[0](x)))

    for net in (hooked, patched, Twice(*trained(8))):
        assert chain(net, torch.tensor(X)) is None
        with pytest.raises(tp.UnsupportedError, match="exact"):
            tp.profile(net, X, Y, loss="cross_entropy", method="exact")


@pytest.mark.parametrize("seed", range(6))
def test_one_feature_is_enough(seed: int) -> None:
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(1, 6), nn.ReLU(), nn.Linear(6, 1)).double()
    x = X[:, :1]
    result = tp.stability(net, x, Y, 0.9, theta1=1.0, theta2=0.5)
    assert result.lower == pytest.approx(result.upper, rel=2e-3)
    grid = np.linspace(-20.0, 20.0, 40_001)
    wrong = (net(torch.tensor(grid[:, None])).detach().numpy()[:, 0] > 0.0)[None, :] != (Y > 0)[:, None]
    nearest = np.where(wrong, np.square(grid - x), np.inf).min(axis=1)
    costs = tp.profile(net, x, Y).oracle.peak().cost
    reached = np.isfinite(nearest) & (costs > 0.0)
    assert (costs[reached] <= nearest[reached] * (1.0 + 1e-6)).all()


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6])
def test_costs_are_those_of_the_points_shown(offset: float) -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    net[0].bias.data -= offset * net[0].weight.data.sum(dim=1)  # type: ignore[operator]
    result = tp.stability(net, X + offset, Y, 0.8, theta1=1.0, theta2=0.25, scale="raw")
    q = result.sensitive
    moved = q[["x0", "x1", "x2", "x3"]].to_numpy() - (X + offset)[q["row"]]
    np.testing.assert_allclose(np.square(moved).sum(axis=1), q["cost"], rtol=1e-6, atol=1e-12)


def test_of_classes_that_tie_the_first_is_predicted() -> None:
    still = nn.Linear(4, 3)
    still.weight.data[:], still.bias.data[:] = 0.0, 0.0
    y = np.arange(len(X)) % 3
    assert tp.profile(still, X, y).risk == pytest.approx((y > 0).mean())


def test_one_class_will_do_where_the_classes_are_named() -> None:
    named = tp.profile(nn.Linear(4, 1), X, ["b"] * len(X), classes=np.array(["a", "b"]))
    assert 0.0 <= named.risk <= 1.0
    with pytest.raises(tp.InputError, match="'c'"):
        tp.profile(nn.Linear(4, 1), X, ["c"] * len(X), classes=["a", "b"])


def test_modules_that_are_not_a_fixed_function_are_refused() -> None:
    class Batch(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x[:, 0] - x[:, 0].mean()

    for net in (Batch(), nn.Sequential(nn.Linear(4, 1), nn.RReLU(-9.0, 9.0)).train()):
        with pytest.raises(tp.InputError, match="fixed function of each row"):
            tp.profile(net, X, Y)
    good = trained(4)
    with torch.inference_mode(), pytest.raises(tp.InputError, match="inference_mode"):
        tp.profile(good, X, Y)


def test_outputs_that_look_like_probabilities_are_remarked_upon() -> None:
    class Hidden(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.sigmoid(self.layer(x)) + 0.0 * x[:, :1]

    with pytest.warns(tp.OutputWarning, match="between 0 and 1"):
        tp.profile(Hidden(), X, Y)


class Soft(nn.Module):
    """Probabilities of three classes, out of a `forward` that no layer gives away."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.layer(x), 1) + 0.0 * x[:, :1]


def test_probabilities_of_several_classes_are_remarked_upon_where_that_makes_a_difference() -> None:
    three = np.arange(len(X)) % 3
    with pytest.warns(tp.OutputWarning, match="sum to 1 in every row; .* without its softmax"):
        tp.profile(Soft(), X, three, loss="cross_entropy")
    tp.profile(Soft(), X, three)  # the largest of them is the largest of their logits


def test_half_precision_is_served() -> None:
    for net in (trained(6).half(), trained(6).bfloat16()):
        result = tp.stability(net, X, Y, 0.6, theta1=1.0, theta2=0.25)
        assert 0.0 < result.lower <= result.upper


def test_bounds_that_contradict_each_other_are_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tippingpoint.families.network.proofs.certifiers.highest_floor", lambda *_given: 1e9)
    result = tp.stability(trained(6), X, Y, 0.6, theta1=1.0, theta2=0.25)
    assert result.lower == 0.0
    assert "contradict" in result.lower_by
    assert any("contradicts" in note for note in result.notes)


def test_a_network_that_nothing_can_move_is_certified_out_of_reach() -> None:
    frozen = tp.stability(
        trained(6, 6), X, Y, 50.0, loss="cross_entropy", space=tp.Space(movable=[]), theta1=1.0, theta2=math.inf
    )
    assert frozen.lower == frozen.upper == math.inf
    assert str(frozen).startswith("Stability ∞")
