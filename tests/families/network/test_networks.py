"""PyTorch modules behind the front door: what users rely on, with numbers recomputed by the module itself."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn

import tippingpoint as tp
from tippingpoint.core.arrays import FloatArray
from tippingpoint.families.network.search.scores import Scores

INF = math.inf
LINE = COEF, INTERCEPT = np.array([1.0, -0.7, 0.4]), 0.3
N, D = 40, 3
X = np.clip(np.random.default_rng(7).normal(size=(N, D)), -1.9, 1.9)
NAMES = [f"x{j}" for j in range(D)]
ASKED: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
PRICES: list[dict[str, Any]] = [ASKED, {"theta1": 0.3, "theta2": INF}, {"theta1": 2.0, "theta2": 0.5, "divergence": "chi2"}]
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


def linear_layer(coef: Any, intercept: Any) -> nn.Linear:
    layer = nn.Linear(D, len(coef)).double()
    layer.weight.data, layer.bias.data = (torch.tensor(values, dtype=torch.float64) for values in (coef, intercept))
    return layer


NET, DEEP, THREE = mlp(D, 6, 1), mlp(D, 5, 5, 1), mlp(D, 6, 3)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Tests run side by side, and threads of such small products only wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def output(module: nn.Module, x: Any) -> FloatArray:
    with torch.no_grad():
        return np.asarray(module(torch.tensor(np.asarray(x), dtype=torch.float32)).double().numpy())


def labels(module: nn.Module) -> Any:
    """Labels that the module predicts with some errors."""
    noisy = output(module, X) + np.random.default_rng(8).normal(size=(N, 3 if module is THREE else 1))
    return (noisy[:, 0] > 0.0).astype(int) if noisy.shape[1] == 1 else noisy.argmax(axis=1)


Y, Y3 = labels(NET), labels(THREE)
TARGET = output(NET, X)[:, 0] + np.random.default_rng(9).normal(size=N)


class Written(nn.Module):
    def __init__(self, layers: nn.Sequential) -> None:
        super().__init__()
        self.first, self.last = layers[0], layers[2]

    def forward(self, x: Tensor) -> Tensor:
        return torch.squeeze(self.last(torch.relu(self.first(x))), 1)


class After(nn.Module):
    def __init__(self, change: Callable[[Tensor], Any], module: nn.Module = NET) -> None:
        super().__init__()
        self.module, self.change = module, change

    def forward(self, x: Tensor) -> Any:
        return self.change(self.module(x))


@cache
def plain(loss: str, risk: float) -> tp.StabilityResult:
    return tp.stability(NET, X, Y, risk, loss=loss, **ASKED)


def fourfold(output: Tensor, y: Tensor) -> Tensor:
    return (output[:, 0] - y) ** 4


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("loss", [*CLASSIFIERS, *REGRESSORS])
def test_one_linear_layer_is_the_linear_model(loss: str, space: str) -> None:
    layer = linear_layer(COEF[None], [INTERCEPT])
    noisy = X @ COEF + INTERCEPT + np.random.default_rng(2).normal(size=N)
    y: Any = noisy if loss in REGRESSORS else (noisy > 0.0).astype(int)
    given: dict[str, Any] = {"loss": loss, "space": SPACES[space]}
    searched, linear = tp.profile(nn.Sequential(layer), X, y, **given), tp.profile(LINE, X, y, **given)
    assert searched.risk == pytest.approx(linear.risk, rel=1e-12)
    risk = 0.5 if loss == "zero_one" else 1.5 * linear.risk
    for asked in PRICES:
        exact, found = linear.stability(risk, **asked).value, searched.stability(risk, **asked)
        assert exact * (1.0 - 1e-9) <= found.value <= exact * (1.0 + 1e-5)
        assert exact * (1.0 - (5e-2 if space == "box" else 1e-2)) <= found.lower <= exact * (1.0 + 1e-9), "it knows no box"


@pytest.mark.parametrize("space", SPACES)
def test_three_linear_scores_are_the_linear_model_of_three_classes(space: str) -> None:
    rng = np.random.default_rng(4)
    coef, intercept = rng.normal(size=(3, D)), rng.normal(size=3) * 0.2
    layer = linear_layer(coef, intercept)
    y = (X @ coef.T + intercept + rng.normal(size=(N, 3))).argmax(axis=1)
    exact, found = (tp.profile(m, X, y, space=SPACES[space]) for m in ((coef, intercept), nn.Sequential(layer)))
    risk = 0.5 * (1.0 + exact.risk)
    for asked in PRICES:
        value, result = exact.stability(risk, **asked).value, found.stability(risk, **asked)
        assert value * (1.0 - 1e-9) <= result.value <= value * (1.0 + 5e-3), "one of the two nearest boundaries may be missed"
        assert 0.5 * value <= result.lower <= value * (1.0 + 1e-9)


def logistic(out: FloatArray, y: Any) -> FloatArray:
    if out.shape[1] == 1:
        return np.asarray(np.logaddexp(0.0, -(2.0 * y - 1.0) * out[:, 0]))
    return np.asarray(np.logaddexp.reduce(out, axis=1) - out[np.arange(len(y)), y])


def wrong(out: FloatArray, y: Any) -> FloatArray:
    return np.asarray(((out[:, 0] > 0.0) if out.shape[1] == 1 else out.argmax(axis=1)) != y, dtype=float)


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
    assert ((points >= -2.0) & (points <= [2.0, INF, 2.5])).all()
    assert mass.sum() == pytest.approx(1.0, abs=1e-9)
    told = judge(output(module, points), np.asarray(y)[row])
    np.testing.assert_allclose(atoms["loss"], told, rtol=2e-5, atol=1e-5)
    assert mass @ told == pytest.approx(risk, rel=1e-5)
    distance = np.square(points - here) @ [1.0, 0.0, 3.0]
    np.testing.assert_allclose(atoms["cost"], distance, rtol=1e-5, atol=1e-7)
    weight = np.zeros(N)
    weight[row] = atoms["weight"]
    phi = np.square(weight - 1.0) if divergence == "chi2" else weight * np.log(np.maximum(weight, 1e-99)) - weight + 1.0
    assert 1.0 * mass @ distance + 0.25 * phi.mean() == pytest.approx(result.upper, rel=1e-5)
    assert result.lower <= result.value == result.upper


def test_a_frame_keeps_its_names_and_its_rows() -> None:
    frame = pd.DataFrame(X, columns=["age", "dose", "bmi"], index=[f"r{i}" for i in range(N)])
    given: dict[str, Any] = {"loss": "cross_entropy", **ASKED}
    framed = tp.stability(NET, frame, pd.Series(Y, index=frame.index), 1.0, space=tp.Space(frozen=["dose"]), **given)
    plain = tp.stability(NET, X, Y, 1.0, space=tp.Space(frozen=["x1"]), **given)
    by_position, *others = framed.notes
    assert "'age', 'dose', 'bmi'" in by_position
    assert {**framed.to_dict(), "notes": others} == plain.to_dict()
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
    y = torch.from_numpy((output(net, images) + rng.normal(size=(N, 2))).argmax(axis=1))
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
    "labels as a tensor": (NET, torch.from_numpy(Y), {}),
    "names in order": (NET, np.where(Y == 1, "no", "ill"), {}),
    "names in the order given": (NET, np.where(Y == 1, "ill", "no"), {"classes": ["no", "ill"]}),
    "a vector of scores": (nn.Sequential(NET, nn.Flatten(0)), Y, {}),
    "calls by hand": (Written(NET), Y, {}),
    "two logits": (TWO, Y, {}),
    "a few rows at a time": (NET, Y, {"batch": 7}),
    "no gradients wanted": (mlp(D, 6, 1).requires_grad_(requires_grad=False), Y, {}),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_scores_and_labels_in_other_words(name: str) -> None:
    module, y, given = SAME[name]
    for loss, risk in (("cross_entropy", 1.0), ("zero_one", 0.5)):
        same, other = plain(loss, risk), tp.stability(module, X, y, risk, loss=loss, **ASKED, **given)
        assert other.current_risk == pytest.approx(same.current_risk, rel=1e-6)
        assert other.value == pytest.approx(same.value, rel=1e-3 if module is TWO else 1e-5), "no local optimum of its own"


def test_weights_and_scales_mean_what_they_mean_for_linear_models() -> None:
    layer = linear_layer(COEF[None], [INTERCEPT])
    x, weights = X * [1.0, 20.0, 0.1], np.arange(N) % 4
    for given in ({"scale": "std"}, {"sample_weight": weights, "scale": "raw"}, {"sample_weight": weights, "scale": "std"}):
        for loss, risk in (("cross_entropy", 7.0), ("zero_one", 0.8)):
            found, exact = (tp.stability(m, x, Y, risk, loss=loss, **ASKED, **given) for m in (layer, LINE))
            assert found.value == pytest.approx(exact.value, rel=1e-6)
            assert found.unit == exact.unit
            assert 0 < exact.value < INF


@pytest.mark.parametrize("method, training", [("path", True), ("exact", False), ("paper", True)])
def test_the_module_is_left_as_it_was(method: str, training: bool) -> None:  # noqa: FBT001
    net = mlp(D, 6, 1).train(training)
    last = net[2]
    net[0].requires_grad_(requires_grad=False)
    assert isinstance(last, nn.Linear)
    last.weight.grad = torch.full_like(last.weight, 2.5)
    hooks = 0 if method == "exact" else 1  # nothing is proved of a module with hooks
    for _ in range(hooks):
        net.register_forward_hook(lambda *_: None)
    state = {name: values.numpy().tobytes() for name, values in net.state_dict().items()}
    threads, drawn, grad = torch.get_num_threads(), torch.get_rng_state(), torch.is_grad_enabled()
    legacy: Any = np.random.get_state()  # noqa: NPY002  # the global one is what must not change
    options: dict[str, Any] = {"epochs": 3} if method == "paper" else {}
    for loss, risk in (("cross_entropy", 1.0), ("zero_one", 0.5)):
        tp.stability(net, X, Y, risk, loss=loss, method=method, **ASKED, **options).sensitive.sum()
    assert {name: values.numpy().tobytes() for name, values in net.state_dict().items()} == state
    assert [module.training for module in net.modules()] == [training] * 4
    assert [p.requires_grad for p in net.parameters()] == [False, False, True, True]
    assert [p.grad is None for p in net.parameters()] == [True, True, False, True]
    assert last.weight.grad.eq(2.5).all()
    assert [len(module._forward_hooks) for module in net.modules()] == [hooks, 0, 0, 0]
    assert (torch.get_num_threads(), torch.is_grad_enabled()) == (threads, grad)
    assert torch.equal(torch.get_rng_state(), drawn)
    after: Any = np.random.get_state()  # noqa: NPY002
    assert (after[1].tolist(), after[2:]) == (legacy[1].tolist(), legacy[2:])


@pytest.mark.parametrize("loss", ["cross_entropy", "zero_one"])
def test_the_same_question_has_the_same_answer_whatever_was_asked_before(loss: str) -> None:
    y, risk = labels(DEEP), 0.6
    profile = tp.profile(DEEP, X, y, loss=loss, seed=5)
    first = profile.stability(risk, **ASKED)
    for other in ({"theta1": 0.05, "theta2": INF}, {"theta1": 3.0, "theta2": 0.1, "divergence": "chi2"}):
        profile.stability(1.4 * risk, **other)
    assert profile.stability(risk, **ASKED).to_json() == first.to_json()
    again = tp.stability(DEEP, X, y, risk, loss=loss, seed=5, **ASKED)
    assert again.to_json() == first.to_json()
    pd.testing.assert_frame_equal(again.sensitive, first.sensitive)


@pytest.mark.parametrize("divergence", ["kl", "chi2"])
@pytest.mark.parametrize("loss", ["cross_entropy", "hinge"])
def test_the_papers_algorithm_comes_near_the_threshold_and_is_never_better(loss: str, divergence: str) -> None:
    y, risk, asked = Y, 0.7, {"loss": loss, **ASKED, "divergence": divergence}
    schedule: dict[str, Any] = {"epochs": 100, "inner_steps": 4, "learning_rate": 0.05, "price_rate": 0.05}
    paper = tp.stability(NET, X, y, risk, method="paper", **schedule, **asked)
    assert len(paper.trace) == 100
    assert paper.trace[-1] == pytest.approx(risk, rel=0.03)
    assert abs(paper.trace[-1] - risk) < abs(paper.trace[0] - risk)
    assert 0.0 == paper.lower < paper.value
    path = tp.stability(NET, X, y, risk, **asked)
    assert path.lower <= path.value <= paper.value * (1.0 + 1e-6)
    assert len(path.trace) == path.evaluations
    assert path.trace[-1] == pytest.approx(risk, rel=1e-3)


@pytest.mark.parametrize("divergence", ["kl", "chi2"])
def test_the_papers_prices_reach_an_error_rate_and_the_same_stability(divergence: str) -> None:
    asked: dict[str, Any] = {"loss": "zero_one", **ASKED, "divergence": divergence}
    paper = tp.stability(NET, X, Y, 0.5, method="paper", epochs=400, price_rate=0.02, **asked)
    path = tp.stability(NET, X, Y, 0.5, **asked)
    assert paper.trace[-1] == pytest.approx(0.5, abs=0.02)
    assert paper.value == pytest.approx(path.value, rel=1e-9)
    with pytest.raises(tp.InputError, match="inner_steps=3 has no effect with the 0/1 loss"):
        tp.stability(NET, X, Y, 0.5, method="paper", inner_steps=3, **asked)


@pytest.mark.parametrize("loss", ["cross_entropy", "zero_one", "squared"])
def test_proofs_over_the_gates_close_the_gap(loss: str) -> None:
    y, risk = (TARGET, 3.0) if loss == "squared" else (Y, 0.7)
    path = tp.stability(NET, X, y, risk, loss=loss, **ASKED)
    exact = tp.stability(NET, X, y, risk, loss=loss, method="exact", **ASKED)
    assert 0.98 * exact.upper <= exact.lower <= exact.upper
    assert path.lower * (1.0 - 1e-9) <= exact.value <= path.value * (1.0 + 1e-6)
    assert "gates" in exact.lower_by
    by_hand = tp.stability(Written(NET), X, y, risk, loss=loss, method="exact", **ASKED)
    assert (by_hand.lower, by_hand.upper) == pytest.approx((exact.lower, exact.upper), rel=1e-9)


STOPS = [("cross_entropy", "linearised", 2), ("cross_entropy", "linearised", 20), ("zero_one", "linearised", 5)]


@pytest.mark.parametrize("loss, method, stop", [*STOPS, ("zero_one", "values", 22)])
def test_an_interrupted_search_is_an_upper_bound(loss: str, method: str, stop: int, monkeypatch: pytest.MonkeyPatch) -> None:
    y, calls, original = labels(DEEP), itertools.count(1), getattr(Scores, method)
    whole = tp.stability(DEEP, X, y, 0.6, loss=loss, **ASKED)

    def impatient(*given: Any) -> Any:
        if next(calls) == stop:
            raise KeyboardInterrupt
        return original(*given)

    with monkeypatch.context() as patch:
        patch.setattr(Scores, method, impatient)
        profile = tp.profile(DEEP, X, y, loss=loss)
    assert next(calls) > stop
    found = profile.stability(0.6, **ASKED)
    assert found.lower <= whole.value <= found.value * (1.0 + 1e-6)
    atoms = found.sensitive
    assert (atoms["weight"] * atoms["share"] * atoms["loss"]).sum() / N == pytest.approx(0.6, rel=1e-6)
    assert any("interrupted" in note for note in found.notes)


def ask(module: Any = NET, x: Any = X, y: Any = Y, **given: Any) -> Callable[[], Any]:
    return lambda: tp.stability(module, x, y, 0.5, **given)


BAD: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "three dimensions": (ask(After(lambda out: out[:, :, None])), ("shape (40, 1, 1)", "(40, classes)")),
    "rows lost": (ask(After(lambda out: out[1:])), ("shape (39, 1) for 40 rows",)),
    "a tuple": (ask(After(lambda out: (out, out))), ("returns a tuple", "one tensor")),
    "classes instead of logits": (ask(After(lambda out: (out > 0).long())), ("torch.int64", "not classes")),
    "an error inside": (ask(After(lambda out: out.view(7, 7))), ("fails on X", "(40, 3)", "'[7, 7]' is invalid")),
    "NaN": (ask(After(lambda out: out * math.nan)), ("not a number", "row 0")),
    "token ids": (ask(x=torch.ones(N, D).long()), ("X is a tensor of torch.int64", "give floats")),
    "labels from 1": (ask(y=Y + 1), ("=2 is out of range", "labels are 0 to 1", "classes=")),
    "labels of too many classes": (ask(THREE, y=np.arange(N) % 5), ("y[3]=3 is out of range", "3 output(s)")),
    "a name not among the classes": (ask(y=np.where(Y, "a", "c"), classes=["a", "b"]), ("'c'", "['a', 'b']")),
    "a loss that is a mean": (ask(loss=lambda o, y: fourfold(o, y).mean()), ("()", "one number a row")),
    "a regression of three outputs": (ask(THREE, loss="squared", y=TARGET), ("'squared' judges one output", "has 3")),
    "dropout": (ask(nn.Sequential(NET, nn.Dropout(0.1))), ("Dropout (1) in train mode", ".eval()")),
    "normalisation": (ask(nn.Sequential(nn.BatchNorm1d(D), NET)), ("BatchNorm1d (0) in train mode", ".eval()")),
    "an unknown option": (ask(sede=1), ("sede=1", "seed")),
    "an option of the paper's": (ask(epochs=5), ("epochs=5", "method='path'", "leave it out")),
    "calls of a network": (ask(calls=500), ("calls=500", "black boxes", "leave it out")),
    "an option of searches": (ask(method="paper", seed=5), ("seed=5", "method='paper'", "leave it out")),
    "an unknown method": (ask(method="magic"), ("method='magic'", "path, exact, paper")),
    "a negative seed": (ask(seed=-1), ("seed=-1", "whole number, 0 or more")),
    "a seed that is True": (ask(seed=True), ("seed=True", "whole number, 0 or more")),
    "a batch that is True": (ask(batch=True), ("batch=True", "whole number, 1 or more")),
    "half a restart": (ask(restarts=0.5), ("restarts=0.5", "whole number")),
    "no tolerance": (ask(tolerance=0.0, method="exact"), ("tolerance=0.0", "positive")),
    "a device that is none": (ask(device="toaster"), ("device='toaster'", "'cpu'")),
    "options of a linear model": (ask(LINE, seed=5), ("seed=5", "option of a search", "leave it out")),
    "options of linear models": (
        lambda: tp.compare({"a": LINE, "b": LINE}, X, Y, 0.5, seed=5),
        ("seed=5", "needs none", "leave it out"),
    ),
    "probabilities": (ask(nn.Sequential(NET, nn.Sigmoid()), loss="cross_entropy"), ("ends with Sigmoid", "logits")),
    "probabilities by hand": (ask(After(torch.sigmoid), loss="cross_entropy"), ("ends with Sigmoid", "logits")),
    "a proof of two layers": (ask(DEEP, method="exact"), ("method='exact' serves one hidden layer", "use method='path'")),
    "a proof of a loss of one's own": (ask(loss=fourfold, method="exact"), ("a loss known by name", "use method='path'")),
    "images for a linear model": (ask(([1.0, 0.0], 0.0), x=np.zeros((N, 2, 2))), ("X has shape (40, 2, 2)", "table")),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told_in_one_sentence(case: str) -> None:
    call, told = BAD[case]
    with pytest.raises((tp.InputError, tp.UnsupportedError)) as caught:
        call()
    for part in told:
        assert part in str(caught.value)


def test_pytorch_is_imported_by_those_who_use_it_only() -> None:
    code = "import sys, tippingpoint as tp; tp.profile(([1.0], 0.0), [[1.0], [-1.0]], [1, 0]); print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_a_network_is_compared_with_a_linear_model() -> None:
    comparison = tp.compare({"net": NET, "linear": LINE}, X, Y, 0.9, seed=1, **ASKED)
    alone = {"net": tp.stability(NET, X, Y, 0.9, seed=1, **ASKED), "linear": tp.stability(LINE, X, Y, 0.9, **ASKED)}
    assert [comparison.results[name].to_dict() for name in alone] == [result.to_dict() for result in alone.values()]
    (row,) = comparison.differences().to_dict("records")
    assert row["difference"] == alone["linear"].value - alone["net"].value
    assert row["standard_error"] > 0.0


@pytest.mark.parametrize("loss", ["zero_one", "cross_entropy"])
def test_a_module_behind_affine_preprocessing_is_folded_into_raw_columns(loss: str) -> None:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    raw = pd.DataFrame(X * [1.0, 5.0, 0.2] + [0.0, 3.0, -1.0], columns=["a", "b", "c"])
    scaler = make_pipeline(StandardScaler(), MinMaxScaler()).fit(raw)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1)).double()
    front = nn.Linear(3, 3).double()
    with torch.no_grad():
        probes = torch.tensor(scaler.transform(pd.DataFrame(np.vstack((np.zeros(3), np.eye(3))), columns=raw.columns)))
        front.bias.copy_(probes[0])
        front.weight.copy_((probes[1:] - probes[0]).T)
        net[2].bias -= net(torch.tensor(scaler.transform(raw))).median() + 0.01  # both classes are said
    y = np.where(net(torch.tensor(scaler.transform(raw))).detach().numpy()[:, 0] + 0.1 * np.sin(7.0 * X[:, 0]) > 0, 1, 0)
    risk = 0.4 if loss == "zero_one" else 0.9
    ours = tp.stability(make_pipeline(scaler, net), raw, y, risk, loss=loss, scale="raw", **ASKED)
    hand = tp.stability(nn.Sequential(front, *net), raw, y, risk, loss=loss, scale="raw", **ASKED)
    assert ours.value == pytest.approx(hand.value, rel=1e-6)
    assert ours.lower > 0.0, "certificates see through the preprocessing"
    q = ours.sensitive
    scores = net(torch.tensor(scaler.transform(q[raw.columns]))).detach().numpy()[:, 0]
    losses = (
        (scores > 0) != y[q["row"]] if loss == "zero_one" else np.logaddexp(0.0, np.where(y[q["row"]] > 0, -scores, scores))
    )
    assert losses == pytest.approx(q["loss"].to_numpy(), abs=1e-9)


def test_a_module_behind_an_encoder_is_asked_in_raw_columns() -> None:
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(0)
    raw = pd.DataFrame({"x": rng.normal(size=80), "job": rng.choice(["cook", "clerk", "judge"], 80)})
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), ["job"]), remainder="passthrough").fit(raw)
    torch.manual_seed(1)
    net = nn.Linear(4, 1).double()
    score = net(torch.tensor(encoder.transform(raw))).detach().numpy()[:, 0]
    y = (score + 0.3 * rng.normal(size=80) > 0).astype(int)
    weight, bias = net.weight.detach().numpy()[0], float(net.bias.detach()[0])
    space = tp.Space(price={"job": 0.2})
    ours = tp.stability(make_pipeline(encoder, net), raw, y, 0.5, space=space, **ASKED)
    columns = pd.DataFrame(encoder.transform(raw), columns=["clerk", "cook", "judge", "x"])
    grouped = tp.Space(one_hot={"job": ["clerk", "cook", "judge"]}, price={"job": 0.2})
    hand = tp.stability((weight, bias), columns, y, 0.5, space=grouped, **ASKED)
    assert not ours.exact
    assert hand.value * (1.0 - 1e-9) <= ours.value <= 1.02 * hand.value


def test_a_network_in_a_mixed_space_shows_possible_rows_only() -> None:
    torch.manual_seed(0)
    frame = pd.DataFrame({"a": np.round(3.0 * X[:, 0]), "b": X[:, 1], "c": X[:, 2]})
    net = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1))
    y = (net(torch.tensor(frame.to_numpy()).float()).detach().numpy()[:, 0] + 0.2 * np.sin(9.0 * X[:, 1]) > 0).astype(int)
    space = tp.Space(kind={"a": "integer"}, direction={"a": "up"}, frozen=["c"])
    result = tp.stability(net, frame, y, 0.45, space=space, scale="raw", **ASKED)
    q = result.sensitive
    now = frame.loc[q["row"]]
    assert (q["a"] == q["a"].round()).all()
    assert (q["a"].to_numpy() >= now["a"].to_numpy()).all()
    assert q["c"].tolist() == now["c"].tolist()
    assert q["loss"].to_numpy() @ (q["weight"] * q["share"]).to_numpy() / len(frame) == pytest.approx(0.45, rel=1e-9)
    with pytest.raises(tp.UnsupportedError, match="method='paper' moves numbers only"):
        tp.stability(net, frame, y, 0.45, space=space, method="paper", **ASKED)


@pytest.mark.parametrize("loss", ["zero_one", "cross_entropy"])
def test_a_network_in_a_mixed_space_is_bounded_from_below_by_the_space_in_which_all_moves_freely(loss: str) -> None:
    rng = np.random.default_rng(0)
    kind = np.eye(3)[rng.integers(0, 3, 60)]
    frame = pd.DataFrame(
        np.column_stack((kind, rng.integers(0, 6, 60), rng.normal(size=60))), columns=["k_0", "k_1", "k_2", "n", "x"]
    )
    coef, intercept = np.array([0.8, -0.5, 0.1, 0.3, 1.0]), -0.9
    module = nn.Linear(5, 1).double()
    with torch.no_grad():
        module.weight.copy_(torch.tensor(coef)[None])
        module.bias.fill_(intercept)
    y = (frame.to_numpy() @ coef + intercept + 0.4 * rng.normal(size=60) > 0).astype(int)
    space = tp.Space(one_hot={"k": ["k_0", "k_1", "k_2"]}, kind={"n": "integer"}, price={"k": 0.4, "n": 0.3})
    risk = 0.45 if loss == "zero_one" else 1.0
    exact = tp.stability((coef, intercept), frame, y, risk, loss=loss, space=space, scale="raw", **ASKED)
    found = tp.stability(module, frame, y, risk, loss=loss, space=space, scale="raw", **ASKED)
    assert 0.2 * exact.value < found.lower <= exact.value * (1.0 + 1e-9)
    assert exact.value * (1.0 - 1e-9) <= found.value <= 1.02 * exact.value
    assert "two-sided" in str(found)


@pytest.mark.parametrize("loss", ["zero_one", "cross_entropy"])
def test_a_networks_features_move_only_the_way_they_may(loss: str) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    space = tp.Space(direction={"a": "up", "b": "down"}, lower={"c": -1.95})
    risk = 0.5 if loss == "zero_one" else 1.2
    result = tp.stability(NET, frame, Y, risk, loss=loss, space=space, scale="raw", **ASKED)
    q = result.sensitive
    now = frame.loc[q["row"]].reset_index(drop=True)
    assert (q["a"] >= now["a"] - 1e-6).all()
    assert (q["b"] <= now["b"] + 1e-6).all()
    assert (q["c"] >= -1.95).all()
    assert (q["a"] > now["a"]).any()
    free = tp.stability(NET, frame, Y, risk, loss=loss, scale="raw", **ASKED)
    assert result.value >= free.lower, "less freedom never makes a model less stable"


def test_options_are_read_without_torch() -> None:
    code = "import sys; from tippingpoint.families.network.options import NetworkOptions; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("theta2", [0.25, INF])
def test_a_bound_above_all_that_a_space_allows_proves_that_nothing_gets_there(theta2: float) -> None:
    """And without such a bound a search that found nothing does not say so."""
    near = 0.1 * X
    labels = (output(NET, near).ravel() > 0.0).astype(int)
    asked: dict[str, Any] = {"loss": "cross_entropy", "theta1": 1.0, "theta2": theta2}
    fenced = tp.stability(NET, near, labels, 4.0, space=tp.Space(lower=-0.2, upper=0.2), **asked)
    assert (fenced.status, fenced.exact, fenced.lower) == ("unreachable", True, INF)
    assert fenced.largest_risk is None
    assert fenced.largest_risk_found is None
    assert "more than any change inside the space costs" in fenced.lower_by
    assert "exact: no change reaches the threshold" in str(fenced)
    wider = tp.stability(NET, 0.3 * X, labels, 4.0, space=tp.Space(lower=-0.6, upper=0.6), **asked)
    assert (wider.status, wider.exact, wider.value) == ("not_found", False, INF)
    assert 0.0 < wider.lower < INF
    assert wider.largest_risk is None
    assert wider.largest_risk_found is not None
    assert "Stability unknown: no perturbation was found" in str(wider)
    assert tp.StabilityResult.from_json(wider.to_json()).status == "not_found"
