"""PyTorch modules behind the front door: what users rely on, with numbers recomputed by the module itself."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

import tippingpoint as tp
from tippingpoint.core.arrays import FloatArray
from tippingpoint.oracles.network.scores import Scores

INF = math.inf
N, D = 40, 3
X = np.clip(np.random.default_rng(7).normal(size=(N, D)), -1.9, 1.9)
NAMES = [f"x{j}" for j in range(D)]
PRICES = ((1.0, 0.25, "kl"), (0.3, INF, "kl"), (2.0, 0.5, "chi2"))
ASKED: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
CLASSIFIERS = ("cross_entropy", "zero_one", "hinge", "squared_hinge")
REGRESSORS = ("squared", "absolute", "pinball:0.8", "huber", "epsilon_insensitive")
SPACES: dict[str, tp.Space | None] = {
    "free": None,
    "frozen and priced": tp.Space(frozen=["x1"], price={"x2": 3.0}),
    "box": tp.Space(lower=-2.0, upper=2.0),
}


def mlp(*widths: int, seed: int = 3) -> nn.Sequential:
    """Layers of ReLUs with weights of its own seed, in eval mode; the global seed is left alone."""
    rng, layers = np.random.default_rng(seed), list[nn.Module]()
    for a, b in itertools.pairwise(widths):
        layer = nn.Linear(a, b)
        layer.weight.data = torch.from_numpy(rng.normal(size=(b, a)) * math.sqrt(2.0 / a)).float()
        layer.bias.data = torch.from_numpy(rng.normal(size=b) * 0.3).float()
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1]).eval()


NET, DEEP, THREE = mlp(D, 6, 1), mlp(D, 5, 5, 1), mlp(D, 6, 3)


def output(module: nn.Module, x: Any, dtype: torch.dtype = torch.float32) -> FloatArray:
    with torch.no_grad():
        return np.asarray(module(torch.as_tensor(np.asarray(x), dtype=dtype)).double().numpy())


def labels(module: nn.Module, noise: float = 1.0) -> Any:
    """Labels that the module predicts with some errors."""
    noisy = output(module, X) + noise * np.random.default_rng(8).normal(size=(N, 1 if module is not THREE else 3))
    return (noisy[:, 0] > 0.0).astype(int) if noisy.shape[1] == 1 else noisy.argmax(axis=1)


Y, Y3 = labels(NET), labels(THREE)
TARGET = output(NET, X)[:, 0] + np.random.default_rng(9).normal(size=N)


class Written(nn.Module):
    """The same layers, called by hand."""

    def __init__(self, layers: nn.Sequential) -> None:
        super().__init__()
        self.first, self.last = layers[0], layers[2]

    def forward(self, x: Tensor) -> Tensor:
        score: Tensor = self.last(torch.relu(self.first(x)))
        return score.squeeze(1)


class After(nn.Module):
    """A module, and something done to what it returns."""

    def __init__(self, change: Callable[[Tensor], Any], module: nn.Module = NET) -> None:
        super().__init__()
        self.module, self.change = module, change

    def forward(self, x: Tensor) -> Any:
        return self.change(self.module(x))


def fourfold(output: Tensor, y: Tensor) -> Tensor:
    """A loss of a user's own."""
    return (output[:, 0] - y) ** 4


# A network of one layer is a linear model


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("loss", [*CLASSIFIERS, *REGRESSORS])
def test_one_linear_layer_is_the_linear_model(loss: str, space: str) -> None:
    coef, intercept = np.array([1.0, -0.7, 0.4]), 0.3
    layer = nn.Linear(D, 1).double()
    layer.weight.data, layer.bias.data = torch.tensor(coef)[None], torch.tensor([intercept]).double()
    noisy = X @ coef + intercept + np.random.default_rng(2).normal(size=N)
    y: Any = noisy if loss in REGRESSORS else (noisy > 0.0).astype(int)
    given: dict[str, Any] = {"loss": loss, "space": SPACES[space]}
    searched, linear = tp.profile(nn.Sequential(layer), X, y, **given), tp.profile((coef, intercept), X, y, **given)
    bare = tp.profile(layer, X, y, **given)
    assert searched.risk == pytest.approx(linear.risk, rel=1e-12)
    risk = 0.5 if loss == "zero_one" else 1.5 * linear.risk
    for theta1, theta2, divergence in PRICES:
        asked: dict[str, Any] = {"theta1": theta1, "theta2": theta2, "divergence": divergence}
        exact, found = linear.stability(risk, **asked).value, searched.stability(risk, **asked)
        assert exact * (1.0 - 1e-9) <= found.value <= exact * (1.0 + 1e-6)
        assert bare.stability(risk, **asked).value == pytest.approx(found.value, rel=1e-9)
        assert exact * (1.0 - (1e-2 if space == "box" else 1e-3)) <= found.lower <= exact * (1.0 + 1e-9), "no bounds in it"
        assert not found.exact


@pytest.mark.parametrize("space", SPACES)
def test_three_linear_scores_are_the_linear_model_of_three_classes(space: str) -> None:
    rng = np.random.default_rng(4)
    coef, intercept = rng.normal(size=(3, D)), rng.normal(size=3) * 0.2
    layer = nn.Linear(D, 3).double()
    layer.weight.data, layer.bias.data = torch.tensor(coef), torch.tensor(intercept)
    y = (X @ coef.T + intercept + rng.normal(size=(N, 3))).argmax(axis=1)
    exact, found = (tp.profile(m, X, y, space=SPACES[space]) for m in ((coef, intercept), nn.Sequential(layer)))
    risk = 0.5 * (1.0 + exact.risk)
    for theta1, theta2, divergence in PRICES:
        asked: dict[str, Any] = {"theta1": theta1, "theta2": theta2, "divergence": divergence}
        value, result = exact.stability(risk, **asked).value, found.stability(risk, **asked)
        assert value * (1.0 - 1e-9) <= result.value <= value * (1.0 + 1e-6)
        assert 0.0 <= result.lower <= value * (1.0 + 1e-9)


# What is shown is what the module says


def logistic(out: FloatArray, y: Any) -> FloatArray:
    if out.shape[1] == 1:
        return np.logaddexp(0.0, -(2.0 * y - 1.0) * out[:, 0])
    return np.asarray(np.logaddexp.reduce(out, axis=1) - out[np.arange(len(y)), y])


def wrong(out: FloatArray, y: Any) -> FloatArray:
    return ((out[:, 0] > 0.0).astype(int) if out.shape[1] == 1 else out.argmax(axis=1)) != y


JUDGED: dict[str, tuple[nn.Module, Any, Any, Callable[[FloatArray, Any], FloatArray], float]] = {
    "cross_entropy": (DEEP, labels(DEEP), "cross_entropy", logistic, 1.5),
    "cross_entropy of 3": (THREE, Y3, "cross_entropy", logistic, 1.5),
    "zero_one": (DEEP, labels(DEEP), "zero_one", wrong, 0.6),
    "zero_one of 3": (THREE, Y3, "zero_one", wrong, 0.6),
    "squared": (NET, TARGET, "squared", lambda out, y: np.square(out[:, 0] - y), 3.0),
    "a loss of one's own": (NET, TARGET, fourfold, lambda out, y: (out[:, 0] - y) ** 4, 20.0),
}


@pytest.mark.parametrize("divergence", ["kl", "chi2"])
@pytest.mark.parametrize("case", JUDGED)
def test_the_module_itself_confirms_risk_and_cost(case: str, divergence: str) -> None:
    module, y, loss, judge, risk = JUDGED[case]
    space = tp.Space(frozen=["x1"], price={"x2": 3.0}, lower=-2.0, upper={"x0": 2.0, "x2": 2.5})
    result = tp.stability(module, X, y, risk, loss=loss, space=space, **ASKED, divergence=divergence)
    assert (result.status, result.risk) == ("attained", risk)
    atoms = result.sensitive
    row, mass = atoms["row"].to_numpy(), (atoms["weight"] * atoms["share"]).to_numpy() / N
    points, here = atoms[NAMES].to_numpy(), X[atoms["row"]]
    assert (points[:, 1] == here[:, 1]).all()
    assert points.min() >= -2.0
    assert (points[:, [0, 2]] <= [2.0, 2.5]).all()
    assert mass.sum() == pytest.approx(1.0, abs=1e-9)
    told = judge(output(module, points), np.asarray(y)[row])
    np.testing.assert_allclose(atoms["loss"], told, rtol=2e-5, atol=1e-5)
    assert mass @ told == pytest.approx(risk, rel=1e-5)
    distance = np.square(points - here) @ [1.0, 0.0, 3.0]
    np.testing.assert_allclose(atoms["cost"], distance, rtol=1e-5, atol=1e-7)
    weight = np.zeros(N)
    weight[row] = atoms["weight"]
    safe = np.where(weight > 0.0, weight, 1.0)
    phi = np.square(weight - 1.0) if divergence == "chi2" else weight * np.log(safe) - weight + 1.0
    assert 1.0 * mass @ distance + 0.25 * phi.mean() == pytest.approx(result.upper, rel=1e-5)
    assert result.lower <= result.value == result.upper
    assert result.moved_share > 0.0


# Inputs of all kinds


def test_a_frame_keeps_its_names_and_its_rows() -> None:
    frame = pd.DataFrame(X, columns=["age", "dose", "bmi"], index=[f"r{i}" for i in range(N)])
    given: dict[str, Any] = {"loss": "cross_entropy", **ASKED}
    framed = tp.stability(NET, frame, pd.Series(Y, index=frame.index), 1.0, space=tp.Space(frozen=["dose"]), **given)
    plain = tp.stability(NET, X, Y, 1.0, space=tp.Space(frozen=["x1"]), **given)
    assert framed.to_json() == plain.to_json()
    assert list(framed.sensitive.columns[-3:]) == ["age", "dose", "bmi"]
    assert framed.sensitive["row"].tolist() == [f"r{i}" for i in plain.sensitive["row"]]


@pytest.mark.parametrize("loss", ["cross_entropy", "zero_one"])
def test_images_are_moved_pixel_by_pixel(loss: str) -> None:
    rng = np.random.default_rng(6)
    convolution, last = nn.Conv2d(2, 3, 2), nn.Linear(12, 2)
    for values in (*convolution.parameters(), *last.parameters()):
        values.data = torch.from_numpy(rng.normal(size=tuple(values.shape)) * 0.4).float()
    net = nn.Sequential(convolution, nn.ReLU(), nn.Flatten(), last)
    images = torch.from_numpy(rng.normal(size=(N, 2, 3, 3))).float()
    y = torch.from_numpy(rng.permuted(output(net, images).argmax(axis=1)[None, :10], axis=1)[0]).long()
    y = torch.cat([y, torch.from_numpy(output(net, images).argmax(axis=1)[10:])])
    risk = 0.5 if loss == "zero_one" else 1.2
    result = tp.stability(net, images, y, risk, loss=loss, **ASKED)
    points = result.sensitive[[f"x{j}" for j in range(18)]].to_numpy().reshape(-1, 2, 3, 3)
    out, own = output(net, points), y.numpy()[result.sensitive["row"]]
    mass = (result.sensitive["weight"] * result.sensitive["share"]).to_numpy() / N
    assert mass @ (wrong(out, own) if loss == "zero_one" else logistic(out, own)) == pytest.approx(risk, rel=1e-5)
    flat = tp.stability(nn.Sequential(nn.Unflatten(1, (2, 3, 3)), net), images.reshape(N, 18), y, risk, loss=loss, **ASKED)
    assert flat.value == pytest.approx(result.value, rel=1e-6)


TWO = nn.Sequential(mlp(D, 6, 1), nn.Linear(1, 2, bias=False))
TWO[1].weight.data = torch.tensor([[-0.5], [0.5]])

SAME: dict[str, tuple[nn.Module, Any, dict[str, Any]]] = {
    "labels -1 and 1": (NET, 2 * Y - 1, {}),
    "labels as floats": (NET, Y.astype(float), {}),
    "labels as booleans": (NET, Y == 1, {}),
    "labels as a tensor": (NET, torch.from_numpy(Y), {}),
    "names in order": (NET, np.where(Y == 1, "no", "ill"), {}),
    "names in the order given": (NET, np.where(Y == 1, "ill", "no"), {"classes": ["no", "ill"]}),
    "a vector of scores": (nn.Sequential(NET, nn.Flatten(0)), Y, {}),
    "calls by hand": (Written(NET), Y, {}),
    "two logits": (TWO, Y, {}),
    "two logits with names": (TWO, np.where(Y == 1, "a", "b"), {"classes": ["b", "a"]}),
    "a module in training mode": (mlp(D, 6, 1).train(), Y, {}),
    "a few rows at a time": (NET, Y, {"batch": 7}),
    "no gradients wanted": (mlp(D, 6, 1).requires_grad_(requires_grad=False), Y, {}),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_scores_and_labels_in_other_words(name: str) -> None:
    module, y, given = SAME[name]
    for loss, risk in (("cross_entropy", 1.0), ("zero_one", 0.5)):
        plain, other = (tp.stability(m, X, t, risk, loss=loss, **ASKED, **g) for m, t, g in ((NET, Y, {}), (module, y, given)))
        assert other.current_risk == pytest.approx(plain.current_risk, rel=1e-6)
        assert other.value == pytest.approx(plain.value, rel=1e-3 if module is TWO else 1e-5), "no local optimum of its own"


def test_weights_and_scales_mean_what_they_mean_for_linear_models() -> None:
    coef, intercept = np.array([1.0, -0.7, 0.4]), 0.3
    layer = nn.Linear(D, 1).double()
    layer.weight.data, layer.bias.data = torch.tensor(coef)[None], torch.tensor([intercept]).double()
    x, weights = X * [1.0, 20.0, 0.1], np.arange(N) % 4
    for given in ({"scale": "std"}, {"sample_weight": weights, "scale": "raw"}, {"sample_weight": weights, "scale": "std"}):
        for loss, risk in (("cross_entropy", 7.0), ("zero_one", 0.8)):
            found, exact = (tp.stability(m, x, Y, risk, loss=loss, **ASKED, **given) for m in (layer, (coef, intercept)))
            assert found.value == pytest.approx(exact.value, rel=1e-6)
            assert found.unit == exact.unit
            assert 0 < exact.value < INF


def test_rows_without_weight_are_no_rows() -> None:
    weights = (np.arange(N) % 4).astype(float)
    kept = np.flatnonzero(weights)
    one = tp.stability(DEEP, X, Y, 1.5, loss="hinge", sample_weight=weights, **ASKED)
    other = tp.stability(DEEP, X[kept], Y[kept], 1.5, loss="hinge", sample_weight=weights[kept], **ASKED)
    assert one.to_json() == other.to_json()
    assert set(one.sensitive["row"]) <= set(kept.tolist())


# The module, and everybody else's randomness, are left as they were


@pytest.mark.parametrize("method", ["path", "exact", "paper"])
@pytest.mark.parametrize("training", [False, True])
def test_the_module_is_left_as_it_was(method: str, training: bool) -> None:  # noqa: FBT001
    net = nn.Sequential(*mlp(D, 4, 1)).train(training)
    net[0].weight.requires_grad_(requires_grad=False)
    net[2].weight.grad = torch.full_like(net[2].weight, 2.5)
    net.register_forward_hook(lambda module, given, out: None)
    state = {name: values.numpy().tobytes() for name, values in net.state_dict().items()}
    threads, drawn, grad = torch.get_num_threads(), torch.get_rng_state(), torch.is_grad_enabled()
    legacy: Any = np.random.get_state()  # noqa: NPY002  # the global one is what must not change
    options: dict[str, Any] = {"epochs": 3} if method == "paper" else {}
    for loss, risk in (("cross_entropy", 1.0), ("zero_one", 0.9)):
        tp.stability(net, X, Y, risk, loss=loss, method=method, **ASKED, **options).sensitive.sum()
    assert {name: values.numpy().tobytes() for name, values in net.state_dict().items()} == state
    assert [module.training for module in net.modules()] == [training] * 4
    assert [p.requires_grad for p in net.parameters()] == [False, True, True, True]
    assert [p.grad is None for p in net.parameters()] == [True, True, False, True]
    assert net[2].weight.grad.eq(2.5).all()
    assert [len(module._forward_hooks) for module in net.modules()] == [1, 0, 0, 0]
    assert (torch.get_num_threads(), torch.is_grad_enabled()) == (threads, grad)
    assert torch.equal(torch.get_rng_state(), drawn)
    after: Any = np.random.get_state()  # noqa: NPY002
    assert (after[1] == legacy[1]).all()
    assert after[2:] == legacy[2:]


@pytest.mark.parametrize("loss", ["cross_entropy", "zero_one", "squared"])
def test_the_same_question_has_the_same_answer_whatever_was_asked_before(loss: str) -> None:
    y, risk = (TARGET, 3.0) if loss == "squared" else (Y, 0.7)
    profile = tp.profile(DEEP, X, y, loss=loss, seed=5)
    first = profile.stability(risk, **ASKED)
    for other in ({"theta1": 0.05, "theta2": INF}, {"theta1": 3.0, "theta2": 0.1, "divergence": "chi2"}):
        profile.stability(1.4 * risk, **other)  # type: ignore[arg-type]
    assert profile.stability(risk, **ASKED).to_json() == first.to_json()
    again = tp.stability(DEEP, X, y, risk, loss=loss, seed=5, **ASKED)
    assert again.to_json() == first.to_json()
    pd.testing.assert_frame_equal(again.sensitive, first.sensitive)
