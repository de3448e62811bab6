"""Small examples of what every family declares: one for each of its capabilities, under any loss, in any kind of space.

A family is in the conformance tests once `EXAMPLES` has an entry for each of its `capabilities`; a loss and a divergence are in
once they are registered.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from torch import Tensor, nn

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.core.divergences import DIVERGENCES, Divergence
from tippingpoint.families.capabilities import EVERY_KIND, Capability, SpaceKind
from tippingpoint.families.registry import FAMILIES
from tippingpoint.losses import LOSSES, PiecewiseLinear, loss_named
from tippingpoint.space import Space
from trials import ModelTrial, Scores, TableTrial, Trial, judged_by

SAMPLES, TRAINED_ON = 7, 80
"""Rows that are asked about, and rows that models are trained on."""

CALLS = 1500
"""Rows that a black box is asked about."""

SHARE = 0.8
"""What a divergence that needs a number gets."""


@dataclass(frozen=True)
class Cell:
    """One cell of the matrix: a capability of a family, one of its losses, one of its kinds of space."""

    family: str
    capability: Capability
    loss: str
    kind: SpaceKind

    def __str__(self) -> str:
        return f"{self.capability.models}, {self.loss}, {self.kind} ({self.capability.answer})"


def cells() -> Iterator[Cell]:
    """Everything that is declared; of two names of one loss, the first."""
    for family in FAMILIES:
        for capability in family.capabilities:
            named = {LOSSES.get(loss, loss): loss for loss in reversed(capability.losses)}
            for loss in reversed(named.values()):
                for kind in capability.kinds:
                    yield Cell(family.name, capability, loss, kind)


@cache
def trial(cell: Cell) -> Trial:
    """The example of a cell; a lookup that fails says what to add."""
    key = cell.family, cell.capability.models, cell.capability.answer
    assert key in EXAMPLES, (
        f"{cell.family} declare {cell.capability.models!r} ({cell.capability.answer}), of which there is no example: add"
        f" EXAMPLES[{key!r}] in tests/conformance/examples.py, a function of a loss and a kind of space that returns a Trial."
    )
    return EXAMPLES[key](cell.loss, cell.kind)


def divergences() -> list[Divergence]:
    """All that are registered; those that need a number get one."""
    found = []
    for make in DIVERGENCES.values():
        needs = [each for each in inspect.signature(make).parameters.values() if each.default is inspect.Parameter.empty]
        found.append(make(*[SHARE] * len(needs)))
    return found


@dataclass(frozen=True)
class Data:
    """Rows and the space that they may move in.

    Attributes
    ----------
    pool
        Rows for training; the first `SAMPLES` that are chosen from it are asked about.
    space
        What may move.
    alone
        The feature that moves alone, if one does.
    """

    pool: pd.DataFrame
    space: Space
    alone: str | None = None


def data(kind: SpaceKind, *, text: bool = True, countless: bool = False) -> Data:
    """Rows of a kind.

    Parameters
    ----------
    text
        Whether categories may be words, or must be numbers.
    countless
        Whether there are too many places to try them all: more whole numbers, or a number beside the categories.
    """
    rng = np.random.default_rng(5)
    n = TRAINED_ON
    numbers = pd.DataFrame(np.clip(rng.normal(size=(n, 2)), -1.9, 1.9), columns=["a", "b"])
    if kind == "numbers":
        return Data(numbers, Space())
    if kind == "bounds":
        return Data(numbers, Space(lower=-2.0, upper=2.0, price={"b": 2.0}))
    if kind == "one feature":
        return Data(numbers, Space(), "a")
    if kind == "fine steps":
        numbers["a"] = np.round(numbers["a"], 2)
        return Data(numbers, Space(kind={"a": "integer"}, step={"a": 0.005}, lower={"a": -2.0}, upper={"a": 2.0}, frozen=["b"]))
    if kind == "whole numbers":
        names, most = (["a", "b", "c"], 13) if countless else (["a", "b"], 4)
        whole = pd.DataFrame(rng.integers(0, most + 1, (n, len(names))), columns=names)
        return Data(whole, Space(kind=dict.fromkeys(names, "integer"), lower=0, upper=most, price=4.0 / most**2))
    member = np.eye(3)[rng.integers(0, 3, n)]
    group = {f"g{k}": member[:, k] for k in range(3)}
    job = rng.integers(0, 3, n)
    mixed = pd.DataFrame({"job": np.array(["cook", "clerk", "judge"])[job] if text else job.astype(float), **group})
    kinds = {"job": "categorical"}
    if countless:
        mixed["a"] = numbers["a"]
    return Data(mixed, Space(kind=kinds, one_hot={"group": list(group)}, price={"job": 0.4, "group": 0.7}))


def numeric(rows: pd.DataFrame) -> FloatArray:
    """Rows as numbers, words as their lengths."""
    columns = [
        rows[name].map(lambda word: 0.5 * len(word)) if rows[name].dtype.kind not in "biuf" else rows[name] for name in rows
    ]
    return np.column_stack([np.asarray(column, dtype=float) for column in columns])


def curved(rows: pd.DataFrame) -> FloatArray:
    """A score that bends, of any rows."""
    x = numeric(rows)
    tilt = np.resize([1.1, -0.8, 0.5], x.shape[1])
    centred = (x - x0(x.shape[1])) @ tilt
    return np.asarray(centred + 0.4 * np.sin(2.0 * centred) + 0.2 * np.sin(3.0 * x[:, 0]))


def x0(width: int) -> FloatArray:
    return np.resize([0.3, 0.1], width)


def targets(loss: str, score: FloatArray, classes: int = 2) -> Any:
    """Labels or targets that the score explains in part."""
    rng = np.random.default_rng(6)
    noisy = score - np.median(score) + 0.7 * rng.normal(size=len(score))
    if loss_named(loss).task == "regression":
        return noisy
    return np.digitize(noisy, np.quantile(noisy, np.arange(1, classes) / classes))


def chosen(y: Any) -> IntArray:
    """Rows that are asked about; of classes all."""
    if np.asarray(y).dtype.kind == "f":
        return np.arange(SAMPLES)
    firsts = [np.flatnonzero(y == label)[: 1 + SAMPLES // 2] for label in np.unique(y)]
    return np.sort(np.concatenate(firsts))[:SAMPLES]


def example(
    model: Any,
    scores: Scores,
    loss: str,
    given: Data,
    y: Any,
    **options: Any,
) -> ModelTrial:
    """A model on some of the rows."""
    rows = chosen(y)
    x, labels = given.pool.iloc[rows].reset_index(drop=True), np.asarray(y)[rows]
    judge = judged_by(scores, loss, labels)
    return ModelTrial(model, x, labels, judge, loss, given.space, options, given.alone)


def fitted(estimator: Any, given: Data, y: Any) -> Any:
    """An estimator, behind an encoder where there are words."""
    words = [name for name in given.pool if given.pool[name].dtype.kind not in "biuf"]
    encoder = make_column_transformer((OneHotEncoder(), words), remainder="passthrough")
    return (make_pipeline(encoder, estimator) if words else estimator).fit(given.pool, y)


def linear(loss: str, kind: SpaceKind) -> Trial:
    given = data(kind)
    y = targets(loss, curved(given.pool))
    if loss_named(loss).task == "regression":
        model = fitted(LinearRegression(), given, y)
        return example(model, model.predict, loss, given, y)
    model = fitted(LogisticRegression(), given, y)
    return example(model, model.decision_function, loss, given, y)


def linear_classes(loss: str, kind: SpaceKind) -> Trial:
    given = data(kind)
    y = targets(loss, curved(given.pool), classes=3)
    model = fitted(LogisticRegression(), given, y)
    return example(model, model.decision_function, loss, given, y)


def pieces(_: str, kind: SpaceKind) -> Trial:
    given = data(kind, text=False)
    rows = given.pool.iloc[:SAMPLES].reset_index(drop=True)
    rng = np.random.default_rng(7)
    loss = PiecewiseLinear(rng.normal(size=(3, rows.shape[1])), [0.2, 0.0, -0.3])
    y = np.where(rng.random(SAMPLES) < 0.5, -1, 1)

    def judge(places: pd.DataFrame, owner: IntArray) -> FloatArray:
        values = y[owner, None] * (places.to_numpy(dtype=float) @ loss.slopes.T) + loss.offsets
        return np.asarray(values.max(axis=1))

    return ModelTrial(None, rows, y, judge, loss, given.space, {}, given.alone)


def fine(loss: str, kind: SpaceKind) -> Trial:
    """Whatever it is a loss of."""
    return pieces(loss, kind) if loss == "PiecewiseLinear" else linear(loss, kind)


class Bent(nn.Module):
    """A module that is no chain of layers."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.tilt = nn.Parameter(torch.from_numpy(np.resize([1.1, -0.8, 0.5], width)))
        self.middle = nn.Parameter(torch.from_numpy(x0(width)))

    def forward(self, x: Tensor) -> Tensor:
        centred = (x - self.middle) @ self.tilt
        return (centred + 0.4 * torch.sin(2.0 * centred) + 0.2 * torch.sin(3.0 * x[:, 0])).reshape(-1, 1)


def layered(width: int, activation: nn.Module, outputs: int = 1) -> nn.Module:
    """One hidden layer, of weights that bend where the rows are."""
    rng = np.random.default_rng(8)
    hidden = 5
    module = nn.Sequential(nn.Linear(width, hidden), activation, nn.Linear(hidden, outputs)).double().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.from_numpy(0.8 * rng.normal(size=tuple(parameter.shape))))
    return module


def network(
    module: Callable[[int], nn.Module], loss: str, kind: SpaceKind, *, countless: bool = False, classes: int = 2, **search: Any
) -> Trial:
    given = data(kind, text=False, countless=countless)
    pool = given.pool.astype(float)
    given = Data(pool, given.space, given.alone)
    net = module(pool.shape[1])

    def scores(rows: pd.DataFrame) -> FloatArray:
        with torch.no_grad():
            output = net(torch.tensor(rows.to_numpy(dtype=float))).numpy()
        return np.asarray(output[:, 0] if output.shape[1] == 1 else output, dtype=float)

    now = scores(pool)
    if classes > 2:
        y = np.where(np.random.default_rng(6).random(len(pool)) < 0.3, np.arange(len(pool)) % classes, now.argmax(axis=1))
    else:
        y = targets(loss, now)
        if loss_named(loss).task == "classification":
            y = np.where(np.random.default_rng(6).random(len(pool)) < 0.2, now <= 0.0, now > 0.0).astype(int)
    return example(net, scores, loss, given, y, progress=False, restarts=1, **search)


def tree(loss: str, kind: SpaceKind) -> Trial:
    given = data(kind)
    y = targets(loss, curved(given.pool))
    brief = {"n_estimators": 4, "max_depth": 2, "learning_rate": 0.7, "random_state": 0}
    if loss_named(loss).task == "regression":
        model = fitted(GradientBoostingRegressor(**brief), given, y)
        found = example(model, model.predict, loss, given, y, gap=0, progress=False)
    else:
        model = fitted(GradientBoostingClassifier(**brief), given, y)
        found = example(model, model.decision_function, loss, given, y, gap=0, progress=False)
    if kind != "categories":
        found.kinks = {str(name): beside_thresholds(model, j) for j, name in enumerate(given.pool)}
    return found


def beside_thresholds(model: Any, column: int) -> FloatArray:
    """Values on both sides of every threshold of a column, as near as single precision tells apart."""
    trees = [each.tree_ for each in np.ravel(model.estimators_)]
    at = np.concatenate([tree.threshold[tree.feature == column] for tree in trees])
    return np.concatenate([at - 1e-6, at + 1e-6])


def black_box(loss: str, kind: SpaceKind, *, countless: bool = False) -> Trial:
    given = data(kind, countless=countless)
    middle = float(np.median(curved(given.pool)))

    def scores(rows: pd.DataFrame) -> FloatArray:
        return curved(rows) - middle

    y = targets(loss, scores(given.pool))
    output: dict[str, Any] = {"output": "score"} if loss_named(loss).task == "classification" else {}
    return example(scores, scores, loss, given, y, progress=False, calls=CALLS, **output)


def alternatives(_: str, kind: SpaceKind) -> Trial:
    """Whatever moves, the user wrote down what it costs; here, places of a kind and how wrong a score is there."""
    rng = np.random.default_rng(EVERY_KIND.index(kind))
    sample = np.repeat(np.arange(SAMPLES), 6)
    cost = np.where(np.arange(len(sample)) % 6 == 0, 0.0, rng.exponential(size=len(sample)))
    loss = rng.exponential(size=len(sample)) + 0.5 * cost
    place = [f"place {k}" for k in range(len(sample))]
    return TableTrial(pd.DataFrame({"sample": sample, "cost": cost, "loss": loss, "place": place}))


def relu(width: int) -> nn.Module:
    return layered(width, nn.ReLU())


def relu_classes(width: int) -> nn.Module:
    return layered(width, nn.ReLU(), 3)


def tanh(width: int) -> nn.Module:
    return layered(width, nn.Tanh())


def tanh_classes(width: int) -> nn.Module:
    return layered(width, nn.Tanh(), 3)


def bent(width: int) -> nn.Module:
    return Bent(width).eval()


def chain(loss: str, kind: SpaceKind) -> Trial:
    """One output, or in some kinds of space three classes: the same is declared of both."""
    several = loss_named(loss).task == "classification" and kind in ("bounds", "one feature", "categories")
    if several:
        return network(tanh_classes, loss, kind, countless=True, classes=3)
    return network(tanh, loss, kind, countless=True)


EXAMPLES: dict[tuple[str, str, str], Callable[[str, SpaceKind], Trial]] = {
    ("tables of alternatives", "any, as a table of alternatives", "exact"): alternatives,
    ("linear models", "linear: a regressor, or two classes", "exact"): linear,
    ("linear models", "linear: a regressor, two classes, or pieces of the features", "bounded"): fine,
    ("linear models", "linear: several classes", "exact"): linear_classes,
    ("linear models", "linear: several classes", "bounded"): linear_classes,
    ("linear models", "none: a `PiecewiseLinear` loss of the features", "exact"): pieces,
    ("networks", "network: ReLUs and other lines", "exact"): partial(network, relu),
    ("networks", "network: the same, of several classes", "exact"): partial(network, relu_classes, classes=3),
    ("networks", "network: a chain of known layers", "bounded"): chain,
    ("networks", "network: any other module", "searched"): partial(network, bent, countless=True),
    ("networks", "network: any", "exact"): partial(network, bent),
    ("tree ensembles", "trees: XGBoost, LightGBM, CatBoost, scikit-learn", "exact"): tree,
    ("black boxes", "black box: anything that predicts", "exact"): black_box,
    ("black boxes", "black box: anything that predicts", "searched"): partial(black_box, countless=True),
}
"""By family, and by the models and the answer of a capability: what builds an example under a loss, in a kind of space."""
