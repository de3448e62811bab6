"""Named questions to the package, by its public names only: each returns its answer as numbers by name.

`tests/recorded/record.py` writes them down and compares; `tests/recorded/test_recorded.py` holds the package to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from flattening import Numbers, of_comparison, of_ranking, of_result, of_sweep, under
from materials import (
    Task,
    alternatives,
    box,
    curved,
    diabetes,
    drawn,
    dummies,
    flowers,
    gaps,
    linear,
    people,
    points,
    tumours,
    vendor,
    wines,
)
from registry import CASES, PAPER, add, mixed, stable
from written import add_commands, add_files

import tippingpoint as tp

__all__ = ["CASES"]

INF = math.inf

PRICES: dict[str, dict[str, Any]] = {
    "both": PAPER,
    "moving only": {"theta1": 1.0, "theta2": INF},
    "reweighting only": {"theta1": INF, "theta2": 0.25},
    "mix 0.3": {"mix": 0.3},
    "budget 2": {"mix": 0.7, "budget": 2.0},
    "default": {},
}

DIVERGENCES: dict[str, Any] = {"kl": "kl", "chi2": "chi2", "cvar": "cvar:0.3"}

CLASSIFYING = {"zero_one": 0.3, "hinge": 0.6, "squared_hinge": 0.9, "logistic": 0.5, "cross_entropy": 0.45}
"""Losses of classes, and a threshold for each."""

PREDICTING = {
    "squared": 0.6,
    "absolute": 0.7,
    "pinball": 0.36,
    "pinball:0.9": 0.4,
    "epsilon_insensitive": 0.6,
    "epsilon_insensitive:0.3": 0.45,
    "huber": 0.3,
    "huber:0.5": 0.22,
}
"""Losses of numbers, and a threshold for each."""


def _linear() -> None:
    def case(name: str, model: str, task: Callable[[], Task], risk: float, **settings: Any) -> None:
        add(f"linear: {name}", "exact", partial(stable, partial(linear, model), task, risk, **settings))

    for loss, risk in CLASSIFYING.items():
        for divergence, meant in DIVERGENCES.items():
            far = 1.5 * risk if divergence == "cvar" else risk  # it reweights up to its share for nothing
            case(f"{loss}, {divergence}", "logistic", tumours, far, loss=loss, scale="std", divergence=meant, **PAPER)
        bounds = tp.Space.infer(tumours().X, frozen=["mean area"])
        case(f"{loss}, in bounds", "logistic", tumours, risk, loss=loss, scale="std", space=bounds, **PAPER)
        case(f"{loss}, mixed space", "people", people, max(risk, 0.4), loss=loss, scale="std", space=mixed(), **PAPER)
    for loss, risk in PREDICTING.items():
        for divergence, meant in DIVERGENCES.items():
            far = 2.5 * risk if divergence == "cvar" else risk  # it reweights up to its share for nothing
            case(f"{loss}, {divergence}", "ridge", diabetes, far, loss=loss, divergence=meant, **PAPER)
    for prices, given in PRICES.items():
        case(f"prices, {prices}", "logistic", tumours, 0.3, scale="std", **given)
        case(f"prices of the log loss, {prices}", "logistic", tumours, 0.5, loss="log_loss", scale="std", **given)
        case(f"prices of the squared error, {prices}", "least squares", diabetes, 0.6, **given)
    for model in ("svc", "ridge classifier", "strict", "principal"):
        case(f"{model}, zero_one", model, tumours, 0.3, scale="std", **PAPER)
        case(f"{model}, hinge", model, tumours, 1.2, loss="hinge", scale="std", **PAPER)
    case("ridge behind a scaler", "ridge behind a scaler", diabetes, 0.6, scale="std", **PAPER)
    for unit in ("raw", "std", "mad", "iqr"):
        case(f"unit {unit}", "logistic", tumours, 0.3, scale=unit, **PAPER)
    case("units by name", "logistic", tumours, 0.3, scale={"mean radius": 3.0, "mean area": 300.0}, **PAPER)
    for name, task in (("flowers", flowers), ("wines", wines)):
        for prices in ("both", "moving only", "reweighting only"):
            case(f"three classes of {name}, {prices}", name, task, 0.4, scale="std", **PRICES[prices])
    case("three classes in a space", "wines", wines, 0.4, scale="std", space=tp.Space.infer(wines().X), **PAPER)
    for risk in (0.01, 0.99, 1.0):
        case(f"threshold {risk}", "logistic", tumours, risk, scale="std", **PAPER)
    weights = np.arange(160.0) % 4
    case("weights", "logistic", tumours, 0.3, scale="std", sample_weight=weights, **PAPER)
    case("a divergence of one's own share", "logistic", tumours, 0.3, scale="std", divergence=tp.CVaR(0.5), **PAPER)
    case("instances, KL", "logistic", tumours, 0.3, divergence=tp.KL(), **PAPER)
    case("instances, chi-square", "logistic", tumours, 0.3, divergence=tp.ChiSquare(), **PAPER)
    steps = tp.PiecewiseLinear([0.0, 0.5, 2.0], [0.0, 0.5, 0.2])
    case("pieces", "logistic", tumours, 0.6, loss=steps, scale="std", **PAPER)
    plain = ([1.0, -0.5, 0.25, 0.0], 0.1)
    add("linear: plain coefficients", "exact", partial(stable, lambda: plain, points, 0.85, **PAPER))
    add("linear: plain coefficients, logistic", "exact", partial(stable, lambda: plain, points, 1.0, loss="logistic", **PAPER))
    named = tp.LinearModel.of([0.3, -0.2, 0.1, 0.05, 0.0], 1.5)
    add("linear: a LinearModel", "exact", partial(stable, lambda: named, diabetes, 0.9, loss="mse", **PAPER))
    pieces = tp.PiecewiseLinear(np.array([[0.0, 0.0, 0.0, 0.0], [1.0, -0.5, 0.2, 0.0], [0.3, 0.3, -0.6, 0.9]]), [0.0, 0.5, 0.1])
    for divergence, meant in DIVERGENCES.items():
        signed = lambda: Task(points().X, 2 * points().y - 1)  # noqa: E731
        add(
            f"pieces of features, {divergence}",
            "exact",
            partial(stable, lambda: None, signed, 3.0 if divergence == "cvar" else 1.5, loss=pieces, divergence=meant, **PAPER),
        )


def _spaces() -> None:
    def case(name: str, model: str, task: Callable[[], Task], space: tp.Space, **settings: Any) -> None:
        given = {"risk": 0.4, "scale": "std", **PAPER, **settings}
        add(f"space: {name}", "exact", partial(stable, partial(linear, model), task, space=space, **given))

    first, second, *_ = tumours().X.columns
    case("frozen", "logistic", tumours, tp.Space(frozen=[first, second]))
    case("movable", "logistic", tumours, tp.Space(movable=[first, second]))
    case("bounds", "logistic", tumours, tp.Space(lower={first: 8.0}, upper={first: 20.0}, outliers="keep"))
    case("directed", "logistic", tumours, tp.Space(direction={first: "up", second: "down"}))
    case("priced", "logistic", tumours, tp.Space(price={first: 0.1, second: 5.0}))
    case("quantiles", "logistic", tumours, tp.Space.infer(tumours().X, ranges="quantiles"))
    case("quantiles, logistic", "logistic", tumours, tp.Space.infer(tumours().X, ranges="quantiles"), loss="logistic")
    plain = tp.Space.infer(people().X)
    case("inferred", "people", people, plain)
    case("inferred, hinge", "people", people, plain, risk=0.7, loss="hinge")
    case("words as levels", "people, ordinal", people, plain)
    case("by type", "people", people, tp.Space())
    case("up", "people", people, mixed(direction={"age": "up"}))
    case("whole steps", "people", people, mixed(kind={"income": "integer"}, step={"income": 0.1}))
    case("switches by frequency", "people", people, mixed(switch={"job": "frequency"}))
    table = {"cook": {"clerk": 0.5, "judge": 3.0}, "clerk": {"nurse": 0.2}, "nurse": {"judge": 1.0}, "judge": {"cook": 0.1}}
    case("switches by table", "people", people, mixed(switch={"job": table}))
    case("only words", "people", people, tp.Space.infer(people().X, movable=["job", "owner"], price=0.05))
    case("one-hot columns", "dummies", dummies, tp.Space.infer(dummies().X))
    ordinal = tp.Space.infer(dummies().X, kind={"level": "ordinal"}, categories={"level": [0, 1, 2, 3]}, price={"level": 0.03})
    case("levels", "dummies", dummies, ordinal)
    case("gaps stay", "imputed", gaps, tp.Space(), scale="raw")
    vanishing = tp.Space(kind={"c": "integer"}, missing={"c": 0.1})
    case("gaps come", "imputed", gaps, vanishing, scale="raw")
    case("gaps come, log loss", "imputed", gaps, vanishing, scale="raw", loss="logistic", risk=0.9)


def _tables() -> None:
    def table_stability(which: str, risk: float, weight: str | None = None, **given: Any) -> Numbers:
        return of_result(tp.profile_table(alternatives(which), weight=weight).stability(risk, **given))

    for which, risk in (("now", 0.55), ("next", 0.55), ("graded", 1.1)):
        for divergence, meant in DIVERGENCES.items():
            far = 1.5 * risk if divergence == "cvar" else risk  # it reweights up to its share for nothing
            add(f"table: {which}, {divergence}", "exact", partial(table_stability, which, far, divergence=meant, **PAPER))
    for prices, given in PRICES.items():
        add(f"table: prices, {prices}", "exact", partial(table_stability, "now", 0.5, **given))
    add("table: weights", "exact", partial(table_stability, "now", 0.5, "heft", **PAPER))
    add("table: out of reach", "exact", partial(table_stability, "now", 0.99, theta1=1.0, theta2=INF))
    tables = {name: alternatives(name) for name in ("now", "next")}
    add("table: compared", "exact", lambda: of_comparison(tp.compare(tables, risk=0.5, **PAPER)))

    def by_run() -> Numbers:
        joined = pd.concat([table.assign(model=name) for name, table in tables.items()])
        return of_comparison(tp.compare(tp.profile_table(joined, by="model"), risk=0.5, divergence="chi2", **PAPER))

    add("table: compared, by a column", "exact", by_run)


def _networks() -> None:
    def case(name: str, net: Callable[[], Any], task: Callable[[], Task], risk: float, **settings: Any) -> None:
        add(f"network: {name}", "network", partial(stable, net, task, risk, **{**PAPER, **settings}))

    two, three, number = points, partial(points, 3), partial(points, 0)
    deep, smooth = partial(drawn, 1, 4, (5, 4)), partial(drawn, 1, 4, (6,), "Tanh")
    case("path, zero_one", drawn, two, 0.5)
    case("path, log loss", drawn, two, 0.8, loss="cross_entropy")
    case("path, hinge, chi2", drawn, two, 1.1, loss="hinge", divergence="chi2")
    case("path, squared hinge", drawn, two, 1.6, loss="squared_hinge")
    case("path, log loss, cvar", drawn, two, 0.8, loss="logistic", divergence="cvar:0.4")
    case("path, deep", deep, two, 0.8)
    case("path, deep, log loss", deep, two, 1.0, loss="logistic")
    case("path, tanh", smooth, two, 0.6, certify="none")
    case("path, tight", drawn, two, 0.8, loss="logistic", certify="tight")
    case("path, moving only", drawn, two, 0.8, loss="logistic", theta2=INF)
    case("path, reweighting only", drawn, two, 0.8, loss="logistic", theta1=INF)
    case("path, in bounds", drawn, two, 0.8, loss="logistic", space=tp.Space(lower=-2.0, upper=2.0, outliers="keep"))
    case("path, frozen", drawn, two, 0.45, space=tp.Space(frozen=["x0"]), scale="std")
    case("three classes, zero_one", partial(drawn, 3), three, 0.5)
    case("three classes, cross-entropy", partial(drawn, 3), three, 0.9, loss="cross_entropy")
    case("regression, squared", drawn, number, 0.5)
    case("regression, absolute", drawn, number, 0.6, loss="absolute")
    case("regression, huber", drawn, number, 0.3, loss="huber")
    case("exact, log loss", drawn, two, 0.8, loss="logistic", method="exact")
    case("exact, hinge", drawn, two, 1.1, loss="hinge", method="exact")
    case("exact, squared", drawn, number, 0.5, method="exact")
    case("paper, log loss", drawn, two, 0.8, loss="logistic", method="paper", epochs=8)
    case("paper, log loss, chi2", drawn, two, 0.8, loss="logistic", method="paper", epochs=8, divergence="chi2")
    case("paper, zero_one", drawn, two, 0.5, method="paper", epochs=20)

    def ranked(net: Callable[[], Any], task: Callable[[], Task], risk: float, **settings: Any) -> Numbers:
        return of_ranking(tp.feature_stability(net(), task().X, task().y, risk, **PAPER, **settings))

    add("network: features, zero_one", "network", partial(ranked, deep, two, 0.8))
    add("network: features, log loss", "network", partial(ranked, deep, two, 1.2, loss="logistic"))
    add("network: one column, squared", "network", partial(ranked, drawn, number, 0.6, features=["x1"]))
    add("network: one column, three classes", "network", partial(ranked, partial(drawn, 3), three, 0.5, features=["x0"]))

    def compared() -> Numbers:
        pair = {"net": drawn(), "line": ([1.0, -0.5, 0.25, 0.0], 0.1)}
        return of_comparison(tp.compare(pair, *points(), 0.85, **PAPER))

    add("network: compared with a line", "network", compared)


def _trees() -> None:
    few = partial(tumours, 4)

    def case(name: str, model: Callable[[], Any], task: Callable[[], Task], risk: float, **settings: Any) -> None:
        add(f"trees: {name}", "queried", partial(stable, model, task, risk, **{"gap": 0, **PAPER, **settings}))

    def zeros() -> Task:
        return Task(few().X, (few().y == "malignant").astype(int))

    for name in ("forest", "extra trees", "boosting", "histogram", "tree"):
        case(name, partial(box, name), few, 0.35, scale="std")
    for name in ("xgboost", "lightgbm"):
        case(name, partial(box, name), zeros, 0.35, scale="std")
        case(f"{name}, log loss", partial(box, name), zeros, 0.6, loss="log_loss", scale="std", divergence="chi2")
    case("boosting, log loss", partial(box, "boosting"), few, 0.6, loss="log_loss", scale="std")
    case("forest, cvar", partial(box, "forest"), few, 0.35, scale="std", divergence="cvar:0.4")
    case("forest, moving only", partial(box, "forest"), few, 0.35, scale="std", theta2=INF)
    for name in ("forest of numbers", "boosting of numbers", "histogram of numbers"):
        case(name, partial(box, name), diabetes, 0.7, scale="std")
    case("boosting of numbers, absolute", partial(box, "boosting of numbers"), diabetes, 0.8, loss="mae", scale="std")
    case("forest of flowers", partial(box, "forest of flowers"), flowers, 0.4, scale="std")
    case("forest of people", partial(box, "forest of people"), people, 0.45, scale="std", space=mixed())
    case("histogram with gaps", partial(box, "histogram with gaps"), gaps, 0.5, space=tp.Space(missing={"a": 0.4}))

    def ranked() -> Numbers:
        return of_ranking(tp.feature_stability(box("forest"), *few(), 0.35, scale="std", gap=0, **PAPER))

    def compared() -> Numbers:
        pair = {name: box(name) for name in ("forest", "tree")}
        return of_comparison(tp.compare(pair, *few(), 0.35, scale="std", gap=0, **PAPER))

    add("trees: features of a forest", "queried", ranked)
    add("trees: forest and tree compared", "queried", compared)


def _boxes() -> None:
    few = partial(tumours, 4)

    def case(name: str, model: Callable[[], Any], task: Callable[[], Task], risk: float, **settings: Any) -> None:
        add(f"box: {name}", "queried", partial(stable, model, task, risk, **{"calls": 4000, **PAPER, **settings}))

    def forest() -> Any:
        return box("forest").predict

    case("a forest as a function", forest, few, 0.35, scale="std")
    case("a forest as a function, another seed", forest, few, 0.35, scale="std", seed=3)
    case("a function of people", lambda: vendor, people, 0.5, scale="std", space=mixed(), output="score")
    number = lambda: Task(pd.DataFrame(points().X, columns=list("abcd")), points().y)  # noqa: E731
    case("a curved function", lambda: curved, number, 0.7, output="score")
    case("a curved function, hinge", lambda: curved, number, 3.0, loss="hinge", output="score")
    case("three classes, log loss", partial(linear, "wines"), wines, 0.8, loss="cross_entropy", scale="std")
    own = lambda output, y: np.abs(output - y) ** 1.5  # noqa: E731
    case("a loss of one's own", partial(linear, "ridge"), diabetes, 0.7, loss=own)

    def ranked() -> Numbers:
        return of_ranking(tp.feature_stability(forest(), *few(), 0.35, scale="std", calls=6000, **PAPER))

    add("box: features of a function", "queried", ranked)


def _several() -> None:
    def profile(loss: str | None = None) -> tp.Profile:
        return tp.profile(linear("logistic"), *tumours(), loss=loss, scale="std")

    add("several: thresholds", "exact", lambda: of_sweep(profile().curve([0.1, 0.2, 0.4, 0.8])))
    add("several: thresholds, chi2", "exact", lambda: of_sweep(profile("logistic").curve([0.4, 0.6], divergence="chi2")))
    add("several: prices", "exact", lambda: of_sweep(profile().curve(risk=0.3, theta1=[0.1, 1.0, 10.0, INF], theta2=0.25)))
    add("several: budgets", "exact", lambda: of_sweep(profile().curve(risk=0.3, budget=[1.0, 5.0], mix=0.4)))
    add("several: the dial", "exact", lambda: of_sweep(profile("hinge").tradeoff([0.0, 0.25, 0.5, 0.75, 1.0], risk=0.8)))
    table = tp.profile_table(alternatives())
    add("several: a table's dial", "exact", lambda: of_sweep(table.tradeoff([0.0, 0.5, 1.0], risk=0.5, divergence="cvar:0.5")))

    def ranked(model: str, task: Callable[[], Task], risk: float, **settings: Any) -> Numbers:
        return of_ranking(tp.feature_stability(linear(model), task().X, task().y, risk, scale="std", **PAPER, **settings))

    add("several: features", "exact", partial(ranked, "logistic", tumours, 0.3))
    add("several: features, log loss", "exact", partial(ranked, "logistic", tumours, 0.5, loss="logistic"))
    add("several: features of people", "exact", partial(ranked, "people", people, 0.4, space=mixed()))
    groups = {"words": ["job", "owner"], "numbers": ["age", "income"]}
    add("several: groups", "exact", partial(ranked, "people", people, 0.4, space=mixed(), features=groups))
    add("several: features, three classes", "exact", partial(ranked, "wines", wines, 0.4))

    def compared(**settings: Any) -> Numbers:
        models = {name: linear(name) for name in ("logistic", "strict", "svc")}
        return of_comparison(tp.compare(models, tumours().X, tumours().y, 0.3, scale="std", **PAPER, **settings))

    add("several: models", "exact", compared)
    add("several: models, hinge, chi2", "exact", partial(compared, loss="hinge", divergence="chi2"))

    def errors(loss: str | None, risk: float, **settings: Any) -> Numbers:
        result = profile(loss).stability(risk, **PAPER, **settings)
        drawn_again, (low, high) = result.bootstrap(40, seed=1), result.interval(0.9)
        values = drawn_again.values  # noqa: PD011  # it is no frame
        resampled = {"error": drawn_again.standard_error, "sum": math.fsum(values), "largest": float(values.max())}
        resampled |= dict(zip(("low", "high"), drawn_again.interval(0.9), strict=True))
        return {"low": low, "high": high, "error": result.standard_error, **under("bootstrap", resampled)}

    add("several: standard errors", "exact", partial(errors, None, 0.3))
    add("several: standard errors, log loss", "exact", partial(errors, "logistic", 0.5))
    add("several: standard errors, chi2", "exact", partial(errors, None, 0.3, divergence="chi2"))


_linear()
_spaces()
_tables()
_networks()
_trees()
_boxes()
_several()
add_files()
add_commands()
